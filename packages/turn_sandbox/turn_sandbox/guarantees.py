"""Measure the sandbox's guarantees on this machine: tried, not assumed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Mapping

from turn_sandbox.clean import environment
from turn_sandbox.episode import SandboxEpisode
from turn_sandbox.probes import PROBES, Probe
from turn_sandbox.result import Guarantee, Report, Tier

NAMES = tuple(probe.name for probe in PROBES)
"""What can be required."""


def measure(
    start_episode: Callable[..., SandboxEpisode], tier: Tier, missing: Mapping[str, str], names: Collection[str] = NAMES
) -> Report:
    """Try promises of a sandbox, each in a throwaway episode.

    Args:
        start_episode: :meth:`turn_sandbox.Sandbox.episode` of the sandbox that is tried.
        tier: how well that sandbox confines code.
        missing: why a layer of its confinement is absent, by the layer's name.
        names: the promises to try.
    """
    with tempfile.NamedTemporaryFile(prefix="kit-outside-") as outside:
        found = [_try(start_episode, probe, outside.name, missing) for probe in PROBES if probe.name in names]
    return Report(tier, found, missing)


def _try(
    start_episode: Callable[..., SandboxEpisode], probe: Probe, outside: str, missing: Mapping[str, str]
) -> Guarantee:
    # Names only: the values are what no episode should see.
    names = sorted(set(os.environ) - set(environment("")))
    variables = {"_outside": outside, "_names": list(names)}
    with start_episode(variables=variables, limits=probe.limits) as episode:
        kept = probe.kept(episode)
    if not kept:
        return Guarantee(probe.name, probe.says, False, "", probe.otherwise)
    by = "; ".join(words for layer, words in probe.by.items() if layer not in missing)
    return Guarantee(probe.name, probe.says, True, by, probe.limit)
