"""One picture that introduces the kit: an episode turn by turn, and what training made of each paper's agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import FigureBase
from matplotlib.patches import Patch
from PIL import Image
from PIL.ImageColor import getrgb
from PIL.PngImagePlugin import PngInfo

from kit.episode import Episode, NamedImage, Turn
from kit.evaluate.intervals import Interval
from kit.images import rgb
from kit.view.charts import COLOURS, STYLE, Plot

CHARS = 29
"""Characters in a line of an action."""

DPI = 180
"""Dots per inch of a saved picture: two for each pixel of a web page."""


def first_screen(episode: Episode, papers: Mapping[str, Mapping[str, Interval]], stages: Sequence[str]) -> Plot:
    """Draw an episode strip, and below it what training made of each paper's agent.

    Args:
        episode: a finished episode; every turn needs an image before it.
        papers: title → stage → share that is right; one that has nothing is told to be unmeasured.
        stages: what is drawn of each, in order.

    Raises:
        ValueError: the episode has no turns, or a turn saw no image.
    """
    with rc_context(STYLE):
        figure = Plot(9.0, 4.4, photographic=True)
        figure.set_size_inches(9.0, 4.4)  # of a page's own: wider than what a notebook shows
        halves: Any = figure.subfigures(2, 1, height_ratios=(2.5, 1.9))
        above, below = halves
        draw_strip(above, episode)
        draw_papers(below, papers, stages)
    return figure


def draw_strip(figure: FigureBase, episode: Episode) -> None:
    """Draw an episode: for each turn the images the agent saw before it, and its action below.

    Args:
        figure: gets one column of axes for each turn.
        episode: a finished episode.

    Raises:
        ValueError: the episode has no turns, or a turn saw no image.
    """
    seen = images_before(episode)
    if not episode.turns or len(seen) != len(episode.turns) or not all(seen):
        raise ValueError(f"episode {episode.task.id}: a strip needs turns, and an image before each of them")
    columns = figure.subplots(1, len(seen), squeeze=False)[0]
    for k, (axis, images, turn) in enumerate(zip(columns, seen, episode.turns, strict=True)):
        show_images(axis, images)
        axis.set_title(f"turn {k + 1}" if turn.action is None else f"turn {k + 1}: {turn.action.name}", fontsize=9)
        axis.set_xlabel("\n".join(action_lines(turn, CHARS)), fontsize=7, family="monospace", loc="left")


def images_before(episode: Episode) -> list[Sequence[NamedImage]]:
    """The images that the agent saw before each turn."""
    return [episode.task.images, *(turn.observation.images for turn in episode.turns[:-1] if turn.observation)]


def action_lines(turn: Turn, chars: int) -> list[str]:
    """A turn's action, or all of its text, in lines of so many characters."""
    text = turn.text if turn.action is None else turn.action.text
    return [part for line in text.splitlines() for part in wrap(line, chars, subsequent_indent="  ")]


def show_images(axis: Any, images: Sequence[NamedImage]) -> None:
    """Draw images without scales and frame; several with their names, by which an answer speaks of them."""
    axis.imshow(np.asarray(_mosaic(images)), interpolation="nearest")
    label = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    for each, (x, y) in zip(images, _corners(images), strict=True):
        if len(images) > 1:
            axis.text(x, y, each.name.rpartition(" ")[2], fontsize=7, ha="left", va="top", color="black", bbox=label)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)


def _mosaic(images: Sequence[NamedImage]) -> Image.Image:
    """Images in reading order on a square grid with white gaps; one alone as it is."""
    corners = _corners(images)
    width, height = (max(at[k] + each.image.size[k] for at, each in zip(corners, images, strict=True)) for k in (0, 1))
    sheet = Image.new("RGB", (width, height), "white")
    for each, at in zip(images, corners, strict=True):
        sheet.paste(rgb(each.image), at)
    return sheet


def _corners(images: Sequence[NamedImage]) -> list[tuple[int, int]]:
    """Where the upper left corner of each image lies on its sheet."""
    side = int(np.ceil(np.sqrt(len(images))))
    width, height = (max(each.image.size[k] for each in images) for k in (0, 1))
    gap = 0 if len(images) == 1 else max(4, width // 12)
    return [(k % side * (width + gap), k // side * (height + gap)) for k in range(len(images))]


def draw_papers(figure: FigureBase, papers: Mapping[str, Mapping[str, Interval]], stages: Sequence[str]) -> None:
    """Draw a small chart for each paper: a bar a stage, with its 95 % interval.

    Args:
        figure: gets one column of axes for each paper.
        papers: title → stage → share that is right.
        stages: what is drawn of each, in order; of one that a paper lacks, a dash.
    """
    columns = figure.subplots(1, len(papers), squeeze=False, sharey=True)[0]
    for axis, (title, found) in zip(columns, papers.items(), strict=True):
        axis.set_title(title, fontsize=8.5)
        axis.set_ylim(0, 1)
        axis.set_xticks([])
        axis.set_xlim(-0.6, len(stages) - 0.4)
        for k, stage in enumerate(stages):
            if share := found.get(stage):
                axis.bar(k, share.value, color=COLOURS[k % 6])
                axis.vlines(k, max(0.0, share.low), min(1.0, share.high), color="black", linewidth=1)
            elif found:
                axis.text(k, 0.02, "–", ha="center", fontsize=9)
        if not found:
            axis.text(0.5, 0.5, "not measured yet", ha="center", transform=axis.transAxes, fontsize=8)
    handles = [Patch(color=COLOURS[k % 6], label=stage) for k, stage in enumerate(stages)]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(stages)), fontsize=8, frameon=False)


def save_png(figure: Plot, path: Path, colours: int = 60, **facts: str) -> Path:
    """Save a figure with photographs as a small PNG for a web page.

    Args:
        figure: the figure.
        path: file to write.
        colours: size of the photographs' palette; the charts' own colours come on top.
        facts: text chunks of the PNG, such as the hash of the data that was drawn.

    Raises:
        OSError: the file can't be written.
    """
    chunks = PngInfo()
    for key, value in facts.items():
        chunks.add_text(key, value)
    image = figure.drawn(DPI)
    palette = (image.quantize(colours).getpalette() or [])[: 3 * colours]
    exact = [channel for colour in (*COLOURS, "black", "#555555", "#aaaaaa", "#dddddd") for channel in getrgb(colour)]
    table = Image.new("P", (1, 1))
    table.putpalette(palette + exact + [255, 255, 255])
    path.parent.mkdir(parents=True, exist_ok=True)
    image.quantize(palette=table, dither=Image.Dither.NONE).save(path, optimize=True, pnginfo=chunks)
    return path


def metrics_hash(results: Mapping[str, Mapping[str, Any] | None]) -> str:
    """Hash the metrics of all papers' results; what stands beside them (a proof, say) is not drawn."""
    drawn = {name: found["metrics"] for name, found in results.items() if found}
    return sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()
