"""Postpone modules' at-fork hooks until they can matter.

``random`` seeds anew in the forked process, ``threading`` and ``logging`` mend locks that other threads held. The
processes of a sandbox have one thread and go on with their random numbers: all this would do is write to 140
pages that they share, an eighth of what a turn takes. Once code starts a thread or forks, it is registered as ever.

The zygote starts in this file, since nothing else may be imported before:
``python hooks.py SOCKET FOLDER JSON``, where the JSON has ``preload`` and ``without``.
"""

from __future__ import annotations

import os
from collections.abc import Callable


class Hooks:
    """Stands in for :func:`os.register_at_fork` until :meth:`close`."""

    def __init__(self) -> None:
        self._waiting: list[dict[str, Callable[[], object]]] = []
        self._register = os.register_at_fork
        os.register_at_fork = self._put_off  # type: ignore[assignment]

    def _put_off(self, **hooks: Callable[[], object]) -> None:
        self._waiting.append(hooks)

    def close(self) -> None:
        """Stop postponing: hooks registered from here on are called at forks from here on."""
        os.register_at_fork = self._register

    def register(self) -> None:
        """Register now the hooks whose registration was postponed."""
        while self._waiting:
            self._register(**self._waiting.pop(0))


if __name__ == "__main__":
    hooks = Hooks()

    import json
    import sys

    from turn_sandbox import zygote

    zygote.main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), hooks.close, hooks.register)
