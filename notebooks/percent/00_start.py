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
# # 00 · Start here
#
# **The question.** A vision-language model can describe a picture. How does it become an *agent*: one
# that acts on what it sees, looks at the result, and acts again? And how would you train one
# yourself, on the machine in front of you?
#
# ![An agent's episode, image by image, and how often it solves its task before and after training](../docs/first_screen.png)
#
# **The paper.** The kit is about five papers on this question. They agree on the loop (think, act,
# observe), on starting from examples, and on reinforcement learning afterwards. The first,
# [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), teaches a model to put shuffled pictures back
# together by running code. In this notebook two players try one of its puzzles: a script and a model.
#
# **Afterwards you can** read an [episode](../docs/glossary.md#episode); say why a model that sees may still be
# unable to act; find your way through the notebooks, start a training run and find its results.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | under 1 | 1 GB |
# | `gpu` | the same; nothing here needs one | under 1 | 1 GB |
# | `node` | the same | under 1 | 1 GB |

# %% tags=["parameters"]
picture: str = "coffee"  # which held-out photograph to cut up
seed: int = 0  # fixes crop, shuffle and the expert's turns
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
threads: int = 1  # CPU threads of this process

# %%
import numpy as np
import torch
from IPython.display import display
from kit import view
from kit.data.leak import solved
from kit.data.photos import photos, random_crop
from kit.evaluate.outcomes import by_stage
from kit.exercises import check
from kit.jobs.notebooks import sources
from kit.jobs.readme import published
from kit.papers.agile import experiment as agile
from kit.papers.agile.env import PROTOCOL
from kit.papers.agile.expert import expert_script
from kit.papers.agile.puzzle import make_task
from kit.papers.agile.reward import is_right, score
from kit.papers.registry import papers
from kit.policy.hf import load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.sandbox import Sandbox
from kit.tiny.build import TINY
from kit.view import plots
from kit.view.roadmap import roadmap

# %%
torch.set_num_threads(threads)
print("photographs to choose from:", ", ".join(p.id for p in photos("held-out")))

# %% [markdown]
# ## Where this leads
#
# Left: what happens on the way from images to a trained agent, and in which notebook. Right: how often the tiny
# model solved held-out tasks at each stage, with 95 % intervals, from the kit's stored results.

# %%
stages = {
    "task": "images → tasks,\ntools, an expert",
    "SFT": "imitate the\nexpert",
    "GRPO": "play, compare,\nreinforce",
    "claims": "what holds\nhere?",
}
numbers = {
    "AGILE": {"task": "11", "SFT": "12", "GRPO": "13", "claims": "14"},
    "Visual-ARFT": {"task": "21, 22", "SFT": "23", "GRPO": "23", "claims": "24"},
    "your own": {"task": "60", "SFT": "60", "GRPO": "60"},
}
reached = {}
for name, results in published().items():
    measured, paper = by_stage(results), papers()[name]
    metric = next(iter(paper.load_evaluation().headlines))
    trained = [(s, measured[s][metric]) for s in ("untrained", "sft", "grpo")]
    reached[paper.title] = trained
display(roadmap(stages, numbers, reached))

# %% [markdown]
# How to read these notebooks: an output that answers a question is folded, so guess first, then click on the
# dots. Exercises check themselves (`check`, and if you are stuck `hint` and `solution`). Words such as *policy* are
# explained in the [glossary](../docs/glossary.md). What you run and change here is your own copy.
#
# ## One puzzle
#
# A photograph no model here was trained on, cut into four pieces, shuffled, labelled. Before you read
# on: where does each piece belong? Notice *how* you found out. You compared edges, and you knew what
# the thing is.

# %%
photo = {p.id: p for p in photos("held-out")}[picture]
crop = random_crop(np.random.default_rng(seed), photo.image, 2)
rng = np.random.default_rng(seed)
task = make_task(crop, 2, 0, rng, "start", photo.id, piece_px=56)
display(plots.images([(p.name, p.image) for p in task.images], side=1.6))
print("in reading order they lie as", ", ".join(p.name for p in task.images))

# %%
display(plots.images([("restored", solved(task))], side=1.6))
print("in reading order they belong as", ", ".join(task.target))

# %% [markdown]
# ## A player that knows the answer
#
# The agent has a Python session of its own, in a sandbox. It holds `state`, the list of
# labels, and three operations: look at the jigsaw, crop, zoom. Each turn the agent thinks, writes
# code, and is shown what the code made. When it is done, it answers.
#
# The first player is a script that was told the answer. Follow it turn by turn, and see where each
# picture came from.

# %%
vlm, chat = load_model_and_chat(model or TINY)
box = Sandbox(allow_unsafe=True).start()  # both players are the kit's
play = agile.Play(prompt="brief", max_turns=9, max_new_tokens=256)
expert = ScriptedPolicy(chat, expert_script(seed))
[episode] = play(expert, chat, box, [task], temperature=0.0)
display(view.show(episode, chat=chat, is_right=is_right))

# %% [markdown]
# What you see is one *episode*, the object everything in this kit is made of. Underlined tokens were
# written by the player; a model learns from those alone. The rest, pictures included, came from
# the environment. At the end stands the [reward](../docs/glossary.md#reward): 0.8 for the right answer, 0.2 for
# keeping to the tags, minus 0.05 for each turn of code. Work it out from the number of turns, then open the output.

# %% tags=["guess"]
for name, part in score(episode, task.target).parts.items():
    print(f"{name:9s} {part:+.2f}")
print(f"{'reward':9s} {score(episode, task.target).total:+.2f}")

# %% [markdown]
# **Exercise 00.1.** Write that reward. A *wrong* episode is charged `max_steps` turns of code, however many it took.


# %% tags=["exercise"]
def reward(right: bool, tags: bool, code_turns: int, max_steps: int) -> float:
    """Reward of an episode."""
    ...


check("00.1", reward)

# %% [markdown]
# ## A player that has to see
#
# Now a model: `Qwen2.5-VL`, the paper's architecture, made small enough for one core (notebook 04). It
# was taught colours, shapes, digits, where things are and where a piece belongs. It was *not* taught
# to act: no tags, no tools, no turns. Same puzzle, same loop. How will its episode end, and what does it earn?

# %% tags=["guess"]
print(f"{sum(p.numel() for p in vlm.parameters()) / 1e6:.1f} million parameters")
[first] = agile.play_greedily(vlm, chat, box, [task], play)
print("its episode ended by:", first.ended, "after", len(first.turns), "turn")
print("reward:", f"{score(first, task.target).total:+.2f}")

# %% [markdown]
# `format`: its turn held neither code nor an answer, so there was nothing to run, and a wrong
# episode is charged all five steps. Here is what it said. (The words may differ on your machine:
# two nearly equally likely tokens can change places with the last bits of a sum. Cells whose
# output may differ start with `# NBVAL_IGNORE_OUTPUT`.)

# %%
# NBVAL_IGNORE_OUTPUT
print(repr(first.turns[0].text[:200]))
print(PROTOCOL.parse(first.turns[0].text))

# %% [markdown]
# Can it not see, then? Ask the same question in the words it was taught.

# %%
# NBVAL_IGNORE_OUTPUT
from kit.data.permutations import belonging
from kit.tiny.probe import answer
from kit.tiny.skills.text import Sample

question = [
    part for p in task.images for part in (f"Image {p.name}: ", np.asarray(p.image))
]
asked = Sample("place", (((*question, "Where does each belong?"), ""),))
[said] = answer(vlm, chat, [asked])
print("it says:", said)
print("right:  ", belonging(sorted(task.target), task.target) + ".")

# %% [markdown]
# **Exercise 00.2.** Count how many pieces it puts in the right place. You get the places it names and the true ones.


# %% tags=["exercise"]
def right_places(said: list[str], target: list[str]) -> int:
    """Number of pieces that are named in their place."""
    ...


check("00.2", right_places)

# %% [markdown]
# **Exercise 00.3.** What would guessing earn? The probability that a random order of `n` pieces is right.


# %% tags=["exercise"]
def chance(n: int) -> float:
    """Probability that n pieces in random order are all in their places."""
    ...


check("00.3", chance)

# %% [markdown]
# Whatever it says here, none of it moves a piece. A model that sees something and cannot act: that is
# where the papers begin. What turns it into an agent is in the notebooks:
#
# - imitation of expert episodes (**SFT**) teaches it to act, notebook 12;
# - reward for playing itself (**GRPO**) teaches it to solve, notebook 13;
# - and 14 asks which of the paper's claims hold here.
#
# ## The notebooks
#
# Read them in order; each takes minutes. 00–05 are the ground every paper stands on; the others
# belong to a paper each: the task and its tools, SFT, GRPO, claims.

# %%
for notebook in sources():
    print(f"{notebook.name:24s} {notebook.title.partition('·')[2].strip()}")

# %% [markdown]
# Every notebook has the same shape: the question, the paper, what you will be able to do, what it
# costs; then a cell of parameters; then pictures, short texts and short cells; at the end *paper /
# here / why different*.
#
# ## Running them as jobs
#
# A notebook is also a program. Its parameters can be set from the command line, and what it writes
# goes to a folder of its own:
#
# ```
# python -m kit list                                # notebooks, profiles, runs
# python -m kit run agile --name mine               # 11 to 14; again: it resumes
# python -m kit run 13 --name mine --tag long --set steps=50    # another value, in a branch
# python -m kit view mine mine-long                 # both, compared; one name: one run
# python -m kit doctor                              # is this machine set up right
# ```
#
# ```
# runs/mine/params.json           what was asked for, and how far it came
# runs/mine/13_agile_grpo.ipynb   the executed notebook
# runs/mine/data/                 puzzles and expert episodes
# runs/mine/sft/, grpo/           metrics.jsonl, checkpoints, the model
# runs/mine/results.json          every measured number with its interval
# ```
#
# A *profile* is a set of values for one kind of machine. It never changes what the code does.
#
# | profile | machine | model | an AGILE run takes |
# |---|---|---|---|
# | `smoke` | any | tiny | seconds: does every cell run |
# | `laptop` | 2 cores, 8 GB | tiny, committed with the kit | minutes; it really learns |
# | `gpu` | one GPU of 24 GB | Qwen2.5-VL-3B with LoRA | not measured |
# | `node` | 8 GPUs of 80 GB | Qwen2.5-VL-7B, the papers' settings | not measured |
#
# ## This machine
#
# The next cell must print the same everywhere; the one after it describes the machine you are on.

# %%
import sys

from kit.jobs.doctor import differences, installed_lock, read_lock

pins = read_lock(installed_lock())
print("Python 3.11 or newer:  ", sys.version_info >= (3, 11))
print("the lock pins torch:   ", pins["torch"])
print("threads of this kernel:", torch.get_num_threads())

# %%
# NBVAL_IGNORE_OUTPUT
import platform

wrong = differences(pins)
print(platform.system(), platform.machine(), "| Python", platform.python_version())
print(len(wrong), "packages differ from the lock")
print("GPUs:", torch.cuda.device_count())
print("sandbox tier:", box.guarantees.tier)
for guarantee in box.guarantees:
    print("  yes" if guarantee.enforced else "  NO ", guarantee.says)
box.close()

# %% [markdown]
# If packages differ, numbers may too: `make -B .venv/ready-cpu` puts that right. Read the sandbox's
# lines before you let it run code of a model you don't trust: each was tried on this machine, just now.
# `python -m kit doctor` prints them with their reasons.
#
# ## Paper / here / why different

# %%
from kit.papers.agile.reported import AGILE

right = int(score(first, task.target).parts["accuracy"] > 0)
print("2×2 puzzles, all pieces misplaced   solved")
print(f"paper: untrained 7B model           {AGILE['base']['acc_2x2_L0']:.1%} of 300")
print(f"paper: after SFT and RL             {AGILE['grpo']['acc_2x2_L0']:.1%} of 300")
print(f"here:  untrained tiny model         {right} of 1")
print("here:  after SFT and RL             not run")

# %% [markdown]
# One puzzle measures nothing; notebook 14 plays enough of them for intervals, with several seeds. The
# models differ in kind as well: the paper's can follow instructions and has never practised
# jigsaws, ours has practised seeing and nothing else.
#
# Where next? To know what the loop does with tokens, masks and pictures:
# [01, anatomy of an episode](01_episode.ipynb). To see an agent trained at once:
# [11, AGILE's task](11_agile.ipynb).
