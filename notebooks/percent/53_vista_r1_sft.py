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
# **The question.** A small model has never called a tool. Shown some hundred episodes of an expert that does, what does it
# copy: the form of a call, its arguments, the choice among 26 tools?
#
# **The paper.** [VISTA-Gym (arXiv:2511.19773)](https://arxiv.org/abs/2511.19773), section 5.1: behaviour cloning, which is
# supervised fine-tuning ([SFT](../docs/glossary.md#sft)) on an expert's episodes, before reinforcement learning. It adds
# 3.5 points to InternVL3-8B (Figure 4a); reinforcement adds another 10.
#
# **Afterwards you can** say what an undecided expert is good for; keep and drop demonstrations by their answers; tell by
# sampling what cloning left open; and check that an agent reads what its tools say.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, tiny model | 15 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, InternVL3-8B, the paper's values | not measured | 640 GB |
#
# Most of the minutes are the tools': they read real pixels, a second for an image with writing.
# Before this one: [51](51_vista_gym.ipynb), where you called the tools by hand.

# %% tags=["parameters"]
run: str = "vista_gym"  # run directory under runs/, shared by notebooks 53 to 55
tag: str = ""  # to try another value: a name for it; the data are kept
seed: int = 0  # draws what is trained on; order of the episodes
test_seed: int = 0  # draws the other two sides: the same for every seed
kinds: str = ""  # family/set and parts
train_tasks: int = 20  # tasks a part for reinforcement
test_tasks: int = 6  # tasks a part to measure by, and as many to make choices on
demonstrations: int = 60  # tasks a part that the expert plays
rationale: str = "short"  # of the expert: short or long
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
epochs: float = 2.0  # passes over the demonstrations; paper: 1
batch_size: int = 4  # episodes an optimizer step; paper: 128
per_device_batch_size: int = 4  # episodes a forward pass
learning_rate: float = 3e-4  # at its peak; paper: 2e-6
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 3  # turns an episode may have
max_new_tokens: int = 112  # of one turn when playing
by_hand: bool = True  # do one update here as well; needs room for all weights
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
