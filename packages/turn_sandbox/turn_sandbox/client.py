"""The sandbox as its users see it: run code that a model wrote, turn by turn.

::

    with Sandbox() as box:
        episode = box.episode(variables={"state": ["B", "A"]})
        result = episode.run("state.reverse(); print(state)", want=("state",))

This process only writes to a socket and reads from it. It never forks, so it may hold torch with
all its threads; the server it starts is a fresh process. Everything here is thread-safe.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from types import TracebackType
from typing import NoReturn

from PIL import Image

from turn_sandbox.checks import check_files, check_variables, known
from turn_sandbox.confine import LAYERS
from turn_sandbox.connection import Connection
from turn_sandbox.episode import SandboxEpisode, Turn
from turn_sandbox.guarantees import NAMES, measure
from turn_sandbox.images import rgb
from turn_sandbox.limits import Limits
from turn_sandbox.result import JSON, Report, Result, SandboxError, Tier

PLOTTING = ("numpy", "PIL.Image", "matplotlib.pyplot", "cv2")
"""Preloaded, matplotlib and cv2 make a turn up to half as dear again; imported by a turn, they take half a second."""

MODES = ("RGB", "RGBA", "L")
"""Images of these modes arrive as they are, others as RGB."""


class Sandbox:
    """A server and its episodes; a context manager.

    Args:
        limits: of every turn.
        workers: turns that run at once (default: the cores this process may use); others wait, and their
            waiting isn't charged to their time limit.
        preload: modules that are imported once for all episodes; :data:`PLOTTING` for code that plots and filters.
            Not torch: it hangs after a fork.
        require: names of guarantees that must hold here, see :attr:`guarantees`; :data:`turn_sandbox.CONFINED`
            before a model is let loose.
        allow_unsafe: run all the same, with a warning, where code isn't confined or something required is missing.
        without: layers of confinement to do without, see :mod:`turn_sandbox.confine`.

    Raises:
        ValueError: ``workers`` below 1, or an unknown name in ``require`` or ``without``.
        SandboxError: on start, if a module can't be preloaded, code isn't confined here, or a required guarantee
            isn't enforced.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        workers: int | None = None,
        preload: Sequence[str] = ("numpy", "PIL.Image"),
        require: Iterable[str] = (),
        allow_unsafe: bool = False,
        without: Iterable[str] = (),
    ) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers}: at least 1 turn must be able to run")
        self.limits = limits or Limits()
        self.workers = workers or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
        self.preload, self.allow_unsafe = tuple(preload), allow_unsafe
        self.require = known("require", "guarantee", require, NAMES)
        self.without = known("without", "layer", without, LAYERS)
        self._numbers = itertools.count(1)
        self._connection: Connection | None = None
        self._starting = threading.RLock()  # reentrant: what is required is tried in episodes of its own

    def start(self) -> Sandbox:
        """Start the server; ``with`` does it. Starting a started one changes nothing, unless its server died."""
        with self._starting:
            if self._connection is None or self._connection.died:
                self.close()  # collects a server that died
                self._connect()
        return self

    def _connect(self) -> None:
        hello = {
            "workers": self.workers,
            "preload": self.preload,
            "folder": tempfile.gettempdir(),
            "without": sorted(self.without),
        }
        self._connection = Connection(hello)
        weakref.finalize(self, self._connection.close)
        if lacking := self._lacking():
            if not self.allow_unsafe:
                self.close()
                raise SandboxError(f"{lacking}; Sandbox(allow_unsafe=True) runs it all the same")
            warnings.warn(f"sandbox: {lacking}", stacklevel=3)

    def _lacking(self) -> str:
        """List required guarantees that are missing."""
        if self.tier == "none":
            why = "; ".join(f"no {layer}: {reason}" for layer, reason in self.missing.items())
            return f"code isn't confined here ({why})"
        tried = measure(self.episode, self.tier, self.missing, self.require)
        lacking = [f"{item.name} ({item.missing})" for item in tried if not item.enforced]
        return "require: not enforced here: " + "; ".join(lacking) if lacking else ""

    def close(self) -> None:
        """End every episode and process and remove their files."""
        if self._connection is not None:
            self._connection.close()

    def __deepcopy__(self, memo: object) -> Sandbox:
        """Itself: copies of an environment run their code in the same sandbox, as those made with it do."""
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Sandbox holds processes and can't be pickled: open another where it is needed")

    def __enter__(self) -> Sandbox:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def guarantees(self) -> Report:
        """Guarantees that hold on this machine, each tried in throwaway episodes."""
        return measure(self.episode, self.tier, self.missing)

    @property
    def tier(self) -> Tier:
        """The tier of confinement here."""
        return self._open().tier

    @property
    def missing(self) -> Mapping[str, str]:
        """Why a layer of confinement is absent, by its name."""
        return self._open().missing

    @property
    def pids(self) -> tuple[int, int]:
        """Process ids of server and zygote; a zygote that was killed is replaced by another with the next episode."""
        return self._open().pids

    def episode(
        self,
        files: Mapping[str, bytes] | None = None,
        variables: Mapping[str, JSON] | None = None,
        images: Mapping[str, Image.Image] | None = None,
        setup: str = "",
        limits: Limits | None = None,
        cell: bool = False,
    ) -> SandboxEpisode:
        """Start an episode.

        Args:
            files: contents by path relative to the episode's working directory.
            variables: JSON values bound to names.
            images: bound to names as PIL images.
            setup: Python source run once, after those; trusted.
            limits: of its turns, if not the sandbox's.
            cell: each turn is run as a cell of a notebook (:func:`turn_sandbox.cell.compile_cell`): the value of an
                expression at its end is shown, and one that does nothing is an error.

        Raises:
            ValueError: a name, path or value that can't be used, or files larger than ``limits.disk_mb``.
            TypeError: a file's content that isn't bytes.
            SandboxError: the setup failed.
        """
        files, images, chosen = files or {}, images or {}, limits or self.limits
        check_files(files, chosen)
        check_variables(variables or {}, images)
        given = {name: image if image.mode in MODES else rgb(image) for name, image in images.items()}
        number = next(self._numbers)
        header = {
            "kind": "start",
            "episode": number,
            "limits": asdict(chosen),
            "files": list(files),
            "variables": dict(variables or {}),
            "images": [[name, image.mode, *image.size] for name, image in given.items()],
            "setup": setup,
            "cell": cell,
        }
        blobs = [*files.values(), *(image.tobytes() for image in given.values())]
        if self._open().died:  # what is lost is its episodes, not the sandbox
            self.start()
        connection = self._open()
        answer, _ = connection.ask(header, blobs).result()
        if answer["error"]:
            raise SandboxError(answer["error"])
        return SandboxEpisode(connection, number, chosen)

    def run_many(self, turns: Iterable[Turn]) -> list[Result]:
        """Run turns of different episodes at the same time; results come back in their order."""
        running = [episode.submit(code, before, after, want) for episode, code, before, after, want in turns]
        return [result.result() for result in running]

    def _open(self) -> Connection:
        if self._connection is None:
            raise SandboxError("the sandbox isn't started: use `with Sandbox() as box:` or Sandbox().start()")
        return self._connection


def guarantees() -> Report:
    """Try every promise of a sandbox on this machine, in a sandbox started for it (seconds)."""
    with Sandbox(allow_unsafe=True) as box:
        return box.guarantees


def report() -> str:
    """Format :func:`guarantees` as a table."""
    return str(guarantees())
