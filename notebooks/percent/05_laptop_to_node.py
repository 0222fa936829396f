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
# # 05 · From laptop to node
#
# **The question.** The same notebook runs on one core here and on eight GPUs elsewhere. What changes on the
# way, what must stay the same, and how do you know the cost before you have paid for it?
#
# **The paper.** Four of the five say how many GPUs they used, three of them which. [AGILE](https://arxiv.org/abs/2510.01304)
# trains on 8 A100 of 80 GB (appendix D), [Visual-ARFT](https://arxiv.org/abs/2505.14246) on 8 GPUs (implementation details),
# [Mags-RL](https://arxiv.org/abs/2605.27960) on 4 A100 of 80 GB with ZeRO-2, [VISTA-Gym](https://arxiv.org/abs/2511.19773) on
# 8 H200 of 141 GB with FSDP2. [CodeDance](https://arxiv.org/abs/2512.17312) states two days (Table 4) and no hardware. None
# of them has a figure of what this notebook shows: where time and memory go.
#
# **Afterwards you can** start a training in several processes and check that it is the same training;
# say why one slow episode holds up a batch, and what is done about it; read a memory plan line by
# line; and choose between LoRA, ZeRO-2 and ZeRO-3 for the GPUs you have.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores: one process, then two | 3 to 6 | 3 GB |
# | `gpu`, `node` | the same: what is measured here is measured on the CPU | 3 to 6 | 3 GB |
#
# The first half is **measured**, on the machine that ran this notebook. The second half is **computed**: no figure there
# was measured for this page on a GPU (a few constants were, once, on an H200; they are named where they are used). Where
# figures are shown, the heading says which it is. If you have no GPUs, you can stop after the first half; the
# [glossary](../docs/glossary.md) has the words of the second.

# %% tags=["parameters"]
run: str = "scaling"  # run directory under runs/
seed: int = 0  # fixes puzzles, order and what is drawn
episodes: int = 48  # of an expert, to learn from
batch_size: int = 8  # episodes an optimizer step, over all processes
learning_rate: float = 3e-4  # at its peak
together: int = 2  # processes of the second training
model: str = "Qwen/Qwen2.5-VL-7B-Instruct"  # to plan for: a hub id the planner knows
gpus: int = 8  # to plan for
memory: float = 80.0  # of each, in GB
# How the last plan divides the model. ddp: not at all, each GPU holds everything.
# zero2 (ZeRO): each holds all weights, but only its part of gradients and optimizer
# state. zero3: each holds its part of the weights as well.
strategy: str = "zero3"  # to plan for: ddp, zero2, zero3
# Who plays its episodes. transformers: the library that also trains.
# colocate: vLLM, a faster one, on the same GPUs. server: vLLM on GPUs of its own.
rollout_engine: str = "colocate"  # to plan for: transformers, colocate, server
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the expert's code may run where nothing confines it

# %%
import os
import shutil
import time
from dataclasses import replace
from statistics import median
from textwrap import fill

import numpy as np
import torch
from IPython.display import display
from kit.data.store import save_episodes
from kit.files import run_folder
from kit.policy.hf import ForcedPolicy, load_model_and_chat
from kit.train.launch.launcher import launch
from kit.train.launch.topology import LaunchError, ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.sft import SFTSettings, SFTTraining
from kit.view import plots
from papers.agile import experiment as agile
from papers.agile.expert import expert_script
from papers.agile.tasks import training_set
from tiny import TINY
from turn_sandbox import CONFINED, Sandbox
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
folder = run_folder(run)
vlm, chat = load_model_and_chat(TINY)
puzzles = training_set(episodes, seed=seed, photo_share=0.0)
print(os.cpu_count(), "cores here,", torch.cuda.device_count(), "GPUs")

# %% [markdown]
# ## Measured: playing
#
# A step of reinforcement learning has two halves. First the model **plays** [episodes](../docs/glossary.md#episode):
# token after token, with an environment that answers between turns. Then it **learns**: all tokens of
# all episodes at once, forwards and backwards.
#
# Here an expert's episodes are played through the model. It computes every token as if it had sampled
# it; a script decides which token is taken. Guess the model's share of the time. The rest is the
# [sandbox](../docs/glossary.md#sandbox), which runs the code.

# %% tags=["guess"]
policy = ForcedPolicy(vlm, chat, expert_script(seed))
with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:
    began = time.perf_counter()
    how = agile.Play(prompt="brief", max_turns=9, max_new_tokens=120)
    played = how(policy, chat, box, puzzles, temperature=0.0)
    took = time.perf_counter() - began
tokens = sum(len(turn.ids) for episode in played for turn in episode.turns)
turns = sum(len(episode.turns) for episode in played)
print(f"{len(played)} episodes, {turns} turns in all, {took:.1f} s")
print(f"{tokens / took:.0f} tokens a second; model's share {policy.seconds / took:.0%}")

# %% [markdown]
# The rest would be larger if the environments didn't run *beside* the model: as soon as a turn has ended, its code runs in
# another process, while the model goes on with longer turns. Only the last environment of each round makes the model wait.
#
# ## Measured: two processes, one training
#
# Now learning, twice: once in one process that takes all episodes of a batch, once in several that
# share the batch. Each computes the gradient of its part; before the optimizer changes a weight, the gradients
# are averaged over the processes (*data parallelism*, [DDP](../docs/glossary.md#ddp); the library that exchanges them
# is `gloo` between CPUs and `nccl` between GPUs).
#
# What must stay the same is the batch: one process with 8 episodes or two with 4 each are one experiment,
# two with 8 each are another. A process need not take its part in one forward pass. It takes
# `per_device_batch_size` episodes at a time (a [micro-batch](../docs/glossary.md#micro-batch)) and adds up the gradients.
#
# **Exercise 05.1.** How many forward passes does each process make for one update? `batch_size` counts the episodes
# of all processes. A batch that can't be divided equally among the processes must be refused: return 0.


# %% tags=["exercise"]
def passes(batch_size: int, num_processes: int, per_device_batch_size: int) -> int:
    """Forward passes of each process for one update; 0: refused."""
    ...


check("05.1", passes)

# %% [markdown]
# Both trainings begin with the same weights and get the same episodes.

# %%
save_episodes(folder / "taught.jsonl", played)
settings = SFTSettings(
    epochs=1, batch_size=batch_size, learning_rate=learning_rate, seed=seed
)


def train(n: int) -> list[dict]:
    """Learn from the episodes in ``n`` processes; returns a row a step."""
    place = folder / f"processes-{n}"
    shutil.rmtree(place, ignore_errors=True)  # measured anew each time
    training = SFTTraining(
        start=str(TINY),
        episodes=str(folder / "taught.jsonl"),
        run_dir=str(place),
        settings=replace(settings, per_device_batch_size=batch_size // n),
        threads=threads,
    )
    launch(training, ProcessConfig(n))
    return read_metrics(place / "metrics.jsonl")


# %%
began = time.perf_counter()
alone = train(1)
middle = time.perf_counter()
shared = train(together)
whole = {1: middle - began, together: time.perf_counter() - middle}

# %% [markdown]
# By how much do their losses and the lengths of their gradients differ, at the most? Guess the order of magnitude:
# 0.1, 0.001, 0.00001, nothing at all?

# %% tags=["guess"]
print("step   loss alone   loss shared   gradient alone   gradient shared")
for one, two in zip(alone, shared, strict=True):
    print(
        f"{one['step']:4d}   {one['loss']:10.6f}   {two['loss']:11.6f}",
        f"  {one['grad_norm']:14.6f}   {two['grad_norm']:15.6f}",
    )
apart = [
    abs(a[k] - b[k])
    for a, b in zip(alone, shared, strict=True)
    for k in ("loss", "grad_norm")
]
print(f"largest difference: {max(apart):.1e}")
assert max(apart) < 1e-4

# %% [markdown]
# The difference is small and it is not 0: a sum of floating-point numbers depends on its order, and several processes add
# in another order. What matters is that it stays so small from step to step. That holds for
# [GRPO](../docs/glossary.md#grpo) too, where each process samples its episodes: every episode has a random seed of its
# own, derived from its place in the batch, so it doesn't matter which process plays it
# (`tests/train/launch/test_processes.py` compares five steps, with adapters and with several updates a batch).
#
# How much faster is a step in several processes? And the whole training, from starting the processes to the end? Guess.

# %% tags=["guess"]
step = {
    1: median(r["seconds"] for r in alone),
    together: median(r["seconds"] for r in shared),
}
print("processes   seconds a step   the whole training, starting included")
for n in step:
    print(f"{n:9d}   {step[n]:14.2f}   {whole[n]:10.1f} s")
print(f"a step is {step[1] / step[together]:.2f} times as fast in {together} processes")

# %% [markdown]
# Two processes don't make a step twice as fast, and on a busy machine not faster at all: in each step the slowest
# process decides, and processes on one machine share its cores, memory and caches. The whole run may even be slower,
# since each process first imports its libraries and loads the model. Run the cells again and the figures differ: other
# programs take their part of the machine. (In the whole training most of what two processes take longer is starting
# them: these steps are few.)
#
# **Exercise 05.2.** Take a run's time as start + steps × seconds a step. From how many steps on are several processes
# worth their start? Compute it from `whole`, `step` and `len(alone)` steps. (Answer 0 if they win from the beginning,
# and `float("inf")` if a step isn't faster at all on your machine.)

# %% tags=["exercise"]
answer = ...  # a number of steps, not rounded
times = {"whole": whole, "step": step, "steps": len(alone), "n": together}
check("05.2", answer, **times)

# %% [markdown]
# ## Four parameters, and when something is missing
#
# The notebooks that train have four parameters for all this:
#
# | parameter | in words |
# |---|---|
# | `num_processes` | processes that train together, usually one a GPU |
# | `strategy` | what is divided among them: nothing (`ddp`), or parts of the training's memory ([`zero2`, `zero3`](../docs/glossary.md#zero), [`fsdp2`](../docs/glossary.md#fsdp)) |
# | `rollout_engine` | the program that plays the episodes: `transformers`, or [vLLM](../docs/glossary.md#vllm) on the same GPUs ([`colocate`](../docs/glossary.md#colocate)) or on others (`server`) |
# | `hostfile` | a text file with a line for each machine that takes part, such as `node1 slots=8` ([hostfile](../docs/glossary.md#hostfile); messages call it the rank file) |
#
# An hour on a cluster costs money, so what can't work must be refused before it starts. Which of these five can start here,
# where there is neither a GPU nor DeepSpeed, vLLM or a hostfile, and what will each of the others be told? (Each hears of one
# thing that is missing, the first that was looked for.)

# %% tags=["guess"]
for wish in (
    {"num_processes": 2},
    {"num_processes": 8, "strategy": "zero3", "rollout_engine": "colocate"},
    {"num_processes": 8, "strategy": "fsdp2"},
    {"num_processes": 16, "hostfile": "ranks.txt"},
    {"num_processes": 2, "strategy": "zero4"},
):
    text = " ".join(map(str, wish.values()))
    try:  # as if there were no GPU, on every machine
        wanted = ProcessConfig.of(wish)
        wanted.check(wanted.machines()[0].slots, 0)
        print(f"{text:20s} can start")
    except (LaunchError, ValueError) as error:
        message = f"{text:20s} {type(error).__name__}: {error}"
        print(fill(message, 88, subsequent_indent=" " * 21))

# %% [markdown]
# If a process fails later, the job ends within seconds, with the error of the process that failed
# first. The same command again goes on from the last [checkpoint](../docs/glossary.md#checkpoint), also after
# `kill -9`.
#
# ## Computed: the slow episode
#
# From here on **nothing is measured on this machine**. Take the episodes above, with as many tokens a turn as they really
# had; an engine that writes 40 tokens a second in each of them at once; and environments that are now
# far away: a search or a judge that mostly answers soon and sometimes late.
#
# Episodes can be played *in rounds*: all play a turn, and the next turn begins when every one has its answer. Or
# *as they end*: each goes on as soon as it has its own answer.
#
# **Exercise 05.3.** `seconds[i][t]` is the time of turn `t` of episode `i`, from its first token to its answer. When is
# the batch done in rounds, and when if each goes on by itself? Episodes have different numbers of turns.


# %% tags=["exercise"]
def done_after(seconds: list[list[float]]) -> tuple[float, float]:
    """Seconds until all episodes are done: in rounds, and as they end."""
    ...


check("05.3", done_after)

# %% [markdown]
# Now drawn, for twelve of the episodes above. White between two bars is waiting for others; white after the last bar: the
# episode is done.

# %%
rng = np.random.default_rng(seed)
talk = [[len(turn.ids) / 40 for turn in e.turns] for e in played[:12]]
waits = [rng.exponential(1.5, len(turns)) for turns in talk]


def schedule(rounds: bool) -> dict[str, list[tuple[str, float, float]]]:
    """What each episode does, from when to when, in seconds."""
    at, rows = [0.0] * len(talk), {f"{i}": [] for i in range(len(talk))}
    for turn in range(max(map(len, talk))):
        going = [i for i, turns in enumerate(talk) if turn < len(turns)]
        for i in going:
            begin = max(at[k] for k in going) if rounds and turn else at[i]
            written = begin + talk[i][turn]
            answered = written + waits[i][turn]
            rows[str(i)] += [("model writes", begin, written)]
            rows[str(i)] += [("environment", written, answered)]
        at = [rows[str(i)][-1][2] for i in range(len(talk))]
    return rows


# %%
ways = {"in rounds": schedule(rounds=True), "as they end": schedule(rounds=False)}
ends = {k: max(row[-1][2] for row in rows.values()) for k, rows in ways.items()}
for name, rows in ways.items():
    title = f"{len(talk)} episodes, {name}"
    display(plots.timeline(rows, "seconds", until=max(ends.values()), title=title))
print(" | ".join(f"{name}: {end:.1f} s" for name, end in ends.items()))

# %% [markdown]
# Without rounds no episode waits for another; what remains is the longest one. `kit.rollout` hands every turn to its
# environment the moment it ends, and takes the next turn as soon as the environment has answered. vLLM schedules
# by itself what it is given, so there no episode waits. The policy that samples with transformers keeps to rounds, and in
# exchange repeats to the last bit. `python -m kit bench tail` measures both on your machine.
#
# ## Computed: will it fit?
#
# The planner knows an architecture's sizes and what each part of a training keeps. Nothing is
# downloaded, and no GPU is asked. Take a model of 8 billion weights that is trained whole on each GPU (`ddp`): weights
# in 32 bits, a gradient for each that learns, and two numbers for each that AdamW keeps. Guess the GB, before you look.

# %%
from workshop.planner.architecture import Architecture
from workshop.planner.memory import (
    GB,
    Stage,
    fixed,
    learning_pass,
    needed,
    sampling,
    seconds,
)

# %% tags=["guess"]
planned = Stage(
    model=Architecture.of(model),
    gpus=gpus,
    memory=memory * GB,
    strategy="ddp",
    rollout_engine=None,
    per_device_batch_size=1,
    batch=64,
    tokens=12288,
    picture_tokens=8192,
    sampled=4096,
    lora_rank=0,
    freeze_vision=True,
)
print(f"{planned.total:,} weights, {planned.learning:,} of them learn; on each GPU:")
for need in (*fixed(planned), *learning_pass(planned)):
    print(f"{need.bytes / GB:8.2f} GB  {need.name:12s} {need.formula}")
print(f"{needed(planned) / GB:8.2f} GB  of {memory:g}")

# %% [markdown]
# (7B is the model's name: with the vision tower it has 8.3 billion weights, and the vision tower doesn't learn here.)
# *Half copies* are copies in 16 bits of the weights that learn: a pass computes with them. *CUDA* is what the GPU's own
# software takes, *activations* what the backward pass needs of the forward pass.
#
# It does not fit, and more GPUs don't help as long as each holds everything. Three ways out:
#
# - **[ZeRO-2](../docs/glossary.md#zero)** divides gradients and the optimizer's state among the GPUs, **ZeRO-3** the
#   weights too. Each GPU fetches the weights of a layer when it comes to that layer.
# - **[LoRA](../docs/glossary.md#lora)** leaves the weights as they are and learns small matrices beside them: almost no
#   gradients and no optimizer state. It can change the model less.
#
# **Exercise 05.4.** With ZeRO a weight takes 2 bytes, its gradient 2, and its optimizer state 12 (a 32-bit copy and
# AdamW's two numbers). How many GB does each GPU hold for the three together? (1 GB is 10⁹ bytes; all weights learn.)


# %% tags=["exercise"]
def held_gb(weights: float, gpus: int, strategy: str) -> float:
    """GB of each GPU with strategy "zero2" or "zero3"."""
    ...


check("05.4", held_gb)

# %% [markdown]
# Guess which of the four ways needs least on each of 8 GPUs, then look at what each bar is made of. *Buckets* is new there:
# room in which DeepSpeed, whose ZeRO it is, collects numbers before it sends them to the other GPUs.

# %% tags=["guess"]
ways = {
    "ddp": {},
    "zero2": {"strategy": "zero2"},
    "zero3": {"strategy": "zero3"},
    "LoRA": {"lora_rank": 32},
}
stages = {name: replace(planned, **way) for name, way in ways.items()}
made_of = {
    f"{name}, {n} GPU{'s' * (n > 1)}": {
        need.name: need.bytes / GB for need in (*fixed(s), *learning_pass(s))
    }
    for name, stage in stages.items()
    for n in ((gpus,) if name in ("ddp", "LoRA") else (gpus, 2 * gpus))
    for s in (replace(stage, gpus=n),)
}
title, limit = "memory of each GPU, computed", (f"{memory:g} GB", memory)
display(plots.stacked(made_of, "GB of each GPU", [limit], title=title))

# %% [markdown]
# With the values above LoRA needs least on 8 GPUs, and ZeRO-3 hardly more. The bars of ZeRO have the same activations,
# whatever is divided and among however many GPUs: activations belong to the episodes, not to the weights. (Those of `ddp` are
# larger: it multiplies with the half copies, but what one layer hands to the next stays in the 32 bits of its weights; in the
# others that has 16 bits too.) That is why long episodes with many pictures are the real limit of agentic training, and why
# activations are computed twice (`gradient_checkpointing`) instead of being kept.
#
# **Exercise 05.5.** You have 4 GPUs of 24 GB and `Qwen/Qwen2.5-VL-3B-Instruct`. Which of the four ways fit? Plan each with
# `replace(stage, model=Architecture.of(NAME), gpus=4)` and `needed` (in bytes); leave all else as it
# is. Name them in the order of `stages`.

# %% tags=["exercise"]
answer = ...  # a list of names from stages, such as ["ddp", "zero2"]

check("05.5", answer, stages=stages)

# %% [markdown]
# ## Computed: how long
#
# With each of two engines, transformers and vLLM, which takes longer, learning or playing? Guess, then read the formulas
# with this key:
#
# - The seconds are those of one update, with the batch and the lengths of the plan above.
# - *learning* waits for the longer of two. One is arithmetic: six operations for each weight and token, eight if activations
#   are computed twice, and two more if vLLM plays: then the trainer passes over its tokens once more, to know how likely
#   they are by its own arithmetic. The other is the processor, which starts each of the pass's thousands of operations by
# itself: with one short episode at a time, the GPU has finished an operation before the next one is started, however fast it
# is.
# - *reading* belongs to playing: the prompt and what tools returned are passed through once.
# - *playing* with transformers waits for the processor, at every token: a *launch* is the start of one operation.
# - *playing* with vLLM, which starts them all at once, waits for memory: a token needs all weights read once, however few
#   episodes share the reading. *GB read* are the weights in 16 bits and the keys and values of the episodes.
# - 0.215 and 0.39 are the shares of a card's arithmetic and of its memory's speed that a training reached on one H200; 312
#   TFLOP/s and 2 TB/s are an A100's data sheet, whatever `memory` says.

# %% tags=["guess"]
divided = replace(stages["zero3"], strategy=strategy)
engines = dict.fromkeys(("transformers", rollout_engine))  # each once
for engine in engines:
    print(f"{strategy}, {gpus} GPUs, {engine} samples")
    for part, (value, formula) in seconds(
        replace(divided, rollout_engine=engine)
    ).items():
        line = f"  {value:5.0f} s  {part}: {formula}"
        print(fill(line, 88, subsequent_indent=" " * 11))

# %% [markdown]
# With transformers playing takes more than twice as long as learning; with vLLM they take about as long. Episodes are assumed
# to be as long as this plan allows, so these are upper ends. `workshop/planner/measured.toml` names what was measured on the
# H200, and its tests hold the planner to within a factor of 1.5 of all of it. For another card `python -m kit plan … --card
# 141` takes the same shares of that card's data sheet. The formula is printed so that you can put your own figures in. For a
# whole job: `python -m kit plan agile --profile node --gpus 8 --memory 80`.
#
# ## What was measured, and what wasn't
#
# | | where the figure comes from |
# |---|---|
# | two processes are one training | measured here; GRPO, ZeRO-2, ZeRO-3 and two machines in the tests, on CPUs |
# | how much faster two are | measured here, on shared cores |
# | sampling by vLLM equals transformers | measured on a CPU, token for token (`make test-vllm`) |
# | episodes that wait for no other | drawn from a model; measured by `bench tail` |
# | memory and time on GPUs | computed, from what one H200 took with LoRA and vLLM beside the training ([scaling](../docs/scaling.md)); FSDP2 and several GPUs never ran here |
#
# ## Paper / here / why different
#
# The papers' values are those of the kit's profile `node`, whose file names the source of each; ours are of the training
# above. The other three papers' are shown by `python -m kit plan NAME --profile node`.

# %%
from workshop.jobs.plan import stages as stages_of
from workshop.jobs.run import plan

columns = {}
for name, paper in (("agile", "AGILE"), ("visual_arft", "Visual-ARFT")):
    trained = list(stages_of(plan(name, "node", [], None), None, memory * GB))
    columns[paper] = trained[-1][1]  # the reinforcement learning
small = sum(p.numel() for p in vlm.parameters())
longest = max(len(episode.ids) for episode in played)
rows = [("GPUs; here: processes", [s.gpus for s in columns.values()], together)]
rows += [("weights", [s.total for s in columns.values()], small)]
rows += [("episodes an update", [s.batch for s in columns.values()], batch_size)]
each = [s.per_device_batch_size for s in columns.values()]
rows += [("episodes a forward pass", each, batch_size // together)]
most = agile.Play.max_episode_tokens
rows += [("tokens of an episode, at most", [most, "–"], longest)]
print(f"{'':30s}" + "".join(f"{name:>16s}" for name in (*columns, "here")))
for name, theirs, ours in rows:
    cells = (c if isinstance(c, str) else f"{c:,}" for c in (*theirs, ours))
    print(f"{name:30s}" + "".join(f"{cell:>16s}" for cell in cells))

# %%
for paper, stage in columns.items():
    stays, learns, plays = (
        sum(need.bytes for need in part(stage)) / GB
        for part in (fixed, learning_pass, sampling)
    )
    print(f"{paper}: {needed(stage) / GB:.1f} GB of each GPU, computed")
    print(f"   {stage.strategy} keeps {stays:.1f}; learning adds {learns:.1f}")
    print(f"   playing adds {plays:.1f} ({stage.rollout_engine})")

# %% [markdown]
# Why more than `zero3` needs in the figure above? Because the figure had nobody who plays: here vLLM does, on the same GPUs.
# It sleeps while the model learns, which gives its memory back, so of learning and playing only the larger counts. In both
# plans that is playing: AGILE's 78.4 GB are 21.6 that stay and 56.8 for vLLM. (Learning takes more than above, too, since
# AGILE's plan has two longer episodes at once; but it is the smaller part.)
#
# The papers train a model that must be divided among GPUs to fit (how they divided it AGILE and Visual-ARFT don't say;
# `zero3` is our choice). Ours fits into every process, so nothing is divided, and the processes are there to show that
# the result stays the same. The papers' episodes are long because a real picture has hundreds of tokens and a real model
# writes long thoughts. What carries over is the arithmetic: the same batch for any number of processes, and a plan made
# of weights, gradients, optimizer and activations. What does not carry over is speed: this page measures none on a GPU.
#
# **Try it.** Take `together=4` (on more cores than two, or to see what happens on fewer). Give the planner
# episodes of 28,192 tokens, the most that AGILE allows, and see by `needed` how many GB each of the four ways takes then.
#
# ## What you have seen
#
# What changes from a laptop to a node, what stays the same, and how do you know the cost before you have paid?

# %%
from IPython.display import Markdown

faster, same = step[1] / step[together], max(apart)
fits = [name for name, way in stages.items() if needed(way) / GB <= memory]
told = ", ".join(f"{paper} {needed(s) / GB:.0f} GB" for paper, s in columns.items())
display(
    Markdown(f"""
- **The batch stays, so the training does**: in {together} processes losses and
  gradients
  differ by at most {same:.0e} from those of one.
- What changes is the time: a step took {1 / faster:.2f} of that of one process here,
  the whole
  training {whole[together] / whole[1]:.2f} of it, starting included.
- The cost is computed beforehand: of the four ways on {gpus} GPUs of {memory:g} GB
  {", ".join(fits) or "none"} fit{"s" * (len(fits) == 1)}; the papers' plans need, of
  each GPU,
  {told}.
""")
)

# %% [markdown]
# Next: [06](06_is_it_learning.ipynb), which asks of a training that runs whether it is learning, and from what; and
# [scaling](../docs/scaling.md), for your own GPUs.
