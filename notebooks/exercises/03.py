"""Exercises of notebook 03: an advantage, where a token is clipped, a loss with another mean, the size of a group."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from workshop.exercises import Exercise, Mistake


def advantage_of_the_wrong() -> float:
    """Subtract the mean, 0.75, and divide by the standard deviation, √(0.75 / 3) = 0.5."""
    return (0 - 0.75) / (0.75 / 3) ** 0.5


def is_clipped(rho: float, advantage: float, eps: float) -> bool:
    """Find the tokens whose push has had its effect: good ones above 1 + ε, bad ones below 1 − ε."""
    return rho > 1 + eps if advantage > 0 else rho < 1 - eps


def _on_both_sides(rho: float, advantage: float, eps: float) -> bool:
    return abs(rho - 1) > eps


def _other_side(rho: float, advantage: float, eps: float) -> bool:
    return rho < 1 - eps if advantage > 0 else rho > 1 + eps


def _above(rho: float, advantage: float, eps: float) -> bool:
    return rho > 1 + eps


def _open_instead(rho: float, advantage: float, eps: float) -> bool:
    return not is_clipped(rho, advantage, eps)


def _counts(rho: float, advantage: float) -> float:
    """The term of eq. 4 for one token, with ε = 0.2."""
    return min(rho * advantage, min(max(rho, 0.8), 1.2) * advantage)


def _sums(
    ratios: list[list[float]], advantages: list[float], counts: Callable[[float, float], float] = _counts
) -> list[float]:
    return [sum(counts(rho, a) for rho in row) for row, a in zip(ratios, advantages, strict=True)]


def loss_of(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    """Clip each token, add up, divide by the constant and by the number of attempts, change the sign."""
    total = 0.0
    for row, a in zip(ratios, advantages, strict=True):
        for rho in row:
            total += min(rho * a, min(max(rho, 0.8), 1.2) * a)
    return -total / longest / len(ratios)


def _own_length(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    means = [total / len(row) for total, row in zip(_sums(ratios, advantages), ratios, strict=True)]
    return -sum(means) / len(means)


def _by_token(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    return -sum(_sums(ratios, advantages)) / sum(map(len, ratios))


def _objective(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    return -loss_of(ratios, advantages, longest)


def _no_clip(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    return -sum(_sums(ratios, advantages, lambda rho, a: rho * a)) / longest / len(ratios)


def _no_minimum(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    return -sum(_sums(ratios, advantages, lambda rho, a: min(max(rho, 0.8), 1.2) * a)) / longest / len(ratios)


def _sum_of_attempts(ratios: list[list[float]], advantages: list[float], longest: int) -> float:
    return loss_of(ratios, advantages, longest) * len(ratios)


def smallest_group(p: float, most: float) -> int:
    """Try one size after another until few enough groups are flat."""
    size = 2
    while p**size + (1 - p) ** size > most:
        size += 1
    return size


def _all_right(p: float, most: float) -> int:
    size = 2
    while p**size > most:
        size += 1
    return size


def _all_wrong(p: float, most: float) -> int:
    return _all_right(1 - p, most)


def _less(p: float, most: float) -> int:
    size = 2
    while p**size + (1 - p) ** size >= most:
        size += 1
    return size


def _largest_too_small(p: float, most: float) -> int:
    return smallest_group(p, most) - 1


def _other_tokens(seed: int) -> list[dict[str, Any]]:
    """Good and bad tokens below, just inside and above the range, for small and large ε; none at a corner."""
    rng = random.Random(seed)
    found = []
    for sign in (1, -1):
        for eps in (rng.uniform(0.08, 0.15), rng.uniform(0.25, 0.35)):
            near, far = rng.uniform(0.3, 0.8) * eps, eps + rng.uniform(0.05, 0.4)
            for distance in (near, -near, far, -far):
                found.append({"rho": 1 + distance, "advantage": sign * rng.uniform(0.1, 2), "eps": eps})
    return found


def _other_attempts(seed: int) -> list[dict[str, Any]]:
    """Attempts of several lengths, good and bad, each with tokens on both sides of the range."""
    rng = random.Random(seed)
    found = []
    for lengths in ((2, 5), (3, 2, 4), (6, 2, 3, 2)):
        rows = [
            [rng.uniform(0.3, 0.7), rng.uniform(1.3, 1.9), *(rng.uniform(0.7, 1.3) for _ in range(length - 2))]
            for length in lengths
        ]
        for row in rows:
            rng.shuffle(row)
        # Good attempts count more than bad ones, so that the loss is far from 0.
        advantages = [rng.uniform(1.2, 2) if k % 2 else -rng.uniform(0.3, 0.6) for k in range(len(rows))]
        found.append({"ratios": rows, "advantages": advantages, "longest": max(lengths) + rng.randint(1, 9)})
    return found


def _other_shares(seed: int) -> list[dict[str, Any]]:
    """A share that is met exactly (powers of a half have no rounding error), else one well between two sizes."""
    rng = random.Random(seed)
    found: list[dict[str, Any]] = [{"p": 0.5, "most": 0.5 ** rng.randint(2, 7)}]
    for p in (rng.uniform(0.05, 0.3), rng.uniform(0.7, 0.95), rng.uniform(0.35, 0.65)):
        size = rng.randint(3, 12)
        shares = [p**n + (1 - p) ** n for n in (size - 1, size)]
        found.append({"p": p, "most": sum(shares) / 2})
    return found


EXERCISES = [
    Exercise(
        "03.1",
        advantage_of_the_wrong,
        "The mean is 0.75. Square the four deviations, add them up, divide by 3, take the root. That is the divisor.",
        mistakes=[
            Mistake(lambda: 1.5, "Mind the sign: the last one did worse than the others."),
            Mistake(lambda: -0.75, "That is the deviation. Divide it by the standard deviation."),
            Mistake(lambda: -(3**0.5), "You divided by 4 inside the standard deviation. Here it is G − 1, so 3."),
            Mistake(lambda: 0.5, "That is the advantage of the first three, or the standard deviation."),
            Mistake(lambda: -3.0, "You divided by the variance. Take its root first."),
        ],
        tolerance=5e-3,
    ),
    Exercise(
        "03.2",
        is_clipped,
        "Treat good and bad tokens apart. On which side of 1 has the push of each already had its effect?",
        cases=[
            {"rho": 1.5, "advantage": 1.0, "eps": 0.2},
            {"rho": 0.5, "advantage": 1.0, "eps": 0.2},
            {"rho": 0.5, "advantage": -1.0, "eps": 0.2},
            {"rho": 1.5, "advantage": -1.0, "eps": 0.2},
            {"rho": 1.0, "advantage": -0.3, "eps": 0.2},
            {"rho": 1.15, "advantage": 0.6, "eps": 0.1},
            {"rho": 1.15, "advantage": 0.6, "eps": 0.28},
        ],
        hidden=_other_tokens,
        mistakes=[
            Mistake(_on_both_sides, "A good token that has become less likely is still raised: look at one side only."),
            Mistake(_other_side, "Those are the tokens that went the wrong way. They are still pushed back."),
            Mistake(_above, "For a bad token it is the other side: it is pushed down."),
            Mistake(_open_instead, "Those are the tokens that still push. True is asked for where the slope is zero."),
        ],
    ),
    Exercise(
        "03.3",
        loss_of,
        "For each token take min(ρ·A, clipped ρ·A). Add up all, divide by `longest` and by the number of attempts.",
        cases=[
            {"ratios": [[1.0, 1.0], [1.0]], "advantages": [1.0, -1.0], "longest": 4},
            {"ratios": [[1.1, 1.5], [0.9, 0.5], [1.0, 0.7], [1.4]], "advantages": [1.1, -0.7, 0.6, -1.0], "longest": 2},
            {"ratios": [[1.0] * 5, [1.0]], "advantages": [-0.5, 0.5], "longest": 10},
            {"ratios": [[0.5, 1.5], [1.5, 0.5]], "advantages": [1.0, -1.0], "longest": 5},
        ],
        hidden=_other_attempts,
        mistakes=[
            Mistake(
                _own_length, "You divided by each attempt's own length, as in eq. 4. Here the divisor is `longest`."
            ),
            Mistake(
                _by_token, "You divided by the number of all tokens. Here the divisor is `longest`, then attempts."
            ),
            Mistake(_objective, "That is the objective. A loss is minimised, so its sign is the other one."),
            Mistake(_no_clip, "Nothing is clipped: a good token counts at most 1.2 times its advantage."),
            Mistake(_no_minimum, "You always take the clipped value. Eq. 4 takes the smaller of the two."),
            Mistake(_sum_of_attempts, "That is the sum over the attempts. Take their mean."),
        ],
    ),
    Exercise(
        "03.4",
        smallest_group,
        "Begin with 2 and make the group larger for as long as p^G + (1 − p)^G is above `most`.",
        cases=[
            {"p": 0.5, "most": 0.1},
            {"p": 0.1, "most": 0.5},
            {"p": 0.9, "most": 0.5},
            {"p": 0.22, "most": 0.2},
            {"p": 0.5, "most": 0.5},
        ],
        hidden=_other_shares,
        mistakes=[
            Mistake(_all_right, "A group in which all attempts fail is flat as well: add (1 − p)^G."),
            Mistake(_all_wrong, "A group in which all attempts succeed is flat as well: add p^G."),
            Mistake(_less, "*At most* the share: a size that meets it exactly is large enough."),
            Mistake(_largest_too_small, "One too few: the size that you return must keep to the share itself."),
        ],
    ),
]
