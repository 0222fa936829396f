"""Draw docs/claims.png: every claim of every paper as a line, from ``results/``.

    python data_scripts/claims_picture.py

Effects of different kinds (accuracy, calls, slopes) share one axis in units of the margin that each check registers:
the smallest effect worth having, or the difference that doesn't count. A claim of several checks shows the one that
decides it. Where no interval is known, or nobody registered such a unit, what a verdict needs stands in its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from first_screen_figure import save_png
from matplotlib import rc_context

from kit.evaluate.intervals import Interval
from kit.files import ROOT, print_anything
from kit.view.charts import STYLE, Plot
from kit.view.plots import check_line, margins_axis
from papers.claims import Check
from papers.registered import Stated, registered
from papers.registry import find_paper, published
from papers.verdicts import verdict_told, would_decide
from workshop.publishing.claimed import judged

PICTURE = ROOT / "docs" / "claims.png"

BARE = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
"""Behind words, so that no line strikes them out."""

Record = Mapping[str, Any]
"""A claim or a check, as a results file has it."""


def decisive(claim: Record) -> Record | None:
    """Find the check that decides a claim: the first of those with an interval that has its verdict, else the first."""
    known = [check for check in claim.get("checks", ()) if check["low"] is not None]
    return next((check for check in known if check["verdict"] == claim["verdict"]), next(iter(known), None))


def with_margins(claim: Record, claimed: Stated) -> dict[str, Any]:
    """A claim's record whose checks have the margins that are registered; one that none of these fits has none."""
    checks = []
    for check in claim.get("checks", ()):
        of_its_name = (one for one in claimed.checks.values() if one.name == check["name"])
        own = next((one for one in of_its_name if _as_registered(one.check(Interval.of(check)), check)), None)
        bare = {name: value for name, value in check.items() if name != "margin"}
        checks.append(bare if own is None else bare | {"margin": own.margin})
    return {**claim, "checks": checks}


def _as_registered(own: Check, check: Record) -> bool:
    return (own.limit, own.side) == (check["limit"], check["side"])


def claims_picture(papers: Mapping[str, Mapping[str, Record]]) -> Plot:
    """Draw a line for each claim: interval, the band of effects too small to count, and the verdict in words.

    Args:
        papers: title → claim's id → its record.

    Raises:
        ValueError: there is no claim.
    """
    rows: list[tuple[str, str, Record]] = [
        row for title, some in papers.items() for row in ((title, "", {}), *((title, n, c) for n, c in some.items()))
    ]
    if not any(name for _, name, _ in rows):
        raise ValueError("there is no claim to draw")
    with rc_context(STYLE):
        figure = Plot(9.6, 0.2 * len(rows) + 0.8)
        figure.set_size_inches(9.6, 0.2 * len(rows) + 0.8)  # of a page's own: wider than what a notebook shows
        axis: Any = figure.subplots()
        for row, (_, _, claim) in enumerate(rows):
            check = decisive(claim)
            if check is not None and "margin" in check and claim["verdict"] != "not testable here":
                check_line(axis, row, check | {"verdict": claim["verdict"]})
            elif claim:
                axis.text(0, row, f"needs {would_decide(claim)}", ha="center", va="center", size=8, bbox=BARE)
        words = [_short(f"{verdict_told(claim)}: {claim['statement']}") if name else "" for _, name, claim in rows]
        told = "each claim's deciding check, 95 % interval (thick: 90 %)"
        margins_axis(axis, told, [name or title for title, name, _ in rows], words)
        for label, (_, name, _) in zip(axis.get_yticklabels(), rows, strict=True):
            label.set_fontweight("normal" if name else "bold")
    return figure


def _short(text: str, chars: int = 90) -> str:
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"


def claims_hash(papers: Mapping[str, Mapping[str, Record]]) -> str:
    """Hash what is drawn, by which a test sees that the picture is out of date."""
    return sha256(json.dumps(papers, sort_keys=True).encode()).hexdigest()


def stated() -> dict[str, dict[str, Any]]:
    """All papers' published claims as they are stated today, with the margins registered: title → id → record."""
    return {
        find_paper(name).title: {n: with_margins(c, registered(name)[n]) for n, c in judged(name, results).items()}
        for name, results in published().items()
    }


if __name__ == "__main__":
    print_anything()
    papers = stated()
    print(save_png(claims_picture(papers), PICTURE, results=claims_hash(papers)))
