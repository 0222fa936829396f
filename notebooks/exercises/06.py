"""Exercises of notebook 06: pass@k of a task, pass@k over two tasks, the observation gap."""

from __future__ import annotations

import random
from math import comb
from typing import Any

from workshop.exercises import Exercise, Mistake


def pass_at_k(n: int, c: int, k: int) -> float:
    """Count the sets of k that hold no right try, as a share of all sets of k."""
    return 1 - comb(n - c, k) / comb(n, k)


def elicited() -> tuple[float, float]:
    """Take the mean over the two tasks: a half and 0; and 1 − 0.5⁸ and 0."""
    return 0.5 / 2, (1 - 0.5**8) / 2


def gap(own: dict[str, bool], other: dict[str, bool]) -> float:
    """Take the mean difference over the tasks that are in both."""
    both = own.keys() & other.keys()
    return sum(own[name] - other[name] for name in both) / len(both)


def _gap_of_means(own: dict[str, bool], other: dict[str, bool]) -> float:
    return sum(own.values()) / len(own) - sum(other.values()) / len(other)


def _other_tries(seed: int) -> list[dict[str, Any]]:
    """No try right, all, one, and some; k = 1, between, and all."""
    rng = random.Random(seed)
    found = []
    for n in rng.sample(range(9, 17), 4):
        found += [{"n": n, "c": c, "k": rng.randint(2, n - 1)} for c in (0, 1, n, rng.randint(2, n - 2))]
        found += [{"n": n, "c": rng.randint(2, n - 2), "k": k} for k in (1, n)]
    return found


def _other_episodes(seed: int) -> list[dict[str, Any]]:
    """Tasks of which some are in one of the two only; differences above, below and at 0."""
    rng = random.Random(seed)
    found = []
    for _ in range(6):
        names = [f"t{k}" for k in range(rng.randint(6, 12))]
        own = {name: rng.random() < 0.7 for name in names[1:]}
        other = {name: rng.random() < 0.4 for name in names[:-2]}
        found.append({"own": own, "other": other})
    found.append({"own": {"a": False, "b": False, "c": rng.random() < 0.5}, "other": {"a": True, "b": False}})
    return found


EXERCISES = [
    Exercise(
        "06.1",
        pass_at_k,
        "`comb(n - c, k)` counts the sets of k that hold none of the right ones, `comb(n, k)` all sets of k.",
        cases=[
            {"n": 5, "c": 2, "k": 3},
            {"n": 5, "c": 2, "k": 1},
            {"n": 8, "c": 1, "k": 8},
            {"n": 8, "c": 0, "k": 4},
            {"n": 4, "c": 4, "k": 2},
        ],
        hidden=_other_tries,
        mistakes=[
            Mistake(
                lambda n, c, k: 1 - (1 - c / n) ** k,
                "That draws the same try again and again. The k tries of a set are different ones: count sets.",
            ),
            Mistake(lambda n, c, k: comb(n - c, k) / comb(n, k), "That is the share of sets without a right try."),
            Mistake(lambda n, c, k: c / n, "That is pass@1, whatever k is."),
            Mistake(lambda n, c, k: comb(c, k) / comb(n, k), "In those sets all tries are right. One is enough."),
            Mistake(lambda n, c, k: 1 - comb(c, k) / comb(n, k), "Those sets hold a wrong try. Count n − c, not c."),
        ],
    ),
    Exercise(
        "06.2",
        elicited,
        "Work out each task for itself, then take the mean of the two. In 8 tries the first is missed with 0.5⁸.",
        mistakes=[
            Mistake(lambda: (0.5, 1 - 0.5**8), "That is the first task alone. The second is never right."),
            Mistake(
                lambda: (0.25, 1 - 0.75**8),
                "You took the mean first. The second task isn't hard sometimes, it is always missed: pass@k of each, "
                "then the mean.",
            ),
            Mistake(lambda: (0.25, 0.5), "Nearly: in 8 tries the first task is missed now and then."),
        ],
        tolerance=1e-3,
    ),
    Exercise(
        "06.3",
        gap,
        "Over the tasks that both have, add up `own[name] - other[name]` (True counts 1), then divide by their number.",
        cases=[
            {"own": {"a": True, "b": True, "c": False}, "other": {"a": False, "b": True, "c": False}},
            {"own": {"a": True, "b": False}, "other": {"a": False}},
            {"own": {"a": False, "b": True}, "other": {"c": True, "a": True, "b": True}},
            {"own": {"a": True, "b": True, "c": False}, "other": {"a": False, "d": True}},
            {"own": {"a": True}, "other": {"a": True}},
        ],
        hidden=_other_episodes,
        mistakes=[
            Mistake(
                _gap_of_means, "A task that is in one of them only counts in your two means. Leave it out of both."
            ),
            Mistake(lambda own, other: -gap(own, other), "The other way round: own minus another's."),
            Mistake(lambda own, other: abs(gap(own, other)), "Keep the sign: it may do better with another's."),
            Mistake(
                lambda own, other: sum(own[n] - other[n] for n in own.keys() & other.keys()) / len(own),
                "Divide by the number of tasks that both have.",
            ),
        ],
    ),
]
