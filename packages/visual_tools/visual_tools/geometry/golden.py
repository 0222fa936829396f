"""Drawings by hand for the tools' golden calls: a right triangle with two sides written beside it, and a circle."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont


def right_triangle() -> Image.Image:
    """Draw ABC: A above B, C on the right, a square mark at B; AB is 3 and BC is 4."""
    from matplotlib import font_manager

    image = Image.new("RGB", (360, 300), "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 22)
    pen.polygon([(80, 60), (80, 240), (320, 240)], outline="black", width=2)
    pen.line((80, 224, 96, 224, 96, 240), fill="black", width=2)
    for text, place in (("A", (80, 36)), ("B", (60, 258)), ("C", (340, 250)), ("3", (52, 150)), ("4", (200, 264))):
        pen.text(place, text, font=font, fill="black", anchor="mm")
    return image


def circle() -> Image.Image:
    """Draw a circle around (120, 100), its radius 60 pixels."""
    image = Image.new("RGB", (240, 200), "white")
    ImageDraw.Draw(image).ellipse((59, 39, 180, 160), outline="black", width=2)
    return image
