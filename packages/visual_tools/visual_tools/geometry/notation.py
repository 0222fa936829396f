"""Arithmetic as it is written in books, charts and LaTeX, cut into pieces that a parser reads: ``3² + 2√3``, ``1,200``.

Every sign counts: one that isn't known ends the reading with an error that names it. A number is read whole or not at
all, so ``1,5`` is no number here, and ``1,200`` is twelve hundred.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

FUNCTIONS = ("sqrt", "cbrt", "abs", "sin", "cos", "tan", "ln", "pi")
"""Names that aren't variables."""

_LENGTHS = (
    "mm millimeter millimeters millimetre millimetres", "cm centimeter centimeters centimetre centimetres", "dm",
    "km kilometer kilometers kilometre kilometres", "meter meters metre metres", "in inch inches", "ft foot feet",
    "yd yard yards", "mi mile miles", "unit units",
)  # fmt: skip
_OTHERS = (
    "kg kilogram kilograms", "mg", "gram grams", "lb lbs pound pounds", "oz", "ml mL", "liter liters litre litres",
    "dollar dollars $", "cent cents", "hour hours", "minute minutes min", "second seconds", "day days",
)  # fmt: skip
LENGTHS = {name: names.split()[0] for names in _LENGTHS for name in names.split()}
UNITS = LENGTHS | {name: names.split()[0] for names in _OTHERS for name in names.split()}
"""Units that may follow a number → the first of their names; one of a single letter is a variable."""

_NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d+(?![\w.]))?|\.\d+(?:[eE][-+]?\d+(?![\w.]))?"
)
_RUN = re.compile(r"[\d.,'’_]*[\d'’_]")
_MIXED = re.compile(r"(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d.,])")
_WORD = re.compile(r"[A-Za-z]+")
_LATEX = {
    r"\times": "*", r"\cdot": "*", r"\div": "/", r"\pi": "pi", r"\sqrt": "sqrt", r"\frac": "frac", r"\dfrac": "frac",
    r"\tfrac": "frac", r"\sin": "sin", r"\cos": "cos", r"\tan": "tan", r"\ln": "ln", r"\left": "", r"\right": "",
    r"\quad": "", r"\%": "%", r"\$": "$", r"\,": "", r"\;": "", r"\!": "", r"\:": "", r"\ ": "", r"\(": "", r"\)": "",
    r"\[": "", r"\]": "",
}  # fmt: skip
_SIGNS = {
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "√": "sqrt",
    "∛": "cbrt", "π": "pi", "{": "(", "}": ")", "[": "(", "]": ")", "º": "°", "˚": "°",
}  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PARTS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
          "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}  # fmt: skip


@dataclass(frozen=True)
class Pieces:
    """Pieces of a text.

    Attributes:
        tokens: numbers without separators, letters, names of functions, signs of ASCII and ``°``.
        units: that stood behind numbers; they aren't among the tokens.
    """

    tokens: tuple[str, ...]
    units: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All tokens in a row, as the formal languages write them: ``2*sqrt(3)``, ``2x+3``."""
        made = ""
        for token, before in zip(self.tokens, ("", *self.tokens), strict=False):
            made += f"*{token}" if before[-1:].isdigit() and token in FUNCTIONS else token
        made = re.sub(r"\b(sqrt|cbrt)(\d+(?:\.\d+)?|[a-z])(?![\w.])", r"\1(\2)", made)
        # Brackets around a single number or letter are LaTeX's braces.
        single = r"(^|[-+*/^(])\((\d+(?:\.\d+)?|[a-z])\)(?=$|[-+*/^)])"
        while (plainer := re.sub(single, r"\1\2", made)) != made:
            made = plainer
        whole = re.fullmatch(r"\(([^()]*|(?:[^()]*\([^()]*\)[^()]*)+)\)", made)
        return whole[1] if whole else made


def pieces(text: str) -> Pieces:
    """Cut a text into pieces.

    Raises:
        ValueError: something in it is no part of arithmetic; names it.
    """
    tokens: list[str] = []
    units: list[str] = []
    text, at = latex_words(text), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] in "0123456789" or (text[at] == "." and text[at + 1 : at + 2].isdigit()):
            at = _number(text, at, tokens)
        elif found := _WORD.match(text, at):
            at = _word(found, text, tokens, units)
        else:
            at = _sign(text, at, tokens, units)
    return Pieces(tuple(_fractions(tokens, text)), tuple(units))


def latex_words(text: str) -> str:
    """A text whose LaTeX words are plain: ``5 cm`` of ``5~\\text{cm}``."""
    text = re.sub(r"~(?=\s*\\)", " ", text)
    return re.sub(r"\\(?:text|mathrm|rm)\s*\{([^{}]*)\}", lambda found: f" {found[1].replace('~', ' ')} ", text)


def _fractions(tokens: list[str], text: str) -> list[str]:
    """LaTeX's ``frac (a) (b)`` as ``((a)/(b))``, the inner ones first."""
    while "frac" in tokens:
        at = len(tokens) - 1 - tokens[::-1].index("frac")
        middle = _closed(tokens, at + 1, text)
        end = _closed(tokens, middle, text)
        tokens = [*tokens[:at], "(", *tokens[at + 1 : middle], "/", *tokens[middle:end], ")", *tokens[end:]]
    return tokens


def _closed(tokens: list[str], at: int, text: str) -> int:
    """The place after the bracket that opens here is closed."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end] == "(") - (tokens[end] == ")")
        if depth == 0:
            break
    else:
        raise _no("\\frac", text, "write it like \\frac{1}{2}")
    if tokens[at] != "(":
        raise _no("\\frac", text, "write it like \\frac{1}{2}")
    return end + 1


def _no(what: str, text: str, advice: str = "write it like 2x+3") -> ValueError:
    return ValueError(f"{what!r} isn't understood in {text.strip()[:60]!r}: no arithmetic; {advice}")


def _number(text: str, at: int, tokens: list[str]) -> int:
    if mixed := _MIXED.match(text, at):
        whole, part, parts = mixed.groups()
        if int(part) < int(parts):
            tokens += ["(", whole, "+", part, "/", parts, ")"]
            return mixed.end()
    found, run = _NUMBER.match(text, at), _RUN.match(text, at)
    if found is None or run is None or run.end() > found.end() or re.match(r"0\d*,", found[0]):
        raise _no(run[0] if run else text[at], text, "write numbers like 1,200 or 1.5")
    token = found[0].replace(",", "")
    _, _, power = token.lower().partition("e")
    if abs(int(power or 0)) > 300:
        raise _no(found[0], text, "write a power of ten of 300 at most")
    token = f"{Decimal(token):f}" if power else token
    tokens.append(f"0{token}" if token.startswith(".") else token)
    after = text[found.end() :].lstrip()
    if after[:1] in _PARTS and after and "." not in token:
        tokens[-1:] = ["(", token, "+", *re.split("(/)", _PARTS[after[0]]), ")"]
        return len(text) - len(after) + 1
    return found.end()


def _word(found: re.Match[str], text: str, tokens: list[str], units: list[str]) -> int:
    word, at = found[0], found.end()
    # Behind "in" comes a sign or the end; "5 in 3" says something else.
    measured = tokens and (tokens[-1][-1].isdigit() or tokens[-1] == ")")
    if word in UNITS and measured and (word != "in" or not re.match(r"\s*[\w(]", text[at:])):
        units.append(UNITS[word])
        return at + len(_match(r"\s*(?:[²³]|\^\s*\{?\s*[23]\s*\}?)(?!\d)", text[at:]))
    if len(word) == 1 or word in FUNCTIONS or word == "of":
        tokens.append(word)
        return at
    raise _no(
        word, text, f"write {'*'.join(word)} for a product of variables" if len(word) == 2 else "write it like 2x+3"
    )


def _match(pattern: str, text: str) -> str:
    found = re.match(pattern, text)
    return found[0] if found else ""


def _sign(text: str, at: int, tokens: list[str], units: list[str]) -> int:
    sign = text[at]
    if degrees := _match(r"\^\s*(?:\\circ|\{\s*\\circ\s*\})|\\degree\b|\\circ\b", text[at:]):
        tokens.append("°")
        return at + len(degrees)
    if sign == "\\":
        command = _match(r"\\(?:[A-Za-z]+|.)?", text[at:])
        if command not in _LATEX:
            raise _no(command, text)
        if _LATEX[command] == "sqrt" and (index := re.match(r"\s*\[\s*3\s*\]", text[at + len(command) :])):
            tokens.append("cbrt")
            return at + len(command) + index.end()
        if _LATEX[command] == "sqrt" and re.match(r"\s*\[", text[at + len(command) :]):
            raise _no(text[at : at + len(command) + 3], text, "write roots as sqrt(2) or powers")
        tokens += [_LATEX[command]] if _LATEX[command] not in ("", "$") else []
        return at + len(command)
    if raised := _match(r"⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+", text[at:]):
        tokens += ["^", "(", *re.findall(r"-|\d+", raised.translate(_RAISED)), ")"]
        return at + len(raised)
    if sign in _PARTS:
        tokens += ["(", *re.split("(/)", _PARTS[sign]), ")"]
        return at + 1
    if text.startswith("**", at):
        tokens.append("^")
        return at + 2
    if sign in "$€£¥":
        if _match(r".\s*-?\s*[.\d]", text[at:]):
            units.append(UNITS.get(sign, sign))
        elif sign != "$":
            raise _no(sign, text)
        return at + 1
    made = _SIGNS.get(sign, sign)
    if made not in ("sqrt", "cbrt", "pi") and (made not in "+-*/^()|%°"):
        greek = "α" <= sign <= "ω"
        if not greek:
            raise _no(sign, text)
    tokens.append(made)
    return at + 1


_GEOMETRY = {
    "△": "triangle ",
    "∠": " angle ",
    "⊥": " perpendicular to ",
    "∥": " parallel to ",
    "||": " parallel to ",
    "⊙": "circle ",
    "▱": "parallelogram ",
}


def plain(text: str) -> str:
    """A text with its signs in words and its formulas' dollars taken off: ``∠ABC = 60°`` as ``angle ABC = 60°``."""
    for sign, words in _GEOMETRY.items():
        text = text.replace(sign, words)
    text = re.sub(r"\b(Angle|Circle|Triangle)\b", lambda found: found[0].lower(), text)
    text = latex_words(text)
    text = re.sub(r"\\(?:angle|triangle|odot)\b", lambda found: {"\\odot": "circle"}.get(found[0], found[0][1:]), text)
    text = re.sub(r"\\perp\b", " perpendicular to ", re.sub(r"\\parallel\b", " parallel to ", text))
    text = re.sub(r"\^\s*(?:\\circ\b|\{\s*\\circ\s*\})|[º˚]", "°", text)
    text = re.sub(r"\\overline\s*|\\[()\[\]]|\$", "", text)
    text = re.sub(r"\{\s*([A-Z]{1,4})\s*\}", r" \1", text)
    return re.sub(r"\s+", " ", re.sub(r"\bm\s*(?=angle\b)", " ", text)).strip()
