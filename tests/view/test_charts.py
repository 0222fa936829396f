"""Charts draw the values they are given, stay small and leave pyplot's state alone."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

from kit.evaluate.intervals import Interval
from kit.view import charts
from pictures.scenes import scene


def shown(figure: charts.Plot) -> Image.Image:
    """The one image of at most 40 KB that a notebook stores of a figure."""
    images = [stored for stored in (figure._repr_png_(), figure._repr_jpeg_()) if stored is not None]
    assert len(images) == 1 and len(images[0][0]) <= 40_000
    return Image.open(io.BytesIO(images[0][0]))


def test_colours_are_stored_exactly() -> None:
    names = [f"series {k}" for k in range(6)]
    drawn = [
        charts.bars({name: {"a": 0.5, "b": 1.0} for name in names}),
        charts.lines({name: ([0, 1, 2], [k, k + 1, k]) for k, name in enumerate(names)}),
        charts.stacked({"row": {name: 1.0 for name in names}}),
        charts.timeline({"row": [(name, k, k + 1.0) for k, name in enumerate(names)]}),
    ]
    wanted = {tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in charts.COLOURS}
    for figure in drawn:
        there = {colour for _, colour in shown(figure).convert("RGB").getcolors(1 << 24) or []}
        assert wanted <= there and (255, 255, 255) in there


def test_a_palette_keeps_what_is_frequent_and_moves_the_rest_to_its_nearest() -> None:
    pixels = np.zeros((40, 40, 3), dtype=np.uint8)
    pixels[:20] = (0, 114, 178)
    pixels[0, :] = [(k * 6, k, 255 - k) for k in range(40)]
    few = charts.with_palette(Image.fromarray(pixels))
    assert np.array_equal(np.asarray(few.convert("RGB")), pixels), "256 colours are enough: nothing moves"
    pixels = np.random.default_rng(0).integers(0, 256, (60, 60, 3), dtype=np.uint8)
    pixels[30:] = (213, 94, 0)
    few = charts.with_palette(Image.fromarray(pixels))
    assert len(few.getcolors() or []) <= 256 and (np.asarray(few.convert("RGB"))[30:] == (213, 94, 0)).all()


def test_a_figure_has_more_pixels_than_its_place_on_the_page() -> None:
    figure = charts.lines({"a": ([0, 1], [1, 2])})
    (_, data) = DisplayFormatter().format(figure)
    place = data["image/png"]
    assert place == {"width": round(5.6 * 96), "height": round(2.4 * 96)}
    assert shown(figure).width >= 110 / 96 * place["width"]


def test_titles_and_references_are_drawn() -> None:
    figure = charts.lines({"ρ": ([0, 1], [1, 2])}, title="The clip", references={"1 + ε": 1.2, "1 − ε": 0.8})
    assert figure.axes[0].get_title() == "The clip"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ρ", "1 + ε", "1 − ε"]
    for other in (
        charts.bars({"a": {"x": 1}}, title="T"),
        charts.stacked({"row": {"a": 1.0}}, title="T"),
        charts.timeline({"row": [("a", 0.0, 1.0)]}, title="T"),
    ):
        assert other.axes[0].get_title() == "T"
    assert charts.images([("a", Image.new("RGB", (28, 28)))], title="T").get_suptitle() == "T"


def test_a_notebook_shows_it_without_pyplot() -> None:
    data, _ = DisplayFormatter().format(charts.lines({"a": ([0, 1], [1, 2])}))
    assert "image/png" in data and "image/jpeg" not in data
    data, _ = DisplayFormatter().format(charts.images([("a", Image.new("RGB", (28, 28)))]))
    assert "image/jpeg" in data and "image/png" not in data
    assert plt.get_fignums() == []


def test_same_figure_same_bytes() -> None:
    series = {"a": ([0, 1], [1, 2])}
    assert charts.lines(series)._repr_png_() == charts.lines(series)._repr_png_()


def test_style_does_not_leak() -> None:
    before = dict(plt.rcParams)
    shown(charts.bars({"a": {"x": 1}}))
    assert dict(plt.rcParams) == before


def test_images_wrap_into_rows_and_keep_their_colours() -> None:
    colours = ["red", "lime", "blue", "white", "black"]
    figure = charts.images([(c, Image.new("RGB", (28, 28), c)) for c in colours], columns=3)
    assert [a.get_title() for a in figure.axes if a.get_title()] == colours
    assert [tuple(a.images[0].get_array()[0, 0]) for a in figure.axes[:2]] == [(255, 0, 0), (0, 255, 0)]
    assert shown(figure).size[0] > shown(figure).size[1]
    with pytest.raises(ValueError, match="none to show"):
        charts.images([])


def test_long_titles_are_broken_and_scenes_stay_small() -> None:
    rng = np.random.default_rng(0)
    figure = charts.images([(f"observation_image_{k}", Image.fromarray(scene(rng, 168))) for k in range(6)])
    assert figure.axes[0].get_title() == "observation image\n0"
    shown(figure)


def test_bars_draw_values_whiskers_and_a_reference() -> None:
    groups: dict[str, dict[str, float | Interval]] = {
        "one": {"a": 0.5, "b": Interval(0.25, 0.1, 0.4, 9)},
        "two": {"a": Interval(1.0, float("-inf"), float("inf"), 1)},
    }
    figure = charts.bars(groups, reference=("chance", 0.3))
    axis = figure.axes[0]
    heights = [p.get_height() for p in axis.patches]
    assert heights[:3] == [0.5, 0.25, 1.0] and np.isnan(heights[3])
    [whisker] = [c.get_segments()[0][:, 1].tolist() for c in axis.collections]  # type: ignore[attr-defined]
    assert whisker == [0.1, 0.4]  # and none where nothing is known
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["chance", "one", "two"]
    shown(figure)


def test_names_of_many_bars_end_below_their_bars_and_dont_overlap() -> None:
    names = [f"a long name {k}" for k in range(12)]
    figure = charts.bars({"one": dict.fromkeys(names, 0.5)})
    figure.draw_without_rendering()
    labels = figure.axes[0].get_xticklabels()
    corners = [label.get_window_extent().x1 for label in labels]
    ticks = [figure.axes[0].transData.transform((k, 0.0))[0] for k in range(len(names))]
    apart = ticks[1] - ticks[0]
    assert all(abs(corner - tick) < apart / 2 for corner, tick in zip(corners, ticks, strict=True))
    shown(figure)


def test_series_differ_by_more_than_colour() -> None:
    figure = charts.lines({name: ([0, 1], [k, k]) for k, name in enumerate("abcdef")})
    looks = {(line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(looks) == 6
    assert len({p.get_hatch() for p in charts.bars({n: {"x": 1} for n in "abcdef"}).axes[0].patches}) == 6


def test_stacked_bars_add_up_and_parts_keep_their_colour() -> None:
    figure = charts.stacked({"a": {"x": 2.0, "y": 1.0}, "b": {"y": 4.0}}, "GB", [("3 GB", 3.0)])
    axis = figure.axes[0]
    found = [(bar.get_x(), bar.get_width()) for part in axis.containers for bar in part]
    assert found == [(0, 2), (0, 0), (2, 1), (0, 4)]
    assert len({bar.get_facecolor() for bar in axis.containers[1]}) == 1
    assert [line.get_xdata()[0] for line in axis.lines] == [3.0]
    parts = charts.stacked({"a": {f"part {k}": 1.0 for k in range(9)}}).axes[0].containers
    assert len({(part[0].get_facecolor(), part[0].get_hatch()) for part in parts}) == 9
    shown(figure)


def test_a_timeline_draws_each_interval_at_its_time() -> None:
    figure = charts.timeline({"0": [("speaks", 0, 2), ("waits", 2, 3)], "1": [("speaks", 1, 5)]}, until=9)
    spans = {part.get_label(): [(bar.get_x(), bar.get_width()) for bar in part] for part in figure.axes[0].containers}
    assert spans == {"speaks": [(0, 2), (1, 4)], "waits": [(2, 1)]}
    assert figure.axes[0].get_xlim() == (0, 9)
    shown(figure)
