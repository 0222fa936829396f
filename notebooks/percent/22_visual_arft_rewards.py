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
# **The question.** An agent turned a picture, looked two things up and answered. What should it be paid
# for: every step, or the answer alone? And what does an agent learn that is paid for the wrong thing?
#
# **The paper.** Visual-ARFT (Liu et al.), section 3.2: the reward of a step. Table 3: F1 against exact match.
#
# **Afterwards you can** compute token F1, exact match and a query's worth before you are told; say what the
# paper's rule pays a comment; compare a step's reward with an episode's; say which tokens each of them moves.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu`, `node` | the same | 1 | 1 GB |
#
# No model is trained here. The episodes are the expert's, from notebook 21, and some written by hand.

# %% tags=["parameters"]
run: str = "visual_arft"  # run directory under runs/, shared by notebooks 21 to 24
least: float = 0.5  # likeness below which a query earns nothing (released code)

# %%
import numpy as np
from IPython.display import display
from kit.data.store import load_episodes
from kit.episode import Episode, Observation, Task, Turn
from kit.files import run_folder
from kit.papers.visual_arft.env import PROTOCOL
from kit.papers.visual_arft.reward import RewardConfig, score, step_score, step_scores
from kit.rewards.similarity import MiniLM
from kit.rewards.text_match import exact_match, f1, tokens
from kit.train.advantage import group_advantages, turn_advantages
from kit.view import plots

# %% [markdown]
# ## How right is an answer?
#
# Both texts are made comparable (lower case, no punctuation, no articles), then cut into tokens. With
# $T(o)$ the answer's tokens and $T(a)$ the gold's:
#
# $$P = \frac{|T(o) \cap T(a)|}{|T(o)|}, \qquad R = \frac{|T(o) \cap T(a)|}{|T(a)|}, \qquad
# F_1 = \frac{2PR}{P + R}$$
#
# The paper's example: the answer is "the red car", right is "red cars". Which tokens do they share? What
# is F1, what is exact match?


# %%
def token_f1(answer: str, gold: str) -> float:
    """F1 of two short texts, by the formula."""
    said, right = tokens(answer), tokens(gold)
    shared = sum(min(said.count(t), right.count(t)) for t in set(said))
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(right)
    return 2 * precision * recall / (precision + recall)


print(tokens("the red car"), tokens("red cars"))
print("F1:", token_f1("the red car", "red cars"))
print("EM:", exact_match("the red car", "red cars"))

# %% [markdown]
# Work out these five before you run the cell. The last is Chinese, which is written without spaces:
# there, each character is a token.

# %%
pairs = {
    ("43", "43"): 1.0,
    ("total 43", "43"): 2 / 3,
    ("It is 43, I think", "43"): 1 / 3,
    ("34", "43"): 0.0,
    ("北京市", "北京"): 4 / 5,
}
for (answer, gold), worth in pairs.items():
    print(f"{answer:20s} {gold:6s} F1 {f1(answer, gold):.3f}", end="  ")
    print("EM", int(exact_match(answer, gold)))
    assert np.isclose(f1(answer, gold), worth)
    assert np.isclose(token_f1(answer, gold), worth)

# %% [markdown]
# F1 pays for what is partly right; exact match doesn't. Early in training hardly anything is quite
# right: then a reward that only knows "quite" has nothing to say. That is claim R3, which notebook 24
# puts to the test.
#
# ## How right is a query?
#
# There is a gold query for each step, but many queries would do. So the paper compares *meanings*: the
# cosine between two sentence embeddings, by a small encoder (MiniLM); below one half it counts
# nothing. Which of these is nearest to the gold query, which earns nothing?

# %%
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
# "Paris" is the answer, and a query for it finds nothing new; the encoder calls it like enough to earn. The
# main export partner misses one half by a little, though no question about the capital is answered by it. A
# learned reward has opinions of its own, and a policy will find out which.
#
# ## The reward of a step
#
# $$R = R_{format} + R_{acc}$$
#
# $R_{format}$ is 1 if the turn is `<think>…</think>` and then one action or answer, and nothing else.
# $R_{acc}$ depends on what the step is: F1 of an answer, the query's likeness, and for code 1.
# Here is one episode of the expert's, step by step. What does each turn earn?

# %%
data = run_folder(run) / "data"
episodes = load_episodes(data / "coldstart.jsonl")
hard = next(e for e in episodes if len(e.task.meta.get("queries", ())) == 3)
steps = step_scores(hard, hard.task.target, hard.task.meta["queries"], alike)
for turn, step in zip(hard.turns, steps, strict=True):
    parts = ", ".join(f"{name} {part:.2f}" for name, part in step.parts.items())
    print(f"{turn.text[-62:]:62s} {step.total:.2f} = {parts}")

# %% [markdown]
# ## What code is paid for
#
# The paper pays any block of code. Its release never ran it: pictures were mended beforehand. Which of these three
# turns would you pay?


# %%
def said(text: str, status: str = "ok") -> Turn:
    """A turn written by hand, with what the sandbox said to it."""
    action = PROTOCOL.parse(text)
    last = action.name == "answer"
    return Turn(
        (0,), (0.0,), text, action, None if last else Observation("", (), status)
    )


# %%
blocks = {
    "image_1 = brighten(image)": "ok",
    "image_1 = brigthen(image)": "error",
    "# the picture looks dark": "error",  # there is no statement in it
}
task = Task("by hand", (), "What is the total?", ("43",))
print(f"{'':28s} ours  the paper's")
for code, status in blocks.items():
    turn = said(f"<think>dark.</think><code>{code}</code>", status)
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
# A comment earns as much as a mended picture under the paper's rule. Nothing in that asks the agent to
# mend anything. Here code is paid for if it ran; the paper's rule is there by its name
# (`Rule(any_code=True)`).
#
# ## The reward of an episode
#
# Or pay nothing but the end: $R_{format}$ if *every* turn keeps to the tags, and the answer's F1. What a
# query or a picture was worth shows in the answer, or it was worth nothing.
#
# Four ways to play one task. Which does each of the two rewards like best?

# %%
mend = "<think>dark.</think><code>image_1 = brighten(image)</code>"
useless = "<think>Hm.</think><code>image_1 = denoise(image)</code>"
right = "<think>total 43.</think><answer>43</answer>"
wrong = "<think>total 48.</think><answer>48</answer>"
ways = {
    "mends, answers rightly": (mend, right),
    "answers rightly at once": (right,),
    "mends, answers wrongly": (mend, wrong),
    "works for nothing": (useless,) * 4 + (wrong,),
}
print(f"{'':26s} episode  mean step  sum of steps")
for name, texts in ways.items():
    played = Episode(task, (), tuple(said(text) for text in texts), "answer")
    whole = score(played, task.target)
    step = step_score(played, task.target, (), alike)
    print(f"{name:26s} {whole.total:7.2f} {step.total:10.2f} {sum(step.turns):13.2f}")

# %% [markdown]
# The episode's reward sees two right answers and two wrong ones. The sum of steps likes the last best: four
# useless operations, and a wrong answer. The mean is less easily fooled, but still pays more for working
# for nothing than for mending and misreading once. A step's reward teaches a policy soon what a step
# should look like; it does not ask what the step was for.
#
# ## Which tokens are moved
#
# GRPO turns rewards into advantages (notebook 03). An episode's reward gives every token of the episode
# one number. A step's reward can do better: compare the *k*-th turns of a group with one another.
#
# $$\hat A_{i,k} = \frac{r_{i,k} - \operatorname{mean}_j r_{j,k}}{\operatorname{std}_j r_{j,k} + \epsilon}$$
#
# The four ways above, as one group. Predict the sign of each turn's advantage.

# %%
import torch

group = [
    Episode(task, (), tuple(said(text) for text in texts), "answer")
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
# By the episode's reward both episodes with the right answer are pushed, every token of them, the others
# are held back. By the steps' reward all four first turns are worth the same: code that ran, or a right
# answer. Of the second turns the wrong answer is held back, and the useless operation is pushed as much as
# the right answer is. A turn that nobody else got to has nobody to be compared with, and teaches nothing.
#
# The trainer takes either: a score that carries `turns` is compared turn by turn
# (`kit/train/advantage.py`), one that doesn't is an episode's. The loss is the same.
#
# ## On a real episode
#
# The expert's Hard episode beside one in which two things went wrong: the second query looks up the wrong thing, and the
# answer is half right.

# %%
slip = hard.turns[1].text.replace(hard.task.meta["queries"][1], "price of milk")
half = f"<think>It is so.</think><answer>{hard.task.target[0]} perhaps</answer>"
worse = Episode(
    hard.task,
    hard.prompt_ids,
    (hard.turns[0], said(slip), hard.turns[2], said(half)),
    "answer",
)
names = {"the expert's": hard, "with two slips": worse}
rewards = {}
for name, played in names.items():
    made = step_scores(played, played.task.target, hard.task.meta["queries"], alike)
    rewards[name] = {f"turn {k}": one.total for k, one in enumerate(made, 1)}
    whole = score(played, played.task.target).total
    each = " ".join(f"{one.total:.2f}" for one in made)
    print(f"{name:15s} episode {whole:.2f}  steps {each}")
display(plots.bars(rewards, label="reward of each turn"))

# %% [markdown]
# The episode's reward says: a little worse. The steps' says where.
#
# ## Paper / here / why different
#
# | | the paper's release | here |
# |---|---|---|
# | a sample | one step, on stored tool output | an episode, played and executed |
# | reward | of that step | of the episode (notebook 23), or of each step, by name |
# | code | 0.9 for any block | 1 if it ran; `Rule(any_code=True, code=0.9)` is theirs |
# | a query | against the step's gold query | against the nearest gold query not yet used |
# | the gold answer | written into one rollout after its log-probabilities were computed | nowhere but in the reward |
#
# Next: [23, training](23_visual_arft_grpo.ipynb).
