"""CodeDance's figure: means over runs and over neighbouring steps, a line for each reward and level."""

from __future__ import annotations

import pytest

from papers.codedance.figures import calls_by_reward, mean_curve


def test_a_point_is_the_mean_over_runs_and_four_steps() -> None:
    """Steps 1 to 4 of two runs, 0 to 3 and 2: (0 + 1 + 2 + 3 + 4 · 2) / 8 = 1.75, at step 2.5; then 5 to 8."""
    counted = [{"step": n + 1, "calls_easy": float(n)} for n in range(8)]
    steady = [{"step": n + 1, "calls_easy": 2.0} for n in range(4)]
    assert mean_curve([counted, steady], "calls_easy") == ([2.5, 6.5], [1.75, 5.5])
    gaps = [row for row in counted if row["step"] != 2]  # a batch without an easy question
    assert mean_curve([gaps], "calls_easy")[1][0] == pytest.approx(5 / 3)


def test_a_line_for_each_reward_and_level() -> None:
    rows = [{"step": n + 1, "calls_easy": 0.5, "calls_hard": 1.0} for n in range(8)]
    figure = calls_by_reward({"adaptive": [rows], "bonus": [rows, rows]})
    assert [len(axis.lines) for axis in figure.axes] == [2, 2]
    assert [axis.get_title() for axis in figure.axes] == ["easy questions", "hard questions"]
    with pytest.raises(ValueError, match="no run has a column calls_easy or calls_hard"):
        calls_by_reward({"adaptive": [[{"step": 1}]]})
