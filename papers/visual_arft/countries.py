"""Countries to ask about: their real flags, and their entries in the CIA World Factbook.

A flag (flagpy, MIT: 195 of them, 180×90 pixels) leads to its country by the words in which the factbook describes
it; a country leads to facts, and to the country it trades with most: steps of a question of several hops.
"""

from __future__ import annotations

import csv
import pickle
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from papers.visual_arft.corpora import factbook_documents
from papers.visual_arft.index import Document


@dataclass(frozen=True)
class Fact:
    """Something to ask about a country.

    Attributes:
        heading: of its document.
        called: in a question, and (without "the") in a gold query after the country.
        plain: matches values that one answer suffices for; the first group is the answer.
    """

    heading: str
    called: str
    plain: str


FACTS = (
    Fact("capital, name", "the capital", r"([^;,(\d]+)"),
    Fact("internet country code", "the internet country code", r"(\.[a-z]{2})"),
    Fact("nationality, adjective", "the nationality adjective", r"([^;,(]+)"),
    Fact("national symbol(s)", "the national symbol", r"([^;,(]+)"),
    Fact("elevation, highest point", "the highest point", r"(?!unnamed)([^(/,\d]+?) -?[\d,.]+ m"),
    Fact("exchange rates, currency", "the currency", r"([^(/]+) \([A-Z]{3}\) per US dollar -"),
)
PARTNERS = {"exports - partners": "the main export partner", "imports - partners": "the main import partner"}
"""Headings that lead from a country to another, and what to call it."""
FLAG = "flag, description"
FLAG_QUERY = "flag description"
"""How a query for a flag begins: its heading."""

COLOURS = r"light blue|sky blue|dark blue|red|white|blue|green|yellow|black|orange|gold|maroon|brown"
LOOKS = re.compile(
    rf"\b(horizontal|vertical|bands?|stripes?|{COLOURS}|triangles?|stars?|disk|circle|crescent|sun|cross|"
    r"diagonal(?:ly)?|square|rectangle|UK flag|coat of arms|quadrant|edges?|edged|corner|field)\b"
)
MOST_WORDS = 12
"""Of what a flag looks like, in a gold query."""

# What flagpy calls a country, where the factbook calls it otherwise.
ALIASES = {
    "Cape Verde": "Cabo Verde",
    "The Democratic Republic Of The Congo": "DRC",
    "The Republic Of The Congo": "Congo",
    "The Czech Republic": "Czechia",
    "The Dominican Republic": "The Dominican",
    "East Timor": "Timor-Leste",
    "Ivory Coast": "Cote d'Ivoire",
    "The Federated States Of Micronesia": "Federated States of Micronesia",
    "Myanmar": "Burma",
    "Vatican City": "Holy See",
}


def _key(name: str) -> str:
    """A country's name as two sources can be compared by."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z]", "", plain.removeprefix("the "))


class _Pixels(pickle.Unpickler):
    """Reads arrays and nothing else: a pickle could name any function to call."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = {"_reconstruct": np._core.multiarray._reconstruct, "ndarray": np.ndarray, "dtype": np.dtype}  # type: ignore[attr-defined]
        if module.split(".")[0] != "numpy" or name not in allowed:
            raise pickle.UnpicklingError(f"{module}.{name}: not part of an array")
        return allowed[name]


def flags() -> dict[str, Image.Image]:
    """Real flags, 180×90 pixels, by the country's name in flagpy (MIT)."""
    folder = files("flagpy")
    found = {}
    for row in csv.DictReader((folder / "flag_df.csv").read_text(encoding="utf-8").splitlines()):
        with (folder / row["flag"]).open("rb") as file:
            pixels: NDArray[np.uint8] = _Pixels(file).load()
        found[row["country"]] = Image.fromarray(np.ascontiguousarray(pixels))
    return found


@dataclass(frozen=True)
class Step:
    """One thing to look up: the gold query, the document that holds it, what it says."""

    query: str
    document: str
    says: str


def _asked(country: str, called: str) -> str:
    """A query in the question's own words: "Chad capital"."""
    return f"{country} {called.removeprefix('the ')}"


class Countries:
    """Facts of countries: documents by country and heading, flags by country.

    Args:
        documents: the factbook's; others are not looked at.
        flags: of these countries, by their names (default: the real ones).
        looks: what they look like, where that is known (default: the words that their descriptions share with others).

    Attributes:
        texts: each document's text by its id.
    """

    def __init__(
        self,
        documents: Sequence[Document] | None = None,
        flags: Mapping[str, Image.Image] | None = None,
        looks: Mapping[str, str] | None = None,
    ) -> None:
        self._flags, self._looks = flags, looks or {}
        self._facts: dict[str, dict[str, Document]] = {}
        self.texts: dict[str, str] = {}
        for document in documents if documents is not None else factbook_documents():
            if document.id.startswith("factbook/"):
                name, _, heading = document.title.partition(", ")
                self._facts.setdefault(name, {}).setdefault(heading, document)
                self.texts[document.id] = document.text

    @property
    def names(self) -> list[str]:
        """Every country there is an entry for."""
        return list(self._facts)

    @cached_property
    def flags(self) -> dict[str, Image.Image]:
        """Flags by the factbook's names of their countries."""
        if self._flags is not None:
            return dict(self._flags)
        names = {_key(name): name for name in self._facts}
        return {
            names[_key(ALIASES.get(name, name))]: image
            for name, image in flags().items()
            if _key(ALIASES.get(name, name)) in names
        }

    def look(self, country: str) -> Step | None:
        """From a flag to its country."""
        document = self._facts.get(country, {}).get(FLAG)
        if document is None:
            return None
        words = LOOKS.findall(document.text)[:MOST_WORDS]
        looks = self._looks.get(country) or (" ".join(words) if len(words) > 1 else "")
        return Step(f"{FLAG_QUERY} {looks}", document.id, country) if looks else None

    def fact(self, country: str, fact: Fact) -> Step | None:
        """From a country to a fact about it, if one answer suffices."""
        document = self._facts.get(country, {}).get(fact.heading)
        found = re.fullmatch(fact.plain, document.text) if document else None
        return Step(_asked(country, fact.called), document.id, found[1].strip()) if document and found else None

    def partner(self, country: str, heading: str) -> Step | None:
        """From a country to the one it trades with most, if the factbook has an entry by the same name."""
        document = self._facts.get(country, {}).get(heading)
        first = re.match(r"([^\d,]+) \d+%", document.text) if document else None
        if document is None or first is None or first[1] not in self._facts:
            return None
        return Step(_asked(country, PARTNERS[heading]), document.id, first[1])
