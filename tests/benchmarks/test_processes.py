"""The benchmark of several processes: what it says of two runs, and when it has nothing to compare."""

from __future__ import annotations

import pytest

from benchmarks import processes
from kit.train.launch.cores import CORES


def test_it_says_how_far_two_runs_are_apart_but_for_times() -> None:
    one = [{"step": 1, "loss": 0.5, "seconds": 1.0}, {"step": 2, "loss": 0.5, "reward": 1.0, "seconds": 1.0}]
    two = [{"step": 1, "loss": 0.5, "seconds": 9.0}, {"step": 2, "loss": 0.25, "reward": 0.875, "seconds": 9.0}]
    assert (
        processes._apart(one, two)
        == "apart by 0.0e+00 at the most in step 1 (step), 2.5e-01 at the most in step 2 (loss)"
    )


def test_with_one_core_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORES, "1")
    with pytest.raises(ValueError, match="1 core here: give a number of processes"):
        processes.processes_bench(2)
