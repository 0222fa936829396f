"""CodeDance's metrics (section 4, Tables 1 to 3), each with a 95 % interval.

==========  ================================================================================================
metric      meaning
==========  ================================================================================================
``acc``     share of questions whose answer is right (:mod:`.answers`)
``turns``   mean turns of an episode, the answer included (Table 3)
``calls``   mean calls of an episode
``ran``     of episodes that called, the mean share of their calls that succeeded (n_success / n_calls)
==========  ================================================================================================

Names end in the level, in the kind of question, or in ``all``: ``acc_easy``, ``calls_hard``, ``acc_chart_value``. Of a
set from the hub the kind is the set's name, ``acc_countbench``; its questions have no level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kit.episode import Episode
from kit.evaluate import outcomes as base
from kit.evaluate.calls import share_that_succeeded
from kit.evaluate.outcomes import Evaluation, Metric, Slices, slices_by
from papers.codedance.answers import LONGEST
from papers.codedance.answers import is_right as answers_rightly
from papers.codedance.reported import REPORTED

HEADLINES = {
    "acc_hard": "hard questions, right",
    "acc_easy": "easy questions, right",
    "calls_easy": "easy questions, calls",
    "calls_hard": "hard questions, calls",
}
"""Metrics shown in the README, and their display names."""


@dataclass(frozen=True, kw_only=True)
class Outcome(base.Outcome):
    """The result of one question's episode.

    Attributes:
        kind: what is asked (:mod:`.tasks`), or the name of its set.
        level: ``easy`` or ``hard``; empty where nobody says.
        ran: share of the calls that succeeded; None where there is none.
    """

    kind: str
    level: str
    ran: float | None


def is_right(episode: Episode, target: Any) -> bool:
    """Check whether an episode's answer is one of the gold answers.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return answers_rightly(episode.answer, target)


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished episode.

    Raises:
        ValueError: the episode is still running, or its task has no gold answer.
    """
    meta = episode.task.meta
    return Outcome.of(
        episode,
        is_right(episode, episode.task.target),
        seed,
        well_formed=len(episode.answer or "") < LONGEST,
        kind=str(meta.get("set") or meta.get("kind", "")),
        level=str(meta.get("level", "")),
        ran=share_that_succeeded(episode),
    )


BY_LEVEL: Slices[Outcome] = slices_by(lambda o: o.level, order=("easy", "hard"))
BY_KIND: Slices[Outcome] = slices_by(lambda o: o.kind, everything="all")


def _slices(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    yield from BY_LEVEL([o for o in outcomes if o.level])
    yield from BY_KIND(outcomes)


EVALUATION = Evaluation(
    "codedance",
    Outcome,
    outcome,
    is_right,
    _slices,
    (
        Metric("acc", "correct", "binary"),
        Metric("turns", "turns", "count"),
        Metric("calls", "tool_calls", "count"),
        Metric("ran", "ran", "share"),
    ),
    reported=REPORTED,
    headlines=HEADLINES,
    tabled=("acc", "calls"),
    note="value [95 % interval] (the paper's, Qwen2.5-VL-7B)",
)
