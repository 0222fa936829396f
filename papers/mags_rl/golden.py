"""A few questions that the scripted expert answers, for what every paper is tried by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kit.rewards.base import per_episode
from papers.mags_rl.experiment import Play, magnifier
from papers.mags_rl.expert import expert
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.reward import make_reward
from papers.mags_rl.tasks import make_tasks
from papers.registry import Golden


@contextmanager
def golden() -> Iterator[Golden]:
    """A question of each kind; spoiled is one whose gold answer was changed after it was drawn."""
    tasks, play = make_tasks(dict.fromkeys(MAKERS, 1), 0), Play(prompt="brief", network="bicubic")
    spoiled = replace(tasks[0], target=("-1",))
    yield Golden(tasks, play, expert(right_share=1.0), per_episode(make_reward()), magnifier("bicubic"), spoiled)
