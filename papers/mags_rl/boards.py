"""Describe a board of four cards: the prompt shows where they lie, a magnified crop what they say.

A card has 70 pixels on a side of the board, half of what the base was taught to read: it says which card is where, but
reads none. A crop of one card, twice as large, it reads in seven cases of ten. Fewer pixels a card (``card=35``) are a
harsher source, that has to be enlarged four times.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from pictures.documents import (
    CORNERS,
    FRAME,
    FRAMES,
    HANDWRITTEN,
    SIDE,
    Print,
    Sheet,
    font,
)
from pictures.scenes import COLOURS

Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of the board's sides."""

CARD = 70
"""Pixels of a card's side on the board that crops are cut from, unless told otherwise."""
TOLD_APART = tuple(name for name in FRAMES if name != "orange")
"""Colours of frames: the base takes orange for red or yellow."""
PLACES: tuple[Box, ...] = ((0.0, 0.0, 0.5, 0.5), (0.5, 0.0, 1.0, 0.5), (0.0, 0.5, 0.5, 1.0), (0.5, 0.5, 1.0, 1.0))
"""Boxes of the four cards, in the order of :data:`pictures.documents.CORNERS`."""


@dataclass(frozen=True)
class Drawn:
    """One board and a question about it whose answer is known.

    Attributes:
        colours: of the frames, by place.
        sheets: what lies in them.
        card: pixels of a card's side.
        question: what is asked.
        answer: the gold answer.
        again: the question as it is put to the crop of one card.
        looks: places of the cards to look at.
        parts: boxes of what decides the answer.
        told: what each card alone would answer; of a count, 1 or 0.
        count: the true number, where something is counted.
    """

    colours: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    card: int
    question: str
    answer: str
    again: str
    looks: tuple[int, ...]
    parts: tuple[Box, ...]
    told: tuple[str, ...]
    count: int | None = None

    @property
    def key(self) -> str:
        """Text with all that the board says."""
        return "board " + "; ".join(f"{name} {one.text}" for name, one in zip(self.colours, self.sheets, strict=True))

    @property
    def seen(self) -> str:
        """Places of the cards, in the words of the base: ``green top left, red top right, …``."""
        return ", ".join(f"{colour} {corner}" for colour, corner in zip(self.colours, CORNERS, strict=True))

    @property
    def share(self) -> float:
        """Of the board's pixels: the smallest part that decides the answer."""
        return min((right - left) * (bottom - top) for left, top, right, bottom in self.parts)

    @property
    def original(self) -> Image.Image:
        """The board as crops are cut from it."""
        board = Image.new("RGB", (2 * self.card, 2 * self.card), "white")
        edge, inner = frame_of(self.card)
        for place, (colour, one) in enumerate(zip(self.colours, self.sheets, strict=True)):
            x, y = place % 2 * self.card, place // 2 * self.card
            board.paste(COLOURS[colour], (x, y, x + self.card, y + self.card))
            board.paste(one.image.resize((inner, inner), Image.Resampling.LANCZOS), (x + edge, y + edge))
        return board

    @property
    def image(self) -> Image.Image:
        """The board as the prompt shows it, of the size of a sheet."""
        board, shrinks = self.original, 2 * self.card > SIDE
        how = Image.Resampling.LANCZOS if shrinks else Image.Resampling.BICUBIC
        return board if board.width == SIDE else board.resize((SIDE, SIDE), how)


def frame_of(card: int) -> tuple[int, int]:
    """Width of a card's frame, and side of the sheet in it, in pixels."""
    edge = round(FRAME * card / CARD)
    return edge, card - 2 * edge


def without_frame(place: int, card: int) -> Box:
    """The box of the sheet at a place, without its frame."""
    left, top, right, bottom = PLACES[place]
    edge = frame_of(card)[0] / (2 * card)
    return left + edge, top + edge, right - edge, bottom - edge


def part(place: int, one: Print, card: int) -> Box:
    """The box of one piece of writing on a card.

    Args:
        place: of the card.
        one: the writing, as it stands on the sheet.
        card: pixels of a card's side.
    """
    if one.font == HANDWRITTEN:
        x1, y1, x2, y2 = 0.0, 0.0, float(len(one.text) * one.size), float(one.size)
    else:
        x1, y1, x2, y2 = font(one.font, one.size).getbbox(one.text)
    left, top, right, _ = without_frame(place, card)
    scale = (right - left) / SIDE
    x, y = one.xy
    return left + (x + x1) * scale, top + (y + y1) * scale, left + (x + x2) * scale, top + (y + y2) * scale
