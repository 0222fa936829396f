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
# # 52 · Tools as services: who dies, who waits, who is told
#
# **The question.** A training calls its tools thousands of times an hour. Behind some of them are large models: they need a
# GPU of their own, they run out of memory, one image in a million makes them hang. How does a training of days go on when a
# tool dies every hour, and what does the agent read when it was *its* call?
#
# **The paper.** [VISTA-Gym and VISTA-R1 (Lu et al., arXiv:2511.19773)](https://arxiv.org/abs/2511.19773): 26 tools behind a
# web server (FastAPI), their weights held by processes that Ray starts and finds (*actors*), for up to 24 trajectories at once.
# The released code has no restarts and no deadlines; what happens when a tool dies is ours.
#
# **Afterwards you can** run tools in this process or as a service, by one setting; build a supervisor in fifteen lines; kill a
# worker under load and say which calls are lost; size a service for a training; read its queues and deaths from its metrics.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 2 cores | 1 | 2 GB |
# | `gpu` | the same, 128 trajectories | not measured | not measured |
# | `node` | the same, 128 trajectories | not measured | not measured |
#
# You need to know what a tool is: notebook [01](01_episode.ipynb). No model is trained here.

# %% tags=["parameters"]
trajectories: int = 24  # that call at once; paper: up to 24
calls: int = 120  # under load
deadline: float = 3.0  # seconds of a call, then its worker is killed

# %%
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from textwrap import fill

from IPython.display import Markdown, display
from kit.episode import NamedImage
from kit.view import charts
from PIL import Image
from visual_tools.serve.client import ServiceGone, ToolService, remote
from workshop.exercises import check, hint, solution
from workshop.jobs.tools import find_tool, running

# %% [markdown]
# ## A worker that may die, by hand
#
# The mechanism is small. A *worker* is a process that reads a call from its input, and writes a reply to its output. A
# *supervisor* has the other ends of the two pipes. When the worker dies, its output ends, and the supervisor reads nothing
# where a reply should be: that is how it knows, at once, without asking the worker now and then whether it lives.

# %%
WORKER = """
import os, sys
for line in sys.stdin:
    if line.strip() == "die":
        os._exit(1)
    print(line.strip().upper(), flush=True)
"""


def start() -> subprocess.Popen:
    """A worker: it answers in capitals, and dies when it is told to."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe)


# %%
class Supervisor:
    """Has calls done by a worker, and by the next one when that has died."""

    def __init__(self):
        self.worker, self.restarts = start(), 0

    def call(self, text: str) -> str:
        self.worker.stdin.write(f"{text}\n".encode())
        self.worker.stdin.flush()
        reply = self.worker.stdout.readline().decode()
        if reply:  # "" is the end of its output: it died
            return reply.strip()
        self.worker.wait()
        self.worker, self.restarts = start(), self.restarts + 1
        return "Error: the tool died during this call; it is being started again"


# %% [markdown]
# Four calls, of which the third is deadly. What does each get?

# %% tags=["guess"]
by_hand = Supervisor()
for text in ("one", "two", "die", "four"):
    print(f"{text:5s} -> {by_hand.call(text)}")
print("restarts:", by_hand.restarts)
_ = by_hand.worker.communicate()

# %% [markdown]
# One call is lost, and says so; the agent reads that as it reads any other error, and may call again. What is missing here:
# many callers at once (a queue), a worker that never answers (a deadline), a worker that can't be started (an error instead of
# an endless loop), images (sent once, not with each call), and an address, so that tools run on another machine than the
# training. That is `packages/visual_tools/visual_tools/serve`.
#
# ## The same tools, elsewhere
#
# A tool of our own joins two of the paper's: it rests, so that we know how long its work takes. A file is enough.

# %%
REST = '''
import time
from visual_tools.tool import PureTool

class Rest(PureTool):
    """Rests so many `seconds`."""
    name, family, algorithm = "rest", "solvers", "Sleep."
    needs_image, properties = False, {"seconds": {"type": "number"}}
    def look(self, image, arguments):
        time.sleep(arguments["seconds"])
    def answer(self, seen, arguments):
        return "rested"
'''

# %%
stack = ExitStack()
folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
(folder / "mine.py").write_text(REST)
names = ["groundingdino.detect", "multimath.solve", "mine:Rest"]
options = ["--tools", *names, "--deadline", str(deadline)]
service = stack.enter_context(running(*options, folder=folder))
print(
    "tools in", len(service.health()["pools"]), "processes:", service.health()["status"]
)

# %% [markdown]
# `running` is `python -m kit tools serve` for as long as a block lasts. Light tools of one folder share a process; a tool with
# a model behind it gets its own. Now the same calls, here and there:

# %%
local = {name: find_tool(name) for name in names[:2]}
served = {tool.name: tool for tool in remote(local.values(), service)}
image = Image.new("RGB", (160, 120), "white")
image.paste("red", (20, 30, 60, 70))
images = {"image": NamedImage("image", image)}
asked = {
    "groundingdino.detect": {"caption": "red square"},
    "multimath.solve": {"question": "2x + 3 = 11. What is x?"},
}
for name, arguments in asked.items():
    here, there = (place[name].call(arguments, images) for place in (local, served))
    assert here == there and served[name].parameters == local[name].parameters
    print(f"{name:22s} {there.text}")

# %% [markdown]
# An agent can't tell the difference: names, schemas and replies are equal, errors as well. In a training it is one setting,
# `tools_at`: `inprocess`, or `http://…`. The image went over the wire once, named by its hash (in the service's own count,
# below, a *trajectory* is one such stored image, a word of the released server; elsewhere here it is an episode that is being
# played); when the service doesn't know it (any more), the client sends it again:

# %%
print("trajectories that the service holds:", service.health()["trajectories"])
service.forget(images["image"])
print("forgotten:", service.health()["trajectories"])
print(served["groundingdino.detect"].call(asked["groundingdino.detect"], images).text)
print("and again:", service.health()["trajectories"])

# %% [markdown]
# What does a call over HTTP cost? The equation is the same here and there, so what the served call takes longer is the way
# there and back. Guess.


# %%
def milliseconds(tool, repeats: int = 50) -> float:
    """Median of a call."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        tool.call(asked["multimath.solve"], {})
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)[repeats // 2]


# %% tags=["guess"]
# NBVAL_IGNORE_OUTPUT
for where, place in (("here", local), ("served", served)):
    print(f"{where:7s} {milliseconds(place['multimath.solve']):6.2f} ms")

# %% [markdown]
# Milliseconds, where a policy takes seconds to write a call; more on a machine with other work, since a call goes through
# three processes, and each waits for its turn. `python -m kit bench serving` measures it properly.
#
# ## Under load
#
# Many trajectories call at once, and one worker does one call at a time: the others wait.

# %%


events = []  # of every call: its thread, what came of it, its beginning and its end


def resting(seconds: float, of: ToolService = service):
    """One call of our own tool, and the seconds until its reply."""
    began = time.perf_counter()
    seen = of.call("rest", {"seconds": seconds})
    ended = time.perf_counter()
    events.append((threading.current_thread().name, seen.status, began, ended))
    return seen, ended - began


def load(seconds: float, meanwhile=lambda: None) -> list:
    """All calls, from as many threads as there are trajectories."""
    with ThreadPoolExecutor(trajectories, "trajectory") as pool:
        begun = [pool.submit(resting, seconds) for _ in range(calls)]
        meanwhile()
        return [one.result() for one in begun]


# %%
# NBVAL_IGNORE_OUTPUT
waits = sorted(took for _, took in load(0.02))
print(
    f"a call works for 20 ms; with {trajectories} at once it takes (the median)",
    end="",
)
print(
    f" {1000 * waits[len(waits) // 2]:.0f} ms, and at worst {1000 * waits[-1]:.0f} ms"
)

# %% [markdown]
# One worker does the calls in turn, so with 24 at once each, but for the first ones, takes 24 · 20 ms =
# 480 ms at least, and the way there and back of each call comes on top. So a service is sized by how many trajectories
# call, how long the policy thinks between two calls, and how long a call works.
#
# **Exercise 52.1.** How many workers do `trajectories` trajectories keep busy, if each thinks for `think` seconds, then has a
# tool work for `work` seconds, and so on?


# %% tags=["exercise"]
def workers_for(trajectories: int, think: float, work: float) -> int:
    """The least number of workers that keep up, on average."""
    ...


check("52.1", workers_for)

# %% [markdown]
#
#
# **Exercise 52.2.** All `workers` begin a call of `seconds` seconds at this moment. You come next, and `ahead` calls wait
# before yours. When does yours begin?


# %% tags=["exercise"]
def wait(ahead: int, workers: int, seconds: float) -> float:
    """Seconds until the call is begun."""
    ...


check("52.2", wait)

# %% [markdown]
# ## Kill one
#
# The service says which processes do its work. We kill the one that rests, with the signal that nothing survives, while all
# trajectories call. How many calls are lost, of how many? And how many say so?


# %%
killed = []  # when


def worker_of(pool: str) -> dict:
    """The worker of a pool, as the service tells of it."""
    return service.health()["pools"][pool]["workers"][0]


def kill() -> None:
    """End the worker's process in the middle of the work."""
    time.sleep(0.3)
    os.kill(worker_of("mine")["pid"], signal.SIGKILL)
    killed.append(time.perf_counter())


# %% tags=["guess"]
# NBVAL_IGNORE_OUTPUT
before = worker_of("mine")
events.clear()
ends = load(0.02, kill)
print(dict(Counter(seen.status for seen, _ in ends)), "of", calls)
died = [seen.text for seen, _ in ends if seen.status == "died"]
print(*died, sep="\n")
after = worker_of("mine")
print(f"process {before['pid']} is now {after['pid']}, restarts: {after['restarts']}")
print(f"the longest wait: {max(took for _, took in ends):.1f} s")

# %% [markdown]
# The same as a picture: a row for the worker, and one for each trajectory, which calls, waits for its turn (pale), has the
# worker for 20 ms, and calls again. The line is the kill. Who is told of it, and what do all the others do until the next
# process is there?

# %% tags=["guess"]
# NBVAL_IGNORE_OUTPUT
start_of = min(began for _, _, began, _ in events)
last = max(ended for *_, ended in events)
back = min(e for _, status, _, e in events if status == "ok" and e > killed[-1] + 0.05)
worker = [("works", start_of, killed[-1]), ("starts anew", killed[-1], back)]
rows = {"worker": [*worker, ("works", back, last)]}
told = {"ok": "works", "died": "works, and dies"}  # on the call
alive = max(
    (e for *_, e in events if e < killed[-1]), default=start_of
)  # its last reply
for thread, status, began, ended in sorted(events, key=lambda e: (len(e[0]), e)):
    taken = max(began, alive if status == "died" else ended - 0.02)
    spans = ("waits", began, taken), (told.get(status, status), taken, ended)
    rows.setdefault(thread, []).extend(spans)

# %%
# NBVAL_IGNORE_OUTPUT
dead = {thread: ", told" for thread, status, *_ in events if status == "died"}
rows = {
    name.replace("_", " ") + dead.get(name, ""): [
        (kind, b - start_of, e - start_of) for kind, b, e in some
    ]
    for name, some in rows.items()
}
death = {"pale": "waits", "moment": ("the kill", killed[-1] - start_of)}
title = "a worker dies while all call"
display(charts.timeline(rows, "seconds", title=title, **death))

# %%
assert len(ends) == calls and len(died) <= 1
assert worker_of("mine")["restarts"] == 1
print("every call has a reply, and at most one of them tells of a death")

# %% [markdown]
# Calls that waited were done by the next process and never knew: they waited longer, because a new Python has to start first;
# how many seconds that takes depends on what else the machine does. The one in hand can't be saved: who knows whether it was
# the image that killed the worker? It is told, and the agent decides.
#
# **Exercise 52.3.** A pool has 2 workers. In an hour of 24 trajectories, 3 times one of its workers is killed. How many calls
# are told of a death, at most?

# %% tags=["exercise"]
deaths = ...  # a whole number

check("52.3", deaths)

# %% [markdown]
# ## Hang one
#
# A death is easy to see. Worse is a tool that never answers: the process is there, it would say so to anyone who asks, and it
# does nothing. (Ray Serve had replicas that passed every health check and served nobody: [issue
# 61263](https://github.com/ray-project/ray/issues/61263).) So the kit watches the work itself: what has no reply within its
# deadline, counted from when a worker has the call, is killed; waiting doesn't count, so the calls above could wait for
# longer than that.

# %%
# NBVAL_IGNORE_OUTPUT
hung, patience = resting(3600.0)
print(fill(hung.text, 84))
print(f"status: {hung.status}, after {patience:.1f} s")
print("and then:", resting(0.01)[0].text)

# %% [markdown]
# ## Ask too much
#
# A queue without an end turns a slow tool into a training that stands still. A full one refuses, in words, and the client
# waits a little and asks again; here it asks once. A service with room for two: one works, two
# wait. What becomes of eight calls at once?

# %%
# NBVAL_IGNORE_OUTPUT
with running("--tools", "mine:Rest", "--waiting", "2", folder=folder) as small:
    once = ToolService(small.address, retries=0)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: resting(0.2, once)[0].text, range(8)))
for text, n in Counter(replies).most_common():
    print(n, fill(text, 84))

# %% [markdown]
# And where there is no service at all? An agent can bear one lost call in many, as it bears other errors. If all its calls
# failed, it would learn not to call, from a fault that isn't its own. So the training ends, with the way out in words, and
# goes on from its last checkpoint once the service is back. (`python -m visual_tools serve` in the message is how the package
# serves without the kit.)

# %%
# NBVAL_IGNORE_OUTPUT
nobody = ToolService("http://127.0.0.1:9", retries=0)
try:
    nobody.call("rest", {"seconds": 0.1})
except ServiceGone as gone:  # a training ends here, and goes on later
    print(fill(str(gone), 84))

# %% [markdown]
# ## What it counts
#
# Prometheus reads `/metrics`; people read the page at the service's address, which names each pool, its queue, its workers
# and what they died of.

# %%
# NBVAL_IGNORE_OUTPUT
lines = service.metrics().splitlines()
wanted = ("kit_calls_total", "kit_restarts_total", "kit_image_bytes")
print(*(line for line in lines if line.startswith(wanted)), sep="\n")

# %% [markdown]
# The released server takes a batch of turns as the policy wrote them, one request for all trajectories. Ours takes the same, so
# a training that speaks to that server can speak to this one:

# %%
turns = [
    '<think>Solve it.</think><tool_call>{"tool": "multimath.solve", '
    '"arguments": {"question": "5x = 20. What is x?"}}</tool_call>',
    "<think>I know.</think><answer>4</answer>",
    "<think>Hm.</think>",
]
body = {"trajectory_ids": ["a", "b", "c"], "actions": turns, "extra_fields": [{}] * 3}
for name, values in service.post("/get_observation", body).items():
    print(f"{name:13s} {json.dumps(values)[:70]}")
stack.close()

# %% [markdown]
# ## Paper / here / why different
#
# | | paper | here | why |
# |---|---|---|---|
# | front | FastAPI, batches of turns | the same, and a call at a time | each episode goes on when *its* tool has answered |
# | behind it | Ray actors | processes and pipes; Ray Serve by `--engine ray` | they start in seconds, on a laptop too |
# | a tool that dies | "restarted"; not in the released code | restarted; one call says so | tried above |
# | a tool that hangs | no deadline in the released code | killed at its deadline | else its trajectories wait for ever |
# | images | fetched by trajectory | by their hash, sent again when missed | a service may be started anew in the middle |
# | at once | up to 24 | 24, and 128 in the benchmark | |
#
# **Try.** Run `python -m kit tools serve --workers 2`, open its address in a browser, and kill workers while notebook 54
# calls them (`--set tools_at=http://127.0.0.1:8765`). Serve a tool that fails to load, and see what its calls are told.
#
# ## What you have seen
#
# How does a training go on when a tool dies, and what does the agent read when it was *its* call?

# %% tags=["figure"]
# NBVAL_IGNORE_OUTPUT
count = Counter(seen.status for seen, _ in ends)
refused = sum(text.startswith("Error") for text in replies)
display(
    Markdown(f"""
- **It goes on by itself**: of {len(ends)} calls during which a worker was killed,
  {count["ok"]} were answered as if nothing had happened and {count["died"]} read that the
  tool died. The longest wait was {max(took for _, took in ends):.1f} s.
- A tool that hung was killed after {patience:.1f} s (its deadline: {deadline:g} s), and its
  call was told so: "{hung.status}".
- A full queue says no instead of growing: of {len(replies)} calls at once {refused} were
  refused, in words.
""")
)

# %% [markdown]
# Next: [53](53_vista_gym_sft.ipynb), where an agent learns to call the 26 tools from an expert that isn't sure of itself.
