"""The rules by which replies are right, worked out by hand, and cards that are made by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from papers.vista_gym.cases.case import Case
from papers.vista_gym.cases.charts import _chart, caption, iou, near
from papers.vista_gym.cases.diagrams import shared
from papers.vista_gym.cases.solvers import right
from papers.vista_gym.measure import Card, measure, write_cards
from papers.vista_gym.toolbox import toolbox
from visual_tools.charts.say import caption as say


def test_a_value_is_right_within_a_twentieth() -> None:
    assert near("105", 100) and near("95", 100) and not near("106", 100)
    assert not near("Error: no row", 100) and not near("", 0)


def test_an_answer_is_right_within_half_a_percent() -> None:
    assert right("13.04", 13.038) == 1 and right("13.2", 13.038) == 0 and right("Error", 1) == 0


def test_boxes_overlap_by_their_share() -> None:
    # 5 × 10 pixels of 15 × 10 are in both.
    assert iou((0, 0, 10, 10), (5, 0, 15, 10)) == pytest.approx(1 / 3)
    assert iou((0, 0, 1, 1), (5, 5, 6, 6)) == 0


def test_statements_count_however_their_letters_are_turned() -> None:
    assert shared("Equal(LengthOfLine(BA),5)", ["Equal(LengthOfLine(AB),5)"]) == 1
    assert shared("RightAngle(CBA); Collinear(ABD)", ["RightAngle(ABC)"]) == 0.5  # one of two is too many
    assert shared("Error: nothing", ["RightAngle(ABC)"]) == 0


def test_a_perfect_caption_is_right_for_one_series_and_for_several() -> None:
    """What the tool says of the true table earns everything, whatever the chart."""
    for seed in range(12):
        case, drawn = caption(np.random.default_rng(seed)), _chart(np.random.default_rng(seed))
        assert case.right(say(drawn.table)) == 1, drawn.table


def test_a_card_counts_scores_and_errors(tmp_path: Path) -> None:
    tool = toolbox(["multimath.solve"])["multimath.solve"]

    def case(rng: np.random.Generator) -> Case:
        del rng
        return Case(lambda said: right(said, 4), {"question": "2x + 3 = 11. What is x?"})

    card = measure(tool, case, inputs=3)
    assert (card.accuracy, card.inputs, card.errors) == (1, 3, 0)
    wrong = measure(tool, lambda rng: Case(lambda said: 0.0, {"question": "hello"}), inputs=2)
    assert (wrong.accuracy, wrong.errors) == (0, 2)
    write_cards({"one": card}, tmp_path / "tool_accuracies.toml")
    write_cards({"two": wrong}, tmp_path / "tool_accuracies.toml")
    assert '["one"]' in (tmp_path / "tool_accuracies.toml").read_text() and isinstance(card, Card)
