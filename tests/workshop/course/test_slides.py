"""Slides of a paper: one file, all of it from notebooks, results and the paper's script."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from papers.registry import find_paper, published
from workshop.command import COMMANDS, parser
from workshop.course import slides
from workshop.publishing.site.build import FOREIGN

PAPER = "mags_rl"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("slides") / "made.html"
    args = parser().parse_args(["slides", PAPER, "--out", str(out)])
    assert COMMANDS[args.command](args) == 0
    with Image.open(out.with_suffix(".gif")) as gif:
        assert gif.n_frames == 2 and gif.size[0] > gif.size[1], "a frame for each turn"
    return out.read_text()


def test_they_tell_a_paper_from_its_question_to_its_exercises(page: str) -> None:
    found = [re.sub(r"<.+?>", " ", part) for part in re.findall(r"<section>(.+?)</section>", page, re.DOTALL)]
    heads = re.findall(r"<section><h\d>(.+?)</h", page)
    assert heads == [
        *(find_paper(PAPER).title, "What it may do", "Turn 1 of 2", "Turn 2 of 2"),
        *("What it learnt, step by step", "What came out", "In words", "Try it"),
    ]
    assert "Can an agent learn to ask for the right part, magnified by super-resolution?" in found[0]
    assert "&lt;zoom&gt;" in found[2] and "&lt;answer&gt;4&lt;/answer&gt;" in found[3], (
        "the count that the script gives"
    )
    evaluation, results = find_paper(PAPER).load_evaluation(), published()[PAPER]
    assert results is not None
    value = results["metrics"][f"grpo/{next(iter(evaluation.headlines))}"]["value"]
    assert f"{value:.2f}" in found[6] and "Exercise 42.1." in found[7]


def test_they_stand_alone_turn_by_arrows_and_print(page: str) -> None:
    assert FOREIGN.findall(page) == [] and not re.search(r"url\(|@import|fetch\(", page)
    sources = re.findall(r'<img[^>]* src="([^"]{11})', page)
    assert len(sources) == 1 + 4 + 4 + 2 and set(sources) == {"data:image/"}
    assert all(
        text in page for text in ("ArrowRight", "prefers-color-scheme: dark", "@media print", "break-after: page")
    )


def test_a_paper_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    args = parser().parse_args(["slides", "nobody", "--out", str(tmp_path / "made.html")])
    assert COMMANDS["slides"](args) == 2
    assert "no paper 'nobody': python -m kit slides takes one of agile, " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_curve_is_of_held_out_tasks_where_all_have_them_over_the_steps_that_all_have() -> None:
    long = [{"step": k, "reward": 1.0, "accuracy": 0.5 * k} for k in (1, 2, 3)]
    short = [{"step": k, "reward": 1.0, "accuracy": 0.0, "held_out_accuracy": 0.9} for k in (1, 2)]
    axis = slides.curve({"a": long, "b": short}).axes[0]
    assert axis.get_ylabel() == slides.DRAWN["accuracy"]
    assert [np.asarray(line.get_ydata()).tolist() for line in axis.lines] == [[0.5, 1.0, 1.5], [0.0, 0.0], [0.25, 0.5]]
    assert slides.curve({"b": short}).axes[0].get_ylabel() == slides.DRAWN["held_out_accuracy"]
    with pytest.raises(ValueError, match="the runs x share none of held_out_accuracy, accuracy, reward"):
        slides.curve({"x": [{"step": 1}]})


def test_a_paragraph_keeps_code_and_emphasis_and_loses_links() -> None:
    text = "**A *b*.** Say `x < 1`,\nsee [it](../a.md)."
    assert slides.told(text) == "<b>A <i>b</i>.</b> Say <code>x &lt; 1</code>, see it."
