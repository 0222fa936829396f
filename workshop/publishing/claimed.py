"""Tell on pages what became of papers' claims: tables with reasons, counts, names, and since when they say it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from kit.files import ROOT
from papers.claims import as_stated
from papers.registered import FILE, Registered, registered
from papers.registry import find_paper
from papers.tables import markdown
from papers.verdicts import COUNTED, RUNS, counted_as, verdict_of, verdict_told, why, would_decide

WHY = 200
"""Characters of a claim's why, two lines of a page; all of its evidence is folded below the table."""

NOT_RUN = re.compile(r"^not run: .*_runs$")
ARM = re.compile(r"(\w+)_runs")
"""What isn't run, in evidence, by a notebook's parameters, which may follow the commands that run it."""

UNTRAINED = "not trained yet"
WAITING = f"undecided: {UNTRAINED}"
"""What is told of a claim whose trainings aren't made; beside a verdict, and as one."""

WORDS = {"holds": ("holds", "hold"), "doesn't": ("doesn't hold", "don't hold")}
"""Verdict → how it is told of one claim, and of several."""

SHARE = re.compile(r"(share of [^;]*? \d\.\d+ \[)(-?[\d.]+), (-?[\d.]+)\]")
"""A share with its interval, in evidence."""

Results = Mapping[str, Any] | None
"""The content of a paper's results file; None where nothing was measured yet."""


def folded(title: str, text: str) -> str:
    """A part of a page that is seen when its title is clicked."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def explained(head: str, paper: str, names: Collection[str]) -> str:
    """Tell arms and stages in the words of what the paper's claims say; empty: it has none of them.

    Args:
        head: what the paragraph begins with.
        paper: the paper's name.
        names: of arms and stages; those without words are left out.
    """
    stated = _registered(paper)
    known = {name: what for name, what in (stated.stages.items() if stated else ()) if name in names}
    return f"{head}. {'; '.join(f'*{name}*: {what}' for name, what in known.items())}." if known else ""


def _registered(paper: str) -> Registered | None:
    """What a paper's claims say; None: it has no such file."""
    return registered(paper) if (ROOT / "papers" / paper / FILE).is_file() else None


def judged(paper: str, results: Results) -> Mapping[str, Mapping[str, Any]]:
    """A paper's claims as they are stated today, with what became of each."""
    return as_stated((results or {}).get("claims") or {}, find_paper(paper).load_claims())


def claims_table(paper: str, results: Mapping[str, Any]) -> str:
    """A paper's claims in a table; below it what to read beside them, since when they stand, and all checks."""
    claims = judged(paper, results)
    if not claims:
        return ""
    told = {name: plain(_evidence(claim)) for name, claim in sorted(claims.items())}
    evidence = "\n".join(f"- {name}: {text}" for name, text in told.items())
    stated = _registered(paper)
    cautions = {name: one.caution for name, one in stated.items() if name in claims} if stated else {}
    beside = "\n".join(f"- {name}: {caution}." for name, caution in cautions.items() if caution)
    rows = ([name, *_reasoned(claims[name])] for name in told)
    table = markdown(["", "claim", "verdict", "why", "what would decide it"], rows)
    waiting = {arm for claim in claims.values() for arm in _untrained(_evidence(claim))}
    arms = [arm for arm in (stated.stages if stated else ()) if arm.partition("-")[0] in waiting]  # few-00006 is of few
    waits = explained("Not trained yet", paper, arms)
    parts = (table, waits, beside, since(paper, results), folded("All checks, with intervals", evidence))
    return "\n\n".join(filter(None, parts))


def since(paper: str, results: Mapping[str, Any]) -> str:
    """Since when the claims say what they say, beside the trainings that they are judged by; empty: it isn't told."""
    stated = _registered(paper)
    days = {name: stated.since(name) for name in stated} if stated else {}
    first = min(part.get("trained", {}).get("since", "") for part in (results, *results.get("parts", ())))
    found = defaultdict(list)
    for name, day in sorted((name, str(day)) for name, day in days.items() if day):
        how = "before" if day < first else "after" if first < day else "on the day of the first of"
        found[f"on {day}, {how} the trainings"].append(name)
    told = [f"{when} that these figures are of ({', '.join(some)})" for when, some in found.items()]
    if not told or stated is None:
        return ""
    text = f"What the claims say, margins included, was written {'; '.join(told)}."
    changes = "\n".join(f"- {name}: {'; '.join(one.changed)}" for name, one in stated.items() if one.changed)
    text += " Earlier trainings had been measured by then: their spreads stand in `claims.toml`."
    changed = ", ".join(name for name, one in stated.items() if one.changed)
    return f"{text}\n\n{folded(f'Changed since they were first written: {changed}', changes)}" if changes else text


def _evidence(claim: Mapping[str, Any]) -> str:
    """All that was found; what a claim can't be told by is a part of it where another check decides."""
    text, untestable = str(claim.get("evidence", "")), "not testable here"
    return text if verdict_of(claim) == untestable else text.replace(f"{untestable}: ", f"{untestable} in part: ", 1)


def _reasoned(claim: Mapping[str, Any]) -> list[str]:
    """What a claim says, its verdict, why in a line or two, and what would decide it."""
    verdict = verdict_of(claim)
    if verdict == "equal":  # says opposite things of a claim of equality and of a gain
        verdict = f"{verdict_told(claim)}, {counted_as(claim).removeprefix('equal ')}"
    return [claim.get("statement", ""), verdict, _shortened(plain(why(claim))), would_decide(claim)]


def _shortened(text: str) -> str:
    """As many whole checks as have room."""
    first, *others = text.split("; ")
    if len(text) <= WHY or not others:
        return shorten(text, WHY, placeholder=" …")
    while others and len("; ".join((first, *others))) > WHY:
        others.pop()
    return "; ".join((first, *others, "… (*All checks*)"))


def _untrained(evidence: str) -> list[str]:
    """The arms that a claim's evidence says aren't run."""
    return ARM.findall(evidence) if NOT_RUN.match(evidence) else []


def plain(text: str) -> str:
    """Evidence as it is read: arms by their names, no minus before a zero, and no share above 1 or below 0."""
    text = f"{UNTRAINED}: {', '.join(arms)}" if (arms := _untrained(text)) else text
    text = re.sub(r"-(0\.0+)\b", r"\1", text)
    return SHARE.sub(lambda f: f"{f[1]}{max(0.0, float(f[2])):.3f}, {min(1.0, float(f[3])):.3f}]", text)


def verdicts(results: Mapping[str, Results], _: Path) -> str:
    """Count the verdicts of all papers' claims in a sentence, name them in a list, and tell what the open ones lack."""
    claims: list[Mapping[str, Any]] = []
    found: dict[str, dict[str, list[str]]] = {}
    named: dict[str, dict[str, list[str]]] = {}
    for paper, some in results.items():
        for name, claim in sorted(judged(paper, some).items()):
            claims.append(claim)
            takes, title = would_decide(claim), find_paper(paper).title
            verdict = WAITING if takes == RUNS else counted_as(claim)
            named.setdefault(verdict, {}).setdefault(title, []).append(name)
            if takes:
                found.setdefault(takes, {}).setdefault(title, []).append(name)
    count = f"The kit tests {len(claims)} claims of the papers. By these figures {counted(claims)}."
    told = [f"*{takes}* ({_listed(some)})" for takes, some in found.items()]
    order = [v for v in (*COUNTED, WAITING) if v in named]
    which = "\n".join(f"- *{WORDS.get(v, (v,))[0]}*: {_listed(named[v])}" for v in order)
    open_ = [folded("What would decide the open ones", f"{'; '.join(told)}.")] if told else []
    return "\n\n".join((count, which, *open_))


def _listed(names: Mapping[str, list[str]]) -> str:
    """Claims by their papers: ``PAPER A1, A5; OTHER M2``."""
    return "; ".join(f"{title} {', '.join(some)}" for title, some in names.items())


def counted(claims: list[Mapping[str, Any]]) -> str:
    """Count claims by their verdicts: ``1 holds, 3 don't hold, 5 undecided (2 of them not trained yet)``."""
    found = Counter(map(counted_as, claims))
    waiting = sum(would_decide(claim) == RUNS for claim in claims)
    open_ = (WAITING, f"undecided ({waiting} of them {UNTRAINED})")
    words = WORDS | ({"undecided": open_} if waiting else {})
    told = {verdict: found[verdict] for verdict in COUNTED if found[verdict]}
    counts = [f"{n} {words.get(verdict, (verdict, verdict))[n > 1]}" for verdict, n in told.items()]
    return ", ".join(counts) or "none was tested"
