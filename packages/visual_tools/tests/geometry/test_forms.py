"""Logic forms are read and written; bad ones are told."""

from __future__ import annotations

import pytest

from visual_tools.geometry.forms import FormError, cdl, read_form, read_forms, written

BOTH = {
    "Equals(LengthOf(Line(A, B)), 5)": "Equal(LengthOfLine(AB),5)",
    "Equals(MeasureOf(Angle(A, B, C)), 2x+3)": "Equal(MeasureOfAngle(ABC),2x+3)",
    "Perpendicular(Line(A, B), Line(C, B))": "PerpendicularBetweenLine(AB,CB)",
    "PointLiesOnLine(D, Line(A, B))": "Collinear(ADB)",
    "PointLiesOnCircle(A, Circle(O))": "Cocircular(O,A)",
    "Find(LengthOf(Line(A, C)))": "Value(LengthOfLine(AC))",
    "Find(AreaOf(Rectangle(A, B, C, D)))": "Value(AreaOfQuadrilateral(ABCD))",
    "Shape(Line(A, B), Line(B, C), Line(C, A))": "Shape(AB,BC,CA)",
    "RightAngle(Angle(A, B, C))": "RightAngle(ABC)",
    "Equals(LengthOf(Line(A, B)), sqrt(3)/2)": "Equal(LengthOfLine(AB),sqrt(3)/2)",
    "Equals(LengthOf(Line(A, B)), (x+1)*2)": "Equal(LengthOfLine(AB),(x+1)*2)",
}


@pytest.mark.parametrize("text", BOTH)
def test_a_form_is_read_as_it_is_written_and_has_a_cdl(text: str) -> None:
    assert str(read_form(text)) == text
    assert cdl(read_form(text)) == BOTH[text]


def test_forms_are_parted_by_semicolons_and_lines() -> None:
    assert written(read_forms("A(B);C\nD( E,F )")) == "A(B); C; D(E, F)"


@pytest.mark.parametrize("text", ["", "(", "A(", "A(B", "A(,B)", "A)B", "A(B)C", "A(B))", "(" * 50, "A(" * 50])
def test_what_is_no_form_is_told(text: str) -> None:
    with pytest.raises(FormError, match="is no form"):
        read_form(text)


def test_a_text_of_forms_has_a_limit() -> None:
    with pytest.raises(FormError, match="4000 at most"):
        read_forms("A(B);" * 1000)
