"""Tell what became of claims: the verdict, why it is that, and what would decide one that is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.evaluate.intervals import Interval
from papers.claims import VERDICTS, as_stated, told
from papers.tables import markdown

UNMEASURED = "not measured as stated"
"""What is told instead of a verdict where the figures are of an older statement."""

EQUALS = {"equal": ("equal as claimed", "equal where a gain is claimed")}
"""The verdict that says opposite things of two kinds of claims, and what is counted instead."""

COUNTED = tuple(told for verdict in (*VERDICTS, UNMEASURED) for told in EQUALS.get(verdict, (verdict,)))
"""The verdicts in their order, as claims are counted by them (:func:`counted_as`)."""

RUNS = "the runs that it compares"
"""What a claim waits for whose trainings aren't made yet."""


def table(measured: Mapping[str, Mapping[str, Any]], statements: Mapping[str, str]) -> str:
    """List claims in Markdown, a row each: statement, verdict, why, and what would decide it.

    Args:
        measured: claim → its record, as a results file has it; a verdict on another statement decides none.
        statements: claim → what is stated today.
    """
    stated = as_stated(measured, statements)
    rows = ([name, one["statement"], verdict_of(one), why(one), would_decide(one)] for name, one in stated.items())
    return markdown(["", "claim", "verdict", "why", "what would decide it"], rows)


def verdict_of(record: Mapping[str, Any]) -> str:
    """A claim's verdict, or that there is none on what it states now."""
    return UNMEASURED if "measured" in record else str(record["verdict"])


def counted_as(record: Mapping[str, Any]) -> str:
    """A claim's verdict; of one that is equal besides whether that is what it claims."""
    as_claimed, instead = EQUALS["equal"]
    if (verdict := verdict_of(record)) != "equal":
        return verdict
    return as_claimed if all(check["side"] == "within" for check in record["checks"]) else instead


def verdict_told(record: Mapping[str, Any]) -> str:
    """:func:`verdict_of` with what it is equal within, or with what an undecided claim needs."""
    return UNMEASURED if "measured" in record else told(record)


def in_lines(record: Mapping[str, Any]) -> str:
    """A claim's verdict and its evidence, a line each; where an older statement was measured, what became of that."""
    older = [f'an older statement, "{record["measured"]}": {record["came_out"]}'] if "measured" in record else []
    evidence = record["older" if older else "evidence"].split("; ")
    return "\n".join([verdict_of(record), *older, *(f"  {text}" for text in evidence)])


def by_verdict(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Name claims by their verdicts: ``holds: R1, R2; equal as claimed: R3; undecided: R5``.

    Args:
        measured: claim → its record, as a results file has it.
    """
    named: dict[str, list[str]] = {told: [] for told in COUNTED}
    for name, one in measured.items():
        named[counted_as(one)].append(name)
    return "; ".join(f"{verdict}: {', '.join(some)}" for verdict, some in named.items() if some)


def why(record: Mapping[str, Any]) -> str:
    """Say why a claim came out so: what makes it untestable, else the checks that decide, else what else is known."""
    if "reason" in record and record["verdict"] == "not testable here":
        return str(record["reason"])
    every = record.get("checks", ())
    checks = [c for c in every if record["verdict"] in (c["verdict"], "holds")] or every
    must = {"above": "must be above ", "below": "must be below ", "within": "must be within ±"}
    if shown := [f"{c['name']} {Interval.of(c).told(c['verdict'])}, {must[c['side']]}{c['limit']:g}" for c in checks]:
        return "; ".join(shown)
    if "measured" in record:
        return f'an older statement, "{record["measured"]}": {record["came_out"]}'
    return str(record.get("evidence", ""))


def would_decide(record: Mapping[str, Any]) -> str:
    """Say what it takes to decide a claim; nothing where it is decided."""
    if record["verdict"] == "not testable here":
        return "another set-up"
    if record["verdict"] != "undecided":
        return ""
    if "measured" in record:
        return "measuring it as stated: the figures are of an older statement"
    if not record.get("checks"):
        return RUNS
    if any(check["low"] is None for check in record["checks"]):
        return "several seeds"
    return told(record).removeprefix("undecided").strip(" ()") or "more seeds or tasks: how many isn't known"
