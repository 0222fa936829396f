"""A run's finding in words: the base asked directly, the trained agent, and what training therefore taught."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Evaluation, Metrics
from papers.differences import difference, sign
from papers.registry import find_paper

DIRECT, ORIGINALS, UNTRAINED, SFT, GRPO = "direct", "direct_originals", "untrained", "sft", "grpo"

TITLES = {
    DIRECT: "the base, asked directly",
    ORIGINALS: "the base, asked directly and shown the full images",
    UNTRAINED: "the agent before any training",
    SFT: "the agent after imitation, its cold start",
    GRPO: "the agent after reinforcement learning",
}
"""Stages in words; others go by their names."""

DECIDED = "decided-sft"
"""Cold start of demonstrations in which the expert always does what is best (:mod:`papers.starts`)."""

GAIN, ADDED, GAP = "gain_over_direct", "gain_over_sft", "observation_gap_swapped"
"""Metrics of the stage ``grpo``, on the same tasks: the agent minus the base asked directly; minus the agent after the
cold start; with its own observations minus with another episode's."""

NOTHING = "added nothing that can be told from chance"

DID = {
    (1, 1): "Both trainings added to it: imitation, and reinforcement after it.",
    (1, 0): f"Imitation did it; reinforcement {NOTHING}.",
    (1, -1): "Imitation did it; reinforcement took some of that away: it was better after the cold start.",
    (0, 1): f"Reinforcement did it; imitation alone {NOTHING}.",
    (0, 0): "That either training added anything by itself can't be told from chance.",
    (0, -1): f"Imitation {NOTHING}; reinforcement made it worse than after the cold start.",
    (-1, 1): "Reinforcement did it; imitation alone had made it worse.",
    (-1, 0): f"Imitation made it worse; reinforcement {NOTHING}.",
    (-1, -1): "Imitation made it worse, and reinforcement worse still.",
    (None, 1): "Reinforcement raised it from where it began.",
    (None, 0): f"Reinforcement {NOTHING}.",
    (None, -1): "Reinforcement made it worse than where it began.",
    (1, None): "Imitation did it.",
    (0, None): f"Imitation {NOTHING}.",
    (-1, None): "Imitation made it worse.",
    (None, None): "",
}
"""Signs of what imitation and what reinforcement added (None: not measured) → who did it."""

FORM = "Imitation taught it the form of an agent; "
NO_BETTER = {
    0: f"{FORM}whether it then answers better or worse than the base asked directly can't be told.",
    -1: f"{FORM}it then answers worse than the base asked directly.",
}
"""Sign of the agent after the cold start minus the base asked directly → what imitation did, where it did something."""

SINCE = {
    1: "Reinforcement added to it.",
    0: f"Reinforcement {NOTHING}.",
    -1: "Reinforcement took some of it away.",
    None: "",
}
"""Sign of what reinforcement added to such an agent → what it did."""

ONE_TRAINING = "This is one training: another seed may end elsewhere."

BARS = {"base, asked directly": (DIRECT,), "agent before RL": (SFT, UNTRAINED), "agent after RL": (GRPO,)}
"""Label of a bar → the stages that it may stand for; the first that was measured counts."""


def three_bars(stages: Mapping[str, Metrics], metric: str) -> dict[str, Interval | None]:
    """The three values that tell a run: label → value; None if it was not measured.

    Args:
        stages: stage → metrics.
        metric: name of the metric that is told.
    """
    return {
        label: next((stages[stage][metric] for stage in names if metric in stages.get(stage, {})), None)
        for label, names in BARS.items()
    }


def alongside(measured: Metrics, name: str, metric: str) -> Interval | None:
    """A metric of the five questions on the tasks that another one is about, such as ``GAP`` beside ``acc_hard``.

    Args:
        measured: of a stage.
        name: :data:`GAIN` or :data:`GAP`, say; where it has no value for those tasks, that of all tasks counts.
        metric: whose tasks are meant, by what stands behind its first ``_``.
    """
    return measured.get(f"{name}_{metric.partition('_')[2]}", measured.get(name))


def finding(stages: Mapping[str, Metrics], metric: str, called: str, trainings: int = 1) -> str:
    """Say what came out, in sentences; what was not measured is said, too.

    Args:
        stages: stage → metrics. ``direct`` is the base asked without acting, ``direct_originals`` the same with the
            full images, ``untrained`` the base as an agent, ``sft`` and ``grpo`` the agent after each training,
            ``decided-sft`` what imitation alone reaches.
        metric: name of the metric that is told, the larger the better.
        called: its name for readers.
        trainings: how many seeds the figures are of. Of one it is said: its intervals cover other tasks, not seeds.
    """
    direct, before, agent = three_bars(stages, metric).values()
    if direct is None and agent is None and before is None:
        return "Nothing has been measured in this run yet."
    told = [_asked(direct, _ceiling(stages, metric), called), _acts(stages, metric, called)]
    against = _against_direct(stages, metric)
    told.append(_alone(stages, metric))
    told.append("So what training taught can't be told yet." if against is None else _taught(*against))
    if agent is not None:
        told.append(_credit(stages, metric, agent))
        told += [ONE_TRAINING] if trainings == 1 else []
    return " ".join(text for text in told if text)


def in_words(stages: Mapping[str, Metrics], metric: str) -> str:
    """Say what wasn't gained and who did it: :func:`finding` for a page whose table has the figures, the gap too."""
    agent, against = three_bars(stages, metric)["agent after RL"], _against_direct(stages, metric)
    if agent is None:
        return "No agent was measured after reinforcement learning."
    credit = _credit(stages, metric, agent).removesuffix(f" {LOOKS}")
    told = [_taught(*against) if against and against[0] <= 0 else "", credit, _alone(stages, metric)]
    if full := _ceiling(stages, metric):
        no_better = (
            ""
            if sign(difference(agent, full)) > 0
            else "; the agent isn't above that, so nothing shows that it sees better than it did"
        )
        told.append(f"Asked directly with the full images in front of it, the base reaches {_value(full)}{no_better}.")
    return " ".join(text for text in told if text)


def _alone(stages: Mapping[str, Metrics], metric: str) -> str:
    """What imitation alone reaches from a start that was left nothing to find out; empty: not measured."""
    alone = stages.get(DECIDED, {}).get(metric)
    if alone is None:
        return ""
    expert = "The cold start's expert doesn't always do what is best, on purpose"
    return f"{expert}; imitating one that does reaches {_value(alone)} by itself."


def _against_direct(stages: Mapping[str, Metrics], metric: str) -> tuple[int, int | None] | None:
    """Signs of the agent's lead over the base asked directly, and over its start; None: not measured."""
    direct, before, agent = three_bars(stages, metric).values()
    if direct is None or agent is None:
        return None
    start = stages.get(UNTRAINED, {}).get(metric) or before
    return _paired(stages, GAIN, metric, agent, direct), None if start is None else sign(difference(agent, start))


def in_short(stages: Mapping[str, Metrics], metric: str, how: str) -> str:
    """Say in one sentence what came out, and why as far as that can be told; empty: one of the two wasn't measured.

    Args:
        stages: as in :func:`finding`.
        metric: name of the share that is told.
        how: how the agent was trained, such as ``7 minutes of training``.
    """
    direct, _, agent = three_bars(stages, metric).values()
    if direct is None or agent is None:
        return ""
    better = _paired(stages, GAIN, metric, agent, direct) > 0
    gap = alongside(stages[GRPO], GAP, metric)
    because = ", because it has learnt to look" if better and gap is not None and sign(gap) > 0 else ""
    full = _ceiling(stages, metric)
    shown = f" ({full.value:.2f} with full images)" if full else ""
    told = f"Asked directly, the tiny model gets {direct.value:.2f} of such tasks right{shown}"
    return f"{told}; after {how} {agent.value:.2f}{because}."


def _credit(stages: Mapping[str, Metrics], metric: str, agent: Interval) -> str:
    """Who did it, by what each training added and by what the agent loses with observations that aren't its own."""
    base, cold, direct = (stages.get(stage, {}).get(metric) for stage in (UNTRAINED, SFT, DIRECT))
    # These two aren't paired, and of a share near 0 over few seeds the difference's interval is too narrow.
    imitation = _apart(cold, base) if cold is not None and base is not None else None
    start = cold if cold is not None else base
    reinforcement = None if start is None else _paired(stages, ADDED if cold else "", metric, agent, start)
    gap = alongside(stages[GRPO], GAP, metric)
    over = sign(difference(cold, direct)) if cold is not None and direct is not None else None
    return who_did_it(imitation, reinforcement, None if gap is None else sign(gap), over)


def _apart(one: Interval, other: Interval) -> int:
    """Sign of the difference of two values whose intervals don't overlap, else 0."""
    return int(one.low > other.high) - int(one.high < other.low)


def who_did_it(imitation: int | None, reinforcement: int | None, looking: int | None, over: int | None = None) -> str:
    """Say which training did it, and whether it did it by teaching the agent to look.

    Args:
        imitation: sign of the agent after the cold start minus the untrained one; 0: nothing can be told from chance;
            None: not measured.
        reinforcement: sign of what reinforcement added to that, or to the untrained agent where there is no cold start.
        looking: sign of the agent with its own observations minus with another episode's.
        over: sign of the agent after the cold start minus the base asked directly.
    """
    form = NO_BETTER.get(over) if imitation == 1 and over is not None else None
    told = [form, SINCE[reinforcement]] if form else [DID[imitation, reinforcement]]
    if 1 in (imitation, reinforcement) and looking is not None:
        told.append(LOOKS if looking > 0 else UNSEEN[looking])
    return " ".join(text for text in told if text)


LOOKS = "It has learnt to look: it answers by what it is shown."
UNSEEN = {
    0: "That it answers by what it is shown can't be told from chance.",
    -1: "It does better with another episode's observations: it has not learnt to look.",
}
"""What is said of an agent that doesn't lose by observations that aren't its own."""


def _paired(stages: Mapping[str, Metrics], name: str, metric: str, agent: Interval, other: Interval) -> int:
    """The sign of a lead: as measured on the same tasks where that has an interval, else of the two values."""
    paired = alongside(stages[GRPO], name, metric) if name else None
    return sign(paired if paired is not None and _is_known(paired) else difference(agent, other))


def own_finding(evaluation: Evaluation[Any] | None, stages: Mapping[str, Metrics]) -> str:
    """The sentence that a paper's own question is answered by; empty where it has none, or was not measured.

    Args:
        evaluation: of the paper; None: of a notebook that belongs to none.
        stages: stage → metrics.
    """
    return find_paper(evaluation.paper).tell(stages) if evaluation else ""


def _ceiling(stages: Mapping[str, Metrics], metric: str) -> Interval | None:
    """The base asked directly with the full images; told as accuracy, it counts where that is the metric."""
    shown, full = stages.get(DIRECT, {}), stages.get(ORIGINALS, {})
    is_accuracy = "accuracy" in shown and shown["accuracy"] == shown.get(metric)
    return full.get(metric) or (full.get("accuracy") if is_accuracy else None)


def _asked(direct: Interval | None, originals: Interval | None, called: str) -> str:
    """What the base does without acting: the floor, and the ceiling where it was shown the full images."""
    if direct is None:
        return "What the base does when it is asked directly was not measured."
    ceiling = f"; shown the full images, it would reach {_value(originals)}" if originals else ""
    return f"Asked directly, the base reaches {_value(direct)} ({called}){ceiling}."


def _acts(stages: Mapping[str, Metrics], metric: str, called: str) -> str:
    """What the agent does after each training, and with observations that aren't its own."""
    agent = stages.get(GRPO, {})
    if metric not in agent:
        return "No agent was measured after reinforcement learning."
    before = {"after the cold start": stages.get(SFT, {}), "untrained": stages.get(UNTRAINED, {})}
    start = next((f"{_value(found[metric])} {when} and " for when, found in before.items() if metric in found), "")
    text = f"As an agent it reaches {start}{_value(agent[metric])} after reinforcement learning"
    text += "" if metric in stages.get(DIRECT, {}) else f" ({called})"
    if (gap := alongside(agent, GAP, metric)) is None:
        return f"{text}."
    less = (
        f"{_value(gap)} less" if gap.value >= 0 else f"{_value(Interval(-gap.value, -gap.high, -gap.low, gap.n))} more"
    )
    return f"{text}, and {less} with another episode's observations."


def _taught(against_direct: int, since_start: int | None) -> str:
    """What training taught, given the signs of the agent's lead over the base asked directly, and over its start."""
    if against_direct > 0:
        return "So training taught it to do better than the base does when it is asked directly."
    if since_start is None:
        return "The agent's start was not measured, so what training taught can't be told."
    if since_start <= 0:
        return "That the agent gained anything by training can't be told from chance."
    if against_direct == 0:
        return "So what training taught is to act; that it answers better than the base does at once can't be told."
    return "So what training taught is to act, and acting doesn't pay yet: the base answers better at once."


def _value(found: Interval) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]" if _is_known(found) else f"{found.value:.2f}"


def _is_known(found: Interval) -> bool:
    """Whether it has an interval: what differs from seed to seed has none in one run."""
    return math.isfinite(found.high - found.low)
