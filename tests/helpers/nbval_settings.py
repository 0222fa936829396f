"""A pytest plugin for the runs of nbval that tests/test_notebooks.py starts: what is not compared."""

from __future__ import annotations

from typing import Any

from nbval.plugin import IPyNbFile


def pytest_collectstart(collector: Any) -> None:
    """Warnings and log lines on stderr belong to the machine, not to the notebook."""
    if isinstance(collector, IPyNbFile):
        collector.skip_compare += ("stderr",)
