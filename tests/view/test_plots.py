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
    spans = [np.asarray(line.get_xdata()) for line in lines[0:8:2]]
    assert (spans[0] > 0).all() and (spans[1] > 0).all() and (spans[2] < 0).all()
    assert spans[0].tolist() == pytest.approx([0.25, 1.0])  # (.3 - .1) and (.9 - .1) of .8
    # No interval at all: a hollow marker, half of the larger number above the limit.
    assert lines[6].get_markerfacecolor() == "white" and lines[6].get_xdata() == [0.5]
    [right] = figure.axes[0].child_axes
    found = [text.get_text() for text in right.get_yticklabels()]  # type: ignore[attr-defined]
    assert found[:2] == ["0.500 [0.300, 0.900] > 0.1: holds", "0.050 [0.020, 0.090] < 0.1: holds"]
    assert found[3] == "0.200 > 0.1? one seed, no interval: undecided"
    assert found[4] == "0.500 [0.300, 0.900] > 0.1: not testable here"
    shown(figure)


def test_claims_of_equality_are_drawn_inside_their_margin() -> None:
    """Within ±.1: how far inside the farthest end is, and the one nearest to 0."""
    checks = [
        check(0.0, -0.05, 0.06, "equal", "within"),
        check(-0.15, -0.2, -0.12, "doesn't", "within"),
        check(0.3, None, None, "undecided", "within"),
        check(0.0, -0.05, 0.06, "equal"),
    ]
    figure = plots.claims({"claims": {"C3": {"checks": checks}}})
    inside, outside = (np.asarray(line.get_xdata()).tolist() for line in figure.axes[0].lines[0:4:2])
    assert inside == pytest.approx([0.4, 1.0]) and outside == pytest.approx([-1.0, -0.2])  # of .1, and of .1 beyond
    assert figure.axes[0].lines[4].get_xdata() == pytest.approx([-2 / 3])
    [right] = figure.axes[0].child_axes
    found = [text.get_text() for text in right.get_yticklabels()]  # type: ignore[attr-defined]
    assert found[0] == "0.000 [-0.050, 0.060] within ± 0.1: equal"


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
