"""MAT-Search (Visual-ARFT, section 4.1): a picture, and a question that only several searches in turn answer.

A question starts from a real flag (flagpy: 195 of them) and goes over facts of the CIA World Factbook::

    flag -> the country it is described under -> a fact about it                                      Simple
    flag -> the country ... -> the country it exports to (or imports from) most -> a fact about that    Hard

Each task holds its gold answer, a gold query for every step and the document that the query has to find. Nothing in a
question names a country: the picture has to be put into words and looked up, as the factbook describes every flag.
What else is in the index (:mod:`kit.corpora`, 90,000 documents) distracts.

Every task passes a check without a model: each gold query finds its document among the first snippets, and the answer,
or the next step's country, stands in it. Training and test share no country, not on the way either.
"""

from __future__ import annotations

import csv
import pickle
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kit.answers import tokens
from kit.corpora import factbook_documents
from kit.episode import Picture, Task
from kit.tools.index import Document
from kit.tools.search import TOP_K, Search

TRAIN, TEST = 20, 150
"""The paper's numbers of tasks."""


@dataclass(frozen=True)
class Fact:
    """Something to ask about a country.

    Attributes:
        heading: of its document.
        called: in a question.
        query: in a gold query, after the country.
        plain: matches values that one answer suffices for; the first group is the answer.
    """

    heading: str
    called: str
    query: str
    plain: str


FACTS = (
    Fact("capital, name", "the capital", "capital name", r"([^;,(\d]+)"),
    Fact("internet country code", "the internet country code", "internet country code", r"(\.[a-z]{2})"),
    Fact("nationality, adjective", "the nationality adjective", "nationality adjective", r"([^;,(]+)"),
    Fact("national symbol(s)", "the national symbol", "national symbol", r"([^;,(]+)"),
    Fact("elevation, highest point", "the highest point", "highest point", r"(?!unnamed)([^(/,\d]+?) -?[\d,.]+ m"),
    Fact(
        "exchange rates, currency", "the currency", "exchange rates currency", r"([^(/]+) \([A-Z]{3}\) per US dollar -"
    ),
)
PARTNERS = {
    "exports - partners": ("the main export partner", "exports partners"),
    "imports - partners": ("the main import partner", "imports partners"),
}
FLAG = "flag, description"

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


class MakingError(ValueError):
    """Too few tasks can be made; the message says how many, and why."""


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


class Countries:
    """What is known of countries: documents by country and heading, flags by country.

    Args:
        documents: the factbook's; others are not looked at.

    Attributes:
        texts: each document's text by its id.
    """

    def __init__(self, documents: Sequence[Document] | None = None) -> None:
        self._facts: dict[str, dict[str, Document]] = {}
        self.texts: dict[str, str] = {}
        for document in documents if documents is not None else factbook_documents():
            if document.id.startswith("factbook/"):
                name, _, heading = document.title.partition(", ")
                self._facts.setdefault(name, {}).setdefault(heading, document)
                self.texts[document.id] = document.text

    @cached_property
    def flags(self) -> dict[str, Image.Image]:
        """Flags by the factbook's names of their countries."""
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
        return Step(f"flag description {' '.join(words)}", document.id, country) if len(words) > 1 else None

    def fact(self, country: str, fact: Fact) -> Step | None:
        """From a country to a fact about it, if one answer suffices."""
        document = self._facts.get(country, {}).get(fact.heading)
        found = re.fullmatch(fact.plain, document.text) if document else None
        return Step(f"{country} {fact.query}", document.id, found[1].strip()) if document and found else None

    def partner(self, country: str, heading: str) -> Step | None:
        """From a country to the one it trades with most, if the factbook has an entry by the same name."""
        document = self._facts.get(country, {}).get(heading)
        first = re.match(r"([^\d,]+) \d+%", document.text) if document else None
        if document is None or first is None or first[1] not in self._facts:
            return None
        return Step(f"{country} {PARTNERS[heading][1]}", document.id, first[1])


@dataclass(frozen=True)
class Chain:
    """Steps that lead from a flag (or a country's name) to an answer, and the countries on the way."""

    country: str
    asked: str
    steps: tuple[Step, ...]
    through: frozenset[str]

    @property
    def hard(self) -> bool:
        """Whether there is another country on the way."""
        return len(self.through) > 1


def chains(known: Countries) -> Iterator[Chain]:
    """Every question that can be asked about the countries whose flags there are."""
    for country in sorted(known.flags):
        look = known.look(country)
        if look is None:
            continue
        for fact in FACTS:
            if step := known.fact(country, fact):
                yield Chain(country, fact.called, (look, step), frozenset({country}))
        for heading, (called, _) in PARTNERS.items():
            trade = known.partner(country, heading)
            if trade is None or trade.says == country:
                continue
            for fact in FACTS:
                if step := known.fact(trade.says, fact):
                    through = frozenset({country, trade.says})
                    yield Chain(country, f"{fact.called} of {called}", (look, trade, step), through)


def passes(chain: Chain, search: Search, texts: Mapping[str, str], k: int = TOP_K) -> bool:
    """Whether each gold query finds its document, in which the next step's country or the answer stands."""
    for number, step in enumerate(chain.steps):
        if step.document not in [snippet.source for snippet in search.search(step.query, k)]:
            return False
        # A flag's description doesn't name its country; its title does.
        if number and not _within(step.says, texts[step.document]):
            return False
    return True


def _within(part: str, whole: str) -> bool:
    small, large = tokens(part), tokens(whole)
    return bool(small) and any(large[i : i + len(small)] == small for i in range(len(large)))


def task(chain: Chain, image: Image.Image | None, id: str) -> Task:
    """A chain as a task: with its flag, or (text alone) with its country's name."""
    of = "the country with this flag" if image is not None else chain.country
    steps = chain.steps if image is not None else chain.steps[1:]
    return Task(
        id,
        (Picture("flag", image),) if image is not None else (),
        f"What is {chain.asked} of {of}?",
        (chain.steps[-1].says,),
        {
            "difficulty": "hard" if chain.hard else "simple",
            "queries": [step.query for step in steps],
            "documents": [step.document for step in steps],
            "says": [step.says for step in steps],
            "source": chain.country,
            "countries": sorted(chain.through),
            "kind": "flag" if image is not None else "text",
        },
    )


def make_tasks(
    known: Countries, search: Search, seed: int, train: int = TRAIN, test: int = TEST, k: int = TOP_K
) -> tuple[list[Task], list[Task]]:
    """Training and test tasks, half of each Simple and half Hard, no country in both; fixed by ``seed``.

    Raises:
        MakingError: there are not that many questions whose gold queries find their documents.
    """
    good = [chain for chain in chains(known) if passes(chain, search, known.texts, k)]
    rng = np.random.default_rng(seed)
    good = [good[int(i)] for i in rng.permutation(len(good))]
    # Countries that many export to would, once in training, keep all of those out of the test: rare ones first.
    often = {name: sum(name in chain.through for chain in good) for chain in good for name in chain.through}
    rare = sorted(good, key=lambda chain: max(often[name] for name in chain.through))
    first = _different(rare, train)
    taken = frozenset().union(*(chain.through for chain in first))
    second = _different([chain for chain in good if not chain.through & taken], test)
    pictures = known.flags
    made = []
    for name, some, wanted in (("train", first, train), ("test", second, test)):
        if len(some) < wanted:
            raise MakingError(
                f"mat-search {name}: {len(some)} questions of {wanted}; {len(good)} could be made of these documents "
                "in all. Ask for fewer, or let gold queries look at more snippets (k)"
            )
        made.append([task(c, pictures[c.country], f"mat-search-{name}-s{seed}-{n:03d}") for n, c in enumerate(some)])
    return made[0], made[1]


def _different(some: Sequence[Chain], n: int) -> list[Chain]:
    """``n`` chains, Simple and Hard by turns; a country, flag or partner, comes again only when all others have."""
    left = {hard: [chain for chain in some if chain.hard == hard] for hard in (False, True)}
    used: dict[str, int] = {}
    picked: list[Chain] = []
    while len(picked) < n:
        pile = left[len(picked) % 2 == 1] or left[len(picked) % 2 == 0]
        if not pile:
            break
        fewest = min(pile, key=lambda chain: sorted((used.get(name, 0) for name in chain.through), reverse=True))
        pile.remove(fewest)
        used.update({name: used.get(name, 0) + 1 for name in fewest.through})
        picked.append(fewest)
    return picked
