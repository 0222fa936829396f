"""The keeper's processes: what it killed doesn't count against the next turn."""

from __future__ import annotations

import subprocess
import sys

import pytest

from turn_sandbox import linux

SETTLE = """
import os, time
from turn_sandbox import linux
from turn_sandbox.process_group import ProcessGroup

group = ProcessGroup()
ended, tell = os.pipe()
if (child := os.fork()) == 0:
    for _ in range(3):
        if (pid := os.fork()) == 0:
            os._exit(0)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    os.write(tell, b".")
    time.sleep(0.5)
    os._exit(0)
os.read(ended, 1)
there = len(linux.descendants())
group.settle(0, child)
print(there, len(linux.descendants()))
"""


@pytest.mark.skipif(not linux.LINUX, reason="other systems don't tell which processes a turn started")
def test_what_ended_below_a_child_that_is_slow_to_go_is_collected_too() -> None:
    done = subprocess.run([sys.executable, "-c", SETTLE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("4 0\n", "")
