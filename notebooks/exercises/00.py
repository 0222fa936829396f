"""Exercises of notebook 00: the reward of an episode, the mean reward of a player, the share that guessing solves."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

from workshop.exercises import Exercise, Mistake


def reward_of(calls: int) -> float:
    """Add what a right answer and the tags pay, subtract the price of the turns of code."""
    return 0.8 + 0.2 - 0.05 * calls


def expected_reward(p: float, calls: int) -> float:
    """Weigh a right episode with p and a wrong one, which pays for five steps, with 1 − p."""
    right = 0.8 + 0.2 - 0.05 * calls
    wrong = 0.2 - 0.05 * 5
    return p * right + (1 - p) * wrong


def _only_right(p: float, calls: int) -> float:
    return p * (1.0 - 0.05 * calls)


def _own_steps(p: float, calls: int) -> float:
    return p * 0.8 + 0.2 - 0.05 * calls


def _no_form(p: float, calls: int) -> float:
    return p * (1.0 - 0.05 * calls) - (1 - p) * 0.25


def guesser_share(labels: list[str]) -> float:
    """Count the orders that leave no label in place; one of them is the solution."""
    orders = [order for order in permutations(labels) if all(a != b for a, b in zip(order, labels, strict=True))]
    return 1 / len(orders)


def _all_orders(labels: list[str]) -> float:
    return 1 / len(list(permutations(labels)))


def _one_other(labels: list[str]) -> float:
    return 1 / (len(list(permutations(labels))) - 1)


def _number(labels: list[str]) -> float:
    return 1 / guesser_share(labels)


def _share_of_orders(labels: list[str]) -> float:
    return _all_orders(labels) / guesser_share(labels)


def _other_players(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = [{"p": p, "calls": rng.randint(1, 3)} for p in (0.0, 1.0)]
    # With five calls a wrong episode pays what it took, so most cases have fewer.
    return [*found, *({"p": rng.uniform(0.1, 0.9), "calls": calls} for calls in (1, 2, 3, 5))]


def _other_labels(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"labels": rng.sample("EFGHIJKLMNOP", number)} for number in (2, 3, 4, 5, 6)]


EXERCISES = [
    Exercise(
        "00.1",
        reward_of,
        "The answer is right and every turn keeps to the tags. How many turns held code? The last one held the answer.",
        mistakes=[
            Mistake(lambda calls: 1.0 - 0.05 * (calls + 1), "The last turn holds the answer, not code. It is free."),
            Mistake(lambda calls: 0.8 - 0.05 * calls, "The tags were kept to as well: that pays 0.2."),
            Mistake(lambda calls: 1.0, "Now subtract 0.05 for each turn that held code."),
        ],
    ),
    Exercise(
        "00.2",
        expected_reward,
        "Write what a right episode earns and what a wrong one earns. Weigh the first with p, the second with 1 − p.",
        cases=[
            {"p": 1.0, "calls": 4},
            {"p": 0.0, "calls": 4},
            {"p": 0.5, "calls": 1},
            {"p": 0.9, "calls": 4},
            {"p": 0.25, "calls": 5},
        ],
        hidden=_other_players,
        mistakes=[
            Mistake(_only_right, "A wrong episode doesn't earn 0: it keeps to the tags and pays for five steps."),
            Mistake(_own_steps, "A wrong episode pays for all five steps, not for the `calls` it took."),
            Mistake(_no_form, "A wrong episode that keeps to the tags still earns 0.2 for them."),
        ],
    ),
    Exercise(
        "00.3",
        guesser_share,
        "Keep the orders in which every label differs from the one at its place in `labels`. One of them is right.",
        cases=[
            {"labels": ["A", "B"]},
            {"labels": ["A", "B", "C"]},
            {"labels": ["A", "B", "C", "D"]},
            {"labels": ["D", "B", "A", "C"]},
            {"labels": ["A", "B", "C", "D", "E"]},
        ],
        hidden=_other_labels,
        mistakes=[
            Mistake(_all_orders, "That guesses among all orders. This player knows that no piece is in its place."),
            Mistake(_one_other, "You left out one order only. Leave out every order that keeps any label in place."),
            Mistake(_number, "That is how many orders remain. The player names one of them: which share is right?"),
            Mistake(_share_of_orders, "That share of all orders remains. How often is one guess among them right?"),
        ],
    ),
]
