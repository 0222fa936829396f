"""Visual-ARFT's metrics (section 5, Tables 1 to 4), each with a 95 % interval.

==========  =======================================================================================
metric      meaning
==========  =======================================================================================
``f1``      mean token F1 of the answers (:mod:`kit.rewards.text_match`); no answer has 0
``em``      share of answers that match exactly
``restored``  share of episodes on one distortion whose last picture is the mended one
            (:func:`kit.papers.visual_arft.mat_coding.restored`; ours: the paper judges answers alone)
``turns``   mean turns of an episode, the answer included
``tools``   mean actions of an episode that weren't the answer
==========  =======================================================================================

Names end in the setting and in the label where there is one: ``f1_coding``, ``f1_coding_hard``, ``em_search``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kit.data.distortion import STRENGTHS
from kit.episode import Episode
from kit.evaluate import outcomes as stages
from kit.evaluate.outcomes import Metrics
from kit.papers.visual_arft.mat_coding import restored
from kit.papers.visual_arft.reported import VISUAL_ARFT
from kit.rewards.text_match import exact_match, f1, max_over_references

SETTINGS = {"coding": "MAT-Coding", "search": "MAT-Search", "text": "multi-hop questions of text alone"}
LABELS = ("simple", "hard")
BESIDE: dict[str, Mapping[str, float]] = {
    "direct": VISUAL_ARFT["base"],  # appendix A.2: the baselines answer in one turn, without tools
    "cot": VISUAL_ARFT["cot"],
    "rag": VISUAL_ARFT["rag"],
    "untrained": {},
    "sft": {},
    "em-reward": VISUAL_ARFT["em-reward"],
    "grpo": VISUAL_ARFT["visual-arft"],
}
"""The columns of the tables, and the paper's figures for each; it has no untrained agent with tools."""

HEADLINES = {
    "f1_coding_simple": "coding F1, Simple",
    "f1_coding_hard": "coding F1, Hard",
    "restored_coding": "distortions restored",
    "f1_search_simple": "search F1, Simple",
    "f1_search_hard": "search F1, Hard",
    "f1_text": "text-only F1",
}
"""Metrics that the README shows, and what to call them."""


@dataclass(frozen=True)
class Outcome:
    """What one played task contributes to the tables.

    Attributes:
        task, picture: ids; tasks about one picture (one country's flag) are related.
        setting: a key of :data:`SETTINGS`.
        label: ``simple`` or ``hard``.
        category: what was done to the picture; of a search the number of its gold queries.
        f1, em: of the answer.
        restored: whether the one distortion was undone; None where there was none, or several, or no picture to mend.
        reason: a key of :data:`kit.evaluate.outcomes.REASONS`.
        turns, tools, tokens: turns played, actions but for the answer, tokens sampled.
        seed: of the training run that made the policy.
    """

    task: str
    picture: str
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


def outcome(episode: Episode, seed: int = 0) -> Outcome:
    """The outcome of one finished episode.

    Raises:
        ValueError: the episode is still running, or its task has no gold answer.
    """
    task, meta = episode.task, episode.task.meta
    if episode.ended == "running":
        raise ValueError(f"episode {task.id} is still running: only ended episodes have an outcome")
    right = bool(max_over_references(exact_match, episode.answer, task.target))
    coding = "category" in meta
    shown = [p.image for turn in episode.turns if turn.observation for p in turn.observation.images]
    return Outcome(
        task=task.id,
        picture=str(meta.get("source") or task.id),
        setting="coding" if coding else "search" if task.images else "text",
        label=str(meta["difficulty"]),
        category=str(meta["category"] if coding else len(meta["queries"])),
        f1=max_over_references(f1, episode.answer, task.target),
        em=right,
        restored=restored(task, shown) if coding and meta["category"] in STRENGTHS else None,
        reason=episode.ended if episode.ended != "answer" else "solved" if right else "wrong",
        turns=len(episode.turns),
        tools=episode.steps,
        tokens=sum(len(turn.ids) for turn in episode.turns),
        seed=seed,
    )


def evaluate_outcomes(played: Sequence[Outcome]) -> Metrics:
    """The same from outcomes. One seed: intervals say what other pictures would change; several: other seeds too.

    Raises:
        ValueError: no outcomes.
    """
    if not played:
        raise ValueError("nothing to evaluate: 0 episodes; play at least one task")
    metrics: Metrics = {}
    for name, some in _slices(played):
        for metric in ("f1", "em", "restored", "turns", "tools"):
            asked = [o for o in some if getattr(o, metric) is not None]
            if asked:
                values = [float(getattr(o, metric)) for o in asked]
                share, right = metric in ("f1", "em", "restored"), metric in ("em", "restored")
                metrics[f"{metric}_{name}"] = stages.interval(metric, values, asked, share, right)
    return metrics


def _slices(played: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    for setting in SETTINGS:
        some = [o for o in played if o.setting == setting]
        if some:
            yield setting, some
            for label in LABELS:
                if labelled := [o for o in some if o.label == label]:
                    yield f"{setting}_{label}", labelled


def table(results: Mapping[str, Any], metrics: Sequence[str] = ("f1", "em", "restored")) -> str:
    """Stages side by side with intervals, and beside each the paper's number (in brackets).

    Args:
        results: the content of a ``results.json``, or ``{"untrained": evaluate(…), "sft": …, "grpo": …}``.
    """
    return stages.table(results, BESIDE, metrics, "value [95 % interval] (the paper's, Qwen2.5-VL-7B)")


_evaluation = stages.Evaluation("visual_arft", Outcome, outcome, evaluate_outcomes)
outcomes, evaluate, failures = _evaluation.outcomes, _evaluation.evaluate, _evaluation.failures
write_stage, read_outcomes, read_stage = _evaluation.write_stage, _evaluation.read_outcomes, _evaluation.read_stage
