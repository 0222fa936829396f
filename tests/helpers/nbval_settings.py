"""A pytest plugin for the runs of nbval that tests/test_notebooks.py starts: what is not compared."""

from __future__ import annotations

from typing import Any

from nbval.plugin import IPyNbFile

FIGURE = r'<img(?: class="kit-drawn")? alt=[^>]*>'
"""A figure as :meth:`kit.view.charts.Plot.html` writes it: pixels, which nbval never compares, and their words."""


def pytest_collectstart(collector: Any) -> None:
    """Warnings and log lines on stderr belong to the machine, not to the notebook; so do measured times in figures."""
    if isinstance(collector, IPyNbFile):
        collector.skip_compare += ("stderr",)
        collector.sanitize_patterns[FIGURE] = "a figure"
