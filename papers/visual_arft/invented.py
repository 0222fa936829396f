"""An invented world: countries with flags, facts and trade of their own, to be shown how things are looked up in.

Its names are real (parts of countries, languages, currencies: ISO's lists) and nothing that is said of them is true, so
nothing learnt from it by heart is of any use. What can be carried over is *how*: to put a flag into words, to take a
name from a snippet, to ask for the next thing. Its documents have the headings and the forms of the factbook's, so that
questions about it are made, and checked, as those about the real world are (:mod:`papers.visual_arft.mat_search`).
What a flag looks like is known, in the words by which it was composed.

Names of syllables drawn at random did less well: whoever learnt to copy those garbled real ones ("Lamesuania").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from papers.visual_arft.corpora import iso_documents
from papers.visual_arft.countries import FLAG, PARTNERS, Countries
from papers.visual_arft.index import Document
from tiny.skills.flag_lookup import at_length
from tiny.skills.flags import compose
from tiny.skills.text import WORDS

LONGEST = 20
"""Characters of a name."""

Names = Mapping[str, list[str]]
Draw = Callable[[np.random.Generator, Names], str]


def names_of(documents: list[Document], but: frozenset[str] = frozenset()) -> dict[str, list[str]]:
    """Names of ISO's lists, by list (``3166-2``: parts of countries): plain ones, each once, none of ``but``."""
    found: dict[str, dict[str, None]] = {}
    for document in documents:
        _, number, _ = document.id.split("/", 2)
        name = document.title
        if re.fullmatch(r"[^\W\d_][^\d(),;/%\[\]]+", name) and len(name) <= LONGEST and name not in but:
            found.setdefault(number, {})[name] = None
    return {number: list(names) for number, names in found.items()}


@cache
def _real() -> tuple[list[Document], dict[str, list[str]]]:
    """ISO's documents and the names in them, the factbook's countries left out."""
    real = iso_documents()
    return real, names_of(real, frozenset(Countries().names))


def _one(of: str, *forms: str) -> Draw:
    """A name of this list, in one of these forms."""

    def draw(rng: np.random.Generator, names: Names) -> str:
        some = names[of]
        return forms[int(rng.integers(len(forms)))].format(some[int(rng.integers(len(some)))])

    return draw


def _words(rng: np.random.Generator, names: Names) -> str:
    return " ".join(str(word) for word in rng.choice(WORDS, size=int(rng.integers(2, 12))))


def _letters(rng: np.random.Generator, n: int) -> str:
    return "".join(chr(97 + int(k)) for k in rng.integers(26, size=n))


def _high(rng: np.random.Generator, names: Names) -> str:
    return f"{_one('3166-2', '{}', 'Mount {}', '{} Peak')(rng, names)} {int(rng.integers(90, 8000)):,} m"


def _money(rng: np.random.Generator, names: Names) -> str:
    called = _one("4217", "{}")(rng, names) if rng.random() < 0.5 else _one("639-3", "{} pounds", "{}s")(rng, names)
    return f"{called} ({_letters(rng, 3).upper()}) per US dollar -"


HEADINGS: dict[str, Draw] = {
    "capital, name": _one("3166-2", "{}"),
    "internet country code": lambda rng, names: f".{_letters(rng, 2)}",
    "nationality, adjective": _one("639-3", "{}", "{}n", "{}ian"),
    "national symbol(s)": _one("639-3", "{} lion", "{} eagle", "{} star", "{}"),
    "elevation, highest point": _high,
    "exchange rates, currency": _money,
    "capital, geographic coordinates": lambda rng, names: f"{rng.integers(80)} 00 N, {rng.integers(180)} 00 E",
    "capital, etymology": _words,
    "flag, history": _words,
    "national anthem(s), title": lambda rng, names: f'"{_words(rng, names)}"',
    "background": _words,
    "location": _words,
}
"""What is written of each country, beside its flag and its trade: all that can be asked for, and more."""


def _trade(rng: np.random.Generator, names: list[str]) -> str:
    shares = sorted((int(v) for v in rng.integers(2, 60, 5)), reverse=True)
    some = rng.choice(names, size=5, replace=False)
    return ", ".join(f"{name} {share}%" for name, share in zip(some, shares, strict=True))


def world(countries: int, rng: np.random.Generator) -> tuple[Countries, list[Document]]:
    """Make up so many countries, and the documents to search in.

    The documents are theirs and, as in the real world's index, ISO's lists, but for entries of the same names.

    Raises:
        ValueError: fewer than six countries (each trades with five), or more than there are names for.
    """
    real, names = _real()
    places = names["3166-2"]
    if not 6 <= countries <= len(places):
        raise ValueError(
            f"world of {countries} countries: each trades with five others, and there are {len(places)} "
            f"names; ask for 6 to {len(places)}"
        )
    called = [places[int(k)] for k in rng.permutation(len(places))[:countries]]
    documents, flags, looks = [], {}, {}
    for number, name in enumerate(called):
        flags[name], looks[name] = compose(rng)
        others = called[:number] + called[number + 1 :]
        texts = {heading: draw(rng, names) for heading, draw in HEADINGS.items()}
        texts |= {heading: _trade(rng, others) for heading in PARTNERS}
        texts[FLAG] = at_length(rng, looks[name])
        documents += [
            Document(f"factbook/invented/{number}/{heading}", f"{name}, {heading}", text)
            for heading, text in texts.items()
        ]
    taken = set(called)  # else a part of a country would be found where a country is asked for
    return Countries(documents, flags, looks), [*documents, *(d for d in real if d.title not in taken)]
