"""Messages and pictures to token ids and pixel tensors, for the Qwen2.5-VL family.

This is the only module that writes role and picture tokens. Everything that did not come from
us (questions, tool output, code output, file names) is encoded with special tokens switched
off, so a picture named ``<|image_pad|>`` stays thirteen ordinary characters.

A turn is closed and the next one opened by one call, :meth:`Chat.reply`, so that an episode is a
concatenation of id lists: nothing is ever decoded and encoded again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoImageProcessor, AutoTokenizer

from kit.episode import NamedImage

FAMILY = "qwen2_5_vl"
CONTROL_TOKENS = (
    "<|im_start|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
"""What only this module may write. A policy must never sample them (see :attr:`Chat.suppressed_ids`)."""

Content = Sequence[str | NamedImage]
"""Text and pictures in reading order."""


@dataclass(frozen=True, eq=False)
class Pixels:
    """One picture as the vision tower reads it.

    ``patches``: ``(t*h*w, channels*temporal*patch*patch)``; ``grid``: ``(t, h, w)`` in patches.
    """

    patches: Tensor
    grid: tuple[int, int, int]


class Chat:
    """Encodes conversations for one checkpoint.

    Args:
        tokenizer: the checkpoint's tokenizer.
        image_processor: its PIL image processor (``Qwen2VLImageProcessorPil``).
    """

    def __init__(self, tokenizer: Any, image_processor: Any) -> None:
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        ids = tokenizer.convert_tokens_to_ids([*CONTROL_TOKENS, "<|im_end|>"])
        if any(i is None or i == tokenizer.unk_token_id for i in ids):
            raise ValueError(
                f"this tokenizer lacks some of {[*CONTROL_TOKENS, '<|im_end|>']}: "
                "it is not of the Qwen2.5-VL family, the one kit.chat writes"
            )
        named = dict(zip([*CONTROL_TOKENS, "<|im_end|>"], ids, strict=True))
        self.image_id: int = named["<|image_pad|>"]
        self.end_id: int = named["<|im_end|>"]
        self._vision = (named["<|vision_start|>"], named["<|vision_end|>"])
        self._start: int = named["<|im_start|>"]
        self.pad_id: int = tokenizer.pad_token_id
        # Every other special token (end of text, boxes, ...) would confuse a later turn as well.
        special = set(tokenizer.all_special_ids) | {named[t] for t in CONTROL_TOKENS}
        self.suppressed_ids: tuple[int, ...] = tuple(sorted(special - {self.end_id}))
        self.pixels = lru_cache(maxsize=4096)(self._pixels)

    @classmethod
    def from_pretrained(cls, path: str | Path) -> Chat:
        """Load tokenizer and image processor of a checkpoint folder or hub id.

        Raises:
            ValueError: the checkpoint is not of the Qwen2.5-VL family.
        """
        check_family(path)
        # The PIL back end by name: where torchvision is installed the default resamples differently.
        processor = AutoImageProcessor.from_pretrained(str(path), backend="pil")
        return cls(AutoTokenizer.from_pretrained(str(path)), processor)

    def text(self, text: str) -> list[int]:
        """Ids of ``text``; nothing in it can become a control token."""
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def decode(self, ids: Sequence[int]) -> str:
        """Text of sampled ids, control tokens left out."""
        return str(self.tokenizer.decode([i for i in ids if i != self.end_id], skip_special_tokens=False))

    def _pixels(self, picture: NamedImage) -> Pixels:
        out = self.image_processor(images=[picture.image.convert("RGB")], return_tensors="pt")
        t, h, w = (int(n) for n in out["image_grid_thw"][0])
        return Pixels(out["pixel_values"], (t, h, w))

    def levels(self, picture: NamedImage) -> Pixels:
        """Undo scaling and normalisation of an image's patches: levels from 0 to 255, as bytes."""
        pixels, processor = self.pixels(picture), self.image_processor
        each = pixels.patches.shape[1] // len(processor.image_mean)  # a patch is channel after channel
        mean, std = (torch.tensor(v).repeat_interleave(each) for v in (processor.image_mean, processor.image_std))
        levels = (pixels.patches * std + mean) / processor.rescale_factor
        return Pixels(levels.round().to(torch.uint8), pixels.grid)

    def image_tokens(self, picture: NamedImage) -> int:
        """Count the tokens that the language model sees for ``picture``: patches / merge²."""
        t, h, w = self.pixels(picture).grid
        return t * h * w // self.image_processor.merge_size**2

    def content(self, content: Content) -> list[int]:
        """Ids of text and pictures in reading order."""
        ids: list[int] = []
        for part in content:
            if isinstance(part, str):
                ids += self.text(part)
            else:
                ids += [self._vision[0], *[self.image_id] * self.image_tokens(part), self._vision[1]]
        return ids

    def message(self, role: str, content: Content) -> list[int]:
        """One closed message: ``<|im_start|>role\\n … <|im_end|>\\n``."""
        return [self._start, *self.text(f"{role}\n"), *self.content(content), self.end_id, *self.text("\n")]

    def open_assistant(self) -> list[int]:
        """The tokens after which the policy speaks."""
        return [self._start, *self.text("assistant\n")]

    def prompt(self, system: str, user: Content) -> list[int]:
        """A first prompt: system message, user message, and the assistant's turn opened."""
        head = self.message("system", [system]) if system else []
        return [*head, *self.message("user", user), *self.open_assistant()]

    def reply(self, content: Content, *, closed: bool) -> list[int]:
        """Encode what the environment appends after a turn: close it, a user message, open the next turn.

        Args:
            content: the observation.
            closed: whether the policy sampled ``<|im_end|>`` itself (then it isn't written twice).
        """
        close = self.text("\n") if closed else [self.end_id, *self.text("\n")]
        return [*close, *self.message("user", content), *self.open_assistant()]


def check_family(path: str | Path) -> None:
    """Refuse a local checkpoint folder that is missing or of another family than Qwen2.5-VL.

    Raises:
        ValueError: naming the folder, its family and what is expected.
    """
    folder = Path(path)
    if not folder.exists():
        if folder.is_absolute() or str(path).startswith((".", "~")) or str(path).count("/") != 1:
            raise ValueError(f"checkpoint {path}: no such folder, and not a hub id of the form owner/name")
        return
    config = folder / "config.json"
    if not config.is_file():
        raise ValueError(f"checkpoint {path}: it holds no config.json; give the folder that save_pretrained wrote")
    family = json.loads(config.read_text()).get("model_type")
    if family != FAMILY:
        raise ValueError(f"checkpoint {path}: model_type={family!r}; the kit trains {FAMILY!r} (Qwen2.5-VL) only")
