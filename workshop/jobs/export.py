"""``python -m kit export RUN --csv``: metrics of trainings and outcomes of stages as tidy tables, for pandas or R."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.files import read_json, write_text
from kit.train.metrics import read_metrics
from workshop.jobs.listing import existing_run, run_folders
from workshop.jobs.together import seed_of

METRICS, OUTCOMES = "metrics.csv", "outcomes.csv"

HEAD = ("run", "training", "step", "metric", "value")


def export(names: Sequence[str], where: str) -> list[str]:
    """Write the tables of runs; returns a line for each file, with its rows.

    Args:
        names: of the runs.
        where: a folder, for ``metrics.csv`` and ``outcomes.csv``; or a file ``X.csv``, for metrics, with outcomes in
            ``X-outcomes.csv``; empty: the folder of the run, if it is one.

    Raises:
        ValueError: no such run, nothing to export, several runs without a place, a run as the place, or a file of
            another kind.
    """
    folders = {name: existing_run(name) for name in names}
    if not where and len(folders) > 1:
        raise ValueError(f"{len(folders)} runs: say where their tables go: --csv FOLDER, or --csv FILE.csv")
    if where in {folder.name for folder in run_folders()}:
        told = " ".join(dict.fromkeys([where, *names]))
        raise ValueError(f"--csv {where}: that is a run, not a place: python -m kit export {told} --csv FOLDER")
    place = Path(where) if where else next(iter(folders.values()))
    if place.suffix not in ("", ".csv") and not place.is_dir():
        raise ValueError(f"--csv {where}: give a folder, or a file that ends in .csv")
    one_file = place.suffix == ".csv" and not place.is_dir()
    targets = (
        (place, place.with_name(f"{place.stem}-outcomes.csv")) if one_file else (place / METRICS, place / OUTCOMES)
    )
    played = list(_outcomes(folders))
    columns = tuple(dict.fromkeys(key for row in played for key in row))
    outcomes = [[row.get(key) for key in columns] for row in played]
    tables: list[tuple[Sequence[str], list[Any]]] = [(HEAD, list(_metrics(folders))), (columns, outcomes)]
    if not any(rows for _, rows in tables):
        raise ValueError(f"{', '.join(names)}: no training and no measured stage yet, so there is nothing to export")
    found = []
    for target, (head, rows) in zip(targets, tables, strict=True):
        if rows:
            _write(target, head, rows)
        found.append(f"{target}: {len(rows)} rows" if rows else f"{target}: not written, there are none")
    return found


def _metrics(folders: Mapping[str, Path]) -> Iterator[tuple[Any, ...]]:
    """A row for every number that a training wrote down at a step."""
    for name, folder in folders.items():
        for path in sorted(folder.glob("**/metrics.jsonl")):
            training = path.parent.relative_to(folder).as_posix()
            for row in read_metrics(path):
                numbers = {key: value for key, value in row.items() if key != "step" and isinstance(value, int | float)}
                yield from ((name, training, row["step"], key, value) for key, value in numbers.items())


def _outcomes(folders: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """A row for every episode that a stage played: what its paper keeps of one, and the seed of the run, if known."""
    for name, folder in folders.items():
        seed = seed_of(folder)
        for path in sorted(folder.glob("stages/*.json")):
            for outcome in (read_json(path) or {}).get("outcomes", ()):
                yield {"run": name, "stage": path.stem, **outcome, "seed": seed}


def _write(target: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table whole; a list in a cell is JSON, what is None stays empty."""
    text = io.StringIO()
    made = csv.writer(text, lineterminator="\n")
    made.writerow(head)
    made.writerows([json.dumps(v) if isinstance(v, list | dict) else v for v in row] for row in rows)
    write_text(target, text.getvalue())
