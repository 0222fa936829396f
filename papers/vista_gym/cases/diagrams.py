"""Cases of the tools that write a diagram or a text as statements: the share of statements that are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from papers.vista_gym.cases.case import Case, MakeCase
from visual_tools.drawn.diagrams import Problem, problem
from visual_tools.geometry.diagram import Diagram
from visual_tools.geometry.forms import Form, FormError, cdl, read_form
from visual_tools.geometry.notation import plain


def same(statement: str) -> str:
    """A statement in one spelling: letters of a line, an angle's ends and a shape's start may change places."""
    try:
        return str(_ordered(read_form(statement)))
    except FormError:
        return statement


def _ordered(of: Form) -> Form:
    args = tuple(_ordered(arg) for arg in of.args)
    if of.name in ("Line", "Equals", "Equal", "Parallel", "ParallelBetweenLine", "Perpendicular", "Circle"):
        args = tuple(sorted(args, key=str))
    if of.name == "Angle" and str(args[0]) > str(args[2]):
        args = args[::-1]
    if of.name == "Shape":
        args = tuple(sorted((_turned(arg) for arg in args), key=str))
    if of.name in ("LengthOfLine", "MeasureOfAngle", "Collinear", "RightAngle", "ParallelBetweenLine") and args:
        args = tuple(_turned(arg) for arg in args)
    return Form(f"{float(of.name):g}" if of.name.replace(".", "", 1).isdigit() else of.name, args)


def _turned(of: Form) -> Form:
    return Form(min(of.name, of.name[::-1])) if not of.args else of


def shared(said: str, right: Iterable[str]) -> float:
    """Statements that are said and right, of all that are either."""
    told, due = {same(part) for part in said.split("; ")}, {same(one) for one in right}
    return len(told & due) / max(1, len(told | due))


def _built(drawn: Problem) -> tuple[Form, ...]:
    """How a drawn problem is built, by the rules of the reader, from its known points and lines."""
    plan = drawn.plan
    lines = [name for name in plan.lines if not any(set(name) <= set(on) for on in plan.on)]
    rims: dict[str, str] = {}
    for one in drawn.shown:
        if one.name == "PointLiesOnCircle":
            rims[one.args[1].points] = "".join(sorted(rims.get(one.args[1].points, "") + one.args[0].name))
    return Diagram(drawn.places, (*lines, *plan.on), tuple(rims.items()), ()).construction


def _written(drawn: Problem) -> tuple[Form, ...]:
    return tuple(one for one in drawn.shown if not one.name.startswith("PointLies"))


def _from_image(forms: Callable[[Problem], tuple[Form, ...]]) -> MakeCase:
    def case(rng: np.random.Generator) -> Case:
        drawn = problem(rng)
        right = [cdl(one) for one in forms(drawn)]
        return Case(lambda said: shared(said, right), {}, drawn.image)

    return case


def text(rng: np.random.Generator) -> Case:
    """A text's statements."""
    plan = problem(rng).plan
    return Case(lambda said: shared(said, map(cdl, plan.stated)), {"text": plan.text})


def goal(rng: np.random.Generator) -> Case:
    """A text's goal."""
    plan = problem(rng).plan
    return Case(lambda said: float(same(said) == same(cdl(plan.goal))), {"text": plan.text})


def both(rng: np.random.Generator) -> Case:
    """Diagram and text, in logic forms; lines that are drawn are not counted."""
    drawn = problem(rng)
    right = [str(one) for one in (*drawn.plan.stated, *drawn.shown)]

    def score(said: str) -> float:
        return shared("; ".join(part for part in said.split("; ") if not part.startswith("Line(")), right)

    return Case(score, {"text": plain(drawn.plan.text)}, drawn.image)


CASES: Mapping[str, MakeCase] = {
    "cdl.image": _from_image(_written),
    "cdl.construction": _from_image(_built),
    "cdl.text": text,
    "cdl.goal": goal,
    "intergps.parse": both,
    "diagramformalizer.parse": _from_image(lambda drawn: (*_built(drawn), *_written(drawn))),
}
"""Tool's name → what draws one of its cases."""
