"""What a sandbox promises on this machine: tried, not assumed."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from kit.sandbox.clean import environment
from kit.sandbox.probes import Probe, probes
from kit.sandbox.result import Guarantee, Report

if TYPE_CHECKING:
    from kit.sandbox.client import Sandbox


NAMES = tuple(probe.name for probe in probes(root=False))
"""What can be required."""


def measure(box: Sandbox) -> Report:
    """Try every promise in throwaway episodes of ``box``."""
    with tempfile.NamedTemporaryFile(prefix="kit-outside-") as outside:
        found = [_try(box, probe, outside.name) for probe in probes(os.geteuid() == 0)]
    return Report("none", found)


def _try(box: Sandbox, probe: Probe, outside: str) -> Guarantee:
    # Names only: the values are what no episode should see.
    names = sorted(set(os.environ) - set(environment("")))
    variables = {"_outside": outside, "_client": os.getpid(), "_names": list(names)}
    with box.episode(variables=variables, limits=probe.limits) as episode:  # type: ignore[arg-type]  # dict is invariant
        kept = probe.kept(episode)
    if kept:
        return Guarantee(probe.name, probe.says, True, probe.by, probe.limit)
    return Guarantee(probe.name, probe.says, False, "", probe.otherwise)


def guarantees() -> Report:
    """What a sandbox holds on this machine, tried now in one of its own (seconds)."""
    from kit.sandbox.client import Sandbox

    with Sandbox() as box:
        return box.guarantees


def report() -> str:
    """:func:`guarantees` as a table."""
    return str(guarantees())
