"""Limits of one turn of code."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

MAX_WARNINGS = 32
"""Warnings of one turn."""

MAY_BE_NONE = ("stdout_chars", "images", "image_enlarge_below", "image_enlarge_to", "figure_dpi")


@dataclass(frozen=True)
class Limits:
    """Limits of a turn. All values are ours; of the papers only one states a limit, the 15 seconds.

    Attributes:
        code_chars: characters of code.
        seconds: wall clock of one turn, waiting for a free core not counted.
        memory_mb: MB a process may allocate on top of what the interpreter and the preloaded packages take; all
            processes of a turn together as well.
        processes: processes and threads alive at once in a turn, the turn's own included.
        file_mb: MB of one file.
        disk_mb: MB of all files in the working directory when a turn ends.
        stdout_chars: characters kept of stdout, and as many of stderr.
        images: images returned from one turn.
        image_px: longest side of a returned image; all of a turn together may have its square in pixels.
        image_min_px: images with a shorter side are left out.
        image_aspect: images with a side more than so many times as long as the other are left out: models refuse such
            (Qwen2.5-VL's processor above 200).
        image_enlarge_below: an image with a side shorter than this is enlarged ...
        image_enlarge_to: ... until that side has so many pixels; 0: none is.
        figure_dpi: resolution at which matplotlib's figures are drawn; 0: their own.
        value_chars: characters of JSON of all returned values together.
    """

    code_chars: int = 200_000
    seconds: float = 15.0
    memory_mb: int = 1024
    processes: int = 32
    file_mb: int = 64
    disk_mb: int = 256
    stdout_chars: int = 20_000
    images: int = 8
    image_px: int = 4096
    image_min_px: int = 1
    image_aspect: float = 200.0
    image_enlarge_below: int = 0
    image_enlarge_to: int = 0
    figure_dpi: int = 0
    value_chars: int = 1_000_000

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            least = 1e-3 if item.name == "seconds" else 0 if item.name in MAY_BE_NONE else 1
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < math.inf:
                raise ValueError(f"Limits.{item.name}={value!r}: needs a finite number of at least {least:g}")


READABLE_FIGURES = Limits(image_min_px=28, image_enlarge_below=56, image_enlarge_to=112, figure_dpi=150)
"""Images as a vision model can read them: tiny and very long ones dropped, small ones enlarged, figures at 150 dpi."""


def cpu_limit(limits: Limits) -> int:
    """CPU seconds of a process: a second line behind the deadline, so well above it."""
    return 2 * math.ceil(limits.seconds) + 10
