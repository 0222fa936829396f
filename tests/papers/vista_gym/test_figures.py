"""Whom an agent asks first, counted and drawn."""

from __future__ import annotations

import pytest

from kit.episode import Action, Episode, Task, Turn
from papers.vista_gym.env import PROTOCOL
from papers.vista_gym.figures import NO_CALL, NO_SUCH, UNREAD, asked, that_and_whom, whom

OWN = '{"tool": "unichart.to_table", "arguments": {"of": "red"}}'


def episode(text: str, *calls: str) -> Episode:
    """An episode that begins so, of a question that needs these calls."""
    meta = {"family": "charts", "set": "chartqa", **({"calls": list(calls)} if calls else {})}
    read = PROTOCOL.parse(text)
    turn = Turn((), (), text, read if isinstance(read, Action) else None)
    return Episode(Task(text[:30], (), "?", ("7",), meta), (), (turn,), "answer")


RIGHT = episode(f"<think>Ask.</think><tool_call>{OWN}</tool_call>", OWN)
OTHER = episode('<think>Look.</think><tool_call>{"tool": "easyocr.read", "arguments": {}}</tool_call>', OWN)
SILENT = episode("<think>Hm.</think><answer>unknown</answer>", OWN)
BROKEN = episode("7.", OWN)
MISSPELT = episode('<think>Look.</think><tool_call>{"tool": "uasyocr.read", "arguments": {}}</tool_call>', OWN)
AT_SIGHT = episode("<think>I see.</think><answer>7</answer>")


def test_asked_counts_first_turns_of_questions_that_need_a_tool() -> None:
    found = asked([RIGHT, OTHER, OTHER, SILENT, BROKEN, MISSPELT, AT_SIGHT])
    assert found == {"charts/chartqa": {"unichart.to_table": 1, "easyocr.read": 2, NO_CALL: 1, UNREAD: 1, NO_SUCH: 1}}


def test_that_it_calls_and_whom_are_two_shares() -> None:
    that, right = that_and_whom([RIGHT, OTHER, SILENT, BROKEN, MISSPELT])
    assert [point.value for point in that] == [1, 1, 0, 0, 1], "whoever misspells a tool asks for one"
    assert [point.value for point in right] == [1, 0, 0], "of those that call"


def test_the_right_tool_is_framed_and_has_a_column_though_nobody_asks_it() -> None:
    figure = whom({"before": [SILENT, OTHER], "after": [SILENT, AT_SIGHT]})
    [row] = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert row == "charts/chartqa (of 1 or 2)"
    figure.draw_without_rendering()
    before, after = figure.axes
    columns = [label.get_text() for label in before.get_xticklabels()]
    assert columns == [NO_CALL, "easyocr.read", "unichart.to_table"]
    assert [text.get_text() for text in before.texts] == ["0.5", "0.5"]
    assert [text.get_text() for text in after.texts] == ["1.0"] and len(after.patches) == 1
    with pytest.raises(ValueError, match="none of these episodes needs a tool"):
        whom({"one": [AT_SIGHT]})
