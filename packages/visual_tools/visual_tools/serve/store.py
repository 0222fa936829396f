"""Images by trajectory: sent once, named in calls, and forgotten when others need the room."""

from __future__ import annotations

import hashlib
import io
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image

from visual_tools.tool import MOST_PIXELS

FORMATS = ("PNG", "JPEG", "WEBP")
"""File formats of images that are taken."""

OVERHEAD = 1024
"""Bytes that an image counts for beside its own, so that millions of tiny ones are bounded as well."""


class ImageRefused(ValueError):
    """An image that isn't taken; the message says why."""


@dataclass(frozen=True)
class Stored:
    """An image's file, and a hash of it."""

    data: bytes
    key: str


def check(data: bytes) -> Stored:
    """Open an image's file, all of it, so that no worker is sent a broken one.

    Raises:
        ImageRefused: it can't be opened, or is larger than a tool opens.
    """
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                size = f"{image.width} x {image.height} pixels"
                raise ImageRefused(f"an image of {size}; a tool opens {MOST_PIXELS:,} at most")
            image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # what PIL makes of broken files
        if isinstance(error, ImageRefused):
            raise
        why = str(error).partition(" <")[0][:80] or type(error).__name__  # PIL names an object in memory
        raise ImageRefused(f"{len(data)} bytes that are no image ({why}); send a {', '.join(FORMATS)} file") from error
    return Stored(data, hashlib.sha256(data).hexdigest())


class Trajectories:
    """Images of trajectories; where there are too many bytes, the trajectory that nobody asked for longest goes.

    Args:
        most: bytes of all images.
    """

    def __init__(self, most: int) -> None:
        self.most, self.bytes, self.evicted = most, 0, 0
        self._kept = OrderedDict[str, dict[str, Stored]]()

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, trajectory: str, name: str, image: Stored) -> None:
        """Keep an image under its trajectory and name; one of that name is replaced.

        Args:
            trajectory: its id.
            name: of the image, as calls name it.
            image: its file.

        Raises:
            ImageRefused: the trajectory's images alone would be too many bytes.
        """
        own = {**self._kept.get(trajectory, {}), name: image}
        if (size := _size(own)) > self.most:
            raise ImageRefused(f"trajectory {trajectory!r:.60} would hold {size:,} bytes; {self.most:,} are kept")
        self.drop(trajectory)
        self._kept[trajectory] = own
        self.bytes += size
        while self.bytes > self.most:
            self.drop(next(iter(self._kept)))
            self.evicted += 1

    def images(self, trajectory: str) -> Mapping[str, Stored] | None:
        """A trajectory's images by name; None: it isn't known, or not any more."""
        if trajectory in self._kept:
            self._kept.move_to_end(trajectory)
        return self._kept.get(trajectory)

    def drop(self, trajectory: str) -> bool:
        """Forget a trajectory; says whether it was known."""
        own = self._kept.pop(trajectory, None)
        self.bytes -= _size(own or {})
        return own is not None


def _size(images: Mapping[str, Stored]) -> int:
    return sum(len(image.data) + OVERHEAD for image in images.values())
