"""Differences of two values, and what of them can be told: for the sentences that papers and runs are told in."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metrics


def difference(a: Interval, b: Interval) -> Interval:
    """``a`` minus ``b`` with a 95 % interval made of theirs, as for independent samples (Newcombe 1998, method 10).

    >>> found = difference(Interval(0.6, 0.5, 0.7, 9), Interval(0.2, 0.1, 0.5, 8))
    >>> f"{found.low:.3f} = 0.4 - hypot(0.1, 0.3), {found.high:.3f} = 0.4 + hypot(0.1, 0.1)"
    '0.084 = 0.4 - hypot(0.1, 0.3), 0.541 = 0.4 + hypot(0.1, 0.1)'
    """
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    return Interval(value, low, value + math.hypot(a.high - a.value, b.value - b.low), min(a.n, b.n))


def sign(difference: Interval) -> int:
    """1 or -1 if the whole interval lies on that side of 0; else 0: nothing can be told."""
    return int(difference.low > 0) - int(difference.high < 0)


def moved(before: Interval, after: Interval) -> int:
    """The sign of a change."""
    return sign(difference(after, before))


def of(stages: Mapping[str, Metrics], *places: str) -> list[Interval] | None:
    """The values at ``STAGE/METRIC``; None if one of them was not measured."""
    found = [stages.get(stage, {}).get(metric) for stage, _, metric in (place.partition("/") for place in places)]
    values = [value for value in found if value is not None]
    return values if len(values) == len(places) else None
