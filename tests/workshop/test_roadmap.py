"""Rows of boxes: what is done now stands out."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kit.evaluate.intervals import Interval
from kit.view.charts import COLOURS
from workshop.roadmap import GRPO_STEP, parts, roadmap


def test_the_parts_that_the_text_is_about_are_filled() -> None:
    figure = parts(GRPO_STEP, ["loss", "step"], title="one step")
    [axis] = figure.axes
    boxes = {text.get_text().split("\n")[0]: text for text in axis.texts if text.get_text()}
    assert list(boxes) == list(GRPO_STEP)
    edges = {name: text.get_bbox_patch().get_edgecolor() for name, text in boxes.items()}
    assert edges["loss"] == edges["step"] != edges["play"] == edges["score"]
    assert axis.get_title(loc="left") == "one step" and len(axis.texts) == 5 + 4, "five boxes, four arrows"
    assert COLOURS[0].lower() == "#" + "".join(f"{round(255 * part):02x}" for part in edges["loss"][:3])


def test_the_results_legend_covers_no_curve_and_says_what_is_measured() -> None:
    found = [("untrained", Interval(0.0, 0.0, 0.1, 9)), ("grpo", Interval(0.9, 0.8, 1.0, 9))]
    reached = {"A paper: tasks solved": found, "Another paper: F1 of its answers": found}
    figure = roadmap({"SFT": "imitate"}, {"A paper": {"SFT": "12"}}, reached, "share solved, or F1")
    figure.draw_without_rendering()
    results = figure.axes[1]
    assert results.get_ylabel() == "share solved, or F1"
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(reached)
    assert legend.get_window_extent().y1 < results.get_window_extent().y0


def test_long_names_leave_room_for_the_boxes_and_the_papers() -> None:
    stages = {"task": "images → tasks,\ntools, an expert", "SFT": "imitate the\nexpert", "GRPO": "play, compare,"}
    numbers = {"Visual-ARFT": {"task": "21, 22", "SFT": "23"}, "VISTA-Gym": {"task": "51, 52", "SFT": "53"}}
    found = [("untrained", Interval(0.0, 0.0, 0.1, 9)), ("grpo", Interval(0.9, 0.8, 1.0, 9))]
    told = "right in seven families; six of them trained, one at sight alone"
    figure = roadmap(stages, numbers, {f"{name}: {told}": found for name in numbers})
    figure.draw_without_rendering()
    texts = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts if text.get_text()}
    boxes = [texts[f"{stage}\n{does}"] for stage, does in stages.items()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert all(texts[name].x1 < texts[of["task"]].x0 for name, of in numbers.items())


def test_a_part_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="now=\\['jump'\\]: the stages are play, score, compare, loss, step"):
        parts(GRPO_STEP, ["play", "jump"])
