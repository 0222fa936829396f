"""``python -m kit plan`` for a chosen card, and how a run takes the memory that is there."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

from workshop.command import _by_memory, main
from workshop.jobs.plan import by_memory, stages
from workshop.jobs.run import Job, plan
from workshop.planner.choice import best
from workshop.planner.measured import CARDS, RECORD
from workshop.planner.memory import GB, seconds

SETS = {"transformers": ["rollout_engine=transformers"], "colocate": ["rollout_engine=colocate"]}


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["plan", *words]) in (0, 2)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("engine", "by", "other"), [("transformers", "transformers", "vLLM"), ("colocate", "vLLM", "transformers")]
)
@pytest.mark.parametrize("card", sorted(CARDS))
def test_a_plan_says_who_plays_and_what_the_other_would_cost(
    engine: str, by: str, other: str, card: int, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["13", "--profile", "gpu", "--card", str(card), "--tokens", "4000", "--set", f"rollout_engine={engine}"]
    said = told(capsys, *options)
    assert f"1 × {card} GB" in said and f"a step, by {by}, if episodes are as long as they may be" in said
    assert re.search(rf"  by {other}: [\d.]+ (h|min) instead", said)
    assert all(f"{size} GB ({listed.name}) " in said for size, listed in CARDS.items())
    assert f"{RECORD['card']}, commit {RECORD['commit']} (workshop/planner/measured.toml)" in said


def test_by_transformers_takes_many_times_as_long() -> None:
    """Measured 168 s and 20.6 s a step, with 16 episodes of 768 tokens; 128 episodes of 5,120 are further apart."""
    found = {}
    for engine, sets in SETS.items():
        ((_, stage),) = stages(plan("13", "gpu", sets, None), None, 80 * GB, tokens=6000)
        found[engine] = seconds(stage)["playing"][0]
    assert found["transformers"] > 8 * found["colocate"]


@pytest.mark.parametrize(
    ("options", "memory", "speed"),
    [
        ([], "24", "165"),
        (["--card", "80"], "80", "312"),
        (["--memory", "40"], "40", "312"),
        (["--card", "141", "--memory", "70"], "70", "989"),
        (["--card", "80", "--tflops", "500"], "80", "500"),
        (["--tflops", "500"], "24", "500"),
    ],
)
def test_a_card_is_chosen_by_what_is_told(
    options: list[str], memory: str, speed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(capsys, "13", "--profile", "gpu", *options)
    assert f"1 × {memory} GB" in said and f"× {speed} TFLOP/s)" in said


def chosen(job: Job, memory: float, sets: tuple[str, ...] = (), **before: object) -> dict[str, object]:
    """What a run of the job would use, by notebook."""
    found, _ = by_memory(job, sets, memory * GB, {name: {KEY: value} for name, value in before.items()})
    return {one.source.name: one.values[KEY] for one in found.notebooks if KEY in one.values}


KEY = "per_device_batch_size"


@pytest.mark.parametrize("family", ["agile", "visual_arft", "codedance", "mags_rl", "vista_gym"])
@pytest.mark.parametrize("memory", [24, 80, 141])
def test_a_run_takes_what_fits_the_memory_at_hand(family: str, memory: float) -> None:
    job = plan(family, "gpu", SETS["transformers"], None)
    found = chosen(job, memory)
    assert found
    for title, stage in stages(job, None, memory * GB):
        size = found[title.partition(":")[0]]
        assert stage.batch % size == 0
        assert size <= best(stage, checkpointing=False).per_device_batch_size
    kept = {one.source.name: {k: v for k, v in one.values.items() if k != KEY} for one in job.notebooks}
    other, _ = by_memory(job, [], memory * GB, {})
    assert {one.source.name: {k: v for k, v in one.values.items() if k != KEY} for one in other.notebooks} == kept


def test_a_larger_card_holds_more_at_once_and_says_so_in_a_line() -> None:
    job = plan("12", "gpu", [], None)
    (size,) = chosen(job, 80).values()
    assert size > 1
    _, lines = by_memory(job, [], 80 * GB, {})
    assert lines == [
        f"12_agile_sft: per_device_batch_size={size} by the 80 GB at hand, not 1 "
        "(--set 12.per_device_batch_size=1 keeps it)"
    ]


@pytest.mark.parametrize("given", [f"{KEY}=1", f"12.{KEY}=1", f" 12.{KEY} =1"])
def test_what_was_set_stays(given: str) -> None:
    job = plan("12", "gpu", [given], None)
    assert by_memory(job, [given], 141 * GB, {}) == (job, [])


def test_what_a_run_was_begun_with_stays() -> None:
    job = plan("12", "gpu", [], None)
    assert chosen(job, 141, **{"12_agile_sft": 2}) == {"12_agile_sft": 2}
    _, (line,) = by_memory(job, [], 141 * GB, {"12_agile_sft": {KEY: 2}})
    assert line.startswith("12_agile_sft: per_device_batch_size=2 as it was begun, not 1 ")


def test_a_tiny_model_is_no_matter_of_memory() -> None:
    job = plan("12", "gpu", ["model="], None)
    assert by_memory(job, [], 141 * GB, {}) == (job, [])


@pytest.mark.parametrize(
    ("profile", "there", "changed"), [("gpu", True, True), ("gpu", False, False), ("node", True, False)]
)
def test_only_the_profile_for_one_gpu_is_fitted_to_it(
    profile: str, there: bool, changed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda number: (0, (141 - 61 * number) * GB))
    job = replace(plan("12", profile, [], None), name="never-begun")
    assert (_by_memory(job, []) != job) == changed
    assert ("by the 80 GB at hand" in capsys.readouterr().out) == changed, "of the smallest"
