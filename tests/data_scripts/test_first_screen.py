"""The picture that introduces an agent shows each turn's images and action, and the measured numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from first_screen_figure import first_screen, metrics_hash, save_png
from PIL import Image

from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn
from kit.evaluate.intervals import Interval
from kit.files import ROOT, read_json
from kit.view.charts import COLOURS

RED, LIME = (NamedImage(name, Image.new("RGB", (28, 28), name)) for name in ("red", "lime"))
CODE = Turn((1,), (0.0,), "…", Action("code", "long_name = " * 4), Observation("", (LIME,)), (2,))
ANSWER = Turn((1,), (0.0,), "…", Action("answer", "A, B"))
EPISODE = Episode(Task("t", (RED, RED, LIME), "", ("A", "B")), (9,), (CODE, ANSWER), "answer")
STAGES = {"untrained": {"acc": Interval(0.25, 0.2, 0.3, 9)}, "grpo": {"acc": Interval(0.75, 0.7, 0.8, 9)}}


def test_each_turn_has_the_images_before_it_and_its_action_below() -> None:
    figure = first_screen(EPISODE, STAGES, {"acc": "solved"}, {"grpo": {"acc": 0.5}})
    first, last, _ = figure.axes
    assert [a.get_title() for a in (first, last)] == ["turn 1: code", "turn 2: answer"]
    assert first.get_xlabel().replace("\n", "").replace(" ", "") == "long_name=" * 4 and last.get_xlabel() == "A, B"
    pixels = np.asarray(first.images[0].get_array())
    assert [tuple(pixels[y, x]) for y, x in ((0, 0), (0, -1), (-1, 0), (-1, -1))] == [
        (255, 0, 0),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 255),
    ]
    assert np.asarray(last.images[0].get_array()).shape == (28, 28, 3)


def test_the_curve_is_what_was_measured_with_the_papers_number_hollow() -> None:
    axis = first_screen(EPISODE, STAGES, {"acc": "solved"}, {"grpo": {"acc": 0.5}}).axes[-1]
    here, theirs = axis.lines[:2]
    assert np.asarray(here.get_ydata()).tolist() == [0.25, 0.75]
    assert np.isnan(np.asarray(theirs.get_ydata())[0]) and np.asarray(theirs.get_ydata())[1] == 0.5
    assert theirs.get_fillstyle() == "none"
    whiskers = [s[:, 1].tolist() for s in axis.collections[0].get_segments()]  # type: ignore[attr-defined]
    assert whiskers == [[0.2, 0.3], [0.7, 0.8]]


def test_an_episode_without_an_image_before_a_turn_is_refused() -> None:
    blind = replace(EPISODE, turns=(replace(CODE, observation=Observation("")), ANSWER))
    for episode in (blind, replace(EPISODE, turns=())):
        with pytest.raises(ValueError, match="episode t: a strip needs turns"):
            first_screen(episode, STAGES, {}, {})


def test_the_palette_keeps_the_charts_colours_and_the_file_its_facts(tmp_path: Path) -> None:
    figure = first_screen(EPISODE, STAGES, {"acc": "solved"}, {})
    saved = Image.open(save_png(figure, tmp_path / "docs" / "x.png", colours=4, results="abc"))
    saved.load()
    found = {colour for _, colour in saved.convert("RGB").getcolors(1 << 24) or []}
    assert tuple(int(COLOURS[0][k : k + 2], 16) for k in (1, 3, 5)) in found and (255, 255, 255) in found
    assert saved.text["results"] == "abc"  # type: ignore[attr-defined]


def test_the_committed_picture_is_small_and_drawn_from_the_committed_results() -> None:
    path = ROOT / "docs" / "first_screen.png"
    picture = Image.open(path)
    picture.load()
    assert path.stat().st_size <= 150_000 and picture.width >= 1600
    found = picture.text["results"]  # type: ignore[attr-defined]
    assert found == metrics_hash(read_json(ROOT / "results" / "agile.json")), "run python data_scripts/first_screen.py"
