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
# **The question.** The paper draws conclusions about learning to solve jigsaws. Six of them, A1 to A6, are put to the
# test here; two more, about general vision, have a notebook of their own. Which hold for a model of three million parameters, trained on a laptop, with other pictures?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), Tables 1 and 2 and Figures 3 and 11.
# Its Figure 3 draws accuracy over the number of training puzzles, as claim A5 below does; its Figure 11 draws turns,
# lengths and accuracy during training, as claim A6 does. It has one curve for each and no
# [confidence intervals](../docs/glossary.md#confidence-interval); the intervals here are ours.
#
# **Afterwards you can** turn a sentence of a paper into a statistic with a rule fixed beforehand; say what an
# interval over puzzles covers and what it leaves out; and tell "it doesn't hold" from "these data can't tell" and both
# from "this can't be told here at all".
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core, tiny model, the runs given below | 2 | 1 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B | not measured | 640 GB |
#
# Before this one: [11](11_agile.ipynb), [12](12_agile_sft.ipynb) and [13](13_agile_grpo.ipynb). One training run is
# enough to read this notebook; for verdicts you need several, each with another seed. The README's figures come from
# four: `for s in 0 1 2 3; do python -m kit run agile --set seed=$s --name agile-$s; done`, then this notebook
# again with `--set runs=agile-0,agile-1,agile-2,agile-3`.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/: results.json is written there
runs: list[str] = []  # runs that differ in their seed only; empty: just this one
guesses_0: list[str] = []  # runs of 11 and 12 with no guesses, for notebook 12's figure
guesses_30: list[str] = []  # with 30 % of guesses
guesses_90: list[str] = []  # with 90 %
model: str = ""  # the untrained checkpoint; empty: the committed tiny model
on_no_action: str = "end"  # a turn without code or answer: end, or tell the agent
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
max_turns: int = 5  # turns an episode may have, the answer included
max_new_tokens: int = 80  # of one turn
eval_puzzles: int = 3  # 3×3 puzzles a level
sampled_puzzles: int = 4  # 2×2 puzzles a level, tried again and again before GRPO
tries: int = 8  # how often each of them is tried
photographs: str = ""  # a folder of data_scripts/debian_photos.py; empty: none more
piece_px: int = 56  # side of a piece of those; 0: as large as the pictures give
profile: str = "laptop"  # written into results.json
threads: int = 1  # CPU threads of this process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import time
from collections import Counter
from dataclasses import asdict

import torch
from IPython.display import display
from kit.data import folder as image_folder
from kit.data.store import load_tasks
from kit.evaluate.accuracy import accuracy as share_solved
from kit.evaluate.claims import table
from kit.evaluate.outcomes import by_stage
from kit.evaluate.results import write_results
from kit.exercises import check, hint, solution
from kit.files import ROOT, read_json, run_folder, start_run
from kit.papers.agile import claims, direct, guesses
from kit.papers.agile import experiment as agile
from kit.papers.agile.metrics import EVALUATION, failures
from kit.papers.agile.plots import levels
from kit.papers.agile.reported import REPORTED
from kit.papers.agile.tasks import LEVELS, make_puzzles
from kit.policy.hf import load_model_and_chat
from kit.sandbox import CONFINED, Sandbox
from kit.tiny import TINY
from kit.train.metrics import read_metrics, training_minutes
from kit.view import plots

# %%
began = time.monotonic()
torch.set_num_threads(threads)
needs = {"data": 11, "stages/untrained.json": 12, "stages/sft.json": 12}
needs |= {"stages/grpo.json": 13, "grpo/metrics.jsonl": 13}
folders = [start_run(name, needs=needs) for name in (runs or [run])]
print(len(folders), "seed(s):", [folder.name for folder in folders])

# %% [markdown]
# ## Puzzles of nine pieces, which nobody trained on
#
# Claim A3 says that what is learnt on 2×2 puzzles helps on 3×3. So each stage of each run plays the same 3×3 puzzles:
# untrained, after [SFT](../docs/glossary.md#sft), after [GRPO](../docs/glossary.md#grpo). A guesser who names
# any arrangement has a ninth of the pieces right. Guess the Score, the share of pieces in their place, of each stage.


# %%
play = agile.Play(
    prompt=prompt,
    on_no_action=on_no_action,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
)


# %%
def play_nine(folder, stage, checkpoint):
    """Play nine-piece puzzles once and save their outcomes."""
    tasks = load_tasks(folder / "data" / "eval-3x3.jsonl")
    some = agile.first_per_level(tasks, eval_puzzles)
    vlm, chat = load_model_and_chat(checkpoint)
    with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:
        played = agile.play_greedily(vlm, chat, box, some, play)
    return EVALUATION.save_stage(folder, f"{stage}-3x3", played), played


def checkpoints(folder):
    """The model of each stage of a run."""
    trained = {stage: agile.trained(folder, stage) for stage in ("sft", "grpo")}
    return {"untrained": model or TINY, **trained}


# %% tags=["guess"]
for folder in folders:
    for stage, checkpoint in checkpoints(folder).items():
        found, nine = play_nine(folder, stage, checkpoint)
        ended = "; ".join(f"{n:.0%} {why}" for why, n in failures(nine).items())
        print(folder.name, f"{stage:10s} Score {found['score_3x3']}  {ended}")
print("the last answer:", repr(nine[-1].answer))

# %% [markdown]
# <details><summary>Why is it less than a guesser's? Think first, then open.</summary>
#
# An answer counts only if it names each of the nine pieces once. Read how the episodes ended: a turn without an action
# is a model that doesn't know the form, out of turns one that acts and never answers, a malformed answer one that
# names too few labels. Every answer that the tiny model has ever been shown or paid for had four. Where all fail at
# the form, how much they see is not measured. A score of 0 can have several causes; how the episodes ended tells which.
#
# </details>
#
# ## The same model, asked in its own words
#
# As an agent the untrained model has to keep to a form it has never seen. Its pretraining asked it where each of four
# pieces belongs, in words. So ask that, about the same 2×2 puzzles: one turn, no tools, and the order it states is
# its answer. This row is called `direct`. How many does it solve, compared with the agent after GRPO? Guess.

# %% tags=["guess"]
vlm, chat = load_model_and_chat(model or TINY)
for folder in folders:
    puzzles = load_tasks(folder / "data" / "eval-2x2.jsonl")
    known = {o.task for o in EVALUATION.load_outcomes(folder, "grpo")}
    same = [task for task in puzzles if task.id in known]
    asked = direct.ask(vlm, chat, same, play)
    found = EVALUATION.save_stage(folder, "direct", asked)
    print(folder.name, "direct: Acc", found["acc_2x2"], "n =", found["acc_2x2"].n)
print(repr(asked[-1].turns[0].text), "→", asked[-1].answer)

# %% [markdown]
# Compare this with `grpo` in the table below before you call what reinforcement added *seeing*. The model could be
# asked, and the agent has to act: the difference of the two rows is what acting pays.
#
# ## What was learnt, and from what
#
# Notebook [06](06_is_it_learning.ipynb) asks five questions of a training; here they are asked of yours. For them the
# agent plays the same puzzles again: shown another puzzle's [observations](../docs/glossary.md#observation), shown
# blank ones, its tools switched off; and the policy before GRPO tries some puzzles several times. The pieces in its
# prompt stay its own. How much does it lose when what its code returns is somebody else's? Guess the
# [observation gap](../docs/glossary.md#observation-gap).


# %%
from kit.evaluate.five.answers import answers
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
changes = []
for folder in folders:
    print(folder.name, "played now:", ", ".join(play_five(folder)) or "nothing")
    ends = (agile.trained(folder, stage) for stage in ("sft", "grpo"))
    changes.append(weight_change(*ends))
rows = [read_metrics(folder / "grpo" / "metrics.jsonl") for folder in folders]
five_answers = answers(EVALUATION, folders, rows, changes, tries)
display(five(five_answers))

# %% [markdown]
# How to read it, question by question:
#
# 1. A gain is shown if its whole interval lies right of 0. The two shares below say what there was to elicit: a policy
#    that is right in one of several tries has to be made sure of it, not taught it.
# 2. Acting pays by what the agent has over the same base, asked in words. At 0, all the code was for form's sake.
# 3. The gap is what the agent takes from its own observations. At 0 it would have solved as many puzzles with
#    somebody else's pictures: whatever it learnt, it wasn't to look.
# 4. Calls that succeed show that it acts well, not that acting helps: for that, compare with its tools switched off.
# 5. A group whose rewards are equal teaches nothing. Where nearly all are, or the weights hardly moved, a flat curve
#    says only that there was nothing left to learn from.
#
# ## More photographs
#
# The packaged photographs to evaluate on are eight. `--set photographs=FOLDER` takes a folder that
# `data_scripts/debian_photos.py` wrote, and plays puzzles of its closed test set as well, each picture once at each
# level. Their results end in `_photographs`.

# %%
more = image_folder.photographs(photographs, "test") if photographs else []
print("more photographs:", f"{len(more)} of {photographs}" if more else "none")
cut = make_puzzles(more, len(more), 2, LEVELS[2], 0, piece_px or None) if more else []
on_more = {}
for seed, folder in enumerate(folders if more else []):
    for stage, checkpoint in {"direct": model or TINY, **checkpoints(folder)}.items():
        vlm, chat = load_model_and_chat(checkpoint)
        with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:
            if stage == "direct":
                episodes = direct.ask(vlm, chat, cut, play)
            else:
                episodes = agile.play_greedily(vlm, chat, box, cut, play)
        EVALUATION.save_stage(folder, f"{stage}-photographs", episodes)
        some = EVALUATION.load_outcomes(folder, f"{stage}-photographs", seed)
        on_more.setdefault(stage, []).extend(some)

# %% [markdown]
# ## Everything side by side
#
# Square brackets hold 95 % intervals, round brackets the paper's number, `random` a guesser's. With one seed an
# interval covers *other puzzles*: what this one trained model would have scored on other photographs. With several
# seeds it also covers *other training runs*: what the recipe would have given with another seed. A claim about a
# method needs the second kind.


# %%
def gathered(stage):
    """A stage's outcomes over all seeds, 2×2 and 3×3."""
    return [
        outcome
        for seed, folder in enumerate(folders)
        for name in ((stage,) if stage == "direct" else (stage, f"{stage}-3x3"))
        for outcome in EVALUATION.load_outcomes(folder, name, seed)
    ]


played = {stage: gathered(stage) for stage in ("direct", "untrained", "sft", "grpo")}
metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in played.items()}

# %%
for stage, some in on_more.items():
    found = EVALUATION.evaluate_outcomes(some)
    metrics[stage] |= {
        f"{n}_photographs": v for n, v in found.items() if n[-3:] == "2x2"
    }
# A 3×3 level has too few puzzles for a line of its own.
shown = {
    stage: {name: value for name, value in found.items() if "3x3_L" not in name}
    for stage, found in metrics.items()
}
print(EVALUATION.table(shown))

# %%
figure = levels(metrics)
figure.axes[0].set_title(
    "held-out 2×2 puzzles solved: all, and by pieces in place at first"
)
display(figure)

# %% [markdown]
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
# ## Sampled and greedy
#
# The accuracy during training and the accuracy above are of the same model, and far apart:


# %%
def last_sampled(folder, n=4):
    """Mean accuracy of the last ``n`` training batches, which are sampled."""
    rows = read_metrics(folder / "grpo" / "metrics.jsonl")[-n:]
    return sum(row["accuracy"] for row in rows) / len(rows)


for seed, folder in enumerate(folders):
    outcomes = EVALUATION.load_outcomes(folder, "grpo", seed)
    greedy = sum(outcome.right for outcome in outcomes) / len(outcomes)
    sampled = last_sampled(folder)
    print(f"{folder.name}: sampled {sampled:.3f} in training, greedy {greedy:.3f} here")

# %% [markdown]
# Training samples: each [token](../docs/glossary.md#token) is drawn with its probability, so that episodes of a group
# differ. Evaluation is [greedy](../docs/glossary.md#greedy): it takes the likeliest token each time. (The puzzles
# differ too: training plays many that are cut from drawn scenes.)
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
# Try your function on five decisions that are each right with probability 0.95.
#
# ## From a sentence to a rule
#
# Each claim is made of one or more checks. A check is a statistic with an interval and a limit. All were fixed in
# `kit/papers/agile/claims.py` before anything was measured.
#
# - A check *holds* if its whole interval lies on the claimed side of the limit. It *doesn't* hold if the whole interval
#   lies on the other side. Otherwise it is *undecided*: these data can't tell.
# - A check that can come out one way only, whatever the training did, is *not testable here*. The rule for that is
#   code as well: it looks at the outcomes (did any episode answer at all? was there room to rise?) and gives its reason.
# - A claim doesn't hold if at least one check doesn't. Else it is not testable here if at least one check isn't. Else
#   it holds if all checks hold. Otherwise it is undecided.
#
# Claim A5 reads "more RL puzzles, higher accuracy". Its data are the models that notebook 13 kept on the way.

# %%
budgets = {}
for seed, folder in enumerate(folders):
    names = sorted(path.stem for path in (folder / "stages").glob("grpo-*.json"))
    found = {int(n[5:]): n for n in names if n[5:].isdigit()}
    for puzzles, stage in {0: "sft", **found}.items():
        some = EVALUATION.load_outcomes(folder, stage, seed)
        budgets.setdefault(puzzles, []).extend(some)
accuracy = {
    n: sum(o.right for o in some) / len(some) for n, some in sorted(budgets.items())
}
print("RL puzzles and accuracy:", {n: round(y, 3) for n, y in accuracy.items()})
curve = list(accuracy), list(accuracy.values())
references = {"the paper, all 15.6K": REPORTED["grpo"]["acc_2x2"]}
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
# The second. With budget 0 in it the slope says that training helps, which is claim A2's business: a single update can
# make nearly all of it (notebook 13 did one). Whether the two-hundredth puzzle still helps is what the sentence
# says. So the rule leaves budget 0 out, and reports the other slope beside it. And if the first puzzles already
# bring accuracy to its ceiling, there is no room in which more could help: then the claim is not testable here.
# Read a claim's statistic before you believe its sentence.
#
# </details>
#
# ## Where is the peak?
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
# ## The verdicts
#
# With one seed nothing is known about other training runs, so the interval of every statistic over seeds is unknown.
# Only A1 is about the untrained model, which has no training seed. How many of the claims A1 to A6 are decided by
# your run, and which can't be told here at all? Guess.

# %% tags=["guess"]
training = {
    seed: read_metrics(folder / "grpo" / "metrics.jsonl")
    for seed, folder in enumerate(folders)
}
nine = load_tasks(folders[0] / "data" / "eval-3x3.jsonl")
tokens = agile.turn_tokens(chat, nine)
verdicts = [
    claims.a1(played["untrained"], played["direct"]),
    claims.a2(played["untrained"], played["sft"], played["grpo"]),
    claims.a3(
        *(played[s] for s in ("untrained", "sft", "grpo")), max_new_tokens, tokens
    ),
    claims.a4(played["grpo"]),
    claims.a5(budgets),
    claims.a6(training, max_turns),
]
print(table(verdicts).replace("; ", "\n    "))

# %%
for stage, found in five_answers.items():
    metrics[stage] |= found
metrics["direct"]["accuracy"] = share_solved(played["direct"])
own = [folder.name for folder in folders]
tried = {0: guesses_0, 30: guesses_30, 60: own, 90: guesses_90}
metrics["sft"] |= guesses.by_share(tried)
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
)
print("written:", f"runs/{run}/results.json")

# %% [markdown]
# In the figure a filled marker with a line is a value with its interval, drawn beside its limit. A hollow marker has
# no interval (one seed): it shows only on which side of the limit the value lies, and that may be chance.

# %%
display(plots.claims(results))

# %% [markdown]
# ## The same rules, more seeds
#
# `results/agile.json`, committed with the kit, was written by this notebook over the seeds that it names. Which of the
# claims do you expect to hold?

# %% tags=["guess"]
published = read_json(ROOT / "results" / "agile.json")
print("seeds:", published["seed"])
for name, claim in published["claims"].items():
    print(f"{name}  {claim['verdict']:17s}  {claim['statement']}")
    if claim.get("reason"):
        print("    because", claim["reason"])
display(plots.claims(published))

# %% [markdown]
# <details><summary>What can be behind each verdict: guess first, then open</summary>
#
# - *Not testable here* is about the set-up, not about the claim. An agent that writes no answer isn't "near random"
#   (A1): `direct` shows what it sees. Where no answer ever names nine pieces (A3), every Score is 0 whatever is seen.
#   Turns that begin at their ceiling can't rise first (A6). To make such a claim testable, change the set-up:
#   more tokens a turn, more turns, another cold start.
# - *Undecided* is about the data. A wide interval comes from runs that differ (look at `sft` in the table: if its
#   interval is wide, so is A2's, which subtracts it twice), or from few pictures: eight say little about a ninth.
#   More seeds or more photographs help.
# - *Doesn't* needs a reason that you can see in the table. Our model trains on all three levels, the paper's on L0
#   alone: A4's slope would be another if ours did so too.
# - *Holds* is about the statistic. Look for a simpler explanation first: `direct` beside `grpo`, and the slope with
#   and without budget 0, are two places to look.
#
# </details>
#
# ## Paper / here / why different
#
# The paper's numbers beside this run's, and beside those of the committed results over all their seeds.

# %%
committed = by_stage(published)
print(f"2×2 solved  {'paper':>5s}  {'this run':23s}  committed results")
for stage, theirs in REPORTED.items():
    paper = f"{theirs['acc_2x2']:.3f}" if theirs else "  -  "
    ours = committed.get(stage, {}).get("acc_2x2", "not run")
    print(f"{stage:10s}  {paper}  {metrics[stage]['acc_2x2']!s:23s}  {ours}")

# %% [markdown]
# Compare the width of `sft` in the two columns: several seeds show how much one training differs from the next,
# which a single run's interval can't.
#
# The model here has 3 million parameters, the paper's has 7 billion. Ours learnt to see from drawn scenes and a few
# hundred photographs; its episodes are short; its held-out photographs are eight, each cut into several puzzles, which
# the intervals allow for. If a claim doesn't hold here, that says something about this small model and these pictures.
# It doesn't show that the paper is wrong about its own model.
