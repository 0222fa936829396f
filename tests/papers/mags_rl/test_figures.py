"""Mags-RL's figure: a row for each episode, with its boxes, its crops and what was made of them."""

from __future__ import annotations

import pytest
from PIL import Image

from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn
from papers.mags_rl.figures import HEADS, boxes_of, crops_of, learnt, looks, side_by_side


def board() -> Image.Image:
    image = Image.new("RGB", (80, 80), "white")
    image.paste((0, 0, 255), (0, 40, 40, 80))
    return image


TASK = Task("t", (NamedImage("image", board()),), "Which colour?", ("blue",), {"parts": [[0.1, 0.6, 0.4, 0.9]]})


def episode(boxes: list[list[float]], answer: str | None) -> Episode:
    shown = tuple(NamedImage(f"zoom_{k + 1}", Image.new("RGB", (80, 80), "blue")) for k in range(len(boxes)))
    look = Action("zoom", str(boxes), {"asked": len(boxes), "boxes": boxes})
    turns = [Turn((), (), "<think>…</think>", look, Observation("", shown))]
    if answer is not None:
        turns.append(Turn((), (), "", Action("answer", answer)))
    return Episode(TASK, (), tuple(turns), "answer" if answer is not None else "turns")


def test_crops_are_cut_as_the_agent_asked() -> None:
    one = episode([[0.0, 0.5, 0.5, 1.0], [0.5, 0.0, 1.0, 0.25]], "blue")
    assert boxes_of(one) == [[0.0, 0.5, 0.5, 1.0], [0.5, 0.0, 1.0, 0.25]]
    assert [crop.size for crop in crops_of(one)] == [(40, 40), (40, 20)]
    assert crops_of(one)[0].getpixel((20, 20)) == (0, 0, 255)
    assert boxes_of(Episode(TASK, (), (), "turns")) == []


def test_images_stand_side_by_side_in_their_own_size() -> None:
    """Two columns with a gap of 6; a small image stands in the middle of white."""
    two = side_by_side([Image.new("RGB", (40, 40), "black")] * 2, side=60)
    assert two.size == (126, 60)
    assert two.getpixel((5, 5)) == (255, 255, 255) and two.getpixel((30, 30)) == (0, 0, 0)
    assert side_by_side([Image.new("RGB", (90, 40))] * 3, side=60).size == (186, 186)
    assert side_by_side([], side=60).size == (60, 60)


def test_the_clearest_question_is_one_that_was_learnt_by_looking() -> None:
    there, elsewhere = [[0.0, 0.5, 0.5, 1.0]], [[0.5, 0.0, 1.0, 0.25]]
    before = [episode([], None), episode(elsewhere, "red"), episode(there, "blue"), episode(there, "red")]
    after = [episode(elsewhere, "blue"), episode(there, "blue"), episode(there, "blue"), episode(there, "red")]
    assert learnt(before, after) == {"before": before[1], "after": after[1]}, "not the lucky one, nor one known before"
    assert learnt(before[3:], after[3:]) == {"before": before[3], "after": after[3]}, "nothing was learnt"
    for now, then in ((before, after[:3]), ([], [])):
        with pytest.raises(ValueError, match="need the same questions"):
            learnt(now, then)


def test_a_row_for_each_episode() -> None:
    rows = {"before": episode([], None), "after": episode([[0.0, 0.5, 0.5, 1.0]], "blue")}
    figure = looks(rows)
    assert len(figure.axes) == len(rows) * len(HEADS)
    assert [axis.get_title() for axis in figure.axes[:4]] == list(HEADS)
    dashed, solid = figure.axes[4].patches
    assert (dashed.get_linestyle(), solid.get_linestyle()) == ("--", "-")
    assert solid.get_bbox().bounds == (4.5, 44.5, 30.0, 30.0), "five pixels inside of 0, 40, 40, 40"
    assert dashed.get_bbox().bounds == pytest.approx((3.5, 43.5, 32.0, 32.0)), "four pixels outside of 8, 48, 24, 24"
    told = [text.get_text() for axis in (figure.axes[3], figure.axes[7]) for text in axis.texts]
    assert told == ["Which colour?", "none\nwrong: it is blue", "Which colour?", "blue\nright: it is blue"]
    with pytest.raises(ValueError, match="no episode to draw"):
        looks({})
