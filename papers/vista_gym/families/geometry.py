"""Geometry: Geometry3K, GeoQA and UniGeo, on diagrams whose points, lines and measures are known.

============  ============================================================  ==========================================
set           asks                                                          by
============  ============================================================  ==========================================
Geometry3K    a side or angle that the diagram alone decides                gllava.solve
              a measure that is written in it                               cdl.image: ``Equal(LengthOfLine(AB),5)``
GeoQA         one of four, text and diagram decide together                 gllava.solve
UniGeo        the same, all measures in the text                            multimath.solve
              in two steps                                                  intergps.parse, then intergps.solve
============  ============================================================  ==========================================
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

from papers.vista_gym.drawn import Drawn, call, near, one_of, options
from papers.vista_gym.families.pages import shade
from pictures.documents import font
from visual_tools.charts.table import number
from visual_tools.drawn.diagrams import Problem, problem
from visual_tools.drawn.diagrams import draw as draw_plan
from visual_tools.drawn.geometry_problems import KINDS, Plan
from visual_tools.geometry.forms import written

ALONE = ("third angle", "right triangle", "thales", "inscribed")
"""Kinds of problems that the diagram decides without a text."""
TOGETHER = ("isosceles", "parallelogram", "rectangle", "parallel", "inscribed")
IN_WORDS = ("third angle", "right triangle", "isosceles", "rectangle")
SHORT = {
    "length": ("Find {0}.", "Find the length of {0}.", "How long is {0}?", "What is the length of {0}?"),
    "angle": ("Find angle {0}.", "What is angle {0}?", "How large is angle {0}?", "Find the measure of angle {0}."),
}
"""How a length or an angle is asked for."""
MEASURED = {"length": ("Which length is written beside {0}?", "How long is {0} by the diagram?")}


def _rule(plan: Plan) -> str:
    return "angle" if "MeasureOf" in str(plan.goal) else "length"


def _key(plan: Plan) -> str:
    return f"diagram {plan.kind} {plan.text} {sorted(plan.lengths.items())} {sorted(plan.angles.items())}"


def _goal(plan: Plan) -> str:
    """The letters that a plan asks for: ``AC``, ``ACB``."""
    return "".join(re.findall(r"\b[A-Z]\b", str(plan.goal)))


def geometry3k(rng: np.random.Generator) -> Drawn:
    """Ask for what follows from a diagram; in one of four, for what is written in it."""
    drawn = problem(rng, ALONE)
    plan = drawn.plan
    if plan.lengths and rng.random() < 0.4:
        return written_in(rng, drawn)
    question = one_of(rng, SHORT[_rule(plan)]).format(_goal(plan))
    right, wrong = call("gllava.solve", question=question), call("multimath.solve", question=question)
    return Drawn(drawn.image, question, number(plan.answer), _key(plan), (right,), wrong, _rule(plan))


def written_in(rng: np.random.Generator, drawn: Problem) -> Drawn:
    """Ask for a length that is written beside its line."""
    name, length = one_of(rng, list(drawn.plan.lengths.items()))
    question = one_of(rng, MEASURED["length"]).format(name)
    right, wrong = call("cdl.image", about=name), call("cdl.construction", about=name)
    return Drawn(drawn.image, question, number(length), _key(drawn.plan), (right,), wrong, "length")


def geoqa(rng: np.random.Generator) -> Drawn:
    """Ask for one of four values that text and diagram decide together."""
    drawn = problem(rng, TOGETHER)
    plan, answer = drawn.plan, number(drawn.plan.answer)
    right, wrong = call("gllava.solve", question=plan.text), call("multimath.solve", question=plan.text)
    choices = options(rng, answer, near(rng, answer))
    return Drawn(drawn.image, plan.text, answer, _key(plan), (right,), wrong, _rule(plan), choices)


def unigeo(rng: np.random.Generator) -> Drawn:
    """Ask for what follows from the text alone, or in two steps."""
    return in_words(rng) if rng.random() < 0.7 else in_two_steps(rng)


def in_words(rng: np.random.Generator) -> Drawn:
    """Tell the measures in the text; the diagram shows only how things lie."""
    plan = KINDS[one_of(rng, IN_WORDS)](rng)
    told = [f"{name} = {number(value)}." for name, value in plan.lengths.items()]
    told += [f"Angle {name} = {value}°." for name, value in plan.angles.items()]
    stated, _, asked = plan.text.rpartition(". ") if ". " in plan.text else ("", "", plan.text)
    question = " ".join([f"{stated}." if stated else "", *told, asked]).strip()
    image = draw_plan(rng, replace(plan, lengths={}, angles={})).image
    right, wrong = call("multimath.solve", question=question), call("cdl.goal", text=question)
    return Drawn(image, question, number(plan.answer), _key(plan), (right,), wrong, _rule(plan))


def in_two_steps(rng: np.random.Generator) -> Drawn:
    """Let one tool write the problem as statements, and another solve them."""
    drawn = problem(rng, TOGETHER)
    plan = drawn.plan
    forms, goal = written((*plan.stated, *drawn.shown)), str(plan.goal)
    right = (call("intergps.parse", text=plan.text), call("intergps.solve", goal=goal, forms=forms))
    wrong = call("multimath.solve", question=plan.text)
    return Drawn(drawn.image, plan.text, number(plan.answer), _key(plan), right, wrong, _rule(plan))


SIDE = 112
"""Pixels of a figure that is read at sight: its number is as large as on a sheet."""


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask for the number on a pale square or triangle."""
    image, said = Image.new("RGB", (SIDE, SIDE), shade(rng, 238, 256)), str(rng.integers(2, 100))
    pen, kind, near_, far = ImageDraw.Draw(image), one_of(rng, ("square", "triangle")), 7, SIDE - 7
    top = [(near_, near_), (far, near_)] if kind == "square" else [(SIDE // 2, near_)]
    pen.polygon([*top, (far, far), (near_, far)], fill=shade(rng, 200, 231))
    low = SIDE // 8 if kind == "triangle" else 0
    pen.text((SIDE // 2, SIDE // 2 + low), said, font=font("DejaVu Sans", 32), fill=shade(rng, 0, 90), anchor="mm")
    return Drawn(image, f"How long is a side of the {kind}?", said, f"{kind} {said}")
