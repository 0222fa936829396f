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
# **The question.** After the cold start the agent knows two things to do: it can guess at once, or look first. Playing
# greedily it guesses (notebook 12). Now it plays puzzles by itself. After each one it is told a single
# number, and nobody says what it should have done. Will it find out that looking pays?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), section 3.3 (eq. 4–6) and Table 5:
# multi-turn [GRPO](../docs/glossary.md#grpo) with executed code. Table 1 has 22 % of the 2×2 puzzles solved after the
# cold start and 83 % after reinforcement learning, by a model two thousand times larger than ours.
#
# **Afterwards you can** say what a group is for; do one update of GRPO without a trainer and get the
# trainer's weights; read the training curves; and check whether an agent reads what it looks at, and does what it says.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 6 | 7 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 5 | not measured | 640 GB |
#
# Before this one: [12](12_agile_sft.ipynb), which made the model this one starts from;
# [03](03_grpo_by_hand.ipynb) works out one step on paper.
#
# **What is there to find out?** Nothing that imitation couldn't have told it: shown only looks, the tiny model solves about
# as many puzzles by imitation alone as it will after this notebook (notebooks 12 and 14 draw it). On a laptop six of ten
# demonstrations guess, and they do so on purpose. After imitating right episodes the paper's model still solved only one
# puzzle in five, and a reward had to do the rest; ours would have had nothing left to learn. So ours starts with both ways in
# it and plays the worse one. You know the better one; the agent doesn't. Whether one number after each puzzle is enough to
# find it is what you will see. That reinforcement gets *further* than good demonstrations you won't see here.
#
# The parameters you may want to change come first; from `prompt` on they belong to the profile.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 15
tag: str = ""  # to try another value: a name for it; data and SFT model are kept
seed: int = 0  # order of the puzzles and everything sampled
steps: int = 16  # rollout batches, each followed by one update
prompts_per_batch: int = 12  # puzzles a batch
group_size: int = 8  # episodes of one puzzle
learning_rate: float = 2.5e-5  # at its peak
temperature: float = 1.0  # of sampling
beta: float = 0.0  # weight of the KL term, which holds the policy near its start
deed: bool = False  # pay a right answer only if the pieces were put so, too
eval_puzzles: int = 24  # held-out puzzles a level
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
per_device_batch_size: int = 32  # episodes a forward pass, at most
schedule: str = "cosine"  # of the learning rate: cosine, linear, constant
freeze_vision: bool = True  # leave the vision tower alone
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 5  # turns an episode may have
on_no_action: str = "end"  # a turn without code or answer: end, or tell the agent
max_new_tokens: int = 80  # of one turn
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
from dataclasses import replace
from statistics import fmean

import torch
from IPython.display import display
from kit import view
from kit.data.store import load_tasks
from kit.evaluate.conduct import conduct
from kit.files import start_run
from kit.models import load_model
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.suppress import suppress_tokens
from kit.seeding import child_seed, seed_per_episode
from kit.train.advantage import group_advantages
from kit.train.checkpoint import schedule as order_of
from kit.train.grpo import GRPOSettings
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.view import plots
from papers.agile import experiment as agile
from papers.agile.env import JigsawEnv
from papers.agile.metrics import EVALUATION, evaluate, failures, summary
from papers.agile.reward import RewardConfig, is_right
from papers.registry import needs
from turn_sandbox import CONFINED, Sandbox
from workshop.exercises import check, hint, solution
from workshop.roadmap import GRPO_STEP, parts

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, needs("13_agile_grpo"), makes="grpo")
together = ProcessConfig.of(globals())
start = agile.trained(folder, "sft")
vlm, chat = load_model_and_chat(start)
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
play = agile.Play(
    prompt=prompt,
    on_no_action=on_no_action,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
    temperature=temperature,
    deed=deed,
)

# %% [markdown]
# ## What does a look earn?
#
# The reward is that of notebook 11 (eq. 6): 0.8 for a right answer, 0.2 for the form, which asks for some code, and −0.05
# for each turn of code. A wrong answer is charged all turns that an episode may have (`max_turns`). Four pieces have 24 orders. What does
# an agent earn on average that guesses at once? What does one earn that looks and is wrong all the same? Write both down.

# %% tags=["guess", "figure"]
paid = RewardConfig(step_max=max_turns)
lost = paid.step_penalty * max_turns
print(f"guess at once:       {paid.accuracy / 24 + lost * 23 / 24:+.3f} on average")
print(f"look once, wrong:    {paid.format + lost:+.3f}")
print(f"look once, right:    {paid.accuracy + paid.format + paid.step_penalty:+.3f}")

# %% [markdown]
# Look at the first two numbers again. A look pays even when it helps nothing, because the form asks for code. So an agent
# could learn to look and never to read. Keep this in mind: near the end you will test it.
#
# ## A group
#
# One step of GRPO has five parts. This section does the first three for one batch, the next section the others.

# %% tags=["figure"]
display(parts(GRPO_STEP, ["play", "score", "compare"], title="one step of GRPO"))

# %% [markdown]
# The [policy](../docs/glossary.md#policy) plays one puzzle `group_size` times. The episodes differ because turns
# are sampled: some look, some guess. Each gets a reward; its [advantage](../docs/glossary.md#advantage) says how much
# better it did than the others of its group (std by n − 1, as in 03):
#
# $$\hat{A}_i = \frac{R_i - \operatorname{mean}(R)}{\operatorname{std}(R)}$$
#
# This is the first batch, exactly as the trainer will play it: the same puzzles in the same order, the same seeds.

# %%
train = load_tasks(folder / "data" / "train.jsonl")
order = order_of(len(train), steps * prompts_per_batch, seed)
few = [train[i] for i in order[: min(prompts_per_batch, 12)]]  # 12 at most
tasks = [task for task in few for _ in range(group_size)]
seeds = seed_per_episode(child_seed(seed, 0), len(tasks))
batch = play(HFPolicy(vlm, chat), chat, box, tasks, seed=seeds)
batch_scores = [play.score(episode, episode.task.target) for episode in batch]
rewards = torch.tensor([s.total for s in batch_scores], dtype=torch.float64)
advantages = group_advantages(rewards, group_size)
print(
    len(batch), "episodes of", len(few), "puzzles; mean reward", f"{rewards.mean():.3f}"
)

# %% [markdown]
# Which of them looked, and what did the two kinds earn?

# %%
earned = {"looked": [], "no look": []}
for episode, reward in zip(batch, rewards.tolist(), strict=True):
    earned["looked" if episode.calls else "no look"].append(reward)
for kind, some in earned.items():
    mean = f"mean reward {fmean(some):+.3f}" if some else ""
    print(f"{kind:8s} {len(some):3d} of {len(batch)} episodes  {mean}")

# %% tags=["figure"]
blind = [one for one in EVALUATION.outcomes(batch) if not one.tool_calls]
whole = sum(one.reason in ("solved", "wrong") for one in blind)
print(f"of {len(blind)} answers without a look {whole} name each piece once,", end=" ")
print(sum(one.correct for one in blind), "are right")

# %% [markdown]
# The guesser that we computed first draws one of the 24 orders and earns −0.206. A model that was shown guesses may have
# learnt their form and not that each piece comes once. An answer that names a piece twice is never right: it earns −0.250.
#
# Now one group: the one in which looking made the greatest difference.


# %%
def lead(at: int) -> float:
    """How much more the episodes of a group earned that looked."""
    some = range(at, at + group_size)
    looked = [float(rewards[i]) for i in some if batch[i].calls]
    guessed = [float(rewards[i]) for i in some if not batch[i].calls]
    return fmean(looked) - fmean(guessed) if looked and guessed else -1.0


first = max(range(0, len(batch), group_size), key=lead)
chosen = slice(first, first + group_size)
group, scores, advantage = batch[chosen], batch_scores[chosen], advantages[chosen]
for episode, s, a in zip(group, scores, advantage.tolist(), strict=True):
    did = f"looked, {episode.calls} turn(s) of code" if episode.calls else "no look"
    print(f"{did:24s} {episode.ended:7s} R = {s.total:+.2f}  A = {a:+.2f}")

# %% [markdown]
# Every token that the policy wrote in an episode carries that episode's advantage: it is made likelier if the advantage is
# positive, less likely if it is negative. The environment's tokens carry none. Compare the best and the worst of the
# group, side by side. Which words will be pushed up, and which down?

# %% tags=["figure"]
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
# it teaches nothing. Suppose that all eight episodes guess, and all are wrong. Then nobody did better than anybody else.
# A cold start that never looks would give hardly any others; that is why ours shows both.
#
# **Exercise 13.1.** Which share of the groups of this batch is flat? Write it for any list of rewards, group after group.
# Rewards that differ by less than a millionth count as equal.


# %% tags=["exercise"]
def flat_share(rewards: list[float], group_size: int) -> float:
    """Share of the groups whose rewards are all equal."""
    ...


check("13.1", flat_share)

# %% [markdown]
# **Exercise 13.2.** A group can teach without a right answer in it: one episode ran code and is paid for its form, another
# isn't. Which share of *all* groups is of that kind, none of their episodes right and yet not flat? Try it on this batch,
# with `right = [is_right(e, e.task.target) for e in batch]`.


# %% tags=["exercise"]
def form_alone(rewards: list[float], right: list[bool], group_size: int) -> float:
    """Share of the groups that have advantages though no answer in them is right."""
    ...


check("13.2", form_alone)

# %% [markdown]
# ## One update by hand
#
# The fourth and the fifth part are left.

# %% tags=["figure"]
display(parts(GRPO_STEP, ["loss", "step"], title="one step of GRPO"))

# %% [markdown]
# The trainer below does much: it saves, resumes, divides work among processes. What it does to the weights fits into
# two cells. First the loss. The policy has only just played these episodes, N of them, so every ratio $\rho$ is 1 and
# nothing is clipped; what counts is the slope (notebook 03):
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
# Then the update: the batch goes through the model in parts ([micro-batches](../docs/glossary.md#micro-batch)), their
# gradients add up, a gradient longer than 1 is shortened to 1, and AdamW takes its step. Before and after it, sample
# one first turn for each held-out puzzle, and count those that look.


# %%
def looks_first(model) -> float:
    """Share of the held-out puzzles whose first turn, sampled, is code."""
    once = replace(play, max_turns=1)
    begun = once(HFPolicy(model, chat), chat, box, puzzles, seed=seed)
    return fmean(episode.calls > 0 for episode in begun)


held_out = load_tasks(folder / "data" / "eval-2x2.jsonl")
puzzles = agile.first_per_level(held_out, eval_puzzles)
looks_before = looks_first(vlm)

# %%
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
    kept = [p.detach().clone() for p in learns]
    adam.step()
    with torch.no_grad():
        most = max(
            float((p - old).abs().max()) for p, old in zip(learns, kept, strict=True)
        )
    print(f"gradient: length {length:.3f}; the weight that moved most moved {most:.2g}")
    print(f"(the learning rate is {learning_rate:g})")

# %% [markdown]
# One update, and in its first step AdamW moves no weight by more than the learning rate. How many of the held-out puzzles
# does it solve now, greedily? And in how many does it look, if its first turn is sampled? Write both guesses down, then
# open the output. (n counts puzzles, the [interval](../docs/glossary.md#confidence-interval) counts the photographs that
# they were cut from, as in notebook 12: with eight of them even none right reaches up to 0.369.)

# %% tags=["guess"]
sft = EVALUATION.load_stage(folder, "sft")
print("after SFT, greedy:                ", summary(sft))
print(f"           sampled, looks first:    {looks_before:.1%}")
if by_hand:
    once = agile.play_greedily(vlm, chat, box, puzzles, play)
    print("after one update by hand, greedy: ", summary(evaluate(once)))
    print(f"           sampled, looks first:    {looks_first(vlm):.1%}")
    mine = {name: value.clone() for name, value in vlm.state_dict().items()}

# %% [markdown]
# <details><summary>What can one small update do? Think first, then open.</summary>
#
# On average those that looked earned more than those of their group that didn't. So nearly all groups push the same few
# tokens the same way: "Look" up, "Guess" down. Many small pushes in one direction add up to a large one. Sampling shows it as
# a share that moves. Greedy play shows only which of the two beginnings is the likelier, so it doesn't move at all, or it
# jumps.
#
# If it has jumped, what is left for the other updates? Look at the sampled share: as long as the agent draws its words, it
# guesses wherever "Guess" is drawn. After the first update "Look" may be only just the likelier of the two; the further
# ones make it likelier still.
#
# </details>
#
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
# Models kept on the way: after the first step, and after an eighth, a quarter, half of
# the steps, which notebook 14 compares.
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
# Watch it: the bar moves with every turn, the curves with every step, and the newest episode stands below them. You can
# **interrupt** it (■ in the toolbar): it stops at a checkpoint, and the same cell goes on there. If you want to
# try another value instead, set `tag` in the parameters: the branch keeps the data and the SFT model, and
# `python -m kit view agile agile-TAG` compares both.

# %%
live = view.LiveTraining(folder / "grpo", is_right=is_right)
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# Is the trainer's first step the one you did by hand? It played the same episodes with the same seeds, in other
# micro-batches, so sums may differ in their last digits. On some seeds that makes one episode another, or moves a weight
# whose gradient is near 0 the other way; most of the way stays in common. (Steps that have nothing to do with each other
# would be 100 % apart.)

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
    assert apart <= 0.5 * moved

# %% [markdown]
# ## When did it begin to look?
#
# An episode is well-formed only if it used code and kept to the tags. So the share of well-formed episodes, the column
# `format`, tells how many looked and answered properly. Draw it beside the share of right answers. Which of the two rises
# first, and which ends higher? Guess.

# %% tags=["guess", "figure"]
seen = {
    "looked, in good form": "format",
    "right, sampled": "accuracy",
    "right, greedy, held out": "held_out_accuracy",
}
series = {}
for name, column in seen.items():
    known = [row for row in rows if column in row]
    if known:
        series[name] = [r["step"] for r in known], [r[column] for r in known]
figure = plots.lines(series, "step", "share", "looking, and being right")
figure.axes[0].set_ylim(-0.04, 1.04)
display(figure)

# %% [markdown]
# <details><summary>Which rises first, which ends higher? Guess first, then open.</summary>
#
# Of the two sampled curves looking rises sooner: by step 3 it has gone about two thirds of its way, right answers about one
# third. From step 6 on neither rises further. Looking ends higher, because not every look is read rightly. (So it is in the
# stored run. Is it in yours?)
#
# </details>
#
# The sampled curves are of what the training itself plays. The greedy one is measured on a few held-out puzzles before
# each step (of eight, one is an eighth); the likeliest token is right more often than a drawn one
# ([why they differ](../docs/surprises.md#accuracy-of-training-and-of-evaluation-disagree)). Where the greedy curve no
# longer moves, the sampled ones may still rise: it tells when two ways change places, they tell how far apart they are.
# The loss above stays near 0 and says nothing. Each look also costs a turn, and the reward charges turns: watch the panel
# "an episode's length" rise while the agent begins to look, and ask where it ends.
#
# The kit brings the curves of its published runs (`results/curves/`). Does yours lie among them? (With the same seed,
# code and machine it would repeat one of them; otherwise expect it within their spread.)

# %% tags=["figure"]
from kit.view.curves import over_published
from papers.published_curves import published_curves

over_published(rows, published_curves("agile", "grpo"))

# %% [markdown]
# **Exercise 13.3.** How soon is it done? From the rows of `metrics.jsonl`, find the first step whose greedy held-out
# accuracy (`held_out_accuracy`) is within 0.05 of the best one of the run. Rows without that column don't count.


# %% tags=["exercise"]
def first_good_step(rows: list[dict]) -> int:
    """The first step within 0.05 of the best held-out accuracy."""
    ...


check("13.3", first_good_step)

# %% [markdown]
# ## What changed
#
# The same held-out puzzles, played greedily before and after. In how many does the agent look now? How many does it
# solve, and what happened in the others? Guess all three.


# %% tags=["guess"]
def told(outcomes) -> str:
    """Puzzles solved, puzzles looked at, and turns an episode."""
    looked = fmean(outcome.tool_calls > 0 for outcome in outcomes)
    turns = fmean(outcome.turns for outcome in outcomes)
    solved = summary(EVALUATION.evaluate_outcomes(outcomes))
    return f"solved {solved}; looks in {looked:.0%}; {turns:.1f} turns"


rl = agile.play_greedily(vlm, chat, box, puzzles, play)
print("after SFT: ", told(EVALUATION.load_outcomes(folder, "sft")))
print("after GRPO:", told(EVALUATION.outcomes(rl)))
print("after GRPO:", conduct(rl))
print(
    "after GRPO: one look, then the answer, in",
    sum(e.calls == 1 for e in rl),
    "of them",
)
for reason, share in failures(rl).items():
    print(f"  after GRPO, {reason:24s} {share:6.1%}")

# %% [markdown]
# Read one that it solved, turn by turn. What did it say before it had looked, and what after?

# %% tags=["figure"]
right = [e for e in rl if is_right(e, e.task.target)]
solved = (right or rl)[0]
earned = play.score(solved, solved.task.target)
display(view.show(solved, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# ## Does it read what it looks at?
#
# The reward pays a look for its form alone (*What does a look earn?* said so). So an agent that looks needn't be one
# that reads. There is a test for it: let it play the same puzzles again, but show it what *another* episode saw, or grey
# squares. Its code still runs on its own pieces; only what it is shown differs. How many will it solve now? Guess.


# %% tags=["figure"]
from kit.evaluate.five.play import with_others
from kit.evaluate.five.shown import blank


def playing(tasks, around):
    """The trained agent, shown what ``around`` makes of its observations."""
    policy = HFPolicy(vlm, chat)
    return play(policy, chat, box, tasks, temperature=0.0, around=around)


# %% tags=["guess", "figure"]
shown = {
    "its own": rl,
    "another's": with_others(playing, rl),
    "grey": playing(puzzles, blank),
}
accuracy = {name: evaluate(some)["acc_2x2"] for name, some in shown.items()}
for name, share in accuracy.items():
    print(f"shown {name:10s} solved {share}")
guessing, title = ("guessing", 1 / 24), "solved, by what it was shown"
display(plots.bars({"agent": accuracy}, "share", guessing, title))

# %% [markdown]
# What can be right about an answer that was read off another's pictures? Those show another puzzle, and there are only 24
# orders, fewer still of one level: now and then the other puzzle has the *same* right order. The next cell counts how
# often. How many of the puzzles with another's pictures should an agent solve that says just what it sees?

# %% tags=["guess", "figure"]
from kit.evaluate.five.shown import observations, other_episodes

others = other_episodes(rl)
order_seen = {id(observations(e)[0]): e.task.target for e in rl if observations(e)}
alike = {"the same order": [], "another order": []}
for e in (one for one in shown["another's"] if one.task.id in others):
    same = order_seen[id(others[e.task.id][0])] == e.task.target
    alike["the same order" if same else "another order"].append(e)
found = {k: sum(is_right(e, e.task.target) for e in v) for k, v in alike.items()}
for what, some in alike.items():
    print(f"the other puzzle has {what:14s} {len(some):3d} times, solved {found[what]}")

# %% [markdown]
# The first row is coincidence: the agent reads the other's pictures, and what it reads happens to be right here. The second
# is what it can tell without its own pictures, from thumbnails or by guessing.
#
# The difference between the first bar and the second is the [observation gap](../docs/glossary.md#observation-gap): what
# the agent takes from its own observations. An agent without a gap has learnt to press a button. One whose gap is as
# large as its accuracy solves nothing that it hasn't seen for itself. Only a test like this tells the two apart for
# sure: where the thumbnails are enough to be right, both earn the same.
#
# ## Does it do what it says?
#
# Read the last words of a solved episode, then look at its last picture. An episode keeps texts and pictures, not the
# sandbox's variables. So the next cell runs its code once more and prints `state` at the end. In how many of the
# solved puzzles had the code really put the pieces where the answer says they belong? Guess.


# %% tags=["guess", "figure"]
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
# The paper's reward looks at the answer alone, and every turn costs. An agent that has looked once knows the order, so
# moving the pieces pays it nothing: answering at once would save 0.05 a turn. It needn't find that out (the cells above tell
# how many answer after a single look); it may go on as the expert did. It may keep the expert's words all the same ("Every
# place is right"), and what they report is no longer true. An agent's account of what it did is text that was rewarded, not a
# record.
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
# That reward needs to know where the pieces lie in the session's `state`, and an episode doesn't keep it. But each look
# shows the pieces in the order of their places, and each piece bears its name.
#
# **Exercise 13.5.** `shown` has the names of the images of each observation, such as
# `[["Image B", "Image A", "Image C", "Image D"], ["crop_image_1"]]`. Which order did the agent see last? A look counts
# if it shows each of `labels` once. If there was no such look, return None.


# %% tags=["exercise"]
def last_seen(shown: list[list[str]], labels: list[str]) -> list[str] | None:
    """The labels in the order of the places, as they were seen last."""
    ...


check("13.5", last_seen)

# %% [markdown]
# The kit's reward does both with `deed=True`. Train with it and compare the turns of both agents:
# `python -m kit run 13 --name agile --tag deed --set deed=true`, then `python -m kit view agile agile-deed`. Before you
# do: will the new agent have more turns, or fewer? And how could it be paid without having moved a piece? (It may look at
# a list of its own: `observation(["C", "A", "B", "D"])`.)
#
# ## Paper / here / why different

# %%
from papers.agile.reported import AGILE

last = f"grpo-{steps * prompts_per_batch:05d}"  # all puzzles; notebook 14 compares
for stage in ("grpo", last):
    EVALUATION.save_stage(folder, stage, rl)
for done in budgets:
    halfway, _ = load_model_and_chat(folder / "grpo" / f"model-{done}")
    episodes = agile.play_greedily(halfway, chat, box, puzzles, play)
    EVALUATION.save_stage(folder, f"grpo-{done * prompts_per_batch:05d}", episodes)
for stage, here in (("sft", sft), ("grpo", evaluate(rl))):
    paper = AGILE[stage]["acc_2x2"]
    print(f"after {stage.upper()}: paper {paper:.3f}, here {summary(here)}")
box.close()

# %% [markdown]
# On the laptop these three differences matter most (notebook 11 names more); the reward is the same. First, what is seen:
# the paper's model sees full pieces from the start, and what its code returns is the picture put together; ours sees
# thumbnails, and its code brings the pieces at their full size. Second, the cold start: the paper's keeps right episodes
# only; ours was made undecided, so that there is something to find out (notebook 12 shows what other shares of guesses
# do). Third, the model: ours could read full pieces before any training, and what reinforcement taught it is to go and get
# them. The paper claims more for its own: that perception and reasoning improved (section 4.2).
#
# ## What you have seen
#
# Told a single number after each puzzle, does it find out that looking pays?

# %% tags=["figure"]
from IPython.display import Markdown
from papers.contrasts import in_words

first, last = EVALUATION.load_outcomes(folder, "sft"), EVALUATION.outcomes(rl)
swapped = EVALUATION.outcomes(shown["another's"])
looked = [fmean(o.tool_calls > 0 for o in some) for some in (first, last)]
verdict = "It does" if looked[1] > looked[0] else "It doesn't"

# %% tags=["figure"]
greedy = [row["held_out_accuracy"] for row in rows if "held_out_accuracy" in row]
formed = [row["format"] for row in rows]
soon, rest = "Greedy play wasn't measured on the way", ""
if len(greedy) > 2:
    soon = (
        f"Greedily it solved {greedy[0]:.2f} of a few held-out puzzles before the first"
    )
    soon += f" update, {greedy[1]:.2f} after one, {greedy[2]:.2f} after two and"
    soon += f" {greedy[-1]:.2f} before the last of {steps}"
    at_once = greedy[2] - greedy[0] > 0.05 and greedy[-1] - greedy[2] <= 0.05
    if at_once and formed[-1] - formed[2] > 0.05:
        rest = " By then the two ways had changed places; the other updates made"
        rest += " looking likelier still, which shows where words are drawn."

# %% tags=["figure"]
display(
    Markdown(f"""
- **{verdict}**: before the training it looked in {looked[0]:.0%} of the held-out
  puzzles,
  after it in {looked[1]:.0%}. The share of puzzles that it solves is
  {in_words(first, last)}.
- How soon? {soon}.{rest} Sampled, it
  looked and answered in good form in {formed[0]:.2f} of the first batch's episodes and
  in {formed[-1]:.2f} of the last one's.
- Does it read what it sees? Where it is shown what another episode saw, that share is
  {in_words(last, swapped)}: it solves {found["the same order"]} of
  {len(alike["the same order"])} puzzles whose right order is the other's by chance, and
  {found["another order"]} of the {len(alike["another order"])} others.
- What it says isn't a record of what it did: of {len(right)} right answers its code had
  put the pieces so in {len(made)}.
""")
)

# %% [markdown]
# Next: [14](14_agile_claims.ipynb), which asks what of the paper's claims holds over several trainings, and
# [15](15_agile_general.ipynb), which asks what the training did to everything else that the model could.
