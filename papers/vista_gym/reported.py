"""VISTA-R1's reported accuracies (Table 2), as shares, by the model that was trained."""

from __future__ import annotations

from collections.abc import Mapping

from papers.vista_gym.tasks import IN, OUT

COLUMNS = (*IN, "in", *OUT, "out", "all")
"""Table 2's columns: the benchmarks, and the means over those within the distribution, outside of it, and over all."""

ROWS: Mapping[str, str] = {
    "direct": "the base, asked directly",
    "no_reasoning": "w/o Reasoning: untrained, with tools and tool priors",
    "no_tools_reasoning": "w/o Tools: trained to reason without tools",
    "grpo": "VISTA-R1",
}
"""A model's rows of Table 2, by the stage that is the same here."""


def _rows(*rows: str) -> dict[str, dict[str, float]]:
    """A model's rows, in the order of :data:`ROWS`."""
    read = ([round(float(value) / 100, 4) for value in row.split()] for row in rows)
    return {stage: dict(zip(COLUMNS, row, strict=True)) for stage, row in zip(ROWS, read, strict=True)}


# fmt: off
TABLE_2: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "InternVL3-2B": _rows(
        "24.08 40.26 40.21 21.88 16.35 28.56 82.41 63.59 38.94 17.90 60.13 32.70 49.28 39.86",
        "43.76 43.43 54.93 23.47 25.05 38.13 85.27 51.29 30.85 21.24 68.53 28.30 47.58 43.28",
        "72.88 43.93 66.30 39.52 39.45 52.42 74.23 64.70 35.90 15.93 63.53 49.60 50.65 51.45",
        "88.55 56.24 68.54 42.31 33.35 57.80 85.35 73.80 63.85 39.81 84.13 60.00 67.82 63.27",
    ),
    "Qwen2.5-VL-7B": _rows(
        "76.40 39.43 41.39 30.64 26.30 42.83 80.64 70.44 65.53 25.18 61.45 59.20 60.41 52.42",
        "79.68 47.92 58.61 34.88 26.70 49.56 82.11 72.09 66.90 17.93 82.87 42.50 60.73 55.65",
        "83.32 48.92 68.11 33.42 51.35 57.02 64.13 56.09 76.45 26.92 68.58 56.10 58.05 57.58",
        "90.08 53.27 71.32 44.43 66.85 65.19 86.40 72.68 74.82 33.37 72.51 63.00 67.13 66.25",
    ),
    "InternVL3-8B": _rows(
        "77.32 47.09 44.87 33.71 34.70 47.54 95.32 74.54 63.05 28.95 73.27 59.60 65.79 57.49",
        "68.56 35.64 55.90 27.06 26.45 42.72 92.34 50.45 38.70 28.18 80.07 29.10 53.14 48.40",
        "84.24 51.47 73.10 34.70 53.50 59.40 94.68 75.37 60.25 29.24 80.93 62.80 67.21 63.66",
        "91.92 61.27 76.41 49.67 68.45 69.54 96.52 79.86 66.38 38.20 91.09 62.80 72.48 71.14",
    ),
}
# fmt: on
"""Model → stage → column → accuracy. Of InternVL3-14B the table has no row without tools or reasoning."""

BACKBONE = "Qwen2.5-VL-7B"
"""The one that the profile ``node`` trains: what is measured here stands beside its rows."""

MEANS = {"in": "acc_in", "out": "acc_out", "all": "acc_all"}

REPORTED: dict[str, dict[str, float]] = {
    **{stage: {} for stage in ("direct", "untrained", "no_reasoning", "sft", "grpo", "no_tools")},
    **{s: {MEANS[column]: row[column] for column in MEANS} for s, row in TABLE_2[BACKBONE].items()},
}
"""Stage → metric → the paper's number of :data:`BACKBONE`, means over benchmarks. What tools without a prior do to it
(``untrained``), and where cloning left it (``sft``), the paper says of InternVL3-8B alone: 31.61 (Table 3), and 60.95,
3.46 above its 57.49 (Figure 4a). ``no_tools`` is of older results files, an agent that was trained to answer without a
thought: no row of the paper's."""
