"""Mags-RL's reported numbers (Tables 1 and 2), as shares, under the names of :mod:`papers.mags_rl.metrics`.

The paper's GPT accuracy is ``judged`` here, its inclusion accuracy ``included``: a pair for each source of questions.
"""

from __future__ import annotations

SOURCES = ("vsr", "tallyqa", "gqa")
"""Of questions, in the order of the paper's tables."""

MEASURES = ("judged", "included")
"""Of each source, in their order."""

TABLE_1 = {
    "easy": {
        "direct": "54.34 53.13  37.73 35.85  62.25 48.00",
        "cot": "61.55 59.38  43.23 40.33  61.20 45.20",
        "one_shot": "63.02 60.07  31.67 30.96  62.30 42.60",
        "zoom_refine": "68.14 66.67  45.01 42.97  62.90 45.60",
        "grit": "55.56 47.92  44.61 42.85  61.45 45.60",
        "grpo": "73.09 70.14  51.27 51.12  68.75 50.40",
    },
    "medium": {
        "direct": "47.88 47.70  12.75  9.60  52.98 42.34",
        "cot": "59.33 58.10  11.80  7.52  51.12 41.04",
        "one_shot": "57.55 54.80  10.20  8.40  50.20 37.34",
        "zoom_refine": "65.05 63.10  18.15 15.80  54.43 41.44",
        "grit": "54.40 46.60  15.05 14.20  50.55 38.04",
        "grpo": "67.63 64.10  24.35 24.20  59.31 45.15",
    },
    "hard": {
        "direct": "45.65 45.65   9.71  7.19  44.32 34.52",
        "cot": "46.74 45.65   7.01  5.76  45.48 33.97",
        "one_shot": "45.11 39.13   5.22  3.60  48.56 34.79",
        "zoom_refine": "52.72 50.00  10.61  7.91  46.78 35.06",
        "grit": "45.11 30.43  10.61  9.35  43.63 29.86",
        "grpo": "55.98 50.00  16.78 17.27  51.44 35.89",
    },
}
"""Zoom-Easy, -Medium and -Hard → stage → its row, in percent (Qwen2.5-VL-3B)."""

TABLE_2 = {"at_once": "53.80 47.83  12.41 12.23  46.58 30.41", "grpo": TABLE_1["hard"]["grpo"]}
"""Zoom-Hard: the paper's direct training, without the curriculum (section 4.4), and with it."""


def _row(level: str, row: str) -> dict[str, float]:
    """A row's numbers by their metrics' names."""
    names = [f"{measure}_{source}_{level}" for source in SOURCES for measure in MEASURES]
    return {name: round(float(v) / 100, 4) for name, v in zip(names, row.split(), strict=True)}


def _stage(name: str) -> dict[str, float]:
    """All that the two tables have of a stage."""
    rows = {level: rows[name] for level, rows in TABLE_1.items() if name in rows}
    rows |= {"hard": TABLE_2[name]} if name in TABLE_2 else {}
    return {metric: value for level, row in rows.items() for metric, value in _row(level, row).items()}


STAGES = ("direct", "cot", "one_shot", "zoom_refine", "grit", "untrained", "sft", "at_once", "grpo")

REPORTED: dict[str, dict[str, float]] = {name: _stage(name) for name in STAGES}
"""Stage → metric → the paper's number. ``sft`` is the format start here, which the paper doesn't need."""
