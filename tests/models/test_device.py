"""Where a model computes: by its size, wherever it is asked, and a small one leaves GPUs alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from internvl_fixtures import internvl_chat, internvl_model
from training_fixtures import (
    LIMITS,
    Looks,
    batch,
    clone,
    episode_files,
    even_reward,
    fresh_chat,
    fresh_model,
    task,
    without_times,
)
from transformers import Qwen2_5_VLForConditionalGeneration

from benchmarks.real_sizes import config_of, filled_tokenizer
from kit.chat import Chat
from kit.files import ROOT, read_json
from kit.models.device import SMALL, gpus_for, weights_of
from kit.policy.hf import load_model_and_chat
from kit.train.arguments import device_of, gpus_of, shared_args
from kit.train.checkpoint import load_for_training
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.launch import launcher
from kit.train.launch.launcher import launch
from kit.train.launch.topology import LaunchError, ProcessConfig
from kit.train.lora import lora_config
from kit.train.progress import Watcher
from kit.train.sft import SFTSettings, SFTTraining, train_sft
from tiny import TINY

REINFORCE = GRPOSettings(steps=2, prompts_per_batch=2, group_size=4, per_device_batch_size=4, learning_rate=1e-3)
TEACH = SFTSettings(epochs=2.0, batch_size=4, per_device_batch_size=4, learning_rate=3e-3, freeze_vision=False)


def large() -> Any:
    """The architecture of Qwen2.5-VL-3B, without memory."""
    with torch.device("meta"):
        return Qwen2_5_VLForConditionalGeneration(config_of("3B", filled_tokenizer(1536).get_vocab()))


def of_weights(number: int) -> torch.nn.Module:
    return torch.nn.Linear(number, 1, bias=False, device="meta")


def adapted(chat: Chat) -> Any:
    from peft import get_peft_model

    adapters = lora_config(4, chat.family)
    assert adapters is not None
    return get_peft_model(fresh_model(chat), adapters)


def config_only(folder: Path) -> Path:
    large().config.save_pretrained(folder)
    return folder


MODELS: dict[str, tuple[Callable[[Path], Any], bool]] = {
    "nothing known": (lambda folder: None, True),
    "the tiny base": (lambda folder: TINY, True),
    "its folder in words": (lambda folder: str(TINY), True),
    "a model": (lambda folder: fresh_model(fresh_chat()), True),
    "another family": (lambda folder: internvl_model(internvl_chat()), True),
    "adapters on it": (lambda folder: adapted(fresh_chat()), True),
    "just small": (lambda folder: of_weights(SMALL - 1), True),
    "just large": (lambda folder: of_weights(SMALL), False),
    "3B": (lambda folder: large(), False),
    "a folder of 3B": (config_only, False),
}
"""What a model may be told by → how it is made, and whether it is small."""


@pytest.mark.parametrize("name", MODELS)
def test_a_small_model_computes_on_the_processor_though_there_are_gpus(name: str, tmp_path: Path, gpus: int) -> None:
    make, small = MODELS[name]
    model = make(tmp_path)
    assert gpus_for(model) == (0 if small else gpus)
    assert gpus_for(model, "cpu", needed=True) == 0
    assert gpus_for(model, "cuda") == gpus_for(model, needed=True) == gpus


@pytest.mark.parametrize("name", MODELS)
def test_without_a_gpu_all_compute_on_the_processor(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    model = MODELS[name][0](tmp_path)
    assert gpus_for(model) == gpus_for(model, "cpu") == gpus_for(model, needed=True) == 0
    with pytest.raises(ValueError, match="device='cuda': torch finds no GPU here"):
        gpus_for(model, "cuda")


def test_another_word_is_refused_by_name() -> None:
    for settings in (SFTSettings, GRPOSettings):
        with pytest.raises(ValueError, match="device='gpu': choose one of auto, cpu, cuda"):
            settings(device=cast(Any, "gpu"))
    with pytest.raises(ValueError, match="device='tpu': choose one of"):
        gpus_for(None, "tpu")


def test_a_checkpoint_s_weights_are_counted_without_reading_them(tmp_path: Path) -> None:
    assert weights_of(TINY) == weights_of(load_model_and_chat(TINY)[0])
    assert weights_of(config_only(tmp_path)) == weights_of(large()) == 3_754_622_976


@pytest.mark.parametrize("settings", [TEACH, REINFORCE], ids=["sft", "grpo"])
def test_the_trainers_arguments_follow_the_size(settings: Any, tmp_path: Path, gpus: int) -> None:
    def told(model: Any, **changed: Any) -> tuple[Any, ...]:
        args = shared_args(replace(settings, **changed), tmp_path, 1, 8, model)
        return args["use_cpu"], args["bf16"], args["gradient_checkpointing"]

    on_gpu, on_cores = (False, True, True), (True, False, False)
    assert told(large()) == told(None, device="cuda") == on_gpu
    assert told(TINY) == told(None) == told(large(), device="cpu") == on_cores
    assert told(large(), gradient_checkpointing=False) == (False, True, False)
    made = settings.trl_args(tmp_path, *(() if settings is REINFORCE else (1,)))
    assert made.device.type == "cpu" and made.n_gpu == 0 and not made.bf16


def test_what_samples_or_divides_on_gpus_has_the_model_there(gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpus_of(REINFORCE, TINY) == 0 and device_of(REINFORCE, TINY) == "cpu"
    assert gpus_of(replace(REINFORCE, rollout_engine="colocate"), TINY) == gpus
    assert gpus_of(REINFORCE, TINY, divided=True) == gpus
    monkeypatch.setenv("KIT_STRATEGY", "fsdp2")
    assert device_of(REINFORCE, TINY) == "cuda"


def trained(stage: str, folder: Path) -> list[dict[str, Any]]:
    """Train the same small model a little; returns its rows."""
    chat = fresh_chat()
    model = fresh_model(chat)
    if stage == "sft":
        train_sft(clone(model), chat, batch(chat), TEACH, folder)
    else:
        tasks = [task(i) for i in range(4)]
        train_grpo(clone(model), chat, tasks, Looks, LIMITS, even_reward, REINFORCE, folder)
    return [dict(row) for row in without_times(folder)]


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_beside_a_gpu_a_small_model_trains_to_the_digit_as_without_one(
    stage: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    without = trained(stage, tmp_path / "without")
    request.getfixturevalue("gpus")
    assert trained(stage, tmp_path / "beside") == without
    assert read_json(tmp_path / "beside" / "checkpoint" / "settings.json")["settings"]["device"] == "cpu"


def test_beside_a_gpu_a_small_model_is_loaded_for_the_processor(gpus: int) -> None:
    model, chat = load_model_and_chat(TINY)
    assert model.device.type == "cpu" and model.dtype == torch.float32 and chat.image_id
    model, _ = load_for_training(TINY, replace(REINFORCE, lora_rank=8))
    assert model.dtype == torch.float32


@pytest.mark.parametrize(("device", "processes", "hidden"), [("auto", 2, True), ("cpu", 2, True), ("cuda", 4, False)])
def test_as_many_processes_as_cores_and_they_see_no_gpu(
    device: Any, processes: int, hidden: bool, tmp_path: Path, gpus: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the model is for GPUs: then one for each of those."""
    jobs: list[dict[str, Any]] = []

    def started(path: Path, machine: int) -> Any:
        jobs.append(read_json(path))
        raise LaunchError("far enough")

    monkeypatch.setenv("KIT_CORES", "2")
    monkeypatch.setattr(launcher, "started", started)
    start, episodes = episode_files(tmp_path)
    training = SFTTraining(str(start), str(episodes), str(tmp_path / "sft"), replace(TEACH, device=device))
    with pytest.raises(LaunchError, match="far enough"):
        launch(training, ProcessConfig(0), Watcher())
    (job,) = jobs
    assert job["hosts"][0]["slots"] == processes and job["on_gpu"] is not hidden
    told = launcher._environment(job, tmp_path)
    assert (told.get("CUDA_VISIBLE_DEVICES") == "") is hidden


def test_processes_of_a_small_model_may_be_more_than_gpus(gpus: int) -> None:
    ProcessConfig(8).check(8, 0)
    with pytest.raises(LaunchError, match=r"8 processes on .*, which has 4 GPU\(s\)"):
        ProcessConfig(8).check(8)


MAY_ASK = {
    "kit/models/device.py": "decides",
    "kit/evaluate/provenance.py": "names the machine's GPUs in a record",
    "kit/train/launch/launcher.py": "says that a GPU is left alone",
    "kit/train/launch/topology.py": "checks a configuration of which no model is known",
    "kit/train/processes.py": "meets other processes before any model is known, by ways for both",
    "kit/train/vllm_rollouts.py": "shares a GPU with an engine, which samples there whatever the model's size",
    "kit/policy/vllm_evaluation.py": "the same for an engine beside a notebook",
    "workshop/command.py": "asks how much memory a plan may fill here",
    "workshop/jobs/machine.py": "refuses a profile for GPUs where there is none",
    "workshop/jobs/doctor.py": "names the machine's GPUs in a report",
}
"""Files that ask torch whether there are GPUs, and what for."""


def test_nobody_else_decides_by_whether_there_is_a_gpu() -> None:
    asks = re.compile(r"\bcuda\.(is_available|device_count)\(|is_torch_cuda_available")
    rooms = ("kit", "tiny", "pictures", "papers", "workshop", "data_scripts")
    found = {
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if asks.search(path.read_text(encoding="utf-8"))
    }
    assert found <= MAY_ASK.keys(), "ask kit.models.device.gpus_for, or say here why not"
