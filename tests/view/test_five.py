"""The figure of the five questions draws the values that it is given, and says what has none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kit.evaluate.five.questions import QUESTIONS, told
from kit.evaluate.intervals import Interval
from kit.view.five import five
from tests.view.test_charts import shown


def results(**more: Interval) -> dict[str, Any]:
    """A results file that answers every question, and more by name."""
    names = [answer.name for answers in QUESTIONS.values() for answer in answers]
    values = {name: Interval(0.5, 0.25, 0.75, 40) for name in names}
    return {"metrics": {name.replace("__", "/"): i.record() for name, i in (values | more).items()}}


def test_every_value_is_drawn_with_its_interval_under_its_question() -> None:
    found = results(grpo__gain_over_sft=Interval(-0.125, -0.5, 0.25, 40), grpo__gain_over_sft_hard=Interval(1, 1, 1, 9))
    figure = five(found, ["hard"])
    axis = figure.axes[0]
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert [label for label in labels if label[:1].isdigit()] == list(QUESTIONS)
    at = labels.index("after GRPO minus before")
    drawn = [line for line in axis.lines if np.all(np.asarray(line.get_ydata()) == at)]
    assert [list(np.atleast_1d(line.get_xdata())) for line in drawn] == [[-0.5, 0.25], [-0.125]]
    assert labels[at + 1] == "after GRPO minus before, hard"
    assert axis.get_xlim()[0] < -0.5
    shown(figure)


def test_a_number_on_a_scale_of_its_own_is_written_and_not_drawn() -> None:
    axis = five(results(grpo__calls_per_episode=Interval(3.5, 3, 4, 40))).axes[0]
    labels = [label.get_text() for label in axis.get_yticklabels()]
    at = labels.index("calls an episode")
    assert not [line for line in axis.lines if np.all(np.asarray(line.get_ydata()) == at)]
    assert axis.get_xlim()[1] < 1.1
    text = told(results(grpo__calls_per_episode=Interval(3.5, 3, 4, 40)))
    assert re.search(r"^   calls an episode +3\.500 \[3\.000, 4\.000\], n = 40$", text, re.MULTILINE)


def test_one_seed_has_a_marker_without_a_line() -> None:
    one = Interval.of({"value": 0.5, "low": None, "high": None, "n": 1})
    axis = five(results(grpo__zero_spread_groups=one)).axes[0]
    labels = [label.get_text() for label in axis.get_yticklabels()]
    at = labels.index("groups whose rewards are equal")
    line, marker = [line for line in axis.lines if np.all(np.asarray(line.get_ydata()) == at)]
    assert list(line.get_xdata()) == [0.5, 0.5] and list(np.atleast_1d(marker.get_xdata())) == [0.5]


def test_results_without_answers_are_refused() -> None:
    with pytest.raises(ValueError, match="answer none of the five questions"):
        five({"metrics": {"grpo/acc": Interval(0.5, 0.25, 0.75, 40).record()}})


def test_headlines_are_the_first_value_of_each_question() -> None:
    labels = [label.get_text() for label in five(results(), headlines=True).axes[0].get_yticklabels()]
    assert labels == [text for question, values in QUESTIONS.items() for text in (question, values[0].label)]


def test_headlines_of_subsets_stand_below_the_whole() -> None:
    found = results(
        grpo__gain_over_sft_hard=Interval(1, 1, 1, 9), grpo__observation_gap_blank_hard=Interval(1, 1, 1, 9)
    )
    labels = [label.get_text() for label in five(found, ["hard"], headlines=True).axes[0].get_yticklabels()]
    assert labels[:3] == ["1 Does reinforcement add?", "after GRPO minus before", "after GRPO minus before, hard"]
    assert len(labels) == 2 * len(QUESTIONS) + 1, "of blank observations, no headline, nothing is drawn"
