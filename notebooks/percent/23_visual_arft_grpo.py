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
# lines. It has never repaired a picture or looked anything up. What does it learn from a reward for the right answer?
#
# **The paper.** [Visual-ARFT, arXiv:2505.14246](https://arxiv.org/abs/2505.14246), section 3 (the reward) and
# section 5 (training): [GRPO](../docs/glossary.md#grpo), 8 rollouts a task, for coding and for searching.
#
# **Afterwards you can** train one policy on two kinds of tasks with two kinds of tools; say what one update does to
# each kind; say whether the agent restored a picture or answered without; tell a wrong query from a misread snippet.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 15 | 6 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the released scripts' values | not measured | 640 GB |
#
# Before this one: 21, which made the tasks; 22 took the reward apart; 03 does one step of GRPO by hand.

# %% tags=["parameters"]
run: str = "visual_arft"  # run directory under runs/, shared by notebooks 21 to 24
tag: str = ""  # to try another value: a name for it; the data are kept
seed: int = 0  # order of the tasks and everything sampled
model: str = ""  # the checkpoint to start from; empty: the committed tiny model
epochs: float = 2.0  # passes over the expert's episodes; paper: 0
gives_up: float = 0.4  # share of them in which it doesn't act at all
reward: str = "f1"  # f1 or em of the answer; steps (paper) or steps_em: each for itself
code_reward: str = "ran"  # of steps: ran: code that ran earns; any: any block (paper)
steps: int = 16  # rollout batches
prompts_per_batch: int = 12  # tasks a batch
search_share: float = 0.25  # of them, search tasks
group_size: int = 8  # rollouts of one task
per_device_batch_size: int = 16  # episodes a forward pass, at most
learning_rate: float = 1e-4  # at its peak
temperature: float = 1.0  # of sampling
beta: float = 0.0  # weight of the KL term, which holds the policy near its start
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 5  # turns an episode may have
max_new_tokens: int = 80  # of one turn
held_out_tasks: int = 6  # held-out tasks of each kind played before each step; 0: none
by_hand: bool = True  # do the first update here as well; needs room for all weights
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
rollout_engine: str = "transformers"  # or vLLM: colocate (same GPUs), server
vllm_server_url: str = ""  # that server's address, http://host:port
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
import inspect

import numpy as np
import torch
from IPython.display import Code, display
from kit import view
from kit.data.store import load_episodes, load_tasks, save_episodes, save_tasks
from kit.evaluate.conduct import conduct
from kit.files import start_run
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.train.experiment import in_parts
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.one_step import grpo_gradient, grpo_loss, token_logprobs
from kit.train.sft import SFTSettings, SFTTraining
from papers.registry import needs
from papers.visual_arft import experiment as visual_arft
from papers.visual_arft.metrics import (
    evaluate,
    failures,
    is_right,
    save_stage,
    table,
)
from papers.visual_arft.reward import ADVANTAGES, make_reward, score
from tiny import TINY
from turn_sandbox import CONFINED, Sandbox
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, needs("23_visual_arft_grpo"), makes="grpo")
start = str(model or TINY)
vlm, chat = load_model_and_chat(start)
together = ProcessConfig.of(globals())
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
data = folder / "data"
paid = make_reward(reward, code_reward)
play = visual_arft.Play.kept(
    data,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
    temperature=temperature,
)
index = visual_arft.search_engine(play.search)
tools = visual_arft.Tools(box, index)
sets = visual_arft.test_sets(data)
held_out = [t for path in sets.values() for t in load_tasks(path)]
print(len(held_out), "tasks to be measured by:", *(path.stem for path in sets.values()))

# %% [markdown]
# ## Before anything
#
# By itself notebook 21 makes 200 tasks to be measured by; the published runs are made with 500, and so is the run of which
# outputs are stored here (the line above counts them). The model is told its tools and plays. It was never shown a tag. What will it say to a picture, a question, and a
# system text that explains the tools? Guess, then open the output.

# %% tags=["guess"]
untrained = visual_arft.play_greedily(vlm, chat, tools, held_out, play)
save_stage(folder, "untrained", untrained)
for kind in ("code", "search"):
    first = next(e for e in untrained if e.task.meta["tools"] == [kind])
    print(f"{kind:6s} {first.turns[0].text[:76]!r}")
print(failures(untrained))
print("the base:", conduct(untrained))

# %% [markdown]
# It writes no tag that can be acted on: it describes what it sees, as it was taught to. The reward would be zero for nearly every
# episode, nearly every group would be [flat](../docs/glossary.md#flat-group), and GRPO would learn next to nothing.
#
# ## Demonstrations
#
# The expert's episodes, from notebook 21: sheets to read, and searches in an invented world. The model is shown only
# those that earn the full reward. Two of them:

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
# Before each search stands the question that it is to answer, with what was found so far put into it; the turn that reads a
# sheet repeats its question, too. A large model remembers what it was asked three turns ago; this one doesn't.
#
# Four in ten of them, of every kind, are exchanged for one turn that gives up: "I can't tell", unknown. So the model learns
# how to act, and not *that* it should: the start is [undecided](../docs/glossary.md#cold-start), and whether acting pays is
# left for reinforcement to find out. With `gives_up=0` the expert acts wherever there is something to do; then imitation
# alone does nearly all, and reinforcement adds nothing to it: from that start F1 in coding fell a little in the mean of three
# trainings ([24](24_visual_arft_claims.ipynb) draws Simple sheets, as *as the expert plays*).

# %%
from papers.visual_arft.expert import undecided


def by_script(script, tasks):
    """Let a script play tasks, some at a time."""
    shows = ScriptedPolicy(chat, script)
    return in_parts(tasks, lambda t: play(shows, chat, tools, t, temperature=0.0))


# %%
live = view.LiveTraining()
if epochs:
    settings = SFTSettings.of(
        globals(),
        batch_size=8,
        replay=0,
        per_device_batch_size=max(1, per_device_batch_size // 4),  # all turns learn
        learning_rate=6e-4,
    )
    shown_to = folder / "sft" / "episodes.jsonl"
    save_episodes(shown_to, undecided(sound, gives_up, by_script))
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
# number, and find the first turn that goes wrong in each.

# %% tags=["figure"]
for kind in ("code", "search"):
    one = next(e for e in taught if e.task.meta["tools"] == [kind])
    print(one.task.question, "| gold:", one.task.target[0])
    for turn in one.turns:
        print("   ", turn.text.replace("\n", "; "))

# %% [markdown]
# <details><summary>Which turns they are in the run stored here</summary>
#
# On the sheet it is the only turn, which gives up without a look. For the flag it is the first one, whose search leaves out
# a band: Guinea's are red, yellow and green.
#
# </details>
#
# ## The tasks of a batch
#
# One policy learns from both kinds: some tasks of every batch are sheets, the others flags. There are twenty
# search tasks in all, as in the paper, so each of them comes several times.
#
# **Exercise 23.1.** How often does each search task come, on average? Write it from the parameters.


# %% tags=["exercise"]
def repeats(steps: int, prompts_per_batch: int, share: float, tasks: int) -> float:
    """How often each of the search tasks is played, group by group."""
    ...


check("23.1", repeats)

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
# Notebook 22 has the two rewards. Here the episode's is used: 1 if all of its turns keep to the tags and it answers, if only
# "unknown" (*the form's 1*), plus the answer's F1. With
# `reward=em` only the exact answer counts; with `reward=steps` each step earns its own, as in the paper, and with
# `code_reward=any` any block of code earns, also one that fails: the paper's rule to the letter.
#
# One group of each kind, before training. Episodes with a positive advantage A become likelier, the others less likely.

# %% tags=["figure"]
from kit.train.advantage import group_advantages

policy = HFPolicy(vlm, chat)
groups, credits = {}, {}
for kind, task in (("sheet", sheets[0]), ("search", questions[0])):
    groups[kind] = play(policy, chat, tools, [task] * group_size, seed=seed)
    rewards = torch.tensor([paid(e, e.task.target).total for e in groups[kind]])
    credits[kind] = group_advantages(rewards, group_size)
    print(task.question, "| gold:", task.target[0])
    for e, r, a in zip(groups[kind], rewards, credits[kind], strict=True):
        said = (e.answer or "")[:24]
        print(f"   {e.ended:7s} turns {len(e.turns)}  R {r:.2f}  A {a:+.2f}  {said}")

# %% [markdown]
# ## One update by hand
#
# Notebook 13 wrote the loss of GRPO line by line. It is in the kit as well, and a test holds it to the trainer's:

# %% tags=["figure"]
source = "\n\n".join(map(inspect.getsource, (token_logprobs, grpo_loss, grpo_gradient)))
display(Code(source, language="python"))

# %% [markdown]
# One update on both groups at once. Does the same update make the good episodes of *both* kinds likelier? The next cell
# prints the log-probability of the best and the worst episode of each group, before and after. Guess first: which
# numbers rise, and which fall? (An episode's log-probability is the sum over the tokens that the policy wrote.)

# %% tags=["figure"]
from kit.policy.suppress import suppress_tokens
from kit.train.pack import pack


@torch.no_grad()
def likelihood(episodes) -> torch.Tensor:
    """Log-probability of each episode's own tokens, added up."""
    packed = pack(episodes, chat).to(vlm.device)
    with suppress_tokens(vlm, chat.suppressed_ids):
        return (token_logprobs(vlm, packed, temperature) * packed.loss_mask).sum(dim=1)


# %% tags=["guess", "figure"]
if by_hand:
    before = {kind: likelihood(group) for kind, group in groups.items()}
    everyone = [e for group in groups.values() for e in group]
    adam = torch.optim.AdamW(vlm.parameters(), learning_rate, weight_decay=0.0)
    credit = torch.cat(list(credits.values()))
    grpo_gradient(vlm, chat, everyone, credit, per_device_batch_size, temperature)
    torch.nn.utils.clip_grad_norm_(vlm.parameters(), 1.0)
    adam.step()
    for kind, group in groups.items():
        after, A = likelihood(group), credits[kind]
        for name, k in (("best", int(A.argmax())), ("worst", int(A.argmin()))):
            change = f"{before[kind][k]:7.2f} → {after[k]:7.2f}"
            print(f"{kind:6s} {name:5s} A {A[k]:+.2f}  log-probability {change}")

# %% [markdown]
# Look at what the *best* of the search group is. If no answer in it earned more than the form's 1, as in the run stored
# here, every episode that kept its form is pushed alike, those that gave up and those that searched and answered wrongly.
# (The cell prints the first of them, which gave up.)
#
# A flat group (all A equal 0) pushes nothing; what moves there is moved by the other group. And where two
# episodes share most of their words, raising one raises the other, and lowering one lowers the other: even the best
# episode of a group can become less likely. What counts is the difference between best and worst.
#
# **Exercise 23.2.** After an update, the best episode went from −4.0 to −3.4 and the worst from −6.0 to −5.9.
# By which factor did the *odds* of the best against the worst change?

# %% tags=["exercise"]
answer = ...  # a number; above 1: the best gained
check("23.2", answer)

# %% [markdown]
# ## Training

# %%
settings = GRPOSettings.of(
    globals(),
    advantage=ADVANTAGES[reward],
    schedule="linear",  # TRL's default, which the paper's scripts leave
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
    code=code_reward,
    held_out=visual_arft.watched_sets(data),
    held_out_tasks=held_out_tasks,
    threads=threads,
    allow_unsafe=allow_unsafe,
)
vlm = policy = adam = None  # room for the training, which loads its own

# %% [markdown]
# Watch it, and interrupt it if you like: it stops at a checkpoint, and the same cell goes on there. To try another
# value, set `tag` in the parameters: the branch keeps the data.

# %%
live = view.LiveTraining(folder / "grpo", is_right=is_right)
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# The kit brings the curves of its published runs (`results/curves/`). Does yours lie among them? (The run stored here is the
# first of them, trained once more on another machine: it ends elsewhere.) Look at the published ones first: where do they
# begin, how many steps do they have? Curves of another start or length are no measure of yours.

# %% tags=["figure"]
from kit.train.metrics import read_metrics
from kit.view.curves import over_published
from papers.published_curves import published_curves

tried = "em" if reward == "em" else ""  # published as runs of their own
rows = read_metrics(folder / "grpo" / "metrics.jsonl")
before = published_curves("visual_arft", "grpo", tried)
lasted = sorted({some[-1]["step"] for some in before.values()})
print("steps: this run", rows[-1]["step"], "| published", *lasted)
for name, some in {"this run": rows, **before}.items():
    watched = [row["held_out_accuracy"] for row in some if "held_out_accuracy" in row]
    first_last = f"{watched[0]:.2f} → {watched[-1]:.2f}" if watched else "not watched"
    print(f"{name:14s} held-out accuracy, first and last: {first_last}")
over_published(rows, before)

# %% [markdown]
# Held-out tasks are few (six sheets and six searches of the test, no text; one right answer is 0.08) and counted together, so
# their curve says little: in the run stored here it goes from one right answer of twelve to none, while by the tables below
# F1 doubles in coding and is nearly lost in search. Its reward hardly rises either: it is of sampled episodes, sheets and
# searches together, while the tables are of greedy ones, each kind apart. Greedy play turns a small shift between "act" and
# "give up" into a leap; how much of the gain sampled play would show isn't measured here. If the curve falls while the reward
# rises, a kind of task may have been given up for another, which the next tables tell apart.
#
# ## What changed

# %%
rl = visual_arft.play_greedily(vlm, chat, tools, held_out, play)
save_stage(folder, "grpo", rl)
stages = {"untrained": untrained, "sft": taught, "grpo": rl}
print(table({name: evaluate(played) for name, played in stages.items()}))

# %% tags=["figure"]
for name, played in stages.items():
    ways = ", ".join(f"{way} {share:.0%}" for way, share in failures(played).items())
    print(f"{name:10s} {ways}\n{'':10s} {conduct(played)}")

# %% [markdown]
# Compare the last two columns with their intervals before you call anything a gain. The demonstrations showed the whole
# protocol, and left open whether to act. What the reward changes most is therefore how often the model acts; which
# number stands there and which flag it is are questions of seeing, and a few batches change little of that.
#
# Where does it act? An answer that gives up earns the form's 1 for sure. A search that loses its form on the way earns
# nothing, and one that ends in a wrong answer no more than giving up. So a kind of task in which acting seldom pays can be
# unlearnt, although each success there earns more.

# %% tags=["figure"]
from kit.view import plots
from papers.visual_arft.metrics import outcomes

ends = {"after SFT": outcomes(taught), "after GRPO": outcomes(rl)}
acts = {name: {} for name in ends}
for name, some in ends.items():
    for setting in dict.fromkeys(o.setting for o in some):
        acting = [o.tool_calls > 0 for o in some if o.setting == setting]
        acts[name][setting] = float(np.mean(acting))
title = "share of episodes that use a tool"
display(plots.bars(acts, "share", title=title))
for setting in acts["after SFT"]:
    f1 = [
        np.mean([o.f1 for o in some if o.setting == setting]) for some in ends.values()
    ]
    used = [acts[name][setting] for name in ends]
    told = f"{used[0]:.2f} → {used[1]:.2f}, F1 {f1[0]:.2f} → {f1[1]:.2f}"
    print(f"{setting:7s} uses a tool {told}")

# %% [markdown]
# Reinforcement had no question of text alone, and the demonstrations had such questions about one fact only (one is printed
# above), not about two as in the test: how often it searches for them follows from what it learnt elsewhere. One set of
# weights serves all three kinds, so that what is reinforced in one of them moves the others, up or down (the run stored here
# gained 0.05 in text, five others 0.02 in the mean: one run's transfer is no finding): did yours give up one kind for
# another?
#
# Of each category of sheets, the number, the share of answers that match and, where that can be told, of pictures that
# were restored. Is an undamaged sheet (*none*) always read? (In the run stored here it isn't, and no more often than some
# damaged ones: reading fails also where nothing has to be repaired.) A category has few sheets, so one more of them moves
# its share far:

# %% tags=["figure"]
from papers.visual_arft.mat_coding import CATEGORIES

played = [o for o in outcomes(rl) if o.setting == "coding"]
print(f"{'':20s}   n   right  restored")
others = sorted({o.category for o in played} - {*CATEGORIES})  # the benchmark's own
for category in (*CATEGORIES, *others):
    some = [o for o in played if o.category == category]
    if some:
        right = np.mean([o.correct for o in some])
        restored = [o.restored for o in some if o.restored is not None]
        told = f"{np.mean(restored):.2f}" if restored else "   -"
        print(f"{category:20s} {len(some):3d}    {right:.2f}    {told}")

# %% tags=["figure"]
best = [e for e in rl if e.answer in e.task.target]
hard = [e for e in best if e.task.meta["difficulty"] == "hard" and e.task.images]
chosen = (hard or best or rl)[-1]
earned = score(chosen, chosen.task.target)
display(view.show(chosen, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# ## Right for the right reason?
#
# A search can go wrong at the flag, at the query, or at the snippet. For each question the gold documents
# are known. Of all questions, those that it never searched for included: for which share was the flag's document found,
# for which the last document, and how many were answered rightly? Guess the order of the three shares for hard questions, which need two facts, after the cold start and after
# reinforcement. Where it no longer searches, there is nothing left to sort: the cold start's searches show it then.


# %% tags=["figure"]
def found(episode, document):
    """Whether some search of the episode showed this document."""
    answered = [
        t for t in episode.turns if t.observation and t.observation.status == "ok"
    ]
    asked = [
        turn.action.text for turn in answered
    ]  # a query without a word was refused
    return any(
        s.source == document for text in asked for s in index.search(text, play.k)
    )


# %% tags=["guess", "figure"]
for name, episodes in (("after SFT", taught), ("after GRPO", rl)):
    searches = [e for e in episodes if e.task.meta.get("kind") == "flag"]
    asking = sum(
        any(t.action and t.action.name == "search" for t in e.turns) for e in searches
    )
    if searches:  # on the web no document is known
        print(f"{name}: {asking} of {len(searches)} searched for something")
    for label in ("simple", "hard") if searches else ():
        some = [e for e in searches if e.task.meta["difficulty"] == label]
        flag = np.mean([found(e, e.task.meta["documents"][0]) for e in some])
        last = np.mean([found(e, e.task.meta["documents"][-1]) for e in some])
        right = np.mean([e.answer in e.task.target for e in some])
        print(
            f"  {label:6s}  flag found {flag:.2f}, fact {last:.2f}, right {right:.2f}"
        )
box.close()

# %% [markdown]
# Between the first share and the second a later query was wrong, between the second and the third a snippet was misread. In
# the run stored here most is lost before that, at the flag.
#
# **Exercise 23.3.** An agent can be right without having looked. Write the share of right answers that were *earned*: right,
# and the document with the answer had been found. (0 if no answer is right.)


# %% tags=["exercise"]
def earned_share(right: list[bool], document_found: list[bool]) -> float:
    """Of the right answers, the share whose document was found."""
    ...


check("23.3", earned_share)

# %% [markdown]
# ## Paper / here / why different
#
# The table above has the paper's figures in round brackets. Its model learnt the protocol from the prompt and knew
# most capitals already; ours had demonstrations, and knows nothing that it hasn't looked up. Its sheets are real
# documents; ours are drawn, from some fifty words.
#
# ## What you have seen
#
# What does a model that never repaired a picture or looked anything up learn from a reward for the right answer?

# %% tags=["figure"]
from IPython.display import Markdown
from papers.contrasts import in_words


def changed(setting: str) -> str:
    """How F1 and the use of tools change from SFT to GRPO in one kind of task."""
    before, after = (
        [o for o in some if o.setting == setting] for some in ends.values()
    )
    first, last = (f"{acts[name][setting]:.0%}" for name in ends)
    acting = f"it acts in {last} of the episodes, before in {first}"
    return f"F1 is {in_words(before, after, 'f1')}; {acting}"


restored = [[o for o in some if o.restored is not None] for some in ends.values()]
lucky = sum(o.correct and not o.restored for o in restored[-1])
right = sum(o.correct for o in restored[-1])

# %% tags=["figure"]
display(
    Markdown(f"""
- **Coding**: from the cold start to reinforcement {changed("coding")}.
- **Search**: {changed("search")}. Text, of which reinforcement had none: {changed("text")}.
- Of pictures with one distortion the share that it restores is
  {in_words(*restored, "restored") if all(restored) else "not known here"}. Of its
  {right} right answers to them {lucky} came without a restored picture.
""")
)

# %% [markdown]
# Next: [24](24_visual_arft_claims.ipynb), which asks whether the paper's five claims hold over several trainings.
