"""The paper's eleven sets in a run: their questions, and Tables 1 to 3 beside the run's own figures.

A stage of a set is saved as ``STAGE-eval-SET``: ``direct-eval-vstar`` is the base asked directly, ``sft-eval-vstar``
and ``grpo-eval-vstar`` are the agents. :func:`table` has a row for each stage and a column for each set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kit.data.store import load_tasks
from kit.episode import Task
from kit.evaluate.accuracy import accuracy
from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metric, Metrics
from papers.codedance.metrics import EVALUATION, Outcome
from papers.codedance.reported import MATHEMATICS, REPORTED, VISUAL

SETS = (*VISUAL, *MATHEMATICS)
"""The sets of Tables 1 and 2, in their order; Table 3 has seven of them."""
ROWS = {
    "direct": "base, asked",
    "sft": "SFT",
    "grpo": "SFT + R_BAT",
    "outcome": "SFT + outcome",
    "bonus": "SFT + bonus",
}
"""Stage → its row in the table."""
ABSENT = (
    "no benchmark's data are there: python data_scripts/codedance.py --out FOLDER --hub --pin writes them, and "
    "notebook 31 takes them from data=FOLDER"
)


def questions(folder: Path) -> dict[str, list[Task]]:
    """The benchmarks' questions that a run has, by set, in the tables' order; those it has not are left out.

    Args:
        folder: the run's folder of data, which notebook 31 writes.
    """
    files = {name: folder / f"eval-{name}.jsonl" for name in SETS}
    return {name: load_tasks(file) for name, file in files.items() if file.is_file()}


def told(sets: Mapping[str, Sequence[Task]]) -> str:
    """Tell how many questions of each set there are, or that there are none and how to get them."""
    return ", ".join(f"{name} {len(tasks)}" for name, tasks in sets.items()) or ABSENT


def of_stage(stages: Mapping[str, Sequence[Outcome]], stage: str) -> Metrics:
    """Accuracy and turns of a stage on each set that it was played on.

    Args:
        stages: flat name (:mod:`papers.played`) → outcomes of all seeds.
        stage: name of the stage, a key of :data:`ROWS`.
    """
    flat = {name: f"{stage}-eval-{name}" for name in SETS}
    played = {name: stages[file] for name, file in flat.items() if stages.get(file)}
    found: Metrics = {}
    for name, some in played.items():
        found |= {f"acc_{name}": accuracy(some), f"turns_{name}": Metric("turns", "turns", "count").interval(some)}
    return found


def measured(folders: Sequence[Path], stage: str, as_saved: str = "") -> Metrics:
    """:func:`of_stage` of what runs that differ in their seed have saved.

    Args:
        folders: the runs; a set is left out unless all of them have it.
        stage: name of the stage, a key of :data:`ROWS`.
        as_saved: its name in these runs, if another: a branch under another reward saves ``grpo`` as well.
    """
    found: dict[str, list[Outcome]] = {}
    for name in SETS:
        saved = f"{as_saved or stage}-eval-{name}"
        if folders and all((folder / "stages" / f"{saved}.json").is_file() for folder in folders):
            loaded = (EVALUATION.load_outcomes(folder, saved, seed) for seed, folder in enumerate(folders))
            found[f"{stage}-eval-{name}"] = [outcome for some in loaded for outcome in some]
    return of_stage(found, stage)


HEADS = {"acc": "per cent right", "turns": "turns an episode"}
"""Metric of a table → its head."""


def table(stages: Mapping[str, Mapping[str, Interval]], metric: str = "acc") -> str:
    """Tables 1 to 3 as one: a row for each stage, a column for each set, the paper's number in brackets.

    Args:
        stages: stage → its metrics (:func:`measured`); a cell without one says that it wasn't run.
        metric: ``acc``, per cent right, or ``turns``, which the paper has in Table 3 alone.
    """
    rows = [[HEADS[metric], *SETS]]
    for stage, title in ROWS.items():
        ours, theirs = stages.get(stage, {}), REPORTED[stage]
        names = [f"{metric}_{name}" for name in SETS]
        rows.append([title, *(_cell(ours.get(name), theirs.get(name), metric) for name in names)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "in brackets: the paper's, where it has one (Tables 1 to 3)"])


def _cell(ours: Interval | None, theirs: float | None, metric: str) -> str:
    """One cell: ours, and the paper's if it reports one."""

    def told(value: float) -> str:
        return f"{100 * value:.1f}" if metric == "acc" else f"{value:.2f}"

    cell = "not run" if ours is None else told(ours.value)
    return cell if theirs is None else f"{cell} ({told(theirs)})"
