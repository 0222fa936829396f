"""Notebook 13 in JupyterLab: the training shows where it is, can be interrupted, and goes on where it was."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_browser import MINUTE, SCREENSHOTS, Lab, isolated, set_parameters

from kit.files import ROOT

STEPS = 16
SMALL = {"prompts_per_batch": 2, "group_size": 4, "per_device_batch_size": 8, "eval_puzzles": 1, "max_new_tokens": 40}

TRAINING = "launch(training"
"""What only the training cell has in its text."""

DONE = "Number(document.querySelector('.jp-Notebook .kit-progress')?.dataset.done ?? -1)"
"""How far the bar is; -1 before there is one."""


@pytest.fixture
def started(server: str, folder: Path) -> Path:
    """The run that notebook 13 goes on with: data and a model after SFT, both as small as can be."""
    for number in ("11", "12"):
        command = [sys.executable, "-m", "kit", "run", number, "--profile", "smoke", "--name", "agile"]
        done = subprocess.run(command, env=isolated(folder), cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "runs" / "agile"


@pytest.fixture
def copy(server: str, folder: Path) -> Iterator[Path]:
    """The reader's copy of notebook 13, afterwards as it was. Asked for before the page, it outlives it."""
    [found] = (folder / "runs" / "_lab" / "notebooks").glob("13*.ipynb")
    before = found.read_text()
    yield found
    found.write_text(before)


def progress(lab: Lab, above: float, minutes: float) -> float:
    """Wait until the bar stands higher than ``above``; returns where it stands."""
    lab.page.wait_for_function(f"above => {DONE} > above || window.kitRan", arg=above, timeout=minutes * MINUTE)
    found = float(lab.page.evaluate(DONE))
    assert found > above, lab.errors()
    return found


def test_curves_stand_right_below_the_bar_and_above_the_newest_episode(copy: Path, lab: Lab, started: Path) -> None:
    """With the notebook's own values, but for what is done before the training: episodes of full height."""
    set_parameters(copy, tag="watched", by_hand=False, held_out_tasks=0, eval_puzzles=1)
    lab.open("13")
    training = lab.find_cell(TRAINING)
    lab.start("notebook:run-all-cells")
    lab.page.wait_for_function(f"{DONE} >= 0 || window.kitRan", timeout=8 * MINUTE)
    lab.wait_for_text(training, r"newest episode, of step \d+", minutes=8)
    curves = "img[src^='data:image/png']:not(.kv img)"
    lab.boxes(training, minutes=8, curves=curves)
    lab.cell(training).locator(".kit-progress").scroll_into_view_if_needed()
    lab.page.screenshot(path=SCREENSHOTS / "13-watched.png")
    boxes = lab.boxes(training, bar=".kit-progress", curves=curves, episode=".kv")
    lab.interrupt()
    lab.wait_run(minutes=5)
    for upper, lower in (("bar", "curves"), ("curves", "episode")):
        above, below = boxes[upper], boxes[lower]
        assert 0 <= below["y"] - above["y"] - above["height"] < 60, boxes


def test_an_interrupted_training_goes_on_at_the_next_step(copy: Path, lab: Lab, started: Path) -> None:
    set_parameters(copy, steps=STEPS, **SMALL)
    lab.open("13")
    training = lab.find_cell(TRAINING)
    lab.start("notebook:run-all-cells")
    first = progress(lab, above=-1, minutes=5)
    progress(lab, above=first, minutes=2)
    # Interrupted once there is something to go on from. Such small steps are saved every few seconds only.
    metrics = started / "grpo" / "metrics.jsonl"
    for _ in range(600):
        if any((started / "grpo" / "checkpoint").glob("checkpoint-*")):
            break
        lab.page.wait_for_timeout(100)
    lab.interrupt()
    lab.wait_run(minutes=5)
    said = lab.wait_for_text(training, rf"stopped after step \d+ of {STEPS}")
    assert lab.errors() and "Traceback" not in lab.outputs(training)
    lab.screenshot("13-interrupted")
    stopped = int(said.split()[3])
    assert 1 <= stopped < STEPS

    lab.start_cell(training)
    lab.wait_run(minutes=5)
    lab.wait_for_text(training, f"{STEPS} of {STEPS} steps done")
    assert lab.errors() == [] and not re.search("stopped after|Traceback", lab.outputs(training))
    steps = [int(found) for found in re.findall(r'"step": ?(\d+)', metrics.read_text())]
    assert steps == list(range(1, STEPS + 1)), "no step is lost or done twice"
    lab.screenshot("13-resumed")
