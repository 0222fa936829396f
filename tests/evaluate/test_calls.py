"""Calls of an episode: which tool, how each ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Episode, Observation, Task, Turn
from kit.evaluate.calls import Call, called, calls


@pytest.mark.parametrize(
    ("action", "name"),
    [
        (Action("search", "capital of Chad"), "search"),
        (Action("tool_call", "{}", {"tool": "ocr"}), "tool_call"),
        (Action("code", "x = crop(observation(state), [0, 0, 1, 1])"), "crop"),
        (
            Action("code", "state[0], state[1] = state[1], state[0]\nobservation_image_1 = observation(state)"),
            "observation",
        ),
        (Action("code", "view = image.rotate(90)"), "rotate"),
        (Action("code", "view = rotate(image, 90)\nview2 = view"), "rotate"),
        (Action("code", "```python\nview = image.rotate(90)\n```\nIt is turned."), "rotate"),
        (Action("code", "x = 1"), "code"),
        (Action("code", "this is no Python"), "code"),
    ],
)
def test_an_action_is_named_by_its_tool_or_the_function_its_code_calls_last(action: Action, name: str) -> None:
    assert called(action) == name


@given(st.text(max_size=60))
def test_any_code_has_a_name(text: str) -> None:
    assert called(Action("code", text))


def test_answers_and_turns_without_an_action_are_no_calls() -> None:
    turns = (
        Turn((1,), (0.0,), "", Action("search", "x"), Observation("found")),
        Turn((1,), (0.0,), "", None, Observation("no action", status="format")),
        Turn((1,), (0.0,), "", Action("code", "crop(image, 3)"), Observation("wrong box", status="error")),
        Turn((1,), (0.0,), "", Action("answer", "x")),
    )
    episode = Episode(Task("t", (), "?", "x"), (9,), turns, "answer")
    assert calls(episode) == [Call("search", "ok"), Call("crop", "error")]
