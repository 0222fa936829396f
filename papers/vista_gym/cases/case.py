"""A case: an input of a tool whose right reply is known because the input was drawn.

A tool's card says how often it is right on inputs that it wasn't made on. Which cases measure it stands in
:data:`papers.vista_gym.measure.CASES`, one function a tool; seeds from :data:`HELD_OUT` on are for cards alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

HELD_OUT = 1_000_000
"""The first seed of the inputs that cards are measured on; whoever tunes a tool draws below it."""


@dataclass(frozen=True)
class Case:
    """One input of a tool, and the rule by which its reply is right.

    Attributes:
        right: from the reply to a score from 0 to 1; of an error's text, too.
        arguments: of the call.
        image: what the tool is shown; None: it needs none.
    """

    right: Callable[[str], float]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    image: Image.Image | None = None


MakeCase = Callable[[np.random.Generator], Case]
"""Draws a case; the generator's seed names it."""
