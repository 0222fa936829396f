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
    runs = [run_row(folder) for folder in run_folders()]
    if runs:
        parts.append(table([["run", "profile", "what it has"], *runs]))
    else:
        parts.append(f"no runs yet in {runs_folder()}: python -m kit run {next(iter(papers()))} --profile smoke")
    return "\n\n".join(parts)


MADE_BY_NOTEBOOKS = ("params.json", "branch.json", "data", "stages", "*/metrics.jsonl")
"""A folder among the runs that has one of these is a run."""


def run_folders() -> list[Path]:
    """The folders of all runs, by name: made by jobs or in notebooks."""
    found = [path for path in sorted(runs_folder().glob("*")) if path.is_dir() and path.name != "notebooks"]
    return [path for path in found if any(any(path.glob(pattern)) for pattern in MADE_BY_NOTEBOOKS)]


def known_runs() -> str:
    """Names of all runs, for an error's message."""
    return ", ".join(path.name for path in run_folders()) or "none"


def run_row(folder: Path) -> Row:
    """The run's name, its profiles, and the states of its notebooks; of one made in notebooks, what they left."""
    done = (read_json(folder / "params.json") or {"notebooks": {}})["notebooks"]
    profiles = sorted({str(entry["profile"]) for entry in done.values()})
    states = [f"{name[:2]} {entry['status']}" for name, entry in sorted(done.items())]
    if not states:
        branch = read_json(folder / "branch.json")
        states = [f"branch of {branch['of']}"] if branch else []
        states += ["data"] if (folder / "data").exists() else []
        states += [path.name for path in sorted(folder.glob("*")) if (path / "model").is_dir()]
    return [folder.name, ", ".join(profiles) or "in notebooks", ", ".join(states)]


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
        raise ValueError(f"no run {name!r} in {runs_folder()}: there are {known_runs()}")
    found = [f"run {name}", *headline(folder)]
    record = read_json(folder / "params.json") or {"notebooks": {}}
    if record["notebooks"]:
        rows = [
            [title, entry["profile"], entry["status"], str(entry.get("minutes", ""))]
            for title, entry in sorted(record["notebooks"].items())
        ]
        found.append(table([["notebook", "profile", "status", "minutes"], *rows]))
    results = read_json(folder / "results.json") or {}
    found += [text for text in (stages_table(folder), claims_table(results)) if text]
    if notebooks := sorted(folder.glob("*.ipynb")):
        found.append("notebooks:\n" + "\n".join(f"  {path}" for path in notebooks))
    found += [text for text in map(_last_step, sorted(folder.glob("**/metrics.jsonl"))) if text]
    files = sorted(str(path) for path in [*folder.glob("*.html"), *folder.glob("*.json"), *folder.glob("*.png")])
    found.append("files:\n" + "\n".join(f"  {path}" for path in files))
    return found


def headline(folder: Path) -> list[str]:
    """Say in words what came out: the first headline metric from stage to stage, and each claim with its verdict.

    Args:
        folder: of the run.

    Returns:
        Paragraphs; none before the first stage.
    """
    results, evaluation, stages = read_json(folder / "results.json") or {}, None, {}
    if results and (paper := paper_of(results["notebook"])):
        evaluation, stages = paper.load_evaluation(), outcomes.by_stage(results)
    elif names := sorted(path.stem for path in folder.glob("stages/*.json")):
        evaluation = _evaluation(folder / "stages" / f"{names[0]}.json")
        stages = {name: evaluation.load_stage(folder, name) for name in names if name in evaluation.reported}
    found = []
    if evaluation and evaluation.headlines:
        name, called = next(iter(evaluation.headlines.items()))
        shown = [stage for stage in evaluation.reported if name in stages.get(stage, {})]
        values = " → ".join(f"{stage} {stages[stage][name]}" for stage in shown)
        found += [f"{called}: {values}, n = {stages[shown[-1]][name].n}"] if shown else []
    if claims := results.get("claims"):
        told = find_paper(evaluation.paper).load_claims() if evaluation else {}
        lines = [f"  {name} {claim['verdict']}: {told.get(name, '')}" for name, claim in sorted(claims.items())]
        found.append("the paper's claims, at this scale:\n" + "\n".join(lines))
    return found


def _evaluation(path: Path) -> outcomes.Evaluation[Any]:
    """The evaluation of the paper that a stage's file belongs to."""
    try:
        return find_paper(str((read_json(path) or {}).get("paper"))).load_evaluation()
    except PaperError as error:
        raise PaperError(f"{path}: {error}") from error


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
    evaluation = _evaluation(folder / "stages" / f"{names[0]}.json")
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
