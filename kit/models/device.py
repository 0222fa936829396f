"""Choose where a model computes: a small one on the processor, even where there is a GPU.

Each product is told to a GPU by itself, and a small one is done before the next is told: a GRPO step of the tiny base
took 27 s on an H200 and 16 s on two cores, which also repeat the published figures to the digit. Playing, training and
the number of processes all ask here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from kit.models import family_of

Device = Literal["auto", "cpu", "cuda"]

SMALL = 50_000_000
"""Weights from which on ``auto`` takes a GPU: ours, between the 3 million and the 3 billion that were measured."""


def gpus_for(model: Any, device: str = "auto", needed: bool = False) -> int:
    """Count the GPUs on which a model is to compute: all there are, or 0 for the processor.

    Args:
        model: a model, its PEFT wrapper, or a checkpoint's folder or hub id; None: a small one.
        device: ``cpu``, ``cuda``, or ``auto``, which decides by the model's size.
        needed: something else wants the model on a GPU, such as vLLM, which samples there: ``auto`` doesn't count.

    Raises:
        ValueError: ``cuda``, but torch finds no GPU; another word; or a checkpoint of no known family.
    """
    import torch

    if device not in get_args(Device):
        raise ValueError(f"device={device!r}: choose one of {', '.join(get_args(Device))}")
    gpus = torch.cuda.device_count()
    if device == "cuda" and not gpus:
        raise ValueError("device='cuda': torch finds no GPU here; take 'auto', or 'cpu'")
    if not gpus or device == "cpu" or (device == "auto" and not needed and weights_of(model) < SMALL):
        return 0
    return gpus


def weights_of(model: Any) -> int:
    """Count the weights of a model; of a checkpoint by its configuration, without reading them."""
    import torch
    from transformers import AutoConfig, AutoModelForImageTextToText

    if isinstance(model, (str, Path)):
        family_of(model)
        with torch.device("meta"):
            model = AutoModelForImageTextToText.from_config(AutoConfig.from_pretrained(str(model)))
    return sum(weight.numel() for weight in model.parameters()) if model is not None else 0
