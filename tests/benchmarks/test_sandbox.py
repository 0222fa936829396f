"""The sandbox's benchmark runs and measures what it names; no time is asserted."""

from __future__ import annotations

import pytest

from benchmarks.sandbox import bench, spread
from turn_sandbox.linux import LINUX

EVERYWHERE = {"start wall ms", "trivial turn wall ms", "crop turn wall ms", "failing turn wall ms"}


@pytest.mark.filterwarnings("ignore:sandbox")
@pytest.mark.skipif(not LINUX, reason="only Linux tells what other processes use")
def test_the_benchmark_measures_what_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    figures = bench(repeats=3, seconds=0.2, episodes=(1, 3), crowd=5)
    assert {*EVERYWHERE, *(f"{what}{name}" for what in ("bare ", "all ") for name in EVERYWHERE)} <= figures.keys()
    for other in ("exec in this process", "smolagents' local executor", "a Jupyter kernel", "a new Python per call"):
        assert figures[f"{other}: crop turn wall ms"] > 0
    assert figures["ok of 5 live episodes"] == 5
    assert all(value > 0 for name, value in figures.items() if "minute" in name or "private MB" in name)
    # A Python for every call imports everything anew each time: less than a turn would mean that it didn't run.
    assert figures["crop turn: a new Python per call / a turn"] > 1
    printed = capsys.readouterr().out
    assert "turns a minute" in printed and "ratios" in printed


def test_spread_is_the_median_and_quartiles() -> None:
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]).split() == ["3.00", "[2.00,", "4.00]"]
    assert spread([7.0]).split() == ["7.00"]
