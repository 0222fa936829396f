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
# # 12 · AGILE: the cold start
#
# **The question.** A model that sees, but has never acted, is given a jigsaw and a Python session.
# What does it learn from watching an expert play, and what doesn't it?
#
# **The paper.** AGILE, sections 3.2 and 3.3 and Table 4: supervised fine-tuning (SFT) on 1.6K
# episodes of an expert, before reinforcement learning on 15.6K pictures.
#
# **Afterwards you can** say what SFT minimises and on which tokens; read an episode that fails and
# name why; explain why imitating an expert is not the same as solving the task.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core, tiny model | 4 | 2 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 4 | not measured | 640 GB |
#
# Before this one: notebook 11, which wrote the puzzles and the expert's episodes.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 14
seed: int = 0  # order of the episodes
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
sft_episodes: int = 160  # expert episodes to imitate
epochs: float = 2.0  # passes over them; paper: 2
batch_size: int = 4  # episodes an optimizer step
replay: int = 4  # replayed answers of the model beside each batch; paper: 0
per_device_batch_size: int = 4  # episodes a forward pass
learning_rate: float = 3e-4  # at its peak
freeze_vision: bool = True  # leave the vision tower alone, as the paper does
lora_rank: int = 0  # 0 trains all weights
max_turns: int = 5  # turn budget when playing
max_new_tokens: int = 80  # of one turn when playing
eval_puzzles: int = 24  # held-out puzzles a level
num_processes: int = 1  # processes that train together, on all machines
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
hostfile: str = ""  # the machines, a line each: name slots=8; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import torch
from IPython.display import display
from kit import view
from kit.data.permutations import belonging
from kit.data.store import load_episodes, load_tasks, save_episodes
from kit.files import run_folder
from kit.papers.agile import experiment as agile
from kit.papers.agile.metrics import evaluate, failures, summary
from kit.papers.agile.reward import is_right, score
from kit.policy.hf import load_model_and_chat
from kit.sandbox import CONFINED, Sandbox
from kit.tiny.build import TINY
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.replay import own_words
from kit.train.sft import SFTSettings, SFTTraining
from kit.view import plots

# %%
torch.set_num_threads(threads)
folder = run_folder(run)
start, together = str(model or TINY), ProcessConfig.of(globals())
vlm, chat = load_model_and_chat(start)
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
play = agile.Play(prompt=prompt, max_turns=max_turns, max_new_tokens=max_new_tokens)

# %% [markdown]
# ## What the model does before anyone shows it
#
# It can say where a piece belongs, write a tag or a line of code when told word for word which: that is on
# its card (notebook 04). It has never acted. Guess what it does with the prompt.

# %%
held_out = load_tasks(folder / "data" / "eval-2x2.jsonl")
puzzles = agile.first_per_level(held_out, eval_puzzles)
untrained = agile.play_greedily(vlm, chat, box, puzzles, play)
print("it says:  ", repr(untrained[0].turns[0].text[:70]))
print("it ends by", untrained[0].ended)
print("accuracy: ", summary(evaluate(untrained)))

# %% [markdown]
# Not one tag. The environment can't act on that, so the episode is over after a turn. The paper met
# the same in a 7B model: poor instruction following, code that doesn't run, and so nothing for
# reinforcement learning to reward.
#
# But look at what it says. Is it true?


# %%
def sees(episode) -> bool:
    """Whether the first turn says rightly where each piece belongs."""
    task = episode.task
    told = belonging([p.name for p in task.images], task.target, task.meta["m"])
    return told in episode.turns[0].text


def seeing(episodes) -> str:
    right = sum(sees(episode) for episode in episodes)
    return f"all pieces placed rightly in {right} of {len(episodes)} first turns"


print("untrained:", seeing(untrained))

# %% [markdown]
# ## What the expert does
#
# Four to eight turns of code, then the answer. Look at what is tinted: only the expert's own tokens
# will be learnt from. What the environment wrote is context.

# %%
episodes = load_episodes(folder / "data" / "coldstart.jsonl")[:sft_episodes]
steps = [episode.calls for episode in episodes]
print(
    len(episodes), "episodes; steps:", {n: steps.count(n) for n in sorted(set(steps))}
)
shortest = min(episodes, key=lambda e: len(e.ids))
earned = score(shortest, shortest.task.target)
display(view.show(shortest, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# Here is a thing to hold on to for later. The expert takes four to eight turns of code *before* it
# answers. In reinforcement learning, and when we measure, an episode has **five turns in all**
# (Table 5). Which share of the expert's episodes would fit?

# %%
fitting = sum(episode.calls + 1 <= max_turns for episode in episodes) / len(episodes)
print(f"{fitting:.0%} of the expert's episodes fit into {max_turns} turns")

# %% [markdown]
# ## What SFT minimises
#
# $$\mathcal{L}(\theta) = -\frac{1}{\sum_t I_t} \sum_t I_t \log \pi_\theta(y_t \mid y_{<t}), \qquad
# I_t = 1 \text{ where the expert wrote token } t$$
#
# The mask $I_t$ is `Episode.mask`; `kit.train.pack` lays it beside the ids; `kit.train.sft` hands both to TRL's trainer.

# %% [markdown]
# ## What it takes away
#
# Learning to act moves weights that it sees with, and a few hundred puzzles can't teach seeing anew. Left
# to itself a small model forgets some of it (try `replay=0`).
#
# *Learning without forgetting* (Li and Hoiem, 2016) asks the model beforehand, and trains on its own
# answers beside the new data. Here: on puzzles of the next notebook, whose truth stays untouched, put
# where the agent will say such a thing. The paper doesn't need it: its model is large, and its learning
# rate small.

# %%
again = []
if replay:
    ask = agile.Play(prompt=prompt, max_turns=1, max_new_tokens=max_new_tokens)
    train = load_tasks(folder / "data" / "train.jsonl")[: 2 * sft_episodes]
    for at in range(0, len(train), 64):  # at most 64 sessions at once
        asked = agile.play_greedily(vlm, chat, box, train[at : at + 64], ask)
        again += own_words(asked, chat, opening="<think>")
    print(len(again), "answers, the first:", again[0].turns[0].text)

# %%
settings = SFTSettings(
    epochs=epochs,
    batch_size=batch_size,
    replay=replay,
    per_device_batch_size=per_device_batch_size,
    learning_rate=learning_rate,
    freeze_vision=freeze_vision,
    lora_rank=lora_rank,
    save_every=20,
    seed=seed,
)
print(settings.steps(len(episodes)), "optimizer steps")

# %% [markdown]
# The training is told in plain values, so that this process can do it, or several that are launched
# (`num_processes=8, strategy="zero3"`): with them the model is divided, not the result.

# %%
taught, repeated = folder / "sft" / "episodes.jsonl", folder / "sft" / "replay.jsonl"
save_episodes(taught, episodes)
save_episodes(repeated, again)
training = SFTTraining(
    start=start,
    episodes=str(taught),
    run_dir=str(folder / "sft"),
    settings=settings,
    replay=str(repeated),
    threads=threads,
)
del vlm  # the training loads its own

# %%
live = plots.LivePlot(columns=("loss", "mean_token_accuracy"))
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# ## What it learnt
#
# It now speaks the protocol. Two predictions before you look:
#
# - Does it still see? Fine-tuning on a few episodes can take from a small model what it could do before.
# - Does it solve puzzles? It has imitated episodes of which most are longer than it may play.

# %%
tuned = agile.play_greedily(vlm, chat, box, puzzles, play)
print("untrained:", seeing(untrained))
print("after SFT:", seeing(tuned))
print("untrained:", summary(evaluate(untrained)))
print("after SFT:", summary(evaluate(tuned)))

# %%
print("how the episodes after SFT ended, and why they fail:")
for reason, share in failures(tuned).items():
    print(f"  {reason:28s} {share:6.1%}")

# %%
failed = next((e for e in tuned if e.ended == "turns"), tuned[0])
earned = score(failed, failed.task.target)
display(view.show(failed, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# ## Paper / here / why different
#
# SFT raises the likelihood of what the expert said. Nothing in it knows that an episode ends after
# five turns, nor which of the expert's turns mattered. The table reads this run's own figures.

# %%
from kit.papers.agile.metrics import save_stage
from kit.papers.agile.reported import AGILE

save_stage(folder, "untrained", untrained)
save_stage(folder, "sft", tuned)
for name, stage, here in (
    ("untrained", "base", untrained),
    ("after SFT", "sft", tuned),
):
    print(
        f"{name}: paper {AGILE[stage]['acc_2x2']:.3f}, here {summary(evaluate(here))}"
    )
box.close()

# %% [markdown]
# The paper's model is thousands of times larger and its pictures are others; its expert is another
# model, ours a script that knows the answer. What carries over is the shape: the cold start makes
# acting possible and leaves solving open. Next: [13, GRPO](13_agile_grpo.ipynb).
