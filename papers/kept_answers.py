"""Answers kept in a file for good: a run that is repeated or resumed asks nothing twice, and reads the same."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class CacheError(RuntimeError):
    """A file of answers can't be used; the message names it, and says what to do."""


class Cache:
    """Answers by query, in one SQLite file that several threads and processes may share.

    Raises:
        CacheError: now or later, the file is damaged, is something else, or can't be written.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._lock = path, threading.Lock()
        with self._told():
            self._file = sqlite3.connect(path, timeout=60.0, check_same_thread=False)
            with self._file:
                self._file.execute("CREATE TABLE IF NOT EXISTS answers (query TEXT PRIMARY KEY, answer TEXT NOT NULL)")

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            if any(words in str(error) for words in ("disk is full", "readonly", "unable to open", "locked", "I/O")):
                way_out = "see that the file can be read and written and its disk has room"
            else:
                way_out = (
                    "it is damaged, or no file of answers: put a good copy in its place, or move it away, and what it "
                    "held is asked for again"
                )
            raise CacheError(f"{self._path}: {error}; {way_out}. Then run the same command again") from error

    def get(self, query: str) -> Any:
        """The JSON kept for a query, or None; what was kept and isn't JSON is to be asked for anew."""
        with self._told():
            row = self._file.execute("SELECT answer FROM answers WHERE query = ?", (encodable(query),)).fetchone()
        try:
            return None if row is None else json.loads(row[0])
        except (ValueError, TypeError, RecursionError):
            return None

    def put(self, query: str, answer: Any) -> None:
        """Keep an answer; it is there whole or not at all."""
        with self._told(), self._file:
            values = (encodable(query), json.dumps(answer))
            self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", values)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


def encodable(text: str) -> str:
    """A text that every file takes: half a surrogate pair is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
