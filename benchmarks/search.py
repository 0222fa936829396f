"""What a search costs: ``python -m kit bench search``. Compares within one run; nothing here is asserted.

The documents are those that the command gives (``papers.visual_arft.corpora``); a question is a document's
title and some words of its text, so that, as in any question, most words stand in thousands of documents. Beside the
kit's index: SQLite's FTS5, which Python has.
"""

from __future__ import annotations

import re
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.telling import tell
from kit.tools.search import TOP_K
from papers.visual_arft.index import Document, Index

WORDS = 9
"""Of a question, at most."""


def questions_about(documents: Sequence[Document], n: int, seed: int = 0) -> list[str]:
    """``n`` different questions; fewer if there aren't as many."""
    rng = np.random.default_rng(seed)
    asked: dict[str, None] = {}
    for number in rng.permutation(len(documents)):
        words = re.findall(r"\w+", f"{documents[number].title} {documents[number].text}")[:WORDS]
        asked[" ".join(words)] = None
        if len(asked) == n:
            break
    return list(asked)


class FTS5:
    """SQLite's full-text index, asked for any of a question's words; one connection a thread."""

    def __init__(self, documents: Sequence[Document], path: Path) -> None:
        self._path, self._local = path, threading.local()
        with sqlite3.connect(path) as file:
            file.execute("CREATE VIRTUAL TABLE found USING fts5(title, text, tokenize='porter unicode61')")
            file.executemany("INSERT INTO found VALUES (?, ?)", ((one.title, one.text) for one in documents))
        file.close()

    def search(self, query: str, k: int = TOP_K) -> list[tuple[str, str]]:
        """Title and text of the best."""
        if not hasattr(self._local, "file"):
            self._local.file = sqlite3.connect(self._path)
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query.lower()))
        asked = "SELECT title, text FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?"
        return list(self._local.file.execute(asked, (words, k)))


def search_bench(made: Sequence[Document], queries: int = 256, threads: int = 32) -> dict[str, float]:
    """Measure, print and return seconds to build, milliseconds a query alone and with many at once, and ratios.

    Args:
        made: the documents.
        queries: of each measurement; different ones.
        threads: as many episodes that search at once.
    """
    figures: dict[str, float] = {}
    questions = questions_about(made, queries)
    print(f"search bench: {len(made)} documents, questions of {WORDS} words, {threads} threads")
    with tempfile.TemporaryDirectory() as folder:
        indexes: list[tuple[str, Callable[[], Index | FTS5]]] = [
            ("tantivy", lambda: Index(made, Path(folder))),
            ("fts5", lambda: FTS5(made, Path(folder, "fts5.sqlite"))),
        ]
        for name, build in indexes:
            tell(f"{name}: an index is built, then {queries} questions alone and {queries} at once, some seconds")
            began = time.perf_counter()
            index = build()
            figures[f"{name}: build s"] = time.perf_counter() - began
            figures[f"{name}: alone ms"] = _milliseconds(index.search, questions, 1)
            figures[f"{name}: at once ms"] = _milliseconds(index.search, questions, threads)
        began = time.perf_counter()
        Index(made, Path(folder))
        figures["tantivy: open again s"] = time.perf_counter() - began
    for what in ("alone ms", "at once ms"):
        figures[f"{what}: fts5 / tantivy"] = figures[f"fts5: {what}"] / figures[f"tantivy: {what}"]
    for name, value in figures.items():
        print(f"  {name:28s} {value:9.3f}")
    return figures


def _milliseconds(search: Callable[[str], object], questions: Sequence[str], threads: int) -> float:
    """Median wall time of a query."""

    def timed(question: str) -> float:
        began = time.perf_counter()
        search(question)
        return 1e3 * (time.perf_counter() - began)

    with ThreadPoolExecutor(threads) as pool:
        return statistics.median(pool.map(timed, questions))
