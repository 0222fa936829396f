"""The offline index: what is found, in which order, and what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.search import FTS5, questions_about, search_bench
from kit.tools.search import QueryError
from papers.visual_arft.corpora import iso_documents
from papers.visual_arft.index import Document, Index

DOCUMENTS = [
    Document("no", "Norway", "A country in the north. Its capital is Oslo."),
    Document("se", "Sweden", "A country in the north. Its capital is Stockholm."),
    Document("oslo", "Oslo", "A city of ships, its museum holds three of them."),
    Document("maple", "Maple", "A tree. Its leaves turn red."),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index(DOCUMENTS, tmp_path_factory.mktemp("indexes"))


def ids(index: Index, query: str, k: int = 4) -> list[str]:
    return [snippet.source for snippet in index.search(query, k)]


def test_what_is_found_comes_back_whole(index: Index) -> None:
    (found,) = index.search("museum")
    assert (found.title, found.text, found.source) == ("Oslo", DOCUMENTS[2].text, "oslo")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("capital of Norway", "no"),
        ("Which city is called Oslo?", "oslo"),  # title and text
        ("leaf, tree, redder leaves", "maple"),
        ("SWEDISH Sweden: (capitals)", "se"),  # "capitals" has the stem of "capital"
        ('NOT "title:Norway" AND +text:* ~3 ^2 [a TO b] norway', "no"),  # the query language's signs mean nothing
    ],
)
def test_the_best_comes_first(index: Index, query: str, first: str) -> None:
    assert ids(index, query)[0] == first


def test_only_what_holds_a_word_is_found_and_no_more_than_asked_for(index: Index) -> None:
    assert set(ids(index, "capital")) == {"no", "se"}
    assert len(ids(index, "capital", k=1)) == 1
    assert ids(index, "submarine") == []


def test_no_snippets_at_all_can_not_be_asked_for(index: Index) -> None:
    with pytest.raises(ValueError, match="search k=0: ask for at least 1 snippet"):
        index.search("capital", k=0)


@pytest.mark.parametrize("query", ["", "  ", "?!", "_", "_ __"])
def test_a_query_without_words_is_refused(index: Index, query: str) -> None:
    with pytest.raises(QueryError, match="there is no word in it"):
        index.search(query)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text())
def test_any_text_is_a_query_or_refused(index: Index, query: str) -> None:
    try:
        assert len(index.search(query)) <= 4
    except QueryError as error:
        assert "there is no word in it" in str(error)


def test_the_same_documents_are_indexed_once(tmp_path: Path) -> None:
    Index(DOCUMENTS, tmp_path)
    (folder,) = tmp_path.iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.suffix != ".lock"}
    assert ids(Index(DOCUMENTS, tmp_path), "museum") == ["oslo"]
    assert before == {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.suffix != ".lock"}
    Index(DOCUMENTS[:2], tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_processes_that_index_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ids(Index(DOCUMENTS, tmp_path), "museum"), range(4)))
    assert found == [["oslo"]] * 4
    assert len(list(tmp_path.iterdir())) == 1


def test_threads_may_ask_at_once(index: Index) -> None:
    queries = ["museum", "capital of Norway", "tree"] * 40
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda query: ids(index, query)[0], queries))
    assert found == ["oslo", "no", "maple"] * 40


def test_bad_corpora_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the corpus is empty"):
        Index([], tmp_path)
    with pytest.raises(ValueError, match=r"^two documents have the id 'no'"):
        Index([*DOCUMENTS, DOCUMENTS[0]], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_benchmark_measures_what_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    """No time is asserted."""
    figures = search_bench(iso_documents()[:200], queries=8, threads=2)
    assert {f"{name}: {what}" for name in ("tantivy", "fts5") for what in ("build s", "alone ms", "at once ms")} <= set(
        figures
    )
    assert all(value > 0 for value in figures.values())
    assert "fts5 / tantivy" in capsys.readouterr().out


def test_the_benchmarks_indexes_find_the_same(tmp_path: Path) -> None:
    documents = iso_documents()[:300]
    assert len(set(questions_about(documents, 50))) == 50
    ours, other = Index(documents, tmp_path), FTS5(documents, tmp_path / "fts5.sqlite")
    for document in documents[:20]:
        query = f"{document.title} {document.text}"
        assert document.text in [found.text for found in ours.search(query)]
        assert document.text in [text for _, text in other.search(query)]
