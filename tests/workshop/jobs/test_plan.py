"""``python -m kit plan`` for a chosen card, and how a run takes the memory that is there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kit.files import run_folder, write_json, write_text
from kit.train.progress import duration
from papers.published_curves import published_curves
from workshop.command import main
from workshop.jobs import machine
from workshop.jobs.lengths import measured_length
from workshop.jobs.notebooks import Source
from workshop.jobs.plan import arms, by_memory, expected, stages
from workshop.jobs.run import Job, Planned, plan
from workshop.planner.advice import fits
from workshop.planner.choice import SETTINGS, best
from workshop.planner.measured import CARDS, RECORD
from workshop.planner.memory import GB, Stage, hours, seconds

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


def test_a_plan_begins_with_its_profile_and_what_a_run_without_a_gpu_takes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    usual, _ = told(capsys, "13").split("\n", 1)
    assert usual.startswith("planned for the profile node (the default here; run takes laptop")
    assert told(capsys, "13", "--profile", "node").startswith("planned for the profile node\n")
    smoke = told(capsys, "13", "--profile", "smoke")
    assert smoke.startswith("planned for the profile smoke, which needs no GPU; its run, with measurements: about ")


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


KEY, AGAIN = SETTINGS


@pytest.mark.parametrize("family", ["agile", "visual_arft", "codedance", "mags_rl", "vista_gym"])
@pytest.mark.parametrize("memory", [24, 80, 141])
def test_a_run_takes_what_fits_the_memory_at_hand(family: str, memory: float) -> None:
    job = plan(family, "gpu", SETS["transformers"], None)
    found, _ = by_memory(job, [], memory * GB, {})
    told, used = dict(stages(job, None, memory * GB)), dict(stages(found, None, memory * GB))
    assert told.keys() == used.keys()
    for title, stage in used.items():
        chosen = best(told[title])
        assert stage.batch % stage.per_device_batch_size == 0 and fits(stage)
        assert stage.recompute >= chosen.recompute, "where one training of a notebook has no room, none keeps all"
        if len([other for other in used if other.partition(":")[0] == title.partition(":")[0]]) == 1:
            assert (stage.per_device_batch_size, stage.recompute) == (chosen.per_device_batch_size, chosen.recompute)
    assert [others(one) for one in found.notebooks] == [others(one) for one in job.notebooks]


def others(one: Planned) -> dict[str, object]:
    return {name: value for name, value in one.values.items() if name not in SETTINGS}


def test_a_larger_card_is_used_better_and_says_so_in_a_line_each() -> None:
    job = plan("12", "gpu", [], None)
    found, lines = by_memory(job, [], 141 * GB, {})
    (size,) = (one.values[KEY] for one in found.notebooks)
    assert lines == [
        *([f"12_agile_sft: {KEY}={size} by the 141 GB at hand, not 1 (--set 12.{KEY}=1 keeps it)"] * (size != 1)),
        f"12_agile_sft: {AGAIN}=false by the 141 GB at hand, not true (--set 12.{AGAIN}=true keeps it)",
    ]


@pytest.mark.parametrize(
    "given", [[f"{KEY}=1"], [f"12.{KEY}=1"], [f" 12.{KEY} =1"], [f"{AGAIN}=true"], [f"12.{AGAIN}=false"]]
)
def test_what_was_set_stays(given: list[str]) -> None:
    job = plan("12", "gpu", given, None)
    (name,) = job.notebooks[0].values.keys() & {text.partition("=")[0].strip().removeprefix("12.") for text in given}
    for memory in (24, 141):
        found, lines = by_memory(job, given, memory * GB, {})
        assert found.notebooks[0].values[name] == job.notebooks[0].values[name]
        assert not any(f": {name}=" in line for line in lines)
    both = [f"{KEY}=1", f"{AGAIN}=true"]
    job = plan("12", "gpu", both, None)
    assert by_memory(job, both, 141 * GB, {}) == (job, [])


@pytest.mark.parametrize("begun", [{KEY: 2}, {KEY: 2, AGAIN: False}, {KEY: 1, AGAIN: True}])
def test_what_a_run_was_begun_with_stays(begun: dict[str, object]) -> None:
    """Also what an older kit began it without, or a finished notebook would be refused as one of other values."""
    job = plan("12", "gpu", [], None)
    found, lines = by_memory(job, [], 141 * GB, {"12_agile_sft": begun})
    assert {name: value for name, value in found.notebooks[0].values.items() if name in SETTINGS} == begun
    assert all(" as it was begun, not " in line for line in lines)
    assert len(lines) == (begun[KEY] != 1) + (begun.get(AGAIN) is False)
    found, _ = by_memory(plan("12", "gpu", [f"{KEY}=4"], None), [f"{KEY}=4"], 141 * GB, {"12_agile_sft": begun})
    assert found.notebooks[0].values[KEY] == 4


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
    assert (machine.by_memory(job, []) != job) == changed
    assert ("by the 80 GB at hand" in capsys.readouterr().out) == changed, "of the smallest"


RL = "13_agile_grpo"


def ran(name: str, profile: str, model: str, *lengths: tuple[int, int]) -> None:
    """A run here whose training's steps had these mean lengths, and as many tokens of the policy."""
    entry = {"status": "done", "profile": profile, "parameters": {"model": model}}
    write_json(run_folder(name) / "params.json", {"notebooks": {"12_agile_sft": entry, RL: entry}})
    rows = [
        json.dumps({"step": k, "tokens": whole, "response_tokens": said}) for k, (whole, said) in enumerate(lengths)
    ]
    write_text(run_folder(name) / "grpo" / "metrics.jsonl", "\n".join(rows) + "\n")


def test_an_expected_length_is_one_that_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps of 1000, 2000 and 6000 tokens: 3000 on average. Runs of another model or profile say nothing."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    job = plan("agile", "gpu", [], None)
    name, stage = next(pair for pair in stages(job, None, None) if pair[0].startswith(RL))
    ran("other", "gpu", "somebody/else", (10, 5))
    ran("tiny", "laptop", "", (10, 5))
    assert expected(job, name, stage) == (None, "")
    assert "unknown  as long as expected: not measured by any run of this profile and model" in told(capsys, "agile")
    ran("mine-0", "gpu", "Qwen/Qwen2.5-VL-3B-Instruct", (1000, 100), (2000, 200))
    ran("mine-1", "gpu", "Qwen/Qwen2.5-VL-3B-Instruct", (6000, 300))
    shorter, where = expected(job, name, stage)
    assert shorter == replace(stage, tokens=3000, picture_tokens=3000, sampled=200) and where == "2 run(s) here"
    said = told(capsys, "agile", "--profile", "gpu")
    assert f"{duration(3600 * hours(shorter))}  as long as expected" in said and hours(shorter) < hours(stage)
    assert "3000 tokens an episode, 200 of them said, as in 2 run(s) here" in said
    assert f"\nexpected: {duration(3600 * (hours(shorter) + sum(map(hours, longest(job, name)))))}, those not" in said


def longest(job: Job, but: str) -> list[Stage]:
    """The other trainings of a job."""
    return [stage for name, stage in stages(job, None, None) if name != but]


def test_a_mean_length_said_by_hand_gives_expected_hours(capsys: pytest.CaptureFixture[str]) -> None:
    """Half as long as the longest is said to say half as much; a mean above the longest is refused."""
    words = ["13", "--profile", "gpu"]
    longest = next(one for name, one in stages(plan("13", "gpu", [], None), None, None) if "GRPO" in name)
    half = longest.tokens // 2
    assert "--expected-tokens N" in told(capsys, *words)
    said = told(capsys, *words, "--expected-tokens", str(half))
    likely = re.search(
        rf"as long as expected, .*: {half} tokens an episode, (\d+) of them said, as in --expected", said
    )
    assert likely and int(likely[1]) == round(longest.sampled * half / longest.tokens) < half
    assert main(["plan", *words, "--expected-tokens", str(longest.tokens + 1)]) == 2
    assert f"of 13_agile_grpo: GRPO have at most {longest.tokens}; give fewer" in capsys.readouterr().err


def test_several_seeds_are_planned_as_one_and_told_together(capsys: pytest.CaptureFixture[str]) -> None:
    one = told(capsys, "13", "--profile", "gpu")
    first, rest = told(capsys, "13", "--profile", "gpu", "--seeds", "0-2").split(":", 1)
    assert first == "planned for the profile gpu; 3 runs, agile-0 to agile-2, each as long as the first"
    assert "trainings alone" in rest.partition("\n")[0] and rest.partition("\n\n")[2] == one.partition("\n\n")[2]
    lists = told(capsys, "13", "--profile", "gpu", "--set", "steps=1,2")
    assert "2 runs, agile-steps_1 to agile-steps_2, each as long as the first" in lists


def test_the_tiny_models_lengths_are_those_of_the_published_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    rows = [row for some in published_curves("agile", "grpo").values() for row in some]
    found = measured_length(plan("13", "laptop", [], None), RL)
    assert found and found.tokens == round(sum(row["tokens"] for row in rows) / len(rows))
    assert found.where == f"{len(published_curves('agile', 'grpo'))} published runs (results/curves)"
    assert measured_length(plan("15", "laptop", [], None), "15_agile_general") is None


@pytest.mark.parametrize("profile", ["gpu", "node"])
def test_a_notebook_of_two_arms_is_planned_for_both(profile: str) -> None:
    """15 trains on questions alone, and on as many tasks of which half are puzzles; 13 trains once."""
    job = plan("agile", profile, [], None)
    steps = {
        planned.source.number: planned.all_values["steps"]
        for planned in job.notebooks[2:]
        if "steps" in planned.all_values
    }
    found = dict(stages(job, None, None))
    assert found["15_agile_general: GRPO, 2 arms"].steps == 2 * steps["15"]
    assert found["13_agile_grpo: GRPO"].steps == steps["13"]


def test_arms_are_those_that_a_notebook_goes_through(tmp_path: Path) -> None:
    def of(text: str) -> int:
        (tmp_path / "16_agile_more.py").write_text(f"from papers.agile import mixed as m, reward\n{text}\n")
        return arms(Source(tmp_path / "16_agile_more.py"))

    assert of("for arm in m.ARMS:\n    print(arm)") == of("some = [arm for arm in m.ARMS]\nprint([*m.ARMS])") == 2
    assert of("print(m.ARMS)\nfor name in reward.__all__:\n    print(name)") == 1


def test_what_trains_nothing_sends_to_what_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "11", "--profile", "gpu"]) == 2
    assert "for: python -m kit plan agile --profile gpu plans all of agile" in capsys.readouterr().err
