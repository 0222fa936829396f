"""Processes that train together: how many there are, which one this is, and what only the first one does."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import torch

T = TypeVar("T")

STRATEGY = "KIT_STRATEGY"
"""Environment variable: how the model is divided among the processes (set by :mod:`kit.train.launch.launcher`)."""


def world_size() -> int:
    """Processes that train together (set by ``accelerate launch``)."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def rank() -> int:
    """Number of this process among those that train together."""
    return int(os.environ.get("RANK", "0"))


def by_deepspeed() -> bool:
    """True if DeepSpeed divides the model (set by :mod:`kit.train.launch.launcher` or ``accelerate launch``)."""
    return os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() == "true"


@cache
def init_process_group() -> None:
    """Meet the other processes, if there are any; and take leave of them before the interpreter goes."""
    from accelerate import PartialState

    if torch.cuda.is_available():  # where a script is started by hand: which model it trains, isn't known yet
        PartialState(backend="cuda:nccl,cpu:gloo")
    elif by_deepspeed():
        PartialState(backend="gloo")
    else:
        PartialState(cpu=True)
    if world_size() > 1:
        atexit.register(_leave)


def _leave() -> None:
    """Gloo's threads end with the last reference to their group; an interpreter that ends before them is aborted."""
    gc.collect()  # a trainer and its DDP wrapper, which hold the group, are cycles
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def run_on_rank0(once: Callable[[], T]) -> T:
    """Call ``once`` in the first process; its result is returned, its error raised, in all that train together.

    Else the others would wait for one that is gone, or several would write the same file at once.
    """
    if world_size() == 1:
        return once()
    from accelerate.utils import broadcast_object_list

    init_process_group()
    outcome: list[Any] = [None, None]
    if rank() == 0:
        try:
            outcome[0] = once()
        except Exception as error:
            outcome[1] = error
    made, failed = broadcast_object_list(outcome)
    if failed is not None:
        raise failed
    return cast(T, made)
