"""The newest rollout of a run: a few of its episodes with their scores, kept for whoever looks at a running job.

The first of the batch, the one that earned most and the one that earned least: a success and a failure where there are.

::

    run_dir/latest/episodes.jsonl, pictures/    the episodes
    run_dir/latest/scores.json                  the step, and what each episode was paid

The folder is replaced as a whole after every rollout, so it doesn't grow and is never half of one and half of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from kit.data.store import load_episodes, save_episodes
from kit.episode import Episode, Score
from kit.files import atomic_dir, read_json, write_json


def save(run_dir: Path, step: int, episodes: Sequence[Episode], scores: Sequence[Score]) -> None:
    """Keep a few episodes of the rollout before ``step``, in place of the last rollout's.

    Args:
        run_dir: folder of the run.
        step: the step that trains on them.
        episodes: finished episodes.
        scores: their scores, in order.
    """
    earned = [score.total for score in scores]
    kept = list(dict.fromkeys((0, earned.index(max(earned)), earned.index(min(earned)))))
    with atomic_dir(run_dir / "latest") as folder:
        save_episodes(folder / "episodes.jsonl", [episodes[k] for k in kept])
        write_json(folder / "scores.json", {"step": step, "scores": [asdict(scores[k]) for k in kept]})


def load(run_dir: Path) -> tuple[int, list[tuple[Episode, Score]]] | None:
    """The step, and episodes with their scores; None if no rollout was kept yet."""
    record = read_json(run_dir / "latest" / "scores.json")
    if record is None:
        return None
    scores = [Score(**{**each, "turns": tuple(each["turns"])}) for each in record["scores"]]
    episodes = load_episodes(run_dir / "latest" / "episodes.jsonl")
    return int(record["step"]), list(zip(episodes, scores, strict=True))
