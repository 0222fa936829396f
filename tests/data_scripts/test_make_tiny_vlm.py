"""The script that makes the tiny VLM: several processes, resumed, ends with a checkpoint and a true card."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from kit.chat import Chat
from kit.models import load_model
from kit.tiny import TINY
from kit.tiny.skills import SKILLS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "data_scripts"))

from tiny_card import HANDWRITING, handwriting  # noqa: E402


def make(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    size = ("--pool", "6", "--batch", "8", "--measure", "2")
    return subprocess.run(
        [sys.executable, "data_scripts/make_tiny_vlm.py", "--out", str(out), *size, *options],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_it_makes_resumes_and_writes_the_card(tmp_path: Path) -> None:
    first = make(tmp_path, "--steps", "1", "--processes", "2")
    assert first.returncode == 0, first.stderr
    again = make(tmp_path, "--steps", "2", "--note", "Made by a test.")
    assert again.returncode == 0, again.stderr
    assert "resuming at step 1" in again.stdout
    folder = tmp_path / "checkpoint"
    Chat.from_pretrained(folder), load_model(folder)
    steps = [json.loads(line)["step"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert steps == [1, 2]
    skills = json.loads((folder / "skills.json").read_text())
    assert {*SKILLS, "photographs"} <= set(skills)
    assert all(0 <= s["low"] <= s["value"] <= s["high"] <= 1 and 1 <= s["n"] <= 2 for s in skills.values())
    card = (folder / "README.md").read_text()
    assert "Made by a test." in card and "in 2 steps" in card
    assert HANDWRITING["train"] in card, "begun from nothing, on the split digits"


def test_a_card_says_which_handwritten_digits_were_seen(tmp_path: Path) -> None:
    assert HANDWRITING["all"] in (TINY / "README.md").read_text(), "the committed model is older than the split"
    assert handwriting(TINY) == handwriting(tmp_path) == HANDWRITING["all"]
    (tmp_path / "README.md").write_text(handwriting(None))
    assert handwriting(tmp_path) == HANDWRITING["train"]


def test_killed_it_leaves_nothing_running(tmp_path: Path) -> None:
    command = [sys.executable, "data_scripts/make_tiny_vlm.py", "--out", str(tmp_path), "--pool", "6", "--batch", "4"]
    with subprocess.Popen([*command, "--processes", "2"], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}) as made:
        deadline = time.monotonic() + 300
        while len(workers := psutil.Process(made.pid).children(recursive=True)) < 3:  # a tracker and two workers
            assert made.poll() is None and time.monotonic() < deadline
            time.sleep(0.2)
        time.sleep(5)  # beyond the workers' imports
        made.kill()
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert alive == []


def test_a_batch_that_cant_be_shared_is_refused(tmp_path: Path) -> None:
    refused = make(tmp_path, "--processes", "3")
    assert refused.returncode != 0 and "--batch 8" in refused.stderr
