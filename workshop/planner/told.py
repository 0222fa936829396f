"""Tell what one training needs as text: memory by part, seconds of a step, hours, other engines, other cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kit.train.progress import duration
from workshop.planner.advice import advice, fits, has_engine_room
from workshop.planner.choice import best, settings
from workshop.planner.measured import CARDS
from workshop.planner.memory import (
    GB,
    HOST,
    Need,
    Stage,
    engine_room,
    fixed,
    hours,
    learning_pass,
    needed,
    sampling,
    seconds,
    share_of,
    step,
)

if TYPE_CHECKING:
    from kit.train.launch.topology import RolloutEngine

BY: Mapping[RolloutEngine | None, str] = {
    "transformers": "by transformers",
    "colocate": "by vLLM",
    "server": "by vLLM at a server",
}
"""Who plays, in words."""


def of_stage(name: str, stage: Stage, expected: str = "") -> str:
    """Tell all of a stage, under its name.

    Args:
        name: of the stage.
        stage: what is told.
        expected: a line on episodes as long as they were elsewhere; empty: none.
    """
    lines = [
        f"{name}, {stage.gpus} × {stage.memory / GB:g} GB, {stage.strategy}: {stage.total / 1e9:.2f} billion weights, "
        f"of which {stage.learning / 1e9:.2f} learn"
    ]
    lines += _rows("always", list(fixed(stage)))
    lines += _rows("while it learns", list(learning_pass(stage)))
    lines += _rows("while it plays", list(sampling(stage)))
    lines.append(f"  {needed(stage) / GB:8.2f} GB at the most, of {stage.memory / GB:g}")
    if stage.rollout_engine == "colocate":
        room = engine_room(stage)
        many = room / (stage.tokens * stage.model.kv_bytes())
        lines.append(f"  {room / GB:8.2f} GB for vLLM's cache: {max(many, 0):.1f} of the longest episodes at once")
    lines += _rows("of the machine's own memory, each process", HOST)
    by = f", {BY[stage.rollout_engine]}" if stage.rollout_engine else ""
    lines.append(f"  a step{by}, if episodes are as long as they may be (estimated, not measured):")
    lines += [f"  {value:8.1f} s  {part}: {formula}" for part, (value, formula) in seconds(stage).items()]
    if whole := hours(stage):
        lines.append(f"  {duration(3600 * whole):>10s}  {stage.steps} steps, {whole * stage.gpus:.1f} GPU-hours")
    lines += [f"  {expected}"] if expected else []
    lines += [f"  {line}" for line in (*_otherwise(stage), *_chosen(stage), *_elsewhere_on(stage))]
    lines.append(_too_much(stage) or "fits")
    return "\n".join(lines)


def _too_much(stage: Stage) -> str | None:
    """Why a stage does not fit, and what would help; None if it does."""
    if fits(stage):
        return None
    most = f"{needed(stage) / GB:.1f} GB are needed on each GPU of {stage.memory / GB:g}"
    if not has_engine_room(stage):
        share = share_of(stage)
        most += f", and the engine's share of {share * stage.memory / GB:.1f} GB doesn't hold its weights"
    return f"DOES NOT FIT: {most}; {advice(stage)}"


def _time(stage: Stage) -> str:
    """Hours of a training, and GPU-hours where there are several GPUs; of one whose steps aren't known, of a step."""
    if not stage.steps:
        return f"{step(stage):.1f} s a step"
    told = duration(3600 * hours(stage))
    return told if stage.gpus == 1 else f"{told} ({hours(stage) * stage.gpus:.1f} GPU-hours)"


def _otherwise(stage: Stage) -> Iterator[str]:
    """Say what the other way to sample would cost."""
    if stage.rollout_engine in ("transformers", "colocate"):
        told: RolloutEngine = "colocate" if stage.rollout_engine == "transformers" else "transformers"
        other = replace(stage, rollout_engine=told)
        yield f"{BY[told]}: {_time(other)} instead{'' if fits(other) else ', if it fitted'} (rollout_engine={told})"


def _chosen(stage: Stage) -> Iterator[str]:
    """Say how the memory at hand is used best, and what that brings."""
    chosen = best(stage)
    told, quicker = settings(chosen, stage), step(chosen) < 0.99 * step(stage)
    if told and not quicker and chosen.per_device_batch_size > stage.per_device_batch_size:
        yield f"by the memory at hand: {told}: as fast if episodes are so long, faster if they are short"
    elif told and quicker:
        moved = f"{step(chosen):.1f} s a step instead of {step(stage):.1f}, {needed(chosen) / GB:.1f} GB"
        yield f"by the memory at hand: {told}: {moved}"


def _elsewhere_on(stage: Stage) -> Iterator[str]:
    """Say what the listed cards would take, each used best."""
    found = []
    for size, card in CARDS.items():
        other = best(replace(stage, memory=card.memory, flops=card.flops, bandwidth=card.bandwidth))
        found.append(f"{size} GB ({card.name}) {_time(other) if fits(other) else 'does not fit'}")
    yield f"by card, its memory used best: {'; '.join(found)}"


def _rows(title: str, needs: Sequence[Need]) -> list[str]:
    """A part of the table: what adds up, each with its formula."""
    if not needs:
        return []
    total = sum(need.bytes for need in needs)
    return [
        f"  {total / GB:8.2f} GB {title}",
        *(f"    {need.bytes / GB:8.2f} {need.name:16s} {need.formula}" for need in needs),
    ]
