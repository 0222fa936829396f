"""Cases of the solvers: drawn problems with a known answer, in forms, with a diagram, or in words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from papers.vista_gym.cases.case import Case, MakeCase
from visual_tools.charts.table import number
from visual_tools.drawn.diagrams import problem
from visual_tools.geometry.forms import written


def right(said: str, value: float) -> float:
    """Check a number against an answer: within half a percent, which is what two decimals tell."""
    return float(re.fullmatch(r"-?\d+(?:\.\d+)?", said) is not None and abs(float(said) - value) <= 0.005 * abs(value))


def forms(rng: np.random.Generator) -> Case:
    """A problem's statements, from text and diagram, in logic forms."""
    drawn = problem(rng)
    asked = {"forms": written((*drawn.plan.stated, *drawn.shown)), "goal": str(drawn.plan.goal)}
    return Case(lambda said: right(said, drawn.plan.answer), asked)


def diagram(rng: np.random.Generator) -> Case:
    """The text beside its diagram."""
    drawn = problem(rng)
    return Case(lambda said: right(said, drawn.plan.answer), {"question": drawn.plan.text}, drawn.image)


def words(rng: np.random.Generator) -> Case:
    """Two in three: a problem whose measures are in its text; one in three: an equation."""
    if rng.random() < 1 / 3:
        a, x, b = (int(v) for v in rng.integers(2, 20, 3))
        return Case(lambda said: right(said, x), {"question": f"Solve {a}x + {b} = {a * x + b} for x."})
    plan = problem(rng).plan
    told = [f"{name} = {number(value)}." for name, value in plan.lengths.items()]
    told += [f"Angle {name} = {value}°." for name, value in plan.angles.items()]
    stated, _, asked = plan.text.rpartition(". ") if ". " in plan.text else ("", "", plan.text)
    question = " ".join([f"{stated}." if stated else "", *told, asked]).strip()
    return Case(lambda said: right(said, plan.answer), {"question": question})


CASES: Mapping[str, MakeCase] = {"intergps.solve": forms, "gllava.solve": diagram, "multimath.solve": words}
"""Tool's name → what draws one of its cases."""
