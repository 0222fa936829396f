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
# # 42 · Mags-RL: the reward, taken apart
#
# **The question.** During reinforcement nobody tells the agent where to look, and no box is ever given to its
# [reward](../docs/glossary.md#reward). What then makes it look at the right place, and what else does this reward pay
# for?
#
# **The paper.** [Mags-RL (Dong et al., arXiv:2605.27960)](https://arxiv.org/abs/2605.27960): its reward adds four terms, for
# form, answer, zoom and rethinking, and two stages of training read the zoom differently. Its Figure 3 illustrates the
# terms by an example, appendix B has the formulas; the figure in this notebook, of the zoom in two stages, is ours.
#
# **Afterwards you can** compute each of the four terms by hand, in both stages; say which ways of earning need no right
# answer; and tell from a [group](../docs/glossary.md#group) of four episodes what GRPO is going to teach.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu`, `node` | the same | 1 | 1 GB |
#
# No model is used here: the episodes are written by hand.

# %% tags=["parameters"]
run: str = "mags_rl"  # run directory under runs/, shared by notebooks 41 to 44
babble_words: int = 25  # different words of an episode that talks nonsense

# %%
import json
from math import log
from textwrap import fill

import torch
from IPython.display import display
from kit.episode import Action, Episode, Task, Turn
from kit.train.advantage import group_advantages
from kit.view import plots
from papers.mags_rl.reward import Words, form_of_zoom, make_reward, rethink, zoom
from workshop.exercises import check, hint, solution

# %% [markdown]
# ## An episode
#
# Two rounds: name boxes within the reasoning, see them magnified, think again and answer. This function writes such an
# episode; what the [environment](../docs/glossary.md#environment) found of the boxes stands in the action.

# %%
CARDS = "green top left, red top right, blue bottom left, black bottom right"
QUESTION = "What is in line 1 of the red card?"
BOX = [0.5, 0.0, 1.0, 0.5]  # top right: the red card
ANOTHER = [0.0, 0.5, 0.5, 1.0]  # bottom left: the blue one
READ = "tea 35, milk 8, total 43"


def episode(think, answer, again=READ, asked=1, valid=1, task=None, box=BOX):
    """Two rounds, written by hand; `valid` of the boxes asked for were magnified."""
    task = task or Task("by hand", (), QUESTION, ("tea 35",), {"skill": "attribute"})
    boxes = json.dumps([box] * asked)
    one = Action("zoom", boxes, {"asked": asked, "boxes": [box] * valid})
    first = Turn((), (), f"<think>{think} <zoom>{boxes}</zoom></think>", one)
    said = f"<rethink>{again}</rethink><answer>{answer}</answer>"
    last = Turn((), (), said, Action("answer", answer))
    return Episode(task, (), (first, last), "answer")


good = episode(f"{CARDS}. {QUESTION} red top right.", "tea 35")
print(*(fill(turn.text, 84) for turn in good.turns), sep="\n")

# %% [markdown]
# The reward of this episode, term by term. The answer weighs 2 and is right, the one box was valid. Which term do you
# expect to be the smallest?

# %% tags=["guess"]
score = make_reward(stage=1)(good, good.task.target)
for name, value in score.parts.items():
    print(f"{name:8s} {value:.3f}")
print(f"total    {score.total:.3f}")

# %% [markdown]
# ## The form of a first round
#
# Most of the form, 0.5 of at most 0.7, is paid for *talking* before one looks. With $N_u$ the unique words of the reasoning
# and $f_d$ their share of all its words:
#
# $$f_{zoom} = I_z\,I[N_u \ge 5]\begin{cases} 0.1 & f_d < 0.4 \\
# 0.5 + 0.5\min(1, \ln(N_u + 1)/\ln 20) & \text{else} \end{cases}$$
#
# $I_z$ is 1 if the boxes are in their form. Here is the formula as code. Four unique words, five, nineteen, and six out
# of fifteen: what does each earn?


# %% tags=["guess"]
def points(unique: int, words: int) -> float:
    """The formula, for boxes in their form."""
    if unique < 5:
        return 0.0
    if unique / words < 0.4:
        return 0.1
    return 0.5 + 0.5 * min(1.0, log(unique + 1) / log(20))


for unique, words in ((4, 4), (5, 5), (19, 19), (6, 15), (6, 16)):
    assert points(unique, words) == form_of_zoom(True, Words(words, unique))
    print(f"{unique:2d} unique of {words:2d}: {points(unique, words):.3f}")

# %% [markdown]
# So the fifth word is worth 0.8 points (half of them enters the form), and a text that repeats itself falls from 0.8 to 0.1
# with one word. At a share of exactly 0.4 two of the paper's cases hold; the kit takes the higher one, once.
#
# **Exercise 42.1.** How many unique words does it take until more of them earn nothing?

# %% tags=["exercise"]
words = ...  # a whole number

check("42.1", words)

# %% [markdown]
# ## The zoom, in two stages
#
# $n$ boxes were asked for, $k$ of them were valid: in order, inside the image, smaller than 40 % of it. With five different
# words or more in the first round, few of them repeated (else stage 1 pays nothing or a tenth, and stage 2 a tenth), stage 1
# pays $k/n$. Stage 2 asks for several boxes and pays $k/n$ as well, but where the question counts, it compares $k$ with the true count $|a^*|$:
#
# $$\max(0, \min(1, k/|a^*|) - 0.05\,(n - k))$$
#
# Three cards say "tea". The agent asks for four boxes, of which three are valid. What do the stages pay? And for one valid
# box alone?

# %% tags=["guess"]
fluent = Words(all=20, unique=20)
for asked, valid in ((4, 3), (1, 1), (3, 3), (6, 6)):
    one = zoom(1, True, fluent, asked, valid, count=3)
    two = zoom(2, True, fluent, asked, valid, count=3)
    print(f"{asked} boxes, {valid} valid:  stage 1 {one:.2f}  stage 2 {two:.2f}")

# %% [markdown]
# In stage 1 one safe box earns everything: why risk a second? Stage 2 takes that away where something is counted. The
# paper claims just this (claim M5 of [44](44_mags_rl_claims.ipynb)): stage 1 makes few, safe boxes, and stage 2 raises
# their recall. But stage 2 punishes too few boxes and refused ones, never too many: six valid boxes for three cards
# earn everything. What will an agent make of that? (Notebook 43 trains one.)
#
# **Exercise 42.2.** Write stage 2's rule for a question that counts. Mind a true count of 0: no box earns 1 then, and any
# box 0. (The paper doesn't say; this is the kit's choice.)


# %% tags=["exercise"]
def counted(asked: int, valid: int, count: int) -> float:
    """What boxes earn in stage 2 if `count` things are there to be counted."""
    ...


check("42.2", counted)

# %% [markdown]
# Over the number of boxes, all of them valid, the two stages look like this where four things are counted:

# %%
boxes = list(range(9))
stages = {
    f"stage {stage}": (boxes, [zoom(stage, True, fluent, n, n, count=4) for n in boxes])
    for stage in (1, 2)
}
title = "Four things to count"
display(plots.lines(stages, "boxes, all valid", "zoom term", title))

# %% [markdown]
# ## Thinking again
#
# The last term counts the unique words $N_u'$ of the second round: $\min(1, 0.2\sqrt{N_u'})$ from five words on, and half
# of that without an answer in its form. How many words does "tea 35, milk 8, total 43" have, and what do they earn? (In
# the whole reward these points weigh half, with an answer or without: the good episode above has half of the first.)

# %% tags=["guess"]
again = Words.of("tea 35, milk 8, total 43")
print(f"{again.unique} unique words: {rethink(True, again):.3f}")
print(f"without an answer:   {rethink(False, again):.3f}")

# %% [markdown]
# ## All of it
#
# $r = r_{fmt} + 2\,r_{ans} + r_{zoom} + 0.5\,r_{revo}$, where $r_{revo}$ is the term for thinking again, $r_{ans}$ is 1 for an answer
# that matches and 0.5 for one that a judge finds to mean the same, and the form adds half of $f_{zoom}$ and a tenth each of the points for answer (1), thinking (0.5) and rethinking (0.5).
#
# **Exercise 42.3.** Stage 1, 20 words, all unique, one valid box, the right answer, 25 unique words of rethinking. What is
# the whole reward? Work it out on paper.

# %% tags=["exercise"]
total = ...  # a number

check("42.3", total)

# %% [markdown]
# ## What else is paid for
#
# Now a group of four episodes of one question, as GRPO compares them:
#
# - *right*: looks at the right card, reads it, answers rightly;
# - *wrong card*: as many different words, a valid box around another card, the wrong answer;
# - *babble*: many different words, a valid box anywhere, the wrong answer;
# - *silent*: a valid box, hardly a word, and the right answer, by luck.
#
# *Silent* has fewer than the five different words that the form of a first round and the zoom term ask for. *Wrong
# card* magnifies the blue card, the others the red one: the reward counts how many boxes are valid, and doesn't know where
# they lie. Sort the four by their reward before you look.

# %% tags=["guess"]
talk = " ".join(f"word{k}" for k in range(babble_words))
group = {
    "right": good,
    "wrong card": episode(
        f"{CARDS}. {QUESTION} blue bottom left.",
        "corn 7",
        again="corn 7, milk 8, total 15",
        box=ANOTHER,
    ),
    "babble": episode(talk, "corn 7", again=talk),
    "silent": episode("There.", "tea 35", again="tea"),
}
scores = {name: make_reward(1)(one, one.task.target) for name, one in group.items()}
parts = {
    f"{name}: {found.total:.2f}": dict(found.parts) for name, found in scores.items()
}
display(plots.stacked(parts, "reward", title="four episodes and what each term pays"))
for name, found in scores.items():
    parts = "  ".join(f"{part} {value:.2f}" for part, value in found.parts.items())
    print(f"{name:10s} {found.total:.2f}   {parts}")

# %% [markdown]
# Babble with a wrong answer earns, with so many words, as much as the right answer without a word: the silent one's box
# is valid, and pays nothing for want of five words. And the right card and the wrong one differ in one term only: *the
# answer*. That is how the reward teaches where to look without ever knowing it. And it fades where reading fails: the
# more often a crop is misread, the less the right box earns above the wrong one (exercise 42.4).
#
# GRPO subtracts the group's mean and divides by its deviation. Which of the four becomes more likely, which less?

# %% tags=["guess"]
totals = torch.tensor([found.total for found in scores.values()])
for name, value in zip(scores, group_advantages(totals, 4).tolist(), strict=True):
    print(f"{name:10s} {value:+.2f}")

# %% [markdown]
# Only *right* becomes more likely. *Silent* is right, too, and becomes less likely, as much as *babble*: both lie below the
# mean of this group.
#
# **Exercise 42.4.** Some rollouts look at the right card and read it rightly with probability $p$; the others look elsewhere
# and are never right. All else is equal. By how much does the expected reward of a right look exceed that of a wrong one?


# %% tags=["exercise"]
def edge(p: float) -> float:
    """Expected reward of looking at the right card, minus that of another one."""
    ...


check("42.4", edge)

# %% [markdown]
# That is what training has to learn from; a better magnifier makes this edge, and only this, larger. How often the
# tiny model reads a line of a card that it looks at, notebook [43](43_mags_rl_grpo.ipynb) counts.
#
# ## Paper / here / why different
#
# | | paper | here |
# |---|---|---|
# | an exact match | `a` equals `a*` | alike without case, articles, punctuation |
# | words that are counted | of "the zoom text" | of the first round's reasoning, its boxes left out |
# | at a share of 0.4 | both cases | the higher one |
# | no box; nothing to count | not told | 0; 1 for no box, 0 for any |
# | half pay: other words, same meaning | a judge, gpt-4o-mini | the same behind an endpoint; offline the exact rule alone |
#
# Each of these is declared with its reason in [the list of departures](../docs/departures.md).
#
# ## What you have seen
#
# What makes the agent look at the right place, and what else does this reward pay for?

# %%
from IPython.display import Markdown

right, wrong = (scores[name].parts for name in ("right", "wrong card"))
differ = [part for part in right if abs(right[part] - wrong[part]) > 0.01]
fifth, fourth = points(5, 5), points(4, 4)
counted_one = [zoom(stage, True, fluent, 1, 1, count=4) for stage in (1, 2)]
beside = scores["babble"].total - scores["silent"].total
how = "as much as" if abs(beside) < 0.05 else "more than" if beside > 0 else "less than"
display(
    Markdown(f"""
- **The {" and the ".join(differ)} alone**: two episodes that differ in the card they look
  at earn {scores["right"].total:.2f} and {scores["wrong card"].total:.2f}; every other
  term pays both alike.
- It pays for talk, too: {babble_words} different words with a wrong answer earn
  {scores["babble"].total:.2f}, {how} the right answer in silence
  ({scores["silent"].total:.2f}). The fifth word alone raises the points for talk from
  {fourth:.2f} to {fifth:.2f}, of which half enters the form.
- One valid box where four things are counted earns {counted_one[0]:.2f} of the zoom term in
  stage 1 and {counted_one[1]:.2f} in stage 2: only the second asks for more boxes.
""")
)

# %% [markdown]
# Next: [43](43_mags_rl_grpo.ipynb), which trains with this reward and asks whether forty questions teach where to look.
