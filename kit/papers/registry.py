"""Papers by name, and the evaluation of each.

A paper's ``metrics`` module has ``Outcome`` and ``EVALUATION`` (:class:`kit.evaluate.outcomes.Evaluation`).
"""

from __future__ import annotations

import importlib
from typing import Any

PAPERS = {"agile": "AGILE", "visual_arft": "Visual-ARFT"}
"""Our name of a paper, as in notebooks' and modules' names, and its own."""


def metrics_of(name: str) -> Any:
    """The module of a paper's metrics, by our name of it or by a notebook's; None if that names no paper."""
    for paper in PAPERS:
        if paper in name:
            return importlib.import_module(f"kit.papers.{paper}.metrics")
    return None
