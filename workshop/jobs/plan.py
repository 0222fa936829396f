"""``python -m kit plan``: what the trainings of a job need, stage by stage, and whether that fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from kit.rollout import RolloutConfig
from kit.train.launch.topology import ProcessConfig
from kit.train.progress import duration
from kit.train.sft import SFTSettings
from papers.registry import paper_of
from tiny import TINY
from workshop.jobs.notebooks import find
from workshop.jobs.run import Job, profile_values
from workshop.planner.advice import advice, fits, has_engine_room
from workshop.planner.architecture import Architecture
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
)

PICTURE_TOKENS = 8192
"""Image tokens of an episode, at the most, where neither the command nor the paper's limits tell (ours)."""

PROFILE_MEMORY = {"gpu": 24 * GB}
"""Bytes of a GPU that a profile is for; others: :data:`NODE_MEMORY`."""

NODE_MEMORY = 80 * GB


def stages(
    job: Job, gpus: int | None, memory: float | None, tokens: int | None = None, picture_tokens: int | None = None
) -> Iterator[tuple[str, Stage]]:
    """The trainings of a job, in order, each with a name.

    Args:
        job: the planned job.
        gpus: instead of the number the profile says.
        memory: of each, in bytes, instead of that of the machines the profile is for.
        tokens: of the longest episode, instead of what the settings allow.
        picture_tokens: of them, of images.

    Raises:
        ValueError: a model whose sizes are unknown.
    """
    values: dict[str, Any] = {planned.source.name: planned.all_values for planned in job.notebooks}
    started = next((v["model"] for v in values.values() if v.get("model")), "") or _elsewhere(job) or str(TINY)
    model = Architecture.of(started)

    def longest(allowed: int, limits: RolloutConfig) -> dict[str, Any]:
        length = tokens or allowed
        pictures = picture_tokens or limits.picture_tokens or PICTURE_TOKENS
        return {"tokens": length, "picture_tokens": min(pictures, length)}

    for name, v in values.items():
        if "num_processes" not in v:
            continue
        together, limits = ProcessConfig.of(v), _limits(name, v)
        shared: dict[str, Any] = {
            "model": model,
            "gpus": gpus or together.num_processes or 1,  # 0 is settled by the machine it trains on
            "memory": memory or PROFILE_MEMORY.get(job.profile, NODE_MEMORY),
            "strategy": together.strategy,
            "per_device_batch_size": v["per_device_batch_size"],
            "lora_rank": v["lora_rank"],
            "freeze_vision": v["freeze_vision"],
            "sampled": min(limits.max_turns * limits.max_new_tokens, limits.most_tokens(0)),
        }
        shown = v.get("sft_episodes", 0)
        epochs = v.get("epochs", SFTSettings.epochs if shown else 0)  # a notebook without it takes the default
        if epochs > 0:
            size = v.get("batch_size", 8)
            told = {"batch": size + v.get("replay", 0), "steps": ceil(epochs * shown / size)}
            told |= longest(v.get("max_tokens", SFTSettings.max_tokens), limits)
            yield f"{name}: SFT", Stage(**shared, **told, rollout_engine=None)
        if "group_size" in v:
            yield (
                f"{name}: GRPO",
                Stage(
                    **shared,
                    **longest(limits.max_episode_tokens, limits),
                    rollout_engine=together.rollout_engine,
                    batch=v["prompts_per_batch"] * v["group_size"],
                    steps=v["steps"] + v.get("steps_2", 0),  # both stages of a curriculum
                    reference=v["beta"] > 0 and not v["lora_rank"],
                ),
            )


def _limits(notebook: str, values: Mapping[str, Any]) -> RolloutConfig:
    """Limits of its episodes: as the notebook says, else as always in this paper."""
    paper = paper_of(notebook)
    return paper.limits_of(values) if paper else RolloutConfig()


def _elsewhere(job: Job) -> str:
    """The model that another notebook of the family starts from, in the same profile."""
    family = find(job.notebooks[0].source.family)
    return next((v["model"] for s in family if (v := profile_values(s, job.profile)).get("model")), "")


def report(
    job: Job,
    gpus: int | None,
    memory: float | None,
    tokens: int | None = None,
    picture_tokens: int | None = None,
    card: tuple[float, float] = (312e12, 2.0e12),
) -> tuple[str, bool]:
    """The plan as text, and whether all of it fits.

    Args:
        job: the planned job.
        gpus: number of GPUs instead of the profile's.
        memory: bytes of each GPU instead of the profile's.
        tokens: tokens of the longest episode instead of what the settings allow.
        picture_tokens: how many of them are image tokens.
        card: operations and bytes a second of one GPU.

    Raises:
        ValueError: nothing in the job trains, or a model's sizes are unknown.
    """
    found = [
        (name, replace(stage, flops=card[0], bandwidth=card[1]))
        for name, stage in stages(job, gpus, memory, tokens, picture_tokens)
    ]
    if not found:
        raise ValueError(f"{', '.join(p.source.name for p in job.notebooks)}: nothing here trains in a way to plan for")
    texts = [_of_stage(name, stage) for name, stage in found]
    if len(found) > 1:
        known = [stage for _, stage in found if stage.steps]
        most, of_gpus = sum(map(hours, known)), sum(hours(stage) * stage.gpus for stage in known)
        texts.append(f"trainings together: {duration(3600 * most)}, {of_gpus:.1f} GPU-hours; evaluations come on top")
    return "\n\n".join(texts), all(fits(stage) for _, stage in found)


def _too_much(stage: Stage) -> str | None:
    """Why a stage does not fit, and what would help; None if it does."""
    if fits(stage):
        return None
    most = f"{needed(stage) / GB:.1f} GB are needed on each GPU of {stage.memory / GB:g}"
    if not has_engine_room(stage):
        share = stage.gpu_memory_utilization
        most += f", and the engine's share of {share * stage.memory / GB:.1f} GB doesn't hold its weights"
    return f"DOES NOT FIT: {most}; {advice(stage)}"


def _of_stage(name: str, stage: Stage) -> str:
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
    lines.append("  a step, if episodes are as long as they may be (estimated, not measured):")
    lines += [f"  {value:8.1f} s  {part}: {formula}" for part, (value, formula) in seconds(stage).items()]
    if whole := hours(stage):
        lines.append(f"  {duration(3600 * whole):>10s}  {stage.steps} steps, {whole * stage.gpus:.1f} GPU-hours")
    lines.append(_too_much(stage) or "fits")
    return "\n".join(lines)


def _rows(title: str, needs: Sequence[Need]) -> list[str]:
    """A part of the table: what adds up, each with its formula."""
    if not needs:
        return []
    total = sum(need.bytes for need in needs)
    return [
        f"  {total / GB:8.2f} GB {title}",
        *(f"    {need.bytes / GB:8.2f} {need.name:16s} {need.formula}" for need in needs),
    ]
