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
# again. Afterwards all of it stands in one long row of numbers, and training makes some of them more
# likely. Which of them did the model choose, which came from the world, and where is this noted?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), section 3.1 and algorithm
# 1: an [episode](../docs/glossary.md#episode) grows by appending, first what the
# [policy](../docs/glossary.md#policy) says, then what the environment answers. Equation 4 then counts
# only the policy's tokens, by an indicator $I(y_{i,t})$. This notebook is about that one symbol. Figure
# 2c of the paper illustrates how model and environment take turns; here you see such turns as tokens.
#
# **Afterwards you can** read an episode token by token; say how many tokens a picture costs, and
# why; say what a loss mask is and what it does to gradients; explain why ids are only concatenated,
# never decoded and encoded again; name the ways in which an episode ends and what each one earns.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu` | nothing here needs one | 1 | 1 GB |
# | `node` | nothing here needs one | 1 | 1 GB |
#
# You need Python and a little PyTorch. Reinforcement learning comes later, in notebook 03.

# %% tags=["parameters"]
seed: int = 8  # fixes the drawn scene, the crop and both shuffles
photo: str = "coffee"  # which packaged photograph to cut (pictures.photos lists them)

# %%
import numpy as np
import torch
from IPython.display import Markdown, display
from kit import view
from kit.chat import Chat
from kit.episode import Episode, NamedImage, Turn
from kit.models import load_model
from kit.view import plots
from papers.agile.env import JigsawEnv
from papers.agile.puzzle import make_task
from papers.agile.reward import is_right
from pictures.photos import photos, random_crop
from pictures.scenes import scene
from PIL import Image, ImageDraw
from tiny import TINY
from workshop.exercises import check, hint, solution

chat = Chat.from_pretrained(TINY)
model = load_model(TINY)

# %% [markdown]
# ## A task
#
# Our agent solves jigsaws: a picture is cut into 2 × 2 pieces, shuffled, and labelled A, B, C, D in
# reading order. The right answer is the list of labels that restores it. Here are two puzzles, one
# cut from a drawn scene, one from a photograph. In one of them two pieces lie where they belong, in
# the other none. Write down which is which, and the two answers. Then open the output below them.

# %%
rng = np.random.default_rng(seed)
drawn = Image.fromarray(scene(rng, 112))
taken = next(p for p in photos("held-out") if p.id == photo)
task = make_task(drawn, 2, 2, rng, "drawn", source="scene", piece_px=56)
crop = random_crop(rng, taken.image, 2)
other = make_task(crop, 2, 0, rng, "taken", source=photo, piece_px=56)
shown = [(f"{t.id}: {p.name}", p.image) for t in (task, other) for p in t.images]
display(plots.images(shown, columns=4))

# %% tags=["guess"]
for t in (task, other):
    pairs = zip(t.images, t.target, strict=True)
    in_place = sum(p.name == wanted for p, wanted in pairs)
    print(f"{t.id}: {in_place} in place, answer {list(t.target)}, {t.question}")

# %% [markdown]
# A `Task` holds this: `id`, `images`, `question`, `target`, and `meta` for anything else that an
# environment needs. We go on with the first one; a single swap solves it.
#
# ## Text becomes ids
#
# A language model reads and writes whole numbers. A *tokenizer* translates: it has a list of pieces
# of text that are frequent ([tokens](../docs/glossary.md#token)), and spells everything with them. The
# text in the cell below has 43 characters. Guess how many numbers it becomes.


# %% tags=["guess"]
def spell(ids) -> str:
    """The tokens with dots between them; spaces and line ends made visible."""
    pieces = [chat.tokenizer.decode([i]) for i in ids]
    return "·".join(pieces).replace(" ", "␣").replace("\n", "⏎")


text = "<think>The top left needs B. Ça va?</think>"
ids = chat.text(text)
print(len(text), "characters,", len(ids), "ids:")
print(ids)
print(spell(ids))
assert chat.decode(ids) == text

# %% [markdown]
# `<think>` and `␣needs` are single tokens, because this tokenizer saw them often. The closing tag isn't: text is first cut
# into words and runs of marks, and `?</` is one run, so the tag falls into three. `Ç` became two tokens that can't be printed
# alone: the smallest pieces are the 256 bytes, so *any* text can be spelled.
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
# begin another. Predict how many picture places each of the two lines below prints.

# %% tags=["guess"]
name = "cat<|image_pad|>.png"
naive = chat.tokenizer.encode(name)
safe = chat.text(name)
print("encoded naively:", spell(naive), "→ picture places:", naive.count(chat.image_id))
print("by chat.text:   ", spell(safe), "→ picture places:", safe.count(chat.image_id))
assert chat.decode(safe) == name

# %% [markdown]
# The same characters, spelled with ordinary pieces, are ordinary text. Every question, file name and
# program output goes through `chat.text`. The policy samples ids, not text, so it *could* sample
# `<|image_pad|>`. Those ids therefore get probability 0 wherever it is sampled or trained
# (`chat.suppressed_ids`). One mark it may say: `<|im_end|>`, "I have finished".
#
# ## What a picture costs
#
# The model sees a picture as squares of 14 × 14 pixels, *patches*. Its
# [vision tower](../docs/glossary.md#vision-tower) compares them with one another, then merges 2 × 2
# neighbouring patches into one vector for the language model. So
#
# $$\text{tokens} = \frac{H}{14} \cdot \frac{W}{14} \cdot \frac{1}{2 \cdot 2} = \frac{HW}{784},$$
#
# one for every 28 × 28 pixels. Here is piece A, enlarged: thin lines are drawn around patches, thick lines
# around the squares that become one token. Count the patches and the tokens of this piece of 56 × 56.


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

# %% tags=["guess"]
pixels = chat.pixels(piece)
features = model.model.visual(pixels.patches, grid_thw=torch.tensor([pixels.grid]))
print("patches, and numbers in each:", tuple(pixels.patches.shape))
print("grid of time, height, width: ", pixels.grid)
print("vectors for the language model:", tuple(features.pooler_output.shape))
assert pixels.patches.shape[1] == 14 * 14 * 3 * 2
assert chat.image_tokens(piece) == len(features.pooler_output) == 56 * 56 // 784

# %% [markdown]
# 1,176 numbers a patch: 14 × 14 pixels, 3 colours, and 2 moments in time, because the same tower
# also reads films; a still picture is doubled. A side that 28 doesn't divide is rounded to the nearest
# multiple of 28.
#
# **Exercise 01.1.** How many tokens does a picture of any size cost? Write it. (Leave out the limits for
# very small and very large pictures.) Then use it to predict the table below.


# %% tags=["exercise"]
def image_tokens(width: int, height: int) -> int:
    """Tokens that a picture of this many pixels costs."""
    ...


check("01.1", image_tokens)

# %% tags=["guess"]
for size in [(28, 28), (56, 56), (57, 40), (100, 60), (112, 112), (114, 114)]:
    picture = NamedImage("p", Image.new("RGB", size))
    _, h, w = chat.pixels(picture).grid
    tokens = chat.image_tokens(picture)
    print(f"{size!s:10s} → {w * 14:3d} × {h * 14:3d} pixels → {tokens:2d} tokens")

# %% [markdown]
# Twice the side, four times the tokens. That is why `crop` and `zoom` are useful to an agent: it pays
# for detail only where it needs it.
#
# ## The prompt
#
# The environment says what goes into the first message; `chat.prompt` turns it into ids, and a picture
# into a row of `<|image_pad|>`, one for each vector that the tower will put there. Below, each such row is
# written as a count. Find the four pictures, the two messages, and the place where the policy will speak.

# %%
from turn_sandbox import Sandbox

box = Sandbox(allow_unsafe=True).start()  # all players are the kit's
env = JigsawEnv(box)
prompt = chat.prompt(*env.prompt(task))
pictures = prompt.count(chat.image_id)
print(len(prompt), "ids,", pictures, "of them places for pictures")
assert pictures == sum(chat.image_tokens(p) for p in task.images)

# %%
import re
from textwrap import fill, indent


def read(ids) -> str:
    """Ids as text; a run of picture places as a count, long lines wrapped."""
    place = "<|image_pad|>"
    places = f"(?:{re.escape(place)})+"
    text = chat.tokenizer.decode(ids)
    text = re.sub(places, lambda run: f"{place}×{len(run[0]) // len(place)}", text)
    lines = [fill(line, 84, break_on_hyphens=False) for line in text.split("\n")]
    return "⏎\n".join(lines)


print(read(prompt))

# %% [markdown]
# "Please solve the jigsaw.", the question printed further up, isn't among these ids: the environment asks the tiny model in
# words that it was taught, "Where does each belong, in which order?". (The view of the episode, below, shows the former all
# the same.) The prompt stops right after `assistant` and a line end. Whatever comes next is the policy's first token.
#
# ## Three turns
#
# To see the parts of an episode we need no model. A script plays: it looks, swaps the two misplaced
# pieces, answers. The loop it goes through is the real one (there is only one in the kit), and so is
# the sandbox that runs its code. Predict how many pictures come back, and how many tokens each costs.
# (The pieces are pasted with a gap of 2 pixels.)

# %%
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.agile.experiment import Play

i, j = (k for k in range(4) if task.images[k].name != task.target[k])
order = "[" + ", ".join(f'"{label}"' for label in task.target) + "]"
look = (
    "<think>I look first.</think><code>observation_image_1 = observation(state)</code>"
)
swap = (
    f"<think>Swap {i} and {j}.</think><code>"
    f"state[{i}], state[{j}] = state[{j}], state[{i}]\n"
    "observation_image_2 = observation(state)</code>"
)
done = f"<think>All in place.</think><answer>{order}</answer>"


# %% tags=["guess"]
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
    print(f"turn {number}, policy:\n" + indent(read(turn.ids), "    "))
    if turn.observation_ids:
        print("  then, environment:\n" + indent(read(turn.observation_ids), "    "))
print("ended by:", episode.ended)

# %% [markdown]
# Look closely at the place where the policy stops and the environment begins. Sampling stops at
# `</code>`, and that tag belongs to the policy, which sampled it. Then the environment closes the turn
# (`<|im_end|>`), writes a user's message with the picture in it, and opens the next turn. All of that
# is the environment's text, the role tokens included.
#
# ## The mask
#
# Now put everything in one row. Beside each id write 1 if the policy sampled it, else 0. That second row
# is the [loss mask](../docs/glossary.md#loss-mask); in the paper it is the indicator $I(y_{i,t})$ of
# equation 4. Six lines do it:

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
# Guess before you open the picture of it: how many separate stretches of 1 are there?

# %% tags=["guess"]
from itertools import groupby

display(plots.masks(episode, chat))
print([(value, len(list(run))) for value, run in groupby(mask)])

# %% [markdown]
# And the same episode in a form that is easy to read. Each underlined stretch is a token; point at one to
# see its id. (A script always says the same, so each of its tokens has probability 1, log p = 0.)

# %%
display(view.show(episode, chat=chat, is_right=is_right))

# %% [markdown]
# **Exercise 01.2.** PyTorch's `cross_entropy` skips every position with the label −100. Turn a row of ids
# and its mask into such labels: a label for each id, at the same place as the id.


# %% tags=["exercise"]
def labels_of(ids: list[int], mask: list[int]) -> list[int]:
    """Labels that leave only the policy's own tokens in the loss."""
    ...


check("01.2", labels_of)

# %% [markdown]
# ## Image tokens = image features
#
# One rule is broken easily in training with many turns and pictures: the row must have exactly as many
# places for pictures as its pictures give vectors. Count both, after three turns and six pictures:

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
    print(fill(str(error), 84))

# %% [markdown]
# ## Never decode and encode again
#
# Many systems keep the conversation as text and tokenize it once more before training. The text is the
# same, but the tokens may not be. A policy samples one token after another, and it can spell a word in
# another way than the tokenizer would. Here it says `<answer>` in two parts. Guess how many tokens were
# sampled, and how many come back.

# %% tags=["guess"]
parts = chat.text("<ans") + chat.text("wer>")
again = chat.text(chat.decode(parts))
print("sampled:      ", spell(parts), parts)
print("encoded again:", spell(again), again)
assert chat.decode(parts) == chat.decode(again) and parts != again

# %% [markdown]
# Six tokens became one. The text is the same, but the model's probability of the first row has nothing
# to do with its probability of the second. Ask the model, after our prompt:


# %%
@torch.no_grad()
def logprob(ids, prompt=episode.prompt_ids) -> float:
    """Log-probability of ``ids`` after the prompt, under the tiny model."""
    turn = Turn(tuple(ids), (0.0,) * len(ids), "")
    packed = pack([Episode(task, prompt, (turn,))], chat)
    logp = torch.log_softmax(model(**packed.model_inputs()).logits[0], dim=-1)
    at = torch.arange(len(prompt), len(prompt) + len(ids))
    return float(logp[at - 1, torch.tensor(ids)].sum())


print(f"log p of what was sampled: {logprob(parts):6.1f}")
print(f"log p of the re-encoding:  {logprob(again):6.1f}")

# %% [markdown]
# A trainer that compares "how likely was this when sampled" with "how likely is it now" would compare
# the probabilities of two different rows, and take the difference for learning.
#
# The lengths differ too, so every token that follows moves to another place in the row. Suppose the
# policy spelled the opening `<think>` of turn 1 letter by letter. Re-encode that episode and put the
# *old* mask beside the *new* ids. The second of the next two cells shows which tokens the trainer would
# now take for the policy's:

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
print("trained on, though the policy never said it:\n ", spell(wrong))
print("not trained on, though it did:\n ", spell(missed))

# %% [markdown]
# The model would be taught to close its own turn and open the user's, without any error message. A round
# trip through text undoes the other protection as well: take the file name from above once more.

# %%
round_trip = chat.tokenizer.encode(chat.tokenizer.decode(safe))
print("before:", safe.count(chat.image_id), "picture places; after:", end=" ")
print(round_trip.count(chat.image_id))
assert safe.count(chat.image_id) == 0 and round_trip.count(chat.image_id) == 1

# %% [markdown]
# So ids are sampled, appended and kept. Text is for people and for the sandbox.
#
# ## What the mask does to gradients
#
# Training means: make some tokens more likely, or less. For imitation (notebook 12) the loss is
#
# $$L = -\frac{1}{\sum_t I(y_t)} \sum_{t:\, I(y_t) = 1} \log \pi_\theta(y_t \mid x, y_{<t}),$$
#
# the mean over the policy's tokens; the sums are those of AGILE's eq. 4, where an advantage is
# multiplied in (notebook 03). One detail is easy to get wrong: the logits *at* position t predict the
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
# At how many of them is the gradient *exactly* zero? Write your guess down.

# %% tags=["guess"]
counts = torch.tensor(episode.mask[1:]).bool()
for who, chosen in {"the policy's": counts, "all others": ~counts}.items():
    moved = int((pull[chosen] > 0).sum())
    print(f"{who:12s} {int(chosen.sum()):3d} tokens, pulled on: {moved}")
assert (pull[counts] > 0).all() and (pull[~counts] == 0).all()
display(plots.masks(episode, chat, values=[0.0, *pull.tolist()]))

# %% [markdown]
# Not small: zero. (Some bars of the policy's tokens are too short to see; the count above says that all are pulled on.)
# Without the mask, the loss also asks the model to predict the prompt, the role tokens, even the `<|image_pad|>` places:
# to *invent* what the environment should tell it.

# %%
everything = gradients([1] * len(episode.ids))
print("without a mask, pulled on:", int((everything > 0).sum()), "of", len(everything))
wasted = float(everything[~counts].sum() / everything.sum())
print(f"share of the pull on tokens that the policy didn't sample: {wasted:.0%}")

# %% [markdown]
# A mask doesn't make observations invisible. They are not *predicted*, but they are *read*: the policy's
# tokens attend to them. Follow the gradient one step further, to the vectors that enter the language
# model. How many of the 48 picture places get a gradient there?

# %% tags=["guess"]
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
# <details><summary>What follows for the vision tower? Open when you have guessed.</summary>
#
# All of them get one. So the vision tower can learn from an answer, because the answer's tokens read the pictures (12 and
# 13 freeze it, `freeze_vision`: then only the rest learns); the pictures themselves are never predicted. (`packed.labels`
# holds the labels of exercise 01.2.)
#
# </details>
#
# ## How episodes end
#
# An episode has a budget of turns (5, the paper's Table 5) and a budget of tokens. A turn is only begun if
# all the tokens that it may need (`max_new_tokens`) still fit; an observation that would leave no
# such room is not appended.
#
# **Exercise 01.3.** A policy never answers. Each of its turns takes `sampled` ids, each observation
# `observed`. A turn needs room for `room` ids before it is begun, and the row may have `limit` ids. How many
# turns does the policy play before the row is full?


# %% tags=["exercise"]
def turns_that_fit(
    prompt: int, sampled: int, observed: int, room: int, limit: int
) -> int:
    """Turns until no further turn may begin."""
    ...


check("01.3", turns_that_fit)

# %% [markdown]
# Six scripts follow. For each, write down what ends it: an answer, the budget of turns, the budget of
# tokens (300 in the last one, with `room` 64), or a turn in the wrong form.

# %% tags=["guess"]
wrong_answer = done.replace(order, '["A", "A", "A", "A"]')
episodes = {
    "look, swap, right answer": episode,
    "look, wrong answer": play(look, wrong_answer),
    "right answer, no look": play(done),
    "looks for ever": play(*[look] * 5),
    "only talks": play(look, "The two on the right look swapped."),
    "context is full": play(look, swap, done, config=RolloutConfig(5, 64, 300)),
}
for name, e in episodes.items():
    n = len(e.turns)
    print(f"{name:26s} ended: {e.ended:7s} {n} turn{'s' * (n != 1)}, {len(e.ids)} ids")

# %% [markdown]
# Four ways to end are in this output: `answer`; `turns`, the budget of turns is used up; `format`, a
# turn with neither code nor answer; `tokens`, the next observation would not leave room for another
# turn. A fifth, `lost`, means that the sandbox could not keep the episode's state.
#
# ## What each one earns
#
# The reward comes once, at the end (section 3.3):
#
# $$R_{step} = \lambda\,(\mathbb{1}[R_{acc}=1]\,step_{num} + \mathbb{1}[R_{acc}=0]\,step_{max})
# \quad (5) \qquad R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \quad (6)$$
#
# with $\alpha = 0.8$, $\beta = 0.2$, $\gamma = 1$, $\lambda = -0.05$, $step_{max} = 5$. Here $step_{num}$ counts the turns
# before the answer. $R_{format}$ is 1 if every turn keeps to the tags, at least one of them held code, and the last one
# answers.
#
# **Exercise 01.4.** What do the six episodes earn, in the order of the cell above? Our first one is
# right, keeps to the tags and ran code twice. Fill in the six numbers.

# %% tags=["exercise"]
earned = ...  # a list of six numbers
check("01.4", earned, episodes=list(episodes.values()), target=task.target)

# %% tags=["guess"]
from papers.agile.reward import score

assert abs(score(episode, task.target).total - (0.8 + 0.2 - 0.05 * 2)) < 1e-12
for name, e in episodes.items():
    s = score(e, task.target)
    parts = ", ".join(f"{part} {value + 0:+.2f}" for part, value in s.parts.items())
    print(f"{name:26s} {s.total:+.2f} = {parts}")

# %% [markdown]
# The mask says *which* tokens training may change. This number, compared with what other attempts at the same task
# earn, says *in which direction*, and that is the same for every token of the episode. [Notebook 03](03_grpo_by_hand.ipynb) shows how one number an
# episode becomes a push on each token.
#
# ## Check yourself
#
# <details><summary>The policy was stopped at <code>&lt;/code&gt;</code>. Does that tag have mask 1 or 0,
# and the <code>&lt;|im_end|&gt;</code> after it?</summary>
#
# 1: the policy sampled it. The <code>&lt;|im_end|&gt;</code> has 0: the environment wrote it to close
# the turn. Had the policy sampled it itself, it would have 1 and not be written twice.
#
# </details>
#
# <details><summary>A program prints <code>&lt;|im_start|&gt;system</code>. What does the model
# see?</summary>
#
# The same characters in ordinary tokens; no new message begins.
#
# </details>
#
# <details><summary>Why not mask the pictures out of attention, if they carry no loss?</summary>
#
# Then the policy could not see them. The mask says what is predicted, not what is read.
#
# </details>
#
# ## Paper / here / why different

# %%
from papers.agile.reported import AGILE

paper, largest = Play(), max(chat.image_tokens(p) for p in episode.images)
most = f"{paper.max_episode_tokens:,}"
solved = f"{AGILE['grpo']['acc_2x2']:.1%} of 2×2"
rows = [
    ("", "paper", "here", "why different"),
    ("turns, at most", paper.max_turns, limits.max_turns, "the same: its Table 5"),
    ("ids, at most", most, f"{len(row)} used", "short system text"),
    ("ids a picture", f"up to {401408 // 784}", f"up to {largest}", "small pieces"),
    ("policy's own ids", "not reported", f"{share:.0%}", "short reasoning"),
    ("who plays", "Qwen2.5-VL-7B", "a script", "its text is known"),
    ("puzzles solved", solved, "not run", "notebook 14"),
]
for what, theirs, ours, why in rows:
    print(f"{what:17s} {theirs!s:14s} {ours!s:10s} {why}")
box.close()

# %% [markdown]
# The form of an episode is the paper's. Only its size differs: pieces of 56 pixels and short system
# texts, so that a model with a few million parameters can read them on one core.
#
# ## What you have seen
#
# Of one long row of numbers, which did the model choose, which came from the world, and where is this noted?

# %% tags=["figure"]
paid = {name: score(e, task.target).total for name, e in episodes.items()}
best, worst = max(paid, key=paid.get), min(paid, key=paid.get)
display(
    Markdown(f"""
- **Of {len(row)} ids the model chose {sum(mask)} ({share:.0%}); the rest came from the
  prompt and the environment. A mask as long as the row notes it, 1 or 0 for each.**
- {len(given)} pictures took {places} of the ids. They carry no loss, and yet the loss
  reaches them: {count} of {places} get a gradient through what the model read.
- Without the mask {wasted:.0%} of the pull would be on ids that nobody chose. Which way the
  others are pulled follows from one number an episode, compared with other attempts (03):
  here from {paid[worst]:+.2f} ({worst}) to {paid[best]:+.2f} ({best}).
""")
)

# %% [markdown]
# Next: [02, the sandbox](02_sandbox.ipynb), which ran the code. You can also go straight to
# [03, GRPO by hand](03_grpo_by_hand.ipynb).
