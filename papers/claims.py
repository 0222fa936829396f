r"""Test a paper's claims: each check is a statistic with an interval and a limit, and the verdict follows.

A claim is one or more checks, each a statistic with its interval, a limit and a margin that don't follow from it (since
when they are fixed, :mod:`papers.registered` tells).

*More* passes if the 95 % interval lies above 0; its margin is the smallest effect worth having. *No less by m* passes
above the limit -m. *Equal within m* passes if the 90 % interval lies inside ±m: two one-sided tests at 5 % (Schuirmann
1987), which rule out more than m on either side. The verdict follows from the intervals, and from whether the check
could have come out otherwise:

- **doesn't**: some check's interval lies wholly on the other side of its limit;
- **equal**: some check of *more* doesn't pass, and its 90 % interval lies within its margin: no effect worth having is
  there. Or equality is what is claimed, and all checks show it;
- **not testable here**: some check could come out one way only, whatever the training did: the model never answers in
  the form that is counted, a baseline can't answer at all, a number begins at its ceiling. The paper's module finds
  that out from the outcomes and gives the reason with its figures (:attr:`Check.untestable`);
- **holds**: every check passes;
- **undecided**: anything else. It could come out either way, but these data are too few to tell. With the same values
  and variances so many more seeds would tell; where :data:`MOST_SEEDS` would not, it takes more tasks.

In that order: a claim of which a testable part fails has failed, whatever can't be tested; and where a part can't be
tested, the rest can't carry the claim, nor would more data. A check that isn't testable has no other verdict.

All checks of a claim must pass, so each may be judged at its level without correction (an
intersection–union test). Statistics over seeds use :func:`kit.evaluate.intervals.contrast`, whose interval
covers both other seeds and other images. With three seeds Student's t has two degrees of freedom and is wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from kit.evaluate.intervals import Interval

Verdict = Literal["holds", "doesn't", "equal", "not testable here", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

MOST_SEEDS = 50
"""More seeds than this nobody trains: where they don't decide, it takes more tasks."""


@dataclass(frozen=True)
class Check:
    """One statistic against one limit.

    Attributes:
        name: the statistic's name.
        interval: its value with its interval.
        limit: in the statistic's unit.
        side: the side of the limit where the claim says the statistic lies; ``within``: no further from 0 than it.
        untestable: why it can come out one way only here, found out from the outcomes; empty: it can be told.
        margin: the smallest effect worth having, beyond the limit; 0: none was named, so none can be ruled out.

    Raises:
        ValueError: a margin below 0, or beside ``within``, whose limit is one; or that limit isn't above 0.
    """

    name: str
    interval: Interval
    limit: float = 0.0
    side: Literal["above", "below", "within"] = "above"
    untestable: str = ""
    margin: float = 0.0

    def __post_init__(self) -> None:
        if self.margin < 0 or (self.side == "within" and not (self.limit > 0 == self.margin)):
            told = "at least 0, and where it must be within the limit, that is above 0 and the only margin"
            raise ValueError(f"{self.name}: {self.side} limit={self.limit}, margin={self.margin}; a margin is {told}")

    @property
    def verdict(self) -> Verdict:
        """``holds`` if the interval lies on the claimed side, ``doesn't`` if on the other, else ``equal`` if the one at
        90 % is inside the margin, else ``undecided``; ``not testable here`` where there is a reason for that.
        """
        if self.untestable:
            return "not testable here"
        (low, high), (low90, high90) = (self.interval.low, self.interval.high), self.interval.narrow
        if self.side == "within":
            inside = -self.limit < low90 and high90 < self.limit
            return "equal" if inside else "doesn't" if low >= self.limit or high <= -self.limit else "undecided"
        if self.side == "below":
            low, high = 2 * self.limit - high, 2 * self.limit - low  # mirrored at the limit
        if low > self.limit:
            return "holds"
        if high <= self.limit:
            return "doesn't"
        inside = self.limit - self.margin < low90 and high90 < self.limit + self.margin
        return "equal" if inside else "undecided"

    @property
    def passes(self) -> bool:
        """True if it came out as the claim says."""
        return self.verdict == ("equal" if self.side == "within" else "holds")

    @property
    def within(self) -> float | None:
        """The margin that it is equal within; None: it isn't."""
        return None if self.verdict != "equal" else self.limit if self.side == "within" else self.margin

    def __str__(self) -> str:
        must = "within ±" if self.side == "within" else f"{self.side} "
        equal = "" if self.within is None or self.passes else f" (equal within {self.within:g})"
        told = " (not testable here)" if self.untestable else equal
        return f"{self.name} {self.interval.told(self.verdict)}, must be {must}{self.limit:.3f}{told}"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper with the checks that were measured.

    Attributes:
        name: the claim's short name, such as ``C1``.
        statement: the claim in one sentence.
        checks: its statistics; empty if nothing could be measured.
        note: further numbers, or the reason why nothing could be measured.
        untestable: why the claim as a whole can't be told here, checks or none, as :attr:`Check.untestable`.
    """

    name: str
    statement: str
    checks: tuple[Check, ...]
    note: str = ""
    untestable: str = ""

    @property
    def verdict(self) -> Verdict:
        """The claim's verdict, by the order of precedence above; undecided if nothing could be checked."""
        if self.untestable:
            return "not testable here"
        found = [check.verdict for check in self.checks]
        if "doesn't" in found:
            return "doesn't"
        if any(check.verdict == "equal" and not check.passes for check in self.checks):
            return "equal"
        if "not testable here" in found:
            return "not testable here"
        if not found or not all(check.passes for check in self.checks):
            return "undecided"
        return "equal" if all(check.side == "within" for check in self.checks) else "holds"

    @property
    def within(self) -> float | None:
        """The margin that it is equal within, the widest of the checks that say so; None: it isn't."""
        if self.verdict != "equal":
            return None
        absent = [check for check in self.checks if check.within is not None and not check.passes]
        return max(check.within or 0.0 for check in absent or self.checks)

    @property
    def more_seeds(self) -> float | None:
        """Seeds that it would take beyond these to decide: infinitely many, if :data:`MOST_SEEDS` would not; None if it
        is decided, or nobody knows.
        """
        open_ = [check for check in self.checks if check.verdict == "undecided"]
        if self.verdict != "undecided" or not open_:
            return None
        decided = tuple(check for check in self.checks if check not in open_)
        for more in range(1, MOST_SEEDS + 1):
            grown = (replace(c, interval=c.interval.with_more(more)) if c.interval.with_more else c for c in open_)
            if replace(self, checks=(*decided, *grown)).verdict != "undecided":
                return more
        return None if any(check.interval.with_more is None for check in open_) else math.inf

    @property
    def told(self) -> str:
        """The verdict in words: ``equal within 0.05``, ``undecided (4 more seeds)``."""
        return told(self.record())

    @property
    def evidence(self) -> str:
        """The reasons why something can't be told, every check, and the note, in one line."""
        reason = f"not testable here: {self.reason}" if self.reason else ""
        return "; ".join(part for part in (reason, *map(str, self.checks), self.note) if part)

    @property
    def reason(self) -> str:
        """Why the claim or some of its checks can't be told here; empty if they can."""
        found = [self.untestable, *(check.untestable for check in self.checks)]
        return "; ".join(dict.fromkeys(text for text in found if text))

    def record(self) -> dict[str, Any]:
        """The claim as a JSON object, for ``results.json``: ``within`` only where it is equal, ``reason`` where it
        isn't testable, ``more_seeds`` (or ``more_tasks``: true) where it is undecided and that can be told.
        """
        checks = [
            {"name": c.name, **c.interval.record(), "limit": c.limit, "side": c.side, "verdict": c.verdict}
            | ({"margin": c.margin} if c.margin else {})
            | ({"reason": c.untestable} if c.untestable else {})
            for c in self.checks
        ]
        reason = {"reason": self.reason} if self.reason else {}
        within = {} if self.within is None else {"within": self.within}
        more = self.more_seeds
        takes = {} if more is None else {"more_tasks": True} if more == math.inf else {"more_seeds": more}
        shown = {"verdict": self.verdict, **within, **takes, **reason, "evidence": self.evidence}
        return {**shown, "statement": self.statement, "checks": checks}


def told(record: Mapping[str, Any]) -> str:
    """A claim's verdict in words, with what it is equal within or what it would take, from its record."""
    if "within" in record:
        return f"{record['verdict']} within {record['within']:g}"
    if more := record.get("more_seeds"):
        return f"{record['verdict']} ({more} more seed{'s' if more > 1 else ''})"
    return f"{record['verdict']}{' (more tasks)' if record.get('more_tasks') else ''}"


def table(claims: Sequence[Claim]) -> str:
    """Claims, verdicts and evidence as text, two lines a claim."""
    return "\n".join(f"{c.name}  {c.told:17s}  {c.statement}\n    {c.evidence}" for c in claims)


def as_stated(measured: Mapping[str, Mapping[str, Any]], statements: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Claims of a results file as they are stated today: a verdict on another statement decides none of them.

    A claim that was measured with other arms keeps its figures, in words, under the statement that they are of
    (``measured``, what ``came_out`` of it, and the ``older`` evidence); as it is stated now it isn't run.

    Args:
        measured: claim → its record, as a results file has it.
        statements: claim → its statement of today.
    """

    def told(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
        before, now = record.get("statement"), statements.get(name)
        if None in (before, now) or now == before:
            return dict(record)
        evidence = (
            f'not run: "{now}"; measured was another statement, "{before}", which came out as: '
            f"{record['verdict']} ({record['evidence']})"
        )
        was = {"measured": before, "came_out": record["verdict"], "older": record["evidence"]}
        return {"verdict": "undecided", "evidence": evidence, "statement": now, "checks": [], **was}

    return {name: told(name, record) for name, record in measured.items()}
