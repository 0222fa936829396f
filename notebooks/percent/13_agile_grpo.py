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
# # 13 · AGILE: reinforcement learning
#
# **The question.** The model after SFT knows how to act, mostly knows the order, and seldom answers in time
# (notebook 12). Now it plays puzzles by itself, and is told only one number at the end of each. What changes?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), section 3.3 (eq. 4–6) and Table 5:
# multi-turn [GRPO](../docs/glossary.md#grpo) with executed code. Its figures show accuracy over training steps of
# a 7B model; the curves below show the same quantities of a model two thousand times smaller.
#
# **Afterwards you can** say what a group is for; do one update of GRPO without a trainer and get the
# trainer's weights; read the training curves; say what GRPO changed that SFT could not.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 13 | 7 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 5 | not measured | 640 GB |
#
# Before this one: [12](12_agile_sft.ipynb), which made the model this one starts from;
# [03](03_grpo_by_hand.ipynb) works out one step on paper.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 14
tag: str = ""  # to try another value: a name for it; data and SFT model are kept
seed: int = 0  # order of the puzzles and everything sampled
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
steps: int = 16  # rollout batches, each followed by one update
prompts_per_batch: int = 12  # puzzles a batch
group_size: int = 8  # episodes of one puzzle
per_device_batch_size: int = 32  # episodes a forward pass
learning_rate: float = 1e-4  # at its peak
schedule: str = "cosine"  # of the learning rate: cosine, linear, constant
temperature: float = 1.0  # of sampling
beta: float = 0.0  # weight of the KL term, which holds the policy near its start
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 5  # turns an episode may have
on_no_action: str = "end"  # a turn without code or answer: end, or tell the agent
max_new_tokens: int = 80  # of one turn
eval_puzzles: int = 24  # held-out puzzles a level
held_out_tasks: int = 8  # held-out puzzles played before each step; 0: none
by_hand: bool = True  # do the first update here as well; needs room for all weights
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
rollout_engine: str = "transformers"  # or vLLM: colocate (same GPUs), server
vllm_server_url: str = ""  # that server's address, http://host:port
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import torch
from IPython.display import display
from kit import view
from kit.data.store import load_tasks
from kit.exercises import check, hint, solution
from kit.files import start_run
from kit.models import load_model
from kit.papers.agile import experiment as agile
from kit.papers.agile.env import JigsawEnv
from kit.papers.agile.metrics import evaluate, failures, load_stage, save_stage, summary
from kit.papers.agile.reported import AGILE
from kit.papers.agile.reward import is_right
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.suppress import suppress_tokens
from kit.sandbox import CONFINED, Sandbox
from kit.seeding import child_seed, seed_per_episode
from kit.train.advantage import group_advantages
from kit.train.checkpoint import schedule as order_of
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.view.roadmap import GRPO_STEP, parts

# %%
torch.set_num_threads(threads)
needs = {"data": 11, "sft": 12, "stages/untrained.json": 12, "stages/sft.json": 12}
folder, together = start_run(run, tag, needs, "grpo"), ProcessConfig.of(globals())
start = agile.trained(folder, "sft")
vlm, chat = load_model_and_chat(start)
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
play = agile.Play(
    prompt=prompt,
    on_no_action=on_no_action,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
    temperature=temperature,
)

# %% [markdown]
# ## A group
#
# One step of GRPO has five parts. This section does the first three for one batch, the next section the others.

# %%
display(parts(GRPO_STEP, ["play", "score", "compare"], title="one step of GRPO"))

# %% [markdown]
# The [policy](../docs/glossary.md#policy) plays one puzzle `group_size` times. The episodes differ because turns
# are sampled. Each gets a reward (eq. 6); its [advantage](../docs/glossary.md#advantage) says how much better it is
# than the others of its group:
#
# $$\hat{A}_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R)}$$
#
# The first batch, exactly as the trainer will play it: the same puzzles in the same order, the same seeds.

# %%
train = load_tasks(folder / "data" / "train.jsonl")
order = order_of(len(train), steps * prompts_per_batch, seed)
few = [train[i] for i in order[: min(prompts_per_batch, 12)]]  # a real batch is larger
tasks = [task for task in few for _ in range(group_size)]
seeds = seed_per_episode(child_seed(seed, 0), len(tasks))
batch = play(HFPolicy(vlm, chat), chat, box, tasks, seed=seeds)
batch_scores = [play.score(episode, episode.task.target) for episode in batch]
rewards = torch.tensor([s.total for s in batch_scores], dtype=torch.float64)
advantages = group_advantages(rewards, group_size)
print(
    len(batch), "episodes of", len(few), "puzzles; mean reward", f"{rewards.mean():.3f}"
)

# %%
spread = rewards.view(-1, group_size).std(dim=1)
k = int(spread.argmax())  # the group whose episodes differ most
chosen = slice(k * group_size, (k + 1) * group_size)
group, scores, advantage = batch[chosen], batch_scores[chosen], advantages[chosen]
for episode, s, a in zip(group, scores, advantage.tolist(), strict=True):
    print(f"{episode.ended:8s} {episode.calls} steps  R = {s.total:+.2f}  A = {a:+.2f}")

# %% [markdown]
# Every token that the policy wrote in an episode carries that episode's advantage: raised if it is
# positive, lowered if it is negative. The environment's tokens carry none. Compare two of the group.

# %%
best, worst = int(advantage.argmax()), int(advantage.argmin())
display(
    view.compare(
        [group[best], group[worst]],
        scores=[scores[best], scores[worst]],
        advantages=[float(advantage[best]), float(advantage[worst])],
        is_right=is_right,
    )
)

# %% [markdown]
# A group whose rewards are all equal is *[flat](../docs/glossary.md#flat-group)*: every advantage in it is zero, and
# it teaches nothing. That is why the cold start has to come first.
#
# **Exercise 13.1.** Which share of the groups of this batch is flat? Write it for any list of rewards, group after group.
# Rewards that differ by less than 0.000001 count as equal.


# %% tags=["exercise"]
def flat_share(rewards: list[float], group_size: int) -> float:
    """Share of the groups whose rewards are all equal."""
    ...


check("13.1", flat_share)

# %% [markdown]
# ## One update by hand
#
# The fourth and the fifth part are left.

# %%
display(parts(GRPO_STEP, ["loss", "step"], title="one step of GRPO"))

# %% [markdown]
# The trainer below does much: it saves, resumes, divides work among processes. What it does to the weights fits into
# two cells. First the loss. The policy has only just played these episodes, so every ratio $\rho$ is 1 and nothing is
# clipped; what counts is the slope (notebook 03):
#
# $$\mathcal{L} = -\frac{1}{N} \sum_i \frac{1}{\sum_t I_{i,t}} \sum_t I_{i,t}\, \rho_{i,t}\, \hat{A}_i, \qquad
# I_{i,t} = 1 \text{ where the policy wrote token } t$$


# %%
def loss_of(model, episodes, advantages, n) -> torch.Tensor:
    """The part that these episodes have in the loss of a batch of ``n``."""
    packed = pack(episodes, chat).to(model.device)
    # The logits at one place speak of the token at the next.
    at = packed.prompt_ids.size(1) - 1
    logits = model(**packed.model_inputs()).logits[:, at:-1].float()
    logp = torch.log_softmax(logits / temperature, dim=-1)
    logp = logp.gather(-1, packed.completion_ids[..., None])[..., 0]
    ratio = torch.exp(logp - logp.detach())  # 1, but with a slope
    own = packed.loss_mask  # 1 on the policy's own tokens
    counts = ratio * advantages[:, None].to(model.device) * own
    return -(counts.sum(dim=1) / own.sum(dim=1)).sum() / n


# %% [markdown]
# Then the update: the gradients of all micro-batches add up, are cut to length 1, and AdamW takes its step.

# %%
puzzles = agile.first_per_level(
    load_tasks(folder / "data" / "eval-2x2.jsonl"), eval_puzzles
)
if by_hand:
    for name in chat.family.vision_modules:
        getattr(vlm.model, name).requires_grad_(not freeze_vision)
    learns = [p for p in vlm.parameters() if p.requires_grad]
    adam = torch.optim.AdamW(learns, learning_rate, weight_decay=0.0)
    with suppress_tokens(vlm, chat.suppressed_ids):
        for at in range(0, len(batch), per_device_batch_size):
            part = slice(at, at + per_device_batch_size)
            loss_of(vlm, batch[part], advantages[part], len(batch)).backward()
    length = torch.nn.utils.clip_grad_norm_(learns, 1.0)
    adam.step()
    print(f"gradient: length {length:.3f}; no weight moved more than {learning_rate:g}")

# %% [markdown]
# How many of the held-out puzzles does it solve after this *one* update? Before it (after SFT), it solves the share
# printed first. Write a guess down, then open the output.

# %% tags=["guess"]
sft = load_stage(folder, "sft")
print("after SFT:               ", summary(sft))
if by_hand:
    once = agile.play_greedily(vlm, chat, box, puzzles, play)
    print("after one update by hand:", summary(evaluate(once)))
    mine = {name: value.clone() for name, value in vlm.state_dict().items()}

# %% [markdown]
# <details><summary>Why can one update do so much? Think first, then open.</summary>
#
# The model can already see where the pieces belong: notebook 12 counted how often its first turn says so, before any
# training and after SFT. What it didn't know is when to stop. Episodes that answer early are right more often and cost fewer steps, and that is the same
# in every group, so all groups push the same few tokens. Reinforcement learning found a habit, not an ability.
#
# </details>
#
# **Exercise 13.2.** A group earned the rewards 0.85, 0.85, 0.85 and 0.05. Divide by the group's standard deviation
# (the one with n − 1, as PyTorch's `std`). What advantage does the last episode have?

# %% tags=["exercise"]
answer = ...  # a number
check("13.2", answer)

# %% [markdown]
# ## Training
#
# Now the same, `steps` times over. Each step: play `prompts_per_batch` × `group_size` episodes, score them, one update.
# The settings are plain values, so that this process can train, or several that are started for it
# (`num_processes=8, strategy="zero3"`); the result is the same. Without GPUs, `num_processes=0` starts one for each core.

# %%
settings = GRPOSettings.of(globals())  # the parameters of the first cell
played = steps * prompts_per_batch
print(played * group_size, "episodes on", min(played, len(train)), "puzzles")

# %%
# Models kept on the way: after the first step, and for claim A5 after an eighth, a
# quarter, half of the steps.
budgets = tuple(sorted({max(1, steps // part) for part in (8, 4, 2)} - {steps}))
training = agile.Training(
    start=str(start),
    tasks=str(folder / "data" / "train.jsonl"),
    run_dir=str(folder / "grpo"),
    play=play,
    settings=settings,
    held_out=(str(folder / "data" / "eval-2x2.jsonl"),),
    held_out_tasks=held_out_tasks,
    exports=tuple(sorted({1, *budgets})),
    threads=threads,
    allow_unsafe=allow_unsafe,
)
vlm = adam = learns = None  # room for the training, which loads its own

# %% [markdown]
# Watch it: the bar moves with every turn, the curves with every step, and the newest episode is shown below them. You can
# **interrupt** it (■ in the toolbar): it stops at a checkpoint, and the same cell goes on there. If you want to
# try another value instead, set `tag` in the parameters: the branch keeps the data and the SFT model, and
# `python -m kit view agile agile-TAG` compares both.

# %%
live = view.LiveTraining(folder / "grpo", is_right=is_right)
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# Is the trainer's first step the one you did by hand? It played the same episodes with the same seeds; its micro-batches
# were put together differently, so sums differ in their last digits.

# %%
rows = read_metrics(folder / "grpo" / "metrics.jsonl")
print(f"mean reward of the first batch: {rewards.mean():.4f}, by the trainer", end=" ")
print(f"{rows[0]['reward']:.4f}")
if by_hand and prompts_per_batch == len(few) and not lora_rank:
    theirs = load_model(folder / "grpo" / "model-1").state_dict()
    before = load_model(start).state_dict()
    moved = sum((mine[k].cpu() - v).abs().sum().item() for k, v in before.items())
    apart = sum((mine[k].cpu() - v).abs().sum().item() for k, v in theirs.items())
    share = apart / moved if moved else 0.0  # no way, if all groups were flat
    print(f"by hand and by the trainer: {share:.2%} of the way apart")
    assert apart <= 0.05 * moved

# %% [markdown]
# The kit brings the curves of its published runs (`results/curves/`). Does yours lie among them?

# %%
from kit.train.published_curves import published_curves
from kit.view.curves import over_published

over_published(rows, published_curves("agile", "grpo"))

# %% [markdown]
# Read the curves from left to right. The greedy curve is measured on held-out puzzles before each step; the sampled one
# is what the training itself plays. Greedy is higher: the likeliest token is right more often than a
# drawn one ([why they differ](../docs/surprises.md)). The loss stays near 0 and says nothing.
#
# **Exercise 13.3.** How soon is it done? From the rows of `metrics.jsonl`, find the first step whose greedy held-out
# accuracy (`held_out_accuracy`) is within 0.05 of the best one of the run. Rows without that column don't count.


# %% tags=["exercise"]
def first_good_step(rows: list[dict]) -> int:
    """The first step within 0.05 of the best held-out accuracy."""
    ...


check("13.3", first_good_step)

# %% [markdown]
# ## What changed

# %%
rl = agile.play_greedily(vlm, chat, box, puzzles, play)
print("after SFT: ", summary(sft))
print("after GRPO:", summary(evaluate(rl)))

# %%
print("how the episodes after GRPO ended, and why they fail:")
for reason, share in failures(rl).items():
    print(f"  {reason:28s} {share:6.1%}")

# %% [markdown]
# What did it learn? Two numbers tell: how often time ran out before and after, and how often the answer is the very
# order that the first turn states, before the agent has looked at anything. Guess both.

# %%
import re

from kit.evaluate import outcomes
from kit.papers.agile.metrics import load_outcomes
from kit.protocol import parse_labels


def first_order(episode) -> tuple | None:
    """The order that the first turn states, if it states one."""
    found = re.search(r"right order (\w+(?:, \w+)*)", episode.turns[0].text)
    return parse_labels(found[1]) if found else None


# %% tags=["guess"]
late = outcomes.REASONS["turns"]
before = outcomes.failures(load_outcomes(folder, "sft")).get(late, 0.0)
print(f"{late}: after SFT {before:.1%}, after GRPO {failures(rl).get(late, 0.0):.1%}")
answered = [e for e in rl if e.ended == "answer"]
kept = sum(parse_labels(e.answer) == first_order(e) for e in answered)
print(f"answers that are the first turn's order: {kept} of {len(answered)}")

# %% [markdown]
# The untrained model of notebook 12 already stated the right order in most first turns. An agent whose answers are the
# order of its first turn learnt nothing from what its code showed it: reinforcement taught it to hand in what it saw at
# once, before its turns are up. That raises accuracy as much as seeing better would, and the reward can't tell
# the two apart. The paper's claim for its own model is more: that perception and reasoning improved (section 4.2).

# %%
right = [e for e in rl if is_right(e, e.task.target)]
solved = (right or rl)[0]
earned = play.score(solved, solved.task.target)
display(view.show(solved, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# ## Does it do what it says?
#
# Read its last words, then look at its last picture. An episode keeps texts and pictures, not the
# sandbox's variables. So the next cell runs its code once more and prints `state` at the end. In how many of the
# solved puzzles had the code really put the pieces where the answer says they are? Guess.


# %% tags=["guess"]
def arrangement(episode) -> str:
    """What `state` is in the end: the code of every turn again, then a print."""
    env = JigsawEnv(box, prompt=prompt)
    env.reset(options={"task": episode.task})
    for turn in episode.turns[:-1]:
        env.step(turn.text)
    look = "<think>And now?</think><code>print(state); observation(state)</code>"
    printed = env.step(look)[0].text
    env.close()
    return printed


made = [e for e in right if str(list(e.task.target)) in arrangement(e)]
print(f"right answers: {len(right)}; code had put the pieces so in {len(made)} of them")

# %% [markdown]
# The reward looks at the answer alone, and every step costs. An agent that reads the order at first sight
# gains nothing by moving the pieces: it keeps the expert's words, and what they report may no longer be
# true. An agent's account of what it did is text that was rewarded, not a record.
#
# **Exercise 13.4.** Change the reward so that it asks for the deed. An episode is paid 0.8 only if its
# answer is right *and* the code has left the pieces in that order; 0.2 for the form; and −0.05 for each step, as before.
# (A wrong or unmoved puzzle is charged `max_steps` steps, as in eq. 5.)


# %% tags=["exercise"]
def deed_reward(
    right: bool, in_place: bool, form: bool, steps: int, max_steps: int
) -> float:
    """Reward of an episode that is paid for what it did."""
    ...


check("13.4", deed_reward)

# %% [markdown]
# ## Paper / here / why different

# %%
save_stage(folder, "grpo", rl)
save_stage(
    folder, f"grpo-{steps * prompts_per_batch:05d}", rl
)  # claim A5's last budget
for done in budgets:
    halfway, _ = load_model_and_chat(folder / "grpo" / f"model-{done}")
    episodes = agile.play_greedily(halfway, chat, box, puzzles, play)
    save_stage(folder, f"grpo-{done * prompts_per_batch:05d}", episodes)
for name, stage, here in (
    ("after SFT", "sft", sft),
    ("after GRPO", "grpo", evaluate(rl)),
):
    print(f"{name}: paper {AGILE[stage]['acc_2x2']:.3f}, here {summary(here)}")
box.close()

# %% [markdown]
# GRPO brought no new way of seeing: the reward is one number an episode. It changed what the model *does* with what
# it sees at first sight: above all, when it answers. The paper's Figure 11 draws the same curves for its 7B model.
# Which of the paper's claims hold at this scale is the next notebook's question: [14, claims](14_agile_claims.ipynb).
