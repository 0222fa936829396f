"""Rows of boxes: what is done now stands out."""

from __future__ import annotations

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
    legend = results.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == list(reached)
    assert legend.get_window_extent().y1 < results.get_window_extent().y0


def test_a_part_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="now=\\['jump'\\]: the stages are play, score, compare, loss, step"):
        parts(GRPO_STEP, ["play", "jump"])
