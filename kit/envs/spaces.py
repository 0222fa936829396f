"""Spaces for agents that speak text and see pictures, which gymnasium's own spaces can't describe."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from PIL import Image

from kit.episode import Observation, Picture


class AnyText(gymnasium.Space[str]):
    """Any string whatever: a policy may say anything."""

    def __init__(self, max_length: int = 64, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)
        self.max_length = max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Random Unicode (no surrogates), to try an environment's patience."""
        length = int(self.np_random.integers(self.max_length + 1))
        return "".join(chr(c) for c in self.np_random.integers(1, 0xD7FF, size=length))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string."""
        return isinstance(x, str)


class Observations(gymnasium.Space[Observation]):
    """Text, named pictures and a status: :class:`kit.episode.Observation`."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Observation:
        """A random small picture."""
        pixels = self.np_random.integers(0, 256, size=(28, 28, 3)).astype(np.uint8)
        return Observation("", (Picture("image", Image.fromarray(pixels)),))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an observation."""
        return isinstance(x, Observation)
