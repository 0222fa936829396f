"""Search: a query in, a few snippets out; one interface, several back ends, of documents or of the web.

What a search found is written for a model by :func:`information`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

from kit.episode import Observation
from kit.tools.base import LONGEST, Images

TOP_K = 4
"""Snippets of one search."""

SNIPPET_CHARS = 600
"""A snippet's length in a prompt; a search engine's own are shorter, a document's beginning may be longer."""

_TAG = re.compile(r"<\s*/?\s*(?:think|search|information|code|answer)(?:\s[^<>]*|/)?>", re.IGNORECASE)
_NOTHING, _JOINER = r"[\u00ad\u200b\u200e\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]+", r"[\u200c\u200d]+"
_UNSEEN = re.compile(rf"{_NOTHING}|(?<=[!-~]){_JOINER}|{_JOINER}(?=[!-~])")  # others join scripts and emoji


@dataclass(frozen=True)
class Snippet:
    """Something found: the page's or document's title, an extract, and where it is from (an address or an id)."""

    title: str
    text: str
    source: str


class SearchError(RuntimeError):
    """A search can't be done; the message names the query and the way out."""


class QueryError(SearchError):
    """A search can't be done because of its query, which whoever wrote it can write anew."""


class Search(Protocol):
    """A back end; any number of threads may ask at once."""

    def search(self, query: str, k: int = TOP_K) -> tuple[Snippet, ...]:
        """The best ``k`` snippets, best first; fewer or none if no more are found.

        Raises:
            QueryError: not with this query.
            SearchError: it can't be done.
        """


class SearchTool:
    """Looks a query up.

    Of a query that can't be searched for, the agent is told. A search engine that is gone is no agent's doing: it ends
    the run, which goes on later.

    Args:
        search: where.
        k: snippets of one search.
        snippet_chars: characters of one snippet.
    """

    name = "search"
    description = "Looks a query up and returns a few snippets."
    parameters: Mapping[str, Any] = MappingProxyType(
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    )
    on_error: Literal["tell", "raise"] = "raise"  # of a query it is told below; else the search engine is at fault

    def __init__(self, search: Search, k: int = TOP_K, snippet_chars: int = SNIPPET_CHARS) -> None:
        if k < 1 or snippet_chars < 1:
            raise ValueError(f"k={k}, snippet_chars={snippet_chars}: a search shows at least 1 snippet of 1 character")
        self.search, self.k, self.snippet_chars = search, k, snippet_chars

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Search for ``query``.

        Raises:
            SearchError: it can't be done.
        """
        del images
        try:
            return Observation(information(self.search.search(arguments["query"], self.k), self.snippet_chars))
        except QueryError as error:
            return Observation(f"Error: {str(error)[:LONGEST]}", status="error")

    def close(self) -> None:
        """Nothing is held: the search engine is shared."""


def information(snippets: Sequence[Snippet], max_chars: int = SNIPPET_CHARS) -> str:
    """Format snippets for a model, between ``<information>`` tags, numbered from 1.

    A page may hold anything, tags too: those of the protocol are taken out, with attributes, spaces or unseen signs in
    them as well, so that what was found can't end early.
    """
    lines = "\n".join(
        f"{number}. {_one_line(snippet.title)}: {shortened(_one_line(snippet.text), max_chars)}"
        for number, snippet in enumerate(snippets, 1)
    )
    return f"<information>{lines or 'Nothing was found.'}</information>"


def shortened(text: str, max_chars: int) -> str:
    """A text of at most so many characters; where some are left out, it ends in an ellipsis."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}…"


def _one_line(text: str) -> str:
    text = _UNSEEN.sub("", text)
    # Until none is left: taking a tag out may join two halves of another.
    while (shorter := _TAG.sub("", text)) != text:
        text = shorter
    return " ".join(text.split())
