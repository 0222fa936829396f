"""Mags-RL's reported numbers, judge accuracy as shares, under the names of :mod:`kit.papers.mags_rl.metrics`."""

from __future__ import annotations

SOURCES = ("vsr", "tallyqa", "gqa")
"""Of questions, in the order of the paper's tables."""


def _hard(row: str) -> dict[str, float]:
    """A row of the table of Zoom-Hard."""
    return {f"judged_{name}_hard": round(float(v) / 100, 4) for name, v in zip(SOURCES, row.split(), strict=True)}


REPORTED: dict[str, dict[str, float]] = {
    "direct": _hard("45.65 9.71 44.32"),
    "untrained": {},
    "sft": {},
    "at_once": _hard("53.80 12.41 46.58"),
    "grpo": _hard("55.98 16.78 51.44"),
}
"""Stage → metric → the paper's number on Zoom-Hard (Qwen2.5-VL-3B); ``at_once`` is its "direct training", without the
curriculum (section 4.4). ``sft`` is the format start here, which the paper doesn't need."""
