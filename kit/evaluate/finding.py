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
    against = _sign(gain) if gain is not None else _apart(agent, direct)
    start = found.get(UNTRAINED) or found.get(SFT)
    return f"{asked}; {acts}{since}. {_taught(against, None if start is None else _apart(agent, start))}"


def _taught(against_direct: int, since_start: int | None) -> str:
    """What training taught, given the signs of the agent's lead over the base asked directly, and over its start."""
    if against_direct > 0:
        return "So training taught it what the base can't do when it is asked directly."
    more = "is no better than" if against_direct == 0 else "does worse than"
    if since_start is None:
        return f"The agent {more} the base asked directly; where it started from was not measured."
    if since_start <= 0:
        return f"The agent {more} the base asked directly, and no gain by training can be told from chance."
    if against_direct == 0:
        return "So what training taught is to act: its answers are no better than those the base gives at once."
    return "So what training taught is to act, and acting doesn't pay yet: the base answers better at once."


def _value(found: Interval) -> str:
    known = math.isfinite(found.high - found.low)
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]" if known else f"{found.value:.2f}"


def _sign(difference: Interval) -> int:
    """1 or -1 if the whole interval lies on that side of 0, else 0: nothing can be told."""
    return int(difference.low > 0) - int(difference.high < 0)


def _apart(a: Interval, b: Interval) -> int:
    """1 if ``a`` lies above ``b``, -1 if below, 0 if their intervals overlap."""
    return int(a.low > b.high) - int(a.high < b.low)
