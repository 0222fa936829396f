"""Exercises of notebook 00: a reward, counting right places, what guessing earns."""

from __future__ import annotations

import math

from kit.exercises import Exercise, Mistake


def reward(right: bool, tags: bool, code_turns: int, max_steps: int) -> float:
    """Pay for the answer and for the tags; charge the turns of code, all of them if it is wrong."""
    return 0.8 * right + 0.2 * tags - 0.05 * (code_turns if right else max_steps)


def right_places(said: list[str], target: list[str]) -> int:
    """Compare place by place."""
    return sum(mine == theirs for mine, theirs in zip(said, target, strict=True))


def chance(n: int) -> float:
    """One order of all there are."""
    return 1 / math.factorial(n)


EXERCISES = [
    Exercise(
        "00.1",
        reward,
        "Three parts: 0.8 if right, 0.2 if the tags are kept, and 0.05 for each charged turn, taken away.",
        cases=[
            {"right": True, "tags": True, "code_turns": 3, "max_steps": 5},
            {"right": False, "tags": True, "code_turns": 1, "max_steps": 5},
            {"right": False, "tags": False, "code_turns": 0, "max_steps": 5},
            {"right": True, "tags": False, "code_turns": 0, "max_steps": 5},
        ],
        mistakes=[
            Mistake(
                lambda right, tags, code_turns, max_steps: 0.8 * right + 0.2 * tags - 0.05 * code_turns,
                "A wrong episode is charged max_steps turns, however few it took.",
            ),
            Mistake(
                lambda right, tags, code_turns, max_steps: 0.8 * right - 0.05 * (code_turns if right else max_steps),
                "Where are the 0.2 for keeping to the tags?",
            ),
            Mistake(
                lambda right, tags, code_turns, max_steps: (
                    0.8 * right + 0.2 * tags + 0.05 * (code_turns if right else max_steps)
                ),
                "Turns cost: they are taken away.",
            ),
        ],
    ),
    Exercise(
        "00.2",
        right_places,
        "Go through both lists side by side and count where they agree.",
        cases=[
            {"said": ["A", "B", "C", "D"], "target": ["A", "C", "B", "D"]},
            {"said": ["B", "A"], "target": ["A", "B"]},
            {"said": ["A", "A", "A", "A"], "target": ["D", "C", "B", "A"]},
            {"said": ["C", "B"], "target": ["C", "B"]},
        ],
        mistakes=[
            Mistake(
                lambda said, target: len(set(said) & set(target)),
                "A piece that is named somewhere isn't in its place yet: compare place by place.",
            ),
            Mistake(lambda said, target: int(said == target), "That asks whether all are right. How many are?"),
        ],
    ),
    Exercise(
        "00.3",
        chance,
        "In how many orders can n things lie? One of them is right.",
        cases=[{"n": 4}, {"n": 2}, {"n": 1}, {"n": 9}],
        mistakes=[
            Mistake(lambda n: 1 / n, "That is the chance of one piece. All must be right at once."),
            Mistake(lambda n: 1 / n**n, "A piece that is used up can't lie in a second place."),
            Mistake(lambda n: float(math.factorial(n)), "That is the number of orders. One of them is right."),
        ],
        tolerance=1e-9,
    ),
]
