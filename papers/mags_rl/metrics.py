"""Mags-RL's metrics (section 4.1, appendix A.2), each with a 95 % interval.

============  =================================================================================================
metric        meaning
============  =================================================================================================
``judged``    mean verdict on the answers, 0 to 1 (:mod:`.judge`; offline the exact rule's)
``acc``       share of answers that are right by the exact rule
``included``  share of answers that include a gold answer (the paper's inclusion accuracy)
``boxes``     mean boxes that a question's first round asks for
``valid``     of episodes that ask, the mean share of their boxes that were magnified (k/n)
``right``     of episodes with valid boxes, the mean share of these that cover something that decides the answer
``recall``    mean share of what decides the answer that the valid boxes cover; an episode without boxes has 0
============  =================================================================================================

What decides an answer is known of drawn and composed tasks alone (``meta["parts"]``, boxes in shares), and a box covers
a part that lies in it to nine tenths. The reward knows nothing of this.

Names end in the difficulty, in the skill or set, in both, or in ``all``: ``acc_hard``, ``right_count_hard``,
``judged_vsr_hard``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kit.episode import Episode, Task
from kit.evaluate import outcomes as base
from kit.evaluate.outcomes import Evaluation, Metric, Slices, slices_by
from papers.mags_rl.answers import includes
from papers.mags_rl.answers import is_right as answers_rightly
from papers.mags_rl.boards import PLACES
from papers.mags_rl.judge import Judge, exact
from papers.mags_rl.reported import REPORTED, SOURCES
from papers.mags_rl.reward import zoomed
from papers.mags_rl.zoom import area, intersection

COVERED = 0.9
"""Share of a part's area that lies in a box which covers it."""

DIFFICULTIES = ("easy", "medium", "hard")

HEADLINES = {"acc_hard": "hard questions, right", "right_hard": "hard questions, boxes that show what decides"}
"""Metrics shown in the README, and their display names."""


@dataclass(frozen=True, kw_only=True)
class Outcome(base.Outcome):
    """The result of one question's episode.

    Attributes:
        kind: the skill, or the name of the set.
        difficulty: ``easy``, ``medium`` or ``hard``; empty where nobody says.
        judged: the verdict on the answer.
        included: whether the answer includes a gold answer.
        boxes: boxes that were asked for.
        valid: share of them that were magnified; None where none was asked for.
        right: share of the valid ones that cover a part which decides; None where there is none, or nobody knows.
        recall: share of these parts that are covered; None where nobody knows them.
    """

    kind: str
    difficulty: str
    judged: float
    included: bool
    boxes: int
    valid: float | None
    right: float | None
    recall: float | None


def covers(box: Sequence[float], part: Sequence[float]) -> bool:
    """Check that nine tenths of a part lie in a box, both in shares."""
    return intersection(box, part) >= (COVERED - 1e-9) * area(part)


def parts_of(task: Task) -> list[Sequence[float]]:
    """Boxes of what decides a task's answer, in shares; empty where nobody knows."""
    return list(task.meta.get("parts") or task.meta.get("boxes") or ())


def by_chance(task: Task, cards: Sequence[Sequence[float]] = PLACES) -> float:
    """Share of some of a board's cards that show what decides: what ``right`` is of one of them named at random."""
    return sum(any(covers(card, part) for part in parts_of(task)) for card in cards) / len(cards)


def is_right(episode: Episode, target: Any) -> bool:
    """Check whether an episode's answer is one of the gold answers.

    Raises:
        ValueError: there is no gold answer, or one text instead of several.
    """
    return answers_rightly(episode.answer, target)


def outcome(episode: Episode, seed: int = 0, judge: Judge = exact) -> Outcome:
    """The outcome of one finished episode.

    Args:
        episode: the episode.
        seed: of the run that trained the policy.
        judge: of answers.

    Raises:
        ValueError: the episode is still running, or its task has no gold answer.
    """
    task, parts = episode.task, parts_of(episode.task)
    asked, valid = zoomed(episode.turns[0]) if episode.turns else (0, 0)
    boxes = episode.turns[0].action.arguments["boxes"] if valid else ()  # type: ignore[union-attr, index]
    hits = [[covers(box, part) for part in parts] for box in boxes]
    return Outcome.of(
        episode,
        is_right(episode, task.target),
        seed,
        kind=str(task.meta.get("set") or task.meta.get("skill", "")),
        difficulty=str(task.meta.get("difficulty", "")),
        judged=judge(task.question, episode.answer, task.target) if episode.answer is not None else 0.0,
        included=includes(episode.answer, task.target),
        boxes=asked,
        valid=valid / asked if asked else None,
        right=sum(map(any, hits)) / len(hits) if hits and parts else None,
        recall=sum(map(any, zip(*hits, strict=True))) / len(parts) if parts else None,
    )


BY_DIFFICULTY: Slices[Outcome] = slices_by(lambda o: o.difficulty, order=DIFFICULTIES)
BY_KIND: Slices[Outcome] = slices_by(lambda o: o.kind, lambda o: o.difficulty, order=(*SOURCES, *DIFFICULTIES))


def _slices(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    yield "all", list(outcomes)
    yield from BY_DIFFICULTY([o for o in outcomes if o.difficulty])
    yield from BY_KIND([o for o in outcomes if o.kind and o.difficulty])


EVALUATION = Evaluation(
    "mags_rl",
    Outcome,
    outcome,
    is_right,
    _slices,
    (
        Metric("judged", "judged", "share"),
        Metric("acc", "correct", "binary"),
        Metric("included", "included", "binary"),
        Metric("boxes", "boxes", "count"),
        Metric("valid", "valid", "share"),
        Metric("right", "right", "share"),
        Metric("recall", "recall", "share"),
    ),
    reported=REPORTED,
    headlines=HEADLINES,
    tabled=("judged", "acc", "boxes", "right"),
    note="value [95 % interval] (the paper's, Qwen2.5-VL-3B, judged by gpt-4o-mini)",
)


def judged_by(judge: Judge) -> Evaluation[Outcome]:
    """Make the evaluation with another judge than the exact rule."""
    return replace(EVALUATION, outcome=partial(outcome, judge=judge))
