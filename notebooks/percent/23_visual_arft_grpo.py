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
# # 23 · Visual-ARFT: reinforcement learning
#
# **The question.** A model can read, can tell a dark picture from a turned one, can find a fact in a few
# lines. It has never mended or looked up anything. What does a reward for the right answer make of it?
#
# **The paper.** Visual-ARFT, section 3 (the reward) and section 5 (training): GRPO, 8 rollouts a task, for coding
# and for searching.
#
# **Afterwards you can** train one policy on two kinds of tasks with two kinds of tools; read its curves apart; say
# whether it mended what was broken or answered without; tell a wrong query from a misread snippet.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core for the model, 1 for the sandbox, tiny model | 12 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the released scripts' values | not measured | 640 GB |
#
# Before this one: 21, which made the tasks; 22 took the reward apart; 03 does one step of GRPO by hand.

# %% tags=["parameters"]
run: str = "visual_arft"  # run directory under runs/, shared by notebooks 21 to 24
seed: int = 0  # order of the tasks and everything sampled
model: str = ""  # the checkpoint to start from; empty: the committed tiny model
lesson_epochs: float = 2.0  # passes over the expert's episodes; paper: 0
reward: str = "f1"  # f1 or em of the answer; steps: each for itself, as in the paper
steps: int = 8  # rollout batches
prompts_per_batch: int = 12  # tasks a batch
search_share: float = 0.25  # of them, search tasks
group_size: int = 8  # rollouts of one task
per_device_batch_size: int = 16  # episodes a forward pass
learning_rate: float = 5e-5  # at its peak
temperature: float = 1.0  # of sampling
beta: float = 0.0  # weight of the KL term
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # 0 trains all weights
max_turns: int = 5  # turn budget
max_new_tokens: int = 80  # of one turn
num_processes: int = 1  # processes that train together, on all machines
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
rollout_engine: str = "transformers"  # or vLLM: colocate, server
vllm_server_url: str = ""  # that server's address, http://host:port
hostfile: str = ""  # the machines, a line each: name slots=8; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import numpy as np
import torch
from IPython.display import display
from kit import view
from kit.data.store import load_episodes, load_tasks, save_episodes, save_tasks
from kit.files import run_folder
from kit.papers.visual_arft import experiment as visual_arft
from kit.papers.visual_arft.metrics import (
    evaluate,
    failures,
    is_right,
    save_stage,
    table,
)
from kit.papers.visual_arft.reward import score
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.sandbox import CONFINED, Sandbox
from kit.tiny.build import TINY
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.sft import SFTSettings, SFTTraining
from kit.view import plots

# %%
torch.set_num_threads(threads)
folder = run_folder(run)
start = str(model or TINY)
vlm, chat = load_model_and_chat(start)
together = ProcessConfig.of(globals())
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
data = folder / "data"
paid = visual_arft.make_reward(reward)
play = visual_arft.Play.kept(data, max_turns=max_turns, max_new_tokens=max_new_tokens)
index = visual_arft.search_engine(play.search)
tools = visual_arft.Tools(box, index)
sets = ("coding-test", "search-test", "text-test")
held_out = [t for name in sets for t in load_tasks(data / f"{name}.jsonl")]
print(len(held_out), "tasks to be measured by")

# %% [markdown]
# ## Before anything
#
# The model is told its tools and plays. What will it say to a picture with a question, a system text in
# front of it, and no one who has ever answered with a tag?

# %%
untrained = visual_arft.play_greedily(vlm, chat, tools, held_out, play)
save_stage(folder, "untrained", untrained)
for kind in ("code", "search"):
    first = next(e for e in untrained if e.task.meta["tools"] == [kind])
    print(f"{kind:6s} {first.turns[0].text[:76]!r}")
print(failures(untrained))

# %% [markdown]
# Not a tag: it describes what it sees, as it was taught to. The reward would be zero for every episode, every group
# flat, and GRPO would learn nothing from it.
#
# ## Lessons
#
# The expert's episodes, from notebook 21: sheets, and searches in an invented world. Only those that earn
# everything there is are shown. What does one look like?

# %%
shown = load_episodes(data / "coldstart.jsonl")
sound = [e for e in shown if score(e, e.task.target).total == 2]
print(len(sound), "sound episodes of", len(shown))
for kind in ("code", "search"):
    one = next(e for e in shown if e.task.meta["tools"] == [kind])
    print(one.task.question, "| gold:", one.task.target[0])
    for turn in one.turns:
        print("   ", turn.text.replace("\n", "; "))

# %% [markdown]
# The question is said again in every turn that asks for something, with what was found in its place. A large
# model remembers what it was asked three turns ago; this one doesn't.

# %%
live = plots.LivePlot(columns=("loss", "mean_token_accuracy"))
if lesson_epochs:
    settings = SFTSettings(
        epochs=lesson_epochs,
        batch_size=8,
        per_device_batch_size=max(
            1, per_device_batch_size // 4
        ),  # every turn of theirs is learnt from
        learning_rate=6e-4,
        freeze_vision=freeze_vision,
        lora_rank=lora_rank,
        seed=seed,
    )
    shown_to = folder / "sft" / "episodes.jsonl"
    save_episodes(shown_to, sound)
    lessons = SFTTraining(start, str(shown_to), str(folder / "sft"), settings)
    start = str(launch(lessons, together, live))
    vlm, chat = load_model_and_chat(start)
    display(live.figure())

# %%
taught = visual_arft.play_greedily(vlm, chat, tools, held_out, play)
save_stage(folder, "sft", taught)
print(table({"untrained": evaluate(untrained), "sft": evaluate(taught)}))

# %% [markdown]
# It acts now. How well does it see, and how well does it look things up? Read two episodes before you believe a
# number. Which of their turns is the first that goes wrong?

# %%
for kind in ("code", "search"):
    one = next(e for e in taught if e.task.meta["tools"] == [kind])
    print(one.task.question, "| gold:", one.task.target[0])
    for turn in one.turns:
        print("   ", turn.text.replace("\n", "; "))

# %% [markdown]
# ## The tasks of a batch
#
# One policy learns from both kinds: some tasks of every batch are sheets, the others flags. There are twenty
# search tasks in all, as in the paper; they come again and again.

# %%
sheets = load_tasks(data / "coding-train.jsonl")
questions = load_tasks(data / "search-train.jsonl")
n = steps * prompts_per_batch
looked_up = round(search_share * n)
mixture = [sheets[i % len(sheets)] for i in range(n - looked_up)]
mixture += [questions[i % len(questions)] for i in range(looked_up)]
print(n - looked_up, "sheets and", looked_up, "searches, in", steps, "batches")

# %% [markdown]
# ## What is paid
#
# Notebook 22 has the two rewards. Here the episode's is used: its tags, and the answer's F1. With
# `reward=em` only the exact answer counts; with `reward=steps` each step earns its own, as in the paper.
#
# One group of each kind, before training. Which of the episodes are pushed, which held back?

# %%
from kit.train.advantage import group_advantages

for task in (sheets[0], questions[0]):
    policy = HFPolicy(vlm, chat)
    group = play(policy, chat, tools, [task] * group_size, temperature, seed)
    rewards = torch.tensor([paid(e, e.task.target).total for e in group])
    advantages = group_advantages(rewards, group_size)
    print(task.question, "| gold:", task.target[0])
    for e, r, a in zip(group, rewards, advantages, strict=True):
        said = (e.answer or "")[:24]
        print(f"   {e.ended:7s} {len(e.turns)} turns  R {r:.2f}  A {a:+.2f}  {said}")

# %% [markdown]
# ## Training

# %%
settings = GRPOSettings(
    advantage=visual_arft.ADVANTAGES[reward],
    steps=steps,
    prompts_per_batch=prompts_per_batch,
    group_size=group_size,
    per_device_batch_size=per_device_batch_size,
    learning_rate=learning_rate,
    schedule="linear",  # TRL's default, which the paper's scripts leave
    temperature=temperature,
    beta=beta,
    freeze_vision=freeze_vision,
    lora_rank=lora_rank,
    save_every=10,
    seed=seed,
    rollout_engine=rollout_engine,
    vllm_server_url=vllm_server_url,
)
print(steps * prompts_per_batch * group_size, "episodes")

# %%
save_tasks(folder / "grpo" / "tasks.jsonl", mixture)
training = visual_arft.Training(
    start=start,
    tasks=str(folder / "grpo" / "tasks.jsonl"),
    run_dir=str(folder / "grpo"),
    play=play,
    settings=settings,
    reward=reward,
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
# ## What changed

# %%
rl = visual_arft.play_greedily(vlm, chat, tools, held_out, play)
save_stage(folder, "grpo", rl)
stages = {"untrained": untrained, "sft": taught, "grpo": rl}
print(table({name: evaluate(played) for name, played in stages.items()}))

# %%
for name, played in stages.items():
    ways = ", ".join(f"{way} {share:.0%}" for way, share in failures(played).items())
    print(f"{name:10s} {ways}")

# %% [markdown]
# Compare the last two columns, intervals and all, before you call anything a gain. The lessons have shown the whole
# protocol; what is left to be rewarded is mostly seeing: which figure stands there, which flag it is. Eight batches
# change little of that. (AGILE's lessons, notebook 12, are fewer, and there reinforcement learning does the work.)
#
# Where is it right, where not? Of each category of sheets, the share of answers that match and, where that can
# be told, of pictures that were mended:

# %%
from kit.papers.visual_arft.mat_coding import CATEGORIES
from kit.papers.visual_arft.metrics import outcomes

played = [o for o in outcomes(rl) if o.setting == "coding"]
print(f"{'':20s}  right  mended")
for category in CATEGORIES:
    some = [o for o in played if o.category == category]
    if some:
        right = np.mean([o.em for o in some])
        mended = [o.restored for o in some if o.restored is not None]
        told = f"{np.mean(mended):.2f}" if mended else "   -"
        print(f"{category:20s}   {right:.2f}    {told}")

# %%
best = [e for e in rl if e.answer in e.task.target]
hard = [e for e in best if e.task.meta["difficulty"] == "hard" and e.task.images]
chosen = (hard or best or rl)[-1]
earned = score(chosen, chosen.task.target)
display(view.show(chosen, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# ## Right for the right reason?
#
# A search can go wrong at the flag, at the snippet, or at the query. For each search the gold documents
# are known: was the flag found, and was the last document?


# %%
def found(episode, document):
    """Whether some search of the episode showed this document."""
    asked = [t.action.text for t in episode.turns if t.action]
    asked = [text for text in asked if text.strip(" ?!.,")]
    return any(
        s.source == document for text in asked for s in index.search(text, play.k)
    )


# %%
searches = [e for e in rl if e.task.meta.get("kind") == "flag"]
for label in ("simple", "hard"):
    some = [e for e in searches if e.task.meta["difficulty"] == label]
    flag = np.mean([found(e, e.task.meta["documents"][0]) for e in some])
    last = np.mean([found(e, e.task.meta["documents"][-1]) for e in some])
    right = np.mean([e.answer in e.task.target for e in some])
    print(f"{label:6s}  flag found {flag:.2f}, fact {last:.2f}, answered {right:.2f}")
box.close()

# %% [markdown]
# ## Paper / here / why different
#
# The table above has the paper's figures in round brackets. Its model knew the protocol from being told and
# most capitals by heart; ours had lessons, and knows nothing that it hasn't looked up. Its sheets are real
# documents, ours are drawn, from some fifty words. Whether the paper's five claims hold at this scale is
# the question of [24, claims](24_visual_arft_claims.ipynb).
