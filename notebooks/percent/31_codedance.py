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
# # 31 · CodeDance: the task, the tool, the data
#
# **The question.** An agent can answer at once, or write Python first. When is a call worth making, and which reward
# teaches an agent to tell?
#
# **The paper.** [CodeDance (arXiv:2512.17312)](https://arxiv.org/abs/2512.17312): section 3 (think, execute,
# feed back), 3.1 and appendix 8 (the reward R_BAT), 3.2 (its demonstrations), 6.2 (the sandbox). Its figures show episodes
# on photographs; ours have the same form, on drawn charts, receipts, boards and scenes.
#
# **Afterwards you can** play an [episode](../docs/glossary.md#episode) with Python as the only tool, mistakes included;
# take an [adaptive reward](../docs/glossary.md#adaptive-reward) apart and say for which groups of attempts a call pays;
# compute [turn returns](../docs/glossary.md#turn-return) by hand; make easy and hard tasks whose truth a program proves.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 5 | 2 GB |
# | `gpu` | the same, more tasks and demonstrations | not measured | not measured |
# | `node` | the same, and the paper's questions | not measured | not measured |
#
# No model is trained here. At the end the tasks and demonstrations are written to `runs/<run>/data`, where notebook 32
# reads them. The paper's own questions, demonstrations and benchmarks come from a hub: `python data_scripts/codedance.py
# --out data/paper_codedance --hub --pin` writes them to a folder, and `data` takes them from there.

# %% tags=["parameters"]
run: str = "codedance"  # run directory under runs/, shared by notebooks 31 to 34
seed: int = 0  # draws what is trained on
test_seed: int = 0  # draws the other two sides: the same for every seed
train_tasks: int = 20  # tasks of each kind for reinforcement
development_tasks: int = 12  # tasks of each kind to make choices on
test_tasks: int = 16  # tasks of each kind to measure by
more_tests: str = ""  # kinds that have more of them, such as composed/hard 300
demonstrations: int = 3200  # of the scripted expert, or at most of data's; paper: 34K
easy_shown: str = "chart_value 4,sheet 4,board 3,geometry,count,arithmetic"  # parts
hard_shown: str = "chart_compute 3,board 4,geometry,count"  # demonstrated parts
needless: float = 0.5  # share of easy demonstrations that call for nothing; paper: 0
data: str = ""  # folder of data_scripts/codedance.py --hub; empty: drawn tasks alone
benchmarks: list[str] = []  # of the paper's sets, to measure on; empty: all in data
benchmark_questions: int = 16  # of each of them, the first ones; 0: all
model: str = ""  # its tokenizer encodes the episodes; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
allow_unsafe: bool = True  # the kit's own code may run where nothing confines it

# %%
from collections import Counter
from dataclasses import replace
from functools import partial
from textwrap import fill

import numpy as np
import torch
from IPython.display import display
from kit import view
from kit.chat import Chat
from kit.data.store import save_episodes, save_tasks
from kit.episode import Episode
from kit.files import run_folder
from kit.view import plots
from papers.codedance import experiment as codedance
from papers.codedance.data_folder import given_sets
from papers.codedance.env import CodeDanceEnv
from papers.codedance.metrics import is_right
from papers.codedance.tasks import MAKERS, MakingError, check_apart, make_tasks
from pictures.keyed import counts_of
from tiny import TINY
from workshop.exercises import check, hint, solution

# %%
given = given_sets(data, benchmarks, benchmark_questions)  # refused if it can't be used
print({name: len(tasks) for name, tasks in given.items()} or "drawn tasks alone")

# %% [markdown]
# ## Easy and hard
#
# There are thirteen kinds of tasks. Easy means: a look at the image that the prompt shows is enough. What are the
# answers? You will find that you don't need a tool for any of them.

# %%
one_of_each = make_tasks(dict.fromkeys(MAKERS, 1), 5, "development")
by_kind = {f"{t.meta['kind']}/{t.meta['level']}": t for t in one_of_each}
easy = [by_kind[name] for name in MAKERS if name.endswith("/easy")]
items = [(t.meta["kind"], t.images[0].image) for t in easy]
display(plots.images(items, side=1.4, title="One easy task of each kind"))
for t in easy:
    print(f"{t.meta['kind']:12s} {t.question}")

# %% tags=["guess", "figure"]
for t in easy:
    print(f"{t.meta['kind']:12s} {t.target[0]}")

# %% [markdown]
# Hard means: a look at that image isn't enough. Something has to be computed, or picked out and counted, or the image
# hides it, because it is turned, dark or too small. For which of these would you reach for a tool?

# %% tags=["figure"]
hard = [by_kind[name] for name in MAKERS if name.endswith("/hard")]
items = [(t.meta["kind"], t.images[0].image) for t in hard]
display(plots.images(items, 4, 1.5, title="One hard task of each kind"))
for t in hard:
    print(f"{t.meta['kind']:13s} {t.question}")

# %% [markdown]
# The paper's demonstrations draw the line otherwise: a weak model sorts the questions; the paper doesn't say how
# (`data_scripts/codedance.py --weak-to-strong` lets a weak model try each question several times). That line moves with the
# model. Ours is drawn by the program that makes the tasks, so it can be proven; how often a model solves each level tells
# whether it agrees.
#
# ## A card too small to read
#
# Look at the hard board. Write down what you think the answer is.

# %%
board = by_kind["board/hard"]
display(plots.images([("what the prompt shows", board.images[0].image)], side=2.0))
print(board.question)

# %% [markdown]
# You see at once *where* the card lies, and may even make out what it says. The tiny model can't: it
# gets one vector for each square of 28 pixels, and a line of the card is lower than that. That is
# what happens to a photograph of 4,000 pixels when it is shrunk to fit a model's input. Code opens the original, though.
# Which box would you cut out?

# %% tags=["guess", "figure"]
print("the right answer:", board.target[0])
box = board.meta["boxes"][0]
print("the card's box, in shares of the sides:", box)
whole = board.tool_images[0].image
print("shown:", board.images[0].image.size, "| what code opens:", whole.size)

# %% [markdown]
# ## Playing by hand
#
# You are the agent. The [environment](../docs/glossary.md#environment) tells you this:

# %%
sandbox = codedance.sandbox(allow_unsafe).start()
env = CodeDanceEnv(sandbox, prompt=prompt)
system, user = env.prompt(board)
print(fill(system, 84), "\n")
print("".join(part if isinstance(part, str) else "[image] " for part in user))

# %% [markdown]
# A [turn](../docs/glossary.md#turn) is a thought and then code, or a thought and then the answer. What code prints, and each
# image that it makes, comes back between `<interpreter>` tags (below only the opening one is printed: the image follows it),
# and you go on from there. First turn:

# %% tags=["figure"]
env.reset(options={"task": board})


def turn(code: str):
    """One turn of ours, as a policy would write it."""
    seen, *_ = env.step(f"<think>Let me try.</think><code>{code}</code>")
    return seen


crop = "crop(image, {box})" if prompt == "brief" else "input_image.crop({pixels})"
pixels = [round(share * side) for share, side in zip(box, whole.size * 2, strict=True)]
seen = turn(f"part = {crop.format(box=box, pixels=tuple(pixels))}")
print(seen.text, "| status:", seen.status)
display(plots.images([(i.name, i.image) for i in seen.images], side=1.6))

# %% [markdown]
# Now you can read it. Second turn:

# %% tags=["figure"]
said = f"<think>{board.meta['reading']}.</think><answer>{board.target[0]}</answer>"
_, reward, over, *_ = env.step(said)
print(said)
print("right:", reward, "| over:", over)

# %% [markdown]
# ## What can go wrong
#
# An error doesn't end the episode: it comes back as an [observation](../docs/glossary.md#observation). Here are five turns
# on the chart. Which of them *succeed*? Mind the first and the fourth.

# %% tags=["figure"]
chart = by_kind["chart_compute/hard"]
attempts = {
    "a comment": "# I look closely at the bars.",
    "three dots": "...",
    "an exception": "x = 1\nprint(x / 0)",
    "the word Error": "print('Error: the sign says so')",
    "what was x?": "print(x)",
}
for name, code in attempts.items():
    print(f"{name:15s} {code.splitlines()}")

# %% tags=["guess", "figure"]
env.reset(options={"task": chart})
for name, code in attempts.items():
    seen = turn(code)
    line = " ".join(seen.text.removeprefix("<interpreter>").split())
    print(fill(f"{name:15s} {seen.status:6s} {line}", 84, subsequent_indent=" " * 23))
env.close()

# %% [markdown]
# A call succeeds if the sandbox says so. A comment does nothing, so it has failed, and the word "Error" on a printed line is
# no failure. (The paper's released code has both the other way round: it looks for words such as "Error" in what came back,
# and a comment gives none.) The last turn shows the *transaction*: `x = 1` ran before the division failed, and its trace is
# gone. After a failure all is as it was after the last success.
#
# One more mistake, code that never ends. The paper stops it after 15 seconds; so that you needn't wait, this sandbox
# stops it after one.

# %% tags=["figure"]
from turn_sandbox import Sandbox
from turn_sandbox.limits import READABLE_FIGURES

limits = replace(READABLE_FIGURES, seconds=1.0)
with Sandbox(limits, allow_unsafe=True) as hasty:
    env = CodeDanceEnv(hasty, prompt=prompt)
    env.reset(options={"task": chart})
    for code in ("total = 5", "while True: pass", "print(total)"):
        seen = turn(code)
        print(f"{code:17s} {seen.status:8s} {seen.text.splitlines()[-1][:50]}")
    env.close()
print("the paper's limit:", READABLE_FIGURES.seconds, "seconds")

# %% [markdown]
# `total` is still there: what turns *before* the failure made stays.
#
# ## The reward, taken apart
#
# The paper's reward has a name, R_BAT (*balanced adaptive tool calls*), and three parts:
#
# $$R = R_{acc} + w\,R_{format} + R_{seq} \qquad
# R_{seq} = c\,\frac{n_{success}}{n_{calls}}\,d(\mu) \qquad
# d(\mu) = \sigma\big(\gamma\,(0.5 - \mu)\big) - \delta$$
#
# - $R_{acc}$ is 1 for a right answer, else 0.
# - $R_{format}$ is −1 for an episode that breaks the form (a turn without its tags, or no answer), else 0; $w$ is 0.2.
# - $R_{seq}$ is for the calls. Each attempt belongs to a [group](../docs/glossary.md#group): several attempts at the same
#   task. $\mu$ is the share of them that is right. If the group mostly fails, calls that succeed are paid for; if it mostly
#   knows, they cost something. $c$ is 1.5 if this attempt's answer is right, and 0.5 if it is wrong.
#
# $\sigma(x) = 1/(1 + e^{-x})$ is the logistic function, $\gamma = 8$ the sharpness and $\delta = 0.2$ the offset. An attempt
# without calls has $R_{seq} = 0$. (On questions of mathematics, here `geometry` and `arithmetic`, the released code pays more:
# 1.2 for a right answer, $w = 0.4$, and $c$ is 2 or 1. The exercises keep to the numbers in the list.)
#
# **Exercise 31.1.** Write $d(\mu)$.


# %% tags=["exercise"]
def worth_of_calls(mu: float, sharpness: float = 8.0, offset: float = 0.2) -> float:
    """What a call that succeeds is worth to a group of which the share mu is right."""
    ...


check("31.1", worth_of_calls)

# %% [markdown]
# Before you open the figure: where does the curve of sharpness 8 and offset 0.2 cross zero, to the left or to the right of
# one half? And what does the sharpness change?

# %% tags=["guess", "figure"]
from papers.codedance.reward import difficulty

mu = np.linspace(0, 1, 41)
shapes = {
    "8 and 0.2 (the paper's)": (8, 0.2),
    "4 and 0.2": (4, 0.2),
    "8 and 0": (8, 0.0),
}
curves = {k: (mu, [difficulty(m, *shape) for m in mu]) for k, shape in shapes.items()}
labels = ("share of the group that is right, μ", "worth of a call, d(μ)")
title, zero = "sharpness and offset", {"nothing": 0.0}
display(plots.lines(curves, *labels, title=title, references=zero))
for name, shape in shapes.items():
    values = [f"{difficulty(m, *shape):+.3f}" for m in (0.0, 0.25, 0.5, 0.75, 1.0)]
    print(f"{name:24s} at μ = 0, ¼, ½, ¾, 1:", " ".join(values))

# %% [markdown]
# With offset 0 a call never costs anything. The offset is what tells an agent to *stop* calling where it knows.
#
# **Exercise 31.2.** At which $\mu$ do calls start to cost, with sharpness 8 and offset 0.2? Work it out on paper: there
# $\sigma(8\,(0.5 - \mu)) = 0.2$.

# %% tags=["exercise"]
answer = ...  # a share, 0 to 1
check("31.2", answer)

# %% [markdown]
# **Exercise 31.3.** Now the whole reward of one attempt, with the constants above ($\gamma = 8$, $\delta = 0.2$).


# %% tags=["exercise"]
def reward_of(
    right: bool, well_formed: bool, succeeded: int, calls: int, mu: float
) -> float:
    """R of an attempt in a group of which the share mu is right."""
    ...


check("31.3", reward_of)

# %% [markdown]
# ## Four attempts at one question
#
# The chart again. One attempt calls twice and is right. Three are wrong: one answers at once, one runs code that doesn't help,
# and one writes nothing but a comment. They are written by hand and played in the real sandbox.

# %%
from kit.policy.scripted import ScriptedPolicy

chat = Chat.from_pretrained(model or TINY)
play = codedance.Play(prompt=prompt, max_turns=4)


def played(task, codes: list[str], answer: str) -> Episode:
    """An episode with these blocks of code and this answer."""
    turns = [f"<think>I see it.</think><code>{code}</code>" for code in codes]
    turns.append(f"<think>I know.</think><answer>{answer}</answer>")
    script = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
    [episode] = play(script, chat, sandbox, [task], temperature=0.0)
    return episode


# %% tags=["figure"]
gold, works = chart.target[0], [f"x = {chart.meta['expression']}", "print(x)"]
ways = {
    "calls twice, right": (works, gold),
    "no call, wrong": ([], "1000"),
    "code runs, wrong": (["print(1)"], "1000"),
    "a comment, wrong": (["# I add them."], "1000"),
}
hard_group = [played(chart, *way) for way in ways.values()]

# %% [markdown]
# A quarter is right, so $d(0.25) = \sigma(2) - 0.2$. What do the four earn under the paper's reward R_BAT (`adaptive`)? And
# under what it is compared with: the answer alone (`outcome`); a bonus of 1.5 if the answer is right and a call succeeded, as
# in [DeepEyes](https://arxiv.org/abs/2505.14362) (`bonus`); offset 0 (`offset_0`)?

# %% tags=["guess", "figure"]
from papers.codedance.reward import REWARDS, make_reward


def earned(group: list[Episode], names) -> dict[str, dict[str, float]]:
    """Reward by name, for each attempt."""
    target, found = group[0].task.target, {}
    for name in REWARDS:
        totals = [score.total for score in make_reward(name)(group, target)]
        found[name] = dict(zip(names, totals, strict=True))
    return found


of_hard = earned(hard_group, ways)
for name, totals in of_hard.items():
    print(f"{name:9s}", "  ".join(f"{way}: {r:.5f}" for way, r in totals.items()))
display(plots.bars(of_hard, "reward", title="A hard question: one of four is right"))

# %% [markdown]
# Three rewards pay for the two calls, `outcome` doesn't. R_BAT and offset 0 pay a little for the code that ran and didn't
# help, too: where a group mostly fails, trying is worth something. Now an easy question, which all four answer rightly:
# one at once, one after a needless call, one after three, one after a call that failed. Which reward tells them apart in
# the way that *you* would?

# %% tags=["guess", "figure"]
question = by_kind["chart_value/easy"]
gold = question.target[0]
easy_ways = {
    "at once": [],
    "one needless call": [f"print({gold})"],
    "three of them": [f"print({gold})"] * 3,
    "a call that fails": ["print(bars)"],
}
easy_group = [played(question, codes, gold) for codes in easy_ways.values()]
of_easy = earned(easy_group, easy_ways)
for name, totals in of_easy.items():
    print(f"{name:9s}", "  ".join(f"{way}: {r:.3f}" for way, r in totals.items()))
display(plots.bars(of_easy, "reward", title="An easy question: all four are right"))

# %% [markdown]
# Only R_BAT pays less for an attempt with needless calls than for the answer at once. Three cost what one costs: it is the
# share of calls that succeed that counts, not their number. The bonus pays for needless calls, and offset 0 pays a little.
# That is the paper's argument, on four attempts instead of a training (notebook 34 asks of trainings: claim C1, R_BAT calls
# less than a bonus and is no less accurate; C3, with offset 0 calls grow and accuracy doesn't). The last attempt gets away
# with its failure under all four; keep that in mind.
#
# **Exercise 31.4.** In the released code a comment counts as a call that succeeded. Take an attempt whose answer is wrong
# and whose every block of code is a comment. How much more does it earn than the same wrong answer without any call, by
# the released rule (`comments_count=True`) and by ours?


# %% tags=["exercise"]
def gain_of_comments(mu: float, comments_count: bool) -> float:
    """Reward of a wrong, well-formed attempt with comments for code, minus without."""
    ...


check("31.4", gain_of_comments)

# %% [markdown]
# Where a group always fails, only form and such gains tell its attempts apart, and a comment, unlike code, can't fail. So a policy under the released rule
# has a reason to write comments on just those tasks that it can't solve. The paper saw comments in the place of code under
# a simpler rule, which pays for every call that succeeds, and doesn't say on which tasks (section 9, Figure 10).
#
# ## Turns have returns of their own
#
# You saw two attempts that earn the same although one stumbled on the way. So each turn $t$ gets a reward as well:
# $r_t = -0.5$ if its code failed, else 0. Its *return* looks ahead:
#
# $$R_t = \sum_k 0.2^k\, r_{t+k}$$
#
# **Exercise 31.5.** Write it. The answer is a turn too, and it can't fail.


# %% tags=["exercise"]
def turn_returns(failed: list[bool]) -> list[float]:
    """The return of each turn."""
    ...


check("31.5", turn_returns)

# %% tags=["figure"]
from kit.train.advantage import sequence_plus_turn_advantages
from kit.train.advantage import turn_returns as returns

codes = ["print(bars)", "x = 1", "print(bars)"]
stumbles = played(question, codes, question.target[0])
[_, score] = make_reward()([easy_group[0], stumbles], question.target)
print("rewards of its turns:", score.turns)
print("their returns:       ", [round(r, 3) for r in returns(score.turns, 0.2)])

# %% [markdown]
# The first turn failed, and the third as well: a little of the third's failure reaches back to the first.
#
# The returns are then *normalised*: minus their mean, divided by their standard deviation (by n, not n − 1). Over which
# turns? The paper doesn't say. Its released code takes all turns but the last of each attempt, that is, the calls. Here are
# an attempt with a failed call and one without. What does a call that *succeeds* get by either rule, if both attempts earn
# the same?

# %% tags=["guess", "figure"]
turns = [(-0.5, 0.0, 0.0), (0.0, 0.0)]  # fails, succeeds, answers; succeeds, answers
rules = {"all_turns": "all turns (ours)", "calls": "calls (released)"}
for rule, called in rules.items():
    same = torch.tensor([1.0, 1.0])
    found = sequence_plus_turn_advantages(same, turns, 2, weight=1.0, baseline=rule)
    print(f"{called:17s}", [[round(a, 5) for a in one] for one in found])

# %% [markdown]
# By the released rule a call that succeeds, with no failure after it, stands above the mean of all calls as soon as one of
# them fails, and never below it, since only failures cost anything. It is a hidden bonus for calling, next to a reward that
# is there to decide just that. If the answer's turn is compared as well, answering gets the same push as a call that
# succeeds, so nothing favours calling. That is our rule; `turn_baseline="calls"` is the released one. In training the turn's
# part is multiplied by 0.2 and added to the [advantage](../docs/glossary.md#advantage) of the whole attempt.
#
# ## The sets
#
# Three sides: to train on, to make choices on (*development*), to measure by (*test*). Which side an image lies on is
# decided by what it *says*. A chart "red 2, green 6, blue 4" is on one side, in whatever colours of paper it is drawn.

# %%
sets = {
    "train": make_tasks(dict.fromkeys(MAKERS, train_tasks), seed),
    "development": make_tasks(
        dict.fromkeys(MAKERS, development_tasks), test_seed, "development"
    ),
    "test": make_tasks(counts_of(MAKERS, test_tasks, more_tests), test_seed, "test"),
}

# %%
told = {"easy": easy_shown, "hard": hard_shown}
parts = {}  # how many parts of the demonstrations a kind has, one where none is named
for level, kinds in told.items():
    for kind, *part in map(str.split, kinds.split(",")):
        parts[f"{kind}/{level}"] = int(part[0]) if part else 1
every = sum(parts.values())
counts = {kind: demonstrations * part // every for kind, part in parts.items()}
lessons = given.pop("sft", [])[:demonstrations]  # the paper's own, where data has them
lessons = lessons or make_tasks(counts, seed + 1_000_000)  # others than reinforcement's
check_apart([*sets["train"], *lessons], sets["development"], sets["test"])
for name, tasks in {**sets, "demonstrations": lessons}.items():
    n = Counter(t.meta["level"] for t in tasks)
    print(f"{name:15s} {len(tasks):5d} tasks: {n['easy']} easy, {n['hard']} hard")

# %% [markdown]
# Does the check find anything? Put one task of the test set among those to train on, under another name:

# %% tags=["figure"]
stolen = replace(sets["test"][0], id="my-own-task")
try:
    check_apart([*sets["train"], stolen], sets["test"])
except MakingError as error:
    print(fill(str(error), 84))

# %% [markdown]
# ## Can they be solved?
#
# A task that can't be solved teaches nothing. And if a hard one can be answered at sight, the reward praises a call
# that nobody needed. So every task *proves itself*, without a model. First the makers look at each drawn scene: is it
# as easy, or as hard, as it says? They compare pixels to decide what can be read from which image. Here are four
# scenes, three of them spoilt. What will the check say?

# %% tags=["guess", "figure"]
from papers.codedance.tasks import draw, unfit

scenes = {name: draw(*by_kind[name].meta["drawn"]) for name in by_kind}
cards, bars, one = (
    scenes[n] for n in ("board/hard", "chart_compute/hard", "sheet/easy")
)
bar, turned = next(iter(bars.facts.values())), one.image.rotate(180)
spoilt = {
    "a board, as it was drawn": (cards, "board/hard"),
    "the prompt shows it large": (replace(cards, detail=14.0), "board/hard"),
    "a bar is the answer": (replace(bars, answer=bar), "chart_compute/hard"),
    "easy, but turned": (replace(one, image=turned), "sheet/easy"),
}
for name, (scene, kind) in spoilt.items():
    print(f"{name:26s} {unfit(scene, kind) or 'nothing is wrong with it'}")

# %% [markdown]
# Then a script plays each task in this very environment: with code it has to find the gold answer out. It is asked of every
# task of every set.

# %%
from kit.train.playable import check_playable
from papers.codedance.validate import validate

proven = {f"{name}.jsonl": tasks for name, tasks in sets.items()}
check_playable(proven, chat, validate=partial(validate, tools=sandbox))
print(sum(map(len, sets.values())), "tasks, each solved by a script")

# %% [markdown]
# ## Demonstrations
#
# The expert is a script that knows what each image says. It speaks in the words that the small model already has: it
# lists what it sees and repeats the question. On easy questions the value that was asked for stands right behind the
# question, whether it calls or not, so that these demonstrations teach to look it up there; where code computes, as below,
# nothing stands between question and code. Step through one. The tinted tokens are the policy's own; it learns from no
# others ([loss mask](../docs/glossary.md#loss-mask)).

# %%
from kit.train.demonstrations import collect
from papers.codedance.expert import expert
from papers.codedance.lessons import plays_out

show = ScriptedPolicy(chat, expert(needless, prompt))
how = codedance.Play(prompt=prompt).measured()
played_by_script = collect(
    show,
    chat,
    lessons,
    lambda: how.environment(sandbox),
    how,
    run_folder(run) / "data" / f"expert-{prompt}-{needless:g}.jsonl",
    chunk=32,  # sessions at once
)
shown = [episode for episode in played_by_script if plays_out(episode)]
assert shown, f"none of {len(lessons)} demonstrations ends as it should"
example = [e for e in shown if e.task.meta["kind"] == "chart_compute"] or shown
display(view.show(example[0], chat=chat, is_right=is_right))
print(f"{len(lessons) - len(shown)} of {len(lessons)} left out: their code fails here")

# %% [markdown]
# **They are undecided, on purpose.** In the paper easy questions are answered directly and hard ones by code. A tiny model
# would copy that rule to the letter, and no reward could show what it does to calling. So in a share of our easy
# demonstrations code prints what was read already. How many calls has a demonstration then, easy and hard?

# %% tags=["guess", "figure"]
pair = [e for e in shown if e.task.meta["kind"] == "chart_value"]
for calls in (0, 1):
    for one in [e for e in pair if e.calls == calls][:1]:
        print(" ⏎ ".join(t.text for t in one.turns), "\n")
levels = {"easy": [], "hard": []}
for episode in shown:
    levels[episode.task.meta["level"]].append(episode.calls)
print({level: round(float(np.mean(calls)), 2) for level, calls in levels.items()})
told = {
    f"{n} calls": {level: calls.count(n) for level, calls in levels.items()}
    for n in (0, 1)
}
display(plots.bars(told, "demonstrations"))

# %% [markdown]
# The mean on easy questions is the number to watch from here on. A reward that knows when a call is worth making has to
# bring it down, and to leave the other where it is.
#
# ## Stored for 32

# %%
sets |= {"train" if name == "rl" else name: tasks for name, tasks in given.items()}
folder = run_folder(run) / "data"
for old in folder.glob("eval-*.jsonl"):
    old.unlink()  # of an earlier run with other benchmarks
for name, tasks in sets.items():
    save_tasks(folder / f"{name}.jsonl", tasks)
    print(f"data/{name}.jsonl: {len(tasks)} tasks")
save_episodes(folder / "coldstart.jsonl", shown)
print(f"data/coldstart.jsonl: {len(shown)} episodes")
sandbox.close()

# %% [markdown]
# ## Paper / here / why different

# %% tags=["figure"]
print("                             paper         here")
print(f"demonstrations               34K           {len(shown):,d}")
print(f"questions for reinforcement  63K (release) {len(sets['train']):,d}")
print(f"seconds a call               15            {READABLE_FIGURES.seconds:.0f}")
print(f"calls an easy demonstration  0             {np.mean(levels['easy']):.2f}")
print("who says what is hard        a weak model  the program that draws it")

# %% [markdown]
# The paper's demonstrations are made by models and checked by a model of 72 billion weights; ours are written by a
# script, so they sound alike, and none of them is wrong. Its code opens the image as the model saw it; ours opens the
# original, because detail that was shrunk away is what a crop is for. A comment is a successful call there and a failed
# one here. Needless calls are asked for in a share `needless` of the easy demonstrations; a checksum of a task's id decides
# in which, and needn't hit that share exactly. The constants of $d$, called the paper's above, are its released code's, where its text lost them.
#
# ## What you have seen
#
# When is a call worth making, and which reward teaches an agent to tell?

# %% tags=["figure"]
from IPython.display import Markdown

needless_call, at_once = "one needless call", "at once"
charges = [n for n, paid in of_easy.items() if paid[needless_call] < paid[at_once]]
pays = [n for n, paid in of_hard.items() if paid["calls twice, right"] > 1]
turning = next(m / 1000 for m in range(1001) if difficulty(m / 1000) < 0)
adaptive = of_easy["adaptive"]
display(
    Markdown(f"""
- **A call is worth making where its output decides the answer.** Which rewards pay less
  for a needless call on the easy chart? Of four: {", ".join(charges) or "none"}.
  (R_BAT, here `adaptive`, pays {adaptive[needless_call]:.2f} instead of
  {adaptive[at_once]:.2f}.) Which pay for the two calls on the hard one? {", ".join(pays)}.
- No reward is told which question is easy. R_BAT charges for a call as soon as more than
  {turning:.0%} of a group's attempts are right, and pays for it before.
- {sum(map(len, sets.values())):,d} tasks are stored, and a script has solved each drawn one. The
  demonstrations call {np.mean(levels["easy"] or [0]):.2f} times on an easy question and
  {np.mean(levels["hard"] or [0]):.2f} times on a hard one: needless calls are left to take away.
""")
)

# %% [markdown]
# Next: [32](32_codedance_sft.ipynb), in which a small model imitates these demonstrations, and then
# [33](33_codedance_grpo.ipynb), in which it is paid.
