"""The README's generated block: figures come from ``results/``, never from a keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit.evaluate import PAPER, STAGES, by_stage
from kit.runs import ROOT, read_json, write_text

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"

METRICS = {
    "acc_2x2": "2×2 solved",
    "score_2x2": "2×2 pieces in place",
    "acc_3x3": "3×3 solved",
    "score_3x3": "3×3 pieces in place",
}
"""Metrics shown, and what to call them."""


def fill(root: Path = ROOT) -> bool:
    """Write the block of ``README.md`` anew; whether that changed anything.

    Raises:
        ValueError: the README lacks the two marks.
    """
    path = root / "README.md"
    text = path.read_text(encoding="utf-8")
    new = filled(text, read_json(root / "results" / "agile.json"))
    if new != text:
        write_text(path, new)
    return new != text


def filled(text: str, results: Mapping[str, Any] | None) -> str:
    """``text`` with what stands between the marks made from ``results`` (None: nothing was measured).

    Raises:
        ValueError: the marks are missing or in the wrong order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: put {BEGIN} and {END} on lines of their own where the figures belong")
    return f"{before}{BEGIN}\n{block(results)}\n{END}{after}"


def block(results: Mapping[str, Any] | None) -> str:
    """The figures as Markdown: a table of metrics by stage, claims, and where they come from."""
    if results is None:
        return "Not measured yet: `results/agile.json` does not exist."
    parts = [text for text in (_metrics(results), _claims(results)) if text]
    parts.append(_origin(results))
    return "\n\n".join(parts)


def _metrics(results: Mapping[str, Any]) -> str:
    """Whole grids only; the levels are in the results file."""
    stages = by_stage(results)
    shown = [stage for stage in STAGES if stage in stages]
    lines = [_row(["", *shown]), _row(["---"] * (len(shown) + 1))]
    for name in METRICS:
        cells = []
        for stage in shown:
            here, paper = stages[stage].get(name), PAPER[STAGES[stage]][name]
            cells.append(f"{'not run' if here is None else here} (paper {paper:.3f})")
        lines.append(_row([METRICS[name], *cells]))
    return "\n".join(lines)


def _origin(results: Mapping[str, Any]) -> str:
    machine = results["hardware"]
    what = ", ".join(machine["gpus"]) or f"{machine['cores']} cores of {machine['cpu']}"
    return (
        "Value and 95 % interval; the paper's model has 7 billion weights and other pictures. "
        f"Measured by {results['notebook']}, profile {results['profile']}, seed {results['seed']}, "
        f"commit {results['commit'][:12]}, on {what}, in {results['minutes']} minutes."
    )


def _claims(results: Mapping[str, Any]) -> str:
    claims = results.get("claims") or {}
    rows = [_row([name, str(claim["verdict"]), str(claim["evidence"])]) for name, claim in sorted(claims.items())]
    return "\n".join([_row(["claim", "verdict", "evidence"]), _row(["---"] * 3), *rows]) if rows else ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
