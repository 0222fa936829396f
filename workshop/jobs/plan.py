"""``python -m kit plan``: what the trainings of a job need, stage by stage, and whether that fits."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from math import ceil, prod
from typing import Any

from kit.rollout import RolloutConfig
from kit.train.grpo import GRPOSettings
from kit.train.launch.topology import ProcessConfig
from kit.train.progress import duration
from kit.train.sft import SFTSettings
from papers.registry import paper_of
from tiny import TINY
from workshop.jobs.lengths import UNKNOWN, Length, measured_length
from workshop.jobs.notebooks import Source, find
from workshop.jobs.run import Job, Planned, plan, profile_values
from workshop.planner.advice import fits
from workshop.planner.architecture import Architecture
from workshop.planner.choice import SETTINGS, together
from workshop.planner.measured import CARDS, CITED, Card, card_of
from workshop.planner.memory import GB, Stage, hours
from workshop.planner.told import of_stage

PICTURE_TOKENS = 8192
"""Image tokens of an episode, at the most, where neither the command nor the paper's limits tell (ours)."""

PROFILE_MEMORY = {"gpu": 24 * GB}
"""Bytes of a GPU that a profile is for; others: :data:`NODE_MEMORY`."""

NODE_MEMORY = 80 * GB

SMALL = 50e6
"""Weights up to which a model is no matter of memory."""


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
    several = {planned.source.name: arms(planned.source) for planned in job.notebooks}
    models = [v["model"] for v in values.values() if "model" in v]  # empty: the committed tiny one
    started = next(filter(None, models), "") or ("" if models else _elsewhere(job)) or str(TINY)
    model = Architecture.of(started)
    of_each = memory or PROFILE_MEMORY.get(job.profile, NODE_MEMORY)
    card, usual = card_of(of_each), GRPOSettings.gpu_memory_utilization

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
            "memory": of_each,
            "flops": card.flops,
            "bandwidth": card.bandwidth,
            "strategy": together.strategy,
            "per_device_batch_size": v["per_device_batch_size"],
            "lora_rank": v["lora_rank"],
            "freeze_vision": v["freeze_vision"],
            "recompute": v.get("gradient_checkpointing", True),  # unset, a training on a GPU does
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
                f"{name}: GRPO" + (f", {several[name]} arms" if several[name] > 1 else ""),
                Stage(
                    **shared,
                    **longest(limits.max_episode_tokens, limits),
                    rollout_engine=together.rollout_engine,
                    # None: an engine takes what the trainer leaves, and sleeps while the model learns.
                    gpu_memory_utilization=v.get("gpu_memory_utilization", usual),
                    asleep=usual is None,
                    batch=v["prompts_per_batch"] * v["group_size"],
                    steps=several[name] * (v["steps"] + v.get("steps_2", 0)),  # both stages of a curriculum
                    reference=v["beta"] > 0 and not v["lora_rank"],
                ),
            )


def arms(source: Source) -> int:
    """Number of trainings that a notebook makes by the same values.

    One for each of the ``ARMS`` of a module that it goes through, as in ``for arm in mixed.ARMS``; else 1.
    """
    tree = ast.parse(source.text)
    imported = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    places = {one.asname or one.name: f"{node.module}.{one.name}" for node in imported for one in node.names}
    loops = (node.iter for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension))
    over = {ast.unparse(loop).partition(".ARMS")[0] for loop in loops if ast.unparse(loop).endswith(".ARMS")}
    return prod(len(import_module(places[name]).ARMS) for name in over)


def _limits(notebook: str, values: Mapping[str, Any]) -> RolloutConfig:
    """Limits of its episodes: as the notebook says, else as always in this paper."""
    paper = paper_of(notebook)
    return paper.limits_of(values) if paper else RolloutConfig()


def _elsewhere(job: Job) -> str:
    """The model that another notebook of the family starts from, in the same profile."""
    family = find(job.notebooks[0].source.family)
    return next((v["model"] for s in family if (v := profile_values(s, job.profile)).get("model")), "")


def card(
    job: Job, size: int | None, memory: float | None, tflops: float | None, bandwidth: float | None
) -> Card | None:
    """The card that a command line asks for; None: it asks for none.

    Args:
        job: the planned job, whose profile is for a card.
        size: of a listed card, in gigabytes.
        memory: bytes of each GPU.
        tflops: 10¹² operations a second, instead of the listed ones.
        bandwidth: 10¹² bytes a second, instead of the listed ones.
    """
    if size is None and tflops is None and bandwidth is None:
        return None
    listed = CARDS[size] if size else card_of(memory or PROFILE_MEMORY.get(job.profile, NODE_MEMORY))
    return replace(
        listed,
        flops=tflops * 1e12 if tflops else listed.flops,
        bandwidth=bandwidth * 1e12 if bandwidth else listed.bandwidth,
    )


def report(
    job: Job,
    gpus: int | None,
    memory: float | None,
    tokens: int | None = None,
    picture_tokens: int | None = None,
    card: Card | None = None,
    expected_tokens: int | None = None,
) -> tuple[str, bool]:
    """The plan as text, and whether all of it fits.

    Args:
        job: the planned job.
        gpus: number of GPUs instead of the profile's.
        memory: bytes of each GPU instead of the profile's.
        tokens: tokens of the longest episode instead of what the settings allow.
        picture_tokens: how many of them are image tokens.
        card: the GPU, instead of the one of that memory that is listed.
        expected_tokens: tokens of an episode on average, instead of what runs have measured.

    Raises:
        ValueError: nothing in the job trains, or a model's sizes are unknown.
    """
    memory = memory or (card.memory if card else None)
    found = list(stages(job, gpus, memory, tokens, picture_tokens))
    if card:
        found = [(name, replace(stage, flops=card.flops, bandwidth=card.bandwidth)) for name, stage in found]
    if not found:
        raise ValueError(_nothing_trains(job))
    usual = {name: expected(job, name, stage, expected_tokens) for name, stage in found}
    texts = [f"times follow from what {CITED} took"]
    texts += [of_stage(name, stage, _expected(stage, *usual[name])) for name, stage in found]
    if len(found) > 1:
        known = [stage for _, stage in found if stage.steps]
        most, of_gpus = sum(map(hours, known)), sum(hours(stage) * stage.gpus for stage in known)
        texts.append(f"trainings together: {duration(3600 * most)}, {of_gpus:.1f} GPU-hours; evaluations come on top")
        likely = [usual[name][0] or stage for name, stage in found if stage.steps]
        if any(shorter for shorter, _ in usual.values()):
            texts[-1] += f"\nexpected: {duration(3600 * sum(map(hours, likely)))}, those not measured at the longest"
    return "\n\n".join(texts), all(fits(stage) for _, stage in found)


def _nothing_trains(job: Job) -> str:
    """Why there is nothing to plan for, and what to plan instead, if the family has a training."""
    family = job.notebooks[0].source.family
    whole = plan(family, job.profile, [], None)
    way = f": python -m kit plan {family} --profile {job.profile} plans all of {family}"
    there = len(whole.notebooks) > len(job.notebooks) and any(stages(whole, None, None))
    names = ", ".join(planned.source.name for planned in job.notebooks)
    return f"{names}: nothing here trains in a way to plan for{way if there else ''}"


def expected(job: Job, name: str, stage: Stage, mean: int | None = None) -> tuple[Stage | None, str]:
    """A training with episodes of the mean length that was measured, and where; None: of no run like it.

    Args:
        job: that it is part of.
        name: as :func:`stages` has it.
        stage: with the longest episodes.
        mean: tokens of an episode, said by the user; the policy's share of them is that of the longest.

    Raises:
        ValueError: a mean above the longest.
    """
    if mean and mean > stage.tokens:
        raise ValueError(f"--expected-tokens {mean}: episodes of {name} have at most {stage.tokens}; give fewer")
    if mean:
        length: Length | None = Length(mean, round(stage.sampled * mean / stage.tokens), "--expected-tokens")
    else:
        length = measured_length(job, name.partition(":")[0]) if stage.rollout_engine else None
    if length is None:
        return None, ""
    tokens = min(length.tokens, stage.tokens)
    shown, said = min(stage.picture_tokens, tokens), min(length.sampled, tokens)
    return replace(stage, tokens=tokens, picture_tokens=shown, sampled=said), length.where


def _expected(longest: Stage, likely: Stage | None, where: str) -> str:
    """The line on a training whose episodes are as long as they were elsewhere."""
    if likely is None or not longest.steps:
        return f"{'unknown':>10s}  {UNKNOWN}"
    cost = f"{duration(3600 * hours(likely)):>10s}  as long as expected, {hours(likely) * likely.gpus:.1f} GPU-hours"
    said = f", {likely.sampled} of them said" if likely.rollout_engine else ""
    return f"{cost}: {likely.tokens} tokens an episode{said}, as in {where}"


def by_memory(
    job: Job, sets: Sequence[str], memory: float, before: Mapping[str, Mapping[str, Any]]
) -> tuple[Job, list[str]]:
    """Choose micro-batch and checkpointing by the memory at hand; a batch, and what is learnt, stays as it is.

    Args:
        job: of a profile that leaves it open, planned and checked.
        sets: what was set by hand, as ``run`` takes it: that stays.
        memory: bytes of the smallest GPU here.
        before: values of notebooks that this run has begun: these stay, too.

    Returns:
        The job, and a line for each value that was chosen.
    """
    given = {text.partition("=")[0].strip() for text in sets}
    large = [(title.partition(":")[0], stage) for title, stage in stages(job, None, memory) if stage.total > SMALL]
    planned: list[Planned] = []
    told: list[str] = []
    for one in job.notebooks:
        known, begun = one.source.name, before.get(one.source.name)
        if trained := [stage for title, stage in large if title == known]:
            kept = {name for name in SETTINGS if {name, f"{one.source.number}.{name}"} & given}
            if begun is None:
                chosen, why = together(trained, kept), f"by the {memory / GB:.0f} GB at hand"
            else:  # one that it was begun without, in a run of before, stays away
                chosen = {name: begun[name] for name in SETTINGS if name in begun and name not in kept}
                why = "as it was begun"
            told.extend(_told(one, chosen, why))
            one = replace(one, values={**one.values, **chosen})
        planned.append(one)
    return replace(job, notebooks=tuple(planned)), told


def _told(one: Planned, chosen: Mapping[str, Any], why: str) -> Iterator[str]:
    """A line for each value that was chosen other than the profile has it, and how to keep that."""
    usual = {"gradient_checkpointing": True} | one.all_values  # unset, a training on a GPU does
    for name, value in chosen.items():
        if value != usual[name]:
            now, was = (str(v).lower() for v in (value, usual[name]))
            yield f"{one.source.name}: {name}={now} {why}, not {was} (--set {one.source.number}.{name}={was} keeps it)"
