"""Run one benchmark by name: ``python -m benchmarks NAME``, the same as ``python -m kit bench NAME``."""

from __future__ import annotations

import sys

from workshop.command import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
