"""The zygote: imports everything once, enters the root mount, then forks a keeper for every episode, one in advance.

It has one thread, checked, because a fork copies only the thread that calls it. It never imports
torch, and nor can the code.

Started by the server with a clean environment, through :mod:`turn_sandbox.hooks`.
"""

from __future__ import annotations

import gc
import glob
import importlib
import os
import shutil
import signal
import socket
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from turn_sandbox import keeper, linux, wire
from turn_sandbox.advice import Refusals
from turn_sandbox.clean import at_home
from turn_sandbox.confine import Confinement, available
from turn_sandbox.event_loop import wake_by_pipe
from turn_sandbox.files import remove_tree
from turn_sandbox.namespaces import WORK, enter_namespace, mount_root
from turn_sandbox.turn import Session

STANDARD = (
    *("base64", "collections", "copy", "csv", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
    *("heapq", "io", "itertools", "json", "math", "operator", "os", "pathlib", "pprint", "random", "re", "statistics"),
    *("string", "struct", "subprocess", "textwrap", "time", "traceback", "typing", "unicodedata", "uuid"),
)
LAZY = {"numpy": ("numpy.random", "numpy.linalg", "numpy.fft"), "PIL.Image": ("PIL.ImageDraw", "PIL.ImageFilter")}
"""What a preloaded package would import on first use, in every turn anew."""

CLEAN_SECONDS = 3.0


def preload(modules: Sequence[str]) -> str:
    """Import them and what they would import later; returns what is wrong, or nothing."""
    for name in (*STANDARD, *modules):
        try:
            importlib.import_module(name)
        except Exception as error:
            return f"preload: {name} can't be imported: {type(error).__name__}: {error}"
    for name in (lazy for package in modules for lazy in LAZY.get(package, ())):
        importlib.import_module(name)
    if "PIL.Image" in sys.modules:
        sys.modules["PIL.Image"].init()  # every file format, which open() imports one by one
    if "matplotlib.pyplot" in sys.modules:
        _draw_once(sys.modules["matplotlib.pyplot"])
    if threading.active_count() > 1 or linux.threads(os.getpid()) > 1:
        return f"preload: {', '.join(modules)} left a thread running; a process with threads can't be forked safely"
    return ""


def _draw_once(pyplot: Any) -> None:
    """Have matplotlib find its fonts and back end now, not in the first figure of every episode."""
    pyplot.figure(figsize=(1, 1))
    pyplot.title("a")
    pyplot.plot([0, 1])
    pyplot.gcf().canvas.draw()
    pyplot.close("all")


def main(
    control_fd: int,
    scratch: str,
    request: Mapping[str, Any],
    stop_deferring: Callable[[], None],
    register_hooks: Callable[[], None],
) -> None:
    """Preload, confine, say how that went, then fork a keeper for every socket that comes along.

    Args:
        control_fd: the socket to the server.
        scratch: an empty folder.
        request: ``preload`` and ``without``, as :class:`turn_sandbox.Sandbox` takes them.
        stop_deferring: called once all is imported: hooks on fork are registered at once from then on.
        register_hooks: registers the hooks on fork that were put off until then.
    """
    control = socket.socket(fileno=control_fd)
    # Where this package was found; code of the turns looks in its own folder and the installed packages.
    place = os.environ.pop("PYTHONPATH")
    sys.path.remove(place)
    if place in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):  # it is one of them: after the library
        sys.path.append(place)
    sys.path.insert(0, "")
    # As in a session at a terminal: what this process was started with is no business of the code's.
    sys.argv[:], sys.orig_argv[:] = [""], [sys.executable]
    sys.meta_path.insert(0, Refusals())
    wake_by_pipe()
    given = dict(os.environ)
    wrong = preload(request["preload"])
    os.environ.clear()  # cv2 leaves where its libraries lie, on the host
    os.environ.update(given)
    above = os.open(os.path.dirname(scratch), os.O_RDONLY)  # to remove the folder from, once it can't be seen any more
    confinement = available(request["without"], scratch)
    if confinement.namespaces and not wrong:
        mount_root(scratch)
        os.environ.update(at_home(WORK))
    control.sendall(wire.pack({"error": wrong, "tier": confinement.tier, "missing": confinement.missing}))
    if wrong:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers that have ended leave nothing behind
    session = Session(register_hooks)
    stop_deferring()
    gc.collect()
    gc.freeze()  # what is shared by all stays out of their garbage collections, which would write to it
    number, fds = 0, list[int]()
    while True:
        number += 1
        folder = os.path.join(scratch, f"episode-{os.getpid()}-{number}")
        spare = start_keeper(folder, session, confinement, (control_fd, above))
        if not fds:
            data, fds, _, _ = socket.recv_fds(control, 1, 1)
            if not data:
                break
        try:
            socket.send_fds(spare, [b"k"], fds)
        except OSError:  # it was killed while it waited: the next one gets it
            continue
        finally:
            spare.close()
        os.close(fds.pop())
    spare.close()
    # The server is gone; if it was killed, nobody else removes what is left when the last keeper has cleaned up.
    until = time.monotonic() + CLEAN_SECONDS
    while glob.glob(os.path.join(scratch, "episode-*")) and time.monotonic() < until:
        time.sleep(0.01)
    remove_tree(scratch)
    shutil.rmtree(os.path.basename(scratch), ignore_errors=True, dir_fd=above)


def start_keeper(folder: str, session: Session, confinement: Confinement, ours: Sequence[int]) -> socket.socket:
    """Start the keeper of an episode before anyone asks for it: fork and namespaces take as long as all that follows.

    Args:
        folder: folder for the episode's files; doesn't exist yet.
        session: its interpreter's state, as the zygote made it.
        confinement: what the kernel forbids it.
        ours: descriptors of the zygote's own.

    Returns:
        The socket to send it the one to the server over. It ends when this is closed unused.
    """
    mine, theirs = socket.socketpair()
    if os.fork() == 0:
        for fd in (*ours, mine.detach()):
            os.close(fd)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _become_keeper(theirs, folder, session, confinement)
    theirs.close()
    return mine


def _become_keeper(zygote: socket.socket, folder: str, session: Session, confinement: Confinement) -> NoReturn:
    """In a fork of the zygote; or in a fork of that, the first process of a namespace."""
    error, spent = "", 0.0
    try:
        try:
            if confinement.namespaces:
                enter_namespace()
                spent = time.process_time()
                if os.fork():
                    os._exit(0)
        except OSError as refused:  # no more namespaces, processes or memory
            error = f"no room for another episode: {refused}"
        _, fds, _, _ = socket.recv_fds(zygote, 1, 1)
        zygote.close()
        if fds:
            server = socket.socket(fileno=fds[0])
            if error:
                server.sendall(wire.pack({"error": error}))
            else:
                keeper.main(server, folder, session, confinement, spent)
    finally:
        os._exit(0)
