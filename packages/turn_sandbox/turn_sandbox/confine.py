"""The layers that confine code: which of them this machine has, and how a head puts them on.

==============  =============================================================  =====================================
layer           what it does                                                   file
==============  =============================================================  =====================================
``namespaces``  own processes, mounts, network; a root without the host's      :mod:`turn_sandbox.namespaces`
``landlock``    opens only Python's library and its own directory              :mod:`turn_sandbox.landlock`
``seccomp``     denies all system calls but those Python needs                 :mod:`turn_sandbox.seccomp`
``rlimits``     bounds memory, file size, open files, CPU                      :mod:`turn_sandbox.head`
==============  =============================================================  =====================================

The tier is ``full`` with all of them, ``partial`` without namespaces (as in many containers) or without Landlock,
``none`` otherwise.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from turn_sandbox import kernel, landlock, namespaces, seccomp
from turn_sandbox.result import Tier

LAYERS = ("namespaces", "landlock", "seccomp", "rlimits")
REASON_CHARS = 500
TRY_ENTRIES = 100


@dataclass(frozen=True)
class Confinement:
    """The layers of confinement of a sandbox.

    Attributes:
        namespaces: whether there is a root mount and a namespace for each episode.
        landlock: version of the kernel's Landlock; 0: none.
        program: seccomp's; empty: none.
        rlimits: whether resources are bounded.
        readable: what code may read besides its own directory.
        missing: why a layer is absent, by its name.
    """

    namespaces: bool
    landlock: int
    program: bytes
    rlimits: bool
    readable: tuple[str, ...]
    missing: dict[str, str]

    @property
    def tier(self) -> Tier:
        """``full``, ``partial`` or ``none``."""
        if not self.program or not (self.namespaces or self.landlock):
            return "none"
        return "full" if self.namespaces and self.landlock and self.rlimits else "partial"

    def enter(self, work: str) -> str:
        """Put on all layers but ``rlimits``, for good, in this process; returns its working directory.

        Args:
            work: the episode's directory as the keeper names it.
        """
        if self.namespaces:
            namespaces.enter_box()
            work = namespaces.WORK
        os.chdir(work)
        if not (self.landlock or self.program):
            return work
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if self.landlock:
            landlock.restrict(self.readable, [work, "/dev/null"], self.landlock)
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # nobody of the same user may trace it or read its memory
        if self.program:
            seccomp.install(self.program)
        return work


def available(without: Collection[str], folder: str) -> Confinement:
    """The layers that this machine has, each tried in a process that then ends.

    Args:
        without: layers to do without.
        folder: an empty one, to build on.
    """
    missing = {name: "switched off" for name in without}
    for name, attempt in _attempts(folder).items():
        if name not in missing and (why := _tried(attempt)):
            missing[name] = why
    return Confinement(
        namespaces="namespaces" not in missing,
        landlock=0 if "landlock" in missing else landlock.version(),
        program=b"" if "seccomp" in missing else seccomp.program("namespaces" not in missing),
        rlimits="rlimits" not in missing,
        readable=(*namespaces.readable(), *(f"/dev/{name}" for name in namespaces.DEVICES)),
        missing=missing,
    )


def _attempts(folder: str) -> dict[str, Callable[[], Any]]:
    def namespace() -> None:
        namespaces.furnish_room(1 << 20, TRY_ENTRIES)
        namespaces.enter_box()

    def whole_room() -> None:
        namespaces.mount_root(folder)
        namespaces.enter_namespace()
        if why := _tried(namespace):
            raise OSError(why)

    def ruleset() -> None:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict(["/"], [folder], landlock.version())

    def filtered() -> None:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.install(seccomp.program(False))

    return {"namespaces": whole_room, "landlock": ruleset, "seccomp": filtered}


def _tried(attempt: Callable[[], Any]) -> str:
    """Make the attempt in a forked process; what went wrong, or nothing."""
    if platform.system() != "Linux":
        return f"{platform.system()} has none"
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
        except BaseException as error:
            os.write(writer, str(error).encode()[:REASON_CHARS] or b"?")
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        why = pipe.read().decode()
    os.waitpid(pid, 0)
    return why
