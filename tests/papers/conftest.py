"""What tests of papers share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the hub's data sets, as the module's ``COPIES`` writes them."""
    root = tmp_path_factory.mktemp("hub")
    request.module.COPIES(root)
    return root
