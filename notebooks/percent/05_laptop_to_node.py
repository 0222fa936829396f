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
# **The question.** One notebook runs on one core here and on eight GPUs elsewhere. What changes on the
# way, what must not, and how do you know what it costs before you have paid for it?
#
# **The paper.** All five train on one node: AGILE on 8 A100 of 80 GB, Mags-RL on 4 A100, VISTA-Gym on
# 8 H200, Visual-ARFT on 8 GPUs. Their models and ours are one architecture, in different sizes.
#
# **Afterwards you can** start a training in several processes and check that it is the same training;
# say why one slow episode holds up a batch, and what is done about it; read a memory plan line by
# line; and choose between LoRA, ZeRO-2 and ZeRO-3 for the GPUs you have.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 2 cores: one process, then two | 2 | 3 GB |
# | `gpu`, `node` | the same: what is measured here is measured on the CPU | 2 | 3 GB |
#
# The first half is **measured**, on the machine that ran this notebook. The second half is **computed**:
# no figure there comes from a GPU. A heading says where the one ends and the other begins.

# %% tags=["parameters"]
run: str = "scaling"  # run directory under runs/
seed: int = 0  # fixes puzzles, order and what is drawn
episodes: int = 48  # of an expert, to learn from
batch_size: int = 8  # episodes an optimizer step, whoever computes it
learning_rate: float = 3e-4  # at its peak
together: int = 2  # processes of the second training
model: str = "Qwen/Qwen2.5-VL-7B-Instruct"  # to plan for: a hub id the planner knows
gpus: int = 8  # to plan for
memory: float = 80.0  # of each, in GB
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the expert's code may run where nothing confines it

# %%
import os
import time
from dataclasses import replace
from statistics import median

import numpy as np
import torch
from IPython.display import display
from kit.data.store import save_episodes
from kit.files import run_folder
from kit.papers.agile import experiment as agile
from kit.papers.agile.expert import expert_script
from kit.papers.agile.tasks import training_set
from kit.policy.hf import ForcedPolicy, load_model_and_chat
from kit.sandbox import CONFINED, Sandbox
from kit.tiny.build import TINY
from kit.train.launch.launcher import launch
from kit.train.launch.topology import LaunchError, ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.sft import SFTSettings, SFTTraining
from kit.view import plots

# %%
torch.set_num_threads(threads)
folder = run_folder(run)
vlm, chat = load_model_and_chat(TINY)
puzzles = training_set(episodes, seed=seed, photo_share=0.0)
print(os.cpu_count(), "cores here,", torch.cuda.device_count(), "GPUs")

# %% [markdown]
# ## Measured: playing
#
# A step of reinforcement learning has two halves that have little in common. First the model **plays**:
# token after token, with an environment that answers between turns. Then it **learns**: all tokens of
# all episodes at once, forwards and backwards.
#
# Here an expert's episodes are played through the model: it computes every token as if it had sampled
# it, a script decides which one is said. Where will the time go: to the model, or to the sandbox that
# runs the code?

# %%
policy = ForcedPolicy(vlm, chat, expert_script(seed))
with Sandbox(require=CONFINED, allow_unsafe=allow_unsafe) as box:
    began = time.perf_counter()
    how = agile.Play(prompt="brief", max_turns=9, max_new_tokens=120)
    played = how(policy, chat, box, puzzles, temperature=0.0)
    took = time.perf_counter() - began
said = sum(len(turn.ids) for episode in played for turn in episode.turns)
print(
    f"{len(played)} episodes of {sum(len(e.turns) for e in played)} turns, {took:.1f} s"
)
print(
    f"{said / took:.0f} tokens a second; the model's share: {policy.seconds / took:.0%}"
)

# %% [markdown]
# The environments cost little *because they run beside the model*: as soon as a turn has ended, its
# code runs in another process, while the model goes on with the turns that are longer. What can't be
# hidden is the last one of each round.
#
# ## Measured: two processes are one
#
# Now learning, twice: once in one process that takes all episodes of a batch, once in several that
# share it. Each computes the gradient of its part; before the optimizer moves anything, the gradients
# are added up (*data parallelism*; over `gloo` on a CPU, over `nccl` between GPUs).
#
# Both begin with the same weights and meet the same episodes. By how much will their losses differ
# after the last step?

# %%
save_episodes(folder / "taught.jsonl", played)
settings = SFTSettings(
    epochs=1, batch_size=batch_size, learning_rate=learning_rate, seed=seed
)


def train(n: int) -> list[dict]:
    """Learn from the episodes in ``n`` processes; returns a row a step."""
    training = SFTTraining(
        start=str(TINY),
        episodes=str(folder / "taught.jsonl"),
        run_dir=str(folder / f"processes-{n}"),
        settings=replace(settings, per_device_batch_size=batch_size // n),
        threads=threads,
    )
    launch(training, ProcessConfig(n))
    return read_metrics(folder / f"processes-{n}" / "metrics.jsonl")


# %%
began = time.perf_counter()
alone = train(1)
middle = time.perf_counter()
shared = train(together)
whole = {1: middle - began, together: time.perf_counter() - middle}

# %%
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
# Not by zero: sums of floating-point numbers depend on their order, and the parts are added in another
# one. But by nothing that would grow. That holds for GRPO too, where the episodes themselves are sampled
# by each process: every episode has a random seed of its own, derived from its place in the batch, so it
# doesn't matter which process plays it (`tests/train/launch/test_processes.py` compares five steps, with adapters and
# with several updates a batch).
#
# **What has to be the same** is the batch: one process with 8 episodes or two with 4 are one experiment,
# two with 8 are another. That is why `per_device_batch_size` is halved above, and why a job whose batch doesn't
# divide by its processes is refused before it starts.
#
# And what was it worth?

# %%
step = {
    1: median(r["seconds"] for r in alone),
    together: median(r["seconds"] for r in shared),
}
print("processes   seconds a step   the whole training, starting included")
for n in step:
    print(f"{n:9d}   {step[n]:14.2f}   {whole[n]:10.1f} s")
print(f"a step is {step[1] / step[together]:.2f} times as fast in {together} processes")

# %% [markdown]
# Less than the number of processes, and the whole run may even be slower: each process first imports
# its libraries and loads the model; in each step the slowest decides; and two processes share one
# machine's memory and caches. Run the cell again tomorrow and the figures differ, since other programs
# take their part. For a training of hours the start no longer matters; the other two remain.
#
# ## When something is missing
#
# A cluster's hour costs money, so what can't work must say so before it starts. One of these lines is
# fine on this machine; which?

# %%
import textwrap

vllm = {"rollout_engine": "colocate"}
for told in (
    {"num_processes": 2},
    {"num_processes": 8, "strategy": "zero3", **vllm},
    {"num_processes": 8, "strategy": "fsdp2"},
    {"num_processes": 16, "hostfile": "ranks.txt"},
    {"num_processes": 2, "strategy": "zero4"},
):
    text = " ".join(map(str, told.values()))
    try:
        wanted = ProcessConfig.of(told)
        wanted.check(wanted.machines()[0].slots)
        print(f"{text:20s} can start")
    except (LaunchError, ValueError) as error:
        said = f"{text:20s} {type(error).__name__}: {error}"
        print(textwrap.fill(said, 88, subsequent_indent=" " * 21))

# %% [markdown]
# And what breaks on the way ends the job within seconds, with the error of the process that failed
# first; the same command again goes on from the last checkpoint. `kill -9` is no exception.
#
# ## Computed: the slow episode
#
# From here on **nothing is measured**. Take the episodes above, as many tokens a turn as they really
# had, an engine that says 40 tokens a second in each of them at once, and environments that are now
# far away: a search or a judge, which mostly answers soon and sometimes late.
#
# In *rounds*, all wait until the last one has its answer. How much sooner would all be done if
# nobody waited for anybody else?

# %%
rng = np.random.default_rng(seed)
talk = [[len(turn.ids) / 40 for turn in e.turns] for e in played[:12]]
waits = [rng.exponential(1.5, len(turns)) for turns in talk]


def schedule(rounds: bool) -> dict[str, list[tuple[str, float, float]]]:
    """Spans of each episode: what it does, from when to when, in seconds."""
    at, rows = [0.0] * len(talk), {f"{i}": [] for i in range(len(talk))}
    for turn in range(max(map(len, talk))):
        going = [i for i, turns in enumerate(talk) if turn < len(turns)]
        for i in going:
            begin = max(at[k] for k in going) if rounds and turn else at[i]
            said, answered = (
                begin + talk[i][turn],
                begin + talk[i][turn] + waits[i][turn],
            )
            rows[str(i)] += [("speaks", begin, said), ("environment", said, answered)]
        at = [rows[str(i)][-1][2] for i in range(len(talk))]
    return rows


# %%
ways = {"in rounds": schedule(rounds=True), "as they end": schedule(rounds=False)}
ends = {k: max(row[-1][2] for row in rows.values()) for k, rows in ways.items()}
for name, rows in ways.items():
    display(plots.timeline(rows, f"seconds, {name}", until=max(ends.values())))
print(" | ".join(f"{name}: {end:.1f} s" for name, end in ends.items()))

# %% [markdown]
# White is waiting for others. Without rounds an episode waits for nobody; what remains is the longest
# one. `kit.rollout` hands every turn over the moment it ends, and takes the next one as soon as the
# environment has answered. vLLM schedules what it gets by itself, so there nobody waits; the policy that
# samples with transformers keeps to rounds, and in exchange repeats to the last bit. `python -m kit bench
# tail` measures both on your machine.
#
# ## Computed: will it fit?
#
# The planner knows an architecture's sizes and what each part of a training keeps. Nothing is
# downloaded, and no GPU is asked. First guess: a model of 7 billion weights, trained whole on one GPU of
# 80 GB. Weights in 32 bits, a gradient each, two moments each for AdamW.

# %%
from kit.train.planner.architecture import Architecture
from kit.train.planner.memory import GB, Stage, fixed, learning_pass, needed, seconds

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

# %%
print(f"{planned.total:,} weights, {planned.learning:,} of them learn; on each GPU:")
for need in (*fixed(planned), *learning_pass(planned)):
    print(f"{need.bytes / GB:8.2f} GB  {need.name:12s} {need.formula}")
print(f"{needed(planned) / GB:8.2f} GB  of {memory:g}")

# %% [markdown]
# It does not fit, and more GPUs don't help as long as each holds everything. Three ways out:
#
# - **ZeRO-2** divides gradients and the optimizer's state among the GPUs, **ZeRO-3** the weights too. Each
#   fetches a layer's weights when it comes to it.
# - **LoRA** leaves the weights as they are and learns small matrices beside them: almost no gradients, no
#   state. What it can learn is less.
#
# Predict which of the four is smallest, then look at what each is made of.

# %%
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
display(plots.stacked(made_of, "GB of each GPU", [(f"{memory:g} GB", memory)]))

# %% [markdown]
# The activations stay as they are, whatever is divided: they belong to the episodes, not to the
# weights. That is why long episodes with many pictures are the real limit of agentic training, and
# why activations are computed twice (`gradient_checkpointing`) instead of being kept.
#
# ## Computed: how long
#
# Learning is arithmetic: six operations a weight and token, eight if activations are computed twice.
# Playing is reading: every token needs all weights once, however few episodes share them. Which half
# will a GPU spend its time on?

# %%
for rollout_engine, name in (("transformers", "transformers"), ("colocate", "vLLM")):
    stage = replace(stages["zero3"], rollout_engine=rollout_engine)
    print(f"zero3, {gpus} GPUs, {name} samples")
    for part, (value, formula) in seconds(stage).items():
        print(f"  {value:7.0f} s  {part}: {formula}")

# %% [markdown]
# Episodes are assumed to be as long as they may be, so these are upper ends, and the GPU's rates are
# guesses (40 % of an A100's arithmetic and 60 % of its memory's speed, as its data sheet has them). The
# formula is printed so that you can put your own figures in: `python -m kit plan agile --profile node --gpus 8 --memory 80` does it for a whole job.
#
# ## What was measured, and what wasn't
#
# | | where the figure comes from |
# |---|---|
# | two processes are one | measured here; GRPO, ZeRO-2, ZeRO-3 and two machines in the tests, on CPUs |
# | how much faster two are | measured here, on shared cores |
# | sampling by vLLM equals transformers | measured on a CPU, token for token (`make test-vllm`) |
# | episodes that wait for nobody | drawn from a model; measured by `bench tail` |
# | memory and time on GPUs | computed; FSDP2 and vLLM beside a training never ran on one here |
#
# **Try it.** Take `together=4` (on more cores than two, or to see what happens on fewer). Plan for
# `Qwen/Qwen2.5-VL-3B-Instruct` on 4 GPUs of 24 GB: which of the four ways is left? Give the planner
# episodes of 28,192 tokens, the paper's limit, and find the knob that brings them back.
