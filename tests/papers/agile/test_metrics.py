"""Metrics on episodes written by hand."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_outcomes import made

from kit.episode import Action, Ended, Episode, Task, Turn
from kit.evaluate.intervals import clopper_pearson
from kit.evaluate.outcomes import by_stage
from kit.evaluate.results import write_results
from papers.agile.metrics import (
    Outcome,
    evaluate,
    evaluate_outcomes,
    failures,
    load_stage,
    outcome,
    random_baseline,
    save_stage,
    summary,
    table,
)
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


@given(st.text())
def test_any_answer_has_an_outcome(answer: str) -> None:
    found = outcome(played(answer))
    assert found.reason in ("solved", "wrong", "malformed")
    assert found.correct == (found.reason == "solved") == (found.score == 1.0)


def test_an_unfinished_episode_has_none() -> None:
    with pytest.raises(ValueError, match="cat-0 is still running"):
        outcome(played(None, "running"))


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


def puzzle(i: int, correct: bool, seed: int = 0) -> Outcome:
    return made(Outcome, correct, task=f"t{i}", image=f"p{i}", m=2, level=0, score=float(correct), seed=seed)


def test_several_seeds_widen_the_interval() -> None:
    """The same 40 outcomes are worth less as a statement about the recipe if they came from three unlike runs."""
    one = [puzzle(i, i % 2 == 0) for i in range(40)]
    better = [puzzle(i, i % 4 != 0, seed=1) for i in range(40)]
    worse = [puzzle(i, i % 4 == 0, seed=2) for i in range(40)]
    alone, pooled = evaluate_outcomes(one)["acc_2x2"], evaluate_outcomes([*one, *better, *worse])["acc_2x2"]
    assert pooled.value == alone.value == 0.5
    assert pooled.high - pooled.low > 1.5 * (alone.high - alone.low)
    assert 0 <= pooled.low <= pooled.high <= 1


def test_failures_count_every_episode_once() -> None:
    endings: list[tuple[str | None, Ended]] = [
        (RIGHT, "answer"),
        ("[C, A, D, B]", "answer"),
        ("?!", "answer"),
        (None, "format"),
        (None, "turns"),
        (None, "turns"),
        (None, "tokens"),
        (None, "lost"),
    ]
    found = failures([played(answer, ended) for answer, ended in endings])
    assert found == {
        "solved": 0.125,
        "wrong answer": 0.125,
        "malformed answer": 0.125,
        "a turn without an action": 0.125,
        "out of turns": 0.25,
        "out of tokens": 0.125,
        "sandbox lost": 0.125,
    }
    assert next(iter(found)) == "solved"


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
    extra = {"acc_3x3": right["acc_2x2"]}
    assert "not run" in table({"untrained": wrong, "grpo": right | extra})


def test_results_feed_the_table(tmp_path: Path) -> None:
    stages = {"sft": evaluate([played(RIGHT)]), "grpo": evaluate([played(RIGHT)])}
    results = write_results(
        tmp_path / "results.json", notebook="14", profile="smoke", seed=0, minutes=0.1, stages=stages
    )
    assert by_stage(results) == stages
    assert table(results) == table(stages)


def test_nothing_to_evaluate_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to evaluate"):
        evaluate([])
    with pytest.raises(ValueError, match="these episodes have acc_2x2"):
        summary(evaluate([played(RIGHT)]), "acc_3x3")


def test_outcomes_of_another_version_are_refused_with_the_file_and_the_way_out(tmp_path: Path) -> None:
    save_stage(tmp_path, "sft", [played(RIGHT)])
    path = tmp_path / "stages" / "sft.json"
    path.write_text(path.read_text().replace('"image":', '"picture":'))
    with pytest.raises(ValueError, match=r"sft.json: written by another version .*'picture'.*evaluate the stage again"):
        load_stage(tmp_path, "sft")
