"""A turn while it grows: when it ends, and the random numbers it is drawn with."""

from __future__ import annotations

import numpy as np

from kit.policy import Completion, FinishReason


class OpenTurn:
    """One turn while it is being sampled.

    Args:
        stops: strings that end it.
        end_id: the id that does.
        pieces: the bytes of each id: a character's may be shared by several.
        seed: of its random numbers.
    """

    def __init__(self, stops: tuple[str, ...], end_id: int, pieces: list[bytes], seed: int) -> None:
        self.ids: list[int] = []
        self.logprobs: list[float] = []
        self.finish: FinishReason | None = None
        self._stops, self._end_id, self._pieces = [stop.encode() for stop in stops], end_id, pieces
        self._tail = b""
        self._random = np.random.default_rng(seed)
        self._reach = max(map(len, self._stops), default=0) + 16

    def draw(self) -> float:
        """A uniform number from [0, 1); of 32 bits, so that no product with it is rounded up to the whole."""
        return int(self._random.integers(1 << 32)) / (1 << 32)

    @property
    def sample(self) -> Completion:
        """The turn so far."""
        return Completion(tuple(self.ids), tuple(self.logprobs), self.finish or "length")

    def add(self, token: int, logprob: float) -> bool:
        """Append a token unless the turn has ended; returns whether it ends now."""
        if self.finish:
            return False
        self.ids.append(token)
        self.logprobs.append(logprob)
        self._tail = (self._tail + self._pieces[token])[-self._reach :]
        if token == self._end_id:
            self.finish = "eos"
        elif any(stop in self._tail for stop in self._stops):
            self.finish = "stop"
        return bool(self.finish)
