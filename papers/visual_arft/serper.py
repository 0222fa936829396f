"""Search on the web through Serper (serper.dev), which the paper uses: Google's results as JSON.

Every answer is kept in a file for good, so that a run that is repeated or resumed asks nothing twice, pays for nothing
twice, and reads the same; a query that several rollouts have in common is asked once.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from kit.tools.retry import RetriesExhausted, TransientError, is_transient, retry, retry_after
from kit.tools.search import TOP_K, QueryError, SearchError, Snippet
from papers.kept_answers import Cache, encodable

URL = "https://google.serper.dev/search"
RESULTS = 10
"""Results asked for, whatever ``k``: they cost one credit, and another ``k`` finds them in the cache."""


class Serper:
    """A :class:`kit.tools.search.Search` on the web.

    Args:
        cache: file that keeps the answers.
        key_env: environment variable that holds the API key.
        per_second: queries sent per second at most, all threads together.
        retries: how often a query is tried again after a fault that may pass.
        timeout: seconds for one try.
        longest_wait: seconds; a server that asks for a longer pause is given up on.
        url: of the API.
        sleep: waits so many seconds; tests put their own here.

    Raises:
        SearchError: there is no key.
    """

    def __init__(
        self,
        cache: Path,
        key_env: str = "SERPER_API_KEY",
        per_second: float = 5.0,
        retries: int = 5,
        timeout: float = 20.0,
        longest_wait: float = 120.0,
        url: str = URL,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        key = os.environ.get(key_env, "")
        if not key:
            raise SearchError(
                f"search on the web needs a key: set the environment variable {key_env} to one from serper.dev, "
                "or use the offline search, which needs none"
            )
        if per_second <= 0:
            raise ValueError(f"per_second={per_second}: needs more than 0")
        self.key_env, self.url = key_env, url
        self._pause, self._retries, self._longest_wait, self._sleep = 1 / per_second, retries, longest_wait, sleep
        self._cache = Cache(cache)
        self._client = httpx.Client(headers={"X-API-KEY": key}, timeout=timeout)
        self._lock = threading.Lock()
        self._asked: dict[str, threading.Lock] = {}
        self._next = 0.0

    def search(self, query: str, k: int = TOP_K) -> tuple[Snippet, ...]:
        """The best ``k`` snippets: a direct answer and what is known of the thing, if there are any, then pages.

        Raises:
            QueryError: the query is empty, or refused by the service.
            SearchError: there is no answer in the cache and none from the web.
        """
        query = encodable(" ".join(query.split()))
        if not query:
            raise QueryError("search '': the query is empty; say what to look for")
        with self._only_one(query):
            answer = self._cache.get(query)
            if not _is_answer(answer):
                answer = self._ask(query)
                self._cache.put(query, answer)
        return snippets(answer)[:k]

    def close(self) -> None:
        """Close connections and cache."""
        self._client.close()
        self._cache.close()

    @contextlib.contextmanager
    def _only_one(self, query: str) -> Iterator[None]:
        """Others with the same query wait here, and then find its answer in the cache."""
        with self._lock:
            mine = self._asked.setdefault(query, threading.Lock())
        with mine:
            yield

    def _ask(self, query: str) -> Any:
        try:
            return retry(lambda: self._once(query), self._retries, self._longest_wait, self._sleep)
        except RetriesExhausted as error:
            raise SearchError(f"search {query!r}: {error}. {error.way_out}: every answer so far is kept") from error

    def _once(self, query: str) -> Any:
        self._keep_pace()
        try:
            reply = self._client.post(self.url, json={"q": query, "num": RESULTS})
        except httpx.HTTPError as error:
            raise TransientError(f"{type(error).__name__}: {error}"[:200]) from error
        if reply.status_code != 200:
            cause = f"HTTP {reply.status_code}: {reply.text[:200]}"
            if not is_transient(reply.status_code):
                way_out = self._way_out(reply)
                kind = SearchError if way_out else QueryError
                raise kind(f"search {query!r:.100}: {cause}; {way_out or 'the query was refused: write another'}")
            raise TransientError(cause, retry_after(reply.headers))
        try:
            answer = reply.json()
        except ValueError:
            answer = None
        if not _is_answer(answer):
            raise TransientError(f"a reply that isn't Serper's ({reply.text[:100]!r})")
        return answer

    def _way_out(self, reply: httpx.Response) -> str:
        """What is to be done about a refusal; empty: write another query."""
        if "credits" in reply.text.lower():
            return "the key's credits are used up: buy more, or go on with what the cache holds"
        if reply.status_code in (401, 403):
            return f"the key in {self.key_env} isn't valid: get one from serper.dev"
        return "" if reply.status_code in (400, 413, 414, 422) else "see that the address is the API's"

    def _keep_pace(self) -> None:
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._pause
        if at > now:
            self._sleep(at - now)


def _is_answer(answer: Any) -> bool:
    """Check that JSON is Serper's; of what isn't found its list of pages is empty, but there is one."""
    try:
        snippets(answer)
    except (ValueError, TypeError, KeyError, AttributeError):
        return False
    return True


def snippets(answer: dict[str, Any]) -> tuple[Snippet, ...]:
    """Read the snippets of Serper's JSON, in reading order."""
    found = []
    box, known = answer.get("answerBox") or {}, answer.get("knowledgeGraph") or {}
    if text := box.get("answer") or box.get("snippet"):
        found.append(_snippet(box.get("title"), text, box.get("link")))
    if text := known.get("description"):
        facts = "; ".join(f"{name}: {value}" for name, value in (known.get("attributes") or {}).items())
        source = known.get("website") or known.get("descriptionLink")
        found.append(_snippet(known.get("title"), f"{text} {facts}".strip(), source))
    pages = answer["organic"] if not found else answer.get("organic") or []
    found += [_snippet(page["title"], page.get("snippet"), page["link"]) for page in pages]
    return tuple(found)


def _snippet(*parts: Any) -> Snippet:
    """A snippet of title, text and address, of which any may be missing.

    Raises:
        TypeError: one is there and isn't text.
    """
    if any(not isinstance(part, str | int | float | None) for part in parts):
        raise TypeError(f"a snippet of {parts}")
    title, text, source = ("" if part is None else str(part) for part in parts)
    return Snippet(title, text, source)
