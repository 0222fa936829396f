"""Short answers: numbers however written, options by their letter, tolerances as shares or in its own unit."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Episode, Task, Turn
from kit.rewards.answers import LONGEST, alike, answer_alone, begins, holds, is_right, number, option


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("1,200", "1200.0", True),
        ("1.5", "15", False),
        ("$1,200", "1200", True),
        ("a cat", "The cat.", True),
        ("B. red", "B", True),
        ("42", "40 ± 5 %", True),
        ("42.1", "40 ± 5 %", False),
        ("40.5", "40 ± 0.5", True),
        ("40.6", "40 ± 0.5", False),
        ("−39.5", "-40 ± 0.5", True),
        ("forty", "40 ± 0.5", False),
        ("à", "À", True),  # a letter, but no option's
    ],
)
def test_what_is_alike(answer: str, gold: str, right: bool) -> None:
    assert is_right(answer, (gold,)) is right


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        *(("2√3 cm", "2√3", True), (r"2\sqrt{3}\text{ cm}", r"2\sqrt{3}", True), ("6π", "6π cm", True)),
        *(("24√3 square units", "24√3", True), ("24√3 cm^2", "24√3", True), ("5√2 m", "5√2", True)),
        *(("2√3 cm", "2√3 m", False), ("24√3 cm^2", "24√3 cm", False), ("6π cm", "6 cm", False)),
        *(("2√3 cm", "3√3", False), ("√2 apples", "√2", False), ("2√3 cm", "3.4641 ± 0.1 %", True)),
        *(("AB = 5", "5", True), ("5", "AB = 5", True), ("m∠A = 30", "30", True), ("∠ABC = 30°", "30", True)),
        *(("≈ 3.14", "3.14", True), ("AB = -5", "5", False), ("m∠A = 30", "-30", False), ("AB < 5", "5", False)),
        *(("AB = CD = 5", "5", False), ("y-2x=1", "y=2x+1", True), ("IS = B", "B", False)),
        *((r"\{1,2\}", r"\{2,1\}", True), ("{1,-2}", "{-2,1}", True), ("{a, b}", "{b, a}", True)),
        *(("{1,2}", "{1,3}", False), ("{1,1}", "{1,2}", False), ("{1,-2}", "{2,1}", False), ("(1,2)", "(2,1)", False)),
    ],
)
def test_a_formula_may_have_a_unit_and_a_name_and_a_set_has_no_order(answer: str, gold: str, right: bool) -> None:
    assert is_right(answer, (gold,)) is right


FIELD = tomllib.loads(Path(__file__).with_name("field.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("answer", "gold", "right"), FIELD["same"])
def test_what_came_from_models_is_right_where_it_says_the_gold_answer(answer: str, gold: str, right: bool) -> None:
    assert is_right(answer, (gold,)) is right


@pytest.mark.parametrize(("answer", "gold", "held"), FIELD["held"])
def test_what_is_denied_or_part_of_more_is_not_held(answer: str, gold: str, held: bool) -> None:
    assert holds(answer, gold) is held


BY_HAND = tomllib.loads(Path(__file__).with_name("answers.toml").read_text(encoding="utf-8"))


def test_a_hundred_and_twenty_pairs_by_hand() -> None:
    pairs = [(name, *pair) for name, some in BY_HAND.items() for pair in some]
    wrong = [pair for pair in pairs if is_right(pair[1], (pair[2],)) is not pair[3]]
    assert (len(pairs), wrong) == (120, [])


def test_of_the_pairs_each_says_the_same_the_other_way_round() -> None:
    """But for options and errors, which belong to a gold answer alone."""
    pairs = [(a, g, right) for some in BY_HAND.values() for a, g, right in some if len(g) > 1 < len(a) and "±" not in g]
    assert [(a, g) for a, g, right in pairs if bool(alike(g, a)) is not right] == []


# fmt: off
SIGNED = (
    "1/2", "5.2M", "$1.5 billion", "x=-3", "(2,-3)", "(-2, 3)", "C++", "C#", "A+", "A-", "Na+", "Cl-", "x<3", "x > 3",
    "<", ">5", "10:30", "1:2", "2/10/1986", "10^6", "x^2", "1.5", ".05", "-0.5", "2010-2015", "555-1234", "-√3", "2√3",
    "5!", "3+4", "3 - 4", "x+1", "a-b", "a/b", "km/h", "-5 to 5", "-x", "±3", "∠A", r"\frac{-1}{2}", "1 1/2", "-1½",
    "4 × 5", "3*4", "|x|", "1.2.3", "5'10", "y=2x-1", "T < -3 °C", "version 1.2", "-∞", "=",
)
# fmt: on


@pytest.mark.parametrize("gold", SIGNED)
def test_a_sign_that_is_left_out_is_wrong(gold: str) -> None:
    """Each sign in its turn, and all of them; and where it is the answer that has them."""
    signs = [k for k, sign in enumerate(gold) if sign in "-+/.:^<>√!#±∠=×*|'½"]
    less = [gold[:k] + gold[k + 1 :] for k in signs] + ["".join(c for k, c in enumerate(gold) if k not in signs)]
    assert [text for text in less if is_right(text, (gold,))] == []
    assert [text for text in less if len(text.strip()) > 1 and is_right(gold, (text,))] == []
    assert is_right(gold, (gold,)) and is_right(f" {gold} ", (gold,))


@pytest.mark.parametrize("gold", ["the", "The", "an", "a an", "?", ".", "...", "-", "—", "()", "$", "%", "[ ]", "。"])
@pytest.mark.parametrize("answer", ["", " ", "!", ",", "it?", "a"])
def test_normalising_never_empties_a_side(gold: str, answer: str) -> None:
    assert not is_right(answer, (gold,)) and not holds(answer, gold) and is_right(gold, (gold,))


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        *((text, "B") for text in ("B", "b", "(B)", "B.", "B)", "[B]"[1:2], "**B**", "B. red", "B: red", "(b) red")),
        *((text, "B") for text in ("Answer: B", "The answer is (B).", "Option B", "\\boxed{B}", "$B$", "\\text{B}")),
        *((text, "B") for text in ("B. Vitamin C", "B. F", "B. A. Lincoln", "B. A and C", "B. 5 a.m.", "B) Plan A.")),
        ("A. J. R. R. Tolkien", "A"),
        ("A. U.S.A.", "A"),
        *((text, "") for text in ("A. B. C. D.", "A, B, C, D", "A B C D", "ABCD", "A.B.C.D.", "A/B", "A|B|C", "A & B")),
        *((text, "") for text in ("(A) (B) (C)", "(A)(B)(C)", "A) B)", "D. C. B. A.", "a. b. c.", "A. or B.")),
        *((text, "") for text in ("A. red B. blue", "A) 1, B) 2, C) 3", "A. red\nB. blue\nC. green", "A: 1; B: 2")),
        *((text, "") for text in ("Answer: A, B", "Options A, B", "\\boxed{A, B}", "**A.** **B.**", "A. 5 cm B. 6 cm")),
        *((text, "") for text in ("", "red", "A cat", "I", "Both", "C++")[:3]),
    ],
)
def test_which_option_an_answer_names(answer: str, names: str) -> None:
    """One that lists several answers nothing."""
    assert option(answer) == names
    assert not is_right(answer, ("A",)) or names == "A"


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        *(("[B]", "B"), ('"B"', "B"), ("'b'", "B"), ("`B`", "B"), ("<B>", "B"), ("{B}", "B"), ("**B**.", "B")),
        *(("B!", "B"), ("B?", "B"), ("B;", "B"), ("B。", "B"), ("B、", "B"), ("“B”", "B")),
        *(("B because it is red", "B"), ("The answer is C because I computed it.", "C"), ("(B), since", "B")),
        *(("The answer is B, not A.", "B"), ("B and not C", "B"), ("B rather than C", "B"), ("B – a dog", "B")),
        *(("B'", ""), ("B+", ""), ("C#", ""), ("[A, B]", ""), ("B as well as C", ""), ("not B", "")),
        *(("A not so small dog", ""), ("A cat", ""), ("B - 3", ""), ("A - B", ""), ("B, not sure", "")),
    ],
)
def test_marks_about_an_option_and_reasons_after_it_are_none(answer: str, names: str) -> None:
    assert option(answer) == names


@pytest.mark.parametrize(
    ("answer", "gold", "held"),
    [
        ("it is $1,200 today", "1200", True),
        ("The cat, I think", "the cat", True),
        ("temperature -5", "5", False),
        ("at 10:30", "30", False),
        ("1/2 of it", "2", False),
        ("2010-2015", "2010", False),
        ("3.5", "35", False),
        ("C, I think", "C++", False),
        ("", "the", False),
    ],
)
def test_what_an_answer_holds(answer: str, gold: str, held: bool) -> None:
    assert holds(answer, gold) is held


def test_how_an_answer_begins() -> None:
    assert begins("The 3 cats are here", "3 cats") and begins("-3, says he", "-3")
    assert not begins("-3", "3") and not begins("3.5 cats", "3") and not begins("3/4", "3") and not begins("?", "")


HOSTILE = {
    "brackets": "(" * 10_000,
    "powers": "9**9**9**9",
    "tower": "9^{9^{9^{9}}}",
    "nested powers": "(((x+1)^10)^10)^10",
    "million digits": "9" * 10**6,
    "million signs": "-" * 10**6,
    "million spaces": " " * 10**6,
    "groups": "1" + ",111" * 250_000,
    "fractions": "\\frac{" * 10_000,
    "texts": "\\text{" * 10_000,
    "roots": "√" * 30 + "2",
    "options": "A. B. " * 10_000,
    "exponent": "1e999999999",
    "no number": "1/0",
    "surrogate": "\ud800" * 9,
    "digits and no formula": "9" * 70 + "é",
    "polynomial": "(x+y+z+a+b)^8",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_judged(text: str) -> None:
    """None of it is computed: what isn't short and plain is compared as it stands."""
    others = ("2√3", "x+1", "5", "A", "40 ± 5 %")
    found = [is_right(text, (other,)) or is_right(other, (text,)) for other in others]
    held = holds(text, "2√3") or begins(text, "2√3")
    itself, valued, named = is_right(text, (text,)), number(text) is not None, option(text)
    assert (found, held, itself, valued, named) == ([False] * 5, False, True, False, "")  # a million signs aren't shown


def test_a_text_that_is_very_long_is_right_as_it_stands() -> None:
    assert is_right("5" + " " * (LONGEST - 1), ("5",)) and not is_right("5" + " " * LONGEST, ("5",))


NOTATION = st.text("0123579-+/.,:^<>=√½×()%$° xABcm", max_size=9)


@given(NOTATION, NOTATION)
def test_what_is_alike_is_so_the_other_way_round(one: str, two: str) -> None:
    """A letter alone is an option's, and belongs to the gold answer."""
    if all(len(text.strip()) > 1 or not text.strip().isalpha() for text in (one, two)):
        assert alike(one, two) == alike(two, one)
    assert alike(one, one) == 1.0


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_a_number_is_itself_in_every_notation_and_never_its_negative(value: Decimal) -> None:
    for text in (f"{value}", f"{value:,}", f"{value} cm", f"${value}$", f"{value}°", f"{value:+}"):
        assert is_right(text, (str(value),)), text
        assert not value or not is_right(text, (str(-value),)), text


@given(st.text(), st.text(min_size=1))
def test_any_text_can_be_judged(answer: str, gold: str) -> None:
    assert alike(answer, gold) in (0.0, 1.0)
    assert number(answer) is None or isinstance(number(answer), float)


@pytest.mark.parametrize(("answer", "total"), [("7.0", 1.0), ("8", 0.0), (None, 0.0)])
def test_an_answer_alone_is_worth_one(answer: str | None, total: float) -> None:
    turn = Turn((), (), "text", None if answer is None else Action("answer", answer))
    score = answer_alone(Episode(Task("t", (), "?", ("7",)), (), (turn,), "answer"), ("7",))
    assert (score.total, score.parts, score.correct) == (total, {"answer": total}, total == 1.0)
