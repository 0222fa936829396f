"""The benchmark of several kernels: which cells it runs, and how it counts memory."""

from __future__ import annotations

import mmap
import os
import signal
import sys
from pathlib import Path

import pytest

from benchmarks import kernels

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how memory is shared")


def test_the_last_cell_is_the_first_that_loads_a_model() -> None:
    code = kernels.cells()
    assert kernels.UNTIL in code[-1] and not any("= load_model" in text for text in code[:-1])


@linux
def test_a_page_that_two_processes_share_is_counted_once() -> None:
    """The same 32 MB, touched by this process and its child: half of it belongs to each."""
    alone = kernels.pss(Path("/proc/self"))
    shared = mmap.mmap(-1, 32_000_000)
    shared.write(b"x" * len(shared))
    whole = kernels.pss(Path("/proc/self"))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        touched = sum(shared[at] for at in range(0, len(shared), 4096))
        os.write(write, b"done" if touched else b"")
        signal.pause()
    os.read(read, 4)
    half = kernels.pss(Path("/proc/self"))
    os.kill(child, 9)
    os.waitpid(child, 0)
    assert alone and whole and half
    assert 30 < whole[0] - alone[0] < 36
    assert half[1] < whole[1] - 30  # private no more


def test_fewer_than_two_are_refused() -> None:
    with pytest.raises(ValueError, match="kernels 1: at least 2"):
        kernels.kernels_bench(1)
