"""Choose the weights that learn: all of them, all but the vision tower, or low-rank adapters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from kit.models.family import ModelFamily

if TYPE_CHECKING:
    from peft import LoraConfig


def lora_config(rank: int, family: ModelFamily) -> LoraConfig | None:
    """Adapters of ``rank`` on the language model, scaled by 2 (α = 2·rank); None for rank 0: train everything."""
    if rank == 0:
        return None
    from peft import LoraConfig

    return LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=family.lora_targets)


@contextmanager
def restore_after(model: Any, vision: Sequence[str] = (), freeze: bool = True) -> Iterator[Any]:
    """Lend ``model`` to a trainer; afterwards it is as it was, but for what its weights learnt.

    Trainers patch the forward pass and the flags of a model they are given. Undone here: the patched
    forward, ``requires_grad``, checkpointing and the training mode; also after an error or an interrupt.

    Args:
        model: a transformers model, without adapters.
        vision: attributes of its base model that see (``ModelFamily.vision_modules``): no gradients while none learns.
        freeze: whether these must not learn.
    """
    training, recomputes = model.training, model.is_gradient_checkpointing
    learns = {name: p.requires_grad for name, p in model.named_parameters()}
    towers = [getattr(model.model, name) for name in vision]
    forwards = [(each, each.__dict__.get("forward")) for each in (model, *towers)]
    hook = model.model.register_forward_pre_hook(_drop_no_images, with_kwargs=True)
    for tower in towers:
        if freeze:
            tower.requires_grad_(False)
        tower.forward = partial(_see, towers, tower.forward)
    try:
        yield model
    finally:
        hook.remove()
        for each, forward in forwards:
            for name in ("forward", "_original_forward"):
                each.__dict__.pop(name, None)
            if forward is not None:
                each.forward = forward
        for name, parameter in model.named_parameters():
            if name in learns:
                parameter.requires_grad_(learns[name])
        if not recomputes:
            model.gradient_checkpointing_disable()
            model.disable_input_require_grads()
        model.train(training)


def _see(towers: Sequence[Any], forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Compute what a tower sees, for a backward pass only if some weight of the towers learns.

    To compute activations again, transformers asks for gradients of what enters each tower, a frozen one too. Asked
    at each pass: adapters freeze it after the trainer got the model.
    """
    if any(p.requires_grad for tower in towers for p in tower.parameters()):
        return forward(*args, **kwargs)
    for tower in towers:
        tower.eval()  # else its layers prepare to be computed again
    with torch.no_grad():
        return forward(*args, **kwargs)


def _drop_no_images(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Leave out images where there are none.

    TRL cuts a batch into micro-batches; one without any image gets tensors of zero rows, on which the
    vision tower fails.
    """
    pixels = kwargs.get("pixel_values")
    if pixels is not None and len(pixels) == 0:
        kwargs = {k: v for k, v in kwargs.items() if k not in ("pixel_values", "image_grid_thw")}
    return args, kwargs
