"""Numbers that Visual-ARFT reports, as shares, under the names of :mod:`papers.visual_arft.metrics`."""

from __future__ import annotations


def _mat(coding: str = "", search: str = "") -> dict[str, float]:
    """A row of Visual-ARFT's tables: F1 and EM for Simple, Hard and on average, of one setting or both, as shares."""
    names = [f"{metric}_{{}}{label}" for label in ("_simple", "_hard", "") for metric in ("f1", "em")]
    rows = {"coding": coding, "search": search}
    pairs = [
        (n.format(setting), v) for setting, row in rows.items() if row for n, v in zip(names, row.split(), strict=True)
    ]
    return {name: round(float(value) / 100, 4) for name, value in pairs}


MULTI_HOP = ("2wikimultihopqa", "hotpotqa", "musique", "bamboogle")
"""The sets of Table 2, in its order, under the names of :data:`papers.visual_arft.evaluation_sets.TEXTS`."""


def _text(row: str) -> dict[str, float]:
    """A row of Table 2: F1 and EM on each set and on average, as shares."""
    names = [f"{metric}_text{part}" for part in (*(f"_{name}" for name in MULTI_HOP), "") for metric in ("f1", "em")]
    return {name: round(float(value) / 100, 4) for name, value in zip(names, row.split(), strict=True)}


VISUAL_ARFT: dict[str, dict[str, float]] = {
    "base": _mat("55.23 40.00 19.67 11.54 32.12 21.50", "67.40 61.33 39.59 32.00 53.49 46.67")
    | _text("27.90 22.15 25.35 17.35 9.45 2.61 14.07 5.60 19.19 11.93"),
    "visual-arft": _mat("60.10 51.43 45.60 25.38 50.68 34.50", "71.78 66.67 55.77 44.00 63.77 55.33")
    | _text("63.09 51.99 48.00 36.48 22.71 14.07 60.15 48.80 48.49 37.84"),
    "em-reward": _mat("53.50 45.71 43.00 23.85 46.68 31.50", "59.23 53.33 53.37 41.33 56.30 47.33"),
    "cot": _mat(search="57.57 49.33 46.65 32.00 52.11 40.67"),
    "rag": _mat(search="59.14 56.00 42.44 36.00 50.79 46.00")
    | _text("31.58 21.74 36.33 24.09 15.36 7.61 27.60 19.20 19.82 12.73"),
}
"""Visual-ARFT, Qwen2.5-VL-7B: Table 1 (direct and trained), Table 2 (text alone), Tables 3 and 4.

An average of Table 2 is the mean of its four sets, except the printed one of ``rag``, whose row has the mean 27.72 and
18.16."""

REPORTED: dict[str, dict[str, float]] = {
    "direct": VISUAL_ARFT["base"],  # appendix A.2: the baselines answer in one turn, without tools
    "cot": VISUAL_ARFT["cot"],
    "rag": VISUAL_ARFT["rag"],
    "rag-described": {},  # ours: retrieval by the model's own description of the image
    "untrained": {},
    "sft": {},
    "em-reward": VISUAL_ARFT["em-reward"],
    "grpo": VISUAL_ARFT["visual-arft"],
}
"""Stage → metric → Visual-ARFT's number; the stages in the order of the tables. The untrained agent has none."""
