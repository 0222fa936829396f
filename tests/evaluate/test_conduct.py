"""What a policy did is told in one sentence: of episodes and of their outcomes alike."""

from __future__ import annotations

import pytest

from kit.episode import Action, Episode, Observation, Task, Turn
from kit.evaluate.conduct import conduct
from kit.evaluate.outcomes import Outcome

CALLS = Turn((1,), (0.0,), "<code>1</code>", Action("code", "1"), Observation("1"), (2,))
ANSWERS = Turn((1,), (0.0,), "<answer>A</answer>", Action("answer", "A"))
RAMBLES = Turn((1,), (0.0,), "I see it.")

LOOKS = Episode(Task("t", (), "?", "A"), (1,), (CALLS, ANSWERS), "answer")
GUESSES = Episode(Task("t", (), "?", "A"), (1,), (ANSWERS,), "answer")
SAYS = Episode(Task("t", (), "?", "A"), (1,), (RAMBLES,), "format")
STUCK = Episode(Task("t", (), "?", "A"), (1,), (CALLS, CALLS), "turns")


@pytest.mark.parametrize(
    ("episodes", "told"),
    [
        ([SAYS, SAYS], "of 2 played, none called a tool, none answered"),
        ([GUESSES, GUESSES], "of 2 played, none called a tool, all answered"),
        ([STUCK], "of 1 played, all called a tool, none answered"),
        ([LOOKS, GUESSES, SAYS, STUCK], "of 4 played, 2 called a tool, 2 answered"),
        ([], "nothing was played"),
    ],
)
def test_what_was_played_is_told(episodes: list[Episode], told: str) -> None:
    assert conduct(episodes) == told
    assert conduct([Outcome.of(episode, False, well_formed=False) for episode in episodes]) == told
    assert conduct([Outcome.of(episode, episode.answer == "A") for episode in episodes]) == told
