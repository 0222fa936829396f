"""The picture of starts draws what each reaches, and says what was not measured."""

from __future__ import annotations

from typing import Any

from kit.evaluate.intervals import Interval
from papers.registry import find_paper
from papers.starts import comparable, reached, starts_picture


def interval(value: float) -> Interval:
    return Interval(value, value - 0.1, value + 0.1, 9)


def test_a_start_is_found_by_its_arm() -> None:
    stages = {"sft": 0.1, "grpo": 0.2, "decided-sft": 0.3, "decided": 0.4, "half-sft": 0.5}
    found = reached({name: {"acc": interval(value)} for name, value in stages.items()}, "acc")
    values = {start: [one.value if one else None for one in told.values()] for start, told in found.items()}
    assert values == {"as the\nexpert plays": [0.3, 0.4], "half": [0.5, None], "published": [0.1, 0.2]}


def test_the_picture_has_a_panel_a_paper() -> None:
    metric = next(iter(find_paper("mags_rl").load_evaluation().headlines))
    told: dict[str, Any] = {f"{stage}/{metric}": interval(v).record() for stage, v in (("sft", 0.1), ("grpo", 0.3))}
    drawn, empty = starts_picture({"mags_rl": {"metrics": told}, "agile": None}).axes
    assert drawn.get_title().startswith("Mags-RL\n") and empty.get_title().startswith("AGILE\n")
    heights = [[round(float(y), 3) for y in line.get_ydata()] for line in drawn.lines]
    assert str(heights) == "[[nan, nan, 0.1], [nan, nan, 0.3]]", "no line over what isn't measured"
    assert [text.get_text() for text in drawn.texts] == ["not measured yet"] * 2
    spans = [bar.get_segments()[0][:, 1].round(3).tolist() for bar in drawn.collections]  # type: ignore[attr-defined]
    assert spans == [[0.0, 0.2], [0.2, 0.4]]


def test_papers_are_compared_that_have_two_starts_measured_to_the_end() -> None:
    metric = next(iter(find_paper("mags_rl").load_evaluation().headlines))

    def results(*stages: str) -> dict[str, Any]:
        return {"metrics": {f"{stage}/{metric}": interval(0.3).record() for stage in stages}}

    one, half = results("sft", "grpo"), results("sft", "grpo", "decided-sft")
    two = results("sft", "grpo", "decided-sft", "decided")
    assert [bool(comparable({"mags_rl": found})) for found in (None, one, half, two)] == [False, False, False, True]
    assert list(comparable({"agile": None, "mags_rl": two})) == ["mags_rl"]


def test_a_single_panels_legend_lies_within_the_figure() -> None:
    metric = next(iter(find_paper("mags_rl").load_evaluation().headlines))
    told = {f"{stage}/{metric}": interval(0.3).record() for stage in ("sft", "grpo")}
    figure = starts_picture({"mags_rl": {"metrics": told}})
    figure.draw_without_rendering()
    [legend] = figure.legends
    at, whole = legend.get_window_extent(), figure.bbox
    assert whole.x0 <= at.x0 and at.x1 <= whole.x1
