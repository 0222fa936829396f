"""What a sandbox promises on this machine: tried, not assumed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from typing import TYPE_CHECKING

from kit.sandbox.clean import environment
from kit.sandbox.probes import PROBES, Probe
from kit.sandbox.result import Guarantee, Report

if TYPE_CHECKING:
    from kit.sandbox.client import Sandbox


NAMES = tuple(probe.name for probe in PROBES)
"""What can be required."""


def measure(box: Sandbox, names: Collection[str] = NAMES) -> Report:
    """Try these promises in throwaway episodes of ``box``."""
    with tempfile.NamedTemporaryFile(prefix="kit-outside-") as outside:
        found = [_try(box, probe, outside.name) for probe in PROBES if probe.name in names]
    return Report(box.tier, found, box.missing)


def _try(box: Sandbox, probe: Probe, outside: str) -> Guarantee:
    # Names only: the values are what no episode should see.
    names = sorted(set(os.environ) - set(environment("")))
    variables = {"_outside": outside, "_names": list(names)}
    with box.episode(variables=variables, limits=probe.limits) as episode:  # type: ignore[arg-type]  # dict is invariant
        kept = probe.kept(episode)
    if not kept:
        return Guarantee(probe.name, probe.says, False, "", probe.otherwise)
    by = "; ".join(words for layer, words in probe.by.items() if layer not in box.missing)
    return Guarantee(probe.name, probe.says, True, by, probe.limit)


def guarantees() -> Report:
    """What a sandbox holds on this machine, tried now in one of its own (seconds)."""
    from kit.sandbox.client import Sandbox

    with Sandbox(allow_unsafe=True) as box:
        return box.guarantees


def report() -> str:
    """:func:`guarantees` as a table."""
    return str(guarantees())
