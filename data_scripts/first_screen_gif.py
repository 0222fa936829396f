"""Draw docs/solving.gif: a puzzle solved turn by turn, and beside it how often AGILE's agent solves one, step by step.

    python data_scripts/first_screen_gif.py

The episode is the one of docs/first_screen.png, its player the scripted expert; the curve is the mean of the published
runs (results/curves), greedy play of held-out puzzles before each step.
"""

from __future__ import annotations

import io

import numpy as np
from first_screen import play
from first_screen_figure import action_lines, images_before, show_images
from matplotlib import rc_context
from PIL import Image

from kit.episode import Episode
from kit.files import ROOT, print_anything
from kit.images import rgb
from kit.view.charts import COLOURS, STYLE, Plot
from papers.published_curves import published_curves

GIF = ROOT / "docs" / "solving.gif"
LINE = 34
"""Characters in a line of an action."""
STEP, HOLD = 450, 3000
"""Milliseconds of a frame, and of the last one."""


def curve() -> list[float]:
    """Share of held-out puzzles solved before each step: the mean over the published runs.

    Raises:
        ValueError: nothing is published.
    """
    runs = list(published_curves("agile", "grpo").values())
    if not runs:
        raise ValueError("results/curves has no run of AGILE: python -m kit results agile makes them")
    steps = min(map(len, runs))
    return [float(np.mean([float(rows[k]["held_out_accuracy"]) for rows in runs])) for k in range(steps)]


def told(solved: list[float]) -> bytes:
    """Tell the curve that the file shows, in the file, for a test to compare with what is published."""
    return f"held out: {' '.join(f'{one:.3f}' for one in solved)}".encode()


def frame(episode: Episode, turn: int, solved: list[float], done: int) -> Image.Image:
    """Draw a turn's images and action, and the curve's first steps.

    Args:
        episode: its player's.
        turn: number of the turn, from 0.
        solved: the curve.
        done: steps of it that are drawn.
    """
    seen = images_before(episode)
    with rc_context(STYLE):
        figure = Plot(7.4, 2.9)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
        show_images(left, seen[turn])
        left.grid(visible=False)
        left.set_title(f"the expert's turn {turn + 1} of {len(seen)}", fontsize=10)
        lines = action_lines(episode.turns[turn], LINE)
        left.set_xlabel("\n".join([*lines, "", "", ""][:4]), fontsize=7.5, family="monospace", loc="left")
        right.plot(range(done), solved[:done], color=COLOURS[0], linewidth=2, marker="o", markersize=4)
        right.set_xlim(-0.5, len(solved) - 0.5)
        right.set_ylim(0, 1)
        right.set_xlabel("steps of reinforcement learning")
        right.set_title("held-out puzzles solved by the trained agent", fontsize=10)
    return figure.drawn()


if __name__ == "__main__":
    print_anything()
    episode, solved = play(), curve()
    turns = len(episode.turns)
    drawn = [frame(episode, k * turns // len(solved), solved, k + 1) for k in range(len(solved))]
    palette = rgb(drawn[-1]).quantize(96)
    frames = [rgb(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in drawn]
    file = io.BytesIO()
    times = [STEP] * (len(frames) - 1) + [HOLD]
    more = {"save_all": True, "append_images": frames[1:], "duration": times, "loop": 0, "optimize": True}
    frames[0].save(file, "GIF", comment=told(solved), **more)
    GIF.write_bytes(file.getvalue())
    print(GIF, f"{GIF.stat().st_size / 1000:.0f} KB, {len(frames)} frames")
