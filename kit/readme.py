"""The README's generated block: figures come from ``results/``, never from a keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit.runs import ROOT, read_json, write_text
from kit.show import STAGES, interval

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"


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
    parts.append(
        f"Measured by {results['notebook']}, profile {results['profile']}, seed {results['seed']}, "
        f"commit {results['commit']}, on {results['hardware']}, in {results['minutes']} minutes."
    )
    return "\n\n".join(parts)


def _metrics(results: Mapping[str, Any]) -> str:
    rows: dict[str, dict[str, str]] = {}
    for name, entry in results["metrics"].items():
        stage, slash, metric = name.partition("/")
        if slash:
            rows.setdefault(metric, {})[stage] = interval(entry)
    stages = [s for s in STAGES if any(s in row for row in rows.values())]
    lines = [_row(["", *stages]), _row(["---"] * (len(stages) + 1))]
    return "\n".join([*lines, *(_row([metric, *(row.get(s, "") for s in stages)]) for metric, row in rows.items())])


def _claims(results: Mapping[str, Any]) -> str:
    claims = results.get("claims") or {}
    rows = [_row([name, str(claim["verdict"]), str(claim["evidence"])]) for name, claim in sorted(claims.items())]
    return "\n".join([_row(["claim", "verdict", "evidence"]), _row(["---"] * 3), *rows]) if rows else ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
