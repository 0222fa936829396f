"""Print notebooks and runs (``python -m kit list``) and one run's results (``python -m kit view RUN``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.evaluate import outcomes
from kit.evaluate.five import STAGES
from kit.evaluate.five.questions import told as told_five
from kit.files import ROOT, find_run, read_json, runs_folder
from papers.registry import PaperError, find_paper, paper_of, papers
from papers.results import read_results
from workshop.command_line import meant
from workshop.jobs.notebooks import sources
from workshop.jobs.run import PROFILES, progress_of
from workshop.jobs.same_tasks import COMPARED, on_shared_tasks, title

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
        pages = sorted(str(path) for path in runs_folder().glob("*.html"))
        parts += ["pages of several runs:\n" + "\n".join(f"  {path}" for path in pages)] if pages else []
    else:
        parts.append(f"no runs yet in {runs_folder()}: python -m kit run {next(iter(papers()))} --profile smoke")
    return "\n\n".join(parts)


MADE_BY_NOTEBOOKS = ("params.json", "branch.json", "data", "stages", "*/metrics.jsonl")
"""A folder among the runs that has one of these is a run."""


def run_folders() -> list[Path]:
    """The folders of all runs, by name: made by jobs or in notebooks."""
    found = [path for path in sorted(runs_folder().glob("*")) if path.is_dir()]
    return [path for path in found if any(any(path.glob(pattern)) for pattern in MADE_BY_NOTEBOOKS)]


def run_row(folder: Path) -> Row:
    """The run's name, its profiles, and the states of its notebooks; of one made in notebooks, what they left."""
    done = progress_of(folder)
    profiles = sorted({str(entry["profile"]) for entry in done.values()})
    states = [f"{name[:2]} {entry['status']}" for name, entry in sorted(done.items())]
    if not states:
        branch = read_json(folder / "branch.json")
        states = [f"branch of {branch['of']}"] if branch else []
        states += ["data"] if (folder / "data").exists() else []
        states += [path.name for path in sorted(folder.glob("*")) if (path / "model").is_dir()]
    return [folder.name, ", ".join(profiles) or "in notebooks", ", ".join(states)]


def existing_run(name: str) -> Path:
    """The folder of a run that exists.

    Raises:
        ValueError: no such run; names those there are.
    """
    folder = find_run(name)
    if not folder.is_dir():
        known = [path.name for path in run_folders()]
        if several := _members(name, known):
            page = runs_folder() / f"{name}.html"
            raise ValueError(f"{name} is {len(several)} runs: {' '.join(several)}; their page is {page}")
        told = meant(name, known, f"there are {', '.join(known) or 'none'}")
        raise ValueError(f"no run {name!r} in {runs_folder()}: {told}")
    return folder


def _members(name: str, known: Sequence[str]) -> list[str]:
    """Runs of one command with several, by the page that it wrote of them; none if ``name`` isn't such a command's."""
    path = runs_folder() / f"{name}.html"
    page = path.read_text("utf-8") if path.is_file() else ""
    return [one for one in known if one.startswith(f"{name}-") and f">{one}<" in page]


@dataclass(frozen=True)
class Told:
    """A run in words.

    Attributes:
        headline: paragraphs on what came out; none before the first stage.
        rest: tables, last steps and files.
    """

    headline: list[str]
    rest: list[str]


def view(name: str) -> str:
    """A run's notebooks, results and last training figures, and where its files are.

    Raises:
        ValueError: no such run.
    """
    told = tell(name)
    return "\n\n".join([f"run {name}", *told.headline, *told.rest])


def tell(name: str) -> Told:
    """Collect what :func:`view` prints.

    Raises:
        ValueError: no such run.
    """
    folder = existing_run(name)
    found = []
    if done := progress_of(folder):
        rows = [
            [title, entry["profile"], entry["status"], str(entry.get("minutes", ""))]
            for title, entry in sorted(done.items())
        ]
        found.append(table([["notebook", "profile", "status", "minutes"], *rows]))
        found += [f"{title}: {entry['why']}" for title, entry in sorted(done.items()) if "why" in entry]
    results = read_results(folder / "results.json") or {}
    evaluation, stages = measured(folder, results)
    found += [text for text in (_stages_table(evaluation, stages), told_five(results), claims_table(results)) if text]
    if notebooks := sorted(folder.glob("*.ipynb")):
        found.append("notebooks:\n" + "\n".join(f"  {path}" for path in notebooks))
    found += [text for text in map(_last_step, sorted(folder.glob("**/metrics.jsonl"))) if text]
    files = sorted(str(path) for path in [*folder.glob("*.html"), *folder.glob("*.json"), *folder.glob("*.png")])
    found.append("files:\n" + "\n".join(f"  {path}" for path in files))
    return Told(_headline(evaluation, stages, results), found)


def measured(
    folder: Path, results: Mapping[str, Any]
) -> tuple[outcomes.Evaluation[Any] | None, dict[str, outcomes.Metrics]]:
    """A run's evaluation and the metrics of its stages; no evaluation if a notebook of no paper wrote it.

    Read from ``results.json``, or from ``stages/`` while the notebook that writes it has not run: what a finding
    compares is of the tasks that these stages share then (:mod:`workshop.jobs.same_tasks`).

    Args:
        folder: of the run.
        results: content of its ``results.json``; empty if there is none.

    Raises:
        PaperError: a stage is of a paper that isn't registered.
    """
    if results:
        paper = paper_of(results["notebook"])
        return paper.load_evaluation() if paper else None, outcomes.by_stage(results)
    # What was played for the five questions is told as their answers, once there are results.
    names = sorted(path.stem for path in folder.glob("stages/*.json") if path.stem not in STAGES)
    if not names:
        return None, {}
    path = folder / "stages" / f"{names[0]}.json"
    named = (read_json(path) or {}).get("paper")
    if named == "":  # a notebook's own evaluation, which nothing else knows
        return None, {}
    try:
        evaluation = find_paper(str(named)).load_evaluation()
    except PaperError as error:
        raise PaperError(f"{path}: {error}") from error
    played = on_shared_tasks({name: evaluation.load_outcomes(folder, name) for name in names})
    return evaluation, {name: evaluation.evaluate_outcomes(some) for name, some in played.items()}


def _headline(
    evaluation: outcomes.Evaluation[Any] | None, stages: Mapping[str, outcomes.Metrics], results: Mapping[str, Any]
) -> list[str]:
    """Say what came out: the first headline metric from stage to stage, and each claim with its verdict."""
    found = []
    if evaluation and evaluation.headlines:
        name, called = next(iter(evaluation.headlines.items()))
        shown = [stage for stage in evaluation.reported if name in stages.get(stage, {})]
        chain = [stage for stage in shown if stage in COMPARED] or shown
        values = " → ".join(f"{stage} {stages[stage][name]}" for stage in chain)
        found += [f"{called}: {values}, n = {stages[chain[-1]][name].n}"] if chain else []
        beside = [f"{title(stage)} {stages[stage][name]}" for stage in shown if stage not in chain]
        found += [f"Beside these: {'; '.join(beside)}"] if beside else []
    if claims := results.get("claims"):
        told = find_paper(evaluation.paper).load_claims() if evaluation else {}
        lines = [f"  {name} {claim['verdict']}: {told.get(name, '')}" for name, claim in sorted(claims.items())]
        found.append("the paper's claims, at this scale:\n" + "\n".join(lines))
    return found


def _stages_table(evaluation: outcomes.Evaluation[Any] | None, stages: Mapping[str, outcomes.Metrics]) -> str:
    """Format the metrics of a run's stages beside the paper's figures, if any; empty before the first stage."""
    if not stages:
        return ""
    return evaluation.table(stages) if evaluation else outcomes.table(stages)


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
