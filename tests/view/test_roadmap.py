"""Rows of boxes: what is done now stands out."""

from __future__ import annotations

import pytest

from kit.view.charts import COLOURS
from kit.view.roadmap import GRPO_STEP, parts


def test_the_parts_that_the_text_is_about_are_filled() -> None:
    figure = parts(GRPO_STEP, ["loss", "step"], title="one step")
    [axis] = figure.axes
    boxes = {text.get_text().split("\n")[0]: text for text in axis.texts if text.get_text()}
    assert list(boxes) == list(GRPO_STEP)
    edges = {name: text.get_bbox_patch().get_edgecolor() for name, text in boxes.items()}
    assert edges["loss"] == edges["step"] != edges["play"] == edges["score"]
    assert axis.get_title(loc="left") == "one step" and len(axis.texts) == 5 + 4, "five boxes, four arrows"
    assert COLOURS[0].lower() == "#" + "".join(f"{round(255 * part):02x}" for part in edges["loss"][:3])


def test_a_part_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="now=\\['jump'\\]: the stages are play, score, compare, loss, step"):
        parts(GRPO_STEP, ["play", "jump"])
