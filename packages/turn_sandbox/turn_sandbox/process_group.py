"""The processes of an episode as its keeper handles them: stopped, killed, searched for, collected."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from turn_sandbox import linux
from turn_sandbox.verdict import Lost

SWEEP_SECONDS = 2.0
GONE_SECONDS = 5.0


class ProcessGroup:
    """The processes below this one, which adopts their orphans where it can."""

    def __init__(self) -> None:
        os.setsid()  # they can then be found even if this process is killed
        self._adopts = linux.become_subreaper()
        self._killed: set[int] = set()

    def pause(self, pid: int) -> None:
        """Stop a head until it is needed: a thread the code left in it would otherwise go on.

        Only where the keeper becomes its parent: elsewhere the system ends stopped orphans.
        """
        if self._adopts:
            os.kill(pid, signal.SIGSTOP)

    def kill(self, pid: int, group_only: bool = False) -> None:
        """Kill a process and its group; it may be there for a while yet, but does nothing any more."""
        self._killed.add(pid)
        for send in (os.killpg,) if group_only else (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(pid, signal.SIGKILL)

    def sweep(self, spared: set[int], started: bool = True) -> int:
        """Kill every process of this episode but ``spared``; how many there were.

        A killed process may take a while to be gone, but it starts no other. After a turn that says it ``started``
        none they are looked for only where that is cheap: among a thousand processes it would cost more than
        the turn. One that got past the harness so lives until a later turn or the episode ends.
        """
        search, count = started or linux.LISTS_CHILDREN, 0
        until = time.perf_counter() + SWEEP_SECONDS
        while search:
            living = linux.descendants() - spared
            new = set(filter(linux.alive, living - self._killed))
            self._killed &= living  # their numbers may be given to others
            if not new:
                break
            for pid in new:
                self.kill(pid)
            count += len(new)
            if time.perf_counter() > until:
                raise Lost("processes of the turn appeared faster than they could be killed")
        self.reap()
        return count

    def settle(self, head: int, child: int) -> None:
        """Wait until what was killed is gone: it counts against the limit of processes that the next turn has.

        Args:
            child: isn't waited for if it was alone.
        """
        crowd, until = False, time.perf_counter() + GONE_SECONDS
        while time.perf_counter() < until:
            there = linux.descendants() - {head}
            left = {pid for pid in there if linux.alive(pid) or linux.threads(pid) > 1}
            self.reap()
            # One that has ended counts until it is collected, which the keeper can't do before the child is gone.
            crowd = crowd or bool(there - {child}) or linux.threads(child) > 1
            if not left or not crowd:
                break
            time.sleep(0.0005)

    @staticmethod
    def reap() -> None:
        """Collect processes that have ended."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
