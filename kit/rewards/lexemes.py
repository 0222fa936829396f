"""Read a short text as a row of lexemes: numbers with their signs, words, and signs that count; the rest is prose.

What may be the answer stays: a minus, what stands between figures, comparisons and operators, ``#`` and ``+`` after a
letter. What is left out is punctuation of prose: quotes, full stops, commas between words, the hyphen of ``x-ray``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kit.rewards.notation import NUMBER, Quantity, value
from kit.rewards.text_match import SPACELESS, is_punctuation

Lexeme = Quantity | str
"""A number, a word in small letters, or a sign."""

_SIGNS = "+-*/^=<>≤≥≠±×·÷√π∞∠|!@#:.,'\"%&()[]{}"


def alike(one: Lexeme, two: Lexeme) -> bool:
    """Check that two lexemes say the same."""
    return one.like(two) if isinstance(one, Quantity) and isinstance(two, Quantity) else one == two


def lexemes(text: str) -> list[Lexeme]:
    """Numbers, words and signs of a plain text, in their order, articles and punctuation of prose left out.

    A text of nothing but articles keeps them, and one of nothing but punctuation is one lexeme: itself.

    >>> lexemes("the C++ book, No. 5"), lexemes("(2,-3)")[1:], lexemes("The")
    (['c', '+', '+', 'book', 'no', Quantity(value=Fraction(5, 1), unit='')], [',', Quantity(value=Fraction(-3, 1), \
unit='')], ['the'])
    """
    found = list(_lexed(_without_prose(text)))
    kept = [one for k, one in enumerate(found) if not _is_article(found, k)]
    words: list[Lexeme] = [one.lower() if isinstance(one, str) else one for one in kept or found]
    return words or ["".join(text.split())] * bool(text)


def _is_article(found: list[Lexeme], k: int) -> bool:
    """Check for an article, which an A is only before a word: it may be a vitamin, a point or a grade."""
    word, after = found[k], found[k + 1] if k + 1 < len(found) else ""
    if not isinstance(word, str) or word.lower() not in ("a", "an", "the"):
        return False
    before_word = isinstance(after, str) and len(after) > 1 and after.lower() not in ("and", "or")
    return word.lower() != "a" or (before_word and (word == "a" or k == 0))


_LEXEME = re.compile(
    rf"(?P<sign>(?<![^\s(\[{{<>=≤≥≠,:+*/×÷±^])[-+])?(?:(?P<money>[$€£¥₹])(?P<inner>-)?)?"
    rf"(?P<number>{NUMBER})(?P<unit> ?[%°])?"
    rf"|(?P<word>[{SPACELESS}]|[^\W\d_{SPACELESS}](?:(?![{SPACELESS}])(?:[^\W\d_]|[\u0300-\u036f]))*)|(?P<other>[^\s$€£¥₹])"
)


def _lexed(text: str) -> Iterator[Lexeme]:
    before = ""
    for found in _LEXEME.finditer(text):
        digits, sign = found["number"], found["sign"] or ""
        if not digits:
            before = found[0]
            yield before
            continue
        if before == ":" and re.fullmatch(r"0\d+", digits):  # five past one isn't 1:5
            yield digits
        else:
            # After a number or a word's one letter a minus is between the two: 3 -2 is 3 - 2.
            if sign == "-" and before == "number":
                yield "-"
                sign = ""
            minus = "-" in (sign, found["inner"])
            unit = (found["unit"] or found["money"] or "").strip()
            yield Quantity(-value(digits) if minus else value(digits), unit)
        before = "number"


def _without_prose(text: str) -> str:
    """Leave out the punctuation of prose; what stays has a meaning."""
    text = re.sub(r"(?i)(?<=\d) ?per ?cent\b", "%", text).replace(" & ", " and ")
    return "".join(
        _kept(text, k, character) if is_punctuation(character) or character in _SIGNS else character
        for k, character in enumerate(text)
    )


def _kept(text: str, k: int, sign: str) -> str:
    """What a sign is replaced by: itself, a space, or nothing."""
    before, after = text[k - 1] if k else "", text[k + 1] if k + 1 < len(text) else ""
    left, right = text[max(0, k - 2) : k].strip()[-1:], text[k + 1 : k + 3].strip()[:1]
    if sign in "+^=<>≤≥≠±×·÷√π∞∠|@%$":
        return sign
    if sign in ".:'\"":
        between = before.isdigit() and after.isdigit()
        point = sign == "." and after.isdigit() and not before.isalnum()
        spaced = sign == ":" and left.isdigit() and right.isdigit()
        return sign if between or point or spaced else " " * (sign == ":")
    if sign in ",;":
        tied = (left.isdigit() or left in tuple(")]")) and right in tuple("0123456789-+.([√")
        return sign if tied or (not left and after.isdigit()) else " "  # ,5 isn't 5
    if sign == "/":
        return sign if left and right else ""
    if sign == "*":
        return sign if left and right and before.isspace() == after.isspace() and "*" not in (before, after) else ""
    if sign == "#":
        return sign if before.isalpha() else ""
    if sign == "!":
        return sign if (before.isdigit() or _lone(text, k - 1)) and not after.isalnum() else ""
    if sign in "([{":
        return sign if before and (before.isdigit() or before in "+-*/^×÷·√=" or _lone(text, k - 1)) else " "
    if sign in ")]}":
        return sign if after and (after.isdigit() or after in "+-*/^×÷·(") else " "
    return _dash(text, k, left, right) if sign == "-" else ""


def _dash(text: str, k: int, left: str, right: str) -> str:
    """A minus, a sign between figures (2010-2015, 555-1234) or a grade's; else a hyphen."""
    before, after = text[k - 1] if k else "", text[k + 1] if k + 1 < len(text) else ""
    number = right.isdigit() or right in tuple("$€£¥₹√(π∞|") or bool(re.match(r"\.\d", text[k + 1 : k + 3].strip()))
    lone = _lone(text, k + 1 if after.strip() else k + 2)
    if before.isalpha() and not _lone(text, k - 1):  # after a word
        return " " if after.isdigit() else "" if after else "-"
    if (before.isupper() and after.isdigit()) or (before.isdigit() and after.isupper()):  # F-16, 3-D
        return " "
    if before.isalpha():
        return "-" if number or lone or not after.isalnum() else ""
    if before.isalnum() or (before and before in ")]%°"):
        return "-" if number or lone or not after.isalnum() else " "
    if after.isspace() and left:  # with a space on either side
        return "-" if (left.isdigit() or left in ")]" or _lone(text, k - 2)) and (number or lone) else " "
    return "-" if number or (lone and bool(after.strip())) else ""


def _lone(text: str, k: int) -> bool:
    """Check for a letter that no other stands beside: a variable, a point, a grade."""
    inside = 0 <= k < len(text) and text[k].isalpha()
    return inside and not text[max(0, k - 1) : k].isalpha() and not text[k + 1 : k + 2].isalpha()
