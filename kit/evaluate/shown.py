"""A few episodes of a stage that are kept whole, pictures and all, for whoever wants to see what an agent did.

::

    RUN/stages/shown/STAGE.jsonl, pictures/

They are chosen by their tasks' ids, so that stages that played the same tasks keep the same ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from kit.data.store import load_episodes, save_episodes
from kit.episode import Episode

SHOWN = 16
"""Episodes kept of a stage, one a task."""


def _file(run: str | Path, stage: str) -> Path:
    return Path(run, "stages", "shown", f"{stage}.jsonl")


def keep(run: str | Path, stage: str, episodes: Sequence[Episode]) -> None:
    """Keep :data:`SHOWN` of a stage's finished episodes, in place of those kept before.

    Args:
        run: the run's folder.
        stage: the stage's name.
        episodes: finished episodes; of several of one task the last can be kept.
    """
    by_task = {episode.task.id: episode for episode in episodes}
    chosen = sorted(by_task, key=lambda id: zlib.crc32(id.encode()))[:SHOWN]
    save_episodes(_file(run, stage), [by_task[id] for id in chosen])


def load(run: str | Path, stage: str) -> dict[str, Episode]:
    """Task's id → its episode, of those that were kept of a stage; {}: none were.

    Args:
        run: the run's folder.
        stage: the stage's name.
    """
    path = _file(run, stage)
    return {episode.task.id: episode for episode in load_episodes(path)} if path.is_file() else {}
