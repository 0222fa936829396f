"""InternVL3 (the ``-hf`` checkpoints): square tiles and a thumbnail, pixel shuffle, a Qwen2 language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kit.models.family import ModelFamily, Pixels

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor


@dataclass(frozen=True)
class InternVL3(ModelFamily):
    """The family of InternVL3 checkpoints in transformers' format, such as OpenGVLab/InternVL3-8B-hf.

    Attributes:
        tile_tokens: image tokens of one tile (256 at 448 pixels: 32 × 32 patches, pixel-shuffled 2 × 2).
        patch_size: side of a patch in pixels.
    """

    tile_tokens: int = 256
    patch_size: int = 14

    model_type = "internvl"
    title = "InternVL3"
    control_tokens = ("<|im_start|>", "<img>", "</img>", "<IMG_CONTEXT>")
    image_token = "<IMG_CONTEXT>"
    image_bounds = ("<img>", "</img>")
    vision_modules = ("vision_tower", "multi_modal_projector")
    vllm = False

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InternVL3:
        """Read the tile's tokens and the patch's side from a checkpoint's ``config.json``."""
        patch = config["vision_config"].get("patch_size", cls.patch_size)
        side = patch if isinstance(patch, int) else int(patch[0])
        return cls(int(config.get("image_seq_length", cls.tile_tokens)), side)

    def pixels(self, processor: Any, image: Image.Image) -> Pixels:
        """Cut an image into square tiles, followed by a thumbnail of it if there are several."""
        # The checkpoints' image processors say False; InternVL's own processor, which isn't used here, says True.
        tiles = processor(images=[image], crop_to_patches=True, return_tensors="pt")["pixel_values"]
        return Pixels(tiles, (len(tiles), tiles.shape[2] // self.patch_size, tiles.shape[3] // self.patch_size))

    def image_tokens(self, processor: Any, pixels: Pixels) -> int:
        """Count image tokens: tiles × tokens of each."""
        del processor
        return pixels.grid[0] * self.tile_tokens

    def resized(self, processor: Any, size: tuple[int, int]) -> tuple[int, int]:
        """Choose the canvas of tiles whose shape is nearest to the image's; the image is stretched to it."""
        from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import get_optimal_tiled_canvas

        side = (processor.size["height"], processor.size["width"])
        columns, rows = get_optimal_tiled_canvas(size[::-1], side, processor.min_patches, processor.max_patches)
        return columns * side[1], rows * side[0]

    def image_inputs(self, pixels: Sequence[Pixels], is_image: Tensor) -> dict[str, Tensor]:
        """Join all images' tiles ``(tiles, channels, side, side)``; the model finds their places by the ids."""
        import torch

        del is_image
        return {"pixel_values": torch.cat([p.patches for p in pixels])} if pixels else {}

    def image_counts(self, rows: Sequence[Sequence[Pixels]]) -> dict[str, list[int]]:
        """Count images and tiles of each row."""
        return {**super().image_counts(rows), "num_tiles": [sum(p.grid[0] for p in row) for row in rows]}

    def positions(
        self, base: Any, attention: Tensor, is_image: Tensor, pixels: Sequence[Pixels]
    ) -> tuple[Tensor, Tensor]:
        """Count tokens to positions ``(B, T)``, image tokens like others."""
        del base, is_image, pixels
        return (attention.cumsum(1) - 1).clamp(min=0), attention.sum(1)

    def next_positions(self, positions: Tensor) -> Tensor:
        """Put each row's next position into one column ``(B, 1)``."""
        return positions[:, None]
