"""A world of their own for the processes of a sandbox: namespaces(7), mount by mount.

The zygote mounts a root of its own once; every episode gets a mount and process namespace below it::

    /            what keepers see: a tmpfs, nothing of the host's but
    ├── proc     processes: of the episode, once its keeper has mounted it anew
    ├── keep     copies of the episode's files (tmpfs of its own)
    └── box      what code sees, as its root; all of it read-only but
        ├── episode  the episode's directory (tmpfs of its own, bounded in bytes and files)
        ├── dev      null, zero, random, urandom
        └── …        Python's library, its packages, the system's libraries and fonts, at their usual paths

Root doesn't need a user namespace to mount the root, an ordinary user does; episodes have one of their own
either way, and root makes them as *nobody*. The network namespace of the root has no interface that is up.
"""

from __future__ import annotations

import os
import site
import socket
import sys
import sysconfig

from turn_sandbox import kernel

NOBODY = 65534  # the kernel's overflow id, /proc/sys/kernel/overflowuid
BOX, WORK, KEEP, PROC = "/box", "/episode", "/keep", "/proc"
SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/share/fonts", "/usr/share/zoneinfo", "/lib", "/lib64", "/etc/localtime")
"""Libraries that packages load late, fonts, time zones. None of them is the user's."""

DEVICES = ("null", "zero", "random", "urandom")
SEALED = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC


def library() -> list[str]:
    """Folders that Python and its packages are in; not whole prefixes, in which much else may lie."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = [sysconfig.get_path(name) for name in names]
    # A conda environment keeps its packages' shared libraries here.
    paths += [os.path.join(sys.base_prefix, "lib"), site.getusersitepackages()]
    return [path for path in paths if path not in ("/lib", "/usr/lib")]


def readable() -> list[str]:
    """Existing paths that code may read, none below another; a link's target too."""
    paths: list[str] = []
    for path in (*SYSTEM, *library()):
        paths += {path, os.path.realpath(path)} if os.path.exists(path) else ()
    return [path for path in sorted(set(paths)) if not _inside(path, paths)]


def _inside(path: str, others: list[str]) -> bool:
    return any(path.startswith(other.rstrip("/") + "/") for other in others)


def mount_root(folder: str) -> None:
    """Mount a root file system on ``folder``, which only this process then sees so, and enter it."""
    root = os.geteuid() == 0
    flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
    _leave(flags if root else flags | kernel.CLONE_NEWUSER)
    # Nothing mounted from here on shows outside, nor anything mounted outside here.
    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", folder, "tmpfs", PLAIN, "mode=755,size=1m")
    box = folder + BOX
    for path in (box, box + WORK, box + "/dev", folder + KEEP, folder + PROC):
        os.mkdir(path, 0o755)
    for path in readable():
        _furnish(path, box + path)
        if not os.path.islink(path):
            kernel.restrict_mount(box + path, SEALED)
    for name in DEVICES:
        _furnish(f"/dev/{name}", f"{box}/dev/{name}")
        # Its times can't be changed then; the device itself can be written to.
        kernel.restrict_mount(f"{box}/dev/{name}", kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID)
    # A new /proc may only be mounted by one who sees a whole one.
    kernel.bind("/proc", folder + PROC)
    kernel.restrict_mount(folder, SEALED, recursive=False)
    socket.sethostname("sandbox")
    kernel.enter_root(folder)


def _furnish(path: str, place: str) -> None:
    """Show ``path`` at ``place``: a link as a link, a folder or file as a mount."""
    os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), place)
        return
    if os.path.isdir(path):
        os.makedirs(place, 0o755, exist_ok=True)
    else:
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o644))
    kernel.bind(path, place)


def _leave(flags: int) -> None:
    """Leave namespaces; in a new user namespace remain who one is."""
    user, group = os.getuid(), os.getgid()
    kernel.unshare(flags)
    if flags & kernel.CLONE_NEWUSER:
        # user_namespaces(7): without a privilege outside, groups can only be mapped once setgroups is denied.
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(fd, text.encode())
            os.close(fd)


def enter_namespace() -> None:
    """Start an episode's namespaces: the next process forked from here is the first of its own. Root becomes nobody."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # changing ids took it away, and with it the right to map them
    _leave(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID)


def furnish_room(disk_bytes: int, entries: int) -> tuple[str, str]:
    """Mount what an episode has of its own; its working directory and its keeper's store, as the keeper sees them."""
    kernel.mount("proc", PROC, "proc", PLAIN)
    bounds = f"mode=700,size={disk_bytes},nr_inodes={entries}"
    for place in (BOX + WORK, KEEP):
        kernel.mount("tmpfs", place, "tmpfs", PLAIN, bounds)
    return BOX + WORK, KEEP


def enter_box() -> None:
    """Leave the keeper's view for the box: without /proc, without the keeper's copies. For the head."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.bind(BOX, BOX)  # a mount can only become the root if it was made in this namespace
    kernel.enter_root(BOX)
