"""Exercises of notebook 06: pass@k of a task, pass@k over two tasks, the observation gap, how many trainings."""

from __future__ import annotations

import math
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


def seeds_needed(error: float, seed: float, image: float, rest: float, images: int) -> int:
    """Solve seed²/K + image²/P + rest²/KP ≤ error² for K: what images leave is what trainings may have."""
    left = error**2 - image**2 / images
    return math.ceil((seed**2 + rest**2 / images) / left - 1e-9) if left > 0 else 0


def _other_spreads(seed: int) -> list[dict[str, Any]]:
    """Where images alone are too few, where one training is enough, and between."""
    rng = random.Random(seed)
    found = []
    for _ in range(5):
        image, images = rng.uniform(0.2, 0.5), rng.randint(40, 400)
        least = image / math.sqrt(images)
        spreads = {"seed": rng.uniform(0.02, 0.2), "image": image, "rest": rng.uniform(0.1, 0.5), "images": images}
        found += [{"error": least * times, **spreads} for times in (0.8, rng.uniform(1.2, 2), 9.0)]
    return found


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
    Exercise(
        "06.4",
        seeds_needed,
        "Bring what doesn't depend on K to the side of error². What stays on the other is something divided by K.",
        cases=[
            {"error": 0.05, "seed": 0.1, "image": 0.0, "rest": 0.0, "images": 100},
            {"error": 0.05, "seed": 0.1, "image": 0.4, "rest": 0.3, "images": 100},
            {"error": 0.02, "seed": 0.05, "image": 0.3, "rest": 0.3, "images": 300},
            {"error": 0.01, "seed": 0.05, "image": 0.3, "rest": 0.3, "images": 300},
            {"error": 0.5, "seed": 0.05, "image": 0.3, "rest": 0.3, "images": 300},
        ],
        hidden=_other_spreads,
        mistakes=[
            Mistake(
                lambda error, seed, image, rest, images: math.ceil(
                    (seed**2 + image**2 / images + rest**2 / images) / error**2 - 1e-9
                ),
                "You divide the images' part by K too. All trainings play the same images, which don't average out.",
            ),
            Mistake(
                lambda error, seed, image, rest, images: (
                    math.floor((seed**2 + rest**2 / images) / left) if (left := error**2 - image**2 / images) > 0 else 0
                ),
                "A part of a training is none: take the next whole number.",
            ),
            Mistake(
                lambda error, seed, image, rest, images: (
                    math.ceil((seed**2 + rest**2) / left - 1e-9) if (left := error**2 - image**2 / images) > 0 else 0
                ),
                "The rest is divided by trainings and by images.",
            ),
        ],
    ),
]
