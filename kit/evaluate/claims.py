r"""Claims of papers as experiments: a statistic, an interval, a limit; one module a paper.

A claim is one or more checks, each a statistic with its 95 % interval and a limit that its module fixed
before anything was measured. The verdict follows from the intervals alone:

- **holds**: every check's interval lies wholly on the claimed side of its limit;
- **doesn't**: some check's interval lies wholly on the other side;
- **undecided**: anything else. It is an answer: these data can't tell.

All checks of a claim must pass, so each may be judged at 95 % without correction (an
intersection–union test). Statistics over seeds use :func:`kit.evaluate.intervals.contrast`, whose interval
covers both another seed and other pictures. With three seeds Student's t has about two degrees of
freedom and is wide: that is what three runs can say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kit.evaluate.intervals import Interval

Verdict = Literal["holds", "doesn't", "undecided"]


@dataclass(frozen=True)
class Check:
    """One statistic against one limit, in the statistic's own unit."""

    name: str
    interval: Interval
    limit: float
    side: Literal["above", "below"] = "above"

    @property
    def verdict(self) -> Verdict:
        """Where the interval lies: all beyond the limit, all short of it, or across it."""
        low, high = self.interval.low, self.interval.high
        if self.side == "below":
            low, high = 2 * self.limit - high, 2 * self.limit - low  # mirrored at the limit
        return "holds" if low > self.limit else "doesn't" if high <= self.limit else "undecided"

    def __str__(self) -> str:
        return f"{self.name} {self.interval}, must be {self.side} {self.limit:.3f}"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, what was measured of it, and anything that could not be."""

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
        """As JSON, for ``results.json``."""
        checks = [
            {"name": c.name, **c.interval.record(), "limit": c.limit, "side": c.side, "verdict": c.verdict}
            for c in self.checks
        ]
        return {"verdict": self.verdict, "evidence": self.evidence, "statement": self.statement, "checks": checks}


def table(claims: Sequence[Claim]) -> str:
    """Claims, verdicts and evidence as text."""
    return "\n".join(f"{c.name}  {c.verdict:9s}  {c.statement}\n    {c.evidence}" for c in claims)
