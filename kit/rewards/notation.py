r"""Read a short text in one notation, be it of Unicode or LaTeX; and quantities, which are numbers with their units.

``−½``, ``-\frac{1}{2}`` and ``-1/2`` are one (:func:`plain`); ``$1,200`` and ``1200.0`` are one (:func:`quantity`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

EDGE = Fraction(1, 10**9)
"""Share of a number by which floats miss: 1.6 is 0.1 off 1.5, and a computer says a little more."""

NUMBER = (
    r"(?<!\d)(?:(?<!\d,)\d{1,3}(?:,\d{3}){1,60}(?!,?\d)(?:\.\d{1,100})?|\d{1,100}(?:\.\d{1,100})?|\.\d{1,100})"
    r"(?:[eE][-+]?\d{1,2}(?![\w.]))?(?!\d)"
)
"""A comma stands for thousands where three digits follow, and no others."""

_MARKS = str.maketrans("‐‑‒–—−⁄∕∶’‘“”", "------//:''" + '""')
_COMMANDS = {
    **{"times": "×", "cdot": "·", "div": "÷", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠"},
    **{"pi": "π", "infty": "∞", "pm": "±", "angle": "∠", "sqrt": "√", "degree": "°", "lt": "<", "gt": ">"},
    **dict.fromkeys(("left", "right", "displaystyle", "quad", "qquad", "big", "Big", "bigl", "bigr"), " "),
}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_UNITS = {
    name: unit
    for unit, names in {
        "%": "% percent per.cent pct percentage",
        "°": "° degree degrees deg",
        "°C": "°C degrees.Celsius degrees.C",
        "°F": "°F degrees.Fahrenheit degrees.F",
        "$": "$ dollar dollars USD",
        "€": "€ euro euros EUR",
        "£": "£ GBP",
        "¥": "¥ yen",
        "₹": "₹ rupee rupees",
        "¢": "¢ cent cents",
        **{"mm": "millimeter mms", "cm": "centimeter cms", "dm": "decimeter", "m": "meter", "km": "kilometer kms"},
        **{"in": "inch inches", "ft": "foot feet", "yd": "yard", "mi": "mile", "unit": "units"},
        **{"mg": "milligram", "g": "gram", "kg": "kilogram kilo kgs", "t": "ton tonne"},
        **{"lb": "lbs pound", "oz": "ounce", "Mm": "megameter", "Mg": "megagram", "mW": "milliwatt", "MW": "megawatt"},
        **{"ml": "milliliter mL", "l": "liter L", "s": "sec second", "min": "minute mins", "h": "hr hrs hour"},
        **{"day": "days", "week": "weeks", "month": "months", "yr": "yrs year", "mph": "mi/h miles.per.hour"},
        **{"km/h": "kph kmh km/hr kilometers.per.hour", "m/s": "meters.per.second"},
    }.items()
    for name in (unit, *(word + end for word in names.replace("%", "% ").split() for end in ("", "s")))
}
_UNITS = {name.replace(".", " "): unit for name, unit in _UNITS.items()}
SCALES = {
    **{"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12},
    **{"K": 10**3, "k": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9},
}
_QUANTITY = re.compile(
    rf"(?P<sign>[-+]?) ?(?P<money>[$€£¥₹]?) ?(?P<inner>[-+]?)"
    rf"(?:(?P<whole>\d{{1,9}}) )?(?P<number>{NUMBER})(?: ?/ ?(?P<under>{NUMBER}))?"
    rf"(?P<scale> ?(?:hundred|thousand|million|billion|trillion|K|M|mn|B|bn)(?!\w)|k(?!\w))?"
    rf"(?P<unit>(?: |(?=\W|\w\w)).{{1,40}})?"
)


@dataclass(frozen=True)
class Quantity:
    """A number and its unit; empty: it has none."""

    value: Fraction
    unit: str = ""

    def like(self, other: Quantity) -> bool:
        """Check that both are the same number, whole ones to the last digit, and that no unit speaks against it."""
        return same(self.value, other.value) and self.fits(other)

    def fits(self, other: Quantity) -> bool:
        """Check that both have one unit, or one of them has none."""
        one, two = sorted((self.unit, other.unit))
        return not one or one == two or (one == "°" and two.startswith("°"))


def same(one: Fraction, two: Fraction) -> bool:
    """Check that two numbers are equal, but for what floats miss."""
    whole = one.denominator == two.denominator == 1
    return one == two if whole else abs(one - two) <= EDGE * max(abs(one), abs(two))


def plain(text: str) -> str:
    r"""Write a text in one notation: signs of Unicode and the simple commands of LaTeX.

    >>> plain(r"$-\frac{1}{2}$"), plain("−1½"), plain(r"60^\circ"), plain("x² ≥ ４")
    ('-1/2', '-1 1/2', '60°', 'x^2 ≥ 4')
    """
    text = re.sub(r"[⁰¹²³⁴-⁹⁻⁺]+", lambda raised: "^" + raised[0].translate(_RAISED), text)
    text = re.sub(r"(?<=\d) ?(?=[¼-¾⅐-⅞])", " ", text)
    text = unicodedata.normalize("NFKC", text.replace("º", "°"))
    text = " ".join(text.translate(_MARKS).split())
    if "\\" in text:
        text = " ".join(_without_commands(text).split())
    if len(text) > 2 and text[0] == text[-1] == "$" and "$" not in text[1:-1]:
        text = text[1:-1].strip()
    for signs, sign in (("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("{,}", ","), ("US$", "$")):
        text = text.replace(signs, sign)
    text = re.sub(r"\bsqrt ?(?=[({\[\d])", "√", text)
    text = re.sub(r"(?<=\d) ?[xX] ?(?=\d)", "×", text)
    return re.sub(r"(?i:\b(?:minus|negative) )(?=[\d.$])", "-", text)


def _without_commands(text: str) -> str:
    text = re.sub(r"\\([$%#&_{}])", r"\1", text)
    text = re.sub(r"\\!|(?<=\d)\\,(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"\\[,;: ]|\\[()\[\]]|~", " ", text)
    text = re.sub(r" ?\^ ?(?:\{ ?)?\\(?:circ|degree)(?![A-Za-z])(?: ?\})?", "°", text)
    for _ in range(3):  # \boxed{\text{5}}; whose braces hold others is left for a reader of mathematics
        text = re.sub(r"\\(?:boxed|text|textbf|textit|mathrm|mathbf|mbox|rm|operatorname) ?\{([^{}]*)\}", r"\1", text)
    if (boxed := re.fullmatch(r" ?\\boxed ?\{(.*)\} ?", text, re.DOTALL)) is not None:
        text = boxed[1]
    text = re.sub(r"\\[dtc]?frac(?![A-Za-z])", r"\\frac", text)
    text = re.sub(r"(\d?) ?\\frac ?\{ ?(-?\d+) ?\} ?\{ ?(\d+) ?\}", r"\1 \2/\3", text)
    text = re.sub(r"(\d?) ?\\frac ?(\d) ?(\d)(?!\d)", r"\1 \2/\3", text)
    return re.sub(r"\\([A-Za-z]+)", lambda told: _COMMANDS.get(told[1], told[0]), text)


def quantity(text: str) -> Quantity | None:
    """The number that a plain text is, with its unit; None: it is none, or more than that.

    >>> quantity("$1,200"), quantity("1 1/2 cm"), quantity("1,5")
    (Quantity(value=Fraction(1200, 1), unit='$'), Quantity(value=Fraction(3, 2), unit='cm'), None)
    """
    text = text.strip().rstrip(".") if len(text) < 300 else ""
    if re.fullmatch(r"\([^(),$€£]*\)", text):
        text = text[1:-1].strip()
    elif (owed := re.fullmatch(r"([$€£])\(([^()]*)\)|\(([$€£])([^()]*)\)", text)) is not None:  # as in accounts
        text = f"-{owed[1] or owed[3]}{owed[2] or owed[4]}"
    found = _QUANTITY.fullmatch(text)
    if found is None or (found["sign"] and found["inner"]) or (found["whole"] and not found["under"]):
        return None
    number = value(found["number"])
    if found["under"]:
        if not value(found["under"]):
            return None
        number = int(found["whole"] or 0) + number / value(found["under"])
    unit = unit_named(found["unit"] or "")
    if unit is None or (unit and found["money"] and unit != found["money"]):
        return None
    scale = SCALES[found["scale"].strip()] if found["scale"] else 1
    return Quantity(number * scale * (-1 if "-" in found["sign"] + found["inner"] else 1), unit or found["money"])


def value(digits: str) -> Fraction:
    """The number that a match of :data:`NUMBER` is, its thousands' commas left out."""
    return Fraction(digits.replace(",", ""))


def unit_named(text: str) -> str | None:
    """The unit's usual name; None: it is no unit that is known."""
    words = re.sub(r"(?i)met(re)(s?)$", r"meter\2", text.strip().rstrip("."))
    words = re.sub(r"(?i)lit(re)(s?)$", r"liter\2", words)
    power = ""
    if (found := re.fullmatch(r"(.+?) ?\^ ?\{? ?([23]) ?\}?", words)) is not None:
        words, power = found[1], "^" + found[2]
    elif (found := re.fullmatch(r"(?i:(sq|square|cu|cubic))\.? (.+)", words)) is not None:
        words, power = found[2], "^2" if found[1][0] in "sS" else "^3"
    if not words:
        return ""
    known = _UNITS.get(words) or _UNITS.get(words.replace("° ", "°")) or _UNITS.get(words.lower())
    return known + power if known else None
