"""Calls that end at their deadline: a process of their own does them, and is killed when it is late.

A thread can't be ended: who stops waiting for one leaves its work behind, which goes on beside the training. So a call
under a deadline is done by a helper (:mod:`turn_sandbox.helper`), a process that holds copies of the tools it needs:

- The first call starts one, and another is started when all are at work. Each does one call at a time.
- Loading a tool isn't counted. An image is sent once, and the helper that has read it is asked about it again.
- A helper that is late is killed with all that it started; one that dies ends its own call. The next one is new.
- Its memory is bounded: a call that needs more is told so.
- It ends with the process that started it, in the middle of a call too, whatever ended that one.

A helper is started as a new program, never forked, so it shares no lock, socket or thread with the training. It runs
code that you trust, and bounds its time and memory; code that a model wrote is for the sandbox.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from multiprocessing import Pipe
from typing import Any

import cloudpickle
from PIL import Image

from turn_sandbox.images import NamedImage

MOST = max(2, min(4, os.cpu_count() or 1))
"""Helpers at once."""
START = 300.0
"""Seconds in which a helper has to start and to load a tool."""
KEPT = 16
"""Images, and tools, that a helper keeps; with one more it begins anew."""
LARGEST = 16 << 20
"""Bytes of a tool that is sent to a helper: a model's weights are more."""

_PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from turn_sandbox.helper import main; main(int(sys.argv[1]))"
_WAY_OUT = "let a service of its own do its work, or give it no deadline"

Key = tuple[str, str]
"""Of an image: its mode, and the hash of its pixels."""


class Unable(RuntimeError):
    """A call that can't be done under a deadline, which no agent can help: it ends the run, and says why."""


def call_within(deadline: float, tool: Any, arguments: Mapping[str, Any], images: Mapping[str, NamedImage]) -> Any:
    """Have a copy of a tool do a call, and end it at the deadline.

    Args:
        deadline: seconds of the call's work.
        tool: an object with a ``name`` and a method ``call(arguments, images)`` that holds nothing between two calls.
        arguments: fit its schema.
        images: what it may look at, by name.

    Returns:
        What the tool returns; or that it gave no answer in time (``timeout``), or that its process died (``died``).

    Raises:
        Unable: the tool can't be sent to another process, or no process can be started.
        Exception: the tool's own.
    """
    data = _packed(tool)
    keyed = {name: ((one.image.mode, one.sha256), one.image) for name, one in images.items()}
    helper = _helpers.take({key for key, _ in keyed.values()})
    try:
        return helper.call(deadline, tool.name, helper.load(tool.name, data), arguments, keyed)
    finally:
        _helpers.give_back(helper)


def _packed(tool: Any) -> bytes:
    """A tool's attributes and class: its name if a helper can import it, else its code."""
    for made in type(tool).__mro__:
        module = sys.modules.get(made.__module__)
        if module is not None and not _can_be_imported(made.__module__):
            cloudpickle.register_pickle_by_value(module)
    try:
        data: bytes = cloudpickle.dumps(tool)
    except Exception as error:
        raise Unable(f"{tool.name} can't be sent to another process ({error}): {_WAY_OUT}") from error
    if len(data) > LARGEST:
        raise Unable(f"{tool.name} holds {len(data) >> 20} MB, too much to send to another process: {_WAY_OUT}")
    return data


@cache
def _can_be_imported(module: str) -> bool:
    top = module.partition(".")[0]
    # By all finders, an editable installation's among them; not by what is loaded, which may have come another way.
    # What runs as a script or a notebook is sent as code anyway.
    return (
        top in sys.builtin_module_names
        or top == "__main__"
        or any(finder.find_spec(top, None) is not None for finder in sys.meta_path)
    )


class Helper:
    """A helper, as the process that started it sees it.

    Attributes:
        busy: whether it does a call.
        keys: of the images that it keeps.
    """

    def __init__(self) -> None:
        self._here, there = Pipe()
        self._late, self._tools = False, set[bytes]()
        self.busy, self.keys = False, set[Key]()
        words = (sys.executable, "-c", _PROGRAM, str(there.fileno()), *map(str, sys.path))
        with there:  # in a session of its own: Ctrl-C is for the training, and what a tool starts is killed with it
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, pass_fds=(there.fileno(),), start_new_session=True
            )

    @property
    def lives(self) -> bool:
        """Check that it can be asked."""
        return not self._late and self._process.poll() is None

    def load(self, name: str, data: bytes) -> bytes:
        """Have it make a copy of a tool, unless it has one; what to call it by.

        Raises:
            Unable: it can't.
        """
        if (key := hashlib.sha256(data).digest()) in self._tools:
            return key
        if anew := len(self._tools) >= KEPT:
            self._tools.clear()
        try:
            fine, why = self._ask(("load", key, data, anew), START)
        except (EOFError, OSError):
            fine, why = False, f"it took more than {START:g} s" if self._late else self._ended()
        if not fine:
            raise Unable(f"{name} can't be made in another process ({why}): {_WAY_OUT}")
        self._tools.add(key)
        return key

    def call(
        self,
        deadline: float,
        name: str,
        tool: bytes,
        arguments: Mapping[str, Any],
        images: Mapping[str, tuple[Key, Image.Image]],
    ) -> Any:
        """Have it do a call.

        Args:
            deadline: seconds.
            name: of the tool.
            tool: what it calls its copy.
            arguments: of the call.
            images: with their keys, by name.
        """
        if anew := len(self.keys | {key for key, _ in images.values()}) > KEPT:
            self.keys.clear()
        fresh = {key: image for key, image in images.values() if key not in self.keys}
        self.keys |= fresh.keys()
        named = {image: key for image, (key, _) in images.items()}
        try:
            fine, seen = self._ask(("call", tool, dict(arguments), named, fresh, anew, deadline), deadline)
        except (EOFError, OSError):
            if self._late or self._process.returncode == -signal.SIGALRM:  # its own clock, where this one was held up
                return f"Error: {name} gave no answer within {deadline:g} s", "timeout"
            return f"Error: {name} died during this call ({self._ended()})", "died"
        if not fine:
            raise seen
        return seen  # whatever a tool returns: who asked looks at it

    def _ask(self, request: tuple[Any, ...], seconds: float) -> tuple[bool, Any]:
        """Whether it did what was asked, and what came of it.

        Raises:
            EOFError: its process has ended; an OSError says the same.
        """
        # Killing it ends what is read and written here, even if it was stopped and takes nothing.
        timer = threading.Timer(seconds, self._be_late)
        timer.daemon = True
        timer.start()
        try:
            self._here.send_bytes(cloudpickle.dumps(request))
            reply: tuple[bool, Any] = pickle.loads(self._here.recv_bytes())
            return reply
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)  # it says how it ended, if it isn't killed meanwhile
            self._kill()
            raise
        except BaseException:  # an interrupt, too: a reply that comes later must not be the next call's
            self.end()
            raise
        finally:
            timer.cancel()
            timer.join()

    def _be_late(self) -> None:
        self._late = True
        self.end()

    def end(self) -> None:
        """Kill it, and all that it started, and wait for its end."""
        if self._process.returncode is None:
            self._kill()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def leave(self) -> None:
        """Let go of it, in a process that was forked: it is the other one's."""
        self._here.close()

    def _ended(self) -> str:
        code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"code {code}"


class Helpers:
    """All helpers of a process; any number of threads may ask them."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._all: list[Helper] = []

    def take(self, keys: set[Key]) -> Helper:
        """Wait for a helper: the one that keeps these images, else an idle one, else a new one.

        Raises:
            Unable: none can be started.
        """
        with self._change:
            while (found := self._find(keys)) is None:
                self._change.wait()
            found.busy = True
            return found

    def _find(self, keys: set[Key]) -> Helper | None:
        self._all = [one for one in self._all if one.busy or one.lives]
        for one in self._all:
            if keys and keys <= one.keys:
                return None if one.busy else one
        if idle := [one for one in self._all if not one.busy]:
            return idle[0]
        if len(self._all) >= MOST:
            return None
        try:
            self._all.append(Helper())
        except OSError as error:
            raise Unable(f"no process can be started for calls under a deadline ({error})") from error
        return self._all[-1]

    def give_back(self, helper: Helper) -> None:
        """Let others have it."""
        with self._change:
            helper.busy = False
            self._change.notify_all()

    def end(self) -> None:
        """Kill all of them."""
        for one in self._all:
            one.end()

    def leave(self) -> None:
        """Let go of all of them."""
        for one in self._all:
            one.leave()


_helpers = Helpers()


def _be_forked() -> None:
    global _helpers
    _helpers.leave()
    _helpers = Helpers()


os.register_at_fork(after_in_child=_be_forked)
atexit.register(lambda: _helpers.end())
