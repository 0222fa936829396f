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
# # 03 · GRPO by hand
#
# **The question.** Four attempts at one puzzle, one number for each. How do four numbers become a
# push on every single token, upwards here and downwards there?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), section 3.3: the reward (eq. 5
# and 6) and the objective of group relative policy optimization, [GRPO](../docs/glossary.md#grpo) (eq.
# 4), from [DeepSeekMath, arXiv:2402.03300](https://arxiv.org/abs/2402.03300). On dividing by the standard
# deviation and by the length: [Dr. GRPO, arXiv:2503.20783](https://arxiv.org/abs/2503.20783). Figure 2a of
# AGILE depicts GRPO beside the loop of model and environment; here the same step is worked out in numbers.
#
# **Afterwards you can** say what an advantage is and work one out on paper; say what clipping does
# and what it doesn't; compute the loss of a batch by hand and get the trainer's number; explain why a
# [group](../docs/glossary.md#group) without differences teaches nothing; say what temperature and group
# size are for.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu` | nothing here needs one | 1 | 1 GB |
# | `node` | nothing here needs one | 1 | 1 GB |
#
# You should know what ids and masks are: [notebook 01](01_episode.ipynb). Keep paper and pencil at hand.

# %% tags=["parameters"]
seed: int = 8  # fixes the puzzle, the model and the experiment at the end
imitation: int = 100  # steps in which the model learns to say what we wrote
learning_rate: float = 0.04  # of the one big step of GRPO
small_rate: float = 0.005  # of the small steps that reuse the same attempts
updates: int = 40  # gradient steps of the experiment at the end
runs: int = 300  # times it is repeated

# %%
import os

# The same numbers on every machine: leave a GPU alone.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import torch
from IPython.display import Markdown, display
from kit import view
from kit.chat import Chat
from kit.view import plots
from papers.agile.env import JigsawEnv
from papers.agile.puzzle import make_task
from pictures.scenes import scene
from PIL import Image
from tiny import TINY
from turn_sandbox import Sandbox
from workshop.exercises import check, hint, solution

chat = Chat.from_pretrained(TINY)

# %% [markdown]
# ## Four attempts
#
# One puzzle; two of its pieces have to change places. We write four ways to play it, so that we know
# everything about them. Read them: which solve the puzzle, which keep to the tags, and which are fast?

# %%
rng = np.random.default_rng(seed)
task = make_task(Image.fromarray(scene(rng, 112)), 2, 2, rng, "demo", piece_px=56)
labels = [p.name for p in task.images]
i, j = (k for k in range(4) if labels[k] != task.target[k])
display(plots.images([(p.name, p.image) for p in task.images]))
print("state", labels, "→ right:", list(task.target))

# %%
look = "<code>observation_image_1 = observation(state)</code>"
swap = (
    f"<code>state[{i}], state[{j}] = state[{j}], state[{i}]\n"
    "observation_image_2 = observation(state)</code>"
)
crop = "<code>crop_image_1 = crop(observation_image_2, [0.3, 0.3, 0.7, 0.7])</code>"
right = f"<answer>[{', '.join(task.target)}]</answer>"
wrong = f"<answer>[{', '.join(labels)}]</answer>"
first = "<think>I look first.</think>" + look
last = "<think>All in place.</think>"
scripts = {
    "tidy": [first, "<think>Swap two.</think>" + swap, last + right],
    "hasty": [first, last + wrong],
    "slack": [first, swap, "<think>Check.</think>" + crop, last + right],
    "guess": [wrong],
}

# %% [markdown]
# A script says the lines; loop, environment and sandbox are the real ones (notebook 01). What is each
# attempt worth? 0.8 for the right answer, 0.2 for the form, −0.05 for each turn of code, or −0.25 if the
# answer is wrong:
#
# $$R_{step} = \lambda\,(\mathbb{1}[R_{acc}=1]\,step_{num} + \mathbb{1}[R_{acc}=0]\,step_{max})
# \quad (5) \qquad R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \quad (6)$$
#
# Write down four numbers. (`slack` forgets its reasoning once; `guess` never reasons nor runs code.)

# %%
from kit.policy.scripted import ScriptedPolicy
from kit.rewards.base import per_episode
from kit.rollout import RolloutConfig, rollout
from papers.agile.reward import is_right, score

names = list(scripts)
box = Sandbox(allow_unsafe=True).start()  # all players are the kit's


limits = RolloutConfig(max_turns=5, max_new_tokens=256, max_episode_tokens=28192)


def play(policy_for) -> list:
    """The four attempts; ``policy_for`` makes a policy of each one's script."""
    episodes = []
    for name in names:
        policy = policy_for(lambda e, name=name: scripts[name][len(e.turns)])
        episodes += rollout(policy, chat, [task], lambda: JigsawEnv(box), limits)
    return episodes


# %% tags=["guess"]
episodes = play(lambda script: ScriptedPolicy(chat, script))
scores = [score(episode, task.target) for episode in episodes]
rewards = [s.total for s in scores]
for name, e, r in zip(names, episodes, rewards, strict=True):
    print(f"{name:6s} {e.calls} steps, {sum(e.mask):3d} own tokens, R = {r:+.2f}")
assert np.allclose(rewards, [0.8 + 0.2 - 0.10, 0.2 - 0.25, 0.8 - 0.15, -0.25])

# %% [markdown]
# ## The advantage
#
# A reward of 0.65 alone doesn't say whether an attempt was good. If all others got 0.90 it was bad, if all
# others got −0.25 it was very good. So GRPO plays the same task G times and asks how much better an attempt
# did than its *group*, in units of the group's standard deviation. This is its
# [advantage](../docs/glossary.md#advantage):
#
# $$\hat{A}_i = \frac{R_i - \operatorname{mean}(R_1, \dots, R_G)}{\operatorname{std}(R_1, \dots, R_G)}$$
#
# This is the $\hat{A}_{i,t}$ of eq. 4, the same for every token t of attempt i. By hand:
#
# | | tidy | hasty | slack | guess | |
# |---|---|---|---|---|---|
# | $R$ | 0.90 | −0.05 | 0.65 | −0.25 | mean = 1.25 / 4 = 0.3125 |
# | $R$ − mean | 0.5875 | −0.3625 | 0.3375 | −0.5625 | they add up to 0 |
# | squared | 0.345156 | 0.131406 | 0.113906 | 0.316406 | sum = 0.906875 |
#
# std = √(0.906875 / 3) = 0.549811 (three, not four: G − 1, as is usual where a spread is estimated from a sample). Divide
# the second line by it: 1.0686 for `tidy`. Work out the other three before you open the output.

# %% tags=["guess"]
mean = sum(rewards) / 4
std = (sum((r - mean) ** 2 for r in rewards) / 3) ** 0.5
by_hand = [(r - mean) / (std + 1e-4) for r in rewards]
for name, a in zip(names, by_hand, strict=True):
    print(f"{name:6s} A = {a:+.4f}")
assert np.allclose(by_hand, [1.0684, -0.6592, 0.6137, -1.0229], atol=5e-5)

# %% [markdown]
# (1.0684 and not 1.0686: [TRL](../docs/glossary.md#trl) adds 0.0001 to the std, so that it is never 0. So
# does the kit.) The kit's function, which also takes more groups than one, gives the same:

# %%
from kit.train.advantage import group_advantages

advantages = group_advantages(torch.tensor(rewards), group_size=4)
assert np.allclose(advantages, by_hand, atol=1e-6)
columns = {"reward": rewards, "advantage": advantages.tolist()}
shown = {k: dict(zip(names, v, strict=True)) for k, v in columns.items()}
display(plots.bars(shown, title="Rewards of a group and its advantages"))
print("sum of the advantages:", round(abs(advantages.sum().item()), 6))

# %% [markdown]
# Here are the four side by side (1 `tidy`, 2 `hasty`, 3 `slack`, 4 `guess`). Their tint shows which way each
# will be pushed. Only what the policy said is tinted; what the environment wrote has mask 0 and is not
# trained on.

# %%
display(view.compare(episodes, scores, advantages.tolist(), is_right=is_right))

# %% [markdown]
# **Exercise 03.1.** A group of four earns 1, 1, 1 and 0. What is the advantage of the last one? (Leave out
# the 0.0001.)

# %% tags=["exercise"]
advantage = ...  # a number
check("03.1", advantage)

# %% [markdown]
# Predict before you open the output: what happens to the advantages if every reward is 10 higher? If every
# reward is doubled? If its sign is changed?

# %% tags=["guess"]
r = torch.tensor(rewards)
for change, changed in {"+ 10": r + 10, "× 2": 2 * r, "× −1": -r}.items():
    shown = [f"{a:+.2f}" for a in group_advantages(changed, 4).tolist()]
    print(f"R {change:5s}", *shown)

# %% [markdown]
# <details><summary>What do the advantages depend on? Guess first, then open.</summary>
#
# Only on differences within the group, measured in its standard deviation. A shift and a positive factor
# change nothing, a change of sign turns every push round.
#
# </details>
#
# The mean of the group replaces the second network that older methods train to estimate how well an average
# attempt does.
#
# ## Which way to push: the smallest policy there is
#
# Leave tokens aside for a moment. Take a [policy](../docs/glossary.md#policy) with four actions, all
# equally likely: $\pi = \operatorname{softmax}(z)$ with $z = (0, 0, 0, 0)$. Each action was tried once and
# got one of our advantages. We climb
#
# $$J(z) = \frac{1}{4} \sum_{i=1}^{4} \hat{A}_i \log \pi(i), \qquad
# \frac{\partial J}{\partial z_k} = \frac{1}{4} \Big(\hat{A}_k - \pi_k \sum_i \hat{A}_i\Big)
# = \frac{\hat{A}_k}{4},$$
#
# since the advantages add up to 0. So the gradient is a quarter of the advantages. Take a step of
# length 1 and say which probabilities will rise.

# %% tags=["guess"]
z = torch.zeros(4, requires_grad=True)
J = (advantages * torch.log_softmax(z, dim=0)).mean()
J.backward()
assert torch.allclose(z.grad, advantages / 4, atol=1e-6)
before, after = torch.softmax(z, 0).tolist(), torch.softmax(z + z.grad, 0).tolist()
for name, b, a in zip(names, before, after, strict=True):
    print(f"{name:6s} {b:.3f} → {a:.3f}")

# %% [markdown]
# This is the main idea of GRPO. Eq. 4 adds three things: a ratio and a clip, which make it safer, and a mean over each
# attempt's own tokens.
#
# ## The ratio and the clip
#
# Playing is expensive, so one would like to take several steps on the same attempts. But after the
# first step the policy is no longer the one that played. The ratio says by how much it has moved, for each
# token:
#
# $$\rho_{i,t} = \frac{\pi_\theta(y_{i,t} \mid x, y_{i,<t})}{\pi_{old}(y_{i,t} \mid x, y_{i,<t})}, \qquad
# \min\left(\rho_{i,t} \hat{A}_i,\ \operatorname{clip}(\rho_{i,t}, 1-\epsilon, 1+\epsilon)\,\hat{A}_i\right)$$
#
# is what eq. 4 then counts for a token ([clipping](../docs/glossary.md#clipping)). With ε = 0.2: for which ρ
# is the curve flat if the attempt was good ($\hat{A} = 1$)? For which if it was bad ($\hat{A} = -1$)?


# %% tags=["guess"]
def clipped(ratio, advantage, eps=0.2):
    """What one token counts in eq. 4."""
    return torch.minimum(ratio * advantage, ratio.clamp(1 - eps, 1 + eps) * advantage)


ratios = torch.linspace(0, 2, 81)
curves = {f"A = {a:+d}": (ratios, clipped(ratios, a)) for a in (1, -1)}
flat = {"1 + ε": 1.2, "−(1 − ε)": -0.8}  # where ρ is clipped at 1 + ε and 1 − ε
title = "What a token counts, clipped at 1 − ε and 1 + ε"
display(plots.lines(curves, "ratio ρ", "counts as", title=title, references=flat))

# %% tags=["guess"]
for sign in (1, -1):
    ratio = torch.tensor([0.5, 0.9, 1.0, 1.1, 1.5], requires_grad=True)
    value = clipped(ratio, sign)
    (slope,) = torch.autograd.grad(value.sum(), ratio)
    for line, numbers in {"ratio": ratio, "counts": value, "slope": slope}.items():
        shown = (f"{x:+.1f}" for x in numbers.tolist())
        print(f"A = {sign:+d}  {line:7s}", *shown)

# %% [markdown]
# <details><summary>Where are the curves flat, and what does that mean? Guess first, then open.</summary>
#
# They are flat where a push has already had its effect: a good token that has become 20 % more likely is
# not pushed further, nor a bad one that has become 20 % less likely. But look at the other two ends. A good
# token that has become *less* likely (ρ = 0.5) is still raised, a bad one that has become more likely (ρ =
# 1.5) is still lowered, however far off they are. So clipping ends a push that has done enough, and never
# one that goes back. It doesn't hold the policy in place.
#
# </details>
#
# **Exercise 03.2.** Is a token's slope zero? Write it for any ρ, advantage and ε, without PyTorch. (At the
# corners themselves both answers could be defended; they are not tried.)


# %% tags=["exercise"]
def is_clipped(rho: float, advantage: float, eps: float) -> bool:
    """True if the token no longer pushes."""
    ...


check("03.2", is_clipped)

# %% [markdown]
# ## The mean, and the mask inside it
#
# Now eq. 4 in full, without its last term, the [KL](../docs/glossary.md#kl) term (its weight β is 0 in the
# paper; eq. 6 has another β):
#
# $$J(\theta) = \frac{1}{G} \sum_{i=1}^{G} \frac{1}{\sum_t I(y_{i,t})} \sum_{t:\, I(y_{i,t}) = 1}
# \min\left(\rho_{i,t} \hat{A}_i,\ \operatorname{clip}(\rho_{i,t}, 1-\epsilon, 1+\epsilon)\,\hat{A}_i\right)
# \quad (4)$$
#
# | symbol | meaning | below |
# |---|---|---|
# | $G$ | attempts at the same puzzle | rows of `rho` |
# | $I(y_{i,t})$ | 1 where the policy sampled token t | `mask` |
# | $\rho_{i,t}$ | new over old probability | `rho` |
# | $\hat{A}_i$ | the advantage | `advantages` |
#
# First a mean over the policy's own tokens of an attempt, then over attempts. Take these few tokens, with these
# ratios, in brackets what the environment wrote. (In the code below every row has three places: what is missing is
# filled with 1.0 and mask 0.)
#
# | | ratios | each counts | mean × advantage |
# |---|---|---|---|
# | tidy | 1.1 (7.0) 1.5 | 1.1 and 1.2, clipped | 1.15 × 1.0684 = 1.2287 |
# | hasty | 0.9 0.5 | 0.9 and 0.8, clipped | 0.85 × −0.6592 = −0.5603 |
# | slack | 1.0 (0.1) 0.7 | 1.0 and 0.7, *not* clipped | 0.85 × 0.6137 = 0.5216 |
# | guess | 1.4 | 1.4, *not* clipped | 1.4 × −1.0229 = −1.4321 |
#
# J = (1.2287 − 0.5603 + 0.5216 − 1.4321) / 4 = **−0.0605**, and the loss, which is minimised, is
# −J = 0.0605. Check one line with your pencil, and say whether the 7.0 matters.

# %%
rho = torch.tensor([[1.1, 7.0, 1.5], [0.9, 0.5, 1.0], [1.0, 0.1, 0.7], [1.4, 1.0, 1.0]])
mask = torch.tensor([[1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0]])


def grpo_loss(rho, advantages, mask, eps=0.2):
    """−J of eq. 4: mean over an attempt's own tokens, then over attempts."""
    counts = clipped(rho, advantages[:, None], eps)
    per_attempt = (counts * mask).sum(dim=1) / mask.sum(dim=1)
    return -per_attempt.mean()


loss = grpo_loss(rho, advantages, mask)
print(f"loss {loss:.4f}")
assert abs(float(loss) - 0.0605) < 5e-5

# %% [markdown]
# <details><summary>Does the 7.0 matter?</summary>
#
# No: its mask is 0.
#
# </details>
#
# You have done all of eq. 4 on paper now, and this is half of the way: a good place for a break. What follows does the
# same to a network, and to the trainer that is used in the notebooks of all papers.
#
# ## A policy of our own
#
# From here on we need a policy that is a network. The next cell makes one: a real Qwen2.5-VL, but very
# small and with random weights. (In double precision, so that you see the numbers we saw; the vision
# tower is not trained, to save time.)

# %%
from contextlib import ExitStack

from kit.policy.suppress import suppress_tokens
from tiny.build import build_config
from transformers import Qwen2_5_VLForConditionalGeneration

torch.manual_seed(seed)
sizes = {"hidden": 64, "layers": 2, "vision_hidden": 64, "vision_layers": 1}
config = build_config(chat.tokenizer, **sizes)
model = Qwen2_5_VLForConditionalGeneration(config).double()
model.model.visual.requires_grad_(False)
weights = [w for w in model.parameters() if w.requires_grad]
until_the_end = ExitStack()  # what is entered stays open as long as we need the model
until_the_end.enter_context(suppress_tokens(model, chat.suppressed_ids))
print(f"{sum(w.numel() for w in weights):,} weights that learn")

# %% [markdown]
# `suppress_tokens` gives probability 0 to the ids that a policy may not say. Six lines of PyTorch give the
# log-probability of every token that was sampled (with the shift by one: what stands at t predicts t + 1):

# %%
from kit.train.pack import pack

packed = pack(episodes, chat)
start, own = packed.prompt_ids.size(1), packed.loss_mask


def logprobs() -> torch.Tensor:
    """(4, C): log-probability of each sampled token now, 0 elsewhere."""
    logits = model(**packed.model_inputs()).logits[:, start - 1 : -1]
    logp = torch.log_softmax(logits, dim=-1)
    return logp.gather(-1, packed.completion_ids[..., None])[..., 0] * own


with torch.no_grad():
    each = (logprobs().sum(dim=1) / own.sum(dim=1)).tolist()
print("tokens after the prompt:", tuple(own.shape), "sampled:", own.sum(dim=1).tolist())
print("mean log-probability of one:", [round(x, 1) for x in each])

# %% [markdown]
# This model would never say what we wrote: every token is as unlikely as any other, one chance in the size
# of the vocabulary. GRPO can only raise and lower the probability of what a policy already does. So let it
# *imitate* the four attempts first, good and bad alike (a [cold start](../docs/glossary.md#cold-start),
# notebook 12). How probable can each attempt become at best, if the policy says nothing else?

# %% tags=["guess"]
adam = torch.optim.Adam(weights, lr=0.008, betas=(0.9, 0.95))
schedule = torch.optim.lr_scheduler.LambdaLR(
    adam, lambda k: min(1, (k + 1) / 10) * (1 - k / imitation)
)
for _ in range(imitation):
    adam.zero_grad()
    (-logprobs().sum() / 4).backward()
    torch.nn.utils.clip_grad_norm_(weights, 1.0)
    adam.step()
    schedule.step()
imitated = [weight.detach().clone() for weight in weights]
with torch.no_grad():
    chances = logprobs().sum(dim=1).exp()
for name, chance in zip(names, chances.tolist(), strict=True):
    print(f"{name:6s} {chance:.2f}")
assert chances.min() > 0.2

# %% [markdown]
# <details><summary>Why can't all four be more probable? Guess first, then open.</summary>
#
# Their probabilities add up to 1 at most, so it is a quarter each at best: the smallest policy again, but
# made of tokens.
#
# </details>
#
# Now the four attempts are the policy's own, as if sampled. `ForcedPolicy` plays them once more and notes the log-probabilities that sampling would
# have noted, turn by turn. One pass over the whole row must find the same:

# %%
from kit.policy.hf import ForcedPolicy

episodes = play(lambda script: ForcedPolicy(model, chat, script))
box.close()
packed = pack(episodes, chat)
with torch.no_grad():
    gap = float((logprobs() - packed.logprobs).abs().max())
print("one pass and turn by turn agree to 1e-5:", gap < 1e-5)
assert gap < 1e-5

# %% [markdown]
# ## What the trainer says
#
# The kit trains with TRL's `GRPOTrainer`. Ours overrides the one method that plays, and inherits the loss. Here is a
# trainer whose "rollout" is our four attempts. You can skip the next three code cells: they take a trainer apart, which
# you will never have to do. What counts is the last one's output, where both numbers are the same.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

from datasets import Dataset
from kit.train.grpo import GRPOSettings
from kit.train.grpo_trainer import EpisodeGRPOTrainer

folder = Path(until_the_end.enter_context(TemporaryDirectory()))
settings = GRPOSettings(
    steps=1, prompts_per_batch=1, group_size=4, per_device_batch_size=4
)
print("eq. 4 is TRL's", repr(settings.loss_type), "with ε =", settings.epsilon)

# %%
trainer = EpisodeGRPOTrainer(
    model=model,
    args=settings.trl_args(folder),
    train_dataset=Dataset.from_dict({"prompt": names, "task": [0] * 4}),
    chat=chat,
    tasks=[task],
    rollout=lambda policy, tasks, *, seed: episodes,
    reward=per_episode(score),
)
trainer.current_gradient_accumulation_steps = 1
trainer.model.train()
print("inherits from", EpisodeGRPOTrainer.__bases__[-1].__name__)

# %% [markdown]
# To compare on the tensors of the table above, hand it our log-probabilities instead of letting a model
# compute them: log ρ as the new ones, 0 as the old ones. Everything from there on is TRL's code.


# %%
def trl_toy_loss() -> float:
    """TRL's loss on the toy's ratios, advantages and mask."""
    given = (rho.log(), torch.zeros_like(rho), None)  # log-probabilities, entropies
    trainer._get_per_token_logps_and_entropies = lambda *args, **kwargs: given
    four = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")
    batch = {name: torch.ones_like(mask) for name in four}
    batch |= {"tool_mask": mask, "advantages": advantages}
    batch["old_per_token_logps"] = torch.zeros_like(rho)
    loss = trainer._compute_loss(trainer.model, batch)
    del trainer._get_per_token_logps_and_entropies
    return float(loss)


print(f"by hand {float(loss):.4f}, TRL {trl_toy_loss():.4f}")
assert abs(trl_toy_loss() - float(loss)) < 1e-6

# %% [markdown]
# ## Which mean?
#
# Eq. 4 lets every *attempt* weigh the same, so a token of a short attempt weighs more than one of a long
# attempt. One could also let every *token* weigh the same: add up all seven and divide by 7 (TRL calls
# that `bnpo`). By hand, from the table above:
#
# (2.3 × 1.0684 − 1.7 × 0.6592 + 1.7 × 0.6137 − 1.4 × 1.0229) / 7 = 0.9479 / 7 = **0.1354** (this is J; the cell prints
# the loss, −J)
#
# The objective even changes its sign: `guess` was bad, and short. Now let `guess` be as bad and ten tokens long. Predict
# by which of the two means the push on each of its tokens shrinks more.

# %% tags=["guess"]
all_tokens = -(clipped(rho, advantages[:, None]) * mask).sum() / mask.sum()
trainer.loss_type = "bnpo"
print(f"every token the same: by hand {all_tokens:.4f}, TRL {trl_toy_loss():.4f}")
assert abs(trl_toy_loss() - float(all_tokens)) < 1e-6
trainer.loss_type = "grpo"
lengths, longer = mask.sum(dim=1).tolist(), 10
rows = [*zip(names, lengths, advantages.tolist(), strict=True)]
rows.append(("guess, if longer", longer, rows[-1][2]))
print("push on a token at ρ = 1      by eq. 4   every token the same")
for name, n, A in rows:
    total = sum(lengths) + (0 if name in names else longer - lengths[-1])
    print(f"{name:16s} {n:2d} tokens {A / (4 * n):+12.3f} {A / total:+12.3f}")

# %% [markdown]
# <details><summary>Which mean lets a model keep its bad attempts long?</summary>
#
# That of eq. 4: a bad advantage that is spread over ten tokens pushes each of them a tenth as hard. By the other mean
# every token of the group is one of sixteen instead of seven, so all are pushed less, those of good attempts too. Dr. GRPO
# divides by a constant: there the length changes no push. AGILE keeps the mean of eq. 4. Its step reward doesn't help
# here: only a right episode costs more with each step, a wrong one is charged all five however long it is (eq. 5).
#
# </details>
#
# **Exercise 03.3.** Write the loss with Dr. GRPO's mean: each attempt's sum over its tokens is divided by the
# same constant, `longest` (the largest length allowed), then the mean is taken over the attempts. The clip is
# that of eq. 4, with ε = 0.2. `ratios` has a list for each attempt, of the policy's own tokens only, so there
# is no mask. Plain Python is enough. (Ten minutes.)


# %% tags=["exercise"]
def loss_of(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    """The loss of one group, every token pushed alike whatever its attempt's length."""
    ...


check("03.3", loss_of)

# %% [markdown]
# ## The same with a model
#
# Now the real attempts: hundreds of ids, pictures included, and the function that you have already checked. The policy
# that played them is the policy we train, so every ρ is 1. Predict the loss, to four digits. (At ρ = 1 an attempt counts
# as much as its advantage: what do the four add up to?)

# %% tags=["guess"]
new = logprobs()
old = new.detach()
loss = grpo_loss(torch.exp(new - old), advantages, own)
slopes = torch.autograd.grad(loss, weights)
length = torch.stack([slope.norm() for slope in slopes]).norm().item()
print(f"loss {abs(loss.item()):.4f}, and yet the gradient has length {length:.3f}")
assert abs(loss.item()) < 1e-6 < length

# %% [markdown]
# The loss stays near this value for the whole training. **The loss of GRPO says nothing about progress**;
# the reward does. The model learns from the loss's *slope*, and at ρ = 1 each token is pushed with its advantage, divided
# by the length of its attempt and by G: the two means of eq. 4. Now TRL, from the episodes on: it plays (our four), scores, packs, computes.

# %%
batch = trainer._generate_and_score_completions([{"task": 0}] * 4)
assert torch.allclose(batch["advantages"], advantages)
theirs = trainer._compute_loss(trainer.model, batch)
their_slopes = torch.autograd.grad(theirs, weights)
pairs = zip(slopes, their_slopes, strict=True)
apart = max((ours - trl).abs().max().item() for ours, trl in pairs)
print("loss equal to 1e-6:     ", abs(theirs.item() - loss.item()) < 1e-6)
print("gradients equal to 1e-6:", apart < 1e-6, "in all", len(slopes), "tensors")
assert abs(theirs.item() - loss.item()) < 1e-6 and apart < 1e-6

# %% [markdown]
# ## One step
#
# Move every weight against its slope, and predict what becomes of the probabilities of the four attempts:
# which rise, which fall? (The smallest policy went from a quarter each to 0.319, 0.207, 0.285 and 0.189.)


# %%
@torch.no_grad()
def go_back() -> None:
    """Give every weight the value that it has after imitation."""
    for weight, value in zip(weights, imitated, strict=True):
        weight.copy_(value)


@torch.no_grad()
def step_down(slopes, rate: float) -> None:
    """One step of plain gradient descent."""
    for weight, slope in zip(weights, slopes, strict=True):
        weight -= rate * slope


go_back()  # it is one step also if this cell runs twice
step_down(slopes, learning_rate)
with torch.no_grad():
    after = logprobs()

# %% tags=["guess"]
before, now = old.sum(dim=1).exp(), after.sum(dim=1).exp()
for k, name in enumerate(names):
    print(f"{name:6s} A = {advantages[k]:+.2f}   {before[k]:.2f} → {now[k]:.2f}")
R = torch.tensor(rewards)
earned, earns = (before * R).sum().item(), (now * R).sum().item()
print(f"expected reward {earned:.2f} → {earns:.2f}")
assert earns > earned

# %% [markdown]
# <details><summary>Did each attempt move as its advantage says? Guess first, then open.</summary>
#
# The good ones went up, `guess` down, the expected reward up. But `hasty` has a negative advantage, and yet
# it did *not* go down.
#
# </details>
#
# To see why, look where in the row something happened. The loss pushed on every token, but most of them could not move: after
# `observation_image_` the model was certain already. These are the tokens that it was not certain of, with the push that each
# of them got (for `tidy` 0.74 × 0.67 × 0.49 = 0.24, its whole probability: the other 71 tokens were certain):

# %%
pushes = advantages / (4 * own.sum(dim=1))
for k, name in enumerate(names):
    for t in torch.nonzero(own[k] * (old[k].exp() < 0.9)).flatten().tolist():
        token = repr(chat.tokenizer.decode([int(packed.completion_ids[k, t])]))
        was, is_now = old[k, t].exp(), after[k, t].exp()
        print(f"{name:6s} {token:10s} {was:.2f} → {is_now:.2f}   push {pushes[k]:+.4f}")

# %% [markdown]
# These are decisions: to think, or to answer at once; then to think again, or not; then to swap, or to
# answer. The trainer was not told that these are the decisions. What good and bad attempts have in common
# cancels, or cannot move. So one number for a whole episode changes just the tokens that decide.
#
# `hasty` makes the first decision like `tidy` and `slack`. `guess` has few tokens, so by the mean of eq. 4 each of them is
# pushed hardest of all, away from answering at once. The probability that `guess` loses there goes to the three attempts that
# think first, and `hasty` is one of them. Its own decision, the one that made it wrong (`A`, for "All in place."), went down
# a little. This one step changed the first decision most; later groups can change the next ones.
#
# And `slack`'s `<code>` was pushed up, and yet it fell a little. All places use the same weights: what makes `<think>`
# likelier at the first decision may do so at the second, where `<code>` stands against it (two digits don't show it). That
# is a guess that wasn't tested. A push is on a token; what moves is the whole policy.
#
# ## The same attempts again
#
# Playing is expensive, so use these four for more steps: go back to the start and take twenty small steps.
# The old log-probabilities stay the same, the new ones move, ρ leaves 1, and the clip begins to act. Watch
# the `<answer>` of `guess`, the token that is pushed hardest, once with ε = 0.2 and once without a clip (ε so
# large that it never acts). Where will ρ be after twenty steps? Draw both curves first.


# %%
def reuse(eps: float, steps: int = 20) -> list[float]:
    """ρ of the first token of ``guess`` before each step on the same attempts."""
    go_back()
    path = []
    for _ in range(steps):
        rho = torch.exp(logprobs() - old)
        path.append(rho[3, 0].item())
        loss = grpo_loss(rho, advantages, own, eps)
        step_down(torch.autograd.grad(loss, weights), small_rate)
    return path


# %% tags=["guess"]
paths = {"no clip": reuse(1e9), "ε = 0.2": reuse(settings.epsilon)}
series = {k: (range(len(v)), v) for k, v in paths.items()}
title, at = "ρ of guess's <answer> while one group is reused", {"1 − ε": 0.8}
display(plots.lines(series, x="step", y="ρ", title=title, references=at))
for name, path in paths.items():
    print(f"{name:8s}", *(f"{ratio:.2f}" for ratio in path[::2]))
assert paths["no clip"][-1] < 0.7 < paths["ε = 0.2"][-1] < 0.8

# %% [markdown]
# <details><summary>What does the clip change? Guess first, then open.</summary>
#
# With the clip, ρ goes just below 0.8 in one last step and stays there, because the slope is zero below 0.8.
# Without it, ρ goes on falling: the policy would follow these four attempts further and further, though good
# or bad luck may have decided them.
#
# </details>
#
# The ratios now differ from 1, and our loss and TRL's are still equal:

# %%
batch["old_per_token_logps"] = old
with torch.no_grad():
    ours = grpo_loss(torch.exp(logprobs() - old), advantages, own).item()
    theirs = trainer._compute_loss(trainer.model, batch).item()
print(f"by hand {ours:.4f}, TRL {theirs:.4f}")
assert abs(ours - theirs) < 1e-6

# %% [markdown]
# ## A group without differences
#
# Let all four attempts earn the same, say 0.65 each. Predict the length of the gradient.

# %% tags=["guess"]
from kit.episode import Score

trainer.reward = per_episode(lambda episode, target: Score(0.65, {}))
flat = trainer._generate_and_score_completions([{"task": 0}] * 4)
slopes = torch.autograd.grad(trainer._compute_loss(trainer.model, flat), weights)
largest = max(slope.abs().max().item() for slope in slopes)
print("advantages:", flat["advantages"].tolist(), "| largest slope of all:", largest)
assert largest == 0.0
until_the_end.close()

# %% [markdown]
# A group whose rewards are all equal is [flat](../docs/glossary.md#flat-group): whether all are right or all
# are wrong, it teaches nothing. If an attempt succeeds with probability p, independently of the others, and
# earns 1 if it does, else 0, then a group of G is flat with probability
#
# $$p^G + (1 - p)^G.$$
#
# Predict, for the paper's model before any training (p = 9.5 % on 2×2, over all levels; notebook 00 had those with no
# piece in place) and G = 8, which share of its groups teaches nothing.

# %% tags=["guess"]
from papers.agile.reported import AGILE

group_sizes = (2, 4, 8, 16)
p = np.linspace(0, 1, 101)
curves = {f"G = {G}": (p, p**G + (1 - p) ** G) for G in group_sizes}
title, x = "Share of flat groups", "p, how often an attempt succeeds"
display(plots.lines(curves, x=x, y="flat groups", title=title))
print("p        ", *(f"G = {G:<4d}" for G in group_sizes))
stages = {"base": "untrained", "sft": "after SFT", "grpo": "after RL"}
for stage, what in stages.items():
    q = AGILE[stage]["acc_2x2"]
    flat = (f"{q**G + (1 - q) ** G:<8.2f}" for G in group_sizes)
    print(f"{q:.3f}    ", *flat, what)

# %% [markdown]
# This is a reason for the cold start: from 9.5 % to 22 % is a small gain in accuracy, but it leaves only a
# third as many flat groups. (Puzzles differ in difficulty, so in truth more groups are flat; and a step or a
# tag more or less makes some of them uneven.) It is also a reason why training slows down as a model gets
# good.
#
# **Exercise 03.4.** You may let at most the share `most` of your groups be flat. Which is the smallest group
# size, from 2 on, that keeps to this if an attempt succeeds with probability `p` (neither 0 nor 1)?


# %% tags=["exercise"]
def smallest_group(p: float, most: float) -> int:
    """Smallest group size with at most this share of flat groups."""
    ...


check("03.4", smallest_group)

# %% [markdown]
# ## To divide by the spread, or not
#
# Take two groups. In one, the last attempt needed one step more; in the other it failed:
#
# close: 0.90 0.90 0.90 0.85 · apart: 0.90 0.90 0.90 −0.05
#
# Work out the advantages of both. Hint: let d be the distance of the odd one out. The deviations are
# d/4, d/4, d/4 and −3d/4, and the standard deviation is d/2.

# %% tags=["guess"]
groups = torch.tensor([0.90, 0.90, 0.90, 0.85, 0.90, 0.90, 0.90, -0.05])
for scale in ("group", "none"):
    close, apart = group_advantages(groups, 4, scale).view(2, 4).tolist()
    print(f"scale={scale!r:8s} close", *(f"{a:+.4f}" for a in close))
    print("               apart", *(f"{a:+.4f}" for a in apart))

# %% [markdown]
# <details><summary>What does d do to the advantages?</summary>
#
# Nothing: d cancels. Divided by the spread (GRPO, AGILE), a step too many counts as much as a failure. That
# is good late in training, when only steps are left to learn, and bad where small differences are noise.
# Without the division (Dr. GRPO, `scale="none"`), a difference counts by its size. (0.4980 and not 0.5
# above: the 0.0001 matters beside a small spread.)
#
# </details>
#
# ## Temperature
#
# A group needs differences, and differences come from sampling. Temperature divides the logits before the
# softmax: below 1 the policy repeats itself more, above 1 it varies more. Take four attempts of one token
# each, with logits (2, 1, 0, 0). At which T are all four most often the same? The output also prints the
# [entropy](../docs/glossary.md#entropy), which measures how evenly the probability is spread.

# %% tags=["guess"]
z = torch.tensor([2.0, 1.0, 0.0, 0.0])
print("T     probabilities         entropy  all four the same")
for T in (0.3, 0.7, 1.0, 1.5):
    pi = torch.softmax(z / T, dim=0)
    entropy = float(-(pi * pi.log()).sum())
    row = " ".join(f"{x:.2f}" for x in pi.tolist())
    print(f"{T:.1f}   {row}   {entropy:.2f}     {float((pi**4).sum()):.2f}")

# %% [markdown]
# The trainer must use the same T as the sampler. Sampled at T = 0.7 and trained at T = 1, ρ is not 1 even
# though the policy hasn't changed:

# %%
ratio = torch.softmax(z, 0) / torch.softmax(z / 0.7, 0)
print("ρ before any step:", [round(x, 2) for x in ratio.tolist()])
print("beyond 1 ± ε:     ", [bool(abs(x - 1) > 0.2) for x in ratio.tolist()])

# %% [markdown]
# The last line marks what lies beyond 1 ± ε. Only tokens of good attempts are clipped there; those of bad ones are pushed
# at full slope (exercise 03.2).
#
# The kit compares the sampler's log-probabilities with the trainer's at the start of a run, and refuses to
# go on if they differ.
#
# ## Group size
#
# A last experiment: the smallest policy again, with four actions that earn 0.90, −0.05, 0.65 and −0.25.
# This time it samples its attempts, and learns. A larger group gives a better estimate of the average, but
# costs more attempts. Which G is best after a given number of *updates*? Which after a given number of
# *attempts*?


# %%
def learn(G: int, updates: int) -> list[float]:
    """Expected reward before each update and after the last, averaged over ``runs``."""
    rng, z, curve = np.random.default_rng(seed), np.zeros((runs, 4)), []
    for _ in range(updates + 1):
        pi = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        curve.append(float((pi @ rewards).mean()))
        draws = rng.random((runs, G, 1))
        actions = (draws > pi.cumsum(axis=1)[:, None, :3]).sum(axis=2)
        r = torch.tensor(np.array(rewards)[actions]).flatten()
        A = group_advantages(r, G).view(runs, G).numpy()
        slopes = np.eye(4)[actions] - pi[:, None]  # of log π
        z += 0.3 * (A[..., None] * slopes).mean(axis=1)
    return curve


# %% tags=["guess"]
learnt = {G: learn(G, updates) for G in group_sizes}
curves = {f"G = {G}": (range(updates + 1), learnt[G]) for G in group_sizes}
title = "What group size does for learning, update by update"
display(plots.lines(curves, x="updates", y="expected reward", title=title))
attempts = 4 * updates
print(f"{'G':>3s}  {updates // 4} updates  {updates} updates  {attempts} attempts")
for G in group_sizes:
    same_cost = learn(G, attempts // G)[-1]
    early, late = learnt[G][updates // 4], learnt[G][-1]
    print(f"{G:3d}  {early:10.2f}  {late:10.2f}  {same_cost:12.2f}")
assert learnt[16][-1] > learnt[2][-1]

# %% [markdown]
# <details><summary>Which G is best? Guess first, then open.</summary>
#
# Per update, larger groups win, with less and less to gain. Per attempt the small ones are ahead *here*, where four
# actions differ clearly and an update costs nothing: 160 attempts are 80 updates in groups of 2, 40 in groups of 4, and
# both got as far. Where success is rare, small groups are often flat; and where many episodes are played in parallel,
# attempts are cheaper than updates. The paper takes G = 8.
#
# </details>
#
# ## Check yourself
#
# <details><summary>An attempt is right, but worse than its siblings. Which way are its tokens
# pushed?</summary>
#
# Down. An advantage compares with the group, not with zero.
#
# </details>
#
# <details><summary>ρ = 3 on a token of a bad attempt. Is it clipped?</summary>
#
# No. It counts 3Â and is pushed down at full slope. Clipped would be ρ below 1 − ε.
#
# </details>
#
# <details><summary>The loss went from 0.0003 to −0.0002. Is that progress?</summary>
#
# It says nothing. Look at the reward.
#
# </details>
#
# <details><summary>Your model solves 1 % of the puzzles. Would you start with GRPO, G = 8?</summary>
#
# 92 % of the groups would be flat. First a cold start, easier puzzles, or larger groups.
#
# </details>
#
# ## Paper / here / why different

# %%
from workshop.jobs.notebooks import find
from workshop.jobs.run import profile_values

[trains] = find("13_agile_grpo")
paper = profile_values(trains, "node")  # its Table 5, in notebooks/profiles/agile.yaml
print({name: paper[name] for name in ("group_size", "prompts_per_batch", "beta")})

# %%
solved = f"{AGILE['grpo']['acc_2x2']:.1%}"
rows = [
    ("", "paper", "here", "why different"),
    ("G", paper["group_size"], settings.group_size, "four fit on paper"),
    (
        "tasks a step",
        paper["prompts_per_batch"],
        settings.prompts_per_batch,
        "one is enough to see",
    ),
    ("attempts", "sampled", "written", "so that we know all"),
    ("ε", "not stated", settings.epsilon, "the trainers' default"),
    ("β", paper["beta"], settings.beta, "the same"),
    ("steps", paper["steps"], settings.steps, "notebook 13 trains"),
    ("2×2 Acc after RL", solved, "not run", "notebooks 13 and 14"),
]
for what, theirs, ours, why in rows:
    print(f"{what:17s} {theirs!s:15s} {ours!s:8s} {why}")

# %% [markdown]
# The formulas are the paper's; the attempts were written by hand so that you can follow each number. The
# paper doesn't state ε or the form of std; here they are those of the trainers it builds on.
#
# ## What you have seen
#
# How do four numbers become a push on every single token?

# %% tags=["figure"]
pushed = ", ".join(
    f"{n} {A:+.2f}" for n, A in zip(names, advantages.tolist(), strict=True)
)
few, most = min(group_sizes), max(group_sizes)
display(
    Markdown(f"""
- **Each number is compared with its group's mean, and the difference divided by the group's
  spread. This advantage pushes every token of its attempt** ({pushed}). One step brought the expected reward from
  {earned:.2f} to {earns:.2f}.
- A group without differences teaches nothing: the largest slope of all was {largest:g}.
- Does a larger group pay? After {updates} updates the expected reward is
  {learnt[few][-1]:.2f} with groups of {few} and {learnt[most][-1]:.2f} with groups of
  {most}; after {attempts} attempts {learn(few, attempts // few)[-1]:.2f} and
  {learn(most, attempts // most)[-1]:.2f}. So it may pay by the update, and not by the
  attempt. Which of the two costs more depends on the machine.
""")
)

# %% [markdown]
# Next: [04](04_tiny_vlm.ipynb), the model that all this is done to; and [13](13_agile_grpo.ipynb), where the same loss trains it
# on attempts of its own, group after group, instead of four written ones.
