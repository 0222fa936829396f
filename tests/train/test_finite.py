"""Numbers that aren't finite end a training before anything of them is kept; it goes on from what was."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from training_fixtures import LIMITS, Looks, batch, clone, even_reward, task

from kit.chat import Chat
from kit.models import load_model
from kit.policy import Completion, NotFinite
from kit.train.checkpoint import newest_checkpoint
from kit.train.finite import FiniteSteps
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.metrics import read_metrics
from kit.train.sft import SFTSettings, train_sft

COMMON = {"per_device_batch_size": 2, "warmup": 0.0, "save_every": 2}
RATE = 1e-3


def sft(model: Any, chat: Chat, folder: Path, rate: float = RATE, **changed: Any) -> None:
    settings = SFTSettings(epochs=5.0, batch_size=4, learning_rate=rate, schedule="constant", **COMMON)
    train_sft(model, chat, batch(chat), settings, folder, **changed)


def grpo(model: Any, chat: Chat, folder: Path, rate: float = RATE, **changed: Any) -> None:
    settings = GRPOSettings(steps=5, prompts_per_batch=2, group_size=2, learning_rate=rate, **COMMON)
    tasks = [task(i) for i in range(3)]
    train_grpo(model, chat, tasks, Looks, LIMITS, even_reward, settings, folder, **changed)


STAGES = {"sft": sft, "grpo": grpo}


def after_steps(monkeypatch: pytest.MonkeyPatch, number: int, then: Callable[[], None]) -> None:
    """Call ``then`` once the optimizer has taken so many steps."""
    taken = [0]
    step = torch.optim.AdamW.step

    def counted(self: Any, *given: Any, **named: Any) -> Any:
        found = step(self, *given, **named)
        taken[0] += 1
        if taken[0] == number:
            then()
        return found

    monkeypatch.setattr(torch.optim.AdamW, "step", counted)


def whole(folder: Path) -> None:
    """Assert that all that is on disk is finite, and JSON that any reader takes."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    for line in lines:
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} isn't JSON"))
    for saved in (folder / "checkpoint").glob("checkpoint-*"):
        assert all(value.isfinite().all() for value in load_model(saved).state_dict().values())


def weight(model: Any) -> torch.nn.Parameter:
    return model.model.language_model.layers[0].mlp.down_proj.weight


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_none_ends_the_step_and_the_run_goes_on_from_what_was(
    chat: Chat, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, value: float
) -> None:
    folder, broken = tmp_path / stage, clone(model)
    hooks: list[Any] = []

    def spoil() -> None:
        before[0] = weight(broken).detach().clone()
        hooks.append(weight(broken).register_hook(lambda gradient: gradient * value))

    before: list[Any] = [None]
    after_steps(monkeypatch, 3, spoil)
    with pytest.raises(NotFinite, match=rf"{stage}: step 4: the gradient's norm is (nan|inf), at learning_rate=0.001"):
        STAGES[stage](broken, chat, folder)
    for hook in hooks:
        hook.remove()
    assert torch.equal(weight(broken), before[0]), "the step wasn't taken"
    whole(folder)
    assert [row["step"] for row in read_metrics(folder / "metrics.jsonl")] == [1, 2, 3]
    assert newest_checkpoint(folder / "checkpoint") == folder / "checkpoint" / "checkpoint-2"
    assert not (folder / "model").exists()

    monkeypatch.undo()
    STAGES[stage](clone(model), chat, folder)
    STAGES[stage](other := clone(model), chat, tmp_path / "whole" / stage)
    assert torch.equal(weight(load_model(folder / "model")), weight(other)), "as if it had never been interrupted"


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_none_is_named(
    chat: Chat, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, value: float
) -> None:
    """Transformers would log it as 0.0, or as the mean of those before."""
    from kit.train.grpo_trainer import EpisodeGRPOTrainer
    from kit.train.sft_trainer import EpisodeSFTTrainer

    kind = {"sft": EpisodeSFTTrainer, "grpo": EpisodeGRPOTrainer}[stage]
    compute = kind.compute_loss

    def spoilt(self: Any, *given: Any, **named: Any) -> Any:
        return compute(self, *given, **named) + (value if self.state.global_step == 1 else 0.0)

    monkeypatch.setattr(kind, "compute_loss", spoilt)
    with pytest.raises(NotFinite, match=rf"{stage}: step 2: the loss is {value}, at learning_rate=0.001\. .* lower"):
        STAGES[stage](clone(model), chat, tmp_path / stage)
    whole(tmp_path / stage)
    assert not newest_checkpoint(tmp_path / stage / "checkpoint") and not (tmp_path / stage / "model").exists()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("step", [2, 5])
def test_weights_that_are_none_are_not_saved(
    chat: Chat, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, step: int
) -> None:
    """After a step at which a checkpoint is due, and after the last."""
    broken = clone(model)

    def spoil() -> None:
        weight(broken).data[0, 0] = math.inf

    after_steps(monkeypatch, step, spoil)
    with pytest.raises(
        NotFinite, match=rf"{stage}: step {step}: .*of the weight matrices hold numbers that aren't finite"
    ):
        STAGES[stage](broken, chat, tmp_path / stage)
    whole(tmp_path / stage)
    assert not (tmp_path / stage / "model").exists()


def test_nor_are_they_exported_on_the_way(
    chat: Chat, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = clone(model)
    after_steps(monkeypatch, 1, lambda: weight(broken).data.fill_(math.nan))
    with pytest.raises(NotFinite, match=r"sft: step 1: .*of the weight matrices"):
        sft(broken, chat, tmp_path / "sft", exports=(1,))
    assert not (tmp_path / "sft" / "model-1").exists()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("rate", [1e6, 1e20, 1e38])
def test_a_learning_rate_that_breaks_the_model_is_named(
    chat: Chat, model: Any, tmp_path: Path, stage: str, rate: float
) -> None:
    with pytest.raises(NotFinite, match=rf"{stage}: step \d: .* at learning_rate={rate:g}".replace("+", r"\+")):
        STAGES[stage](clone(model), chat, tmp_path / stage, rate)
    whole(tmp_path / stage)
    assert not (tmp_path / stage / "model").exists()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_logits_that_are_none_are_not_sampled_from(chat: Chat, model: Any, value: float, temperature: float) -> None:
    from kit.policy.hf import HFPolicy
    from kit.rollout import RolloutConfig, rollout

    broken = clone(model)
    broken.model.language_model.norm.weight.data.fill_(value)
    config = RolloutConfig(max_turns=2, max_new_tokens=5, stops=(), temperature=temperature)
    with pytest.raises(NotFinite, match=r"the logits to sample from aren't finite: .* learning_rate"):
        rollout(HFPolicy(broken, chat), chat, [task(0), task(1)], Looks, config, [0, 1])


def test_in_training_the_stage_and_the_rate_are_named_with_them(chat: Chat, model: Any, tmp_path: Path) -> None:
    broken = clone(model)

    def spoil(policy: Any) -> dict[str, float]:
        broken.model.language_model.norm.weight.data.fill_(math.nan)
        return {}

    with pytest.raises(NotFinite, match=r"grpo: step 1: the logits .* at learning_rate=0\.001"):
        grpo(broken, chat, tmp_path / "grpo", held_out=spoil)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_back_end_hands_on_what_was_sampled_from_nothing(value: float) -> None:
    with pytest.raises(NotFinite, match="aren't finite"):
        Completion((1, 2), (-0.5, value), "stop")
    assert Completion((1, 2), (-0.5, 0.0), "stop").logprobs == (-0.5, 0.0)


@pytest.mark.parametrize(("loss", "norm", "said"), [(math.nan, 1.0, "the loss is nan"), (1.0, math.inf, "norm is inf")])
def test_what_another_process_finds_ends_this_one_too(loss: float, norm: float, said: str) -> None:
    class Base:
        def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> Any:
            return grad_norm

    class Trainer(FiniteSteps, Base):
        args = SimpleNamespace(learning_rate=0.5, output_dir="a/run/sft/checkpoint")
        state = SimpleNamespace(global_step=6)
        _tr_loss = torch.tensor(2.0)
        accelerator = SimpleNamespace(gather=lambda mine: torch.cat([mine, torch.tensor([[loss, norm]])]))

    for mine in (torch.tensor(3.0), 3.0, None):  # DeepSpeed may know none
        with pytest.raises(NotFinite, match=f"sft: step 7: .*{said}, at learning_rate=0.5"):
            Trainer()._get_grad_norm(None, mine)
