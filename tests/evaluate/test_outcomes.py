"""An evaluation described by a paper of one's own: outcomes, metrics, stages and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from made_outcomes import made

from kit.episode import Action, Episode, Task, Turn
from kit.evaluate.intervals import Interval, clopper_pearson
from kit.evaluate.outcomes import Evaluation, Metric, Outcome, by_stage, failures, slices_by, table


@dataclass(frozen=True, kw_only=True)
class Count(Outcome):
    """The result of counting dots."""

    error: int | None


def is_right(episode: Episode, target: int) -> bool:
    return episode.answer == str(target)


def outcome(episode: Episode, seed: int) -> Count:
    error = None if episode.answer is None else abs(int(episode.answer) - episode.task.target)
    return Count.of(episode, is_right(episode, episode.task.target), seed, error=error)


DOTS = Evaluation(
    "dots",
    Count,
    outcome,
    is_right,
    slices_by(everything="all"),
    (Metric("acc", "correct", "binary"), Metric("error", "error", "count")),
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
    outcomes = [made(Count, True, image=f"{k}", error=0, seed=seed) for seed in (0, 1) for k in range(3)]
    share, count = (Metric("m", "correct", kind).interval(outcomes) for kind in ("share", "count"))
    assert (share.value, share.high) == (1.0, 1.0) and count.high > 1


def test_a_stage_comes_back_as_saved_and_failures_add_up(tmp_path: Path) -> None:
    episodes = played(["3", "5", None])
    assert DOTS.save_stage(tmp_path, "sft", episodes) == DOTS.load_stage(tmp_path, "sft") == DOTS.evaluate(episodes)
    assert DOTS.load_outcomes(tmp_path, "sft", seed=7) == DOTS.outcomes(episodes, seed=7)
    third = pytest.approx(1 / 3)
    assert DOTS.failures(episodes) == {"solved": third, "wrong answer": third, "out of turns": third}
    path = tmp_path / "stages" / "sft.json"
    path.write_text(path.read_text().replace('"image":', '"picture":'))
    with pytest.raises(ValueError, match=r"sft.json: written by another version .*'picture'.*evaluate the stage again"):
        DOTS.load_stage(tmp_path, "sft")


def test_every_end_is_counted_once_under_its_own_words() -> None:
    ends = ("lost", "tokens", "turns", "turns", "format", "malformed", "wrong", "solved")
    assert list(failures([made(Count, end == "solved", end, error=None) for end in ends]).items()) == [
        ("solved", 0.125), ("wrong answer", 0.125), ("malformed answer", 0.125), ("a turn without an action", 0.125),
        ("out of turns", 0.25), ("out of tokens", 0.125), ("sandbox lost", 0.125),
    ]  # fmt: skip


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


def test_slices_are_cut_by_one_part_after_the_other() -> None:
    """By hand: three of four are easy; of these one has an error of 2."""
    marks = (("e", 0), ("h", 0), ("e", 2), ("e", 0))
    some = [made(Count, error == 0, image=image, error=error) for image, error in marks]
    by = slices_by(lambda o: {"e": "easy", "h": "hard"}[o.image], lambda o: f"off_{o.error}", everything="all")
    found = {name: len(part) for name, part in by(some)}
    assert found == {"all": 4, "easy": 3, "easy_off_0": 2, "easy_off_2": 1, "hard": 1, "hard_off_0": 1}
    assert list(found) == ["all", "easy", "easy_off_0", "easy_off_2", "hard", "hard_off_0"]
    first = slices_by(lambda o: o.image, order=("h", "z"))
    assert [name for name, _ in first(some)] == ["h", "e"]


def test_an_answer_that_cant_be_read_is_malformed_unless_it_is_right() -> None:
    episode, late = played(["3", None])
    ended = [
        Outcome.of(one, correct, well_formed=well).reason
        for one, correct, well in ((episode, True, False), (episode, False, False), (episode, False, True))
    ]
    assert ended == ["solved", "malformed", "wrong"]
    assert Outcome.of(late, False, well_formed=False).reason == "turns"
