"""Run a command as an ordinary user: ``python as_user.py UID PATH… -- COMMAND…``, as root.

The paths (Python, the packages) may lie where that user can't go, for instance in root's home. Seen by this command
only, the first folder on the way that is closed becomes an empty one with nothing but those paths in it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from turn_sandbox import kernel


def closed(path: Path) -> Path | None:
    """The outermost folder above ``path`` that others may not enter."""
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001), None)


def open_way(paths: Sequence[Path]) -> None:
    """Make the paths reachable in a mount namespace of this process's own."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    blocked = [(path, folder) for path in paths if (folder := closed(path))]
    aside = {path: tempfile.mkdtemp(prefix="as-user-") for path, _ in blocked}
    for path, place in aside.items():
        kernel.bind(str(path), place)
    for folder in {folder for _, folder in blocked}:
        kernel.mount("tmpfs", str(folder), "tmpfs", data="mode=755")
    for path, place in aside.items():
        path.mkdir(parents=True, exist_ok=True)
        kernel.bind(place, str(path))
        kernel.call("umount2", os.fsencode(place), kernel.MNT_DETACH)
        os.rmdir(place)


def main(user: int, paths: Sequence[Path], command: Sequence[str]) -> None:
    open_way(paths)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.execv(command[0], command)


if __name__ == "__main__":
    split = sys.argv.index("--")
    main(int(sys.argv[1]), [Path(path) for path in sys.argv[2:split]], sys.argv[split + 1 :])
