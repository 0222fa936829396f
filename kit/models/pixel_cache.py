"""Processed images remembered, so that an image seen in every turn of an episode is processed once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kit.episode import NamedImage
    from kit.models.family import Pixels

IMAGE_CACHE_BYTES = 1 << 30
"""Bytes of processed images that a process remembers: one of 1,024 x 1,024 pixels takes 26 MB."""


class PixelCache:
    """Processed images by content, the one not used for longest forgotten first beyond ``max_bytes``.

    Any number of threads may ask. An image larger than all that may be kept is processed each time.

    Args:
        process: makes what is remembered.
        max_bytes: of all patches together; 0: nothing is remembered.

    Attributes:
        bytes: held now.
    """

    def __init__(self, process: Callable[[NamedImage], Pixels], max_bytes: int = IMAGE_CACHE_BYTES) -> None:
        self.process = process
        self.max_bytes = max_bytes
        self.bytes = 0
        self._kept: dict[str, Pixels] = {}  # by the image's hash: the image itself isn't held
        self._lock = Lock()

    def __call__(self, image: NamedImage) -> Pixels:
        """The processed image."""
        name = image.sha256
        with self._lock:
            if name in self._kept:
                self._kept[name] = self._kept.pop(name)  # the newest comes last
                return self._kept[name]
        made = self.process(image)
        with self._lock:
            if name not in self._kept and made.patches.nbytes <= self.max_bytes:
                self._kept[name] = made
                self.bytes += made.patches.nbytes
            while self.bytes > self.max_bytes:
                self.bytes -= self._kept.pop(next(iter(self._kept))).patches.nbytes
        return made
