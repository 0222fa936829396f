"""Tools that write a diagram and a text as statements, and tools that solve them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from PIL import Image

from visual_tools.charts.table import number
from visual_tools.geometry.diagram import Diagram, read_diagram
from visual_tools.geometry.equations import solve_equations
from visual_tools.geometry.forms import Form, read_form, read_forms, written
from visual_tools.geometry.golden import circle, right_triangle
from visual_tools.geometry.primitives import Drawing, drawing
from visual_tools.geometry.solver import solve
from visual_tools.geometry.text import is_geometry, read_goal, read_text
from visual_tools.tool import Arguments, Golden, PureTool
from visual_tools.words import read_words

TEXT = {"type": "string", "minLength": 1}
ABOUT = MappingProxyType({"about": TEXT})
READ = "Lines by Hough's transform, circles by trying points, letters and numbers by OCR"


def chosen(forms: Iterable[Form], about: str) -> tuple[Form, ...]:
    """The forms in which all letters of ``about`` occur; all of them if it is empty."""
    return tuple(one for one in forms if set(about) <= set(_letters(one)))


def _letters(one: Form) -> str:
    return "".join(map(_letters, one.args)) if one.args else one.name


class Statements(PureTool):
    """Writes what was read as statements."""

    family = "diagrams"
    language = "cdl"

    def told(self, forms: Iterable[Form], arguments: Arguments) -> str:
        """The statements that are asked for, in the tool's language."""
        about = arguments.get("about", "")
        found = chosen(forms, about)
        if not found:
            raise ValueError(f"{self.name}: no statement{f' about {about!r}' if about else ''} was found")
        return written(found, self.language)


class FromDiagram(Statements):
    """Writes what a diagram states."""

    properties = ABOUT

    def look(self, image: Any, arguments: Arguments) -> Diagram:
        """Read the diagram."""
        return diagram_of(self.name, image)


def diagram_of(name: str, image: Image.Image) -> Diagram:
    """Read a diagram, or say under a tool's name why it can't be read."""
    try:
        return read_diagram(image, read_words(image))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def text_of(name: str, text: str) -> tuple[Form, ...]:
    """Read a text, or say under a tool's name what in it can't be read."""
    try:
        return read_text(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


class ImageCDL(FromDiagram):
    """Writes what is written in a diagram as CDL: lengths, angles, right angles; `about` some letters, such as AB."""

    name = "cdl.image"
    algorithm = f"{READ}; a number belongs to the nearest line, with a sign of degrees to the angle it stands in."
    goldens = (Golden({"about": "BC"}, "RightAngle(ABC); Equal(LengthOfLine(BC),4)", right_triangle),)

    def answer(self, seen: Diagram, arguments: Arguments) -> str:
        """Say what is written in it."""
        return self.told(seen.written, arguments)


class ConstructionCDL(FromDiagram):
    """Writes how a diagram is built as CDL: shapes, points on lines and circles; `about` some letters."""

    name = "cdl.construction"
    algorithm = f"{READ}; shapes are triangles and quadrilaterals whose sides are all drawn."
    goldens = (Golden({}, "Shape(AB,BC,CA)", right_triangle),)

    def answer(self, seen: Diagram, arguments: Arguments) -> str:
        """Say how it is built."""
        return self.told(seen.construction, arguments)


class DiagramFormalizer(FromDiagram):
    """Writes all of a diagram as CDL: how it is built and what is written; `about` some letters."""

    name = "diagramformalizer.parse"
    algorithm = f"{READ}; cdl.construction and cdl.image one after the other."
    goldens = (
        Golden(
            {},
            "Shape(AB,BC,CA); RightAngle(ABC); Equal(LengthOfLine(AB),3); Equal(LengthOfLine(BC),4)",
            right_triangle,
        ),
    )

    def answer(self, seen: Diagram, arguments: Arguments) -> str:
        """Both, one after the other."""
        return self.told((*seen.construction, *seen.written), arguments)


class Parse(FromDiagram):
    """Writes a diagram, and a `text` if one is given, as Inter-GPS's logic forms; `about` some letters."""

    name = "intergps.parse"
    algorithm = f"{READ}; the text by patterns, as cdl.text."
    language = "forms"
    properties = MappingProxyType({**ABOUT, "text": TEXT})
    goldens = (
        Golden(
            {"about": "AB", "text": "AB = 3"},
            "Equals(LengthOf(Line(A, B)), 3); Line(A, B); RightAngle(Angle(A, B, C))",
            right_triangle,
        ),
    )

    def answer(self, seen: Diagram, arguments: Arguments) -> str:
        """The text's forms, then the diagram's."""
        stated = text_of(self.name, arguments.get("text", ""))
        return self.told(dict.fromkeys((*stated, *seen.forms)), arguments)


class TextCDL(Statements):
    """Writes what a problem's `text` states as CDL; `about` some letters."""

    name = "cdl.text"
    algorithm = (
        "Patterns of the phrases that geometry problems use; what none matches is refused by name if it stands in a "
        "sentence with points or numbers, and left out otherwise."
    )
    properties = MappingProxyType({"text": TEXT, **ABOUT})
    required = ("text",)
    needs_image = False
    goldens = (
        Golden(
            {"text": "Triangle ABC has AB = 5 and AB ⊥ BC. Find AC."},
            "Triangle(ABC); Equal(LengthOfLine(AB),5); PerpendicularBetweenLine(AB,BC)",
        ),
    )

    def look(self, image: Any, arguments: Arguments) -> tuple[Form, ...]:
        """Read the text."""
        return text_of(self.name, arguments["text"])

    def answer(self, seen: tuple[Form, ...], arguments: Arguments) -> str:
        """Say what it states."""
        return self.told(seen, arguments)


class GoalCDL(Statements):
    """Writes what a problem's `text` asks for as CDL."""

    name = "cdl.goal"
    algorithm = "Patterns over the text from its question on."
    properties = MappingProxyType({"text": TEXT})
    required = ("text",)
    needs_image = False
    goldens = (Golden({"text": "Triangle ABC has AB = 5. Find the measure of ∠ACB."}, "Value(MeasureOfAngle(ACB))"),)

    def look(self, image: Any, arguments: Arguments) -> tuple[Form, ...]:
        """Read the question."""
        try:
            return (read_goal(arguments["text"]),)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def answer(self, seen: tuple[Form, ...], arguments: Arguments) -> str:
        """Say what it asks."""
        return self.told(seen, arguments)


class Solver(PureTool):
    """Says a problem's value."""

    family = "solvers"

    def look(self, image: Any, arguments: Arguments) -> Fraction | float:
        """Solve it, or say under the tool's name why it can't be solved."""
        try:
            return self.solved(image, arguments)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    def solved(self, image: Any, arguments: Arguments) -> Fraction | float:
        """The problem's value; by default of the question's text and the diagram."""
        seen = read_diagram(image, read_words(image))
        return solve((*read_text(arguments["question"]), *seen.forms), read_goal(arguments["question"]))

    def answer(self, seen: Fraction | float, arguments: Arguments) -> str:
        """The value, three decimals at most; a small one in three significant figures."""
        return number(seen)


class SolveForms(Solver):
    """Solves `forms`, Inter-GPS's logic forms parted by semicolons, for a `goal` such as LengthOf(Line(A, B))."""

    name = "intergps.solve"
    algorithm = "Theorems as equations, solved one unknown at a time by sympy."
    properties = MappingProxyType({"goal": TEXT, "forms": TEXT})
    required = ("goal", "forms")
    needs_image = False
    goldens = (
        Golden(
            {
                "forms": "RightAngle(Angle(A, B, C)); Equals(LengthOf(Line(A, B)), 3); Equals(LengthOf(Line(B, C)), 4)",
                "goal": "Find(LengthOf(Line(A, C)))",
            },
            "5",
        ),
    )

    def solved(self, image: Any, arguments: Arguments) -> Fraction | float:
        """The goal's value."""
        return solve(read_forms(arguments["forms"]), read_form(arguments["goal"]))


class SolveDiagram(Solver):
    """Solves a geometry `question` about a diagram."""

    name = "gllava.solve"
    algorithm = "intergps.parse and intergps.solve one after the other: no model answers."
    properties = MappingProxyType({"question": TEXT})
    required = ("question",)
    goldens = (Golden({"question": "Find the length of AC in triangle ABC."}, "5", right_triangle),)


class SolveText(Solver):
    """Solves a `question` that its text states alone: geometry in words, equations, arithmetic."""

    name = "multimath.solve"
    algorithm = "Equations and arithmetic by sympy; geometry as intergps.solve, from cdl.text's statements alone."
    properties = MappingProxyType({"question": TEXT})
    required = ("question",)
    needs_image = False
    goldens = (
        Golden({"question": "2x + 3 = 11. What is x?"}, "4"),
        Golden({"question": "Triangle ABC has a right angle at B. AB = 6 and BC = 8. Find AC."}, "10"),
    )

    def solved(self, image: Any, arguments: Arguments) -> Fraction | float:
        """The value: of geometry if there is any in the text, else of its equations."""
        question = arguments["question"]
        if not is_geometry(question):
            return solve_equations(question)
        stated, goal = read_text(question), read_goal(question)
        if not stated:
            raise ValueError(f"{question[:60]!r} holds no equation and no arithmetic that could be worked out")
        return solve(stated, goal)


class Primitives(PureTool):
    """Finds straight lines and circles; with `shape`, only those: their ends, or middle and radius, in pixels."""

    name, family = "opencv.primitives", "charts"
    algorithm = "Lines by Hough's transform, merged; circles by trying points: both checked against the ink."
    properties = MappingProxyType({"shape": {"enum": ["line", "circle"]}})
    goldens = (Golden({"shape": "circle"}, "circle (120, 100) radius 60", circle),)

    def look(self, image: Any, arguments: Arguments) -> Drawing:
        """Find lines and circles."""
        return drawing(image)

    def answer(self, seen: Drawing, arguments: Arguments) -> str:
        """Each with its places."""
        wanted = arguments.get("shape", "")
        said = []
        if wanted != "circle":
            said += [f"line {_place(one.start)} to {_place(one.end)}" for one in seen.strokes]
        if wanted != "line":
            said += [f"circle {_place(ring.middle)} radius {round(ring.radius)}" for ring in seen.rings]
        return "; ".join(said) or f"no {wanted or 'line and no circle'}"


def _place(place: tuple[float, float]) -> str:
    return f"({round(place[0])}, {round(place[1])})"
