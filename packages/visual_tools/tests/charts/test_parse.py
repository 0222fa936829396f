"""Tables are read from pixels and words: by hand for one chart of each kind, and over many drawn ones."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest
from PIL import Image, ImageDraw

from visual_tools.charts.parse import read_chart
from visual_tools.charts.table import Kind, NotFound, Table, match
from visual_tools.charts.tools import ToTable
from visual_tools.drawn.charts import chart
from visual_tools.words import Word

BLUE, ORANGE = (31, 119, 180), (255, 127, 14)


def word(text: str, x: float, y: float) -> Word:
    """A text 8 pixels wide a letter and 12 high, around a place."""
    return Word(text, x - 4 * len(text), y - 6, x + 4 * len(text), y + 6)


def standing() -> Image.Image:
    """Bars on a base at row 220; a row is half a unit: 30 and 60 high, so 60 and 120 rows."""
    image = Image.new("RGB", (300, 260), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((80, 160, 119, 219), fill=BLUE)
    pen.rectangle((180, 100, 219, 219), fill=BLUE)
    return image


AXIS = (word("0", 20, 220), word("50", 20, 120), word("100", 20, 20))
LABELS = (word("tea", 100, 240), word("milk", 200, 240))


def test_bars_are_measured_by_the_numbers_beside_them() -> None:
    seen = read_chart(standing(), (*AXIS, *LABELS, word("Drinks", 150, 8))).table
    assert seen == Table("bar", "Drinks", "", "", ("tea", "milk"), ("",), ((30.0, 60.0),))


def test_lying_bars_take_their_labels_from_the_left() -> None:
    image = standing().transpose(Image.Transpose.ROTATE_270)  # the base is now column 40, 260 pixels wide in all
    ticks = (word("0", 40, 290), word("50", 140, 290), word("100", 240, 290))
    seen = read_chart(image, (*ticks, word("tea", 20, 100), word("milk", 20, 200))).table
    assert (seen.kind, seen.categories, seen.values) == ("horizontal bar", ("tea", "milk"), ((30.0, 60.0),))


def test_a_line_is_read_above_its_labels() -> None:
    image = Image.new("RGB", (300, 260), "white")
    ImageDraw.Draw(image).line((80, 200, 140, 140, 200, 180), fill=ORANGE, width=3)
    labels = (word("2019", 80, 240), word("2020", 140, 240), word("2021", 200, 240))
    seen = read_chart(image, (*AXIS, *labels)).table
    assert seen.categories == ("2019", "2020", "2021")
    # Row 200 is (220 - 200) / 2 = 10, row 140 is 40, row 180 is 20.
    assert seen.values[0] == pytest.approx((10, 40, 20), abs=1)


def test_slices_are_shares_of_the_circle() -> None:
    image = Image.new("RGB", (300, 260), "white")
    pen = ImageDraw.Draw(image)
    pen.pieslice((70, 50, 230, 210), -90, 0, fill=ORANGE)  # PIL turns clockwise: the upper right quarter
    pen.pieslice((70, 50, 230, 210), 0, 270, fill=BLUE)
    seen = read_chart(image, (word("fig", 245, 70), word("plum", 45, 200))).table
    assert {name: value for name, (value,) in seen.columns()} == pytest.approx({"fig": 25, "plum": 75}, abs=0.5)


def test_what_is_no_chart_is_told() -> None:
    with pytest.raises(ValueError, match="this is no chart"):
        read_chart(Image.new("RGB", (60, 60), "white"), ())
    with pytest.raises(ValueError, match="no axis with two numbers"):
        read_chart(standing(), LABELS)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_drawn_charts_are_read_within_a_twentieth(kind: Kind) -> None:
    """The words are known here, so what is off is off by the pixels."""
    right = []
    for seed in range(500, 510):
        drawn = chart(np.random.default_rng(seed), (kind,))
        seen = read_chart(drawn.image, drawn.words).table
        for series, row in zip(drawn.table.series, drawn.table.values, strict=True):
            for category, value in zip(drawn.table.categories, row, strict=True):
                read = seen.value(category, series)
                assert value is not None
                right.append(read is not None and abs(read - value) <= 0.05 * value)
    assert np.mean(right) > 0.95


def test_names_are_found_in_spite_of_a_misread_letter_but_not_of_a_digit() -> None:
    table = Table("bar", "", "", "", ("Grape", "Q1"), ("Men", "Women"), ((1, 2), (3, 4)))
    assert table.value("grope", "WOMEN") == 3
    with pytest.raises(NotFound, match="label: no 'Q2' here, only Grape, Q1"):
        table.value("Q2", "Men")
    with pytest.raises(NotFound, match="name one of Men, Women"):
        table.value("Grape")
    assert table.linear() == "TITLE |  <0x0A> label | Men | Women <0x0A> Grape | 1 | 3 <0x0A> Q1 | 2 | 4"


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("men", "Women"), ("women", "Men"), ("male", "Female"), ("agree", "Disagree"),
        ("Rather agree", "Rather disagree"), ("Niger", "Nigeria"), ("Austria", "Australia"),
        ("Virginia", "West Virginia"), ("North Korea", "South Korea"), ("legal", "Illegal"), ("urban", "Suburban"),
        ("employed", "Unemployed"), ("increase", "Decrease"),
        ("<18", ">18"), ("-5", "5"), ("18+", "18"), ("C++", "C"), ("$", "%"), ("Q2", "Q1"), ("2019", "2018"),
    ],
)  # fmt: skip
def test_names_that_differ_by_more_than_a_letter_or_by_a_sign_are_others(name: str, there: str) -> None:
    with pytest.raises(NotFound, match=f"label: no {re.escape(repr(name))} here, only {re.escape(there)}"):
        match(name, [there, "Sum"], "label")


@pytest.mark.parametrize(
    ("name", "read"), [("milk", "mil"), ("Germany", "Gerrnany"), ("Illinois", "lllinois"), ("Iran", "Iraq")]
)
def test_a_number_under_a_name_that_is_only_alike_says_whose_it_is(name: str, read: str) -> None:
    one = Table("bar", "", "", "", (read, "tea"), ("",), ((1, 2),))
    two = Table("bar", "", "", "", ("tea", "rice"), (read, "corn"), ((1, 2), (3, 4)))
    tool = ToTable()
    assert tool.answer(one, {"of": name}) == f"{read}: 1" and tool.answer(one, {"of": read.upper()}) == "1"
    assert tool.answer(two, {"of": "tea", "series": name}) == f"{read}: 1"
    assert tool.answer(two, {"of": "tea", "series": read}) == "1"
    assert tool.answer(two, {"series": name}) == f"{read}: tea 1, rice 2"
