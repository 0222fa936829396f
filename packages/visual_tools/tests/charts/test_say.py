"""What is said of a table, worked out by hand."""

from __future__ import annotations

import pytest

from visual_tools.charts.say import analyze, caption, describe, reply
from visual_tools.charts.served import asked_of, parse_table
from visual_tools.charts.table import NotFound, Table

ONE = Table("bar", "Drinks", "", "", ("tea", "milk", "cola"), ("",), ((30, 60, 15),))
TWO = Table("line", "", "Year", "Sold", ("2019", "2020"), ("Men", "Women"), ((5, 7), (9, None)))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How high is tea?", "30"),
        ("Which drink is the highest?", "milk"),
        ("What is the lowest value?", "15"),
        ("What is the difference between milk and tea?", "30"),
        ("What do tea and cola come to together?", "45"),
        ("What is the average?", "35"),
        ("How many bars are there?", "3"),
    ],
)
def test_questions_are_answered_from_the_table(question: str, answer: str) -> None:
    assert reply(ONE, question) == answer


PLACES = Table(
    "bar", "", "", "", ("York", "New York", "Tea", "Teapot", "Agree", "Strongly agree"), ("",), ((2, 3, 4, 8, 5, 9),)
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the value of New York?", "3"),
        ("What is the total number of New York?", "3"),
        ("What is the sum of York and New York?", "5"),
        ("What is the sum of New York and York?", "5"),
        ("How many strongly agree in total?", "9"),
        ("What is the ratio of teapot to tea?", "2"),
        ("What is the ratio of tea to teapot?", "0.5"),
    ],
)
def test_a_name_within_a_longer_one_is_not_asked_for(question: str, answer: str) -> None:
    assert reply(PLACES, question) == answer


def test_of_several_series_one_must_be_named() -> None:
    assert reply(TWO, "How many men were there in 2020?") == "7"
    assert analyze(TWO, "trend", "Men") == "rises from 5 to 7"
    with pytest.raises(NotFound, match="several here, name one of Men, Women"):
        analyze(TWO, "sum")


def test_captions_and_descriptions_state_facts() -> None:
    assert caption(ONE) == "Bar chart of 3 labels, Drinks. Highest milk 60, lowest cola 15."
    assert describe(ONE, "tea") == "tea: 30, 2 of 3"
    assert describe(TWO, "2020") == "2020: Men 7, 1 of 2"  # one of Women's numbers is unknown


def test_a_question_about_nothing_on_the_chart_is_told() -> None:
    with pytest.raises(NotFound, match=r"names no label \(tea, milk, cola\)"):
        reply(ONE, "Where was it sold?")


@pytest.mark.parametrize(
    "text",
    [
        "TITLE | Drinks <0x0A>  | Sold <0x0A> tea | 30 <0x0A> milk | 1,060",
        "| Drink | Sold |\n|---|---|\n| tea | 30 |\n| milk | 1060 |",
        "Drink | Sold & tea | 30 & milk | 1060",
    ],
)
def test_tables_that_models_write_are_read(text: str) -> None:
    table = parse_table(text)
    assert (table.categories, table.measured, table.values) == (("tea", "milk"), "Sold", ((30.0, 1060.0),))


def test_a_model_that_writes_no_table_is_told() -> None:
    with pytest.raises(ValueError, match="without rows: 'I see a chart'"):
        parse_table("I see a chart")


def test_a_model_is_asked_in_words() -> None:
    assert asked_of({"question": "Why?"}) == "Why?"
    assert asked_of({"measure": "sum", "series": "Men"}) == "What is the sum of Men in this chart? Answer in few words."
