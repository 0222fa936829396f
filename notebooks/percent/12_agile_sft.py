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
# **The question.** A model that can say where most pieces belong, but has never acted, is given a jigsaw
# and a Python session. What does it learn from watching an expert play, and what doesn't it?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), sections 3.2 and 3.3 and Table 4:
# supervised fine-tuning ([SFT](../docs/glossary.md#sft)) on 1.6K episodes of an expert, before reinforcement
# learning on 15.6K pictures. Figure 2b of the paper shows how such episodes are collected; ours come from notebook 11.
#
# **Afterwards you can** say what SFT minimises and on which tokens; do one update of it without a trainer; read an
# episode that fails and name why; explain why imitating an expert is not the same as solving the task.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 5 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 4 | not measured | 640 GB |
#
# Before this one: [11](11_agile.ipynb), which wrote the puzzles and the expert's episodes.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 14
tag: str = ""  # to try another value: a name for it; the data are kept
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
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 5  # turns an episode may have when playing
on_no_action: str = "end"  # a turn without code or answer: end, or tell the agent
max_new_tokens: int = 80  # of one turn when playing
eval_puzzles: int = 24  # held-out puzzles a level
by_hand: bool = True  # do one update here as well; needs room for all weights
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
from dataclasses import replace

import torch
from IPython.display import display
from kit import view
from kit.data.permutations import belonging
from kit.data.store import load_episodes, load_tasks, save_episodes
from kit.exercises import check, hint, solution
from kit.files import start_run
from kit.papers.agile import experiment as agile
from kit.papers.agile.metrics import evaluate, failures, summary
from kit.papers.agile.reward import is_right
from kit.policy.hf import load_model_and_chat
from kit.policy.suppress import suppress_tokens
from kit.sandbox import CONFINED, Sandbox
from kit.tiny import TINY
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.replay import own_words
from kit.train.sft import SFTSettings, SFTTraining, order

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, {"data": 11}, makes="sft")
start, together = str(model or TINY), ProcessConfig.of(globals())
vlm, chat = load_model_and_chat(start)
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
play = agile.Play(
    prompt=prompt,
    on_no_action=on_no_action,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
)

# %% [markdown]
# ## What the model does before anyone shows it
#
# It can say where a piece belongs, write a tag or a line of code when told word for word which: that is on
# its card (notebook 04). It has never acted. Guess what it does with the prompt, then open the output.

# %% tags=["guess"]
held_out = load_tasks(folder / "data" / "eval-2x2.jsonl")
puzzles = agile.first_per_level(held_out, eval_puzzles)
untrained = agile.play_greedily(vlm, chat, box, puzzles, play)
print("it says:  ", repr(untrained[0].turns[0].text[:70]))
print("it ends by", untrained[0].ended)
print("accuracy: ", summary(evaluate(untrained)))

# %% [markdown]
# It writes no tag. The environment can't act on that, so the episode is over after one turn, and every episode
# earns the same: reinforcement learning would have nothing to compare. The paper's 7B model has a milder form
# of this (section 3.2): it follows instructions poorly and writes code that doesn't work, which disturbs the
# training, so that reinforcement learning alone is possible but learns inefficiently.
#
# Our model's zero means less than the paper's, though. Look at what it says. In how many of the puzzles is it
# true? Guess.


# %% tags=["guess"]
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
# Keep this number beside the zero above. The committed model was pretrained on just this question (`order` on its card),
# so before any training of this notebook it solves most puzzles *in its own words*. What it lacks is the form in
# which an agent hands a solution in. The paper has no such second number: its base solves 9.5 % as it is measured
# (Table 1), and nothing says that it knew more. So here training can add acting, and hardly any seeing; read "untrained: 0" in every table with this in
# mind.
#
# ## What the expert does
#
# Four to eight turns of code, then the answer. Only the expert's own tokens (underlined) will be
# learnt from. What the environment wrote is context.

# %%
episodes = load_episodes(folder / "data" / "coldstart.jsonl")[:sft_episodes]
steps = [episode.calls for episode in episodes]
print(
    len(episodes), "episodes; steps:", {n: steps.count(n) for n in sorted(set(steps))}
)
shortest = min(episodes, key=lambda e: len(e.ids))
earned = play.score(shortest, shortest.task.target)
display(view.show(shortest, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# Remember one number for later. The expert takes four to eight turns of code *before* it
# answers. In reinforcement learning, and when we measure, an episode has **five turns in all**
# (Table 5). Which share of the expert's episodes would fit? The list of steps above tells.

# %% tags=["guess"]
fitting = sum(episode.calls + 1 <= max_turns for episode in episodes) / len(episodes)
print(f"{fitting:.0%} of the expert's episodes fit into {max_turns} turns")

# %% [markdown]
# ## What SFT minimises
#
# $$\mathcal{L}(\theta) = -\frac{1}{\sum_t I_t} \sum_t I_t \log \pi_\theta(y_t \mid y_{<t}), \qquad
# I_t = 1 \text{ where the expert wrote token } t$$
#
# The mask $I_t$ is `Episode.mask`: 1 on a token that the expert wrote, 0 on one of the environment.
#
# **Exercise 12.1.** Write that sum for one episode. You get the log-probability of each token and the mask.


# %% tags=["exercise"]
def sft_loss(logprobs: list[float], mask: list[int]) -> float:
    """Mean negative log-probability of the expert's tokens."""
    ...


check("12.1", sft_loss)

# %% [markdown]
# ## What it takes away
#
# Learning to act changes the weights that it sees with, and a few hundred puzzles can't teach seeing again.
# Without a remedy a small model forgets some of it (try `replay=0` with `tag="no-replay"`).
#
# The remedy is *learning without forgetting* ([Li and Hoiem, 2016](https://arxiv.org/abs/1606.09282)): ask the model
# before training, and train on its own answers beside the new data. Here it is asked about puzzles of the next
# notebook. Their right answers are never shown; the model's own words are, as the beginning of a turn, where the agent
# will later say such things. The paper doesn't need this: its model is large and its learning rate small.

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
settings = SFTSettings.of(globals())  # the parameters of the first cell
print(settings.steps(len(episodes)), "optimizer steps")

# %% [markdown]
# ## One update by hand
#
# What will the trainer do at each step? Take `batch_size` episodes of the expert and `replay` of the model's own
# answers, compute the loss above, go one step down its slope.

# %%
every = [*episodes, *again]
first = order([len(e.ids) for e in episodes], len(again), settings)
batch = [every[i] for i in first[: batch_size + replay]]
packed = pack(batch, chat).to(vlm.device)


def loss_of(model) -> torch.Tensor:
    """The mean over the tokens of this batch that were sampled."""
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
# **Exercise 12.2.** A loss is a mean of −log p. Which probability does a model give to the expert's tokens, in the
# (geometric) mean, if its loss is 0.5?

# %% tags=["exercise"]
answer = ...  # a number between 0 and 1
check("12.2", answer)

# %% [markdown]
# ## Training
#
# The settings are plain values, so that this process can train, or several that are started for it
# (`num_processes=8, strategy="zero3"`); the result is the same.

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
vlm = adam = learns = None  # room for the training, which loads its own

# %%
live = view.LiveTraining()
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# Did the trainer begin where you did? Its first row holds the loss of the same batch. (Its first *update* was smaller
# than yours: the learning rate rises from 0 over the first tenth of the steps.)

# %%
rows = read_metrics(folder / "sft" / "metrics.jsonl")
print(
    f"the trainer's first loss: {rows[0]['loss']:.3f}, its last: {rows[-1]['loss']:.3f}"
)
if by_hand and not lora_rank:
    print(f"by hand:                  {loss.item():.3f}")
    assert abs(rows[0]["loss"] - loss.item()) < 2e-3

# %% [markdown]
# ## What it learnt
#
# It now keeps to the tags. Two guesses before you open the output:
#
# - Does it still see? Fine-tuning on a few episodes can take from a small model what it could do before.
# - Does it solve puzzles? Most of the episodes that it imitates are longer than it may play.

# %% tags=["guess"]
tuned = agile.play_greedily(vlm, chat, box, puzzles, play)
print("untrained:", seeing(untrained))
print("after SFT:", seeing(tuned))
print("untrained:", summary(evaluate(untrained)))
print("after SFT:", summary(evaluate(tuned)))

# %%
print("how the episodes after SFT ended, and why they fail:")
for reason, share in failures(tuned).items():
    print(f"  {reason:28s} {share:6.1%}")

# %% [markdown]
# Many end out of turns. Is that all that is missing? The same model may now have nine turns, as many as the
# expert's longest episode. How many of these puzzles does it solve then? No training lies between the two lines.

# %% tags=["guess"]
some = agile.first_per_level(puzzles, min(8, eval_puzzles))
for turns in (max_turns, 9):
    longer = replace(play, max_turns=turns)
    patient = agile.play_greedily(vlm, chat, box, some, longer)
    print(f"{turns} turns at most:", summary(evaluate(patient)))

# %%
failed = next((e for e in tuned if e.ended == "turns"), tuned[0])
earned = play.score(failed, failed.task.target)
display(view.show(failed, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# **Exercise 12.3.** The expert's episodes don't fit into the turns that the agent has. Which of them would you show it,
# so that what it imitates can be played to the end? Write the test for one episode: its number of turns with code, and
# the turns that it may have, the answer included.


# %% tags=["exercise"]
def is_playable(code_turns: int, max_turns: int) -> bool:
    """Whether an episode of the expert fits into the agent's turns."""
    ...


check("12.3", is_playable)

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
stages = {"untrained": ("base", untrained), "after SFT": ("sft", tuned)}
for name, (stage, here) in stages.items():
    told = AGILE[stage]["acc_2x2"]
    print(f"{name}: paper {told:.3f}, here {summary(evaluate(here))}")
box.close()

# %% [markdown]
# The paper's model is two thousand times larger and learns from other pictures; its expert is another
# model, ours a script that knows the answer. What carries over is the shape: the cold start makes
# acting possible, and most puzzles are still not solved. What doesn't is the reason: the paper's model can't
# do either at first, ours says the right order from the start and runs out of turns.
#
# Next: [13, GRPO](13_agile_grpo.ipynb).
