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
# **The question.** What exactly does a jigsaw agent see, what can it do, what is it paid for, and
# from which pictures does it learn?
#
# **The paper.** AGILE (Zeng et al.), sections 3.1–3.3: the jigsaw task (eq. 1–3), the operations,
# the cold-start data, the reward (eq. 5 and 6). Tables 1 and 2 for the levels of difficulty.
#
# **Afterwards you can** cut a puzzle and say which difficulties exist; play one by hand, mistakes
# included; compute a reward before you are told it; say what a guesser scores; make puzzle sets and
# expert episodes from any pictures and prove that training and evaluation share none.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 2 GB |
# | `gpu` | the same, pieces at their own size, 1,600 expert episodes | not measured | not measured |
# | `node` | the same at the paper's sizes | not measured | not measured |
#
# No model is trained here. What is written at the end, `runs/<run>/data`, is what notebooks 12, 13
# and 14 read. The paper's own 15.6K pictures come from a hub: `python data_scripts/agile.py --hub`.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 14
seed: int = 0  # fixes every scene, crop, shuffle and turn of the expert
images: str = ""  # folder of your own pictures; empty: packaged photographs and scenes
m: int = 2  # pieces a side of the training puzzles
piece_px: int = 56  # side of a piece in pixels; 0 keeps the picture's own size
train_puzzles: int = 640  # puzzles for reinforcement learning
train_levels: list[int] = [0, 1, 2]  # pieces in place at first, in turn; paper: 0
eval_puzzles: int = 48  # held-out puzzles a level
sft_episodes: int = 160  # expert episodes to keep for the cold start
model: str = ""  # whose tokenizer encodes the episodes; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)

# %%
from collections import Counter
from itertools import permutations
from math import comb

import numpy as np
from IPython.display import display
from kit import view
from kit.chat import Chat
from kit.data.folder import folder_pictures
from kit.data.leak import solved
from kit.data.photos import photos, random_crop
from kit.episode import Episode, Turn
from kit.jobs.run import run_folder
from kit.papers.agile import experiment as agile
from kit.papers.agile.env import PROTOCOL, JigsawEnv
from kit.papers.agile.puzzle import LABELS, make_task, shuffle
from kit.papers.agile.reported import AGILE
from kit.papers.agile.reward import is_right, score
from kit.sandbox import Sandbox
from kit.tiny.build import TINY
from kit.view import plots

# %%
pictures = [*photos("train"), *photos("held-out")]
pictures = folder_pictures(images) if images else pictures
held_out = [p for p in pictures if p.split == "held-out"]

# %% [markdown]
# ## One puzzle
#
# A picture is cut into m × m pieces. They are shuffled, then labelled A, B, C, … in reading order
# (eq. 1). Which of these belongs at the top left?

# %%
photo = held_out[min(2, len(held_out) - 1)]
crop = random_crop(np.random.default_rng(seed), photo.image, 2)
task = make_task(crop, 2, 0, np.random.default_rng(7), "demo", photo.id, piece_px=56)
display(plots.images([(p.name, p.image) for p in task.images], side=1.5))
print("cut from", task.meta["source"], "into pieces of", task.images[0].image.size)

# %%
display(plots.images([("put together", solved(task))], side=1.5))
print("at the top left:", task.target[0])

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
# `shuffle` gives the way *out*: spot k shows the piece whose home is `order[k]`. The target is the
# way *back*, the inverse permutation. Build it by hand, then compare with the kit's.

# %%
order = shuffle(4, 0, np.random.default_rng(7))
target = [""] * 4
for spot, home in enumerate(order):
    target[home] = LABELS[spot]
print("spot k shows the piece of place", order)
print("places 0, 1, 2, 3 want         ", target)
assert tuple(target) == task.target

# %% [markdown]
# ## How hard can a puzzle be?
#
# Level LN: exactly N pieces start where they belong. Count for yourself how many of the 24
# arrangements of four pieces have 0, 1, 2, 3 and 4 in place. Which N cannot exist?

# %%
counted = Counter(
    sum(spot == home for spot, home in enumerate(arrangement))
    for arrangement in permutations(range(4))
)
for n in range(5):
    print(f"{n} of 4 in place: {counted[n]:2d} arrangements")

# %% [markdown]
# Three in place is impossible: the fourth piece would have nowhere to go but home. For any number of
# pieces n, N = n − 1 is empty for the same reason, and N = n is no puzzle.
#
# The others can be counted without listing them. Choose the N that stay; the rest must all move.
# Such a *derangement* of n pieces sends piece 1 to one of n − 1 spots, and the piece living there
# either takes piece 1's home (n − 2 are left to derange) or doesn't (n − 1 are left):
#
# $$D_n = (n-1)(D_{n-1} + D_{n-2}), \qquad D_0 = 1,\; D_1 = 0, \qquad
# \#LN = \binom{n}{N} D_{n-N}$$


# %%
def derangements(n: int) -> int:
    return [1, 0][n] if n < 2 else (n - 1) * (derangements(n - 1) + derangements(n - 2))


def arrangements(n: int, fixed: int) -> int:
    return comb(n, fixed) * derangements(n - fixed)


assert [arrangements(4, n) for n in range(5)] == [counted[n] for n in range(5)]
for level in range(9):
    print(f"3×3, L{level}: {arrangements(9, level):7,d} of 362,880")

# %% [markdown]
# The paper evaluates on 2×2 at L0–L2 and 3×3 at L0–L7, and trains on 2×2 at L0 only: all misplaced.
# The kit makes any level that exists, each of its arrangements with equal probability, and refuses
# the rest.

# %%
try:
    make_task(crop, 2, 3, np.random.default_rng(0), "impossible")
except ValueError as error:
    print(error)

# %% [markdown]
# ## What does a guesser get?
#
# Two measures (section 4.2): **Acc**, every piece right; **Score**, the share of pieces right. Three
# guessers who never look at a pixel: one says any of the 24 arrangements; one leaves everything
# where it is; one has heard which level is played and says any arrangement of that level.
#
# Predict their Acc at L0. Each is an exact average over all puzzles of the level and all guesses.


# %%
def expected(level: int, guesses: list[tuple[int, ...]]) -> tuple[float, float]:
    """Acc and Score of guessing uniformly among ``guesses``."""
    places = range(4)
    every = list(permutations(places))
    puzzles = [p for p in every if sum(p[i] == i for i in places) == level]
    right = [[p[i] == g[i] for i in places] for p in puzzles for g in guesses]
    return float(np.mean([all(r) for r in right])), float(np.mean(right))


every = list(permutations(range(4)))
in_place = {g: sum(g[i] == i for i in range(4)) for g in every}
known = {level: [g for g in every if in_place[g] == level] for level in (0, 1, 2)}

# %%
guessers = {
    "any of the 24": {level: every for level in known},
    "leaves it": {level: [(0, 1, 2, 3)] for level in known},
    "knows the level": known,
}
print(f"{'':22s} Acc L0     L1     L2   Score L0     L1     L2")
for name, guesses in guessers.items():
    rows = [expected(level, guesses[level]) for level in known]
    line = "".join(f"{acc:7.1%}" for acc, _ in rows)
    print(f"{name:21s}{line}   {''.join(f'{share:7.1%}' for _, share in rows)}")

# %% [markdown]
# Now look at the paper's untrained Qwen2.5-VL-7B (Tables 1 and 2).

# %%
base = AGILE["base"]
accs = "".join(f"{base[f'acc_2x2_L{level}']:7.1%}" for level in known)
scores = "".join(f"{base[f'score_2x2_L{level}']:7.1%}" for level in known)
print(f"{'':22s} Acc L0     L1     L2   Score L0     L1     L2")
print(f"{'paper, untrained':21s}{accs}   {scores}")

# %% [markdown]
# Neither seeing nor uniform guessing, whose Score would be 25 % each time: it lies between the first
# two guessers. The model often leaves pieces where they are. A number near chance can come from
# several habits, and only a second measure tells which.
#
# ## What the policy sees
#
# One prompt: a system text, then each piece after its label. This is `brief`, for the tiny model;
# `full` gives a real one the instructions of the paper's appendix B in the kit's words.

# %%
box = Sandbox(allow_unsafe=True).start()  # all players are the kit's
env = JigsawEnv(box, prompt=prompt)
system, user = env.prompt(task)
print(system, "\n")
shown = [part if isinstance(part, str) else "[picture] " for part in user]
print("".join(shown))

# %% [markdown]
# A picture becomes tokens: one for every 28 × 28 pixels (notebook 04 takes that apart). How many for
# a piece of 56 × 56? For the whole prompt? And for the paper's limit of 401,408 pixels a picture?

# %%
chat = Chat.from_pretrained(model or TINY)
ids = chat.prompt(system, user)
print("a piece:          ", chat.image_tokens(task.images[0]), "tokens")
print(
    "the prompt:       ", len(ids), "tokens,", ids.count(chat.image_id), "of pictures"
)
print("the paper's limit:", 401408 // 28**2, "tokens a picture")

# %% [markdown]
# ## What the policy can do
#
# Its code runs in a session of its own, in the sandbox (notebook 02). There is `state`, and there
# are three operations, each making one named picture that stays for later turns:
# `observation(state)` pastes the pieces together with a thin white gap, `crop(image, box)` takes a
# part (shares of the sides, 0 to 1), `zoom(image, factor)` enlarges.
#
# Play three turns. What size will the crop have, what the zoom?

# %%
env.reset(options={"task": task})


def turn(code: str):
    """One turn of ours, as a policy would write it."""
    observation, *_ = env.step(f"<think>Let me try.</think><code>{code}</code>")
    return observation


seen = [
    turn("observation_image_1 = observation(state)"),
    turn("crop_image_1 = crop(observation_image_1, [0.25, 0.0, 0.75, 0.5])"),
    turn("zoom_image_1 = zoom(crop_image_1, 2.0)"),
]
shown = [observation.images[0] for observation in seen]
display(plots.images([(picture.name, picture.image) for picture in shown]))
print([picture.image.size for picture in shown])

# %% [markdown]
# A swap is ordinary Python. It comes with a look, since a turn may exchange two pieces once and
# make one picture. Swap what belongs at the top left into place:

# %%
wanted = task.target[0]
there = [p.name for p in task.images].index(wanted)
swap = f"state[0], state[{there}] = state[{there}], state[0]"
after = turn(f"{swap}\nobservation_image_2 = observation(state)")
print(swap)
display(plots.images([("before", shown[0].image), ("after", after.images[0].image)]))

# %% [markdown]
# ## What can go wrong
#
# Everything that goes wrong comes back as an observation: the model reads the message in its next
# turn. And every turn is a transaction: if it fails, nothing of it happened. Which of these six turns
# will fail?

# %%
attempts = {
    "two pictures in a turn": "a = observation(state)\nb = zoom(a, 2.0)",
    "three pieces moved": "state[:3] = state[1:3] + state[:1]\na = observation(state)",
    "a piece used twice": "state[0] = state[1]\na = observation(state)",
    "only thinking": "x = 3",
    "a picture that never was": "a = crop(observation_image_9, [0, 0, 1, 1])",
    "a box outside": "a = crop(observation_image_1, [0.5, 0.5, 1.5, 1.5])",
}
for name, code in attempts.items():
    print(f"{name:25s} → {turn(code).text}")

# %% [markdown]
# All six. Did they leave a trace? The two of them that touched `state` moved nothing:

# %%
check = turn("print(state)\nobservation_image_3 = observation(state)")
expected_state = [p.name for p in task.images]
expected_state[0], expected_state[there] = expected_state[there], expected_state[0]
print(check.text.strip(), "expected", expected_state)
assert check.text.strip() == f"Output: {expected_state}"

# %% [markdown]
# One thing ends an episode at once: a turn with neither code nor answer. The others that end it are
# the answer itself and the turn budget (5 in training, Table 5).

# %%
observation, _, terminated, _, _ = env.step("The eyes are on the left.")
print(observation.text, "| over:", terminated)
env.close()

# %% [markdown]
# ## A whole episode
#
# The paper's cold start is a large model's play. Here a script that knows the answer plays the same
# way: it says where things stand, what comes next and why; does one operation; and answers once
# every piece is in its place. Step through it. Tinted tokens are the policy's own, the only ones that
# are ever trained on.

# %%
from kit.papers.agile.expert import expert_script
from kit.policy.scripted import ScriptedPolicy

thorough = ScriptedPolicy(chat, expert_script(seed, steps=(6,)))
play = agile.Play(prompt=prompt, max_turns=9)
[episode] = play(thorough, chat, box, [task], temperature=0.0)
display(view.show(episode, chat=chat, is_right=is_right))

# %%
print("steps:", episode.calls, "| ended by:", episode.ended)
print(len(episode.ids), "tokens, the policy's own:", sum(episode.mask))

# %% [markdown]
# ## What it is paid
#
# $$R_{step} = \lambda\,(\mathbb{1}[R_{acc}=1]\,step_{num} + \mathbb{1}[R_{acc}=0]\,step_{max})
# \quad (5) \qquad R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \quad (6)$$
#
# with $\alpha = 0.8$, $\beta = 0.2$, $\gamma = 1$, $\lambda = -0.05$, $step_{max} = 5$. In words: 0.8 for
# the right answer, 0.2 for keeping to the tags, and each turn of code costs 0.05; if the answer is
# wrong, all five are charged. Work out these four before you run the cell, and the expert's episode
# above:
#
# 1. right, well-formed, 2 steps
# 2. wrong, well-formed, 2 steps
# 3. right, 3 steps, a tag missing
# 4. wrong, 3 steps, a tag missing


# %%
def reward(right: bool, well_formed: bool, steps: int) -> float:
    r_step = -0.05 * (steps if right else 5)  # eq. 5
    return 0.8 * right + 0.2 * well_formed + 1.0 * r_step  # eq. 6


cases = {
    "right, well-formed, 2 steps": (True, True, 2),
    "wrong, well-formed, 2 steps": (False, True, 2),
    "right, malformed, 3 steps": (True, False, 3),
    "wrong, malformed, 3 steps": (False, False, 3),
}
for name, case in cases.items():
    print(f"{name:30s} R = {reward(*case):+.2f}")

# %% [markdown]
# The kit scores *episodes*, so write four episodes that are these cases. The kit's `score` must say
# the same.


# %%
def written(right: bool, well_formed: bool, steps: int) -> Episode:
    """An episode with these properties, written by hand."""
    code = "<code>observation_image_1 = observation(state)</code>"
    texts = [f"<think>I look.</think>{code}"] * steps
    texts[0] = texts[0] if well_formed else code  # without its reasoning
    labels = list(task.target) if right else sorted(task.target)
    texts.append(f"<think>Done.</think><answer>{labels}</answer>")
    turns = tuple(Turn((), (), text, PROTOCOL.parse(text)) for text in texts)
    return Episode(task, (), turns, "answer")


for name, case in cases.items():
    scored = score(written(*case), task.target)
    assert abs(scored.total - reward(*case)) < 1e-12
    parts = ", ".join(f"{part} {value:+.2f}" for part, value in scored.parts.items())
    print(f"{name:30s} {scored.total:+.2f} = {parts}")
print(f"{'the expert':30s} {score(episode, task.target).total:+.2f}")

# %% [markdown]
# Keep this for notebook 13: which number of steps earns the most?

# %%
print("steps  right   wrong")
for steps in range(5):
    right, wrong = (reward(r, steps > 0, steps) for r in (True, False))
    print(f"  {steps}    {right:+.2f}   {wrong:+.2f}")

# %% [markdown]
# Exactly one turn of code, then the right answer. (An answer without any code counts as malformed:
# reasoning, *code* and answer each belong in their tags.) A further look costs 0.05 if the answer is
# right in the end and nothing if it is wrong, so it pays only if it makes being right more likely by
# a twentieth or so. The expert's episode above was not played to earn much; it was played to be
# imitated.
#
# ## Pictures, split by picture
#
# Sixteen photographs come with Python packages; half are held out. Training adds procedural scenes,
# as many as are asked for. The split is by *picture*, never by crop: two crops of one photograph
# share most of their pixels, so one of them in training turns the other into a memory test.

# %%
from kit.data.photos import scenes, table

print(table(pictures))
for split in ("train", "held-out"):
    chosen = [p for p in pictures if p.split == split][:8]
    display(plots.images([(p.id, p.image.resize((72, 72))) for p in chosen], side=1.0))

# %%
made = scenes(8, seed)
display(plots.images([(p.id, p.image.resize((72, 72))) for p in made], side=1.0))

# %% [markdown]
# ## Do they really share nothing?
#
# Names prove little: the paper's released training files share names with benchmarks it is evaluated
# on. So the kit compares pixels, by perceptual hash: signs of the lowest frequencies of a picture's
# brightness, 64 and 256 bits of them. Smuggle a held-out photograph, mirrored, into the training
# pictures under another name. Will it be seen?

# %%
from dataclasses import replace

from kit.data.leak import LeakError, check_sources
from PIL import ImageOps

train_pictures = [p for p in pictures if p.split == "train"]
check_sources(train_pictures, held_out)
print("as split: no pair looks the same")
copy = replace(
    photo, id="my-breakfast", split="train", load=lambda: ImageOps.mirror(photo.image)
)
try:
    check_sources([*train_pictures, copy], held_out)
except LeakError as error:
    print(error)

# %% [markdown]
# It also sees copies resized, in gray, recompressed, or cropped to nine tenths. It does not see crops
# of four fifths or less, or rotations: that is why the split comes first and the check second.
#
# ## The puzzle sets
#
# The paper trains on 2×2 puzzles whose every piece is misplaced. A small model takes more from that than
# was meant: no piece is ever in its place. It gains at L0 by it and loses at L1 and L2, so here training
# puzzles are of all three levels in turn. Evaluation: the same held-out crops at every level, so
# that levels differ in nothing else. The check runs again, now on the puzzles put together.

# %%
from kit.papers.agile.tasks import check_split, evaluation_set, training_set

sources = pictures if images else None
px = piece_px or None
own = {"sources": sources, "piece_px": px}
train = training_set(train_puzzles, seed, m, train_levels, **own)
evaluation = {
    size: evaluation_set(eval_puzzles, seed + 1, size, **own) for size in (2, 3)
}
check_split(train, [*evaluation[2], *evaluation[3]], sources)
kinds = Counter(t.meta["source"].split("-")[0] == "scene" for t in train)
print("training:    ", kinds[True], "from scenes,", kinds[False], "from photographs")
for size, tasks in evaluation.items():
    levels = Counter(f"L{t.meta['level']}" for t in tasks)
    counts = ", ".join(f"{level} {count}" for level, count in sorted(levels.items()))
    print(f"held out {size}×{size}: {len(tasks)} ({counts})")

# %%
some = [(t.meta["source"], solved(t)) for t in [*train[:4], *evaluation[2][:4]]]
display(plots.images(some, side=1.0))

# %% [markdown]
# ## The cold-start episodes
#
# Section 3.2: collect the expert's play, keep what is sound, balance. Collecting first. The expert
# here is the script, run in the real environment; a served model plays through
# `python data_scripts/agile.py --coldstart endpoint`.

# %%
expert = ScriptedPolicy(chat, expert_script(seed))
n = sft_episodes * 5 // 4  # some to choose from
puzzles = training_set(n, seed + 2, m, train_levels, **own)
check_split(puzzles, [*evaluation[2], *evaluation[3]], sources)
played = []
for at in range(0, len(puzzles), 16):  # at most 16 sessions at once
    played += play(expert, chat, box, puzzles[at : at + 16], temperature=0.0)
print(len(played), "episodes;", dict(Counter(e.ended for e in played)))

# %% [markdown]
# **Sound** means: the answer is right, every turn is well-formed, all code ran. The paper's authors
# read every episode for that; the kit can only check that steps ran. A script that knows the answer
# always passes, so give it a slip of the pen: in its first turn it misspells `observation`. It will
# still answer rightly. Is that an episode to imitate?

# %%
from kit.papers.agile.demonstrations import curate, is_sound

script = expert_script(seed)


def careless(episode: Episode) -> str:
    text = script(episode)
    return text if episode.turns else text.replace("= observation(", "= observe(")


[slip] = play(ScriptedPolicy(chat, careless), chat, box, [task], temperature=0.0)
print("turn 1 saw:", slip.turns[0].observation.text)
print("accuracy part of its reward:", score(slip, task.target).parts["accuracy"])
print("sound:", is_sound(slip), "| without the slip:", is_sound(episode))

# %% [markdown]
# **Balanced** means: as even as possible over the number of steps, 4 to 8, over the levels and over the
# kinds of action. A model that only ever saw swaps would never think of looking closer; one that
# seldom saw every piece misplaced would expect some to lie right.

# %%
kept, report = curate([*played, slip], sft_episodes, np.random.default_rng(seed))
print(report)
levels = Counter(episode.task.meta["level"] for episode in kept)
print("levels:", {f"L{level}": levels[level] for level in train_levels})

# %%
from kit.papers.agile.demonstrations import KINDS
from kit.papers.agile.expert import STEPS

collected, balanced = report.collected, report.balanced
by_steps = {
    "collected": {n: collected.steps.get(n, 0) for n in STEPS},
    "balanced": {n: balanced.steps.get(n, 0) for n in STEPS},
}
by_kind = {
    "collected": {kind: collected.kinds.get(kind, 0) for kind in KINDS},
    "balanced": {kind: balanced.kinds.get(kind, 0) for kind in KINDS},
}
display(plots.bars(by_steps, label="episodes, by steps"))
display(plots.bars(by_kind, label="actions, by kind"))

# %% [markdown]
# ## Stored for 12, 13 and 14
#
# One JSON object a line; pictures beside it, each once, named by the hash of its pixels. Reading it
# back checks every field and every picture.

# %%
from kit.data.store import load_episodes, load_tasks, save_episodes, save_tasks

data = run_folder(run) / "data"
save_tasks(data / "train.jsonl", train)
save_tasks(data / "eval-2x2.jsonl", evaluation[2])
save_tasks(data / "eval-3x3.jsonl", evaluation[3])
save_episodes(data / "coldstart.jsonl", kept)
box.close()
read = load_tasks(data / "eval-2x2.jsonl")
assert [(t.id, t.target) for t in read] == [(t.id, t.target) for t in evaluation[2]]
assert [e.ids for e in load_episodes(data / "coldstart.jsonl")] == [e.ids for e in kept]
for name in ("train", "eval-2x2", "eval-3x3", "coldstart"):
    lines = (data / f"{name}.jsonl").read_text().count("\n")
    print(f"data/{name}.jsonl: {lines} records")

# %% [markdown]
# ## Paper / here / why different

# %%
from kit.papers.agile.metrics import random_baseline

exact = random_baseline(2)
assert np.allclose(expected(0, every), (exact["acc"], exact["score"]))
print("                           paper    here")
for name, measure in (("Acc", "acc"), ("Score", "score")):
    there, here = AGILE["random"][f"{measure}_2x2"], exact[measure]
    print(f"random guesser, 2×2 {name:5s}  {there:6.1%}  {here:6.1%}")
print(f"training puzzles           15,600  {len(train):6,d}")
print(f"expert episodes             1,600  {len(kept):6,d}")
print(f"held-out puzzles a level      300  {eval_puzzles:6,d}")

# %% [markdown]
# The guesser's numbers differ because the paper's were sampled on 300 pictures a level and these are
# exact. The sets are smaller because a laptop learns from them in minutes, and their pictures are
# others. Two things differ in kind. The paper's expert was a model that had to *see*; ours knows the
# answer and shows only how to act. And the paper trained on data sets that it also evaluates on;
# here that is refused.
#
# Next: [12, the cold start](12_agile_sft.ipynb).
