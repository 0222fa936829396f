"""What one turn of code may use."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """Bounds of a turn. All values are ours: AGILE states none.

    Attributes:
        code_chars: characters of code.
        seconds: wall clock of one turn, waiting for a free core not counted.
        memory_mb: MB a process may allocate on top of what the interpreter and the preloaded packages take; all
            processes of a turn together as well.
        processes: processes and threads alive at once in a turn, the turn's own included.
        file_mb: MB of one file.
        disk_mb: MB of all files in the working directory when a turn ends.
        stdout_chars: characters kept of stdout, and as many of stderr.
        pictures: pictures returned from one turn.
        picture_px: longest side of a returned picture; all of a turn together may have its square in pixels.
        value_chars: characters of JSON of all returned values together.
    """

    code_chars: int = 200_000
    seconds: float = 15.0
    memory_mb: int = 1024
    processes: int = 32
    file_mb: int = 64
    disk_mb: int = 256
    stdout_chars: int = 20_000
    pictures: int = 8
    picture_px: int = 4096
    value_chars: int = 1_000_000

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            least = 0 if item.name in ("stdout_chars", "pictures") else 1e-3 if item.name == "seconds" else 1
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < math.inf:
                raise ValueError(f"Limits.{item.name}={value!r}: needs a finite number of at least {least:g}")


def cpu_limit(limits: Limits) -> int:
    """CPU seconds of a process: a second line behind the deadline, so well above it."""
    return 2 * math.ceil(limits.seconds) + 10
