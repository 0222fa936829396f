"""Qwen2.5-VL: native resolution, 2×2 merged patches, multimodal rotary positions (M-RoPE)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kit.models.family import ModelFamily, Pixels

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor


@dataclass(frozen=True)
class Qwen25VL(ModelFamily):
    """The family of Qwen2.5-VL checkpoints (3B, 7B, 32B, 72B, and the kit's tiny model)."""

    model_type = "qwen2_5_vl"
    title = "Qwen2.5-VL"
    control_tokens = (
        "<|im_start|>",
        "<|vision_start|>",
        "<|vision_end|>",
        "<|vision_pad|>",
        "<|image_pad|>",
        "<|video_pad|>",
    )
    image_token = "<|image_pad|>"
    image_bounds = ("<|vision_start|>", "<|vision_end|>")
    vision_modules = ("visual",)
    vllm = True
    max_aspect = 200.0  # transformers' smart_resize refuses more

    def prepare(self, model: Any) -> None:
        """Let its vision tower attend within all small images at once: same numbers, sooner."""
        from kit.models.vision_attention import batch_vision_attention

        batch_vision_attention(model)

    def pixels(self, processor: Any, image: Image.Image) -> Pixels:
        """Cut an image into patches of 14 pixels."""
        out = processor(images=[image], return_tensors="pt")
        t, h, w = (int(n) for n in out["image_grid_thw"][0])
        return Pixels(out["pixel_values"], (t, h, w))

    def image_tokens(self, processor: Any, pixels: Pixels) -> int:
        """Count image tokens: patches / merge²."""
        t, h, w = pixels.grid
        return t * h * w // int(processor.merge_size) ** 2

    def resized(self, processor: Any, size: tuple[int, int]) -> tuple[int, int]:
        """Round both sides to multiples of 28 pixels, within the processor's bounds on the area."""
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

        height, width = smart_resize(
            size[1],
            size[0],
            factor=processor.patch_size * processor.merge_size,
            min_pixels=processor.size["shortest_edge"],
            max_pixels=processor.size["longest_edge"],
        )
        return int(width), int(height)

    def image_inputs(self, pixels: Sequence[Pixels], is_image: Tensor) -> dict[str, Tensor]:
        """Make patches, grids ``(images, 3)`` and ``mm_token_type_ids`` ``(B, T)``, by which images are placed."""
        import torch

        inputs = {"mm_token_type_ids": is_image.long()}
        if pixels:
            inputs["pixel_values"] = torch.cat([p.patches for p in pixels])
            inputs["image_grid_thw"] = torch.tensor([p.grid for p in pixels])
        return inputs

    def positions(
        self, base: Any, attention: Tensor, is_image: Tensor, pixels: Sequence[Pixels]
    ) -> tuple[Tensor, Tensor]:
        """Compute positions in time, height, width ``(3, B, T)``; text goes on from an image's largest, on all."""
        import torch

        positions, _ = base.model.get_rope_index(
            attention,  # ids are read for their shape only; images are found by their type ids
            is_image.long(),
            image_grid_thw=torch.tensor([p.grid for p in pixels]) if pixels else None,
            attention_mask=attention,
        )
        return positions, positions.amax(dim=(0, 2)) + 1

    def next_positions(self, positions: Tensor) -> Tensor:
        """Repeat each row's next position on all three axes: ``(3, B, 1)``."""
        return positions[None, :, None].expand(3, -1, 1)
