"""Load checkpoints of any size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from transformers import Qwen2_5_VLForConditionalGeneration
from transformers.utils import logging

from kit.chat import check_family
from kit.models.vision_attention import batch_vision_attention


@contextmanager
def without_progress() -> Iterator[None]:
    """Silence transformers' progress bars: every model loaded or saved would print one."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def load_model(path: str | Path, dtype: torch.dtype = torch.float32) -> Qwen2_5_VLForConditionalGeneration:
    """Load a Qwen2.5-VL checkpoint, weights in ``dtype`` (the committed ones are stored in half precision).

    Its vision tower attends within all small pictures at once (:mod:`kit.models.vision_attention`):
    same numbers, sooner.

    Raises:
        ValueError: the checkpoint is missing or of another family.
    """
    check_family(path)
    with without_progress():
        model = Qwen2_5_VLForConditionalGeneration.from_pretrained(str(path), dtype=dtype)
    batch_vision_attention(model)
    return model.eval()
