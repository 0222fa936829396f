"""Puzzles that are shown as thumbnails: what the prompt shows, and what a look brings back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageChops

from kit.chat import Chat
from kit.episode import NamedImage, Task
from papers.agile.env import GAP, QUESTIONS, JigsawEnv
from papers.agile.puzzle import THUMBNAIL_PX, make_task, with_thumbnails
from tests.papers.agile.test_env import PICTURE, code


def puzzle(m: int = 2, colours: int = 4) -> Task:
    return with_thumbnails(make_task(PICTURE, m, 0, np.random.default_rng(0), "t", "scene", 56), colours)


def same(one: Image.Image, other: Image.Image) -> bool:
    return one.size == other.size and ImageChops.difference(one, other).getbbox() is None


def test_a_colour_is_the_mean_of_its_part_of_the_piece() -> None:
    """By hand: gray 4×4; the quarter at the top left holds 0, 10, 20, 30 (mean 15), the others are of one gray each."""
    gray = np.array([[0, 10, 40, 40], [20, 30, 40, 40], [80, 80, 200, 200], [80, 80, 200, 200]], dtype=np.uint8)
    piece = NamedImage("A", Image.fromarray(gray).convert("RGB"))
    (small,) = with_thumbnails(Task("t", (piece,), "?", ("A",)), 2).images
    expected = np.kron([[15, 40], [80, 200]], np.ones((14, 14)))
    assert small.name == "A" and small.image.size == (28, 28)
    assert (np.asarray(small.image) == expected[..., None]).all()


@pytest.mark.parametrize("colours", [1, 4, 28])
def test_a_thumbnail_has_so_many_colours_a_side_and_one_token(colours: int, chat: Chat) -> None:
    task = puzzle(colours=colours)
    assert [p.name for p in task.images] == [p.name for p in task.originals] == ["A", "B", "C", "D"]
    for small, piece in zip(task.images, task.originals, strict=True):
        assert small.image.size == (THUMBNAIL_PX, THUMBNAIL_PX) and piece.image.size == (56, 56)
        assert (chat.image_tokens(small), chat.image_tokens(piece)) == (1, 4)
        blocks = np.asarray(small.image).reshape(colours, 28 // colours, colours, 28 // colours, 3)
        assert (blocks == blocks[:, :1, :, :1]).all()


def test_a_puzzle_is_made_small_once_and_otherwise_the_same() -> None:
    full = make_task(PICTURE, 2, 0, np.random.default_rng(0), "t", "scene", 56)
    assert with_thumbnails(full, 0) is full
    small = with_thumbnails(full, 4)
    assert replace(small, images=full.images, originals=()) == full
    assert with_thumbnails(small, 2) == with_thumbnails(full, 2), "of the pieces, not of thumbnails"


@pytest.mark.parametrize("colours", [-1, 29])
def test_a_number_of_colours_that_is_none_is_refused(colours: int) -> None:
    with pytest.raises(ValueError, match=rf"colours={colours}: a thumbnail has 1 to 28 colours a side; 0: no thumb"):
        puzzle(colours=colours)


def test_the_prompt_shows_thumbnails_and_nothing_else(env: JigsawEnv) -> None:
    task = puzzle()
    assert [part for part in env.prompt(task)[1] if not isinstance(part, str)] == list(task.images)


@pytest.mark.parametrize("m", [2, 3])
def test_a_look_shows_the_pieces_in_the_order_of_the_places_and_asks_again(env: JigsawEnv, m: int) -> None:
    task = puzzle(m)
    env.reset(options={"task": task})
    last = m * m - 1
    seen = env.step(
        code(f"state[0], state[{last}] = state[{last}], state[0]\nobservation_image_1 = observation(state)")
    )[0]
    order = [p.name for p in task.images]
    order[0], order[last] = order[last], order[0]
    pieces = {p.name: p.image for p in task.originals}
    assert [tile.name for tile in seen.images] == [f"Image {label}" for label in order]
    assert all(same(tile.image, pieces[label]) for tile, label in zip(seen.images, order, strict=True))
    assert (seen.status, seen.text, seen.closing) == ("ok", "", QUESTIONS["brief"])


def test_the_order_that_is_looked_at_is_shown_whatever_the_state_is(env: JigsawEnv) -> None:
    env.reset(options={"task": puzzle()})
    seen = env.step(code('a = observation(["B", "A", "D", "C"])'))[0]
    assert [tile.name for tile in seen.images] == ["Image B", "Image A", "Image D", "Image C"]
    seen = env.step(code("a = observation(state)"))[0]
    assert [tile.name for tile in seen.images] == ["Image A", "Image B", "Image C", "Image D"]


def test_what_is_cropped_and_zoomed_are_the_full_pieces(env: JigsawEnv) -> None:
    task = puzzle()
    env.reset(options={"task": task})
    crop = env.step(code("crop_image_1 = crop(B, [0, 0, 1, 1])"))[0]
    assert [image.name for image in crop.images] == ["crop_image_1"] and crop.closing == ""
    assert same(crop.images[0].image, task.originals[1].image)
    env.step(code("observation_image_1 = observation(state)"))
    whole = env.step(code("zoom_image_1 = zoom(observation_image_1, 1.0)"))[0]
    (picture,) = whole.images
    gap = round(GAP * 112)
    assert picture.image.size == (112 + gap, 112 + gap) and whole.closing == ""
    assert same(picture.image.crop((0, 0, 56, 56)), task.originals[0].image)


def test_a_look_that_fails_shows_nothing(env: JigsawEnv) -> None:
    env.reset(options={"task": puzzle()})
    seen = env.step(code("a = observation(state)\nb = zoom(a, 2)"))[0]
    assert (seen.status, seen.images, seen.closing) == ("error", (), "")
    seen = env.step(code("print(state)\na = observation(state)"))[0]
    assert "Output: ['A', 'B', 'C', 'D']" in seen.text and len(seen.images) == 4


def test_a_puzzle_of_full_pieces_is_looked_at_as_one_picture(env: JigsawEnv) -> None:
    env.reset(options={"task": puzzle(colours=0)})
    seen = env.step(code("observation_image_1 = observation(state)"))[0]
    assert [(i.name, i.image.size) for i in seen.images] == [("observation_image_1", (114, 114))] and not seen.closing
