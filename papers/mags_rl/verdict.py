r"""Read a judge's verdict, a number from 0 to 1, out of what it replied.

It is asked for a number alone; models add words. What it says is read in this order, after its thoughts are left out:

1. a reply that is a number and nothing else, or whose first or last line is;
2. the number that a word names: ``Score: 0.5``, ``{"verdict": 3/4}``, ``<rating>75 %</rating>``, ``a score of 0.5``;
3. the last number that isn't a list's marker, part of a range or a count (``1 of them``, ``2 cats``).

A bound (``less than 1``, ``at most 0.5``, ``not 1``) is no verdict.

Numbers may be written ``.5``, ``0,5``, ``½``, ``1/2``, ``2 out of 4`` and ``50 %``. A reply that can be read in two
ways, or names a number that is no verdict (``Score: 7``), has none: its judge is asked again.
"""

from __future__ import annotations

import re
import unicodedata

from papers.asking import without_thoughts

_NUM = r"(?:[0-9]{1,30}(?:\.[0-9]{1,30}|,[0-9]{1,2}(?![0-9]))?|\.[0-9]{1,30})"
_NUMBER = re.compile(
    rf"(?<![\w.,/:$€£#^-])(?P<sign>[-+]?)(?P<n>{_NUM})(?:\s*(?:/|\bout\ of)\s*(?P<of>{_NUM}))?"
    r"(?P<percent>\s*(?:%|per\s?cent\b))?(?![\w°]|[.,:/^][0-9]|\s*(?:/|\bout\ of\b)\s*[\w.])",
    re.IGNORECASE,
)
_MARKER = re.compile(r"^[\s*_#>(-]*[1-9][0-9]?[.)][*_]*(?=[^\S\n]+\S)|(?<=[.!?;])\s+[2-9][.)](?=\s)", re.MULTILINE)
_RANGE = re.compile(rf"(?<![0-9.]){_NUM}\s*(?:[-~]|\bto\b|\band\b|\bor\b|\.\.\.?)\s*{_NUM}", re.IGNORECASE)
_BOUND = re.compile(
    r"(?:[<≤≥]=?|(?<=[:=]) ?>=?|\b(?:less|lower|more|higher|greater|fewer)(?: or equal)?(?: than| to)"
    r"|\b(?:below|under|above|over|up to|at most|at least)|\b(?:not|never|cannot|no)(?: be)?|n't(?: be)?)"
    r"(?:\s+(?:an?|the|as))?[\s\"'*_`]*$",
    re.IGNORECASE,
)
_NAME = r"(?:scores?|verdict|rating|grade|similarity|overall|conclusion|result|final(?:\s+answer)?)"
_MARKS = r"[\s\"'*_`\[({]*(?:\\boxed\{)?\s*"
_NAMED = re.compile(
    rf"(?:\b{_NAME}\b(?:\([^()\n]*\)|[^\n:=0-9(]){{0,40}}(?:[:=]|->|→){_MARKS}|<\s*(?:{_NAME}|answer)\s*>\s*"
    r"|\\boxed\{\s*)$",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:score|verdict|rating|grade|rate)\b"
    rf"(?:\s+(?!not|cannot|never|than|above|below|over|under|least|most|more|less)[a-z]+){{0,4}}{_MARKS}$",
    re.IGNORECASE,
)
_DOUBTED = re.compile(r"[\s\"'*_`]*(?:would|might|could|may|can|seems?|isn't|is not|wouldn't|is too)\b", re.IGNORECASE)
_MORE = re.compile(r"\s*(?:,|->?|→|\bor\b|\bto\b|\band\b)\s*\.?[0-9]", re.IGNORECASE)
_NONE_NAMED = re.compile(rf"\b{_NAME}[\"'*_`]*\s*[:=]{_MARKS}(?:null|none|n/a|unknown|nan|undefined)\b", re.IGNORECASE)
_QUOTED_OR_COUNTED = re.compile(
    r"(?:[\"'`]|\banswers?\W+(?:is|was|are|says?|of|being|:)?\s*(?:[\"'`]|:\s*)?"
    r"|\b(?:step|criteri(?:on|a)|point|part|item|option|image|figure|question|line|number|no\.|rule|case)\s*)$",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\s*(?:$|[\"'*_`\])}]*\s*(?:[.,;:!()\n]|$)|(?:is|because|since|as|for|here|overall)\b)", re.IGNORECASE
)
LABEL_CHARS = 100
"""Characters before a number among which a word that names it is looked for."""

_ALONE = " \t\n\r\"'*_`{}()[].!,;"
_LABEL = re.compile(
    r"(?:(?:my|the|final)\s+)*(?:answer|verdict|score|rating)\W*?(?:[:=]|\bis\b|-(?=\s))[\s*_`]*", re.IGNORECASE
)


def verdict(reply: str) -> float | None:
    """Read the verdict in a judge's reply, 0 to 1; None: it holds none, or can be read in two ways.

    >>> verdict("0.75"), verdict("1. The answers differ. Score: 0"), verdict("3 out of 4"), verdict("I can't say.")
    (0.75, 0.0, 0.75, None)
    """
    text = unicodedata.normalize("NFKC", without_thoughts(reply)).replace("⁄", "/")
    text = re.sub("[\u2010-\u2015\u2212]", "-", text).strip()
    text = re.sub(r"\${1,2}([^$\n]+)\${1,2}", r"\1", text)
    lines = [_alone(line) for line in (text.splitlines() or [""])]
    if alone := {line for line in (lines[0], lines[-1]) if line is not None}:
        return alone.pop() if len(alone) == 1 else None
    text = _MARKER.sub(lambda found: " " * len(found[0]), text)
    found = [one for one in _NUMBER.finditer(text) if not _BOUND.search(_before(text, one))]  # less than 1 isn't 1
    for named in (_NAMED, _SAID):
        told = [one for one in found if named.search(_before(text, one))]
        told = told if named is _NAMED else [one for one in told if not _DOUBTED.match(text, one.end())]
        if told:
            return None if _MORE.match(text, told[-1].end()) else _value(told[-1])
    return None if _NONE_NAMED.search(text) else _last(text, found)


def _before(text: str, number: re.Match[str]) -> str:
    """What may name a number: the little that stands before it."""
    return text[max(0, number.start() - LABEL_CHARS) : number.start()]


def _last(text: str, found: list[re.Match[str]]) -> float | None:
    """The last of the numbers that nothing names, if it is plain which one is meant."""
    ranges = [one.span() for one in _RANGE.finditer(text)]
    free = [one for one in found if not any(start <= one.start() < end for start, end in ranges)]
    plain = [one for one in free if _is_plain(text, one)]
    values = [_value(one) for one in plain or free]
    if not values or len(set(values)) > 3:  # the whole scale: it repeats what it was asked
        return None
    first = (plain or free)[0]
    if not text[: first.start()].strip(_ALONE) and _ENDS.match(text, first.end()) and values[0] is not None:
        others = {value for value in values if value is not None}
        return values[0] if len(others) == 1 else None
    return values[-1] if plain or len(set(values)) == 1 else None


def _is_plain(text: str, number: re.Match[str]) -> bool:
    """True unless a number is quoted from the answers, or counts or numbers something."""
    if _QUOTED_OR_COUNTED.search(_before(text, number)):
        return False
    return bool(re.search(r"[.,/%]|out of|per", number[0]) or _ENDS.match(text, number.end()))


def _alone(line: str) -> float | None:
    """The verdict of a line that says nothing else."""
    line = _LABEL.sub("", line.strip(_ALONE.replace(".", "")), count=1) if _LABEL.match(line.strip(_ALONE)) else line
    found = _NUMBER.fullmatch(line.strip(_ALONE.replace(".", "")).rstrip("."))
    return _value(found) if found else None


def _value(number: re.Match[str]) -> float | None:
    """What a number says, if that is from 0 to 1."""
    value = float(number["n"].replace(",", "."))
    of = float((number["of"] or "1").replace(",", "."))
    if number["sign"] == "-" or not of or of % 1 or (number["of"] and number["percent"]):
        return None
    if number["percent"]:
        if 0 < value <= 1:  # a share already, or a hundredth of one?
            return None
        of = 100.0
    return value / of if value <= of else None
