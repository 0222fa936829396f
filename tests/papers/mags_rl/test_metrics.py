"""Mags-RL's metrics on episodes written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kit.episode import Action, Ended, Episode, Task, Turn
from papers.mags_rl.metrics import EVALUATION, HEADLINES, by_chance, covers, judged_by, outcome
from papers.mags_rl.reported import REPORTED
from papers.registry import find_paper

LEFT, RIGHT = [0.0, 0.5, 0.5, 1.0], [0.5, 0.5, 1.0, 1.0]
PART = [0.1, 0.6, 0.3, 0.7]


def played(
    boxes: Sequence[Sequence[float]] = (LEFT,),
    asked: int | None = None,
    answer: str | None = "tea 35",
    parts: Sequence[Sequence[float]] | None = (PART,),
    **meta: str,
) -> Episode:
    told = {"skill": "attribute", "difficulty": "hard", "source": "s", **meta} | ({"parts": parts} if parts else {})
    task = Task("t", (), "What is on it?", ("tea 35",), told)
    arguments = {"asked": len(boxes) if asked is None else asked, "boxes": [list(box) for box in boxes]}
    first = Turn((1, 2), (0.0, 0.0), "<think>", Action("zoom", "", arguments))
    last = Turn((3,), (0.0,), "", None if answer is None else Action("answer", answer))
    ended: Ended = "format" if answer is None else "answer"
    return Episode(task, (9,), (first, last), ended)


@pytest.mark.parametrize(
    ("box", "covered"),
    [
        (LEFT, True),
        (RIGHT, False),
        (PART, True),
        ([0.12, 0.6, 0.5, 1.0], True),  # nine tenths of its width
        ([0.13, 0.6, 0.5, 1.0], False),
        ([0.0, 0.65, 0.5, 1.0], False),
    ],
)
def test_a_box_covers_a_part_that_lies_in_it_to_nine_tenths(box: list[float], covered: bool) -> None:
    assert covers(box, PART) is covered


def test_an_outcome_tells_of_boxes() -> None:
    found = outcome(played([LEFT, RIGHT], asked=3), seed=2)
    assert (found.boxes, found.valid, found.right, found.recall) == (3, pytest.approx(2 / 3), 0.5, 1.0)
    assert (found.correct, found.judged, found.included, found.kind, found.difficulty, found.seed) == (
        *(True, 1.0, True),
        *("attribute", "hard", 2),
    )
    two = outcome(played([LEFT], parts=(PART, [0.6, 0.6, 0.8, 0.7])))
    assert (two.right, two.recall) == (1.0, 0.5)
    assert outcome(played(parts=None)).right is None and outcome(played(parts=None)).recall is None


def test_without_boxes_nothing_is_right_and_nothing_covered() -> None:
    none = outcome(played([]))
    assert (none.boxes, none.valid, none.right, none.recall) == (0, None, None, 0.0)
    silent = outcome(Episode(played().task, (9,), (Turn((), (), "<think>a</think>"),), "tokens"))
    assert (silent.boxes, silent.recall, silent.judged, silent.included) == (0, 0.0, 0.0, False)
    assert outcome(played(answer=None)).reason == "format"
    with pytest.raises(ValueError, match="still running"):
        outcome(Episode(played().task, ()))


def test_inclusion_is_the_looser_rule() -> None:
    found = outcome(played(answer="it says tea 35"))
    assert (found.correct, found.included, found.judged) == (False, True, 0.0)


def test_means_by_difficulty_and_skill() -> None:
    """Hard: one of two right, boxes 1 and 0; easy: right, two boxes of which one shows what decides."""
    some = [played(), played([], answer="milk"), played([LEFT, RIGHT], difficulty="easy", skill="count")]
    values = {name: found.value for name, found in EVALUATION.evaluate(some).items()}
    assert (values["acc_hard"], values["acc_easy"], values["acc_all"]) == (0.5, 1.0, pytest.approx(2 / 3))
    assert (values["boxes_hard"], values["right_hard"], values["recall_hard"]) == (0.5, 1.0, 0.5)
    assert (values["right_count_easy"], values["right_easy"], values["right_all"]) == (0.5, 0.5, 0.75)
    assert set(HEADLINES) <= set(values)


def test_another_judge_judges() -> None:
    evaluation = judged_by(lambda question, answer, golds: 0.75)
    metrics = evaluation.evaluate([played(answer="tea")])
    assert metrics["judged_hard"].value == 0.75 and metrics["acc_hard"].value == 0.0


def test_a_set_of_the_hub_stands_beside_the_papers_numbers(tmp_path: Path) -> None:
    metrics = EVALUATION.save_stage(tmp_path, "grpo", [played(set="vsr", parts=None)])
    assert EVALUATION.load_stage(tmp_path, "grpo") == metrics and "right_vsr_hard" not in metrics
    assert "(0.560)" in EVALUATION.table({"grpo": metrics}), "VSR, Zoom-Hard"
    assert find_paper("mags_rl").load_evaluation() is EVALUATION


def test_what_the_paper_reports() -> None:
    """Spot checks against Tables 1 and 2: the corners of each block, and the two rows of the ablation."""
    asked = {"direct", "cot", "one_shot", "zoom_refine", "grit"}
    assert {name for name, found in REPORTED.items() if len(found) == 18} == asked | {"grpo"}
    assert REPORTED["direct"]["judged_vsr_easy"] == 0.5434 and REPORTED["direct"]["included_gqa_hard"] == 0.3452
    assert REPORTED["cot"]["included_tallyqa_medium"] == 0.0752 and REPORTED["one_shot"]["judged_gqa_hard"] == 0.4856
    assert REPORTED["zoom_refine"]["judged_vsr_medium"] == 0.6505 and REPORTED["grit"]["included_vsr_hard"] == 0.3043
    hard = ["judged_vsr", "included_vsr", "judged_tallyqa", "included_tallyqa", "judged_gqa", "included_gqa"]
    for name, row in (
        ("at_once", "53.80 47.83 12.41 12.23 46.58 30.41"),
        ("grpo", "55.98 50.00 16.78 17.27 51.44 35.89"),
    ):
        assert [round(100 * REPORTED[name][f"{k}_hard"], 2) for k in hard] == [float(v) for v in row.split()]
    assert len(REPORTED["at_once"]) == 6 and REPORTED["untrained"] == REPORTED["sft"] == {}


def test_the_agents_gains_are_those_that_table_1_prints() -> None:
    """The triangles of Table 1: ours minus direct, in points, to the digits printed."""
    printed = {
        "judged_vsr_easy": 18.8,
        "included_tallyqa_easy": 15.3,
        "judged_gqa_medium": 6.3,
        "included_vsr_medium": 16.4,
        "judged_tallyqa_hard": 7.07,
        "included_gqa_hard": 1.37,
    }
    for name, points in printed.items():
        gain = 100 * (REPORTED["grpo"][name] - REPORTED["direct"][name])
        assert gain == pytest.approx(points, abs=0.051), name


def test_a_card_named_at_random_shows_what_decides_as_often_as_cards_do() -> None:
    """Writing on the left upper card decides, then some on the right lower one too; across the cards, none has it."""
    line, other = [0.1, 0.1, 0.2, 0.15], [0.6, 0.6, 0.9, 0.9]
    tasks = [Task("t", (), "?", ("x",), {"parts": parts}) for parts in ([line], [line, other], [[0.4, 0.4, 0.6, 0.6]])]
    assert [by_chance(task) for task in tasks] == [0.25, 0.5, 0.0]
