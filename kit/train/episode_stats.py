"""Average what a step's episodes did, over all of them and over named parts of the tasks, for its row of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from kit.episode import Episode, Score, Task


def no_subset(task: Task) -> str:
    """The subset of a task that belongs to none."""
    return ""


def episode_unserved(episode: Episode) -> int:
    """Count the calls of an episode that a tool service did not take up (:data:`kit.episode.Status`)."""
    return sum(turn.observation is not None and turn.observation.status == "unserved" for turn in episode.turns)


def episode_stats(episode: Episode, score: Score) -> dict[str, float]:
    """Collect the numbers that a step's row averages over episodes.

    ``reward`` and its weighted parts ``reward/…``; ``accuracy`` and ``format`` as shares of episodes that
    earned that part; turns; turns with an action; sampled tokens; all tokens; whether it answered.
    """
    earned = {name: float(score.parts[name] > 0) for name in ("accuracy", "format") if name in score.parts}
    return {
        "reward": score.total,
        **earned,
        **{f"reward/{name}": part for name, part in sorted(score.parts.items())},
        "turns": len(episode.turns),
        "calls": episode.calls,
        "response_tokens": sum(episode.mask),
        "tokens": len(episode.ids),
        "answered": float(episode.ended == "answer"),
        # A column where there are any: calls that a tool service did not take up are no agent's.
        **({"unserved": unserved} if (unserved := episode_unserved(episode)) else {}),
    }


def mean_by_name(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each number over all rows; where a row hasn't got it, it counts as 0.

    So an episode whose reward has no part of a name earned nothing for it: ``[{"a": 1}, {"b": 5}]`` gives
    ``{"a": 0.5, "b": 2.5}``.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = torch.tensor([[row.get(name, 0.0) for name in names] for row in rows], dtype=torch.float64)
    return dict(zip(names, table.mean(dim=0).tolist(), strict=True))


def means_of_subsets(rows: Sequence[Mapping[str, float]], subsets: Sequence[str]) -> dict[str, float]:
    """Average accuracy and calls over the episodes of each subset, as ``calls_hard``.

    Args:
        rows: an episode's numbers (:func:`episode_stats`).
        subsets: the name of each episode's subset; one without a name is in none.
    """
    found: dict[str, float] = {}
    for subset in sorted(set(subsets) - {""}):
        some = [row for row, name in zip(rows, subsets, strict=True) if name == subset]
        means = mean_by_name(some)
        found |= {f"{name}_{subset}": means[name] for name in ("accuracy", "calls") if name in means}
    return found
