"""What else runs a model's code, for the benchmark to compare with: each behind ``start``, ``run`` and ``close``.

None of them rolls back or confines. They get the same code and the same imports as a turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, Protocol

from turn_sandbox import linux


class Rival(Protocol):
    """One way to run code that keeps its state, or doesn't."""

    name: str

    def start(self, setup: str, folder: str) -> None:
        """Be ready for turns in ``folder`` after ``setup``."""

    def run(self, code: str) -> None:
        """One turn; raises if it fails."""

    def private_bytes(self) -> int | None:
        """Memory of its own; None if it has no process of its own, or where the system doesn't tell."""

    def close(self) -> None:
        """Leave nothing."""


class Exec:
    """``exec`` in this very process: no isolation whatsoever."""

    name = "exec in this process"

    def start(self, setup: str, folder: str) -> None:
        """Change into the folder, run the setup."""
        self._back, self._names = os.getcwd(), dict[str, Any]()
        os.chdir(folder)
        self.run(setup)

    def run(self, code: str) -> None:
        """Run it."""
        exec(code, self._names)

    def private_bytes(self) -> int | None:
        """None: it lives in the caller."""
        return None

    def close(self) -> None:
        """Go back."""
        os.chdir(self._back)


class Smolagents(Exec):
    """smolagents' local executor: an interpreter of Python written in Python, in this process."""

    name = "smolagents' local executor"

    def start(self, setup: str, folder: str) -> None:
        """Change into the folder, run the setup."""
        from smolagents import LocalPythonExecutor

        self._back = os.getcwd()
        os.chdir(folder)
        self._executor = LocalPythonExecutor(additional_authorized_imports=["*"])
        self._executor.send_tools({})
        self.run(setup)

    def run(self, code: str) -> None:
        """Run it."""
        self._executor(code)


class Process:
    """A new Python for every turn, which imports everything anew and keeps no state."""

    name = "a new Python per call"

    def start(self, setup: str, folder: str) -> None:
        """Nothing to do before the first turn."""
        self._setup, self._folder = setup, folder

    def run(self, code: str) -> None:
        """Run setup and code."""
        subprocess.run([sys.executable, "-c", f"{self._setup}\n{code}"], cwd=self._folder, check=True)

    def private_bytes(self) -> int | None:
        """None: nothing lives between calls."""
        return None

    def close(self) -> None:
        """Nothing is left."""


class Kernel:
    """A Jupyter kernel: state, but no roll-back and no isolation."""

    name = "a Jupyter kernel"

    def start(self, setup: str, folder: str) -> None:
        """Start it and run the setup."""
        from jupyter_client.manager import start_new_kernel

        # Its words about an unencrypted connection are for networks.
        self._manager, self._client = start_new_kernel(cwd=folder, extra_arguments=["--log-level=ERROR"])
        self.run(setup)

    def run(self, code: str) -> None:
        """Run it and wait for the reply."""
        reply = self._client.execute(code, reply=True, timeout=60)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"])

    def private_bytes(self) -> int | None:
        """Of the kernel's process."""
        return linux.private_bytes([self._manager.provisioner.process.pid])  # type: ignore[union-attr]

    def close(self) -> None:
        """End it."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


RIVALS: tuple[Rival, ...] = (Exec(), Smolagents(), Kernel(), Process())
