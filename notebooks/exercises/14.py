"""Exercises of notebook 14: related puzzles, sampled against greedy, a slope, a peak found by others."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from workshop.exercises import Exercise, Mistake


def times_wider() -> float:
    """Eight independent results instead of 72."""
    return math.sqrt(72 / 8)


def sampled_and_greedy(probabilities: list[float]) -> tuple[float, float]:
    """Sampled: all draws must be right. Greedy: every right token must be the likelier one."""
    return math.prod(probabilities), float(all(p > 0.5 for p in probabilities))


def slope(accuracies: list[float]) -> float:
    """Weigh each accuracy by how far its place is from the middle."""
    middle = (len(accuracies) - 1) / 2
    places = [k - middle for k in range(len(accuracies))]
    return sum(k * y for k, y in zip(places, accuracies, strict=True)) / sum(k * k for k in places)


def rises(curves: list[list[float]]) -> list[float]:
    """Find the peak without the seed whose rise is measured there."""
    found = []
    for k, curve in enumerate(curves):
        others = [other for j, other in enumerate(curves) if j != k]
        mean = [sum(values) / len(others) for values in zip(*others, strict=True)]
        found.append(curve[mean.index(max(mean))] - curve[0])
    return found


def _mean_sampled(probabilities: list[float]) -> tuple[float, float]:
    return sum(probabilities) / len(probabilities), sampled_and_greedy(probabilities)[1]


def _weakest(probabilities: list[float]) -> tuple[float, float]:
    return min(probabilities), sampled_and_greedy(probabilities)[1]


def _greedy_of_the_product(probabilities: list[float]) -> tuple[float, float]:
    return math.prod(probabilities), float(math.prod(probabilities) > 0.5)


def _same_twice(probabilities: list[float]) -> tuple[float, float]:
    return math.prod(probabilities), math.prod(probabilities)


def _always_right(probabilities: list[float]) -> tuple[float, float]:
    return math.prod(probabilities), 1.0


def _ends_only(accuracies: list[float]) -> float:
    return (accuracies[-1] - accuracies[0]) / (len(accuracies) - 1)


def _not_divided(accuracies: list[float]) -> float:
    middle = (len(accuracies) - 1) / 2
    return sum((k - middle) * y for k, y in enumerate(accuracies))


def _divided_by_n(accuracies: list[float]) -> float:
    return _not_divided(accuracies) / len(accuracies)


def _not_centred(accuracies: list[float]) -> float:
    return sum(k * y for k, y in enumerate(accuracies)) / sum(k * k for k in range(len(accuracies)))


def _own_peak(curves: list[list[float]]) -> list[float]:
    return [max(curve) - curve[0] for curve in curves]


def _peak_of_all(curves: list[list[float]]) -> list[float]:
    at = int(np.array(curves).mean(axis=0).argmax())
    return [curve[at] - curve[0] for curve in curves]


def _others_values(curves: list[list[float]]) -> list[float]:
    means = [np.delete(np.array(curves), k, axis=0).mean(axis=0) for k in range(len(curves))]
    return [float(mean.max() - mean[0]) for mean in means]


def _to_the_end(curves: list[list[float]]) -> list[float]:
    return [rise + curve[0] - curve[-1] for rise, curve in zip(rises(curves), curves, strict=True)]


def _other_probabilities(seed: int) -> list[dict[str, Any]]:
    """None is near 0.5, where both tokens are equally likely."""
    rng = random.Random(seed)
    likely, unlikely = ([rng.uniform(low, low + 0.2) for _ in range(6)] for low in (0.56, 0.24))
    certain = [rng.uniform(0.85, 0.99) for _ in range(6)]
    mixed = [likely[3], unlikely[0], certain[0]]
    found = [likely[:3], mixed, unlikely[1:2], likely[4:5], [1.0, likely[5], 1.0], certain]
    return [{"probabilities": some} for some in found]


def _other_accuracies(seed: int) -> list[dict[str, Any]]:
    """Rising, falling and equal ones; those in the middle don't lie on a line with the ends."""
    rng = random.Random(seed)
    found = []
    for number, step in ((2, 0.2), (4, 0.1), (5, -0.12), (8, 0.06)):
        line = [0.5 + step * (k - (number - 1) / 2) + rng.uniform(-0.02, 0.02) for k in range(number)]
        bent = [y + 0.1 if k == 1 else y for k, y in enumerate(line)] if number > 2 else line
        found.append({"accuracies": bent})
    return [*found, {"accuracies": [rng.uniform(0.2, 0.9)] * rng.randint(3, 6)}]


def _other_curves(seed: int) -> list[dict[str, Any]]:
    """One seed peaks high and elsewhere, so it moves the average that it is in; two equal peaks; a fall."""
    rng = random.Random(seed)

    def around(*values: float) -> list[float]:
        return [value + rng.uniform(-0.2, 0.2) for value in values]

    outlier = [around(3, 5, 4, 3, 2), around(3, 5, 4, 3, 2), around(4, 4.5, 3, 19, 2), around(2, 6, 4, 3, 3)]
    rng.shuffle(outlier)
    three = [around(5, 3, 3, 1), around(5, 3, 2, 1), around(4, 5, 3, 2)]
    # With two seeds the average of the others is one curve, so that equal peaks are equal without rounding.
    peak = rng.randint(5, 9) + 0.5
    two = [around(3, 4, 6, 2), [4.0, peak, 4.5, peak]]
    return [{"curves": outlier}, {"curves": three}, {"curves": two}]


EXERCISES = [
    Exercise(
        "14.1",
        times_wider,
        "72 results in eight groups that each agree: eight independent results. Compare 1/√8 with 1/√72.",
        mistakes=[
            Mistake(lambda: 9.0, "There are 9 times fewer independent results. The width goes with the square root."),
            Mistake(lambda: 8.0, "That is the number of independent results. How much wider is the interval for it?"),
            Mistake(lambda: 1 / 3, "That is how many times narrower the careless interval is. Turn it round."),
            Mistake(lambda: 72.0, "That would leave less than one independent result. How many photographs are there?"),
        ],
        tolerance=1e-2,
    ),
    Exercise(
        "14.2",
        sampled_and_greedy,
        "Sampled, all draws must be right: multiply. Greedy takes the likelier of two tokens at each place, whatever "
        "the other places do.",
        cases=[
            {"probabilities": [0.9, 0.8]},
            {"probabilities": [0.6, 0.6, 0.6]},
            {"probabilities": [0.9, 0.4]},
            {"probabilities": [1.0]},
            {"probabilities": [0.2]},
        ],
        hidden=_other_probabilities,
        mistakes=[
            Mistake(_mean_sampled, "All decisive tokens must be right, not one of them: a mean doesn't say how often."),
            Mistake(_weakest, "The weakest decision alone gives too much: the others can go wrong as well."),
            Mistake(_greedy_of_the_product, "Greedy decides token by token. It never looks at the whole answer."),
            Mistake(_same_twice, "Greedy draws nothing, so it is always right or never."),
            Mistake(_always_right, "What does greedy take where the right token has a probability below 0.5?"),
        ],
    ),
    Exercise(
        "14.3",
        slope,
        "The places are 0, 1, 2, …; their mean is (n − 1) / 2. Subtract it from each place, then write both sums.",
        cases=[
            {"accuracies": [0.4, 0.9, 0.9, 1.0, 0.9]},
            {"accuracies": [0.9, 0.9, 1.0, 0.9]},
            {"accuracies": [0.2, 0.4, 0.6]},
            {"accuracies": [0.8, 0.5]},
            {"accuracies": [0.3, 0.3, 0.3]},
        ],
        hidden=_other_accuracies,
        mistakes=[
            Mistake(_ends_only, "You use the first and the last value only. The points between count as well."),
            Mistake(_not_divided, "That is the upper sum. Divide it by the lower one."),
            Mistake(_divided_by_n, "Divide by the sum of the squared distances, not by the number of values."),
            Mistake(_not_centred, "Subtract the mean place first: equal accuracies must have the slope 0."),
            Mistake(lambda accuracies: -slope(accuracies), "Mind the sign: rising accuracies have a slope above 0."),
        ],
    ),
    Exercise(
        "14.4",
        rises,
        "For seed k build the list of the other curves, average it place by place, and find the index of its largest "
        "value. Then read curves[k] at that index and at 0.",
        cases=[
            {"curves": [[3.0, 4.0, 3.0], [3.0, 3.5, 4.0], [4.0, 3.0, 3.0]]},
            {"curves": [[4.0, 5.0, 3.0, 2.0], [4.5, 5.0, 3.5, 2.0], [4.0, 4.5, 5.0, 2.5]]},
            {"curves": [[5.0, 4.0, 2.0], [5.0, 3.0, 2.0]]},
            {"curves": [[2.0, 3.0], [2.0, 2.0]]},
        ],
        hidden=_other_curves,
        mistakes=[
            Mistake(_own_peak, "That is the highest point of the seed's own curve, which is never below its start."),
            Mistake(_peak_of_all, "The seed itself helps to choose the place. Leave it out of the average."),
            Mistake(_others_values, "The place comes from the others; the values are the seed's own."),
            Mistake(_to_the_end, "That is the fall, from the peak to the end. The rise begins at the start."),
        ],
    ),
]
