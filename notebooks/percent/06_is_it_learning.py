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
# # 06 · Is it learning, and from what?
#
# **The question.** A reward curve rises, the agent calls its tools, every call succeeds. Did it learn anything? And if
# it did: from what it sees, or around it?
#
# **The task.** Three cards lie face down. Which colour has card B? One tool, `lift`, shows the colour of a card. No paper
# is behind this task. The questions are those that users of released agents ask most: does the picture that a tool returns
# matter at all, where do the calls go, is it learning if the loss is 0? The estimate of pass@k is from
# [Chen et al., arXiv:2107.03374](https://arxiv.org/abs/2107.03374).
#
# **Afterwards you can** ask five questions of any training and read the answers; say what there was to elicit before
# [GRPO](../docs/glossary.md#grpo) began; measure what an agent takes from its own
# [observations](../docs/glossary.md#observation); and recognise a training that only looks busy.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core, tiny model | 3 | 2 GB |
# | `gpu` | nothing here needs one | 3 | 2 GB |
# | `node` | nothing here needs one | 3 | 2 GB |
#
# Before this one: [01](01_episode.ipynb), what an episode is, and [03](03_grpo_by_hand.ipynb), one step of GRPO.

# %% tags=["parameters"]
run: str = "learning"  # run directory under runs/; the other training's is RUN-busy
seed: int = 0  # order of the tasks and everything sampled
sft_episodes: int = 48  # episodes that the model imitates first
epochs: float = 4.0  # passes over them
steps: int = 12  # GRPO's updates, of either training
prompts_per_batch: int = 8  # tasks an update
group_size: int = 8  # episodes of each task
learning_rate: float = 1e-4  # of GRPO, at its peak
held_out: int = 48  # tasks to measure on
sampled_tasks: int = 12  # of them, tried again and again before GRPO
tries: int = 8  # how often each of these is tried
threads: int = 1  # CPU threads
profile: str = "laptop"  # written into results.json

# %%
import time
from dataclasses import replace

import numpy as np
import torch
from IPython.display import display
from kit.environment import ToolEnv
from kit.episode import NamedImage, Observation, Score, Task
from kit.evaluate import five as stages
from kit.evaluate.accuracy import accuracy_evaluation
from kit.evaluate.baselines import SingleTurnEnv
from kit.evaluate.five import answers, play, shown
from kit.files import run_folder
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.protocol import Protocol
from kit.rollout import RolloutConfig, rollout
from kit.train.metrics import read_metrics
from kit.view import charts
from kit.view.five import five
from papers.results import write_results
from PIL import Image, ImageDraw
from tiny import TINY
from workshop.exercises import check, hint, solution

# %% [markdown]
# ## A task in which acting is needed
#
# Nothing in the first image tells a card's colour: whoever answers without lifting the right card guesses.

# %%
began = time.monotonic()
torch.set_num_threads(threads)
CARDS = "ABC"
COLOURS = {
    "red": (205, 40, 40),
    "green": (40, 150, 60),
    "blue": (45, 80, 200),
    "yellow": (235, 210, 50),
    "black": (25, 25, 25),
    "white": (245, 245, 245),
}


def painted(colour, size=(56, 56)) -> Image.Image:
    """A colour with some noise."""
    noise = np.random.default_rng(0).normal(0, 8, (*size[::-1], 3))
    return Image.fromarray(np.clip(noise + colour, 0, 255).astype(np.uint8))


# %%
def make_task(rng: np.random.Generator, name: str) -> Task:
    """Three cards of different colours, face down, and the question for one of them."""
    table = painted((130, 130, 130), (84, 56))
    for k in range(len(CARDS)):
        place = (28 * k + 4, 10, 28 * k + 23, 45)
        ImageDraw.Draw(table).rectangle(place, fill=(95, 95, 95), outline=(60, 60, 60))
    drawn = rng.permutation(list(COLOURS))[: len(CARDS)].tolist()
    hidden, asked = dict(zip(CARDS, drawn, strict=True)), str(rng.choice(list(CARDS)))
    question, meta = (
        f"Which colour has card {asked}?",
        {"hidden": hidden, "asked": asked},
    )
    return Task(name, (NamedImage("cards", table),), question, (hidden[asked],), meta)


# %%
rng = np.random.default_rng(seed)
train = [make_task(rng, f"train-{k}") for k in range(steps * prompts_per_batch)]
test = [make_task(np.random.default_rng(10_000 + k), f"t{k}") for k in range(held_out)]
one = test[0]
items = [("face down", one.images[0].image)]
items += [
    (f"{card}: {name}", painted(COLOURS[name]))
    for card, name in one.meta["hidden"].items()
]
display(charts.images(items, title=one.question))

# %% [markdown]
# The tool and the environment. You can skip this code: what counts is that `lift` returns one picture.
# ([Notebook 60](60_your_own.ipynb) explains such classes line by line.)


# %%
class Lift:
    """Shows the colour of a card."""

    name, description, on_error = "lift", "Lifts a card.", "tell"
    parameters = {  # noqa: RUF012
        "type": "object",
        "properties": {"card": {"type": "string", "enum": list(CARDS)}},
        "required": ["card"],
    }

    def __init__(self, task: Task) -> None:
        self.hidden = task.meta["hidden"]

    def call(self, arguments, images) -> Observation:
        colour = painted(COLOURS[self.hidden[arguments["card"]]])
        return Observation("", (NamedImage("card", colour),))

    def close(self) -> None: ...


# %%
class Cards(ToolEnv):
    """One question about three cards."""

    def __init__(self) -> None:
        super().__init__(Protocol(actions=("lift",)))

    def prompt(self, task: Task):
        told = f"Cards {', '.join(CARDS)}. Use <lift>, <answer>."
        return told, [*task.images, task.question]

    def tools(self, task: Task) -> list[Lift]:
        return [Lift(task)]

    def reward(self, answer: str) -> float:
        return float(answer in self.task.target)

    def draw(self) -> Task:
        return make_task(self.np_random, "drawn")


# %%
def is_right(episode, target) -> bool:
    """Whether the answer is the colour that was asked for."""
    return episode.answer in target


evaluation = accuracy_evaluation("", is_right)
limits = RolloutConfig(max_turns=3, max_new_tokens=12)
folder, busy_folder = run_folder(run), run_folder(f"{run}-busy")
vlm, chat = load_model_and_chat(TINY)


def playing(policy, chat, tasks, *, temperature, around=shown.as_it_is):
    """Let a policy play each task once; ``around`` changes what it is shown."""
    made = lambda: around(Cards())  # noqa: E731
    config = replace(limits, temperature=temperature)
    return rollout(policy, chat, tasks, made, config)


# %% [markdown]
# ## Before reinforcement
#
# First the base is asked directly, in one turn and without a tool. Then it imitates a few episodes of a careless player,
# who lifts no card, one or two (two times in three the one that was asked for), and answers with the colour that was
# seen last or, where none was, with "red".

# %%
once = RolloutConfig(1, 12, temperature=0.0)
asked = rollout(HFPolicy(vlm, chat), chat, test, SingleTurnEnv, once)
for where in (folder, busy_folder):
    evaluation.save_stage(where, "direct", asked)
print("asked directly:", evaluation.summary(evaluation.evaluate(asked)))

# %%
rng = np.random.default_rng(seed + 1)
taught = [make_task(rng, f"shown-{k}") for k in range(sft_episodes)]
lifts = {
    task.id: [
        task.meta["asked"] if rng.random() < 0.5 else str(rng.choice(list(CARDS)))
        for _ in range(k % 3)
    ]
    for k, task in enumerate(taught)
}


def careless(episode) -> str:
    """Lift the cards of the plan, then answer with the colour of the last."""
    plan, hidden = lifts[episode.task.id], episode.task.meta["hidden"]
    if len(episode.turns) < len(plan):
        return f"<lift>{plan[len(episode.turns)]}</lift>"
    return f"<answer>{hidden[plan[-1]] if plan else 'red'}</answer>"


# %%
from kit.train.sft import SFTSettings, train_sft

demonstrated = playing(ScriptedPolicy(chat, careless), chat, taught, temperature=0.0)
imitation = SFTSettings(
    epochs=epochs,
    batch_size=8,
    per_device_batch_size=8,
    learning_rate=5e-4,
    freeze_vision=False,
    seed=seed,
)
start = train_sft(vlm, chat, demonstrated, imitation, folder / "sft")
for temperature in (0.0, 1.0):
    found = playing(HFPolicy(vlm, chat), chat, test, temperature=temperature)
    how = "sampled:" if temperature else "greedy: "
    print("after imitation,", how, evaluation.summary(evaluation.evaluate(found)))
for where in (folder, busy_folder):
    evaluation.save_stage(where, "sft", found)

# %% [markdown]
# [Greedy](../docs/glossary.md#greedy) takes the likeliest token each time, sampling draws. Why are the two lines so far
# apart? Two demonstrations in three lift a card, and two in three of these first the asked one: that is the likeliest
# beginning, and far from a sure one (four in nine). The others answer "red" at once or lift another card, and sampling does
# so too. GRPO learns from sampled episodes, so here `sft` and `grpo` are compared as sampled, and so is pass@k; the base,
# asked directly, and what questions 3 and 4 play are greedy.
#
# ## Two rewards
#
# `right` pays for the right colour. `busy` pays for the deed's name: a third for every turn that holds `<lift>`, whichever
# card it lifts, whatever is answered. Somebody wanted an agent that uses its tool. Each trains the same imitator.


# %%
def right(episode, target) -> Score:
    """1 for the colour that was asked for."""
    earned = float(is_right(episode, target))
    return Score(earned, {"accuracy": earned})


def busy(episode, target) -> Score:
    """A share for every turn that holds the name of the deed."""
    named = sum("<lift>" in turn.text for turn in episode.turns)
    return Score(named / limits.max_turns, {"deeds": named / limits.max_turns})


# %%
from kit.rewards.base import per_episode
from kit.train.grpo import GRPOSettings, train_grpo

settings = GRPOSettings(
    steps=steps,
    prompts_per_batch=prompts_per_batch,
    group_size=group_size,
    per_device_batch_size=prompts_per_batch * group_size,
    learning_rate=learning_rate,
    schedule="cosine",
    freeze_vision=True,
    seed=seed,
)


# %%
def reinforce(where, reward):
    """Train the imitator with a reward; returns sampled episodes afterwards."""
    vlm, chat = load_model_and_chat(start)
    reward = per_episode(reward)
    train_grpo(vlm, chat, train, Cards, limits, reward, settings, where / "grpo")
    return playing(HFPolicy(vlm, chat), chat, test, temperature=1.0)


# %%
learnt = {
    "right": reinforce(folder, right),
    "busy": reinforce(busy_folder, busy),
}
for where, played in zip((folder, busy_folder), learnt.values(), strict=True):
    evaluation.save_stage(where, "grpo", played)

# %% [markdown]
# Here are the two reward curves. Which of the two trainings, A or B, would you stop?

# %%
rows = [
    read_metrics(where / "grpo" / "metrics.jsonl") for where in (busy_folder, folder)
]
curves = {
    name: ([row["step"] for row in some], [row["reward"] for row in some])
    for name, some in zip(("training A", "training B"), rows, strict=True)
}
display(charts.lines(curves, "step", "mean reward", "Two rewards, both rising"))

# %% tags=["guess"]
names = {"A": "busy", "B": "right"}
for name, kind in names.items():
    found = evaluation.summary(evaluation.evaluate(learnt[kind]))
    print(f"training {name} was paid for {kind!r}: {found} right afterwards")

# %% [markdown]
# The better curve belongs to the agent that learnt nothing of use. A reward curve shows how well a policy earns. To know
# *what* was learnt, ask something that isn't paid for.
#
# ## The five questions
#
# For the next cells both agents play the held-out tasks again, greedily: with their own observations, with another
# episode's, with blank ones, and with the tool switched off. (Where a run has these episodes already, the cell says
# "nothing new".)

# %%
start_player = play.Player(start, playing)
changes = {}
for where in (folder, busy_folder):
    end = play.Player(where / "grpo" / "model", playing)
    how = {"sampled": test[:sampled_tasks], "tries": tries}
    done = play.play_all(
        evaluation, where, end, start_player, test, {"turns": limits.max_turns}, **how
    )
    print(where.name, "played:", ", ".join(done) or "nothing new")

# %% [markdown]
# ### 1 Does reinforcement add?
#
# The gain is the accuracy after GRPO minus before, on tasks that neither trained on, here as sampled:

# %%
for kind, where in (("right", folder), ("busy", busy_folder)):
    before, after = (evaluation.load_outcomes(where, s) for s in ("sft", "grpo"))
    print(f"{kind:5s} gain, sampled: {answers.difference(after, before, 'correct')}")

# %% [markdown]
# Beside it stands what there was to elicit: pass@k, the probability that at least one of k tries of the policy *before*
# GRPO is right. From n tries of a task, c of them right, it is estimated by the share of all sets of k tries that hold
# a right one:
#
# $$\text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}$$
#
# **Exercise 06.1.** Write it for one task. (`from math import comb`.)


# %% tags=["exercise"]
def pass_at_k(n: int, c: int, k: int) -> float:
    """Share of all sets of k of n tries that hold one of the c right ones."""
    ...


check("06.1", pass_at_k)

# %% [markdown]
# How large is pass@1 after imitation, and how large pass@8? Guess both, then open the output.

# %% tags=["guess"]
from kit.evaluate.five.pass_at_k import pass_interval

tried = evaluation.load_outcomes(folder, stages.SAMPLES)
some = len({o.task for o in tried})
print(f"{some} of the {len(test)} tasks, {tries} tries of each")
for k in sorted({1, 2, tries // 2, tries}):
    print(f"pass@{k}: {pass_interval(tried, k)}")

# %% [markdown]
# <details><summary>What does a high pass@8 beside a low pass@1 say? Think first, then open.</summary>
#
# The imitator could do it already, it only didn't do it reliably. Reinforcement makes likelier what is sampled and earns
# more; it can't raise what is never sampled. A policy whose pass@8 is near 0 needs another cold start, not more steps.
# And where greedy was right before, a gain that is measured greedily is 0: then reinforcement has made a choice surer,
# not found it. Say which of the two you measured. (pass@1 is the share right as sampled once more, of fewer tasks with
# more tries: hence another figure than above.)
#
# </details>
#
# **Exercise 06.2.** Of two tasks, a policy gets one right in half of its tries and the other never. What is its
# pass@1 over the two, and its pass@8? (With very many tries, so as probabilities.)

# %% tags=["exercise"]
answer = ...  # (pass@1, pass@8)
check("06.2", answer)

# %% [markdown]
# ### 2 Does acting pay?
#
# The agent beside the *same base*, asked directly. An agent that isn't better has learnt a ceremony. Here the base can't know
# the colour, and this question it was never taught: its figure can lie even below a blind guess, which is right once in six.
# So compare the agent with one in six as well; what it has above that, it has by acting. On a task that can be answered at
# first sight, ask the same question: there a good agent calls less. How far above the base are the two that were trained
# here?

# %% tags=["guess"]
for kind, where in (("right", folder), ("busy", busy_folder)):
    base, after = (evaluation.load_outcomes(where, s) for s in ("direct", "grpo"))
    print(f"{kind:5s} minus the base: {answers.difference(after, base, 'correct')}")
    print("      by itself:", evaluation.summary(evaluation.evaluate(learnt[kind])))
print(f"a blind guess is right in {1 / len(COLOURS):.3f}")

# %% [markdown]
# (Where all 48 tasks agree there is no scatter to compute with. What was never seen in n tasks may still happen in
# about 3 of n, so 3/48 is left open on either side; the figure below cuts it at 1.)
#
# ### 3 Does what it is shown matter?
#
# The same policy plays the same tasks once more, but is shown *another episode's* observations: the agent lifts a card and
# sees the colour of somebody else's. Tools and rewards stay its own. Accuracy with its own minus accuracy with another's is the
# [observation gap](../docs/glossary.md#observation-gap). If the other episode was shorter, its last observation is
# shown again.

# %%
import inspect

from IPython.display import Code

display(Code(inspect.getsource(shown.swapped), language="python"))

# %% [markdown]
# **Exercise 06.3.** Write the gap. `own` and `other` hold, for each task, whether its episode was right; count only tasks
# that are in both.


# %% tags=["exercise"]
def gap(own: dict[str, bool], other: dict[str, bool]) -> float:
    """Accuracy with its own observations minus accuracy with another episode's."""
    ...


check("06.3", gap)

# %% [markdown]
# What is the gap of an agent that is right in every task and never looks? Of one that never answers? And of the two that
# were trained here?

# %% tags=["guess"]
for kind, where in (("right", folder), ("busy", busy_folder)):
    own, other, grey = (
        evaluation.load_outcomes(where, name)
        for name in (stages.OWN, stages.SWAPPED, stages.BLANK)
    )
    for name, some in (("another's", other), ("blank", grey)):
        print(
            f"{kind:5s} own minus {name:9s}: {answers.difference(own, some, 'correct')}"
        )

# %% [markdown]
# <details><summary>The first two? Think first, then open.</summary>
#
# 0 and 0. A gap of 0 says that what it was shown changed nothing, not why: read it beside the accuracy.
#
# And why does the agent that looks keep some right answers with blank pictures? It guesses, and a guess is right for one
# colour in six; another's card sometimes has the right colour, too.
#
# </details>
#
# ### 4 Where do the calls go?
#
# Calls an episode and the share that succeeds; the accuracy with the tools switched off is in the figure further down. Which
# of the two agents calls more? Whose calls succeed more often?

# %% tags=["guess"]
for kind, where in (("right", folder), ("busy", busy_folder)):
    played = evaluation.load_calls(where, stages.OWN)
    calls = [call for _, some in played for call in some]
    went_well = sum(call.status == "ok" for call in calls)
    mean = len(calls) / len(played)
    print(f"{kind:5s} {mean:.2f} calls an episode, {went_well} of {len(calls)} succeed")

# %% [markdown]
# Both use the tool without mistakes. By this question alone the busy agent is the keener one. But an episode has three turns,
# and it lifts in all three: no turn is left for an answer.
#
# ### 5 Is the signal alive?
#
# GRPO learns from differences within a [group](../docs/glossary.md#group). Where all rewards of a group are equal, it
# is [flat](../docs/glossary.md#flat-group) and teaches nothing. Of each training the output says first how far its weights
# moved; then, step by step, the share of flat groups, the [entropy](../docs/glossary.md#entropy), which is how much the
# policy still varies, and the loss. The loss stands at 0 from beginning to end and means nothing: a group's advantages add
# up to 0 (notebook 03).

# %% tags=["guess"]
from kit.train.weights import weight_change

for kind, where in (("right", folder), ("busy", busy_folder)):
    changes[kind] = weight_change(start, where / "grpo" / "model")
    some = read_metrics(where / "grpo" / "metrics.jsonl")
    print(f"{kind}: weights moved by {changes[kind]:.5f} of their norm")
    for name in ("frac_zero_std_groups", "entropy", "loss"):
        print(f"   {name:21s}", *(f"{abs(row[name]):.2f}" for row in some))

# %% [markdown]
# <details><summary>Why does a signal die? Think first, then open.</summary>
#
# Because everything in a group earns the same: all right, all wrong, or all paid in full. In the right training it dies of
# success: in step 10 all groups are flat, and nearly everything is right. In the busy training it dies when every episode
# lifts in every turn. Hardly anything is left to compare (now and then a single group, as in steps 10 and 11), and what is
# left pays for lifting, not for the answer. A signal can be alive and point to the wrong place, as it did in the first steps;
# its death only makes that final.
#
# </details>
#
# ## The answers in one figure
#
# The kit asks these questions of every paper's training ([14](14_agile_claims.ipynb), [24](24_visual_arft_claims.ipynb)) and
# writes the answers to `results.json`; `python -m kit view RUN` prints them for every run that has them. Filled markers are
# differences, hollow ones shares; a number on a scale of its own, such as calls an episode, is written and not drawn. n
# counts tasks, or calls (those of one task count as one in the interval); n = 1 is the one training, so there is no interval.
# Before you look: which rows of the two figures will differ most?

# %%
found = {}
for kind, where in (("right", folder), ("busy", busy_folder)):
    some = read_metrics(where / "grpo" / "metrics.jsonl")
    found[kind] = answers.answers(evaluation, [where], [some], [changes[kind]], tries)
    write_results(
        where / "results.json",
        notebook="06_is_it_learning",
        profile=profile,
        seed=seed,
        minutes=(time.monotonic() - began) / 60,
        stages=found[kind],
    )
display(five(found["right"], title="paid for the right colour"))

# %%
display(five(found["busy"], title="paid for the deed's name"))

# %% [markdown]
# Read the second figure from above: reinforcement took away what imitation had brought, so acting doesn't pay, and what it is
# shown doesn't matter. Only two rows of the fourth look well: many calls, and they succeed. That little will change stands in
# the steps above: of the last four two had only flat groups, the others one of eight that wasn't, and nobody answers any
# more.
#
# <details><summary>Which single curve, watched during the training, would have stopped it? Think first, then open.</summary>
#
# The accuracy on held-out tasks: a number that isn't paid for. The share of episodes that answer (`answered`) would have
# done as well. Neither reward nor calls would: both rose. And every call succeeded, in the end, in either training.
#
# </details>

# %%
watched = {
    kind: ([row["step"] for row in some], [row["answered"] for row in some])
    for kind, some in zip(("busy", "right"), rows, strict=True)
}
title = "share of episodes that answer, in training"
display(charts.lines(watched, "step", "answered", title))

# %% [markdown]
# ## Written down before the next measurement
#
# A limit that is set after the figure can always be set so that the claim holds. So each paper's `claims.toml` says what
# is compared, the smallest difference that counts (the *margin*), and how many trainings and images it takes. A margin
# tests only what was measured after it: [results](../docs/results.md) say of each paper which came first. Take one claim,
# of CodeDance (notebooks 31 to 34): its *adaptive* reward makes an agent call its tools less than a *bonus* for calls
# does, and costs no accuracy beside that or beside a reward for the *outcome* alone.

# %%
from papers.registered import registered
from papers.samples import power

claim = registered("codedance")["C1"]
print(claim.statement)
print(f"{claim.source}; {claim.seeds} trainings of each agent, {claim.images} images")
for key, one in claim.checks.items():
    print(f"{key:8s} {one.kind:8s} {one.margin:<5g} {one.name}")

# %% [markdown]
# *more* asks for a difference above 0, *no_less* for one above minus the margin, *equal* for one within the margin on either
# side. The five verdicts follow from intervals: it *holds*; it *doesn't*; it is *equal*, here the name of a verdict on any
# kind of check (the 90 % interval lies within the margin: two one-sided tests at 5 %; the 95 % interval may reach a little
# beyond); it is *not testable here*, if it could come out one way only; or it is *undecided*: too few trainings or images,
# whatever the truth is. That an interval includes 0 doesn't say that there is nothing.
#
# ### How many would be enough?
#
# The same training with another seed ends elsewhere, and other images give other shares. With K trainings that each play
# the same P images, a difference of two agents varies by
#
# $$\text{error}^2 = \frac{s_\text{seed}^2}{K} + \frac{s_\text{image}^2}{P} + \frac{s_\text{rest}^2}{K P}$$
#
# and the chance of a verdict, the *power*, follows from it: for *more* the chance of showing a difference as large as the
# margin, for *no_less* that of ruling out so large a loss where there is none. Below it is computed for the *no_less*
# check beside the outcome reward, from deviations that were seen in earlier runs, which are printed with it. (What part of
# a spread is the rest's can't be told from two trainings, so it is counted as the images'.) Guess two of them: 2 trainings
# and 3,000 images, 20 trainings and 300.

# %% tags=["guess"]
one = claim.checks["outcome"]
seen = one.spread.seed, one.spread.image, one.spread.rest
seeds = (2, 3, 5, 10, 20)
chances = {
    f"{images:,} images": (seeds, [power(one.margin, *seen, k, images) for k in seeds])
    for images in (30, 300, 3000)
}
title = "chance of a verdict: no less by the margin, where nothing differs"
display(charts.lines(chances, "trainings", "power", title))
for name, value in zip(("seed", "image", "rest"), seen, strict=True):
    print(f"standard deviation of the {name + ',':6s} {value:g}")
print("as seen in", one.spread.seen)
for name, (_, values) in chances.items():
    print(
        f"{name:12s}", *(f"K={k}: {v:.2f}" for k, v in zip(seeds, values, strict=True))
    )
for k in (claim.seeds, 2 * claim.seeds):
    chance = power(one.margin, *seen, k, claim.images)
    print(f"{k} trainings, {claim.images} images: {chance:.2f}")

# %% [markdown]
# More images make the second and the third part smaller, never the first: that is why one training with thousands of
# questions decides nothing about a recipe, and with two trainings more images don't help at all: what two of them tell of
# the spread between trainings is one number, so the interval is wide whatever is measured on them. (The power even falls
# a little there: the more images, the more of the error is that of the two.)
#
# The last two lines are of the claim as it is written down, and with twice as many trainings. Where the first is below a
# half, the claim stays undecided more often than not, even if the two agents are equal. That is no reason not to measure:
# a wide interval is reported as one. And the deviations themselves are of few trainings.
#
# **Exercise 06.4.** How many trainings would you need? Give the smallest whole number K for which the error is at most
# `error`, and 0 if no number of trainings is enough.


# %% tags=["exercise"]
def seeds_needed(
    error: float, seed: float, image: float, rest: float, images: int
) -> int:
    """Fewest trainings for this error; seed, image, rest: standard deviations."""
    ...


check("06.4", seeds_needed)

# %% [markdown]
# ## What reinforcement adds may depend on its start
#
# A cold start can be decided: cloned from an expert that always does what is best. Or it can be left undecided: the
# expert guesses, gives up or calls needlessly in a share of its demonstrations, so that the agent goes on trying several
# things. Reinforcement makes likelier what earned more, so it needs something to choose from.

# %%
from IPython.display import Markdown
from papers.registry import published
from papers.starts import comparable, starts_picture

several = comparable(published())
guess = """The start on the left always shows what is best (*as the expert plays*), the last is the
one whose figures the kit publishes; *half* lies between. Guess where imitation alone is best, where
reinforcement adds most, and where the two together end highest."""
none = """Of no paper two starts are measured yet: one that always shows the best, one that
is half open and the published one. Here they will be compared."""
display(Markdown(guess if several else none))

# %% tags=["guess"]
if several:
    display(starts_picture(several))
else:
    print("nothing to compare yet")

# %% [markdown]
# In the stored figure stand two papers: AGILE (share of 2×2 puzzles solved; one training of the surest start, none of *half*)
# and Visual-ARFT ([F1](../docs/glossary.md#f1) on sheets with at most one distortion); others may differ. In both, imitation
# alone ends higher from the surest start than from the published one, by more than the intervals (*half* lies between and
# can't be told from the surest), and reinforcement adds nothing to the surest that the intervals show. It adds most to the
# published start, which still doesn't end higher than the others. A large gain of reinforcement is no merit by itself: it may
# tell how much the start had left open. Beside a gain, ask what imitation alone reaches from demonstrations that show the
# best.
#
# ## When is something learnt?
#
# When the gain over the start lies above 0 with its interval, over several seeds; when the agent beats its base asked
# directly; and when it is worse off with somebody else's observations. One seed, as here, tells how these tasks went with this
# one training: its intervals cover other tasks, not other seeds.
#
# Two things to try. Pay a tenth for every lift beside the right colour (`Score` with two parts): does the agent still answer?
# And let the demonstrations lift the asked card always: what is left for the reward to teach?
#
# ## What you have seen
#
# A reward curve rises and every call succeeds: was something learnt, and from what?


# %%
def answered(kind: str) -> str:
    """What the five questions say of one of the two trainings."""
    end = found[kind]["grpo"]
    gain, gap = end["gain_over_sft"].value, end["observation_gap_swapped"].value
    good = end.get("calls_that_succeed")
    well = f", of which {good.value:.0%} succeed" if good else ""
    return (
        f"{gain:+.2f} in accuracy as sampled, {gap:.2f} less with another's "
        "observations (greedy); "
        f"{end['calls_per_episode'].value:.1f} calls an episode{well}"
    )


ends = {
    kind: some[-1]["reward"] for kind, some in zip(("busy", "right"), rows, strict=True)
}
better = max(ends, key=ends.get)
useful = max(found, key=lambda kind: found[kind]["grpo"]["accuracy_own"].value)

# %%
display(
    Markdown(f"""
- **A curve doesn't say so**: the training whose reward ended higher was "{better}",
  the one
  whose agent is right more often "{useful}".
- Paid for the right colour: {answered("right")}.
- Paid for the deed's name: {answered("busy")}.
""")
)

# %% [markdown]
# Next: [11](11_agile.ipynb), the first paper's task, where the same five questions will be asked of an agent that you have
# trained; or [60](60_your_own.ipynb), for a task of your own.
