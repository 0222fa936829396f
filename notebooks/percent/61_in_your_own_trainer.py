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
# # 61 · In your own trainer
#
# **The question.** You have a trainer already, and want this kit's tasks, tools and rewards, not another loop. What does it
# take to play a paper by Gymnasium, TRL, verifiers or OpenEnv, and what is lost on the way?
#
# **The papers.** Any of the five, by its name; a task of your own ([60](60_your_own.ipynb)) as well, once it is registered
# (and with `brief` empty, below: only the papers have that prompt). Here it is [Mags-RL](41_mags_rl.ipynb): the agent says
# which part of an image it wants magnified, sees it, and answers.
#
# **Afterwards you can** open a paper for another trainer in one line; play and score an episode in two of them, and in all
# four where verifiers and OpenEnv are installed; take a step of TRL's GRPO on its tasks; and say when only the kit's own loop
# will do.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core, tiny model | 2 | 3 GB |
# | `gpu` | nothing here needs one | 2 | 3 GB |
# | `node` | nothing here needs one | 2 | 3 GB |
#
# Before this one: [01](01_episode.ipynb), what an [episode](../docs/glossary.md#episode) is. Gymnasium and TRL come with the
# kit; verifiers and OpenEnv don't: where they are missing, their cells say how to get them, and only Gymnasium and TRL are
# played (the run stored here had all four: `make test-adapters` installs them in `.venv-adapters`). All of it on one page:
# [in your own trainer](../docs/trainers.md).

# %% tags=["parameters"]
paper: str = "mags_rl"  # any that `python -m kit list` names, with images and tags
start: str = ""  # that TRL trains; empty: the run's cold start, else the tiny model
steps: int = 1  # of TRL's trainer
threads: int = 1  # CPU threads

# %%
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Thread

import gymnasium
import torch
from adapters import trl, trl_tags
from adapters.opened import open_paper
from IPython.display import Markdown, display
from kit import view
from kit.chat import Chat
from kit.files import ROOT, runs_folder
from kit.models import load_model
from kit.policy.hf import HFPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import rollout
from papers.registry import find_paper
from tiny import TINY

# %% [markdown]
# ## One episode, in the kit's loop
#
# `open_paper` gives a paper's tasks, its environment and its reward. A split is a file of tasks in a run's `data` folder;
# `golden`, the default, needs no file: a few tasks that a script can solve. Here is one of them, played by that script in the
# kit's own loop. Everything below has to come to the same reward. (Mags-RL's is a sum of four parts, form, answer, zoom and
# rethink; [42](42_mags_rl_rewards.ipynb) explains them.)

# %%
torch.set_num_threads(threads)
held = ExitStack()  # closes at the end what is opened
brief = {"prompt": "brief"}  # shorter, and the papers' alone: {} for your own task
opened = held.enter_context(open_paper(paper, **brief))
task = next(iter(opened.tasks.values()))
cold = runs_folder() / paper / "sft" / "model"
start = start or str(cold if cold.is_dir() else TINY)
chat = Chat.from_pretrained(start)
with find_paper(paper).open_golden() as golden:
    by_script = ScriptedPolicy(chat, golden.script)
    [ours] = rollout(by_script, chat, [task], opened.environment, opened.play)
said = [turn.text for turn in ours.turns]
earned = {"the kit": opened.reward([ours], task.target)[0].total}
print(task.question, "|", task.target[0], "| reward", round(earned["the kit"], 3))
display(view.show(ours, chat=chat))

# %% [markdown]
# ## Gymnasium
#
# `adapters.gym` registers every paper. An action is a turn's text; an observation is a tuple of texts and images in
# reading order; the reward comes with the last step, its parts in `info`.

# %%
env = gymnasium.make(f"adapters.gym:papers/{paper}-v0", paper=opened)
message, info = env.reset(options={"task": task.id})
print("the policy sees:", [p if isinstance(p, str) else p.shape for p in message])
for text in said:
    message, reward, terminated, truncated, info = env.step(text)
    print("replied:        ", [p if isinstance(p, str) else p.shape for p in message])
earned["Gymnasium"] = reward
print("reward:", round(reward, 3), "of", info["parts"])

# %% [markdown]
# ## TRL
#
# TRL plays the episodes itself: it makes environments by a factory, calls their methods as tools, and asks `get_reward`. A model
# that calls tools in its own form gets the paper's tools as methods. These are what it would be told:

# %%
factory = trl.environment_factory(opened)
tools = factory()
tools.reset(task=task.id)
for name in ("zoom", "answer"):
    if hasattr(tools, name):
        print(f"{name}: {getattr(tools, name).__doc__.splitlines()[0]}")

# %% [markdown]
# The tiny model writes the paper's tags instead. `speak` lets TRL read turns by them, so a turn is one call. The reward is
# passed as one of TRL's `reward_funcs`, with the group's size, for rewards that compare the attempts of a group. Thirty
# lines, most of them settings, and TRL trains (`trl` is the kit's adapter here; only `GRPOConfig` and `GRPOTrainer` come from
# TRL itself):

# %%
from trl import GRPOConfig, GRPOTrainer

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"  # it says that factories are new
model, group = load_model(start), 4
config = GRPOConfig(
    output_dir=tempfile.mkdtemp(),
    max_steps=steps,
    num_generations=group,
    per_device_train_batch_size=2 * group,
    max_completion_length=200,
    max_tool_calling_iterations=opened.play.max_turns - 1,
    learning_rate=1e-5,
    bf16=False,
    gradient_checkpointing=False,
    dataloader_pin_memory=False,
    report_to="none",
    save_strategy="no",
    logging_steps=1,
    disable_tqdm=True,
)

# %%
trainer = GRPOTrainer(
    model=model,
    args=config,
    train_dataset=trl.rows(opened, tagged=True),
    processing_class=trl_tags.speak(trl_tags.ChatProcessor(chat), opened, model),
    environment_factory=trl.environment_factory(opened, tagged=True),
    reward_funcs=[trl.reward_function(opened, group)],
)

# %%
trainer.train()
[row] = [row for row in trainer.state.log_history if "reward" in row][:1]
print({name: round(row[name], 4) for name in ("reward", "reward_std", "grad_norm")})

# %% [markdown]
# One step teaches next to nothing; it shows whether the loop is closed. `reward_std` above 0: the eight attempts of the step
# earned different rewards; `frac_reward_zero_std`, in the line above, is the share of attempts whose whole group earned the
# same. The loss isn't 0, as it was in 03: by TRL's default every token weighs the same, so longer attempts count more. It
# says as little about progress. `grad_norm` above 0 and finite: that difference has reached the weights. The step stored
# above began at a run's cold start (`start`). The base has never learnt the tags: from it `reward`, `reward_std` and
# `grad_norm` are all 0, and `frac_reward_zero_std` is 1. A cold start, which a run of [43](43_mags_rl_grpo.ipynb) leaves
# behind, is where a training begins; learning shows in the reward over many steps.
#
# The same turns as above, by hand through TRL's environment:

# %%
spoken = trl.environment_factory(opened, tagged=True)()
spoken.reset(task=task.id)
for text in said[:-1]:
    print([part["type"] for part in spoken.turn(text=text)])
last = [[{"role": "assistant", "content": said[-1]}]]
[earned["TRL"]] = trl.reward_function(opened, 1)(last, [spoken])
print("reward:", round(earned["TRL"], 3))

# %% [markdown]
# ## verifiers
#
# Its environments ask an endpoint that speaks the chat-completions protocol, such as vLLM's server. (For training it has a
# client that sends and gets ids; that one needs vLLM and isn't tried here.) Here a stand-in says the script's turns, one after
# the other.


# %%
class Endpoint(BaseHTTPRequestHandler):
    """Says the next of the script's turns."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = sum(m["role"] == "assistant" for m in asked["messages"])
        reply = {"role": "assistant", "content": said[turn]}
        choice = {"index": 0, "message": reply, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        told = {"id": "1", "object": "chat.completion", "created": 1, "usage": usage}
        body = json.dumps({**told, "model": asked["model"], "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        """Says nothing of each request."""


# %%
server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"


# %%
async def played(env, task):
    """An episode of verifiers' environment, with the stand-in as its model."""
    import verifiers.v1 as vf

    os.environ.setdefault("NO_KEY", "none")  # the stand-in asks for none
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
    context = vf.ModelContext(client=client, model="script")
    async with env.serving():
        return await env.run_episode(task, context)


# %%
if find_spec("verifiers"):
    from adapters.verifiers import load_environment

    theirs = load_environment(paper, **brief)
    [asked] = [one for one in theirs.taskset if one.data.name == task.id]
    with ThreadPoolExecutor() as pool:  # a notebook has a loop of its own
        [trace] = pool.submit(asyncio.run, played(theirs, asked)).result().traces
    assert not trace.errors, trace.errors
    earned["verifiers"] = trace.reward
    print({name: round(one.score, 3) for name, one in trace.rewards.items()})
else:
    print('verifiers isn\'t here: pip install "verifiers==0.4.0"')

# %% [markdown]
# Its own command evaluates any endpoint on a paper, and prime-rl trains on it: `python -m adapters.verifiers mags_rl
# environments/` writes a package, which `pip install` makes known, and `vf-eval papers-mags-rl` runs it.
#
# ## OpenEnv
#
# A server plays the episodes; clients are anywhere, many at once. The server is started by one command, and an episode is given
# back when its client goes away.


# %%
def through_a_client(client):
    """The script's turns; the last one's result."""
    with client("http://127.0.0.1:8123").sync() as it:
        seen = it.reset(task=task.id).observation
        print("the policy sees:", [type(part).__name__ for part in seen.message])
        return [it.step(text) for text in said][-1]


# %%
if find_spec("openenv"):
    from adapters.openenv import PaperClient

    command = [sys.executable, "-m", "adapters.openenv", paper, "--port", "8123"]
    for name, value in brief.items():
        command += ["--set", f"{name}={value}"]
    serving = subprocess.Popen(command, cwd=ROOT)
    with socket.socket() as line:
        while serving.poll() is None and line.connect_ex(("127.0.0.1", 8123)):
            time.sleep(0.5)  # until it has opened the paper
    try:
        with ThreadPoolExecutor() as pool:
            result = pool.submit(through_a_client, PaperClient).result()
        earned["OpenEnv"] = result.reward
        print("reward:", round(result.reward, 3), "of", result.observation.parts)
    finally:
        serving.terminate()
        serving.wait()
else:
    print('OpenEnv isn\'t here: pip install "openenv-core==0.3.0"')

# %% [markdown]
# ## What is lost on the way
#
# **Exact ids.** A policy samples token ids. Whoever keeps a turn as text, as a chat endpoint does, encodes it anew before the next
# turn, and there are many ways to write one text in tokens. Of the turns that the base samples, how many come back as other ids?
# (Then their probabilities are those of other tokens, and importance ratios compare what was never sampled. A trained policy,
# which writes tags, isn't counted here.)

# %% tags=["guess"]
policy = HFPolicy(load_model(TINY), chat)  # the base, which writes freely
asked, short = [*opened.tasks.values()] * 4, replace(opened.play, max_new_tokens=60)
sampled = rollout(policy, chat, asked, opened.environment, short)
turns = [turn for episode in sampled for turn in episode.turns]
written = [[i for i in turn.ids if i != chat.end_id] for turn in turns]
pairs = zip(turns, written, strict=True)
other = sum(chat.text(turn.text) != ids for turn, ids in pairs)
print(f"{other} of {len(turns)} turns have other ids when they are encoded anew")

# %% [markdown]
# **Credit of single turns** and **a group's reward.** CodeDance charges a turn whose code fails, and its reward R_BAT
# pays or charges for calls that *succeed*, by how many of the group's attempts are right (one that fails is left to the charge
# of its turn). Here are three right attempts at one question: one makes a call that it doesn't need, one writes code that
# fails, one answers at once. What does each earn alone, and what in the
# group?

# %% tags=["guess"]
attempts = {
    "a needless call": ["<think>I try.</think><code>print(1)</code>"],
    "code that fails": ["<think>I try.</think><code>1 / 0</code>"],
    "at once": [],
}
dance = open_paper("codedance", prompt="brief", allow_unsafe=True)
dance = held.enter_context(dance)
easy = next(iter(dance.tasks.values()))
answer = f"<think>I know.</think><answer>{easy.target[0]}</answer>"
sessions = []
for codes in attempts.values():
    sessions.append(session := dance.session())
    session.begin(easy)
    for text in [*codes, answer]:
        session.say(text)
together = dance.scores(sessions)
for name, session, score in zip(attempts, sessions, together, strict=True):
    alone = dance.score(session).total
    print(f"{name:16s} alone {alone:.2f}, in the group {score.total:.2f}, ", end="")
    print("its turns", list(score.turns))

# %% [markdown]
# Gymnasium, verifiers and OpenEnv score an episode by itself: they pay what stands under *alone* (the tests of each stand in
# [the page about trainers](../docs/trainers.md)). Gymnasium and OpenEnv tell the turns' part as well, without paying it;
# verifiers doesn't tell it. TRL knows groups, if a process holds all of one, and no turns.
#
# | | the kit | Gymnasium | TRL | verifiers | OpenEnv |
# |---|---|---|---|---|---|
# | ids as they were sampled | yes | yours to keep | yes | not through a chat endpoint | yours to keep |
# | credit of single turns | yes | told, not paid | no | no | told, not paid |
# | a group's reward | yes | each episode alone | within a process | each alone | each alone |
#
# So take another trainer where its models, its speed or your habits decide and the reward is an episode's own: AGILE's,
# Mags-RL's, VISTA-Gym's (but for `difficulty`, which needs the group), and Visual-ARFT's for the answer. Take the kit's loop
# for rewards of turns, and for CodeDance's R_BAT unless TRL holds each group in one process; and where a ratio of
# probabilities has to be exact, one that keeps the ids.
#
# ## What you have seen
#
# What does it take, and what is lost?

# %% tags=["figure"]
same = {
    name for name, reward in earned.items() if abs(reward - earned["the kit"]) < 1e-9
}
display(
    Markdown(
        f"One episode earned {earned['the kit']:.2f} in the kit's loop, and the same in "
        f"{len(same) - 1} of the {len(earned) - 1} other ways that were played here "
        f"({', '.join(sorted(same - {'the kit'}))}). "
        f"Of {len(turns)} sampled turns {other} have other ids once they have been text. "
        f"A needless call earns {dance.score(sessions[0]).total:.2f} alone and "
        f"{together[0].total:.2f} in its group, which only a loop that knows groups can pay "
        "(the kit's, or TRL's where one process holds the group)."
    )
)
env.close()
server.shutdown()
held.close()

# %% [markdown]
# Next: [60](60_your_own.ipynb) makes a task of your own, which all four then play, too; [the page about
# trainers](../docs/trainers.md) has every command.
