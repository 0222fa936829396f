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
# # 01 · Anatomy of an episode
#
# **The question.** A model looks at pictures, writes code, is shown what the code made, writes
# again. Afterwards all of it lies in one long row of numbers, and a trainer pushes on some of them.
# Which of them did the model choose, which came from the world, and how does anybody still know?
#
# **The paper.** AGILE (Zeng et al.), section 3.1 and algorithm 1: an episode grows by appending,
# first what the policy says, then what the environment answers. Equation 4 then counts only the
# policy's tokens, by an indicator $I(y_{i,t})$. This notebook is about that one letter.
#
# **Afterwards you can** read an episode token by token; say how many tokens a picture costs, and
# why; say what a mask is and what it does to gradients; explain why ids are only ever concatenated,
# never decoded and encoded again; name the ways in which an episode ends and what each one earns.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu` | nothing here needs one | 1 | 1 GB |
# | `node` | nothing here needs one | 1 | 1 GB |
#
# You need Python and a little PyTorch. Reinforcement learning comes later, in notebook 03.

# %% tags=["parameters"]
seed: int = 8  # fixes the drawn scene, the crop and both shuffles
photo: str = "coffee"  # which packaged photograph to cut (kit.data.photos lists them)

# %%
import numpy as np
import torch
from IPython.display import display
from kit import view
from kit.chat import Chat
from kit.data.photos import photos, random_crop
from kit.data.scenes import scene
from kit.episode import Episode, NamedImage, Turn
from kit.exercises import check
from kit.models import load_model
from kit.papers.agile.env import JigsawEnv
from kit.papers.agile.puzzle import make_task
from kit.papers.agile.reward import is_right
from kit.tiny.build import TINY
from kit.view import plots
from PIL import Image, ImageDraw

chat = Chat.from_pretrained(TINY)
model = load_model(TINY)

# %% [markdown]
# ## A task
#
# Our agent solves jigsaws: a picture is cut into 2 × 2 pieces, shuffled, and labelled A, B, C, D in
# reading order. The right answer is the list of labels that restores it. Here are two puzzles, one
# cut from a drawn scene, one from a photograph. In one of them two pieces lie where they belong, in
# the other none does. Which is which, and what are the two answers?

# %%
rng = np.random.default_rng(seed)
drawn = Image.fromarray(scene(rng, 112))
taken = next(p for p in photos("held-out") if p.id == photo)
task = make_task(drawn, 2, 2, rng, "drawn", source="scene", piece_px=56)
crop = random_crop(rng, taken.image, 2)
other = make_task(crop, 2, 0, rng, "taken", source=photo, piece_px=56)
shown = [(f"{t.id}: {p.name}", p.image) for t in (task, other) for p in t.images]
display(plots.images(shown, columns=4))

# %%
for t in (task, other):
    pairs = zip(t.images, t.target, strict=True)
    in_place = sum(p.name == wanted for p, wanted in pairs)
    print(f"{t.id}: {in_place} in place, answer {list(t.target)}, {t.question}")

# %% [markdown]
# A `Task` holds just that: `id`, `images`, `question`, `target`, and `meta` for whatever an environment wants
# to remember. We go on with the first one. It takes a single swap.
#
# ## Text becomes ids
#
# A language model reads and writes whole numbers. A *tokenizer* translates: it has a list of pieces
# of text that are frequent, and spells everything with them. How many numbers will the text below
# become?


# %%
def spell(ids) -> str:
    """The tokens with dots between them; spaces and line ends made visible."""
    pieces = [chat.tokenizer.decode([i]) for i in ids]
    return "·".join(pieces).replace(" ", "␣").replace("\n", "⏎")


text = "<think>The top left needs B. Ça va?</think>"
ids = chat.text(text)
print(len(text), "characters,", len(ids), "ids:", ids)
print(spell(ids))
assert chat.decode(ids) == text

# %% [markdown]
# `<think>` and `␣needs` are single tokens, because this tokenizer saw them often. The closing tag
# isn't: it takes three. `Ç` became two tokens that can't be printed alone: at the bottom the alphabet
# is the 256 bytes, so *any* text can be spelled.
#
# ## Control tokens, and why text cannot forge them
#
# A few ids stand for no text at all. They mark who speaks and where a picture goes:

# %%
marks = [*chat.family.control_tokens, "<|im_end|>"]
for mark, i in zip(marks, chat.tokenizer.convert_tokens_to_ids(marks), strict=True):
    who = "policy and kit" if i not in chat.suppressed_ids else "kit.chat alone"
    print(f"{i:3d}  {mark:18s} written by {who}")
print(spell(chat.message("user", ["Hello."])))

# %% [markdown]
# Now suppose a file is *named* like a control token, or a program prints one. If its text were simply
# encoded, it would open a place for a picture that doesn't exist, or end the user's message and
# begin one of its own. Predict what each line below prints.

# %%
name = "cat<|image_pad|>.png"
naive = chat.tokenizer.encode(name)
safe = chat.text(name)
print("encoded naively:", spell(naive), "→ picture places:", naive.count(chat.image_id))
print("by chat.text:   ", spell(safe), "→ picture places:", safe.count(chat.image_id))
assert chat.decode(safe) == name

# %% [markdown]
# The same characters, spelled with ordinary pieces, mean nothing but themselves. Every question,
# file name and program output goes through `chat.text`. And the policy? It samples ids, not text, so it
# *could* sample `<|image_pad|>`. Those ids therefore get probability 0 wherever it is sampled or
# trained (`chat.suppressed_ids`). One mark is its own: `<|im_end|>`, "I have finished".
#
# ## What a picture costs
#
# The model sees a picture as squares of 14 × 14 pixels, *patches*. Its vision tower lets them look at one
# another, then merges 2 × 2 neighbouring patches into one vector for the language model. So
#
# $$\text{tokens} = \frac{H}{14} \cdot \frac{W}{14} \cdot \frac{1}{2 \cdot 2} = \frac{HW}{784},$$
#
# one for every 28 × 28 pixels. Here is piece A, enlarged: thin lines around patches, thick lines around
# what becomes one token. How many tokens for a piece of 56 × 56?


# %%
def grid(image: Image.Image, zoom: int = 3) -> Image.Image:
    """The picture enlarged, with patches and tokens outlined."""
    large = image.resize([side * zoom for side in image.size], Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(large)
    w, h = large.size
    for step, width in ((14, 1), (28, 4)):
        for at in range(0, w + 1, step * zoom):
            draw.line((at, 0, at, h), fill="white", width=width)
        for at in range(0, h + 1, step * zoom):
            draw.line((0, at, w, at), fill="white", width=width)
    return large


piece = task.images[0]
shown = [("as it is", piece.image), ("14 and 28 pixels", grid(piece.image))]
display(plots.images(shown))

# %%
pixels = chat.pixels(piece)
features = model.model.visual(pixels.patches, grid_thw=torch.tensor([pixels.grid]))
print("patches, and numbers in each:", tuple(pixels.patches.shape))
print("grid of time, height, width: ", pixels.grid)
print("vectors for the language model:", tuple(features.pooler_output.shape))
assert pixels.patches.shape[1] == 14 * 14 * 3 * 2
assert chat.image_tokens(piece) == len(features.pooler_output) == 56 * 56 // 784

# %% [markdown]
# 1,176 numbers a patch: 14 × 14 pixels, 3 colours, and 2 moments in time, because the same tower
# also watches films; a still picture is doubled. Sizes that don't divide by 28 are rounded to
# the nearest that do. How many tokens do these six sizes cost? Write the column down before you look.

# %% tags=["guess"]
for size in [(28, 28), (56, 56), (57, 40), (100, 60), (112, 112), (114, 114)]:
    picture = NamedImage("p", Image.new("RGB", size))
    _, h, w = chat.pixels(picture).grid
    tokens = chat.image_tokens(picture)
    print(f"{size!s:10s} → {w * 14:3d} × {h * 14:3d} pixels → {tokens:2d} tokens")

# %% [markdown]
# Twice the side, four times the tokens. That is why an agent that may `crop` and `zoom` is worth
# having: it can buy detail where it needs it, not everywhere.
#
# **Exercise 01.1.** How many tokens does a picture cost? Both sides are multiples of 28 here.


# %% tags=["exercise"]
def image_tokens(width: int, height: int) -> int:
    """Tokens of a picture whose sides are multiples of 28."""
    ...


check("01.1", image_tokens)

# %% [markdown]
# ## The prompt
#
# The environment says what goes into the first message; `chat.prompt` turns it into ids, and a picture
# into a row of `<|image_pad|>`, one for each vector that the tower will put there. Below, each such row is
# written as a count. Find the four pictures, the two messages, and the place where the policy will speak.

# %%
import re

from kit.sandbox import Sandbox

box = Sandbox(allow_unsafe=True).start()  # all players are the kit's
env = JigsawEnv(box)
prompt = chat.prompt(*env.prompt(task))


def read(ids) -> str:
    """Ids as text; a run of picture places as a count."""
    place = "<|image_pad|>"
    places = f"(?:{re.escape(place)})+"
    text = chat.tokenizer.decode(ids)
    return re.sub(places, lambda run: f"{place}×{len(run[0]) // len(place)}", text)


print(read(prompt))

# %%
pictures = prompt.count(chat.image_id)
print(len(prompt), "ids,", pictures, "of them places for pictures")
assert pictures == sum(chat.image_tokens(p) for p in task.images)

# %% [markdown]
# The prompt stops right after `assistant` and a line end. Whatever comes next is the policy's first token.
#
# ## Three turns
#
# To see an episode's bones we need no model. A script plays: it looks, swaps the two misplaced
# pieces, answers. The loop it goes through is the real one (there is only one in the kit), and so is
# the sandbox that runs its code. Which pictures will come back, and how many tokens will each cost?
# (The pieces are pasted with a gap of 2 pixels.)

# %%
from kit.papers.agile.experiment import Play
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout

i, j = (k for k in range(4) if task.images[k].name != task.target[k])
answer = "[" + ", ".join(f'"{label}"' for label in task.target) + "]"
look = (
    "<think>I look first.</think><code>observation_image_1 = observation(state)</code>"
)
swap = (
    f"<think>Swap {i} and {j}.</think><code>"
    f"state[{i}], state[{j}] = state[{j}], state[{i}]\n"
    "observation_image_2 = observation(state)</code>"
)
done = f"<think>All in place.</think><answer>{answer}</answer>"


# %%
limits = RolloutConfig(max_turns=5, max_new_tokens=64, max_episode_tokens=28192)


def play(*turns: str, config: RolloutConfig = limits) -> Episode:
    """The episode that these turns make, in the real loop and sandbox."""
    policy = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
    [episode] = rollout(policy, chat, [task], lambda: JigsawEnv(box), config)
    return episode


episode = play(look, swap, done)
seen = [p for p in episode.images if p not in task.images]
display(plots.images([(f"turn {k}", p.image) for k, p in enumerate(seen, 1)]))
for p in seen:
    print(p.name, p.image.size, chat.image_tokens(p), "tokens")

# %%
for number, turn in enumerate(episode.turns, start=1):
    print(f"turn {number}, policy:\n   ", turn.text.replace("\n", "⏎"))
    print("   then, environment:\n   ", read(turn.observation_ids).replace("\n", "⏎"))
print("ended by:", episode.ended)

# %% [markdown]
# Look closely at the seam between the two voices. Sampling stops at `</code>`, and that tag stays
# where it was sampled. Then the environment closes the turn (`<|im_end|>`), writes a user's
# message with the picture in it, and opens the next turn. All of that is *its* text, the role tokens
# included.
#
# ## The mask
#
# Now put everything in one row. Beside each id write 1 if the policy sampled it, 0 if anyone else wrote
# it. That second row is the *[mask](../docs/glossary.md#loss-mask)*; in the paper it is the indicator
# $I(y_{i,t})$ of equation 4. Six lines do it:

# %%
row, mask = list(prompt), [0] * len(prompt)
for turn in episode.turns:
    row += turn.ids  # the policy sampled these
    mask += [1] * len(turn.ids)
    row += turn.observation_ids  # the environment wrote these
    mask += [0] * len(turn.observation_ids)

assert row == episode.ids and mask == episode.mask
assert len(row) == len(mask)
share = sum(mask) / len(row)
print(f"{len(row)} ids, {sum(mask)} of them sampled by the policy: {share:.0%}")

# %% [markdown]
# How many separate stretches of 1 will there be? Guess, then open the picture of it.

# %% tags=["guess"]
from itertools import groupby

display(plots.masks(episode, chat))
print([(value, len(list(run))) for value, run in groupby(mask)])

# %% [markdown]
# And the same episode as people like to read it. Each underlined stretch is a token; point at one to see
# its id. (A script leaves nothing to chance, hence log p = 0 everywhere.)

# %%
display(view.show(episode, chat=chat, is_right=is_right))

# %% [markdown]
# **Exercise 01.2.** The mask again, from lengths alone: the prompt's, and for each turn the number of tokens that the
# policy sampled and that the environment appended.


# %% tags=["exercise"]
def mask_of(prompt: int, turns: list[tuple[int, int]]) -> list[int]:
    """1 for each token of the policy, 0 for each other, in order."""
    ...


check("01.2", mask_of)

# %% [markdown]
# ## Image tokens = image features
#
# There is one bookkeeping rule that multi-turn training with pictures breaks more often than any
# other: the places for pictures in the row must be exactly as many as the vectors that all its pictures
# give. Count both, after three turns and six pictures:

# %%
places = episode.ids.count(chat.image_id)
given = [chat.pixels(p) for p in episode.images]
vectors = model.model.visual(
    torch.cat([p.patches for p in given]),
    grid_thw=torch.tensor([p.grid for p in given]),
).pooler_output
print(len(given), "pictures,", places, "places,", len(vectors), "vectors")
assert places == len(vectors)

# %% [markdown]
# It holds because a picture and its tokens are appended in one step, and a picture that would no
# longer fit ends the episode instead of being cut. Cut one place away, as a limit on length would, and
# the packer refuses to build a batch from it:

# %%
from dataclasses import replace

from kit.train.pack import pack

at = episode.prompt_ids.index(chat.image_id)
cut = episode.prompt_ids[:at] + episode.prompt_ids[at + 1 :]
try:
    pack([replace(episode, prompt_ids=cut)], chat)
except ValueError as error:
    print(error)

# %% [markdown]
# ## Never decode and encode again
#
# Many systems keep the conversation as text and tokenize it once more before training. It reads the
# same; what could go wrong? A policy samples one token after another. Nothing obliges it to spell
# a word the way the tokenizer would. Here it says `<answer>` in two bites:

# %%
bites = chat.text("<ans") + chat.text("wer>")
again = chat.text(chat.decode(bites))
print("sampled:      ", spell(bites), bites)
print("encoded again:", spell(again), again)
assert chat.decode(bites) == chat.decode(again) and bites != again

# %% [markdown]
# Six tokens became one. The same text, but not the same *event*: the model's probability of the first
# row has nothing to do with its probability of the second. Ask it, after our prompt:


# %%
@torch.no_grad()
def logprob(ids, prompt=episode.prompt_ids) -> float:
    """Log-probability of ``ids`` after the prompt, under the tiny model."""
    turn = Turn(tuple(ids), (0.0,) * len(ids), "")
    packed = pack([Episode(task, prompt, (turn,))], chat)
    logp = torch.log_softmax(model(**packed.model_inputs()).logits[0], dim=-1)
    at = torch.arange(len(prompt), len(prompt) + len(ids))
    return float(logp[at - 1, torch.tensor(ids)].sum())


print(f"log p of what was sampled: {logprob(bites):6.1f}")
print(f"log p of the re-encoding:  {logprob(again):6.1f}")

# %% [markdown]
# A trainer that compares "how likely was this when sampled" with "how likely is it now" would compare
# two different things, and call the difference learning.
#
# The lengths differ too, so everything behind slides. Suppose the policy spelled the opening
# `<think>` of turn 1 letter by letter. Re-encode that episode, lay the *old* mask over the *new* ids, and
# see what the trainer would now believe the policy said:

# %%
first = episode.turns[0]
letters = [i for letter in "<think>" for i in chat.text(letter)]
spelled = (*letters, *first.ids[1:])
odd = replace(first, ids=spelled, logprobs=(0.0,) * len(spelled))
sampled = replace(episode, turns=(odd, *episode.turns[1:]))
again = chat.tokenizer.encode(chat.tokenizer.decode(sampled.ids))
print(len(sampled.ids), "ids were sampled and appended,", len(again), "came back")

# %%
stale, true = sampled.mask, episode.mask
assert again == episode.ids  # what came back is the other spelling, whose mask we know
wrong = [i for i, old, new in zip(again, stale, true, strict=False) if old and not new]
missed = [i for i, old, new in zip(again, stale, true, strict=False) if new and not old]
print("trained on, though the policy never said it:", spell(wrong))
print("not trained on, though it did:              ", spell(missed))

# %% [markdown]
# The model would be taught to close its own turn and open the user's, and nobody would see an error
# message. A round trip through text undoes the other protection as well. Remember the file name?

# %%
round_trip = chat.tokenizer.encode(chat.tokenizer.decode(safe))
print("before:", safe.count(chat.image_id), "picture places; after:", end=" ")
print(round_trip.count(chat.image_id))
assert safe.count(chat.image_id) == 0 and round_trip.count(chat.image_id) == 1

# %% [markdown]
# So: ids are sampled, appended, kept. Text is for people and for the sandbox.
#
# ## What the mask does to gradients
#
# Training means: make some tokens more likely, or less. For imitation (notebook 12) the loss is
#
# $$L = -\frac{1}{\sum_t I(y_t)} \sum_{t:\, I(y_t) = 1} \log \pi_\theta(y_t \mid x, y_{<t}),$$
#
# the mean over the policy's tokens; the sums are those of AGILE's eq. 4, where an advantage is
# multiplied in (notebook 03). One detail trips everyone once: the logits *at* position t are about the
# token at position t + 1. Hence the shift by one below.


# %%
def gradients(mask: list[int]) -> torch.Tensor:
    """How hard the loss pulls on the logits that predict each token but the first."""
    inputs = pack([episode], chat).model_inputs()
    logits = model(**inputs).logits
    logits.retain_grad()
    logp = torch.log_softmax(logits[0, :-1], dim=-1)
    logp = logp.gather(-1, inputs["input_ids"][0, 1:, None])[:, 0]
    counts = torch.tensor(mask[1:])
    (-(logp * counts).sum() / counts.sum()).backward()
    model.zero_grad()
    return logits.grad[0, :-1].norm(dim=-1)


pull = gradients(episode.mask)
print(len(pull), "tokens are predicted: all but the first")

# %% [markdown]
# Of how many will the gradient be *exactly* zero?

# %%
counts = torch.tensor(episode.mask[1:]).bool()
for who, chosen in {"the policy's": counts, "all others": ~counts}.items():
    moved = int((pull[chosen] > 0).sum())
    print(f"{who:12s} {int(chosen.sum()):3d} tokens, pulled on: {moved}")
assert (pull[counts] > 0).all() and (pull[~counts] == 0).all()
display(plots.masks(episode, chat, values=[0.0, *pull.tolist()]))

# %% [markdown]
# Not small: zero. And without the mask? Then the loss also asks the model to predict the prompt, the
# role tokens, even the `<|image_pad|>` places: to *invent* what the world should tell it.

# %%
everything = gradients([1] * len(episode.ids))
print("without a mask, pulled on:", int((everything > 0).sum()), "of", len(everything))
wasted = float(everything[~counts].sum() / everything.sum())
print(f"share of the pull that goes to tokens nobody sampled: {wasted:.0%}")

# %% [markdown]
# Does a mask make observations invisible, then? Careful. They are not *blamed*, but they are *read*: the
# policy's tokens look back at them. Follow the gradient one step further, to the vectors that enter the
# language model:

# %%
kept = []
language = model.model.language_model
hook = language.register_forward_pre_hook(
    lambda module, args, kwargs: kept.append(kwargs["inputs_embeds"]), with_kwargs=True
)
packed = pack([episode], chat)
logits = model(**packed.model_inputs()).logits[0, :-1]
hook.remove()
loss = torch.nn.functional.cross_entropy(logits, packed.labels[0, 1:])
(entering,) = torch.autograd.grad(loss, kept[0])
is_place = packed.image_inputs["mm_token_type_ids"][0].bool()
reached = entering[0].norm(dim=-1) > 0
count = int(reached[is_place].sum())
print("picture places whose vectors get a gradient:", count, "of", places)

# %% [markdown]
# All of them. That is how eyes learn from an answer: through being looked at, not through being
# predicted. (`packed.labels` is the mask in PyTorch's own dress: −100 wherever the mask is 0, and
# `cross_entropy` leaves those out.)
#
# ## How episodes end
#
# Six scripts. Which will end by answering, which will be cut off, and by what? Write it down, then open the output.

# %% tags=["guess"]
wrong_answer = done.replace(answer, '["A", "A", "A", "A"]')
episodes = {
    "look, swap, right answer": episode,
    "look, wrong answer": play(look, wrong_answer),
    "right answer, no look": play(done),
    "looks for ever": play(*[look] * 5),
    "only talks": play(look, "The two on the right look swapped."),
    "context is full": play(look, swap, done, config=RolloutConfig(5, 64, 300)),
}
for name, e in episodes.items():
    print(f"{name:26s} ended: {e.ended:7s} {len(e.turns)} turns, {len(e.ids)} ids")

# %% [markdown]
# Four ways: `answer`, three times, right or wrong; `turns`, the budget of turns is used up (5, the paper's Table 5); `format`, a turn with
# neither code nor answer; `tokens`, the next observation would not leave room for another turn, so it was
# not appended at all. A fifth way, `lost`, means that the sandbox could not keep the episode's state.
#
# ## What each one earns
#
# The reward comes once, at the end (section 3.3):
#
# $$R_{step} = \lambda\,(\mathbb{1}[R_{acc}=1]\,step_{num} + \mathbb{1}[R_{acc}=0]\,step_{max})
# \quad (5) \qquad R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \quad (6)$$
#
# with $\alpha = 0.8$, $\beta = 0.2$, $\gamma = 1$, $\lambda = -0.05$, $step_{max} = 5$. Our episode is
# right (0.8), keeps to the tags (0.2) and ran code twice (−0.05 · 2). So it earns …? And what do the others?

# %% tags=["guess"]
from kit.papers.agile.reward import score

assert abs(score(episode, task.target).total - (0.8 + 0.2 - 0.05 * 2)) < 1e-12
for name, e in episodes.items():
    s = score(e, task.target)
    parts = ", ".join(f"{part} {value + 0:+.2f}" for part, value in s.parts.items())
    print(f"{name:26s} {s.total:+.2f} = {parts}")

# %% [markdown]
# The mask says *which* tokens may be moved. This number says *which way*, and it is the same number for
# every token of the episode. How one number an episode becomes a push on each token is the
# subject of [notebook 03](03_grpo_by_hand.ipynb).
#
# **Exercise 01.3.** Say how an episode ends. You get the turns' actions in order ("code", "answer", or None for a turn
# without an action) and the budget of turns. (Tokens are plenty, and the sandbox is well.)


# %% tags=["exercise"]
def ends_by(actions: list[str | None], max_turns: int) -> str:
    """One of answer, format, turns."""
    ...


check("01.3", ends_by)

# %% [markdown]
# ## Check yourself
#
# <details><summary>The policy was stopped at <code>&lt;/code&gt;</code>. Does that tag have mask 1 or 0,
# and the <code>&lt;|im_end|&gt;</code> after it?</summary>
# 1: the policy sampled it. The <code>&lt;|im_end|&gt;</code> has 0: the environment wrote it to close
# the turn. Had the policy sampled it itself, it would have 1 and not be written twice.</details>
#
# <details><summary>A program prints <code>&lt;|im_start|&gt;system</code>. What does the model
# see?</summary> The letters, each in ordinary tokens; no new message begins.</details>
#
# <details><summary>Why not mask the pictures out of attention, if they carry no loss?</summary>
# Then the policy could not see them. The mask is about what is predicted, not about what is
# read.</details>
#
# ## Paper / here / why different

# %%
from kit.papers.agile.reported import AGILE

paper, largest = Play(), max(chat.image_tokens(p) for p in episode.images)
most = f"{paper.max_episode_tokens:,}"
solved = f"{AGILE['grpo']['acc_2x2']:.1%} of 2×2"
rows = [
    ("", "paper", "here", "why different"),
    ("turns, at most", paper.max_turns, limits.max_turns, "the same: its Table 5"),
    ("ids, at most", most, f"{len(row)} used", "short system text"),
    ("ids a picture", f"up to {401408 // 784}", f"up to {largest}", "small pieces"),
    ("policy's own ids", "not reported", f"{share:.0%}", "short reasoning"),
    ("who plays", "Qwen2.5-VL-7B", "a script", "bones need no model"),
    ("puzzles solved", solved, "not run", "notebook 14"),
]
for what, theirs, ours, why in rows:
    print(f"{what:17s} {theirs!s:14s} {ours!s:10s} {why}")
box.close()

# %% [markdown]
# The shape of an episode is the paper's. What differs is its size: pieces of 56 pixels and short system
# texts, so that a model with a few million parameters can read them on one core. Next:
# [02, the sandbox](02_sandbox.ipynb), which ran the code; or straight to
# [03, GRPO by hand](03_grpo_by_hand.ipynb).
