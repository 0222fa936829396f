"""Images as a person sees them: the one conversion to RGB that every reader, store, sandbox and model of the kit uses.

The sandbox has it (:mod:`turn_sandbox.images`): what a model's code made is converted beside that code.
"""

from PIL import Image

from turn_sandbox.images import StretchedLevels as StretchedLevels
from turn_sandbox.images import rgb as rgb
from turn_sandbox.images import upright_rgb as upright_rgb
from turn_sandbox.images import within_pixels as within_pixels

OPENED_PIXELS = 33_177_600
"""Of an image as tools open it, at most: 8K, 7,680 × 4,320."""


def as_opened(image: Image.Image) -> Image.Image:
    """An image as tools open it: of :data:`OPENED_PIXELS` at most."""
    return within_pixels(image, OPENED_PIXELS)
