"""Load checkpoints of any size and of any known family.

torch and transformers take seconds to import, so each function imports them itself: what only names a family or a chat
(the episode viewer, a command that lists runs) does not pay for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.models.family import ModelFamily
from kit.models.internvl import InternVL3
from kit.models.qwen2_5_vl import Qwen25VL

if TYPE_CHECKING:
    import torch

FAMILIES: tuple[type[ModelFamily], ...] = (Qwen25VL, InternVL3)
"""Families that the kit samples and trains."""


def unreadable(size: tuple[int, int], families: Sequence[ModelFamily] = ()) -> str:
    """Say why one of some families can't read an image of this size; an empty string: all of them can.

    Args:
        size: width and height in pixels.
        families: the families; none: all that the kit knows.
    """
    asked = families or [family() for family in FAMILIES]
    return next((why for family in asked if (why := family.unreadable(size))), "")


@contextmanager
def without_progress() -> Iterator[None]:
    """Silence transformers' progress bars: every model loaded or saved would print one."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def family_of(path: str | Path) -> ModelFamily:
    """Find the family of a checkpoint folder or hub id from its ``config.json``.

    Raises:
        ValueError: the checkpoint is missing or of no known family; the message names it and the known ones.
    """
    config = _read_config(path)
    name = config.get("model_type")
    for family in FAMILIES:
        if family.model_type == name:
            return family.from_config(config)
    known = " or ".join(f"{family.model_type!r} ({family.title})" for family in FAMILIES)
    raise ValueError(f"checkpoint {path}: model_type={name!r}; the kit knows {known} only")


def _read_config(path: str | Path) -> dict[str, Any]:
    folder = Path(path)
    if not folder.exists():
        if folder.is_absolute() or str(path).startswith((".", "~")) or str(path).count("/") != 1:
            raise ValueError(f"checkpoint {path}: no such folder, and not a hub id of the form owner/name")
    elif not (folder / "config.json").is_file():
        raise ValueError(f"checkpoint {path}: it holds no config.json; give the folder that save_pretrained wrote")
    from transformers import PreTrainedConfig

    try:
        config, _ = PreTrainedConfig.get_config_dict(str(path))
    except (OSError, ValueError, TypeError, AttributeError) as error:  # not there, or null
        raise ValueError(f"checkpoint {path}: no such folder, or its config.json can't be read: {error}") from error
    return dict(config)


def load_model(path: str | Path, dtype: torch.dtype | None = None) -> Any:
    """Load a checkpoint of any known family, ready to sample, weights in ``dtype`` (None: float32).

    Raises:
        ValueError: the checkpoint is missing, of no known family, or its weights are damaged.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForImageTextToText

    family = family_of(path)
    try:
        with without_progress():
            model = AutoModelForImageTextToText.from_pretrained(str(path), dtype=dtype or torch.float32)
    except SafetensorError as error:  # it names no file
        raise ValueError(f"checkpoint {path}: its weights are damaged ({error}); copy or download it again") from error
    family.prepare(model)
    return model.eval()
