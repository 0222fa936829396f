"""The script that makes the tiny VLM: resumed, it ends with a checkpoint and a true card."""

import json
import os
import subprocess
import sys
from pathlib import Path

from kit.chat import Chat
from kit.models import load_model
from tiny.skills import SKILLS

ROOT = Path(__file__).parents[2]


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
    first = make(tmp_path, "--steps", "1")
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
