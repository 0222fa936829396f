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
# # 55 · VISTA-R1: what holds?
#
# **The question.** The agent is trained. Which of its mistakes went away, which stayed, and which of the paper's nine claims
# can a laptop confirm, refute, or not decide?
#
# **The paper.** [VISTA-Gym (arXiv:2511.19773)](https://arxiv.org/abs/2511.19773), Tables 1 to 3 and sections 6.3 and 6.4:
# nine claims, V1 to V9, and six kinds of errors, E1 to E6.
#
# **Afterwards you can** sort an agent's failures into those of form, of choice and of reasoning; say which of them a better
# tool would cure; and tell a claim that wasn't run from one that failed.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, tiny model, the runs given below | 8 | 2 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B | not measured | 640 GB |
#
# Before this one: [53](53_vista_gym_sft.ipynb) and [54](54_vista_gym_grpo.ipynb). One run is enough to read it. For
# verdicts you need other trainings and seeds: `python -m kit run 54 --tag dense --set reward=dense`, and this notebook with
# `--set dense_runs=vista_gym-dense`.

# %% tags=["parameters"]
run: str = "vista_gym"  # run directory under runs/: results.json is written there
runs: list[str] = []  # runs that differ in their seed only; empty: just this one
dense_runs: list[str] = []  # the same seeds under the dense reward; empty: none
sparse_runs: list[str] = []  # under the sparse product
dapo_runs: list[str] = []  # with the loss of DAPO
one_family_runs: list[str] = []  # trained on one family alone
one_tool_runs: list[str] = []  # trained with tools of one kind alone
long_runs: list[str] = []  # cloned from long rationales, then reinforced
no_tools_reasoning_runs: list[str] = []  # cloned and trained to reason without tools
decided_runs: list[str] = []  # cloned from an expert that never gives up
half_runs: list[str] = []  # from one that gives up half as often as here
single_family: str = "maps"  # that one_family_runs were trained on
single_tools: str = "easyocr.read"  # that one_tool_runs were trained with
backbone: str = "Qwen2.5-VL-7B"  # whose rows of the paper's Table 2 stand beside ours
sampled_tasks: int = 16  # questions that the policy before GRPO tries again and again
tries: int = 8  # how often each of them is tried
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
listed: bool = False  # name the tools in the prompt; False: learnt by heart
max_turns: int = 3  # turns an episode may have
max_new_tokens: int = 112  # of one turn
profile: str = "laptop"  # written into results.json
threads: int = 1  # CPU threads of this process

# %%
import time
from collections import Counter
from dataclasses import asdict

import torch
from IPython.display import Markdown, display
from kit import view
from kit.data.store import load_tasks
from kit.evaluate.conduct import conduct
from kit.files import ROOT, read_json, run_folder
from kit.policy.hf import load_model_and_chat
from kit.train.checkpoint import trained_model
from kit.train.metrics import training_minutes
from kit.view import plots
from papers.claims import as_stated
from papers.contrasts import in_words
from papers.played import curves_of, once, opened, stages_of
from papers.results import write_results
from papers.starts import comparable, starts_picture
from papers.verdicts import by_verdict
from papers.vista_gym import claims
from papers.vista_gym import experiment as vista
from papers.vista_gym import tables as benchmarks
from papers.vista_gym.errors import ERRORS, REPORTED, errors
from papers.vista_gym.measured import MAIN, measured, paper_tables
from papers.vista_gym.metrics import EVALUATION
from papers.vista_gym.remembered import remembered
from papers.vista_gym.toolbox import toolbox
from workshop.exercises import check, hint, solution

# %%
began = time.monotonic()
torch.set_num_threads(threads)
named = {"runs": runs or [run], "dense": dense_runs, "sparse": sparse_runs}
named |= {"dapo": dapo_runs, "long": long_runs}
named |= {"no_tools_reasoning": no_tools_reasoning_runs}
named |= {"one_family": one_family_runs, "one_tool": one_tool_runs}
named |= {"decided": decided_runs, "half": half_runs}
arms = {name: [run_folder(n) for n in some] for name, some in named.items() if some}
folders = arms["runs"]
single = {"single_family": single_family, "single_tools": single_tools}
benchmarks.check_backbone(backbone)
play = vista.Play(
    prompt=prompt,
    listed=listed,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
)


# %%
def gathered():
    """All outcomes that the runs have by now; those that no training made, once."""
    return once(stages_of(EVALUATION, arms), claims.UNSEEDED)


played, curves = gathered(), curves_of(arms)
metrics, _ = measured(played, curves, **single)
print({name: len(some) for name, some in arms.items()}, "seed(s)")
for stage in ("untrained", "sft", "grpo"):
    print(f"{stage:10s} {conduct(played[stage])}")

# %% [markdown]
# ## One claim: "training removes most errors of calls"
#
# This is V8, and behind it stands the paper's best idea: don't ask how often an agent fails, ask *how*.
#
# ### Six ways to fail
#
# The paper had people sort 500 failures of GPT-5 and of InternVL3-8B with tools:
#
# | | what happened |
# |---|---|
# | E1 | the call can't be read, there is no such tool, an argument is missing, or the turn neither calls nor answers |
# | E2 | an argument by a name that the tool doesn't know |
# | E3 | a value of the wrong form |
# | E4 | a call in good form, not the question's own, and its reply lacks the answer |
# | E5 | the tool fails: no reply in time, or the right call's reply lacks the answer |
# | E6 | the tool said it, and the agent didn't answer so: otherwise, or not at all (below: "answered otherwise") |
#
# On drawn questions a rule can sort them, since the right calls are known. Here is an episode of each kind, where the trained
# agent has one, else the cloned agent. (An episode may have several kinds; it is shown for one of them.) Look at the turns
# before you read the kind's name: what went wrong?

# %%
tools = remembered(toolbox().values())
tests = load_tasks(folders[0] / "tasks" / "test.jsonl")


def examples_of(stage: str, made_by: int):
    """An episode of each kind of error that an agent makes, played again."""
    some = [o for o in played[stage] if o.seed == 0]
    ids = {kind: o.task for o in some for kind in o.errors.split()}
    vlm, chat = load_model_and_chat(trained_model(folders[0], stage, made_by))
    failed = [task for task in tests if task.id in ids.values()]
    again = vista.play_greedily(vlm, chat, tools, failed, how=play)
    return {kind: episode for episode in again for kind in errors(episode)}


# %% tags=["guess"]
examples = examples_of("sft", 53) | examples_of("grpo", 54)
for kind in (kind for kind in ERRORS if kind in examples):
    display(view.show(examples[kind]))
    display(Markdown(f"**{kind}**: {ERRORS[kind]}"))
lacking = [kind for kind in ERRORS if kind not in examples]
print("no episode of:", ", ".join(lacking) or "none")

# %% [markdown]
# ### The picture
#
# And how often? An agent that gives up without a call has none of the six, and a bar of its own. Which kinds does cloning
# remove, which does reinforcement? Guess before you open the figure.

# %% tags=["guess"]
kinds = [*ERRORS, "no_call"]
shares = {
    stage: {k.replace("_", " "): metrics[stage][f"errors_{k}"] for k in kinds}
    for stage in ("untrained", "sft", "grpo")
}
names = {"untrained": "before cloning", "sft": "after cloning", "grpo": "after GRPO"}
shown = {names[stage]: found for stage, found in shares.items()}
display(plots.bars(shown, "share of questions failed so"))
for name, found in shown.items():
    print(f"{name:15s}", {kind: round(share.value, 2) for kind, share in found.items()})

# %%
for model, found in REPORTED.items():
    print(f"{model:13s}", dict(found), "(of its failures, untrained)")

# %% [markdown]
# A large untrained model writes calls, and gets names and contents wrong; the tiny one doesn't get that far. Mind its E1: a
# turn that neither calls nor answers counts as one, so a base that never calls fails so each time, and imitation ends that by
# teaching the tags. What reinforcement does to E1 shows from "after cloning" to "after GRPO": did it rise, fall or stay? Who
# never calls can't make the errors that only a caller makes: E4, a proper call for the wrong thing, and E6. So look at "no
# call" and E4 together. E5 is a tool that fails. No training mends the tool, but an agent can learn to ask another.
#
# ### From a sentence to a rule
#
# "Most" becomes: at least half. V8 asks whether E1 to E3, the errors of form, are halved, where the untrained agent calls at all.
# E4 and E6 it judges only where those calls reach a tool, and E5 it tells. The rule stands in `papers/vista_gym/claims.toml`,
# with what it was before and why it changed (whether before the published trainings, [the results](../docs/results.md) say);
# notebook [14](14_agile_claims.ipynb) explains verdicts. What will this one be?

# %% tags=["guess"]
v8 = claims.v8(played["untrained"], played["grpo"])
print(v8.told)
print(v8.evidence.replace("; ", "\n"))

# %% [markdown]
# **Exercise 55.1.** Sort one failure. You know whether the call could be read, whether it fits the tool's schema, whether it is
# the question's own, and whether the reply holds the gold answer. Which of E1, E4, E5, E6 is it? (Suppose that no
# argument is missing, which would be E1. Then a call that doesn't fit its schema is E2 or E3: say `"E2 or E3"`.)


# %% tags=["exercise"]
def kind_of_error(read: bool, fits: bool, own: bool, holds: bool) -> str:
    """The kind of error of an episode with one call and a wrong answer."""
    ...


check("55.1", kind_of_error)

# %% [markdown]
# ## The other claims
#
# They are about accuracy, so here are all agents side by side.
#
# `direct` is the base asked without tools, `untrained` the base given 26 of them, `no_reasoning` (the paper's *without
# reasoning*) the base that is told besides which of these tools suit the question, `sft` the agent after cloning, `grpo` after reinforcement, `patch` after going on with hard questions. Square
# brackets hold 95 % intervals; round brackets hold the paper's accuracy, on its own benchmarks, of the model that `node` trains.

# %%
main = [stage for stage in MAIN if stage in metrics]
short = {s: {k: v for k, v in metrics[s].items() if k[-4:] == "_all"} for s in metrics}
print(EVALUATION.table({stage: short[stage] for stage in main}))

# %% [markdown]
# The sets aren't equally large, and some are easy. So look at the *macro-average*, too: each family's share right,
# and of these the mean. A family stands for what is measured of it, which the first lines say: on a laptop geometry is what
# can be answered at sight. Which family gained most, and which had nothing to gain?

# %%
measured_of = {}
for o in played["grpo"]:
    measured_of.setdefault(o.family, Counter())[o.benchmark] += 1
for family, sets in sorted(measured_of.items()):
    print(f"{family:10s}", dict(sorted(sets.items())))

# %% tags=["guess"]
from papers.vista_gym.env import PRIOR

for family in PRIOR:
    found = {s: metrics[s].get(f"acc_{family}") for s in main}
    print(f"{family:10s}", {s: round(v.value, 2) for s, v in found.items() if v})
for stage in main:
    print(f"{stage:12s} macro-average {metrics[stage]['macro']}")
for stage in ("sft", "direct"):
    print(f"grpo minus {stage}: {metrics['grpo'][f'macro_gain_over_{stage}']}")

# %% [markdown]
# From the base asked directly to the cloned agent the macro-average gains (0.075 → 0.163), the share of all questions doesn't
# (0.107 → 0.095). Nearly all of the 0.163 is geometry, six questions at sight, which counts as much as any other family: look
# at both. And mind which sets are in a family: `plotqa`, `tabmwp`, `iconqa`, `mathvista`, `ai2d` and `clevr_math` are never
# trained on, and in the stored run of their questions only four of `iconqa` are right after reinforcement (`acc_out` in 54).
# So spatial's 0.5 is all six of `clevr` and none of `clevr_math`.
#
# A family at 1 after cloning had nothing to gain. One at 0 had, and may have been trained on in vain. Of each that was trained
# on and has no question right, before reinforcement or after it, here is what the trained agent's greedy episodes came to, and how
# some of them begin, beside the call that finds the answer. Does it ask for the wrong thing, or not at all?

# %% tags=["guess"]
learnt = load_tasks(folders[0] / "tasks" / "train.jsonl")
right = {
    family: [metrics[s][f"acc_{family}"].value for s in ("sft", "grpo")]
    for family in sorted({t.meta["family"] for t in learnt})
    if f"acc_{family}" in metrics["grpo"]
}
at_zero = [family for family, shares in right.items() if not any(shares)]
print("trained on, and none right before or after:", ", ".join(at_zero) or "no family")
for family in at_zero:
    some = [o for o in played["grpo"] if o.family == family]
    ways = Counter(o.errors or ("called" if o.tool_calls else "no call") for o in some)
    print(f"{family}, of {len(some)}:", dict(ways))
if at_zero:
    vlm, chat = load_model_and_chat(trained_model(folders[0], "grpo", 54))
    lost = [t for t in tests if t.meta["family"] in at_zero and "calls" in t.meta][:6]
    for e in vista.play_greedily(vlm, chat, tools, lost, how=play):
        print(e.task.question, "|", e.task.meta["calls"][0], "|", e.turns[0].text)
vlm = None  # room for what follows

# %% [markdown]
# ## Table 2
#
# The paper's eleven benchmarks, each played whole by the base, by the base told which tools suit (`no_reasoning`), by an
# agent that reasons without tools (`no_tools_reasoning`), and by the final one; beside them the paper's accuracies. Where the
# data aren't at hand, which is so on a laptop, cells say "not run". Where they were played, they decide the claims about
# accuracy; elsewhere drawn questions do.

# %%
table_2 = paper_tables(played, backbone)["Table 2"]
print(benchmarks.lines(table_2))

# %% [markdown]
# ## The five questions
#
# Notebook [06](06_is_it_learning.ipynb) asks five questions of a training; here they are asked of yours. Guess the
# [observation gap](../docs/glossary.md#observation-gap).

# %%
from kit.evaluate.five.answers import own_numbers
from kit.evaluate.five.play import Player, play_all
from kit.train.experiment import in_parts
from kit.train.held_out import evenly_spaced
from kit.train.weights import weight_change
from kit.view.five import five


def play_five(folder):
    """Play what the five questions need, unless the run has it already."""

    def playing(policy, chat, tasks, **how):
        return in_parts(tasks, lambda some: play(policy, chat, tools, some, **how))

    ends = trained_model(folder, "grpo", 54), trained_model(folder, "sft", 53)
    grpo, sft = (Player(checkpoint, playing) for checkpoint in ends)
    some = evenly_spaced([t for t in tests if "calls" in t.meta], sampled_tasks)
    how = {"sampled": some, "tries": tries, "kind": lambda task: task.meta["family"]}
    return play_all(EVALUATION, folder, grpo, sft, tests, asdict(play), **how)


# %% tags=["guess"]
numbers = {"grpo": {}}
for seed, folder in enumerate(folders):
    print(folder.name, "played now:", ", ".join(play_five(folder)) or "nothing")
    ends = trained_model(folder, "sft", 53), trained_model(folder, "grpo", 54)
    numbers["grpo"][seed] = own_numbers(EVALUATION, folder, weight_change(*ends))
played = gathered()
metrics, verdicts = measured(played, curves, numbers, **single)
print(opened(played, ("sft-sampled",)))
display(five(metrics, headlines=True, title="the five questions: one value each"))

# %% [markdown]
# The observation gap is the row "own minus another's observations". With blank replies, as in exercise 53.3, less is lost in
# the stored run: there another question's reply did more harm than none, though the two intervals overlap. A value without a
# mark isn't a share or a difference, such as the calls per episode. All values, question by question ("n = 1" is one
# training):

# %% tags=["guess"]
display(five(metrics))

# %% [markdown]
# **Exercise 55.2.** With another question's replies the agent is right in a share `swapped`. If it had *guessed* among `n`
# answers that are equally likely, what share would that be, and does it read its tools? Return the share, and whether `own`
# lies above `swapped` by more than `margin`.


# %% tags=["exercise"]
def reads(own: float, swapped: float, n: int, margin: float) -> tuple[float, bool]:
    """Share of lucky guesses, and whether the agent reads what it is told."""
    ...


check("55.2", reads)

# %% [markdown]
# ## All verdicts
#
# The nine claims, by your run: each line has the checks that decide, or leave it open, and what would decide it: so
# many more seeds, if values and spreads stay as they are. A claim whose runs weren't named says so. With one seed
# nothing is known of other trainings. Which of the nine can a single run decide? (None, for or against: in the stored
# run two turn out not testable here, one wants seeds, and six want trainings of their own.)

# %% tags=["guess"]
records = {claim.name: claim.record() for claim in verdicts}
display(Markdown(claims.STATED.table(records)))

# %% [markdown]
# **Exercise 55.3.** The paper's reinforcement adds *much more* than its cloning. Accuracies before, after cloning, after
# reinforcement: what is the statistic that is above 0 if so? (V2 doesn't test it: an expert that gives up leaves cloning nothing
# to add. What cloning adds where the expert never does stands beside it.)


# %% tags=["exercise"]
def much_more(direct: float, cloned: float, reinforced: float) -> float:
    """Reinforcement's gain minus cloning's."""
    ...


check("55.3", much_more)

# %%
write_results(
    run_folder(run) / "results.json",
    notebook="55_vista_gym_claims",
    profile=profile,
    seed=list(range(len(folders))),
    minutes=(time.monotonic() - began) / 60,
    training_minutes=training_minutes(folders),
    stages=metrics,
    claims=records,
    tables={"Table 2": table_2},
)
print("written:", f"runs/{run}/results.json")

# %% [markdown]
# ## The same rules, the published runs
#
# `results/vista_gym.json`, committed with the kit, was written by this notebook over the seeds that it names. If a claim has
# been restated since, these runs don't decide it. It was measured on 544 other questions: 140 each of `clevr` and `clevr_math`,
# 22 of each of the twelve other kinds. So its shares differ from those above, and more than half of its right answers are of the
# spatial family: read its macro-average, too.

# %% tags=["guess"]
path = ROOT / "results" / "vista_gym.json"
published = read_json(path) if path.is_file() else {"seed": [], "claims": {}}
published["claims"] = as_stated(published["claims"], claims.CLAIMS)
print("seeds:", published["seed"])
display(Markdown(claims.STATED.table(published["claims"])))
if any(claim["checks"] for claim in published["claims"].values()):
    display(plots.claims(published))

# %% [markdown]
# The figure has the claims for which something was measured, and decides none of them while they are of one seed. Its axis
# counts margins from the limit, the least differences that a claim cares about; right of it is as claimed. V1 and V8 may stand
# right and are still not testable here: an untrained agent that never calls, and never answers in the form, can only look
# worse.
#
# ## How much had the start left open?
#
# The published start's expert gives up in six of ten questions that need a tool, on purpose. Cloned from one that never does, or
# does so half as often, and trained by the same reward: where is imitation alone best, and where does reinforcement add most?
# (As long as one start alone is measured the cell says so, and the question stays open.)

# %% tags=["guess"]
several = comparable({"vista_gym": published})
if several:
    display(starts_picture(several))
else:
    print("One start is measured so far, so there is nothing to compare.")

# %% [markdown]
# A large gain is no merit by itself: it may tell how much the start had left open.
#
# ## Paper / here / why different
#
# The tables above have the paper's numbers in round brackets, of its own benchmarks. V3's arms are the paper's: *without
# reasoning* is the untrained model with tools and tool priors, *without tools* is cloned and trained to reason. A base that
# never keeps to the form has 0 in the first, whatever tools could do for it, so the first can't be judged here. Two things
# are turned round here. The paper's base sees most answers and loses them when it is given tools (V1); ours sees few, so most
# of what it wins it wins by a tool: of the stored run's 38 right answers 13 are left where replies are blank. And ours was
# made to doubt (notebook 53): on an older test a surer expert's clone, of one seed, had most of what reinforcement reached
# ([the results](../docs/results.md#where-the-start-leaves-less-open)). V3 to V6 and V9 compare with trainings of their own;
# where their runs weren't named, the table says with which command they are made.
#
# ## What you have seen
#
# Which of its mistakes went away, which stayed, and what of the nine claims holds here?

# %% tags=["figure"]
said, trained = by_verdict(published["claims"]), published["seed"]
before, after = shown["after cloning"], shown["after GRPO"]
first = shown["before cloning"]["E1"].value
changed = {kind: after[kind].value - before[kind].value for kind in before}


def moved(kind: str) -> str:
    """A way to fail, in words, and its share of the questions before and after."""
    ends = f"{before[kind].value:.0%} → {after[kind].value:.0%} of the questions"
    return f"{kind} ({ERRORS.get(kind, 'a wrong answer at once')}: {ends})"


fell, rose = min(changed, key=changed.get), max(changed, key=changed.get)
told = f"changed two most: {moved(fell)} and {moved(rose)}"
told = told if changed[fell] < changed[rose] else "changed none"
display(
    Markdown(f"""
- **Of the ways to fail reinforcement {told}.**
  Turns without a call that can be read (E1) failed {first:.0%} of the questions before
  cloning, {before["E1"].value:.0%} after it and {after["E1"].value:.0%} after reinforcement.
  The share right is {in_words(played["sft"], played["grpo"])}.
- Over {len(trained)} training{"s" * (len(trained) != 1)} (`results/vista_gym.json`): {said or "none"}.
- Does it read its tools? With another question's replies the share right is
  {in_words(played["grpo-own"], played["grpo-swapped"])}.
""")
)

# %% [markdown]
# Next: [06](06_is_it_learning.ipynb), which asks the five questions of all papers, and [60](60_your_own.ipynb), where you train
# an agent on a task of your own.
