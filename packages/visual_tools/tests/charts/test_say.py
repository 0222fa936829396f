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


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        *(
            ("What is the difference between the highest and the lowest?", "45"),
            ("How much more is milk than tea?", "30"),
        ),
        *(("What is the sum of tea, milk and cola?", "105"), ("What is the average of tea and milk?", "45")),
        *(("Is tea the highest, or cola?", "tea"), ("Which is lowest: tea or milk?", "tea")),
        *(("What is the value of tea or cola, the larger, the maximum?", "30"), ("What is the range?", "45")),
    ],
)
def test_several_labels_are_compared_with_each_other(question: str, answer: str) -> None:
    assert reply(ONE, question) == answer


def test_two_series_are_compared_at_one_label() -> None:
    assert reply(YEARS, "What is the difference between men and women in 2019?") == "4"
    assert reply(YEARS, "What is the sum of men and women in 2021?") == "9"
    with pytest.raises(NotFound, match="the number of 2020 Women couldn't be read"):
        reply(YEARS, "What is the sum of men and women in 2020?")


YEARS = Table("line", "", "Year", "", ("2019", "2020", "2021"), ("Men", "Women"), ((5, 7, 6), (9, None, 3)))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        *(("Which drink is the second highest?", "second"), ("Which is the 2nd most popular?", "2nd")),
        *(("How many bars are higher than 20?", "20"), ("Which drinks are at least 30?", "30")),
        *(("How many bars are below the average?", "below"), ("How many bars are blue?", "only all are counted")),
        *(("Is tea the highest?", "'is'"), ("Is milk more than tea?", "'is'"), ("What color is tea?", "color")),
        *(("What is the total of all drinks except tea?", "except"), ("What is half of tea?", "half")),
        *(("What is the average without cola?", "without"), ("What is tea times two?", "times")),
        *(("What is the value of the bar left of milk?", "left"), ("What is the median?", "median")),
        *(
            ("What is tea as a percentage of the total?", "tea alone"),
            ("What is the ratio of tea to the total?", "tea"),
        ),
        *(("By how many percent is milk higher than tea?", "of two numbers"), ("What is the rank of tea?", "rank")),
        *(("What is the difference between tea, milk and cola?", "of several"), ("The most recent value?", "recent")),
        *(("What is the sum of the highest and the lowest value?", "highest and lowest and sum"),),
        *(
            ("What is the difference between the average and tea?", "tea alone"),
            ("What is the least multiple?", "multiple"),
        ),
    ],
)
def test_a_question_that_asks_for_more_is_told_so(question: str, named: str) -> None:
    with pytest.raises(NotFound, match=named):
        reply(ONE, question)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        *(((5, 5, 5), "stays at 5"), ((5,), "only 5, so no trend"), ((5, 5, 6), "rises from 5 to 6")),
        *(((6, 5, 5), "falls from 6 to 5"), ((5, 7, 6), "rises and falls from 5 to 6"), ((0, 0), "stays at 0")),
    ],
)
def test_a_trend_may_be_none(values: tuple[float, ...], says: str) -> None:
    assert analyze(Table("line", "", "", "", tuple("abc"[: len(values)]), ("",), (values,)), "trend") == says


@pytest.mark.parametrize("measure", ["highest", "lowest", "sum", "average", "range", "trend"])
def test_what_numbers_come_to_is_not_said_where_one_is_unread(measure: str) -> None:
    with pytest.raises(NotFound, match=f"{measure}: the number of 2020 couldn't be read"):
        analyze(YEARS, measure, "Women")
    assert analyze(YEARS, "count", "Women") == "3"


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


def test_a_row_with_more_cells_than_names_is_told() -> None:
    with pytest.raises(ValueError, match=r"3 cells in the row 'tea \| 5 \| 6', but 2 in its head"):
        parse_table("Drink | Sold <0x0A> tea | 5 | 6")


def test_a_model_that_writes_no_table_is_told() -> None:
    with pytest.raises(ValueError, match="without rows: 'I see a chart'"):
        parse_table("I see a chart")


def test_a_model_is_asked_in_words() -> None:
    assert asked_of({"question": "Why?"}) == "Why?"
    assert asked_of({"measure": "sum", "series": "Men"}) == "What is the sum of Men in this chart? Answer in few words."
