"""The picture that introduces an agent shows each turn's images and action, and the measured numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from first_screen import SWAPPED, shares
from first_screen_figure import first_screen, metrics_hash, save_png
from first_screen_gif import GIF, curve, told
from PIL import Image

from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn
from kit.evaluate.intervals import Interval
from kit.files import ROOT
from kit.view.charts import COLOURS
from papers.registry import find_paper, published

RED, LIME = (NamedImage(name, Image.new("RGB", (28, 28), name)) for name in ("red", "lime"))
CODE = Turn((1,), (0.0,), "…", Action("code", "long_name = " * 4), Observation("", (LIME,)), (2,))
ANSWER = Turn((1,), (0.0,), "…", Action("answer", "A, B"))
EPISODE = Episode(Task("t", (RED, RED, LIME), "", ("A", "B")), (9,), (CODE, ANSWER), "answer")
STAGES = ["directly", "reinforced"]
PAPERS = {"One": {"directly": Interval(0.25, 0.2, 0.3, 9), "reinforced": Interval(0.75, 0.7, 0.8, 9)}, "Two": {}}


def test_each_turn_has_the_images_before_it_and_its_action_below() -> None:
    first, last, *_ = first_screen(EPISODE, PAPERS, STAGES).axes
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


def test_each_paper_has_its_bars_and_says_what_is_missing() -> None:
    one, two = first_screen(EPISODE, PAPERS, [*STAGES, "swapped"]).axes[-2:]
    bars = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in one.patches]  # type: ignore[attr-defined]
    assert bars == [(0, 0.25), (1, 0.75)]
    whiskers = [c.get_segments()[0][:, 1].tolist() for c in one.collections]  # type: ignore[attr-defined]
    assert whiskers == [[0.2, 0.3], [0.7, 0.8]]
    assert [text.get_text() for text in one.texts] == ["–"], "swapped was not measured"
    assert [text.get_text() for text in two.texts] == ["not measured yet"] and not two.patches


def test_what_is_drawn_of_a_paper() -> None:
    """Of the subset that the headline is about; the gap's interval, turned round: ¾ − ½ and its bounds."""
    metrics = {"direct/acc_hard": (0.1, 0.0, 0.2), "grpo/acc_hard": (0.75, 0.7, 0.8)}
    metrics |= {"grpo/observation_gap_swapped_hard": (0.5, 0.4, 0.7), "grpo/observation_gap_swapped": (0.0, 0.0, 0.0)}
    kept = {name: {"value": v, "low": low, "high": high, "n": 4} for name, (v, low, high) in metrics.items()}
    found = shares(find_paper("mags_rl").load_evaluation(), {"metrics": kept})
    assert list(found) == ["asked directly", "after reinforcement", SWAPPED]
    left = found[SWAPPED]
    assert [round(v, 3) for v in (left.value, left.low, left.high)] == [0.25, 0.05, 0.35]


def test_an_episode_without_an_image_before_a_turn_is_refused() -> None:
    blind = replace(EPISODE, turns=(replace(CODE, observation=Observation("")), ANSWER))
    for episode in (blind, replace(EPISODE, turns=())):
        with pytest.raises(ValueError, match="episode t: a strip needs turns"):
            first_screen(episode, PAPERS, STAGES)


def test_the_palette_keeps_the_charts_colours_and_the_file_its_facts(tmp_path: Path) -> None:
    figure = first_screen(EPISODE, PAPERS, STAGES)
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
    assert found == metrics_hash(published()), "run python data_scripts/first_screen.py"


def test_the_moving_picture_shows_the_published_curve() -> None:
    with Image.open(GIF) as stored:
        assert stored.info["comment"] == told(curve()), "python data_scripts/first_screen_gif.py draws it anew"
