"""Each skill's answer is right by construction: checked here from the pixels, not from the code."""

import numpy as np
import pytest

from pictures.scenes import Pixels, scene
from tiny.skills import SKILLS
from tiny.skills.seeing import PLACES, adjacency, chart, order, place, rearranged


@pytest.fixture(scope="module")
def pool() -> list[Pixels]:
    return [scene(np.random.default_rng(i)) for i in range(4)]


def seam(left: Pixels, right: Pixels) -> float:
    """How badly two pieces fit side by side: mean difference across the seam."""
    return float(np.abs(left[:, -1].astype(float) - right[:, 0].astype(float)).mean())


@pytest.mark.parametrize("name", list(SKILLS))
def test_every_skill_answers_in_whole_sentences(name: str, pool: list[Pixels]) -> None:
    for seed in range(20):
        sample = SKILLS[name](np.random.default_rng(seed), pool)
        assert sample.skill == name
        for question, answer in sample.turns:
            assert answer.endswith("?" if str(question[-1]).endswith("Put in whose it is.") else "."), answer
        pictures = [p for question, _ in sample.turns for p in question if not isinstance(p, str)]
        assert all(p.shape[0] % 28 == 0 and p.shape[1] % 28 == 0 and p.dtype == np.uint8 for p in pictures)


def test_place_puts_the_picture_back_together(pool: list[Pixels]) -> None:
    fits, misfits = [], []
    for seed in range(30):
        sample = place(np.random.default_rng(seed), pool)
        question, answer = sample.turns[0]
        pieces = [p for p in question if not isinstance(p, str)]
        homes = [part.split(" ", 1)[1] for part in answer.rstrip(".").split(", ")]
        at = {home: piece for home, piece in zip(homes, pieces, strict=True)}
        assert set(at) == set(PLACES)
        fits.append(seam(at["top left"], at["top right"]))
        misfits.append(seam(at["top right"], at["top left"]))
    assert np.mean(fits) < 0.5 * np.mean(misfits)


def test_order_names_the_letters_row_by_row(pool: list[Pixels]) -> None:
    """The pieces laid out in the order that is said fit as the places that are said do."""
    for seed in range(30):
        question, answer = order(np.random.default_rng(seed), pool).turns[0]
        where, _, letters = answer.rstrip(".").partition("; right order ")
        homes = dict(part.split(" ", 1) for part in where.split(", "))
        assert [homes[letter] for letter in letters.split(", ")] == list(PLACES)
        assert where == place(np.random.default_rng(seed), pool).turns[0][1].rstrip(".")
        assert len([p for p in question if not isinstance(p, str)]) == 4


def test_rearranged_shows_what_it_says(pool: list[Pixels]) -> None:
    """Moving each quarter as the answer says makes the middle seams smooth."""
    gains = []
    for seed in range(20):
        question, answer = rearranged(np.random.default_rng(seed), pool).turns[0]
        picture = question[0]
        assert not isinstance(picture, str)
        quarters = dict(
            zip(PLACES, (picture[:56, :56], picture[:56, 56:], picture[56:, :56], picture[56:, 56:]), strict=True)
        )
        moves = dict(part.split(" to ") for part in answer.rstrip(".").split(", "))
        back = {home: quarters[spot] for spot, home in moves.items()}
        inner = slice(3, -3)  # away from the white gap

        def middle(at: dict[str, Pixels], inner: slice = inner) -> float:
            left, right = at["top left"][inner, -4], at["top right"][inner, 3]
            return float(np.abs(left.astype(float) - right.astype(float)).mean())

        if moves["top left"] != "top left" or moves["top right"] != "top right":
            gains.append(middle(quarters) - middle(back))
    assert np.mean(gains) > 10


def test_adjacency_is_told_apart_by_seams(pool: list[Pixels]) -> None:
    right_of, not_beside = [], []
    for seed in range(120):
        question, answer = adjacency(np.random.default_rng(seed), pool).turns[0]
        a, b = (p for p in question if not isinstance(p, str))
        {"right of.": right_of, "not beside.": not_beside}.get(answer, []).append(seam(a, b))
    assert np.mean(right_of) < 0.6 * np.mean(not_beside)


def test_chart_bars_are_as_high_as_read() -> None:
    from tiny.skills.seeing import COLOURS

    question, answer = chart(np.random.default_rng(5), []).turns[0]
    picture = question[0]
    assert not isinstance(picture, str)
    for part in answer.rstrip(".").split(", "):
        name, height = part.split()
        rows = (picture == COLOURS[name]).all(axis=2).sum(axis=0).max()
        assert round((rows - 1) / 11) == int(height)
