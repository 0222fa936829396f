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
# # 14 · AGILE: do its claims hold here?
#
# **The question.** The paper draws conclusions about learning to solve jigsaws. Which of them hold for a model of three
# million parameters, trained on a laptop, with other pictures? One, A2, is followed here from its sentence to its
# verdict. The others, A1 and A3 to A6, then take less space. (A7 and A8 have [a notebook of their own](15_agile_general.ipynb).)
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), Tables 1 and 2 and Figures 3 and 11.
# It has one number, or one curve, for each claim and no [confidence intervals](../docs/glossary.md#confidence-interval);
# the intervals here are ours.
#
# **Afterwards you can** turn a sentence of a paper into a statistic with a rule fixed beforehand; say what an
# interval over puzzles covers and what it leaves out; and tell "it doesn't hold" from "these data can't tell" and both
# from "this can't be told here at all".
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, tiny model, the runs given below | 2 | 1 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B | not measured | 640 GB |
#
# Before this one: [11](11_agile.ipynb), [12](12_agile_sft.ipynb) and [13](13_agile_grpo.ipynb). One training run is
# enough to read this notebook; for verdicts you need several, each with another seed, such as three:
# `for s in 0 1 2; do python -m kit run agile --set seed=$s --name agile-$s; done`, then this notebook
# again with `--set runs=agile-0,agile-1,agile-2`.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/: results.json is written there
runs: list[str] = []  # runs that differ in their seed only; empty: just this one
few_runs: list[str] = []  # the same seeds, trained on few puzzles, for A5; empty: none
deed_runs: list[str] = []  # runs whose reward asked for the deed, for A6; empty: none
decided_runs: list[str] = []  # from a cold start that always looks
half_runs: list[str] = []  # from one that guesses half as often as here
guesses_0: list[str] = []  # runs of 11 and 12 with no guesses, for notebook 12's figure
guesses_30: list[str] = []  # with 30 % of guesses
guesses_90: list[str] = []  # with 90 %
thumbnail_2: list[str] = []  # with thumbnails of 2×2 colours, for the table there
thumbnail_8: list[str] = []  # with 8×8
episodes_80: list[str] = []  # with 80 demonstrations
replay_4: list[str] = []  # with 4 of the model's own answers replayed a batch
photographs: str = ""  # a folder of data_scripts/debian_photos.py; empty: none more
eval_puzzles: int = 3  # 3×3 puzzles a level
sampled_puzzles: int = 4  # 2×2 puzzles a level, tried again and again before GRPO
tries: int = 8  # how often each of them is tried
# ----------------------------------------------------------------------------------
model: str = ""  # the untrained checkpoint; empty: the committed tiny model
on_no_action: str = "end"  # a turn without code or answer: end, or tell the agent
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
max_turns: int = 5  # turns an episode may have, the answer included
max_new_tokens: int = 80  # of one turn
piece_px: int = 56  # side of a photograph's piece; 0: as large as the pictures give
thumbnail: int = 4  # colours a side of what the prompt shows of it; 0: all of it
profile: str = "laptop"  # written into results.json
threads: int = 1  # CPU threads of this process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import time
from collections import Counter
from dataclasses import asdict

import torch
from IPython.display import Markdown, display
from kit.data import folder as image_folder
from kit.data.store import load_tasks
from kit.evaluate.baselines import opened as full_pieces
from kit.evaluate.outcomes import by_stage
from kit.files import ROOT, read_json, run_folder, start_run
from kit.policy.hf import load_model_and_chat
from kit.train.metrics import training_minutes
from kit.view import plots
from papers.agile import claims, direct
from papers.agile import experiment as agile
from papers.agile.figures import levels
from papers.agile.measured import measured, paper_tables
from papers.agile.metrics import EVALUATION, failures
from papers.agile.puzzle import with_thumbnails
from papers.agile.reported import REPORTED
from papers.agile.tasks import LEVELS, make_puzzles
from papers.claims import as_stated
from papers.contrasts import in_words, shared_seeds
from papers.played import curves_of, opened, stages_of
from papers.registry import needs
from papers.results import write_results
from papers.starts import comparable, starts_picture
from papers.verdicts import by_verdict
from tiny import TINY
from turn_sandbox import CONFINED, Sandbox
from workshop.exercises import check, hint, solution

# %%
began = time.monotonic()
torch.set_num_threads(threads)
kept = needs("14_agile_claims")
folders = [start_run(name, needs=kept) for name in (runs or [run])]
named = {"few": few_runs, "deed": deed_runs, "decided": decided_runs, "half": half_runs}
named |= {"guesses_0": guesses_0, "guesses_30": guesses_30, "guesses_90": guesses_90}
named |= {"thumbnail_2": thumbnail_2, "thumbnail_8": thumbnail_8}
named |= {"episodes_80": episodes_80, "replay_4": replay_4}
others = {name: [run_folder(n) for n in some] for name, some in named.items() if some}
arms = {"runs": folders, **others}
limits = {"max_turns": max_turns, "max_new_tokens": max_new_tokens}
play = agile.Play(prompt=prompt, on_no_action=on_no_action, **limits)
print({name: len(some) for name, some in arms.items()}, "seed(s)")

# %% [markdown]
# ## One claim: "the cold start helps little, reinforcement helps most"
#
# This is A2, the paper's main result. Its Table 1 has 9.5 % of the 2×2 puzzles solved before training, 22.0 % after
# the cold start ([SFT](../docs/glossary.md#sft)) and 82.8 % after reinforcement ([GRPO](../docs/glossary.md#grpo)).
#
# ### What could it do before?
#
# Notebooks 12 and 13 measured the agent. But what does the base know, without acting? Ask it in its own words where each
# piece belongs: one turn, no tools, and the order it states is its answer. Ask twice. First show it what the agent is
# shown, the thumbnails: this row is `direct`. Then show it the full pieces at once: `direct_originals`. Code brings an
# agent no more than these, so the second row is about the *ceiling* of what looking can do. (An agent that looks twice
# may read a puzzle that one look misreads.) Guess both rows.

# %% tags=["guess"]
vlm, chat = load_model_and_chat(model or TINY)
for folder in folders:
    puzzles = load_tasks(folder / "data" / "eval-2x2.jsonl")
    known = {o.task for o in EVALUATION.load_outcomes(folder, "grpo")}
    same = [task for task in puzzles if task.id in known]
    full = [full_pieces(task) for task in same]
    for stage, tasks in (("direct", same), ("direct_originals", full)):
        asked = direct.ask(vlm, chat, tasks, play)
        EVALUATION.save_stage(folder, stage, asked)
played, training = stages_of(EVALUATION, arms), curves_of(arms)
for stage in ("direct", "direct_originals"):
    print(f"{stage:16s} Acc", claims.ACC.interval(played[stage]))
print(repr(asked[-1].turns[0].text), "→", asked[-1].answer)

# %% [markdown]
# ### The picture
#
# Now all stages beside each other: asked directly, the untrained agent, after the cold start, after reinforcement, and
# the ceiling. The paper's bars are 0.095, 0.220 and 0.828. Draw ours before you look.

# %% tags=["guess"]
STAGES = ("direct", "untrained", "sft", "grpo", "direct_originals")
LABELS = ("asked", "untrained", "cold start", "RL", "ceiling")
names = dict(zip(STAGES, LABELS, strict=True))
here = {names[s]: claims.ACC.interval(played[s]) for s in STAGES}
paper = {names[s]: theirs["acc_2x2"] for s, theirs in REPORTED.items() if theirs}
title = "2×2 puzzles solved, stage by stage"
guessing = ("guessing", 1 / 24)
display(plots.bars({"here": here, "the paper's 7B": paper}, "share", guessing, title))

# %% [markdown]
# `untrained` and `asked` are the same model. As an agent it keeps to no form and solves nothing; asked in its own words it
# solves some. So read a rise from `untrained` with care: part of it is learning to speak. The bar that the trained agent
# has to beat is `asked`, and the bar that it can reach is `ceiling`.
#
# ### From a sentence to a rule
#
# "Little" and "most" aren't numbers. Let $U$, $S$ and $R$ be the accuracy untrained, after SFT and after reinforcement.
# The rule, stated in `papers/agile/claims.toml`, has two checks:
#
# $$(R - S) - (S - U) > 0, \qquad R - S > 0$$
#
# The first says that reinforcement gained more than the cold start. The second is there for a cold start that does harm: then
# the first check is passed even if reinforcement gains nothing. (Neither of the two notices if it only repairs the damage:
# for that, compare R with U.) The file names a margin as well, the smallest effect worth having. A rule that is written after
# the figures are seen can be bent to them. This one is older than your run. It is younger than the kit's first trainings:
# [the results](../docs/results.md) say of each claim whether it was written before or after the trainings that are published.
# Each check has a 95 % interval:
#
# | the check | if |
# |---|---|
# | *holds* | its whole interval lies on the claimed side of the limit |
# | *doesn't* hold | its whole interval lies on the other side |
# | is *equal* | neither, and its 90 % interval lies within the margin: no effect worth having is there |
# | is *not testable here* | it could come out one way only, whatever was trained; code finds that out and says why |
# | is *undecided* | none of these: the data can't tell |
#
# A claim gets the first of *doesn't*, *equal* and *not testable here* that one of its checks has. Else it holds if all
# checks hold; otherwise it is undecided. With one seed nothing is known about other training runs, so there is no
# interval over seeds. What will the verdict be for your run? Guess.

# %% tags=["guess"]
from kit.evaluate.conduct import conduct

a2 = claims.a2(played["untrained"], played["sft"], played["grpo"])
print(a2.told)
print(a2.evidence.replace("; ", "\n"))
for stage in ("untrained", "sft", "grpo"):
    print(f"{stage:10s} {conduct(played[stage])}")

# %% [markdown]
# ### What is an interval about?
#
# With one seed an interval covers *other puzzles*: what this one trained model would have scored on other photographs.
# With several seeds it also covers *other training runs*: what the recipe would have given with another seed. A claim
# about a method needs the second kind.
#
# The 72 puzzles of the 2×2 rows ([n](../docs/glossary.md#n) = 72 for each seed) are cut from eight photographs, nine
# from each. Puzzles of one photograph are alike: if the model reads one of them easily, it reads most of them easily.
#
# **Exercise 14.1.** Take the extreme case: a photograph is solved in all nine puzzles or in none. Then 72 results
# tell no more than how many independent ones? The width of an interval shrinks with the square root of the number of
# independent results. How many times wider is the honest interval than one that counts all 72 as independent?

# %% tags=["exercise"]
answer = ...  # a number, such as 1.5
check("14.1", answer)

# %% [markdown]
# ### What speaks against it?
#
# Two things, before you believe the picture. The first is our own doing: on a laptop the cold start is made undecided.
# Of its demonstrations more guess than look. Had all of them looked, the agent would look after SFT already, and there would be
# little left to find out (notebook 12 draws this curve). So A2 says here what reinforcement *can* do. It doesn't say that
# cold starts are weak.
#
# The second: the bars are of greedy play. How do the same two models do if their turns are sampled, as in training?


# %%
def sampled(rows):
    """Accuracy of the first training batch and of the last four, which are sampled."""
    shares = [row["accuracy"] for row in rows]
    return shares[0], sum(shares[-4:]) / len(shares[-4:])


# %% tags=["guess"]
ends = [sampled(rows) for rows in training["grpo"].values()]
for at, stage in enumerate(("sft", "grpo")):
    share = sum(pair[at] for pair in ends) / len(ends)
    greedy = claims.ACC.interval(played[stage]).value
    print(f"{stage:4s}: sampled {share:.3f}, greedy {greedy:.3f}")

# %% [markdown]
# Training samples: each [token](../docs/glossary.md#token) is drawn with its probability, so that episodes of a group
# differ. Evaluation is [greedy](../docs/glossary.md#greedy): it takes the likeliest token each time. (The puzzles differ
# too: training plays many that are cut from drawn scenes.) A model that looks in four of ten samples looks in none of its
# greedy episodes, and one that is right nine times in ten at each of five decisions is right in every greedy episode.
#
# **Exercise 14.2.** An episode depends on a few decisive tokens. At each the policy chooses between a right token, with
# the probability given, and a wrong one. The answer is right if all of them are. In which share of its episodes is
# the answer right if tokens are sampled, and in which share if it plays greedily (always, 1, or never, 0)?


# %% tags=["exercise"]
def sampled_and_greedy(probabilities: list[float]) -> tuple[float, float]:
    """Share of right answers when sampled, and when greedy."""
    ...


check("14.2", sampled_and_greedy)

# %% [markdown]
# Try your function on five decisions that are each right with probability 0.95: it says $0.95^5 = 0.77$ and 1.
#
# ## The other claims
#
# **A1**: *the untrained model is near random.* The base asked directly, from thumbnails: is its whole interval within 0.1
# of 1/24? On a laptop that depends on how coarse the thumbnails are, which is a choice of ours; what they hide is the
# distance to the ceiling. Look at its levels, too, in the table below. A base that solves more where more pieces lie
# right may only have the habit of leaving them.
#
# **A4**: *accuracy rises with the pieces in place at first.* The slope over the levels L0, L1, L2.
#
# **A3**: *what is learnt on 2×2 carries over to 3×3.* So each stage plays puzzles of nine pieces, which nobody
# trained on. A guesser who names any arrangement has a ninth of the pieces right. Guess the Score, the share of pieces in
# their place, of each stage.


# %%
def play_nine(folder, stage, checkpoint):
    """Play nine-piece puzzles once and save their outcomes."""
    tasks = load_tasks(folder / "data" / "eval-3x3.jsonl")
    some = agile.first_per_level(tasks, eval_puzzles)
    vlm, chat = load_model_and_chat(checkpoint)
    with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:
        played = agile.play_greedily(vlm, chat, box, some, play)
    EVALUATION.save_stage(folder, f"{stage}-3x3", played)
    return played


def checkpoints(folder):
    """The model of each stage of a run."""
    trained = {stage: agile.trained(folder, stage) for stage in ("sft", "grpo")}
    return {"untrained": model or TINY, **trained}


# %% tags=["guess"]
nines = {}
for folder in folders:
    for stage, checkpoint in checkpoints(folder).items():
        nines.setdefault(stage, []).extend(play_nine(folder, stage, checkpoint))
for stage, nine in nines.items():
    ended = "; ".join(f"{n:.0%} {why}" for why, n in failures(nine).items())
    print(
        f"{stage:10s} Score {EVALUATION.evaluate(nine)['score_3x3'].value:.3f}  {ended}"
    )
print("the last answer:", repr(nine[-1].answer))

# %% [markdown]
# <details><summary>Why is it less than a guesser's? Think first, then open.</summary>
#
# An answer counts only if it names each of the nine pieces once. Read how the episodes ended: *a turn without an action*
# means that the model doesn't know the form; *out of turns*, that it acts and never answers; *a malformed answer*, here, that
# it names too few labels. Every answer that the tiny model has ever been shown or paid for had four. Where all fail at the
# form, how much they see is not measured. A score of 0 can have several causes; how the episodes ended tells which.
#
# </details>
#
# **A5**: *more RL puzzles, higher accuracy.* The claim is about 6, 12 and 24 puzzles, and its data are trainings of six a
# batch (`few_runs` names such). Without one the cell draws the models that notebook 13 kept on the way, which decide nothing:
# on a laptop the first of them that was played has met 24 puzzles, so beside the 0 they begin where the claim ends.

# %%
arm = "few-" if few_runs else "grpo-"
kept = {name.removeprefix(arm): some for name, some in played.items() if arm in name}
budgets = {int(n): some for n, some in kept.items() if n.isdigit()}
budgets = shared_seeds({0: played["sft"], **dict(sorted(budgets.items()))})
accuracy = {n: sum(o.correct for o in some) / len(some) for n, some in budgets.items()}
print("RL puzzles and accuracy:", {n: round(y, 3) for n, y in accuracy.items()})
curve = list(accuracy), list(accuracy.values())
references = {"the paper, all 15.6K": REPORTED["grpo"]["acc_2x2"]}
references["ceiling"] = claims.ACC.interval(played["direct_originals"]).value
title = "accuracy on held-out 2×2 puzzles over training puzzles"
display(plots.lines({"here": curve}, "RL puzzles", "Acc", title, references))

# %% [markdown]
# The statistic is the slope of the straight line that fits best: accuracy $y_k$ over the place $k = 0, 1, 2, \dots$ of
# its budget in the list (the budgets themselves double each time).
#
# $$\text{slope} = \frac{\sum_k (k - \bar k)\, y_k}{\sum_k (k - \bar k)^2}$$
#
# **Exercise 14.3.** Write it. Then apply it twice: to all values of `accuracy`, and to all but the first, which is
# the model before any reinforcement learning. Do more puzzles help, once there have been any?


# %% tags=["exercise"]
def slope(accuracies: list[float]) -> float:
    """Slope of the line of least squares over 0, 1, 2, ..."""
    ...


check("14.3", slope)

# %% [markdown]
# Compare your two numbers with the kit's, over the same budgets and with intervals.

# %% tags=["guess"]
trained_only = {n: outcomes for n, outcomes in budgets.items() if n}
for text, some in (("with budget 0:", budgets), ("without:", trained_only)):
    known = claims.growth(some) if len(some) > 1 else "needs two budgets"
    print(f"{text:15s}", known)

# %% [markdown]
# <details><summary>Which of the two should decide about A5? Think first, then open.</summary>
#
# The second. With budget 0 in it the slope says that training helps, which is claim A2's business: finding out that looking
# pays at all makes most of it. What the sentence says is whether more puzzles help once there have been some: for the claim,
# whether 24 help more than 6. So the rule leaves budget 0 out, and reports the slope with it beside its own. (After 0 the
# values drawn above go on at 24 puzzles, where nearly all is found out already.) And if the first puzzles already solve
# nearly all, there is no room in which more could help: the rule calls the claim not testable where every budget leaves less
# than a twentieth unsolved. A curve that is flat below that is undecided, or equal. Read a claim's statistic before you
# believe its sentence.
#
# </details>
#
# **A6**: *during training, turns first rise, then fall, and responses get shorter* (Figure 11). Here are the turns of your
# runs. Why might they rise here, and why might they fall again? The reward charges each turn of code, and it pays an answer
# that is right.

# %%
turns = {
    f"seed {seed}": ([row["step"] for row in rows], [row["turns"] for row in rows])
    for seed, rows in [*training["grpo"].items()][:6]
}
display(plots.lines(turns, "step", "turns", "turns an episode, in training"))

# %% [markdown]
# A guess takes one turn, and a look at least two. So while the agent finds out that looking pays, its turns rise. Then
# each exchange that isn't needed costs a turn, so they should fall; do they, in your curves? (Over seeds, claim A6 below
# asks it.) The paper's model begins elsewhere: it has learnt from an expert's long episodes. That is why the third part
# of the sentence needn't hold here even where the first two do: a guess is the shortest response there is, so responses
# grow as soon as the agent looks.
#
# ### Where is the peak?
#
# Claim A6 says that turns first rise and then fall. The obvious statistic is the highest point of a curve minus its
# start. But every noisy curve has a highest point, also one that neither rises nor falls. So the rule lets the *other*
# seeds say where the peak is, and reads this seed's curve there.
#
# **Exercise 14.4.** `curves[k]` holds the mean turns of seed `k` over equal stretches of its training. For each seed:
# average the curves of all other seeds, find where this average is highest (the first place, if there are
# several), and return the seed's own value there minus its own value at the start.


# %% tags=["exercise"]
def rises(curves: list[list[float]]) -> list[float]:
    """Rise of each seed's turns at the place where the other seeds peak."""
    ...


check("14.4", rises)

# %% [markdown]
# Try it on `[[3, 4, 3], [3, 3, 4], [4, 3, 3]]`: three curves that only wobble. The highest points are 1, 1 and 0 above
# the starts.
#
# And what if the reward asked for the deed as well (notebook 13)? An agent that has to put the pieces where its answer says
# can't save the exchanges. Runs trained so are measured by the same rule, if you name them; none is stored here. Before you
# train one, write down: will its turns end higher, or lower, and how many puzzles will it solve?

# %%
if not deed_runs:
    print("no run that was paid for the deed was named. To make one:")
    print("  python -m kit run 13 --name agile --tag deed --set deed=true")
    print("and then this notebook again with --set deed_runs=agile-deed")

# %% tags=["guess"]
if deed_runs:
    print("solved:", EVALUATION.summary(EVALUATION.evaluate_outcomes(played["deed"])))
    pairs = {"paid for the answer": "grpo", "paid for the deed": "deed"}
    pairs = {name: training[arm][0] for name, arm in pairs.items()}
    turns = {
        name: ([row["step"] for row in some], [row["turns"] for row in some])
        for name, some in pairs.items()
    }
    display(plots.lines(turns, "step", "turns", "turns an episode, first seed"))

# %% [markdown]
# ### All verdicts
#
# How many of the claims A1 to A6 are decided by your run, and which can't be told here at all? Guess. Each line has the
# checks that decide, or leave it open; the last column says what would decide it: so many more seeds, where that can be
# told, if the values and variances stay as they are. Where your run has also played the further photographs (below),
# A1, A2 and A4 count them as well: so a gain can be another one here than above, where only the packaged photographs
# counted. (A1 has an interval even with one seed: it is about the base, which no run trains, and covers other
# photographs.)

# %% tags=["guess"]
from papers.agile.measured import numbers as numbers_of

numbers = {"grpo": {seed: numbers_of(folder) for seed, folder in enumerate(folders)}}
played = stages_of(EVALUATION, arms)
metrics, verdicts = measured(played, training, numbers, **limits)
records = {claim.name: claim.record() for claim in verdicts}
display(Markdown(claims.STATED.table(records)))

# %% [markdown]
# ## What was learnt, and from what
#
# Notebook [06](06_is_it_learning.ipynb) asks five questions of a training; here they are asked of yours. For them the
# agent plays the same puzzles again: shown another puzzle's [observations](../docs/glossary.md#observation), shown
# blank ones, its tools switched off; and the policy before GRPO tries some puzzles several times. The pieces in its
# prompt stay its own. How much does it lose when what its code returns is somebody else's? Guess the
# [observation gap](../docs/glossary.md#observation-gap).


# %%
from kit.evaluate.five.answers import own_numbers
from kit.evaluate.five.play import Player, play_all
from kit.train.weights import weight_change
from kit.view.five import five


# %%
def play_five(folder):
    """Play what the five questions need, unless the run has it already."""
    known = {o.task for o in EVALUATION.load_outcomes(folder, "grpo")}
    puzzles = load_tasks(folder / "data" / "eval-2x2.jsonl")
    puzzles = [task for task in puzzles if task.id in known]
    some = agile.first_per_level(puzzles, sampled_puzzles)
    with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:

        def playing(policy, chat, tasks, **how):
            return play(policy, chat, box, tasks, **how)

        grpo, sft = (
            Player(agile.trained(folder, stage), playing) for stage in ("grpo", "sft")
        )
        how = {"sampled": some, "tries": tries}
        return play_all(EVALUATION, folder, grpo, sft, puzzles, asdict(play), **how)


# %% tags=["guess"]
for seed, folder in enumerate(folders):
    print(folder.name, "played now:", ", ".join(play_five(folder)) or "nothing")
    ends = (agile.trained(folder, stage) for stage in ("sft", "grpo"))
    numbers["grpo"][seed] |= own_numbers(EVALUATION, folder, weight_change(*ends))
metrics, _ = measured(stages_of(EVALUATION, arms), training, numbers, **limits)
display(five(metrics, headlines=True, title="the five questions: one value each"))

# %% [markdown]
# Below it are all values, question by question. The interval of a difference is Student's, over photographs. Where one of the
# two shares is 0 everywhere, Student's interval takes that 0 for certain and comes out too narrow: then trust the intervals
# of the shares.

# %% tags=["guess"]
display(five(metrics))

# %% [markdown]
# How to read them:
#
# 1. Does reinforcement add? A gain is shown if its whole interval lies right of 0; with one seed, as of this model and of
#    other puzzles, not of the recipe (the verdicts know no interval over one seed). The two shares below say what the
#    cold start had in it: a policy that solves a puzzle in one of several tries needs only to do so every time.
# 2. Does acting pay? The agent is compared with the same base, asked in words from the same thumbnails. If the difference
#    were 0, all the code would have been for nothing.
# 3. Does what it is shown matter? The gap is what the agent takes from its own observations. If it were 0, the agent would
#    solve as many puzzles with somebody else's pictures: it would have learnt to press a button.
# 4. Where do the calls go? That they succeed shows that it acts well, not that acting helps. For that, compare the lines
#    with its tools and with its tools switched off.
# 5. Is the signal alive? A group whose rewards are equal teaches nothing. Where nearly all are, or the weights hardly
#    moved, a flat curve says only that there was nothing left to learn from.
#
# ## More photographs
#
# The packaged photographs to evaluate on are eight. `--set photographs=FOLDER` takes a folder that
# `data_scripts/debian_photos.py` wrote, and plays puzzles of its closed test set as well, each picture once at each level.
# Such a test set is meant to be opened once: choices are made on its development pictures. The results end in
# `_photographs`, and A1, A2 and A4 rest on these puzzles, too: then their figures differ from those of the eight
# photographs above.

# %%
more = image_folder.photographs(photographs, "test") if photographs else []
where = photographs.rpartition("/")[2]
seen = len({o.image for o in played.get("grpo-photographs", ())})
before = f"; the verdicts above count {seen} that this run has played before"
none = f"none are named{before if seen else ''}"
print("more photographs:", f"{len(more)} of {where}" if more else none)
cut = make_puzzles(more, len(more), 2, LEVELS[2], 0, piece_px or None) if more else []
cut = [with_thumbnails(task, thumbnail) for task in cut]
asked_of = {"direct": cut, "direct_originals": list(map(full_pieces, cut))}
for folder in folders if more else []:
    bases = dict.fromkeys(asked_of, model or TINY)
    for stage, checkpoint in {**bases, **checkpoints(folder)}.items():
        vlm, chat = load_model_and_chat(checkpoint)
        with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:
            if stage in asked_of:
                episodes = direct.ask(vlm, chat, asked_of[stage], play)
            else:
                episodes = agile.play_greedily(vlm, chat, box, cut, play)
        EVALUATION.save_stage(folder, f"{stage}-photographs", episodes)

# %% [markdown]
# ## Everything side by side
#
# Square brackets hold 95 % intervals, round brackets the paper's number, `random` a guesser's. Each look at test puzzles is
# one more chance to choose what happens to score well there, so the first line counts them. (It counts saved stages. Not
# among them: the eight puzzles that notebook 13 plays before each step, and what 12 and 13 played without saving it.) A
# *stage* is one model playing in one way: the base asked directly (twice), the agents on 2×2 and on 3×3, the models of A5,
# and the plays behind the five questions.
#
# The intervals count photographs, not puzzles. None right of the eight that the 2×2 puzzles are cut from reaches up to
# 0.369; 3×3 has puzzles of fewer, so there the same zero reaches further.

# %%
played = stages_of(EVALUATION, arms)
metrics, verdicts = measured(played, training, numbers, **limits)
print(opened(played, ("sft-greedy", "sft-sampled")))
# A 3×3 level has too few puzzles for a line of its own.
shown = {
    stage: {
        name: value
        for name, value in metrics[stage].items()
        if name.startswith("acc_") and "3x3_L" not in name
    }
    for stage in STAGES
}
print(EVALUATION.table(shown, ["acc"]))

# %%
figure = levels({s: metrics[s] for s in STAGES}, names=names)
figure.axes[0].set_title(
    "held-out 2×2 puzzles solved: all, and by pieces in place at first"
)
display(figure)

# %% [markdown]
# The paper's Tables 1 and 2 have all levels of both sizes: pieces in place at first, L0 to L7, and all together. Here they
# are once more, in percent, with the paper's numbers in brackets. The kit doesn't have its 300 test pictures, so the
# puzzles are this run's own; `random` is chance, computed.

# %%
from papers.agile import tables

jigsaw = paper_tables(played)
print(tables.told_jigsaw(jigsaw))

# %%
pictures = {"the kit's, held out": len({o.image for o in played["direct"]})}
packages = Counter(photo.licence.rpartition("/")[2] for photo in more)
pictures |= {f"{name} (_photographs)": n for name, n in packages.items()}
results = write_results(
    run_folder(run) / "results.json",
    notebook="14_agile_claims",
    profile=profile,
    seed=list(range(len(folders))),
    minutes=(time.monotonic() - began) / 60,
    training_minutes=training_minutes(folders),
    pictures=pictures,
    stages=metrics,
    claims={claim.name: claim.record() for claim in verdicts},
    tables=jigsaw,
)
print("written:", f"runs/{run}/results.json")

# %% [markdown]
# ## The same rules, more seeds
#
# `results/agile.json`, committed with the kit, was written by this notebook over the seeds that it names. Which of the claims
# do you expect to hold? In the figure each marker is a value, its line the interval. The black line is the claim's limit.
# Right of it lies what the claim says; A1 claims *equal*, so for A1 it is the grey band. A1, A2 and A4 count the further
# photographs as well. So A2's gain isn't the difference of the two shares under *committed results* at the end of this page,
# which are of the eight alone. The unit is the smallest effect worth having; grey is less than one. A hollow marker has no
# interval (one seed): it may lie there by chance.

# %% tags=["guess"]
published = read_json(ROOT / "results" / "agile.json")
published["claims"] = as_stated(published["claims"], claims.CLAIMS)
print("seeds:", published["seed"])
display(Markdown(claims.STATED.table(published["claims"])))
if any(claim["checks"] for claim in published["claims"].values()):
    display(plots.claims(published))

# %% [markdown]
# <details><summary>What can be behind each verdict: guess first, then open</summary>
#
# All verdicts are here, those as well that the table above doesn't have: with more seeds one may become another.
#
# - *Not measured as stated* is about the figures: they are of an older statement, and tell nothing of this one.
# - *Not testable here* is about the set-up, not about the claim. Where no answer ever names nine pieces (A3), every Score is
#   0 whatever is seen. To make such a claim testable, change the set-up: more tokens a turn, more turns, another cold start.
# - *Undecided* is about the data. There may be none: where the last column says *the runs that it compares*, nobody has
#   trained them yet. Or the interval is wide, because runs differ or pictures are few: eight say little about a ninth. More
#   seeds or more photographs help.
# - *Equal* says that an effect worth having isn't there. It takes as many data as *holds* does.
# - *Doesn't* needs a reason that you can see: from a guess, say, a response can only grow (A6). Such a reason may also be
#   why nothing is decided. A1: our base reads something off thumbnails, and how much is a matter of their size. A4: our
#   model trains on all three levels, the paper's on L0 alone; and once it has looked, a piece that lies right already may
#   be no easier.
# - *Holds* is about the statistic. Look for a simpler explanation first: `direct` and the ceiling beside `grpo`, the
#   share of guesses in the cold start, and the slope with and without budget 0 are the places to look.
#
# </details>
#
# ## How much had the start left open?
#
# Six of ten demonstrations of the published start guess blindly, on purpose. Starts that always look, or that guess half
# as often, can be trained by the same reward: where would imitation alone be best, and where would reinforcement add most?
# Notebook 12 answers the first half for AGILE. The next figure has both halves, as far as such trainings are published;
# [06](06_is_it_learning.ipynb) draws it for every paper that has them.

# %% tags=["guess"]
several = comparable({"agile": published})
if several:
    display(starts_picture(several))
else:
    print("One start is measured so far, so there is nothing to compare.")

# %% [markdown]
# The left pair is of one training, the right one of several: the left intervals cover puzzles alone. Read the left pair:
# shown only looks, imitation alone solves most, and reinforcement hardly adds to it. So the large gain on the right tells
# mostly how much the start had left open. (Where the figure says so, the start between them isn't measured yet: the line only
# joins the two ends.)
#
# ## Paper / here / why different
#
# The paper's numbers beside this run's, and beside those of the committed results over all their seeds.

# %%
committed = by_stage(published)
print(f"2×2 solved        {'paper':>5s}  {'this run':23s}  committed results")
for stage, theirs in REPORTED.items():
    paper = f"{theirs['acc_2x2']:.3f}" if theirs else "  -  "
    ours = committed.get(stage, {}).get("acc_2x2", "not run")
    print(f"{stage:16s}  {paper}  {metrics[stage]['acc_2x2']!s:23s}  {ours}")

# %% [markdown]
# The two columns' intervals mean different things. Those of one training say how this one model would do on other
# photographs; those of several seeds also say how other trainings would do.
#
# The model here has 3 million parameters, the paper's has 7 billion. Ours learnt to see from drawn scenes and a few
# hundred photographs, and reads full pieces well before any training here; on the laptop the prompt therefore hides them,
# and what is learnt is to look. Its cold start shows guesses on purpose. Its held-out photographs are eight, each cut into
# several puzzles, which the intervals allow for. If a claim doesn't hold here, that says something about this small model
# and this set-up. It doesn't show that the paper is wrong about its own model.
#
# ## What you have seen
#
# Which of the paper's conclusions hold for a model of three million parameters?

# %%
said = by_verdict(published["claims"])
acc = {names[s]: claims.ACC.interval(played[s]).value for s in STAGES}
bars = ", ".join(f"{name} {share:.2f}" for name, share in acc.items())
seeds = len(published["seed"])
display(
    Markdown(f"""
- **Over {seeds} training{"s" * (seeds > 1)} (`results/agile.json`)**: {said}.
- In this run the share of 2×2 puzzles solved goes: {bars}. From the cold start to
  reinforcement it is {in_words(played["sft"], played["grpo"])}.
- Does it need what it is shown? With another puzzle's observations that share is
  {in_words(played["grpo-own"], played["grpo-swapped"])}.
""")
)

# %% [markdown]
# Next: [15](15_agile_general.ipynb), which asks whether the jigsaws helped or hurt everything else, and
# [06](06_is_it_learning.ipynb), which asks the five questions of all papers.
