"""Receipts and forms: one value is easy; what must be mended or computed is hard."""

from __future__ import annotations

import numpy as np

from papers.codedance.drawn import Drawn, one_of, reader
from pictures.distortion import NAMES, Kind, distort
from pictures.distortion import draw as draw_distortion
from pictures.documents import Sheet, form, receipt

READ, WRONG = "What does it say?", "What is wrong with it?"
"""How the base is asked about a sheet, and about one that something happened to."""

REPAIRS: dict[Kind, str] = {
    "rotate90": "rotate(image, -90)",
    "rotate180": "rotate(image, 180)",
    "dark": "brighten(image)",
}
"""The one call that mends each distortion."""


def drawn_sheet(rng: np.random.Generator) -> Sheet:
    """A receipt, or a form of two lines: what the base reads best."""
    one = receipt(rng, ()) if rng.random() < 0.5 else form(rng, ())
    return one if one.kind == "receipt" or len(one.rows) == 2 else drawn_sheet(rng)


def asked_value(rng: np.random.Generator, one: Sheet) -> tuple[str, str]:
    """A question about one line of a sheet, by the line's name, and its answer."""
    asked = [(text, answer) for text, answer in one.questions if " in line " not in text]
    return asked[int(rng.integers(len(asked)))]


def value(rng: np.random.Generator) -> Drawn:
    """Ask for one value of a sheet that lies as it should."""
    one = drawn_sheet(rng)
    asked, answer = asked_value(rng, one)
    return Drawn(one.image, asked, answer, f"sheet {one.text}", READ, one.text, dict(one.rows), reader(one))


def hard(rng: np.random.Generator) -> Drawn:
    """Ask about a turned or dark sheet, or for a computation over a receipt's prices, half and half."""
    return _mended(rng) if rng.random() < 0.5 else _computed(rng)


def _mended(rng: np.random.Generator) -> Drawn:
    one = drawn_sheet(rng)
    asked, answer = asked_value(rng, one)
    kind = tuple(REPAIRS)[int(rng.integers(len(REPAIRS)))]
    bad = distort(one.image, [draw_distortion(kind, rng)])
    return Drawn(
        image=bad,
        question=asked,
        answer=answer,
        key=f"sheet {one.text}",
        asks=WRONG,
        seen=NAMES[kind],
        facts=dict(one.rows),
        readable=reader(one),
        then=READ,
        reading=one.text,
        repair=REPAIRS[kind],
    )


def _computed(rng: np.random.Generator) -> Drawn:
    one = receipt(rng, ())
    (first, price), (second, other), _ = ((name, int(value)) for name, value in one.rows)
    n = int(rng.integers(2, 10))
    asked, expression, answer = {
        "several": (f"What do {n} of the {first} cost?", f"{n} * {price}", n * price),
        "extra": (f"What is the total with {n} more for the bag?", f"{price} + {other} + {n}", price + other + n),
        "difference": (
            f"By how much do the prices of {first} and {second} differ?",
            f"{max(price, other)} - {min(price, other)}",
            abs(price - other),
        ),
    }[one_of(rng, ("several", "extra", "difference"))]
    facts, key = dict(one.rows), f"sheet {one.text}"
    return Drawn(one.image, asked, str(answer), key, READ, one.text, facts, reader(one), expression=expression)
