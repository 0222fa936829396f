"""Settings are read from a notebook's variables by name: nothing that is missing or misspelt is passed over."""

from __future__ import annotations

from typing import Any

import pytest

from kit.train.grpo import GRPOSettings
from kit.train.sft import SFTSettings

SFT = {
    "epochs": 3.0,
    "batch_size": 4,
    "replay": 2,
    "per_device_batch_size": 2,
    "learning_rate": 1e-3,
    "freeze_vision": False,
    "lora_rank": 8,
    "seed": 5,
}
GRPO = {
    **{"steps": 7, "prompts_per_batch": 2, "group_size": 4, "per_device_batch_size": 8, "learning_rate": 1e-3},
    **{"schedule": "cosine", "beta": 0.1, "freeze_vision": True, "lora_rank": 0, "seed": 5},
}
OTHERS = {"run": "mine", "advantage": "a tensor of the notebook's", "max_turns": 5}
"""A notebook's variables that are no settings, one of them by a setting's name."""


def test_settings_are_read_from_a_notebooks_variables() -> None:
    assert SFTSettings.of(SFT | OTHERS) == SFTSettings(**SFT)
    engine = {"rollout_engine": "server", "vllm_server_url": "http://node-c:8000"}
    assert GRPOSettings.of(GRPO | OTHERS) == GRPOSettings(**GRPO)
    assert GRPOSettings.of(GRPO | engine | OTHERS) == GRPOSettings(**GRPO, **engine)


@pytest.mark.parametrize("kept", [True, False])
def test_a_memory_setting_is_read_where_it_is_set(kept: bool) -> None:
    for settings, values in ((SFTSettings, SFT), (GRPOSettings, GRPO)):
        found = settings.of({**values, "gradient_checkpointing": kept}).gradient_checkpointing
        assert found is kept and settings.of(values).gradient_checkpointing is None


def test_what_is_given_comes_before_the_notebooks_variables() -> None:
    found = GRPOSettings.of({**GRPO, **OTHERS, "seed": 1}, seed=2, advantage="per_turn")
    assert (found.seed, found.advantage, found.steps) == (2, "per_turn", 7)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"group_sise": 4}, r"GRPOSettings.of: no group_size \(is group_sise meant\?\): declare it"),
        ({}, r"GRPOSettings.of: no group_size: declare it in the parameters cell, or give group_size=… here"),
    ],
)
def test_a_parameter_that_is_missing_or_misspelt_is_named(wrong: dict[str, Any], said: str) -> None:
    without = {name: value for name, value in GRPO.items() if name != "group_size"}
    with pytest.raises(ValueError, match=said):
        GRPOSettings.of(without | wrong)


def test_a_misspelt_parameter_that_need_not_be_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"no rollout_engine \(is rollout_engin meant\?\)"):
        GRPOSettings.of(GRPO | {"rollout_engin": "colocate"})
