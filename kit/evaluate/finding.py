"""A run's finding in words: the base asked directly, the trained agent, and what training therefore taught."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Metrics

DIRECT, UNTRAINED, SFT, GRPO = "direct", "untrained", "sft", "grpo"

GAIN = "gain_over_direct"
"""Metric of the stage ``grpo``: the agent minus the base asked directly, on the same tasks."""


def finding(stages: Mapping[str, Metrics], metric: str, called: str) -> str:
    """Say what came out, in sentences; what was not measured is said, too.

    Args:
        stages: stage → metrics. ``direct`` is the base asked without acting, ``untrained`` the base as an agent,
            ``sft`` and ``grpo`` the agent after each training.
        metric: name of the metric that is told, the larger the better.
        called: its name for readers.
    """
    found = {stage: metrics[metric] for stage, metrics in stages.items() if metric in metrics}
    direct, agent = found.get(DIRECT), found.get(GRPO)
    before = found.get(SFT) or found.get(UNTRAINED)
    if direct is None and agent is None and before is None:
        return "Nothing has been measured in this run yet."
    asked = "What the base does when it is asked directly was not measured"
    asked = asked if direct is None else f"Asked directly, the base reaches {_value(direct)} ({called})"
    acts = "no agent was measured after reinforcement learning"
    if agent is not None:
        acts = f"the trained agent reaches {_value(agent)}{f' ({called})' if direct is None else ''}"
    since = f", from {_value(before)} before reinforcement learning" if before is not None and agent is not None else ""
    if direct is None or agent is None:
        return f"{asked}; {acts}{since}. So what training taught can't be told yet."
    gain = stages[GRPO].get(GAIN)
    against = _sign(gain if gain is not None else difference(agent, direct))
    start = found.get(UNTRAINED) or found.get(SFT)
    rise = None if start is None else _sign(difference(agent, start))
    return f"{asked}; {acts}{since}. {_taught(against, rise)}"


def difference(a: Interval, b: Interval) -> Interval:
    """``a`` minus ``b`` with a 95 % interval made of theirs, as for independent samples (Newcombe 1998, method 10).

    >>> found = difference(Interval(0.6, 0.5, 0.7, 9), Interval(0.2, 0.1, 0.5, 8))
    >>> f"{found.low:.3f} = 0.4 - hypot(0.1, 0.3), {found.high:.3f} = 0.4 + hypot(0.1, 0.1)"
    '0.084 = 0.4 - hypot(0.1, 0.3), 0.541 = 0.4 + hypot(0.1, 0.1)'
    """
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    return Interval(value, low, value + math.hypot(a.high - a.value, b.value - b.low), min(a.n, b.n))


def _taught(against_direct: int, since_start: int | None) -> str:
    """What training taught, given the signs of the agent's lead over the base asked directly, and over its start."""
    if against_direct > 0:
        return "So training taught it what the base can't do when it is asked directly."
    if since_start is None:
        return "The agent's start was not measured, so what training taught can't be told."
    if since_start <= 0:
        return "That the agent gained anything by training can't be told from chance."
    if against_direct == 0:
        return "So what training taught is to act; that it answers better than the base does at once can't be told."
    return "So what training taught is to act, and acting doesn't pay yet: the base answers better at once."


def _value(found: Interval) -> str:
    known = math.isfinite(found.high - found.low)
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]" if known else f"{found.value:.2f}"


def _sign(difference: Interval) -> int:
    """1 or -1 if the whole interval lies on that side of 0; else 0: nothing can be told."""
    return int(difference.low > 0) - int(difference.high < 0)
