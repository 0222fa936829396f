"""Mags-RL's figure: where an agent looks, what it is shown and what it answers, before and after training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

import numpy as np
from matplotlib import rc_context
from matplotlib.patches import Rectangle
from PIL import Image

from kit.episode import Episode
from kit.tools.boxes import Box
from kit.view.charts import COLOURS, STYLE, Plot
from papers.mags_rl.metrics import EVALUATION, is_right, parts_of
from papers.mags_rl.zoom import pixels

MARGIN = 4
"""Pixels between what decides the answer and the dashed line around it, so that the line doesn't strike it out."""

ASKED = COLOURS[4]
"""Of the lines around what it asks for: a light blue, which no card's frame has."""

INSIDE = 5
"""Pixels by which they stand within a box: a card's frame is four wide, and its colour stays to be seen."""

HEADS = ("what it is shown", "the parts it asks for", "super-resolved", "its answer")
"""Columns of the figure."""


def boxes_of(episode: Episode) -> list[Sequence[float]]:
    """The valid boxes of an episode's first round, in shares."""
    action = episode.turns[0].action if episode.turns else None
    told = action.arguments if action is not None and action.name == "zoom" else None
    return list(told["boxes"]) if told else []


def crops_of(episode: Episode) -> list[Image.Image]:
    """Cut out what lies in these boxes, before it is enlarged."""
    opened = episode.task.tool_images[0].image
    boxes = [Box("image", "shares", *(float(v) for v in box)) for box in boxes_of(episode)]
    return [opened.crop(pixels(box, opened.size)) for box in boxes]


def enlarged_of(episode: Episode) -> list[Image.Image]:
    """Find the enlarged parts that the agent was shown."""
    seen = episode.turns[0].observation if episode.turns else None
    return [one.image for one in seen.images] if seen is not None else []


def side_by_side(images: Sequence[Image.Image], side: int = 140, gap: int = 6) -> Image.Image:
    """Put images in two columns, each in its own size on a square of white; an empty square if there are none.

    Args:
        images: at most four are shown.
        side: of a square, at least; larger images make it larger.
        gap: between squares.
    """
    side = max([side, *(max(one.size) for one in images[:4])])
    columns, rows = min(2, max(1, len(images))), 2 if len(images) > 2 else 1
    sheet = Image.new("RGB", (columns * (side + gap) - gap, rows * (side + gap) - gap), "white")
    for k, one in enumerate(images[:4]):
        x, y = k % 2 * (side + gap), k // 2 * (side + gap)
        sheet.paste(one, (x + (side - one.width) // 2, y + (side - one.height) // 2))
    return sheet


def learnt(before: Sequence[Episode], after: Sequence[Episode]) -> dict[str, Episode]:
    """Choose the question that shows most clearly what was learnt: right after and not before, and not by luck.

    Of those, the first whose boxes after training cover most of what decides the answer.

    Args:
        before: an agent's episodes, at least one.
        after: of the trained agent, the same questions in the same order.

    Returns:
        Both episodes of that question, as ``before`` and ``after``.

    Raises:
        ValueError: there are none, or of other questions.
    """
    if not before or [e.task.id for e in before] != [e.task.id for e in after]:
        raise ValueError(
            f"{len(before)} episodes before, {len(after)} after: they need the same questions, one at least"
        )
    outcomes = zip(EVALUATION.outcomes(before), EVALUATION.outcomes(after), strict=True)
    told = [(then.correct - now.correct, then.recall or 0.0) for now, then in outcomes]
    best = told.index(max(told))
    return {"before": before[best], "after": after[best]}


def looks(episodes: Mapping[str, Episode]) -> Plot:
    """Draw episodes of one question, a row each: image with boxes, crops, super-resolved crops, answer.

    Boxes are solid light blue lines; what decides the answer is dashed, where it is known.

    Args:
        episodes: name of the row, such as ``before training`` → the episode.

    Raises:
        ValueError: no episode.
    """
    if not episodes:
        raise ValueError("looks: there is no episode to draw")
    with rc_context(STYLE):
        figure = Plot(8.0, 2.0 * len(episodes) + 0.5, photographic=True)
        axes = figure.subplots(len(episodes), len(HEADS), squeeze=False)
        for row, (name, one) in zip(axes, episodes.items(), strict=True):
            image = one.task.images[0].image
            shown = (image, side_by_side(crops_of(one)), side_by_side(enlarged_of(one)))
            for axis, picture in zip(row, shown, strict=False):
                axis.imshow(np.asarray(picture), interpolation="nearest")
            for box in parts_of(one.task):
                row[0].add_patch(_outline(box, image.size, COLOURS[2], "--", MARGIN))
            for box in boxes_of(one):
                row[0].add_patch(_outline(box, image.size, ASKED, "-", -INSIDE, thick=2.5))
            right = is_right(one, one.task.target)
            told = f"{one.answer or 'none'}\n{'right' if right else 'wrong'}: it is {one.task.target[0]}"
            row[3].text(0, 0.9, fill(one.task.question, 26), fontsize=8, va="top")
            row[3].text(0, 0.45, told, fontsize=9, va="top", color=COLOURS[2] if right else COLOURS[5])
            row[0].set_ylabel(name)
            for axis in row:
                axis.set(xticks=[], yticks=[], anchor="N")  # so that all titles stand at one height
                axis.grid(False)
                axis.spines[:].set_visible(False)
        for axis, head in zip(axes[0], HEADS, strict=True):
            axis.set_title(head)
    return figure


def _outline(
    box: Sequence[float], size: tuple[int, int], colour: str, style: str, margin: float, thick: float = 1.5
) -> Rectangle:
    """The outline of a box in shares, on an image of this size in pixels, so many pixels outside of it."""
    (width, height), (left, top, right, bottom) = size, box
    corner = left * width - 0.5 - margin, top * height - 0.5 - margin
    sides = (right - left) * width + 2 * margin, (bottom - top) * height + 2 * margin
    return Rectangle(corner, *sides, fill=False, edgecolor=colour, linestyle=style, linewidth=thick)
