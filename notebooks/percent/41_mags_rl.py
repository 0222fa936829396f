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
# # 41 · Mags-RL: the task, the boxes, the magnifying glass
#
# **The question.** An image shows where everything lies, and hides what it says. Can an agent learn to ask for the right part,
# magnified by [super-resolution](../docs/glossary.md#super-resolution)? And does it matter how the part is enlarged?
#
# **The paper.** [Mags-RL (Dong et al., arXiv:2605.27960)](https://arxiv.org/abs/2605.27960): two rounds, a super-resolution
# network between them, forty samples. Its code isn't published; its figures show episodes on photographs. Ours have the
# same form, on drawn boards.
#
# **Afterwards you can** play an [episode](../docs/glossary.md#episode) of two rounds; say which boxes are refused and why;
# turn a box from one frame into another; measure by decibels what a network adds to plain resizing.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 2 | 1 GB |
# | `gpu` | the same, more tasks | not measured | not measured |
# | `node` | the same, the paper's questions, SMFANet's weights | not measured | not measured |
#
# No model is trained here. At the end the tasks are written to `runs/<run>/data`. The paper's own questions come from a hub:
# `python data_scripts/mags_rl.py --out data/paper_mags --hub --pin --judge URL --judge-model NAME --more-samples 200`, and
# `data` takes them from there.

# %% tags=["parameters"]
run: str = "mags_rl"  # run directory under runs/, shared by notebooks 41 to 44
seed: int = 0  # draws what is trained on
test_seed: int = 0  # draws the other sides: the same for every seed
samples: int = 20  # tasks of each stage; paper: 20
more_samples: int = 200  # of each stage, to find out what more of them add
development_tasks: int = 6  # tasks of each kind to make choices on
test_tasks: int = 12  # tasks of each kind to measure by
network: str = "span"  # what enlarges crops: span, smfanet, bicubic or none
scale: int = 2  # how many times
weights: str = ""  # file of SMFANet's weights
data: str = ""  # folder of data_scripts/mags_rl.py --hub; empty: drawn boards alone
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)

# %%
from textwrap import fill

import numpy as np
from IPython.display import display
from kit.data.store import save_tasks
from kit.files import run_folder
from kit.tools.boxes import Box, convert
from kit.view import plots
from papers.mags_rl.difficulty import hub_sets
from papers.mags_rl.env import MagsEnv
from papers.mags_rl.experiment import Play, magnifier
from papers.mags_rl.expert import RIGHT_SHARE, looks_of
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.tasks import SMALL, STAGES, make_tasks
from PIL import Image
from visual_tools.super_resolution import super_resolution
from workshop.exercises import check, hint, solution

# %% [markdown]
# ## Three skills, three difficulties
#
# The paper asks to count (TallyQA), to compare places (VSR) and to name what something is like (GQA). Here a program
# draws boards of four cards and asks the same three things. How *hard* a question is depends on how many pixels decide its
# answer: a whole card, a number on it, or one printed word.

# %% tags=["figure"]
kinds = make_tasks(dict.fromkeys(MAKERS, 1), 3, "development")
by_kind = {f"{t.meta['skill']}/{t.meta['difficulty']}": t for t in kinds}
chosen = [by_kind[f"attribute/{level}"] for level in ("easy", "medium", "hard")]
items = [(t.meta["difficulty"], t.images[0].image) for t in chosen]
display(plots.images(items, side=1.8, title="Attributes: easy, medium, hard"))
for t in chosen:
    print(f"{t.meta['difficulty']:7s} {t.question}")

# %% [markdown]
# Answer all three from the images above. Suppose a model reads only letters of the size that it was taught, twice as tall
# as these. Which of the three could it answer?

# %% tags=["guess", "figure"]
for t in chosen:
    share = t.meta["share"]
    print(
        f"{t.meta['difficulty']:7s} {t.target[0]:12s} {share:.1%} of the pixels decide"
    )

# %% [markdown]
# Only the first needs no letters, so it could answer only that one. (Whether it does is another matter: 44 has its share of
# easy questions asked directly, 0.15.) The tiny model is such a model: on a board digits and words are half as tall as those
# that it was taught to read.
#
# You see at once *where* each card lies, and if you come closer you can read it, too. A model can't come closer. Ours cuts an
# image into squares and makes one vector of each. Here are its squares, as white lines on the hard board:

# %% tags=["figure"]
from kit.policy.hf import HFPolicy, load_model_and_chat
from papers.mags_rl.expert import described
from tiny import TINY

vlm, chat = load_model_and_chat(str(TINY))
eye = vlm.config.vision_config
square = eye.patch_size * eye.spatial_merge_size
figure = plots.images([(f"{square}-pixel squares", chosen[-1].images[0].image)])
figure.set_size_inches(2.2, 2.5)
for at in range(0, chosen[-1].images[0].image.width + 1, square):
    figure.axes[0].axvline(at - 0.5, color="white", linewidth=0.7)
    figure.axes[0].axhline(at - 0.5, color="white", linewidth=0.7)
display(figure)

# %% [markdown]
# You can read on through the lines. The model has one vector for what lies in a square, a word is less than two of
# them, and it was never taught letters this small. Whether it reads them all the same is tested: ask it about twelve hard
# boards, in its own words: what the board asks, where the cards are, and what the card in question says once it is
# enlarged alone. How many of the twelve does it get right each time? Guess all three.

# %% tags=["guess", "figure"]
boards = make_tasks({"attribute/hard": 12}, 3, "development")
asked, ask = described(boards), Play(prompt=prompt, direct=True, max_new_tokens=60)
kinds = {"what the board asks": boards, "where the cards are": asked[::2]}
kinds |= {"what a card says, enlarged": asked[1::2]}
known = {}
for name, some in kinds.items():
    told = ask(HFPolicy(vlm, chat), chat, ask.idle(), some, temperature=0.0)
    wanted = (
        boards if name.startswith("what") else some
    )  # of a card: the line asked for
    pairs = zip(wanted, told, strict=True)
    known[name] = sum(t.target[0] in e.turns[0].text for t, e in pairs)
    print(
        f"{name:27s} {known[name]:2d} of {len(some)} right; {told[2].turns[0].text!r}"
    )

# %% [markdown]
# Compare the first number with the third: that difference is what magnifying is worth here to an agent that always picks the
# right card, and it is so by construction.
#
# ## Two rounds by hand
#
# You are the agent. The [environment](../docs/glossary.md#environment) tells you:

# %% tags=["figure"]
task = by_kind["attribute/hard"]
glass = magnifier(network, scale, weights)
env = MagsEnv(glass, prompt=prompt)
env.reset(options={"task": task})
system, user = env.prompt(task)
print(fill(system, 84), "\n")
print("".join(part if isinstance(part, str) else "[image] " for part in user))

# %% [markdown]
# The first round reasons, names boxes within the reasoning, and ends with `</think>`. A box is left, top, right and bottom,
# as shares of the sides. Which box would you ask for? Here is the right one, and what comes back:

# %% tags=["figure"]
where = task.meta["boxes"]
first = f"<think>{task.meta['seen']}. <zoom>{where}</zoom></think>"
print(fill(first, 84))
seen, *_ = env.step(first)
print("status:", seen.status, "| after the crop:", seen.closing)
display(plots.images([(i.name, i.image) for i in seen.images], side=1.8))

# %% [markdown]
# Now the model can, too: these letters are as tall as those that it was taught. The second round rethinks and answers;
# whatever else it says, it is the last.

# %% tags=["figure"]
said = f"<rethink>I read it now.</rethink><answer>{task.target[0]}</answer>"
_, reward, over, *_ = env.step(said)
print(said)
print("right:", reward, "| over:", over)

# %% [markdown]
# ## Boxes that are refused
#
# An agent may write anything between the tags, and nothing that it writes ends the episode: it is told. Which of these
# eight lists show something?

# %% tags=["figure"]
lists = {
    "reversed": "[[0.5, 0.5, 0.1, 0.9]]",
    "outside": "[[0.7, 0.7, 1.2, 0.9]]",
    "half of the image": "[[0.0, 0.0, 1.0, 0.5]]",
    "a thin strip": "[[0.0, 0.1, 0.5, 0.12]]",
    "words": '[["left", "top", "right", "bottom"]]',
    "NaN": "[[NaN, 0.0, 0.3, 0.3]]",
    "twice the same": "[[0.0, 0.0, 0.4, 0.4], [0.02, 0.0, 0.42, 0.4]]",
    "no list": "the card at the top",
}
for name, boxes in lists.items():
    print(f"{name:18s} {boxes}")

# %% tags=["guess", "figure"]
for name, boxes in lists.items():
    env.reset(options={"task": task})
    seen, *_ = env.step(f"<think>Look. <zoom>{boxes}</zoom></think>")
    told = seen.text.removeprefix("Error: ").strip() or "nothing"
    line = f"{name:18s} {len(seen.images)} shown; told: {told}"
    print(fill(line, 84, subsequent_indent=" " * 19))

# %% [markdown]
# The paper asks that a box be smaller than 40 % of the image. Why? Without it one box around everything would always be
# valid: all of it would be enlarged, and nothing would be chosen.
#
# **Exercise 41.1.** A square box in the corner, from 0 to $s$ on both sides. Up to which $s$ is it smaller than 40 % of the
# image?

# %% tags=["exercise"]
largest = ...  # a number, two decimals are enough

check("41.1", largest)

# %% [markdown]
# **Exercise 41.2.** Write the check: left, top, right, bottom are shares; say whether a box is in order, inside and small
# enough. Anything that isn't a number may be left to others.


# %% tags=["exercise"]
def is_valid(left: float, top: float, right: float, bottom: float) -> bool:
    """Whether a box may be magnified."""
    ...


check("41.2", is_valid)

# %% [markdown]
# ## One box, four frames
#
# Models speak of boxes in different units: shares, thousandths (InternVL3), or pixels of the image as *resized* for their
# vision tower (Qwen2.5-VL). A photograph of 640 × 480 pixels, resized to 644 × 476; the model says (161, 119, 322, 238). What
# is that in pixels of the photograph?

# %% tags=["guess", "figure"]
said = Box("photo", "resized", 161, 119, 322, 238)
for frame in ("pixels", "thousandths", "shares"):
    found = convert(said, frame, size=(640, 480), resized=(644, 476))
    print(f"{frame:12s}", tuple(round(v, 3) for v in found.corners))

# %% [markdown]
# The paper doesn't say in which unit its boxes are. Read in the wrong one a box lies elsewhere, and nobody notices: the crop
# is a crop of something. So here the environment names its frame, and the prompt `full`, for real models, says it. (The brief one above
# doesn't: the tiny model learns from its demonstrations that boxes are shares.)
#
# ## The magnifying glass
#
# Between the rounds a network enlarges each crop: SMFANet in the paper, SPAN (`span`) here. Plain resizing blurs; a
# super-resolution network was trained to draw the edges that a larger image would have. Take a card, make it half as large,
# and enlarge it again:

# %% tags=["figure"]
board = task.tool_images[0].image
card = board.crop(tuple(round(v * board.width) for v in where[0]))
half = card.resize((card.width // 2, card.height // 2), Image.Resampling.BICUBIC)
ways = {
    name: super_resolution(name, 2).enlarge([half])[0] for name in ("bicubic", "span")
}
shown = [
    ("as it was", card),
    ("half", half.resize(card.size, Image.Resampling.NEAREST)),
]
display(plots.images([*shown, *ways.items()], side=1.6))

# %% [markdown]
# How near an image comes to what it was is told in decibels: with values from 0 to 255 and $m$ the mean squared
# difference of all values, $\mathrm{PSNR} = 10 \log_{10}(255^2 / m)$. By how many decibels does the network beat resizing?


# %% tags=["guess", "figure"]
def decibels(made, wanted):
    """Peak signal-to-noise ratio of two images."""
    apart = np.asarray(made, dtype=float) - np.asarray(wanted, dtype=float)
    return 10 * np.log10(255**2 / np.mean(apart**2))


for name, made in ways.items():
    print(f"{name:8s} {decibels(made, card):.1f} dB")

# %% [markdown]
# **Exercise 41.3.** Every value of an image is 5 away from what it should be. How many decibels is that?

# %% tags=["exercise"]
five_away = ...  # a number

check("41.3", five_away)

# %% [markdown]
# `python -m benchmarks super_resolution` measures this over many cards and photographs, and how many crops a second each way
# enlarges. A network is far slower than resizing. Therefore crops of all episodes that wait go through
# it together, and what was enlarged is remembered: the rollouts of one group ask for the same card again and again.

# %% tags=["figure"]
glass = super_resolution("span", 2)
worked = glass.enlarged
for _ in range(8):
    glass.enlarge([card])
print("asked 8 times, worked on:", glass.enlarged - worked)

# %% [markdown]
# ## Some of the looks are wrong
#
# The tiny model was never taught to follow instructions, so before reinforcement it sees a
# [format start](../docs/glossary.md#format-start): a script's episodes, whose form is right, but which look at the right
# card in 0.45 of the tasks only; in the others they look at the middle of the board, where the cards meet, and give up.
# Where to look is left for reinforcement to find out. Of sixty tasks, how many looks do you
# expect to be right, and how far off may chance put them?

# %% tags=["guess", "figure"]
many = make_tasks({"attribute/hard": 60}, seed, "train")
right = [looks_of(t) == tuple(t.meta["looks"]) for t in many]
expected = RIGHT_SHARE * len(many)
spread = (expected * (1 - RIGHT_SHARE)) ** 0.5
print(f"{sum(right)} of {len(right)} look at the right card")
print(
    f"expected: {expected:.0f}, give or take {2 * spread:.0f} (two standard deviations)"
)

# %% [markdown]
# **Exercise 41.4.** A start that looks right with probability $q$, and a reader that reads a crop rightly in 0.6 of the
# cases, and nothing from a wrong one. What share of its answers is right? And in a group of 8 rollouts, how likely is at
# least one right answer, without which GRPO learns nothing about where to look?


# %% tags=["exercise"]
def start(q: float) -> tuple[float, float]:
    """Share of right answers, and the chance that one of 8 rollouts is right."""
    ...


check("41.4", start)

# %% [markdown]
# ## Two stages of twenty
#
# The curriculum: stage 1 trains on medium questions of two skills, counting and comparing places (the number on the card
# beside a named one), and asks for one box. Stage 2 trains on hard ones, counting and naming (a line of a card), and asks for
# several. (Medium questions about a named card, hard ones about the card beside it, and all easy ones are in neither.) Twenty
# samples each are drawn here, and ten times as many beside them, to find out later what more of them add. Notebook 43 trains
# on these files, and 43 and 44 measure on the test boards, which are kept apart: none of them is trained on. `test-small` has
# cards of half the size, so that 44 enlarges a crop four times, not twice: a harsher source for the network.

# %%
print("drawing the boards; those of the larger sets take a while …")
sets = {}
for stage, kinds in STAGES.items():
    for name, n in ((f"stage{stage}", samples), (f"stage{stage}-more", more_samples)):
        sets[name] = make_tasks(dict.fromkeys(kinds, n // len(kinds)), seed, "train")
for side, n in (("development", development_tasks), ("test", test_tasks)):
    sets[side] = make_tasks(dict.fromkeys(MAKERS, n), test_seed, side)
hard = [kind for kind in MAKERS if kind.endswith("/hard")]
small = make_tasks(dict.fromkeys(hard, test_tasks), test_seed, "test", SMALL)
sets["test-small"] = small
sets |= hub_sets(data)
folder = run_folder(run) / "data"
Play(prompt=prompt, network=network, scale=scale, weights=weights).keep(folder)
for name, tasks in sets.items():
    save_tasks(folder / f"{name}.jsonl", tasks)
    print(f"data/{name}.jsonl: {len(tasks)} tasks")

# %% [markdown]
# ## Paper / here / why different

# %% tags=["figure"]
print("                      paper                here")
print(f"samples of a stage    20                   {samples}")
print(f"the network           SMFANet              {network}, {scale} times")
print("a box, smaller than   40 % of the image    the same, by its area")
print("who says what's hard  a model's score      the share of pixels that decide")

# %% [markdown]
# The paper's factor and the unit of its boxes aren't told. SPAN stands for SMFANet, since it installs with a package; with
# `network="smfanet"` and the published file the other one runs; the benchmark above measures both.
#
# ## What you have seen
#
# Can an agent ask for the right part, and does it matter how the part is enlarged?

# %% tags=["figure"]
from IPython.display import Markdown

read, n = known["what a card says, enlarged"], len(boards)
asked_for = known["what the board asks"]
needed = "It has to ask" if read > asked_for else "It needn't ask"
db = {name: decibels(made, card) for name, made in ways.items()}
closer = "nearer to" if db["span"] > db["bicubic"] else "no nearer to"
display(
    Markdown(f"""
- **{needed}**: asked at once, the untrained model answers {asked_for} of {n} hard boards.
  It says of {known["where the cards are"]} of them where each card lies, and reads the
  wanted line of {read} cards that are enlarged.
- What enlarges matters to the eye: of one card the network's {db["span"]:.1f} dB are
  {closer} the original than plain resizing's {db["bicubic"]:.1f} dB. Whether it matters to
  the answers is claim M2.
- Whether it can be learnt is open: the script looks rightly in {sum(right)} of {len(right)}
  tasks, so both ways are shown, and only a reward says which of them pays.
""")
)

# %% [markdown]
# Next: [42](42_mags_rl_rewards.ipynb), which takes that reward apart; [44](44_mags_rl_claims.ipynb) measures whether the
# network makes answers better.
