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
# **The question.** The model after SFT knows how to act and seldom solves anything. It now plays
# thousands of puzzles and is told nothing but a number at the end of each. What changes?
#
# **The paper.** AGILE, section 3.3 (eq. 4–6) and Table 5: multi-turn GRPO with executed code.
#
# **Afterwards you can** say what a group is for, read the training curves, show which tokens an
# advantage reaches, and say what GRPO changed that SFT could not.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core for the model, 1 for the sandbox, tiny model | 11 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 5 | not measured | 640 GB |
#
# Before this one: 12, which made the model this one starts from; 03 does one step by hand.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 14
seed: int = 0  # order of the puzzles and everything sampled
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
steps: int = 16  # rollout batches
prompts_per_batch: int = 12  # puzzles a batch
group_size: int = 8  # rollouts of one puzzle
per_device_batch_size: int = 32  # episodes a forward pass
learning_rate: float = 1e-4  # at its peak
schedule: str = "cosine"  # of the learning rate: cosine, linear, constant
temperature: float = 1.0  # of sampling
beta: float = 0.0  # weight of the KL term
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # 0 trains all weights
max_turns: int = 5  # turn budget
max_new_tokens: int = 80  # of one turn
eval_puzzles: int = 24  # held-out puzzles a level
num_processes: int = 1  # processes that train together, on all machines
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
rollout_engine: str = "transformers"  # or vLLM: colocate, server
vllm_server_url: str = ""  # that server's address, http://host:port
hostfile: str = ""  # the machines, a line each: name slots=8; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import inspect

import torch
from IPython.display import Code, display
from kit import view
from kit.data.store import load_tasks
from kit.files import run_folder
from kit.papers.agile import experiment as agile
from kit.papers.agile.env import JigsawEnv
from kit.papers.agile.metrics import (
    evaluate,
    failures,
    load_stage,
    save_stage,
    summary,
)
from kit.papers.agile.reported import AGILE
from kit.papers.agile.reward import is_right, score
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.sandbox import CONFINED, Sandbox
from kit.train.advantage import group_advantages
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.view import plots

# %%
torch.set_num_threads(threads)
folder, together = run_folder(run), ProcessConfig.of(globals())
vlm, chat = load_model_and_chat(agile.trained(folder, "sft"))
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
play = agile.Play(prompt=prompt, max_turns=max_turns, max_new_tokens=max_new_tokens)

# %% [markdown]
# ## A group
#
# One puzzle, played `group_size` times by the same model. The episodes differ because turns are
# sampled. Each gets a reward (eq. 6); the advantage is how much better it is than its siblings:
#
# $$\hat{A}_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R)}$$
#
# Here are a few puzzles at once, and of them the group whose episodes differ most.

# %%
train = load_tasks(folder / "data" / "train.jsonl")
policy = HFPolicy(vlm, chat)
few = train[: min(prompts_per_batch, 8)]  # a real batch can be hundreds of episodes
tasks = [task for task in few for _ in range(group_size)]
batch = play(policy, chat, box, tasks, temperature, seed=seed)
batch_scores = [score(episode, episode.task.target) for episode in batch]
rewards = torch.tensor([s.total for s in batch_scores])
advantages = group_advantages(rewards, group_size).view(-1, group_size)
spread = rewards.view(-1, group_size).std(dim=1)
print(int((spread == 0).sum()), "of", len(few), "groups are flat: all rewards equal")

# %%
k = int(spread.argmax())
chosen = slice(k * group_size, (k + 1) * group_size)
group, scores, advantage = batch[chosen], batch_scores[chosen], advantages[k]
for episode, s, a in zip(group, scores, advantage.tolist(), strict=True):
    print(f"{episode.ended:8s} {episode.calls} steps  R = {s.total:+.2f}  A = {a:+.2f}")

# %% [markdown]
# Every token the policy sampled in an episode carries that episode's advantage: raised if it is
# positive, lowered if it is negative. The environment's tokens carry none. Compare two siblings.

# %%
best, worst = int(advantage.argmax()), int(advantage.argmin())
pair = [group[best], group[worst]]
display(
    view.compare(
        pair,
        scores=[scores[best], scores[worst]],
        advantages=[float(advantage[best]), float(advantage[worst])],
        is_right=is_right,
    )
)

# %% [markdown]
# If all rewards of a group are equal, every advantage is zero and the group teaches nothing
# (`frac_zero_std_groups` below is the share of such groups). That is why the cold start has to come first.
#
# ## Training
#
# Each step: play `prompts_per_batch` × `group_size` episodes, score, pack, one gradient step. The training is told
# in plain values, so that this process can do it, or several that are launched (`num_processes=8, strategy="zero3"`). This is all that each of them does:

# %%
display(Code(inspect.getsource(agile.Training.__call__), language="python"))

# %% [markdown]
# It can be interrupted at any moment; the same cell again goes on from the last checkpoint.

# %%
held_out = load_tasks(folder / "data" / "eval-2x2.jsonl")
puzzles = agile.first_per_level(held_out, eval_puzzles)
print(len(puzzles), "held-out puzzles, to look at on the way and at the end")

# %%
settings = GRPOSettings(
    steps=steps,
    prompts_per_batch=prompts_per_batch,
    group_size=group_size,
    per_device_batch_size=per_device_batch_size,
    learning_rate=learning_rate,
    schedule=schedule,
    temperature=temperature,
    beta=beta,
    freeze_vision=freeze_vision,
    lora_rank=lora_rank,
    save_every=10,
    seed=seed,
    rollout_engine=rollout_engine,
    vllm_server_url=vllm_server_url,
)
played = steps * prompts_per_batch
episodes, distinct = played * group_size, min(played, len(train))
print(episodes, "episodes on", distinct, "puzzles")

# %%
# Models kept on the way, for claim A5: after an eighth, a quarter, half of the steps.
budgets = tuple(sorted({max(1, steps // part) for part in (8, 4, 2)} - {steps}))
training = agile.Training(
    start=str(agile.trained(folder, "sft")),
    tasks=str(folder / "data" / "train.jsonl"),
    run_dir=str(folder / "grpo"),
    play=play,
    settings=settings,
    exports=budgets,
    threads=threads,
    allow_unsafe=allow_unsafe,
)
del vlm, policy  # the training loads its own

# %%
live = plots.LivePlot()
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# Read the curves from left to right. When does the reward rise, and which of its parts moves first?
# What happens to the number of turns, and to the length of what is said?
#
# ## What changed

# %%
rl = agile.play_greedily(vlm, chat, box, puzzles, play)
sft = load_stage(folder, "sft")
print("after SFT: ", summary(sft))
print("after GRPO:", summary(evaluate(rl)))

# %%
print("how the episodes after GRPO ended, and why they fail:")
for reason, share in failures(rl).items():
    print(f"  {reason:28s} {share:6.1%}")

# %%
right = [e for e in rl if is_right(e, e.task.target)]
solved = (right or rl)[0]
earned = score(solved, solved.task.target)
display(view.show(solved, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# ## Does it do what it says?
#
# Read its last words, then look at its last picture. An episode keeps texts and pictures, not the
# sandbox's variables, so let its code run once more, and print `state` at the end.


# %%
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
# The reward looks at the answer alone, and every step costs. Whoever reads the order at first sight
# gains nothing by moving the pieces there: the words of the expert stay, what they report may not be
# true any more. An agent's account of what it did is text that was rewarded, not a record. Which
# reward would ask for the deed? (`kit/papers/agile/reward.py` has eq. 6; the code can be run, as above.)
#
# ## Paper / here / why different

# %%
save_stage(folder, "grpo", rl)
save_stage(
    folder, f"grpo-{steps * prompts_per_batch:05d}", rl
)  # the last budget of claim A5
for done in budgets:
    halfway, _ = load_model_and_chat(folder / "grpo" / f"model-{done}")
    played = agile.play_greedily(halfway, chat, box, puzzles, play)
    save_stage(folder, f"grpo-{done * prompts_per_batch:05d}", played)
for name, stage, here in (
    ("after SFT", "sft", sft),
    ("after GRPO", "grpo", evaluate(rl)),
):
    print(f"{name}: paper {AGILE[stage]['acc_2x2']:.3f}, here {summary(here)}")
box.close()

# %% [markdown]
# No new way of seeing came in: the reward is one number an episode. What GRPO could change is what
# the model *does* with what it sees: how many turns it spends, when it looks again, when it
# answers. Whether the paper's six claims hold at this scale is the next notebook's question:
# [14, claims](14_agile_claims.ipynb).
