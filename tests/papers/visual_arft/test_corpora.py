"""The texts to search in: what they hold, and that each field is one document, found by its title."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers.visual_arft.corpora import documents, factbook, factbook_documents
from papers.visual_arft.index import Document, Index


@pytest.fixture(scope="module")
def everything() -> list[Document]:
    return documents()


def titled(found: list[Document], title: str) -> list[str]:
    return [document.text for document in found if document.title == title]


def test_there_are_enough_and_each_is_one_line_of_plain_text(everything: list[Document]) -> None:
    assert len(everything) > 80_000
    assert len({document.id for document in everything}) == len(everything)
    for document in everything:
        assert document.text and document.title and "\n" not in document.text + document.title
        assert "<br" not in document.text and "&nbsp;" not in document.text


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("France, capital, name", "Paris"),
        ("Chad, internet country code", ".td"),
        ("Mali, flag, description", "three equal vertical bands of green (left side), yellow, and red"),
        ("Oslo", "county of Norway, ISO 3166 code NO-03"),
        ("Euro", "currency, ISO 4217 code EUR"),
        ("Basque", "living language, ISO 639 code eus"),
    ],
)
def test_a_fact_stands_where_the_source_has_it(everything: list[Document], title: str, text: str) -> None:
    assert titled(everything, title) == [text]


def test_a_field_is_cut_where_it_has_headings_of_its_own(everything: list[Document]) -> None:
    """In the source a flag's description, meaning and history are one text."""
    (history,) = titled(everything, "France, flag, history")
    assert history.startswith("known as the le tricolore")
    assert titled(everything, "France, flag") == []


def test_notes_that_many_entries_share_are_left_out(everything: list[Document]) -> None:
    assert titled(everything, "Chad, exports - partners, note") == []
    boilerplate = "top five export partners based on percentage share of exports"
    assert not [d for d in everything if d.text.startswith("note:") or d.text == boilerplate]
    assert len(titled(everything, "France, flag, note, note 1")) == 1


def test_every_entry_has_a_name() -> None:
    names = [name for _, name, _ in factbook()]
    assert len(names) == 256 and "France" in names
    assert all(names)


def test_it_is_always_the_same() -> None:
    assert factbook_documents() == factbook_documents()


def test_a_country_and_a_heading_find_the_fact(everything: list[Document], tmp_path: Path) -> None:
    index = Index(everything, tmp_path)
    for query, title in {
        "Chad exports partners": "Chad, exports - partners",
        "Kuwait internet country code": "Kuwait, internet country code",
        "flag description vertical bands green yellow red": "Mali, flag, description",
    }.items():
        assert title in [snippet.title for snippet in index.search(query)], query
