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
# **The question.** A vision-language model can describe a picture. How does it become an *agent*: a
# model that acts on what it sees, looks at the result, and acts again? And how would you train one
# yourself, on the machine in front of you?
#
# ![Four turns of an agent that puts a photograph together, and how often it solves puzzles before and after training](../docs/first_screen.png)
#
# *Above: an episode, turn by turn, as the scripted expert plays it for the agent to imitate. The prompt shows thumbnails only
# (turn 1), so whoever plays has to look. Below, on tasks that no training saw: the first bar is the untrained model, asked in
# words. The second is imitation alone, of an expert that always does what is best (a dash: not measured); the third, of one
# that on purpose often guesses, gives up or (CodeDance) calls without need, so that reinforcement, the fourth, has something
# to find out. The last is the trained agent shown another episode's pictures. You will train such an agent yourself, in 11 to
# 13.*
#
# **The paper.** The kit is about five papers on this question. They agree on the loop (think, act, observe) and on
# reinforcement learning; three of them start from examples, two don't. (Here all five do: by itself the tiny model
# never marks what it writes as code or as an answer.) The first, [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), teaches a
# model to put shuffled pictures back together by running code; its Figure 2a draws the loop. In this notebook two
# players try the same puzzle: a script that knows the answer, and a small model that has to see it. The loop is the
# paper's; the model is thousands of times smaller than the paper's 7B ([04](04_tiny_vlm.ipynb) counts).
#
# **Afterwards you can** read an episode; say why a model that sees may still be unable to act; find
# your way through the notebooks, start a training run and find its results.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | under 1 | 1 GB |
# | `gpu` | the same; nothing here needs one | under 1 | 1 GB |
# | `node` | the same | under 1 | 1 GB |

# %% [markdown]
# **How to read a notebook of the kit.** Where a text asks you to guess, write your guess down first: the
# output that answers it is folded, and a click on its dots opens it (where nothing is folded, cover it). Exercises check
# themselves: run
# the cell with your answer in it, `hint("00.1")` helps, and `solution("00.1")` shows one way. Terms of
# the field are linked to the [glossary](../docs/glossary.md) where they are first used. Change what you
# like: `python -m kit reset 00` gives you this notebook as it came, and keeps yours beside it.

# %% tags=["parameters"]
picture: str = "coffee"  # which held-out photograph to cut up
seed: int = 0  # fixes crop, shuffle and the expert's turns
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
threads: int = 1  # CPU threads of this process

# %%
import numpy as np
import torch
from IPython.display import Markdown, display
from kit import view
from kit.data.leak import solved
from kit.evaluate.outcomes import by_stage
from kit.policy.hf import load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.view import plots
from papers.agile import experiment as agile
from papers.agile.env import PROTOCOL
from papers.agile.expert import expert_script
from papers.agile.puzzle import make_task
from papers.agile.reward import is_right, score
from papers.registry import papers, published
from pictures.photos import photos, random_crop
from tiny import TINY
from turn_sandbox import Sandbox
from workshop.exercises import check, hint, solution
from workshop.roadmap import roadmap

# %%
torch.set_num_threads(threads)
print("photographs to choose from:", ", ".join(p.id for p in photos("held-out")))

# %% [markdown]
# ## Where this leads
#
# Left: what happens on the way from images to a trained agent, and in which notebook; *SFT* is imitation, *GRPO*
# reinforcement. Right: how well the tiny model did in [held-out](../docs/glossary.md#held-out) tasks at each stage, with 95 %
# [intervals](../docs/glossary.md#confidence-interval), from the kit's stored results: the share solved, or
# [F1](../docs/glossary.md#f1), which also counts answers that are partly right (*Simple*: pictures with one distortion or
# none). Follow one paper's line from left to right; the papers' tasks differ, so one line can't be compared with another.
# (CodeDance's is flat at the end: its reinforcement is to save needless calls, which this figure doesn't show.) All begin at
# 0, because untrained the model doesn't act; notebook 12 says why a 0 can have so long an interval. An interval is long where
# few images were asked about: AGILE's puzzles here are of eight photographs.

# %%
stages = {
    "task": "images → tasks,\ntools, an expert",
    "SFT": "imitate the\nexpert",
    "GRPO": "play, compare,\nreinforce",
    "claims": "what holds\nhere?",
}
numbers = {
    "AGILE": {"task": "11", "SFT": "12", "GRPO": "13", "claims": "14, 15"},
    "Visual-ARFT": {"task": "21, 22", "SFT": "23", "GRPO": "23", "claims": "24"},
    "CodeDance": {"task": "31", "SFT": "32", "GRPO": "33", "claims": "34"},
    "Mags-RL": {"task": "41, 42", "SFT": "43", "GRPO": "43", "claims": "44"},
    "VISTA-Gym": {"task": "51, 52", "SFT": "53", "GRPO": "54", "claims": "55"},
    "your own": {"task": "60", "SFT": "60", "GRPO": "60"},
}

# %%
reached = {}
for name, results in published().items():
    if results is None:  # not measured yet
        continue
    measured, paper = by_stage(results), papers()[name]
    metric, told = next(iter(paper.load_evaluation().headlines.items()))
    trained = [(s, measured[s][metric]) for s in ("untrained", "sft", "grpo")]
    reached[f"{paper.title}: {told.partition(';')[0]}"] = trained
display(roadmap(stages, numbers, reached, "share solved, or F1"))

# %% [markdown]
# ## One puzzle
#
# A photograph that no model here was trained on is cut into four pieces, shuffled and labelled. Where
# does each piece belong? Write the four labels down in reading order before you open the second
# output. (Here the prompt shows the pieces whole. From notebook 11 on it shows thumbnails of them, so
# that there is something to find out by looking.)

# %%
photo = {p.id: p for p in photos("held-out")}[picture]
crop = random_crop(np.random.default_rng(seed), photo.image, 2)
rng = np.random.default_rng(seed)
task = make_task(crop, 2, 0, rng, "start", photo.id, piece_px=56)
display(plots.images([(p.name, p.image) for p in task.images], side=1.6))
print("in reading order they lie as", ", ".join(p.name for p in task.images))

# %% tags=["guess"]
display(plots.images([("restored", solved(task))], side=1.6))
print("in reading order they belong as", ", ".join(task.target))

# %% [markdown]
# You probably compared edges, and you knew what the thing is. A model has to learn both.
#
# ## A player that knows the answer
#
# The agent has a Python session of its own, in a [sandbox](../docs/glossary.md#sandbox). The session
# holds `state`, the list of labels, and three operations: look at the jigsaw, crop, zoom. In each
# [turn](../docs/glossary.md#turn) the agent thinks, writes code, and is shown what the code made. When
# it is done, it answers.
#
# The first player is a script that was told the answer. Follow it turn by turn, and find for each
# picture the line of code that made it.

# %%
vlm, chat = load_model_and_chat(model or TINY)
box = Sandbox(allow_unsafe=True).start()  # all players are the kit's
play = agile.Play(prompt="brief", max_turns=9, max_new_tokens=256)
expert = ScriptedPolicy(chat, expert_script(seed))
[episode] = play(expert, chat, box, [task], temperature=0.0)
display(view.show(episode, chat=chat, is_right=is_right))

# %% [markdown]
# What you see is one [episode](../docs/glossary.md#episode), the object that everything in this kit is made of. Tinted tokens
# were written by the player; a model learns from those alone. The rest, pictures included, came from the environment. At the
# end the episode earns a [reward](../docs/glossary.md#reward): 0.8 for the right answer, 0.2 for the form (it kept to the
# tags and wrote code), minus 0.05 for each turn that held code (a wrong episode is charged more: see below).
#
# **Exercise 00.1.** Count the turns of the episode above. What does it earn?

# %% tags=["exercise"]
earned = ...  # a number
check("00.1", earned, calls=episode.calls)

# %% tags=["guess"]
for name, part in score(episode, task.target).parts.items():
    print(f"{name:9s} {part:+.2f}")
print(f"{'reward':9s} {score(episode, task.target).total:+.2f}")

# %% [markdown]
# ## A player that has to see
#
# Now a model: `Qwen2.5-VL`, the paper's architecture, made small enough for one core (notebook 04). It
# was taught colours, shapes, digits, where things are and where a piece belongs, in words. It has also
# written tags and lines of Python where a question told it which. It was *not* taught to act: it never
# chose between looking, moving and answering, and saw no tool's result and no puzzle being solved. It
# gets the same puzzle in the same loop. Guess what ends its episode: an answer, the budget of turns, or
# something else?

# %% tags=["guess"]
print(f"{sum(p.numel() for p in vlm.parameters()) / 1e6:.1f} million parameters")
[first] = agile.play_greedily(vlm, chat, box, [task], play)
print("its episode ended by:", first.ended, "after", len(first.turns), "turn")
print("reward:", f"{score(first, task.target).total:+.2f}")

# %% [markdown]
# <details><summary>Why does it earn this? Open when you have guessed.</summary>
#
# `format`: its turn held neither code nor an answer, so there was nothing to run. A wrong episode is charged all five
# steps, the paper's budget of turns, however few it took (this notebook lets it play more; the charge stays): 5 × −0.05 =
# −0.25.
#
# </details>
#
# **Exercise 00.2.** A player keeps to the tags and always runs code in `calls` turns. It is right with
# probability `p`. A right episode pays for its own turns of code, a wrong one for all five. What does the
# player earn on average? With this formula you can say when one more look is worth its price.


# %% tags=["exercise"]
def expected_reward(p: float, calls: int) -> float:
    """Mean reward of a player that is right with probability p."""
    ...


check("00.2", expected_reward)

# %% [markdown]
# Here is what the model said. (The words may differ on your machine: if two tokens are nearly equally
# likely, the rounding of the processor decides between them. Cells whose output may differ start with
# `# NBVAL_IGNORE_OUTPUT`.)

# %%
# NBVAL_IGNORE_OUTPUT
print(repr(first.turns[0].text[:200]))
print(PROTOCOL.parse(first.turns[0].text))

# %% [markdown]
# It saw something, and said it in words that nothing can run. Compare the places that it named with the restored picture
# further up: how many of the four are right? Random guesses place one on average. Now ask it where each piece belongs and
# nothing else, without tools and tags. Will it say the same?

# %% tags=["guess"]
# NBVAL_IGNORE_OUTPUT
from pictures.permutations import belonging
from tiny import probe
from tiny.skills.text import Sample

question = [
    part for p in task.images for part in (f"Image {p.name}: ", np.asarray(p.image))
]
asked = Sample("place", (((*question, "Where does each belong?"), ""),))
[said] = probe.answer(vlm, chat, [asked])
print("it says:", said)
print("right:  ", belonging(sorted(task.target), task.target) + ".")

# %% [markdown]
# Whatever it says, none of it moves a piece. This model sees and doesn't act; notebook 12 counts how
# often what it says is right. (The paper's 7B model starts elsewhere: it tries to act, and seldom finds
# the order.) The notebooks show what turns such a model into an agent:
#
# - imitation of an expert that often guesses, on purpose ([SFT](../docs/glossary.md#sft)), teaches it to act, notebook 12;
# - rewards for episodes that it plays itself ([GRPO](../docs/glossary.md#grpo)) teach it to look before it
#   answers, notebook 13;
# - notebook 14 asks which of the paper's claims hold here.
#
# ## The notebooks
#
# Read them in order; each takes minutes. 00–06 are the basis of all papers; on a laptop 02 and 05 can wait until you
# ask how code is run safely, and how to train on GPUs. Each paper has numbers of its own, as AGILE 11 to 15: the task
# and its tools, training, claims. `python -m kit list` names them one by one.

# %%
from workshop.jobs.notebooks import sources

tens = {}
for notebook in sources():
    tens.setdefault(notebook.number[0], []).append(notebook)
for ten, some in tens.items():
    title = some[0].title.partition("·")[2].partition(":")[0].strip()
    told = {"0": "the basis of all papers", "6": "your own task, your own trainer"}
    told = told.get(ten, title)
    first_last = dict.fromkeys((some[0].number, some[-1].number))
    print(f"{'–'.join(first_last):7s}{told}")

# %% [markdown]
# The notebooks have the same shape (06 and 61, which follow no single paper, leave parts of it out): the question, the paper,
# what you will be able to do, what it costs; then a cell of parameters; then pictures, short texts, short cells and
# exercises; at the end *paper / here / why different*.
#
# ## Running them as jobs
#
# A notebook is also a program. Its parameters can be set from the command line, and what it writes goes to a folder of its
# own (`python` is `.venv/bin/python`, unless you activated the environment):
#
# ```
# python -m kit list                                # notebooks, profiles, runs
# python -m kit run agile --name mine               # 11 to 15; again: it resumes
# python -m kit run 13 --name mine --set steps=50   # one notebook, one value
# python -m kit view mine                           # results, and where files are
# python -m kit doctor                              # checks this machine
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
# | `smoke` | any | tiny | a few minutes; shows only that every cell runs |
# | `laptop` | 2 cores, 8 GB | tiny, committed with the kit | about 15 minutes; it really learns |
# | `gpu` | one GPU of 24 GB | Qwen2.5-VL-3B with [LoRA](../docs/glossary.md#lora) | not measured |
# | `node` | 8 GPUs of 80 GB | Qwen2.5-VL-7B, the papers' settings | not measured |
#
# ## This machine
#
# The next cell must print the same everywhere; the one after it describes the machine you are on.

# %%
import sys

from workshop.jobs.doctor import differences, installed_lock, read_lock

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
promises = [*box.guarantees]
kept = [guarantee for guarantee in promises if guarantee.enforced]
print(f"the sandbox keeps {len(kept)} of {len(promises)} promises here, such as:")
print("  yes ", kept[0].says if kept else "none")
for guarantee in promises:
    if not guarantee.enforced:
        print("  NO  ", guarantee.says)
box.close()

# %% [markdown]
# If packages differ, numbers may differ too: `make -B .venv/ready-cpu` installs the pinned ones. The sandbox tried each of
# its promises on this machine a moment ago. Those that it can't keep here have a line with NO: read them before you let
# it run code of a model that you don't trust. `python -m kit doctor` prints all of them, with their reasons.

# %% [markdown]
# ## Paper / here / why different

# %%
from papers.agile.reported import AGILE

right = int(score(first, task.target).parts["accuracy"] > 0)
print("2×2 puzzles, no piece in its place   solved")
print(f"paper: untrained 7B model            {AGILE['base']['acc_2x2_L0']:.1%} of 300")
print(f"paper: after SFT and RL              {AGILE['grpo']['acc_2x2_L0']:.1%} of 300")
print(f"here:  untrained tiny model          {right} of 1")
print("here:  after SFT and RL              see below, at the end")

# %% [markdown]
# AGILE's last number under *What you have seen* counts puzzles with some pieces in place as well; over all these levels the
# paper's agent solves 82.8 %.
#
# **Exercise 00.3.** The paper counts puzzles in which *no* piece lies in its place. A player that
# cannot see, but knows this, names at random one of the orders in which no piece stays where it is.
# Which share of such puzzles does it solve? Write it for any list of labels.
# (After `from itertools import permutations`, `permutations(labels)` gives all orders; for five labels
# there are 120.) What does your function say for four pieces, and does the paper's untrained 7B model, in
# the output above, do better?


# %% tags=["exercise"]
def guesser_share(labels: list[str]) -> float:
    """Share solved by guessing among the orders that leave no label in place."""
    ...


check("00.3", guesser_share)

# %% [markdown]
# <details><summary>Does the paper's untrained model do better? Open when you have solved it.</summary>
#
# No: 6.3% of them, where a player that can't see but knows the rule solves one in nine, 11.1%. Probably many of its
# answers weren't orders that leave no piece in place; which they were, the paper doesn't say.
#
# </details>
#
# One puzzle measures nothing; notebook 14 plays enough of them, with several seeds, for
# [confidence intervals](../docs/glossary.md#confidence-interval). The models differ in kind as well: the
# paper's can follow instructions and wasn't taught jigsaws, as far as its paper says; ours follows no
# instruction that it wasn't taught, and was taught to say where the pieces of such pictures belong. Its
# zero says that it doesn't act, not that it doesn't see.
#
# ## What you have seen
#
# How does a model that can describe a picture become an agent?

# %%
# NBVAL_IGNORE_OUTPUT
wanted = belonging(sorted(task.target), task.target).strip(".").split(", ")
placed = len(set(said.strip(".").split(", ")) & set(wanted))
brought = {
    name: " → ".join(f"{share.value:.2f}" for _, share in stages_of)
    for name, stages_of in reached.items()
}
told = "; ".join(f"{name} {shares}" for name, shares in brought.items())
display(
    Markdown(f"""
- **By learning to act**: asked in words it placed {placed} of {len(wanted)} pieces
  rightly;
  as an agent its episode ended by "{first.ended}" and earned
  {score(first, task.target).total:+.2f}.
- The script that knows the answer took {episode.calls} turns of code and earned
  {score(episode, task.target).total:+.2f}: the same loop, the same reward.
- What training brought in the published results (untrained → imitation of an expert
  that on purpose often guesses, gives up or calls without need → reinforcement; the
  first figure has imitation at its best, too): {told or "not measured"}.
""")
)

# %% [markdown]
# Next: [01, anatomy of an episode](01_episode.ipynb) shows what the loop does with tokens, masks and
# pictures. If you want to see an agent trained at once, go to [11, AGILE's task](11_agile.ipynb).
