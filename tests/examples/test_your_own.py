"""The example package is small, and its copy under another name works as notebook 60 says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kit.files import ROOT
from papers.registry import find_paper
from workshop.jobs.notebooks import find

PACKAGE = ROOT / "examples" / "your_own"
MOST_LINES = 160

PLAY = """
import json
from my_task.env import Env, expert, is_right, score
from my_task.paper import PAPER
from my_task.task import make_tasks
from kit.chat import Chat
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from tiny import TINY
chat = Chat.from_pretrained(TINY)
play = lambda say: rollout(ScriptedPolicy(chat, say), chat, make_tasks(24, 0, "t"), Env, RolloutConfig(6, 40))
def told(episodes):
    rewards = [score(e, e.task.target) for e in episodes]
    assert all(abs(sum(r.parts.values()) - r.total) < 1e-9 for r in rewards)
    return sum(r.total for r in rewards) / len(rewards), sum(is_right(e, e.task.target) for e in episodes)
wrong = lambda e: "<mark>middle</mark>" if not e.turns else "<answer>0</answer>"
lines = {"expert": told(play(expert)), "guess": told(play(lambda e: "<answer>2</answer>")), "wrong": told(play(wrong))}
print(json.dumps({"paper": PAPER.name, **lines}))
"""


def test_the_package_is_small_and_registered_from_outside_the_kit() -> None:
    assert sum(len(path.read_text().splitlines()) for path in PACKAGE.glob("*.py")) <= MOST_LINES
    assert find_paper("your_own").notebooks == ("60_your_own",)


def test_a_copy_under_another_name_works_as_the_notebook_says(tmp_path: Path) -> None:
    text = find("60")[0].text
    (command,) = re.findall(r"sed -i.bak '([^']+)'", text)
    copy = tmp_path / "my_task"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["sed", "-i.bak", command, *map(str, copy.glob("*.py"))], check=True)
    assert not [path for path in copy.glob("*.py") if "your_own" in path.read_text()]
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", PLAY], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["paper"] == "my_task"
    assert told["expert"] == [1.5, 24], "1 for the number and .5 for all dots crossed out"
    assert 0 < told["guess"][0] < 1 and told["wrong"] == pytest.approx([-0.1, 0]), (
        "a place there is none of is told, and costs"
    )
