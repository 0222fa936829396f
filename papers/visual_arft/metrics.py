"""Visual-ARFT's metrics (section 5, Tables 1 to 4), each with a 95 % interval.

==========  =======================================================================================
metric      meaning
==========  =======================================================================================
``f1``      mean token F1 of the answers (:mod:`kit.rewards.text_match`); no answer has 0
``em``      share of answers that match exactly
``restored``  share of episodes on one distortion whose last image is the restored one
            (:func:`papers.visual_arft.mat_coding.restored`; ours: the paper judges answers alone)
``turns``   mean turns of an episode, the answer included
``tools``   mean actions of an episode other than the answer
==========  =======================================================================================

Names end in the setting and in the label where there is one: ``f1_coding``, ``f1_coding_hard``, ``em_search``. A
question of Table 2 has its set in the label's place, ``f1_text_musique``, and ``f1_text`` is the mean over the sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kit.episode import Episode, Task
from kit.evaluate import outcomes as base
from kit.evaluate.outcomes import Evaluation, Metric, slices_by
from kit.rewards.text_match import exact_match, f1, max_over_references
from papers.tables import MeanOverSets
from papers.visual_arft.mat_benchmark import KIND
from papers.visual_arft.mat_coding import restored
from papers.visual_arft.reported import MULTI_HOP, REPORTED
from pictures.distortion import STRENGTHS

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


@dataclass(frozen=True, kw_only=True)
class Outcome(base.Outcome):
    """The result of one task's episode; it is correct if the answer matches exactly.

    Attributes:
        setting: a key of :data:`SETTINGS`.
        label: ``simple`` or ``hard``.
        category: the distortions of the image; of a search, the number of its gold queries, or what it is of if it
            comes without any: ``mat``, or its set.
        f1: token F1 of the answer.
        restored: whether the one distortion was reverted; None where there was none, or several, or no image.
    """

    setting: str
    label: str
    category: str
    f1: float
    restored: bool | None

    @property
    def multi_hop(self) -> str:
        """The set of Table 2 that its question is of; else nothing."""
        return self.category if self.category in MULTI_HOP else ""

    @property
    def of_paper(self) -> bool:
        """Tell whether the task is the paper's own: of MAT or of Table 2."""
        return bool(self.multi_hop) or self.category.partition(":")[0] == KIND


def kind(task: Task) -> tuple[str, ...]:
    """Name the tasks whose observations look alike: of the same tools, with an image or of text alone."""
    return (*task.meta.get("tools", ()), "image" if task.images else "text")


def is_right(episode: Episode, target: Sequence[str]) -> bool:
    """Check whether the answer exactly matches one of the gold answers.

    Raises:
        ValueError: ``target`` is empty.
    """
    return bool(max_over_references(exact_match, episode.answer, target))


def _found_by(task: Task) -> str | int:
    """The category of a search: its set or benchmark if it comes from the hub, else its number of gold queries."""
    kind = KIND if task.meta.get("kind") == KIND else ""
    return task.meta.get("set") or kind or len(task.meta["queries"])


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished episode.

    Raises:
        ValueError: the episode is still running, or its task has no gold answer.
    """
    task, meta = episode.task, episode.task.meta
    coding = "category" in meta
    shown = [p.image for turn in episode.turns if turn.observation for p in turn.observation.images]
    return Outcome.of(
        episode,
        is_right(episode, task.target),
        seed,
        setting="coding" if coding else "search" if task.images else "text",
        label=str(meta["difficulty"]),
        category=str(meta["category"] if coding else _found_by(task)),
        f1=max_over_references(f1, episode.answer, task.target),
        restored=restored(task, shown) if coding and meta["category"] in STRENGTHS else None,
    )


EVALUATION = Evaluation(
    "visual_arft",
    Outcome,
    outcome,
    is_right,
    slices_by(lambda o: o.setting, lambda o: o.multi_hop or o.label, order=(*SETTINGS, *LABELS, *MULTI_HOP)),
    (
        MeanOverSets("f1", "f1", "share", "multi_hop"),
        MeanOverSets("em", "correct", "binary", "multi_hop"),
        Metric("restored", "restored", "binary"),
        Metric("turns", "turns", "count"),
        Metric("tools", "tool_calls", "count"),
    ),
    reported=REPORTED,
    headlines=HEADLINES,
    tabled=("f1", "em", "restored"),
    note="value [95 % interval] (the paper's, Qwen2.5-VL-7B)",
)

outcomes, failures, summary, table = EVALUATION.outcomes, EVALUATION.failures, EVALUATION.summary, EVALUATION.table
evaluate, evaluate_outcomes = EVALUATION.evaluate, EVALUATION.evaluate_outcomes
save_stage, load_stage, load_outcomes = EVALUATION.save_stage, EVALUATION.load_stage, EVALUATION.load_outcomes
