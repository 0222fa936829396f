"""Settings of the tests of the tools."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark those that start services, so that a quick run can leave them out."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.path.name in ("test_service.py", "test_on_ray.py"):
            item.add_marker("processes")
