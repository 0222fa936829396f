"""Images as a person sees them: upright, RGB, transparency on white."""

from __future__ import annotations

from PIL import Image, ImageOps


def flat_image(image: Image.Image) -> Image.Image:
    """RGB, upright, transparency on white: what a person sees when they open the file."""
    image = ImageOps.exif_transpose(image) or image
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        canvas = Image.new("RGBA", rgba.size, "white")
        canvas.alpha_composite(rgba)
        return canvas.convert("RGB")
    return image.convert("RGB")
