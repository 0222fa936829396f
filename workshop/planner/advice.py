"""Find what makes a training fit that doesn't: changes are tried, alone and together, by planning again with each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from workshop.planner.memory import GB, Stage, engine_least, engine_room, needed

SHOWN = 4
"""Ways out that are told, at the most."""


@dataclass(frozen=True)
class Change:
    """One change of a training, as a user would make it.

    Attributes:
        kind: changes of one kind exclude each other.
        text: how it is made, for a message.
        fields: the planner's fields that it changes, with their new values.
    """

    kind: str
    text: str
    fields: dict[str, object]


def fits(stage: Stage) -> bool:
    """Decide whether a stage fits: within a GPU's memory, and with room for the colocated engine's cache."""
    return needed(stage) <= stage.memory and has_engine_room(stage)


def has_engine_room(stage: Stage) -> bool:
    """Decide whether a colocated engine's share holds its weights and something of its cache."""
    return stage.rollout_engine != "colocate" or engine_room(stage) > 0


def changes(stage: Stage) -> Iterator[Change]:
    """Every change that may make a stage smaller, the least trouble first."""
    if not stage.recompute:
        yield Change("recompute", "gradient_checkpointing=true", {"recompute": True})
    if stage.per_device_batch_size > 1:
        yield Change("batch", "per_device_batch_size=1", {"per_device_batch_size": 1})
    if stage.gpus > 1 and stage.strategy != "zero3":
        yield Change("strategy", "strategy=zero3", {"strategy": "zero3"})
    if stage.rollout_engine == "colocate":
        if stage.gpu_memory_utilization is not None and (share := _least_share(stage)) is not None:
            text = f"gpu_memory_utilization={share} in GRPOSettings"
            yield Change("engine", text, {"gpu_memory_utilization": share})
        yield Change("engine", "rollout_engine=server, on other GPUs", {"rollout_engine": "server"})
        yield Change("engine", "rollout_engine=transformers, which is slower", {"rollout_engine": "transformers"})
    if not stage.lora_rank:
        fields: dict[str, object] = {"lora_rank": 32, "freeze_vision": True, "reference": False}
        yield Change("adapters", "lora_rank=32 with freeze_vision=true", fields)
    for part in (2, 4):
        tokens = stage.tokens // part
        text = f"episodes of at most {tokens:,} tokens (fewer max_turns or max_new_tokens; plan with --tokens {tokens})"
        yield Change("tokens", text, {"tokens": tokens, "picture_tokens": min(stage.picture_tokens, tokens)})
    for more in (2, 4, 8):
        # DDP holds everything on every GPU: more of them help with a strategy that divides the weights only.
        text = f"{stage.gpus * more} GPUs instead of {stage.gpus}"
        if stage.strategy == "ddp":
            yield Change("gpus", f"{text} with strategy=zero3", {"gpus": stage.gpus * more, "strategy": "zero3"})
        else:
            yield Change("gpus", text, {"gpus": stage.gpus * more})


def _least_share(stage: Stage) -> float | None:
    """The least share of a GPU that holds the engine's weights and one longest episode; None if that can't help."""
    one = engine_least(stage) + stage.tokens * stage.model.kv_bytes()
    share = math.ceil(20 * one / stage.memory) / 20
    return share if share <= 0.95 and share != stage.gpu_memory_utilization else None


def changed(stage: Stage, together: Sequence[Change]) -> Stage:
    """Make the stage that several changes together lead to."""
    for change in together:
        stage = replace(stage, **change.fields)  # type: ignore[arg-type]
    return stage


def smallest(stage: Stage) -> list[tuple[Change, ...]]:
    """Find the smallest sets of changes by which a stage fits, all of one size; none if it fits in no way tried."""
    known = list(changes(stage))
    for size in range(1, len({change.kind for change in known}) + 1):
        found: dict[tuple[str, ...], tuple[Change, ...]] = {}
        for some in _sets(known, size):
            # Of two sets that differ in their number of GPUs or tokens only, the one nearer to what was asked for.
            same = tuple(change.kind if change.kind in ("gpus", "tokens") else change.text for change in some)
            if same not in found and fits(changed(stage, some)):
                found[same] = some
        if found:
            return list(found.values())
    return []


def _sets(known: Sequence[Change], size: int) -> Iterator[tuple[Change, ...]]:
    """All sets of so many changes, no two of one kind."""
    return (some for some in combinations(known, size) if len({change.kind for change in some}) == size)


def advice(stage: Stage) -> str:
    """Say by which changes a stage would fit, with what it then needs, or by how much it misses whatever is changed."""
    found = smallest(stage)
    if found:
        told = [
            f"{' and '.join(change.text for change in some)} (then {needed(changed(stage, some)) / GB:.1f} GB)"
            for some in found[:SHOWN]
        ]
        return f"what would make it fit, found by trying: {'; or '.join(told)}"
    known = list(changes(stage))
    best = min(
        (changed(stage, some) for size in range(1, len(known) + 1) for some in _sets(known, size)),
        key=lambda other: needed(other) if has_engine_room(other) else math.inf,
    )
    short = (needed(best) - stage.memory) / GB
    return (
        f"no set of changes tried makes it fit: even the smallest needs {needed(best) / GB:.1f} GB on each GPU, "
        f"{short:.1f} GB more than there is; take larger GPUs or a smaller model"
    )
