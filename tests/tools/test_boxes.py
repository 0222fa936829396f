"""A box is converted in one place, and means the same region in every frame of every model family."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from internvl_fixtures import internvl_chat
from PIL import Image

from kit.chat import Chat
from kit.episode import NamedImage
from kit.tools.boxes import Box, Frame, box_iou, convert

SIZE, RESIZED = (640, 480), (644, 476)
FRAMES: dict[Frame, tuple[float, float, float, float]] = {
    "pixels": (160, 120, 320, 240),
    "resized": (161, 119, 322, 238),
    "thousandths": (250, 250, 500, 500),
    "shares": (0.25, 0.25, 0.5, 0.5),
}
"""One region, worked out by hand."""


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("other", FRAMES)
def test_one_region_in_every_frame(frame: Frame, other: Frame) -> None:
    found = convert(Box("photo", frame, *FRAMES[frame]), other, SIZE, RESIZED)
    assert (found.image, found.frame) == ("photo", other)
    assert found.corners == pytest.approx(FRAMES[other])


@given(st.integers(1, 4000), st.integers(1, 4000), st.sampled_from(list(FRAMES)))
def test_there_and_back_is_the_same_box(width: int, height: int, frame: Frame) -> None:
    box = Box("photo", "shares", 0.1, 0.2, 0.7, 1.0)
    there = convert(box, frame, (width, height), (28, 56))
    assert convert(there, "shares", (width, height), (28, 56)).corners == pytest.approx(box.corners)


def test_qwen_speaks_in_pixels_of_the_resized_image(chat: Chat) -> None:
    image = NamedImage("photo", Image.new("RGB", (115, 57)))
    assert chat.resized(image) == (112, 56)  # multiples of 28
    _, h, w = chat.pixels(image).grid
    assert (w * 14, h * 14) == chat.resized(image)
    whole = convert(Box("photo", "resized", 0, 0, 112, 56), "pixels", image.image.size, chat.resized(image))
    assert whole.corners == pytest.approx((0, 0, 115, 57))


def test_internvl_speaks_in_thousandths_and_reads_a_canvas_of_tiles() -> None:
    chat = internvl_chat()
    image = NamedImage("photo", Image.new("RGB", (120, 60)))
    assert chat.resized(image) == (112, 56)  # two tiles of 56 pixels beside each other, and a thumbnail
    assert chat.pixels(image).grid[0] == 3
    right = convert(Box("photo", "thousandths", 500, 0, 1000, 1000), "pixels", image.image.size)
    assert right.corners == pytest.approx((60, 0, 120, 60))


def test_what_is_no_box_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"box on 'photo': \(5, 0, 5, 9\) is empty"):
        Box("photo", "pixels", 5, 0, 5, 9)
    with pytest.raises(ValueError, match="no frame 'inches'"):
        Box("photo", "inches", 0, 0, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"reaches out of its 640 × 480 pixels"):
        convert(Box("photo", "pixels", 0, 0, 641, 9), "shares", SIZE)
    with pytest.raises(ValueError, match="resized size is needed"):
        convert(Box("photo", "pixels", 0, 0, 6, 9), "resized", SIZE)


@pytest.mark.parametrize(
    ("first", "second", "golden"),
    [
        ("[0.0, 0.0, 0.5, 0.5].", "[0.0, 0.0, 0.5, 0.5].", 1.0),
        ("[0.0, 0.0, 1.0, 0.5].", "[0.0, 0.0, 0.5, 0.5].", 0.5),  # .25 / (.5 + .25 − .25)
        ("[0.0, 0.0, 0.2, 0.2].", "[0.5, 0.5, 0.9, 0.9].", 0.0),
        ("no box", "[0.5, 0.5, 0.9, 0.9].", 0.0),
        ("[1, 2]", "[0.5, 0.5, 0.9, 0.9].", 0.0),
        ("[0, 0, 10, 10, 5]", "[0, 0, 10, 10]", 0.0),
        ("[true, 0, 10, 10]", "[0, 0, 10, 10]", 0.0),
        ("[0, 0, 10, 10]...", "[0, 0, 10, 10]", 0.0),
        ("[NaN, 0, 10, 10]", "[0, 0, 10, 10]", 0.0),
        ("[0, 0, 1e999, 1e999]", "[0, 0, 1e999, 1e999]", 0.0),
        ("[[0, 0, 10, 10]]", "[0, 0, 10, 10]", 0.0),
        ('{"0": 0, "1": 0, "2": 10, "3": 10}', "[0, 0, 10, 10]", 0.0),
    ],
)
def test_box_iou(first: str, second: str, golden: float) -> None:
    assert box_iou(first, second) == pytest.approx(golden)
