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
# # 33 · CodeDance: which reward knows when to call?
#
# **The question.** After the cold start the agent, when its words are sampled, calls in about half of the easy questions,
# for nothing (greedily less often). It calls in the hard ones, too, where it must. Now it is paid, and nobody
# says for which calls. Does it stop where it knows, and go on where it doesn't?
#
# **The paper.** [CodeDance (arXiv:2512.17312)](https://arxiv.org/abs/2512.17312), section 3.1 and Table 3:
# [GRPO](../docs/glossary.md#grpo) with the reward R_BAT, beside the outcome alone and beside a bonus for calls. There
# the bonus brings 2.43 turns an episode, the outcome alone 1.34, R_BAT 1.41. Accuracy is 63.6, 65.3 and 65.8: of one
# training each, so that the half point between the last two may be chance.
#
# **Afterwards you can** follow a reward from the group to the token; compute the advantage of a single
# [turn](../docs/glossary.md#turn); read from two curves whether an agent learns *when* to call; and say why a bonus
# for calls sends them up on easy questions, too, and what a fall in calls does and doesn't say of the reward.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 6 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 4 | not measured | 640 GB |
#
# Before this one: [32](32_codedance_sft.ipynb), which made the model that this one starts from.
#
# To try another reward: `--set reward=bonus --tag bonus`. Data and cold start are kept.

# %% tags=["parameters"]
run: str = "codedance"  # run directory under runs/, shared by notebooks 31 to 34
tag: str = ""  # to try another value: a name for it; data and SFT model are kept
seed: int = 0  # order of the questions and everything sampled
reward: str = "adaptive"  # R_BAT; or outcome, bonus, offset_0
sharpness: float = 8.0  # how sharply the worth of a call turns
offset: float = 0.2  # what a call costs where a group knows
turn_weight: float = 0.2  # of the turns' own part; 0 leaves it out
steps: int = 20  # rollout batches, each followed by one update
prompts_per_batch: int = 12  # questions a batch; paper: 256
group_size: int = 8  # attempts at one question
learning_rate: float = 1e-4  # at its peak; paper: 1e-6
schedule: str = "cosine"  # of the learning rate: cosine, linear, constant
beta: float = 0.0  # weight of the KL term, which holds the policy near its start
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
per_device_batch_size: int = 32  # episodes a forward pass, at most
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 4  # turns an episode may have; paper: 6
evaluation_turns: int = 4  # turns it may have where it is measured; paper: 10
max_new_tokens: int = 72  # of one turn
eval_tasks: int = 16  # tasks of each kind to measure by
held_out_tasks: int = 16  # development questions played before each step; 0: none
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
rollout_engine: str = "transformers"  # or vLLM: colocate (same GPUs), server
vllm_server_url: str = ""  # that server's address, http://host:port
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
from functools import partial

import numpy as np
import torch
from IPython.display import display
from kit import view
from kit.data.store import load_tasks
from kit.evaluate.accuracy import accuracy as share_right
from kit.evaluate.conduct import conduct
from kit.files import start_run
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.train.checkpoint import trained_model
from kit.train.experiment import in_parts
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.view import plots
from papers.codedance import experiment as codedance
from papers.codedance import tables as benchmarks
from papers.codedance.metrics import EVALUATION, is_right
from papers.codedance.reward import REWARDS, difficulty, make_reward
from papers.registry import needs
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, needs("33_codedance_grpo"), makes="grpo")
together = ProcessConfig.of(globals())
start = trained_model(folder, "sft", 32)
vlm, chat = load_model_and_chat(start)
box = codedance.sandbox(allow_unsafe).start()
turns = {"max_turns": max_turns, "evaluation_turns": evaluation_turns}
play = codedance.Play(prompt=prompt, max_new_tokens=max_new_tokens, **turns)
papers_sets = benchmarks.questions(folder / "data")
train = load_tasks(folder / "data" / "train.jsonl")
drawn = load_tasks(folder / "data" / "development.jsonl")  # if train is the paper's


def kind_of(task) -> str:
    """Its kind and level, as in the makers' names."""
    return f"{task.meta['kind']}/{task.meta['level']}"


# %% [markdown]
# ## Four rewards
#
# [Notebook 31](31_codedance.ipynb) makes them. Each pays 1 for a right answer (1.2 in geometry and arithmetic) and takes
# 0.2 (there 0.4) where the form is broken. They differ in what a call earns besides:
#
# | name | what a call earns |
# |---|---|
# | `outcome` | nothing |
# | `bonus` | 1.5 (there 2) where the answer is right and a call has succeeded |
# | `adaptive` | R_BAT: 1.5 · d(μ) of a right answer, 0.5 · d(μ) of a wrong one (there 2 and 1), times the share of its calls that succeed |
# | `offset_0` | the same, with nothing subtracted from d: it never falls below 0 |
#
# μ is the share of a group's attempts that are right, and d(μ) what a call is worth to that group:
#
# $$d(\mu) = \sigma(8\,(0.5 - \mu)) - 0.2$$
#
# So it is 0.78 where no attempt is right, 0 at μ = 0.67, and −0.18 where all are. `adaptive` and `offset_0` also reward
# every [turn](../docs/glossary.md#turn) by itself: −0.5 where its code fails.
#
# ## Two groups
#
# One easy question and one hard one, each tried `group_size` times. A reward says something about calling only where some
# of the attempts call and others don't. So questions are tried, 24 a level at most, until a group splits: the easy one
# where the agent mostly knows the answer, the hard one where it mostly doesn't. (Where none splits, the last is shown: if
# all attempts call, no reward can say anything about calling.)

# %% tags=["figure"]
policy = HFPolicy(vlm, chat)
wanted = {
    "easy": ("sheet/easy", "chart_value/easy"),
    "hard": ("geometry/hard", "composed/hard"),
}
groups = {}

# %% tags=["figure"]
for level, kinds in wanted.items():
    of_kinds = ([t for t in [*train, *drawn] if kind_of(t) == kind] for kind in kinds)
    some = [task for tasks in of_kinds for task in tasks[:12]]
    for k, task in enumerate(some):
        group = play(policy, chat, box, [task] * group_size, seed=seed + k)
        right = [is_right(e, task.target) for e in group]
        with_call = [r for e, r in zip(group, right, strict=True) if e.calls]
        groups[level] = group
        knows = difficulty(sum(right) / group_size, sharpness, offset) < 0
        if 0 < len(with_call) < group_size and knows == (level == "easy"):
            break
    print(f"{level}: {task.question} (question {k + 1} tried)")
    without = sum(right) - sum(with_call), group_size - len(with_call)
    print(f"      with a call {sum(with_call)} of {len(with_call)} right,", end=" ")
    print(f"without one {without[0]} of {without[1]}")

# %% [markdown]
# Now the four rewards, on real attempts. For each the mean of those that called minus the mean of those
# that didn't: its sign is the way in which this group pushes the next update: above 0 it teaches to call, below 0 not
# to. Guess its sign, easy and hard, for each of the four.


# %% tags=["guess", "figure"]
def pull(group, name: str) -> float | None:
    """Mean reward with calls minus without; None if all did the same."""
    scores = make_reward(name, sharpness, offset)(group, group[0].task.target)
    kinds = {called: [] for called in (True, False)}
    for episode, score in zip(group, scores, strict=True):
        kinds[episode.calls > 0].append(score.total)
    with_calls, without = kinds[True], kinds[False]
    return np.mean(with_calls) - np.mean(without) if with_calls and without else None


print("reward     easy   hard")
for name in REWARDS:
    found = [pull(group, name) for group in groups.values()]
    told = ["all did the same" if v is None else f"{v:+.2f}" for v in found]
    print(f"{name:9s}", "  ".join(told))

# %% [markdown]
# Do the sum for a line or two. `outcome` pays the difference between the two shares that are right, whatever brought it: of
# so few attempts it can be chance. To that `bonus` adds 1.5 for a right answer with a call, and R_BAT adds 1.5 · d(μ),
# which is $-0.23$ at μ = 7/8 and $-0.27$ at 1: whatever a call seems to bring there, it first has to earn this back. Where
# nobody is right, as in the hard group above, `outcome` and `bonus` can pay the form alone (an attempt
# that breaks it loses 0.2 or 0.4); R_BAT pays half of d(μ) besides, up to $0.39$, for a call that runs.
#
# Had all attempts of a group called, or none, no reward could say anything about calling: there is nothing to
# compare. That is why the cold start was left undecided. Note also that attempts that call differ in more than the call.
# An agent that calls may read more carefully, or less so, and the reward sees the answer as well.
#
# ## From the group to the token
#
# Two numbers meet on each token. The first is the episode's: its reward minus the group's mean, divided by the group's
# standard deviation. The second is its turn's: its return (−0.5 for code that fails, and 0.2 of the next turn's return),
# minus the mean over the batch's turns, divided by their standard deviation. The second counts a fifth.
#
# $$\hat A_{i,t} = \frac{R_i - \bar R}{\operatorname{std}(R)} + 0.2\,\frac{R_{i,t} - \operatorname{mean}}{\operatorname{std}}$$
#
# **Exercise 33.1.** Write the second part for all turns of a batch: `returns` has a list for each episode, with a return
# for each of its turns. (Divide by the standard deviation of the population. If all returns are equal, give zeros.)


# %% tags=["exercise"]
def turn_parts(returns: list[list[float]], weight: float = 0.2) -> list[list[float]]:
    """What each turn adds to its episode's advantage."""
    ...


check("33.1", turn_parts)

# %% [markdown]
# ## Training
#
# `steps` batches, each of `prompts_per_batch` questions. What will happen to the calls, on easy questions and on hard ones,
# under the reward chosen above? Draw two lines on paper before you start it.

# %%
settings = GRPOSettings.of(
    globals(),
    advantage=REWARDS[reward] if turn_weight else "group_relative",
    turn_weight=turn_weight,
)
print(steps * prompts_per_batch * group_size, "episodes")

# %%
training = codedance.Training(
    start=str(start),
    tasks=str(folder / "data" / "train.jsonl"),
    run_dir=str(folder / "grpo"),
    play=play,
    settings=settings,
    reward=reward,
    sharpness=sharpness,
    offset=offset,
    held_out=(str(folder / "data" / "development.jsonl"),),
    held_out_tasks=held_out_tasks,
    threads=threads,
    allow_unsafe=allow_unsafe,
)
vlm = policy = None  # room for the training, which loads its own

# %%
live = view.LiveTraining(folder / "grpo", is_right=is_right)
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# ## When does it call?
#
# The training's own episodes, sampled. Compare the two lines with those on your paper.

# %% tags=["figure"]
rows = read_metrics(folder / "grpo" / "metrics.jsonl")


def over_steps(rows, column: str):
    """Steps and values of a column, where it has one."""
    known = [row for row in rows if column in row]
    return [row["step"] for row in known], [row[column] for row in known]


levels = [n for n in ("easy", "hard") if over_steps(rows, f"calls_{n}")[0]]
calls = {f"{n} questions": over_steps(rows, f"calls_{n}") for n in levels}
calls = calls or {"all questions": over_steps(rows, "calls")}  # the paper's: no level
title = f"calls an episode, reward {reward}"
display(plots.lines(calls, "step", "calls", title))

# %% [markdown]
# One batch has five or six easy questions, so the line jumps. A difference between its ends needs more than two points.
#
# **Exercise 33.2.** Write the change from the first quarter of the steps to the last: the mean of the last quarter minus the
# mean of the first. With n values a quarter has n // 4, and at least one. Then try it on this run:
# `change(calls["easy questions"][1])`, and on the hard ones.


# %% tags=["exercise"]
def change(values: list[float]) -> float:
    """Mean of the last quarter minus mean of the first."""
    ...


check("33.2", change)

# %% [markdown]
# ## Is it right more often?
#
# Two curves answer that: the share of right answers in the training's own batches, sampled, and the same on questions that it
# doesn't learn from (`development`), played [greedily](../docs/glossary.md#greedy) before each step.

# %% tags=["figure"]
rightly = {
    "sampled, in training": over_steps(rows, "accuracy"),
    "greedy, held out": over_steps(rows, "held_out_accuracy"),
}
rightly = {name: curve for name, curve in rightly.items() if curve[0]}
display(plots.lines(rightly, "step", "share right", f"right answers, reward {reward}"))
for name, (_, ys) in rightly.items():
    n = max(1, len(ys) // 4)
    ends = np.mean(ys[:n]), np.mean(ys[-n:])
    print(f"{name:21s} first quarter {ends[0]:.2f}, last quarter {ends[1]:.2f}")

# %% [markdown]
# If the first curve rises and the second doesn't, the agent hasn't learnt to answer anything new. It has become surer: what
# it draws at random is more and more what it would say greedily anyway. If neither rises, no gain in answers shows: single
# answers may still be lost and won, and calls may change. (The second curve goes in steps of one question of sixteen; a
# quarter's mean of five steps can lie between. 0.47 → 0.44 is a single question, lost early.)
#
# ## The paper's figure, with the kit's runs
#
# The kit brings the curves of its published runs under each of the four rewards (the column "runs" says how many seeds;
# with 1, a difference may be that seed's). Which of the four brings calls on easy questions down? Which sends them up?
# And which does the same on easy and hard? Guess, then open.

# %% tags=["figure"]
from papers.codedance.figures import calls_by_reward, published_rows

published = published_rows()


def quarters(runs, column: str) -> tuple[float, float]:
    """Means of a column over the first quarter of the steps and the last, all runs."""
    found = [np.array(over_steps(rows, column)[1]) for rows in runs]
    found = [np.array_split(ys, 4) for ys in found if len(ys) >= 4]
    first, last = zip(*((ys[0].mean(), ys[-1].mean()) for ys in found), strict=True)
    return float(np.mean(first)), float(np.mean(last))


# %% tags=["guess", "figure"]
if published:
    display(calls_by_reward(published))
    print("calls an episode, first quarter of the steps → last")
    print("reward     runs  easy         hard")
by_reward = {
    name: {n: quarters(some, f"calls_{n}") for n in ("easy", "hard")}
    for name, some in published.items()
}
for name, found in by_reward.items():
    told = "  ".join(f"{first:.2f} → {last:.2f}" for first, last in found.values())
    print(f"{name:9s}  {len(published[name]):4d}  {told}")
falls = {n: found["easy"][0] - found["easy"][1] for n, found in by_reward.items()}
print("easy: fewer by", ", ".join(f"{n} {by:+.2f}" for n, by in falls.items()))

# %% [markdown]
# In these runs calls on easy questions go down under R_BAT (each seed by another amount; 34's interval says whether that is
# sure) and, by less, in those of the outcome alone; in those of the bonus and of offset 0 they go up, on hard ones too. (A
# point of the figure is the mean of four steps, a quarter in the table of five. In the last line + means fewer and − more;
# differences are rounded last.) Three things to read off besides; the first two explain claims of the paper (notebook 34 has
# intervals and verdicts):
#
# - The bonus is paid wherever the answer is right, easy or hard. So where the agent is right already, the call is the only
#   thing that can still be earned (claim C1).
# - Offset 0 pays for a call in every group, even where all are right, and never charges for one (claim C3). There it is only
#   0.03; but divided by the group's standard deviation, 0.03 pushes as hard as the bonus's 1.5 where attempts differ in
#   nothing else.
# - The outcome alone says nothing about calls. They follow whatever helps the answer, and may become fewer all the same: an
#   answer at once has fewer places to go wrong. What R_BAT itself takes away is what it falls *more* than this
# one. The last line can't tell that: it is of few seeds, and such a difference can be chance.
#
# R_BAT turns at μ = 0.67. Where *this* agent mostly knows, sampled, it is charged for a call; everywhere else it is paid for
# one, whether a call could help or not. And where the call is what makes the answer right, the agent goes on in spite of the
# charge, since the answer is worth more (notebook 32 does the sum).
#
# ## What changed
#
# The same test questions as in notebook 32, greedily, before and after. (They are 205, 16 a kind and 13 of easy arithmetic;
# README plays all 1,017 of this test. Its share of hard questions is lower: 300 of them are `composed`, of which hardly one
# is solved, and 16 are played here.)

# %%
tests, seen = [], {}
for t in load_tasks(folder / "data" / "test.jsonl"):
    seen[kind_of(t)] = seen.get(kind_of(t), 0) + 1
    tests += [t] if seen[kind_of(t)] <= eval_tasks else []


def measure(tasks):
    """Play greedily, so many sessions at once, with the turns of an evaluation."""
    greedily = partial(codedance.play_greedily, vlm, chat, box, how=play.measured())
    return in_parts(tasks, greedily)


# %%
played = measure(tests)
stages = {
    "sft": EVALUATION.load_stage(folder, "sft"),
    "grpo": EVALUATION.evaluate(played),
}
for name, found in stages.items():
    for level in ("easy", "hard"):
        got = found[f"acc_{level}"], found[f"calls_{level}"]
        print(f"{name:5s} {level}: right {got[0]}, calls {got[1]}")
print("after GRPO:", conduct(played))

# %% [markdown]
# Read accuracy before calls: an agent that calls less and errs more has only become lazy. Which answers did it lose, and had
# it called for them before? Guess.

# %%
outcomes = {
    "sampled": EVALUATION.load_outcomes(folder, "sft-sampled"),
    "sft": EVALUATION.load_outcomes(folder, "sft"),
    "grpo": EVALUATION.outcomes(played),
}


# %% tags=["figure"]
from papers.contrasts import in_words


def changed(stages, field: str) -> dict[str, str]:
    """Level → how far a field has moved from one stage to another, in words."""
    found, same = {}, set.intersection(*({o.task for o in some} for some in stages))
    for level in ("easy", "hard"):
        pair = [
            [o for o in some if o.level == level and o.task in same] for some in stages
        ]
        found[level] = in_words(*pair, field=field) if all(pair) else "not measured"
    return found


# %% tags=["guess", "figure"]
easy_before, easy_after = (
    {o.task: o for o in outcomes[stage] if o.level == "easy"}
    for stage in ("sft", "grpo")
)
same = easy_before.keys() & easy_after.keys()
lost = [t for t in same if easy_before[t].correct and not easy_after[t].correct]
won = [t for t in same if easy_after[t].correct and not easy_before[t].correct]
had_called = sum(easy_before[t].tool_calls > 0 for t in lost)
print(f"easy questions: {len(lost)} answers lost, {len(won)} won, of {len(same)}")
print(f"of the lost ones it had called for {had_called} before")
right_moved = changed((outcomes["sft"], outcomes["grpo"]), "correct")
print("so the share that is right is", right_moved["easy"])

# %% [markdown]
# On easy questions a call prints what was read already, so an answer that was lost isn't lost for want of a call. What moves
# there may be the reading, or the look-up in its own list: the same weights serve easy questions and hard ones, and a small
# change can tip one that was uncertain. (In one run that can be chance; over README's three trainings the loss is told from
# it.)
#
# Now kind by kind. By itself, what a call is worth predicts a sign: where the sampled agent was right in more than 0.67 of its
# tries before the training, calls should become fewer. (Not where only a call brings the right answer: that answer earns
# more than the call costs.) Notebook 32 had it play the `development` questions, its words drawn at random. Here
# the trained agent plays the same questions in the same way. Does the prediction hold?


# %% tags=["figure"]
def by_kind(some, field: str) -> dict[str, float]:
    """Mean of a field, kind by kind."""
    found = {}
    for o in some:
        found.setdefault(f"{o.kind}/{o.level}", []).append(float(getattr(o, field)))
    return {kind: float(np.mean(values)) for kind, values in sorted(found.items())}


def at_random(tasks):
    """Play with words drawn at random, as notebook 32 did before the training."""
    return play(HFPolicy(vlm, chat), chat, box, tasks, temperature=1.0, seed=seed)


drawn_now = EVALUATION.outcomes(in_parts(drawn, at_random))
mu = by_kind(outcomes["sampled"], "correct")
before, after = (by_kind(s, "tool_calls") for s in (outcomes["sampled"], drawn_now))

# %% tags=["guess", "figure"]
worth = {kind: difficulty(mu[kind], sharpness, offset) for kind in mu}
moved = {kind: after.get(kind, 0.0) - before[kind] for kind in mu}
print("kind of question        μ  a call is worth  calls an episode")
for kind in sorted(worth, key=worth.get):
    change_of = f"{before[kind]:.2f} → {after.get(kind, 0.0):.2f}"
    print(f"{kind:20s} {mu[kind]:4.2f}  {worth[kind]:+15.2f}  {change_of}")
for when, some in (("before", outcomes["sampled"]), ("after", drawn_now)):
    composed = [o for o in some if o.kind == "composed"]
    called = [o for o in composed if o.tool_calls]
    ran = np.mean([o.ran for o in called]) if called else 0.0
    print(f"composed, {when:6s}: {len(called)} of {len(composed)} call;", end=" ")
    right = sum(o.correct for o in composed)
    print(f"{ran:.0%} of their calls succeed; {right} right")

# %% [markdown]
# Look at the hard kinds in the upper part of the table. A call costs something there. Do the calls stay all the same? Without
# them there is no right answer, and the answer earns more than the call costs; the column has the call's price only. And look at `composed`. Where no attempt is right, a
# call is worth as much as it can be. But it is paid for the *share* of an attempt's calls that succeed, not for their number:
# one that succeeds earns as much as three, and more than three of which one fails. So calls an episode may become fewer while
# the share of them that succeeds grows (the last two lines, but of so few episodes that chance can do it). Where the
# table contradicts a sign, remember that all kinds share one set of weights: what is learnt on many questions carries
# over to a kind on which the reward says otherwise.
#
# **Exercise 33.3.** In which share of the kinds did calls move as the reward predicts? Count only kinds whose calls moved by
# at least 0.05 (with a dozen questions a single call, 0.08, is enough); a worth below 0 predicts fewer calls, above 0 more.
# If none moved, return None. (The cell above has made both, `worth` and `moved`.)


# %% tags=["exercise"]
def agreement(worth: dict[str, float], moved: dict[str, float]) -> float | None:
    """Share of the kinds that moved whose calls moved the predicted way."""
    ...


check("33.3", agreement)

# %% tags=["guess", "figure"]
clear = {kind: by for kind, by in moved.items() if abs(by) >= 0.05}
agreed = sum((by > 0) == (worth[kind] > 0) for kind, by in clear.items())
fell = sum(by < 0 for by in clear.values())
print(f"{len(clear)} kinds moved, {agreed} of them as predicted; calls fell in {fell}")

# %% [markdown]
# If calls fell in nearly all kinds that moved, whatever the sign, the sign of a call's worth doesn't explain it. But look at the
# kinds that didn't move, too: where calls stay because only a call brings the right answer, and fall where none did, it is the
# answer's reward that keeps them. A kind has
# a dozen questions, so a single call more or less moves it by 0.08: no kind says anything by itself. And one
# training on these few questions needn't show what the sign of a reward says in the long run.

# %% [markdown]
# ## How sharp?
#
# Sharpness decides how much of a call's worth depends on *which* question it is. At 0 a call is worth the same everywhere; with
# a very large one the worth jumps from +0.8 to −0.2 at one half. Here is what a call is worth, by μ and by sharpness, and
# the μ of this agent's kinds of questions: on which side of a sharp edge do they lie? (Of *our kinds* only the diamonds count;
# the dotted line just joins them.)

# %% tags=["figure"]
shapes = {f"at {s:g}": s for s in (1.0, 8.0, 64.0)}
curves = {}
for name, s in shapes.items():
    every = [k / 100 for k in range(101)]
    curves[name] = every, [difficulty(m, s, offset) for m in every]
kinds = sorted(mu.values())
ours = f"our kinds, at {sharpness:g}"
curves[ours] = kinds, [difficulty(m, sharpness, offset) for m in kinds]
axes = ("μ of a kind of question", "worth of a call")
display(plots.lines(curves, *axes, title="by sharpness", references={"nothing": 0.0}))
print("μ of this agent's kinds:", ", ".join(f"{m:.2f}" for m in kinds))

# %% [markdown]
# **Exercise 33.4.** A group has eight attempts, so μ is a multiple of 1/8, and it is noisy: the same question gives 5 right
# today and 6 tomorrow. By how much does the worth of a call change between 5 of 8 and 6 of 8, at a given sharpness?


# %% tags=["exercise"]
def jump(sharpness: float) -> float:
    """d(5/8) minus d(6/8)."""
    ...


check("33.4", jump)

# %% [markdown]
# Try it for 1, 8 and 64. A sharper curve tells easy from hard better and listens more to chance; beyond some point both
# neighbours lie on its flat part again.
#
# One hard question that the agent had wrong before, as it plays it now:

# %% tags=["figure"]
hard = [e for e in played if e.task.meta["level"] == "hard" and e.calls]
knew = {o.task for o in outcomes["sft"] if o.correct}
hard = [e for e in hard if is_right(e, e.task.target) and e.task.id not in knew] or hard
needed = {e.task.id: e.task.meta["reading"] or e.task.meta["seen"] for e in hard}
read = [e for e in hard if any(needed[e.task.id] in turn.text for turn in e.turns)]
print(f"{len(read)} of these {len(hard)} say rightly what the image shows")
if some := read or hard:
    display(view.show(some[0], chat=chat, is_right=is_right))

# %% [markdown]
# Is it right for the right reason? Compare what it says of each crop with the card, and each step with the question: an
# answer can be right by luck, so an episode that says rightly what the image shows is taken first, if there is one.
#
# ## Paper / here / why different

# %%
EVALUATION.save_stage(folder, "grpo", played)
print(benchmarks.told(papers_sets))
for name, known in papers_sets.items():
    EVALUATION.save_stage(folder, f"grpo-eval-{name}", measure(known))
paper = EVALUATION.reported["grpo"]
print(f"all: right {share_right(outcomes['grpo'])}")
print(f"the paper's sets, not comparable with it: {paper['acc_all']}")
print(f"turns {stages['grpo']['turns_all'].value:.2f}; paper {paper['turns_all']}")
box.close()

# %% [markdown]
# The paper trains 7 billion weights for two days (its release holds 63,000 questions; the paper names their sources
# only), this notebook three million weights on a few hundred questions for minutes. So its share of right answers isn't
# comparable with ours. What can be compared is the direction in which each reward pulls, not how far it gets. Two
# things are our own: the cold start, sampled, calls in half of the easy questions on purpose, so that there is
# something to bring down; and easy and hard are drawn by the program that makes the questions, while the reward itself
# never sees that label. It only sees how many of eight attempts were right.
#
# What follows is of one training, and its calls are counted on `development`, before and after. The curve of this run's own
# batches (*When does it call?*) is of other questions, a few a step; there calls on hard ones hardly fall. In the stored
# table their fall lies in three kinds (`arithmetic`, `composed`, `sheet`) where hardly an answer was right: where a call
# brings the answer, none is lost. Where the lines below say "can't be told from chance", that isn't "nothing changed".
#
# ## What you have seen
#
# Paid, and told by nobody for which calls: does it stop calling where it knows, and go on where it doesn't?

# %% tags=["figure"]
from IPython.display import Markdown

calls_moved = changed((outcomes["sampled"], drawn_now), "tool_calls")
fewer = [n for n, told in calls_moved.items() if told[:5] == "lower"]
fewer = [n for n in fewer if "chance" not in calls_moved[n]]
verdict = {
    "": "It stops nowhere: it calls no less, as far as these questions can tell",
    "easy": "It calls less on easy questions; whether also on hard ones can't be told",
    "hard": "No: it calls less on hard questions, and maybe on easy ones",
    "easy hard": "It calls less on easy questions, and on hard ones, too: of which "
    "kinds, the table above says",
}[" ".join(fewer)]

# %% tags=["figure"]
means = {
    level: " → ".join(
        f"{np.mean([o.tool_calls for o in some if o.level == level]):.3f}"
        for some in (outcomes["sampled"], drawn_now)
    )
    for level in ("easy", "hard")
}
moves = {
    name: ", ".join(f"{n} {a:.2f} → {b:.2f}" for n, (a, b) in found.items())
    for name, found in by_reward.items()
}
ends = "; ".join(f"`{name}` {told}" for name, told in moves.items())
display(
    Markdown(f"""
- **{verdict}**. In sampled play its calls an episode on easy questions go {means["easy"]},
  {calls_moved["easy"]}; on hard ones {means["hard"]}, {calls_moved["hard"]}. Of the
  {len(clear)} kinds of questions whose calls moved, {agreed} moved as a call's worth says.
  (The reward: `{reward}`.)
- Is it right more often? In greedy play the share of right answers on easy questions is
  {right_moved["easy"]}; on hard ones {right_moved["hard"]}.
- This is one training; its greedy play is of {eval_tasks} questions a kind, README's of
  more. In the published trainings calls an episode went, from the
  first quarter of the steps to the last: {ends or "none is there"} (notebook 34 says how
  sure that is).
""")
)

# %% [markdown]
# Next: [34](34_codedance_claims.ipynb), which asks what of the paper's claims holds over several trainings, and
# [06](06_is_it_learning.ipynb), which asks the five questions of all papers.
