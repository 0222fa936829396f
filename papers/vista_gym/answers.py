r"""Rules by which answers are right: each data set's own, as gold answers that say how far off a number may be.

The released code allows an error where a value is read off a chart or computed from a figure:

===================  ==================================================
set                  right is
===================  ==================================================
ChartQA              within 0.1 of the gold number, or within 5 % of it
Geometry3K, angle    within 0.5 degrees
Geometry3K, other    within 0.1 %
a share of an image  within half a per cent of the whole (ours: for drawn maps)
all others           the same number, word, option or formula
===================  ==================================================

Worked example: ChartQA's 1.5 may be 1.6 (0.1 off) and not 1.61; its 40 may be 42 (5 %) and not 42.1. Of Geometry3K's
``2 \sqrt { 221 }`` the number is taken: 29.73 is right.

Departures
- [vista-chart-years] Paper: an error of 5 % is allowed in numbers of ChartQA; of years nothing is said. Here: in years
  as well. Why: it is the common rule, which everybody's figures are measured by. May change: a year that is up to 100
  off counts as right, wherever one is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kit.rewards.answers import is_right as is_right
from kit.rewards.answers import number

OFF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"chart": ("0.1", "5 %"), "angle": ("0.5",), "length": ("0.1 %",), "share": ("0.5",), "exact": ()}
)
"""Rule → how far off a number may be; it is enough to keep to one of them."""


def golds(answers: Sequence[str], rule: str) -> tuple[str, ...]:
    """Gold answers that say what a rule allows: ``40`` by the rule ``angle`` is ``40`` or ``40 ± 0.5``.

    Raises:
        ValueError: there is no such rule.
    """
    if rule not in OFF:
        raise ValueError(f"rule {rule!r} for answers: choose one of {', '.join(OFF)}")
    near = (f"{gold} ± {off}" for gold in answers if number(gold) is not None for off in OFF[rule])
    return (*answers, *near)
