"""What a policy reached, one module a paper.

Each has ``Outcome``, ``outcome(s)``, ``evaluate``, ``evaluate_outcomes``, ``table``, ``write_stage``, ``read_outcomes``
and ``read_stage``; ``HEADLINES``, the metrics that the README shows and what to call them; and ``BESIDE``, the stages
in the order of the tables with the paper's figures for each. What they share is in :mod:`kit.stages`.
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
