"""Plan a training before anything is downloaded: memory of each GPU and time of a step, with the formulas.

``python -m kit plan 13 --profile node --gpus 8 --memory 80``. Counts (weights, gradients, optimizer, what a pass keeps)
are exact or checked against what torch keeps, episodes are as long as they may be, and times follow from what was
measured on one card (:mod:`workshop.planner.measured`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kit.models.pixel_cache import IMAGE_CACHE_BYTES
from kit.policy.limits import CACHE_BYTES, MAX_BATCH_SIZE, SPARE, batch_size_that_fits, engine_bytes
from workshop.planner import launches
from workshop.planner.architecture import PATCH, Architecture, Precision
from workshop.planner.measured import TAKEN

if TYPE_CHECKING:
    from kit.train.launch.topology import RolloutEngine, Strategy

GB = 1e9

CONTEXT = 1.0 * GB
"""CUDA's own, a process (assumed)."""

BUCKETS = 2 * 2 * 5e8
"""DeepSpeed's buckets: two of 5e8 numbers in bfloat16 (its defaults)."""

LIVE = 2 * 1e9
"""Weights that ZeRO-3 keeps put together: 1e9 in bfloat16 (its default ``stage3_max_live_parameters``)."""


@dataclass(frozen=True)
class Stage:
    """A training as the planner needs it told.

    Attributes:
        model: the architecture.
        gpus: that train together.
        memory: of each, in bytes.
        strategy: what is divided among them.
        rollout_engine: who plays; None in supervised training, where nobody does.
        gpu_memory_utilization: of each GPU's memory, for a colocated engine; None: what the trainer leaves.
        asleep: whether that engine gives its memory back while the model learns.
        per_device_batch_size: episodes a forward pass and GPU.
        batch: episodes an optimizer step, on all GPUs.
        tokens: of the longest episode.
        picture_tokens: of them, of images.
        sampled: tokens a policy may say in one.
        lora_rank: of adapters; 0 trains all weights.
        freeze_vision: whether the vision tower stays as it is.
        recompute: whether activations are computed again in the backward pass.
        looks_back: whether a backward pass goes through a vision tower that stays as it is, as in older records.
        reference: whether a second copy of the weights is kept (a KL term without adapters).
        optimizer_steps: on each batch.
        steps: batches of the whole training; 0: not known.
        flops, bandwidth: of one GPU, in operations and bytes a second (defaults: an A100's, its data sheet).
    """

    model: Architecture
    gpus: int
    memory: float
    strategy: Strategy
    rollout_engine: RolloutEngine | None
    per_device_batch_size: int
    batch: int
    tokens: int
    picture_tokens: int
    sampled: int
    lora_rank: int
    freeze_vision: bool
    recompute: bool = True
    looks_back: bool = False
    reference: bool = False
    gpu_memory_utilization: float | None = 0.3
    asleep: bool = False
    optimizer_steps: int = 1
    steps: int = 0
    flops: float = 312e12
    bandwidth: float = 2.0e12

    @property
    def held(self) -> Precision:
        """The form in which weights are held."""
        if self.lora_rank:
            return "adapters"
        return "bfloat16" if self.strategy.startswith("zero") else "float32"  # DeepSpeed keeps its float32 copy apart

    @property
    def learning(self) -> int:
        """Weights that learn."""
        if self.lora_rank:
            return self.model.adapters(self.lora_rank)
        return self.model.language + (0 if self.freeze_vision else self.model.vision)

    @property
    def total(self) -> int:
        """All weights."""
        return self.model.language + self.model.vision + (self.model.adapters(self.lora_rank) if self.lora_rank else 0)


@dataclass(frozen=True)
class Need:
    """One part of a GPU's memory: ``bytes``, and where the number comes from."""

    name: str
    bytes: float
    formula: str


HOST = (Need("images", IMAGE_CACHE_BYTES, "kit.chat.Chat's image_cache_bytes: processed images it remembers"),)
"""What each process takes of the machine's memory, not of a GPU's, at the most."""


def fixed(stage: Stage) -> Iterator[Need]:
    """Memory that is held from the first step to the last."""
    yield from _trainer(stage)
    if stage.rollout_engine == "colocate" and not stage.asleep:
        yield _engine(stage)


def _engine(stage: Stage) -> Need:
    share = share_of(stage)
    return Need("engine", share * stage.memory, f"{share} × {stage.memory / GB:g} GB: vLLM's weights and cache")


def _trainer(stage: Stage) -> Iterator[Need]:
    """Memory that the trainer holds throughout, whoever plays."""
    n, total, learning = stage.gpus, stage.total, stage.learning
    zero, three = stage.strategy.startswith("zero"), stage.strategy in ("zero3", "fsdp2")
    each = 4 if stage.held == "float32" else 2
    part = n if three else 1
    yield Need("weights", each * total / part, f"{each} B × {total:,}" + f" / {part}" * (part > 1))
    if stage.held == "float32":
        # Autocast keeps a bfloat16 copy of what learns until the pass is over; FSDP2 of a block at a time.
        copy = 2 * (stage.model.layer if three else learning)
        yield Need("half copies", copy, f"2 B × {copy // 2:,}")
    g, part = (2, n) if zero else (4, n if three else 1)
    yield Need("gradients", g * learning / part, f"{g} B × {learning:,}" + f" / {part}" * (part > 1))
    state, part = (12, n) if zero else (8, n if three else 1)
    why = f" / {part}" * (part > 1) + ": AdamW's two moments" + ", a float32 copy" * zero
    yield Need("optimizer", state * learning / part, f"{state} B × {learning:,}{why}")
    if zero:
        yield Need("buckets", BUCKETS + LIVE * three, "DeepSpeed's defaults")
    if stage.reference:
        part = n if three else 1
        yield Need("reference", 2 * total / part, f"2 B × {total:,}" + f" / {part}" * (part > 1))
    yield Need("CUDA", CONTEXT, "assumed")


def learning_pass(stage: Stage) -> Iterator[Need]:
    """Memory that a forward pass keeps for its backward pass."""
    m, tokens = stage.model, stage.per_device_batch_size * stage.tokens
    one = m.activation_bytes(stage.held, stage.lora_rank)
    if stage.recompute:
        kept = m.layers * m.recomputed(stage.held) + one
        text = f"{tokens:,} tokens × ({m.layers} × {m.recomputed(stage.held):,} B + {one:,} B of one layer)"
    else:
        kept = m.layers * one
        text = f"{tokens:,} tokens × {m.layers} × {one:,} B"
    yield Need("activations", tokens * kept, text)
    patches = 4 * stage.per_device_batch_size * stage.picture_tokens
    yield Need("pictures", patches * PATCH * 4, f"{patches:,} patches × {PATCH} × 4 B")
    if _sees(stage):
        # Recomputed, its one whole layer comes when those of the language, which take more, are done with.
        each = 2 * m.sight if stage.recompute else m.vision_activation_bytes(stage.held)
        yield Need("vision tower", patches * m.depth * each, f"{patches:,} patches × {m.depth} × {each:,} B")


def _sees(stage: Stage) -> bool:
    """Whether the vision tower has a backward pass: it learns, or a record went through it all the same."""
    return stage.looks_back or (not stage.freeze_vision and not stage.lora_rank)


def sampling(stage: Stage) -> Iterator[Need]:
    """Memory that transformers takes while it samples, or vLLM where it sleeps else; an engine awake has its own."""
    if stage.rollout_engine == "colocate" and stage.asleep:
        yield _engine(stage)
    if stage.rollout_engine != "transformers":
        return
    rows, token = _rows(stage), stage.model.kv_bytes()
    text = f"{rows} episodes at once × {stage.tokens:,} tokens × {token:,} B"
    yield Need("keys and values", rows * stage.tokens * token, text)
    yield Need("prefixes", CACHE_BYTES, "kit.policy.hf.HFPolicy's cache_bytes")
    if stage.strategy == "zero3":
        yield Need("whole weights", 2 * stage.total, f"2 B × {stage.total:,}: put together while it plays")


def _rows(stage: Stage) -> int:
    """Episodes that transformers decodes at once: as many as half of the free memory has room for."""
    whole = 2 * stage.total if stage.strategy == "zero3" else 0
    free = stage.memory - sum(need.bytes for need in fixed(stage)) - CACHE_BYTES - whole
    return batch_size_that_fits(
        min(MAX_BATCH_SIZE, math.ceil(stage.batch / stage.gpus)), free, stage.model.kv_bytes(), stage.tokens
    )


def needed(stage: Stage) -> float:
    """Bytes of one GPU at the most: what stays, and the larger of playing and learning."""

    def most(needs: Iterator[Need]) -> float:
        return sum(need.bytes for need in needs)

    return most(fixed(stage)) + max(most(learning_pass(stage)), most(sampling(stage)))


def share_of(stage: Stage) -> float:
    """The share of a GPU that a colocated engine gets: as told, else all that it can use and the trainer leaves."""
    if stage.gpu_memory_utilization is not None:
        return stage.gpu_memory_utilization
    taken = SPARE + sum(need.bytes for need in _trainer(stage))
    taken += 0 if stage.asleep else sum(need.bytes for need in learning_pass(stage))
    episodes = math.ceil(stage.batch / stage.gpus)
    most = engine_bytes(_engine_weights(stage), stage.tokens * stage.model.kv_bytes(), episodes)
    return max(0, math.floor(100 * min(stage.memory - taken, most) / stage.memory)) / 100


def engine_least(stage: Stage) -> float:
    """Bytes that an engine takes before it holds a key or a value: its weights, and what it works with."""
    return engine_bytes(_engine_weights(stage))


def _engine_weights(stage: Stage) -> float:
    return 2 * (stage.model.language + stage.model.vision)


def engine_room(stage: Stage) -> float:
    """Bytes that a colocated engine has for keys and values."""
    return share_of(stage) * stage.memory - engine_least(stage)


def hours(stage: Stage) -> float:
    """Hours of the whole training, episodes as long as they may be; 0: the number of steps isn't known."""
    return stage.steps * step(stage) / 3600


def step(stage: Stage) -> float:
    """Seconds of one step, episodes as long as they may be."""
    return sum(value for value, _ in seconds(stage).values())


def seconds(stage: Stage) -> dict[str, tuple[float, str]]:
    """Seconds of one step by part, each with its formula; episodes as long as they may be."""
    found = {"learning": _learning(stage)}
    if stage.rollout_engine:
        read, share = max(0, stage.tokens - stage.sampled), stage.batch / stage.gpus
        rate, text = _rate(stage)
        formula = f"2 × {stage.total:,} × {share:g} episodes × {read:,} tokens that others wrote / {text}"
        found["reading"] = (2 * stage.total * share * read / rate, formula)
        found["playing"] = _playing(stage)
    return found


def _rate(stage: Stage) -> tuple[float, str]:
    """Operations a second that a GPU does of those that its data sheet promises."""
    return TAKEN.arithmetic * stage.flops, f"({TAKEN.arithmetic:.3f} × {stage.flops / 1e12:g} TFLOP/s)"


def of_pass(stage: Stage, launch: float = TAKEN.launch) -> tuple[float, str]:
    """Seconds of a micro-batch forward and backward, with the formula: it waits for launches, or for arithmetic.

    Where vLLM samples, the trainer's own log-probabilities take one more forward pass.
    """
    again = stage.rollout_engine in ("colocate", "server")
    count = launches.training(stage.model, stage.held, stage.recompute, _sees(stage))
    count += launches.forward(stage.model, stage.held) if again else 0
    passes = (4 if stage.lora_rank else 6) + 2 * stage.recompute + 2 * again
    tokens, (rate, text) = stage.per_device_batch_size * stage.tokens, _rate(stage)
    arithmetic = passes * stage.total * tokens / rate
    if count * launch > arithmetic:
        return count * launch, f"{count:,} launches × {1e6 * launch:.0f} µs"
    return arithmetic, f"{passes} × {stage.total:,} × {tokens:,} tokens / {text}"


def _learning(stage: Stage) -> tuple[float, str]:
    value, formula = of_pass(stage)
    passes = stage.optimizer_steps * stage.batch / stage.gpus / stage.per_device_batch_size
    return passes * value, f"{passes:g} micro-batches × {formula}"


def _playing(stage: Stage) -> tuple[float, str]:
    """Seconds in which tokens are decoded: vLLM reads weights, keys and values, transformers waits for launches too."""
    share, by_transformers = stage.batch / stage.gpus, stage.rollout_engine == "transformers"
    rows: float = _rows(stage) if by_transformers else share
    if stage.rollout_engine == "colocate":
        # Episodes grow while they are played: each holds half of its length on average.
        rows = min(share, max(1.0, 2 * engine_room(stage) / (stage.tokens * stage.model.kv_bytes())))
    turns = min(stage.sampled, stage.tokens) * (math.ceil(share / rows) if by_transformers else share / rows)
    reads = 2 * stage.total + rows * stage.tokens / 2 * stage.model.kv_bytes()
    each = reads / (TAKEN.bandwidth * stage.bandwidth)
    text = f"{reads / GB:.1f} GB read / ({TAKEN.bandwidth:.2f} × {stage.bandwidth / 1e12:g} TB/s)"
    count = launches.token(stage.model, launches.LANGUAGE[stage.held, False][0])
    if by_transformers and count * TAKEN.launch > each:
        each, text = count * TAKEN.launch, f"{count:,} launches × {1e6 * TAKEN.launch:.0f} µs"
    return turns * each, f"{turns:,.0f} tokens one after another, {rows:.0f} episodes at once, × {text}"
