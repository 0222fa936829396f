"""The working directory as it was after the last good turn.

The keeper, which runs no code of the turns, remembers every entry (inode, size, change time) and
keeps a copy of every file. After a good turn what changed is copied; after a failed one what
changed is put back. The change time can't be set by a program, so a file that hides its change
behind ``os.utime`` is still seen. A changed file is rewritten in place, because a process of
the last good turn may have it open.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

RACY_NS = 20_000_000
"""Change times are as coarse as the kernel's tick, 10 ms at most: a file may change twice in one."""

MAX_ENTRIES = 10_000
"""Files and folders a working directory may have when a turn ends."""


@dataclass(frozen=True)
class Entry:
    """One file, folder or link, as ``lstat`` saw it."""

    kind: int
    inode: int
    size: int
    changed_ns: int
    mode: int
    link: str = ""


def _entry(path: str, info: os.stat_result) -> Entry:
    kind = stat.S_IFMT(info.st_mode)
    folder = kind == stat.S_IFDIR
    link = os.readlink(path) if kind == stat.S_IFLNK else ""
    # A folder's size and change time follow from what is in it, which has entries of its own.
    size, changed = (0, 0) if folder else (info.st_size, info.st_ctime_ns)
    return Entry(kind, info.st_ino, size, changed, stat.S_IMODE(info.st_mode), link)


class TooMuch(ValueError):
    """The working directory holds more than it may."""


def remove_tree(path: str) -> None:
    """Remove a folder of any depth: what lies in its subfolders is moved up, then they are empty.

    Paths so stay short, where descending would end at the longest path the system knows. What can't
    be removed stays.
    """
    moved = 0
    with contextlib.suppress(OSError):
        while names := os.listdir(path):
            for name in names:
                item = os.path.join(path, name)
                if os.path.islink(item) or not os.path.isdir(item):
                    os.unlink(item)
                    continue
                os.chmod(item, 0o700)
                for inner in os.listdir(item):
                    moved += 1
                    os.rename(os.path.join(item, inner), os.path.join(path, f".kit-removed-{os.getpid()}-{moved}"))
                os.rmdir(item)
        os.rmdir(path)


class Shadow:
    """Remembers ``work`` in ``store``, which must be empty or not exist.

    Args:
        work: folder whose files are remembered.
        store: folder for the copies.
        max_bytes: bytes of all copies together.
    """

    def __init__(self, work: str, store: str, max_bytes: int) -> None:
        self.work, self.store, self.max_bytes = work, store, max_bytes
        os.makedirs(store, 0o700, exist_ok=True)
        self._good: dict[str, Entry] = {}
        self.commit()

    def scan(self, bounded: bool = True) -> dict[str, Entry]:
        """Every entry under ``work`` by its relative path, folders before what is in them.

        Raises:
            TooMuch: more entries or bytes than allowed, if ``bounded``.
        """
        found: dict[str, Entry] = {}
        total, todo = 0, [""]
        while todo:
            try:
                for name, entry in self._list(todo.pop()):
                    found[name] = entry
                    total += entry.size
                    if bounded and (len(found) > MAX_ENTRIES or total > self.max_bytes):
                        raise TooMuch(f"more than {MAX_ENTRIES} files or {self.max_bytes >> 20} MB in all")
                    if entry.kind == stat.S_IFDIR:
                        todo.append(name)
            except OSError as error:  # too deep a folder, or one made unreadable
                if bounded:
                    raise TooMuch(f"a folder that can't be read: {error.strerror}") from error
        return found

    def _list(self, folder: str) -> Iterator[tuple[str, Entry]]:
        """Relative path and entry of everything in one folder."""
        with os.scandir(os.path.join(self.work, folder)) as entries:
            for item in entries:
                yield os.path.join(folder, item.name), _entry(item.path, item.stat(follow_symlinks=False))

    def commit(self) -> None:
        """Take what is there now for good.

        Raises:
            TooMuch: the directory holds too much; what was good before still is.
        """
        now = self.scan()
        for name, entry in now.items():
            if entry.kind == stat.S_IFREG and self._good.get(name) != entry:
                shutil.copyfile(os.path.join(self.work, name), self._copy(name), follow_symlinks=False)
        for name, entry in self._good.items():
            if entry.kind == stat.S_IFREG and (name not in now or now[name].kind != stat.S_IFREG):
                os.unlink(self._copy(name))
        self._remember(now)

    def restore(self) -> None:
        """Put back what changed since the last commit."""
        os.makedirs(self.work, exist_ok=True)
        now = self.scan(bounded=False)
        if now == self._good:
            return
        removed: set[str] = set()
        for name in sorted(now, key=lambda path: path.count(os.sep)):
            good = self._good.get(name)
            if os.path.dirname(name) in removed:
                removed.add(name)
            elif good is None or good.kind != now[name].kind:
                self._remove(os.path.join(self.work, name), now[name].kind)
                removed.add(name)
        for name in removed:
            del now[name]
        for name in sorted(self._good, key=lambda path: path.count(os.sep)):
            if now.get(name) != self._good[name]:
                self._put_back(name, now.get(name))
        # Writing changed inodes and change times: what is there now is what is good.
        self._remember(self.scan())

    def _remember(self, now: dict[str, Entry]) -> None:
        """This is good. A file that changed a moment ago could do so again unseen, so it never counts as unchanged."""
        young = time.time_ns() - RACY_NS
        self._good = {
            name: replace(entry, changed_ns=-1) if entry.kind == stat.S_IFREG and entry.changed_ns > young else entry
            for name, entry in now.items()
        }

    def _copy(self, name: str) -> str:
        # Flat names: the store needs no folders, and no name can climb out of it.
        return os.path.join(self.store, hashlib.sha256(os.fsencode(name)).hexdigest())

    @staticmethod
    def _remove(path: str, kind: int) -> None:
        if kind == stat.S_IFDIR:
            remove_tree(path)
        elif os.path.lexists(path):
            os.unlink(path)

    def _put_back(self, name: str, now: Entry | None) -> None:
        good, path = self._good[name], os.path.join(self.work, name)
        if good.kind == stat.S_IFDIR:
            os.makedirs(path, exist_ok=True)
        elif good.kind == stat.S_IFLNK:
            self._remove(path, good.kind)
            os.symlink(good.link, path)
        elif good.kind == stat.S_IFREG:
            if now is not None and now.inode != good.inode:
                os.unlink(path)
            target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with open(target, "wb") as file, open(self._copy(name), "rb") as copy:
                shutil.copyfileobj(copy, file)
        if good.kind != stat.S_IFLNK and os.path.lexists(path):
            os.chmod(path, good.mode)
