"""Check the tasks that a job is given, by its parameters or by its run's folder, before its first notebook."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.files import ROOT, find_run
from papers.registry import Paper, paper_of
from workshop.jobs.parameters import ParameterError

if TYPE_CHECKING:
    from workshop.jobs.run import Job


def check_tasks(job: Job) -> None:
    """Refuse a job with tasks that can't be played or scored; a job that makes all of its tasks is passed at once.

    Images and gold answers are checked as the job's model has them, prompts as the paper's environment and limits do.
    What a notebook changes about either, its training checks before step 1.

    Raises:
        kit.train.playable.UnplayableTasks: naming every task, with its file and line, or the lines that can't be read.
        ValueError: the model's tokenizer can't be loaded.
    """
    files = list(dict.fromkeys(file for folder in _folders(job) for file in sorted(folder.glob("*.jsonl"))))
    files = [file for file in files if _holds_tasks(file)]
    if not files:
        return
    from kit.chat import Chat
    from kit.data.schema import RecordError
    from kit.data.store import load_tasks
    from kit.train.playable import UnplayableTasks, check_playable
    from tiny import TINY

    sets, torn = {}, []
    for file in files:
        try:
            sets[str(file)] = load_tasks(file)
        except RecordError as error:
            torn.append(str(error))
    if torn:
        raise UnplayableTasks("\n".join(torn))
    values = _values(job)
    model = values.get("model") or TINY
    try:
        chat = Chat.from_pretrained(model)
    except OSError as error:
        raise ValueError(f"model={model!r}: its tokenizer, which counts tokens, can't be loaded ({error})") from error
    paper = paper_of(job.notebooks[0].source.name)
    check_playable(sets, chat, **(_prompts(paper, values) if paper else {}))


def _folders(job: Job) -> Iterator[Path]:
    """Folders that parameters name, from the project's folder or the notebooks', and those that the run must have."""
    for planned in job.notebooks:
        for value in planned.values.values():
            if value and isinstance(value, str):
                places = (os.path.join(base, os.path.expanduser(value)) for base in (ROOT, planned.source.twin.parent))
                yield from (Path(place) for place in places if os.path.isdir(place))
    run = find_run(job.branch_of or job.name)
    yield from (run / path for path in job.needs if (run / path).is_dir())


def _holds_tasks(file: Path) -> bool:
    """True if a file's first line is a stored task."""
    with file.open("rb") as lines:
        try:
            first = json.loads(lines.readline().decode("utf-8-sig"))
        except ValueError:
            return False
    return isinstance(first, dict) and first.get("kind") == "task"


def check_choices(job: Job) -> None:
    """Refuse values that an episode's environment or limits will refuse, before any notebook runs.

    Raises:
        ParameterError: such a value; names its notebook and what there is to choose from.
    """
    for planned in job.notebooks:
        paper = paper_of(planned.source.name)
        try:
            if paper:
                _prompts(paper, planned.all_values)["make_env"]()
        except ValueError as error:
            raise ParameterError(f"notebook {planned.source.number}: {error}") from None


def _values(job: Job) -> dict[str, Any]:
    """The values of all notebooks; of a name that several have, the first one's."""
    found: dict[str, Any] = {}
    for planned in reversed(job.notebooks):
        found |= planned.all_values
    models = [str(planned.values["model"]) for planned in job.notebooks if planned.values.get("model")]
    return found | {"model": models[0] if models else ""}


def _prompts(paper: Paper, values: Mapping[str, Any]) -> dict[str, Any]:
    """What prompts are checked by: the paper's own way to play, of these values, with idle tools."""
    from kit.train.experiment import Rollouts

    play = paper.limits_of(values)
    if isinstance(play, Rollouts):
        return {"make_env": lambda: play.environment(play.idle()), "config": play}
    return {"make_env": paper.load_environment(), "config": play}
