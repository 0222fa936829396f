"""Questions of the data sets that papers evaluate on, from the hub or from copies, as tasks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from kit.data.hub import HubError, pinned, read_lock
from kit.data.questions import Fit, QuestionSet, tasks_of
from kit.episode import Task


def chosen(sets: Mapping[str, QuestionSet], names: Iterable[str]) -> list[QuestionSet]:
    """The entries of some benchmarks, by their short names.

    Raises:
        HubError: one is unknown.
    """
    wanted = list(names)
    if unknown := sorted(set(wanted) - set(sets)):
        raise HubError(f"benchmark {unknown[0]!r}: there are {', '.join(sets)}")
    return [sets[name] for name in wanted]


def tasks_from(root: str, sets: Iterable[QuestionSet], fit: Fit, n: int = 0) -> list[Task]:
    """The questions of several data sets, from the hub or from copies.

    Args:
        root: ``hub``, or a folder with copies in the hub's layout, ``ROOT/OWNER/NAME/…``; in both ``hub.lock.json`` of
            that folder (for ``hub``: of the folder we are in) names the commits.
        sets: the data sets.
        fit: shrinks images.
        n: questions of each, the first ones; 0: all.

    Raises:
        HubError: one is missing, can't be reached, isn't as its entry says, or has nothing to ask.
    """
    folder = Path(os.curdir if root == "hub" else root)
    lock = read_lock(folder / "hub.lock.json")
    found: list[Task] = []
    for source in sets:
        if root != "hub":
            source = replace(source, id=str(folder / source.id))
            if not source.is_local:
                raise HubError(
                    f"{source.id}: no such folder; copy the data set there in the hub's layout, or give 'hub'"
                )
        found += islice(tasks_of(pinned(source, lock), fit), n or None)
    return found
