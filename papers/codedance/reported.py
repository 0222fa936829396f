"""CodeDance's reported numbers (7B), accuracies as shares, under the names of :mod:`papers.codedance.metrics`."""

from __future__ import annotations

VISUAL = ("countbench", "pixmo_count", "vstar", "hrb4k", "hrb8k", "chartqa", "charxiv")
MATHEMATICS = ("mathvision", "mathvista", "mathverse", "wemath")
ABLATED = ("countbench", "pixmo_count", "mathvision", "mathverse", "vstar", "hrb4k", "hrb8k")
"""The sets of Table 1, of Table 2 and of Table 3, in the tables' order."""


def _row(metric: str, sets: tuple[str, ...], row: str, scale: float = 0.01) -> dict[str, float]:
    """One row of a table: a metric of each set, in the table's order; a column more is their average."""
    names = (*sets, "all")[: len(row.split())]
    return {f"{metric}_{name}": round(float(value) * scale, 4) for name, value in zip(names, row.split(), strict=True)}


def _ablation(acc: str, turns: str) -> dict[str, float]:
    return _row("acc", ABLATED, acc) | _row("turns", ABLATED, turns, 1.0)


REPORTED: dict[str, dict[str, float]] = {
    "direct": _row("acc", VISUAL, "76.5 50.4 76.4 69.0 66.0 86.3 42.1")
    | _row("acc", MATHEMATICS, "25.0 68.1 45.1 35.4"),
    "untrained": {},
    "sft": _ablation(
        "85.3 66.9 23.0 41.4 82.7 72.1 67.1 62.6", "1.2749 1.3902 2.8388 2.1904 2.0052 1.1713 1.0875 1.7083"
    ),
    "outcome": _ablation(
        "88.4 71.2 26.0 46.5 82.7 73.4 69.0 65.3", "1.0200 1.0170 2.1086 1.9569 1.1728 1.0413 1.0375 1.3363"
    ),
    "bonus": _ablation(
        "85.1 64.4 25.2 44.0 83.3 74.6 68.4 63.6", "2.5960 2.5341 3.2270 2.5190 2.0000 2.0888 2.0525 2.4311"
    ),
    "offset_0": {},
    "grpo": _row("acc", VISUAL, "91.2 77.1 84.8 75.2 72.3 87.5 44.1")
    | _row("acc", MATHEMATICS, "29.6 70.3 46.8 39.6")
    | {"acc_all": 0.658, "turns_all": 1.406},
}
"""Stage → metric → CodeDance's number: Tables 1 and 2 (direct and grpo), Table 3 (rewards, with its own averages).

Table 3 has 69.4 for HR-Bench 8K under the paper's own reward where Table 1 has 72.3; Table 1's stands here."""
