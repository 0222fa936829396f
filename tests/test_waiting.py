"""Long work, counted: who is told what, and what a notebook shows of it."""

from __future__ import annotations

from typing import Any

import IPython
import pytest

from kit import waiting
from kit.view import live
from kit.waiting import Stopped, counted, counting


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, str]]:
    """What a listener hears."""
    heard: list[tuple[int, int, str]] = []
    monkeypatch.setattr(waiting, "listeners", [lambda *one: heard.append(one)])
    return heard


def test_the_outermost_work_is_told_and_its_end(told: list[tuple[int, int, str]]) -> None:
    for _ in counted(str, "ab", "parts"):
        assert list(counted(str.upper, "xyz", "episodes")) == ["X", "Y", "Z"]
    assert told == [(0, 2, "parts"), (1, 2, "parts"), (2, 2, "parts"), (0, 0, "parts")]
    with counting(0, "training"):
        list(counted(str, "xyz", "episodes"))
    assert len(told) == 4


def test_work_that_is_interrupted_has_an_end_too(told: list[tuple[int, int, str]]) -> None:
    def work(letter: str) -> str:
        for _ in counted(str, "xyz", "episodes"):
            if letter == "b":
                raise KeyboardInterrupt
        return letter

    with pytest.raises(Stopped, match=r"^stopped after 1 of 2 parts; run this cell again$") as stop:
        list(counted(work, "ab", "parts"))
    assert told[-1] == (0, 0, "parts")
    assert isinstance(stop.value, KeyboardInterrupt), "so that a notebook's next cells aren't run"
    assert stop.value._render_traceback_() == [str(stop.value)], "no traceback is shown"
    list(counted(str, "a", "parts"))  # and the next work is the outermost again
    assert told[-2:] == [(1, 1, "parts"), (0, 0, "parts")]
    with pytest.raises(KeyboardInterrupt) as plain, counting(0, "what stops by itself"):
        raise KeyboardInterrupt
    assert plain.type is KeyboardInterrupt


def test_a_notebook_shows_a_bar_after_a_while_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    now = [0.0]

    class Handle:
        def update(self, what: Any) -> None:
            shown.append(what.data)

    monkeypatch.setattr(live, "is_quiet", lambda: False)
    monkeypatch.delenv(live.JOB, raising=False)
    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.setattr(IPython.display, "display", lambda *_, **__: Handle())
    bar = live.WaitingBar(lambda: now[0])
    for done, seconds in ((0, 0.0), (1, 1.0), (2, 4.0), (3, 4.1), (4, 8.0)):
        now[0] = seconds
        bar(done, 8, "episodes")
    assert ["2 of 8 episodes, about 12 s left" in shown[0], "4 of 8 episodes" in shown[1]] == [True, True]
    bar(0, 0, "episodes")
    assert shown[2:] == [""]
    monkeypatch.setattr(live, "is_quiet", lambda: True)
    bar(0, 8, "episodes")
    now[0] = 20.0
    bar(1, 8, "episodes")
    assert len(shown) == 3
