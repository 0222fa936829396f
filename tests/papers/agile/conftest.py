"""A jigsaw with a sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from papers.agile.env import JigsawEnv


@pytest.fixture
def env(box: Any) -> Iterator[JigsawEnv]:
    env = JigsawEnv(box)
    yield env
    env.close()
