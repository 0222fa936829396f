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
# **The question.** On a laptop all notebooks train one small vision-language model, on one or two cores. What is that
# model, what has it learnt before any of them starts, and what can it not do?
#
# **The paper.** This notebook follows none of the five. [AGILE](https://arxiv.org/abs/2510.01304),
# [Visual-ARFT](https://arxiv.org/abs/2505.14246) and [CodeDance](https://arxiv.org/abs/2512.17312) start from
# Qwen2.5-VL-7B, which others have trained on very many pictures, so they have no figure of how a model learns
# to see. Here is the same architecture made small, and taught to see with pictures that a program draws.
#
# **Afterwards you can** count the tokens of any picture; say which positions they have; read a
# parameter budget; compute the loss of a model that sees nothing; and recognise a plateau in a loss curve.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core: a smaller model re-made here | 3 | 1 GB |
# | the committed model | 2 cores: `python data_scripts/make_tiny_vlm.py` | not run here: see its card | 4 GB |
# | `gpu`, `node` | nothing here needs one | 3 | 1 GB |

# %% tags=["parameters"]
seed: int = 0  # fixes pictures, weights and batches
steps: int = 800  # optimizer steps of the model re-made here
batch_size: int = 16  # conversations a step
hidden: int = 128  # its width: numbers for each token, a multiple of 64
layers: int = 2  # its language layers
learning_rate: float = 2e-3  # at its peak
pool: int = 200  # scenes that a program draws, to train on
held_out: int = 48  # conversations of each skill to measure it on
threads: int = 1  # CPU threads of this process

# %%
import itertools
import json
import math
from collections import Counter
from textwrap import fill

import numpy as np
import torch
from IPython.display import Markdown, display
from kit.chat import Chat
from kit.episode import NamedImage
from kit.policy.hf import load_model_and_chat
from kit.view import plots
from pictures.scenes import scene
from PIL import Image
from tiny import TINY
from tiny.build import build_config, build_image_processor, build_tokenizer
from tiny.pretrain import batches, collate, encode, loss_of, train
from tiny.probe import answer as ask
from tiny.skills import SKILLS
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
vlm, chat = load_model_and_chat(TINY)
parameters = sum(p.numel() for p in vlm.parameters())
print(type(vlm).__name__, f"with {parameters:,d} parameters")

# %% [markdown]
# ## From pixels to tokens
#
# The [vision tower](../docs/glossary.md#vision-tower) reads *[patches](../docs/glossary.md#patch)* of 14 × 14 pixels.
# Four patches, a square of 28 × 28, are merged into one [token](../docs/glossary.md#token) for the language model. Thin
# lines below are the borders of patches, thick ones those of tokens.

# %%
view = scene(np.random.default_rng(seed + 3), 112)[:56]
grid = np.kron(view, np.ones((3, 3, 1), np.uint8))
grid[::42], grid[:, ::42] = 255, 255
for offset in (-1, 0, 1):
    grid[84 + offset] = grid[:, [84 + offset, 168 + offset, 252 + offset]] = 255
display(plots.images([("112 × 56 pixels", Image.fromarray(grid))], side=3.2))

# %% [markdown]
# **Exercise 04.1.** How many tokens has a picture whose sides are multiples of 28 pixels?


# %% tags=["exercise"]
def image_tokens(width: int, height: int) -> int:
    """Tokens of a picture of ``width`` × ``height`` pixels."""
    ...


check("04.1", image_tokens)

# %% [markdown]
# Guess the tokens of the three pictures below. One of them is larger than this model allows.

# %% tags=["guess"]
for width, height in ((112, 56), (56, 56), (640, 448)):
    picture = NamedImage("any", Image.new("RGB", (width, height)))
    patches, tokens = len(chat.pixels(picture).patches), chat.image_tokens(picture)
    print(f"{width}×{height}: {patches} patches, {tokens} tokens")


# %% [markdown]
# The last one has fewer tokens than its area would give, 640 · 448 / 784 = 365.7: this model's processor shrinks
# a picture until it has at most 64 tokens. (AGILE's limit for the 7B model is 512.)
#
# In which order do patches enter the vision tower? Here is a picture of 4 × 4 patches. Their brightness numbers them in
# reading order, 0 to 15. Guess the first eight.

# %% tags=["guess"]
counting = np.kron(np.arange(16).reshape(4, 4) * 16, np.ones((14, 14))).astype(np.uint8)
picture = NamedImage("counting", Image.fromarray(counting).convert("RGB"))
patches = chat.pixels(picture).patches
order = torch.argsort(torch.argsort(patches.mean(1))).tolist()
print("patches as they enter:", order)
for token in range(4):
    print(f"token {token} is made of patches", order[4 * token : 4 * token + 4])

# %% [markdown]
# They don't enter row by row. The four patches of a token come together, so that merging them needs no more than a
# `reshape`.
#
# **Exercise 04.2.** Which patches make up a token? Tokens and patches are numbered in reading order, from 0;
# `columns` is the number of patches in a row of the picture.


# %% tags=["exercise"]
def patches_of(token: int, columns: int) -> list[int]:
    """The four patches of a token: upper left, upper right, lower left, lower right."""
    ...


check("04.2", patches_of)

# %% [markdown]
# Follow the shapes through the tower. A row of `patches` is 3 colours × 2 frames × 14 × 14 pixels = 1,176
# numbers (the frames are for videos; a still picture fills both).

# %%
shape = torch.tensor([chat.pixels(picture).grid])
seen = vlm.model.visual(patches, grid_thw=shape)
print("patches:         ", tuple(patches.shape))
print("after the tower: ", tuple(seen.last_hidden_state.shape))
print("after the merger:", tuple(seen.pooler_output.shape), "enter the language model")


# %% [markdown]
# ## Where does a token stand?
#
# Every token has a position, so that the model knows their order. Here a position is three numbers: time, row, column
# (*[M-RoPE](../docs/glossary.md#m-rope)*). In text all three count up together. A picture begins where the text stopped;
# its tokens share one time, and their rows and columns count up from there. The picture below has 8 tokens, in 2 rows
# of 4. How many positions further does the text go on, 8? Guess.

# %% tags=["guess"]
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
# <details><summary>Why is it less than 8? Think first, then open.</summary>
#
# The text goes on after the largest number in use, and the longer side of the picture decides that: 4. A square picture
# of 64 tokens takes up 8 positions, which is one reason why such models can read many pictures without running out of
# positions.
#
# </details>
#
# **Exercise 04.3.** Write the positions of a picture's tokens, in reading order, each as (time, row, column). `start` is
# the first position after the text before it.


# %% tags=["exercise"]
def picture_positions(
    start: int, rows: int, columns: int
) -> list[tuple[int, int, int]]:
    """Position of each token of a picture of ``rows`` × ``columns`` tokens."""
    ...


check("04.3", picture_positions)

# %% [markdown]
# ## Where the parameters are
#
# The model named 7B has 8 billion parameters if all are counted. Ours has 3 million. Which part is the largest in each,
# and which part's share differs most between them? Guess. (The large one is built without memory, on PyTorch's `meta`
# device, from its published sizes.)


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

# %% tags=["guess"]
budgets = {"tiny": budget(vlm), "Qwen2.5-VL-7B": budget(large)}
shares = {}
for name, parts in budgets.items():
    total = sum(parts.values())
    order = ("vision", "merger", "language", "embeddings")
    shares[name] = {part: parts[part] / total for part in order}
    percents = ", ".join(f"{part} {share:.0%}" for part, share in shares[name].items())
    print(f"{name:14s} {total:13,d}  {percents}")
title = "where the parameters are"
display(plots.bars(shares, label="share of the parameters", title=title))
ratio = sum(budgets["Qwen2.5-VL-7B"].values()) / sum(budgets["tiny"].values())
print(f"{ratio:,.0f} times smaller")

# %% [markdown]
# Language is the largest part of both, and its share differs most in points (50 % and 79 %); as a ratio the merger's does (11
# % and 1 %). What the small model lacks in language it has in the vision tower, 31 % against 8 %: seeing is most of what it
# can do. Its words cost little because its vocabulary is small. An embedding is a row of numbers for each token of the
# vocabulary.
#
# **Exercise 04.4.** Give the tiny model the large one's vocabulary of 152,064 tokens and leave all else as it is. Which
# share of its parameters are embeddings then? Compute it from `budgets["tiny"]` and `len(chat.tokenizer)`.

# %% tags=["exercise"]
answer = ...  # a share, 0 to 1
check("04.4", answer, parts=budgets["tiny"], tokens=len(chat.tokenizer))

# %% [markdown]
# ## The tokenizer
#
# It is a byte-level BPE tokenizer (it joins frequent pairs of pieces), learnt from the kit's own phrases: any text can be
# encoded, and phrases that agents write often take few tokens. How many does `observation_image_1` take? And
# `<|image_pad|>`, typed by a user? Guess.

# %% tags=["guess"]
print(len(chat.tokenizer), "tokens in the vocabulary")
spellings = ("observation_image_1", "<think>", "2718", "Straße", "<|image_pad|>")
for text in spellings:
    ids = chat.text(text)
    pieces = " · ".join(chat.tokenizer.decode([i]) for i in ids)
    print(f"{text:20s} {len(ids):2d} tokens:  {pieces}")
assert chat.image_id not in chat.text("<|image_pad|>")

# %% [markdown]
# The last line is the important one. `<|image_pad|>` is a control token: at its place the model gets a picture's
# features. If a user types it or a program prints it, it is thirteen ordinary characters and no picture.
#
# ## What it was taught
#
# It was taught skills: a program asks questions about a picture and gives the answers, as often as needed. None of them
# is an [episode](../docs/glossary.md#episode): the model never acts. Here the pictures are drawn scenes; the committed
# model was trained on photographs too (its card, below, says which). Look at the pictures, then answer the questions
# before you open the answers. Which skill will be the hardest to learn? (The card answers it. `copying`, `code`,
# `sorting` and `facts` are text alone; some skills go on asking, here are their first questions.)

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
display(plots.images(drawn, columns=8, title="one picture of each skill"))

# %%
for name, sample in samples.items():
    question, _ = sample.turns[0]
    print(fill(f"{name:12s} {question[-1]}", 88, subsequent_indent=" " * 13))

# %% tags=["guess"]
for name, sample in samples.items():
    _, right = sample.turns[0]
    line = f"{name:12s} {right}".replace("\n", " ⏎ ")
    print(fill(line, 88, subsequent_indent=" " * 13))

# %% [markdown]
# ## Loss on answers only
#
# Each sample is one conversation. The model is trained to predict the next token, but only in the
# *answer*: it need not learn to ask. Which tokens count is told by a [loss mask](../docs/glossary.md#loss-mask).

# %%
ids, mask, _ = encode(chat, samples["orientation"])
for (token, learnt), run in itertools.groupby(zip(ids, mask, strict=True)):
    text, times = chat.tokenizer.decode([token]).replace("\n", "⏎"), len(list(run))
    print(f"[{text}]" if learnt else text, f"×{times} " if times > 1 else "", end="")
print(f"\n{sum(mask)} of {len(ids)} tokens are learnt, those in brackets")

# %% [markdown]
# The loss is the mean of −log p over the tokens with mask $I_t = 1$:
#
# $$\mathcal{L} = -\frac{1}{\sum_t I_t}\sum_t I_t \log p_\theta(y_t \mid y_{<t}, \text{pictures})$$
#
# Here it is computed by hand from the log-probabilities; the kit's `loss_of` must give the same.

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
# - *guess*: it doesn't know that no place is used twice. Each place costs ln 4, together 4 ln 4.
# - *blind*: it knows that. The first place costs ln 4, the second ln 3, the third ln 2, the last nothing: together ln 24.
#
# $$\mathcal{L}_{guess} = \frac{4 \ln 4}{\text{tokens of an answer}} \qquad
# \mathcal{L}_{blind} = \frac{\ln 24}{\text{tokens of an answer}}$$
#
# A loss *below* the second number shows that a model sees something of where pieces belong; above it nothing is shown yet. At one of the two numbers it has learnt the wording.
#
# **Exercise 04.5.** A puzzle has `pieces` pieces and as many places. The question already tells where `known` of the
# pieces belong; the answer names the places of the others, all different, in `tokens` tokens. What is the loss of a
# blind model?


# %% tags=["exercise"]
def blind_loss(pieces: int, known: int, tokens: int) -> float:
    """Loss of a model that knows the wording and the rule, and sees nothing."""
    ...


check("04.5", blind_loss)

# %% [markdown]
# ## Make one yourself
#
# A smaller model practises three of the skills for some two minutes; how far it gets differs from one to the next. On
# scenes that it isn't trained on we watch the loss of each skill.

# %%
talk = [skill(made, scenes).turns for skill in SKILLS.values() for _ in range(100)]
texts = [right for turns in talk for _, right in turns]
texts += [
    p for turns in talk for asked, _ in turns for p in asked if isinstance(p, str)
]
own = Chat(build_tokenizer(texts), build_image_processor())
config = build_config(own.tokenizer, hidden, layers, vision_hidden=64, vision_layers=2)


def untrained() -> Qwen2_5_VLForConditionalGeneration:
    """A new model with random weights, the same ones each time."""
    torch.manual_seed(seed)
    return Qwen2_5_VLForConditionalGeneration(config)


student = untrained()
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


# %% [markdown]
# Guess before you open the curves: which loss falls first? And where does `place` end: above both numbers, between them, at
# one of them, or below?

# %% tags=["guess"]
from kit.models.vision_attention import batch_vision_attention

student = untrained()
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
title = "loss on held-out scenes, by skill"
display(plots.lines(curves, x="step", y="loss", title=title))

# %% tags=["guess"]
settled = [row for row in log if row["step"] > steps // 5]
at, place = [row["step"] for row in settled], [row["place"] for row in settled]
title = "loss of place, beside what needs no sight"
display(plots.lines({"place": (at, place)}, "step", "loss", title, floors))
for name in mixture:
    print(f"{name:8s} loss {log[0][name]:.3f} → {log[-1][name]:.3f}")
nearest = min(floors, key=lambda name: abs(place[-1] - floors[name]))
print(f"place ends at {place[-1]:.3f}; {nearest} is {floors[nearest]:.3f}")

# %% [markdown]
# A loss is hard to picture, so ask the model. Here is the share of words it gets right, beside the share that would be
# right if its answers belonged to *other* samples of the same skill: that much comes from the wording alone.


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
    said = ask(student, own, exam[name])
    right = [sample.turns[0][1] for sample in exam[name]]
    elsewhere = right[1:] + right[:1]
    share, worded = agreement(said, right), agreement(said, elsewhere)
    print(f"{name:8s} {share:.0%} right, wording alone {worded:.0%}")

# %% [markdown]
# Colours are being learnt, copying has begun, and placing pieces is on its *plateau*: it gets no more words right than
# the wording alone gives, and its loss is not below that of a blind model. The curve is so flat that one would
# stop the training, and two minutes do not get past that. (Try `steps`, `hidden`, `learning_rate` with values of your own.)
#
# ## The plateau ends
#
# The committed model had the same plateau. (Its loss is logged for all its skills together, so it shows in the puzzles, not
# in the loss.) At which step does its share of solved puzzles leave the level of guessing
# (one in 24)? Guess, from what you saw above, then open its log. (Not every row of the log is kept.)

# %% tags=["guess"]
from kit.train.metrics import read_metrics

history = read_metrics(TINY / "log.jsonl")
loss = [row["step"] for row in history], [row["loss"] for row in history]
probed = [row for row in history if "place" in row]
right = [row["step"] for row in probed], [row["place"] for row in probed]
display(plots.lines({"loss": loss}, "step", "loss", "the committed model: loss"))
title, chance = "the committed model: puzzles solved", {"guessing": 1 / 24}
display(plots.lines({"place": right}, "step", "share right", title, chance))
for row in probed[:20]:
    right, loss = f"{row['place']:.0%}", f"{row['loss']:.3f}"
    print(f"step {row['step']:5.0f}   loss {loss}   place {right}")

# %% [markdown]
# Read the two together. At first the loss falls and hardly a puzzle is right: it learns the wording. It leaves the level
# of guessing between steps 800 and 1,200; before that the few puzzles of a row (64 at most) can't tell it from 4 %. Then
# accuracy rises fast: as soon as some edge of a piece tells *anything* about where the piece goes, other edges are easier
# to learn. Three things were meant to help (they weren't tried one by one): smooth pictures and questions with many
# answers first (the colours at corners, which pieces are neighbours), an optimizer that treats all directions of a weight
# matrix alike (Muon), and a learning rate that decays. The loss jumps where the mixture of skills changes. So if a curve
# is flat, compute the loss of the blind before you give up: at that loss a model has the hard part still before it, and
# more steps can help.
#
# ## What the committed model can do
#
# This is its card, measured when it was made. Come back to it when a notebook's number surprises you. (You can skip *How this
# one came to be*. The card counts whole answers, of `colours` all sixteen: its shares can't be compared with those of words
# above.)

# %%
display(Markdown((TINY / "README.md").read_text().partition("\n")[2]))

# %% [markdown]
# The same accuracies with their [intervals](../docs/glossary.md#confidence-interval). A share means little unless you
# know what guessing would give. A guesser that knows the wording has 1/24 where four pieces are to be placed, and 1/5 or
# 1/4 where there are five or four answers. Is one of the five skills below not above chance? Guess from the card. (In the
# figure `shapes.2` is the second question of a conversation about `shapes`.)

# %% tags=["guess"]
from kit.evaluate.intervals import Interval

record = json.loads((TINY / "skills.json").read_text())
measured = {name: Interval.of(entry) for name, entry in record.items()}
display(plots.bars({"share right": measured}, "share right", title="by skill"))
chances = dict.fromkeys(("place", "photographs", "rearranged"), 1 / 24)
chances |= {"adjacency": 1 / 5, "orientation": 1 / 4}
for name, chance in chances.items():
    verdict = "above chance" if measured[name].low > chance else "not above chance"
    print(f"{name:12s} {measured[name]}  chance {chance:.3f}: {verdict}")

# %% [markdown]
# Does it see as well on photographs that were in no training? Here are puzzles cut from the kit's
# [held-out](../docs/glossary.md#held-out) ones, asked in the words it knows. Guess the share.

# %% tags=["guess"]
from kit.evaluate.intervals import proportion
from papers.agile.tasks import evaluation_set
from pictures.permutations import belonging
from tiny.skills.text import Sample


def in_words(task) -> Sample:
    """A puzzle as a question of the skill ``place``."""
    parts = [x for p in task.images for x in (f"Image {p.name}: ", np.asarray(p.image))]
    right = belonging([p.name for p in task.images], task.target)
    return Sample("place", (((*parts, "Where does each belong?"), f"{right}."),))


puzzles = evaluation_set(held_out, seed, 2, levels=(0,))
asked = [in_words(task) for task in puzzles]
said = ask(vlm, chat, asked)
right = [text == sample.turns[0][1] for text, sample in zip(said, asked, strict=True)]
pictures = [task.meta["source"] for task in puzzles]
print("place, on photographs:", proportion(right, pictures), "chance", f"{1 / 24:.3f}")

# %% [markdown]
# Why is the last interval so much wider than that of `photographs` on the card? Both are of the same eight photographs.
# (That the two shares differ says little: these are other puzzles, and the wide interval holds both shares.) The last one
# counts photographs, as all notebooks do ([12](12_agile_sft.ipynb) says why). The card counts its questions
# as if each were of another picture, so its interval is too narrow to speak of new photographs.
#
# ## What it can't do
#
# It can't do anything that isn't on the card. It can't describe a picture, hold a conversation, read a sentence that it
# wasn't taught, or follow an instruction; it doesn't know what a cup is. It was never shown a puzzle of 3×3 pieces, what a
# tool returns, or a puzzle being solved. A picture of more than 64 tokens is shrunk before the model gets it, so zooming
# in helps only up to that size.
#
# ## Paper / here / why different

# %%
from papers.agile.reported import AGILE

print(f"paper: 7B base model, acting on 2×2 puzzles  {AGILE['base']['acc_2x2']:.1%}")
print(f"here:  tiny model, asked in its own words    {measured['place'].value:.1%}")
print("here:  tiny model, acting                    not run; see notebook 12")

# %% [markdown]
# The first two numbers can *not* be compared, because the models lack different things. The paper's model can follow
# instructions and has never practised jigsaws; ours has practised seeing, copying and
# writing tags and lines of code word for word, and cannot follow any other instruction. A few minutes of reinforcement learning can make a model use what it sees; they can't teach a
# model of this size to see. So the kit teaches it to see first, and the notebooks of the papers show what
# training can make of that.
#
# ## What you have seen
#
# What is this model, what has it learnt before any notebook starts, and what can it not do? (*See* means below: see where a
# piece belongs. Colours the small model of two minutes has already begun to see.)

# %% tags=["figure"]
weights = sum(budgets["tiny"].values())
best, worst = (pick(measured, key=lambda n: measured[n].value) for pick in (max, min))
display(
    Markdown(f"""
- **A Qwen2.5-VL with {weights:,} weights, {ratio:,.0f} times smaller than the 7B model
  ({sum(budgets["Qwen2.5-VL-7B"].values()) / 1e9:.1f} billion weights), that
  was taught {len(SKILLS)} skills of seeing and writing and nothing else.**
- It knows them unequally well: best *{best}* ({measured[best].value:.2f} right), least
  *{worst}* ({measured[worst].value:.2f}).
- How long does seeing take? After {steps} steps the model re-made here has a loss of
  {place[-1]:.3f} on *place*; a model that sees nothing can get to {floors["blind"]:.3f}:
  {"it doesn't see yet" if place[-1] >= floors["blind"] else "it begins to see"}.
""")
)

# %% [markdown]
# Next: [05](05_laptop_to_node.ipynb), if you have GPUs; [06](06_is_it_learning.ipynb), which asks of a training whether
# it taught anything; then [11, AGILE's task](11_agile.ipynb), where this model is asked to act.
