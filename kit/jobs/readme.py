"""The README's generated block: figures come from ``results/``, never from a keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit.evaluate.outcomes import by_stage
from kit.files import ROOT, read_json, write_text
from kit.papers.registry import PAPERS, metrics_of

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"


def fill(root: Path = ROOT) -> bool:
    """Write the block of ``README.md`` anew; whether that changed anything.

    Raises:
        ValueError: the README lacks the two marks.
    """
    path = root / "README.md"
    text = path.read_text(encoding="utf-8")
    new = filled(text, published(root))
    if new != text:
        write_text(path, new)
    return new != text


def published(root: Path = ROOT) -> dict[str, Mapping[str, Any] | None]:
    """Paper → its committed results file; None where nothing was measured yet."""
    return {paper: read_json(root / "results" / f"{paper}.json") for paper in PAPERS}


def filled(text: str, results: Mapping[str, Mapping[str, Any] | None]) -> str:
    """``text`` with what stands between the marks made from ``results``, each paper's.

    Raises:
        ValueError: the marks are missing or in the wrong order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: put {BEGIN} and {END} on lines of their own where the figures belong")
    blocks = "\n\n".join(block(paper, results[paper]) for paper in results)
    return f"{before}{BEGIN}\n{blocks}\n{END}{after}"


def block(paper: str, results: Mapping[str, Any] | None) -> str:
    """A paper's figures as Markdown: a table of metrics by stage, claims, and where they come from."""
    head = f"### {PAPERS[paper]}"
    if results is None:
        return f"{head}\n\nNot measured yet: `results/{paper}.json` does not exist."
    parts = [head, *(text for text in (_metrics(paper, results), _claims(results)) if text)]
    parts.append(_origin(results))
    return "\n\n".join(parts)


def _metrics(paper: str, results: Mapping[str, Any]) -> str:
    """The paper's headlines only; the rest is in the results file."""
    evaluation, stages = metrics_of(paper).EVALUATION, by_stage(results)
    shown = [stage for stage in evaluation.reported if stage in stages]
    lines = [_row(["", *shown]), _row(["---"] * (len(shown) + 1))]
    for name, called in evaluation.headlines.items():
        cells = []
        for stage in shown:
            here, theirs = stages[stage].get(name), evaluation.reported[stage].get(name)
            cell = "not run" if here is None else str(here)
            cells.append(f"{cell} (paper {theirs:.3f})" if theirs is not None else cell)
        lines.append(_row([called, *cells]))
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
