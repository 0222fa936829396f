r"""Match an answer in words with its references: token F1 and exact match (SQuAD, Rajpurkar et al. 2016).

With $T(x)$ the tokens of the normalised text, counted with their multiplicity:

$$P = \frac{|T(o) \cap T(a)|}{|T(o)|}, \quad R = \frac{|T(o) \cap T(a)|}{|T(a)|}, \quad F_1 = \frac{2PR}{P + R}$$

Normalised is: lower case, punctuation and English articles removed, white space made one. Exact match
(EM) asks whether two normalised texts are the same.

Worked example: "the red car" against "red cars" is {red, car} against {red, cars}: P = R = ½, F₁ = **0.5**, EM = 0.

Departures
- [shared-spaceless-tokens] Paper: F1 counts tokens that overlap; what a token is isn't told, and SQuAD splits at
  white space alone. Here: Each character of a script without spaces is a token, Latin words among them stay whole.
  Why: A Chinese sentence would be one token, right or wrong as a whole. May change: F1 of answers in such scripts
  only.
- [shared-unicode-punctuation] Paper: Normalisation isn't told; SQuAD's removes ASCII punctuation. Here: All of
  Unicode's is removed. Why: Curly quotes and dashes are punctuation, too. May change: EM and F1 of answers with such
  signs.
- [shared-best-reference] Paper: An answer is compared with the gold answer. Here: Where a task has several, the one
  nearest to the answer counts. Why: Data sets list spellings of one answer. May change: EM and F1 of such tasks rise.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

ARTICLES = frozenset(("a", "an", "the"))

SPACELESS = (
    r"\u0e00-\u0eff"  # Thai, Lao
    r"\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    r"\u3040-\u30ff"  # Hiragana, Katakana
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""A class of characters, for a pattern: those of scripts that have no spaces between words."""
_TOKEN = re.compile(rf"[{SPACELESS}]|[^\s{SPACELESS}]+")


def is_punctuation(character: str) -> bool:
    """Check for what normalising removes."""
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def split(text: str) -> list[str]:
    """Split a text at white space, and at each character of a script that has none between words.

    >>> split("two cats, 两只猫")
    ['two', 'cats,', '两', '只', '猫']
    """
    return _TOKEN.findall(text)


def tokens(text: str) -> list[str]:
    """Split a text into normalised words, or characters where a script has no spaces between words."""
    kept = "".join(character for character in text.lower() if not is_punctuation(character))
    return [token for token in split(kept) if token not in ARTICLES]


def exact_match(answer: str, gold: str) -> bool:
    """Check that both are the same after normalising."""
    return tokens(answer) == tokens(gold)


def f1(answer: str, gold: str) -> float:
    """Token F1, 0 to 1. Two texts without tokens are the same; one without is wrong."""
    said, right = tokens(answer), tokens(gold)
    if not said or not right:
        return float(said == right)
    common = (Counter(said) & Counter(right)).total()
    # 2PR / (P + R) with P = common / said and R = common / right; no division by zero if nothing is common.
    return 2 * common / (len(said) + len(right))


def max_over_references(measure: Callable[[str, str], float], answer: str | None, golds: Sequence[str]) -> float:
    """The measure against the gold answer it is highest for; 0 for no answer.

    Args:
        measure: answer and gold answer → a number.
        answer: what was answered; None: nothing.
        golds: the gold answers.

    Raises:
        ValueError: there is no gold answer to compare with, or one text instead of several.
    """
    if isinstance(golds, str):  # it would be read letter by letter
        raise ValueError(f"gold answers {golds!r:.80}: give a list of texts, not one text")
    if not golds:
        raise ValueError("no gold answer: a question needs at least one to compare with")
    return 0.0 if answer is None else max(float(measure(answer, gold)) for gold in golds)
