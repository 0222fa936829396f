"""A sandbox for code that a model wrote: persistent, transactional, timed, captured, confined.

**It does not protect against** faults in the kernel, which every layer trusts; what can be learnt from a shared
processor by timing it; code that wants to use up the time and memory it was granted; images and texts that are
made to mislead whoever looks at them. A turn's own report can lie about its own episode: a reward must not trust
it. Pipes are not rolled back, nor is memory that a turn maps for reading and then makes writable by hand. Without
namespaces (tier ``partial``) code can learn which files exist and fill the disk while it runs; :func:`guarantees`
tries every promise on this machine and tells. On other systems than Linux nothing confines code (tier ``none``),
and a sandbox only starts if ``allow_unsafe`` is given.

An *episode* is a Python session with a directory of its own. A *turn* is a piece of code that happens as a whole or not
at all: variables, files and where open files stand are afterwards as it left them, or as they were before. The
trick is ``fork``: the process with the state never runs code, it makes a copy of itself that does. If the turn is good,
the copy takes its place; if not, the copy is killed. No exception can be swallowed, no clean-up can be forgotten::

    client ──── server ──── zygote                          has imported everything once; forks, never runs code
    asks,       as many       │
    waits       turns at      ├─ keeper ──── head ──── child     an episode: a turn in the child
                once as       │  deadline,   the state  runs the
                there are     │  caps,       after the  code; becomes
                cores         │  verdict,    last good  the head if
                              │  clean-up    turn       it was good
                              └─ keeper ──── head                another episode, between turns

A turn takes two steps to count. The child reports on a socket made for this turn, and the kernel says who wrote.
The keeper then kills what else the turn started, asks the child to answer once more from its loop, rids it of
threads, copies the files that changed, and only then kills the old head. Whatever goes wrong until then, the old
head is still there and its files are put back. Server and keeper never run or unpack anything of the code's but
checked headers and raw bytes.

Code is confined by what its *process* may ask of the kernel, not by what its text may say: a list of allowed
imports would be a guess. The head puts the layers on before it runs anything, and nobody can take them off; the
child inherits them. Namespaces give it a file system of its own, no network and no other processes; Landlock
limits what it may open; a filter allows the system calls Python needs and no others; limits bound memory, files
and processor time.

Each process has its file, from outside in::

    client.py, episode.py, connection.py   the user's own process; only talks to a socket
    server.py                              as many turns at once as workers
    zygote.py, hooks.py                    has everything imported; forks a keeper for each episode, one in advance
    keeper.py, process_group.py,           runs no code of the turns: deadline, caps, verdicts, clean-up
    watch.py, verdict.py, files.py
    head.py, turn.py, cell.py              the state after the last good turn; a forked child runs the next
    shown.py, convert.py, capture.py       which images a turn showed, in whatever it holds them, and what travels
    advice.py, event_loop.py,              what a session can't do, in plain words; asyncio without sockets
    installation.py
    confine.py, namespaces.py,             the layers, and the calls of the kernel they are made of
    landlock.py, seccomp.py, syscalls.py,
    kernel.py, linux.py
    guarantees.py, probes.py               tries what holds on this machine and says so
    limits.py, result.py, checks.py,       what goes in and what comes out
    wire.py, clean.py
"""

from turn_sandbox.client import PLOTTING, Sandbox, guarantees, report
from turn_sandbox.episode import SandboxEpisode
from turn_sandbox.limits import Limits
from turn_sandbox.probes import CONFINED
from turn_sandbox.result import Guarantee, Report, Result, SandboxError

__all__ = [
    "CONFINED",
    "PLOTTING",
    "Guarantee",
    "Limits",
    "Report",
    "Result",
    "Sandbox",
    "SandboxEpisode",
    "SandboxError",
    "guarantees",
    "report",
]
