"""Exercises of notebook 34: agents that none beats, what further turns are good for, a margin for "equal"."""

from __future__ import annotations

import random
from math import comb
from typing import Any

from workshop.exercises import Exercise, Mistake


def unbeaten(found: dict[str, tuple[float, float]]) -> list[str]:
    """The agents on the edge of what is possible."""

    def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return a[0] >= b[0] and a[1] <= b[1] and a != b

    return sorted(name for name, one in found.items() if not any(beats(other, one) for other in found.values()))


def answered_within(p: float, turns: int) -> float:
    """One minus the chance of no success, or of one."""
    calls = turns - 1
    return sum(comb(calls, k) * (1 - p) ** k * p ** (calls - k) for k in range(2, calls + 1))


def c3_holds(more: tuple[float, float], gain: tuple[float, float], margin: float = 0.05) -> bool:
    """The calls' interval above 0, that of accuracy within the margin."""
    return more[0] > 0 and -margin < gain[0] and gain[1] < margin


def _most_accurate(found: dict[str, tuple[float, float]]) -> list[str]:
    best = max(value[0] for value in found.values())
    return sorted(name for name, value in found.items() if value[0] == best)


def _other_agents(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"found": {name: (rng.random(), 2 * rng.random()) for name in "abcdef"}} for _ in range(3)]


def _other_intervals(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    more, wide = round(rng.uniform(0.1, 0.4), 4), round(rng.uniform(0.06, 0.2), 4)
    found = [{"more": (more / 2, more), "gain": (-wide, wide)}, {"more": (more / 3, more), "gain": (0.011, 0.041)}]
    found.append({"more": (more / 2, more), "gain": (-wide, 0.011)})
    for _ in range(6):
        more, gain = rng.uniform(-0.2, 0.4), rng.uniform(-0.06, 0.08)
        found.append({"more": (more - 0.1, more + 0.1), "gain": (gain - 0.02, gain + 0.02)})
    return found


EXERCISES = [
    Exercise(
        "34.1",
        unbeaten,
        "Ask of each agent whether any other has accuracy at least as high, calls at most as many, and isn't the same.",
        cases=[
            {"found": {"grpo": (0.7, 0.8), "bonus": (0.7, 1.4), "outcome": (0.72, 1.0)}},
            {"found": {"a": (0.5, 1.0), "b": (0.5, 1.0)}},
            {"found": {"a": (0.5, 0.0), "b": (0.6, 0.0), "c": (0.6, 0.1)}},
        ],
        hidden=_other_agents,
        mistakes=[Mistake(_most_accurate, "An agent that is less accurate and calls less is not beaten.")],
    ),
    Exercise(
        "34.2",
        answered_within,
        "One turn is the answer's. Add up the chances of 2, 3, … successes among turns − 1 calls.",
        cases=[{"p": 0.0, "turns": 3}, {"p": 0.5, "turns": 3}, {"p": 0.5, "turns": 4}, {"p": 0.2, "turns": 2}],
        hidden=lambda seed: [{"p": random.Random(seed + k).random(), "turns": 3 + k} for k in range(4)],
        mistakes=[
            Mistake(lambda p, turns: answered_within(p, turns + 1), "The answer takes a turn, too."),
            Mistake(lambda p, turns: (1 - p) ** 2 if turns > 2 else 0.0, "A failed call can be tried again."),
        ],
    ),
    Exercise(
        "34.3",
        c3_holds,
        "The lower end of the calls decides the first half, both ends of the accuracy the second.",
        cases=[
            {"more": (0.1, 0.4), "gain": (-0.03, 0.04)},
            {"more": (0.1, 0.4), "gain": (-0.03, 0.06)},
            {"more": (-0.1, 0.4), "gain": (-0.03, 0.04)},
            {"more": (0.1, 0.4), "gain": (0.01, 0.04)},
            {"more": (0.1, 0.4), "gain": (-0.09, 0.01)},
        ],
        hidden=_other_intervals,
        mistakes=[
            Mistake(
                lambda more, gain, margin=0.05: more[0] > 0 and gain[0] <= 0 <= gain[1],
                "An interval that has 0 in it may also have 0.5 in it. Compare its ends with the margin.",
            ),
            Mistake(
                lambda more, gain, margin=0.05: more[0] > 0 and gain[1] < margin,
                "Accuracy that calls cost isn't equal either: the lower end has a margin as well.",
            ),
        ],
    ),
]
