r"""Compare formulas by math-verify (Kydlíček 2025): ``2 \sqrt { 221 }`` is ``2√221`` and ``x = 3`` isn't ``x = -3``.

It reads what it can of any text, in a time without a bound. So it is asked about whole formulas alone, such as are
short and hold a root, a power, π, a fraction or a variable; whatever else is a matter of words and numbers.
"""

from __future__ import annotations

import logging
import re
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

LONGEST = 80
"""Characters of a formula."""

_FORMULA = re.compile(r"(?:\\frac|√|[\d.]|(?<![A-Za-z])[A-Za-zθαβ](?![A-Za-z])|[-+*/^=<>≥≤≠±×÷·π∞|(){}\[\] ])+")
_TELLS = re.compile(r"\\frac|[√^π∞±]|(?<![A-Za-z])[A-Za-zθαβ](?![A-Za-z])")
_UNFINISHED = re.compile(
    r"[-+*/^=<>≥≤≠±×÷·√,]\s*$|^\s*[*/^=<>≥≤≠×÷·,]|[-+*/^=<>≥≤≠±×÷·]\s*[*/^=×÷·)}\]]|[A-Za-z] +[A-Za-z]|\d +[\d.]"
)
_MIXED = re.compile(r"(?<![\d.,^√/] )(?<![\d.,^√/])(\d+) (\d+)/(\d+)(?![\d.,])")
_POWER = re.compile(r"\^ ?(?:\{ ?)?-?(\d{1,2}|[A-Za-z])(?: ?\})?(?![\d^]| \^)")
_RAISED, _RAISED_FLAT = re.compile(r"[)\]}|] ?\^"), re.compile(r"\([^()^]*\) ?\^")
_TO_LATEX = {
    **{"√": r"\sqrt ", "×": r"\times ", "÷": r"\div ", "·": r"\cdot ", "*": r"\cdot ", "π": r"\pi ", "∞": r"\infty "},
    **{"±": r"\pm ", "≤": r"\leq ", "≥": r"\geq ", "≠": r"\neq ", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta "},
}


def compare(answer: str, gold: str) -> bool | None:
    """Check that two plain texts (:func:`kit.rewards.notation.plain`) are the same formula; None: one is none."""
    if not (is_formula(answer) and is_formula(gold)) or not (_TELLS.search(answer) or _TELLS.search(gold)):
        return None
    said, right = _parsed(answer), _parsed(gold)
    if said is None or right is None:
        return None
    from math_verify import verify

    try:
        return bool(verify([right], [said], timeout_seconds=None))
    except Exception:  # sympy raises errors of many kinds at formulas that mean nothing, such as 1/0
        return None


def value(text: str) -> Fraction | None:
    """The number that a formula comes to; None: it is none, or comes to no real number."""
    found = _parsed(text) if is_formula(text) and _TELLS.search(text) and not _names(text) else None
    try:
        number = float(found) if found is not None else None
    except Exception:  # a set, a comparison, a complex number
        return None
    return Fraction(number) if number is not None and isfinite(number) else None


def is_formula(text: str) -> bool:
    """Check for a whole formula that is short, complete and soon computed: no high powers, no power of a power."""
    text = _MIXED.sub(r"(\1+\2/\3)", text)  # and 1 200π is neither 1200π nor 200π
    if len(text) > LONGEST or not _FORMULA.fullmatch(text) or _UNFINISHED.search(text) or not _is_balanced(text):
        return False
    names, powers = _names(text), _POWER.findall(text)
    low = sum(int(power) for power in powers if power.isdigit()) <= (6 if names else 40)
    flat = len(powers) == text.count("^") <= 4 and len(_RAISED.findall(text)) == len(_RAISED_FLAT.findall(text))
    short = all(len(digits) <= 15 for digits in re.findall(r"\d+", text)) and text.count("√") + text.count("\\") <= 6
    return low and flat and short and len(names) <= 3


def _names(text: str) -> set[str]:
    """The variables of a formula."""
    return set(re.findall(r"[A-Za-zθαβ]", text.replace("\\frac", "")))


def _is_balanced(text: str) -> bool:
    """Check that brackets close in their order, and that at most five are open at once."""
    closes, open_ = {")": "(", "]": "[", "}": "{"}, []
    for sign in text:
        if sign in "([{":
            open_.append(sign)
            if len(open_) > 5:
                return False
        elif sign in closes and (not open_ or open_.pop() != closes[sign]):
            return False
    return not open_


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Any:
    """Sympy's expression of a formula; None: there is none."""
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse

    # Its own setting takes an m for metres, and of an equation the right side.
    reading = LatexExtractionConfig(normalization_config=NormalizationConfig(malformed_operators=True, nits=True))
    for name in ("math_verify.parser", "math_verify.grader", "math_verify.utils"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they warn at each call that there is no timeout
    latex = re.sub(r"√ ?\(([^()]*)\)", r"√{\1}", _MIXED.sub(r"(\1+\2/\3)", text))
    latex = re.sub(r"√ ?(\d+(?:\.\d+)?|[A-Za-z])", r"√{\1}", latex)
    latex = re.sub(r"\^ ?(-?\d+)", r"^{\1}", latex)
    latex = "".join(_TO_LATEX.get(sign, sign) for sign in latex)
    try:
        found = parse(f"${latex}$", [reading], fallback_mode="no_fallback", parsing_timeout=None)
    except Exception:  # its grammar has no error of its own
        return None
    return found[0] if found and not isinstance(found[0], str) else None
