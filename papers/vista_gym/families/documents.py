"""Documents: DocVQA and, outside of the distribution, TABMWP, on drawn pages.

=======  =====================================================  ==========================================
set      asks                                                   by
=======  =====================================================  ==========================================
DocVQA   a field of a form, a line of an invoice                easyocr.read: what stands right of a word
         one cell of a row of a price list                      the same: ``3 12``, of which one is asked
TABMWP   what several cost                                      easyocr.read, then multimath.solve
=======  =====================================================  ==========================================
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from papers.vista_gym.drawn import Drawn, call, one_of, several
from papers.vista_gym.families.pages import page
from pictures import documents
from pictures.documents import GOODS, NAMES, TOWNS

FIELDS = {"name": NAMES, "city": TOWNS, "age": (), "room": (), "desk": (), "seat": ()}
"""Fields of a form and the words that may stand there; none: a number."""


def _beside(label: str, answer: str, question: str, image: Image.Image, key: str) -> Drawn:
    """A question that what stands right of a word answers."""
    wrong = call("unichart.to_table", of=label)
    return Drawn(image, question, answer, key, (call("easyocr.read", after=label),), wrong)


def form(rng: np.random.Generator) -> Drawn:
    """Ask for a field of a form."""
    fields = several(rng, list(FIELDS), int(rng.integers(3, 7)))
    rows = [(f, one_of(rng, FIELDS[f]) if FIELDS[f] else str(rng.integers(2, 1000))) for f in fields]
    label, answer = one_of(rng, rows)
    question = one_of(rng, ("What is the {0}?", "Which {0} is on the form?", "What stands beside {0}?")).format(label)
    image = page(rng, rows, one_of(rng, ("Form", "Booking", "Entry", "")), ruled=rng.random() < 0.5)
    return _beside(label, answer, question, image, f"form {rows}")


def invoice(rng: np.random.Generator) -> Drawn:
    """Ask for a line of an invoice, or for its total."""
    prices = [int(v) for v in rng.integers(2, 400, int(rng.integers(4, 8)))]
    rows = [*zip(several(rng, GOODS, len(prices)), map(str, prices), strict=True), ("total", str(sum(prices)))]
    label, answer = one_of(rng, rows)
    asked = ("What does the {0} cost?", "How much is the {0}?", "Which price has the {0}?")
    question = "What is the total?" if label == "total" else one_of(rng, asked).format(label)
    image = page(rng, rows, one_of(rng, ("Invoice", "Receipt", "Bill", "")), ruled=rng.random() < 0.3)
    return _beside(label, answer, question, image, f"invoice {rows}")


def cell(rng: np.random.Generator) -> Drawn:
    """Ask for one of two cells of a row of a list."""
    goods = several(rng, GOODS, int(rng.integers(4, 7)))
    rows = [(name, str(rng.integers(2, 10)), str(rng.integers(11, 400))) for name in goods]
    row, column = one_of(rng, rows), int(rng.integers(2))
    question = ("How many of the {0} are there?", "What does the {0} cost?")[column].format(row[0])
    image = page(rng, [("item", "count", "cost"), *rows])
    return _beside(row[0], row[1 + column], question, image, f"list {rows}")


def docvqa(rng: np.random.Generator) -> Drawn:
    """Any of these."""
    return one_of(rng, (form, invoice, invoice, cell))(rng)


def tabmwp(rng: np.random.Generator) -> Drawn:
    """Ask what several of a thing on a price list cost."""
    names = several(rng, GOODS, int(rng.integers(3, 6)))
    rows = [(name, str(rng.integers(3, 50))) for name in names]
    (name, price), n = one_of(rng, rows), int(rng.integers(2, 10))
    image = page(rng, [("item", "each"), *rows], ruled=True, size=(520, 420))
    question = f"What do {n} of the {name} cost together?"
    right = (call("easyocr.read", after=name), call("multimath.solve", question=f"{n} * {price}"))
    wrong = call("multimath.solve", question=question)
    return Drawn(image, question, str(n * int(price)), f"prices {rows}", right, wrong)


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask for one value of a receipt or form whose letters are large."""
    one = (documents.receipt if rng.random() < 0.5 else documents.form)(rng, ())
    asked = [(question, answer) for question, answer in one.questions if " in line " not in question]
    question, answer = one_of(rng, asked)
    return Drawn(one.image, question, answer, f"sheet {one.kind} {one.text}")
