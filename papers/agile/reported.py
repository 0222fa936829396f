"""The numbers AGILE reports, as shares, under the names of :mod:`papers.agile.metrics`."""

from __future__ import annotations


def _paper(acc: str, score: str) -> dict[str, float]:
    """One row of Tables 1 and 2, in the tables' columns, as shares."""
    grids = [("2x2", [*range(3), None]), ("3x3", [*range(8), None])]
    names = [f"{grid}_L{n}" if n is not None else grid for grid, levels in grids for n in levels]
    rows = {"acc": acc, "score": score}
    pairs = [(f"{m}_{name}", v) for m, row in rows.items() for name, v in zip(names, row.split(), strict=True)]
    return {name: round(float(value) / 100, 3) for name, value in pairs}


AGILE: dict[str, dict[str, float]] = {
    "random": _paper(
        "4.5 3.7 4.2 4.1  0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0",
        "25.2 24.7 24.8 24.9  11.4 11.3 11.0 10.9 11.1 11.4 11.3 10.8 11.2",
    ),
    "base": _paper(
        "6.3 6.0 16.3 9.5  0.0 0.0 0.0 0.0 0.0 0.7 1.3 1.3 0.4",
        "14.4 30.1 43.8 29.4  5.8 12.0 20.3 25.6 32.7 40.9 50.2 60.9 31.1",
    ),
    "sft": _paper(
        "12.0 32.0 22.0 22.0  0.0 0.3 0.0 0.0 0.0 0.7 0.3 0.0 0.2",
        "40.6 45.6 45.3 43.8  6.5 6.9 7.8 10.2 10.4 13.2 15.7 17.0 11.0",
    ),
    "grpo": _paper(
        "78.7 83.0 86.7 82.8  5.0 7.0 11.0 14.0 17.7 25.3 38.0 48.0 20.8",
        "86.4 88.7 91.9 89.0  41.1 46.8 52.6 58.6 65.3 71.0 77.9 83.6 62.1",
    ),
}
"""AGILE, Table 1 (``acc_…``) and Table 2 (``score_…``), rows Random, Qwen2.5VL-7B, +Cold-Start and +RL.

300 puzzles a level; what has no level is the mean over levels."""

REPORTED: dict[str, dict[str, float]] = {
    "direct": {},  # ours: the untrained model, asked in its own words (papers.agile.direct)
    "untrained": AGILE["base"],
    "sft": AGILE["sft"],
    "grpo": AGILE["grpo"],
    "direct_originals": {},  # ours: the same, asked from full pieces: the ceiling
}
"""Stage → metric → AGILE's number; the stages in the order of the tables."""

_BENCHMARKS = ("mme_rw", "rwqa", "hrb4k", "hrb8k", "vstar", "mmvp", "blink", "halbench", "mmmu", "all")


def _general(row: str) -> dict[str, float]:
    """One row of Table 3 as shares, under the names of :mod:`papers.agile.general`."""
    return {
        f"general_{name}": round(float(value) / 100, 3) for name, value in zip(_BENCHMARKS, row.split(), strict=True)
    }


GENERAL: dict[str, dict[str, float]] = {
    "untrained": _general("44.6 68.5 68.8 65.3 76.4 74.3 56.4 50.1 54.8 62.1"),
    "sft": _general("46.2 68.4 71.0 68.4 77.5 76.7 55.7 49.8 54.0 63.1"),
    "grpo": _general("48.4 70.2 73.0 70.5 80.6 78.0 58.0 51.9 55.8 65.2"),
}
"""AGILE, Table 3, rows Qwen2.5-VL-7B, +Cold-Start and +RL: nine benchmarks and their mean (``all``)."""

DATA_SCALE = {"acc_2x2": (0.220, 0.828), "hrb4k": 0.020, "rwqa": 0.018}
"""AGILE, section 4.3 and Figure 3, from no puzzle to all 15.6K: Acc on 2×2 first and last; by how much HRBench4K and
RealWorldQA rise (the curves' own values are drawn only)."""

EQUAL_BUDGET = 20_000
"""AGILE, section 4.3 and Figure 4: samples of each arm, 10K puzzles and 10K QA against 20K QA. The bars' values are
drawn only; the text says "superior performance on general vision benchmarks"."""
