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
# **The paper.** AGILE (Zeng et al.), section 3.3: the reward (eq. 5 and 6) and the objective of group
# relative policy optimization, GRPO (eq. 4), which is due to DeepSeekMath (Shao et al., 2024). On
# dividing by the standard deviation and by the length: Dr. GRPO (Liu et al., 2025).
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
seed: int = 8  # fixes the puzzle, and the small experiment at the end
step_length: float = 0.0005  # how far one step moves all weights together
updates: int = 40  # gradient steps of the small experiment
runs: int = 300  # times it is repeated

# %%
import numpy as np
import torch
from IPython.display import display
from PIL import Image

from kit import plot
from kit.chat import Chat
from kit.envs.agile import PROTOCOL, JigsawEnv, make_task
from kit.pictures import scene
from kit.policy import Params
from kit.policy.hf import ForcedPolicy
from kit.rewards.agile import score
from kit.rollout import rollout
from kit.sandbox import Sandbox
from kit.tiny import TINY, load_model

chat = Chat.from_pretrained(TINY)
model = load_model(TINY)

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
display(plot.pictures([(p.name, p.image) for p in task.images]))
print("state", labels, "→ right:", list(task.target))

# %%
look = "<code>observation_image_1 = observation(state)</code>"
swap = (
    f"<code>state[{i}], state[{j}] = state[{j}], state[{i}]\n"
    "observation_image_2 = observation(state)</code>"
)
zoom = "<code>zoom_image_1 = zoom(observation_image_2, 1.5)</code>"
right = f"<answer>[{', '.join(task.target)}]</answer>"
wrong = f"<answer>[{', '.join(labels)}]</answer>"
first = "<think>I look first.</think>" + look
last = "<think>All in place.</think>"
scripts = {
    "tidy": [first, "<think>Swap two.</think>" + swap, last + right],
    "hasty": [first, last + wrong],
    "slack": [first, swap, "<think>I zoom in.</think>" + zoom, last + right],
    "guess": [wrong],
}

# %% [markdown]
# They are played in the real environment. `ForcedPolicy` lets the tiny model look on: it doesn't choose
# the tokens, but notes how probable each was to it. What is each attempt worth? As in notebook 01,
# .8 for the right answer, .2 for the form, −.05 for each turn of code, or −.25 if the answer is wrong:
#
# $$R_{step} = \lambda\,(\mathbb{1}[R_{acc}=1]\,step_{num} + \mathbb{1}[R_{acc}=0]\,step_{max})
# \quad (5) \qquad R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \quad (6)$$
#
# Write down four numbers. (`slack` forgets its reasoning once.)

# %%
turns = iter([])
names = list(scripts)
box = Sandbox().start()
episodes = []
for name in names:
    policy = ForcedPolicy(model, chat, lambda e, name=name: scripts[name][len(e.turns)])
    params = Params(stops=PROTOCOL.stops)
    episodes += rollout(policy, chat, [task], lambda: JigsawEnv(box), params)
box.close()
rewards = [score(episode, task.target).total for episode in episodes]
for name, e, r in zip(names, episodes, rewards, strict=True):
    print(f"{name:6s} {e.steps} steps, {sum(e.mask):2d} sampled tokens, R = {r:+.2f}")
assert np.allclose(rewards, [0.8 + 0.2 - 0.10, 0.2 - 0.25, 0.8 - 0.15, -0.25])

# %% [markdown]
# ## The advantage
#
# Is .65 good? On its own the number doesn't say. If everybody else got .90 it is poor, if everybody
# else got −.25 it is splendid. So GRPO plays the same task G times and asks how much better than its
# *group* an attempt did, in units of the group's spread:
#
# $$\hat{A}_i = \frac{R_i - \operatorname{mean}(R_1, \dots, R_G)}{\operatorname{std}(R_1, \dots, R_G)}$$
#
# This is the $\hat{A}_{i,t}$ of eq. 4, the same for every token t of attempt i. By hand:
#
# | | tidy | hasty | slack | guess | |
# |---|---|---|---|---|---|
# | $R$ | .90 | −.05 | .65 | −.25 | mean = 1.25 / 4 = .3125 |
# | $R$ − mean | .5875 | −.3625 | .3375 | −.5625 | they add up to 0 |
# | squared | .345156 | .131406 | .113906 | .316406 | sum = .906875 |
#
# std = √(.906875 / 3) = .549811 (three, not four: G − 1). Divide the second line by it: 1.0686 for
# `tidy`, and for the others …?

# %%
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
from kit.advantage import group_advantages

advantages = group_advantages(torch.tensor(rewards), group_size=4)
assert np.allclose(advantages, by_hand, atol=1e-6)
columns = {"reward": rewards, "advantage": advantages.tolist()}
display(plot.bars({k: dict(zip(names, v, strict=True)) for k, v in columns.items()}))
print("sum of the advantages:", round(abs(float(advantages.sum())), 6))

# %% [markdown]
# Predict before you run: what happens to the advantages if every reward is 10 higher? If every reward is
# doubled? (Answer with one word each.)

# %%
r = torch.tensor(rewards)
for change, changed in {"+ 10": r + 10, "× 2": 2 * r, "× −1": -r}.items():
    print(f"R {change:5s}", [f"{a:+.2f}" for a in group_advantages(changed, 4).tolist()])

# %% [markdown]
# Only differences within the group count. That replaces what older methods train a second network for:
# a guess of how well an average attempt would do.
#
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
# length 1 and say which probabilities will rise.

# %%
z = torch.zeros(4, requires_grad=True)
J = (advantages * torch.log_softmax(z, dim=0)).mean()
J.backward()
assert torch.allclose(z.grad, advantages / 4, atol=1e-6)
before, after = torch.softmax(z, 0).tolist(), torch.softmax(z + z.grad, 0).tolist()
for name, b, a in zip(names, before, after, strict=True):
    print(f"{name:6s} {b:.3f} → {a:.3f}")

# %% [markdown]
# That is the heart of it. What eq. 4 adds are three precautions: a ratio, a clip, and a careful mean.
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
# is what eq. 4 then counts for a token. With ε = .2: for which ρ is the curve flat if the attempt was
# good ($\hat{A} = 1$)? For which if it was bad ($\hat{A} = -1$)?


# %%
def clipped(ratio, advantage, eps=0.2):
    """What one token counts in eq. 4."""
    return torch.minimum(ratio * advantage, ratio.clamp(1 - eps, 1 + eps) * advantage)


ratios = torch.linspace(0, 2, 81)
curves = {f"A = {a:+d}": (ratios, clipped(ratios, a)) for a in (1, -1)}
display(plot.lines(curves, x="ratio ρ", y="counts as"))

# %%
for advantage in (1, -1):
    ratio = torch.tensor([0.5, 0.9, 1.0, 1.1, 1.5], requires_grad=True)
    value = clipped(ratio, advantage)
    (slope,) = torch.autograd.grad(value.sum(), ratio)
    for line, numbers in {"ratio": ratio, "counts": value, "slope": slope}.items():
        print(f"A = {advantage:+d}  {line:7s}", *(f"{x:+.1f}" for x in numbers.tolist()))

# %% [markdown]
# Flat where a push has already had its effect: a good token that has become 20 % more likely is not
# pushed further, nor a bad one that has become 20 % less likely. But look at the other two corners. A
# good token that has become *less* likely (ρ = .5) is still pulled up, a bad one that has become more
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
# | hasty | .9 .5 | .9 and .8, clipped | .85 × −.6592 = −.5603 |
# | slack | 1.0 (.1) .7 | 1.0 and .7, *not* clipped | .85 × .6137 = .5216 |
# | guess | 1.4 | 1.4, *not* clipped | 1.4 × −1.0229 = −1.4321 |
#
# J = (1.2287 − .5603 + .5216 − 1.4321) / 4 = **−.0605**, and the loss, which is minimised, is −J = .0605. Check
# one line with your pencil. Does the 7.0 matter?

# %%
rho = torch.tensor([[1.1, 7.0, 1.5], [0.9, 0.5, 1.0], [1.0, 0.1, 0.7], [1.4, 1.0, 1.0]])
mask = torch.tensor([[1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0]])


def grpo_loss(rho, advantages, mask):
    """−J of eq. 4: mean over an attempt's own tokens, then over attempts."""
    counts = clipped(rho, advantages[:, None])
    per_attempt = (counts * mask).sum(dim=1) / mask.sum(dim=1)
    return -per_attempt.mean()


loss = grpo_loss(rho, advantages, mask)
print(f"loss {loss:.4f}")
assert abs(float(loss) - 0.0605) < 5e-5

# %% [markdown]
# ## What the trainer says
#
# The kit trains with TRL's `GRPOTrainer`; ours overrides one method, the one that plays, and inherits
# the loss. Here is a trainer whose "rollout" are our four attempts. To compare on the same tensors we
# hand it our toy log-probabilities instead of letting it compute any.

# %%
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from datasets import Dataset

from kit.grpo import GRPOSettings
from kit.grpo_trainer import EpisodeGRPOTrainer
from kit.policy.masking import forbid

open_until_the_end = ExitStack()
folder = Path(open_until_the_end.enter_context(TemporaryDirectory()))
settings = GRPOSettings(steps=1, groups=1, group_size=4, micro_batch=4)
print("eq. 4 in TRL's words:", settings.loss_type, "| ε:", settings.epsilon, "| β:", settings.beta)

# %%
open_until_the_end.enter_context(forbid(model, chat.forbidden_ids))
trainer = EpisodeGRPOTrainer(
    model=model,
    args=settings.trl_args(folder),
    train_dataset=Dataset.from_dict({"prompt": names, "task": [0] * 4}),
    chat=chat,
    tasks=[task],
    rollout=lambda tasks, *, seed: episodes,
    reward=score,
)
trainer.current_gradient_accumulation_steps = 1


def trl_toy_loss() -> float:
    """TRL's loss on the toy's tensors."""
    given = (rho.log(), torch.zeros_like(rho), None)  # log-probabilities, entropies
    trainer._get_per_token_logps_and_entropies = lambda *args, **kwargs: given
    ids = dict.fromkeys(("prompt_ids", "prompt_mask", "completion_ids", "completion_mask"))
    batch = {**dict.fromkeys(ids, torch.ones_like(mask)), "tool_mask": mask}
    batch |= {"advantages": advantages, "old_per_token_logps": torch.zeros_like(rho)}
    batch["num_items_in_batch"] = mask.sum()
    loss = trainer._compute_loss(trainer.model, batch)
    del trainer._get_per_token_logps_and_entropies
    return float(loss)
