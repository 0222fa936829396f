"""Half an hour on a GPU, tried on a CPU with tiny sizes: the trainers are measured, then the papers run."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Qwen2_5_VLForConditionalGeneration

from benchmarks import on_gpu
from benchmarks.on_gpu import Options, measurements
from benchmarks.real_sizes import Measurement, config_of, filled_tokenizer, prepare, training_of
from kit.chat import Chat
from kit.data.store import load_episodes
from kit.evaluate.provenance import commit
from kit.files import read_json, write_json, write_text
from kit.models import load_model
from papers.registry import papers
from tiny import TINY
from workshop.jobs.run import plan

SMALL: dict[str, Any] = {"steps": 2, "episodes": 8, "max_pixels": 28 * 28 * 16, "max_turns": 2, "max_new_tokens": 8}


@pytest.mark.parametrize(("name", "weights"), [("3B", 3_754_622_976), ("7B", 8_292_166_656)])
def test_the_architectures_are_the_published_ones(name: str, weights: int) -> None:
    """As many weights as their cards say, in a real model without memory."""
    with torch.device("meta"):
        model = Qwen2_5_VLForConditionalGeneration(config_of(name, filled_tokenizer(1536).get_vocab()))
    assert sum(p.numel() for p in model.parameters()) == weights
    assert model.config.text_config.rope_parameters["mrope_section"] == [16, 24, 24]
    assert model.config.vision_config.fullatt_block_indexes == [7, 15, 23, 31]


def test_an_unknown_architecture_is_named() -> None:
    with pytest.raises(ValueError, match="model '72B': choose one of 3B, 7B, or tiny"):
        config_of("72B", {})


def test_whatever_a_random_model_samples_decodes() -> None:
    tiny, filled = Chat.from_pretrained(TINY).tokenizer, filled_tokenizer(5000)
    assert len(filled) == 5000 and filled.decode([4999]) == "word4999"
    text = "<think>A, B</think><code>state[0]</code>"
    assert filled.encode(text) == tiny.encode(text)
    assert filled.convert_tokens_to_ids("<|image_pad|>") == tiny.convert_tokens_to_ids("<|image_pad|>")


def test_what_is_worth_most_comes_first_and_vllm_only_where_it_is() -> None:
    found = [one.name for one in measurements(("3B", "7B"), with_vllm=False)]
    assert found == [
        "sft-3B-lora32",
        "grpo-3B-lora32",
        "sft-7B-lora32",
        "grpo-7B-lora32",
        "sft-3B-lora32-4-kept",
        "sft-3B-full",
        "grpo-3B-full",
    ]
    more = {one.name for one in measurements(("3B", "7B"), with_vllm=True)} - set(found)
    assert more == {"grpo-3B-lora32-colocate", "grpo-7B-lora32-colocate", "grpo-3B-lora32-colocate-4-kept"}


@pytest.mark.parametrize("stage", ["sft", "grpo"])
@pytest.mark.parametrize(("size", "again", "end"), [(1, None, ""), (4, False, "-4-kept"), (8, True, "-8")])
def test_a_measurement_s_memory_settings_are_its_training_s(
    stage: str, size: int, again: bool | None, end: str
) -> None:
    one = Measurement("tiny", stage, per_device_batch_size=size, gradient_checkpointing=again)
    settings = training_of(one, Path("folder"), Path("run")).settings
    assert (settings.per_device_batch_size, settings.gradient_checkpointing) == (size, again)
    assert one.name == f"{stage}-tiny-lora32{end}"


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_a_measurement_is_of_the_kit_s_own_training(tmp_path: Path, stage: str) -> None:
    """Random weights of the architecture, real episodes, and a record that names the hardware."""
    one = Measurement("tiny", stage, **SMALL)
    assert on_gpu.main(["--out", str(tmp_path), "--one", json.dumps(asdict(one))]) == 0
    record = read_json(tmp_path / f"{stage}-tiny-lora32.json")
    assert [row["step"] for row in record["steps"]] == [1, 2]
    assert record["seconds_a_step"] == record["steps"][1]["seconds"], "the first warms up"
    assert record["peak_memory_gb"] > 0.1 and record["device"] == "cpu"
    assert record["hardware"]["cores"] >= 1 and record["versions"]["torch"]
    assert load_model(tmp_path / "work" / "tiny" / "start").config.text_config.hidden_size == 64
    episodes = load_episodes(tmp_path / "work" / "tiny" / "episodes.jsonl")
    assert len(episodes) == 16 and all(episode.ended == "answer" for episode in episodes)
    if stage == "grpo":
        assert record["steps"][1]["turns"] == 2 and record["steps"][1]["response_tokens"] == 16
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "work" / "tiny").rglob("*") if path.is_file()}
    prepare(tmp_path / "work" / "tiny", "tiny")
    assert written == {path: path.stat().st_mtime_ns for path in written}, "what is there is kept"


def small_measurements(models: Sequence[str], with_vllm: bool, tiny: bool = False) -> list[Measurement]:
    return [Measurement("tiny", stage, **SMALL) for stage in ("sft", "grpo")]


def test_each_result_is_saved_as_it_comes_and_a_failure_loses_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first measurement and the last paper fail, time ends another; the same command again does what is missing."""
    asked: list[str] = []
    first, cut, *_, last = listed = [name for name, paper in papers().items() if paper.notebooks]
    broken = {"sft-tiny-lora32", cut, last}

    def run(
        name: str,
        command: Sequence[str],
        file: Path | None,
        left: float,
        given: Mapping[str, str] | None = None,
        peak: list[float] | None = None,
    ) -> bool:
        asked.append(name)
        assert left <= 300 or file is not None, "five minutes a paper"
        if peak is not None:
            peak.extend([1.5, 12.5, 3.0])
        weights = tmp_path / ("runs" if file is None else "work") / name / "model" / "model.safetensors"
        write_text(weights, "heavy")
        if name == cut and name in broken:
            write_json(tmp_path / "runs" / name / "params.json", {"notebooks": {"a": {"status": "interrupted"}}})
            write_text(tmp_path / "runs" / name / "grpo" / "metrics.jsonl", '{"step": 1, "seconds": 5.0}\n')
        if name in broken:
            return False
        if file is not None:
            write_json(file, {})
        else:
            folder = tmp_path / "runs" / name
            write_json(folder / "params.json", {"notebooks": {"a": {"minutes": 0.5}}})
            write_text(folder / "grpo" / "metrics.jsonl", '{"step": 1, "seconds": 5.0}\n')
        return True

    monkeypatch.setattr(on_gpu, "measurements", small_measurements)
    monkeypatch.setattr(on_gpu, "_run", run)
    options = Options(tmp_path, 10.0, ("tiny",), tiny=True)
    on_gpu.on_gpu(options)
    assert asked == ["sft-tiny-lora32", "grpo-tiny-lora32", *listed]
    assert {path.stem for path in tmp_path.glob("*.json")} == {*asked} - broken | {cut}
    record = read_json(tmp_path / f"{first}.json")
    assert record["complete"] and record["peak_memory_gb"] == 12.5 and record["commit"]
    assert read_json(tmp_path / "grpo-tiny-lora32.json")["card_memory_gb"] == 12.5
    heavy = {path.parents[1].name for path in tmp_path.rglob("*.safetensors")}
    assert heavy == {cut, last}, "weights stay where the next call goes on with them, and nowhere else"
    assert not read_json(tmp_path / f"{cut}.json")["complete"], "what it has is kept, and completed by the next call"
    assert record["minutes"] == {"a": 0.5} and record["steps"]["grpo"][0]["seconds"] == 5.0 and record["hardware"]
    asked.clear()
    broken.clear()
    on_gpu.on_gpu(options)
    assert asked == ["sft-tiny-lora32", cut, last] and read_json(tmp_path / f"{cut}.json")["complete"]
    assert not [*tmp_path.rglob("*.safetensors")]
    assert f"{first}: there, passed over" in capsys.readouterr().out
    asked.clear()
    (tmp_path / f"{first}.json").unlink()
    on_gpu.on_gpu(Options(tmp_path, 0.0, ("tiny",), tiny=True))
    assert asked == [] and f"{first}: no time is left for it" in capsys.readouterr().out


def test_papers_run_in_the_order_asked_for_each_in_its_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, float]] = []
    monkeypatch.setattr(on_gpu, "measurements", lambda *_: [])
    monkeypatch.setattr(on_gpu, "_run_paper", lambda paper, _, left: asked.append((paper.name, left)))
    words = ["--tiny", "--out", str(tmp_path), "--models", "tiny", "--papers"]
    on_gpu.main([*words, "mags_rl,agile", "--paper-minutes", "2"])
    assert asked == [("mags_rl", 120.0), ("agile", 120.0)]
    with pytest.raises(SystemExit) as ended:
        on_gpu.main([*words, "agile,mags"])
    assert ended.value.code == 2 and "no paper 'mags' is registered" in capsys.readouterr().err and len(asked) == 2


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("name", [name for name, paper in papers().items() if paper.notebooks])
def test_a_paper_s_short_run_is_a_job_that_the_kit_takes(
    name: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never longer than its profile says, no model or data that would have to be downloaded; sampled by vLLM if it is
    there.
    """
    monkeypatch.setattr(on_gpu, "has_vllm", lambda: there)
    words = on_gpu._settings(papers()[name], "here")
    job = plan(name, "gpu", words[1::2], "short")
    whole = plan(name, "gpu", [], "whole")
    for mine, theirs in zip(job.notebooks, whole.notebooks, strict=True):
        for key, value in mine.values.items():
            if isinstance(value, str):
                assert not value.startswith(("Qwen/", "OpenGVLab/")), key
            elif key in theirs.values:
                assert value <= theirs.values[key], key
    assert any(mine != theirs for mine, theirs in zip(job.notebooks, whole.notebooks, strict=True))
    engines = {planned.values["rollout_engine"] for planned in job.notebooks if "rollout_engine" in planned.values}
    assert engines <= {"colocate" if there else "transformers"} and (engines or name == "your_own")


def test_without_a_gpu_it_says_how_to_try_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert on_gpu.main([]) == 2 and "--tiny runs the same" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "root", "said"),
    [
        ([], "kit-82bcef2", "commit 82bcef2"),
        (["--commit", "0a1b2c3"], "kit", "commit 0a1b2c3"),
        ([], "kit", "commit unknown: there is no git here, and the folder's name tells none; give --commit"),
    ],
)
def test_the_commit_is_told_or_its_lack_is(
    words: list[str],
    root: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KIT_COMMIT", "")
    monkeypatch.setattr(on_gpu, "commit", lambda: commit(tmp_path / root))
    on_gpu.main(["--tiny", "--minutes", "0.000001", "--models", "tiny", "--out", str(tmp_path / "out"), *words])
    assert said in capsys.readouterr().out.splitlines()


def test_a_command_is_done_if_it_ends_well_in_its_time_and_leaves_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it is given stands in its environment."""
    file, python = tmp_path / "made", [sys.executable, "-c"]
    writes = [*python, f"import os, pathlib; pathlib.Path({str(file)!r}).write_text(os.environ['KIT_RUNS'])"]
    assert not on_gpu._run("idle", [*python, ""], file, 60.0)
    assert on_gpu._run("writes", writes, file, 60.0, {"KIT_RUNS": "here"}) and file.read_text() == "here"
    assert not on_gpu._run("fails", [*python, "raise SystemExit(3)"], None, 60.0)
    assert not on_gpu._run("sleeps", [*python, "import time; time.sleep(60)"], None, 0.5)
    said = capsys.readouterr().out
    assert "fails: failed with code 3" in said and "sleeps: ended by the time limit" in said
