"""Exercise 01.4, the rewards of six episodes: each misconception gets a hint of its own, also where several meet."""

from __future__ import annotations

import pytest

from kit.episode import Action, Ended, Episode, Task, Turn
from workshop.exercises import Exercise, Mistake
from workshop.exercises.check import exercises

TARGET = ["B", "A"]
CODE, RIGHT, WRONG = "<code>look</code>", '<answer>["B", "A"]</answer>', '<answer>["A", "A"]</answer>'


def played(ended: Ended, *texts: str) -> Episode:
    """An episode with these turns: code, an answer, or words without any tag."""
    episode = Episode(Task("made", (), "", TARGET), ())
    for text in texts:
        kind, content = text.lstrip("<").partition(">")[::2]
        action = Action(kind, content.partition("<")[0]) if text.startswith("<") else None  # type: ignore[arg-type]
        episode = episode.add(Turn((1,), (-1.0,), f"<think>Well.</think>{text}" if action else text, action))
    return episode.end(ended)


EPISODES = [
    played("answer", CODE, CODE, RIGHT),
    played("answer", CODE, WRONG),
    played("answer", RIGHT),
    played("turns", *[CODE] * 5),
    played("format", CODE, "The two on the right look swapped."),
    played("tokens", CODE, CODE),
]

EARNED = [0.9, -0.05, 0.8, -0.25, -0.25, -0.25]
"""By hand: 0.8 + 0.2 − 2 · 0.05; 0.2 − 5 · 0.05; 0.8 without code; then − 5 · 0.05 three times."""

MISTAKEN: dict[str, tuple[list[float], str]] = {
    "no steps": ([1.0, 0.2, 0.8, 0, 0, 0], "Where is R_step"),
    "steps added": ([1.1, 0.45, 0.8, 0.25, 0.25, 0.25], "not added"),
    "own steps when wrong": ([0.9, 0.15, 0.8, -0.25, -0.05, -0.1], "charges them step_max"),
    "wrong ones are free": ([0.9, 0.2, 0.8, 0, 0, 0], "The wrong ones aren't free"),
    "wrong ones are 0": ([0.9, 0, 0.8, 0, 0, 0], "Not right doesn't mean 0"),
    "all steps for all": ([0.75, -0.05, 0.55, -0.25, -0.25, -0.25], "Only the wrong ones"),
    "the answer's turn": ([0.85, -0.05, 0.75, -0.25, -0.25, -0.25], "the turn that answers is free"),
    "form without code": ([0.9, -0.05, 1.0, -0.25, -0.25, -0.25], "never ran code. Does it get"),
    "nothing without code": ([0.9, -0.05, 0.0, -0.25, -0.25, -0.25], "A right answer is paid"),
    "form if right": ([0.9, -0.25, 0.8, -0.25, -0.25, -0.25], "The second is wrong, but"),
    "form without an answer": ([0.9, -0.05, 0.8, -0.05, -0.25, -0.05], "never answers"),
    "form for words": ([0.9, -0.05, 0.8, -0.25, -0.05, -0.25], "The fifth ends"),
}

EXERCISE = exercises("01")["01.4"]
KNOWN = {"episodes": EPISODES, "target": TARGET}


def test_the_rewards_worked_out_by_hand_are_right() -> None:
    assert EXERCISE.judge(EARNED, KNOWN).state == "right"


@pytest.mark.parametrize("name", MISTAKEN)
def test_each_mistake_has_a_hint_of_its_own(name: str) -> None:
    given, hint = MISTAKEN[name]
    verdict = EXERCISE.judge(given, KNOWN)
    assert verdict.state == "wrong" and hint in verdict.why != EXERCISE.hint
    assert sum(hint in mistake.hint for mistake in EXERCISE.mistakes) == 1


def test_every_known_mistake_is_among_them() -> None:
    assert len(EXERCISE.mistakes) == len(MISTAKEN)


def test_of_several_mistakes_the_first_gets_its_hint_and_its_place() -> None:
    """One misconception after the other is cleared up."""
    verdict = EXERCISE.judge([0.9, -0.05, 1.0, -0.25, -0.05, -0.25], KNOWN)
    assert "number 3 of 6 isn't right" in verdict.text and "never ran code" in verdict.why
    verdict = EXERCISE.judge([0.9, -0.25, 0.8, -0.25, -0.05, 7], KNOWN)
    assert "number 2 of 6 isn't right" in verdict.text and "The second is wrong" in verdict.why
    verdict = EXERCISE.judge([0.9, -0.05, 0.8, -0.25, -0.25, 7], KNOWN)
    assert "number 6 of 6 isn't right" in verdict.text and verdict.why == EXERCISE.hint
    assert EXERCISE.judge([0.9, -0.05], KNOWN).why == EXERCISE.hint


def test_the_place_is_told_of_pairs_and_not_of_single_values_or_of_lists_of_another_length() -> None:
    pair = Exercise("99.1", lambda: (0.25, 0.5), "Halve.", mistakes=[Mistake(lambda: (1, 2), "That is twice."),
                                                                  Mistake(lambda: 2, "No pair.")])  # fmt: skip
    assert "number 2 of 2 isn't right\n  That is twice." in pair.judge((0.25, 2)).text
    assert "number 1 of 2 isn't right\n  Halve." in pair.judge((0.5, 0.5)).text
    assert "number" not in pair.judge((0.25, 0.5, 1)).text and "No pair." in pair.judge(2).text
