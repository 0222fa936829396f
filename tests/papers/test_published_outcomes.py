"""Published outcomes: what is stored is read back as it was, and what figures can't be made of is refused by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kit.evaluate.outcomes import Outcome
from papers.published import MAIN, Runs
from papers.published_outcomes import Made, OutcomesError, Stored, load, named, save
from papers.registry import PAPERS, find_paper


@dataclass(frozen=True, kw_only=True)
class Sheet(Outcome):
    """One with a field of each type that papers have."""

    hard: bool
    share: float
    ran: float | None
    restored: bool | None
    kind: str = ""


def sheet(task: str, seed: int = 0, **own: Any) -> Sheet:
    some: dict[str, Any] = {"correct": True, "reason": "solved", "turns": 2, "tool_calls": 1, "tokens": 40}
    return Sheet(
        **some
        | {"task": task, "image": f"of {task}", "seed": seed, "hard": False, "share": 0.1}
        | {"ran": None, "restored": None}
        | own
    )


MADE = Made(
    run="toy-0.abc",
    digest="abc",
    trained_at=["c" * 40],
    measured_at="c" * 40,
    values={"seed": "0"},
    hardware={"cpu": "a processor", "cores": 2, "memory_gb": 8.0, "gpus": []},
    versions={"torch": "2"},
    minutes=1.5,
    measuring_minutes=0.5,
    training_minutes=None,
    date="2026-11-28",
)

ALL = [
    sheet("b", share=0.1 + 0.2, kind='with, a comma and "signs"\nof two lines', hard=True, ran=1 / 3, restored=False),
    sheet("a", correct=False, reason="wrong", restored=True),
    sheet("a", correct=False, reason="turns", image=""),
]


def added(stored: Stored[Sheet], arm: str, seed: int, stages: dict[str, Sequence[Sheet]], **other: Any) -> Any:
    return stored.with_run(arm, seed, replace(MADE, run=f"toy-{seed}.abc-{arm}", **other), stages)


def test_outcomes_are_read_back_as_they_were(tmp_path: Path) -> None:
    stored = added(Stored(), MAIN, 0, {"sft": ALL, "grpo": ALL[:1]}, numbers={"weight_change": 0.25})
    stored = added(stored, "bonus", 0, {"grpo": ALL[1:]})
    save(tmp_path, "toy", stored, Sheet)
    back = load(tmp_path, "toy", Sheet)
    assert back.made == stored.made
    assert sorted(map(repr, back.stages[MAIN, 0]["sft"])) == sorted(map(repr, ALL))
    assert {name: len(some) for name, some in back.by_stage().items()} == {"sft": 3, "grpo": 1, "bonus": 2}
    assert back.numbers() == {"grpo": {0: {"weight_change": 0.25}}, "bonus": {0: {}}}
    assert load(tmp_path, "other", Sheet) == Stored()


def test_the_same_outcomes_are_the_same_bytes_in_whatever_order_they_came(tmp_path: Path) -> None:
    for name, some in (("one", ALL), ("two", ALL[::-1])):
        save(tmp_path, name, added(Stored(), MAIN, 0, {"sft": some}), Sheet)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("paper", PAPERS)
def test_every_papers_outcomes_can_be_stored(paper: str, tmp_path: Path) -> None:
    kind = find_paper(paper).load_evaluation().outcome_type
    save(tmp_path, paper, Stored({(MAIN, 0): MADE}, {(MAIN, 0): {}}), kind)
    assert load(tmp_path, paper, kind).made[MAIN, 0] == MADE


@pytest.mark.parametrize("said", [list[str], str | None, int | float, dict])
def test_a_type_that_cannot_be_told_from_its_cell_is_refused(tmp_path: Path, said: Any) -> None:
    kind = make_dataclass("Vague", [("said", said)], bases=(Outcome,), frozen=True, kw_only=True)
    save(tmp_path, "toy", Stored({(MAIN, 0): MADE}, {(MAIN, 0): {}}), kind)
    with pytest.raises(OutcomesError, match=r"a field of type .* can't be stored: bool, int, float, str"):
        load(tmp_path, "toy", kind)


@pytest.mark.parametrize(
    ("arm", "stage", "name"),
    [
        (MAIN, "grpo", "grpo"),
        (MAIN, "grpo-turns-10", "grpo-turns-10"),
        ("bonus", "grpo", "bonus"),
        ("bonus", "grpo-zoom", "bonus-zoom"),
        ("sft_fewer", "sft", "sft_fewer-sft"),
        ("sft_fewer", "sft-sampled", "sft_fewer-sft-sampled"),
    ],
)
def test_stages_have_one_name_among_those_of_all_arms(arm: str, stage: str, name: str) -> None:
    assert named(arm, stage) == name


def test_runs_of_other_code_give_way_and_are_never_mixed() -> None:
    stored = added(added(Stored(), MAIN, 0, {"grpo": ALL}), MAIN, 1, {"grpo": ALL})
    values = {"seed": "0"}
    assert stored.digest == "abc" and stored.has(MAIN, 0, "abc", values)
    assert not stored.has(MAIN, 0, "xyz", values) and not stored.has(MAIN, 0, "abc", values | {"reward": "em"})
    assert not stored.has("bonus", 0, "abc", values)
    assert list(added(stored, MAIN, 1, {"grpo": ALL}, digest="xyz").made) == [(MAIN, 1)]
    mixed = Stored(stored.made | {(MAIN, 1): replace(MADE, run="toy-1", digest="xyz")}, stored.stages)
    with pytest.raises(OutcomesError, match=r"of 2 states of the code \(toy-0.abc-main by abc, toy-1 by xyz\)"):
        _ = mixed.digest
    with pytest.raises(OutcomesError, match="none is stored"):
        _ = Stored().digest


@pytest.mark.parametrize(
    ("stages", "why"),
    [
        ({"grpo": ALL[:2]}, "toy-1.abc-main: stage grpo has 2 tasks, in toy-0.abc-main 3: it is half there"),
        ({"grpo": [*ALL, *ALL]}, "stage grpo has 6 tasks, in toy-0.abc-main 3"),
        ({"grpo": []}, "toy-1.abc-main: stage grpo holds no task"),
    ],
)
def test_a_stage_that_is_half_there_is_refused(stages: dict[str, Any], why: str) -> None:
    stored = added(Stored(), MAIN, 0, {"grpo": ALL, "grpo-swapped": ALL})
    with pytest.raises(OutcomesError, match=why):
        added(stored, MAIN, 1, stages)
    few = added(stored, MAIN, 1, {"grpo": ALL, "grpo-swapped": ALL[:1]})
    assert len(few.stages[MAIN, 1]["grpo-swapped"]) == 1, "some have no other episode to take observations of"
    assert added(stored, "bonus", 0, stages if stages["grpo"] else {"grpo": ALL}), "another arm may be tested by others"


def test_what_is_lacking_is_told_by_name() -> None:
    arms = {MAIN: Runs("toy", 3, ()), "bonus": Runs("toy", 3, (), tag="bonus"), "em": Runs("toy", 1, (), tag="em")}
    stored = added(Stored(), MAIN, 0, {"grpo": ALL, "patch": ALL})
    assert stored.lacking(arms) == [
        "main: 1 of 3 seeds so far; seeds 1, 2 are missing",
        "not trained yet: bonus (3 seeds), em (1 seed)",
        "of one seed, so that nothing is known of other trainings: main",
    ]
    for arm, seed in ((MAIN, 1), (MAIN, 2), ("bonus", 0), ("bonus", 2), ("em", 0)):
        stored = added(stored, arm, seed, {"grpo": ALL})
    assert stored.lacking(arms) == [
        "main: stage patch was played in 1 of 3 runs",
        "bonus: 2 of 3 seeds so far; seed 1 is missing",
        "of one seed, so that nothing is known of other trainings: em",
    ]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda table, _: table.unlink(), "can't be read"),
        (lambda table, _: table.write_bytes(table.read_bytes()[:40]), "can't be read"),
        (lambda _, record: record.write_text(record.read_text().replace('"seed": 0', '"seed": 7')), "arm main, seed 7"),
        (lambda _, record: record.write_text(json.dumps({"runs": [*hashes(record, "0" * 12)]})), "arm main, seed 0"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path: Path, damage: Any, why: str) -> None:
    save(tmp_path, "toy", added(Stored(), MAIN, 0, {"grpo": ALL}), Sheet)
    damage(tmp_path / "toy.csv.gz", tmp_path / "toy.json")
    with pytest.raises(OutcomesError, match=why):
        load(tmp_path, "toy", Sheet)


def hashes(record: Path, rows: str) -> list[dict[str, Any]]:
    """A record's runs, each with another hash of its rows."""
    return [run | {"rows": rows} for run in json.loads(record.read_text())["runs"]]


def test_columns_of_other_outcomes_are_refused(tmp_path: Path) -> None:
    save(tmp_path, "toy", added(Stored(), MAIN, 0, {"grpo": ALL}), Sheet)
    with pytest.raises(OutcomesError, match=r"has the columns arm, seed, stage, task, .*kind; by this code .*tokens$"):
        load(tmp_path, "toy", Outcome)
