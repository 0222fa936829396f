"""Choose the weights that learn: all of them, all but the vision tower, or low-rank adapters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
def restore_after(model: Any, frozen: Sequence[str] = ()) -> Iterator[Any]:
    """Lend ``model`` to a trainer; afterwards it is as it was, but for what its weights learnt.

    Trainers patch the forward pass and the flags of a model they are given. Undone here: the patched
    forward, ``requires_grad`` and the training mode; also after an error or an interrupt.

    Args:
        model: a transformers model, without adapters.
        frozen: attributes of its base model that must not learn (``ModelFamily.vision_modules``).
    """
    training = model.training
    learns = {name: p.requires_grad for name, p in model.named_parameters()}
    forward = model.__dict__.get("forward")
    hook = model.model.register_forward_pre_hook(_drop_no_images, with_kwargs=True)
    for name in frozen:
        getattr(model.model, name).requires_grad_(False)
    try:
        yield model
    finally:
        hook.remove()
        for name in ("forward", "_original_forward"):
            model.__dict__.pop(name, None)
        if forward is not None:
            model.forward = forward
        for name, parameter in model.named_parameters():
            if name in learns:
                parameter.requires_grad_(learns[name])
        model.train(training)


def _drop_no_images(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Leave out images where there are none.

    TRL cuts a batch into micro-batches; one without any image gets tensors of zero rows, on which the
    vision tower fails.
    """
    pixels = kwargs.get("pixel_values")
    if pixels is not None and len(pixels) == 0:
        kwargs = {k: v for k, v in kwargs.items() if k not in ("pixel_values", "image_grid_thw")}
    return args, kwargs
