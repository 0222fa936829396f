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
# # 02 · Running code that a model wrote
#
# **The question.** An agent acts by writing Python. Early in training nearly all of it is wrong; some of
# it never ends; some takes the whole process with it. How do you run thousands of such turns, keep what
# each episode has made so far, and lose nothing when one goes wrong?
#
# **The paper.** AGILE (Zeng et al.), section 3.1 and algorithm 1, line 6: parse the code, execute it,
# return what it made. How that is done safely the paper doesn't say. This notebook is about that.
#
# **Afterwards you can** say what a turn leaves behind when it works and when it doesn't; build the
# mechanism in ten lines; name six ways for a turn to end; say what forged reports can and can't achieve;
# name the layer that stops an attack, and read the sandbox's report on your own machine; say what a turn
# costs, layer by layer.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu` | nothing here needs one | 1 | 1 GB |
# | `node` | nothing here needs one | 1 | 1 GB |
#
# You need Python. Notebook 01 shows where the turns come from.

# %% tags=["parameters"]
seconds: float = 2.0  # time limit where a turn never ends (the kit's default is 15)
episodes: int = 32  # how many are run at once near the end
repeats: int = 15  # of each measurement of what a turn costs

# %%
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from IPython.display import display
from kit.data.scenes import scene
from kit.sandbox import CONFINED, Limits, Sandbox, SandboxError
from kit.sandbox.confine import LAYERS
from kit.sandbox.probes import FORGERY
from kit.view import plots
from numpy.random import default_rng
from PIL import Image

box = Sandbox(allow_unsafe=True).start()

# %% [markdown]
# `allow_unsafe` means: where the system can't confine code (macOS, very old Linux), run this notebook's
# code all the same, with a warning. Without it the sandbox refuses. More on that below.
#
# ## A good turn
#
# An *episode* is a Python session with a folder of its own. It starts with what we give it: variables,
# pictures, files. A *turn* is one piece of code. What comes back is a `Result`: how it ended, what was
# printed, and every picture that was bound to a name.

# %%
photo = Image.fromarray(scene(default_rng(3), 168))
episode = box.episode(variables={"state": ["B", "A"]}, images={"photo": photo})
result = episode.run(
    "part = photo.crop((40, 40, 120, 120)).resize((168, 168))\n"
    "state.reverse()\n"
    "print(state)"
)
print(result.status, "·", result.stdout.strip())
made = [(p.name, p.image) for p in result.images]
display(plots.images([("photo", photo), *made]))

# %% [markdown]
# `part` came back because the turn bound it. `photo` didn't: it was there before. The next turn finds
# everything where this one left it, functions and imports too.

# %%
episode.run("import math\ndef area(image): return math.prod(image.size)")
print(episode.run("print(state, part.size, area(part))").stdout, end="")

# %% [markdown]
# ## A bad turn
#
# Now a turn that changes `state`, deletes a picture, writes a file, and only then fails. Predict what
# the turn after it prints.

# %%
bad = "state.append('junk')\ndel part\nopen('note.txt', 'w').write('hi')\nstate[7]"
result = episode.run(bad)
print(result.status, "·", result.error)

# %%
check = "import os\nprint(state, part.size, os.listdir())"
print(episode.run(check).stdout, end="")

# %% [markdown]
# Nothing happened. A turn is a *transaction*: it happens as a whole or not at all. That is more than
# tidiness. The model is told "Error: …"; if half of the turn had taken effect, what it knows about `state`
# would be wrong from here on, and it would be punished later for something nobody told it.
#
# ## The mechanism, in ten lines
#
# How do you undo arbitrary Python? You don't: you never let it touch the original. `os.fork` makes a copy
# of a process, with all its objects, in about a millisecond, because memory is shared until somebody
# writes to it. The copy runs the turn. If it fails, it ends, and the original has never noticed. If it
# succeeds, *the copy goes on* and the original leaves.

# %%
toy = """
import os
state = {"n": 1}
for code in ["n += 1", "n = 99; 1 / 0", "n += 1"]:
    child = os.fork()
    if child == 0:
        try: exec(code, state)               # the copy runs the turn ...
        except Exception: os._exit(1)        # ... and vanishes if it fails,
    elif os.waitpid(child, 0)[1] == 0:       # or it becomes the episode:
        os._exit(0)                          # then the original is not needed
print("n =", state["n"])
"""
done = subprocess.run([sys.executable, "-c", toy], capture_output=True, text=True)
print(done.stdout, end="")

# %% [markdown]
# Three turns, one of them bad: 1, 2, (99), 3. The kit's sandbox is this, with a *keeper* beside each
# episode: a process that runs no model's code, holds the clock and decides how a turn ended. Files roll
# back as well: the keeper keeps copies, and puts back what changed.
#
# ```text
# notebook ── server ─┬─ keeper ── head (the state) ── child (this turn)     one row an episode
#                     └─ zygote (has everything imported; the keepers are its forks)
# ```
#
# The toy wouldn't survive the next cell. Why not?
#
# ## A turn that never ends

# %%
impatient = box.episode(variables={"x": 1}, limits=Limits(seconds=seconds))
loop = "x = 2\nwhile True:\n    try:\n        while True: pass\n    except: pass"
result = impatient.run(loop)
print(result.status, "·", result.error)
print("x =", impatient.run("print(x)").stdout, end="")

# %% [markdown]
# The toy waits for its child for ever. An exception raised from outside, which is how many sandboxes
# end a turn, would be caught by the bare `except`. The keeper asks nobody; it kills the child. A calculation
# inside a C library ends the same way.
#
# ## How a turn can end
#
# Guess each status before you run the cell: `ok`, `error`, `timeout`, `died` or `limit`.

# %%
attempts = {
    "leaves politely": "import sys; sys.exit(0)",
    "leaves with an error": "import sys; sys.exit('no idea')",
    "leaves at once": "import os; os._exit(0)",
    "crashes the interpreter": "import ctypes; ctypes.string_at(0)",
    "takes 50 GB": "huge = bytearray(50 << 30)",
    "asks the user": "answer = input('which piece? ')",
    "loses its head": "def f(): f()\nf()",
}
for what, code in attempts.items():
    result = episode.run("state.append('?')\n" + code)
    print(f"{what:24s} {result.status:7s} {result.error[:60]}")

# %%
print(episode.run("print(state)", want=("state",)).values)

# %% [markdown]
# One `?`, from the turn that was good. The sixth status is `episode_lost`: the state itself is gone,
# for instance because the machine ran out of memory and the system killed the process that held it. The
# loop of notebook 01 then ends the episode as `lost`, and it is no fault of the answer.
#
# Output has its limits too: a turn that prints a gigabyte or binds a thousand pictures is cut, and says so.

# %%
flood = "for i in range(1000): globals()[f'p{i}'] = photo.copy()\nprint('x' * 10**6)"
result = episode.run(flood)
print(result.status, len(result.stdout), [p.name for p in result.images])
for warning in result.warnings:
    print("-", warning)

# %% [markdown]
# ## The rules of a game
#
# An environment has rules: in AGILE one swap a turn. `before` and `after` are our own code, run inside
# the same transaction; if `after` raises, the turn fails and is undone like any other.

# %%
setup = """
def _rule():
    moved = sum(a != b for a, b in zip(state, _before))
    if moved > 2: raise RuntimeError('one swap a turn')
"""
game = box.episode(variables={"state": ["C", "A", "B"]}, setup=setup)
for code in ("state.sort()", "state[0], state[1] = state[1], state[0]"):
    result = game.run(code, "_before = list(state)", "_rule()", want=("state",))
    print(result.status, result.error, dict(result.values))

# %% [markdown]
# Is that proof against a cheat? The rule lives in the same Python as the code it watches. Predict:

# %%
cheat = "_rule = lambda: None\nstate.sort()"
result = game.run(cheat, "_before = list(state)", "_rule()", want=("state",))
print(result.status, dict(result.values))

# %% [markdown]
# It is not, and no check inside the process can be: code can rewrite whatever lives beside it. So a
# rule is for players, not against cheats, and **a reward never trusts a status**. AGILE's reward reads
# the final answer and compares it with a target that was never in the sandbox (notebook 03).
#
# ## A forged report
#
# The child tells the keeper how its turn went. Code shares that process, so it can find the socket and
# say "ok" itself, then run on into the next turns. Here is one that does.

# %%
print(FORGERY)

# %%
result = impatient.run(FORGERY)
print(result.status, "·", result.error)
print("x =", impatient.run("print(x)").stdout, end="")

# %% [markdown]
# Its report arrived, and the keeper asked back: are you in your loop, waiting for orders? Code that runs
# on doesn't answer. Only after that second answer is the old head killed, so there was something to go
# back to. And a report from an earlier turn can't count later: every turn has a socket of its own.
#
# Code that imitated the *whole* harness, the second answer included, would speak for its own episode.
# What would it gain? Values that it could as well have assigned, and rules that it could as well have
# rewritten.
#
# ## An attack
#
# All this keeps a *clumsy* program from doing harm. Now a hostile one. Reinforcement learning needs no
# malice for that: whatever raises the reward gets found, and reading the answer from a file does.
# Six attempts on things that are outside of the episode. Which will get through?

# %%
# NBVAL_IGNORE_OUTPUT
folder = tempfile.TemporaryDirectory(prefix="kit-answers-")
outside = str(Path(folder.name, "answers.txt"))
Path(outside).write_text("the answer is 42")
attacks = {
    "read a file": f"print(open({outside!r}).read())",
    "see a file": f"import os; print(os.stat({outside!r}).st_size, 'bytes')",
    "write a file": f"open({outside!r}, 'a').close()",
    "use the network": "import socket; socket.socket().bind(('127.0.0.1', 0))",
    "start a program": "import os, sys; os.posix_spawn(sys.executable, ['p'], {})",
    "signal its parent": "import os; os.kill(os.getppid(), 0)",
}
for what, code in attacks.items():
    result = episode.run(code)
    print(f"{what:18s} {result.status:6s} {result.error.partition(': ' + chr(39))[0]}")

# %% [markdown]
# What stopped them? Not a list of forbidden words or modules: Python has too many ways to say the same
# thing. `open` can be had from `io`, from `os`, from an exception's frame. So nothing here looks at the
# *code*. What counts is what the *process* may ask of the kernel, by whatever words. Four layers:
#
# | layer | what it does |
# |---|---|
# | `namespaces` | the process sees other processes, files and networks than you do: only its own |
# | `landlock` | the kernel opens files for it only below Python's library and its own folder |
# | `seccomp` | of some 360 system calls, it may use the 160 that Python needs |
# | `rlimits` | memory, file size, open files and processor time are bounded |
#
# Take them off one at a time. Which attack needs two holes to get through?


# %%
def tried_without(*without: str) -> list[str]:
    """How each attack ends without these layers."""
    with warnings.catch_warnings():  # it would say, rightly, that this is unsafe
        warnings.simplefilter("ignore")
        weaker = Sandbox(without=without, allow_unsafe=True).start()
    with weaker, weaker.episode() as one:
        return [one.run(code).status for code in attacks.values()]


# %%
# NBVAL_IGNORE_OUTPUT
holes = [(), ("namespaces",), ("landlock",), ("seccomp",), ("namespaces", "landlock")]
table = {
    " + ".join(without) or "nothing": tried_without(*without)
    for without in [*holes, LAYERS]
}
names = [*list(table)[:-1], "all four"]
print("taken off:")
for number, name in enumerate(names):
    print(f"  {number}  {name}")
print(f"{'':20s}" + "".join(f"{number:>9d}" for number in range(len(names))))
for row, what in enumerate(attacks):
    ends = ["through" if ends[row] == "ok" else "stopped" for ends in table.values()]
    print(f"{what:20s}" + "".join(f"{end:>9s}" for end in ends))

# %% [markdown]
# With all of them on, nothing gets through. The contents of files are behind two layers, so are
# network and programs: a fault in one is not yet a way out. Signals hang on one alone, and so does
# *seeing* a file: Landlock doesn't hide names. Where a machine has no namespaces (many containers), the
# tier is `partial`, and the sandbox says so instead of hoping.
#
# ## What holds here, and what doesn't
#
# It doesn't ask you to believe any of this. It tries each promise in a throwaway episode:

# %%
# NBVAL_IGNORE_OUTPUT
report = box.guarantees
print("tier:    ", report.tier)
print("enforced:", ", ".join(sorted(report.enforced)))
print("missing: ", ", ".join(sorted(report.missing)) or "nothing")

# %% [markdown]
# `print(box.guarantees)` and `python -m kit doctor` have the long form, with what each promise rests on
# and doesn't cover. Before you let a large model loose, ask for what you need. Here is what a machine
# without namespaces answers:

# %%
# NBVAL_IGNORE_OUTPUT
try:
    Sandbox(require={"metadata", "network"}, without=["namespaces"]).start()
except SandboxError as error:
    print(error)
print("required before training:", ", ".join(sorted(CONFINED)))

# %% [markdown]
# What no layer keeps out: a fault in the kernel itself, which all of them trust; and what can be
# learnt from a shared processor, by timing. If that matters to you, use a machine with nothing on it.
#
# ## Many at once
#
# A rollout plays dozens of episodes. `run_many` runs as many turns at a time as there are cores; the
# others wait, and waiting isn't charged to their time limit. Every fifth turn fails here.

# %%
many = [box.episode(variables={"n": i}) for i in range(episodes)]
codes = ["n *= 2" if i % 5 else "n = -1; 1 / 0" for i in range(episodes)]
turns = [(e, code, "", "", ("n",)) for e, code in zip(many, codes, strict=True)]
statuses = [result.status for result in box.run_many(turns)]
print({status: statuses.count(status) for status in ("ok", "error")})
after = box.run_many([(e, "pass", "", "", ("n",)) for e in many])
expected = [2 * i if i % 5 else i for i in range(episodes)]
assert [r.values["n"] for r in after] == expected
print("every episode holds what it should")

# %% [markdown]
# ## What it costs
#
# A turn is a fork; a start is a fork with a new world around it. How much dearer does each layer make
# them, and how does that compare with a Python per turn, which keeps no state but needs no mechanism?

# %%
crop = "part = photo.crop((40, 40, 120, 120)).resize((380, 380))"
fresh = f"from PIL import Image; photo = Image.new('RGB', (168, 168)); {crop}"


def milliseconds(action) -> float:
    """Median wall time."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)[repeats // 2]


# %%
def costs(*without: str) -> tuple[float, float]:
    """Of a start and of a crop, without these layers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weaker = Sandbox(without=without, allow_unsafe=True).start()
    with weaker, weaker.episode(images={"photo": photo}) as one:
        turn = milliseconds(lambda: one.run(crop))
        return milliseconds(lambda: weaker.episode().close()), turn


# %%
# NBVAL_IGNORE_OUTPUT
steps = {"fork alone": LAYERS, "+ rlimits": LAYERS[:3], "+ seccomp": LAYERS[:2]}
steps |= {"+ landlock": LAYERS[:1], "+ namespaces": ()}
measured = {name: costs(*without) for name, without in steps.items()}
in_process = milliseconds(lambda: exec(crop, {"photo": photo}))
new_python = milliseconds(
    lambda: subprocess.run([sys.executable, "-c", fresh], check=True)
)
print(len(measured) + 2, "ways measured")

# %%
# NBVAL_IGNORE_OUTPUT
turn = {
    "in this process": in_process,
    **{way: cost[1] for way, cost in measured.items()},
}
turn["a new Python"] = new_python
start = {way: cost[0] for way, cost in measured.items()}
for way, value in turn.items():
    also = f"   start {start[way]:6.2f} ms" if way in start else ""
    print(f"{way:16s} turn {value:6.2f} ms{also}")
display(plots.bars({"a turn": turn, "a start": start}, "milliseconds"))

# %% [markdown]
# The mechanism costs milliseconds: a fork, and pictures that travel. The layers add little to a turn,
# because the kernel checks calls it has to answer anyway, and a room of its own adds some to a start. A model
# takes longer than that to say one word. `python -m kit bench sandbox` measures this properly, processor time of all processes,
# memory and other ways to run code included.
#
# ## Paper / here / why different

# %%
# NBVAL_IGNORE_OUTPUT
usual = Limits()
rows = [
    ("", "paper", "here"),
    ("the action is", "Python code", "Python code"),
    ("state lives on", "yes", "yes"),
    ("a failed turn", "not stated", "is undone, files too"),
    ("time limit", "not stated", f"{usual.seconds:g} s, as CodeDance"),
    ("memory limit", "not stated", f"{usual.memory_mb} MB a process"),
    ("confinement", "not stated", f"tier {report.tier}"),
]
for what, theirs, ours in rows:
    print(f"{what:16s} {theirs:14s} {ours}")
box.close()
folder.cleanup()

# %% [markdown]
# The paper describes what the code may do, not how it is run; the values on the right are ours, but for
# the time limit. Undoing a failed turn matters most to learning: "it failed" and "nothing changed" then
# mean the same to the model.
#
# **Try.** Write a turn that leaves a thread running: what does `result.warnings` say? Open a file in one
# turn, read half of it in a second that fails, and the rest in a third: which half do you get? Fill the
# folder with files until an error comes: which one, and what is left of them in the next turn?
#
# Next: [03, GRPO by hand](03_grpo_by_hand.ipynb), where four such episodes become a gradient.
