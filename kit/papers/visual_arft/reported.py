"""Numbers that Visual-ARFT reports, as shares, under the names of :mod:`kit.papers.visual_arft.metrics`."""

from __future__ import annotations


def _mat(coding: str = "", search: str = "") -> dict[str, float]:
    """A row of Visual-ARFT's tables: F1 and EM for Simple, Hard and on average, of one setting or both, as shares."""
    names = [f"{metric}_{{}}{label}" for label in ("_simple", "_hard", "") for metric in ("f1", "em")]
    rows = {"coding": coding, "search": search}
    pairs = [
        (n.format(setting), v) for setting, row in rows.items() if row for n, v in zip(names, row.split(), strict=True)
    ]
    return {name: round(float(value) / 100, 4) for name, value in pairs}


VISUAL_ARFT: dict[str, dict[str, float]] = {
    "base": _mat("55.23 40.00 19.67 11.54 32.12 21.50", "67.40 61.33 39.59 32.00 53.49 46.67")
    | {"f1_text": 0.1919, "em_text": 0.1193},
    "visual-arft": _mat("60.10 51.43 45.60 25.38 50.68 34.50", "71.78 66.67 55.77 44.00 63.77 55.33")
    | {"f1_text": 0.4849, "em_text": 0.3784},
    "em-reward": _mat("53.50 45.71 43.00 23.85 46.68 31.50", "59.23 53.33 53.37 41.33 56.30 47.33"),
    "cot": _mat(search="57.57 49.33 46.65 32.00 52.11 40.67"),
    "rag": _mat(search="59.14 56.00 42.44 36.00 50.79 46.00"),
}
"""Visual-ARFT, Qwen2.5-VL-7B: Table 1 (direct and trained), Table 2's average (text alone), Tables 3 and 4."""

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
