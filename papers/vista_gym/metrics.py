"""VISTA-Gym's metrics, each with a 95 % interval.

==========  ============================================================================
metric      meaning
==========  ============================================================================
``acc``     share of questions whose answer is right, by their set's rule
``turns``   mean turns of an episode, the answer included
``calls``   mean calls of an episode
``ran``     of episodes that called, the mean share of their calls that a tool answered
==========  ============================================================================

Names end in the family of tasks (``acc_charts``), in ``in`` or ``out`` of the distribution that is trained on, or in
``all``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kit.episode import Episode
from kit.evaluate import outcomes as base
from kit.evaluate.calls import share_that_succeeded
from kit.evaluate.outcomes import Evaluation, Metric, Slices, slices_by
from papers.vista_gym.answers import is_right as answers_rightly
from papers.vista_gym.env import PROTOCOL
from papers.vista_gym.errors import errors
from papers.vista_gym.reported import BACKBONE, REPORTED

HEADLINES = {
    "acc_all": "questions of seven families, right",
    "acc_in": "sets of the paper's that are trained on, right",
    "acc_out": "other sets, right",
    "calls_all": "calls an episode",
}
"""Metrics shown in the README, and their display names."""


@dataclass(frozen=True, kw_only=True)
class Outcome(base.Outcome):
    """The result of one question's episode.

    Attributes:
        family: of its task.
        distribution: ``in`` or ``out`` of what is trained on; empty where nobody says.
        ran: share of the calls that a tool answered; None where there is none.
        errors: kinds of errors in its episode (:mod:`.errors`), such as ``E4 E6``.
        benchmark: name of its set, such as ``chartqa``.
    """

    family: str
    distribution: str
    ran: float | None
    errors: str = ""
    benchmark: str = ""


def is_right(episode: Episode, target: Any) -> bool:
    """Check whether an episode's answer is one of the gold answers.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return answers_rightly(episode.answer, target)


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished episode; it is well formed if each of its turns is.

    Raises:
        ValueError: the episode is still running, or its task has no gold answer.
    """
    meta = episode.task.meta
    return Outcome.of(
        episode,
        is_right(episode, episode.task.target),
        seed,
        well_formed=all(PROTOCOL.well_formed(turn.text) for turn in episode.turns),
        family=str(meta.get("family", "")),
        distribution=str(meta.get("distribution", "")),
        ran=share_that_succeeded(episode),
        errors=" ".join(errors(episode)),
        benchmark=str(meta.get("set", "")),
    )


BY_FAMILY: Slices[Outcome] = slices_by(lambda o: o.family, everything="all")
BY_DISTRIBUTION: Slices[Outcome] = slices_by(lambda o: o.distribution, order=("in", "out"))


def _slices(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    yield from BY_DISTRIBUTION([o for o in outcomes if o.distribution])
    yield from BY_FAMILY(outcomes)


EVALUATION = Evaluation(
    "vista_gym",
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
    note=f"value [95 % interval] (the paper's, {BACKBONE} on eleven benchmarks)",
)
