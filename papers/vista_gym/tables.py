"""Table 2: the eleven benchmarks, played whole by each stage that the table has, beside the paper's accuracies.

``data_scripts/vista_gym.py --hub`` writes them, one file each; notebook 53 keeps the run's questions of them beside its
tasks, so all stages play the same. A stage's outcomes are saved beside its others, as ``bench-STAGE``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from kit.data.store import load_tasks, save_tasks
from kit.episode import Episode, Task
from kit.evaluate.intervals import Interval, Point, contrast, proportion_over_seeds
from kit.files import ROOT
from papers.tables import NOT_RUN, told
from papers.vista_gym.metrics import EVALUATION, Outcome
from papers.vista_gym.reported import COLUMNS, ROWS, TABLE_2
from papers.vista_gym.tasks import IN, OUT

MEASURED = (*IN, *OUT)
"""The eleven, in Table 2's order."""

Play = Callable[[Sequence[Task]], Sequence[Episode]]


def benchmark_tasks(data: str, each: int = 0) -> list[Task]:
    """Questions of the eleven benchmarks, in Table 2's order; none if no folder is named.

    Args:
        data: folder of the data script, relative ones within the project.
        each: how many of each; 0: all that the folder has.

    Raises:
        FileNotFoundError: the folder lacks a benchmark; says which, and how it is made.
        kit.data.schema.RecordError: a file of another layout, with its line.
        ValueError: ``each`` is below 0, or a file holds no question, or one of another set.
    """
    if each < 0:
        raise ValueError(f"eval_tasks={each}: questions of each benchmark, 0 for all of them")
    return [task for name in MEASURED for task in _questions(ROOT / data, name, each)] if data else []


def keep_benchmarks(run: Path, tasks: Sequence[Task]) -> None:
    """Keep a run's questions of the benchmarks where later notebooks look for them (:func:`kept_benchmarks`)."""
    save_tasks(run / "tasks" / "benchmarks.jsonl", tasks)


def kept_benchmarks(run: Path) -> list[Task]:
    """The questions of the benchmarks that a run plays; none where no data were named, or before they are kept."""
    file = run / "tasks" / "benchmarks.jsonl"
    return list(load_tasks(file)) if file.is_file() else []


def _questions(folder: Path, name: str, each: int) -> list[Task]:
    file = folder / f"eval-{name}.jsonl"
    if not file.is_file():
        raise FileNotFoundError(
            f"data={str(folder)!r} has no {file.name}, one of the eleven benchmarks ({', '.join(MEASURED)}): "
            "python data_scripts/vista_gym.py --hub --out FOLDER writes them; leave data empty to go on without"
        )
    tasks = list(islice(load_tasks(file), each or None))
    foreign = [task.id for task in tasks if task.meta.get("set") != name]
    if foreign or not tasks:
        what = f"its task {foreign[0]} is of another set" if foreign else "it holds no question"
        raise ValueError(f"{file}: {what}; make the folder anew with data_scripts/vista_gym.py")
    return tasks


def save_played(run: Path, stage: str, tasks: Sequence[Task], play: Play) -> str:
    """Let a stage play the benchmarks and save what came of it; says so in a line.

    Args:
        run: the run's folder.
        stage: such as ``grpo``.
        tasks: of :func:`benchmark_tasks`; none: nothing is played.
        play: plays tasks by the stage's policy.
    """
    if not tasks:
        return f"benchmarks, {stage}: not run, their data aren't here (data_scripts/vista_gym.py --hub)"
    found = EVALUATION.save_stage(run, f"bench-{stage}", list(play(tasks)))
    return f"benchmarks, {stage}: {found['acc_all'].value:.3f} of {len(tasks)} questions right"


def played(stage: str, runs: Sequence[Path]) -> list[Outcome]:
    """Outcomes of a stage on the benchmarks, of runs that differ in their seed; none unless all of them played it."""
    if not runs or not all((run / "stages" / f"bench-{stage}.json").is_file() for run in runs):
        return []
    return [outcome for k, run in enumerate(runs) for outcome in EVALUATION.load_outcomes(run, f"bench-{stage}", k)]


def deciding(
    on: Mapping[str, Sequence[Outcome]], drawn: Mapping[str, Sequence[Outcome]], *stages: str
) -> list[Sequence[Outcome]]:
    """Outcomes that decide a claim: on the benchmarks where all of its stages played them, else on drawn questions.

    Args:
        on: stage → its outcomes on the benchmarks.
        drawn: stage → its outcomes on drawn questions.
        stages: those that the claim compares.

    Raises:
        KeyError: one of them played neither.
    """
    where = on if all(on.get(stage) for stage in stages) else drawn
    return [where[stage] for stage in stages]


def row(outcomes: Sequence[Outcome]) -> dict[str, Interval]:
    """A stage's row of Table 2: the accuracy on each benchmark, and the three means *over benchmarks*.

    Worked example: right are 1 of 2 questions of one benchmark and 3 of 3 of another: ½, 1, and their mean ¾, not ⅘.

    Args:
        outcomes: of :func:`played`; none: an empty row. A column without a question is left out.
    """
    of = {name: [Point(o.seed, o.image, float(o.correct)) for o in outcomes if o.benchmark == name] for name in COLUMNS}
    found = {name: proportion_over_seeds(of[name]) for name in MEASURED if of[name]}
    for mean, names in {"in": IN, "out": OUT, "all": MEASURED}.items():
        if all(of[name] for name in names):
            found[mean] = contrast({name: of[name] for name in names}, dict.fromkeys(names, 1 / len(names)))
    return found


def check_backbone(name: str) -> None:
    """Refuse a model whose rows of Table 2 aren't known.

    Raises:
        ValueError: naming it and those that are.
    """
    if name not in TABLE_2:
        raise ValueError(f"backbone={name!r}: the rows of Table 2 that are here are of {', '.join(TABLE_2)}")


def table_2(stages: Mapping[str, Sequence[Outcome]], backbone: str) -> dict[str, Any]:
    """Table 2, for ``results.json``: every cell holds the paper's number, and ours or ``not run``.

    Args:
        stages: stage, a key of :data:`ROWS` or ``sft``, → its outcomes on the benchmarks.
        backbone: whose rows of the paper's table stand beside: a key of :data:`TABLE_2`.

    Raises:
        ValueError: the paper has no rows of that model.
    """
    check_backbone(backbone)

    def cells(stage: str) -> dict[str, Any]:
        here, paper = row(stages.get(stage, ())), TABLE_2[backbone].get(stage, {})
        return {
            name: {"here": here[name].record() if name in here else NOT_RUN, "paper": paper.get(name, NOT_RUN)}
            for name in COLUMNS
        }

    return {"backbone": backbone, "rows": {stage: cells(stage) for stage in (*ROWS, "sft")}}


def lines(table: Mapping[str, Any]) -> str:
    """A table of :func:`table_2` as text: a line for each benchmark, a column for each stage."""
    note = f"in round brackets: the paper's {table['backbone']}; in, out, all: means of benchmarks"
    return told(table["rows"], "accuracy in %") + f"\n{note}"
