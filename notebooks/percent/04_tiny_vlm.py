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
# # 04 · The tiny VLM
#
# **The question.** All notebooks here train a vision-language model on one core. What is that model,
# what has it learnt before any of them starts, and what can it not do?
#
# **The paper.** None of the five: they start from Qwen2.5-VL-7B (AGILE, Visual-ARFT, CodeDance, …),
# whose eyes were trained on more data than a laptop will ever see. This is the same architecture made
# small, and taught to see from pictures that a program draws.
#
# **Afterwards you can** count the tokens of any picture; say where each of them stands in position
# space; read a parameter budget; compute the loss of a model that is blind; and recognise a plateau
# when you are on one.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core: a smaller model re-made here | 3 | 1 GB |
# | the committed model | 2 cores: `python data_scripts/make_tiny_vlm.py` | not run here: see its card | 4 GB |
# | `gpu`, `node` | nothing here needs one | 3 | 1 GB |

# %% tags=["parameters"]
seed: int = 0  # fixes pictures, weights and batches
steps: int = 800  # optimizer steps of the model re-made here
batch_size: int = 16  # conversations a step
hidden: int = 128  # its width, a multiple of 64
layers: int = 2  # its language layers
learning_rate: float = 2e-3  # at its peak
pool: int = 200  # procedural scenes to draw training pictures from
held_out: int = 48  # conversations a skill to measure it on
threads: int = 1  # CPU threads of this process

# %%
import itertools
import json
import math
import textwrap
from collections import Counter

import numpy as np
import torch
from IPython.display import Markdown, display
from kit.chat import Chat
from kit.data.scenes import scene
from kit.episode import NamedImage
from kit.policy.hf import load_model_and_chat
from kit.tiny.build import TINY, build_config, build_image_processor, build_tokenizer
from kit.tiny.pretrain import batches, collate, encode, loss_of, train
from kit.tiny.probe import answer
from kit.tiny.skills import SKILLS
from kit.view import plots
from PIL import Image
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

# %%
torch.set_num_threads(threads)
vlm, chat = load_model_and_chat(TINY)
parameters = sum(p.numel() for p in vlm.parameters())
print(type(vlm).__name__, f"with {parameters:,d} parameters")

# %% [markdown]
# ## From pixels to tokens
#
# The vision tower reads *patches* of 14 × 14 pixels. Four patches, a square of 28 × 28, are merged into
# one token for the language model. The lines below are patches (thin) and tokens (thick).
#
# How many tokens is a picture of 112 × 56? And one of 640 × 448?

# %%
view = scene(np.random.default_rng(seed + 3), 112)[:56]
grid = np.kron(view, np.ones((3, 3, 1), np.uint8))
grid[::42], grid[:, ::42] = 255, 255
for offset in (-1, 0, 1):
    grid[84 + offset] = grid[:, [84 + offset, 168 + offset, 252 + offset]] = 255
display(plots.images([("112 × 56 pixels", Image.fromarray(grid))], side=3.2))
for width, height in ((112, 56), (56, 56), (640, 448)):
    picture = NamedImage("any", Image.new("RGB", (width, height)))
    patches, tokens = len(chat.pixels(picture).patches), chat.image_tokens(picture)
    print(f"{width}×{height}: {patches} patches, {tokens} tokens")


# %% [markdown]
# The last one came out smaller than 640 · 448 / 784 = 365.7: this model's processor shrinks pictures to
# 64 tokens at most. (AGILE's limit for the 7B model is 512.)
#
# In which order do patches enter? Here is a picture of 4 × 4 patches whose brightness counts them in
# reading order, 0 to 15. Predict the first eight.

# %%
counting = np.kron(np.arange(16).reshape(4, 4) * 16, np.ones((14, 14))).astype(np.uint8)
picture = NamedImage("counting", Image.fromarray(counting).convert("RGB"))
patches = chat.pixels(picture).patches
order = torch.argsort(torch.argsort(patches.mean(1))).tolist()
print("patches as they enter:", order)
for token in range(4):
    print(f"token {token} is made of patches", order[4 * token : 4 * token + 4])

# %% [markdown]
# Not row by row: the four patches of a token stand together, so that merging is a `reshape`. Follow the
# shapes through the tower. A row of `patches` is 3 colours × 2 frames × 14 × 14 pixels = 1,176
# numbers (a still picture fills both frames).

# %%
shape = torch.tensor([chat.pixels(picture).grid])
seen = vlm.model.visual(patches, grid_thw=shape)
print("patches:         ", tuple(patches.shape))
print("after the tower: ", tuple(seen.last_hidden_state.shape))
print("after the merger:", tuple(seen.pooler_output.shape), "enter the language model")


# %% [markdown]
# ## Where does a token stand?
#
# A word has one position. A picture's token has three: time, row, column (*M-RoPE*). Text counts all
# three together; a picture starts where the text stopped and spreads its rows and columns from
# there. It takes 8 tokens below, 2 rows of 4. At which position does the text go on: 8 further?

# %%
wide = NamedImage("A", Image.fromarray(view))
content = ["Image A: ", wide, "Where?"]
ids = torch.tensor([chat.content(content)])
positions, _ = vlm.model.get_rope_index(
    ids,
    mm_token_type_ids=(ids == chat.image_id).int(),
    image_grid_thw=torch.tensor([chat.pixels(wide).grid]),
)
for name, row in zip(("time", "row", "column"), positions[:, 0].tolist(), strict=True):
    print(f"{name:7s}", " ".join(f"{p:2d}" for p in row))
inside = positions[:, 0, ids[0] == chat.image_id]
after = int(positions[0, 0, (ids[0] == chat.image_id).nonzero().max() + 1])
assert after == int(inside.min()) + 4

# %% [markdown]
# Only 4 further: the longer of its two sides. A picture of 64 tokens takes up 8 positions, which is one
# reason why such models read many pictures without running out of positions.
#
# ## Where the parameters are
#
# Predict: which part is the largest, and what changes most when the model shrinks from 8 billion to 3
# million? (The large one is built without memory, on PyTorch's `meta` device, from its published
# widths.)


# %%
def budget(model) -> Counter[str]:
    """Parameters of each part."""
    words = {"merger": "merger", "visual": "vision"}
    words |= {"embed_tokens": "embeddings", "lm_head": "embeddings"}
    parts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        part = next((part for word, part in words.items() if word in name), "language")
        parts[part] += parameter.numel()
    return parts


# %%
words = dict(hidden_size=3584, intermediate_size=18944, num_hidden_layers=28)
words |= dict(num_attention_heads=28, num_key_value_heads=4, vocab_size=152064)
sight = dict(depth=32, hidden_size=1280, intermediate_size=3420, out_hidden_size=3584)
untied = {"tie_word_embeddings": False}
config = Qwen2_5_VLConfig(text_config=words, vision_config=sight, **untied)
with torch.device("meta"):
    large = Qwen2_5_VLForConditionalGeneration(config)

# %%
budgets = {"tiny": budget(vlm), "Qwen2.5-VL-7B": budget(large)}
shares = {}
for name, parts in budgets.items():
    total = sum(parts.values())
    order = ("vision", "merger", "language", "embeddings")
    shares[name] = {part: parts[part] / total for part in order}
    percents = ", ".join(f"{part} {share:.0%}" for part, share in shares[name].items())
    print(f"{name:14s} {total:13,d}  {percents}")
display(plots.bars(shares, label="share of the parameters"))
ratio = sum(budgets["Qwen2.5-VL-7B"].values()) / sum(budgets["tiny"].values())
print(f"{ratio:,.0f} times smaller")

# %% [markdown]
# The small one spends a far larger share on seeing: that is its job. Words cost it little, since its
# vocabulary is small.
#
# ## The tokenizer
#
# Byte-level BPE, learnt from the kit's own phrases: any text can be encoded, and what agents write
# often is short. How many tokens is `observation_image_1`? And `<|image_pad|>`, typed by a user?

# %%
print(len(chat.tokenizer), "tokens in the vocabulary")
spellings = ("observation_image_1", "<think>", "2718", "Straße", "<|image_pad|>")
for text in spellings:
    ids = chat.text(text)
    pieces = " · ".join(chat.tokenizer.decode([i]) for i in ids)
    print(f"{text:20s} {len(ids):2d} tokens:  {pieces}")
assert chat.image_id not in chat.text("<|image_pad|>")

# %% [markdown]
# The last line is the important one. `<|image_pad|>` is the control token in whose place a picture's
# features go. Typed by a user or printed by a program, it is thirteen ordinary characters.
#
# ## What it was taught
#
# Skills, asked by a program, endlessly; nowhere does anyone act. Here they are asked of drawn scenes, in
# the committed model's training of photographs too (its card says which). Look at the pictures and
# answer the questions before you read the answers. Which will be the hardest to learn? (`copying`,
# `code`, `sorting` and `facts` are text alone. A skill that the committed model's card, below, has no
# figure for is newer than its weights.)

# %%
made = np.random.default_rng(seed)
scenes = [scene(made) for _ in range(pool)]
rng = np.random.default_rng(seed)
samples = {name: skill(rng, scenes) for name, skill in SKILLS.items()}


def sheet(sample) -> Image.Image:
    """The pictures of a sample's first question, side by side, two a row."""
    shown = [part for part in sample.turns[0][0] if not isinstance(part, str)]
    high, wide = (side + 4 for side in shown[0].shape[:2])
    columns, rows = min(2, len(shown)), math.ceil(len(shown) / 2)
    canvas = Image.new("RGB", (columns * wide, rows * high), "white")
    for k, pixels in enumerate(shown):
        canvas.paste(Image.fromarray(pixels), (k % 2 * wide, k // 2 * high))
    return canvas


text_only = ("copying", "code", "sorting", "facts")
drawn = [(name, sheet(s)) for name, s in samples.items() if name not in text_only]
display(plots.images(drawn, columns=8))

# %%
for name, sample in samples.items():
    for question, right in sample.turns:
        print(f"{name:12s} {question[-1]}")
        line = f"→ {right}".replace("\n", " ⏎ ")
        print(
            textwrap.fill(line, 88, initial_indent=" " * 13, subsequent_indent=" " * 15)
        )

# %% [markdown]
# ## Loss on answers only
#
# Each sample is one conversation. The model is trained to predict the next token, but only where the
# *answer* stands: nobody wants it to learn to ask.

# %%
ids, mask, _ = encode(chat, samples["orientation"])
for (token, learnt), run in itertools.groupby(zip(ids, mask, strict=True)):
    text, times = chat.tokenizer.decode([token]).replace("\n", "⏎"), len(list(run))
    print(f"[{text}]" if learnt else text, f"×{times} " if times > 1 else "", end="")
print(f"\n{sum(mask)} of {len(ids)} tokens are learnt, those in brackets")

# %% [markdown]
# $$\mathcal{L} = -\frac{1}{\sum_t I_t}\sum_t I_t \log p_\theta(y_t \mid y_{<t}, \text{pictures})$$
#
# By hand, from the log-probabilities; then the kit's `loss_of` must agree.

# %%
small = collate(chat, [samples["place"], samples["chart"]])
with torch.no_grad():
    logits = vlm(
        input_ids=small.ids,
        attention_mask=small.attention,
        mm_token_type_ids=small.types,
        pixel_values=small.patches,
        image_grid_thw=small.grids,
    ).logits
    logp = logits.log_softmax(-1)[:, :-1].gather(2, small.ids[:, 1:, None])[..., 0]
    by_hand = -(logp * small.loss_mask[:, 1:]).sum() / small.loss_mask[:, 1:].sum()
    torch.testing.assert_close(by_hand, loss_of(vlm, small))
print("by hand and by the kit: the same")

# %% [markdown]
# ## The loss of the blind
#
# Suppose a model knows how answers to `place` are worded, and sees nothing. What is its loss? All the
# words between the places are certain and cost nothing. Each of the four places is a guess:
#
# - if it doesn't even know that no place is used twice: ln 4 for each, together 4 ln 4;
# - if it knows that: ln 4, then ln 3, then ln 2, then nothing, together ln 24.
#
# $$\mathcal{L}_{guess} = \frac{4 \ln 4}{\text{tokens of an answer}} \qquad
# \mathcal{L}_{blind} = \frac{\ln 24}{\text{tokens of an answer}}$$
#
# Only a model *below* the second number sees anything. On one of the two, it has learnt to speak.
#
# ## Make one yourself
#
# A smaller model, three of the skills, some two minutes. On held-out scenes we watch the loss
# of each skill. Predict which falls first, and where `place` ends up.

# %%
talk = [skill(made, scenes).turns for skill in SKILLS.values() for _ in range(100)]
texts = [right for turns in talk for _, right in turns]
texts += [
    p for turns in talk for asked, _ in turns for p in asked if isinstance(p, str)
]
own = Chat(build_tokenizer(texts), build_image_processor())
torch.manual_seed(seed)
config = build_config(own.tokenizer, hidden, layers, vision_hidden=64, vision_layers=2)
student = Qwen2_5_VLForConditionalGeneration(config)
parameters = sum(p.numel() for p in student.parameters())
print(f"{parameters:,d} parameters, {len(own.tokenizer)} tokens")

# %%
mixture = {"place": 0.3, "colours": 0.4, "copying": 0.3}
unseen = [scene(np.random.default_rng([seed, 1, k])) for k in range(20)]
exam = {}
for name in mixture:
    rngs = [np.random.default_rng([seed, 2, k]) for k in range(held_out)]
    exam[name] = [SKILLS[name](rng, unseen) for rng in rngs]
papers = {name: collate(own, asked) for name, asked in exam.items()}
spoken = int(papers["place"].loss_mask.sum()) / held_out
floors = {"guess": 4 * math.log(4) / spoken, "blind": math.log(24) / spoken}
print(f"an answer to place has {spoken:.0f} tokens;", end=" ")
print(", ".join(f"{name} {loss:.3f}" for name, loss in floors.items()))


def losses() -> dict[str, float]:
    """The loss of each skill on held-out scenes."""
    with torch.no_grad():
        return {name: loss_of(student, paper).item() for name, paper in papers.items()}


# %%
from kit.models.vision_attention import batch_vision_attention

batch_vision_attention(student)  # many small pictures at once: faster, same numbers
stream = batches(
    own, scenes, np.random.default_rng(seed), batch_size, lambda step: mixture
)
log = train(
    student,
    stream,
    steps,
    peak=learning_rate,
    warmup=max(1, steps // 10),
    probe=losses,
    every=25,
)
curves = {n: ([r["step"] for r in log], [r[n] for r in log]) for n in mixture}
display(plots.lines(curves, x="step", y="loss on held-out scenes"))

# %%
settled = [row for row in log if row["step"] > steps // 5]
at, place = [row["step"] for row in settled], [row["place"] for row in settled]
floor = {name: (at[:1] + at[-1:], [loss, loss]) for name, loss in floors.items()}
display(plots.lines({"place": (at, place), **floor}, x="step", y="loss of place"))
for name in mixture:
    print(f"{name:8s} loss {log[0][name]:.3f} → {log[-1][name]:.3f}")
nearest = min(floors, key=lambda name: abs(place[-1] - floors[name]))
print(f"place ends at {place[-1]:.3f}; {nearest} is {floors[nearest]:.3f}")

# %% [markdown]
# Losses are abstract; ask it. Here is the share of words it gets right, beside the share that would be
# right if it had answered *another* sample of the same skill: what wording alone is worth.


# %%
def agreement(said: list[str], right: list[str]) -> float:
    """Mean share of words that agree, labels and punctuation aside."""
    shares = []
    for one, other in zip(said, right, strict=True):
        pairs = itertools.zip_longest(one.split(), other.split())
        shares.append(np.mean([a == b for a, b in pairs if b is None or len(b) > 1]))
    return float(np.mean(shares))


student.eval()
for name in mixture:
    said = answer(student, own, exam[name])
    right = [sample.turns[0][1] for sample in exam[name]]
    elsewhere = right[1:] + right[:1]
    share, worded = agreement(said, right), agreement(said, elsewhere)
    print(f"{name:8s} {share:.0%} right, wording alone {worded:.0%}")

# %% [markdown]
# So: colours are being learnt, copying has begun, and placing pieces is on its *plateau*. Its wording
# is perfect and its content a guess; not even that a place is used only once has been learnt. To the
# third decimal, the loss says so. The curve is flat as if nothing could ever come of it, and two
# minutes do not get past that. (Try `steps`, `hidden`, `learning_rate` with values of your own.)
#
# ## The plateau ends
#
# The committed model had the same plateau. Its log (not every row is kept):

# %%
from kit.train.metrics import read_metrics

history = read_metrics(TINY / "log.jsonl")
loss = [row["step"] for row in history], [row["loss"] for row in history]
probed = [row for row in history if "place" in row]
right = [row["step"] for row in probed], [row["place"] for row in probed]
display(plots.lines({"loss": loss}, x="step", y="loss"))
display(plots.lines({"place": right}, x="step", y="share of puzzles right"))
for row in probed[:20]:
    right, loss = f"{row['place']:.0%}", f"{row['loss']:.3f}"
    print(f"step {row['step']:5.0f}   loss {loss}   place {right}")

# %% [markdown]
# Read the two together. At first the loss falls and hardly a puzzle is right (by guessing, one in 24
# would be): it learns to speak. Then it takes off, since as soon as some edge tells *anything* about
# where a piece goes, it is easier to learn the next. Three things helped: smooth pictures and
# dense questions first (the colours at corners, which pieces are neighbours), an optimizer that treats
# all directions of a weight matrix alike (Muon), and a learning rate that decays. A bump in the loss is
# where the mixture of skills changes. So if a curve is flat, ask what the loss of the blind is before you give up, or
# before you believe in it.
#
# ## What the committed model can do
#
# Its card, measured when it was made. Keep it beside you when a notebook's number surprises you.

# %%
display(Markdown((TINY / "README.md").read_text().partition("\n")[2]))

# %% [markdown]
# The same accuracies with their intervals. A share means little without what a guesser gets who knows
# the wording: 1/24 where four pieces are to be placed, 1/5 and 1/4 where there are five or four
# answers. Which skills are *not* above chance?

# %%
from kit.evaluate.intervals import Interval

record = json.loads((TINY / "skills.json").read_text())
measured = {name: Interval.of(entry) for name, entry in record.items()}
display(plots.bars({"share right": measured}))
chances = dict.fromkeys(("place", "photographs", "rearranged"), 1 / 24)
chances |= {"adjacency": 1 / 5, "orientation": 1 / 4}
for name, chance in chances.items():
    verdict = "above chance" if measured[name].low > chance else "not above chance"
    print(f"{name:12s} {measured[name]}  chance {chance:.3f}: {verdict}")

# %% [markdown]
# Does what it learnt carry over to photographs it never saw? Puzzles cut from the kit's held-out ones,
# asked in the words it knows:

# %%
from kit.data.permutations import belonging
from kit.evaluate.intervals import proportion
from kit.papers.agile.tasks import evaluation_set
from kit.tiny.skills.text import Sample


def in_words(task) -> Sample:
    """A puzzle as a question of the skill ``place``."""
    parts = [x for p in task.images for x in (f"Image {p.name}: ", np.asarray(p.image))]
    right = belonging([p.name for p in task.images], task.target)
    return Sample("place", (((*parts, "Where does each belong?"), f"{right}."),))


puzzles = evaluation_set(held_out, seed, 2, levels=(0,))
asked = [in_words(task) for task in puzzles]
said = answer(vlm, chat, asked)
right = [text == sample.turns[0][1] for text, sample in zip(said, asked, strict=True)]
pictures = [task.meta["source"] for task in puzzles]
print("place, on photographs:", proportion(right, pictures), "chance", f"{1 / 24:.3f}")

# %% [markdown]
# ## What it can't do
#
# Anything that isn't on the card. It can't describe a picture, hold a conversation, read a sentence
# it wasn't taught or follow an instruction; it doesn't know what a cup is. It was never shown a 3×3
# grid, what a tool returns, or a puzzle being solved. A picture over 64 tokens is shrunk before it
# sees it, so zooming in shows it more only up to there.
#
# ## Paper / here / why different

# %%
from kit.papers.agile.reported import AGILE

print(f"paper: 7B base model, acting on 2×2 puzzles  {AGILE['base']['acc_2x2']:.1%}")
print(f"here:  tiny model, asked in its own words    {measured['place'].value:.1%}")
print("here:  tiny model, acting                    not run; see notebook 12")

# %% [markdown]
# These two numbers are *not* comparable, and that is the point. The paper's model can follow
# instructions and has never practised jigsaws; ours has practised nothing but seeing and cannot follow
# an instruction. Reinforcement learning in minutes can elicit what a model sees; it cannot teach a
# model of this size to see. So the kit gives it eyes first, and the notebooks of the papers ask what
# training can make of them.
#
# Next: [11, AGILE's task](11_agile.ipynb).
