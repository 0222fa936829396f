"""Exercises of notebook 11: a puzzle's target, the reward, whether a look pays, a split by crop, a guesser."""

from __future__ import annotations

import random
from math import comb, factorial
from typing import Any

from papers.agile.puzzle import LABELS
from workshop.exercises import Exercise, Mistake


def target_of(order: list[int]) -> list[str]:
    """Write each spot's label at the place where its piece belongs."""
    target = [""] * len(order)
    for spot, place in enumerate(order):
        target[place] = LABELS[spot]
    return target


def acc_knowing_the_level(pieces: int, level: int) -> float:
    """One of the level's arrangements is right."""
    return 1 / _arrangements(pieces, level)


def _derangements(n: int) -> int:
    return [1, 0][n] if n < 2 else (n - 1) * (_derangements(n - 1) + _derangements(n - 2))


def _arrangements(pieces: int, level: int) -> int:
    return comb(pieces, level) * _derangements(pieces - level)


def reward(right: bool, well_formed: bool, steps: int) -> float:
    """0.8 for the answer, 0.2 for the form, 0.05 off for each turn of code, five of them if the answer is wrong."""
    return 0.8 * right + 0.2 * well_formed - 0.05 * (steps if right else 5)


def gain_of_a_look(p: float, q: float, steps: int) -> float:
    """The mean over right and wrong with the look, minus the mean without."""
    return _expected(q, steps + 1) - _expected(p, steps)


def _expected(p: float, steps: int) -> float:
    return p * reward(True, True, steps) + (1 - p) * reward(False, True, steps)


def on_both_sides() -> float:
    """Neither all six crops on one side nor all six on the other."""
    return 1 - 2 * 0.5**6


def _other_way(order: list[int]) -> list[str]:
    return [LABELS[place] for place in order]


def _spots(order: list[int]) -> list[int]:
    return [order.index(place) for place in range(len(order))]


def _backwards(order: list[int]) -> list[str]:
    return target_of(order)[::-1]


def _steps_if_wrong(right: bool, well_formed: bool, steps: int) -> float:
    return 0.8 * right + 0.2 * well_formed - 0.05 * steps


def _wrong_is_free(right: bool, well_formed: bool, steps: int) -> float:
    return 0.8 * right + 0.2 * well_formed - 0.05 * steps * right


def _form_needs_right(right: bool, well_formed: bool, steps: int) -> float:
    return right * (0.8 + 0.2 * well_formed) - 0.05 * (steps if right else 5)


def _added(right: bool, well_formed: bool, steps: int) -> float:
    return 0.8 * right + 0.2 * well_formed + 0.05 * (steps if right else 5)


def _other_orders(seed: int) -> list[dict[str, Any]]:
    """Orders that are not their own inverse, but for one: two pieces exchanged."""
    rng = random.Random(seed)
    found = []
    for pieces in (4, 6, 9, 16):
        order = list(range(pieces))
        while _spots(order) == order or order in ([2, 3, 1, 0], [0, 2, 3, 1]):
            rng.shuffle(order)
        found.append({"order": order})
    exchanged = list(range(9))
    i, j = rng.sample(range(9), 2)
    exchanged[i], exchanged[j] = j, i
    return [*found, {"order": exchanged}]


def _other_levels(seed: int) -> list[dict[str, Any]]:
    """Levels that exist, few pieces (an answer may list the arrangements), shares far above the tolerance."""
    rng = random.Random(seed)
    shown = {(4, 0), (4, 1), (4, 2), (9, 7), (9, 5)}
    fitting = [(n, level) for n in range(3, 9) for level in range(n - 1) if _arrangements(n, level) <= 200]
    some = [rng.choice([(3, 0), (5, 0)]), *rng.sample([one for one in fitting if one[1] and one not in shown], 4)]
    return [{"pieces": pieces, "level": level} for pieces, level in some]


def _other_rewards(seed: int) -> list[dict[str, Any]]:
    """Neither five steps, which a wrong answer is charged anyway, nor the numbers of the visible cases."""
    rng = random.Random(seed)
    return [
        {"right": right, "well_formed": form, "steps": steps}
        for right in (True, False)
        for form in (True, False)
        for steps in rng.sample([1, 4, 6, 7, 8, 9], 2)
    ]


def _other_looks(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    low, high, same = rng.uniform(0.1, 0.4), rng.uniform(0.6, 0.9), rng.uniform(0.2, 0.8)
    pairs = [(low, high), (high, low), (same, same), (low, 1.0), (0.0, high)]
    return [{"p": p, "q": q, "steps": rng.randint(1, 7)} for p, q in pairs]


EXERCISES = [
    Exercise(
        "11.1",
        target_of,
        "Make a list of empty places. order[spot] is the place of that spot's piece: write the spot's label there.",
        cases=[
            {"order": [2, 3, 1, 0]},
            {"order": [1, 2, 0]},
            {"order": [1, 0, 3, 2]},
            {"order": [0, 2, 3, 1]},
            {"order": [4, 0, 8, 2, 1, 3, 5, 7, 6]},
        ],
        hidden=_other_orders,
        mistakes=[
            Mistake(_other_way, "That is the other direction: you look up a label for each spot, not for each place."),
            Mistake(_spots, "These are the right spots, counted from 0. Give their labels."),
            Mistake(_backwards, "The right labels from the last place to the first. Turn the list round."),
        ],
    ),
    Exercise(
        "11.2",
        reward,
        "Three parts: 0.8 if right; 0.2 if well-formed; minus 0.05 times the steps, or times 5 if the answer is wrong.",
        cases=[
            {"right": True, "well_formed": True, "steps": 2},
            {"right": False, "well_formed": True, "steps": 2},
            {"right": True, "well_formed": False, "steps": 3},
            {"right": False, "well_formed": False, "steps": 3},
            {"right": True, "well_formed": False, "steps": 0},
        ],
        hidden=_other_rewards,
        mistakes=[
            Mistake(_steps_if_wrong, "A wrong answer is charged five steps, whatever their number (eq. 5)."),
            Mistake(_wrong_is_free, "You charge nothing if the answer is wrong. Then giving up early would pay."),
            Mistake(_form_needs_right, "The form earns its 0.2 even if the answer is wrong: the parts are added."),
            Mistake(_added, "A step costs: λ is negative."),
        ],
    ),
    Exercise(
        "11.3",
        gain_of_a_look,
        "Without: p × (1 − 0.05 × steps) + (1 − p) × (0.2 − 0.25). With: the same with q and steps + 1. Subtract.",
        cases=[
            {"p": 0.9, "q": 0.9, "steps": 2},
            {"p": 0.9, "q": 1.0, "steps": 2},
            {"p": 0.5, "q": 0.6, "steps": 1},
            {"p": 0.0, "q": 0.5, "steps": 3},
            {"p": 0.8, "q": 0.7, "steps": 1},
        ],
        hidden=_other_looks,
        mistakes=[
            Mistake(
                lambda p, q, steps: 0.8 * (q - p) - 0.05,
                "The look costs 0.05 only if the answer is right in the end; and a wrong answer costs 0.25.",
            ),
            Mistake(
                lambda p, q, steps: 0.8 * (q - p) - 0.05 * ((steps + 1) * q - steps * p),
                "You charge nothing for wrong answers. Eq. 5 charges them five steps.",
            ),
            Mistake(
                lambda p, q, steps: _expected(q, steps) - _expected(p, steps),
                "The other look is one more turn of code. Did you count it?",
            ),
            Mistake(
                lambda p, q, steps: _expected(p, steps) - _expected(q, steps + 1),
                "That is without minus with. A gain is above 0 if the look pays.",
            ),
            Mistake(
                lambda p, q, steps: 0.8 * (q - p),
                "That is the gain in accuracy alone. The steps cost something, too.",
            ),
        ],
    ),
    Exercise(
        "11.4",
        on_both_sides,
        "It is easier to count when it is *not* on both sides: all six in training, or all six in evaluation.",
        mistakes=[
            Mistake(lambda: 1 - 0.5**6, "All six may fall on either side: there are two such cases."),
            Mistake(lambda: 2 * 0.5**6, "That is how likely it is on one side only."),
            Mistake(lambda: 0.5, "That holds for a single crop. With six crops, all of them must agree."),
        ],
        tolerance=2e-3,
    ),
    Exercise(
        "11.5",
        acc_knowing_the_level,
        "It guesses among `arrangements(pieces, level)` arrangements, all equally likely. How many of them are right?",
        cases=[
            {"pieces": 4, "level": 0},
            {"pieces": 4, "level": 1},
            {"pieces": 4, "level": 2},
            {"pieces": 9, "level": 7},
            {"pieces": 9, "level": 5},
        ],
        hidden=_other_levels,
        mistakes=[
            Mistake(
                lambda pieces, level: 1 / factorial(pieces),
                "That guesser doesn't know the level: it chooses among all arrangements.",
            ),
            Mistake(
                lambda pieces, level: 1 / factorial(pieces - level),
                "It isn't told which pieces are in place, and the others must all move: more choices, and fewer.",
            ),
            Mistake(
                lambda pieces, level: 1 / _derangements(pieces - level),
                "It isn't told which pieces are in place, only how many.",
            ),
            Mistake(
                lambda pieces, level: _arrangements(pieces, level) / factorial(pieces),
                "That is the share of all arrangements that have this level. How often is one guess among them right?",
            ),
        ],
    ),
]
