"""Sheets and boards: they say what they show, and one that can't be read is told from one that can."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from pictures.digits import digits_of, handwritten
from pictures.documents import CORNERS, SHEETS, SIDE, WORDS, board, number, sheet
from pictures.readable import is_readable
from pictures.scenes import Pixels, scene

POOL: list[Pixels] = [scene(np.random.default_rng(i), 168) for i in range(2)]


@pytest.mark.parametrize("kind", list(SHEETS))
def test_a_seed_names_a_sheet_and_its_questions_are_answered_by_its_rows(kind: str) -> None:
    for seed in range(20):
        one, again = (SHEETS[kind](np.random.default_rng(seed), POOL) for _ in range(2))
        assert one.kind == kind and one.image.size == (SIDE, SIDE) and one.image.mode == "RGB"
        assert one.image.tobytes() == again.image.tobytes() and one.questions == again.questions
        for question, answer in one.questions:
            assert question.endswith("?") or question.endswith(".")
            assert all(word in one.text.replace(",", "").split() for word in answer.replace(",", "").split())


def test_a_receipt_adds_up() -> None:
    for seed in range(30):
        *bought, (last, total) = SHEETS["receipt"](np.random.default_rng(seed), ()).rows
        assert last == "total" and int(total) == sum(int(price) for _, price in bought)


def test_a_charts_questions_are_about_its_heights() -> None:
    for seed in range(30):
        one = SHEETS["chart"](np.random.default_rng(seed), ())
        heights = {name: int(height) for name, height in one.rows}
        asked = dict(one.questions)
        assert heights[asked["Which bar is highest?"]] == max(heights.values())
        assert heights[asked["Which bar is lowest?"]] == min(heights.values())


def test_everything_printed_is_a_number_or_a_known_word() -> None:
    for seed in range(60):
        one = sheet(np.random.default_rng(seed), POOL, ("receipt", "sign", "form"))
        assert [p.text for p in one.prints] == [word for row in one.rows for word in row]
        assert all(p.text.isdigit() or p.text in WORDS for p in one.prints)
        assert all(15 <= p.size <= 27 for p in one.prints)


def test_a_board_shows_each_card_where_it_says() -> None:
    image, cards = board(np.random.default_rng(3), POOL)
    assert [card.corner for card in cards] == list(CORNERS)
    assert len({card.colour for card in cards}) == 4
    for card in cards:
        x1, y1, x2, y2 = (round(share * SIDE) for share in card.inner)
        part = np.asarray(image.crop((x1, y1, x2, y2)), dtype=float)
        small = np.asarray(card.sheet.image.resize((x2 - x1, y2 - y1), Image.Resampling.LANCZOS), dtype=float)
        assert abs(part - small).mean() < 1


@pytest.mark.parametrize("kind", list(SHEETS))
def test_what_is_there_can_be_read_and_nothing_else(kind: str) -> None:
    """Every question of forty sheets, and the same sheets upside down or with another sheet's answer."""
    read = wrong = upside = n = 0
    for seed in range(40):
        one = SHEETS[kind](np.random.default_rng(seed), POOL)
        other = SHEETS[kind](np.random.default_rng(seed + 1000), POOL)
        turned = one.image.transpose(Image.Transpose.ROTATE_180)
        for question, answer in one.questions:
            n += 1
            read += is_readable(one, one.image, answer)
            upside += is_readable(one, turned, answer)
            asked = dict(other.questions)
            wrong += question in asked and asked[question] != answer and is_readable(one, other.image, answer)
    assert read >= 0.95 * n
    assert upside < 0.05 * n and wrong < 0.05 * n


def test_what_is_blurred_away_can_not_be_read() -> None:
    blurred = [
        s.image.filter(ImageFilter.GaussianBlur(9)) for s in (sheet(np.random.default_rng(k), ()) for k in range(20))
    ]
    sheets = [sheet(np.random.default_rng(k), ()) for k in range(20)]
    assert sum(is_readable(s, image, s.questions[0][1]) for s, image in zip(sheets, blurred, strict=True)) <= 4


def test_no_handwritten_digit_stands_on_two_sides() -> None:
    """Every digit on one side, equal ones on the same; every side has all ten; a sheet's are of its own side."""
    images, labels = handwritten()
    sides = {side: set(digits_of(side).tolist()) for side in ("train", "development", "test")}
    assert sorted(k for some in sides.values() for k in some) == list(range(len(labels)))
    contents = {side: {images[k].tobytes() for k in some} for side, some in sides.items()}
    assert not contents["train"] & contents["test"] and not contents["train"] & contents["development"]
    assert not contents["development"] & contents["test"]
    assert all({int(labels[k]) for k in some} == set(range(10)) for some in sides.values())
    assert 0.25 < len(sides["test"]) / len(labels) < 0.35
    one, same, other = (number(np.random.default_rng(3), (), side) for side in ("test", "test", "train"))
    assert one.image.tobytes() == same.image.tobytes() != other.image.tobytes()
