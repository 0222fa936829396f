r"""Test a paper's claims: each check is a statistic with an interval and a limit, and the verdict follows.

A claim is one or more checks, each a statistic with its 95 % interval and a limit that the paper's module fixed
before anything was measured. The verdict follows from the intervals alone:

- **holds**: every check's interval lies wholly on the claimed side of its limit;
- **doesn't**: some check's interval lies wholly on the other side;
- **undecided**: anything else. These data can't tell.

All checks of a claim must pass, so each may be judged at 95 % without correction (an
intersection–union test). Statistics over seeds use :func:`kit.evaluate.intervals.contrast`, whose interval
covers both other seeds and other images. With three seeds Student's t has two degrees of freedom and is wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kit.evaluate.intervals import Interval

Verdict = Literal["holds", "doesn't", "undecided"]


@dataclass(frozen=True)
class Check:
    """One statistic against one limit.

    Attributes:
        name: the statistic's name.
        interval: its value with a 95 % interval.
        limit: in the statistic's unit, fixed before measuring.
        side: the side of the limit where the claim says the statistic lies.
    """

    name: str
    interval: Interval
    limit: float
    side: Literal["above", "below"] = "above"

    @property
    def verdict(self) -> Verdict:
        """``holds`` if the whole interval is on the claimed side, ``doesn't`` if on the other, else ``undecided``."""
        low, high = self.interval.low, self.interval.high
        if self.side == "below":
            low, high = 2 * self.limit - high, 2 * self.limit - low  # mirrored at the limit
        return "holds" if low > self.limit else "doesn't" if high <= self.limit else "undecided"

    def __str__(self) -> str:
        return f"{self.name} {self.interval}, must be {self.side} {self.limit:.3f}"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper with the checks that were measured.

    Attributes:
        name: the claim's short name, such as ``C1``.
        statement: the claim in one sentence.
        checks: its statistics; empty if nothing could be measured.
        note: further numbers, or the reason why nothing could be measured.
    """

    name: str
    statement: str
    checks: tuple[Check, ...]
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """The weakest of the checks' verdicts; undecided if nothing could be checked."""
        found = [check.verdict for check in self.checks]
        if "doesn't" in found:
            return "doesn't"
        return "holds" if found and set(found) == {"holds"} else "undecided"

    @property
    def evidence(self) -> str:
        """Every check, and the note, in one line."""
        return "; ".join([*map(str, self.checks), *([self.note] if self.note else [])])

    def record(self) -> dict[str, Any]:
        """The claim as a JSON object, for ``results.json``."""
        checks = [
            {"name": c.name, **c.interval.record(), "limit": c.limit, "side": c.side, "verdict": c.verdict}
            for c in self.checks
        ]
        return {"verdict": self.verdict, "evidence": self.evidence, "statement": self.statement, "checks": checks}


def table(claims: Sequence[Claim]) -> str:
    """Claims, verdicts and evidence as text, two lines a claim."""
    return "\n".join(f"{c.name}  {c.verdict:9s}  {c.statement}\n    {c.evidence}" for c in claims)
