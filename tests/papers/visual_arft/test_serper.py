"""Search: how what was found is written; Serper behind a server that answers like it, faults included."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_serper import FakeSerper

from kit.tools.search import QueryError, SearchError, Snippet
from papers.kept_answers import Cache, CacheError
from papers.visual_arft.serper import Serper, snippets

PAGES = {
    "capital of Norway": [("Oslo", "Oslo is Norway's capital."), ("Norway", "A country in the north.")],
    "river in Paris": [(f"Page {i}", f"The Seine, {i}.") for i in range(8)],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSerper]:
    monkeypatch.setenv("SERPER_API_KEY", "secret")
    with FakeSerper(PAGES) as server:
        yield server


class Web(Serper):
    """Serper at the fake server; its waits are noted, not waited."""

    def __init__(self, server: FakeSerper, path: Path, **options: Any) -> None:
        self.waits: list[float] = []
        options = {"per_second": 1e9, "timeout": 2.0, **options}
        super().__init__(path / "answers.sqlite", url=server.url, sleep=self.waits.append, **options)


def test_what_is_found_comes_back_best_first(server: FakeSerper, tmp_path: Path) -> None:
    web = Web(server, tmp_path)
    assert web.search("capital of Norway") == (
        Snippet("Oslo", "Oslo is Norway's capital.", "https://example.org/1"),
        Snippet("Norway", "A country in the north.", "https://example.org/2"),
    )
    assert [found.title for found in web.search("river in Paris", k=3)] == ["Page 0", "Page 1", "Page 2"]
    assert web.search("nothing") == ()


def test_nothing_is_asked_twice(server: FakeSerper, tmp_path: Path) -> None:
    first = Web(server, tmp_path).search("capital of Norway")
    again = Web(server, tmp_path)  # another run
    assert again.search("  capital  of Norway ", k=1) == first[:1]
    assert again.search("nothing") == again.search("nothing") == ()
    assert [body["q"] for body in server.bodies] == ["capital of Norway", "nothing"]


def test_a_query_that_many_have_in_common_is_asked_once(server: FakeSerper, tmp_path: Path) -> None:
    web = Web(server, tmp_path)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda i: web.search(["capital of Norway", "river in Paris"][i % 2]), range(64)))
    assert {len(one) for one in found} == {2, 4}
    assert len(server.bodies) == 2


@pytest.mark.parametrize("fault", ["429", "500", "drop", "cut", "junk", "empty"])
def test_faults_that_pass_are_waited_out(server: FakeSerper, tmp_path: Path, fault: str) -> None:
    server.faults += [fault]
    web = Web(server, tmp_path)
    assert len(web.search("capital of Norway")) == 2
    assert len(web.waits) == 1
    if fault == "429":
        assert web.waits == [7.0]


def test_a_network_that_is_gone_stops_new_queries_only(server: FakeSerper, tmp_path: Path) -> None:
    web = Web(server, tmp_path, retries=2)
    web.search("capital of Norway")
    server.faults += ["drop"] * 3
    with pytest.raises(
        SearchError, match=r"^search 'river in Paris': no answer in 3 tries.*every answer so far is kept$"
    ):
        web.search("river in Paris")
    assert len(web.search("capital of Norway")) == 2  # from the cache
    assert len(web.search("river in Paris")) == 4  # it is back


def test_used_up_credits_are_named_and_the_cache_still_answers(server: FakeSerper, tmp_path: Path) -> None:
    web = Web(server, tmp_path)
    web.search("capital of Norway")
    server.credits = 0
    with pytest.raises(SearchError, match=r"^search 'river in Paris': HTTP 400.*credits are used up") as told:
        web.search("river in Paris")
    assert not isinstance(told.value, QueryError)
    assert len(web.search("capital of Norway")) == 2
    assert web.waits == []  # asking again would not help


def test_bad_keys(server: FakeSerper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "stolen")
    with pytest.raises(SearchError, match=r"^search 'x': HTTP 403.*the key in SERPER_API_KEY isn't valid"):
        Web(server, tmp_path).search("x")
    monkeypatch.delenv("SERPER_API_KEY")
    with pytest.raises(SearchError, match=r"set the environment variable SERPER_API_KEY .* or use the offline search"):
        Web(server, tmp_path)


@pytest.mark.parametrize("status", [400, 413, 414, 422])
def test_a_query_that_is_refused_is_the_queries_fault(server: FakeSerper, tmp_path: Path, status: int) -> None:
    server.faults += [str(status)]
    with pytest.raises(
        QueryError, match=rf"^search '(word ){{15}}.*HTTP {status}.*the query was refused: write another$"
    ):
        Web(server, tmp_path).search("word " * 3000)
    assert len(Web(server, tmp_path).search("capital of Norway")) == 2


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_not_sent(server: FakeSerper, tmp_path: Path, query: str) -> None:
    with pytest.raises(QueryError, match="the query is empty"):
        Web(server, tmp_path).search(query)
    assert server.bodies == []


def test_threads_keep_the_pace_together(server: FakeSerper, tmp_path: Path) -> None:
    web = Web(server, tmp_path, per_second=0.001)  # so slow that the test's own time doesn't count
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(web.search, ["a", "b", "c", "d"]))
    assert sorted(round(wait / 1000) for wait in web.waits) == [1, 2, 3]


@pytest.mark.parametrize("per_second", [0, -1.0])
def test_a_pace_of_nothing_is_refused(server: FakeSerper, tmp_path: Path, per_second: float) -> None:
    with pytest.raises(ValueError, match=r"^per_second="):
        Web(server, tmp_path, per_second=per_second)


def test_direct_answers_come_first() -> None:
    answer = {
        "answerBox": {"title": "Norway / Capital", "answer": "Oslo", "link": "https://example.org/box"},
        "knowledgeGraph": {"title": "Oslo", "description": "A city.", "attributes": {"Founded": "1040"}},
        "organic": [{"title": "Page", "link": "https://example.org/1"}],
    }
    assert snippets(answer) == (
        Snippet("Norway / Capital", "Oslo", "https://example.org/box"),
        Snippet("Oslo", "A city. Founded: 1040", ""),
        Snippet("Page", "", "https://example.org/1"),
    )


NO_ANSWER = [
    "{}",
    "[]",
    '{"message": "Internal error", "statusCode": 500}',
    '{"organic": null}',
    '{"organic": [{"title": "Page"}]}',
    '{"organic": [{"title": ["Page"], "link": "x"}]}',
    '{"organic": ["Page"]}',
    '{"organic": "Page"}',
    '{"answerBox": "Oslo", "organic": []}',
    "<html>gateway</html>",
]
"""Replies with status 200 that aren't Serper's."""


@pytest.mark.parametrize("body", NO_ANSWER)
def test_what_is_no_answer_is_asked_for_again_and_never_kept(server: FakeSerper, tmp_path: Path, body: str) -> None:
    web = Web(server, tmp_path)
    server.faults = [body]
    assert web.search("nothing known of it") == () and len(server.bodies) == 2
    server.faults = [body] * 99
    with pytest.raises(SearchError, match="a reply that isn't Serper's"):
        web.search("nothing known of that")
    server.faults, before = [], len(server.bodies)
    assert web.search("nothing known of that") == () and len(server.bodies) == before + 1


@pytest.mark.parametrize("kept", [*NO_ANSWER, "null", '"text"', "{", "", b"\x00"])
def test_what_was_kept_and_is_no_answer_is_asked_anew(server: FakeSerper, tmp_path: Path, kept: str | bytes) -> None:
    web = Web(server, tmp_path)
    web.search("nothing known of it")
    web._cache._file.execute("UPDATE answers SET answer = ?", (kept,))
    web._cache._file.commit()
    assert web.search("nothing known of it") == () and len(server.bodies) == 2
    assert web.search("nothing known of it") == () and len(server.bodies) == 2


def test_missing_parts_of_a_page_are_empty() -> None:
    page = {"title": None, "link": "https://example.org/1", "snippet": None}
    assert snippets({"organic": [page]}) == (Snippet("", "", "https://example.org/1"),)


def test_half_a_surrogate_pair_can_be_looked_up(server: FakeSerper, tmp_path: Path) -> None:
    web = Web(server, tmp_path)
    assert [web.search("a \ud800 b"), web.search("a \ud800 b")] == [(), ()] and len(server.bodies) == 1


def filled(path: Path) -> bytes:
    """A cache of many pages; returns the file's bytes."""
    cache = Cache(path)
    for number in range(300):
        cache.put(f"query {number}", "answer " * 50)
    cache.close()
    return path.read_bytes()


DAMAGED: dict[str, Callable[[Path, bytes], object]] = {
    "half": lambda path, whole: path.write_bytes(whole[: len(whole) // 2]),
    "a page": lambda path, whole: path.write_bytes(whole[:4096]),
    "zeros": lambda path, whole: path.write_bytes(whole[:8192] + bytes(len(whole) - 8192)),
    "a text": lambda path, whole: path.write_text("not a data base " * 99),
    "noise": lambda path, whole: path.write_bytes(whole[:4096] + whole[8192:4096:-1] + whole[8192:]),
    "a header alone": lambda path, whole: path.write_bytes(whole[:100]),
    "another table": lambda path, whole: other_table(path),
    "a folder": lambda path, whole: (path.unlink(), path.mkdir()),
}


def other_table(path: Path) -> None:
    """A data base of somebody else's, with a table of the same name."""
    path.unlink()
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE answers (id INTEGER)")
        file.commit()


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_named_with_the_way_out(tmp_path: Path, damage: Callable[[Path, bytes], object]) -> None:
    path = tmp_path / "answers.sqlite"
    damage(path, filled(path))
    with pytest.raises(CacheError, match=r"answers\.sqlite: .+; .*Then run the same command again"):
        cache = Cache(path)
        for number in range(300):
            cache.get(f"query {number}")
            cache.put(f"query {number} too", "answer")


def test_a_cache_is_shared_by_threads(server: FakeSerper, tmp_path: Path) -> None:
    """Two runs of one machine may share the file."""
    one, other = Web(server, tmp_path), Web(server, tmp_path)
    barrier = threading.Barrier(2)

    def ask(web: Web) -> int:
        barrier.wait()
        return sum(len(web.search(f"q{i}")) for i in range(20))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, [one, other])) == [0, 0]
    asked = len(server.bodies)
    assert Web(server, tmp_path).search("q0") == ()
    assert len(server.bodies) == asked
