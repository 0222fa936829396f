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
# # 11 · AGILE: the task, the tools, the data
#
# **The question.** What exactly does a jigsaw agent see, what can it do, what is it rewarded for, and
# from which pictures does it learn?
#
# **The paper.** [AGILE (Zeng et al., arXiv:2510.01304)](https://arxiv.org/abs/2510.01304), sections 3.1–3.3: the jigsaw
# task (eq. 1–3), the operations, the [cold-start](../docs/glossary.md#cold-start) data, the reward (eq. 5 and 6). Tables
# 1 and 2 for the levels of difficulty. Its Figure 1 shows the operations (swap and observe, crop, zoom) and its Figure 2
# the loop of model and environment; below the same operations run, on other pictures and smaller pieces.
#
# **Afterwards you can** say why an agent has to look before it answers, and what the look costs; play a puzzle by hand,
# mistakes included; compute its reward; make puzzle sets and expert [episodes](../docs/glossary.md#episode) from any
# pictures and check that training and evaluation share none.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 2 GB |
# | `gpu` | the same, pieces at their own size, 1,600 expert episodes | not measured | not measured |
# | `node` | the same at the paper's sizes | not measured | not measured |
#
# No model is trained here. At the end the notebook writes `runs/<run>/data`, which notebooks 12, 13
# and 14 read. The paper's own mixture of 15.6K pictures comes from a hub: `python data_scripts/agile.py --hub` fetches it
# to a folder that the parameter `images` names, and `node` cuts it as the paper does: whole, with 300 pictures to test
# and 300 to make choices on besides.
#
# **What is different on a laptop.** The prompt shows *thumbnails* of the pieces, so that our small agent has to look.
# The profiles `gpu` and `node` show the pieces themselves, as the paper does. Each difference is named where it comes up.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 15
seed: int = 0  # fixes every scene, crop, shuffle and turn of the expert
images: str = ""  # folder of your or a hub's pictures; empty: the kit's own
whole: bool = False  # cut that folder's pictures whole, as the paper; else crops
max_pixels: int = 0  # of a picture at its own size (Table 4: 401,408); 0: no limit
unseen_pictures: int = 0  # each to test and to choose on; 0: a quarter, a tenth
m: int = 2  # pieces a side of the training puzzles
piece_px: int = 56  # side of a piece in pixels; 0 keeps the picture's own size
thumbnail: int = 4  # colours a side of what the prompt shows of a piece; paper: 0, all
train_puzzles: int = 640  # puzzles for reinforcement learning
train_levels: list[int] = [0, 1, 2]  # pieces in place at first, by turns; paper: 0
eval_puzzles: int = 48  # held-out puzzles a level
sft_episodes: int = 160  # expert episodes to keep for notebook 12
guesses: float = 0.6  # share of them that guess instead of looking; paper: 0
model: str = ""  # its tokenizer encodes the episodes; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)

# %%
from collections import Counter
from dataclasses import replace
from itertools import permutations
from textwrap import fill

import numpy as np
from IPython.display import display
from kit import view
from kit.chat import Chat
from kit.data.folder import folder_pictures
from kit.data.leak import solved
from kit.episode import Episode, Turn
from kit.files import run_folder
from kit.view import plots
from papers.agile import experiment as agile
from papers.agile.env import PROTOCOL, JigsawEnv
from papers.agile.puzzle import LABELS, make_task, shuffle, with_thumbnails
from papers.agile.reported import AGILE
from papers.agile.reward import is_right, score
from pictures.photos import photos, random_crop
from tiny import TINY
from turn_sandbox import Sandbox
from workshop.exercises import check, hint, solution

# %%
pictures = [*photos("train"), *photos("held-out")]
counts = {"held_out": unseen_pictures, "development": unseen_pictures}
if images:
    pictures = folder_pictures(
        images, longest=1280, **(counts if unseen_pictures else {})
    )
held_out = [p for p in pictures if p.split in ("test", "held-out")]

# %% [markdown]
# ## One puzzle, seen from afar
#
# A picture is cut into m × m pieces. They are shuffled, then labelled A, B, C, … in reading order (eq. 1). You are asked
# which piece belongs where. But first you see thumbnails only: each piece is boiled down to a few patches of colour.
#
# Which piece belongs at the top left? And which order restores the picture? Write your guess down.

# %%
photo = held_out[min(2, len(held_out) - 1)]
crop = random_crop(np.random.default_rng(seed), photo.image, 2) or photo.image
task = make_task(crop, 2, 0, np.random.default_rng(7), "demo", photo.id, piece_px=56)
task = with_thumbnails(task, thumbnail)
display(plots.images([(p.name, p.image) for p in task.images]))
print("cut from", photo.id, "into pieces of", task.tool_images[0].image.size, "pixels")
print("the prompt shows", task.images[0].image.size, "pixels of each")

# %% [markdown]
# For you it is hard: write down an order all the same. Now the same four pieces at their full
# size. Guess again before you open it.

# %% tags=["guess"]
display(plots.images([(p.name, p.image) for p in task.tool_images], side=1.0))
print("the right order:", ", ".join(task.target))

# %%
display(plots.images([("put together", solved(task))]))

# %% [markdown]
# This is why an agent acts: **the prompt holds little of what it needs, and a tool brings the rest.** A real model is in
# the same place when a picture of 4,000 pixels is shrunk to fit its input: the writing on a sign is gone until it crops.
#
# Little isn't nothing. A few patches of colour still say which piece has the sky, and our tiny model was pretrained to put
# pieces in order. Before any training as an agent it is asked for the order, in one turn: once it sees the thumbnails,
# once the full pieces. Which share of the held-out puzzles does it solve each time? A guess is right in one of 24.

# %% tags=["guess", "figure"]
from kit.evaluate.intervals import Interval
from kit.files import ROOT, read_json

published = (read_json(ROOT / "results" / "agile.json") or {}).get("metrics", {})
for stage, what in (("direct", "thumbnails"), ("direct_originals", "full pieces")):
    record = published.get(f"{stage}/acc_2x2")
    share = Interval.of(record) if record else "not measured yet"
    print(f"asked from {what:12s} {share}")
print(f"a guess                 {1 / 24:.3f}")

# %% [markdown]
# What lies between the two is what acting can win. (In brackets the 95 % [interval](../docs/glossary.md#confidence-interval)
# of the published trainings; notebook 12 tells how to read it.) [Notebook 12](12_agile_sft.ipynb) asks both questions again.
#
# The paper shows full pieces from the beginning. Its model of seven billion weights can't tell the order from them
# and has to move them about. Ours was pretrained on just this question, so full pieces would tell it everything at once,
# and acting would be an empty form. Hence the thumbnails. (With `thumbnail=0` you get the paper's prompt.)

# %% [markdown]
# In the paper's symbols, and in ours:
#
# $$I_{Shuffle} = \{I_1, \dots, I_{m^2}\} \quad (1) \qquad
# I_{GT} = \{I_{\pi(1)}, \dots, I_{\pi(m^2)}\} \quad (2) \qquad
# I_{State} = \{I_{\pi^*(1)}, \dots, I_{\pi^*(m^2)}\} \quad (3)$$
#
# | symbol | meaning | here |
# |---|---|---|
# | $I_k$ | the piece lying at spot k after shuffling; k = 1, 2, … is A, B, … | `task.images[k - 1]` |
# | $\pi$ | which spot's piece belongs at place 1, 2, … | `task.target` |
# | $\pi^*$ | which piece lies there now | `state`, in the agent's session |
#
# `shuffle` tells which piece lies at each spot: spot k shows the piece that belongs at place `order[k]`. The target tells
# the reverse: for each place, the label of the spot at which its piece lies. (It is the inverse permutation. The symbols
# count from 1, the code from 0.)

# %%
order = shuffle(4, 0, np.random.default_rng(7))
print("the spots have the labels      ", list(LABELS[:4]))
print("spot k shows the piece of place", order)
print("places 0, 1, 2, 3 need         ", list(task.target))

# %% [markdown]
# **Exercise 11.1.** Compute the target from the order, for any number of pieces. `LABELS[0]` is A, `LABELS[1]` is B, and
# so on.


# %% tags=["exercise"]
def target_of(order: list[int]) -> list[str]:
    """The label that each place needs, place by place."""
    ...


check("11.1", target_of)

# %% [markdown]
# ## How hard can a puzzle be?
#
# Level LN: exactly N pieces start where they belong. Four pieces have 24 arrangements. In how many of them are 0, 1, 2, 3
# and 4 pieces in place? One of these numbers is 0. Guess which.

# %% tags=["guess"]
counted = Counter(
    sum(spot == home for spot, home in enumerate(arrangement))
    for arrangement in permutations(range(4))
)
for n in range(5):
    print(f"{n} of 4 in place: {counted[n]:2d} arrangements")

# %% [markdown]
# Three in place is impossible: only its own place is left for the fourth piece. And four in place is no puzzle. So the
# paper evaluates on 2×2 at L0–L2 and on 3×3 at L0–L7, and trains on 2×2 at L0 only: all misplaced. The kit makes any level
# that exists and refuses the others. (The appendix counts the arrangements of a level without listing them.)

# %%
try:
    make_task(crop, 2, 3, np.random.default_rng(0), "impossible")
except ValueError as error:
    print(fill(str(error), 88))

# %% [markdown]
# ## What the policy sees
#
# The model that plays is called the [policy](../docs/glossary.md#policy). It gets one prompt: a system text, then each
# piece after its label. This is `brief`, for the tiny model; `full` gives a large one the instructions of the paper's
# appendix B in the kit's words.

# %%
box = Sandbox(allow_unsafe=True).start()  # all players are the kit's
env = JigsawEnv(box, prompt=prompt)
system, user = env.prompt(task)
print(fill(system, 88), "\n")
shown = [part if isinstance(part, str) else "[picture] " for part in user]
print(fill("".join(shown), 88))

# %% [markdown]
# A picture becomes [tokens](../docs/glossary.md#image-tokens), one for every 28 × 28 pixels ([notebook
# 04](04_tiny_vlm.ipynb)). How many tokens has a thumbnail? How many has a piece of 56 × 56, and a picture of the paper's
# limit, 401,408 pixels? Guess.

# %% tags=["guess"]
chat = Chat.from_pretrained(model or TINY)
ids = chat.prompt(system, user)
print("of a piece, shown:", chat.image_tokens(task.images[0]), "tokens")
print("a piece:          ", chat.image_tokens(task.tool_images[0]), "tokens")
print(
    "the prompt:       ", len(ids), "tokens,", ids.count(chat.image_id), "of pictures"
)
print("the paper's limit:", 401408 // 28**2, "tokens a picture")

# %% [markdown]
# ## What the policy can do
#
# In each [turn](../docs/glossary.md#turn) it writes code, which runs in the sandbox ([notebook 02](02_sandbox.ipynb)) in
# a session of its own. There lie the *full* pieces and the list `state`, the order that they have now. There are three
# operations, and each makes one named picture that stays for later turns:
#
# - `observation(state)` lays the pieces out in their current order and shows them;
# - `crop(image, box)` takes a part, the box in shares of the sides, 0 to 1;
# - `zoom(image, factor)` enlarges.
#
# Take the first turn of an agent that looks. What comes back?

# %%
env.reset(options={"task": task})


def turn(code: str):
    """One turn of ours, as a policy would write it."""
    observation, *_ = env.step(f"<think>Let me try.</think><code>{code}</code>")
    return observation


look = turn("observation_image_1 = observation(state)")
display(plots.images([(tile.name, tile.image) for tile in look.images], side=1.0))
print(look.closing)

# %% [markdown]
# There they are at full size, one after the other in the order of the places, and behind them the question that the
# prompt had asked already. This is the second difference on a laptop: the paper's `observation` shows *one* picture, all
# pieces pasted together with a thin white gap. The tiny model was taught to see pieces one by one, and a question that
# stands behind them. So it needs to learn acting only, and not another way of seeing.
#
# The picture pasted together exists here as well. The session keeps it under its name, and the next turns work on it. It
# has 114 × 114 pixels. Guess the size of this crop, and of this zoom.

# %% tags=["guess"]
seen = [
    turn("crop_image_1 = crop(observation_image_1, [0.25, 0.0, 0.75, 0.5])"),
    turn("zoom_image_1 = zoom(crop_image_1, 2.0)"),
]
shown = [observation.images[0] for observation in seen]
display(plots.images([(picture.name, picture.image) for picture in shown]))
print([picture.image.size for picture in shown])

# %% [markdown]
# A swap is ordinary Python. A turn may exchange two pieces once and must make one picture, so a swap comes together with
# an observation. Swap the piece that belongs at the top left into its place:

# %%
wanted = task.target[0]
there = [p.name for p in task.images].index(wanted)
swap = f"state[0], state[{there}] = state[{there}], state[0]"
after = turn(f"{swap}\nobservation_image_2 = observation(state)")
print(swap)
display(plots.images([(tile.name, tile.image) for tile in after.images], side=1.0))

# %% [markdown]
# ## What can go wrong
#
# Every error comes back as an [observation](../docs/glossary.md#observation): the model reads the message in its next
# turn. And a turn happens completely or not at all: if it fails, `state` and all pictures are as before. How many of these
# six turns fail? Guess.

# %% tags=["guess"]
attempts = {
    "two pictures in a turn": "a = observation(state)\nb = zoom(a, 2.0)",
    "three pieces moved": "state[:3] = state[1:3] + state[:1]\na = observation(state)",
    "a piece used twice": "state[0] = state[1]\na = observation(state)",
    "only thinking": "x = 3",
    "an unknown picture": "a = crop(observation_image_9, [0, 0, 1, 1])",
    "a box outside": "a = crop(observation_image_1, [0.5, 0.5, 1.5, 1.5])",
}
for name, code in attempts.items():
    message = f"{name:25s} → {turn(code).text}"
    print(fill(message, 88, subsequent_indent=" " * 28))

# %% [markdown]
# Did they leave a trace? Two of them changed `state` before they failed. It must be as it was after the swap:

# %%
printed = turn("print(state)\nobservation_image_3 = observation(state)")
expected_state = [p.name for p in task.images]
expected_state[0], expected_state[there] = expected_state[there], expected_state[0]
print(printed.text.strip(), "expected", expected_state)
assert printed.text.strip() == f"Output: {expected_state}"

# %% [markdown]
# ## Looking pays
#
# You saw the pieces, so you know the order. Answer: the episode is over, and the environment tells whether every piece is
# in its place.

# %%
labels = ", ".join(f'"{label}"' for label in task.target)
answer = f"<think>I have seen them.</think><answer>[{labels}]</answer>"
_, right, terminated, *_ = env.step(answer)
print("right:", right, "| over:", terminated)

# %% [markdown]
# An episode ends with an answer, or when its turns are used up (5 in training, Table 5). Here it also ends at once at a
# turn with neither code nor answer; in the paper's algorithm 1, and in the profile `node`, it is told so and goes on.

# %%
env.reset(options={"task": task})
observation, _, terminated, _, _ = env.step("The eyes are on the left.")
print(observation.text, "| over:", terminated)
env.close()

# %% [markdown]
# ## Two ways to play
#
# The paper's demonstrations were played by a large model. Here a script that knows the answer plays: it looks, says
# where each piece belongs and in which order, exchanges pieces, and answers when every piece is in its place. Step
# through it. The tinted tokens are the policy's own, and training uses no others (the [loss
# mask](../docs/glossary.md#loss-mask) marks them).

# %%
from kit.policy.scripted import ScriptedPolicy
from papers.agile.expert import SHORT_STEPS, STEPS, expert_script

code_turns = SHORT_STEPS if thumbnail else STEPS
play = agile.Play(prompt=prompt, max_turns=max(code_turns) + 1)
looking = ScriptedPolicy(chat, expert_script(seed, code_turns))
[episode] = play(looking, chat, box, [task], temperature=0.0)
display(view.show(episode, chat=chat, is_right=is_right))

# %%
print("turns:", len(episode.turns), "| ended by:", episode.ended)
print(len(episode.ids), "tokens, the policy's own:", sum(episode.mask))

# %% [markdown]
# The same script can be told to guess: then it says so and answers at once, with any order. Is it right this time?

# %% tags=["guess"]
guessing = ScriptedPolicy(chat, expert_script(seed, code_turns, guesses=1.0))
[guess] = play(guessing, chat, box, [task], temperature=0.0)
print(guess.turns[0].text)
print("turns:", len(guess.turns), "| right:", is_right(guess, task.target))

# %% [markdown]
# ## The reward
#
# $$R_{step} = \lambda\,(\mathbb{1}[R_{acc}=1]\,step_{num} + \mathbb{1}[R_{acc}=0]\,step_{max})
# \quad (5) \qquad R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \quad (6)$$
#
# with $\alpha = 0.8$, $\beta = 0.2$, $\gamma = 1$, $\lambda = -0.05$, $step_{max} = 5$. In words: 0.8 for
# the right answer, 0.2 for form (every turn in its tags, some code, and an answer at the end), and each turn of code costs 0.05; if the answer is
# wrong, five turns are charged whatever their number.
#
# **Exercise 11.2.** Write eq. 5 and 6.


# %% tags=["exercise"]
def reward(right: bool, well_formed: bool, steps: int) -> float:
    """Reward of an episode with ``steps`` turns of code."""
    ...


check("11.2", reward)

# %% [markdown]
# The kit scores *episodes*. Here are four, written by hand, and the expert's from above. Work out their rewards, or call
# your function, before you open the output.


# %%
def written(right: bool, well_formed: bool, steps: int) -> Episode:
    """An episode with these properties, written by hand."""
    code = "<code>observation_image_1 = observation(state)</code>"
    texts = [f"<think>I look.</think>{code}"] * steps
    if steps and not well_formed:
        texts[0] = code  # without its reasoning
    labels = list(task.target) if right else sorted(task.target)
    texts.append(f"<think>Done.</think><answer>{labels}</answer>")
    turns = tuple(Turn((), (), text, PROTOCOL.parse(text)) for text in texts)
    return Episode(task, (), turns, "answer")


# %% tags=["guess"]
cases = {
    "right, well-formed, 2 steps": (True, True, 2),
    "wrong, well-formed, 2 steps": (False, True, 2),
    "right, malformed, 3 steps": (True, False, 3),
    "wrong, malformed, 3 steps": (False, False, 3),
}
for name, case in cases.items():
    scored = score(written(*case), task.target)
    parts = ", ".join(f"{part} {value:+.2f}" for part, value in scored.parts.items())
    print(f"{name:30s} {scored.total:+.2f} = {parts}")
for name, played in (("the expert looks", episode), ("the expert guesses", guess)):
    print(f"{name:30s} {score(played, task.target).total:+.2f}")

# %% [markdown]
# Remember the next numbers for notebook 13. Which number of steps earns the most? Guess.

# %% tags=["guess"]
print("steps  right   wrong")
for steps in range(5):
    episodes = [written(right, True, steps) for right in (True, False)]
    right, wrong = (score(e, task.target).total for e in episodes)
    print(f"  {steps}    {right:+.2f}   {wrong:+.2f}")

# %% [markdown]
# An answer without any code counts as malformed, because reasoning, *code* and answer each belong in their tags. So one
# turn of code and then the right answer earns most.
#
# **Exercise 11.3.** Does it pay to look once more? Without another look the agent has `steps` turns of code and is right
# with probability `p`; with it, one turn more, and it is right with probability `q`. All is well-formed. By how much
# does the expected reward change? (The expected reward is the mean over right and wrong, weighted with their
# probabilities.)


# %% tags=["exercise"]
def gain_of_a_look(p: float, q: float, steps: int) -> float:
    """Expected reward with another look, minus without."""
    ...


check("11.3", gain_of_a_look)

# %% [markdown]
# Now the choice that our agent will have to make. It can guess at once, blindly: then it is right in 1 of 24 puzzles. Or
# it looks once and answers. From which share of right answers on does the look pay? Guess.


# %%
def expected_reward(p: float, steps: int) -> float:
    """Mean reward of an agent that is right with probability p."""
    pays, costs = (
        score(written(right, True, steps), task.target).total for right in (True, False)
    )
    return p * pays + (1 - p) * costs


# %% tags=["guess"]
shares = np.linspace(0, 1, 11)
looks = [expected_reward(p, 1) for p in shares]
blind = expected_reward(1 / 24, 0)
display(
    plots.lines(
        {"looks once, then answers": (shares, looks)},
        "share of puzzles that it solves after the look",
        "expected reward",
        references={"guesses at once": blind},
    )
)
print(f"a guess earns {blind:+.3f}; a look that is never right {looks[0]:+.2f}")
print(f"a look that is always right {looks[-1]:+.2f}")

# %% [markdown]
# A look pays even for an agent that never understands what it sees: the form alone earns more than a blind guess. An
# agent that answers from the thumbnails is right more often than blindly. But at the same share p of right answers a look
# always earns $0.2 - 0.05\,p$ more: 0.2 for the form, minus a turn's price where it is right (a wrong answer is charged
# all five either way). That is the paper's reward, and it is what reinforcement will follow in notebook 13. Whether the
# agent *reads* what it looks at is another question; there it gets another episode's pictures, and you will see what
# becomes of its answers.
#
# ## Pictures, split by picture
#
# Sixteen photographs come with Python packages; half are held out. Training adds scenes that a program draws, as many as
# are asked for. The split is by *picture*, never by crop: two crops of one photograph share many of their pixels, so if
# one of them is in training, the other tests memory. Eight held-out photographs are a quick look at most. A folder's
# pictures are split three ways: to train on, to make choices on (development), and a test set that decides nothing;
# pictures that look the same stand on one side together.
#
# **Exercise 11.4.** Suppose someone splits by crop instead: a photograph has six crops, and a coin decides for each
# whether it goes to training or to evaluation. How likely is it that the photograph is on both sides?

# %% tags=["exercise"]
answer = ...  # a probability, 0 to 1
check("11.4", answer)

# %%
from pictures.photos import scenes, table

print(table(pictures[:40]))
for split in dict.fromkeys(p.split for p in pictures):
    chosen = [p for p in pictures if p.split == split][:6]
    small = [(p.id, p.image.resize((72, 72))) for p in chosen]
    display(plots.images(small, side=0.7, title=f"photographs, {split}"))

# %%
small = [(p.id, p.image.resize((72, 72))) for p in scenes(4, seed)]
display(plots.images(small, side=0.7, title="scenes that a program draws"))

# %% [markdown]
# ## Do they really share nothing?
#
# Names prove little: the paper's released training files share names with benchmarks that it is evaluated
# on. So the kit compares pixels, by [perceptual hash](../docs/glossary.md#perceptual-hash): signs of the lowest
# frequencies of a picture's brightness, 64 and 256 bits of them. The next cell puts a held-out photograph, mirrored, into
# the training pictures under another name. Will the check find it? Guess.

# %% tags=["guess"]
from kit.data.leak import LeakError, check_sources
from PIL import ImageOps

train_pictures = [p for p in pictures if p.split == "train"]
check_sources(train_pictures, held_out)
print("as split: no pair looks the same")
copy = replace(
    photo, id="my-cat", split="train", load=lambda: ImageOps.mirror(photo.image)
)
try:
    check_sources([*train_pictures, copy], held_out)
except LeakError as error:
    for line in str(error).splitlines():
        print(fill(line, 88))

# %% [markdown]
# It also finds copies that are resized, in gray, recompressed, or cropped to nine tenths (`tests/data/test_leak.py`). It
# does not find crops of four fifths or less, or rotated copies: that is why the split comes first and the check second.
#
# ## The puzzle sets
#
# The paper trains on 2×2 puzzles in which every piece is misplaced. A small model learns something else from them, too:
# that no piece is ever in its place. This helps it at L0 and harms it at L1 and L2, so here the training puzzles have all
# three levels in turn. In the evaluation each level has the same held-out crops, so that levels differ in nothing else.
#
# The paper cuts whole pictures, resized so that both sides divide by m. So does `whole`. The tiny model sees pieces of
# 56 × 56 and has few photographs, so for it puzzles are square crops, and those to train on are mirrored and have colour
# channels exchanged.
#
# A third set is for making choices (*development*): settings are compared on it. The held-out puzzles decide nothing;
# they are also played in 12 and 13, so that you can watch what is learnt. A folder's pictures have a side of their own
# for it; without one, new scenes are drawn. The check runs again, now on the puzzles put together, over all pairs of
# sides.

# %%
from papers.agile.tasks import apart, check_split, evaluation_set, training_set

own = {"piece_px": piece_px or None, "whole": whole, "max_pixels": max_pixels}
sources = pictures if images else None
drawn = [replace(s, split="development") for s in scenes(eval_puzzles, seed + 3)]
unseen = {"test" if images else "held-out": sources, "development": sources or drawn}
train = training_set(train_puzzles, seed, m, train_levels, sources=sources, **own)
evaluation, development = (
    {
        size: evaluation_set(
            eval_puzzles, seed + 1, size, sources=some, side=side, **own
        )
        for size in (2, 3)
    }
    for side, some in unseen.items()
)
tested = [*evaluation[2], *evaluation[3]]
chosen_on = [*development[2], *development[3]]
train = apart(train, chosen_on)  # two drawn scenes may look alike by chance
check_split(train, tested, sources, chosen_on)

# %%
kinds = Counter(t.meta["source"].split("-")[0] == "scene" for t in train)
print("training:    ", kinds[True], "from scenes,", kinds[False], "from photographs")
for side, sets in {"held out": evaluation, "development": development}.items():
    for size, tasks in sets.items():
        levels = Counter(f"L{t.meta['level']}" for t in tasks)
        counts = ", ".join(f"{level} {n}" for level, n in sorted(levels.items()))
        print(f"{side} {size}×{size}: {len(tasks)} ({counts})")

# %%
some = [*train[:2], *evaluation[2][:2], *development[2][:2]]
title = "two of each set, put together"
display(plots.images([(t.meta["source"], solved(t)) for t in some], 0, 0.8, title))

# %% [markdown]
# ## The cold-start episodes
#
# Section 3.2: collect episodes of an expert, keep the sound ones, balance them. First they are collected. The expert
# here is the script, run in the real environment, on puzzles that are told as the agent will be told them. (A large model
# on a server plays instead with `python data_scripts/agile.py --coldstart endpoint`.)
#
# The paper's expert takes four to eight turns of code. Our small agent has five turns in all, the answer included, and
# plays what it was shown to the last turn. So where thumbnails are shown the script takes two to four: first a look,
# then the swaps that the puzzle needs, one at least, and a crop or a zoom where there is room. The play that the table
# above pays best, one look and then the answer, is in no demonstration: an agent that plays it has found it by itself.


# %%
def as_told(tasks):
    return [with_thumbnails(task, thumbnail) for task in tasks]


expert = ScriptedPolicy(chat, expert_script(seed, code_turns, guesses))
n = sft_episodes * 2  # some to choose from
puzzles = training_set(n, seed + 2, m, train_levels, sources=sources, **own)
puzzles = apart(puzzles, chosen_on)
check_split(puzzles, tested, sources, chosen_on)
played = []
for at in range(0, len(puzzles), 16):  # at most 16 sessions at once
    played += play(expert, chat, box, as_told(puzzles[at : at + 16]), temperature=0.0)
print(len(played), "episodes;", dict(Counter(e.ended for e in played)))
print("turns of code:", dict(sorted(Counter(e.calls for e in played).items())))

# %% [markdown]
# **Sound** means: the answer is right, every turn is well-formed, all code ran. The paper's authors
# read every right episode for that; the kit checks only what a program can. A script that knows the answer
# always passes, so let it make a mistake: in its first turn it misspells `observation`. It will
# still give the right answer. Is that episode rewarded? Is it sound? Guess.

# %% tags=["guess"]
from papers.agile.demonstrations import curate, is_sound

script = expert_script(seed, code_turns)


def careless(episode: Episode) -> str:
    text = script(episode)
    return text if episode.turns else text.replace("= observation(", "= observe(")


[slip] = play(ScriptedPolicy(chat, careless), chat, box, [task], temperature=0.0)
print("turn 1 saw:", slip.turns[0].observation.text)
print("accuracy part of its reward:", score(slip, task.target).parts["accuracy"])
print("sound:", is_sound(slip), "| without the slip:", is_sound(episode))

# %% [markdown]
# **Balanced** means: as even as possible over the number of steps, over the levels and over the
# kinds of action, in this order (so crops and zooms stay rare). A model that has seen only swaps would never crop or zoom; one that has
# seldom seen every piece misplaced would expect some to be in place.
#
# **And the guesses?** The paper keeps episodes with the right answer only. Here a share of the demonstrations guess,
# and most of them are wrong. This is the third difference on a laptop, and it is on purpose. Demonstrations that
# all look teach a tiny model the whole task at once, and reinforcement has nothing to find out. So ours are *undecided*:
# they show that one may look and that one may guess, and leave it to the reward to say which is better. Notebook 12 shows
# what becomes of that, for several shares. The profiles `gpu` and `node` imitate right episodes only, as the paper does.

# %%
rng = np.random.default_rng(seed)
kept, report = curate([*played, slip], sft_episodes, rng, code_turns, guesses)
for line in str(report).splitlines():
    print(fill(line, 88, subsequent_indent=" " * 10))
levels = Counter(episode.task.meta["level"] for episode in kept)
print("levels:", {f"L{level}": levels[level] for level in train_levels})

# %%
collected, balanced = report.collected, report.balanced
by_steps = {
    "collected": {n: collected.steps.get(n, 0) for n in (0, *code_turns)},
    "kept": {n: balanced.steps.get(n, 0) for n in (0, *code_turns)},
}
display(plots.bars(by_steps, "episodes", title="by turns of code; 0: guessed"))

# %% [markdown]
# Where thumbnails are shown, nothing stands at 1: a look alone puts no piece in its place. (`sound` counts episodes that are
# right; the balanced set has guesses besides, which needn't be, and so may be larger.)
#
# ## Stored for 12, 13 and 14
#
# Each line of a file is one JSON object. The pictures lie beside it, each once, named by the hash of its pixels. Reading
# a file checks every field and every picture.

# %%
from kit.data.store import load_episodes, load_tasks, save_episodes, save_tasks

data = run_folder(run) / "data"
files = {"train": train}
for name, sets in {"eval": evaluation, "development": development}.items():
    files |= {f"{name}-{size}x{size}": tasks for size, tasks in sets.items()}
for name, tasks in files.items():
    save_tasks(data / f"{name}.jsonl", as_told(tasks))
save_episodes(data / "coldstart.jsonl", kept)
box.close()
assert load_tasks(data / "eval-2x2.jsonl") == as_told(evaluation[2])
assert [e.ids for e in load_episodes(data / "coldstart.jsonl")] == [e.ids for e in kept]
for name in (*files, "coldstart"):
    lines = (data / f"{name}.jsonl").read_text().count("\n")
    print(f"data/{name}.jsonl: {lines} records")

# %% [markdown]
# ## Paper / here / why different
#
# *Acc* is the share of puzzles with every piece right, *Score* the share of pieces that are right.

# %%
from papers.agile.metrics import random_baseline

exact = random_baseline(2)
print("                           paper    here")
for name, measure in (("Acc", "acc"), ("Score", "score")):
    there, here = AGILE["random"][f"{measure}_2x2"], exact[measure]
    print(f"random guesser, 2×2 {name:5s}  {there:6.1%}  {here:6.1%}")
print(f"training puzzles           15,600  {len(train):6,d}")
print(f"expert episodes             1,600  {len(kept):6,d}")
print(f"of them guess                   0  {sum(not e.calls for e in kept):6,d}")
print(f"held-out puzzles a level      300  {eval_puzzles:6,d}")
print(f"colours a side of a piece     all  {thumbnail or 'all':>6}")

# %% [markdown]
# The guesser's numbers differ because the paper's were sampled on 300 pictures a level and these are
# exact. The sets are smaller because a laptop must learn from them in minutes, and their pictures are
# others. The rest is not of size, and belongs together. Our base was pretrained to put full pieces in order; so the prompt
# hides them, `observation` shows them in the form that the base was taught, and the demonstrations leave open whether to
# look. What the agent then learns is the paper's subject: to act because acting tells it something. The expert of the
# paper was a model that had to *see*; ours knows the answer and shows only how to act. And the paper trained on data
# sets that it also evaluates on; the kit refuses that. [The list of all departures](../docs/departures.md) has each.

# %% [markdown]
# ## Appendix: counting arrangements, and three guessers
#
# In how many arrangements are exactly N pieces in place? Choose the N pieces that stay; all the others must move.
# An arrangement in which every piece moves is a *derangement*. In one of n pieces, piece 1 goes to one of n − 1 spots.
# The piece that belongs there either goes to piece 1's place (then n − 2 pieces are left to derange) or to another
# (then n − 1 are left):
#
# $$D_n = (n-1)(D_{n-1} + D_{n-2}), \qquad D_0 = 1,\; D_1 = 0, \qquad
# \#LN = \binom{n}{N} D_{n-N}$$


# %%
from math import comb


def derangements(n: int) -> int:
    return [1, 0][n] if n < 2 else (n - 1) * (derangements(n - 1) + derangements(n - 2))


def arrangements(n: int, fixed: int) -> int:
    return comb(n, fixed) * derangements(n - fixed)


assert [arrangements(4, n) for n in range(5)] == [counted[n] for n in range(5)]
for level in range(9):
    print(f"3×3, L{level}: {arrangements(9, level):7,d} of 362,880")

# %% [markdown]
# Two measures (section 4.2): **Acc** is 1 if every piece is right, else 0; **Score** is the share of pieces that are
# right. Three guessers never look at a picture: the first answers with any of the 24 arrangements; the second leaves
# everything where it is; the third is told the level and answers with any arrangement of that level.
#
# **Exercise 11.5.** What Acc has the third guesser, on average? Write it for any number of pieces and any level. You may
# use `arrangements` from above.


# %% tags=["exercise"]
def acc_knowing_the_level(pieces: int, level: int) -> float:
    """Mean Acc of guessing any arrangement of the right level."""
    ...


check("11.5", acc_knowing_the_level)

# %% [markdown]
# Now all three, exactly: averages over all puzzles of the level and all guesses; below them the paper's untrained
# Qwen2.5-VL-7B (Tables 1 and 2). Which of the three does it resemble? Guess.


# %%
def expected(level: int, guesses: list[tuple[int, ...]]) -> tuple[float, float]:
    """Acc and Score of guessing uniformly among ``guesses``."""
    places = range(4)
    puzzles = [p for p in every if sum(p[i] == i for i in places) == level]
    right = [[p[i] == g[i] for i in places] for p in puzzles for g in guesses]
    return float(np.mean([all(r) for r in right])), float(np.mean(right))


every = list(permutations(range(4)))
in_place = {g: sum(g[i] == i for i in range(4)) for g in every}
known = {level: [g for g in every if in_place[g] == level] for level in (0, 1, 2)}
assert np.allclose(expected(0, every), (exact["acc"], exact["score"]))

# %% tags=["guess"]
guessers = {
    "any of the 24": {level: every for level in known},
    "leaves it": {level: [(0, 1, 2, 3)] for level in known},
    "knows the level": known,
}
rows = {n: [expected(level, g[level]) for level in known] for n, g in guessers.items()}
base = AGILE["base"]
rows["paper, untrained"] = [
    (base[f"acc_2x2_L{level}"], base[f"score_2x2_L{level}"]) for level in known
]
print(f"{'':22s} Acc L0     L1     L2   Score L0     L1     L2")
for name, row in rows.items():
    line = "".join(f"{acc:7.1%}" for acc, _ in row)
    print(f"{name:21s}{line}   {''.join(f'{share:7.1%}' for _, share in row)}")

# %% [markdown]
# None of them at every level. Its Acc is a little above that of any of the 24 at L0 and L1; at L2 it is about that of the
# guesser who knows the level. Its Score fits neither of the two: it rises with the level, like that of the guesser that
# leaves everything. So perhaps the model often leaves pieces where they are. A low Acc can come from several habits, and a
# second measure helps to tell them apart.
#
# ## What you have seen
#
# What does a jigsaw agent see, what is it paid for, and from which pictures does it learn?

# %% tags=["figure"]
from IPython.display import Markdown

small, whole_piece = (
    chat.image_tokens(some[0]) for some in (task.images, task.tool_images)
)
pays = (blind - looks[0]) / (looks[-1] - looks[0])  # where the line meets the guess
hidden = "most of what it needs isn't in the prompt, and a tool brings it"
told_all = "the prompt holds it whole, as the paper's does"
drawn_scenes = kinds[True] / len(train)

# %% tags=["figure"]
display(
    Markdown(f"""
- **Of a piece it sees {small} of {whole_piece} image tokens** until its code has
  looked:
  {hidden if small < whole_piece else told_all}.
- A blind guess at once earns {blind:+.2f} on average, a look {looks[0]:+.2f} if it never
  helps
  and {looks[-1]:+.2f} if it always does: a look pays
  {"whatever it sees, beside a blind guess" if pays <= 0 else f"from {pays:.0%} right answers on"}.
- It learns from {len(train):,} puzzles, {drawn_scenes:.0%} of them cut from drawn
  scenes,
  and is tested on {len({t.meta["source"] for t in tested})} pictures, none of which
  looks like one of those.
""")
)

# %% [markdown]
# Next: [12](12_agile_sft.ipynb), where a model is shown these episodes and takes over how often the expert looked.
