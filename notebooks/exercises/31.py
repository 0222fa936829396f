"""Exercises of notebook 31: what a call is worth, where it begins to cost, a whole reward, comments, turn returns."""

from __future__ import annotations

import math
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def worth_of_calls(mu: float, sharpness: float = 8.0, offset: float = 0.2) -> float:
    """The logistic function of how far the group is from one half, minus the offset."""
    return 1 / (1 + math.exp(-sharpness * (0.5 - mu))) - offset


def turning_point() -> float:
    """Undo the logistic function: 8 (0.5 − μ) = ln(0.2 / 0.8)."""
    return 0.5 - math.log(0.2 / 0.8) / 8


def reward_of(right: bool, well_formed: bool, succeeded: int, calls: int, mu: float) -> float:
    """Accuracy, what a broken form costs, and the calls' part, which needs a call."""
    total = float(right) - (0.0 if well_formed else 0.2)
    if calls:
        total += (1.5 if right else 0.5) * succeeded / calls * worth_of_calls(mu)
    return total


def gain_of_comments(mu: float, comments_count: bool) -> float:
    """All of its calls succeeded, or none did."""
    return 0.5 * worth_of_calls(mu) if comments_count else 0.0


def turn_returns(failed: list[bool]) -> list[float]:
    """From the last turn to the first: its own reward and a fifth of the next turn's return."""
    found: list[float] = []
    for one in reversed(failed):
        found.insert(0, (-0.5 if one else 0.0) + 0.2 * (found[0] if found else 0.0))
    return found


def _rewarded(calls_right: float, calls_wrong: float, broken: float) -> Any:
    """:func:`reward_of` with other constants."""

    def other(right: bool, well_formed: bool, succeeded: int, calls: int, mu: float) -> float:
        share = succeeded / calls if calls else 0.0
        worth = (calls_right if right else calls_wrong) * share * worth_of_calls(mu)
        return float(right) - (0.0 if well_formed else broken) + worth

    return other


def _by_count(right: bool, well_formed: bool, succeeded: int, calls: int, mu: float) -> float:
    return reward_of(right, well_formed, succeeded, 1, mu)


def _without_discount(failed: list[bool]) -> list[float]:
    return [sum(-0.5 for one in failed[k:] if one) for k in range(len(failed))]


def _looking_back(failed: list[bool]) -> list[float]:
    return list(reversed(turn_returns(list(reversed(failed)))))


def _other_groups(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"mu": rng.random(), "sharpness": rng.uniform(2, 9), "offset": rng.uniform(0, 0.4)} for _ in range(4)]


def _other_attempts(seed: int) -> list[dict[str, Any]]:
    rng, found = random.Random(seed), []
    for right in (True, False):
        for well_formed in (True, False):
            calls = rng.randint(2, 6)
            ran = rng.randint(1, calls - 1)
            shape = {"succeeded": ran, "calls": calls, "mu": rng.random()}
            found.append({"right": right, "well_formed": well_formed, **shape})
    return found


def _other_comments(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"mu": rng.uniform(0, 0.6), "comments_count": count} for count in (True, True, False)]


def _other_turns(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"failed": [True, *(rng.random() < 0.5 for _ in range(n)), True, False]} for n in (2, 3, 5)]


EXERCISES = [
    Exercise(
        "31.1",
        worth_of_calls,
        "σ(x) is 1 / (1 + exp(−x)), and x is the sharpness times (0.5 − μ). The offset is taken away at the end.",
        cases=[
            {"mu": 0.25},
            {"mu": 0.0},
            {"mu": 1.0},
            {"mu": 0.5, "sharpness": 4.0, "offset": 0.0},
            {"mu": 0.9, "sharpness": 4.0, "offset": 0.1},
        ],
        hidden=_other_groups,
        mistakes=[
            Mistake(
                lambda mu, sharpness=8.0, offset=0.2: 1 / (1 + math.exp(sharpness * (0.5 - mu))) - offset,
                "Yours pays most where the group knows. Mind the sign in the exponent.",
            ),
            Mistake(
                lambda mu, sharpness=8.0, offset=0.2: worth_of_calls(mu, sharpness, 0.0), "Yours never costs anything."
            ),
            Mistake(
                lambda mu, sharpness=8.0, offset=0.2: worth_of_calls(mu, 8.0, 0.2),
                "Sharpness and offset are arguments: use them.",
            ),
        ],
    ),
    Exercise(
        "31.2",
        turning_point,
        "σ(x) = 0.2 means x = ln(0.2 / 0.8), about −1.386. And x is 8 (0.5 − μ).",
        mistakes=[
            Mistake(lambda: 0.5, "There σ is one half, and 0.3 is left after the offset."),
            Mistake(lambda: 1 - turning_point(), "You went to the other side of one half: x is negative there."),
            Mistake(lambda: 0.5 - math.log(0.25) / 4, "That is the zero of sharpness 4."),
        ],
        tolerance=5e-3,
    ),
    Exercise(
        "31.3",
        reward_of,
        "Three parts: 1 if right; −0.2 if not well-formed; c · succeeded / calls · d(μ), which is 0 without calls.",
        cases=[
            {"right": True, "well_formed": True, "succeeded": 2, "calls": 2, "mu": 0.25},
            {"right": True, "well_formed": True, "succeeded": 0, "calls": 0, "mu": 0.25},
            {"right": False, "well_formed": True, "succeeded": 1, "calls": 2, "mu": 0.25},
            {"right": True, "well_formed": True, "succeeded": 3, "calls": 3, "mu": 1.0},
            {"right": False, "well_formed": False, "succeeded": 0, "calls": 3, "mu": 0.0},
        ],
        hidden=_other_attempts,
        mistakes=[
            Mistake(_by_count, "Yours pays for each call. It is the *share* that succeeded that counts."),
            Mistake(_rewarded(1.5, 1.5, 0.2), "c is 1.5 only if the answer is right; else it is 0.5."),
            Mistake(_rewarded(1.5, 0.5, 1.0), "The form has the weight w = 0.2."),
            Mistake(_rewarded(1.5, 0.0, 0.2), "A wrong attempt's calls count as well, with c = 0.5."),
        ],
    ),
    Exercise(
        "31.4",
        gain_of_comments,
        "Accuracy and form are the same in both. What is left is R_seq, with c of a wrong answer.",
        cases=[
            {"mu": 0.0, "comments_count": True},
            {"mu": 0.25, "comments_count": True},
            {"mu": 0.25, "comments_count": False},
            {"mu": 0.9, "comments_count": True},
        ],
        hidden=_other_comments,
        mistakes=[
            Mistake(
                lambda mu, comments_count: 1.5 * worth_of_calls(mu) if comments_count else 0.0,
                "c is 1.5 for a right answer. This one is wrong.",
            ),
            Mistake(
                lambda mu, comments_count: 0.5 * worth_of_calls(mu),
                "By our rule none of these calls succeeded: n_success is 0.",
            ),
        ],
    ),
    Exercise(
        "31.5",
        turn_returns,
        "Begin at the end. The last turn's return is its own reward; a turn before it adds a fifth of the next one's.",
        cases=[
            {"failed": [True, False, True, False]},
            {"failed": [False, False]},
            {"failed": [False, True, False]},
            {"failed": [True, True, True, False]},
        ],
        hidden=_other_turns,
        mistakes=[
            Mistake(_without_discount, "Yours adds up whole penalties. A turn further on counts a fifth of it."),
            Mistake(_looking_back, "Yours looks back. A return looks at the turns that come after."),
            Mistake(
                lambda failed: [-0.5 if one else 0.0 for one in failed],
                "Those are the rewards. A return adds what comes later.",
            ),
        ],
    ),
]
