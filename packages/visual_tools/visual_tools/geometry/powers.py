"""Powers of powers, refused where a solver would multiply them out for ever."""

from __future__ import annotations

from typing import Any

LARGEST_DEGREE, MOST_BITS = 30, 1000
"""Degree of an expression whose powers are multiplied out; bits of a whole number: of 1,024 a float is infinite."""


def bounded_power(base: Any, exponent: Any, text: str) -> Any:
    """Raise an expression to a power, if what comes out stays small when it is multiplied out.

    The degree of ``((x+1)^10)^10`` is 100.

    Args:
        base: any expression of sympy.
        exponent: a number.
        text: what was read, for the message.

    Raises:
        ValueError: it grows too large.
    """
    if base.free_symbols and _degree(base) * _times(exponent) > LARGEST_DEGREE:
        raise ValueError(f"{text[:60]!r}: its powers come to a degree above {LARGEST_DEGREE}; write it in lower ones")
    if base.is_Rational and max(abs(base.p), base.q).bit_length() * abs(exponent) > MOST_BITS:
        raise ValueError(f"{text[:60]!r}: a power has more than {MOST_BITS // 10 * 3} digits; ask for a lower one")
    return base**exponent


def _degree(of: Any) -> Any:
    """The degree of an expression if it were multiplied out; that of a denominator counts as well."""
    if of.is_Pow and of.exp.is_number:
        return _degree(of.base) * _times(of.exp)
    if of.is_Mul:
        return sum(map(_degree, of.args))
    return max(map(_degree, of.args)) if of.args else int(of.is_Symbol)


def _times(exponent: Any) -> Any:
    """What a power multiplies a degree by; a root counts as well: x^2.54 is solved by way of a degree of 127."""
    return max(abs(exponent.p), exponent.q) if exponent.is_Rational else abs(exponent)
