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
# # 34 · CodeDance: do its claims hold here?
#
# **The question.** Four rewards, the same cold start. Which of the agents calls needlessly, and which of the paper's
# conclusions hold for a model of three million parameters? One, C1, is followed here from its sentence to its rule. The
# others, C2 to C6, then take less space.
#
# **The paper.** [CodeDance (arXiv:2512.17312)](https://arxiv.org/abs/2512.17312), Tables 1 to 3 and section 4. It has one
# number for each claim and no [confidence intervals](../docs/glossary.md#confidence-interval); the intervals here are ours.
#
# **Afterwards you can** tell a claim about *calls* from one about accuracy; compare rewards on seeds that they share; say
# whether an agent needs what its code prints; and find out what a larger budget of turns is used for.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, tiny model, the runs given below | 4 | 2 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B | not measured | 640 GB |
#
# Before this one: [31](31_codedance.ipynb), [32](32_codedance_sft.ipynb) and [33](33_codedance_grpo.ipynb). One run is enough
# to read it. For verdicts you need other rewards and seeds: `for s in 0 1 2; do python -m kit run codedance --until 33 --set
# seed=$s --name cd-$s; done`, then for each reward and seed `python -m kit run 33 --name cd-0 --tag bonus --set reward=bonus
# --set seed=0`, and this notebook with `--set runs=cd-0,cd-1,cd-2 --set bonus_runs=cd-0-bonus,cd-1-bonus,cd-2-bonus`. (These
# have 16 questions a kind; `python -m kit results codedance` makes all published runs, of 1,017.) Cold starts of other sizes
# (C4): `python -m kit run 32 --name cd-0 --tag few --set sft_episodes=900`, and `--set sft_few=cd-0-few`; the paper's are
# 5,000, 10,000 and 20,000 at the profile `node`.

# %% tags=["parameters"]
run: str = "codedance"  # run directory under runs/: results.json is written there
runs: list[str] = []  # runs that differ in their seed only; empty: just this one
outcome_runs: list[str] = []  # the same seeds, paid for the outcome alone; empty: none
bonus_runs: list[str] = []  # with a bonus for calls
offset_0_runs: list[str] = []  # under R_BAT with offset 0
no_turns_runs: list[str] = []  # without the turns' own part
decided_runs: list[str] = []  # from a start that never calls needlessly
half_runs: list[str] = []  # from one that does so half as often as here
sft_fewest: list[str] = []  # with the fewest demonstrations, for C4; paper: 5K
sft_fewer: list[str] = []  # of more; paper: 10K
sft_few: list[str] = []  # of more still; paper: 20K
sampled_tasks: int = 24  # questions that the policy before GRPO tries again and again
tries: int = 8  # how often each of them is tried
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
max_turns: int = 4  # turns an episode might have in training; paper: 6
evaluation_turns: int = 4  # turns it may have where it is measured; paper: 10
budgets: str = "2, 6, 10"  # turns to measure by besides, for C5
max_new_tokens: int = 72  # of one turn
eval_tasks: int = 300  # questions of each kind to measure by, of those that are there
profile: str = "laptop"  # written into results.json
threads: int = 1  # CPU threads of this process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import time
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import torch
from IPython.display import Markdown, display
from kit.data.store import load_tasks
from kit.evaluate.accuracy import accuracy
from kit.evaluate.conduct import conduct
from kit.evaluate.outcomes import by_stage
from kit.files import ROOT, read_json, run_folder, start_run
from kit.policy.hf import load_model_and_chat
from kit.train.checkpoint import trained_model
from kit.train.experiment import in_parts
from kit.train.metrics import training_minutes
from kit.view import plots
from papers import published_outcomes
from papers.claims import as_stated
from papers.codedance import claims
from papers.codedance import experiment as codedance
from papers.codedance import tables as benchmarks
from papers.codedance.figures import calls_by_reward, mean_curve, published_rows
from papers.codedance.measured import REWARDS, by_budget, measured
from papers.codedance.metrics import EVALUATION, Outcome
from papers.contrasts import in_words
from papers.played import curves_of, flat, once, opened, stages_of
from papers.registry import needs
from papers.results import write_results
from papers.starts import comparable, starts_picture
from papers.verdicts import by_verdict, in_lines
from workshop.exercises import check, hint, solution

# %%
began = time.monotonic()
torch.set_num_threads(threads)
kept = needs("34_codedance_claims")
folders = [start_run(name, needs=kept) for name in (runs or [run])]
named = {"outcome": outcome_runs, "bonus": bonus_runs, "offset_0": offset_0_runs}
named |= {"no_turns": no_turns_runs, "decided": decided_runs, "half": half_runs}
named |= {"sft_fewest": sft_fewest, "sft_fewer": sft_fewer, "sft_few": sft_few}
more = {name: [run_folder(n) for n in some] for name, some in named.items() if some}
arms = {"runs": folders, **more}
turns = {"max_turns": max_turns, "evaluation_turns": evaluation_turns}
play = codedance.Play(prompt=prompt, max_new_tokens=max_new_tokens, **turns)


def gathered():
    """All outcomes that the runs have by now; those that no training made, once."""
    return once(stages_of(EVALUATION, arms), claims.UNSEEDED)


played, curves = gathered(), curves_of(arms)
print({name: len(some) for name, some in arms.items()}, "seed(s)")

# %% [markdown]
# ## One claim: "it calls less, and is no less accurate"
#
# This is C1, the paper's main result. Its Table 3 has three agents from the same cold start. The one that was paid for the
# answer alone calls seldom (1.34 turns an episode, 65.3 % right). The one that got a bonus for calls calls everywhere (2.43
# turns, 63.6 %). R_BAT, the adaptive reward, calls as seldom as the first (1.41 turns) and has the highest accuracy (65.8 %).
#
# ### The picture
#
# Fewer calls aren't the point; an agent that never calls has fewer still. The point is *where*. So here are the kit's published
# trainings, on easy questions at the left, where a call tells nothing new, and on hard ones at the right, where it has to be
# made. Four rewards, one of them with offset 0 (claim C3). Before you look: draw four lines into each panel.

# %% tags=["guess"]
training = published_rows()
if training:
    display(calls_by_reward(training))
    print("calls an episode, last quarter of the steps minus first")
for name, some in training.items():
    for level in ("easy", "hard"):
        change = claims.calls_over_training(some, level)
        print(f"{name:9s} {level}  {change}  ({len(some)} runs)")

# %% [markdown]
# An interval here is over trainings with other seeds; of two or three it is wide, since Student's t allows for what a few
# runs can't tell. R_BAT's fall on easy questions reaches across 0, so it isn't sure; the bonus's rise is. And the other half
# of the claim, accuracy, in the same batches. Do the four lines part? (They rise and dip together. A rise here is of sampled
# answers to training questions; the table below has test questions, played greedily.)

# %%
right = {name: mean_curve(some, "accuracy") for name, some in training.items()}
if right:
    title = "right answers, sampled, in training"
    display(plots.lines(right, "step", "share right", title))

# %% [markdown]
# ### From a sentence to a rule
#
# Let $K$ be an agent's calls an episode and $A$ its accuracy, on test questions, played greedily. The rule, stated in
# `papers/codedance/claims.toml`, has three checks, with a margin $m = 0.05$. (Was it written before the trainings or after?
# [The results](../docs/results.md) say it of each claim; before your own it was.)
#
# $$K_{bonus} - K_{R\_BAT} > 0, \qquad A_{R\_BAT} - A_{bonus} > -m, \qquad A_{R\_BAT} - A_{outcome} > -m$$
#
# The last two are there for an agent that calls less and errs more. That would be laziness. The first asks for a
# difference; these two only rule out a loss that matters. Why not *more accurate than both*, as the paper has it? Its
# own gap to the outcome reward is half a point of single runs, less than seeds differed in two earlier trainings (06).
# Each check has a 95 % interval; notebook [14](14_agile_claims.ipynb) explains what *holds*, *doesn't*, *equal*,
# *undecided* and *not testable here* mean. Two rewards are compared on the seeds that both have. Guess the verdict over
# the committed results.

# %% tags=["guess"]
published = read_json(ROOT / "results" / "codedance.json")
published["claims"] = as_stated(published["claims"], claims.CLAIMS)
committed, c1 = by_stage(published), published["claims"]["C1"]
print("C1 as it is stated now, over seeds", published["seed"])
print(in_lines(c1))
columns = {"acc_all": "right", "acc_easy": "right, easy"}
columns |= {"calls_easy": "calls, easy", "calls_hard": "calls, hard"}
print(f"\n{'agent':9s}", "  ".join(f"{head:23s}" for head in columns.values()))
for stage in ("sft", "grpo", *REWARDS):
    found = [str(committed.get(stage, {}).get(name, "not run")) for name in columns]
    print(f"{stage:9s}", "  ".join(f"{cell:23s}" for cell in found))

# %% [markdown]
# An interval of calls may reach below 0: it is the mean and so many errors to either side, and doesn't know that nobody
# calls less than never. (The results page cuts it there.) Where the list above names one seed, they cover other
# questions, not other trainings.
#
# ### What speaks against it?
#
# Three things. The first is in the table above: compare `grpo` with `outcome`, in calls and in right answers, and `grpo` with
# `sft` in right answers. C1 asks only that R_BAT calls less than the *bonus*: it may hold where the outcome alone does as
# well. On easy questions all agents answer fewer rightly than their cold start: since C1 compares rewards with each other, it
# doesn't see what all of them lose. In calls and in right answers the intervals of three trainings can't tell `grpo` and
# `outcome` apart. What do you see seed by seed?

# %% tags=["guess", "figure"]
by_seed = published_outcomes.load(ROOT / "results/outcomes", "codedance", Outcome)
print("calls on an easy question, greedy, a column for each seed")
MAIN = published_outcomes.MAIN
for arm, stage in ((MAIN, "sft"), (MAIN, "grpo"), *((r, "grpo") for r in REWARDS)):
    found = {s: of[stage] for (a, s), of in by_seed.stages.items() if a == arm}
    easy = [
        [o.tool_calls for o in found[s] if o.level == "easy"] for s in sorted(found)
    ]
    told = "  ".join(f"{np.mean(some):.2f}" for some in easy)
    print(f"{stage if arm == MAIN else arm:9s} {told}")

# %% [markdown]
# In the published results R_BAT, played greedily, ends the needless calls of all three starts. (Sampled, as in the figure
# above, it still makes some at the end: the likeliest way has changed, others are left.) The outcome alone leaves most of
# them in one, and in another there are more than before. So it looks as if the charge does something; three trainings are too
# few to be sure.
#
# The second is our own doing. On a laptop half of the easy demonstrations call needlessly, so that there is something to
# bring down; in the paper none does. With such a decided start R_BAT may find nothing left to do. Runs from starts that call
# half as often, or never, are measured by the same figures where they are there. How many calls are left for R_BAT in each?
# (*Not run*: no such training is published, and nothing is to be guessed.)

# %% tags=["guess"]
starts = {"as here": "", "half as often": "half", "never": "decided"}
print(f"{'easy ones shown with a call':27s}  calls, after SFT        after R_BAT")
for name, arm in starts.items():
    stages = (f"{arm}-sft", arm) if arm else ("sft", "grpo")
    calls = [str(committed.get(s, {}).get("calls_easy", "not run")) for s in stages]
    print(f"{name:27s}  {calls[0]:23s}  {calls[1]}")

# %% [markdown]
# And a single run needn't look like the published ones. The one stored here is a fourth training: the same seed on another
# machine ends elsewhere (compare its calls after SFT, below, with the first seed's above). Greedy play of one cold start may
# hardly call on easy questions, and then there is nothing for R_BAT to bring down in it (`calls_easy` in the table below,
# `sft` beside `grpo`). If your run has other questions than the 1,017 published ones, don't compare the two tables'
# accuracies: of those 300 are `composed`, and hardly one of these is right. (The run stored here plays the same 1,017; what
# 32 and 33 store plays 205 of them.)
#
# The third: what is the call good for? An agent whose answers don't need its calls would lose nothing by stopping, and C1
# would be about manners. The five questions below test that.
#
# ## Your run beside the paper
#
# `untrained` is the base played as an agent: it doesn't know the tags, so nothing counts as an answer. `direct` is the same
# base asked without tools or tags, `sft` the agent after its demonstrations, `grpo` after R_BAT, then the other rewards, if
# you named such runs. Square brackets hold 95 % intervals, round brackets the paper's number on its own questions.

# %%
metrics, _ = measured(played, curves, max_turns=max_turns)
for stage in ("untrained", "sft", "grpo"):
    print(f"{stage:10s} {conduct(played[stage])}")
wanted = [f"{m}_{part}" for m in ("acc", "calls") for part in ("easy", "hard", "all")]
rewarded = [name for name in REWARDS if name in more]
for group in (["direct", "sft", "grpo"], rewarded and ["grpo", *rewarded]):
    short = {s: {k: v for k, v in metrics[s].items() if k in wanted} for s in group}
    if short:
        print("\n" + EVALUATION.table(short))

# %% [markdown]
# The same on the paper's own sets (Tables 1 to 3), where the runs have them (notebook 31, `data`).

# %%
of_sets = {
    s: benchmarks.of_stage(played, s) for s in ("direct", "sft", "grpo", *rewarded)
}
if any(of_sets.values()):
    print(benchmarks.table(of_sets), "\n")
    print(benchmarks.table(of_sets, "turns"))
else:
    print("not run:", benchmarks.ABSENT)

# %% [markdown]
# An agent is better than another without doubt if it is right more often *and* calls less. Often neither is.
#
# **Exercise 34.1.** `found` gives each agent's accuracy and calls. Which agents are beaten by no other? One is beaten if
# another is at least as accurate with at most as many calls, and better in one of the two. Return the names, sorted.


# %% tags=["exercise"]
def unbeaten(found: dict[str, tuple[float, float]]) -> list[str]:
    """Agents that no other beats in both; a value is (accuracy, calls)."""
    ...


check("34.1", unbeaten)

# %% [markdown]
# ## The other claims
#
# **C2**: *the turns' own part of the advantage keeps entropy up, and accuracy higher* (notebook 33, exercise 33.1). It needs
# trainings without that part. **C3**: *where calls never cost anything, they grow, and accuracy is equal within 0.05*: the
# line `offset_0` of the figure. **C4**: *more demonstrations help*: the slope of accuracy over cold starts of several sizes.
# **C6**: *what was only shown apart is put together*: the kind `composed`, which no demonstration shows, after R_BAT, after
# SFT and asked directly. All four are in the two tables further down; the first has *not run* for a claim whose runs you
# didn't name.
#
# **C5**: *more turns at evaluation than in training help.* The trained agent again, with fewer turns and with more than it
# had in training. What could a fifth turn be used for?

# %%
known = {o.task for o in EVALUATION.load_outcomes(folders[0], "grpo")}
tests, seen = [], {}
for task in load_tasks(folders[0] / "data" / "test.jsonl"):
    of_kind = task.meta["kind"], task.meta["level"]
    seen[of_kind] = seen.get(of_kind, 0) + (task.id in known)
    tests += [task] if task.id in known and seen[of_kind] <= eval_tasks else []
hard = [task for task in tests if task.meta["level"] == "hard"]
asks = play.measured()  # with the turns of an evaluation
for folder in folders:
    vlm, chat = load_model_and_chat(trained_model(folder, "grpo", 33))
    with codedance.sandbox(allow_unsafe) as box:
        for most in sorted({max_turns, *map(int, budgets.split(","))}):
            how = replace(play, max_turns=most)
            greedily = partial(codedance.play_greedily, vlm, chat, box, how=how)
            episodes = in_parts(hard, greedily)
            EVALUATION.save_stage(folder, f"grpo-turns-{most}", episodes)
played = gathered()

# %% tags=["guess"]
for n, some in by_budget(played).items():
    share, used = accuracy(some).value, max(o.turns for o in some)
    print(
        f"at most {n:2d} turns: {share:.3f} of the hard ones right; most used: {used}"
    )

# %% [markdown]
# <details><summary>What is a further turn good for? Think first, then open.</summary>
#
# For two things: a question that needs more steps than training allowed, and a mistake that is noticed and put right. Our
# hard questions need at most two calls. So if nothing goes wrong, three turns are enough, and whatever lies beyond is used
# only by an agent that tries again.
#
# </details>
#
# **Exercise 34.2.** A question needs two calls that succeed, one after the other. Each call fails with probability `p`, by
# chance, and a failed one is simply tried again. In which share of its episodes does the agent answer within `turns` turns?
# (The answer takes a turn, too.)


# %% tags=["exercise"]
def answered_within(p: float, turns: int) -> float:
    """Probability of two successes in turns - 1 calls."""
    ...


check("34.2", answered_within)

# %% [markdown]
# ## What was learnt, and from what
#
# Notebook [06](06_is_it_learning.ipynb) asks five questions of a training; here they are asked of yours. For them the agent
# plays the same questions again: shown another question's [observations](../docs/glossary.md#observation), shown blank
# ones, its tools switched off; and the policy before GRPO tries some questions several times. How much does it lose when
# the interpreter shows what another question's code printed? Guess the
# [observation gap](../docs/glossary.md#observation-gap), of easy questions and of hard ones.

# %%
from kit.evaluate.five.answers import own_numbers
from kit.evaluate.five.play import Player, play_all
from kit.train.held_out import evenly_spaced
from kit.train.weights import weight_change
from kit.view.five import five
from papers.codedance.measured import numbers as numbers_of


def play_five(folder):
    """Play what the five questions need, unless the run has it already."""
    with codedance.sandbox(allow_unsafe) as box:

        def playing(policy, chat, tasks, **how):
            return in_parts(tasks, lambda t: asks(policy, chat, box, t, **how))

        ends = trained_model(folder, "grpo", 33), trained_model(folder, "sft", 32)
        grpo, sft = (Player(checkpoint, playing) for checkpoint in ends)
        some = evenly_spaced(tests, sampled_tasks)
        how = {"sampled": some, "tries": tries, "kind": lambda task: task.meta["kind"]}
        return play_all(EVALUATION, folder, grpo, sft, tests, asdict(asks), **how)


# %% tags=["guess"]
numbers = {"grpo": {}}
for seed, folder in enumerate(folders):
    print(folder.name, "played now:", ", ".join(play_five(folder)) or "nothing")
    ends = trained_model(folder, "sft", 32), trained_model(folder, "grpo", 33)
    numbers["grpo"][seed] = own_numbers(EVALUATION, folder, weight_change(*ends))
for name, some in arms.items():
    for seed, folder in enumerate(some):
        of = numbers.setdefault(flat(name, "grpo"), {}).setdefault(seed, {})
        of |= numbers_of(folder)
played = gathered()
metrics, verdicts = measured(played, curves, numbers, max_turns=max_turns)
display(five(metrics, headlines=True, title="the five questions: one value each"))

# %% [markdown]
# Below it are all values, those of easy and of hard questions by themselves. What is neither a share nor a difference (calls,
# entropy, weights) has its number alone, no marker.

# %% tags=["guess"]
display(five(metrics, ["easy", "hard"]))

# %% [markdown]
# How to read them:
#
# 1. Does reinforcement add? A gain is shown if its whole interval lies right of 0. What R_BAT is after, fewer needless calls,
#    isn't among the answers: a training can be worth its while without one more answer being right.
# 2. Does acting pay? The agent is compared with the same base, asked directly. On easy questions that is about reading a list
#    of its own; on hard ones about calls.
# 3. Does what it is shown matter? On hard questions next to nothing should be left when it is shown another question's
#    output. On easy ones look first whether it calls at all: the stored agent doesn't, so its gap of 0 says nothing. One that
#    calls needlessly would lose nothing either: a call is worth making where its output decides.
# 4. Where do the calls go? That they succeed shows only that the code runs: on `composed`, in notebook 33, nearly all do, and
#    no answer is right. Compare the shares with its tools and without.
# 5. Is the signal alive? Under R_BAT a group teaches even if all its answers are right, as long as some of them called with
#    success and others didn't.
#
# ## All verdicts
#
# **Exercise 34.3.** C3 says that calls grow *at equal accuracy*. "Equal" is no difference of zero: that can't be shown. So
# the rule asks whether the whole interval of the difference lies within a margin, on either side of 0. Write it: `gain` is
# (low, high) of the accuracy that the calls buy, at 90 %, `more` is (low, high) of the calls that are made more, at 95 %.
# Does C3 hold?


# %% tags=["exercise"]
def c3_holds(
    more: tuple[float, float], gain: tuple[float, float], margin: float = 0.05
) -> bool:
    """More calls for certain, and for certain accuracy within the margin."""
    ...


check("34.3", c3_holds)


# %% [markdown]
# Now your run's verdicts. Each line has the checks that decide, or leave it open. A check's interval is over trainings: of
# one seed there is none (*no interval*), and its number alone decides nothing. The last column says what would decide it, as
# far as that is known. A claim whose runs weren't named is *undecided*, too; the fourth column then says *not run*. And since
# each look at test questions is one more chance to choose what happens to score well there, the first line counts them.

# %% tags=["guess"]
print(opened(played, ("sft-sampled",)))
records = {claim.name: claim.record() for claim in verdicts}
display(Markdown(claims.STATED.table(records)))

# %%
results = write_results(
    run_folder(run) / "results.json",
    notebook="34_codedance_claims",
    profile=profile,
    seed=list(range(len(folders))),
    minutes=(time.monotonic() - began) / 60,
    training_minutes=training_minutes(folders),
    stages=metrics,
    claims=records,
)
print("written:", f"runs/{run}/results.json")

# %% [markdown]
# ## The same rules, the published runs
#
# `results/codedance.json`, committed with the kit, was written by this notebook's rules over the seeds that it names (C2 and
# C4 over two of them, 1 and 2). Beside your run it has three more rewards, trainings without the turns' part, smaller cold
# starts, more seeds and, unless your run has all 1,017, more questions. Which of the claims do you expect to hold? In the
# figure each marker is a value, its line the interval. The upright line is the claim's limit: 0, but minus the margin for
# C1's two accuracies, so that a difference of 0 stands one margin to the right. A claim of a gain has what it says right of
# the line, one of equality in the grey band. The scale counts margins, the smallest effects worth having: of calls 0.1 (C1)
# and 0.2 (C3), of entropy 0.02, of accuracy 0.05 (C1, C3, C6) and 0.03 (C2, C4, C5). The band is one margin to either side. A
# hollow marker has no interval.

# %% tags=["guess"]
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
# - *Not testable here* is about the set-up. C5: our hard questions need two calls at most and training allowed four turns, so
#   ten turns could show nothing. Questions that need five calls would make it testable.
# - *Undecided*, as C2's accuracy by itself, can be because trainings differ: where accuracy moves more from seed to seed than
#   from reward to reward, more seeds help. Elsewhere the trainings that a claim compares aren't made yet.
# - *Equal* says that an effect worth having isn't there, and takes as many data as *holds*. C3 claims it of accuracy; of C2
#   and C6, which claim a gain, it means that none shows: entropy ends alike with the turns' own part and without it (two
#   trainings each), and C6 is at the bottom of the scale: hardly one `composed` question is right before or after.
# - *Doesn't* needs a reason that you can see. For C6 it would be this: a question that joins two skills is paid for only when
#   an attempt joins them, and a policy that never does gets no first step.
# - *Holds* is about the statistic: C4's slope is sure over the two cold starts of each size. But each had two passes, so 300,
#   900 and 3,197 demonstrations came with 150, 450 and 1,598 steps: longer training could do the same. Elsewhere ask how
#   undecided the cold start was, and what an agent
#   with its tools switched off still answers.
#
# </details>
#
# ## How much had the start left open?
#
# An agent could also be cloned from demonstrations that never call needlessly, or half as often as the published ones, and
# then be trained by the same reward. No such training is published yet, so the cell below has nothing to compare. Once there
# are some: where is imitation alone best, and where does reinforcement add most?

# %% tags=["guess"]
several = comparable({"codedance": published})
if several:
    display(starts_picture(several))
else:
    print("One start is measured so far, so there is nothing to compare.")

# %% [markdown]
# A large gain is no merit by itself: it may tell how much the start had left open.
#
# ## Paper / here / why different
#
# The table of your run has the paper's numbers in round brackets; they are of its own questions, which a laptop's base can't
# read. What carries over is about calls. On how far it carries: our cold start, sampled as in training, calls needlessly in
# nearly half of the easy questions (greedily hardly ever in two seeds, in most in the third), so a bonus finds more to pay
# for here than in the paper, and R_BAT more to charge for. The paper's differences in accuracy (65.3, 63.6 and 65.8) are of
# single runs, without intervals.
#
# ## What you have seen
#
# Which agent calls needlessly, and which of the paper's conclusions hold here?

# %%
said = by_verdict(published["claims"])
easy = {s: committed.get(s, {}).get("calls_easy") for s in ("sft", "grpo", *REWARDS)}
easy = {s: value.value for s, value in easy.items() if value}
left = ", ".join(f"{name} {n:.2f}" for name, n in easy.items())
swapped, own = (
    [o for o in played[s] if o.level == "hard"] for s in ("grpo-swapped", "grpo-own")
)
told = in_words(own, swapped) if own and swapped else "not measured"
seeds = len(published["seed"])
display(
    Markdown(f"""
- **Calls on an easy question, greedy, by training** (`results/codedance.json`, up to {seeds}
  seed{"s" * (seeds > 1)}): {left}. There R_BAT is `grpo`; `sft` is where all began.
- The paper's claims over these trainings: {said}.
- Does your agent need its calls? With another question's output the share of hard
  questions that it has right is {told}.
""")
)

# %% [markdown]
# Next: [06](06_is_it_learning.ipynb), which asks the five questions of all papers, and [41](41_mags_rl.ipynb), where the tool
# is a magnifying glass and nobody says where to look.
