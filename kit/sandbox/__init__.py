"""A sandbox for code that a model wrote: persistent, transactional, timed, captured.

Each process has its file, from outside in::

    client.py, connection.py   the kit's own process; only talks to a socket
    server.py                  as many turns at once as workers
    zygote.py                  has everything imported; forks a keeper for each episode
    keeper.py, watch.py        runs no code of the turns: deadline, caps, verdicts, clean-up
    head.py, turn.py           the state after the last good turn; a forked child runs the next
    files.py, capture.py       files that roll back; pictures of a turn
    guarantees.py              tries what holds on this machine and says so

This cut confines nothing: its tier is ``none``, and :func:`guarantees` says what that means.
"""

from kit.sandbox.client import PLOTTING, Sandbox, SandboxEpisode
from kit.sandbox.guarantees import guarantees, report
from kit.sandbox.limits import Limits
from kit.sandbox.probes import CONFINED
from kit.sandbox.result import Guarantee, Report, Result, SandboxError

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
