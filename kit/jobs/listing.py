"""Print notebooks and runs (``python -m kit list``) and one run's results (``python -m kit view RUN``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.evaluate import outcomes
from kit.files import ROOT, find_run, read_json, runs_folder
from kit.jobs.notebooks import sources
from kit.jobs.run import PROFILES
from kit.papers.registry import PaperError, find_paper, paper_of, papers

Row = Sequence[str]


def table(rows: Sequence[Row]) -> str:
    """``rows`` as aligned text, the first one as its head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def listing(root: Path = ROOT) -> str:
    """Notebooks, profiles and runs."""
    notebooks = [[s.number, s.family, s.title] for s in sources(root)]
    known = [[paper.name, paper.title, paper.summary] for paper in papers().values()]
    parts = [
        table([["paper", "title", "task"], *known]),
        table([["no.", "family", "notebook"], *notebooks]),
        f"profiles: {', '.join(PROFILES)}",
    ]
    runs = [run_row(path) for path in sorted(runs_folder().glob("*/params.json"))]
    if runs:
        parts.append(table([["run", "profile", "notebooks"], *runs]))
    else:
        parts.append(f"no runs yet in {runs_folder()}: python -m kit run {next(iter(papers()))} --profile smoke")
    return "\n\n".join(parts)


def run_row(path: Path) -> Row:
    """The name, profiles and notebooks' states of the run that a ``params.json`` belongs to."""
    done = read_json(path)["notebooks"]
    profiles = sorted({str(entry["profile"]) for entry in done.values()})
    states = ", ".join(f"{name[:2]} {entry['status']}" for name, entry in sorted(done.items()))
    return [path.parent.name, ", ".join(profiles), states]


def view(name: str) -> str:
    """A run's notebooks, results and last training figures, and where its files are.

    Raises:
        ValueError: no such run.
    """
    return "\n\n".join(parts(name))


def parts(name: str) -> list[str]:
    """Collect the parts of :func:`view`.

    Raises:
        ValueError: no such run.
    """
    folder = find_run(name)
    if not folder.is_dir():
        known = ", ".join(sorted(path.parent.name for path in runs_folder().glob("*/params.json"))) or "none"
        raise ValueError(f"no run {name!r} in {runs_folder()}: there are {known}")
    found = [f"run {name}"]
    record = read_json(folder / "params.json") or {"notebooks": {}}
    if record["notebooks"]:
        rows = [
            [title, entry["profile"], entry["status"], str(entry.get("minutes", ""))]
            for title, entry in sorted(record["notebooks"].items())
        ]
        found.append(table([["notebook", "profile", "status", "minutes"], *rows]))
    results = read_json(folder / "results.json") or {}
    found += [text for text in (stages_table(folder), claims_table(results)) if text]
    found += [text for text in map(_last_step, sorted(folder.glob("**/metrics.jsonl"))) if text]
    files = sorted(str(path) for path in [*folder.glob("*.ipynb"), *folder.glob("*.html"), *folder.glob("*.json")])
    found.append("files:\n" + "\n".join(f"  {path}" for path in files))
    return found


def stages_table(folder: Path) -> str:
    """Format the metrics of a run's stages beside the paper's figures; empty before the first stage.

    Read from ``results.json``, or from ``stages/`` while the notebook that writes it has not run.
    """
    results = read_json(folder / "results.json")
    if results is not None:
        paper = paper_of(results["notebook"])
        return paper.load_evaluation().table(results) if paper else outcomes.table(results)
    names = sorted(path.stem for path in folder.glob("stages/*.json"))
    if not names:
        return ""
    path = folder / "stages" / f"{names[0]}.json"
    try:
        evaluation = find_paper(str((read_json(path) or {}).get("paper"))).load_evaluation()
    except PaperError as error:
        raise PaperError(f"{path}: {error}") from error
    return evaluation.table({name: evaluation.load_stage(folder, name) for name in names})


def claims_table(results: Mapping[str, Any]) -> str:
    """``claims`` of a results file: verdict and evidence."""
    claims = results.get("claims") or {}
    rows = [[name, str(claim["verdict"]), str(claim["evidence"])] for name, claim in sorted(claims.items())]
    return table([["claim", "verdict", "evidence"], *rows]) if rows else ""


def _last_step(path: Path) -> str:
    """The last row of a ``metrics.jsonl`` as one line; empty if there is none."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n")[:-1] if line]
    if not lines:
        return ""
    row = json.loads(lines[-1])
    keys = ("reward", "accuracy", "turns", "response_tokens", "loss")
    shown = [f"{key} {row[key]:.3f}" for key in keys if isinstance(row.get(key), int | float)]
    return re.sub(r" +", " ", f"{path.parent.name}: step {row['step']}, {', '.join(shown)} ({path})")
