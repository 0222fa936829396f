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
# # 54 · VISTA-R1: ask or give up? Let the reward decide
#
# **The question.** After cloning, the agent knows the form of a call, and mostly gives up without one; at times it asks the
# wrong one of 26 tools. It is told only whether the form was kept and whether the answer was right. Is that enough to learn
# when to ask, and whom?
#
# **The paper.** [VISTA-Gym (arXiv:2511.19773)](https://arxiv.org/abs/2511.19773), section 5.2 (the reward), 6.3 (rewards and
# algorithms compared) and 6.4 (tail-patch): [GRPO](../docs/glossary.md#grpo) with a reward for form and answer lifts
# InternVL3-8B from 61 % after cloning (57.5 asked directly) to 71 %.
#
# **Afterwards you can** compute the reward of any episode in your head; say which rewards GRPO can't tell apart; watch an
# agent make up its mind about tools; and choose the questions on which to go on training.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 15 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's values | not measured | 640 GB |
#
# Before this one: [53](53_vista_gym_sft.ipynb), which made the model that this one starts from.
#
# To try another reward: `--set reward=dense --tag dense`. Data and cloned model are kept. With tools that run elsewhere
# ([52](52_tool_services.ipynb)): `--set tools_at=http://127.0.0.1:8765`; one that dies is started again, and no episode is lost.
# An agent that reasons without tools (claim V3) is cloned so, too: `python -m kit run vista_gym --until 54 --name
# vista_gym-no_tools --set prompt=brief-alone`, or `full-alone` where the prompt is `full`.

# %% tags=["parameters"]
run: str = "vista_gym"  # run directory under runs/, shared by notebooks 53 to 55
tag: str = ""  # to try another value: a name for it; data and cloned model are kept
seed: int = 0  # order of the questions and everything sampled
reward: str = "format_aware"  # the paper's; or dense, sparse, difficulty
only: str = ""  # families and tools to train with, such as maps; empty: all
tools_at: str = "inprocess"  # or a service's address (52)
steps: int = 24  # rollout batches, each followed by one update; paper: 300
prompts_per_batch: int = 12  # questions a batch; paper: 128 rollouts, as we read it
group_size: int = 8  # attempts at one question
learning_rate: float = 1e-4  # at its peak; paper: 5e-7
schedule: str = "cosine"  # of the learning rate: cosine, linear, constant
loss_type: str = "grpo"  # of the objective: grpo, or dapo with all its parts
temperature: float = 1.0  # of sampling; paper: 0.7
beta: float = 0.0  # weight of the KL term; paper: 0.001
patch_tries: int = 4  # tries of each question to find what is hard but learnable
patch_steps: int = 4  # batches of such questions afterwards (tail-patch); 0: none
prompt: str = "brief"  # system text: brief, full; brief-alone, full-alone: no tools
per_device_batch_size: int = 32  # episodes a forward pass, at most
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 3  # turns an episode may have
max_new_tokens: int = 112  # of one turn
held_out_tasks: int = 16  # development questions played before each step; 0: none
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
rollout_engine: str = "transformers"  # or vLLM: colocate (same GPUs), server
vllm_server_url: str = ""  # that server's address, http://host:port
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process

# %%
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from IPython.display import Markdown, display
from kit import view
from kit.data.store import load_tasks, save_tasks
from kit.evaluate.conduct import conduct
from kit.files import start_run
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.train.checkpoint import trained_model
from kit.train.dapo import objective_settings
from kit.train.experiment import in_parts
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.view import plots
from papers.contrasts import in_words
from papers.registry import needs
from papers.vista_gym import experiment as vista
from papers.vista_gym.claims import misdirected_share
from papers.vista_gym.metrics import EVALUATION, is_right
from papers.vista_gym.reported import TABLE_2
from papers.vista_gym.reward import REWARDS, make_reward
from papers.vista_gym.tables import kept_benchmarks, save_played
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, needs("54_vista_gym_grpo"), makes="grpo")
together = ProcessConfig.of(globals())
start = trained_model(folder, "sft", 53)
make_reward(reward)  # a wrong name is told now
vista.check_tries(patch_tries if patch_steps else 4)
play = vista.Play(
    prompt=prompt,
    listed=prompt == "full",  # the tiny model has learnt the names by heart
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
    temperature=temperature,
)
families, offered = vista.mixture(only)

# %%
train = load_tasks(folder / "tasks" / "train.jsonl")
train = [t for t in train if t.meta["family"] in families]
if not train:
    raise ValueError(f"only={only!r}: 53 made no questions of that to train on")
tests = load_tasks(folder / "tasks" / "test.jsonl")
opened = ExitStack()  # closed at the end
tools = opened.enter_context(vista.open_tools(tools_at))
vlm, chat = load_model_and_chat(start)

# %% [markdown]
# ## The reward
#
# $$R = R_{rep} + R_{format} + R_{correct}$$
#
# - $R_{rep}$ is 0, or −1.5, −2, −3 for text that repeats itself moderately, severely, extremely. If it isn't 0, it is all.
# - $R_{format}$ is +1 if every turn is a thought and a call, and the last a thought and an answer; else −1.
# - $R_{correct}$ is 1 for a right answer, if the form was kept and nothing repeats.
#
# Here are five attempts at a question whose answer is 7. What does each earn?

# %% tags=["figure"]
from kit.episode import Episode, Task, Turn
from papers.vista_gym.env import PROTOCOL

asked = '<think>Ask.</think><tool_call>{"tool": "unichart.to_table"}</tool_call>'
ways = {
    "clean, right": [asked, "<think>It is 7.</think><answer>7</answer>"],
    "clean, wrong": [asked, "<think>It is 8.</think><answer>8</answer>"],
    "no thought, right": [asked, "<answer>7</answer>"],
    "stammers, right": [asked, f"<think>{'It is ' * 8}7.</think><answer>7</answer>"],
    "at once, right": ["<think>I see 7.</think><answer>7</answer>"],
}


def by_hand(texts: list[str]) -> Episode:
    """An episode of these turns."""
    turns = tuple(Turn((), (), text, PROTOCOL.parse(text)) for text in texts)
    return Episode(Task("t", (), "How high is red?", ("7",)), (), turns, "answer")


# %% tags=["guess", "figure"]
attempts = [by_hand(texts) for texts in ways.values()]
found = {name: make_reward(name)(attempts, ("7",)) for name in REWARDS}
for k, way in enumerate(ways):
    print(
        f"{way:18s}",
        {name: round(scores[k].total, 2) for name, scores in found.items()},
    )

# %% [markdown]
# The other three are what the paper compares with: a dense reward, −1 + ½F + ½C + F·C; a sparse product, F·C; and its own
# times a weight that falls where a group does well, `difficulty`. (F is 1 for a kept form, otherwise −1, also for what
# repeats itself, as the stammering attempt; C is 1 for a right answer where F is 1, otherwise 0. The weight is 1 until the
# mean of the group's rewards is above 1; the mean of these five is 0.4, so the first and the last number of a row are alike.)
#
# **Exercise 54.1.** Write the paper's reward. `repetition` is 0, −1.5, −2 or −3.


# %% tags=["exercise"]
def reward_of(repetition: float, well_formed: bool, right: bool) -> float:
    """R of one episode."""
    ...


check("54.1", reward_of)

# %% [markdown]
# GRPO compares within a group: it subtracts the group's mean and divides by its standard deviation. Which of the four
# rewards push in different directions, then? These are the advantages of the first three attempts and the last, taken as a
# group. Look at `difficulty` before you open it.

# %% tags=["guess", "figure"]
from kit.train.advantage import group_advantages

group = [*attempts[:3], attempts[4]]
for name in REWARDS:
    totals = torch.tensor([s.total for s in make_reward(name)(group, ("7",))])
    pushes = group_advantages(totals, len(group)).tolist()
    print(f"{name:13s}", [round(push, 2) for push in pushes])

# %% [markdown]
# `difficulty` multiplies all rewards of a group by one number, and dividing by the deviation takes it out again: under GRPO it
# *is* the paper's reward. (In this group the number is 1. In one with the rewards 2, 1, 2, 2 it is 0.625, and with it or
# without it the advantages are 0.5, −1.5, 0.5, 0.5.) `sparse` can't tell a wrong answer from a broken form. `dense` can, and
# asks for the answer more than for the form.
#
# **Exercise 54.2.** A group of `n` attempts is clean; `right` of them are right. Under the paper's reward, what is the advantage
# of a right one, without dividing by the deviation?


# %% tags=["exercise"]
def advantage_of_right(n: int, right: int) -> float:
    """Reward of a right attempt minus the group's mean."""
    ...


check("54.2", advantage_of_right)

# %% [markdown]
# ## A group of the cloned agent's
#
# One question that needs a tool, tried `group_size` times. How often does it ask, and whom? (`?` is a turn that can't be read.)

# %% tags=["figure"]
policy = HFPolicy(vlm, chat)
task = next((t for t in train if "calls" in t.meta), train[0])
group = play(policy, chat, tools, [task] * group_size, seed=seed)
print(task.question, "|", task.target[0])
for e, score in zip(group, make_reward(reward)(group, task.target), strict=True):
    asked = " → ".join(t.action.name if t.action else "?" for t in e.turns)
    print(f"{score.total:+.2f}  {asked:45s} {e.answer!r:.20}")

# %% [markdown]
# ## Training
#
# `steps` batches of `prompts_per_batch` questions. How many calls per episode does it make at the start, and how many at the end?
# Write down two numbers.

# %%
save_tasks(folder / "grpo" / "tasks.jsonl", train)
choosing = load_tasks(folder / "tasks" / "development.jsonl")
choosing = [t for t in choosing if t.meta["family"] in families]
save_tasks(folder / "grpo" / "held_out.jsonl", choosing)
settings = GRPOSettings.of(globals(), **objective_settings(loss_type))
print(steps * prompts_per_batch * group_size, "episodes")
training = vista.Training(
    start=str(start),
    tasks=str(folder / "grpo" / "tasks.jsonl"),
    run_dir=str(folder / "grpo"),
    play=play,
    settings=settings,
    reward=reward,
    where=tools_at,
    offered=offered,
    held_out=(str(folder / "grpo" / "held_out.jsonl"),),
    held_out_tasks=held_out_tasks,
    threads=threads,
)
vlm = policy = None  # room for the training, which loads its own

# %%
live = view.LiveTraining(folder / "grpo", is_right=is_right)
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# One batch has a question or two of each family, so a family's line would jump. Therefore averages of quarters: the first of
# the training, and the last. "Held out" are the development questions of the curves above, played before each step. Played
# greedily they tell when the likelier way has changed, and nothing of how likely it has become since: so their accuracy may
# jump within a few updates and then stay, while the sampled one goes on changing. The *sampled* accuracy needn't rise in
# every family: in the stored run it rises over all, and hardly moves in charts, geometry and science. Find these in the
# figure below, which has the sampled one alone.

# %% tags=["figure"]
rows = read_metrics(folder / "grpo" / "metrics.jsonl")
quarter = max(1, len(rows) // 4)
parts = {"first quarter": rows[:quarter], "last quarter": rows[-quarter:]}


def mean_of(some, column: str) -> float:
    """A column's mean over the steps that have it."""
    return float(np.mean([row[column] for row in some if column in row] or [np.nan]))


# %% tags=["figure"]
names = {f"accuracy_{t.meta['family']}": t.meta["family"] for t in train}
shares = {
    part: {names[c]: mean_of(some, c) for c in sorted(names)}
    for part, some in parts.items()
}
display(plots.bars(shares, "share right", title="sampled, in training"))
never = [family for family, right in shares["last quarter"].items() if not right]
print("trained on, and not right once in the last quarter:", ", ".join(never) or "none")
columns = {"accuracy": "right, sampled", "held_out_accuracy": "right, greedy, held out"}
columns["calls"] = "calls an episode, sampled"
for column, told in columns.items():
    ends = " → ".join(f"{mean_of(some, column):.2f}" for some in parts.values())
    print(f"{told:26s} {ends}")
column = "held_out_accuracy"
held = {row["step"]: row[column] for row in rows if column in row}
if held:
    last = [*held.values()][-1]
    first = next(step for step, right in held.items() if right >= last)
    told = f"greedy play reached its last value, {last:.2f}, before step {first}"
    print(f"{told} of {len(rows)}")

# %% [markdown]
# ## What it asks now
#
# The test questions again, greedily, as in notebook 53.


# %%
def greedily(some, model):
    """Play tasks greedily, so many at once."""
    ask = partial(vista.play_greedily, model, chat, tools, how=play)
    return in_parts(some, ask)


played = greedily(tests, vlm)
stages = {
    "sft": EVALUATION.load_stage(folder, "sft"),
    "grpo": EVALUATION.save_stage(folder, "grpo", played),
}
print(EVALUATION.table(stages, ["acc"]))
print("after GRPO:", conduct(played))

# %%
some = kept_benchmarks(folder)  # the paper's eleven, where 53 was given their data
print(save_played(folder, "grpo", some, partial(greedily, model=vlm)))

# %% [markdown]
# In the stored table four of the 36 questions of the six sets that nobody trains on are right (`acc_out`), each of the four
# one of `iconqa`'s six; before reinforcement it was one, and asked directly the base had two (53). A family's row mixes both
# kinds: science's 0.50 is `vizwiz`, which was trained on, at six of six (greedily: sampled, in the last quarter of training,
# it was right in about a quarter), and `ai2d`, which wasn't, at none. So what it learnt stays mostly with sets that it was
# trained on, and not with all of these: of `chartqa`, too, none of six is right. The 0.81 of the held-out questions above (13
# of 16) is of sets that were trained on alone; of those the test has 34 of 48 right. (`acc_in` is of `chartqa` and `mapqa`
# alone, 12 questions.)
#
# ## *That* it should call, or *whom*?
#
# The cloned agent and the trained one play the development questions eight times, sampled. Each row is a set of questions that need a
# tool, each column what an episode does first: no call, a turn that can't be read, a call of no tool that there is (a
# misspelt name), or a tool. Shares are of the episodes that the row tells. A frame marks the tools that find the answers
# of some question of the row. If the agent learnt *that* it should call, the column "no call" empties. If it learnt *whom*,
# the numbers move into the frames. What do you expect after these few batches?

# %% tags=["guess", "figure"]
from papers.vista_gym.figures import that_and_whom, whom

hard = [t for t in choosing if "calls" in t.meta]
models = {"after cloning": load_model_and_chat(start)[0], "after GRPO": vlm}
sampled = {
    name: [
        episode
        for again in range(8)  # of one draw hardly a dozen episodes call
        for episode in play(HFPolicy(m, chat), chat, tools, hard, seed=seed + again)
    ]
    for name, m in models.items()
}
models = None  # room for what follows
if hard:
    display(whom(sampled))

# %% tags=["figure"]
from kit.evaluate.intervals import contrast


def moved(k: int) -> tuple[str, bool]:
    """What became of a share, in words, and whether it rose for sure; k: that, whom."""
    before, after = (that_and_whom(some)[k] for some in sampled.values())
    ends = {-1: before, 1: after}
    if not all(ends.values()):
        return "not known, since nobody called", False
    gain = contrast(ends, {-1: -1.0, 1: 1.0}, one_seed=True)
    was, now = (np.mean([point.value for point in some]) for some in ends.values())
    chance = ", which can't be told from chance" if gain.low <= 0 <= gain.high else ""
    return f"{was:.0%} → {now:.0%}{chance}", gain.low > 0


print("attempts that begin with a call:", moved(0)[0])
print("calls of the right tool:", moved(1)[0])

# %% [markdown]
# ## Tail-patch
#
# The longer a training, the more groups are all right, and teach nothing. The paper then goes on with questions that the policy
# solves now and then: in an eighth to three eighths of its tries (of four tries: in one). Here the trained agent tries some of the training questions `patch_tries` times.
#
# **Exercise 54.3.** Which of the questions are that? `passed` gives each question's share of right tries.


# %% tags=["exercise"]
def to_go_on_with(passed: dict[str, float]) -> list[str]:
    """Names of the questions that are hard but learnable, sorted."""
    ...


check("54.3", to_go_on_with)

# %%
policy, chosen = HFPolicy(vlm, chat), []
if patch_steps:
    some = train[: 6 * prompts_per_batch]
    again = [t for t in some for _ in range(patch_tries)]
    tried = play(policy, chat, tools, again, seed=seed + 1)
    chosen = vista.hard_but_learnable(tried)
    print(len(chosen), "of", len(some), "questions are hard but learnable")

# %%
if chosen:
    save_tasks(folder / "patch" / "tasks.jsonl", chosen)
    patch = replace(
        training,
        start=str(trained),
        tasks=str(folder / "patch" / "tasks.jsonl"),
        run_dir=str(folder / "patch"),
        settings=replace(settings, steps=patch_steps),
    )
    vlm = policy = None
    vlm, chat = load_model_and_chat(launch(patch, together))
    patched = EVALUATION.save_stage(folder, "patch", greedily(tests, vlm))
    print("before:", stages["grpo"]["acc_all"], "after:", patched["acc_all"])
opened.close()

# %% [markdown]
# ## Paper / here / why different

# %% tags=["figure"]
print("               asked directly → after reinforcement")
for name, rows in TABLE_2.items():
    print(f"{name:14s} {rows['direct']['all']:.3f} → {rows['grpo']['all']:.3f}, paper")
direct = EVALUATION.load_stage(folder, "direct")["acc_all"]
print(f"{'here':14s} {direct} → {stages['grpo']['acc_all']}")
print(f"{'':14s} (after cloning alone: {stages['sft']['acc_all']})")

# %% [markdown]
# The paper trains eight billion weights for 300 steps on eight GPUs, with tools that are models themselves. What can be compared
# is where a gain comes from: the cloned agent was shown every kind of call already, and what is left to learn is that it pays
# to write one, and for which of 26 tools. That the choice was left open so wide is ours, on purpose (notebook 53).
#
# ## What you have seen
#
# Told only whether the form was kept and whether the answer was right, does the agent learn when to ask, and whom?

# %% tags=["figure"]
(that, more), (whom_told, better) = moved(0), moved(1)
learnt = ["*that* it should call"] * more + ["*whom*"] * better
asked = " and ".join(str(len(that_and_whom(some)[1])) for some in sampled.values())
cloned = EVALUATION.load_outcomes(folder, "sft")
reinforced = EVALUATION.outcomes(played)
wrong = [misdirected_share(some) for some in (cloned, reinforced)]
astray = " → ".join(f"{one.value:.0%}" if one else "nobody calls" for one in wrong)
callers = [sum(o.tool_calls > 0 for o in e) for e in (cloned, reinforced)]
patch_told = "Nobody went on with hard questions"
if chosen:
    after = EVALUATION.load_outcomes(folder, "patch")
    patch_told = (
        f"Going on with {len(chosen)} hard questions, the share right on the test is "
        f"{in_words(reinforced, after)}"
    )
display(
    Markdown(f"""
- **It has learnt {" and ".join(learnt) or "neither, as far as can be told"}.** Of its attempts at development
  questions that need a tool, sampled, before and after, {that} begin with a call; of these first calls
  ({asked}) so many go to the right tool: {whom_told}.
- *Whom* is the tool's name alone, on sets that it was trained on. Tool and arguments together, on the test: of
  the episodes that call ({callers[0]} and {callers[1]}, of other questions) so many ask wrongly: {astray}.
- Greedily, on the test questions, the share right is {in_words(cloned, reinforced)} after reinforcement.
- {patch_told}.
""")
)

# %% [markdown]
# Read the first line with two limits. *That* isn't *when*: it calls where a look would do, too. And *whom* is mostly a choice
# of two: outside charts `easyocr.read` or `groundingdino.detect` is right, and after GRPO no other tool is asked there. (A
# frame marks what is right for *some* question of its row.) For charts, which need other tools, it doesn't hold: in the
# figure above more of their first calls lie outside the frames than in them, and [55](55_vista_gym_claims.ipynb) shows the
# same in greedy play.
#
# Next: [55](55_vista_gym_claims.ipynb), which sorts what still goes wrong and asks what of the paper's claims holds.
