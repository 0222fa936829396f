# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 60 · A task of your own
#
# **The question.** What does it take to train an agent on a task of your own? Three files with less than 160 lines: one
# makes tasks, one holds an environment with a tool and a reward, one is a record that names them. This notebook
# shows all three, checks them, and trains the tiny model on them. At the end you replace them by your own.
#
# **The task.** An image shows one to four dots. How many? The agent has one tool, which crosses a dot out and
# shows the image again. The tiny model was taught to say how many *shapes* lie in four cells, so it may know the answer
# without a tool: section 4 asks it. The tool it has never seen. No paper is behind this task.
#
# **Afterwards you can** write a task maker, a tool, an environment and a reward; say before training what an agent
# earns that never looks; and find out by a control what your agent relies on.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core, tiny model | 6 to 16 | 2 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | one 80 GB GPU, Qwen2.5-VL-7B with LoRA | not measured | 80 GB |
#
# Before this one: [01](01_episode.ipynb), what an [episode](../docs/glossary.md#episode) is, and
# [03](03_grpo_by_hand.ipynb), one step of [GRPO](../docs/glossary.md#grpo).

# %% tags=["parameters"]
run: str = "your_own"  # run directory under runs/
package: str = "examples.your_own"  # where task, env and paper are imported from
seed: int = 0  # order of the tasks and everything sampled
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
sft_episodes: int = 96  # episodes of the expert that the model imitates
epochs: float = 6.0  # how often it goes through all of them
sft_learning_rate: float = 5e-4  # largest learning rate of imitation
steps: int = 16  # GRPO's updates
prompts_per_batch: int = 16  # different tasks played for one update
group_size: int = 8  # how often each of them is played
per_device_batch_size: int = 32  # episodes that go through the model at once
learning_rate: float = 1e-4  # largest learning rate of GRPO
freeze_vision: bool = False  # do not train the image encoder while imitating
lora_rank: int = 0  # 0: train all weights; else small added matrices of this rank
max_turns: int = 6  # turns of an episode, at most
max_new_tokens: int = 40  # tokens of one turn, at most
eval_tasks: int = 96  # held-out tasks
threads: int = 1  # CPU threads
profile: str = "laptop"  # written into results.json

# %%
import json
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import torch
from gymnasium.utils.env_checker import check_env
from IPython.display import Code, Markdown, display
from kit import view
from kit.evaluate.baselines import SingleTurnEnv
from kit.evaluate.conduct import conduct
from kit.files import ROOT, run_folder
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.rewards.base import per_episode
from kit.rollout import RolloutConfig, rollout
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.sft import SFTSettings, train_sft
from kit.view import charts
from papers.results import write_results
from PIL import Image
from tiny import TINY
from workshop.exercises import check, hint, solution

# %%
began = time.perf_counter()
torch.set_num_threads(threads)
task, env, paper = (
    import_module(f"{package}.{part}") for part in ("task", "env", "paper")
)
evaluation = paper.PAPER.load_evaluation()


def show_file(module) -> None:
    """Display a module's source under its path, and count its lines."""
    path = Path(module.__file__)
    where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    print(f"{where}: {len(path.read_text().splitlines())} lines")
    display(Code(filename=str(path), language="python"))


# %% [markdown]
# ## 1. Tasks
#
# A task has an id, images, a question and a target. `meta` holds what an expert, a tool or a metric needs and the agent
# must not see: strings, numbers and lists, because it is stored as JSON. Tasks are drawn from a seed. So there are as
# many as you like, and the same seed gives the same tasks again.

# %%
show_file(task)

# %%
held_out = task.make_tasks(eval_tasks, seed=99, name="test")
first = held_out[:6]
items = [(t.target, t.images[0].image) for t in first]
display(charts.images(items, columns=6, title="Tasks, each under its target"))

# %% [markdown]
# **Exercise 60.1.** An agent always answers "3", whatever it sees. Over very many tasks, how often is it right? Read
# `make_task` above: how is the number of dots drawn?

# %% tags=["exercise"]
answer = ...  # a share, 0 to 1

check("60.1", answer)

# %% [markdown]
# ## 2. Environment, tool, reward, expert
#
# The environment sets the prompt, the tools and which answer is right. It sets no limit on an episode's length; the
# loop that plays episodes does. The prompt has to show all of `task.images`, unchanged, or the loop refuses it.
#
# A tool describes its arguments by a JSON schema. A call that doesn't fit becomes an observation, not an exception. The
# text inside a tag (`<mark>top left</mark>`) is a single argument. For several arguments, let the agent write JSON:
# `Protocol(actions=("tool_call",), call="tool_call")` ([docs/adding.md](../docs/adding.md#a-tool)).
#
# The reward is given to a finished episode. Its parts have names, so that you can watch each of them during training.
# It can read:
#
# | of | fields |
# |---|---|
# | `episode` | `task`, `turns`, `answer` (None: it gave none), `ended` (answer, format, turns, tokens, lost), `calls` |
# | a turn | `text`, `action`, `observation` (None after the answer) |
# | an action | `name` (the tag or tool), `text` (what stood inside), `arguments` (of a JSON call) |
# | an observation | `text`, `images`, `status` (ok, error, timeout, …; the agent sees text and images only) |

# %%
show_file(env)

# %% [markdown]
# The expert is a function that gets an episode so far and returns the next turn. It plays through the same loop as any
# model, as a *[policy](../docs/glossary.md#policy)*:

# %%
tiny = model or str(TINY)
vlm, chat = load_model_and_chat(tiny)
limits = RolloutConfig(max_turns=max_turns, max_new_tokens=max_new_tokens)


def play(policy, tasks):
    """Let a policy play each task once; returns the episodes."""
    return rollout(policy, chat, tasks, env.Env, limits)


expert = ScriptedPolicy(chat, env.expert)
(episode,) = play(expert, held_out[:1])
earned = env.score(episode, episode.task.target)
display(view.show(episode, score=earned, chat=chat, is_right=env.is_right))

# %% [markdown]
# **Exercise 60.2.** Change the task: "How many dots are in the left half?" Write its expert. It marks the dots of the
# left half, in the order of `places`, one in each turn, then answers. Return the tag and the text in it, such as
# `("mark", "top left")`. `places` are the places of all dots; `done` is the number of turns that it has played.


# %% tags=["exercise"]
def next_turn(places: list[str], done: int) -> tuple[str, str]:
    """Tag and text of the expert's next turn."""
    ...


check("60.2", next_turn)

# %% [markdown]
# ## 3. Checks before any training
#
# When a training fails, the fault is most often in the task. These checks take seconds: the same seed gives the same
# tasks, no test image is in the training data, `meta` can be stored, the expert solves every task.

# %%
again = task.make_tasks(eval_tasks, seed=99, name="test")
assert [t.images for t in again] == [t.images for t in held_out], "not its seed's"

train = task.make_tasks(steps * prompts_per_batch, seed=2 + seed, name="train")
taught = task.make_tasks(sft_episodes, seed=1 + seed, name="taught")
unseen = {t.images for t in held_out}
assert not unseen & {t.images for t in (*train, *taught)}, "test images in training"

shown = play(expert, taught)
assert all(json.loads(json.dumps(t.meta)) == t.meta for t in held_out), "not JSON"
solved = [env.is_right(e, e.task.target) for e in shown]
assert all(solved), "the expert can't solve its own tasks within the limits"

check_env(env.Env(), skip_render_check=True, skip_close_check=True)

# %% [markdown]
# Training finds the cheapest way to a reward first. How much does an agent earn here that says one number at once and
# never acts? Guess, then open the output.

# %% tags=["guess"]
best = sum(env.score(e, e.task.target).total for e in shown) / len(shown)
print(
    f"the expert earns {best:.3f} an episode; {sum(solved)} of {len(shown)} are right"
)


def guess(answer: str) -> float:
    """Mean reward of saying ``answer`` at once, whatever the task."""
    said = ScriptedPolicy(chat, lambda episode: f"<answer>{answer}</answer>")
    scores = [env.score(e, e.task.target).total for e in play(said, held_out)]
    return sum(scores) / len(scores)


for answer in sorted({t.target for t in held_out}):
    print(f"always saying {answer!r} earns {guess(answer):.3f}")

# %% [markdown]
# The best constant answer is the number to beat. If a reward curve stays there, the agent has learnt how often each
# answer is right, and nothing about images. Crossing out a dot earns something even if the answer is wrong (the
# part `found`): so acting is rewarded before the number is right.
#
# A reward can be *gamed*: a policy can earn much of it without doing what the reward was meant for. Before you train
# on a task of your own, think of the laziest agent that could earn much. Here it is this one: it never looks at the
# image, marks all four places in turn, counts how often the tool says "A dot.", and answers with this count.
#
# **Exercise 60.3.** What does it earn on average, over very many tasks? Use the three parts of `score` above.

# %% tags=["exercise"]
answer = ...  # the mean reward of an episode

check("60.3", answer)

# %% [markdown]
# This is the agent. It plays the held-out tasks, so its mean is near to yours, not equal.

# %% tags=["guess"]
ORDER = ("top left", "top right", "bottom left", "bottom right")


def sweep(episode) -> str:
    """Mark every place, then answer with the number of dots that were met."""
    done = len(episode.turns)
    if done < len(ORDER):
        return f"<think>Next.</think><mark>{ORDER[done]}</mark>"
    met = [turn.observation.status == "ok" for turn in episode.turns]
    return f"<think>Counted.</think><answer>{sum(met)}</answer>"


swept = play(ScriptedPolicy(chat, sweep), held_out)
swept_earned = [env.score(e, e.task.target).total for e in swept]
print(f"without looking: {sum(swept_earned) / len(swept_earned):.3f} of {best:.3f}")

# %% [markdown]
# Two things make this possible. The tool says in words what the image shows, and a mark in vain costs little.
#
# **Exercise 60.4.** Write a reward that is harder to game. A wrong answer earns 0, whatever was marked. A right answer
# earns 1, plus 0.5 times the share of the dots that were found, minus 0.25 for each mark in vain; the total is never
# below 0. `met` says of each mark whether it met a dot.


# %% tags=["exercise"]
def total(right: bool, met: list[bool], dots: int) -> float:
    """Reward of an episode."""
    ...


check("60.4", total)

# %% [markdown]
# <details><summary>What does the agent that never looks earn now, and what is the price of this reward? Think first,
# then open</summary>
#
# It still gives the right answer, but it marks 1.5 places in vain on average: 1.5 − 1.5 · 0.25 = 1.125 instead of 1.35. An
# agent that looks earns 1.5. The price: early in training most answers are wrong, and then all marks earn the same, nothing.
# GRPO then learns from few groups only. To remove the shortcut altogether, change the tool: let it cross out whatever place
# is named, show the image and say nothing.
#
# </details>
#
# ## 4. Ask the base, then imitate
#
# First the untrained model plays, then it imitates the expert's episodes (supervised fine-tuning,
# [SFT](../docs/glossary.md#sft), here a [cold start](../docs/glossary.md#cold-start)) and plays again. Untrained it
# writes no tag of its own accord, so that share says nothing of what it sees. So it is also asked directly: the question, one
# turn, no tags. That is the share that an agent has to beat.

# %%
untrained = play(HFPolicy(vlm, chat), held_out)
once = replace(limits, max_turns=1)
listed = [replace(t, target=[t.target]) for t in held_out]  # as many as may be right
asked = rollout(HFPolicy(vlm, chat), chat, listed, SingleTurnEnv, once)
asked = [replace(e, task=t) for e, t in zip(asked, held_out, strict=True)]
outcomes = {"direct": asked, "untrained": untrained}
for name, played in outcomes.items():
    print(f"{name:10s}", evaluation.summary(evaluation.evaluate(played)))
    print("  its first words:", repr(played[0].turns[0].text))

# %%
folder = run_folder(run)
imitation = SFTSettings.of(
    globals(),
    batch_size=8,
    replay=0,
    per_device_batch_size=8,
    learning_rate=sft_learning_rate,
)
live = view.LiveTraining()
train_sft(vlm, chat, shown, imitation, folder / "sft", watcher=live)
display(live.figure())

# %%
outcomes["sft"] = play(HFPolicy(vlm, chat), held_out)
print("after imitation:", evaluation.summary(evaluation.evaluate(outcomes["sft"])))
for reason, share in evaluation.failures(outcomes["sft"]).items():
    print(f"  {reason:28s} {share:6.1%}")

# %% [markdown]
# ## 5. Reinforce
#
# Asked directly, the base of the run stored here was right in 0.29 of the tasks, as often as the commonest answer is: nothing
# shows that it knows. From here on nobody shows it anything. It plays, is scored, and what earned more than its siblings
# becomes more likely. The training can be interrupted: it stops at a checkpoint, and the same cell goes on there.

# %%
settings = GRPOSettings.of(globals(), schedule="cosine", beta=0.0, freeze_vision=True)
live = view.LiveTraining(folder / "grpo", is_right=env.is_right)
reward = per_episode(env.score)
where = folder / "grpo"
train_grpo(vlm, chat, train, env.Env, limits, reward, settings, where, watcher=live)
display(live.figure())

# %% [markdown]
# ## 6. What was learnt, and from what
#
# All stages play the same held-out tasks, sampled as in training, not [greedily](../docs/glossary.md#greedy). The last
# column, `blind`, is the control: the trained agent with a blank image. The tool draws on the blank image, too, and its
# replies still depend on the dots: its words, and a cross where a mark met one. So `blind` takes away the dots, not the
# replies. (A tool that draws the scene from `meta` still shows the truth: blank its images as well.)

# %%
outcomes["grpo"] = play(HFPolicy(vlm, chat), held_out)


def blank(t):
    """Replace a task's images by grey ones of the same size and name."""
    grey = [Image.new("RGB", image.image.size, "grey") for image in t.images]
    named = zip(t.images, grey, strict=True)
    return replace(t, images=tuple(replace(old, image=new) for old, new in named))


# %%
outcomes["blind"] = play(HFPolicy(vlm, chat), [blank(t) for t in held_out])
stages = {
    name: evaluation.save_stage(folder, name, played)
    for name, played in outcomes.items()
}
print(evaluation.table(stages))
print(f"n = {len(held_out)}: number of held-out tasks, each played once")
for name, played in outcomes.items():
    earned = sum(env.score(e, e.task.target).total for e in played) / len(played)
    print(f"{name:10s} {conduct(played)}; earned {earned:.3f}")
for reason, share in evaluation.failures(outcomes["grpo"]).items():
    print(f"  grpo: {reason:24s} {share:6.1%}")

# %%
accuracy = {name: found["acc_all"] for name, found in stages.items()}
targets = [t.target for t in held_out]
constant = max(map(targets.count, targets)) / len(targets)
display(
    charts.bars(
        {"accuracy": accuracy},
        label="accuracy, held-out tasks",
        reference=("best constant answer", constant),
        title="Does the agent use the image?",
    )
)

# %% [markdown]
# Compare what each stage *earned* with what `sweep` earned in section 3. One that earns less than the one that never looks
# hasn't found the laziest way, which would have paid better. And if the trained agent were as good with blank images as with
# real ones, it would not use the image. The control tests an *agent*, not the task: it can't tell whether another agent could
# do without the image.
#
# **Exercise 60.5.** The agent of exercise 60.3, `sweep`, plays the same held-out tasks with blank images. Which share
# of its answers is right?

# %% tags=["exercise"]
answer = ...  # a share, 0 to 1

check("60.5", answer)

# %% tags=["guess"]
swept = play(ScriptedPolicy(chat, sweep), [blank(t) for t in held_out])
found = evaluation.summary(evaluation.evaluate(swept))
print("never looks, blank images:", found)

# %%
right = [e for e in outcomes["grpo"] if env.is_right(e, e.task.target)]
played = max(right or outcomes["grpo"], key=lambda e: len(e.turns))
earned = env.score(played, played.task.target)
display(view.show(played, score=earned, chat=chat, is_right=env.is_right))

# %% [markdown]
# Count its marks, the replies "A dot.", and the dots that it never marked. Does its answer follow from what it was shown?
# If it is right, is it right for the reason that the reward was meant for?

# %%
minutes = (time.perf_counter() - began) / 60
write_results(
    folder / "results.json",
    notebook="60_your_own",
    profile=profile,
    seed=seed,
    minutes=minutes,
    stages=stages,
    claims={},
)
print(f"{minutes:.1f} minutes; python -m kit view {run} shows this run")

# %% [markdown]
# ## 7. Your turn
#
# The third file is the record through which the kit's commands find the task:

# %%
show_file(paper)

# %% [markdown]
# **Make it yours.** Copy the folder, rename it, change the three files, and run this notebook on them. Nothing in the
# kit changes. (The exercises and `sweep` are about dots; with another task, ignore them.)
#
# ```
# mkdir ../mine && cp -r examples/your_own ../mine/my_task
# sed -i.bak 's/examples\.your_own/my_task/; s/your_own/my_task/' ../mine/my_task/*.py && rm ../mine/my_task/*.bak
# ```
#
# In `my_task/paper.py` delete `notebooks` and `settings`: the task has no notebook of its own yet and uses this one. Put a
# `pyproject.toml` into `../mine`. It makes the task a package that the kit finds:
#
# ```toml
# [project]
# name = "my-task"
# version = "0.1"
#
# [project.entry-points."visual_agents_kit.papers"]
# my_task = "my_task.paper:PAPER"
#
# [tool.setuptools]
# packages = ["my_task"]
# ```
#
# Install it into the kit's environment, `.venv/bin/python -m pip install --no-build-isolation -e ../mine`, and run
#
# ```
# python -m kit run 60 --set package=my_task --name my_task
# ```
#
# After a change to your files choose another `--name`: a run refuses other settings and tasks, not another `score`: it shows
# the old run. The task appears in `python -m kit list` once it has notebooks. Change in this order:
#
# 1. `make_task`: another image, question and target. Put what the expert must know into `meta`.
# 2. `Mark`: another tool, with short replies; in `Env` its tag and the words of `prompt`.
# 3. `is_right`, `Env.reward` (what `step` returns) and `expert`, the turns to imitate.
# 4. `score`: what training pays. Then run section 3's checks again, with the laziest agent you can think of.
#
# If GRPO doesn't improve on imitation, check three things:
#
# - Is there room? An agent that is right in 4 of 5 tasks has little to gain in 16 steps.
# - Do the episodes of a [group](../docs/glossary.md#group) differ in reward? `frac_zero_std_groups` is the share of
#   groups in which they don't.
# - Does the reward fall in the first steps? Then divide the learning rate by 3.
#
# Two experiments to go on with, each with what we found in one training:
#
# <details><summary>Remove <code>found</code> and <code>missed</code>, so that only the answer is rewarded. Does the agent
# still learn to mark? And with three times the learning rate?</summary>
#
# With the answer alone it learned as well: after imitation the number is rarely right without marks. At
# <code>learning_rate=3e-4</code> the agent stopped marking: from the fourth step on each episode was a single guess, and
# accuracy ended at that of the best constant answer. Does <code>found</code> keep the agent marking at that rate?
#
# </details>
#
# <details><summary>The blind agent marks more often than the one that sees, and it is right no more often than the best
# constant answer. The tool answered every mark, and told it of most dots. Why did that not help?</summary>
#
# In the demonstrations the answer is the number of marks, and of replies "A dot." as well, since the expert marks nothing in
# vain: nothing there says which of the two to count. While the image shows the
# dots, no reward teaches it to read the replies. Make the dots too faint to see and train again: what does it learn then?
#
# </details>
#
# To give your task notebooks of its own, read [docs/adding.md](../docs/adding.md).
#
# ## What you have seen
#
# What does it take to train an agent on a task of your own, and does that agent then use what it is shown? (Figures of one
# training.)

# %% tags=["figure"]
from papers.contrasts import in_words

files = [Path(module.__file__) for module in (task, env, paper)]
lines = sum(len(path.read_text().splitlines()) for path in files)
judged = {name: evaluation.outcomes(played) for name, played in outcomes.items()}
trained, unseen_by = accuracy["grpo"].value, accuracy["blind"].value
display(
    Markdown(f"""
- **{len(files)} files with {lines} lines, and {minutes:.1f} minutes.** Imitation brought the
  share right to {accuracy["sft"].value:.2f} (asked directly, the base has {accuracy["direct"].value:.2f}); after
  reinforcement it is {trained:.2f}, which is {in_words(judged["sft"], judged["grpo"])}.
- With blank images it is {unseen_by:.2f}: {in_words(judged["grpo"], judged["blind"])}. Always
  giving the commonest answer would be right in {constant:.2f}.
- An agent that never looks can earn {sum(swept_earned) / len(swept_earned):.2f} of the
  expert's {best:.2f}: what a reward pays for isn't always what it was meant for.
""")
)

# %% [markdown]
# Next: [06](06_is_it_learning.ipynb) asks five questions of any training, yours too, and [docs/adding.md](../docs/adding.md)
# has what a whole paper needs.
