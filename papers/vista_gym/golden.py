"""A few questions that the scripted expert answers, for what every paper is tried by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from papers.registry import Golden
from papers.vista_gym.experiment import Play, open_tools
from papers.vista_gym.expert import Habits, expert
from papers.vista_gym.reward import make_reward
from papers.vista_gym.tasks import MAKERS, make_tasks

SURE = Habits(gives_up=0.0, astray=0.0, recovers=0.0, needless=0.0)
"""An expert that always calls what its task needs."""

ASKED = ("geometry/unigeo", "maps/mapqa", "charts/chartqa")
"""Sets whose tools answer in a moment."""


@contextmanager
def golden() -> Iterator[Golden]:
    """A question at sight of each family and three by tools; spoiled is one whose calls find something else."""
    kinds = [*ASKED, *(kind for kind in MAKERS if kind.endswith("/sight"))]
    tasks = make_tasks(dict.fromkeys(kinds, 1), 0)
    called = next(task for task in tasks if "calls" in task.meta)
    spoiled = replace(called, target=("-1",))
    with open_tools() as tools:
        yield Golden(tasks, Play(max_turns=4, prompt="brief"), expert(SURE), make_reward(), tools, spoiled)
