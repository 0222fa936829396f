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
# # 12 · AGILE: the cold start
#
# **The question.** An expert shows a small model how to play: sometimes it looks first, more often it guesses. What does
# the model take from that, and what is left for reinforcement to find out?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), sections 3.2 and 3.3 and Table 4:
# supervised fine-tuning ([SFT](../docs/glossary.md#sft)) on 1.6K episodes of an expert, before reinforcement
# learning on 15.6K pictures. Figure 2b of the paper shows how such episodes are collected; ours come from notebook 11.
#
# **Afterwards you can** say what SFT minimises and on which tokens; do one update of it without a trainer; say why a model
# that was shown both ways takes the more frequent one; and say what a cold start must leave open for
# reinforcement to have something to do.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores, a process on each, tiny model | 2 | 4 GB |
# | `gpu` | one 24 GB GPU, Qwen2.5-VL-3B with LoRA | not measured | 24 GB |
# | `node` | 8 × 80 GB, Qwen2.5-VL-7B, the paper's Table 4 | not measured | 640 GB |
#
# Before this one: [11](11_agile.ipynb), which wrote the puzzles and the expert's episodes.

# %% tags=["parameters"]
run: str = "agile"  # run directory under runs/, shared by notebooks 11 to 15
tag: str = ""  # to try another value: a name for it; the data are kept
seed: int = 0  # order of the episodes
model: str = ""  # checkpoint folder or hub id; empty: the committed tiny model
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)
sft_episodes: int = 160  # expert episodes to imitate
few_episodes: int = 32  # of a second cold start, which is too small
epochs: float = 2.0  # passes over them; paper: 2
batch_size: int = 4  # episodes an optimizer step
replay: int = 0  # the model's own answers, replayed beside each batch; paper: 0
per_device_batch_size: int = 4  # episodes a forward pass, at most
learning_rate: float = 3e-4  # at its peak
warmup: float = 0.1  # share of the steps before the peak, as in the paper
max_tokens: int = 16384  # of the longest episode that is accepted, as in the paper
freeze_vision: bool = True  # leave the vision tower alone, as the paper does
lora_rank: int = 0  # rank of small added matrices that learn alone; 0: all weights
max_turns: int = 5  # turns an episode may have when playing
on_no_action: str = "end"  # a turn without code or answer: end, or tell the agent
max_new_tokens: int = 80  # of one turn when playing
eval_puzzles: int = 24  # held-out puzzles a level
by_hand: bool = True  # do one update here as well; needs room for all weights
num_processes: int = 0  # processes that train together; 0: one for each core
strategy: str = "ddp"  # what is divided among them: ddp, zero2, zero3, fsdp2
hostfile: str = ""  # file that lists the machines that take part; empty: this one
threads: int = 1  # CPU threads of a process
allow_unsafe: bool = True  # the tiny model's code may run where nothing confines it

# %%
from dataclasses import replace

import torch
from IPython.display import display
from kit import view
from kit.data.store import load_episodes, load_tasks, save_episodes
from kit.evaluate.baselines import opened
from kit.evaluate.conduct import conduct
from kit.files import start_run
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.suppress import suppress_tokens
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.replay import own_words
from kit.train.sft import SFTSettings, SFTTraining, order
from kit.view import plots
from papers.agile import direct
from papers.agile import experiment as agile
from papers.agile.metrics import evaluate, failures, random_baseline, summary
from papers.agile.reward import is_right
from papers.registry import needs
from tiny import TINY
from turn_sandbox import CONFINED, Sandbox
from workshop.exercises import check, hint, solution

# %%
torch.set_num_threads(threads)
folder = start_run(run, tag, needs("12_agile_sft"), makes="sft")
start, together = str(model or TINY), ProcessConfig.of(globals())
vlm, chat = load_model_and_chat(start)
box = Sandbox(require=CONFINED, allow_unsafe=allow_unsafe).start()
play = agile.Play(
    prompt=prompt,
    on_no_action=on_no_action,
    max_turns=max_turns,
    max_new_tokens=max_new_tokens,
)

# %% [markdown]
# ## What the model does before anyone shows it
#
# It has never acted. Guess what it does with the agent's prompt, then open the output.

# %% tags=["guess"]
held_out = load_tasks(folder / "data" / "eval-2x2.jsonl")
puzzles = agile.first_per_level(held_out, eval_puzzles)
untrained = agile.play_greedily(vlm, chat, box, puzzles, play)
print("it says:  ", repr(untrained[0].turns[0].text[:70]))
print("it ends by", untrained[0].ended)
print("accuracy: ", summary(evaluate(untrained)), end=" ")
print("of", len({task.meta["source"] for task in puzzles}), "photographs")
print("the base: ", conduct(untrained))

# %% [markdown]
# How to read the accuracy: behind it stands its [interval](../docs/glossary.md#confidence-interval), where the true share
# may lie. n counts puzzles, but the interval counts *photographs*: crops of one photograph go together, and the kit has
# eight that are held out. None right of eight reaches up to $1 - 0.025^{1/8} = 0.369$, into however many puzzles they are
# cut: on a ninth photograph the model might do better. So the zero is certain for these puzzles, and says little of others.
#
# It writes no tag. The environment can't act on that, so the episode is over after one turn, and every episode
# earns the same: reinforcement learning would have nothing to compare. The paper's 7B model has a milder form
# of this (section 3.2): it follows instructions poorly and writes code that doesn't work, which disturbs the
# training, so that reinforcement learning alone is possible but learns inefficiently.
#
# ## What it sees
#
# A zero of the form says nothing about the eyes. So ask the same model the question it was pretrained on, in one turn and
# without tags: where does each piece belong, in which order? Ask twice. First show what the agent is shown at the beginning,
# then the full pieces (`opened`). How many of the puzzles does it solve each time? A guesser solves 1 of 24.

# %% tags=["guess"]
asked = {"what the prompt shows": puzzles, "full pieces": [opened(t) for t in puzzles]}
told = {name: direct.ask(vlm, chat, tasks, play) for name, tasks in asked.items()}
for name, replies in told.items():
    print(f"{name:22s}", summary(evaluate(replies)))
solved = {name: evaluate(replies)["acc_2x2"] for name, replies in told.items()}
chance = ("a guess", random_baseline(2)["acc"])
display(plots.bars({"asked directly": solved}, "share solved", chance))

# %% [markdown]
# These two numbers frame all that follows. (Notebook 11 printed others, of the published runs, each with puzzles of its
# own: so much do the crops of eight photographs differ from run to run.) The second is the *ceiling*: what our agent
# could reach if it looked at everything and understood all that it saw. The first is what it has if it doesn't look.
# Acting can win the difference. (The paper's base has no such gap, as far as we know: it sees full pieces from the
# beginning and solves 9.5 %, Table 1.)
#
# ## What the expert does
#
# Two things, as notebook 11 made it. Some of its episodes look: only the expert's own tokens (tinted) will be learnt
# from. What the environment wrote is context.

# %%
episodes = load_episodes(folder / "data" / "coldstart.jsonl")[:sft_episodes]
looking = [episode for episode in episodes if episode.calls]
shortest = min(looking or episodes, key=lambda e: len(e.ids))
earned = play.score(shortest, shortest.task.target)
display(view.show(shortest, score=earned, chat=chat, is_right=is_right))

# %% [markdown]
# The others guess. Here are some of them, and whether they are right:

# %% tags=["figure"]
guessing = [episode for episode in episodes if not episode.calls]
for episode in guessing[:4]:
    print(episode.turns[0].text, "| right:", is_right(episode, episode.task.target))
print(len(looking), "demonstrations look first,", len(guessing), "guess at once")

# %% [markdown]
# ## What SFT minimises
#
# $$\mathcal{L}(\theta) = -\frac{1}{\sum_t I_t} \sum_t I_t \log \pi_\theta(y_t \mid y_{<t}), \qquad
# I_t = 1 \text{ where the expert wrote token } t$$
#
# The mask $I_t$ is `Episode.mask`: 1 on a token that the expert wrote, 0 on one of the environment.
#
# **Exercise 12.1.** Write that sum for one episode. You get the log-probability of each token and the mask.


# %% tags=["exercise"]
def sft_loss(logprobs: list[float], mask: list[int]) -> float:
    """Mean negative log-probability of the expert's tokens."""
    ...


check("12.1", sft_loss)

# %% [markdown]
# ## Does it unlearn to see?
#
# Learning to act changes the weights that it sees with. After the training the model is asked once more for the order of
# full pieces: how much of the share above will be left? Write your guess down.
#
# A model that forgets too much can repeat its own answers beside the demonstrations
# ([Li and Hoiem, 2016](https://arxiv.org/abs/1606.09282)). The next cell collects them if you try `replay=4` with
# `tag="replay"`; with the values above there are few demonstrations, and it repeats none.

# %%
again = []
if replay:
    ask = agile.Play(prompt=prompt, max_turns=1, max_new_tokens=max_new_tokens)
    train = load_tasks(folder / "data" / "train.jsonl")[: 2 * sft_episodes]
    train = [opened(task) for task in train]  # of thumbnails it could only say guesses
    for at in range(0, len(train), 64):  # at most 64 sessions at once
        answers = agile.play_greedily(vlm, chat, box, train[at : at + 64], ask)
        again += own_words(answers, chat, opening="<think>")
    print(len(again), "answers to repeat:", again[0].turns[0].text if again else "none")

# %%
settings = SFTSettings.of(globals(), replay=replay if again else 0)
print(settings.steps(len(episodes)), "optimizer steps")

# %% [markdown]
# ## One update by hand
#
# What will the trainer do at each step? Take `batch_size` episodes of the expert (and `replay` answers of the model's own),
# compute the loss above, go one step down its slope.

# %%
every = [*episodes, *again]
first = order([len(e.ids) for e in episodes], len(again), settings)
batch = [every[i] for i in first[: batch_size + settings.replay]]
packed = pack(batch, chat).to(vlm.device)


def logprobs(model, packed) -> torch.Tensor:
    """Log-probability of each token after the prompt: (episodes, tokens)."""
    at = packed.prompt_ids.size(1) - 1  # logits at one place speak of the next token
    logits = model(**packed.model_inputs()).logits[:, at:-1].float()
    logp = torch.log_softmax(logits, dim=-1)
    return logp.gather(-1, packed.completion_ids[..., None])[..., 0]


def loss_of(model) -> torch.Tensor:
    """The mean over the tokens of this batch that the expert wrote."""
    return -(logprobs(model, packed) * packed.loss_mask).sum() / packed.loss_mask.sum()


# %%
if by_hand:
    for name in chat.family.vision_modules:
        getattr(vlm.model, name).requires_grad_(not freeze_vision)
    learns = [p for p in vlm.parameters() if p.requires_grad]
    adam = torch.optim.AdamW(learns, learning_rate, weight_decay=0.0)
    with suppress_tokens(vlm, chat.suppressed_ids):
        loss = loss_of(vlm)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learns, 1.0)
        adam.step()
        with torch.no_grad():
            after = loss_of(vlm)
    print(f"loss {loss:.3f}, after one update by hand {after:.3f} on the same batch")

# %% [markdown]
# **Exercise 12.2.** A loss is a mean of −log p. Which probability does a model give to the expert's tokens, in the
# (geometric) mean, if its loss is 0.5?

# %% tags=["exercise"]
answer = ...  # a number between 0 and 1
check("12.2", answer)

# %% [markdown]
# ## Training
#
# The settings are plain values, so that this process can train, or several that are started for it
# (`num_processes=8, strategy="zero3"`); the result is the same.

# %%
taught, repeated = folder / "sft" / "episodes.jsonl", folder / "sft" / "replay.jsonl"
save_episodes(taught, episodes)
save_episodes(repeated, again)
training = SFTTraining(
    start=start,
    episodes=str(taught),
    run_dir=str(folder / "sft"),
    settings=settings,
    replay=str(repeated),
    threads=threads,
)
vlm = adam = learns = None  # room for the training, which loads its own

# %%
live = view.LiveTraining()
trained = launch(training, together, live)
vlm, chat = load_model_and_chat(trained)
live.figure()

# %% [markdown]
# Did the trainer begin where you did? Its first row holds the loss of the same batch. (Its first *update* was smaller
# than yours: the learning rate rises from 0 over the first tenth of the steps.)

# %%
rows = read_metrics(folder / "sft" / "metrics.jsonl")
print(
    f"the trainer's first loss: {rows[0]['loss']:.3f}, its last: {rows[-1]['loss']:.3f}"
)
if by_hand and not lora_rank:
    print(f"by hand:                  {loss.item():.3f}")
    assert abs(rows[0]["loss"] - loss.item()) < 2e-3

# %% [markdown]
# ## What it learnt
#
# It now keeps to the tags. It was shown looks and guesses. Two guesses of your own before you open the output: in how many
# of the held-out puzzles does it look? How many does it solve?


# %%
def looks(episodes) -> float:
    """Share of the episodes that look at least once."""
    return sum(episode.calls > 0 for episode in episodes) / len(episodes)


# %% tags=["guess"]
tuned = agile.play_greedily(vlm, chat, box, puzzles, play)
print("its first words:  ", tuned[0].turns[0].text)
print(f"looks:             {looks(tuned):.0%} of the episodes")
print("untrained, solved:", summary(evaluate(untrained)))
print("after SFT, solved:", summary(evaluate(tuned)))
print("after SFT:        ", conduct(tuned))

# %% tags=["figure"]
print("how the episodes after SFT ended:")
for reason, share in failures(tuned).items():
    print(f"  {reason:28s} {share:6.1%}")

# %% [markdown]
# A *malformed answer* keeps to the tags, but names some piece twice and another not at all. So the model has learnt how a
# guess looks, and not that each piece comes once.
#
# Now the guess from before the training: asked for the order of full pieces, without tags, what has it kept?

# %% tags=["guess", "figure"]
afterwards = direct.ask(vlm, chat, asked["full pieces"], play)
print("full pieces, before:   ", summary(evaluate(told["full pieces"])))
print("full pieces, after SFT:", summary(evaluate(afterwards)))
print("it said:    ", told["full pieces"][0].turns[0].text[:70])
print("it says now:", afterwards[0].turns[0].text[:70])

# %% [markdown]
# What is lost, the eyes or the words? Read both sentences. A model that now answers in the words of the demonstrations
# has unlearnt how that question is answered, and most of these demonstrations name an order that no picture backs.
# Whether it still *sees* shows where it looks and answers as it was taught, which comes next.
# ([Notebook 15](15_agile_general.ipynb) asks what became of everything else that the model could.)
#
# That was the *greedy* agent, which always says what it finds likeliest. Now let it draw its words at random, each as
# often as it finds it likely (temperature 1), as reinforcement will let it. How often does it look now? And when it has
# looked, is it right? These are other puzzles, those for making choices.

# %% tags=["guess"]
choosing = load_tasks(folder / "data" / "development-2x2.jsonl")
trials = agile.first_per_level(choosing, eval_puzzles)
greedy = agile.play_greedily(vlm, chat, box, trials, play)
policy = HFPolicy(vlm, chat)
sampled = play(policy, chat, box, trials, temperature=1.0, seed=seed)
parts = {"looks": [e for e in sampled if e.calls]}
parts["guesses"] = [e for e in sampled if not e.calls]
shares = {}
for name, some in {"greedy": greedy, "sampled": sampled, **parts}.items():
    right = sum(is_right(e, e.task.target) for e in some)
    looked = f", {looks(some):.0%} look" if name not in parts else ""
    print(f"{name:9s} {len(some):3d} episodes, {right:3d} right{looked}")
    if some:
        shares[name] = evaluate(some)["acc_2x2"]
display(plots.bars({"share solved": shares}, "share solved", chance))

# %% [markdown]
# When it has looked it is right far more often than a guess, 1 in 24: so it still sees. It is right far less often than
# the ceiling says. How much of that is lost seeing can't be told here: some of these episodes also break off, or answer
# in a wrong form (their shares come below).
#
# ## Why the greedy agent does only one thing
#
# SFT makes the expert's tokens likely. Where the demonstrations part, at the word after "Pieces are small.", it can't make
# both certain; the loss is least when each gets the share that it had in the demonstrations. Ask the model: how likely
# does it find either beginning? Guess, knowing the shares above.


# %% tags=["figure"]
from kit.episode import Turn
from papers.agile.expert import GUESS, LOOK


def likely(words: str) -> float:
    """How likely a first turn begins with these words: the mean over puzzles."""
    # Without its full stop, which makes one token with the tag that follows it.
    ids = tuple(chat.text(f"<think>{words.removesuffix('.')}"))
    turn = Turn(ids, (0.0,) * len(ids), words)
    begun = [replace(e, turns=(turn,), ended="turns") for e in greedy[:12]]
    ready = pack(begun, chat).to(vlm.device)
    with torch.no_grad(), suppress_tokens(vlm, chat.suppressed_ids):
        total = (logprobs(vlm, ready) * ready.loss_mask).sum(dim=1)
    return float(total.exp().mean())


# %% tags=["guess", "figure"]
n = len(episodes)
shown = {LOOK: len(looking) / n, GUESS: len(guessing) / n}
found = {words: likely(words) for words in (LOOK, GUESS)}
for words in shown:
    print(f"{words:28s} shown {shown[words]:.2f}, likely {found[words]:.2f}")
display(plots.bars({"share shown": shown, "model's probability": found}, "share"))

# %% [markdown]
# So greedy play takes one way every time, and sampling keeps both alive. (What is missing to 1 begins otherwise.) With
# demonstrations enough, imitation takes over roughly *how often* something was done (the table of other starts, below,
# has some that don't). Whether it was any good, nothing in the loss of SFT can say: a wrong guess is imitated as gladly
# as a right answer.
#
# That is what a reward is for, and it needs something to compare. In the next notebook a *group* of eight episodes plays the
# same puzzle. If one of them looks and is right, it earns more than the seven that guessed, and looking becomes likelier.
#
# **Exercise 12.3.** Each episode looks with probability `p`, independently of the others. How likely is it that a group of
# `size` holds both, at least one that looks and at least one that doesn't?


# %% tags=["exercise"]
def undecided_group(p: float, size: int) -> float:
    """Probability that a group holds episodes of both kinds."""
    ...


check("12.3", undecided_group)

# %% [markdown]
# Try your function on p = 0, 0.01, 0.4 and 1. At 0 and at 1 all episodes of a group do the same, nothing is compared and
# nothing is learnt about looking. So if reinforcement is to answer the question, the cold start has to leave it open.
#
# ## How undecided should it be?
#
# The share of guesses is a choice of ours (`guesses` in notebook 11). The next figure shows cold starts with other
# shares, each a run of notebooks 11 and 12 like this one, played on the puzzles for making choices, as far as such runs
# are published (one training each, of ours several).

# %% tags=["figure"]
from kit.evaluate.intervals import Interval
from kit.files import ROOT, read_json

published = read_json(ROOT / "results" / "agile.json") or {"metrics": {}}
curve = {}
for name, record in published["metrics"].items():
    if name.startswith("sft/guesses_") and not name.endswith("_found"):
        _, share, how, what = name.replace("acc", "solved").split("_")
        curve.setdefault(f"{how}, {what}", {})[int(share) / 100] = Interval.of(record)
drawn = {
    name: (sorted(points), [points[share].value for share in sorted(points)])
    for name, points in sorted(curve.items())
}
if drawn:
    shown_as = "share of demonstrations that guess", "share of episodes"
    display(plots.lines(drawn, *shown_as))
else:
    print("not measured yet; python -m kit results agile does it")

# %% [markdown]
# Read the two ends first. Where no demonstration guesses, the agent was shown nothing but looking, and SFT alone solves most
# of what there is to solve: about as much as reinforcement will reach in notebook 13 (14 draws both on the same kind of
# puzzles). Where nearly all guess, a group seldom holds an episode that looks. And in between? If imitation copies shares,
# the greedy agent turns from one way to the other where half of the demonstrations guess. The curve can say between which two
# of its points it turned, and no more. (A greedy agent that never looks needn't be at 0: a guess from the thumbnails can be
# right now and then. In the stored run none was: nearly all answers named a piece twice.)
#
# **What is notebook 13 for, then?** Whoever knows what is right to do should show it: imitation is the shorter way. The
# paper's base is in another place. It imitates right episodes only, solves 22 % after that (Table 1), and the reward does
# the rest. The tiny model, shown looks alone, would be done: reinforcement would have nothing to find out, and you would
# see nothing of how it does. So we hide again what we know: six of ten demonstrations guess. Then about as much is left to
# find out as in the paper, and you know what there is to be found.
#
# Our share lies beyond that turn: greedily the agent guesses, and looking is still alive in its samples. With a share of
# 0, as in the paper, you would measure a better cold start and a smaller gain of reinforcement. Keep that in mind when
# you read a gain: it depends on where one starts.
#
# ## The other choices
#
# How coarse should the thumbnails be, how many demonstrations, any replay? Each row of the next table is a cold start that
# differs from ours in one value, which its name tells: `episodes_80` imitates 80 demonstrations, `guesses_30` has 30 % that
# guess, `replay_4` repeats four of its own answers beside each batch, and of a piece `thumbnail_8` shows 8 × 8 colours. (Ours
# has 160 demonstrations, 60 % of them guesses, no replay, 4 × 4 colours.) All played the puzzles for making choices; `greedy_acc`
# is the share that greedy play solves. Two columns decide. `sampled_looks`: the sampled agent has to look now and then,
# and not always, or a group has nothing to compare. `sampled_found`: where it looked it has to be right more often than by
# guessing (0.04), or looking doesn't pay. Which rows could reinforcement start from?

# %% tags=["guess", "figure"]
ours = f"guesses_{round(100 * len(guessing) / n)}"
rows = [name.split("/")[1] for name in published["metrics"]]
starts = sorted(
    {name[: -len("_sampled_acc")] for name in rows if "sampled_acc" in name}
)
columns = ("greedy_acc", "sampled_looks", "sampled_found")
print(f"{'':14s}" + "".join(f"{column:>24s}" for column in columns))
for name in starts:
    values = [published["metrics"].get(f"sft/{name}_{column}") for column in columns]
    cells = "".join(f"{str(Interval.of(v)) if v else 'nothing':>24s}" for v in values)
    print(f"{name:14s}{cells}{'  ours' if name == ours else ''}")

# %% [markdown]
# Decide for each row, then open the answer. It calls looks in 10 to 90 % of the sampled episodes enough, and asks that
# the whole interval of `sampled_found` lies above guessing. A yes doesn't say that much is left to win: where
# `greedy_acc` is high already, reinforcement has a start and little to do.


# %% tags=["guess", "figure"]
def could_start(name: str) -> str:
    """Whether groups hold both ways, and whether looking pays."""
    record = {what: published["metrics"].get(f"sft/{name}_{what}") for what in columns}
    looks_at_all = (record["sampled_looks"] or {"value": 0.0})["value"]
    if not 0.1 <= looks_at_all <= 0.9:
        often = "always looks" if looks_at_all > 0.5 else "hardly looks"
        return f"no: it {often}, so that there is nothing to compare"
    found = record["sampled_found"]
    pays = found is not None and found["low"] > random_baseline(2)["acc"]
    return "yes" if pays else "can't be told: looks may be no better than guesses"


for name in starts:
    print(f"{name:14s}{could_start(name)}")

# %% [markdown]
# `episodes_80` is a surprise: half as many demonstrations, six of ten of them guesses as in ours, and yet greedily it looks
# every time and solves most puzzles, while of its sampled looks only about one in thirteen is right. So the share of guesses
# doesn't decide by itself which way greedy play falls. Why this start fell the other way wasn't tested; it is one training.
#
# ## A start that is too small
#
# How many demonstrations does it take? The same training with a few of them only:

# %%
save_episodes(folder / "few" / "episodes.jsonl", episodes[:few_episodes])
few = SFTTraining(
    start=start,
    episodes=str(folder / "few" / "episodes.jsonl"),
    run_dir=str(folder / "few" / "sft"),
    settings=replace(settings, replay=0),
    threads=threads,
)
vlm = policy = None
hasty, chat = load_model_and_chat(launch(few, together))

# %% [markdown]
# Sampled again, on the same puzzles. How many episodes look, and how many of those end with a right answer? Guess.

# %% tags=["guess", "figure"]
hurried = play(HFPolicy(hasty, chat), chat, box, trials, temperature=1.0, seed=seed)
for number, some in ((few_episodes, hurried), (len(episodes), sampled)):
    looked = [e for e in some if e.calls]
    right = sum(is_right(e, e.task.target) for e in looked)
    print(f"{number:4d} demonstrations: {len(looked)} look, {right} of them are right")
    for reason, share in failures(looked).items() if looked else ():
        print(f"       {reason:28s} {share:6.1%}")

# %% [markdown]
# An episode that looks has to say the order, exchange pieces in code and answer, each in the right form. A start that
# is too small doesn't get to the end of that: it breaks off, or answers in no valid form. Then an episode that looks
# earns little more than one that guesses, and reinforcement has nothing to hold on to. A cold start has to make the
# better way *possible*. It need not make it likely.
#
# **Exercise 12.4.** The paper's expert takes four to eight turns of code, and its agent has five turns in all. Which
# episodes of such an expert could our agent play to the end? Write the test for one episode: its number of turns with
# code, and the turns that the agent may have, the answer included.


# %% tags=["exercise"]
def is_playable(code_turns: int, max_turns: int) -> bool:
    """Whether an episode of the expert fits into the agent's turns."""
    ...


check("12.4", is_playable)

# %% [markdown]
# And ours?

# %% tags=["figure"]
fitting = sum(len(episode.turns) <= max_turns for episode in episodes)
print(f"{fitting} of {len(episodes)} demonstrations fit into {max_turns} turns")

# %% [markdown]
# ## Paper / here / why different
#
# The table reads this run's own figures.

# %%
from papers.agile.metrics import save_stage
from papers.agile.reported import AGILE

save_stage(folder, "untrained", untrained)
save_stage(folder, "sft", tuned)
save_stage(folder, "sft-greedy", greedy)  # on the puzzles for making choices
save_stage(folder, "sft-sampled", sampled)
stages = {"untrained": ("base", untrained), "after SFT": ("sft", tuned)}
for name, (stage, here) in stages.items():
    reported = AGILE[stage]["acc_2x2"]
    print(f"{name}: paper {reported:.3f}, here {summary(evaluate(here))}")
for name, replies in told.items():
    print(f"asked directly, {name}: {summary(evaluate(replies))}")
box.close()

# %% [markdown]
# The paper's model is two thousand times larger and learns from other pictures; its expert is another model, ours a script
# that knows the answer. In the paper the cold start helps a little, since it imitates right episodes only. On a laptop ours
# helps not at all, greedily, because we made it undecided. `gpu` and `node` imitate as the paper does. The shape is alike,
# since we made it so: after imitation most puzzles are not solved, there and here. What is missing isn't the same. Ours keeps
# to the tags (though its blind answers may name a piece twice) and doesn't look; the paper's is shown full pieces from the
# beginning.
#
# ## What you have seen
#
# What does the model take from an expert that looks or guesses, and what is left for reinforcement to find out?

# %% tags=["figure"]
from IPython.display import Markdown


def found_out(some) -> str:
    """How many of some episodes are right."""
    return f"{sum(is_right(e, e.task.target) for e in some)} of {len(some)}"


shares_seen = [len(guessing) / len(episodes), 1 - looks(sampled), 1 - looks(tuned)]
kept_to = abs(shares_seen[0] - shares_seen[1]) < 0.2
taken = (
    f"Sampled, it takes over how often the expert guessed{', roughly' * (not kept_to)}"
)
taught_guess, sampled_guess, greedy_guess = (f"{share:.0%}" for share in shares_seen)
ceiling, reached = solved["full pieces"].value, evaluate(tuned)["acc_2x2"].value
kept = evaluate(afterwards)["acc_2x2"].value
alone = curve.get("greedy, solved", {}).get(0.0)
alone = (
    f"{alone.value:.2f} of the puzzles for making choices" if alone else "not measured"
)

# %% tags=["figure"]
display(
    Markdown(f"""
- **{taken}**: {taught_guess} of the demonstrations guess, and so do {sampled_guess} of
  its sampled episodes. Greedily it does one thing only: it guesses in {greedy_guess}.
- Of the sampled episodes that looked {found_out(parts["looks"])} are
  right, of
  those that didn't {found_out(parts["guesses"])}: that is what a
  reward
  can tell apart.
- Left to win, greedily: it solves {reached:.2f}, and the same base, asked from the full
  pieces before it was taught to act, {ceiling:.2f} (after that {kept:.2f}).
- That so much is left is by design: a cold start that is shown only looks solves
  {alone}.
""")
)

# %% [markdown]
# Next: [13](13_agile_grpo.ipynb), where it plays by itself, is told one number after each puzzle, and has to find out
# which of the two ways pays.
