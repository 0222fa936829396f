"""Sampling in vLLM: token ids in, token ids out, pictures as patches.

A context goes to the engine as it is: its ids, the patches that :mod:`kit.chat` has cut of every picture, and which ids
stand for which picture. Nothing is rendered, encoded or resized a second time, so no placeholder can be expanded twice
(TRL #6294) and no picture resampled by another library.

=======================  =======================================================================================
what a policy promises   how the engine is asked for it
=======================  =======================================================================================
stop strings stay        ``include_stop_str_in_output``; ids come back as they were sampled
the turn's end           ``stop_token_ids``; whatever else ends a text for the checkpoint is ignored
forbidden ids            ``logit_bias`` of −100, the lowest there is: they would have to be 100 nats ahead
log-probabilities        of the sampled ids, in the distribution they were sampled from (``processed_logprobs``)
a seed fixes a sample    each request's own
turns share their past   the engine's prefix cache, in which a picture is known by its SHA-256
=======================  =======================================================================================

The policy is the same wherever the engine is: in this process (:meth:`Engine.load`), in this process by TRL
(``Engine(trainer.vllm_generation.llm)``, colocated with its trainer), or in a server (:mod:`kit.policy.vllm_server`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import torch

from kit.chat import Chat, Pixels, check_family
from kit.policy import Finish, Params, Request, Sample

LOGPROBS = "processed_logprobs"
"""vLLM's mode in which log-probabilities are those of the distribution sampled from, as the trainer computes them."""

LEAST_BIAS = -100.0
"""As low as vLLM lets a logit be pushed."""


class EngineError(RuntimeError):
    """An engine can't be used as a policy, or returned what it must not; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Context:
    """A request as an engine takes it.

    Attributes:
        ids: all of them, every picture's placeholders included.
        pixels: of each picture, as the engine wants them.
        names: what each picture is known by: what was computed of one serves all of that name.
        ranges: each picture's placeholders: the first one's index, and how many.
    """

    ids: tuple[int, ...]
    pixels: tuple[Pixels, ...]
    names: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Continuation:
    """What an engine sampled, and what ended it: a stop string, an id, or (None) the limit."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    ended_by: str | int | None


class Generator(Protocol):
    """Continues contexts.

    Attributes:
        wants_levels: whether pictures come as levels from 0 to 255, scaled and normalised by the engine.
    """

    @property
    def wants_levels(self) -> bool: ...

    def generate(self, contexts: Sequence[Context], options: Sequence[dict[str, Any]]) -> list[Continuation]:
        """One continuation of each context, in order; ``options``: of vLLM's ``SamplingParams``, for each context."""
        ...

    def forget(self) -> None:
        """Drop what was remembered of earlier contexts: the weights may be others now."""
        ...


def placeholders(ids: Sequence[int], image_id: int) -> tuple[tuple[int, int], ...]:
    """Every run of ``image_id``: the index of its first, and how many."""
    found, at = [], 0
    for is_image, run in groupby(ids, key=lambda i: i == image_id):
        n = len(list(run))
        if is_image:
            found.append((at, n))
        at += n
    return tuple(found)


def context(chat: Chat, request: Request, levels: bool) -> Context:
    """A request with its pictures' patches (as ``levels`` or normalised), and where they belong.

    Raises:
        ValueError: pictures and placeholders don't match, in number or in length.
    """
    ranges = placeholders(request.ids, chat.image_id)
    there, wanted = [n for _, n in ranges], [chat.image_tokens(picture) for picture in request.images]
    if there != wanted:
        raise ValueError(
            f"this request's pictures are {wanted} tokens long, the runs of placeholders in its ids {there}: "
            "its ids were not written by kit.chat for these pictures"
        )
    pixels = tuple(chat.levels(picture) if levels else chat.pixels(picture) for picture in request.images)
    return Context(request.ids, pixels, tuple(picture.sha256 for picture in request.images), ranges)


def ended_by(finish_reason: str | None, stop_reason: str | int | None) -> str | int | None:
    """What ended a continuation, from vLLM's two reasons.

    Raises:
        EngineError: it was broken off.
    """
    if finish_reason not in ("stop", "length"):
        raise EngineError(f"vLLM ended a request with {finish_reason!r}; its log says why")
    return stop_reason if finish_reason == "stop" else None


def pictures(one: Context) -> Any:
    """A context's pictures as vLLM's processor for Qwen2.5-VL would have made them of images."""
    from vllm.multimodal.inputs import MultiModalFieldConfig, MultiModalKwargsItems

    grids = torch.tensor([pixels.grid for pixels in one.pixels])
    fields = {
        "pixel_values": MultiModalFieldConfig.flat_from_sizes("image", grids.prod(-1)),
        "image_grid_thw": MultiModalFieldConfig.batched("image", keep_on_cpu=True),
    }
    patches = torch.cat([pixels.patches for pixels in one.pixels])
    return MultiModalKwargsItems.from_hf_inputs({"pixel_values": patches, "image_grid_thw": grids}, fields)


class VLLMPolicy:
    """Samples turns from a vLLM engine.

    Args:
        engine: where.
        chat: the checkpoint's chat encoder.
        refresh: called as a rollout begins, before anything is sampled: brings the engine the trainer's weights
            (``trainer.vllm_generation.sync_weights``).

    Attributes:
        seconds: wall time spent inside the engine so far.
    """

    def __init__(self, engine: Generator, chat: Chat, refresh: Callable[[], None] | None = None) -> None:
        self.engine = engine
        self.chat = chat
        self.refresh = refresh
        self.seconds = 0.0
        self._bias = dict.fromkeys(chat.forbidden_ids, LEAST_BIAS)

    def reset(self) -> None:
        """A new rollout begins, perhaps with new weights."""
        if self.refresh:
            self.refresh()
        self.engine.forget()

    def sample(self, requests: Sequence[Request], params: Params) -> list[Sample]:
        """One sample for each request, in order.

        Raises:
            ValueError: a request's pictures and ids don't match.
            EngineError: the engine sampled what it was told not to, or nothing.
        """
        contexts = [context(self.chat, request, self.engine.wants_levels) for request in requests]
        options = [self.options(params, request.seed) for request in requests]
        began = time.perf_counter()
        found = self.engine.generate(contexts, options)
        self.seconds += time.perf_counter() - began
        return [self._sample(one) for one in found]

    def options(self, params: Params, seed: int) -> dict[str, Any]:
        """vLLM's sampling parameters for a request of this seed."""
        return {
            "temperature": params.temperature,
            "seed": seed,
            "max_tokens": params.max_new_tokens,
            "stop": list(params.stops),
            "include_stop_str_in_output": True,
            "stop_token_ids": [self.chat.end_id],
            "ignore_eos": True,
            "skip_special_tokens": False,
            "logit_bias": self._bias,
            "logprobs": 0,
        }

    def _sample(self, one: Continuation) -> Sample:
        bad = sorted(self._bias.keys() & set(one.ids))
        if bad or not one.ids:
            what = f"ids {bad}, which a policy may not say" if bad else "nothing"
            raise EngineError(f"vLLM sampled {what}: its logits are broken, or it ignores logit_bias")
        finish: Finish = "stop" if isinstance(one.ended_by, str) else "length" if one.ended_by is None else "eos"
        return Sample(one.ids, one.logprobs, finish)


class Engine:
    """A vLLM engine in this process.

    Args:
        llm: a ``vllm.LLM``: one's own (:meth:`load`), or the one that TRL has colocated.

    Raises:
        EngineError: its log-probabilities would be other ones than the trainer's.
    """

    def __init__(self, llm: Any) -> None:
        config = llm.llm_engine.model_config
        if config.logprobs_mode != LOGPROBS:
            raise EngineError(f"this engine's logprobs_mode is {config.logprobs_mode!r}: make it with {LOGPROBS!r}")
        self.llm = llm
        self.wants_levels = bool(config.multimodal_config.mm_device_do_normalize)

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> Engine:
        """An engine for a checkpoint folder or hub id; ``options`` go to ``vllm.LLM`` (``dtype``, ``seed``, …).

        Raises:
            ValueError: the checkpoint is missing or of another family.
            EngineError: vLLM isn't installed.
        """
        check_family(path)
        try:
            from vllm import LLM
        except ImportError as error:
            raise EngineError("vLLM isn't installed: make lab LOCK=gpu (CUDA), or make test-vllm (CPU)") from error
        return cls(LLM(str(path), logprobs_mode=LOGPROBS, **options))

    def forget(self) -> None:
        """Drop the prefix cache. What was computed of pictures goes too: the vision tower may have been trained."""
        self.llm.reset_prefix_cache()
        self.llm.llm_engine.reset_encoder_cache()

    def generate(self, contexts: Sequence[Context], options: Sequence[dict[str, Any]]) -> list[Continuation]:
        """One continuation of each context, in order.

        Raises:
            EngineError: vLLM doesn't take a context (too long, …) or ended one otherwise than it should.
        """
        from vllm import SamplingParams
        from vllm.exceptions import VLLMValidationError

        engine = self.llm.llm_engine
        names = [str(place) for place in range(len(contexts))]
        done: dict[str, Any] = {}
        try:
            for name, one, option in zip(names, contexts, options, strict=True):
                try:
                    engine.add_request(name, self._input(one), SamplingParams(**option))
                except VLLMValidationError as error:
                    raise EngineError(f"vLLM refused request {name} ({len(one.ids)} ids): {error}") from error
            while engine.has_unfinished_requests():
                done |= {output.request_id: output.outputs[0] for output in engine.step() if output.finished}
        except BaseException:
            engine.abort_request([name for name in names if name not in done])  # else the next call would meet them
            raise
        return [_continuation(done[name]) for name in names]

    def _input(self, one: Context) -> Any:
        """vLLM's already rendered input."""
        from vllm.inputs.engine import mm_input, tokens_input
        from vllm.multimodal.inputs import PlaceholderRange

        if not one.pixels:
            return tokens_input(list(one.ids))
        ranges = [PlaceholderRange(offset=first, length=n) for first, n in one.ranges]
        return mm_input(list(one.ids), pictures(one), {"image": list(one.names)}, {"image": ranges})


def _continuation(output: Any) -> Continuation:
    """From vLLM's ``CompletionOutput``."""
    end = ended_by(output.finish_reason, output.stop_reason)
    ids = tuple(output.token_ids)
    logprobs = tuple(float(row[i].logprob) for row, i in zip(output.logprobs, ids, strict=True))
    return Continuation(ids, logprobs, end)
