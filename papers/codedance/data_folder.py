"""A folder of CodeDance's data: what ``data_scripts/codedance.py`` writes into it and notebook 31 takes from it.

::

    rl.jsonl          the paper's questions for reinforcement
    sft.jsonl         its demonstrations, as lessons (:mod:`.lessons`)
    eval-NAME.jsonl   each of its benchmarks (:data:`.evaluation_sets.BENCHMARKS`)
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.data.store import load_tasks
from kit.episode import Task
from kit.files import ROOT
from papers.codedance.evaluation_sets import BENCHMARKS

KEPT = {"rl": ("kind", "source", "level"), "sft": ("kind", "source", "level", "turns")}
"""Set → what its tasks' ``meta`` must hold."""


class DataFolderError(ValueError):
    """A folder of data can't be used; the message names the parameter, its value and the way out."""


def given_sets(data: str, benchmarks: Sequence[str] = (), n: int = 0) -> dict[str, list[Task]]:
    """Read and check the sets of a folder: ``rl``, ``sft`` and ``eval-NAME``, where they are there.

    Args:
        data: the folder, relative ones within the project; empty: none, and nothing is read.
        benchmarks: short names of those that must be there; empty: whichever are.
        n: questions of each of them, the first ones; 0: all (the parameter ``benchmark_questions``).

    Raises:
        DataFolderError: no such folder, an unknown or missing benchmark, fewer questions than none, or tasks of
            another layout.
    """
    if n < 0:
        raise DataFolderError(f"benchmark_questions={n}: give how many of each set, or 0 for all")
    if unknown := [name for name in benchmarks if name not in BENCHMARKS]:
        raise DataFolderError(f"benchmarks={unknown[0]!r}: no such set; choose from {', '.join(BENCHMARKS)}")
    if not data:
        if benchmarks:
            raise DataFolderError(f"benchmarks={','.join(benchmarks)}, and data is empty: {_way_out('FOLDER')}")
        return {}
    folder = ROOT / data
    wanted = [f"eval-{name}" for name in benchmarks or BENCHMARKS]
    there = [name for name in (*KEPT, *wanted) if (folder / f"{name}.jsonl").is_file()]
    missing = [name for name in wanted if name not in there] if benchmarks else []
    if missing or not there:
        what = ", ".join(f"{name}.jsonl" for name in missing or (*KEPT, *wanted))
        raise DataFolderError(f"data={data!r}: no {what}; {_way_out(data)}, or name other benchmarks")
    found = {name: _checked(data, name, load_tasks(folder / f"{name}.jsonl")) for name in there}
    return {name: tasks[: n or None] if name in wanted else tasks for name, tasks in found.items()}


def _way_out(data: str) -> str:
    return f"python data_scripts/codedance.py --out {data} --hub --pin writes the folder"


def _checked(data: str, name: str, tasks: list[Task]) -> list[Task]:
    """Refuse tasks that aren't laid out as the script does it."""
    is_benchmark = name.startswith("eval-")
    wanted = ("set", "kind", "source", "level") if is_benchmark else KEPT[name]
    for number, task in enumerate(tasks, 1):
        lacks = [key for key in wanted if key not in task.meta]
        if not lacks and is_benchmark and task.meta["set"] != name.removeprefix("eval-"):
            lacks = [f"set={name.removeprefix('eval-')!r}, but {task.meta['set']!r}"]
        if lacks:
            raise DataFolderError(
                f"data={data!r}: {name}.jsonl:{number}, task {task.id}: meta has no {', '.join(lacks)}; its tasks need "
                f"{', '.join(wanted)}: {_way_out(data)}"
            )
    return tasks
