"""One picture that introduces an agent: an episode turn by turn, and what training made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from PIL import Image
from PIL.ImageColor import getrgb
from PIL.PngImagePlugin import PngInfo

from kit.episode import Episode, NamedImage
from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metrics
from kit.images import rgb
from kit.view.charts import COLOURS, DASHES, MARKERS, STYLE, Plot

CHARS = 29
"""Characters in a line of an action."""

DPI = 180
"""Dots per inch of a saved picture: two for each pixel of a web page."""


def first_screen(
    episode: Episode,
    stages: Mapping[str, Metrics],
    names: Mapping[str, str],
    reported: Mapping[str, Mapping[str, float]],
) -> Plot:
    """Draw an episode strip, and below it the learning curve over the stages of training.

    Args:
        episode: a finished episode; every turn needs an image before it.
        stages: stage → metrics, in the order of training.
        names: metrics to draw and their display names.
        reported: stage → metric → the paper's number, drawn as a hollow marker.

    Raises:
        ValueError: the episode has no turns, or a turn saw no image.
    """
    with rc_context(STYLE):
        figure = Plot(9.0, 4.2, photographic=True)
        halves: Any = figure.subfigures(2, 1, height_ratios=(2.5, 1.7))
        above, below = halves
        draw_strip(above, episode)
        draw_stages(below.subplots(), stages, names, reported)
    return figure


def draw_strip(figure: FigureBase, episode: Episode) -> None:
    """Draw an episode: for each turn the images the agent saw before it, and its action below.

    Args:
        figure: gets one column of axes for each turn.
        episode: a finished episode.

    Raises:
        ValueError: the episode has no turns, or a turn saw no image.
    """
    seen = [episode.task.images, *(turn.observation.images for turn in episode.turns[:-1] if turn.observation)]
    if not episode.turns or len(seen) != len(episode.turns) or not all(seen):
        raise ValueError(f"episode {episode.task.id}: a strip needs turns, and an image before each of them")
    columns = figure.subplots(1, len(seen), squeeze=False)[0]
    for k, (axis, images, turn) in enumerate(zip(columns, seen, episode.turns, strict=True)):
        axis.imshow(np.asarray(_mosaic(images)), interpolation="nearest")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
        axis.set_title(f"turn {k + 1}" if turn.action is None else f"turn {k + 1}: {turn.action.name}", fontsize=9)
        text = turn.text if turn.action is None else turn.action.text
        lines = [part for line in text.splitlines() for part in wrap(line, CHARS, subsequent_indent="  ")]
        axis.set_xlabel("\n".join(lines), fontsize=7, family="monospace", loc="left")


def _mosaic(images: Sequence[NamedImage]) -> Image.Image:
    """Images in reading order on a square grid with white gaps; one alone as it is."""
    side = int(np.ceil(np.sqrt(len(images))))
    width, height = (max(each.image.size[k] for each in images) for k in (0, 1))
    gap = 0 if len(images) == 1 else max(4, width // 12)
    rows = -(-len(images) // side)
    sheet = Image.new("RGB", (side * (width + gap) - gap, rows * (height + gap) - gap), "white")
    for k, each in enumerate(images):
        sheet.paste(rgb(each.image), (k % side * (width + gap), k // side * (height + gap)))
    return sheet


def draw_stages(
    axis: Axes,
    stages: Mapping[str, Metrics],
    names: Mapping[str, str],
    reported: Mapping[str, Mapping[str, float]],
) -> None:
    """Draw metrics over the stages of training, with 95 % intervals, and the paper's numbers as hollow markers.

    Args:
        axis: where to draw.
        stages: stage → metrics, in the order of training.
        names: metrics and their display names; a stage without one leaves a gap.
        reported: stage → metric → the paper's number.
    """
    for k, (metric, name) in enumerate(names.items()):
        aside = 0.04 * (k - (len(names) - 1) / 2)  # intervals of one stage stand side by side
        look: Any = {"color": COLOURS[k % 6], "marker": MARKERS[k % 6]}
        xs = np.arange(len(stages)) + aside
        found = [m.get(metric, Interval(np.nan, np.nan, np.nan, 0)) for m in stages.values()]
        axis.plot(xs, [i.value for i in found], linestyle=DASHES[k % 4], label=name, **look)
        axis.vlines(xs, [i.low for i in found], [i.high for i in found], color=look["color"], linewidth=1)
        theirs = [reported.get(stage, {}).get(metric, np.nan) for stage in stages]
        axis.plot(xs + 0.08, theirs, linestyle="", fillstyle="none", **look)
    axis.plot([], [], linestyle="", color="black", marker="o", fillstyle="none", label="hollow: the paper reports")
    axis.set_xticks(range(len(stages)), list(stages))
    axis.set_ylim(-0.02, 1.02)
    axis.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5), title="share, held out, with 95 % interval")


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


def metrics_hash(results: Mapping[str, Any]) -> str:
    """Hash the metrics of a results file; what stands beside them (a proof, say) is not drawn."""
    return sha256(json.dumps(results["metrics"], sort_keys=True).encode()).hexdigest()
