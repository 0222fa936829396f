"""A chart drawn by hand for the tools' golden calls: tea 30 and milk 60, on an axis of 0, 50 and 100."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont


def drinks() -> Image.Image:
    """Draw two bars whose base is row 260; two rows are one unit, so tea is 60 rows high and milk 120."""
    from matplotlib import font_manager

    image = Image.new("RGB", (360, 310), "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 17)
    pen.line((70, 40, 70, 260, 340, 260), fill="black")
    for value in (0, 50, 100):
        pen.text((62, 260 - 2 * value), str(value), font=font, fill="black", anchor="rm")
    for left, name, value, colour in ((110, "tea", 30, "#1f77b4"), (230, "milk", 60, "#ff7f0e")):
        pen.rectangle((left, 260 - 2 * value, left + 59, 259), fill=colour)
        pen.text((left + 30, 280), name, font=font, fill="black", anchor="mm")
    pen.text((200, 20), "Drinks", font=font, fill="black", anchor="mm")
    return image
