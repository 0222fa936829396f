"""Evaluations played by vLLM: a checkpoint's engine beside the notebook, where the run's trainings have one too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import torch

from kit.chat import Chat
from kit.models import load_model
from kit.policy import Policy
from kit.policy.engine_io import ContextSource, Continuation, EngineError
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.limits import ENGINE
from kit.policy.vllm import Engine, VLLMPolicy


class OnDemand:
    """The engine of a checkpoint, opened when it is to sample; a process has one open, for a GPU has room for one.

    Args:
        path: the checkpoint.
        dtype: of its weights.
    """

    now: ClassVar[OnDemand | None] = None

    def __init__(self, path: str | Path, dtype: torch.dtype) -> None:
        self.path, self.dtype = path, dtype

    @classmethod
    def close(cls) -> None:
        """Close the one that is open, in a process of its own, and give its memory back."""
        if cls.now is not None:
            cls.now.engine.llm.llm_engine.engine_core.shutdown()
            cls.now = None

    def _open(self) -> Engine:
        if OnDemand.now is not self:
            OnDemand.close()
            share = 0.3
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
                free, memory = torch.cuda.mem_get_info()
                share = 0.8 * free / memory  # what stays is for the model that is on the GPU already
            options = {"dtype": str(self.dtype).removeprefix("torch."), "max_model_len": -1}  # as long as fits
            try:
                self.engine = Engine.load(self.path, gpu_memory_utilization=share, **options)
            except RuntimeError as error:
                raise EngineError(f"no vLLM for {self.path}: {error}; {ENGINE}=transformers does without") from error
            OnDemand.now = self
        return self.engine

    @property
    def wants_levels(self) -> bool:
        """Say whether images go to the engine as levels."""
        return self._open().wants_levels

    def stream(self, ready: ContextSource) -> Iterator[tuple[int, Continuation]]:
        """Continuations as they come."""
        return self._open().stream(ready)

    def forget(self) -> None:
        """Nothing: its weights stay as they are."""


def evaluator(policy: Policy) -> Policy:
    """Choose who plays where nothing is trained: vLLM where the run says so, if a model's folder holds it as it is."""
    if type(policy) is not HFPolicy or not _by_vllm(policy.chat) or policy.model.training:
        return policy
    model, path, now = policy.model, policy.model.config._name_or_path, _bits(policy.model)
    bits, found = model.__dict__.get("evaluator", (None, None))
    if bits != now:
        unchanged = path and _bits(load_model(path, model.dtype)) == now
        found = VLLMPolicy(OnDemand(path, model.dtype), policy.chat) if unchanged else None
        model.__dict__["evaluator"] = now, found
    return found or policy


def load_evaluator(path: str | Path) -> tuple[Policy, Chat]:
    """Make the policy that a checkpoint is evaluated by, and its chat; beside vLLM no model is loaded."""
    if not _by_vllm(chat := Chat.from_pretrained(path)):
        model, chat = load_model_and_chat(path)
        return HFPolicy(model, chat), chat
    return VLLMPolicy(OnDemand(path, torch.bfloat16 if torch.cuda.is_available() else torch.float32), chat), chat


def _by_vllm(chat: Chat) -> bool:
    return os.environ.get(ENGINE) == "colocate" and chat.family.vllm


def _bits(model: Any) -> list[int]:
    """Sum up the bits of each of the weights, read as numbers: another value shows."""
    kinds = {2: torch.int16, 4: torch.int32}
    return [int(weights.detach().view(kinds[weights.itemsize]).sum()) for weights in model.parameters()]
