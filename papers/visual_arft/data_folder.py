"""A folder of Visual-ARFT's tasks: written by notebook 21 and by ``data_scripts/visual_arft.py``, read by all others.

::

    coding-train.jsonl, search-train.jsonl                 to train on
    coding-development.jsonl                               to make choices on (of one's own pictures and the hub's)
    coding-test.jsonl, search-test.jsonl, text-test.jsonl  to measure by
    mat-coding.jsonl, mat-search.jsonl                     the paper's benchmark (of the hub): measured by instead
    coldstart.jsonl                                        episodes of a scripted expert
    play.json                                              how tasks are told (:class:`~.experiment.Play`)
    pictures/                                              of all of them, each once

Training, development and test share no image, no image's source and no country; a folder in which they do is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from kit.chat import Chat
from kit.data.store import load_tasks, save_tasks
from kit.episode import Task
from kit.rollout import Environment, RolloutConfig
from kit.train.playable import Validate, check_playable

NEEDED = ("coding-train", "coding-test", "search-train", "search-test", "text-test")
"""Sets that every folder has."""
MORE = ("coding-development", "mat-coding", "mat-search")
"""Sets that only some have."""
TOOLS = {"coding": "code", "search": "search", "text": "search"}
"""Setting → the tool of its tasks."""


class DataFolderError(ValueError):
    """A folder of tasks can't be used; the message names the file and the way out."""


def load_sets(folder: Path) -> dict[str, list[Task]]:
    """Read and check all sets of a folder, by name.

    Raises:
        DataFolderError: a set is missing or empty, a task has no answer or another tool, or sides share something.
    """
    missing = [name for name in NEEDED if not (folder / f"{name}.jsonl").is_file()]
    if missing:
        raise DataFolderError(
            f"{folder}: no {', '.join(f'{name}.jsonl' for name in missing)}; write the folder with "
            f"python data_scripts/visual_arft.py --out {folder} (--hub --pin for the paper's sources)"
        )
    there = [name for name in (*NEEDED, *MORE) if _is_there(folder, name)]
    sets: dict[str, list[Task]] = {name: load_tasks(folder / f"{name}.jsonl") for name in there}
    check_sets(sets, str(folder))
    return sets


def _is_there(folder: Path, name: str) -> bool:
    return (folder / f"{name}.jsonl").is_file()


def check_sets(sets: Mapping[str, Sequence[Task]], where: str) -> None:
    """Refuse sets that are empty, or whose tasks can't be played or stand on two sides.

    Args:
        sets: name → its tasks.
        where: what the error message calls them.

    Raises:
        DataFolderError: naming the set, the task or what is shared.
    """
    for name, tasks in sets.items():
        if not tasks:
            raise DataFolderError(f"{where}: {name} holds no task; make at least one")
        tool = TOOLS[setting(name)]
        for task in tasks:
            if not task.target or isinstance(task.target, str):
                raise DataFolderError(f"{where}: {name}, task {task.id}: target={task.target!r} is no list of answers")
            if task.meta.get("tools") != [tool]:
                raise DataFolderError(f"{where}: {name}, task {task.id}: tools={task.meta.get('tools')}, not {[tool]}")
    for one, other in combinations(sets, 2):
        if side(one) != side(other) and (both := _traces(sets[one]) & _traces(sets[other])):
            raise DataFolderError(
                f"{where}: {one} and {other} share {len(both)} images, sources or countries, such as {min(both)}; what "
                "is trained on must not be measured by: make the folder anew"
            )


def setting(name: str) -> str:
    """The setting of a set: ``coding`` of coding-train and mat-coding."""
    return next(part for part in name.split("-") if part in TOOLS)


def side(name: str) -> str:
    """The side of a set: ``train``, ``development`` or ``test`` (the benchmark, too)."""
    return "test" if name.startswith("mat-") else name.split("-")[1]


def _traces(tasks: Sequence[Task]) -> set[str]:
    """What no two sides may share: images by their pixels, and the sources and countries that tasks are made of."""
    found = {image.sha256 for task in tasks for image in task.tool_images}
    found |= {f"source {task.meta['source']}" for task in tasks if task.meta.get("source")}
    return found | {f"country {name}" for task in tasks for name in task.meta.get("countries", ())}


def save_sets(
    folder: Path,
    sets: Mapping[str, Sequence[Task]],
    chat: Chat | None = None,
    make_env: Callable[[], Environment] | None = None,
    config: RolloutConfig | None = None,
    validate: Validate | None = None,
) -> None:
    """Check the sets, write them, and remove those that an earlier folder of this name had and this one hasn't.

    Args:
        folder: the folder, made if it is missing.
        sets: name → its tasks.
        chat: of the model that is going to play, if it is known.
        make_env: makes an environment; None: prompts aren't checked.
        config: the limits that will hold.
        validate: tells why a task teaches nothing (:mod:`papers.visual_arft.validate`); None: isn't asked.

    Raises:
        kit.train.playable.UnplayableTasks: a task can't be played, or scored.
        DataFolderError: as :func:`check_sets`.
        OSError: a file can't be written.
    """
    written = {str(folder / f"{name}.jsonl"): tasks for name, tasks in sets.items()}
    check_playable(written, chat, make_env, config, validate)
    check_sets(sets, str(folder))
    for name in MORE:
        if name not in sets:  # else an old benchmark would be measured by
            (folder / f"{name}.jsonl").unlink(missing_ok=True)
    for name, tasks in sets.items():
        save_tasks(folder / f"{name}.jsonl", tasks)
