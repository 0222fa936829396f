"""Model families: all that differs between vision-language models.

Everything else in the library asks a :class:`ModelFamily` and never looks at a model's name. A new family is one
subclass in a file of its own, and one entry in :data:`kit.models.FAMILIES`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Pixels:
    """One image as the vision tower reads it.

    Attributes:
        patches: ``(t*h*w, channels*temporal*patch*patch)`` flat patches (Qwen2.5-VL), or ``(t, channels, side, side)``
            square tiles (InternVL3).
        grid: ``(t, h, w)``: frames or tiles, and the patches along the height and the width of each.
    """

    patches: Tensor
    grid: tuple[int, int, int]


@dataclass(frozen=True)
class ModelFamily(ABC):
    """Prompt layout, image processing, positions and layer names of one family of vision-language models.

    Messages are ChatML (``<|im_start|>role\\n … <|im_end|>\\n``) in every family here.

    Attributes:
        model_type: the family's name in a checkpoint's ``config.json``.
        title: the family's name for people.
        control_tokens: tokens that only :mod:`kit.chat` may write.
        image_token: the token that stands for one image feature.
        image_bounds: the tokens written before and after an image's.
        vision_modules: attributes of the base model that make features of images: vision tower and projector.
        lora_targets: regular expression of the language model's linear layers.
        vllm: whether the kit's vLLM policy can sample from the family.
        max_aspect: how many times longer than the other a side of an image may be; infinite: any. There is no smallest
            and no largest size: the processors of all families here enlarge a single pixel and shrink 12,000².
    """

    model_type: ClassVar[str]
    title: ClassVar[str]
    control_tokens: ClassVar[tuple[str, ...]]
    image_token: ClassVar[str]
    image_bounds: ClassVar[tuple[str, str]]
    vision_modules: ClassVar[tuple[str, ...]]
    vllm: ClassVar[bool]
    max_aspect: ClassVar[float] = math.inf
    lora_targets: ClassVar[str] = r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> ModelFamily:
        """Make the family of one checkpoint from its parsed ``config.json``."""
        del config
        return cls()

    def prepare(self, model: Any) -> None:  # noqa: B027 (most families need nothing)
        """Change a model that was just loaded, in place, before its first use."""

    def unreadable(self, size: tuple[int, int]) -> str:
        """Say why the family's processor can't read an image of this size; an empty string: it can.

        Args:
            size: width and height in pixels.
        """
        short, long = sorted(size)
        if short < 1:
            return f"it has {size[0]} x {size[1]} pixels; both sides need at least 1"
        if long > self.max_aspect * short:
            return (
                f"it has {size[0]} x {size[1]} pixels; the longer side may be at most {self.max_aspect:g} times the "
                "shorter one"
            )
        return ""

    @abstractmethod
    def pixels(self, processor: Any, image: Image.Image) -> Pixels:
        """Process one RGB image with the checkpoint's PIL image processor."""

    @abstractmethod
    def image_tokens(self, processor: Any, pixels: Pixels) -> int:
        """Count the image tokens that the language model reads for one image."""

    @abstractmethod
    def resized(self, processor: Any, size: tuple[int, int]) -> tuple[int, int]:
        """Compute the size in pixels to which the processor resizes an image.

        Args:
            processor: the checkpoint's image processor.
            size: width and height of the image as given, in pixels.

        Returns:
            Width and height in pixels.
        """

    @abstractmethod
    def image_inputs(self, pixels: Sequence[Pixels], is_image: Tensor) -> dict[str, Tensor]:
        """Make the inputs of a forward pass beside ids and attention mask.

        Args:
            pixels: images of all rows, in reading order.
            is_image: ``(B, T)`` boolean, true on image tokens.
        """

    def image_counts(self, rows: Sequence[Sequence[Pixels]]) -> dict[str, list[int]]:
        """Count what TRL divides a batch's images by, a number for each row (``num_images``, ``num_tiles``).

        Args:
            rows: the images of each row, in reading order.
        """
        return {"num_images": [len(row) for row in rows]}

    @abstractmethod
    def positions(
        self, base: Any, attention: Tensor, is_image: Tensor, pixels: Sequence[Pixels]
    ) -> tuple[Tensor, Tensor]:
        """Compute positions for decoding step by step.

        Args:
            base: the transformers model, without adapters around it.
            attention: ``(B, T)``, 1 on tokens and 0 on padding on their left.
            is_image: ``(B, T)`` boolean, true on image tokens.
            pixels: images of all rows, in reading order.

        Returns:
            Position ids whose last axis is ``T``, and the next token's position ``(B,)``.
        """

    @abstractmethod
    def next_positions(self, positions: Tensor) -> Tensor:
        """Make position ids of one token a row from the rows' next positions ``(B,)``."""


def levels(processor: Any, pixels: Pixels) -> Pixels:
    """Undo scaling and normalising: the same patches as bytes, from 0 to 255.

    In a flat patch and in a tile the channels follow each other, so both are ``(N, channels, values)``.
    """
    import torch

    flat = pixels.patches.reshape(len(pixels.patches), len(processor.image_mean), -1)
    mean, std = (torch.tensor(v)[:, None] for v in (processor.image_mean, processor.image_std))
    values = (flat * std + mean) / processor.rescale_factor
    return Pixels(values.round().to(torch.uint8).reshape(pixels.patches.shape), pixels.grid)
