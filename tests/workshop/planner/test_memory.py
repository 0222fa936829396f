"""What a training needs, worked out by hand and measured where it can be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch

from kit.chat import Chat
from kit.models import load_model
from kit.policy.hf import batch_size_that_fits
from tiny import TINY
from workshop.command import main
from workshop.jobs.plan import stages
from workshop.jobs.run import plan
from workshop.planner.architecture import Architecture
from workshop.planner.memory import (
    GB,
    HOST,
    Stage,
    engine_room,
    fixed,
    hours,
    learning_pass,
    needed,
    sampling,
    seconds,
)
from workshop.planner.told import of_stage

SEVEN = Architecture.of("Qwen/Qwen2.5-VL-7B-Instruct")
NODE = Stage(
    SEVEN, 8, 80 * GB, "zero3", "colocate", per_device_batch_size=2, batch=512, tokens=10000, picture_tokens=4000,
    sampled=5000, lora_rank=0, freeze_vision=False,
)  # fmt: skip


def sizes(needs: Any) -> dict[str, float]:
    return {need.name: round(need.bytes / GB, 3) for need in needs}


def test_golden_node() -> None:
    # By hand, 8,292,166,656 weights on 8 GPUs: 2 B each 2.073 GB; gradients the same; 12 B each 12.438 GB; buckets
    # 2 · 2 · .5 + 2 · 1 = 4 GB; the engine .3 · 80 = 24 GB, of which 80 · .3 − 16.584 − 2.5 = 4.916 GB for its cache.
    assert sizes(fixed(NODE)) == {
        "weights": 2.073, "gradients": 2.073, "optimizer": 12.438, "buckets": 4.0, "engine": 24.0, "CUDA": 1.0
    }  # fmt: skip
    assert engine_room(NODE) / GB == pytest.approx(4.916, abs=1e-3)
    # 20,000 tokens: 28 layers × 2 · 3,584 B, and of one layer 20 · 3,584 + 8 · 18,944 + 4 · 512 + 4 · 28 + 8 B =
    # 225,400 B: 20,000 × (200,704 + 225,400) = 8.522 GB; 32,000 patches × 1,176 × 4 B = .151 GB; of the vision tower
    # 32 layers' inputs: 32,000 × 32 × 2 · 1,280 B = 2.621 GB.
    assert sizes(learning_pass(NODE)) == {"activations": 8.522, "pictures": 0.151, "vision tower": 2.621}
    assert list(sampling(NODE)) == []
    assert needed(NODE) / GB == pytest.approx(45.584 + 11.294, abs=2e-3)
    # (6 + 2 + 2) · 8.292e9 · 64 · 10,000 / (.2152 · 312e12) = 790.3 s; others' 5,000 tokens: 2 · 8.292e9 · 64 · 5,000 /
    # 67.15e12 = 79.0 s. The cache holds 4.916 GB / (5,000 tokens · 57,344 B) = 17.1 episodes, half grown: 64 / 17.1 ·
    # 5,000 = 18,660 tokens one after another, each reading 16.584 + 4.916 GB at .3905 · 2 TB/s: 513.7 s.
    assert seconds(NODE)["learning"][0] == pytest.approx(790.3, abs=0.5)
    assert seconds(NODE)["reading"][0] == pytest.approx(79.0, abs=0.1)
    assert seconds(NODE)["playing"][0] == pytest.approx(513.7, abs=1)


def test_weights_gradients_and_optimizer_are_those_of_a_real_step() -> None:
    """The tiny model after one step of AdamW, counted tensor by tensor."""
    model = load_model(TINY)
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(10, 200, (2, 20))
    model(input_ids=ids, labels=ids, mm_token_type_ids=torch.zeros_like(ids)).loss.backward()
    model.model.visual.requires_grad_(False)
    optimizer.step()
    text = [p for name, p in model.named_parameters() if "visual" not in name]
    state = [value for p in text for value in optimizer.state[p].values() if value.dim()]
    stage = replace(
        NODE, model=Architecture.of(str(TINY)), gpus=1, strategy="ddp", freeze_vision=True, rollout_engine=None
    )
    found = {need.name: need.bytes for need in fixed(stage)}
    assert found["weights"] == sum(p.nbytes for p in model.parameters())
    assert found["gradients"] == sum(p.grad.nbytes for p in text if p.grad is not None)
    assert found["optimizer"] == sum(value.nbytes for value in state)


def test_what_learns_and_what_is_divided() -> None:
    alone = replace(NODE, gpus=1, strategy="ddp", rollout_engine="server")
    assert sizes(fixed(alone)) | {"CUDA": 0} == {
        "weights": 33.169, "half copies": 16.584, "gradients": 33.169, "optimizer": 66.337, "CUDA": 0
    }  # fmt: skip
    two = sizes(fixed(replace(NODE, strategy="zero2", rollout_engine="server")))
    assert (two["weights"], two["gradients"], two["optimizer"]) == (16.584, 2.073, 12.438)
    own = sizes(fixed(replace(NODE, strategy="fsdp2", rollout_engine="server")))
    assert (own["weights"], own["gradients"], own["optimizer"]) == (4.146, 4.146, 8.292)
    adapters = replace(alone, lora_rank=32, freeze_vision=True)
    assert sizes(fixed(adapters))["weights"] == pytest.approx(16.584 + 2 * SEVEN.adapters(32) / GB, abs=1e-3)
    assert "reference" in sizes(fixed(replace(NODE, reference=True)))


def test_more_of_anything_never_needs_less() -> None:
    for strategy in ("ddp", "zero2", "zero3", "fsdp2"):
        for rollout_engine in (None, "transformers", "colocate", "server"):
            stage = replace(NODE, strategy=strategy, rollout_engine=rollout_engine)
            assert needed(replace(stage, per_device_batch_size=4)) >= needed(stage)
            assert needed(replace(stage, recompute=False)) > needed(stage)
            assert needed(replace(stage, gpus=16)) <= needed(stage)


def test_as_many_at_once_as_there_is_room_for() -> None:
    # Half of 24 GB for episodes of 10,000 tokens of 57,344 B each: 12e9 / 573,440,000 = 20.9.
    assert batch_size_that_fits(64, 24e9, 57344, 10000) == 20
    assert batch_size_that_fits(8, 24e9, 57344, 10000) == 8
    assert batch_size_that_fits(64, -1.0, 57344, 10000) == 1


def test_the_profiles_fit_where_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    """Eight GPUs of 80 GB, and one of 24."""
    for family in ("agile", "visual_arft", "codedance", "mags_rl", "vista_gym"):
        assert main(["plan", family, "--profile", "node", "--gpus", "8", "--memory", "80"]) == 0
        assert main(["plan", family, "--profile", "gpu"]) == 0
        assert main(["plan", family, "--profile", "laptop"]) == 0
    assert capsys.readouterr().out.count("\nfits") == 3 * 3 + 1 + 1 + 2 + 3 + 3 + 4 + 6  # lessons on a laptop only


def test_a_plan_says_hours_and_gpu_hours(capsys: pytest.CaptureFixture[str]) -> None:
    """Steps of the cold start: 2 epochs of 1,600 episodes, 32 at once."""
    stage = replace(NODE, steps=100)
    assert hours(stage) == pytest.approx(100 * sum(value for value, _ in seconds(stage).values()) / 3600)
    assert main(["plan", "agile", "--profile", "node", "--until", "13"]) == 0
    said = capsys.readouterr().out
    sft, grpo = re.findall(r"^ +([\d.]+) (?:min|h)  (\d+) steps, ([\d.]+) GPU-hours$", said, re.MULTILINE)
    assert (sft[1], grpo[1]) == ("100", "244")
    total = re.search(r"trainings together: [\d.]+ h, ([\d.]+) GPU-hours; evaluations come on top", said)
    assert total and float(total[1]) == pytest.approx(float(sft[2]) + float(grpo[2]), abs=0.11)


@pytest.mark.parametrize(
    ("notebook", "tokens", "pictures", "sampled"),
    [
        ("13", 8192 + 20000, 8192, 5 * 2048),  # AGILE, Table 5: prompt and response
        ("23", 28192, 8192, 5 * 2048),  # Visual-ARFT tells no limits: both are ours
        ("33", 2 * 10240, 10240, 10240),  # CodeDance's released scripts: both alike, less than 6 turns of 2,048
        ("43", 16384, 1280 + 8 * 1338, 2 * 1024),  # Mags-RL's two rounds and eight crops (ours: it doesn't say)
        ("54", 8192 + 26780, 8192, 3 * 8192),  # VISTA-Gym, section 6.1: the response; the prompt's 8,192 are ours
    ],
)
def test_the_longest_episode_is_the_papers_own(notebook: str, tokens: int, pictures: int, sampled: int) -> None:
    job = plan(notebook, "node", [], "planned")
    found = [stage for name, stage in stages(job, None, None) if "GRPO" in name]
    assert [(stage.tokens, stage.picture_tokens, stage.sampled) for stage in found] == [(tokens, pictures, sampled)]
    (told,) = (stage for name, stage in stages(job, None, None, picture_tokens=1000) if "GRPO" in name)
    assert told.picture_tokens == 1000


def test_what_a_process_remembers_of_images_is_planned_for(capsys: pytest.CaptureFixture[str]) -> None:
    """A gigabyte of 2^30 bytes, of the machine's memory: the GPU's sum stays as it is."""
    assert main(["plan", "13", "--profile", "node"]) == 0
    said = capsys.readouterr().out
    assert "1.07 GB of the machine's own memory, each process\n        1.07 images " in said
    assert HOST[0].bytes == Chat.from_pretrained(TINY).pixels.max_bytes


def test_a_plan_that_cant_fit_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "12", "--profile", "node", "--gpus", "1"]) == 2
    said = capsys.readouterr().out
    assert "DOES NOT FIT: 135.3 GB are needed on each GPU of 80; what would make it fit, found by trying: " in said
    assert "lora_rank=32 with freeze_vision=true (then 30.3 GB); or 2 GPUs instead of 1 (then 73.7 GB)" in said
    assert "the engine's share of 12.0 GB doesn't hold its weights" in of_stage("", replace(NODE, memory=40 * GB))


def test_what_cant_be_planned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "11", "--profile", "node"]) == 2
    assert "11_agile: nothing here trains" in capsys.readouterr().err
    assert main(["plan", "12", "--profile", "node", "--set", "model=someone/else"]) == 2
    assert "model 'someone/else': no folder" in capsys.readouterr().err
