"""Other: ThinkVL, A-OKVQA and, outside of the distribution, IconQA and MathVista.

=========  =====================================================  ==================================================
set        asks                                                   by
=========  =====================================================  ==================================================
ThinkVL    an equation in the text                                multimath.solve
           one that stands in the image                           easyocr.read, then multimath.solve
A-OKVQA    what a road sign says, of four                         easyocr.read: what stands right of a town
           how many things there are that people use so           groundingdino.detect, task count
IconQA     how many icons of a kind there are, of four            groundingdino.detect, task count
MathVista  a chart's value, an equation, a count                  the tools of those families
=========  =====================================================  ==================================================
"""

from __future__ import annotations

import numpy as np

from papers.vista_gym.drawn import Drawn, Maker, call, near, one_of, options, several
from papers.vista_gym.families import charts, geometry, spatial
from papers.vista_gym.families.pages import label, page
from papers.vista_gym.families.things import AREA, DYES, SHAPES, paper, scatter, told
from pictures import documents
from pictures.documents import TOWNS


def _equation(rng: np.random.Generator) -> tuple[str, str]:
    """A linear equation and what x is."""
    a, b, x = (int(v) for v in rng.integers(2, 20, 3))
    plus = rng.random() < 0.6
    return f"{a}x {'+' if plus else '-'} {b} = {a * x + b if plus else a * x - b}", str(x)


def thinkvl(rng: np.random.Generator) -> Drawn:
    """Ask for x of an equation, told in the text or written in the image."""
    told_, x = _equation(rng)
    image = page(rng, [(told_,)], size=(480, 320))
    if rng.random() < 0.6:
        question = one_of(rng, ("Solve {0} for x.", "What is x if {0}?", "{0}. What is x?")).format(told_)
        return Drawn(
            image,
            question,
            x,
            f"equation {told_}",
            (call("multimath.solve", question=told_),),
            call("cdl.text", text=told_),
        )
    right = (call("easyocr.read"), call("multimath.solve", question=told_))
    wrong = call("gllava.solve", question="What is x?")
    return Drawn(image, "Solve the equation in the image. What is x?", x, f"equation {told_}", right, wrong)


def aokvqa(rng: np.random.Generator) -> Drawn:
    """Ask about a sign by a road: which way, how far."""
    rows = [(town, str(rng.integers(2, 300))) for town in several(rng, TOWNS, int(rng.integers(2, 4)))]
    image = label(rng, [" ".join(row) for row in rows])
    town, far = one_of(rng, rows)
    question = one_of(rng, ("You walk to {0}. How many kilometres are it?", "How far is it to {0}, by the sign?"))
    choices = options(rng, far, [*(value for _, value in rows), *near(rng, far)])
    right, wrong = call("easyocr.read", after=town), call("groundingdino.detect", "count", caption="text")
    return Drawn(image, question.format(town), far, f"road {rows}", (right,), wrong, options=choices)


def iconqa(rng: np.random.Generator) -> Drawn:
    """Ask how many icons of a kind stand on a sheet, of four numbers."""
    image, kinds = paper(rng, (600, 400)), [(one_of(rng, DYES), one_of(rng, SHAPES)) for _ in range(3)]
    icons = scatter(rng, image, [one_of(rng, kinds) for _ in range(int(rng.integers(7, 15)))])
    one = one_of(rng, icons)
    answer = str(sum((icon.colour, icon.shape) == (one.colour, one.shape) for icon in icons))
    right = call("groundingdino.detect", "count", caption=f"{one.colour} {one.shape}")
    question, choices = f"How many {one.colour} {one.shape}s are shown?", options(rng, answer, near(rng, answer))
    return Drawn(image, question, answer, f"icons {told(icons)}", (right,), AREA, options=choices)


def mathvista(rng: np.random.Generator) -> Drawn:
    """A chart, a diagram, an equation or a count, as that benchmark mixes them."""
    makers: tuple[Maker, ...] = (charts.plotqa, geometry.geometry3k, thinkvl, spatial.clevr_math)
    return one_of(rng, makers)(rng)


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask for one line of a receipt whose letters are large."""
    one = documents.receipt(rng, ())
    question, answer = one_of(rng, [pair for pair in one.questions if " in line " in pair[0]])
    return Drawn(one.image, question, answer, f"sheet receipt {one.text}")
