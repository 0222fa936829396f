"""Settings of the tests of the sandbox, and a sandbox that they share."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from turn_sandbox import Sandbox

settings.register_profile("sandbox", deadline=None)  # an example takes as long as the machine is busy
settings.load_profile("sandbox")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here, so that a quick run can leave them out."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("sandbox")


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox
