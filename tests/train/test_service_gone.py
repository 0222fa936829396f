"""A training whose tool service is gone for good ends with a message, and goes on as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from toy_tools import HERE, OPTIONS, TOYS
from training_fixtures import LIMITS, Looks, OnStep, even_reward, fresh_chat, fresh_model, task, without_times

from kit.episode import Action, Observation
from kit.tools.base import run_tool
from kit.train.grpo import GRPOSettings, train_grpo
from visual_tools.serve.client import ServiceGone, ToolService, remote
from visual_tools.serve.command import running

pytestmark = [pytest.mark.slow, pytest.mark.processes]

SETTINGS = GRPOSettings(
    steps=4, prompts_per_batch=2, group_size=2, per_device_batch_size=2, learning_rate=1e-3, save_every=2, seed=3
)


class Asks(Looks):
    """Hands whatever is said to a tool of a service, and shows what that says."""

    def __init__(self, service: ToolService) -> None:
        (self.tool,) = remote([TOYS[0]()], service)

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        seen = run_tool(self.tool, Action("toy.echo", "", {"text": action[:3]}), {})
        return seen, 0.0, False, False, {"action": Action("code", "")}


def trained(folder: Path, service: ToolService, after: Callable[[int], object] = lambda step: None) -> Any:
    """Four steps, a checkpoint every second; ``after`` is called with each step's number."""
    asking = ToolService(service.address, retries=1)
    chat = fresh_chat()
    model, tasks = fresh_model(chat), [task(i) for i in range(3)]
    watch = OnStep(lambda rows: after(rows[-1]["step"]))
    train_grpo(model, chat, tasks, lambda: Asks(asking), LIMITS, even_reward, SETTINGS, folder, watcher=watch)
    return model


def test_it_ends_resumably_and_comes_to_the_same(tmp_path: Path) -> None:
    with running(*OPTIONS, folder=HERE) as service:
        (pool,) = service.health()["pools"].values()
        server = psutil.Process(pool["workers"][0]["pid"]).parent()
        assert server is not None

        def killed(step: int) -> None:
            if step == 3:
                server.kill()

        with pytest.raises(ServiceGone, match=f"no tool service answers at {service.address}.* from its last checkpoi"):
            trained(tmp_path / "a", service, killed)
        assert [row["step"] for row in without_times(tmp_path / "a")] == [1, 2, 3]
        assert not (tmp_path / "a" / "model").exists(), "it isn't done"
    with running(*OPTIONS, folder=HERE) as anew:
        resumed, whole = trained(tmp_path / "a", anew), trained(tmp_path / "b", anew)
    assert len(without_times(tmp_path / "b")) == 4 and without_times(tmp_path / "a") == without_times(tmp_path / "b")
    for (name, one), other in zip(resumed.named_parameters(), whole.parameters(), strict=True):
        assert one.equal(other), name
