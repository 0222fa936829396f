"""Linux's calls for confining a process, by their own names; each raises OSError where it isn't there or refuses.

Python has no function for most of them (``os.unshare`` came with 3.12), so they go through libc's ``syscall``.
Numbers and flags are the kernel's; the header or manual page they stand in is named beside them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

MACHINES = {"x86_64": 0, "aarch64": 1}
"""Column of :mod:`turn_sandbox.syscalls` by ``uname -m``."""

# asm/unistd_64.h, asm-generic/unistd.h: as the tables of turn_sandbox.syscalls.
NUMBERS = {
    "unshare": (272, 97),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "mount_setattr": (442, 442),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}

# linux/sched.h
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

# linux/mount.h
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_RECURSIVE = -100, 0x8000  # linux/fcntl.h

# linux/prctl.h
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 24, 36, 38

CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | None) -> int:
    """One system call.

    Raises:
        OSError: as the kernel says; ENOSYS for a machine whose numbers aren't known here.
    """
    column = MACHINES.get(platform.machine())
    if column is None or platform.system() != "Linux":
        raise OSError(errno.ENOSYS, f"{name}: no such call is known for {platform.system()} on {platform.machine()}")
    # Everything a register wide: ctypes would pass an int as 32 bits.
    wide = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    result = _libc.syscall(ctypes.c_long(NUMBERS[name][column]), *wide)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return int(result)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones, unshare(2)."""
    call("unshare", flags)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2).

    Args:
        source: device or folder.
        target: mount point.
        kind: file system, such as ``tmpfs``.
        flags: ``MS_…`` bits.
        data: options of the file system.
    """
    names = [os.fsencode(text) for text in (source, target, kind)]
    call("mount", *names, flags, os.fsencode(data))


def bind(source: str, target: str) -> None:
    """Show ``source``, with what is mounted below it, at ``target`` as well."""
    mount(source, target, flags=MS_BIND | MS_REC)


def restrict_mount(target: str, attributes: int, recursive: bool = True) -> None:
    """Add attributes to a mount and to those below it, mount_setattr(2); none is taken away.

    Args:
        target: mount point.
        attributes: ``MOUNT_ATTR_…`` bits.
        recursive: include the mounts below it.
    """
    attr = struct.pack("=4Q", attributes, 0, 0, 0)  # struct mount_attr: set, clear, propagation, userns_fd
    call("mount_setattr", AT_FDCWD, os.fsencode(target), AT_RECURSIVE if recursive else 0, attr, len(attr))


def enter_root(folder: str) -> None:
    """Make the mount at ``folder`` this process's root and let go of the old one, as pivot_root(2) describes."""
    os.chdir(folder)
    call("pivot_root", b".", b".")
    call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def prctl(option: int, value: int) -> int:
    """prctl(2); libc has a function for it, so it is there on every machine."""
    result = _libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl: {os.strerror(number)}")
    return int(result)


def drop_capabilities() -> None:
    """Give up every capability, and the means to get any back."""
    for number in range(64):  # a set of them has 64 bits
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):  # the kernel knows no more; this process has none
                break
            raise
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    call("capset", header, bytes(24))
