r"""Test a paper's claims: each check is a statistic with an interval and a limit, and the verdict follows.

A claim is one or more checks, each a statistic with its 95 % interval and a limit that the paper's module fixed
before anything was measured. The verdict follows from the intervals, and from whether the check could have come out
otherwise:

- **doesn't**: some check's interval lies wholly on the other side of its limit;
- **not testable here**: some check could come out one way only, whatever the training did: the model never answers in
  the form that is counted, a baseline can't answer at all, a number begins at its ceiling. The paper's module finds
  that out from the outcomes and gives the reason with its figures (:attr:`Check.untestable`);
- **holds**: every check's interval lies wholly on the claimed side;
- **undecided**: anything else. It could come out either way, but these data are too few to tell.

In that order: a claim of which a testable part fails has failed, whatever can't be tested; and where a part can't be
tested, the rest can't carry the claim, nor would more data. A check that isn't testable has no other verdict.

All checks of a claim must pass, so each may be judged at 95 % without correction (an
intersection–union test). Statistics over seeds use :func:`kit.evaluate.intervals.contrast`, whose interval
covers both other seeds and other images. With three seeds Student's t has two degrees of freedom and is wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from kit.evaluate.intervals import Interval

Verdict = Literal["holds", "doesn't", "not testable here", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Check:
    """One statistic against one limit.

    Attributes:
        name: the statistic's name.
        interval: its value with a 95 % interval.
        limit: in the statistic's unit, fixed before measuring.
        side: the side of the limit where the claim says the statistic lies.
        untestable: why it can come out one way only here, found out from the outcomes; empty: it can be told.
    """

    name: str
    interval: Interval
    limit: float
    side: Literal["above", "below"] = "above"
    untestable: str = ""

    @property
    def verdict(self) -> Verdict:
        """``holds`` if the whole interval is on the claimed side, ``doesn't`` if on the other, else ``undecided``;
        ``not testable here`` where there is a reason for that, whatever the interval.
        """
        if self.untestable:
            return "not testable here"
        low, high = self.interval.low, self.interval.high
        if self.side == "below":
            low, high = 2 * self.limit - high, 2 * self.limit - low  # mirrored at the limit
        return "holds" if low > self.limit else "doesn't" if high <= self.limit else "undecided"

    def __str__(self) -> str:
        told = " (not testable here)" if self.untestable else ""
        return f"{self.name} {self.interval}, must be {self.side} {self.limit:.3f}{told}"


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
        found = [check.verdict for check in self.checks]
        if self.untestable:
            return "not testable here"
        for decisive in ("doesn't", "not testable here"):
            if decisive in found:
                return decisive
        return "holds" if found and set(found) == {"holds"} else "undecided"

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
        """The claim as a JSON object, for ``results.json``; ``reason`` only where something isn't testable."""
        checks = [
            {"name": c.name, **c.interval.record(), "limit": c.limit, "side": c.side, "verdict": c.verdict}
            | ({"reason": c.untestable} if c.untestable else {})
            for c in self.checks
        ]
        reason = {"reason": self.reason} if self.reason else {}
        shown = {"verdict": self.verdict, **reason, "evidence": self.evidence, "statement": self.statement}
        return {**shown, "checks": checks}


def table(claims: Sequence[Claim]) -> str:
    """Claims, verdicts and evidence as text, two lines a claim."""
    return "\n".join(f"{c.name}  {c.verdict:17s}  {c.statement}\n    {c.evidence}" for c in claims)


def as_stated(measured: Mapping[str, Mapping[str, Any]], statements: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Claims of a results file as they are stated today: a verdict on another statement decides none of them.

    A claim that was measured with other arms keeps its figures, in words, under the statement that they are of; as it
    is stated now it isn't run.

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
        return {"verdict": "undecided", "evidence": evidence, "statement": now, "checks": []}

    return {name: told(name, record) for name, record in measured.items()}
