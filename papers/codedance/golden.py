"""A few questions that the scripted expert answers, for what every paper is tried by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from papers.codedance.experiment import Play, sandbox
from papers.codedance.expert import expert
from papers.codedance.reward import make_reward
from papers.codedance.tasks import MAKERS, make_tasks
from papers.registry import Golden


@contextmanager
def golden() -> Iterator[Golden]:
    """A question of each kind; spoiled is one whose gold answer was changed after it was drawn."""
    tasks = make_tasks(dict.fromkeys(MAKERS, 1), 0)
    spoiled = replace(tasks[0], target=("-1",))
    with sandbox(allow_unsafe=True) as box:
        yield Golden(tasks, Play(prompt="brief"), expert(needless=0.0), make_reward(), box, spoiled)
