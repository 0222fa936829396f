"""General vision: what is asked and who is right, claims A7 and A8, and the two arms' tasks and rewards."""

from __future__ import annotations

import pytest
from made_outcomes import made

from kit.data.questions import letter
from kit.episode import Action, Episode, Turn
from papers.agile.evaluation_sets import BENCHMARKS
from papers.agile.general import GeneralOutcome, a7, a8, mean_by_skill
from papers.agile.mixed import MixedPlay, mixture
from papers.agile.questions import ON_VIEWS, SKILLS, begins_right, is_right_answer, questions
from papers.agile.reported import GENERAL


def found(share: float, seeds: tuple[int, ...] = (0, 1, 2), images: int = 40) -> list[GeneralOutcome]:
    """Of each seed the first ``share`` of the questions right, of two skills by turns."""
    return [
        made(GeneralOutcome, right, task=f"q{k}", image=f"i{k}", skill="ab"[k % 2], begins=right, seed=seed)
        for seed in seeds
        for k in range(images)
        for right in (k < share * images,)
    ]


def test_questions_are_the_same_for_every_number_and_sides_share_no_image() -> None:
    few, many, train = questions(1), questions(2), questions(2, side="train")
    assert [t.meta["skill"] for t in few] == list(SKILLS)
    assert [(t.id, t.target, t.images) for t in few] == [(t.id, t.target, t.images) for t in many[::2]]
    assert not {p.sha256 for t in many for p in t.images} & {p.sha256 for t in train for p in t.images}
    sources = [{t.meta["source"] for t in some if t.meta["skill"] in ON_VIEWS} for some in (many, train)]
    assert not sources[0] & sources[1]


def test_answers_are_judged_as_told() -> None:
    assert is_right_answer("Lima 47.", ["lima 47"]) and not is_right_answer("lima 47. tea", ["lima 47"])
    assert is_right_answer("(A)", ["A"]) and not is_right_answer("B", ["A"]) and not is_right_answer("", ["A"])
    assert is_right_answer("[0.1, 0.1, 0.5, 0.5]", ["[0.1, 0.1, 0.5, 0.6]"]) and not is_right_answer(None, ["x"])
    assert (letter("b. a dog"), letter("A dog")) == ("B", "")
    assert begins_right("<think>team lyon.</think><answer>tea", ["team lyon"]) and not begins_right("team", ["team x"])


def test_a8_reaches_its_verdicts_and_a7_by_hand() -> None:
    assert a8(found(0.2, (0,)), found(0.2), found(0.8)).verdict == "holds"
    assert a8(found(0.8, (0,)), found(0.5), found(0.2)).verdict == "doesn't"
    assert a8(found(0.2, (0,)), found(0.8), found(0.8)).verdict != "holds", "the cold start's gain is not RL's"
    rare = {"seeds": (0, 1, 2, 3, 4), "images": 560}
    assert a8(found(0.5, (0,), 560), *(found(0.5, **rare) for _ in range(2))).told == "equal within 0.02"
    assert a7(found(0.5, **rare), found(0.501, **rare)).told == "equal within 0.02"
    assert a7(found(0.5), found(0.5)).verdict == "undecided", "of 40 questions"
    assert a7(found(0.2), found(0.8)).verdict == "holds" and a7(found(0.8), found(0.2)).verdict == "doesn't"
    check = a7(found(0.25), found(0.75)).checks[0]
    assert check.interval.value == pytest.approx(0.5)
    some = [o for o in found(0.25, (0,), 8) if o.task in ("q0", "q2", "q1")]  # a right, b right, a wrong
    some = [*some, *found(0.0, (0,), 1)]
    assert [p.value for p in mean_by_skill(some)] == pytest.approx([2 / 3, 2, 0, 0])


def test_both_arms_have_as_many_tasks_and_none_twice() -> None:
    asked, puzzles = questions(1, side="train"), questions(1, seed=7)  # any tasks will do as puzzles
    qa, half = mixture("qa", asked, puzzles, 8), mixture("half", asked, puzzles, 8)
    assert len(qa) == len(half) == len({t.id for t in half}) == 8
    assert half[::2] == qa[::2] and half[1::2] == puzzles[:4]
    with pytest.raises(ValueError, match="15 questions needed, there are 14"):
        mixture("qa", asked, puzzles, 15)


def test_a_questions_reward_is_1_for_a_right_answer_and_has_a_puzzles_parts() -> None:
    task = questions(1)[0]
    turn = Turn((1,), (-1.0,), task.target[0], Action("answer", task.target[0]))
    right = MixedPlay().score(Episode(task, (), (turn,), "answer"), task.target)
    assert right.total == 1.0 and set(right.parts) == {"accuracy", "format", "step"}


def test_the_nine_benchmarks_have_the_papers_figures_and_its_average() -> None:
    for row in GENERAL.values():
        assert set(row) == {f"general_{name}" for name in (*BENCHMARKS, "all")}
        mean = sum(v for name, v in row.items() if name != "general_all") / 9
        assert mean == pytest.approx(row["general_all"], abs=1e-3)
