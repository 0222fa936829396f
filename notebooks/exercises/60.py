"""Exercises of notebook 60: first steps of a task of one's own, and agents that earn without looking."""

from __future__ import annotations

import random
from typing import Any

from workshop.exercises import Exercise, Mistake

NUMBERS = (1, 2, 3, 4)
"""Dots in an image: ``rng.integers(1, 5)``, each as likely as the others."""


def share_right() -> float:
    """Share of tasks with three dots."""
    return 1 / len(NUMBERS)


def next_turn(places: list[str], done: int) -> tuple[str, str]:
    """Mark the dots of the left half in turn, then answer how many they were."""
    left = [place for place in places if place.endswith("left")]
    return ("mark", left[done]) if done < len(left) else ("answer", str(len(left)))


def earned_without_looking() -> float:
    """Mean over the numbers of dots: right, all found, the other places marked in vain."""
    return sum(1 + 0.5 - 0.1 * (4 - dots) for dots in NUMBERS) / len(NUMBERS)


def total(right: bool, met: list[bool], dots: int) -> float:
    """1 for a right answer, more for dots found, less for marks in vain; 0 for a wrong one."""
    if not right:
        return 0.0
    found = sum(met)
    return max(0.0, 1 + 0.5 * found / dots - 0.25 * (len(met) - found))


def right_on_blank_images() -> float:
    """All of them: it counts the tool's replies, which depend on the dots, not on the image."""
    return 1.0


def _any_answer(right: bool, met: list[bool], dots: int) -> float:
    return max(0.0, right + 0.5 * sum(met) / dots - 0.25 * (len(met) - sum(met)))


def _other_places(seed: int) -> list[dict[str, Any]]:
    """A dot on the right comes first, so that the left ones are not simply the first of all."""
    rng = random.Random(seed)
    left, right = rng.sample(["top left", "bottom left"], 2), rng.sample(["top right", "bottom right"], 2)
    all_four = [right[0], *rng.sample([right[1], *left], 3)]
    three = [right[1], *rng.sample([right[0], rng.choice(left)], 2)]
    turns = [(all_four, 0), (all_four, 1), (all_four, 2), (three, 0), (three, 1), (left, 1), (left, 2), (right, 0)]
    return [{"places": places, "done": done} for places, done in turns]


def _other_marks(seed: int) -> list[dict[str, Any]]:
    """Right and wrong answers with dots found, missed and marked in vain; one with so many in vain that 0 is left."""
    rng = random.Random(seed)
    found = []
    for right, hits, vain, dots in (
        (True, 1, 1, rng.randint(2, 4)),
        (True, 2, rng.randint(0, 1), rng.randint(3, 4)),
        (True, 3, 2, rng.randint(3, 4)),
        (True, 0, rng.randint(1, 3), rng.randint(2, 4)),
        (True, 0, rng.randint(6, 9), rng.randint(1, 4)),
        (False, 2, 0, rng.randint(3, 4)),
        (False, 0, rng.randint(3, 6), rng.randint(1, 4)),
    ):
        met = [True] * hits + [False] * vain
        rng.shuffle(met)
        found.append({"right": right, "met": met, "dots": dots})
    return found


EXERCISES = [
    Exercise(
        "60.1",
        share_right,
        "`rng.integers(1, 5)` draws 1, 2, 3 or 4, each equally often.",
        mistakes=[
            Mistake(lambda: 1 / 5, "The upper end of `rng.integers(1, 5)` is left out: it never draws 5."),
            Mistake(
                lambda: 1 / 6, "There are never six numbers to draw from. Read the two bounds of `rng.integers(1, 5)`."
            ),
            Mistake(lambda: 1 / 3, "Which numbers can `rng.integers(1, 5)` draw? Count them."),
            Mistake(lambda: 25, "As a share, from 0 to 1."),
        ],
    ),
    Exercise(
        "60.2",
        next_turn,
        "First make the list of the places that end with `left`. While `done` is smaller than its length, mark the "
        "place number `done`; then answer its length, as text.",
        cases=[
            {"places": ["top left", "bottom left", "bottom right"], "done": 0},
            {"places": ["top left", "bottom left", "bottom right"], "done": 1},
            {"places": ["top left", "bottom left", "bottom right"], "done": 2},
            {"places": ["top right", "bottom left"], "done": 0},
            {"places": ["top right", "bottom left"], "done": 1},
            {"places": ["top right"], "done": 0},
        ],
        hidden=_other_places,
        mistakes=[
            Mistake(
                lambda places, done: ("mark", places[done]) if done < len(places) else ("answer", str(len(places))),
                "That is the expert of the old task: it marks dots of the right half as well.",
            ),
            Mistake(
                lambda places, done: (
                    ("mark", places[done])
                    if done < len([p for p in places if "left" in p])
                    else next_turn(places, done)
                ),
                "You count the dots on the left, but take the place from the list of all dots.",
            ),
            Mistake(
                lambda places, done: (
                    (next_turn(places, done)[0], int(next_turn(places, done)[1]))
                    if next_turn(places, done)[0] == "answer"
                    else next_turn(places, done)
                ),
                "An answer is text, as the agent writes it: a string, not a number.",
            ),
            Mistake(
                lambda places, done: (
                    next_turn(places, done) if next_turn(places, done)[0] == "mark" else ("answer", str(len(places)))
                ),
                "The marks are right. The question asks for the dots in the left half only.",
            ),
        ],
    ),
    Exercise(
        "60.3",
        earned_without_looking,
        "It meets every dot, so its answer is right and `found` is 0.5. How many of its four marks meet nothing, with "
        "1, 2, 3 or 4 dots, and on average?",
        tolerance=1e-3,
        mistakes=[
            Mistake(
                lambda: 1.5,
                "Its marks in vain cost 0.1 each. With four dots there is none, with one dot there are three.",
            ),
            Mistake(lambda: 1.1, "You take off 0.1 for all four marks. Those that meet a dot cost nothing."),
            Mistake(
                lambda: 0.6, "It doesn't guess the number: it counts the tool's replies. How often is its answer right?"
            ),
            Mistake(lambda: 0.35, "The marks are right. And the answer?"),
            Mistake(
                lambda: 1.2, "Three marks in vain is the most, with one dot. Take the mean over 1, 2, 3 and 4 dots."
            ),
            Mistake(lambda: 1.25, "The number of dots is 2.5 on average: that leaves 1.5 marks in vain, not 2.5."),
        ],
    ),
    Exercise(
        "60.4",
        total,
        "Begin with the wrong answer: return 0. Then add up the three parts of a right one, and use `max(0.0, …)`.",
        cases=[
            {"right": True, "met": [True, True], "dots": 2},
            {"right": False, "met": [True, True], "dots": 2},
            {"right": True, "met": [True, False, False, False], "dots": 1},
            {"right": True, "met": [True], "dots": 3},
            {"right": True, "met": [], "dots": 3},
            {"right": False, "met": [], "dots": 1},
            {"right": False, "met": [False, False], "dots": 4},
            {"right": True, "met": [False] * 5, "dots": 1},
        ],
        hidden=_other_marks,
        mistakes=[
            Mistake(
                _any_answer,
                "With a wrong answer the dots found still earn something. An agent could live on marks alone.",
            ),
            Mistake(
                lambda right, met, dots: (1 + 0.5 * sum(met) / dots - 0.25 * (len(met) - sum(met))) if right else 0.0,
                "The total falls below 0 if there are many marks in vain.",
            ),
            Mistake(
                lambda right, met, dots: (
                    max(0.0, 1 + 0.5 * sum(met) / dots - 0.1 * (len(met) - sum(met))) if right else 0.0
                ),
                "A mark in vain costs 0.25 now.",
            ),
            Mistake(
                lambda right, met, dots: max(0.0, 1 + 0.5 * sum(met) / dots - 0.25 * len(met)) if right else 0.0,
                "Marks that meet a dot cost nothing.",
            ),
            Mistake(
                lambda right, met, dots: (
                    max(0.0, 1 + 0.5 * sum(met) / max(1, len(met)) - 0.25 * (len(met) - sum(met))) if right else 0.0
                ),
                "That is the share of its marks that met a dot. Asked is the share of the dots that were found.",
            ),
            Mistake(
                lambda right, met, dots: max(0.0, 1 + 0.5 * sum(met) - 0.25 * (len(met) - sum(met))) if right else 0.0,
                "0.5 is for all dots together: multiply it by the share that was found.",
            ),
        ],
    ),
    Exercise(
        "60.5",
        right_on_blank_images,
        "What does `sweep` read to find its answer, and does that change when the image is blank?",
        mistakes=[
            Mistake(lambda: 0.25, "That is a guess's share. `sweep` doesn't guess: where does its count come from?"),
            Mistake(lambda: 0.0, "A blank image has no dots, but the tool looks into `meta`. What does it reply?"),
        ],
    ),
]
