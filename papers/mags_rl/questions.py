"""Draw boards with questions about them, of three skills and three difficulties, with exact truth.

=========  ==================================  ====================================  ==================================
skill      easy: a whole card decides          medium: handwritten digits decide     hard: a printed word decides
=========  ==================================  ====================================  ==================================
count      How many cards are red, blue, …?    How many cards show only a number?    On how many cards does it say age?
relation   Which card is below the red one?    Which number is on the card below …?  What is in line 1 of the card …?
attribute  In which corner is the red card?    Which number is on the red card?      What is in line 1 of the red card?
=========  ==================================  ====================================  ==================================

Counting stands for TallyQA, relations for VSR, attributes for GQA. No answer is a matter of yes or no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from kit.data.split import Side
from papers.mags_rl.boards import PLACES, TOLD_APART, Box, Drawn, part
from pictures.documents import CORNERS, FIELDS, Sheet, form, number, receipt

Maker = Callable[[np.random.Generator, Side, int], Drawn]
"""Draws one board of a kind: by its random numbers, with the handwriting of a side, with so many pixels a card."""

BESIDE = {"right of": 1, "left of": -1, "below": 2, "above": -2}
"""From a card's place to the place of its neighbour."""


def _colours(rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(str(name) for name in rng.choice(TOLD_APART, size=4, replace=False))


def _form(rng: np.random.Generator) -> Sheet:
    """A form of two lines; of those with three, the base reads few."""
    one = form(rng, ())
    return one if len(one.rows) == 2 else _form(rng)


def _printed(rng: np.random.Generator) -> tuple[Sheet, ...]:
    """Four sheets, each a receipt or a form: what the base reads best."""
    return tuple(receipt(rng, ()) if rng.random() < 0.5 else _form(rng) for _ in CORNERS)


def _numbers(rng: np.random.Generator, side: Side) -> tuple[Sheet, ...]:
    return tuple(number(rng, (), side) for _ in CORNERS)


def _places(rng: np.random.Generator, most: int) -> list[int]:
    """One to ``most`` of the four places, each number as likely."""
    return sorted(int(place) for place in rng.choice(4, size=int(rng.integers(1, most + 1)), replace=False))


def _beside(rng: np.random.Generator) -> tuple[int, int, str]:
    """A place, that of a neighbour, and the words between: place 2 is ``below`` place 0."""
    place = int(rng.integers(4))
    words = ("left of" if place % 2 else "right of", "above" if place // 2 else "below")[int(rng.integers(2))]
    return place, place + BESIDE[words], words


def _counted(
    colours: tuple[str, ...],
    sheets: Sequence[Sheet],
    card: int,
    asked: str,
    marks: Mapping[int, Box],
    looks: Sequence[int],
) -> Drawn:
    """A question for how many cards have what is marked, by place."""
    told, n = tuple(str(int(place in marks)) for place in range(4)), len(marks)
    parts = tuple(marks.values())
    return Drawn(colours, tuple(sheets), card, asked, str(n), asked, tuple(looks), parts, told, n)


def _count_frames(rng: np.random.Generator, side: Side, card: int) -> Drawn:
    """Ask how many cards are of one of three colours: one to three are."""
    del side
    colours, places = _colours(rng), _places(rng, most=3)
    others = [name for name in TOLD_APART if name not in colours]
    named = [colours[place] for place in places] + [str(name) for name in rng.choice(others, 3 - len(places), False)]
    first, second, last = (str(name) for name in rng.permutation(named))
    asked = f"How many cards are {first}, {second} or {last}?"
    return _counted(colours, _printed(rng), card, asked, {place: PLACES[place] for place in places}, places)


def _count_numbers(rng: np.random.Generator, side: Side, card: int) -> Drawn:
    """Ask how many cards show a handwritten number, beside printed forms: one to four do."""
    places = _places(rng, most=4)
    sheets = [number(rng, (), side) if place in places else _form(rng) for place in range(4)]
    marks = {place: part(place, sheets[place].prints[0], card) for place in places}
    return _counted(_colours(rng), sheets, card, "How many cards show only a number?", marks, places)


def _count_words(rng: np.random.Generator, side: Side, card: int) -> Drawn:
    """Ask on how many forms a field stands: on one to four, and only all four of them tell."""
    del side
    field, places = str(rng.choice(FIELDS)), _places(rng, most=4)
    sheets: list[Sheet] = []
    while len(sheets) < 4:
        one = _form(rng)
        if (field in dict(one.rows)) == (len(sheets) in places):
            sheets.append(one)
    marks = {
        place: part(place, next(piece for piece in sheets[place].prints if piece.text == field), card)
        for place in places
    }
    return _counted(_colours(rng), sheets, card, f"On how many cards does it say {field}?", marks, range(4))


def _neighbour(rng: np.random.Generator, side: Side, card: int) -> Drawn:
    """Ask which card lies beside another."""
    del side
    colours, (place, other, words) = _colours(rng), _beside(rng)
    asked, answer = f"Which card is {words} the {colours[place]} one?", colours[other]
    parts = (PLACES[place], PLACES[other])
    return Drawn(colours, _printed(rng), card, asked, answer, asked, (other,), parts, (answer,) * 4)


def _corner(rng: np.random.Generator, side: Side, card: int) -> Drawn:
    """Ask in which corner a card lies."""
    del side
    colours, place = _colours(rng), int(rng.integers(4))
    asked, answer = f"In which corner is the {colours[place]} card?", CORNERS[place]
    return Drawn(colours, _printed(rng), card, asked, answer, asked, (place,), (PLACES[place],), (answer,) * 4)


def _which(rng: np.random.Generator, colours: Sequence[str], related: bool) -> tuple[int, str]:
    """The place of a card, and the words for it: by its own colour, or by a neighbour's."""
    if not related:
        place = int(rng.integers(4))
        return place, f"the {colours[place]} card"
    place, other, words = _beside(rng)
    return other, f"the card {words} the {colours[place]} one"


def _digits(rng: np.random.Generator, side: Side, card: int, related: bool) -> Drawn:
    """Ask for the handwritten number on a card."""
    colours, sheets = _colours(rng), _numbers(rng, side)
    place, which = _which(rng, colours, related)
    told, parts = tuple(one.text for one in sheets), (part(place, sheets[place].prints[0], card),)
    asked = f"Which number is on {which}?"
    return Drawn(colours, sheets, card, asked, told[place], "Which number is it?", (place,), parts, told)


def _line(rng: np.random.Generator, side: Side, card: int, related: bool) -> Drawn:
    """Ask for the first or the second line of a card."""
    del side
    colours, sheets = _colours(rng), _printed(rng)
    place, which = _which(rng, colours, related)
    k = int(rng.integers(2))
    told = tuple(" ".join(one.rows[k]) for one in sheets)
    parts = tuple(part(place, piece, card) for piece in sheets[place].prints[2 * k : 2 * k + 2])
    again = f"What is in line {k + 1}"
    return Drawn(colours, sheets, card, f"{again} of {which}?", told[place], f"{again}?", (place,), parts, told)


MAKERS: dict[str, Maker] = {
    "count/easy": _count_frames,
    "count/medium": _count_numbers,
    "count/hard": _count_words,
    "relation/easy": _neighbour,
    "relation/medium": partial(_digits, related=True),
    "relation/hard": partial(_line, related=True),
    "attribute/easy": _corner,
    "attribute/medium": partial(_digits, related=False),
    "attribute/hard": partial(_line, related=False),
}
"""How each kind of task is drawn, by ``skill/difficulty``."""
