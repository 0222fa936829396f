"""Figures of episodes, training runs and claims draw exactly the values they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kit.chat import Chat
from kit.episode import Episode, Task, Turn
from kit.view import plots
from kit.view.alt import alt
from tests.view.test_charts import shown

ROWS: list[dict[str, Any]] = [{"step": k, "reward": k / 10, "turns": 3.0} for k in range(1, 21)]


def test_masks_follow_the_episode(chat: Chat) -> None:
    turn = Turn((1, 2), (0.0, 0.0), "", None, None, (5, chat.image_id, 7))
    episode = Episode(Task("t", (), "", ()), (9, 9, 9)).add(turn).add(turn)
    figure = plots.masks(episode, chat)
    drawn = {
        str(band.get_label()): [(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in band.get_paths()]
        for band in figure.axes[0].collections
    }
    assert drawn == {
        "prompt (mask 0)": [(-0.5, 2.5)],
        "policy (mask 1)": [(2.5, 4.5), (7.5, 9.5)],
        "environment (mask 0)": [(4.5, 7.5), (9.5, 12.5)],
        "image tokens": [(5.5, 6.5), (10.5, 11.5)],
    }
    assert [k for k, token in enumerate(episode.ids) if token == chat.image_id] == [6, 11]
    assert alt(figure) == (
        "whose tokens these are: 4 of 13 are the policy's: "
        "token: prompt (mask 0), policy (mask 1), environment (mask 0), image tokens"
    )
    with_values = plots.masks(episode, values=[float(m) for m in episode.mask])
    assert [p.get_height() for p in with_values.axes[0].patches] == episode.mask  # type: ignore[attr-defined]
    shown(with_values)


def check(value: float, low: float | None, high: float | None, verdict: str, side: str = "above") -> dict[str, Any]:
    return {"name": "gain", "value": value, "low": low, "high": high, "n": 9, "limit": 0.1, "side": side} | {
        "verdict": verdict
    }


def test_claims_are_drawn_on_the_side_where_they_hold() -> None:
    checks = [
        check(0.5, 0.3, 0.9, "holds"),
        check(0.05, 0.02, 0.09, "holds", "below"),
        check(0.05, -0.1, 0.09, "doesn't"),
        check(0.2, None, None, "undecided"),
        check(0.5, 0.3, 0.9, "not testable here"),
    ]
    figure = plots.claims({"claims": {"A1": {"checks": checks}, "A6": {"verdict": "undecided", "checks": []}}})
    lines = figure.axes[0].lines
    spans = [np.asarray(line.get_xdata()) for line in lines if len(line.get_xdata()) == 2]
    assert (spans[0] > 0).all() and (spans[1] > 0).all() and (spans[2] < 0).all()
    # In units of the limit, .1, which names no margin: (.3 - .1) and (.9 - .1), of which four are drawn.
    assert spans[0].tolist() == pytest.approx([2.0, 4.0])
    assert [line.get_marker() for line in lines].count(">") == 2, "the first and the last interval go on"
    # No interval at all: a hollow marker, one margin above the limit.
    [hollow] = [line for line in lines if line.get_markerfacecolor() == "white"]
    assert list(hollow.get_xdata()) == pytest.approx([1.0])
    [right] = figure.axes[0].child_axes
    found = [text.get_text() for text in right.get_yticklabels()]  # type: ignore[attr-defined]
    assert found[:2] == ["0.500 [0.300, 0.900] > 0.1: holds", "0.050 [0.020, 0.090] < 0.1: holds"]
    assert found[3] == "0.200 > 0.1? one seed, no interval: undecided"
    assert found[4] == "0.500 [0.300, 0.900] > 0.1: not testable here"
    shown(figure)


def test_claims_of_equality_are_drawn_inside_their_margin() -> None:
    """Within ±.1, which is the unit; thick is the interval at 90 %, which may lie inside where that at 95 % doesn't."""
    checks = [
        check(0.0, -0.11, 0.06, "equal", "within") | {"low90": -0.09, "high90": 0.05},
        check(-0.15, -0.2, -0.12, "doesn't", "within"),
        check(0.3, None, None, "undecided", "within"),
        check(0.0, -0.05, 0.06, "equal"),
    ]
    figure = plots.claims({"claims": {"C3": {"checks": checks}}})
    spans = [line.get_xdata() for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    wide, narrow, outside = (np.asarray(span).tolist() for span in spans[:3])
    assert wide == pytest.approx([-1.1, 0.6]) and narrow == pytest.approx([-0.9, 0.5])
    assert outside == pytest.approx([-2.0, -1.2])
    [hollow] = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert list(hollow.get_xdata()) == pytest.approx([3.0])
    [right] = figure.axes[0].child_axes
    found = [text.get_text() for text in right.get_yticklabels()]  # type: ignore[attr-defined]
    assert found[0] == "0.000 [-0.110, 0.060], at 90 % [-0.090, 0.050] within ± 0.1: equal"


def test_a_value_on_its_limit_can_be_seen() -> None:
    verdicts = ["undecided", "not testable here"]
    figure = plots.claims({"claims": {"A3": {"checks": [check(0.1, None, None, verdict) for verdict in verdicts]}}})
    *values, limit = figure.axes[0].lines
    assert [line.get_xdata()[0] for line in values] == [0.0, 0.0]  # type: ignore[index]
    for line in values:
        assert line.get_marker() in line.filled_markers, "a stroke would vanish in the limit's line"
        assert line.get_zorder() > limit.get_zorder()


def test_claims_without_a_check_are_refused() -> None:
    with pytest.raises(ValueError, match="none of these claims"):
        plots.claims({"claims": {}})
