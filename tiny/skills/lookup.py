"""Samples that teach looking facts up: find what was asked in a few lines about invented places.

Places, towns and values are syllables and words drawn at random, so that nothing can be learnt but to find and to copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pictures.scenes import Pixels
from tiny.skills.flags import CLOTH, OFTEN
from tiny.skills.text import WORDS, Sample

# fmt: off
FIELDS = (
    "capital, name", "internet country code", "nationality", "national symbol", "currency", "languages", "religions",
    "government type", "location", "climate", "population", "highest point", "national anthem", "exports - partners",
    "imports - partners", "exports - commodities", "ethnic groups", "independence", "largest city", "legal system",
    "background", "industries",
)
"""Headings as encyclopaedias have them; a question leaves out what follows the comma."""
BESIDE = ("capital, time difference", "capital, geographic coordinates", "capital, etymology")
"""Headings that nothing is asked about, beside one that is."""
SYLLABLES = (
    "ba", "be", "bo", "bra", "ca", "che", "co", "da", "de", "do", "dra", "el", "en", "er", "fa", "fi", "fra", "ga",
    "ge",
    "go", "gua", "ha", "he", "ho", "i", "ia", "is", "ja", "jo", "ka", "ke", "ko", "kra", "la", "land", "le", "li", "lo",
    "lu", "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "nia", "o", "on", "or", "pa", "pe", "po", "ra", "re", "ri",
    "ro",
    "ru", "sa", "se", "si", "so", "stan", "sto", "su", "ta", "te", "ti", "to", "tra", "tu", "u", "ur", "va", "ve", "vi",
    "wa", "wi", "ya", "ye", "yo", "za", "ze", "zu", "ou", "gh", "th", "sh", "x", "qu", "burg", "ville", "nd", "st",
)
KINDS = ("Republic", "Kingdom", "Islands", "New", "North", "South", "Saint", "United", "East", "West")
# fmt: on
PARTNERS = ("exports - partners", "imports - partners")


def invented(rng: np.random.Generator) -> str:
    """An invented name: two to four syllables, now and then a second word."""

    def word() -> str:
        return "".join(str(s) for s in rng.choice(SYLLABLES, size=int(rng.integers(2, 5)))).capitalize()

    chance = rng.random()
    if chance < 0.15:
        return f"{KINDS[int(rng.integers(len(KINDS)))]} {word()}"
    return f"{word()} {word()}" if chance < 0.3 else word()


def _described(rng: np.random.Generator) -> tuple[str, str]:
    """A flag in few words, and as an encyclopaedia describes it."""
    n = int(rng.integers(2, 4))
    names = [str(c) for c in rng.choice(list(CLOTH), size=n, replace=False, p=OFTEN)]
    way, first = (("horizontal", "top"), ("vertical", "left side"))[int(rng.integers(2))]
    *most, last = [f"{names[0]} ({first})", *names[1:]]
    words = f"{way} bands {' '.join(names)}"
    text = f"{('two', 'three')[n - 2]} equal {way} bands of {', '.join(most)}{',' * (n > 2)} and {last}"
    if rng.random() < 0.4:
        extra = f"{rng.choice(list(CLOTH))} {rng.choice(['star', 'triangle', 'disk', 'crescent', 'cross', 'sun'])}"
        place = ("centered", "on the left side", "in the upper-left corner")[int(rng.integers(3))]
        return f"{words}, {extra}", f"{text}, with a {extra} {place}"
    return words, text


def value(rng: np.random.Generator, field: str) -> str:
    """Something that might stand under this heading."""
    if field in PARTNERS:
        shares = sorted((int(v) for v in rng.integers(2, 60, 3)), reverse=True)
        return ", ".join(f"{invented(rng)} {share}%" for share in shares)
    if field == "internet country code":
        return "." + "".join(chr(97 + int(v)) for v in rng.integers(0, 26, 2))
    if field in ("population", "highest point", "independence"):
        return str(rng.integers(1, 10 ** int(rng.integers(2, 7))))
    if field in ("capital, name", "largest city", "nationality", "currency"):
        return invented(rng)
    return " ".join(str(w) for w in rng.choice(WORDS, size=int(rng.integers(1, 6))))


def asked_for(field: str, right: str) -> tuple[str, str]:
    """Name a heading in a question, and the part of its text that answers it: of partners, the first one's name."""
    if field in PARTNERS:
        return f"main {field.partition('s -')[0]} partner", right.split(",")[0].rsplit(" ", 1)[0]
    return field.partition(",")[0], right


def tail(rng: np.random.Generator) -> str:
    """More that is written there, now and then: it may end anywhere."""
    if rng.random() < 0.6:
        return ""
    words = " ".join(str(w) for w in rng.choice([*WORDS, *SYLLABLES], size=int(rng.integers(2, 12))))
    return f"; {words}…" if rng.random() < 0.7 else f"; {words}"


def _numbered(lines: Sequence[str]) -> str:
    return "<information>" + "\n".join(f"{k}. {line}" for k, line in enumerate(lines, 1)) + "</information>"


def listed(rng: np.random.Generator, lines: Sequence[str]) -> str:
    """Lines in any order, as a search shows what it found."""
    return _numbered([lines[int(k)] for k in rng.permutation(len(lines))])


def _value_of(rng: np.random.Generator) -> tuple[str, str, str]:
    """Several headings of several places: what stands under this one?"""
    places = [invented(rng) for _ in range(int(rng.integers(1, 4)))]
    place, field = places[0], str(rng.choice(FIELDS))
    right = value(rng, field)
    lines = [f"{place}, {field}: {right}"]
    for _ in range(int(rng.integers(0, 3))):
        other, heading = places[int(rng.integers(len(places)))], str(rng.choice(FIELDS))
        if field == "capital, name" and rng.random() < 0.5:
            other, heading = place, str(rng.choice(BESIDE))
        if (other, heading) != (place, field):
            lines.append(f"{other}, {heading}: {value(rng, heading)}")
    called, answer = asked_for(field, right)
    return listed(rng, lines), f"What is the {called} of {place}?", answer


def _whose_flag(rng: np.random.Generator) -> tuple[str, str, str]:
    """Flags of several places: whose is this one?"""
    flags = [(invented(rng), *_described(rng)) for _ in range(int(rng.integers(1, 4)))]
    name, words, _ = flags[0]
    others = [(n, w, t) for n, w, t in flags[1:] if w != words]
    lines = [f"{n}, flag, description: {t}{tail(rng)}" for n, _, t in [flags[0], *others]]
    return listed(rng, lines), f"Whose flag is it: {words}?", name


def _named_line(rng: np.random.Generator) -> tuple[str, str, str]:
    """Which place is a line about, and under which heading?"""
    found = [(invented(rng), str(rng.choice(FIELDS))) for _ in range(int(rng.integers(1, 4)))]
    lines = [f"{place}, {field}: {value(rng, field)}" for place, field in found]
    k = int(rng.integers(len(found)))
    return _numbered(lines), f"What is line {k + 1} about?", f"{found[k][0]} {found[k][1]}"


ASKED: tuple[Callable[[np.random.Generator], tuple[str, str, str]], ...] = (_value_of, _whose_flag, _named_line)
SHARES = (0.5, 0.3, 0.2)


def facts(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Text only: find something in what a search might have found; half the time, something else in something else."""
    del pool
    turns = []
    for _ in range(int(rng.integers(1, 3))):
        found, question, answer = ASKED[int(rng.choice(len(ASKED), p=SHARES))](rng)
        turns.append(((f"{found} {question}",), f"{answer}."))
    return Sample("facts", tuple(turns))
