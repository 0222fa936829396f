"""Exercises of notebook 52: how many workers, how long a wait, what deaths cost."""

from __future__ import annotations

import random
from math import ceil
from typing import Any

from workshop.exercises import Exercise, Mistake


def workers_for(trajectories: int, think: float, work: float) -> int:
    """Each trajectory keeps a worker busy for work seconds of every think + work."""
    return max(1, ceil(round(trajectories * work / (think + work), 9)))


def wait(ahead: int, workers: int, seconds: float) -> float:
    """Rounds of calls that must end first: the one at work now, and the full rounds of those ahead."""
    return (ahead // workers + 1) * seconds


def told() -> int:
    """One call in hand a worker, so one a death."""
    return 3


def _other_loads(seed: int) -> list[dict[str, Any]]:
    """Few and many trajectories, quick and slow tools."""
    rng = random.Random(seed)
    return [
        {"trajectories": rng.randint(2, 200), "think": rng.randint(1, 40) / 8, "work": work}
        for work in (0.25, 1.0, 2.0, 3.0, 5.0)
    ]


def _other_queues(seed: int) -> list[dict[str, Any]]:
    """Nobody ahead, a full round, one more than that."""
    rng = random.Random(seed)
    workers, seconds = rng.randint(3, 40), rng.randint(1, 40) / 8
    return [{"ahead": n, "workers": workers, "seconds": seconds} for n in (0, workers - 1, workers, 5 * workers + 1)]


EXERCISES = [
    Exercise(
        "52.1",
        workers_for,
        "Of each think + work seconds, a trajectory needs a worker for work seconds. How many are busy at a time, "
        "on average? There are no half workers, and never none.",
        cases=[
            {"trajectories": 24, "think": 3.0, "work": 1.0},
            {"trajectories": 25, "think": 3.0, "work": 1.0},
            {"trajectories": 128, "think": 1.0, "work": 1.0},
            {"trajectories": 2, "think": 3.0, "work": 1.0},
        ],
        hidden=_other_loads,
        mistakes=[
            Mistake(lambda trajectories, think, work: trajectories, "While a policy thinks, its worker serves others."),
            Mistake(
                lambda trajectories, think, work: max(1, ceil(trajectories * work / think)),
                "A trajectory's round takes think and work seconds: it doesn't think while its tool works.",
            ),
            Mistake(
                lambda trajectories, think, work: max(1, int(trajectories * work / (think + work))),
                "Rounded down, the queue grows for ever.",
            ),
        ],
    ),
    Exercise(
        "52.2",
        wait,
        "All workers begin a call at this moment. After how many rounds is it your turn?",
        cases=[
            {"ahead": 0, "workers": 2, "seconds": 1.0},
            {"ahead": 1, "workers": 2, "seconds": 1.0},
            {"ahead": 2, "workers": 2, "seconds": 1.0},
            {"ahead": 24, "workers": 1, "seconds": 0.5},
        ],
        hidden=_other_queues,
        mistakes=[
            Mistake(
                lambda ahead, workers, seconds: ahead * seconds / workers,
                "Whoever is in hand now has to be done first: nobody begins before the first round ends.",
            ),
            Mistake(lambda ahead, workers, seconds: (ahead + 1) * seconds, "The workers share the queue."),
        ],
    ),
    Exercise(
        "52.3",
        told,
        "What does a worker that dies take with it? What happens to calls that wait?",
        mistakes=[
            Mistake(lambda: 24, "Calls that wait are done by the worker that comes next."),
            Mistake(lambda: 6, "A worker has one call in hand, not two; the other worker goes on."),
            Mistake(lambda: 0, "A call in hand can't be finished by anyone: its worker is gone."),
        ],
    ),
]
