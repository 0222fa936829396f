"""Results of turns, and a sandbox's report about itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from turn_sandbox.images import NamedImage

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""What a variable must be made of to travel."""

Status = Literal["ok", "error", "timeout", "died", "limit", "episode_lost"]
"""How a turn ended. Only after ``ok`` has anything in the episode changed."""

Tier = Literal["full", "partial", "none"]
"""How well the code is confined; see :func:`turn_sandbox.guarantees`."""


MEANING: Mapping[Tier, str] = {
    "full": "tier 'full': code is confined",
    "partial": "tier 'partial': code is confined, but for what is marked NO",
    "none": "tier 'none': code isn't confined; run only code you would run yourself",
}
"""Tiers in a sentence."""


class SandboxError(RuntimeError):
    """The sandbox itself can't do what was asked; never caused by the code of a turn."""


class ServerDied(SandboxError):
    """Every episode of this server is lost."""


@dataclass(frozen=True)
class Result:
    """One turn.

    Attributes:
        status: ``ok``; ``error``: it raised, or there was nothing to run; ``timeout``; ``died``: its process ended
            (crash, ``os._exit``); ``limit``: it used more code, processes, memory, CPU, disk or data than allowed;
            ``episode_lost``: the state of the episode is gone and every later turn says so too. After anything but
            ``ok`` the variables and files are what they were before the turn.
        stdout, stderr: what it wrote, control characters made visible, at most ``Limits.stdout_chars`` each; here and
            in ``error``, folders of this installation read ``<python>`` and ``<sandbox>``.
        error: one line that says what went wrong, in which line of the turn's code, and, if that asked for what a
            session can't do, what to do instead; empty after ``ok``.
        images: images that this turn bound to a public name, showed (``show``, ``display``, ``image.show``) or saved
            to a file, and matplotlib's figures; if there is none of these, images that it edited in place. On white
            where they are transparent; sized and left out as its limits say.
        values: the JSON values of the names in ``want``; empty unless ``ok``.
        warnings: what was left out (output over a cap, values that aren't JSON, images no model reads), stopped
            (threads of its own, processes) or not started (a program), and how to show what the turn may have meant to
            (an array).
        cpu_s: CPU seconds of the turn's own process.
        wall_s: seconds from the start of the turn's process to its verdict.
        queue_s: seconds before that, waiting for a free core.
        tier: how well the code was confined.
    """

    status: Status
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    images: tuple[NamedImage, ...] = ()
    values: Mapping[str, JSON] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    cpu_s: float = 0.0
    wall_s: float = 0.0
    queue_s: float = 0.0
    tier: Tier = "none"


@dataclass(frozen=True)
class Guarantee:
    """One thing a sandbox promises or doesn't.

    Attributes:
        name: for ``require`` and tables.
        says: the promise.
        enforced: whether it held when it was tried on this machine.
        by: what enforces it; empty if nothing does.
        missing: what it doesn't cover; for one not enforced, what code can do.
    """

    name: str
    says: str
    enforced: bool
    by: str
    missing: str


class Report(Sequence[Guarantee]):
    """Guarantees as they were measured; prints as a table.

    Args:
        tier: the tier that was reached.
        guarantees: each with whether it held.
        absent: guarantee → why it can't be had here.
    """

    def __init__(self, tier: Tier, guarantees: Sequence[Guarantee], absent: Mapping[str, str]) -> None:
        self.tier, self.absent = tier, absent
        self._all = tuple(guarantees)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # Sequence's two overloads
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Guarantee]:
        return iter(self._all)

    @property
    def enforced(self) -> frozenset[str]:
        """Names of those that hold."""
        return frozenset(item.name for item in self if item.enforced)

    @property
    def missing(self) -> frozenset[str]:
        """Names of those that don't."""
        return frozenset(item.name for item in self if not item.enforced)

    def __str__(self) -> str:
        rows = [f"sandbox: {MEANING[self.tier]}"]
        rows += [f"  layer {layer!r} is absent: {why}" for layer, why in self.absent.items()]
        for item in self:
            rows.append(f"  {'yes' if item.enforced else 'NO ':3s} {item.name:13s} {item.says}")
            rows += [f"{'':19s}by {item.by}"] if item.enforced and item.by else []
            rows += [f"{'':19s}but {item.missing}"] if item.missing else []
        return "\n".join(rows)
