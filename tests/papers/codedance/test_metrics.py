"""CodeDance's metrics on episodes written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.episode import Action, Ended, Episode, Observation, Status, Task, Turn
from papers.codedance.metrics import EVALUATION, HEADLINES, outcome
from papers.codedance.reported import REPORTED
from papers.registry import find_paper


def played(
    *calls: Status, answer: str | None = "10", level: str = "hard", kind: str = "chart_compute", name: str = "a"
) -> Episode:
    task = Task(name, (), "?", ("10",), {"level": level, "kind": kind, "source": f"s-{name}"})
    turns = [Turn((1, 2), (0.0, 0.0), "", Action("code", "print(10)"), Observation("", status=s)) for s in calls]
    last = Turn((3,), (0.0,), "", None if answer is None else Action("answer", answer))
    ended: Ended = "format" if answer is None else "answer"
    return Episode(task, (9,), (*turns, last), ended)


def test_an_outcome_counts_calls_and_those_that_ran() -> None:
    found = outcome(played("ok", "error"), seed=3)
    assert (found.correct, found.tool_calls, found.ran, found.turns, found.tokens, found.seed) == (
        True,
        2,
        0.5,
        3,
        5,
        3,
    )
    assert (found.kind, found.level, found.image, found.reason) == ("chart_compute", "hard", "s-a", "solved")
    assert outcome(played()).ran is None
    assert outcome(played(answer="11")).reason == "wrong"
    assert outcome(played(answer="1" * 1000)).reason == "malformed"
    assert outcome(played(answer=None)).reason == "format"
    with pytest.raises(ValueError, match="still running"):
        outcome(Episode(Task("t", (), "?", ("1",)), ()))


def test_means_by_level_and_by_kind() -> None:
    """Easy: one of two right, calls 0 and 1, which ran; hard: right, two calls of which one ran."""
    easy = [played(level="easy", kind="sheet", name="e"), played("ok", answer="1", level="easy", kind="sheet")]
    metrics = EVALUATION.evaluate([*easy, played("ok", "error", name="h")])
    values = {name: found.value for name, found in metrics.items()}
    assert values["acc_easy"] == values["acc_sheet"] == 0.5 and values["acc_hard"] == 1.0
    assert values["calls_easy"] == 0.5 and values["calls_hard"] == 2.0 and values["calls_all"] == 1.0
    assert values["ran_easy"] == 1.0 and values["ran_hard"] == 0.5 and values["ran_all"] == 0.75
    assert values["turns_all"] == 2.0 and metrics["ran_easy"].n == 1
    assert set(HEADLINES) <= set(values)


def test_a_stage_is_kept_and_stands_beside_the_papers_numbers(tmp_path: Path) -> None:
    asked = Task("b", (), "?", ("10",), {"set": "countbench", "kind": "counting"})
    metrics = EVALUATION.save_stage(tmp_path, "sft", [played("ok"), replace(played(), task=asked)])
    assert {name for name in metrics if name.startswith("acc_")} == {
        *("acc_hard", "acc_all", "acc_chart_compute", "acc_countbench")
    }, "a set from the hub goes by its name, and has no level"
    assert EVALUATION.load_stage(tmp_path, "sft") == metrics
    assert "(0.853)" in EVALUATION.table({"sft": metrics}), "CountBench after SFT, Table 3"
    assert find_paper("codedance").load_evaluation() is EVALUATION


def test_what_the_paper_reports() -> None:
    grpo, direct = REPORTED["grpo"], REPORTED["direct"]
    assert (grpo["acc_countbench"], direct["acc_countbench"]) == (0.912, 0.765)
    assert (grpo["acc_wemath"], direct["acc_wemath"]) == (0.396, 0.354)
    means = {stage: (REPORTED[stage]["acc_all"], REPORTED[stage]["turns_all"]) for stage in ("sft", "outcome", "bonus")}
    assert means == {"sft": (0.626, 1.7083), "outcome": (0.653, 1.3363), "bonus": (0.636, 2.4311)}
    for stage in means:  # the table's own averages, over its seven sets
        turns = [v for name, v in REPORTED[stage].items() if name.startswith("turns_") and name != "turns_all"]
        assert sum(turns) / 7 == pytest.approx(REPORTED[stage]["turns_all"], abs=2e-3)
