"""Charts draw the values they are given, stay small and leave pyplot's state alone."""

from __future__ import annotations

import base64
import io
import re
from html import unescape

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
    [stored] = re.findall(r'src="data:image/(?:png|jpeg);base64,([^"]*)"', figure._repr_html_())
    content = base64.b64decode(stored)
    assert len(content) <= 40_000
    return Image.open(io.BytesIO(content))


def said(figure: charts.Plot) -> str:
    """What it says to readers who don't see it."""
    [text] = re.findall(r'alt="([^"]*)"', figure._repr_html_())
    return unescape(text)


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
    assert f'width="{round(5.6 * 96)}" height="{round(2.4 * 96)}"' in figure.html()
    assert shown(figure).width >= 110 / 96 * round(5.6 * 96)


def test_no_figure_is_wider_than_800_pixels_of_a_page() -> None:
    wide = [
        charts.Plot(12.0, 1.0),
        charts.bars({name: dict.fromkeys("abcdefgh", 1.0) for name in "abcd"}),
        charts.images([(str(k), Image.new("RGB", (56, 56))) for k in range(7)], side=1.4),
        charts.images([(str(k), Image.new("RGB", (56, 56))) for k in range(16)], columns=8, side=1.4),
    ]
    assert all('width="800"' in figure.html() for figure in wide[:2] + wide[3:])
    assert [len([a for a in figure.axes if a.images]) for figure in wide[2:]] == [7, 16]
    shapes = [figure.axes[0].get_subplotspec().get_gridspec().get_geometry() for figure in wide[2:]]  # type: ignore[union-attr]
    assert shapes == [(2, 4), (2, 8)], "seven of 1.4 inches don't fit into a row; eight asked for get smaller"


def test_a_figure_says_what_is_drawn() -> None:
    """Bars each value, lines their first and last, limits where they are; what isn't known is left out."""
    groups = {"one": {"a": 0.5, "b": Interval(0.25, 0.1, 0.4, 9)}, "two": {"a": 1.0}}
    assert said(charts.bars(groups, "share", ("chance", 0.3), "T")) == (
        "T, share: one a 0.5, b 0.25, two a 1, chance 0.3"
    )
    series = {"ρ": ([0, 1, 2], [1, 9, 2.3456]), "<b>": ([0], [1e-8])}
    assert said(charts.lines(series, "step", "y", "The clip", {"1 + ε": 1.2})) == (
        "The clip, y over step: ρ 1 to 2.35, <b> 0, 1 + ε 1.2"
    )
    assert said(charts.stacked({"x": {"m": 2.0}, "y": {"m": 1.0, "n": 3}}, "GB", [("limit", 3.0)])) == (
        "GB: m x 2, y 1, n x 0, y 3, limit 3"
    )
    spans = {"first": [("speaks", 0, 2), ("waits", 2, 3)], "second": [("speaks", 1, 5)]}
    assert said(charts.timeline(spans)) == "speaks first 2, second 4, waits first 1"
    assert said(charts.images([("a_b", Image.new("RGB", (9, 9))), ("c", Image.new("RGB", (9, 9)))], title="T")) == (
        "T: a b; c"
    )


def test_what_is_written_in_a_figure_is_said() -> None:
    figure = charts.Plot(3, 2)
    words, table = figure.subplots(1, 2)
    words.set_title("boxes", loc="left")
    words.text(0, 0, "play\nall")
    table.imshow(np.array([[0.25, 0.75], [0.5, 0.125]]))
    table.set_xticks([0, 1], ["crop", "read"])
    table.set_yticks([0, 1], ["maps", "charts"])
    assert said(figure) == "boxes: play all; maps read 0.75, charts crop 0.5"


def test_many_panels_share_three_hundred_characters() -> None:
    figure = charts.Plot(8, 2)
    for k, axis in enumerate(figure.subplots(1, 5)):
        axis.plot([0, 1], [k, k + 1], label="a series with a long name")
        axis.plot([0, 1], [k, 2 * k], label="another one, with a longer name still")
        axis.set(title=f"panel {k}", xlabel="step")
    figure.legend(*figure.axes[0].get_legend_handles_labels())
    assert said(figure) == (
        "a series with a long name, another one, with a longer name still. "
        "panel 0: 0 to 1, 0; panel 1: 1 to 2, 1 to 2; panel 2: 2 to 3, 2 to 4; panel 3: 3 to 4, 3 to 6; "
        "panel 4: 4 to 5, 4 to 8"
    )
    one = charts.lines({f"series {k}": ([0, 1], [k, k]) for k in range(60)})
    assert said(one).startswith("series 0 0, series 1 1,") and said(one).endswith(" …") and len(said(one)) <= 300


def test_beyond_six_series_are_gray() -> None:
    figure = charts.lines({str(k): ([0, 1], [k, k]) for k in range(8)})
    assert [line.get_color() for line in figure.axes[0].lines] == [*charts.COLOURS, charts.GRAY, charts.GRAY]


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
    """A drawing turns dark where the page is; a photograph keeps its colours."""
    drawn, _ = DisplayFormatter().format(charts.lines({"a": ([0, 1], [1, 2])}))
    photo, _ = DisplayFormatter().format(charts.images([("a", Image.new("RGB", (28, 28)))]))
    for data in (drawn, photo):
        assert set(data) == {"text/html", "text/plain"} and data["text/html"].count("base64,") == 1
    assert 'class="kit-drawn"' in drawn["text/html"] and "data:image/png" in drawn["text/html"]
    for theme in ("prefers-color-scheme:dark", "[data-jp-theme-light=false] .kit-drawn", "scheme=slate] .kit-drawn"):
        assert theme in drawn["text/html"]
    assert "kit-drawn" not in photo["text/html"] and "data:image/jpeg" in photo["text/html"]
    assert photo["text/plain"].startswith("<Plot size")
    assert plt.get_fignums() == []


def test_same_figure_same_bytes() -> None:
    series = {"a": ([0, 1], [1, 2])}
    assert charts.lines(series)._repr_html_() == charts.lines(series)._repr_html_()


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
    rows = {"0": [("waits", 0, 2), ("speaks", 2, 3)]}
    axis = charts.timeline(rows, pale="waits", moment=("a kill", 2.5)).axes[0]
    waits, speaks = (part[0].get_facecolor() for part in axis.containers)
    assert min(waits[:3]) > 0.8 > min(speaks[:3])
    assert [(line.get_label(), line.get_xdata()[0]) for line in axis.lines] == [("a kill", 2.5)]


def test_steps_have_no_halves() -> None:
    """Four steps would have ticks at 0.5; a ratio of 0.5 to 2 keeps those that suit it."""
    for xs, whole in (([0, 1, 2, 3], True), ([0.5, 1.0, 1.5, 2.0], False)):
        ticks = charts.lines({"a": (xs, xs)}).axes[0].get_xticks()
        assert all(float(at).is_integer() for at in ticks) == whole, ticks
