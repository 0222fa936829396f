"""Figures draw what they are given, refuse what they can't, and stay small."""

import io
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from kit import plot
from kit.episode import Episode, Task, Turn
from kit.intervals import Interval

ROWS = [{"step": k, "reward": k / 10, "turns": 3.0} for k in range(1, 21)]


def png(figure: plot.Plot) -> Image.Image:
    data = figure._repr_png_()
    assert len(data) < 40_000
    return Image.open(io.BytesIO(data))


def test_no_figure_is_left_with_pyplot() -> None:
    png(plot.lines({"a": ([0, 1], [1, 2])}))
    assert plt.get_fignums() == []


def test_pictures_wrap_into_rows() -> None:
    figure = plot.pictures([(str(k), Image.new("RGB", (28, 28))) for k in range(5)], columns=3)
    assert [a.get_title() for a in figure.axes][:5] == list("01234")
    assert png(figure).size[0] > png(figure).size[1]


def test_bars_draw_values_and_whiskers() -> None:
    figure = plot.bars({"one": {"a": 0.5, "b": Interval(0.25, 0.1, 0.4, 9)}, "two": {"a": 1.0}})
    axis = figure.axes[0]
    heights = [p.get_height() for p in axis.patches]
    assert heights[:3] == [0.5, 0.25, 1.0] and np.isnan(heights[3])
    whiskers = [c for c in axis.collections if len(c.get_segments())]  # type: ignore[attr-defined]
    assert whiskers[0].get_segments()[0][:, 1].tolist() == [0.1, 0.4]  # type: ignore[attr-defined]


def test_training_draws_the_columns_there_are() -> None:
    figure = plot.training(ROWS)
    assert [a.get_title() for a in figure.axes] == ["reward", "turns"]
    assert figure.axes[0].lines[0].get_ydata()[-1] == 2.0
    png(figure)


def test_training_without_a_known_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.training([{"step": 1, "other": 2}])
    with pytest.raises(ValueError, match="0 rows"):
        plot.training(tmp_path / "none.jsonl")


def test_masks_follow_the_episode() -> None:
    turn = Turn((1, 2), (0.0, 0.0), "", None, None, (5, 6, 7))
    figure = plot.masks(Episode(Task("t", (), "", ()), (9, 9, 9)).add(turn))
    kinds: dict[str, list[int]] = {}
    for container in figure.axes[0].containers:
        kinds[str(container.get_label())] = [round(p.get_x() + p.get_width() / 2) for p in container.patches]  # type: ignore[attr-defined]
    assert list(kinds.values()) == [[0, 1, 2], [3, 4], [5, 6, 7]]


def test_live_plots_are_silent_when_nobody_watches(capsys: Any) -> None:
    live = plot.LivePlot(every=1)
    live(ROWS)
    assert capsys.readouterr().out == ""
    png(live.figure())


def test_levels_and_claims_draw_a_results_file() -> None:
    record = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 30}
    metrics = {f"{s}/acc_2x2{x}": record for s in ("untrained", "grpo") for x in ("", "_L0", "_L1")}
    check = {"name": "gain", **record, "limit": 0.0, "side": "above", "verdict": "holds"}
    results = {"metrics": metrics, "claims": {"A1": {"verdict": "holds", "checks": [check]}}}
    assert len(plot.levels(results).axes[0].patches) == 6
    png(plot.claims(results))
    with pytest.raises(ValueError, match="none of these claims"):
        plot.claims({"claims": {}})
