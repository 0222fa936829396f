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
# # 22 · Visual-ARFT: the two rewards
#
# **The question.** An agent rotated an image, searched twice and answered. Should each of these steps be rewarded, or
# the answer alone? And what does an agent learn from a reward for the wrong thing?
#
# **The paper.** [Visual-ARFT (Liu et al., arXiv:2505.14246)](https://arxiv.org/abs/2505.14246), section 3.2.1: the
# reward of a step (equations 3 to 5). Table 3 compares F1 with exact match as the reward of an answer. The paper
# has no figure of its rewards; the one at the end of this notebook is ours.
#
# **Afterwards you can** compute token F1, exact match and the reward of a query by hand; say what the paper's rule
# gives for a comment; compare the reward of steps with the reward of an
# [episode](../docs/glossary.md#episode); say which tokens each of them makes more or less likely.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu`, `node` | the same | 1 | 1 GB |
#
# No model is trained here. The episodes are the expert's, from notebook 21, and some written by hand.

# %% tags=["parameters"]
run: str = "visual_arft"  # run directory under runs/, shared by notebooks 21 to 24
least: float = 0.5  # likeness below which a query earns nothing (released code)

# %%
from textwrap import fill

from IPython.display import display
from kit.data.store import load_episodes
from kit.episode import Episode, Observation, Task, Turn
from kit.files import run_folder
from kit.rewards.text_match import exact_match, f1, tokens
from kit.train.advantage import group_advantages, turn_advantages
from kit.view import plots
from papers.visual_arft.env import PROTOCOL
from papers.visual_arft.reward import RewardConfig, score, step_score, step_scores
from papers.visual_arft.similarity import MiniLM
from workshop.exercises import check, hint, solution

# %% [markdown]
# ## How right is an answer?
#
# Both texts are normalised (lower case, no punctuation, no articles), then cut into words, here called tokens. With
# $T(o)$ the answer's tokens and $T(a)$ the gold's:
#
# $$P = \frac{|T(o) \cap T(a)|}{|T(o)|}, \qquad R = \frac{|T(o) \cap T(a)|}{|T(a)|}, \qquad
# F_1 = \frac{2PR}{P + R}$$
#
# This is the formula as code. The answer is "the red car"; "red cars" is right. Which tokens do they share? What is
# F1, and what is exact match (EM: 1 if the normalised texts are equal, else 0)?


# %% tags=["guess"]
def token_f1(answer: str, gold: str) -> float:
    """F1 of two short texts, by the formula."""
    given, right = tokens(answer), tokens(gold)
    shared = sum(min(given.count(t), right.count(t)) for t in set(given))
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(right)
    return 2 * precision * recall / (precision + recall)


print(tokens("the red car"), tokens("red cars"))
print("F1:", token_f1("the red car", "red cars"))
print("EM:", int(exact_match("the red car", "red cars")))

# %% [markdown]
# **Exercise 22.1.** The answer is "a tea and two coffees"; "two coffees" is right. What is F1? Work it out on paper.

# %% tags=["exercise"]
answer = ...  # a number

check("22.1", answer)

# %% [markdown]
# Five more, in your head, before you open the output. The last pair is Chinese, which is written without spaces:
# there, each character is a token.

# %%
pairs = [
    ("43", "43"),
    ("total 43", "43"),
    ("It is 43, I think", "43"),
    ("34", "43"),
    ("北京市", "北京"),
]
for answer, gold in pairs:
    print(f"answer {answer!r}, right {gold!r}")

# %% tags=["guess"]
for answer, gold in pairs:
    print(f"{answer:20s} {gold:6s} F1 {f1(answer, gold):.3f}", end="  ")
    print("EM", int(exact_match(answer, gold)))
    assert abs(token_f1(answer, gold) - f1(answer, gold)) < 1e-9  # ours is the kit's

# %% [markdown]
# F1 gives something for an answer that is partly right; exact match gives nothing. What that means for training
# depends on the [group](../docs/glossary.md#group): several episodes of one task, which GRPO compares with one
# another (notebook 03). If all rewards of a group are equal, nothing is learnt from it.
#
# **Exercise 22.2.** From which groups of answers does GRPO learn something, with F1 as the reward, and with EM? Use
# `f1(answer, gold)` and `exact_match(answer, gold)`.


# %% tags=["exercise"]
def teaches(answers: list[str], gold: str) -> tuple[bool, bool]:
    """Whether GRPO learns from this group: with F1 as the reward, with EM."""
    ...


check("22.2", teaches)

# %% [markdown]
# Where few answers are exactly right, most groups teach nothing with EM. The paper found that F1 is the
# better reward even if EM is what one measures. Here the two rewards differ in some groups (notebook 23 shows one):
# claim R3 of the kit says that they end within 0.05 of each other, and [notebook 24](24_visual_arft_claims.ipynb) tests
# that.
#
# ## How right is a query?
#
# There is a gold query for each step, but other words would find the same document. So the paper compares
# *meanings*: a sentence encoder turns each query into a vector, and the reward is how similar the two vectors are. In
# the released code the encoder is MiniLM, the similarity the cosine, and below 0.5 a query earns nothing; the paper
# says none of the three. Which of these five is nearest to the gold query
# "France capital", and which earn nothing?

# %% tags=["guess"]
alike = MiniLM()
gold = "France capital"
queries = [
    "France capital",
    "name of the capital of France",
    "Paris",
    "France main export partner",
    "three vertical bands",
]
for query in queries:
    worth = alike(query, gold)
    print(f"{query:32s} {worth:.2f}  earns {worth if worth >= least else 0:.2f}")

# %% [markdown]
# <details><summary>One of these five rewards is wrong, and one is right by a hair. Which? Guess first, then open</summary>
#
# "Paris" is the answer itself. A search for it finds nothing new, and yet it earns 0.63. The query for the main
# export partner earns nothing, but only just (0.49), although it can't help with a question about the capital. A
# learned measure makes mistakes of its own, and a [policy](../docs/glossary.md#policy) that is trained on it finds
# them.
#
# </details>
#
# Another fault is easy to miss: an agent could send one good query again and again and be rewarded each time. So the
# kit compares each query only with those gold queries that no earlier query was matched with.
#
# **Exercise 22.3.** Write that rule. `likeness[i][j]` is the cosine of the agent's query `i` and gold query `j`. Go
# through the queries in order. Each is matched with the most similar gold query that is still free. From 0.5 on it
# earns the cosine, and that gold query is free no more; below 0.5 it earns 0 and takes nothing. If no gold query is
# free, it earns 0.


# %% tags=["exercise"]
def query_rewards(likeness: list[list[float]]) -> list[float]:
    """Reward of each query, in order."""
    ...


check("22.3", query_rewards)

# %% [markdown]
# ## The reward of a step
#
# $$R = R_{format} + R_{acc}$$
#
# $R_{format}$ is 1 if the [turn](../docs/glossary.md#turn) is `<think>…</think>`, then one action or answer, and
# nothing else. $R_{acc}$ depends on the kind of the step: for an answer its F1, for a query its cosine with the gold
# query, for code 1. Here is an episode of the expert. What does each turn earn?

# %%
data = run_folder(run) / "data"
episodes = load_episodes(data / "coldstart.jsonl")
hard = next(e for e in episodes if len(e.task.meta.get("queries", ())) == 3)
for turn in hard.turns:
    print(fill(turn.text, 84), "\n")

# %% tags=["guess"]
steps = step_scores(hard, hard.task.target, hard.task.meta["queries"], alike)
for turn, step in zip(hard.turns, steps, strict=True):
    parts = ", ".join(f"{name} {part:.2f}" for name, part in step.parts.items())
    print(f"{turn.action.name:6s}  {step.total:.2f} = {parts}")

# %% [markdown]
# ## What code earns
#
# The paper gives 1 for any block of code (its release 0.9). The released code never ran any: the images had been restored
# beforehand. Which of the three turns in the next cell would you reward, and which does the paper's rule reward?


# %%
def write_turn(text: str, status: str = "ok") -> Turn:
    """A turn written by hand; `status` is how the sandbox says its code ended."""
    action = PROTOCOL.parse(text)
    last = action.name == "answer"
    return Turn(
        (0,), (0.0,), text, action, None if last else Observation("", (), status)
    )


# %% tags=["guess"]
blocks = {
    "image_1 = brighten(image)": "ok",
    "image_1 = brigthen(image)": "error",
    "# the image looks dark": "error",  # a comment alone is no code
}
task = Task("by hand", (), "What is the total?", ("43",))
print(f"{'':28s} ours  the paper's")
for code, status in blocks.items():
    turn = write_turn(f"<think>dark.</think><code>{code}</code>", status)
    played = Episode(task, (), (turn,), "turns")
    ours, paper = (
        step_scores(played, task.target, (), alike, rule)[0].parts["code"]
        for rule in (
            RewardConfig(least=least),
            RewardConfig(least=least, any_code=True),
        )
    )
    print(f"{code:28s} {ours:.0f}     {paper:.0f}")

# %% [markdown]
# By the paper's rule a comment earns as much as a restored image: the rule asks for a block of code, not for its
# effect. Here code earns 1 only if it ran. The paper's rule is `RewardConfig(any_code=True)`, in notebook 23
# `code_reward=any`.
#
# ## The reward of an episode
#
# The alternative is to reward the end alone: 1 if *every* turn keeps to the format, plus the F1 of the answer. A
# useful query or a restored image is then rewarded through the better answer that it leads to.
#
# The next cell plays one task in four ways. Which way gets most from the episode's reward? Which from the steps'
# rewards, as their mean and as their sum?

# %% tags=["guess"]
restore = "<think>dark.</think><code>image_1 = brighten(image)</code>"
useless = "<think>Hm.</think><code>image_1 = denoise(image)</code>"
right = "<think>total 43.</think><answer>43</answer>"
wrong = "<think>total 48.</think><answer>48</answer>"
ways = {
    "restores, right answer": (restore, right),
    "right answer at once": (right,),
    "restores, wrong answer": (restore, wrong),
    "useless code, wrong": (useless,) * 4 + (wrong,),
}
print(f"{'':26s} episode  mean step  sum of steps")
for name, texts in ways.items():
    played = Episode(task, (), tuple(write_turn(text) for text in texts), "answer")
    whole = score(played, task.target)
    step = step_score(played, task.target, (), alike)
    print(f"{name:26s} {whole.total:7.2f} {step.total:10.2f} {sum(step.turns):13.2f}")

# %% [markdown]
# <details><summary>What the three columns say: guess first, then open</summary>
#
# The episode's reward depends on the answer alone here: two right, two wrong. The sum of the steps is highest for
# the last way: four useless operations and a wrong answer. The mean is harder to exploit, but it too gives more for
# useless code than for one useful step and one misread number. A step's reward teaches a policy quickly how a step
# must look. It does not measure what the step was good for.
#
# </details>
#
# **Exercise 22.4.** An agent gives a half-right answer at once: F1 0.5, so its mean step is 1.5. Another plays `n`
# turns of useless code that runs, then gives a wrong answer (F1 0). From which `n` on does the useless work have a
# *higher* mean step?

# %% tags=["exercise"]
answer = ...  # a whole number

check("22.4", answer)

# %% [markdown]
# ## Which tokens become more likely
#
# GRPO turns rewards into [advantages](../docs/glossary.md#advantage) (notebook 03): tokens with a positive advantage
# become more likely, those with a negative one less. The reward of an episode gives one advantage to all of its
# tokens. Rewards of steps allow more: the *k*-th turns of a group are compared with one another.
#
# $$\hat A_{i,k} = \frac{r_{i,k} - \operatorname{mean}_j r_{j,k}}{\operatorname{std}_j r_{j,k} + \epsilon}$$
#
# The mean is over those episodes $j$ of the group that have a turn $k$.
#
# **Exercise 22.5.** Write the numerator: by how much does each turn's reward differ from the mean of the turns that
# it is compared with? Episodes have different numbers of turns.


# %% tags=["exercise"]
def differences(rewards: list[list[float]]) -> list[list[float]]:
    """For each episode: each turn's reward minus the mean of its position."""
    ...


check("22.5", differences)

# %% [markdown]
# Now the four ways above as one group. Predict the sign of each turn's advantage, then open the output.

# %% tags=["guess"]
import torch

group = [
    Episode(task, (), tuple(write_turn(text) for text in texts), "answer")
    for texts in ways.values()
]
totals = torch.tensor([score(e, task.target).total for e in group])
of_episode = group_advantages(totals, len(group))
of_turns = turn_advantages(
    [step_score(e, task.target, (), alike).turns for e in group], len(group)
)
for name, whole, turns in zip(ways, of_episode, of_turns, strict=True):
    each = " ".join(f"{value:+.2f}" for value in turns)
    print(f"{name:26s} episode {whole:+.2f}   turns {each}")

# %% [markdown]
# <details><summary>Why the signs are what they are: guess first, then open</summary>
#
# By the episode's reward all tokens of the two right episodes become more likely, and all tokens of the others less.
# By the rewards of steps all four first turns are equal: code that ran, or a right answer. Among the second turns
# the wrong answer becomes less likely, and the useless operation more likely, as much as the right answer. From the
# third turn on only one episode is left. There is nothing to compare it with, so its advantage is 0.
#
# </details>
#
# The trainer takes either kind (`kit/train/advantage.py`); a setting says which. The loss is the same.
#
# ## On a real episode
#
# Here is the expert's Hard episode beside a copy with two mistakes: its second query asks for something else, and its answer
# has one word too many.

# %%
slip = hard.turns[1].text.replace(hard.task.meta["queries"][1], "price of milk")
gold = hard.task.target[0]
half = f"<think>It is so.</think><answer>{gold} perhaps</answer>"
worse = Episode(
    hard.task,
    hard.prompt_ids,
    (hard.turns[0], write_turn(slip), hard.turns[2], write_turn(half)),
    "answer",
)
names = {"the expert's": hard, "two mistakes": worse}
rewards = {}
for name, played in names.items():
    made = step_scores(played, played.task.target, hard.task.meta["queries"], alike)
    rewards[name] = {f"turn {k}": one.total for k, one in enumerate(made, 1)}
    whole = score(played, played.task.target).total
    each = " ".join(f"{one.total:.2f}" for one in made)
    print(f"{name:15s} episode {whole:.2f}  steps {each}")
title = "The rewards of steps show where the mistakes are"
display(plots.bars(rewards, label="reward of the turn", title=title))

# %% [markdown]
# The episode's reward says that the copy is a little worse. The rewards of steps also say where.
#
# ## Paper / here / why different
#
# | | the paper's release | here |
# |---|---|---|
# | a training sample | one step, on stored tool output | an episode; its actions are carried out |
# | reward | of that step | of the episode (notebook 23), or of each step, by name |
# | code | 0.9 for any block where the stored step has code (the paper says 1, for any) | 1 if it ran; notebook 23's `code_reward=any` is the paper's |
# | a query | compared with the step's gold query | compared with the nearest gold query that is still free |
# | the gold answer | written into one [rollout](../docs/glossary.md#rollout) after its log-probabilities were computed | used in the reward only |
#
# ## What you have seen
#
# Should each step be rewarded, or the answer alone?

# %%
from IPython.display import Markdown

whole = {name: float(total) for name, total in zip(ways, totals, strict=True)}
summed = {
    name: sum(step_score(e, task.target, (), alike).turns)
    for name, e in zip(ways, group, strict=True)
}
best, most = max(whole.values()), max(summed, key=summed.get)
paid_best = " and ".join(f'"{name}"' for name in whole if whole[name] == best)
lost = [name for name, made in rewards["two mistakes"].items() if made < 2]

# %%
display(
    Markdown(f"""
- **The answer alone, where steps can be faked; steps, where each can be checked.** Each
  teaches what it counts: of the four ways the episode's reward pays
  {paid_best}
  best ({best:.2f}), the sum of steps "{most}" ({summed[most]:.2f}).
- In the second turn the useless operation has the advantage {of_turns[-1][1]:+.2f} by
  steps,
  the right answer {of_turns[0][1]:+.2f}; by the episode {of_episode[-1]:+.2f} and
  {of_episode[0]:+.2f}.
- What steps are good at: of an episode with two mistakes they name
  {" and ".join(lost)};
  the episode's reward says only that something was worse.
""")
)

# %% [markdown]
# Next: [23](23_visual_arft_grpo.ipynb), which trains with the episode's reward, and takes the others by name.
