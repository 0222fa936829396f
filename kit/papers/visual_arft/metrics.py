"""Visual-ARFT's metrics (section 5, Tables 1 to 4), each with a 95 % interval.

==========  =======================================================================================
metric      meaning
==========  =======================================================================================
``f1``      mean token F1 of the answers (:mod:`kit.rewards.text_match`); no answer has 0
``em``      share of answers that match exactly
``restored``  share of episodes on one distortion whose last image is the restored one
            (:func:`kit.papers.visual_arft.mat_coding.restored`; ours: the paper judges answers alone)
``turns``   mean turns of an episode, the answer included
``tools``   mean actions of an episode other than the answer
==========  =======================================================================================

Names end in the setting and in the label where there is one: ``f1_coding``, ``f1_coding_hard``, ``em_search``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kit.data.distortion import STRENGTHS
from kit.episode import Episode, Task
from kit.evaluate.outcomes import Evaluation, Metric, reason, source_image
from kit.papers.visual_arft.mat_coding import restored
from kit.papers.visual_arft.reported import REPORTED
from kit.rewards.text_match import exact_match, f1, max_over_references

SETTINGS = {"coding": "MAT-Coding", "search": "MAT-Search", "text": "multi-hop questions of text alone"}
LABELS = ("simple", "hard")

HEADLINES = {
    "f1_coding_simple": "coding F1, Simple",
    "f1_coding_hard": "coding F1, Hard",
    "restored_coding": "distortions restored",
    "f1_search_simple": "search F1, Simple",
    "f1_search_hard": "search F1, Hard",
    "f1_text": "text-only F1",
}
"""Metrics shown in the README, and their display names."""


@dataclass(frozen=True)
class Outcome:
    """The result of one task's episode.

    Attributes:
        task: id of the task.
        image: id of its source image; tasks about one image (one country's flag) are related.
        setting: a key of :data:`SETTINGS`.
        label: ``simple`` or ``hard``.
        category: the distortions of the image; of a search, the number of its gold queries.
        f1: token F1 of the answer.
        em: whether the answer matches exactly.
        restored: whether the one distortion was reverted; None where there was none, or several, or no image.
        reason: a key of :data:`kit.evaluate.outcomes.REASONS`.
        turns: turns played, the answer included.
        tools: actions other than the answer.
        tokens: tokens the policy sampled.
        seed: seed of the training run that made the policy.
    """

    task: str
    image: str
    setting: str
    label: str
    category: str
    f1: float
    em: bool
    restored: bool | None
    reason: str
    turns: int
    tools: int
    tokens: int
    seed: int = 0


def kind(task: Task) -> tuple[str, ...]:
    """Name the tasks whose observations look alike: of the same tools, with an image or of text alone."""
    return (*task.meta.get("tools", ()), "image" if task.images else "text")


def is_right(episode: Episode, target: Sequence[str]) -> bool:
    """Check whether the answer exactly matches one of the gold answers.

    Raises:
        ValueError: ``target`` is empty.
    """
    return bool(max_over_references(exact_match, episode.answer, target))


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished episode.

    Raises:
        ValueError: the episode is still running, or its task has no gold answer.
    """
    task, meta = episode.task, episode.task.meta
    right = is_right(episode, task.target)
    ended = reason(episode, right)
    coding = "category" in meta
    shown = [p.image for turn in episode.turns if turn.observation for p in turn.observation.images]
    return Outcome(
        task=task.id,
        image=source_image(task),
        setting="coding" if coding else "search" if task.images else "text",
        label=str(meta["difficulty"]),
        category=str(meta["category"] if coding else len(meta["queries"])),
        f1=max_over_references(f1, episode.answer, task.target),
        em=right,
        restored=restored(task, shown) if coding and meta["category"] in STRENGTHS else None,
        reason=ended,
        turns=len(episode.turns),
        tools=episode.calls,
        tokens=sum(len(turn.ids) for turn in episode.turns),
        seed=seed,
    )


def _slices(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    for setting in SETTINGS:
        some = [o for o in outcomes if o.setting == setting]
        if some:
            yield setting, some
            for label in LABELS:
                if labelled := [o for o in some if o.label == label]:
                    yield f"{setting}_{label}", labelled


EVALUATION = Evaluation(
    "visual_arft",
    Outcome,
    outcome,
    is_right,
    _slices,
    (
        Metric("f1", "f1", "share"),
        Metric("em", "em", "binary"),
        Metric("restored", "restored", "binary"),
        Metric("turns", "turns", "count"),
        Metric("tools", "tools", "count"),
    ),
    reported=REPORTED,
    headlines=HEADLINES,
    tabled=("f1", "em", "restored"),
    note="value [95 % interval] (the paper's, Qwen2.5-VL-7B)",
)

outcomes, failures, summary, table = EVALUATION.outcomes, EVALUATION.failures, EVALUATION.summary, EVALUATION.table
evaluate, evaluate_outcomes = EVALUATION.evaluate, EVALUATION.evaluate_outcomes
save_stage, load_stage, load_outcomes = EVALUATION.save_stage, EVALUATION.load_stage, EVALUATION.load_outcomes
