"""The paper's settings are those of its tables, and the profile for its hardware asks for them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from kit.jobs.notebooks import find, parameters
from kit.jobs.run import profile_values
from kit.papers.agile.settings import GRPO, SFT


def test_an_epoch_of_the_papers_tasks_is_244_steps() -> None:
    assert round(15_600 / GRPO.prompts_per_batch) == GRPO.steps  # 15,600 / 64 = 243.75
    assert SFT.steps(1600) == 100  # 2 · 1,600 / 32


@pytest.mark.parametrize(("number", "settings"), [("12", SFT), ("13", GRPO)])
def test_the_node_profile_trains_by_the_papers_settings(number: str, settings: Any) -> None:
    (notebook,) = find(number)
    values = {name: p.default for name, p in parameters(notebook).items()} | profile_values(notebook, "node")
    shared = {"save_every", "seed", "rollout_engine", "vllm_server_url", "per_device_batch_size"}
    told = {name: value for name, value in asdict(settings).items() if name in values and name not in shared}
    assert {"learning_rate", "freeze_vision", "lora_rank"} < told.keys()
    assert {name: values[name] for name in told} == told
