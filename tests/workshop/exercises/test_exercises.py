"""Exercises: what counts as right, which hint a wrong answer gets, and that the kit's own hold what they say."""

from __future__ import annotations

import copy
import math
import re
import statistics
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from kit.files import ROOT
from workshop.course.answer import literal
from workshop.exercises import Exercise, Mistake, check, hint, points, solution
from workshop.exercises.check import exercises
from workshop.exercises.exercise import same
from workshop.jobs.notebooks import load, sources


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


MEAN = Exercise(
    "99.1",
    mean,
    "Divide the sum by how many there are.",
    cases=[{"values": [1.0, 3.0]}, {"values": [0.0, 0.0, 3.0]}],
    mistakes=[Mistake(lambda values: sum(values), "That is the sum.")],
)


@pytest.mark.parametrize(
    ("given", "state", "says"),
    [
        (lambda values: sum(values) / len(values), "right", "✓"),
        (lambda values: float(np.mean(values)), "right", "✓"),
        (lambda values: torch.tensor(values).mean(), "right", "✓"),
        (sum, "raises", "TypeError"),  # its argument has another name
        (lambda values: sum(values), "wrong", "That is the sum."),
        (lambda values: 2.0, "wrong", "Divide the sum"),  # right in the first case only
        (lambda values: 1 / 0, "raises", "ZeroDivisionError: division by zero"),
        (lambda values: None, "open", "yours to write"),
        (lambda values: 2.0 if len(values) == 2 else None, "wrong", "None for values=[0.0, 0.0, 3.0]"),
        (..., "open", 'hint("99.1")'),
        (None, "open", 'solution("99.1")'),
    ],
)
def test_a_function_is_tried_on_every_case(given: Any, state: str, says: str) -> None:
    verdict = MEAN.judge(given)
    assert verdict.state == state and says in verdict.text


def test_a_wrong_function_is_shown_the_case_it_fails_on() -> None:
    assert "2.0 for values=[0.0, 0.0, 3.0]" in MEAN.judge(lambda values: 2.0).text


def test_a_function_that_changes_its_arguments_is_judged_on_fresh_ones() -> None:
    def clears(values: list[float]) -> float:
        found = mean(values)
        values.clear()
        return found

    assert MEAN.judge(clears).state == MEAN.judge(clears).state == "right"


def test_none_can_be_the_right_result() -> None:
    def first_flat(rewards: list[float]) -> int | None:
        return 0 if rewards[0] == rewards[-1] else None

    one = Exercise("99.3", first_flat, "", cases=[{"rewards": [1.0, 2.0]}, {"rewards": [1.0, 1.0]}])
    assert one.judge(first_flat).state == "right"
    assert one.judge(lambda rewards: 0).state == "wrong"
    assert one.judge(lambda rewards: None).state == "open"  # as the empty function returns it


def test_only_a_right_answer_earns_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["workshop.exercises.check"], "find", lambda id: MEAN)  # the package hides it
    assert points("99.1", mean) == 1.0
    for given in (sum, ..., None, 2.0, lambda values: 2.0):
        assert points("99.1", given) == 0.0, given


def test_a_value_is_compared_with_the_solution_for_the_readers_own_numbers() -> None:
    one = Exercise("99.2", mean, "Add, then divide.", mistakes=[Mistake(lambda values: sum(values), "The sum.")])
    assert one.judge(2, {"values": [1, 3]}).state == "right"
    assert "The sum." in one.judge(4, {"values": [1, 3]}).text
    assert "Add, then divide." in one.judge(5, {"values": [1, 3]}).text


def test_a_solution_may_read_what_cant_be_copied() -> None:
    index = threading.Lock()  # as an open index or a model holds one
    one = Exercise("99.2", lambda index: 0.25, "Look.", mistakes=[Mistake(lambda index: 0.75, "The others.")])
    assert one.judge(0.25, {"index": index}).state == "right"
    assert "The others." in one.judge(0.75, {"index": index}).text and "Look." in one.judge(0.5, {"index": index}).text


def _untouched(values: list[float]) -> float:  # type: ignore[empty-body]
    """Mean of the values."""
    ...


def _with_pass(values: list[float]) -> None:
    pass


def _shown(values: list[float]) -> None:
    print(sum(values) / len(values))


def _shown_within(values: list[float]) -> None:
    def show(value: float) -> None:
        print(value)

    show(sum(values) / len(values))


def _kept_to_itself(values: list[float]) -> None:
    result = sum(values) / len(values)  # noqa: F841


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (_untouched, "99.1 · yours to write"),
        (_with_pass, "99.1 · yours to write"),
        (_shown, "your function shows its result, but returns nothing: did you mean return?"),
        (_shown_within, "your function shows its result, but returns nothing: did you mean return?"),
        (
            lambda values: print(sum(values) / len(values)),
            "shows its result, but returns nothing: did you mean return?",
        ),
        (_kept_to_itself, "your function returns nothing: did you mean return?"),
        (lambda values: values.sort(), "your function returns nothing: did you mean return?"),
    ],
)
def test_a_function_that_returns_nothing_is_asked_about_it(
    given: Callable[..., Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = MEAN.judge(given)
    assert verdict.state == "open" and says in verdict.text and 'hint("99.1")' in verdict.text
    assert ("yours to write" in verdict.text) == (verdict.why == "")


def test_a_function_that_returns_in_some_cases_only_is_asked_about_the_others() -> None:
    text = MEAN.judge(lambda values: sum(values) / 2 if len(values) == 2 else None).text
    assert "None for values=[0.0, 0.0, 3.0]" in text and "returns nothing here: did you mean return?" in text


def test_a_printed_value_is_told_from_one_that_was_not_written() -> None:
    one = Exercise("99.2", lambda: 0.5, "Halve.")
    assert "99.2 · yours to write" in one.judge(...).text
    printed: Any = print("0.5")  # type: ignore[func-returns-value]
    verdict = one.judge(printed)
    assert verdict.state == "open" and "without print" in verdict.text and "yours to write" not in verdict.text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("-1.5", "without quotation marks"),
        ((-1, 5), "0.5, not 0,5"),
        (-3, "Divide."),
        ((0.0, 1.5), "That is all of them."),  # a known mistake has its own hint
    ],
)
def test_who_gives_no_number_where_one_is_asked_for_is_told_so(given: Any, says: str) -> None:
    one = Exercise("99.2", lambda: -1.5, "Divide.", mistakes=[Mistake(lambda: (0.0, 1.5), "That is all of them.")])
    assert one.judge(given).state == "wrong" and says in one.judge(given).why
    for asked in ("flat", (1, 2), True):
        assert Exercise("99.3", lambda asked=asked: asked, "Look.", cases=[{}]).judge(lambda: given).why == "Look."


@pytest.mark.parametrize(
    ("exercise", "given", "known", "says"),
    [
        (MEAN, 2.0, {}, "asks for a function"),
        (Exercise("99.2", lambda: 1, ""), lambda: 1, {}, "asks for a value"),
        (Exercise("99.2", mean, ""), 1, {}, "missing 1 required positional argument"),
    ],
)
def test_another_kind_of_answer_is_told_apart_from_a_wrong_one(
    exercise: Exercise, given: Any, known: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        exercise.judge(given, known)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.00001, True),
        (1, 1.1, False),
        (True, 1, True),
        (True, 0.5, False),
        ("  Flat", "flat ", True),
        ("flat", "1", False),
        ((1, 2), [1.0, 2.0], True),
        ([1], [1, 1], False),
        (range(2), [0, 1], True),
        (torch.tensor([1.0, 2.0]), np.array([1.0, 2.0]), True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        (float("nan"), float("nan"), True),
        (None, 0, False),
    ],
)
def test_answers_are_compared_by_what_they_mean(a: Any, b: Any, equal: bool) -> None:
    assert same(a, b, 1e-4) is equal


def test_an_unknown_exercise_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no exercise .99\.1.: there are none of that notebook"):
        check("99.1", 1)


NOTEBOOKS = [
    source.number for source in sources() if (ROOT / "notebooks" / "exercises" / f"{source.number}.py").is_file()
]
EVERY = [one for number in NOTEBOOKS for one in exercises(number).values()]


def offenders(every: Iterable[Any], rule: Callable[[Any], None]) -> dict[str, str]:
    """Exercises, or notebooks, that break a rule → what was asserted of them."""
    found = {}
    for one in every:
        try:
            rule(one)
        except Exception as error:
            found[getattr(one, "id", str(one))] = repr(error)
    return found


def test_every_exercise_is_asked_where_its_number_says_and_every_asked_one_exists() -> None:
    def rule(number: str) -> None:
        (source,) = [source for source in sources() if source.number == number]
        code = "\n".join(cell.source for cell in load(source).cells if cell.cell_type == "code")
        asked = re.findall(r'\bcheck\(\s*"([\d.]+)"', code)
        assert sorted(set(asked)) == sorted(exercises(number)) and len(asked) == len(set(asked))
        assert 3 <= len(asked) <= 5

    assert offenders(NOTEBOOKS, rule) == {}


def test_the_solution_is_right_and_each_known_mistake_is_wrong_and_gets_its_hint() -> None:
    def rule(exercise: Exercise) -> None:
        assert exercise.judge(exercise.answer).state == "right"
        for mistake in exercise.mistakes:
            verdict = exercise.judge(mistake.answer)
            assert verdict.state == "wrong" and mistake.hint in verdict.text

    assert offenders([one for one in EVERY if one.cases], rule) == {}


def test_each_known_mistake_in_a_value_is_wrong_and_gets_its_hint() -> None:
    def rule(exercise: Exercise) -> None:
        assert exercise.judge(exercise.answer()).state == "right"
        for mistake in exercise.mistakes:
            verdict = exercise.judge(mistake.answer())
            assert verdict.state == "wrong" and verdict.why == mistake.hint

    assert offenders([one for one in EVERY if not one.cases and not one.needs_run], rule) == {}


def test_every_function_has_hidden_cases_to_be_graded_on() -> None:
    """Without them an answer that knows the visible cases could not be told from a right one."""
    assert [one.id for one in EVERY if one.cases and not one.hidden] == []


HIDDEN = [one for one in EVERY if one.hidden]

ONLY_SHOWN = {"24.2": ["A claim without any check was not tested."]}
"""Beginnings of the hints for mistakes that a single input reveals, so that only a visible case can reveal them."""


def hidden_cases(exercise: Exercise, seed: int) -> list[dict[str, Any]]:
    assert exercise.hidden is not None
    return [dict(case) for case in exercise.hidden(seed)]


def test_hidden_cases_are_the_same_for_a_seed_others_for_most_and_none_is_shown_or_there_twice() -> None:
    """Some exercises have few inputs that make sense, so that two seeds may agree."""

    def rule(exercise: Exercise) -> None:
        made = [hidden_cases(exercise, seed) for seed in range(20)]
        assert made == [hidden_cases(exercise, seed) for seed in range(20)]
        assert len({literal(cases) for cases in made}) >= 15
        for cases in made:
            # As literals: so they are sent to be graded.
            every = [literal(case) for case in (*map(dict, exercise.cases), *cases)]
            assert len(cases) >= 3 and len(set(every)) == len(every)

    assert offenders(HIDDEN, rule) == {}


def test_the_solution_is_right_on_hidden_cases_and_leaves_them_as_they_are() -> None:
    def rule(exercise: Exercise) -> None:
        for seed in range(20):
            cases = hidden_cases(exercise, seed)
            assert replace(exercise, cases=cases).judge(exercise.answer).state == "right"
            assert exercise.with_hidden(seed).judge(exercise.answer).state == "right"
            for function in (exercise.answer, *(mistake.answer for mistake in exercise.mistakes)):
                for case in cases:
                    function(**case)
            assert cases == hidden_cases(exercise, seed)

    assert offenders(HIDDEN, rule) == {}


def test_hidden_cases_find_each_mistake_and_leave_it_its_hint() -> None:
    def rule(exercise: Exercise) -> None:
        for seed in range(20):
            only_hidden = replace(exercise, cases=hidden_cases(exercise, seed))
            for mistake in exercise.mistakes:
                verdict = exercise.with_hidden(seed).judge(mistake.answer)
                assert (verdict.state, verdict.why) == ("wrong", mistake.hint)
                shown = mistake.hint.startswith(tuple(ONLY_SHOWN.get(exercise.id, ())))
                assert only_hidden.judge(mistake.answer).state == ("right" if shown else "wrong")

    assert offenders(HIDDEN, rule) == {}


RIGHT_TOO: dict[str, Callable[..., Any]] = {
    "00.2": lambda p, calls: p * (1 - 0.05 * calls) - 0.05 * (1 - p),
    "00.3": lambda labels: 1 / round(math.factorial(len(labels)) / math.e),
    "01.1": lambda width, height: int(width / 28 + 0.5) * int(height / 28 + 0.5),  # rounds a half up
    "01.3": lambda prompt, sampled, observed, room, limit: (limit - room - prompt) // (sampled + observed) + 1,
    "03.2": lambda rho, advantage, eps: advantage * (rho - 1) > abs(advantage) * eps,
    "03.3": lambda ratios, advantages, longest: (
        -np.mean(
            [
                np.minimum(np.array(row) * a, np.clip(row, 0.8, 1.2) * a).sum() / longest
                for row, a in zip(ratios, advantages, strict=True)
            ]
        )
    ),
    "04.5": lambda pieces, known, tokens: math.lgamma(pieces - known + 1) / tokens,
    "11.1": lambda order: ["ABCDEFGHIJKLMNOPQRSTUVWXYZ"[spot] for spot in np.argsort(order)],
    "14.3": lambda accuracies: np.polyfit(range(len(accuracies)), accuracies, 1)[0],
    "14.4": lambda curves: [
        curve[np.delete(np.array(curves), k, axis=0).mean(axis=0).argmax()] - curve[0] for k, curve in enumerate(curves)
    ],
    "24.4": lambda gains, t: statistics.mean(gains) - t * statistics.stdev(gains) / math.sqrt(len(gains)),
    "60.4": lambda right, met, dots: max(0.0, right * (1 + 0.5 * sum(met) / dots - 0.25 * met.count(False))),
}
"""Right answers that round otherwise, or go another way, than the solution."""


@pytest.mark.parametrize("id", RIGHT_TOO)
def test_hidden_cases_are_fair_to_answers_that_go_another_way(id: str) -> None:
    exercise = exercises(id[:2])[id]
    for seed in range(20):
        assert exercise.with_hidden(seed).judge(RIGHT_TOO[id]).state == "right", seed


def test_solutions_and_mistakes_leave_their_arguments_as_they_are() -> None:
    def rule(exercise: Exercise) -> None:
        before = copy.deepcopy(list(exercise.cases))
        for function in (exercise.answer, *(mistake.answer for mistake in exercise.mistakes)):
            for case in exercise.cases:
                with suppress(Exception):  # a mistake may fail on some of them
                    function(**case)
            assert list(exercise.cases) == before

    assert offenders([one for one in EVERY if one.cases], rule) == {}


def test_hint_and_solution_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    def rule(exercise: Exercise) -> None:
        hint(exercise.id)
        solution(exercise.id)
        printed = capsys.readouterr().out
        assert exercise.hint in printed and ("def " in printed or "lambda" in printed)

    assert offenders(EVERY, rule) == {}
