"""Boards, for V* and HR-Bench: four cards of which the prompt shows where they lie, and the tools what they say.

A board is 400 pixels wide and each card's sheet 140, as the base was taught to read it: cutting out its box returns it
to the pixel. The prompt shows the board shrunk to 40 pixels and enlarged again: colours stay, letters don't.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from papers.codedance import charts
from papers.codedance.drawn import Box, Drawn, reader
from papers.codedance.sheets import READ, asked_value, drawn_sheet
from pictures.documents import CORNERS, FRAMES, SIDE, Sheet, chart
from pictures.readable import frames
from pictures.scenes import COLOURS

ORIGINAL, SHOWN = 400, 40
"""Sides of a board as the tools open it, and of what of it the prompt can tell."""
EDGES = ((0.05, 0.4), (0.6, 0.95))
"""First and last share of a board's side that the sheets of its two columns, or rows, take."""
PITCH = 14
"""Pixels between two lines of a chart."""
TOLD_APART = tuple(name for name in FRAMES if name != "orange")
"""Colours of frames: the base takes orange for red or yellow."""

WHERE = "Which card is where?"
"""How the base is asked about a board."""


def _board(rng: np.random.Generator, sheets: list[Sheet]) -> tuple[Image.Image, list[str], list[Box]]:
    """Lay four sheets on a board: the board, the colours of their frames and the boxes without the frames."""
    board = Image.new("RGB", (ORIGINAL, ORIGINAL), "white")
    colours = [str(name) for name in rng.choice(TOLD_APART, size=4, replace=False)]
    half, boxes = ORIGINAL // 2, []
    for place, (colour, one) in enumerate(zip(colours, sheets, strict=True)):
        (left, right), (top, bottom) = EDGES[place % 2], EDGES[place // 2]
        x, y = place % 2 * half, place // 2 * half
        board.paste(COLOURS[colour], (x, y, x + half, y + half))
        board.paste(one.image, (round(left * ORIGINAL), round(top * ORIGINAL)))
        boxes.append((left, top, right, bottom))
    return board, colours, boxes


def shown(board: Image.Image) -> Image.Image:
    """A board as the prompt shows it: the detail of :data:`SHOWN` pixels, the size of a sheet."""
    small = board.resize((SHOWN, SHOWN), Image.Resampling.LANCZOS)
    return small.resize((SIDE, SIDE), Image.Resampling.BICUBIC)


def _where(colours: list[str]) -> str:
    return ", ".join(f"{colour} {corner}" for colour, corner in zip(colours, CORNERS, strict=True))


def _key(colours: list[str], sheets: list[Sheet]) -> str:
    return "board " + "; ".join(f"{colour} {one.text}" for colour, one in zip(colours, sheets, strict=True))


def corner(rng: np.random.Generator) -> Drawn:
    """Ask where a card lies: that is seen at once."""
    sheets = [drawn_sheet(rng) for _ in CORNERS]
    board, colours, _ = _board(rng, sheets)
    which = int(rng.integers(4))
    facts = dict(zip(colours, CORNERS, strict=True))
    return Drawn(
        image=shown(board),
        question=f"In which corner is the {colours[which]} card?",
        answer=CORNERS[which],
        key=_key(colours, sheets),
        asks=WHERE,
        seen=_where(colours),
        facts=facts,
        readable=lambda image: frames(image, TOLD_APART) == colours,
        original=board,
    )


def card(rng: np.random.Generator) -> Drawn:
    """Ask for one value of one card, which has to be cut out of the original."""
    sheets = [drawn_sheet(rng) for _ in CORNERS]
    board, colours, boxes = _board(rng, sheets)
    which = int(rng.integers(4))
    one = sheets[which]
    asked, answer = asked_value(rng, one)
    return Drawn(
        image=shown(board),
        question=f"On the {colours[which]} card: {asked}",
        answer=answer,
        key=_key(colours, sheets),
        asks=WHERE,
        seen=_where(colours),
        facts=dict(one.rows),
        readable=reader(one),
        original=board,
        detail=_scaled(max(print_.size for print_ in one.prints)),
        then=READ,
        reading=one.text,
        boxes=(boxes[which],),
    )


def composed(rng: np.random.Generator) -> Drawn:
    """Lay a chart among three sheets: cut it out, then compute. Demonstrations show these steps apart only."""
    sheets, which = [drawn_sheet(rng) for _ in CORNERS], int(rng.integers(4))
    sheets[which] = one = chart(rng, ())
    board, colours, boxes = _board(rng, sheets)
    asked, expression, answer = charts.question(rng, one)
    return Drawn(
        image=shown(board),
        question=f"On the {colours[which]} card: {asked}",
        answer=answer,
        key=_key(colours, sheets),
        asks=WHERE,
        seen=_where(colours),
        facts=dict(one.rows),
        readable=reader(one),
        original=board,
        detail=_scaled(PITCH),
        then=charts.READ,
        reading=one.text,
        boxes=(boxes[which],),
        expression=expression,
    )


def _scaled(height: int) -> float:
    """Pixels that so many of the original's have where the prompt shows it."""
    return height * SHOWN / ORIGINAL
