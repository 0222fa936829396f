"""A batch of which half are questions and half puzzles: it is trained on, and goes on where it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.data.store import save_tasks
from kit.episode import Episode
from kit.rollout import rollout
from kit.train.grpo import GRPOSettings
from kit.train.metrics import read_metrics
from papers.agile.mixed import MixedPlay, MixedTraining, mixture
from papers.agile.puzzle import make_task
from papers.agile.questions import is_question, questions
from pictures.scenes import scene
from tests.helpers.training_fixtures import without_times
from tiny import TINY

pytestmark = pytest.mark.slow


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Two questions and two puzzles by turns."""
    views = [Image.fromarray(scene(np.random.default_rng(k), 112)) for k in range(2)]
    puzzles = [make_task(view, 2, 2, np.random.default_rng(k), f"puzzle-{k}") for k, view in enumerate(views)]
    file = tmp_path / "half.jsonl"
    save_tasks(
        file, mixture("half", questions(1, side="train", skills=("colours", "shapes", "grid", "flags")), puzzles, 4)
    )
    return file


def training(tasks: Path, run_dir: Path) -> MixedTraining:
    settings = GRPOSettings(
        steps=2,
        prompts_per_batch=4,
        group_size=4,
        per_device_batch_size=8,
        learning_rate=1e-4,
        save_every=1,
        seed=0,
    )
    play = MixedPlay(prompt="brief", max_turns=2, max_new_tokens=40)
    return MixedTraining(str(TINY), str(tasks), str(run_dir), play, settings, allow_unsafe=True)


def test_a_mixed_batch_trains_and_resumes_the_same(
    tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Sequence[Episode]] = []
    stop_at = [2]

    def watched(*given: Any) -> list[Episode]:
        if len(played) + 1 == stop_at[0]:
            raise ConnectionError("the machine goes away")
        played.append(rollout(*given))
        return list(played[-1])

    monkeypatch.setattr("kit.train.grpo.rollout", watched)
    with pytest.raises(ConnectionError):
        training(tasks, tmp_path / "a")()
    assert [row["step"] for row in read_metrics(tmp_path / "a" / "metrics.jsonl")] == [1]
    assert sorted(is_question(e.task) for e in played[0]) == [False] * 8 + [True] * 8
    assert all(len(e.turns) == 1 for e in played[0] if is_question(e.task))

    stop_at[0] = 0
    model = training(tasks, tmp_path / "a")()
    assert len(played) == 2, "the first step is not played again"
    whole = training(tasks, tmp_path / "b")()
    rows = without_times(tmp_path / "a")
    assert [row["step"] for row in rows] == [1, 2] and rows == without_times(tmp_path / "b")
    weights = [(folder / "model.safetensors").read_bytes() for folder in (model, whole)]
    assert weights[0] == weights[1] != (TINY / "model.safetensors").read_bytes()
