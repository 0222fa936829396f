"""The way out of a plan that doesn't fit: found by trying, the smallest first, and true."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workshop.planner.advice import advice, changed, changes, fits, smallest
from workshop.planner.architecture import Architecture
from workshop.planner.memory import GB, Stage, engine_room, needed

NODE = Stage(
    Architecture.of("Qwen/Qwen2.5-VL-7B-Instruct"), 8, 80 * GB, "zero3", "colocate", per_device_batch_size=2, batch=512,
    tokens=10000, picture_tokens=4000, sampled=5000, lora_rank=0, freeze_vision=False,
)  # fmt: skip
TIGHT = [
    replace(NODE, memory=48 * GB, recompute=False),
    replace(NODE, gpus=2, memory=24 * GB),
    replace(NODE, gpus=1, strategy="ddp", rollout_engine="transformers"),
    replace(NODE, gpus=2, memory=40 * GB, tokens=28192, per_device_batch_size=8),
]


@pytest.mark.parametrize("stage", TIGHT)
def test_what_is_advised_fits_and_nothing_smaller_does(stage: Stage) -> None:
    assert not fits(stage)
    found = smallest(stage)
    assert found
    for some in found:
        other = changed(stage, some)
        assert needed(other) <= stage.memory
        assert other.rollout_engine != "colocate" or engine_room(other) > 0
        for left_out in range(len(some)):
            assert not fits(changed(stage, some[:left_out] + some[left_out + 1 :])), "no change is in vain"
    for change in changes(stage):
        assert (len(found[0]) == 1) or not fits(changed(stage, [change])), "no single change would have done"
    for some in found[:4]:
        assert all(change.text in advice(stage) for change in some)


def test_a_larger_share_is_advised_only_where_it_helps() -> None:
    # Weights of 16.584 GB, 2.5 to work with, 10,000 tokens of .573: 41 % of 48 GB, so .45; .3 is too little.
    small = replace(NODE, memory=48 * GB, gpus=16, per_device_batch_size=1)
    assert engine_room(small) < 0
    assert "gpu_memory_utilization=0.45 in GRPOSettings" in advice(small)
    crowded = replace(NODE, gpus=2, memory=24 * GB)
    assert "gpu_memory_utilization" not in advice(crowded), "of 24 GB no share is left for it"


def test_a_hopeless_plan_says_by_how_much() -> None:
    hopeless = replace(NODE, gpus=1, memory=1 * GB, rollout_engine=None)
    said = advice(hopeless)
    assert said.startswith("no set of changes tried makes it fit: even the smallest needs ")
    numbers = [float(word) for word in said.replace(",", "").split() if word.replace(".", "").isdigit()]
    assert numbers[1] == pytest.approx(numbers[0] - 1, abs=0.11)
