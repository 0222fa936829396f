"""One turn, inside the process that runs it: hooks, code, what became of it.

The code shares this process and could overwrite anything here. That can make a turn fail or its
values lie, which the code could do by ordinary assignment as well. What it can't do is in the
hands of the keeper: end another turn, stay after its time, change what a failed turn leaves.
"""

from __future__ import annotations

import _thread
import builtins
import functools
import importlib.machinery
import io
import json
import os
import resource
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turn_sandbox import linux
from turn_sandbox.advice import Advice
from turn_sandbox.capture import capture
from turn_sandbox.cell import compile_cell, compile_script, compile_source
from turn_sandbox.installation import by_the_turn, without_paths
from turn_sandbox.limits import MAX_WARNINGS, Limits
from turn_sandbox.shown import Shown

ERROR_CHARS = 2000
ADVISED_CHARS = 90
"""Characters of an error where advice follows, which must still be read in a short observation."""

SPARE_MB = 256
"""Memory on top of the limit, for reporting a turn that used it all."""

_to_json = json.JSONEncoder(ensure_ascii=True).encode
_setrlimit, _getrlimit, _AS = resource.setrlimit, resource.getrlimit, resource.RLIMIT_AS
_process_time = time.process_time
_settrace, _setprofile = sys.settrace, sys.setprofile
_setrecursionlimit, _getrecursionlimit = sys.setrecursionlimit, sys.getrecursionlimit
_setitimer, _ITIMER_REAL = signal.setitimer, signal.ITIMER_REAL
_Thread, _is_alive = threading.Thread, threading.Thread.is_alive


_STARTS = frozenset(
    (
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.system",
        "os.exec",
        "subprocess.Popen",
        "_posixsubprocess.fork_exec",
    )
)
"""Events of sys.audit."""
_THREADS = (
    *((_thread, "start_new_thread"), (threading, "_start_new_thread")),
    (threading, "_start_joinable_thread"),  # since Python 3.13, in place of the second
)
"""Functions that start a thread; before Python 3.12 no event tells of it."""


class Session:
    """An episode's Python: the namespace of ``__main__`` and what a turn needs besides.

    The zygote makes one for all: what is made before the fork is memory that the episodes share.

    Args:
        register_hooks: called before a turn starts a thread or forks, for hooks put off by :mod:`turn_sandbox.hooks`.
    """

    def __init__(self, register_hooks: Callable[[], None]) -> None:
        self.turns, self._register_hooks = 0, register_hooks
        self._base = linux.address_space()  # before any code ran
        self.shown = Shown()
        self.shown.watch()
        # The code gets builtins of its own: what it deletes or replaces there is missing to it alone.
        self._builtins = types.ModuleType("builtins")
        self._builtins.__dict__.update(builtins.__dict__, show=self.shown.show, display=self.shown.display)
        sys.modules["builtins"] = self._builtins
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.namespace = module.__dict__
        self.namespace.update(__builtins__=self._builtins, __loader__=importlib.machinery.BuiltinImporter)
        self.namespace["__annotations__"] = {}
        self.advice = Advice()
        self._streams()

    def begin(self, limits: Limits, bound: bool, given: int, confined: bool, cell: bool) -> None:
        """From here on this is one episode's.

        Args:
            limits: limits of its turns.
            bound: whether its memory is limited.
            given: bytes of what it is given, which come on top.
            confined: whether the kernel denies programs, sockets and signals.
            cell: whether its turns are run as cells of a notebook.
        """
        self.advice.begin(confined)
        self._compile_turn = compile_cell if cell else compile_script
        sys.displayhook = self._show_value
        self.limits = self.shown.limits = limits
        self.shown.folder = os.getcwd()
        self._memory = self._base + given + (limits.memory_mb << 20) if bound and self._base else None
        self.started = self.own_fork = False
        self._threads: list[object] = []
        for module, name in _THREADS:
            if start := getattr(module, name, None):
                setattr(module, name, self._watched(start))
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: tuple[Any, ...]) -> None:
        if event != "os.system" or by_the_turn():
            self.advice.note(event)
        if event in _STARTS and not self.own_fork:
            self.started = True  # the keeper skips a costly search after a turn that started no process
            self._register_hooks()

    def _watched(self, start: Callable[..., Any]) -> Callable[..., Any]:
        """A function that starts a thread, and first notes whose it is."""

        @functools.wraps(start)
        def watched(function: Any, *given: Any, **named: Any) -> Any:
            self._register_hooks()
            if by_the_turn():
                self._threads.append(getattr(function, "__self__", None))
            return start(function, *given, **named)

        return watched

    def _running(self) -> int:
        """Count threads that the turn's own code started and that still run; no library's."""
        # Of one that _thread started nobody knows; the keeper counts no more than there are.
        return sum(not isinstance(thread, _Thread) or _is_alive(thread) for thread in self._threads)

    def _show_value(self, value: object) -> None:
        """Show the value of a cell's last expression."""
        if value is not None:
            self.shown.display(value)

    def _streams(self) -> None:
        """Files on descriptors 1 and 2, which are new pipes each turn, built as Python builds its own."""
        self.out, self.err = _stream(1, "<stdout>"), _stream(2, "<stderr>")

    def trusted(self, source: str, name: str) -> None:
        """Run setup or a hook."""
        if source:
            exec(compile_source(source, f"<{name}>"), self.namespace)

    def limit_memory(self, spare: bool) -> None:
        """Set this process's memory limit, or lift it a little for the report."""
        if self._memory is not None:
            hard = self._memory + (SPARE_MB << 20)
            _setrlimit(_AS, (hard if spare else self._memory, hard))

    def play(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Run one turn; returns the verdict's header and blobs (the values' JSON, then images)."""
        self.turns += 1
        self.shown.begin(self.namespace)
        self.started, self._threads = False, []
        self.advice.begin_turn()
        self.namespace["__builtins__"] = self._builtins
        if self.turns == 1 or not (_is_open(self.out) and _is_open(self.err)):
            self._streams()  # a file looks once whether it can seek: not before there is a pipe
        sys.stdout = sys.__stdout__ = self.out  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = self.err  # type: ignore[misc]
        file = f"<turn {self.turns}>"
        error = ""
        self.limit_memory(spare=False)
        try:
            self.trusted(request["before"], "before")
            self._run(request["code"], file)
            self.trusted(request["after"], "after")
        except BaseException as raised:  # SystemExit and KeyboardInterrupt are the code's as well
            self._leave()
            error = describe(raised, file, self.advice.on(raised))
        else:
            self._leave()
        if error:
            return self._header("error", error, [], []), [b"{}"]
        try:
            return self._good(request["want"])
        except Exception as raised:  # e.g. a figure that can't be drawn
            return self._header("error", f"the turn's pictures: {describe(raised, file)}", [], []), [b"{}"]

    def _run(self, code: str, file: str) -> None:
        programs = self._compile_turn(code, file)
        try:
            for program in programs:
                exec(program, self.namespace)
        except SystemExit as left:
            if left.code not in (None, 0):
                raise

    def _leave(self) -> None:
        """Back in trusted code: undo what would go on acting on it."""
        _settrace(None)
        _setprofile(None)
        _setitimer(_ITIMER_REAL, 0)
        if _getrecursionlimit() < 1000:
            _setrecursionlimit(1000)
        self.limit_memory(spare=True)
        self.flush()
        # Now, not in the next turn: a stream of the code's own closes what it wraps when it goes.
        sys.stdout, sys.stderr = self.out, self.err

    def flush(self) -> None:
        """Write out what is still in the buffers of stdout and stderr."""
        for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), self.out, self.err):
            try:
                stream.flush()  # type: ignore[union-attr]
            except Exception:  # gone, closed, or an object of the code's own: nothing of ours is in it
                continue

    def _good(self, want: Sequence[str]) -> tuple[dict[str, Any], list[bytes]]:
        """Make the verdict on a turn that raised nothing."""
        values, warnings = self._values(want)
        found = capture(self.namespace, self.shown)
        self.shown.end()
        images = [[name, width, height] for name, width, height, _ in found.images]
        header = self._header("ok", "", warnings + found.warnings + self.advice.unsaid, images)
        return header, [values, *(data for _, _, _, data in found.images)]

    def _header(self, status: str, error: str, warnings: list[str], images: list[Any]) -> dict[str, Any]:
        return {
            "status": status,
            "error": error,
            "warnings": warnings[:MAX_WARNINGS],
            "images": images,
            "cpu_s": _process_time(),
            "started": self.started,
            "threads": self._running(),
        }

    def _values(self, want: Sequence[str]) -> tuple[bytes, list[str]]:
        """JSON of the wanted names, and why any of them is left out."""
        parts: list[str] = []
        warnings: list[str] = []
        room = self.limits.value_chars
        for name in want:
            if name not in self.namespace:
                warnings.append(f"value {name} left out: no such variable")
                continue
            try:
                text = _to_json(self.namespace[name])
            except Exception as error:  # not JSON, endless, or a class that pretends
                warnings.append(f"value {name} left out: not JSON ({type(error).__name__})")
                continue
            if len(text) > room:
                warnings.append(f"value {name} left out: over {self.limits.value_chars} characters of JSON")
                continue
            room -= len(text)
            parts.append(f"{_to_json(name)}: {text}")
        return ("{" + ", ".join(parts) + "}").encode("ascii"), warnings


def _stream(fd: int, name: str) -> io.TextIOWrapper:
    raw = io.FileIO(fd, "w", closefd=False)
    raw.name = name
    stream = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=fd == 2)
    stream.mode = "w"  # type: ignore[misc]
    return stream


def _is_open(stream: io.TextIOWrapper) -> bool:
    try:
        return not stream.closed
    except ValueError:  # the code detached its buffer
        return False


def describe(error: BaseException, file: str, advice: str = "") -> str:
    """One line: the exception as a traceback's last line has it, and the line of the turn's code it came from.

    Args:
        error: what the code raised.
        file: the turn's.
        advice: said after it.
    """
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else None
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == file:
            line = frame.tb_lineno
        frame = frame.tb_next
    try:
        said = without_paths(error.msg if isinstance(error, SyntaxError) else str(error))
        text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    except Exception:  # a class whose __str__ fails
        text = type(error).__name__
    if advice and len(text) > ADVISED_CHARS:
        text = text[: ADVISED_CHARS - 1] + "…"
    text = text[:ERROR_CHARS]
    text = text if line is None else f"{text} (line {line})"
    return f"{text}; {advice}" if advice else text
