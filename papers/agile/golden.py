"""A few puzzles that the scripted expert solves, for what every paper is tried by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kit.rewards.base import per_episode
from papers.agile.experiment import Play
from papers.agile.expert import expert_script
from papers.agile.tasks import evaluation_set, training_set
from papers.registry import Golden
from turn_sandbox import Sandbox


@contextmanager
def golden() -> Iterator[Golden]:
    """Puzzles of both sizes, at all their levels; spoiled is one that is solved as it is shown."""
    tasks = [*training_set(6, 0, levels=(0, 1, 2)), *evaluation_set(1, 1, 3)]
    play = Play(max_turns=10, prompt="brief")
    spoiled = replace(tasks[0], target=tuple(image.name for image in tasks[0].images))
    with Sandbox(allow_unsafe=True) as box:
        yield Golden(tasks, play, expert_script(0), per_episode(play.score), box, spoiled)
