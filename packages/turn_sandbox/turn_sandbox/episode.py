"""An episode as the client holds it: turns go to the server, results come back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from PIL import Image

from turn_sandbox import wire
from turn_sandbox.checks import check_code
from turn_sandbox.connection import Connection
from turn_sandbox.images import NamedImage
from turn_sandbox.limits import Limits
from turn_sandbox.result import JSON, Result, SandboxError, ServerDied

Turn = tuple["SandboxEpisode", str, str, str, Sequence[str]]
"""An episode, its code, ``before``, ``after`` and ``want``: what :meth:`Sandbox.run_many` runs."""


class SandboxEpisode:
    """Python state and a working directory that live across turns; made by :meth:`Sandbox.episode`.

    Args:
        connection: the connection to the server.
        number: the server's number of this episode.
        limits: limits of its turns.
    """

    def __init__(self, connection: Connection, number: int, limits: Limits) -> None:
        self._connection, self._number, self._closed = connection, number, False
        self.limits = limits
        self.cpu_s = 0.0
        """CPU seconds of all its processes up to its last turn."""

    def submit(self, code: str, before: str = "", after: str = "", want: Sequence[str] = ()) -> Future[Result]:
        """:meth:`run` without waiting.

        Args:
            code: Python source of the turn.
            before: source that runs before it.
            after: source that runs after it.
            want: names whose values are returned.
        """
        if self._closed:
            raise SandboxError("this episode is closed; start another with Sandbox.episode()")
        result: Future[Result] = Future()
        if too_long := check_code(code, self.limits):
            result.set_result(Result("limit", error=too_long, tier=self._connection.tier))
            return result
        header = {"kind": "run", "episode": self._number, "code": code, "before": before, "after": after}
        try:
            answer = self._connection.ask({**header, "want": list(want)})
        except ServerDied as died:
            result.set_result(self._lost(died))
        else:
            answer.add_done_callback(lambda done: self._finish(done, result, want))
        return result

    def _lost(self, why: SandboxError) -> Result:
        return Result("episode_lost", error=f"episode_lost: {why}", tier=self._connection.tier)

    def _finish(self, answer: Future[wire.Frame], result: Future[Result], want: Sequence[str]) -> None:
        try:
            header, blobs = answer.result()
            self.cpu_s = header.get("episode_cpu_s", self.cpu_s)
            result.set_result(_result(header, blobs, want))
        except ServerDied as died:
            result.set_result(self._lost(died))
        except BaseException as error:
            result.set_exception(error)

    def run(self, code: str, before: str = "", after: str = "", want: Sequence[str] = ()) -> Result:
        """Run one turn, a transaction: unless it ends ``ok``, variables and files are as they were before.

        Args:
            code: Python source; not trusted.
            before: source run before it, inside the transaction; trusted.
            after: source run after it; if it raises, the turn is an error and rolled back.
            want: variables whose values (JSON) come back.

        Raises:
            TypeError: ``code`` is no text.
            SandboxError: the sandbox or this episode is closed. Nothing the code does raises, nor does the end of
                the server: it is a :class:`Result`. Code without a statement is an ``error``.
        """
        return self.submit(code, before, after, want).result()

    async def run_async(self, code: str, before: str = "", after: str = "", want: Sequence[str] = ()) -> Result:
        """:meth:`run` for asyncio.

        Args:
            code: Python source of the turn.
            before: source that runs before it.
            after: source that runs after it.
            want: names whose values are returned.
        """
        return await asyncio.wrap_future(self.submit(code, before, after, want))

    def close(self) -> None:
        """End the episode's processes and remove its files; a turn that is still running is lost."""
        if not self._closed:
            self._closed = True
            self._connection.tell({"kind": "close", "episode": self._number})

    def __enter__(self) -> SandboxEpisode:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _result(header: dict[str, Any], blobs: Sequence[bytes], want: Sequence[str]) -> Result:
    """A result from its frame."""
    if not blobs:  # the episode is lost
        return Result(header["status"], error=header["error"], tier=header["tier"])
    stdout, stderr, text, *pixels = blobs
    warnings = list(header["warnings"])
    values: dict[str, JSON] = {}
    if header["status"] == "ok":
        try:  # this text comes from the turn's own process
            found = json.loads(text)
            values = {name: found[name] for name in want if name in found}
        except (ValueError, TypeError, RecursionError) as error:
            warnings.append(f"values left out: {type(error).__name__}")
    images = tuple(
        NamedImage(name, Image.frombytes("RGB", (width, height), data))
        for (name, width, height), data in zip(header["images"], pixels, strict=True)
    )
    return Result(
        header["status"],
        stdout.decode("utf-8"),
        stderr.decode("utf-8"),
        header["error"],
        images,
        values,
        tuple(warnings),
        header["cpu_s"],
        header["wall_s"],
        header["queue_s"],
        header["tier"],
    )
