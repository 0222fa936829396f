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
# it never ends; some crashes the process that runs it. How do you run thousands of such
# [turns](../docs/glossary.md#turn), keep what each [episode](../docs/glossary.md#episode) has made so
# far, and lose nothing when one goes wrong?
#
# **The paper.** [AGILE, arXiv:2510.01304](https://arxiv.org/abs/2510.01304), section 3.1 and algorithm
# 1, line 6: parse the code, execute it, return what it made. Figure 2a of the paper depicts how model and
# environment interact. How the environment runs code safely the paper doesn't say: this notebook is about
# that, and all of it is ours.
#
# **Afterwards you can** say what a turn leaves behind when it works and when it doesn't; build the mechanism in ten
# lines; name six ways in which a turn ends; say what forged reports can and can't achieve; name the layer that stops an
# attack, and read the sandbox's report on your own machine; say what a turn costs.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 1 GB |
# | `gpu` | nothing here needs one | 1 | 1 GB |
# | `node` | nothing here needs one | 1 | 1 GB |
#
# You need Python. Notebook 01 shows where the turns come from; all later ones can be read without this one.

# %% tags=["parameters"]
seconds: float = 2.0  # time limit where a turn never ends (the kit's default is 15)
episodes: int = 32  # how many take a turn together near the end
repeats: int = 40  # of each measurement of what a turn costs

# %%
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from itertools import pairwise
from math import comb
from pathlib import Path
from random import sample
from statistics import median, quantiles
from textwrap import fill

from IPython.display import Markdown, display
from kit.evaluate.intervals import Interval
from kit.view import plots
from numpy.random import default_rng
from pictures.scenes import scene
from PIL import Image
from turn_sandbox import CONFINED, Limits, Sandbox, SandboxError
from turn_sandbox.confine import LAYERS
from turn_sandbox.probes import FORGERY
from workshop.exercises import check, hint, solution

# %%
box = Sandbox(allow_unsafe=True).start()

# %% [markdown]
# `allow_unsafe` means: where the system can't confine code (macOS, very old Linux), run this notebook's
# code all the same, with a warning. Without it the sandbox refuses. Its limits are shown below.
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
# `part` came back because the turn bound it. `photo` didn't: it was there before. The next turn finds all
# that this one left, functions and imports too.

# %%
episode.run("import math\ndef area(image): return math.prod(image.size)")
print(episode.run("print(state, part.size, area(part))").stdout, end="")

# %% [markdown]
# ## A bad turn
#
# Now a turn that changes `state`, deletes a picture, writes a file, and only then fails. Predict what the
# turn after it prints.

# %%
bad = "state.append('junk')\ndel part\nopen('note.txt', 'w').write('hi')\nstate[7]"
result = episode.run(bad)
print(result.status, "·", result.error)

# %% tags=["guess"]
code = "import os\nprint(state, part.size, os.listdir())"
print(episode.run(code).stdout, end="")

# %% [markdown]
# <details><summary>What did the failed turn leave behind? Guess first, then open.</summary>
#
# Nothing. A turn is a *transaction*: it happens as a whole or not at all. This matters for learning. The
# model is told "Error: …". If half of the turn had taken effect, the model would have a wrong idea of
# `state` from here on, and would later be punished for a change that it was never told about.
#
# </details>
#
# **Exercise 02.1.** A new episode starts with `state = ["A", "B"]` and runs four turns:
# `state.append("C")`, then `state.append("D"); state[9]`, then `state.reverse()`, then
# `state.clear(); 1 / 0`. What is `state` now?

# %% tags=["exercise"]
state = ...  # a list
check("02.1", state)

# %% [markdown]
# ## The mechanism, in ten lines
#
# Arbitrary Python can't be undone, so the sandbox never lets it touch the original. `os.fork` makes a copy of a process, with
# all its objects, quickly, because memory is shared until one of the two writes to it. The copy runs the turn. If the turn
# fails, the copy ends, and the original is unchanged. If it succeeds, *the copy goes on* and the original is done (in the toy
# it waits until the copy has played all the rest).

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
# Three turns, one of them bad: 1, 2, (99), 3. The kit's sandbox works in the same way, with a *keeper*
# beside each episode: a process that runs no model's code, measures the time and decides how a turn
# ended. Files are restored as well: the keeper keeps copies, and puts back what changed.
#
# ```text
# notebook ── server ─┬─ keeper ── head (the state) ── child (this turn)     one row an episode
#                     └─ zygote (has everything imported; the keepers are its forks)
# ```
#
# **Exercise 02.2.** For plain values a deep copy does what the fork does. Write transactions for a
# dictionary of variables: run the pieces of code one after another, each as a whole or not at all, and
# return the variables in the end. `exec(code, {}, copied)` runs code on the dictionary `copied`; after
# `from copy import deepcopy`, `deepcopy(variables)` copies a dictionary with all that it holds. (Ten
# minutes.)


# %% tags=["exercise"]
def transactions(variables: dict, codes: list[str]) -> dict:
    """The variables after all turns; a turn that fails leaves no trace."""
    ...


check("02.2", transactions)

# %% [markdown]
# ## A turn that never ends
#
# The toy of ten lines would not survive the turn below. Find the reason before you read on.

# %%
impatient = box.episode(variables={"x": 1}, limits=Limits(seconds=seconds))
loop = "x = 2\nwhile True:\n    try:\n        while True: pass\n    except: pass"
result = impatient.run(loop)
print(result.status, "·", result.error)
print("x =", impatient.run("print(x)").stdout, end="")

# %% [markdown]
# <details><summary>Why would the toy not survive it?</summary>
#
# The toy waits for its child for ever. Many sandboxes end a turn by raising an exception in it; the bare
# `except` would catch that. The keeper kills the child instead, which code can't catch. A calculation
# inside a C library ends in the same way.
#
# </details>
#
# ## How a turn can end
#
# Guess each status before you open the output: `ok`, `error`, `timeout`, `died` or `limit`. Each turn
# first appends a `?` to `state`. How many of them will be in it in the end?

# %% tags=["guess"]
attempts = {
    "leaves politely": "import sys; sys.exit(0)",
    "leaves with an error": "import sys; sys.exit('no idea')",
    "leaves at once": "import os; os._exit(0)",
    "crashes the interpreter": "import ctypes; ctypes.string_at(0)",
    "takes 50 GB": "huge = bytearray(50 << 30)",
    "asks the user": "answer = input('which piece? ')",
    "calls itself for ever": "def f(): f()\nf()",
}
for what, code in attempts.items():
    result = episode.run("state.append('?')\n" + code)
    print(f"{what:24s} {result.status:7s} {result.error[:60]}")

# %% tags=["guess"]
print(episode.run("print(state)", want=("state",)).values)

# %% [markdown]
# <details><summary>Which turns left their `?`? Guess first, then open.</summary>
#
# Only a turn that ends with `ok` leaves it: the first one. `sys.exit(0)` is an end like any other.
#
# </details>
#
# `timeout` you saw above. `limit` doesn't occur here: it ends a turn that takes more of something than it may, such as
# more processes and threads at once than `Limits` allows. The sixth status is `episode_lost`: the state itself is gone,
# for instance because the machine ran out of memory and the system killed the process that held it. The loop of notebook
# 01 then ends the episode as `lost`, which says nothing about the answer.
#
# Output has its limits too: if a turn prints a gigabyte or binds a thousand pictures, the sandbox cuts
# the output and says so.

# %%
flood = "for i in range(1000): globals()[f'p{i}'] = photo.copy()\nprint('x' * 10**6)"
result = episode.run(flood)
print(result.status, len(result.stdout), [p.name for p in result.images])
for warning in result.warnings:
    print("-", warning)

# %% [markdown]
# ## The rules of a game
#
# An environment has rules: in AGILE one swap a turn. `run` takes two more pieces of code, which are ours:
# one runs before the turn, one after it, inside the same transaction. If the second one raises an
# exception, the turn fails and is undone like any other.

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
# **Exercise 02.3.** This rule only counts places. A turn can keep to it and still spoil the game, for
# instance with `state[0] = "B"`. Write a better rule: True if the turn changed nothing or swapped two
# pieces, else False.


# %% tags=["exercise"]
def follows_rule(before: list[str], after: list[str]) -> bool:
    """True if at most one swap leads from one list to the other."""
    ...


check("02.3", follows_rule)

# %% [markdown]
# Even a correct rule lives in the same Python as the code that it watches. Predict how the next turn ends:
# with an error, or with three pieces moved?

# %% tags=["guess"]
cheat = "_rule = lambda: None\nstate.append(state.pop(0))"
result = game.run(cheat, "_before = list(state)", "_rule()", want=("state",))
print(result.status, dict(result.values))

# %% [markdown]
# No check inside the process can prevent this: code can rewrite everything in its own process. So a rule
# guides honest players and doesn't stop a cheat, and **a reward never trusts a status**. AGILE's reward
# reads the final answer and compares it with a target that was never in the sandbox (notebook 03).
#
# ## A forged report
#
# The child tells the keeper how its turn went. The model's code runs in that same process, so it can find
# the socket, say "ok" itself, and then run on into the next turns. This code does it:

# %%
print(FORGERY.replace(' "images"', '\n        "images"').strip())  # a long line, broken

# %%
result = impatient.run(FORGERY)
print(result.status, "·", result.error)
print("x =", impatient.run("print(x)").stdout, end="")

# %% [markdown]
# Its report arrived, and the keeper asked back: are you in your loop, waiting for orders? Code that runs
# on doesn't answer. The old state is only given up after that second answer, so here there was something
# to go back to. And a report from an earlier turn can't count later: every turn has a socket of its own.
#
# Code that imitated the *whole* child, the second answer included, could decide how its own episode
# appears. It would gain nothing by it: it could assign the same values, and rewrite the same rules, in
# an ordinary turn.
#
# ## An attack
#
# So far the programs were *faulty*; now they are hostile. Reinforcement learning makes hostile programs
# although no person wants them: it finds whatever raises the reward, and reading the answer from a file
# raises it. Here are six attempts on things outside of the episode. Guess which get through on your machine.

# %% tags=["guess"]
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
# The sandbox has no list of forbidden words or modules: Python has too many ways to do the same. `open` can
# be reached through `io`, through `os`, through an exception's frame. So nothing here looks at the *code*.
# The limits are on what the *process* may ask of the operating system's kernel. There are four layers:
#
# | layer | what it does |
# |---|---|
# | `namespaces` | the process sees other processes, files and networks than you do: only its own |
# | `landlock` | the kernel opens files for it only below Python's library and its own folder |
# | `seccomp` | of the kernel's system calls, it may use only those that Python needs |
# | `rlimits` | memory, file size, open files and processor time are bounded |
#
# Take them off one at a time. Guess which attacks are still stopped when any *one* layer is missing.


# %%
def tried_without(*without: str) -> list[str]:
    """Status of each attack without these layers."""
    with warnings.catch_warnings():  # it would warn, rightly: unsafe
        warnings.simplefilter("ignore")
        weaker = Sandbox(without=without, allow_unsafe=True).start()
    with weaker, weaker.episode() as one:
        return [one.run(code).status for code in attacks.values()]


# %% tags=["guess"]
# NBVAL_IGNORE_OUTPUT
holes = [(), *((layer,) for layer in LAYERS), ("namespaces", "landlock"), LAYERS]
table = {" + ".join(without) or "nothing": tried_without(*without) for without in holes}
names = [*list(table)[:-1], "all four"]
print("taken off:")
for number, name in enumerate(names):
    print(f"  {number}  {name}")
print(f"{'':20s}" + "".join(f"{number:>9d}" for number in range(len(names))))
for row, what in enumerate(attacks):
    ends = ["through" if ends[row] == "ok" else "stopped" for ends in table.values()]
    print(f"{what:20s}" + "".join(f"{end:>9s}" for end in ends))

# %% [markdown]
# <details><summary>With all layers on, and with one missing</summary>
#
# With all of them on, nothing gets through. At least two layers protect the contents of files, the network and the
# start of programs, so a fault in one of them is not enough. Only one layer stops signals, and only one hides names and
# sizes of files: Landlock doesn't. Without `rlimits` all six are still stopped: it is there for the turns further up
# that take 50 GB, not for these. Where a machine has no namespaces (many containers), the tier is `partial`, and the
# sandbox says so.
#
# </details>
#
# ## What holds here, and what doesn't
#
# You need not believe any of this. The sandbox tries each promise on your machine, in an episode that it
# throws away:

# %%
# NBVAL_IGNORE_OUTPUT
report = box.guarantees
print("tier:    ", report.tier)
print(fill("enforced: " + ", ".join(sorted(report.enforced)), 84))
print("missing: ", ", ".join(sorted(report.missing)) or "nothing")

# %% [markdown]
# `print(box.guarantees)` and `python -m kit doctor` have the long form, with what each promise rests on
# and doesn't cover. Before you run the code of a large model, require what you need. A machine without
# namespaces answers this:

# %%
# NBVAL_IGNORE_OUTPUT
try:
    Sandbox(require={"metadata", "network"}, without=["namespaces"]).start()
except SandboxError as error:
    print(fill(str(error), 84))
print(fill("required before training: " + ", ".join(sorted(CONFINED)), 84))

# %% [markdown]
# Two things no layer keeps out: a fault in the kernel itself, which all of them trust, and what code can
# learn by timing on a shared processor. If that matters to you, use a machine with nothing else on it.
#
# ## Many at once
#
# A [rollout](../docs/glossary.md#rollout) plays dozens of episodes. `run_many` runs as many turns at a
# time as there are cores; the others wait, and waiting isn't charged to their time limit. Every fifth turn
# fails here.

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
# A turn is a fork and what goes with it: the code is sent, files are watched, the pictures that it made come back. A start
# is a fork with new namespaces around it. The cells below measure both with no layer, then with one more, and one more.
# For comparison they start a new Python for each turn, which keeps no state but needs no mechanism. Guess how many times
# slower the new Python is than a turn with all layers.
#
# A machine that does other things besides is slower now and faster then. So the ways take turns, in another order in every
# round: what the machine does besides falls on all of them, and none is always the first.

# %%
crop = "part = photo.crop((40, 40, 120, 120)).resize((380, 380))"
fresh = f"from PIL import Image; photo = Image.new('RGB', (168, 168)); {crop}"
steps = {"no layer": LAYERS, "+ rlimits": LAYERS[:3], "+ seccomp": LAYERS[:2]}
steps |= {"+ landlock": LAYERS[:1], "+ namespaces": ()}
with warnings.catch_warnings():  # of those that lack a layer
    warnings.simplefilter("ignore")
    boxes = {
        way: Sandbox(without=without, allow_unsafe=True).start()
        for way, without in steps.items()
    }
sessions = {way: one.episode(images={"photo": photo}) for way, one in boxes.items()}

turn = {"in this process": lambda: exec(crop, {"photo": photo})}
turn |= {way: partial(one.run, crop) for way, one in sessions.items()}
turn["a new Python"] = partial(subprocess.run, [sys.executable, "-c", fresh])
start = {way: lambda one=one: one.episode().close() for way, one in boxes.items()}


# %%
def by_turns(ways) -> dict[str, list[float]]:
    """Milliseconds of each way, round after round; a first round isn't counted."""
    times = {way: [] for way in ways}
    for _ in range(repeats + 1):
        for way, action in sample([*ways.items()], len(ways)):
            began = time.perf_counter()
            action()
            times[way].append(1000 * (time.perf_counter() - began))
    return {way: some[1:] for way, some in times.items()}


# %%
def coin(heads: int, of: int) -> float:
    """How often a coin is at least as one-sided in so many throws."""
    fewer = min(heads, of - heads)
    return min(1.0, 2 * sum(comb(of, k) for k in range(fewer + 1)) / 2**of)


def middle(times) -> Interval:
    """The median, and the quartiles: half of the rounds lie between them."""
    low, half, high = quantiles(times, n=4)
    return Interval(half, low, high, len(times))


# %%
turns, starts = by_turns(turn), by_turns(start)
for one in boxes.values():
    one.close()
print(len(turns), "ways measured", repeats, "times each")

# %% tags=["guess"]
# NBVAL_IGNORE_OUTPUT
each = {"a turn": turns, "a start": starts}
each = {
    what: {way: middle(ms) for way, ms in ways.items()} for what, ways in each.items()
}
for way, took in each["a turn"].items():
    began = each["a start"].get(way)
    also = (
        f"start {began.value:6.2f} [{began.low:.2f}, {began.high:.2f}]" if began else ""
    )
    cost = f"turn {took.value:6.2f} [{took.low:.2f}, {took.high:.2f}]"
    print(f"{way:16s} {cost:30s} {also}")
title = "milliseconds of a turn and of a start; the lines hold half of the rounds"
display(plots.bars(each, "milliseconds", title=title))

# %% [markdown]
# Does a layer cost something that can be told from the scatter? Compare each row with the one above it, round by round,
# and the last with the first: in how many rounds was it slower with the layer? Where a layer costs nothing a coin
# decides, and about half of the rounds are slower. A difference counts here where a coin would be so one-sided less
# than once in a hundred times.

# %%
# NBVAL_IGNORE_OUTPUT
told = {}
none, *_, last = steps
compared = {way[2:]: (before, way) for before, way in pairwise(steps)}
for what, times in {"a turn": turns, "a start": starts}.items():
    for layer, (before, way) in (compared | {"all four": (none, last)}).items():
        pairs = zip(times[before], times[way], strict=True)
        adds = [now - then for then, now in pairs]
        slower = sum(more > 0 for more in adds)
        sure = coin(slower, repeats) < 0.01
        told[f"{layer} to {what}"] = f"{median(adds):+.1f} ms" if sure else ""
        seen = f"{median(adds):+6.2f} ms" if sure else "no difference seen"
        rounds = f"slower in {slower} of {repeats} rounds"
        print(f"{layer:10s} adds to {what:7s} {seen:18s} ({rounds})")
slower = each["a turn"]["a new Python"].value / each["a turn"]["+ namespaces"].value
print(f"a new Python for each turn takes {slower:.1f} times a turn with all layers")

# %% [markdown]
# The mechanism costs milliseconds: for the fork, and for the pictures that go from process to process. A 7B model takes about
# 25 ms for one token: notebook 05 computes 102 s for 4,096 of them, one after another, on a GPU that reads 2 TB/s. What a
# single layer adds may be less than the scatter of these rounds; all four together are compared as well. (One would expect
# little for a turn, because the kernel only checks calls that it has to answer anyway, and something for a start. If your
# machine prints a negative number, don't read it as time saved: it is an error of the measurement.) Raise `repeats`, or run
# `python -m kit bench sandbox`: it measures the processor time of all processes, which others don't add to, memory, and other
# ways to run code.
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
# The paper describes what the code may do, not how it is run. The values on the right are ours, except the
# time limit, which is from [CodeDance, arXiv:2512.17312](https://arxiv.org/abs/2512.17312). For learning,
# it matters most that a failed turn is undone: "it failed" and "nothing changed" then mean the same.
#
# **Try.** Write a turn that leaves a thread running, and read `result.warnings`. Open a file in one turn, read half of it
# in a second that fails, then print `f.read()` in a third. Fill the folder with files until an error comes, and look at
# what is left of them in the next turn.
#
# <details><summary>What comes out? Try first, then open.</summary>
#
# The thread is ended, and a warning says so. The third turn prints the whole file: how far the failed turn had read is
# undone too. Of the files nothing is left.
#
# </details>
#
# ## What you have seen
#
# How do you run thousands of turns, keep what each episode has made, and lose nothing when one goes wrong?

# %% tags=["figure"]
# NBVAL_IGNORE_OUTPUT
failed, dear = statuses.count("error"), [f"{k} {ms}" for k, ms in told.items() if ms]
a_turn, a_start = (f"{each[what]['+ namespaces'].value:.0f} ms" for what in each)
new_python = each["a turn"]["a new Python"].value
held = sum(end != "ok" for end in table["nothing"])
display(
    Markdown(f"""
- **Each turn runs in a fork of its session, and only one that ends well becomes the
  session.** Of {len(statuses)} turns handed over together {failed} failed, and every episode still held
  what it should.
- With all layers on, {held} of {len(attacks)} attacks were stopped here (tier:
  {report.tier}).
- The price: {a_turn} a turn and {a_start} a start, where a new Python
  for each turn takes {new_python:.0f} ms. What the layers change, where it is more than the scatter:
  {", ".join(dear) or "none, in " + str(repeats) + " rounds"}.
""")
)

# %% [markdown]
# Next: [03, GRPO by hand](03_grpo_by_hand.ipynb), where four such episodes become a gradient.
