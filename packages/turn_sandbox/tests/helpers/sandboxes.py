"""Sandboxes for tests: as root and as an ordinary user, with all layers and without namespaces."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

from turn_sandbox import Limits, Sandbox, SandboxEpisode, SandboxError, clean, connection

USER = 1234
"""An ordinary user's id, which need not exist."""

TIERS = {"full": (), "partial": ("namespaces",)}
IDENTITIES = ("root", "user")
KINDS = [(identity, tier) for identity in IDENTITIES for tier in TIERS]


QUICK = Limits(seconds=20.0, memory_mb=128)


def needs(identity: str) -> None:
    """Skip what only root can try."""
    if identity == "root" and os.geteuid() != 0:
        pytest.skip("these tests don't run as root")


def as_user(module: str, *arguments: str) -> list[str]:
    """The command that starts a sandbox's server, as an ordinary user."""
    helper = str(Path(__file__).with_name("as_user.py"))
    ordinary = clean.command(module, *arguments)
    if os.geteuid() != 0:
        return ordinary
    return [sys.executable, helper, str(USER), sys.base_prefix, clean.HOME, "--", *ordinary]


def start(identity: str, tier: str, limits: Limits, without: Sequence[str] = (), workers: int = 2) -> Sandbox:
    """A started sandbox whose processes are root's or an ordinary user's."""
    needs(identity)
    box = Sandbox(limits, workers=workers, without={*TIERS[tier], *without}, allow_unsafe=bool(without))
    with pytest.MonkeyPatch.context() as patch:
        if identity == "user":
            patch.setattr(connection, "command", as_user)
        try:
            box.start()
        except SandboxError as error:
            lacks(error)
    absent = {layer: why for layer, why in box.missing.items() if layer not in box.without}
    if absent:
        box.close()
        lacks(absent)
    return box


def lacks(why: object) -> NoReturn:
    """Skip what this machine can't do, and say why. The sandbox's own tests run where everything can be done."""
    if os.environ.get("CI"):
        pytest.fail(f"a layer of confinement is missing: {why}")
    pytest.skip(f"this machine lacks a layer of confinement: {why}")


START = [["B", "A"], ["in"], "good"]
DAMAGE = "import os, sys\nstate.append('X')\nopen('new', 'w').write('x')\nopen('in/a.txt', 'w').write('bad')\n"
"""What a turn does before it goes wrong; its last line is the fourth."""


def episode(box: Sandbox, limits: Limits | None = None) -> SandboxEpisode:
    """One that holds a list and a file."""
    return box.episode(variables={"state": ["B", "A"]}, files={"in/a.txt": b"good"}, limits=limits)


def state(one: SandboxEpisode) -> object:
    """What it holds: variable, file names, content."""
    code = "import os\n_now = [state, sorted(os.listdir('.')), open('in/a.txt').read()]"
    result = one.run(code, want=("_now",))
    return result.values.get("_now", result)


def until(done: Callable[[], bool]) -> None:
    """Wait for something that happens soon; hours of waiting would hide that it doesn't."""
    for _ in range(2000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def belongings(zygote: int) -> tuple[str, list[psutil.Process]]:
    """A sandbox's folder, and everything forked from its zygote, which all bear the same command line."""
    line = psutil.Process(zygote).cmdline()
    return line[-2], [process for process in psutil.process_iter() if _line(process) == line]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
