"""Check short answers against gold answers: words, numbers, options, formulas, and numbers that may be a little off.

Two quantities are alike if they are equal however they are written: ``1,200`` is ``1200.0``, ``½`` is ``0.5``, ``5.0
cm`` is ``5``; and ``1.5`` isn't ``15``, ``-3`` isn't ``3``, ``5 cm`` isn't ``5 m``. Formulas are compared by
:mod:`kit.rewards.mathematics`, all else word by word, number by number, sign by sign (:mod:`kit.rewards.lexemes`).
An option is right by its letter alone, unless the answer lists several. A gold answer may allow for an error:
``12.5 ± 5 %`` of it, or ``40 ± 0.5`` in its own unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from kit.data.questions import letter
from kit.episode import Episode, Score
from kit.rewards import mathematics
from kit.rewards.lexemes import Lexeme, lexemes
from kit.rewards.lexemes import alike as same_lexeme
from kit.rewards.notation import EDGE, SCALES, Quantity, plain, quantity, unit_named
from kit.rewards.text_match import max_over_references

LONGEST = 10_000
"""Characters of a text whose notation is looked into; a longer one is right as it stands, or wrong."""

_LEAD = re.compile(r"(?i)(?:the )?(?:(?:final|correct|right) )?answer ?(?:is:?|:|=) ?")
_OPTION = re.compile(r"(?i)(?:(?:the )?(?:correct )?(?:option|choice) ?(?:is:?|:)? ?)")
_NAMED = re.compile(r"(?:^|(?<=[\s,;/|&(.:)]))\(?([A-Za-z])(?![A-Za-z])(?:\s?[.:)]+|(?=\s*(?:$|[,;/|&])))")
_BECAUSE = re.compile(
    r"\(?([A-Za-z])\)?(?:,? (?=(?:because|since)\b|(?:(?:and )?not|rather than|instead of) \(?[A-Z](?![A-Za-z]))"
    r"| [-–—] (?=an? |[^\W\d_]{2}))"
)
_TAKEN_BACK = re.compile(r"\b(?i:wait|actually|sorry|correction|I mean)\b.*(?<![A-Za-z])[A-Z](?![A-Za-z']| [a-z])")
_IN_MARKS = re.compile(r"(?:\"(\w)\"|'(\w)'|`(\w)`|\[(\w)\]|\{(\w)\}|<(\w)>|(\w))[.!?;,。、]{0,3}")
_NAMES = re.compile(r"^(?:m ?)?∠? ?(?:[A-Z]{2,3}|[A-Za-z])? ?[=≈] ?(?=[-+\d.$√\\(π])")
_MEASURED = re.compile(r"(.+?[\d)}\]π]) ([A-Za-z][A-Za-z. ]*(?: ?\^ ?\{? ?[23] ?\}?)?)")
_SPACED = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_]{2})|(?<=\d), (?=\d)")
_SEPARATOR = re.compile(r"[,;](?!\d{3}(?!\d))|[,;](?<=\d{4}.)|,? and ")
_JOINS = frozenset("+-*/^=<>≤≥≠×÷·:.,'")
_DENIES = frozenset(["not", "neither", "nor", "never", "isnt", "arent", "wasnt", "werent", "cannot", "without"])
_LENGTHENS = frozenset((*map(str.lower, SCALES), "th", "st", "nd", "rd", "to"))
_OTHER = {"yes": "no", "no": "yes", "true": "false", "false": "true"}


def number(text: str) -> float | None:
    """The number that a text is, if it is one: ``$1,200``, ``-3.5``, ``20 %``, ``1/2``, ``2√3``."""
    found = _value(plain(text))
    return float(found.value) if found is not None else None


def _value(text: str) -> Quantity | None:
    """The quantity that a plain text is, a formula among them."""
    found = quantity(text)
    formula, unit = _measured(text)
    if found is None and (computed := mathematics.value(formula)) is not None:
        return Quantity(computed, unit)
    return found


def _measured(text: str) -> tuple[str, str]:
    """A formula and its unit, if it has one that is known: ``2√3 cm``."""
    found = _MEASURED.fullmatch(text) if len(text) < 300 else None
    unit = unit_named(found[2]) if found else None
    return (found[1], unit) if found and unit else (text, "")


def alike(answer: str, gold: str) -> float:
    """1 if an answer says what the gold answer says, else 0."""
    if max(len(answer), len(gold)) > LONGEST:
        return float(answer == gold)
    if _is_letter(gold):
        return float(option(answer) == gold.strip().upper())
    told, _, error = gold.partition(" ± ")
    if error and (right := _value(plain(told))) is not None and (off := quantity(plain(error))) is not None:
        said = _value(_without_lead(plain(answer)))
        allowed = off.value / 100 * abs(right.value) if error.endswith("%") else off.value
        if said is not None and said.fits(right):
            return float(abs(said.value - right.value) <= allowed + EDGE * abs(right.value))
        return float(answer == gold)
    return float(_same(plain(answer), plain(gold)))


def _same(said: str, right: str, parts: bool = True) -> bool:
    said, right = _without_lead(said), _without_lead(right)
    if any(sign in said for sign in "=≈") != any(sign in right for sign in "=≈"):  # x = 3 says 3, and AB = 3 does
        said, right = _NAMES.sub("", said), _NAMES.sub("", right)
    one, two = quantity(said), quantity(right)
    if one is not None and two is not None:  # 4 M isn't 4 m
        return one.like(two)
    if said.casefold() == right.casefold():
        return True
    if parts and (verdict := _same_parts(said, right)) is not None:
        return verdict
    (formula, unit), (other, unit_of_other) = _measured(said), _measured(right)
    if (unit == unit_of_other or not (unit and unit_of_other)) and mathematics.compare(formula, other):
        return True
    spaced = (_SPACED.sub(" ", text) for text in (said, right))  # x-ray is xray, and x ray; May 2, 2010 is May 2 2010
    return _same_row(lexemes(said), lexemes(right)) or _same_row(*map(lexemes, spaced))


def _is_letter(gold: str) -> bool:
    """Check for an option's letter: as words, an A is an article and counts for nothing."""
    gold = gold.strip()
    return len(gold) == 1 and gold.isascii() and gold.isalpha()


def _without_lead(text: str) -> str:
    """An answer without the words that say it is one."""
    return _LEAD.sub("", text, count=1).strip() or text if _LEAD.match(text) else text


def _same_parts(said: str, right: str) -> bool | None:
    """Compare coordinates and lists part by part; None: they aren't lists of so many parts."""
    (opened, ones), (other, twos) = _parts(said), _parts(right)
    if (opened and quantity(right)) or (other and quantity(said)):  # (8,500) isn't 8,500
        return False
    if len(ones) != len(twos) or len(ones) < 2:
        return None
    if len(ones) == 2 and opened and other and opened != other:  # an interval says by its brackets what is in it
        return False
    if opened == other == "{}" and len(ones) <= 12:  # a set has no order
        found = [[_same(one, two, parts=False) for two in twos] for one in ones]
        return all(map(any, found)) and all(map(any, zip(*found, strict=True)))
    return True if all(_same(one, two, parts=False) for one, two in zip(ones, twos, strict=True)) else None


def _parts(text: str) -> tuple[str, list[str]]:
    """The brackets about a list, and what stands between its commas, but those of thousands."""
    if len(text) > 1 and text[0] in "([{" and text[-1] in ")]}" and not re.search(r"[()\[\]{}]", text[1:-1]):
        inside = [part.strip() for part in re.split(r"[,;]", text[1:-1])]
        return (text[0] + text[-1], inside) if len(inside) > 1 else ("", inside)
    if quantity(text) is not None or re.search(r"[()\[\]{}]", text):
        return "", [text]
    return "", [part.strip() for part in _SEPARATOR.split(text)]


def _same_row(said: Sequence[Lexeme], right: Sequence[Lexeme]) -> bool:
    return len(said) == len(right) and all(map(same_lexeme, said, right))


def option(answer: str) -> str:
    """The letter of the option that an answer names; empty if it names none, or several.

    >>> option("Answer: B"), option("(b) Vitamin C"), option("A. B. C. D."), option("B, not C")
    ('B', 'B', '', 'B')
    """
    text = _without_lead(plain(answer)).replace("*", "")
    text = _OPTION.sub("", text, count=1) if _OPTION.match(text) else text
    if (alone := _IN_MARKS.fullmatch(text) or _BECAUSE.match(text)) is not None:
        text = next(filter(None, alone.groups()))
    found = letter(text)
    return "" if found and (_lists(text) or _TAKEN_BACK.search(text)) else found


def _lists(text: str) -> bool:
    """Check that a text names several options: in a row, or one after the other, each with its words."""
    marks = [mark for mark in _NAMED.finditer(text) if mark[1].isupper() == text.strip("( ")[:1].isupper()]
    names = [mark[1].upper() for mark in marks]
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    words = [re.sub(r"\W|\b(?:and|or)\b", "", text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    if len(set(names)) < 2:
        return False
    in_order = all(ord(after) - ord(name) == 1 for name, after in pairwise(names))
    if any(words):
        return in_order and (len(names) > 2 or all(words))
    neighbours = ord(max(names)) - ord(min(names)) == len(set(names)) - 1
    its_words = re.fullmatch(r"\s*[A-Za-z]\s*", text[marks[0].end() :])  # A. B is the option A, which says B
    return neighbours and not its_words


def holds(answer: str, gold: str) -> bool:
    """Check that an answer says a gold answer among other things: its words, numbers and signs in a row.

    A number isn't held by a longer one, nor by a fraction, a date, a range or a sum; what is denied isn't held; and who
    says yes and no says neither.
    """
    if alike(answer, gold):
        return True
    if max(len(answer), len(gold)) > LONGEST:
        return False
    text = plain(answer)
    if _is_letter(gold):
        return set(re.findall(r"(?<![\w'])(?![AI] (?!and|or)[a-z])[A-Z](?![\w'])", text)) == {gold.strip().upper()}
    said, wanted = lexemes(text), lexemes(plain(gold))
    if not wanted or (len(wanted) == 1 and _OTHER.get(str(wanted[0])) in said):
        return False
    return any(_stands_at(said, wanted, at) for at in range(len(said) - len(wanted) + 1))


def begins(answer: str, gold: str) -> bool:
    """Check that an answer's first words, numbers and signs are a gold answer's; an option's letter is no word."""
    said, wanted = lexemes(plain(answer[:LONGEST])), lexemes(plain(gold))
    return bool(wanted) and not _is_letter(gold) and _stands_at(said, wanted, 0)


def _stands_at(said: Sequence[Lexeme], wanted: Sequence[Lexeme], at: int) -> bool:
    """Check that a row stands somewhere in another, and that no sign ties it to what is beside it."""
    end = at + len(wanted)
    before, after = said[at - 1] if at else "", said[end] if end < len(said) else ""
    tied = before in _JOINS - {"="} or after in _JOINS or before in _DENIES
    longer = isinstance(wanted[-1], Quantity) and (isinstance(after, Quantity) or after in _LENGTHENS)  # 30k, 30 to 40
    named = isinstance(wanted[0], Quantity) and isinstance(before, str) and re.fullmatch("[b-hj-z]", before)  # V30
    return not (tied or longer or named) and _same_row(said[at:end], wanted)


def is_right(answer: str | None, golds: Sequence[str]) -> bool:
    """Check an answer against the gold answers; none is wrong.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return bool(max_over_references(alike, answer, golds))


def answer_alone(episode: Episode, target: Any) -> Score:
    """The reward of an agent that is asked for answers and nothing else: 1 for a right one."""
    right = is_right(episode.answer, target)
    return Score(float(right), {"answer": float(right)}, correct=right)
