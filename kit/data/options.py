"""Options of a question and their letters: which are lettered, and which of them an answer names."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LETTER = re.compile(r"\(?([A-Za-z])\)?\s*(?:[.:)](?![A-Za-z]\.)|$)")
BARE = re.compile(r"\(?[A-Za-z]\)?\s*[.:)]?")
MARK = re.compile(r"^\(?[A-Za-z]\)?\s*[.:)](?![A-Za-z]\.)\s*")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(text: str) -> str:
    """The letter of the option that an answer names: B of ``B``, ``(B)`` or ``b. a dog``; none of ``P.M.``"""
    found = _LETTER.match(text.strip())
    return found[1].upper() if found else ""


def lettered(options: Sequence[str]) -> list[str]:
    """Options with a letter each, A, B, C …; as they are where they begin with these letters in this order.

    Letters in another order are texts: labels of a diagram, or names such as ``T. rex``.

    >>> lettered(["C", "F"]), lettered(["(A) a dog", "(B) a cat"])
    (['A. C', 'B. F'], ['(A) a dog', '(B) a cat'])
    """
    names = [letter(option) for option in options]
    # Two may be missing among those that are marked: (A), (B), (E).
    marked = all(map(MARK.match, options)) and names[:1] == ["A"] and names[-1] <= LETTERS[len(options) + 1 :][:1]
    if names == list(LETTERS[: len(options)]) or (marked and names == sorted(set(names))):
        return list(options)
    return [f"{name}. {option}" for name, option in zip(LETTERS, options, strict=False)]


def option_named(answer: str, question: str, options: Sequence[str]) -> str:
    """The letter of the option that a gold answer names by letter or text, if it names one; else the answer.

    Args:
        answer: ``B``, ``(b)``, ``B. a dog`` or ``a dog``; ``T. rex`` only looks like the first three.
        question: holds the options where there is no list of them.
        options: each after its letter, in order.
    """
    marked, names = letter(answer), "".join(letter(option) for option in options)
    if BARE.fullmatch(answer) and (not options or marked in names):
        return marked
    if not options:
        shown = marked and re.search(rf"(?<![A-Za-z]){marked}[.:)]", question)
        return marked if shown else answer
    said = [MARK.sub("", option).casefold() for option in options]
    if answer.casefold() in said:
        return names[said.index(answer.casefold())]
    return marked if marked and marked in names else answer


def alike(name: str, options: Sequence[str]) -> tuple[str, ...]:
    """The letters of the options that say what one of them does, its own among them: a list may hold a text twice.

    >>> alike("B", ["A. 9", "B. 18", "C. 24", "D. 18"]), alike("18", ["A. 18"])
    (('B', 'D'), ('18',))
    """
    said = {letter(option): MARK.sub("", option).casefold() for option in options}
    same = tuple(other for other, text in said.items() if text and text == said.get(name))
    return same or (name,)  # options without a text stand in the image
