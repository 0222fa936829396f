"""The newest rollout: replaced as a whole, read again as it was."""

from __future__ import annotations

from pathlib import Path

from training_fixtures import batch, fresh_chat, grpo_run

from kit.episode import Score
from kit.train import latest_rollout as latest
from kit.train.metrics import read_metrics


def test_a_rollout_takes_the_last_ones_place(tmp_path: Path) -> None:
    episodes = batch(fresh_chat())
    scores = [Score(k / 4, {"accuracy": k / 4}, (0.0, k / 4)) for k in range(4)]
    assert latest.load(tmp_path) is None
    scores = [scores[1], scores[0], scores[3], scores[2]]
    latest.save(tmp_path, 1, episodes, scores)
    pictures = len(list((tmp_path / "latest" / "pictures").iterdir()))
    # The first, the best, the worst.
    assert latest.load(tmp_path) == (1, [(episodes[k], scores[k]) for k in (0, 2, 1)])
    latest.save(tmp_path, 2, episodes[1:2], scores[1:2])
    assert latest.load(tmp_path) == (2, [(episodes[1], scores[1])])
    assert len(list((tmp_path / "latest" / "pictures").iterdir())) < pictures, "a long run's folder doesn't grow"
    assert [path.name for path in tmp_path.iterdir()] == ["latest"]


def test_training_keeps_what_was_played_last(tmp_path: Path) -> None:
    grpo_run(tmp_path, learning_rate=1e-4)
    found = latest.load(tmp_path)
    assert found is not None
    step, played = found
    earned = [score.total for _, score in played]
    row = read_metrics(tmp_path / "metrics.jsonl")[-1]
    assert step == 5 and min(earned) < row["reward"] < max(earned)
