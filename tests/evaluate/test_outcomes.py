"""An evaluation described by a paper of one's own: outcomes, metrics, stages and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.evaluate.intervals import Interval, clopper_pearson
from kit.evaluate.outcomes import Evaluation, Metric, by_stage, table


@dataclass(frozen=True)
class Count:
    """The result of counting dots."""

    task: str
    image: str
    right: bool
    error: int | None
    reason: str
    seed: int = 0


def is_right(episode: Episode, target: int) -> bool:
    return episode.answer == str(target)


def outcome(episode: Episode, seed: int) -> Count:
    right = is_right(episode, episode.task.target)
    error = None if episode.answer is None else abs(int(episode.answer) - episode.task.target)
    reason = "solved" if right else "wrong" if episode.ended == "answer" else episode.ended
    return Count(episode.task.id, episode.task.id[0], right, error, reason, seed)


def slices(outcomes: Sequence[Count]) -> Iterator[tuple[str, list[Count]]]:
    yield "all", list(outcomes)


DOTS = Evaluation(
    "dots",
    Count,
    outcome,
    is_right,
    slices,
    (Metric("acc", "right", "binary"), Metric("error", "error", "count")),
    reported={"untrained": {}, "grpo": {"acc_all": 0.9}},
    headlines={"acc_all": "counted right"},
    tabled=("acc",),
    baseline=("guess", lambda name: "0.100"),
)


def played(answers: Sequence[str | None], target: int = 3) -> list[Episode]:
    episodes = []
    for k, answer in enumerate(answers):
        turn = Turn((1,), (0.0,), "", None if answer is None else Action("answer", answer))
        ended = "turns" if answer is None else "answer"
        episodes.append(Episode(Task(f"{k}", (), "How many?", target), (9,), (turn,), ended))
    return episodes


def test_metrics_average_outcomes_and_leave_out_the_unknown() -> None:
    metrics = DOTS.evaluate(played(["3", "5", None, "3"]))
    assert list(metrics) == ["acc_all", "error_all"]
    assert (metrics["acc_all"].value, metrics["acc_all"].n) == (0.5, 4)
    assert (metrics["acc_all"].low, metrics["acc_all"].high) == pytest.approx(clopper_pearson(2, 4))
    assert (metrics["error_all"].value, metrics["error_all"].n) == (pytest.approx(2 / 3), 3)
    assert "error_all" not in DOTS.evaluate(played([None]))


def test_a_share_stays_within_0_and_1_and_a_count_need_not() -> None:
    outcomes = [Count("t", f"{k}", True, 0, "solved", seed) for seed in (0, 1) for k in range(3)]
    share, count = (Metric("m", "right", kind).interval(outcomes) for kind in ("share", "count"))
    assert (share.value, share.high) == (1.0, 1.0) and count.high > 1


def test_a_stage_comes_back_as_saved_and_failures_add_up(tmp_path: Path) -> None:
    episodes = played(["3", "5", None])
    assert DOTS.save_stage(tmp_path, "sft", episodes) == DOTS.load_stage(tmp_path, "sft") == DOTS.evaluate(episodes)
    assert DOTS.load_outcomes(tmp_path, "sft", seed=7) == DOTS.outcomes(episodes, seed=7)
    third = pytest.approx(1 / 3)
    assert DOTS.failures(episodes) == {"solved": third, "wrong answer": third, "out of turns": third}


def test_a_table_has_the_papers_order_its_numbers_and_the_baseline() -> None:
    found = DOTS.evaluate(played(["3", "5"]))
    head, _, row, note = DOTS.table({"grpo": found, "mine": found, "untrained": found}).splitlines()
    assert head.split() == ["metric", "guess", "untrained", "grpo", "mine"] and note == "value [95 % interval]"
    assert row.split()[:2] == ["acc_all", "0.100"] and row.count("(0.900)") == 1
    assert "error_all" in DOTS.table({"grpo": found}, ()), "an empty selection shows every metric"


def test_a_table_without_a_paper_shows_every_metric_of_a_results_file() -> None:
    results = {"metrics": {"before/x": Interval(0.25, 0.2, 0.3, 9).record(), "seconds": {"value": 1}}}
    assert by_stage(results) == {"before": {"x": Interval(0.25, 0.2, 0.3, 9)}}
    assert "x       0.250 [0.200, 0.300]" in table(results)


def test_summary_is_of_the_first_headline_unless_another_is_named() -> None:
    metrics = DOTS.evaluate(played(["3", "5", "3", "3"]))
    assert DOTS.summary(metrics).startswith("0.750 [") and DOTS.summary(metrics, "error_all").startswith("0.500 [")
    with pytest.raises(ValueError, match="summary of 'f1': these episodes have acc_all, error_all"):
        DOTS.summary(metrics, "f1")
