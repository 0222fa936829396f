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
# # 53 · VISTA-R1: twenty-six tools, and an expert to copy
#
# **The question.** A small model has never called a tool. Shown episodes of an expert that does, what does it copy: the form of
# a call, its arguments, the choice among 26 tools?
#
# **The paper.** [VISTA-Gym (arXiv:2511.19773)](https://arxiv.org/abs/2511.19773), section 5.1: behaviour cloning, which is
# supervised fine-tuning ([SFT](../docs/glossary.md#sft)) on an expert's episodes, before reinforcement learning. It adds
# 3.5 points to InternVL3-8B (Figure 4a); reinforcement adds another 10.
#
# **Afterwards you can** say what an undecided expert is good for; keep and drop demonstrations by their answers; tell by
# sampling what cloning left open; and check that an agent reads what its tools say.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, tiny model | 15 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's values | not measured | 640 GB |
#
# Most of the minutes are the tools': they read real pixels, a second for an image with writing.
# Before this one: [51](51_vista_gym.ipynb), where you called the tools by hand.

# %% tags=["parameters"]
run: str = "vista_gym"  # run directory under runs/, shared by notebooks 53 to 55
tag: str = ""  # to try another value: a name for it; the data are kept
seed: int = 0  # draws what is trained on; order of the episodes
test_seed: int = 0  # draws the other two sides: the same for every seed
kinds: str = "clevr 3,mapqa 2,chartqa 2,docvqa,vizwiz,aokvqa"  # sets, and their parts
at_sight: str = "documents/sight,geometry/sight"  # kinds that need no tool
train_tasks: int = 10  # tasks a part for reinforcement; none where data are
development_tasks: int = 6  # tasks a kind to make choices on
test_tasks: int = 6  # tasks a kind to measure by
more_tests: str = ""  # kinds that have more of them, such as spatial/clevr 100
sft_episodes: int = 1200  # tasks that the expert plays; some are dropped
data: str = ""  # folder of data_scripts/vista_gym.py --hub, to train and measure on
eval_tasks: int = 0  # questions of each benchmark in that folder; 0: all
gives_up: float = 0.6  # share without a call; a sixth as often it asks a wrong one
rationale: str = "short"  # of the expert: short or long
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
prompt: str = "brief"  # system text: brief, full; brief-alone, full-alone: no tools
epochs: float = 3.0  # passes over the demonstrations; paper: 1
batch_size: int = 4  # episodes an optimizer step; paper: 128
per_device_batch_size: int = 4  # episodes a forward pass, at most
learning_rate: float = 3e-4  # at its peak; paper: 2e-6
max_tokens: int = 16384  # of the longest episode that is learnt from
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 3  # turns an episode may have
max_new_tokens: int = 112  # of one turn when playing
temperature: float = 1.0  # of samples to choose by; paper, in training: 0.7
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process

# %%
from collections import Counter
from dataclasses import replace
from functools import partial

import torch
from IPython.display import Markdown, display
from kit import view
from kit.data.store import files_of_script, load_tasks, save_episodes, save_tasks
from kit.evaluate.baselines import SingleTurnEnv
from kit.evaluate.conduct import conduct
from kit.evaluate.five.shown import blank
from kit.files import start_run

# %%
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.policy.suppress import suppress_tokens
from kit.policy.vllm_evaluation import evaluator
from kit.rollout import rollout
from kit.train.checkpoint import export
from kit.train.demonstrations import collect
from kit.train.experiment import in_parts
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.sft import SFTSettings, SFTTraining, order
from kit.view import plots
from papers.vista_gym import experiment as vista
from papers.vista_gym.expert import Habits, expert, kept, reasoner, way_of
from papers.vista_gym.metrics import EVALUATION, is_right
from papers.vista_gym.remembered import remembered
from papers.vista_gym.tables import (
    benchmark_tasks,
    keep_benchmarks,
    save_played,
)
from papers.vista_gym.tasks import MAKERS, OUT, check_apart, make_tasks
from papers.vista_gym.toolbox import toolbox
from pictures.keyed import counts_of
from tiny import TINY
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
habits = Habits(gives_up, gives_up / 6, rationale=rationale)
from_hub = files_of_script(data, "hub-*.jsonl")
benchmarks = benchmark_tasks(data, eval_tasks)  # a missing one is told now
start, together = str(model or TINY), ProcessConfig.of(globals())
by_hand = strategy == "ddp" and not lora_rank  # else there's no room for its gradients
vlm, chat = load_model_and_chat(start)
tools = remembered(toolbox().values())
play = vista.Play(
    prompt=prompt,
    listed=prompt == "full",  # the tiny model learns the tools' names by heart
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
    temperature=temperature,
)


# %%
def kind_of(task) -> str:
    """Its family and set, as in the makers' names."""
    return f"{task.meta['family']}/{task.meta['set']}"


# %% [markdown]
# ## Questions that hide their answer
#
# A part of each family's questions can be answered at sight. For all others the prompt shows an image so small that a tool
# finds no answer in it, though you may make out some; the tools open the whole one. Four lists of questions are made: for
# reinforcement, for the expert, for making choices (development) and for measuring (test). Only the last has questions of six
# more sets, which nobody trains on.

# %%
folder = start_run(run, tag)
of_set = {kind.split("/")[1]: kind for kind in MAKERS}
parts = {}  # how many parts of a set a kind has, one where none is named
for one in filter(None, f"{kinds},{at_sight}".split(",")):
    name, *part = one.split()
    parts[of_set.get(name, name)] = int(part[0]) if part else 1


def drawn(each: int, draw: int):
    """So many tasks a part of each kind."""
    return make_tasks({kind: each * n for kind, n in parts.items()}, draw)


# %%
others = [kind for kind in MAKERS if kind.split("/")[1] in OUT]
counts = {
    "development": counts_of(parts, development_tasks),
    "test": counts_of([*parts, *others], test_tasks, more_tests),
}
sets = {side: make_tasks(some, test_seed, side) for side, some in counts.items()}
sets["train"] = [task for path in from_hub for task in load_tasks(path)]
sets["train"] = sets["train"] or drawn(train_tasks, seed)  # the paper's alone, if any
each = max(1, sft_episodes // sum(parts.values()))
lessons = drawn(each, seed + 1_000_000)  # other tasks than reinforcement's
check_apart([*sets["train"], *lessons], sets["development"], sets["test"])

# %%
for name, tasks in {**sets, "demonstrations": lessons}.items():
    print(
        f"{name:15s} {len(tasks):4d} tasks,",
        sum(t.meta.get("direct", False) for t in tasks),
        "at sight",
    )
of_paper = {t.meta["set"] for t in sets["train"]} - {"sight"}
print(len(of_paper), "of the paper's sets are reinforced on:", *sorted(of_paper))
print(
    "families at sight alone:",
    *sorted(
        {kind.split("/")[0] for kind in parts}
        - {kind.split("/")[0] for kind in parts if not kind.endswith("/sight")}
    ),
)

# %% [markdown]
# On a laptop "seven families" are these few sets, and of geometry what can be seen, so no gain of geometry's is a tool's.
# One of each kind, as the prompt shows it. Which of these could *you* answer from that image? And which of the 26 tools would
# you ask?

# %%
one_of_each = list({kind_of(task): task for task in sets["development"]}.values())
items = [(kind_of(t), t.images[0].image) for t in one_of_each]
display(plots.images(items, 5, 1.2, title="What the prompt shows"))
for t in one_of_each:
    print(f"{kind_of(t):20s} {t.question.splitlines()[0]}")

# %% tags=["guess"]
for t in one_of_each:
    calls = t.meta.get("calls", ["(at sight)"])
    print(f"{kind_of(t):20s} {t.target[0]:9s} {calls[0]}")

# %% [markdown]
# ## What the base does
#
# It has never seen a tool. Ask it four ways, as the paper asked InternVL3-8B (Table 3): `direct`, in one turn and without
# tools (57.5 % there); `untrained`, with the agent's prompt and all 26 tools (31.6 %, claim V1: the claims come in 55); `no_reasoning`, told which
# tools suit the question besides (48.4 %, the agent "without reasoning" of claim V3); and `reasoning`, without tools, a
# thought before its answer (58.0 %).

# %%
tests, style = sets["test"], prompt.removesuffix("-alone")
one_turn = replace(play, max_turns=1, temperature=0.0)
bare = partial(SingleTurnEnv, "direct", prompt=style)
policy = evaluator(HFPolicy(vlm, chat))


def by_base(how):
    """Lets the base play greedily, asked so."""
    return partial(vista.play_greedily, vlm, chat, tools, how=how)


ways = {
    "direct": lambda some: rollout(policy, chat, some, bare, one_turn),
    "untrained": by_base(replace(play, prompt=style)),
    "no_reasoning": by_base(replace(play, prompt=style, prior=True)),
    "reasoning": by_base(replace(play, prompt=f"{style}-alone")),
}

# %% tags=["guess"]
before = {name: in_parts(tests, way) for name, way in ways.items()}
for name, some in before.items():
    print(f"{name:13s}", EVALUATION.evaluate(some)["acc_all"])
print("with tools it says:", repr(before["untrained"][0].turns[0].text[:60]))
print("with tools:", conduct(before["untrained"]))

# %% [markdown]
# The same of the paper's eleven benchmarks, for its Table 2. Only those who have the data play them.

# %%
keep_benchmarks(folder, benchmarks)
for name, way in ways.items():
    print(save_played(folder, name, benchmarks, partial(in_parts, play=way)))

# %% [markdown]
# What costs it what it could do, the tools or the form? Look at `reasoning`, which has no tools, yet has to think and answer
# in the agent's tags. Where it loses as much as those with tools do, the form costs it all, and nothing is told of tools. The
# tiny model answers as it was taught to, without tags; a large one keeps to them, calls, and gets lost among its tools.
# (An episode of the untrained agent may end in an answer and still have broken the form on its way: then it counts as wrong,
# and 55 says of it that it didn't answer in the form.)
#
# ## An expert that isn't sure
#
# The paper's expert is GPT-5. Ours is a script that knows which calls find the answer. It plays each demonstration
# with the real tools, whose mistakes are real. But it isn't sure of itself, on purpose: where a tool is needed, it gives up
# at once in six of ten questions, and in one of ten it asks another tool and then gives up. Where the answer can be seen, it
# calls a tool in half of the cases, for nothing. So how to call is shown; *when* it pays is left to the reward. (An agent
# that is to have no tools, `prompt=brief-alone`, is shown thoughts and answers alone.)

# %%
script = ScriptedPolicy(chat, (expert if prompt == style else reasoner)(habits))
wide = replace(play, max_new_tokens=512)
path = folder / "tasks" / "expert.jsonl"
path.parent.mkdir(parents=True, exist_ok=True)
shown = collect(script, chat, lessons, lambda: wide.environment(tools), wide, path)
ways = Counter(way_of(episode.task, habits) for episode in shown)
print(dict(ways))

# %% tags=["figure"]
by_way = {way_of(e.task, habits): e for e in shown}
for way in ("right", "gives up", "needless"):
    if way in by_way:
        display(view.show(by_way[way], chat=chat, is_right=is_right))

# %% [markdown]
# The paper keeps a trajectory if its answer is right. So do we, and we keep those as well that gave up on purpose, because they
# show the doubt. What does that rule do to a tool that is wrong one time in ten?
#
# **Exercise 53.1.** A tool is right in a share `accuracy` of its replies, and the expert believes it. In what share of all
# demonstrations that are *kept* was the tool believed although it was wrong? And in what share of those that were played?


# %% tags=["exercise"]
def believed_wrongly(accuracy: float) -> tuple[float, float]:
    """Share of wrong replies among kept and among played demonstrations."""
    ...


check("53.1", believed_wrongly)

# %%
episodes = kept(shown)
print(len(shown), "played,", len(episodes), "kept")
dropped = Counter(kind_of(e.task) for e in shown if e not in episodes)
print("dropped, because a tool was wrong:", dict(dropped))

# %% [markdown]
# ## One update by hand
#
# SFT makes the expert's tokens likely, and no one else's: what the tools wrote counts for nothing.

# %%
settings = SFTSettings.of(globals(), replay=0)
by_hand = by_hand and bool(episodes)
if episodes:
    print(settings.steps(len(episodes)), "optimizer steps")
    first = order([len(e.ids) for e in episodes], 0, settings)[:batch_size]
    packed = pack([episodes[i] for i in first], chat).to(vlm.device)


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
for name, tasks in sets.items():
    save_tasks(folder / "tasks" / f"{name}.jsonl", tasks)
taught = folder / "sft" / "episodes.jsonl"
save_episodes(taught, episodes)
training = SFTTraining(
    start=start,
    episodes=str(taught),
    run_dir=str(folder / "sft"),
    settings=settings,
    threads=threads,
)
vlm = adam = learns = policy = ways = None  # room for the training, which loads its own

# %%
live = view.LiveTraining()
if episodes:
    trained = launch(training, together, live)
    display(live.figure())
else:
    print("nothing was cloned, for no demonstration is left: the base goes on")
    trained = export(*load_model_and_chat(start), folder / "sft" / "model")
vlm, chat = load_model_and_chat(trained)

# %% tags=["figure"]
losses = [row["loss"] for row in read_metrics(folder / "sft" / "metrics.jsonl")]
if losses:
    print(f"the trainer's first loss: {losses[0]:.3f}, its last: {losses[-1]:.3f}")
if by_hand:
    print(f"by hand:                  {loss.item():.3f}")
    assert abs(losses[0] - loss.item()) < 2e-3

# %% [markdown]
# ## What it copied
#
# Greedily it takes the likeliest word each time; sampled, at a [temperature](../docs/glossary.md#temperature), it draws.
# In six of ten questions that need a tool the expert asked none, in three the right one. What will the greedy agent do, what
# the sampled one? Both play the development questions, which are of the sets that are trained on. The last line is of the test
# questions, with the six sets that nobody trains on: don't compare it with the others.

# %% tags=["guess"]
greedily = partial(vista.play_greedily, vlm, chat, tools, how=play)
tuned = in_parts(tests, greedily)
policy = HFPolicy(vlm, chat)
choosing = sets["development"]
likeliest = in_parts(choosing, greedily)
sampled = in_parts(choosing, lambda some: play(policy, chat, tools, some, seed=seed))
both = {"greedy": likeliest, "sampled": sampled}
for name, some in {**both, "greedy, test": tuned}.items():
    found = EVALUATION.evaluate(some)
    print(f"{name:12s} right {found['acc_all']}, calls {found['calls_all']}")
print(save_played(folder, "sft", benchmarks, partial(in_parts, play=greedily)))


# %% tags=["figure"]
def first_calls(some) -> dict[str, float]:
    """How the first turns on questions that need a tool split up."""
    ways = Counter()
    for e in (e for e in some if "calls" in e.task.meta):
        action = e.turns[0].action
        asked = action.text if action else ""
        own = e.task.meta["calls"][0] == asked
        other = e.task.meta["wrong"] == asked
        none = action is not None and action.name == "answer"
        way = "right call" if own else "wrong tool" if other else "neither"
        ways["no call" if none else way] += 1
    return {way: n / ways.total() for way, n in ways.items()}


for name, some in both.items():
    shares = {way: round(share, 2) for way, share in first_calls(some).items()}
    print(f"{name:8s}", shares)

# %% [markdown]
# The greedy agent makes no call where a tool is needed: the 0.167 calls a question of the output before are all on questions
# that can be answered at sight. Where a sampled agent splits as its expert did, cloning has copied the choice *with its doubt*.
# A reward can tell the two ways apart; the loss of SFT can't.
#
# **Exercise 53.2.** An agent asks the right tool with probability `p`, and answers rightly if it did. What is the probability
# that a [group](../docs/glossary.md#group) of eight such episodes has *any* spread in its reward (not all right, not all
# wrong)? Without spread there is nothing to learn.


# %% tags=["exercise"]
def has_spread(p: float, group: int = 8) -> float:
    """Probability that a group is neither all right nor all wrong."""
    ...


check("53.2", has_spread)

# %% [markdown]
# ## Does it read what its tools say?
#
# Same policy, same test questions, but every reply is blank. An agent that only goes through the motions loses nothing. Before
# you look: how many calls per episode does the greedy agent make there (see above)? So how much can blank replies take from it?

# %% tags=["guess"]
unseen = in_parts(
    tests, lambda some: play(policy, chat, tools, some, temperature=0.0, around=blank)
)
replies = {"its own replies": tuned, "blank ones": unseen}
share = {name: EVALUATION.evaluate(some)["acc_all"] for name, some in replies.items()}
display(plots.bars({"right": share}, "share right"))
for name, found in share.items():
    print(f"{name:16s} {found}")

# %% [markdown]
# Who hardly calls can hardly lose by blank replies: of a greedy agent that mostly gives up this test shows little. So here is
# the sampled one, on the development questions as above, once with its own replies and once with blank ones.

# %% tags=["guess", "figure"]
unread = in_parts(
    choosing,
    lambda some: play(policy, chat, tools, some, seed=seed, around=blank),
)
drawn_ones = {"its own replies": sampled, "blank ones": unread}
found = {n: EVALUATION.evaluate(some)["acc_all"] for n, some in drawn_ones.items()}
display(plots.bars({"right": found}, "share right", title="the sampled agent"))
for replies_of, right in found.items():
    print(f"{replies_of:16s} {right}")

# %% [markdown]
# What stays with blank replies was answered at sight, or guessed.
#
# **Exercise 53.3.** A share `sight` of the questions can be answered at sight; of these the agent answers all, with or
# without replies. On the others it is right with its own replies in a share `own`, and never with blank ones. What is the
# [observation gap](../docs/glossary.md#observation-gap) over all questions?


# %% tags=["exercise"]
def gap(sight: float, own: float) -> float:
    """Share right with its own replies minus with blank ones."""
    ...


check("53.3", gap)

# %% [markdown]
# ## Paper / here / why different
#
# `acc_in` is the share right on sets that the paper trains on and measures by (here 12 questions, of `chartqa` and
# `mapqa`), `acc_out` on the six sets that nobody trains on, `acc_all` on all test questions; the other rows are
# families. Round brackets hold the paper's numbers for Qwen2.5-VL-7B, the model of `node`. Those
# further above are InternVL3-8B's, and the two differ: told which tools suit, InternVL loses (57.5 → 48.4), Qwen gains.

# %%
stages = {**before, "sft": tuned, "sft-blank": unseen}
for name, some in {**stages, "sft-sampled": sampled}.items():
    EVALUATION.save_stage(folder, name, some)
results = {name: EVALUATION.evaluate(stages[name]) for name in (*before, "sft")}
print(EVALUATION.table(results, ["acc"]))

# %% [markdown]
# The paper's expert writes long rationales and never gives up; its cloning adds little, because its base sees most of the
# answers already. Ours gives up in most questions that need a tool. The total hides a trade: in the stored table cloning
# gained all six of geometry, which are seen, and one of spatial, and lost eight of the nine that the base had right when
# asked directly. A greedy copy takes the likelier way each time, so one that copied the shares as they are would hardly call.
# What carries over is what is left open: when a call pays, and which.
#
# ## What you have seen
#
# Shown episodes of an expert, what does it copy: the form of a call, its arguments, the choice?

# %% tags=["figure"]
import json

from papers.contrasts import in_words

firsts = [(e, e.turns[0]) for e in sampled if "calls" in e.task.meta]
calls = [(e, t) for e, t in firsts if t.action and t.action.name != "answer"]
owns = [(json.loads(e.task.meta["calls"][0])["tool"], e, t) for e, t in calls]
read = sum(t.observation is not None and t.observation.status == "ok" for _, t in calls)
named = sum(tool == t.action.name for tool, _, t in owns)
exact = sum(e.task.meta["calls"][0] == t.action.text for e, t in calls)
asking = [1 - first_calls(some).get("no call", 0) for some in (shown, sampled)]
ends = (before["direct"], tuned, sampled, unread)
base, greedy, own, empty = map(EVALUATION.outcomes, ends)
display(
    Markdown(f"""
- **Shown {len(episodes):,} episodes, {epochs:g} times each, it begins, sampled, with a call
  in {len(calls)} of {len(firsts)} development questions that need one. Of these calls
  {read} had a form that a tool answered, {named} went to the right tool, and {exact} had
  its right arguments as well.**
- And the doubt? Where a tool is needed, its expert asks one in {asking[0]:.0%} of the
  questions, the sampled agent in {asking[1]:.0%}. Of the test questions the share that it
  gets right greedily is, compared with the base, asked directly, {in_words(base, greedy)}.
- Does it read the replies? Where they are blank, the share that it gets right, sampled, is
  {in_words(own, empty)}.
""")
)

# %% [markdown]
# Next: [54](54_vista_gym_grpo.ipynb), which pays for right answers: does the agent then learn when to ask, and whom?
