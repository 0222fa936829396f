"""Metrics on episodes written by hand."""

from __future__ import annotations

from itertools import permutations

import pytest

from kit.episode import Action, Ended, Episode, Task, Turn
from kit.evaluate.intervals import clopper_pearson
from papers.agile.metrics import evaluate, outcome, random_baseline, summary, table
from papers.agile.reported import AGILE

TARGET = ("B", "C", "A", "D")
RIGHT = '["B", "C", "A", "D"]'


def played(
    answer: str | None, ended: Ended = "answer", level: int = 0, source: str = "cat", target: tuple[str, ...] = TARGET
) -> Episode:
    """Two turns (3 and 2 tokens); the second answers if there is an answer."""
    m = round(len(target) ** 0.5)
    task = Task(f"{source}-{level}", (), "", target, {"m": m, "level": level, "source": source})
    action = Action("answer", answer) if answer is not None else None
    turns = (Turn((1, 2, 3), (0.0,) * 3, "", Action("code", "x")), Turn((4, 5), (0.0,) * 2, "", action))
    return Episode(task, (9,), turns, ended)


@pytest.mark.parametrize(
    ("answer", "score", "reason"),
    [
        (RIGHT, 1.0, "solved"),
        ("B, C, A, D", 1.0, "solved"),
        ("['B', 'C', 'D', 'A']", 0.5, "wrong"),
        ("[C, A, D, B]", 0.0, "wrong"),
        ("[B, B, B, B]", 0.0, "malformed"),  # three pieces twice: no arrangement
        ("[B, C, A]", 0.0, "malformed"),
        ("[B, C, A, D, E]", 0.0, "malformed"),
        ("left as it is", 0.0, "malformed"),
        ("", 0.0, "malformed"),
    ],
)
def test_acc_and_score_of_an_answer(answer: str, score: float, reason: str) -> None:
    found = outcome(played(answer))
    assert (found.score, found.correct, found.reason) == (score, score == 1.0, reason)
    assert (found.turns, found.tokens, found.image, found.level, found.m) == (2, 5, "cat", 0, 2)


def test_evaluate_overall_and_by_level() -> None:
    episodes = [played(RIGHT if i < 8 else "[C, A, D, B]", level=i % 2, source=f"p{i}") for i in range(10)]
    metrics = evaluate(episodes)
    assert (metrics["acc_2x2"].low, metrics["acc_2x2"].high) == pytest.approx(clopper_pearson(8, 10))
    assert metrics["acc_2x2_L0"].value == metrics["acc_2x2_L1"].value == 0.8
    assert metrics["acc_2x2_L0"].n == 5
    assert metrics["score_2x2"].value == pytest.approx(0.8)
    assert (metrics["turns_2x2"].value, metrics["tokens_2x2"].value) == (2.0, 5.0)
    assert summary(metrics) == "0.800 [0.444, 0.975], n = 10"
    assert not any("3x3" in name for name in metrics)


def test_random_baseline_is_what_counting_gives() -> None:
    placed = [sum(a == b for a, b in enumerate(order)) for order in permutations(range(4))]
    assert random_baseline(2) == {"acc": placed.count(4) / 24, "score": sum(placed) / 24 / 4}
    assert random_baseline(3) == {"acc": 1 / 362880, "score": 1 / 9}


def test_the_papers_averages_are_the_means_of_its_levels() -> None:
    """A slip in typing the tables would show here; the paper rounds to .001, a +Cold-Start mean included."""
    for row in AGILE.values():
        for metric in ("acc", "score"):
            for grid, levels in (("2x2", 3), ("3x3", 8)):
                mean = sum(row[f"{metric}_{grid}_L{n}"] for n in range(levels)) / levels
                assert row[f"{metric}_{grid}"] == pytest.approx(mean, abs=0.0011)
    assert AGILE["grpo"]["acc_2x2"] == 0.828 and AGILE["base"]["score_3x3"] == 0.311


def test_table_has_stages_in_order_and_the_paper_beside() -> None:
    right, wrong = evaluate([played(RIGHT)]), evaluate([played("[C, A, D, B]")])
    text = table({"grpo": right, "untrained": wrong})
    head, _, first = text.splitlines()[:3]
    assert head.split() == ["metric", "random", "untrained", "grpo"]
    assert first.split()[:3] == ["acc_2x2", "0.042", "0.000"]
    assert "(0.095)" in first and "(0.828)" in first
    assert "turns" not in text
