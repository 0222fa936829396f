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
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), section 3.3: the reward (eq. 5 and 6) and the objective of group
# relative policy optimization, GRPO (eq. 4), which is due to [DeepSeekMath](https://arxiv.org/abs/2402.03300) (Shao et al., 2024). On
# dividing by the standard deviation and by the length: [Dr. GRPO](https://arxiv.org/abs/2503.20783) (Liu et al., 2025).
#
# **Afterwards you can** say what an advantage is and work one out on paper; say what clipping does
# and what it doesn't; compute the loss of a batch by hand and get the trainer's number; explain why a
# group without differences teaches nothing; say what temperature and group size are for.
#
# | | hardware | minutes | memory |
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
from IPython.display import display
from kit import view
from kit.chat import Chat
from kit.data.scenes import scene
from kit.exercises import check, hint, solution
from kit.papers.agile.env import JigsawEnv
from kit.papers.agile.puzzle import make_task
from kit.sandbox import Sandbox
from kit.tiny.build import TINY
from kit.view import plots
from PIL import Image

chat = Chat.from_pretrained(TINY)

# %% [markdown]
# ## Four attempts
#
# One puzzle; two of its pieces have to change places. We write four ways to play it, so that we know
# all about them. Read them: who solves it? Who keeps to the tags? Who is fast?

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
# Write down four numbers. (`slack` forgets its reasoning once.)

# %%
from kit.papers.agile.reward import is_right, score
from kit.policy.scripted import ScriptedPolicy
from kit.rewards.base import per_episode
from kit.rollout import RolloutConfig, rollout

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


# %%
episodes = play(lambda script: ScriptedPolicy(chat, script))
scores = [score(episode, task.target) for episode in episodes]
rewards = [s.total for s in scores]
for name, e, r in zip(names, episodes, rewards, strict=True):
    print(f"{name:6s} {e.calls} steps, {sum(e.mask):3d} own tokens, R = {r:+.2f}")
assert np.allclose(rewards, [0.8 + 0.2 - 0.10, 0.2 - 0.25, 0.8 - 0.15, -0.25])

# %% [markdown]
# ## The advantage
#
# Is 0.65 good? On its own the number doesn't say. If everybody else got 0.90 it is poor, if everybody
# else got −0.25 it is splendid. So GRPO plays the same task G times and asks how much better than its
# *group* an attempt did, in units of the group's spread:
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
# std = √(0.906875 / 3) = 0.549811 (three, not four: G − 1). Divide the second line by it: 1.0686 for
# `tidy`, and for the others …? Work them out, then open the output.

# %% tags=["guess"]
mean = sum(rewards) / 4
std = (sum((r - mean) ** 2 for r in rewards) / 3) ** 0.5
by_hand = [(r - mean) / (std + 1e-4) for r in rewards]
for name, a in zip(names, by_hand, strict=True):
    print(f"{name:6s} A = {a:+.4f}")
assert np.allclose(by_hand, [1.0684, -0.6592, 0.6137, -1.0229], atol=5e-5)

# %% [markdown]
# (1.0684 and not 1.0686: TRL adds 1e-4 to the std, so that nobody divides by 0. So does the kit.)
# And the kit's function, which also knows about more groups than one:

# %%
from kit.train.advantage import group_advantages

advantages = group_advantages(torch.tensor(rewards), group_size=4)
assert np.allclose(advantages, by_hand, atol=1e-6)
columns = {"reward": rewards, "advantage": advantages.tolist()}
display(plots.bars({k: dict(zip(names, v, strict=True)) for k, v in columns.items()}))
print("sum of the advantages:", round(abs(advantages.sum().item()), 6))

# %% [markdown]
# Here are the four side by side (1 `tidy`, 2 `hasty`, 3 `slack`, 4 `guess`), tinted as they will be pushed. Only
# what the policy said is tinted; what the environment wrote is mask 0 and stays out of it.

# %%
display(view.compare(episodes, scores, advantages.tolist(), is_right=is_right))

# %% [markdown]
# What happens to the advantages if every reward is 10 higher? If every reward is doubled, or changes its sign? Guess
# with one word each.

# %% tags=["guess"]
r = torch.tensor(rewards)
for change, changed in {"+ 10": r + 10, "× 2": 2 * r, "× −1": -r}.items():
    shown = [f"{a:+.2f}" for a in group_advantages(changed, 4).tolist()]
    print(f"R {change:5s}", *shown)

# %% [markdown]
# Only differences within the group count. Older methods train a second network for this: it
# guesses how well an average attempt would do.
#
# **Exercise 03.1.** Three of four attempts fail with −0.05; one succeeds with 0.75. What is its advantage? (Leave out
# the 1e-4.) Do it on paper: the deviations are 3d, −d, −d, −d.

# %% tags=["exercise"]
answer = ...  # a number
check("03.1", answer)

# %% [markdown]
# ## Which way to push: the smallest policy there is
#
# Forget tokens for a moment. A policy with four actions, all equally likely: $\pi = \operatorname{softmax}(z)$
# with $z = (0, 0, 0, 0)$. Each action was tried once and got one of our advantages. We climb
#
# $$J(z) = \frac{1}{4} \sum_{i=1}^{4} \hat{A}_i \log \pi(i), \qquad
# \frac{\partial J}{\partial z_k} = \frac{1}{4} \Big(\hat{A}_k - \pi_k \sum_i \hat{A}_i\Big)
# = \frac{\hat{A}_k}{4},$$
#
# since the advantages add up to 0. So the gradient is simply the advantages, quartered. Take a step of
# length 1: which probabilities will rise?

# %% tags=["guess"]
z = torch.zeros(4, requires_grad=True)
J = (advantages * torch.log_softmax(z, dim=0)).mean()
J.backward()
assert torch.allclose(z.grad, advantages / 4, atol=1e-6)
before, after = torch.softmax(z, 0).tolist(), torch.softmax(z + z.grad, 0).tolist()
for name, b, a in zip(names, before, after, strict=True):
    print(f"{name:6s} {b:.3f} → {a:.3f}")

# %% [markdown]
# That is the core of it. Eq. 4 adds three precautions: a ratio, a clip, and a careful mean.
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
# is what eq. 4 then counts for a token. With ε = 0.2: for which ρ is the curve flat if the attempt was
# good ($\hat{A} = 1$)? For which if it was bad ($\hat{A} = -1$)? Draw it, then open the output.


# %% tags=["guess"]
def clipped(ratio, advantage, eps=0.2):
    """What one token counts in eq. 4."""
    return torch.minimum(ratio * advantage, ratio.clamp(1 - eps, 1 + eps) * advantage)


ratios = torch.linspace(0, 2, 81)
curves = {f"A = {a:+d}": (ratios, clipped(ratios, a)) for a in (1, -1)}
display(plots.lines(curves, x="ratio ρ", y="counts as", title="clipped at 1 ± ε"))

# %%
for advantage in (1, -1):
    ratio = torch.tensor([0.5, 0.9, 1.0, 1.1, 1.5], requires_grad=True)
    value = clipped(ratio, advantage)
    (slope,) = torch.autograd.grad(value.sum(), ratio)
    for line, numbers in {"ratio": ratio, "counts": value, "slope": slope}.items():
        shown = (f"{x:+.1f}" for x in numbers.tolist())
        print(f"A = {advantage:+d}  {line:7s}", *shown)

# %% [markdown]
# Flat where a push has already had its effect: a good token that has become 20 % more likely is not
# pushed further, nor a bad one that has become 20 % less likely. But look at the other two corners. A
# good token that has become *less* likely (ρ = 0.5) is still pulled up, a bad one that has become more
# likely (ρ = 1.5) is still pushed down, however far off they are. Clipping takes away the reason to go on;
# it never takes away the way back, and it doesn't hold the policy in place.
#
# ## The mean, and the mask inside it
#
# Now eq. 4 in full, without its last term (β = 0 in the paper):
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
# First a mean over the policy's own tokens of an attempt, then over attempts. Take three tokens each,
# with these ratios, in brackets what the environment wrote:
#
# | | ratios | each counts | mean × advantage |
# |---|---|---|---|
# | tidy | 1.1 (7.0) 1.5 | 1.1 and 1.2, clipped | 1.15 × 1.0684 = 1.2287 |
# | hasty | 0.9 0.5 | 0.9 and 0.8, clipped | 0.85 × −0.6592 = −0.5603 |
# | slack | 1.0 (0.1) 0.7 | 1.0 and 0.7, *not* clipped | 0.85 × 0.6137 = 0.5216 |
# | guess | 1.4 | 1.4, *not* clipped | 1.4 × −1.0229 = −1.4321 |
#
# J = (1.2287 − 0.5603 + 0.5216 − 1.4321) / 4 = **−0.0605**, and the loss, which is minimised, is −J = 0.0605. Check
# one line with your pencil. Does the 7.0 matter?

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
# It doesn't: its mask is 0, and 0 times anything is 0.
#
# ## A policy of our own
#
# From here on we need a policy that is a network. Here is one made on the spot: a real Qwen2.5-VL, but of
# a third of a million parameters, with random weights. (In double precision, so that you see the
# numbers we saw; the vision tower stays as it is, to save time.)

# %%
from contextlib import ExitStack

from kit.policy.suppress import suppress_tokens
from kit.tiny.build import build_config
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
# `forbid` takes the probability off the ids that a policy may not say. Six lines of PyTorch give the
# log-probability of every token that was sampled (remember the shift by one: what stands at t predicts t + 1):

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
# of the vocabulary. GRPO can only reweigh what a policy already does. So let it *imitate* the four attempts
# for a moment, all alike, good and bad (in earnest that is the cold start, notebook 12). A policy that
# knows these four and nothing else: how probable can each become at best?

# %%
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
with torch.no_grad():
    chances = logprobs().sum(dim=1).exp()
for name, chance in zip(names, chances.tolist(), strict=True):
    print(f"{name:6s} {chance:.2f}")
assert chances.min() > 0.2

# %% [markdown]
# A quarter each, nearly: the smallest policy again, but made of tokens. Now the four attempts are its own,
# as if sampled. `ForcedPolicy` plays them once more and notes the log-probabilities that sampling would
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
# The kit trains with TRL's `GRPOTrainer`. Ours overrides the one method that plays, and inherits the
# loss. Here is a trainer whose "rollout" is our four attempts.

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
# To compare on the toy's tensors, hand it our log-probabilities instead of letting a model compute
# them: log ρ as the new ones, 0 as the old ones. Everything from there on is TRL's code.


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
# (2.3 × 1.0684 − 1.7 × 0.6592 + 1.7 × 0.6137 − 1.4 × 1.0229) / 7 = 0.9479 / 7 = **0.1354**
#
# The objective even changes its sign: `guess` was bad, and short. Which of the two means tells a model to
# keep its *bad* attempts long?

# %%
all_tokens = -(clipped(rho, advantages[:, None]) * mask).sum() / mask.sum()
trainer.loss_type = "bnpo"
print(f"every token the same: by hand {all_tokens:.4f}, TRL {trl_toy_loss():.4f}")
assert abs(trl_toy_loss() - float(all_tokens)) < 1e-6
trainer.loss_type = "grpo"
pushes = advantages / (4 * mask.sum(dim=1))
for name, w, n in zip(names, pushes.tolist(), mask.sum(dim=1).tolist(), strict=True):
    print(f"{name:6s} {n} sampled tokens, each pushed with {w:+.3f}")

# %% [markdown]
# Eq. 4 does: spread over many tokens, a bad advantage pushes each of them less. Dr. GRPO divides by a
# constant for that reason. AGILE keeps the mean of eq. 4; its step reward makes rambling expensive.
#
# ## The same with a model
#
# Now the real attempts: hundreds of ids, pictures included, and the function that you have already checked.
# The policy that played them is the policy we train, so every ρ is 1. What will the loss be, to four
# digits? (Each attempt counts its advantage, and the advantages …)

# %%
new = logprobs()
old = new.detach()
loss = grpo_loss(torch.exp(new - old), advantages, own)
slopes = torch.autograd.grad(loss, weights)
length = torch.stack([slope.norm() for slope in slopes]).norm().item()
print(f"loss {abs(loss.item()):.4f}, and yet the gradient has length {length:.3f}")
assert abs(loss.item()) < 1e-6 < length

# %% [markdown]
# Zero, and it will hover about zero for the whole training. **The loss of GRPO says nothing about
# progress**; the reward does. What teaches is its *slope*, and at ρ = 1 the slope of each token is its
# advantage. Now TRL, from the episodes on: it plays (ours), scores, packs, computes.

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
# Move every weight against its slope. What will become of the probabilities of the four attempts? (The
# smallest policy went from a quarter each to 0.319, 0.207, 0.285 and 0.189.)


# %%
@torch.no_grad()
def step_down(slopes, rate: float) -> None:
    """One step of plain gradient descent."""
    for weight, slope in zip(weights, slopes, strict=True):
        weight -= rate * slope


saved = [weight.detach().clone() for weight in weights]
step_down(slopes, learning_rate)
with torch.no_grad():
    after = logprobs()

# %%
before, now = old.sum(dim=1).exp(), after.sum(dim=1).exp()
for k, name in enumerate(names):
    print(f"{name:6s} A = {advantages[k]:+.2f}   {before[k]:.2f} → {now[k]:.2f}")
R = torch.tensor(rewards)
earned, earns = (before * R).sum().item(), (now * R).sum().item()
print(f"expected reward {earned:.2f} → {earns:.2f}")
assert earns > earned

# %% [markdown]
# The good ones up, `guess` down, the expected reward up. But `hasty`, whose advantage is negative? It did *not* go
# down. To see why, look where in the row something happened. The loss pushed on every token, but most of
# them could not move: after `observation_image_` the model was certain already. These are the tokens it was
# not certain of, with the push each of them got:

# %%
pushes = advantages / own.sum(dim=1)
for k, name in enumerate(names):
    for t in torch.nonzero(own[k] * (old[k].exp() < 0.9)).flatten().tolist():
        token = repr(chat.tokenizer.decode([int(packed.completion_ids[k, t])]))
        was, is_now = old[k, t].exp(), after[k, t].exp()
        print(f"{name:6s} {token:10s} {was:.2f} → {is_now:.2f}   push {pushes[k]:+.3f}")

# %% [markdown]
# Forks: to think, or to blurt out an answer; then to think again, or to forget it; then to swap, or to be
# content. Nobody told the trainer that these are the decisions; what is common to good and bad attempts
# cancels, or cannot move. That is how one number for a whole episode finds its way to single tokens.
#
# And `hasty`: it shares the first fork with `tidy` and `slack`. `guess` has few tokens, so (the mean of eq. 4!) each of
# them was pushed hardest of all, away from blurting. What `guess` loses there goes to all who think first,
# `hasty` too. Its own fork, the one that made it wrong, went down, if only a little. One step settles the
# coarsest question; the next groups will settle the next.
#
# ## The same attempts again
#
# Playing is expensive, so use these four for more steps: go back to where we were and take twenty small ones. The
# old log-probabilities stand still, the new ones move, ρ leaves 1, and the clip begins to act. Watch the
# `<answer>` of `guess`, the token that is pushed hardest. Once with ε = 0.2, once without a clip (ε so large that it
# never acts): where will ρ be after twenty steps?


# %%
def reuse(eps: float, steps: int = 20) -> list[float]:
    """ρ of the first token of ``guess`` before each step on the same attempts."""
    with torch.no_grad():
        for weight, value in zip(weights, saved, strict=True):
            weight.copy_(value)
    path = []
    for _ in range(steps):
        rho = torch.exp(logprobs() - old)
        path.append(rho[3, 0].item())
        loss = grpo_loss(rho, advantages, own, eps)
        step_down(torch.autograd.grad(loss, weights), small_rate)
    return path


# %%
paths = {"no clip": reuse(1e9), "ε = 0.2": reuse(settings.epsilon)}
display(plots.lines({k: (range(len(v)), v) for k, v in paths.items()}, x="step", y="ρ"))
for name, path in paths.items():
    print(f"{name:8s}", *(f"{ratio:.2f}" for ratio in path[::2]))
assert paths["no clip"][-1] < 0.7 < paths["ε = 0.2"][-1] < 0.8

# %% [markdown]
# It crosses 0.8, where the curve becomes flat, by the step that was under way, and stays. Without a clip it
# would go on: four attempts, one lucky and one unlucky among them, would be believed ever more firmly. And
# with ratios all over the place, do we still compute what TRL computes?

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
# Let all four attempts earn the same, say 0.65 each. How long is the gradient?

# %%
from kit.episode import Score

trainer.reward = per_episode(lambda episode, target: Score(0.65, {}))
flat = trainer._generate_and_score_completions([{"task": 0}] * 4)
slopes = torch.autograd.grad(trainer._compute_loss(trainer.model, flat), weights)
largest = max(slope.abs().max().item() for slope in slopes)
print("advantages:", flat["advantages"].tolist(), "| largest slope of all:", largest)
assert largest == 0.0
until_the_end.close()

# %% [markdown]
# Exactly nothing. Whether all are right or all are wrong, the time was wasted. How often does that happen?
# If an attempt succeeds with probability p, independently, a group of G is all right or all wrong with
# probability
#
# $$p^G + (1 - p)^G.$$
#
# Guess it for the paper's model before any training (p = 9.5 % on 2×2), with G = 8.

# %%
from kit.papers.agile.reported import AGILE

group_sizes = (2, 4, 8, 16)
p = np.linspace(0, 1, 101)
curves = {f"G = {G}": (p, p**G + (1 - p) ** G) for G in group_sizes}
display(plots.lines(curves, x="p, how often an attempt succeeds", y="flat groups"))
print("p        ", *(f"G = {G:<4d}" for G in group_sizes))
stages = {"base": "untrained", "sft": "after SFT", "grpo": "after RL"}
for stage, what in stages.items():
    q = AGILE[stage]["acc_2x2"]
    flat = (f"{q**G + (1 - q) ** G:<8.2f}" for G in group_sizes)
    print(f"{q:.3f}    ", *flat, what)

# %% [markdown]
# That is what the cold start is for: from 9.5 % to 22 % looks like little, but the groups that teach nothing
# become a third of what they were. (Puzzles differ in difficulty, so in truth more groups are flat; and a
# step or a tag more or less makes some of them uneven after all.) And it is why training slows down as
# a model gets good.
#
# ## To divide by the spread, or not
#
# Two groups. In one, the last attempt needed one step more; in the other it failed altogether:
#
# close: 0.90 0.90 0.90 0.85 · apart: 0.90 0.90 0.90 −0.05
#
# Work out the advantages of both. Hint: let d be the distance of the odd one out. The deviations are
# d/4, d/4, d/4 and −3d/4, and the standard deviation is d/2.

# %%
groups = torch.tensor([0.90, 0.90, 0.90, 0.85, 0.90, 0.90, 0.90, -0.05])
for scale in ("group", "none"):
    close, apart = group_advantages(groups, 4, scale).view(2, 4).tolist()
    print(f"scale={scale!r:8s} close", *(f"{a:+.4f}" for a in close))
    print("               apart", *(f"{a:+.4f}" for a in apart))

# %% [markdown]
# d drops out. Divided by the spread (GRPO, AGILE), a step too many weighs as much as a failure. That is
# good late in training, when steps are all that is left to learn, and bad where small differences are
# noise. Undivided (Dr. GRPO, `scale="none"`), a difference weighs what it is worth. (0.4980 and
# not 0.5 above: that 1e-4 again, beside a small spread.)
#
# **Exercise 03.2.** How large must a group be? Write the smallest `G` from 2 on for which at most the share `most` of the
# groups is flat, if an attempt succeeds with probability `p`.


# %% tags=["exercise"]
def smallest_group(p: float, most: float) -> int:
    """Smallest G with p^G + (1 − p)^G at most ``most``."""
    ...


check("03.2", smallest_group)

# %% [markdown]
# ## Temperature
#
# A group needs differences, and differences come from sampling. Temperature divides the logits before the
# softmax: below 1 the policy repeats itself, above 1 it scatters. Four attempts, one token each, from
# logits (2, 1, 0, 0). At which T is a group most often all the same?

# %%
z = torch.tensor([2.0, 1.0, 0.0, 0.0])
print("T     probabilities         entropy  all four the same")
for T in (0.3, 0.7, 1.0, 1.5):
    pi = torch.softmax(z / T, dim=0)
    entropy = float(-(pi * pi.log()).sum())
    row = " ".join(f"{x:.2f}" for x in pi.tolist())
    print(f"{T:.1f}   {row}   {entropy:.2f}     {float((pi**4).sum()):.2f}")

# %% [markdown]
# And the trainer must use the same T. Sampled at T = 0.7 and trained at T = 1, ρ is not 1 even though nobody has
# moved:

# %%
ratio = torch.softmax(z, 0) / torch.softmax(z / 0.7, 0)
print("ρ before any step:", [round(x, 2) for x in ratio.tolist()])
print("already clipped:  ", [bool(abs(x - 1) > 0.2) for x in ratio.tolist()])

# %% [markdown]
# The kit compares the sampler's log-probabilities with the trainer's at the start of a run, and refuses to
# go on if they differ.
#
# **Exercise 03.3.** Write the ratio ρ of one action that was sampled at temperature `T` from these logits and is trained
# at temperature 1.


# %% tags=["exercise"]
def ratio_of(logits: list[float], action: int, T: float) -> float:
    """π at temperature 1, divided by π at temperature T."""
    ...


check("03.3", ratio_of)

# %% [markdown]
# ## Group size
#
# A last experiment: the smallest policy again, its four actions earning 0.90, −0.05, 0.65 and −0.25. This
# time it samples its attempts, and learns. Larger groups know better what average is, but cost more
# attempts. Which G is best after a given number of *updates*? Which after a given number of *attempts*?


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


# %%
learnt = {G: learn(G, updates) for G in group_sizes}
curves = {f"G = {G}": (range(updates + 1), learnt[G]) for G in group_sizes}
display(plots.lines(curves, x="updates", y="expected reward"))
attempts = 4 * updates
print(f"{'G':>3s}  {updates // 4} updates  {updates} updates  {attempts} attempts")
for G in group_sizes:
    same_cost = learn(G, attempts // G)[-1]
    early, late = learnt[G][updates // 4], learnt[G][-1]
    print(f"{G:3d}  {early:10.2f}  {late:10.2f}  {same_cost:12.2f}")
assert learnt[16][-1] > learnt[2][-1]

# %% [markdown]
# Per update, larger groups win, with less and less to gain. Per attempt the small ones are ahead *here*,
# where four actions differ plainly and each update costs nothing. Where success is rare, small groups are
# flat (see above) and where playing is done in parallel, attempts are cheaper than updates. The paper
# takes G = 8.
#
# ## Check yourself
#
# <details><summary>An attempt is right, but worse than its siblings. Which way are its tokens
# pushed?</summary>
# Down. An advantage compares with the group, not with zero.</details>
#
# <details><summary>ρ = 3 on a token of a bad attempt. Is it clipped?</summary>
# No. It counts 3Â and is pushed down at full slope. Clipped would be ρ below 1 − ε.</details>
#
# <details><summary>The loss went from 0.0003 to −0.0002. Is that progress?</summary>
# It says nothing. Look at the reward.</details>
#
# <details><summary>Your model solves 1 % of the puzzles. Would you start with GRPO, G = 8?</summary>
# 92 % of the groups would be flat. First a cold start, easier puzzles, or larger groups.</details>
#
# ## Paper / here / why different

# %%
from kit.papers.agile.settings import GRPO as paper  # its Table 5

solved = f"{AGILE['grpo']['acc_2x2']:.1%}"
rows = [
    ("", "paper", "here", "why different"),
    ("G", paper.group_size, settings.group_size, "four fit on paper"),
    (
        "tasks a step",
        paper.prompts_per_batch,
        settings.prompts_per_batch,
        "one is enough to see",
    ),
    ("attempts", "sampled, T = 1", "written", "so that we know all"),
    ("ε", "not stated", settings.epsilon, "the trainers' default"),
    ("β", paper.beta, settings.beta, "the same"),
    ("steps", paper.steps, settings.steps, "notebook 13 trains"),
    ("2×2 Acc after RL", solved, "not run", "notebooks 13 and 14"),
]
for what, theirs, ours, why in rows:
    print(f"{what:17s} {theirs!s:15s} {ours!s:8s} {why}")

# %% [markdown]
# The formulas are the paper's; the attempts were written by hand so that each number could be followed. The
# paper doesn't state ε or the form of std; here they are those of the trainers it builds on. In
# [notebook 13](13_agile_grpo.ipynb) the same loss trains the tiny model for real, thousands of attempts instead of
# four.
