"""Arithmetic with variables, read into sympy: all of a text, or an error that names what isn't understood.

What may be meant in two ways is refused: ``100 + 10%`` (of what?), ``sin 30`` (degrees or radians?).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from visual_tools.geometry.notation import FUNCTIONS, pieces
from visual_tools.geometry.powers import bounded_power

LONGEST, LONGEST_NUMBERS = 60, 400
"""Characters of an expression at most: with variables, and of numbers alone."""


def expression(text: str) -> Any:
    """Read arithmetic with variables: ``2x+3``, ``5``, ``2√3``, ``3/4 of 20``.

    Raises:
        ValueError: it is longer than 60 characters (400 without variables), or something in it isn't understood.
    """
    if len(text) > LONGEST_NUMBERS:
        raise ValueError(f"{text[:60]!r} … is no arithmetic of {LONGEST_NUMBERS} characters at most; write less")
    made = parsed(pieces(text).tokens, text)
    if len(text) > LONGEST and made.free_symbols:
        raise ValueError(f"{text[:60]!r} … has variables in more than {LONGEST} characters; write it shorter")
    return made


def parsed(tokens: Sequence[str], text: str) -> Any:
    """Parse pieces of arithmetic.

    Args:
        tokens: from :func:`visual_tools.geometry.notation.pieces`.
        text: that they come from, for messages.

    Raises:
        ValueError: something stands where it can't; names it.
    """
    return _Parser(tokens, text).all()


def compact(value: str) -> str:
    """A value as the formal languages write it: ``2*sqrt(3)`` of ``2√3``, ``1200`` of ``1,200``.

    Raises:
        ValueError: it is no arithmetic, or has a single m behind a number, which may be a unit.
    """
    if metres := re.search(r"\d\s+m(?![a-z])", value):
        raise ValueError(f"{metres[0]!r}: meters, or a variable? Write 5 meters, or 5m for the variable")
    read = pieces(value)
    parsed(read.tokens, value)
    return read.text


def exact(value: Any, text: str) -> Fraction | float:
    """The number that an expression is: a fraction if it is one, so that no digit is lost, else a float.

    Raises:
        ValueError: it is no real number.
    """
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    if not value.is_real or not value.is_finite:
        raise ValueError(f"{text[:60]!r} comes to {str(value)[:60]}, which is no number")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{text[:60]!r} comes to a number beyond 1e308; ask for a smaller one") from error


class _Parser:
    """Reads tokens from left to right, as far as they go."""

    def __init__(self, tokens: Sequence[str], text: str) -> None:
        self.tokens, self.text, self.at = tokens, text, 0

    def wrong(self, why: str) -> ValueError:
        return ValueError(f"{self.text.strip()[:60]!r}: {why}; write it like 2x+3")

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        """The next token if it is one of these, else nothing."""
        if self.next and self.next in wanted:
            self.at += 1
            return self.tokens[self.at - 1]
        return ""

    def all(self) -> Any:
        made = self.total()
        if self.next:
            raise self.wrong(f"{self.next!r} follows its end")
        return made

    def total(self) -> Any:
        start = self.at
        made, terms = self.product(), [self.tokens[start : self.at]]
        while sign := self.take("+", "-"):
            start = self.at
            made = made + self.product() if sign == "+" else made - self.product()
            terms.append(self.tokens[start : self.at])
        per_cent = next((term for term in terms if term[-1:] == ("%",) and not {"*", "of", "/"} & set(term)), None)
        if len(terms) > 1 and per_cent:
            raise self.wrong(f"{''.join(per_cent)!r} of what? Say 10% of 200")
        return made

    def product(self) -> Any:
        start = self.at
        made = self.signed()
        while True:
            if self.take("*"):
                made = made * self.signed()
            elif self.take("/"):
                divisor = self.signed()
                if divisor == 0:
                    raise self.wrong("it divides by 0")
                made = made / divisor
            elif self.next == "of":
                # 3/4 of 20 and 20% of 50 are products; "3 of 20" says how many of how many.
                if not {"/", "%"} & set(self.tokens[start : self.at]):
                    raise self.wrong("'of' follows something that is neither a fraction nor per cent")
                self.at += 1
                made = made * self.signed()
            elif self.implied():
                made = made * self.power()
            else:
                return made

    def implied(self) -> bool:
        """Tell whether a product without a sign goes on: ``2x``, ``2(x+1)``, ``(x+1)(x-1)``, ``2√3``."""
        last, then = self.tokens[self.at - 1], self.next
        if not then or last == "%" or then[0] in "0123456789.+-*/^)|%°":
            return False
        if then in FUNCTIONS:
            return True
        if last[0].isdigit() or last in (")", "pi"):
            return then == "(" or (len(then) == 1 and then.isalpha())
        if last.isalpha() and then == "(" and (last in "fgh" or last.isupper()):
            raise self.wrong(f"'{last}(' is a function's name, or a product? Write {last}*( for a product")
        return then == "(" and last not in ("°",)

    def signed(self) -> Any:
        if self.take("-"):
            return -self.signed()
        if self.take("+"):
            return self.signed()
        return self.power()

    def power(self) -> Any:
        made = self.single()
        while mark := self.take("%", "°"):
            made = made / 100 if mark == "%" else made
        if not self.take("^"):
            return made
        exponent = self.signed()
        most = 300 if made.is_Rational and exponent.is_Integer else 10
        if not exponent.is_number or not exponent.is_real or abs(exponent) > most:
            raise self.wrong(f"an exponent is a number, {most} at most")
        if made == 0 and exponent <= 0:
            raise self.wrong("0 has no such power")
        return bounded_power(made, exponent, self.text)

    def single(self) -> Any:
        token, self.at = self.next, self.at + 1
        if not token:
            raise self.wrong("it ends too early")
        if token in ("(", "|"):
            inner, close = self.total(), ")" if token == "(" else "|"
            if not self.take(close):
                raise self.wrong("a bracket isn't closed" if token == "(" else "a '|' isn't closed")
            return self.absolute(inner) if token == "|" else inner
        if token[0].isdigit():
            return sp.Rational(token)
        if token in FUNCTIONS:
            return sp.pi if token == "pi" else self.function(token)
        if token.isalpha() and token != "of":
            return sp.Symbol(token)
        raise self.wrong(f"{token!r} stands where a number should be")

    def absolute(self, inner: Any) -> Any:
        if inner.free_symbols:
            raise self.wrong("'|…|' or abs of a variable isn't solved")
        return sp.Abs(inner)

    def function(self, name: str) -> Any:
        start = self.at
        inner = self.single()
        if name in ("sin", "cos", "tan"):
            self.take("°")
        told = self.tokens[start : self.at]
        if name in ("sqrt", "cbrt"):
            return sp.sqrt(inner) if name == "sqrt" else sp.real_root(inner, 3) if inner.is_number else sp.cbrt(inner)
        if name == "abs":
            return self.absolute(inner)
        if inner.free_symbols:
            raise self.wrong(f"{name!r} of a variable isn't solved")
        if name == "ln":
            if not inner.is_positive:
                raise self.wrong("'ln' wants a number above 0")
            return sp.log(inner)
        if "°" not in told and "pi" not in told and inner != 0:
            raise self.wrong(f"{name!r} of degrees or radians? Write {name}(30°) or a multiple of pi")
        return getattr(sp, name)(inner * sp.pi / 180 if "°" in told else inner)
