"""Search without a network: BM25 over documents on this machine, by tantivy.

BM25 (Robertson and Zaragoza 2009) adds up, over the query's words that a document holds, a weight that is the higher
the rarer the word is among all documents, the more often (up to a point) it stands in this one, and the shorter this
one is. Words are compared by their English stems; those of a title weigh three times as much as those of a text.

Why not SQLite's FTS5, which Python has: it ranks every document that holds any word of a question, so its commonest
words cost most; ``python -m kit bench search`` compares the two.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import tantivy

from kit.files import atomic_dir
from kit.tools.search import TOP_K, QueryError, Snippet

FORMAT = "1"
"""Changes whenever the same documents make another index."""

TITLE_WEIGHT = 3.0
"""Of a word in a title, in a text 1. Asked "Chad capital", an index of 91,000 facts named the capital first for 125 of
169 countries, among the first two for 158; with equal weights for 14 (texts that name the country were shorter)."""

WRITER_BYTES = 50_000_000
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Document:
    """Something to find: an id that names it for good, a title, a text."""

    id: str
    title: str
    text: str


class Index:
    """A :class:`kit.tools.search.Search` over documents.

    Args:
        documents: any number; building takes about a second for 90,000 short ones.
        cache: folder for indexes: the same documents are indexed once.

    Raises:
        ValueError: no documents, or two with one id.
    """

    def __init__(self, documents: Iterable[Document], cache: Path) -> None:
        documents = list(documents)
        if not documents:
            raise ValueError("no documents to search in: the corpus is empty; see what its loader reads")
        if len({document.id for document in documents}) < len(documents):
            seen: set[str] = set()
            twice = next(d.id for d in documents if d.id in seen or seen.add(d.id))  # type: ignore[func-returns-value]
            raise ValueError(f"two documents have the id {twice!r}: each needs its own")
        self.size = len(documents)
        schema = _schema()
        folder = cache / _name(documents)
        if not folder.is_dir():
            _build(schema, documents, folder)
        self._index = tantivy.Index(schema, path=str(folder), reuse=True)
        self._searcher = self._index.searcher()

    def search(self, query: str, k: int = TOP_K) -> tuple[Snippet, ...]:
        """The ``k`` documents with the highest scores; fewer if fewer hold any of the query's words.

        Raises:
            QueryError: there is no word in the query.
            ValueError: ``k`` below 1.
        """
        if k < 1:
            raise ValueError(f"search k={k}: ask for at least 1 snippet")
        # Words alone, in lower case: nothing in a query is the query language's.
        words = " ".join(_WORD.findall(query.lower()))
        if not words:
            raise QueryError(f"search {query!r}: there is no word in it; say what to look for")
        asked = self._index.parse_query(words, ["title", "text"], field_boosts={"title": TITLE_WEIGHT})
        found = [self._searcher.doc(address) for _, address in self._searcher.search(asked, k).hits]
        return tuple(Snippet(*(str(one.get_first(name)) for name in ("title", "text", "id"))) for one in found)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    for name in ("title", "text"):
        builder.add_text_field(name, stored=True, tokenizer_name="en_stem")
    return builder.build()


def _name(documents: list[Document]) -> str:
    """A name that other documents, or another way to index them, don't have."""
    digest = hashlib.sha256(f"{FORMAT} {version('tantivy')}".encode())
    for document in documents:
        for text in (document.id, document.title, document.text):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return f"index-{digest.hexdigest()[:24]}"


def _build(schema: tantivy.Schema, documents: list[Document], folder: Path) -> None:
    with atomic_dir(folder, concurrent=True) as partial:
        writer = tantivy.Index(schema, path=str(partial)).writer(WRITER_BYTES, num_threads=1)
        for document in documents:
            writer.add_document(tantivy.Document(id=document.id, title=document.title, text=document.text))
        writer.commit()
        writer.wait_merging_threads()
