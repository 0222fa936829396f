"""The paper's settings are those of its tables, and the profile for its hardware asks for them."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from kit.jobs.notebooks import find, parameters
from kit.jobs.plan import stages
from kit.jobs.run import plan, profile_values
from kit.papers.agile import settings as declared
from kit.papers.agile.settings import GRPO, SFT
from kit.train.planner.advice import fits
from kit.train.planner.memory import GB, needed


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


def test_the_declared_figures_of_the_engines_share_are_the_planners() -> None:
    """Table 5's share doesn't fit beside a trainer that keeps it; the kit's does."""
    job = plan("13", "node", [], None)
    ((_, ours),) = stages(job, None, 80 * GB)
    theirs = replace(ours, gpu_memory_utilization=0.7)
    assert fits(ours) and not fits(theirs)
    told = f"With 0.7 the planner finds {needed(theirs) / GB:.1f} GB"
    assert told in declared.__doc__ and f"0.3 it finds {needed(ours) / GB:.1f}." in declared.__doc__
