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
# # 32 · CodeDance: the cold start
#
# **The question.** A small model can describe a chart or a receipt, but asked for one value on it, it often names another,
# and it has never decided to write code. What does it take from an expert that calls where it has to, and sometimes where it
# needn't?
#
# **The paper.** [CodeDance (arXiv:2512.17312)](https://arxiv.org/abs/2512.17312), section 3.2 and Table 4:
# supervised fine-tuning ([SFT](../docs/glossary.md#sft)) on 34,000 episodes before reinforcement learning. Table 3 has
# what the model can do after it. Here the expert's episodes come from notebook 31.
#
# **Afterwards you can** ask a base in its own words what it can do without acting; do one update of SFT without a
# trainer; say by a blanked tool whether an agent uses what it calls for; and say what the cold start leaves open.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 12 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 4 | not measured | 640 GB |
#
# Before this one: [31](31_codedance.ipynb), which wrote the tasks and the expert's episodes.

# %% tags=["parameters"]
run: str = "codedance"  # run directory under runs/, shared by notebooks 31 to 34
tag: str = ""  # to try another value: a name for it; the data are kept
seed: int = 0  # order of the episodes
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
sft_episodes: int = 3200  # expert episodes to imitate
epochs: float = 2.0  # passes over them
batch_size: int = 4  # episodes an optimizer step; paper: 128
replay: int = 4  # the model's own answers, replayed beside each batch; paper: 0
per_device_batch_size: int = 4  # episodes a forward pass, at most
learning_rate: float = 3e-4  # at its peak; paper: 5e-5
warmup: float = 0.1  # share of the steps before the peak; paper: 0.05
max_tokens: int = 16384  # of the longest episode; paper: 20480
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 4  # turns an episode may have when playing
max_new_tokens: int = 72  # of one turn when playing
eval_tasks: int = 16  # tasks of each kind to measure by
by_hand: bool = True  # do one update here as well; needs room for all weights
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
from dataclasses import replace
from functools import partial

import torch
from IPython.display import display
from kit import view
from kit.data.store import load_episodes, load_tasks, save_episodes
from kit.evaluate.baselines import SingleTurnEnv, opened
from kit.evaluate.conduct import conduct
from kit.evaluate.five.shown import blank
from kit.files import start_run
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.suppress import suppress_tokens
from kit.policy.vllm_evaluation import evaluator
from kit.rollout import rollout
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.replay import own_words
from kit.train.sft import SFTSettings, SFTTraining, order
from kit.view import plots
from papers.codedance import experiment as codedance
from papers.codedance import tables as benchmarks
from papers.codedance.metrics import EVALUATION, is_right
from papers.registry import needs
from tiny import TINY
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, needs("32_codedance_sft"), makes="sft")
start, together = str(model or TINY), ProcessConfig.of(globals())
vlm, chat = load_model_and_chat(start)
box = codedance.sandbox(allow_unsafe).start()
play = codedance.Play(prompt=prompt, max_turns=max_turns, max_new_tokens=max_new_tokens)
papers_sets = benchmarks.questions(folder / "data")
AT_ONCE = 48  # sessions


def in_parts(tasks, ask):
    """Ask about all tasks, some at a time."""
    parts = [tasks[at : at + AT_ONCE] for at in range(0, len(tasks), AT_ONCE)]
    return [episode for part in parts for episode in ask(part)]


def kind_of(task) -> str:
    """Its kind and level, as in the makers' names."""
    return f"{task.meta['kind']}/{task.meta['level']}"


# %% [markdown]
# ## What the base does as an agent
#
# It was never taught when to use these tags. Guess what it does with the agent's prompt, then open the output. (The
# stored outputs are of a run with the published values. Its test, `test_seed=1`, has 1,017 questions; here 16 of each kind are
# played, and all 13 that there are of easy arithmetic.)

# %% tags=["guess"]
by_kind = {}
for task in load_tasks(folder / "data" / "test.jsonl"):
    by_kind.setdefault(kind_of(task), []).append(task)
kinds = sorted(by_kind, key=lambda kind: (kind.endswith("/hard"), kind))
tests = [task for kind in kinds for task in by_kind[kind][:eval_tasks]]
greedily = partial(codedance.play_greedily, vlm, chat, box, how=play)
untrained = in_parts(tests, greedily)
print("it says: ", repr(untrained[0].turns[0].text[:70]))
print("it ends by", untrained[0].ended)
print("the base:", conduct(untrained))
print("easy, right:", EVALUATION.evaluate(untrained)["acc_easy"])

# %% [markdown]
# ## What it can do when it is asked
#
# A zero of the form says nothing about the eyes. So ask the same question in one turn, without tags and without a tool,
# as it was asked in pretraining. Ask twice: with what the prompt shows, and with the full pictures (`opened`). On which kinds
# will it do well? Guess for easy and for hard.

# %% tags=["guess"]
one_turn = replace(play, max_turns=1, temperature=0.0)
bare = partial(SingleTurnEnv, "direct", prompt=prompt)
policy = evaluator(HFPolicy(vlm, chat))


def directly(tasks):
    return in_parts(tasks, lambda some: rollout(policy, chat, some, bare, one_turn))


asked = {"what the prompt shows": tests, "full pictures": [opened(t) for t in tests]}
told = {name: directly(tasks) for name, tasks in asked.items()}
direct = {name: EVALUATION.evaluate(replies) for name, replies in told.items()}
for name, found in direct.items():
    print(f"{name:22s} easy {found['acc_easy']}, hard {found['acc_hard']}")

# %% [markdown]
# The paper's own sets, where this run has them (notebook 31, `data`): the base's rows of Tables 1 and 2 are asked like this,
# too. Notebook 34 puts the tables together.

# %%
print(benchmarks.told(papers_sets))
for name, known in papers_sets.items():
    EVALUATION.save_stage(folder, f"direct-eval-{name}", directly(known))

# %% tags=["figure"]
from collections import defaultdict


def accuracy(episodes):
    """Share of right answers by kind."""
    right = defaultdict(list)
    for e in episodes:
        right[kind_of(e.task)].append(is_right(e, e.task.target))
    return {kind: sum(some) / len(some) for kind, some in right.items()}


asked_directly = accuracy(told["what the prompt shows"])
display(plots.bars({"asked directly": asked_directly}, "share right"))
print({kind: round(share, 2) for kind, share in asked_directly.items()})

# %% [markdown]
# It doesn't compute, and it can't read what the prompt hides, nor does it with the full pictures: a whole board at once is
# more than it was taught to read. That is what acting can win. One easy kind, `board`, is at 0.00 as well, and `geometry`
# low, and they need no acting. So does it *see*? Ask it to describe each picture, in the words of its pretraining ("Read the
# bars.", "What does it say?"), and count the answers that are true in every word.

# %% tags=["guess"]
train = load_tasks(folder / "data" / "train.jsonl")
described = [t for t in train if t.meta.get("asks")]
asking = [replace(t, question=t.meta["asks"]) for t in described]
again = []
if replay:
    once = replace(play, max_turns=1)
    again = own_words(in_parts(asking, partial(greedily, how=once)), chat)
seen = defaultdict(list)
for e in again:
    said = e.turns[0].text.removeprefix("<think>")
    seen[e.task.question].append(said == e.task.meta["seen"])
for question, some in seen.items():
    print(f"{question:24s} {sum(some):3d} of {len(some)} descriptions are true")
if not again:
    print("there is nothing to replay")

# %% [markdown]
# So the eyes are there. These descriptions will be *replayed*: beside each batch of demonstrations the model says some of
# them again, so that it doesn't forget how to see while it learns to act
# ([replay](../docs/glossary.md#replay)). No truth is used for that: it repeats its mistakes as well.
#
# ## What the expert does
#
# An easy question and a hard one, as notebook 31 made them. Tinted are the expert's own tokens; only they are learnt.

# %%
episodes = load_episodes(folder / "data" / "coldstart.jsonl")[:sft_episodes]
by_level = {
    level: [e for e in episodes if e.task.meta["level"] == level]
    for level in ("easy", "hard")
}
for level, some in by_level.items():
    calling = sorted((e for e in some if e.calls), key=lambda e: len(e.ids))
    for shortest in calling[:1]:
        display(view.show(shortest, chat=chat, is_right=is_right))
    if not calling:
        print(f"no demonstration of the {level} ones calls")


# %%
def calls(some) -> float:
    """Mean calls of an episode."""
    return sum(e.calls for e in some) / max(1, len(some))


shown = {level: calls(some) for level, some in by_level.items()}
for level, some in by_level.items():
    print(f"{level}: {len(some)} demonstrations, {shown[level]:.2f} calls each")

# %% [markdown]
# ## What SFT can't decide
#
# SFT makes the expert's tokens likely:
#
# $$\mathcal{L}(\theta) = -\frac{1}{\sum_t I_t} \sum_t I_t \log \pi_\theta(y_t \mid y_{<t}), \qquad
# I_t = 1 \text{ where the expert wrote token } t$$
#
# After "…How high is the red bar? 7." some of the easy demonstrations go on to `<code>` (0.45 of all easy ones, above) and the
# others to `<answer>`. No model can find both certain.
#
# **Exercise 32.1.** At this token the expert goes one way in a share `p` of the demonstrations, and the other way in the
# rest. How small can the mean loss at this token get, at best? (The model may give either way any probability.)


# %% tags=["exercise"]
def least_loss(p: float) -> float:
    """The smallest mean of −log π at a fork that the expert takes with share p."""
    ...


check("32.1", least_loss)

# %% [markdown]
# ## One update by hand
#
# What will the trainer do at each step? Take a batch of the expert's episodes and some answers of the model's own, compute
# the loss, go one step down its slope.

# %%
settings = SFTSettings.of(globals(), replay=replay if again else 0)
print(settings.steps(len(episodes)), "optimizer steps")
both = [*episodes, *again]
first = order([len(e.ids) for e in episodes], len(again), settings)
packed = pack([both[i] for i in first[: batch_size + settings.replay]], chat).to(
    vlm.device
)


def loss_of(model) -> torch.Tensor:
    """The mean over the tokens of this batch that are to be learnt."""
    at = packed.prompt_ids.size(1) - 1  # logits at one place speak of the next token
    logits = model(**packed.model_inputs()).logits[:, at:-1].float()
    logp = torch.log_softmax(logits, dim=-1)
    logp = logp.gather(-1, packed.completion_ids[..., None])[..., 0]
    return -(logp * packed.loss_mask).sum() / packed.loss_mask.sum()


# %%
if by_hand:
    for name in chat.family.vision_modules:
        getattr(vlm.model, name).requires_grad_(not freeze_vision)
    learns = [p for p in vlm.parameters() if p.requires_grad]
    adam = torch.optim.AdamW(learns, learning_rate, weight_decay=0.0)
    with suppress_tokens(vlm, chat.suppressed_ids):
        loss = loss_of(vlm)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learns, 1.0)
        adam.step()
        with torch.no_grad():
            after = loss_of(vlm)
    print(f"loss {loss:.3f}, after one update by hand {after:.3f} on the same batch")

# %% [markdown]
# ## Training

# %%
taught, repeated = folder / "sft" / "episodes.jsonl", folder / "sft" / "replay.jsonl"
save_episodes(taught, episodes)
save_episodes(repeated, again)
training = SFTTraining(
    start=start,
    episodes=str(taught),
    run_dir=str(folder / "sft"),
    settings=settings,
    replay=str(repeated) if again else "",
    threads=threads,
)
vlm = adam = learns = policy = None  # room for the training, which loads its own

# %%
live = view.LiveTraining()
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% tags=["figure"]
rows = read_metrics(folder / "sft" / "metrics.jsonl")
losses = rows[0]["loss"], rows[-1]["loss"]
print(f"the trainer's first loss: {losses[0]:.3f}, its last: {losses[1]:.3f}")
if by_hand and not lora_rank:
    print(f"by hand:                  {loss.item():.3f}")
    assert abs(losses[0] - loss.item()) < 2e-3

# %% [markdown]
# ## What it learnt
#
# Now it plays the test questions. Two guesses before you open the output: how many of the easy ones, how many of the hard
# ones does it solve? And how many calls does it make on either?

# %% tags=["guess"]
greedily = partial(codedance.play_greedily, vlm, chat, box, how=play)
tuned = in_parts(tests, greedily)
result = EVALUATION.evaluate(tuned)
for level in ("easy", "hard"):
    found = result[f"acc_{level}"], result[f"calls_{level}"]
    print(f"{level}: right {found[0]}, calls {found[1]}")
print("after SFT:", conduct(tuned))

# %% tags=["figure"]
stages = {"asked directly": asked_directly, "after SFT": accuracy(tuned)}
display(plots.bars(stages, "share right"))
taught_kinds = {kind_of(e.task) for e in episodes}
for kind, share in stages["after SFT"].items():
    note = "" if kind in taught_kinds else "  (no demonstration showed this kind)"
    print(f"{kind:20s} {asked_directly[kind]:.2f} → {share:.2f}{note}")

# %% [markdown]
# Set the two columns beside what the model can *see*: before training most descriptions were true (the list above). Where a
# kind stays low, look at an episode of it. Does it list rightly what it sees, repeat the question, and then name the wrong
# one of its own entries? To look a value up in a list of one's own is a skill of its own. Imitation taught it for charts
# (0.94) and sheets (0.88) once the look-up always stood at the same place, right behind the question (no cell compares); for
# boards (0.19) hardly. Computations it has learnt as well: compare `chart_compute` with `chart_value`, which is a look-up.
# (The published share of hard questions is lower: that test has 300 of `composed`, of which 16 are played here, and this
# agent solves hardly one of them.)
#
# The kinds that no demonstration showed are there on purpose. Each wants something else. A hard `sheet` lies turned or in the
# dark, and has to be turned or brightened before it can be read: no demonstration does either. A hard `arithmetic` wants a
# number of the question in the code (`35 * 39`): every demonstration computes with what it *saw*. And `composed` wants two
# things that were shown apart, cut out and then compute; the paper says that its policy learns to join them in reinforcement
# (claim C6). What does the agent do, for want of an example? Guess for each of the three.

# %% tags=["guess", "figure"]
for kind in [kind for kind in kinds if kind not in taught_kinds][-3:]:
    some = [e for e in tuned if kind_of(e.task) == kind]
    right = sum(is_right(e, e.task.target) for e in some)
    calling = [e for e in some if e.calls]
    print(f"{kind}: {right} of {len(some)} right, {len(calling)} call")
    silent = [e for e in some if not e.calls]
    for e in calling[:1] + silent[:1]:
        print("   asked: ", e.task.question, "| right would be:", e.task.target[0])
        for turn in e.turns:
            print("   it says:", turn.text[:200])

# %% [markdown]
# So where it calls, it mostly imitates the kind that looks most alike (it crops, it prints a corner), or its code falls apart
# (`print(753. What isowow number?,`); on `sheet` it hardly ever calls, and on `arithmetic` in half of the questions (one
# episode of each sort is shown, where there are both). Imitation brings the examples, and little beyond. A reward can change
# that only if some attempt, sampled, happens to be right.
#
# Here is one hard question, played. What does the agent do?

# %% tags=["figure"]
solved = [e for e in tuned if e.task.meta["level"] == "hard"]
solved = [e for e in solved if is_right(e, e.task.target)]
after_call = [e for e in solved if e.calls]
for e in after_call[:1]:
    display(view.show(e, chat=chat, is_right=is_right))
print(f"hard questions solved: {len(solved)}; after a call: {len(after_call)}")

# %% [markdown]
# ## Does it use what it calls for?
#
# An agent could write `print(3 + 5 + 8)` and know the answer all along. So blank what the tool shows: same policy, same
# questions, and the interpreter says nothing (pictures are grey). If the accuracy stays, the calls were a ceremony. Guess
# for easy and for hard.

# %% tags=["guess"]
policy = HFPolicy(vlm, chat)
unseen = in_parts(
    tests, lambda some: play(policy, chat, box, some, temperature=0.0, around=blank)
)
blanked = EVALUATION.evaluate(unseen)
gap = {
    "its own output": {level: result[f"acc_{level}"] for level in ("easy", "hard")},
    "blanked": {level: blanked[f"acc_{level}"] for level in ("easy", "hard")},
}
display(plots.bars(gap, "share right"))
for name, found in gap.items():
    print(f"{name:15s} easy {found['easy']}, hard {found['hard']}")

# %% [markdown]
# On hard questions next to nothing should be left: what was right came out of the tool. On easy ones much should stay;
# but look how often the greedy agent called there (the output above): where it hardly calls, hardly anything
# was blanked, and this says nothing of what its calls are worth on easy questions.
#
# **Exercise 32.2.** Write this measure, the [observation gap](../docs/glossary.md#observation-gap), for one set of
# questions, and only over those questions on which the agent called. If it never called, there is no gap: return 0.


# %% tags=["exercise"]
def observation_gap(own: list[bool], blanked: list[bool], called: list[bool]) -> float:
    """Accuracy with its own observations minus with blank ones, where it called."""
    ...


check("32.2", observation_gap)

# %% [markdown]
# ## What is left for reinforcement
#
# The greedy agent always takes the likeliest way. Reinforcement lets it draw its words at random
# ([temperature](../docs/glossary.md#temperature) 1), and there the open choice shows. It plays the development questions now;
# the greedy bar is of the test questions, and *shown* is of the demonstrations. How many calls does it make on easy ones?

# %% tags=["guess"]
choosing = load_tasks(folder / "data" / "development.jsonl")
sampled = in_parts(
    choosing, lambda some: play(policy, chat, box, some, temperature=1.0, seed=seed)
)
drawn = EVALUATION.evaluate(sampled)
calling = {
    "shown": shown,
    "greedy": {level: result[f"calls_{level}"] for level in ("easy", "hard")},
    "sampled": {level: drawn[f"calls_{level}"] for level in ("easy", "hard")},
}
display(plots.bars(calling, "calls an episode"))
for name, found in calling.items():
    each = {level: f"{getattr(n, 'value', n):.2f}" for level, n in found.items()}
    print(f"{name:8s}", each)

# %% [markdown]
# CodeDance's reward R_BAT ([adaptive reward](../docs/glossary.md#adaptive-reward)) weighs a call by $d(\mu) =
# \sigma(8\,(0.5-\mu)) - 0.2$, where μ is the share of a group that is right: it pays for calls where a group mostly fails,
# and charges for them where it mostly knows. What counts as easy is thus decided by how often the *sampled* agent is right.
# Here is that share, kind by kind, with the height at which calls begin to cost (notebook 31). (The reward's own μ is of one
# question's group. A kind that mixes questions which the agent always knows with others that it never knows is charged for
# some and paid for others.)

# %% tags=["figure"]
from papers.codedance.reward import GENERAL, MATH_KINDS, MATHEMATICS, difficulty

mu = accuracy(sampled)
turning = next(m / 1000 for m in range(1001) if difficulty(m / 1000) < 0)
line = (f"calls cost above {turning:.2f}", turning)
mu = dict(sorted(mu.items(), key=lambda one: (one[0].partition("/")[2], one[1])))
display(plots.bars({"sampled": mu}, "share right", line))
for kind in mu:
    print(f"{kind:20s} μ = {mu[kind]:.2f}, a call is worth {difficulty(mu[kind]):+.2f}")

# %% [markdown]
# **Exercise 32.3.** On which kinds of questions does the reward charge for a call that succeeds? Given is μ for each kind;
# return the names, sorted. Use the paper's sharpness 8 and offset 0.2.


# %% tags=["exercise"]
def discouraged(mu: dict[str, float]) -> list[str]:
    """The kinds on which a call that succeeds costs something."""
    ...


check("32.3", discouraged)

# %% [markdown]
# Call your function on the `mu` of this run. An easy kind that isn't in your list is, to this agent, not easy: the reward
# would teach it to call there more. And hard kinds are *in* your list: those that it mostly solves, by calling. Will the reward
# teach it to stop there, and so to fail?
#
# Do the sum. A right answer earns 1, and its calls $1.5\,d(\mu)$ more (in geometry and arithmetic 1.2 and $2\,d(\mu)$); a
# wrong one earns nothing, and its calls bring $0.5\,d(\mu)$ (there $d(\mu)$): a small loss, which the table counts. How often
# would it be right without the call? The blanked tool has told that. Guess, kind by kind, which pays more: to call, or to
# answer at once? (d(μ) is of the sampled play above, both pays are of the greedy test; the first pay holds *if* each answer
# came after a call.)

# %% tags=["guess", "figure"]
with_tool, without_tool = accuracy(tuned), accuracy(unseen)
sums = {}
print("kind                 d(μ)   pay if it calls  without")
for kind in sorted(mu, key=mu.get):
    worth = difficulty(mu[kind])
    of = MATHEMATICS if kind.partition("/")[0] in MATH_KINDS else GENERAL
    if worth >= 0 or kind not in with_tool:
        continue  # there a call is paid for
    right = with_tool[kind]
    calls_it = right * (of.accuracy + of.call_right * worth)
    calls_it += (1 - right) * of.call_wrong * worth
    at_once = without_tool[kind] * of.accuracy
    sums[kind] = calls_it, at_once
    print(f"{kind:20s} {worth:+.2f}  {calls_it:15.2f}  {at_once:7.2f}")
for name, of in (("arithmetic and geometry", MATHEMATICS), ("all others", GENERAL)):
    most = of.call_right * -difficulty(1.0)
    print(
        f"{name}: a call costs {most:.2f} of a right answer's {of.accuracy:g} at most"
    )

# %% [markdown]
# That is the idea of this paper. The reward charges for calls wherever the agent mostly knows, on hard questions as on easy
# ones: it doesn't know which is which. But the charge is smaller than what an answer earns. Where the call makes the answer
# right, it pays to go on calling; where the answer would be right anyway, it pays to stop. So a price can find out *where a
# call is needed*, and nobody has to say it; whether a training gets there, notebooks 33 and 34 ask. (The column "without" is
# what this agent answers when its tool tells nothing. For an easy kind on which it hardly calls, greedily, the two columns
# are nearly the same play, and differ by the price alone.)
#
# ## Paper / here / why different
#
# The table reads this run's own figures.

# %%
stages = {"untrained": untrained, "direct": told["what the prompt shows"]}
stages |= {"originals": told["full pictures"], "sft": tuned, "sft-blank": unseen}
for name, some in {**stages, "sft-sampled": sampled}.items():
    EVALUATION.save_stage(folder, name, some)
for name, known in papers_sets.items():
    EVALUATION.save_stage(folder, f"sft-eval-{name}", in_parts(known, greedily))
turns = {"paper, after SFT": EVALUATION.reported["sft"]["turns_all"]}
turns["here, after SFT"] = result["turns_all"].value
print({name: round(value, 2) for name, value in turns.items()})
box.close()

# %% [markdown]
# The paper's model is two thousand times larger and learns from photographs, diagrams and 34,000 demonstrations of larger
# models, none of which calls for nothing. It has no replay: a model of that size forgets little. What carries over is the
# shape. After imitation the agent mostly keeps to the form, and computes what it can't see where a demonstration showed how;
# how often it calls, its words drawn at random, is about what it was shown (greedily it isn't); and nothing in the loss of
# SFT says when a call was worth making. A reward has to.
#
# ## What you have seen
#
# What does the model take over from an expert that calls where it has to, and sometimes where it needn't?

# %% tags=["figure"]
from IPython.display import Markdown
from papers.contrasts import in_words


def of_level(episodes, level: str):
    """Outcomes of episodes on questions of a level."""
    return [o for o in EVALUATION.outcomes(episodes) if o.level == level]


first = {n: of_level(told["what the prompt shows"], n) for n in by_level}
last, dark = ({n: of_level(some, n) for n in by_level} for some in (tuned, unseen))
gained = {n: in_words(first[n], last[n]) for n in by_level if first[n] and last[n]}
needs_it = {n: in_words(last[n], dark[n]) for n in by_level if last[n] and dark[n]}
drawn_calls = drawn["calls_easy"].value if "calls_easy" in drawn else 0.0
pays = [kind for kind, (calls_it, at_once) in sums.items() if calls_it > at_once]
display(
    Markdown(f"""
- **It takes over how to act and, when sampled, how often**: beside the base asked directly its share of
  right answers is {"; ".join(f"on {n} questions {text}" for n, text in gained.items())}. Of easy
  ones {shown["easy"]:.2f} calls each were shown, and it makes {drawn_calls:.2f} (sampled).
- Does it use its calls? With a blank tool that share is
  {"; ".join(f"on {n} questions {text}" for n, text in needs_it.items())}.
- What imitation can't say, a price can: of {len(sums)} kinds on which R_BAT charges for a
  call, the call pays all the same on {len(pays)} ({", ".join(pays) or "none"}).
""")
)

# %% [markdown]
# Next: [33](33_codedance_grpo.ipynb), which pays this agent without telling it for which calls.
