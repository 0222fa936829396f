"""Sampling in vLLM: token ids in, token ids out, images as patches.

A context goes to the engine as it is: its ids, the patches that :mod:`kit.chat` has cut of every image, and which ids
stand for which image. Nothing is rendered, encoded or resized a second time, so no placeholder can be expanded twice
(TRL #6294) and no image resampled by another library.

=======================  =======================================================================================
what a policy promises   how the engine is asked for it
=======================  =======================================================================================
stop strings stay        ``include_stop_str_in_output``; ids come back as they were sampled
the turn's end           ``stop_token_ids``; whatever else ends a text for the checkpoint is ignored
forbidden ids            ``logit_bias`` of −100, the lowest there is: they would have to be 100 nats ahead
log-probabilities        of the sampled ids, in the distribution they were sampled from (``processed_logprobs``)
a seed fixes a sample    each request's own
turns share their past   the engine's prefix cache, in which an image is known by its SHA-256
=======================  =======================================================================================

The policy is the same wherever the engine is: in this process (:meth:`Engine.load`), in this process by TRL
(:class:`Colocated` with its trainer), in a server (:mod:`kit.policy.vllm_server`), or beside a notebook that evaluates
(:mod:`kit.policy.vllm_evaluation`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from kit.chat import Chat
from kit.models import family_of
from kit.policy import (
    Completion,
    FinishReason,
    GenerationRequest,
    RequestSource,
    SamplingParams,
    Wait,
    sample_streaming,
    timed,
)
from kit.policy.engine_io import (
    Asked,
    Context,
    ContextSource,
    Continuation,
    EngineError,
    context,
    ended_by,
    images_to_vllm,
    known_options,
)

LOGPROBS = "processed_logprobs"
"""vLLM's mode in which log-probabilities are those of the distribution sampled from, as the trainer computes them."""

LEAST_BIAS = -100.0
"""As low as vLLM lets a logit be pushed."""


class Generator(Protocol):
    """Continues contexts.

    Attributes:
        wants_levels: whether images come as levels from 0 to 255, scaled and normalised by the engine.
    """

    @property
    def wants_levels(self) -> bool: ...

    def stream(self, ready: ContextSource) -> Iterator[tuple[int, Continuation]]:
        """Continuations of what becomes ready, each as soon as it is there."""
        ...

    def forget(self) -> None:
        """Drop what was remembered of earlier contexts: the weights may be others now."""
        ...


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
        self._bias = dict.fromkeys(chat.suppressed_ids, LEAST_BIAS)

    def reset(self) -> None:
        """A new rollout begins, perhaps with new weights."""
        if self.refresh:
            self.refresh()
        self.engine.forget()

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One sample for each request, in order.

        Raises:
            ValueError: a request's images and ids don't match.
            EngineError: the engine sampled what it was told not to, or nothing.
        """
        return sample_streaming(self, requests, params)

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """Each as soon as the engine has it, while it works on the others; raises as :meth:`sample` does."""

        def asked(wait: Wait) -> list[tuple[int, Asked]]:
            began = time.perf_counter()
            found = ready(wait)
            self._spent(began - time.perf_counter())  # waiting for environments isn't the engine's time
            levels = self.engine.wants_levels
            return [(i, (context(self.chat, r, levels), self.options(params, r.seed))) for i, r in found]

        for number, found in timed(self.engine.stream(asked), self._spent):
            yield number, self._sample(found)

    def _spent(self, seconds: float) -> None:
        self.seconds += seconds

    def options(self, params: SamplingParams, seed: int) -> dict[str, Any]:
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

    def _sample(self, one: Continuation) -> Completion:
        bad = sorted(self._bias.keys() & set(one.ids))
        if bad or not one.ids:
            what = f"ids {bad}, which a policy may not say" if bad else "nothing"
            raise EngineError(f"vLLM sampled {what}: its logits are broken, or it ignores logit_bias")
        finish: FinishReason = "stop" if isinstance(one.ended_by, str) else "length" if one.ended_by is None else "eos"
        return Completion(one.ids, one.logprobs, finish)


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
        self.wants_levels = bool(getattr(config.multimodal_config, "mm_device_do_normalize", False))  # not in 0.25

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> Engine:
        """An engine for a checkpoint folder or hub id; ``options`` go to ``vllm.LLM`` (``dtype``, ``seed``, …).

        Raises:
            ValueError: the checkpoint is missing or of another family.
            EngineError: vLLM isn't installed, or this policy can't sample from the family.
        """
        family = family_of(path)
        if not family.vllm:
            raise EngineError(f"checkpoint {path}: {family.title} can't be sampled through vLLM here; use HFPolicy")
        try:
            from vllm import LLM, EngineArgs
        except ImportError as error:
            raise EngineError("vLLM isn't installed: make lab LOCK=gpu (CUDA), or make test-vllm (CPU)") from error
        known = EngineArgs.__dataclass_fields__
        return cls(LLM(str(path), logprobs_mode=LOGPROBS, **known_options(options, known)))

    def forget(self) -> None:
        """Drop the prefix cache. What was computed of images goes too: the vision tower may have been trained."""
        self.llm.reset_prefix_cache()
        self.llm.llm_engine.reset_encoder_cache()

    def stream(self, ready: ContextSource) -> Iterator[tuple[int, Continuation]]:
        """Continuations as they come; between any two tokens, what has become ready joins.

        Raises:
            EngineError: vLLM doesn't take a context (too long, …) or ended one otherwise than it should.
        """
        from vllm import SamplingParams
        from vllm.exceptions import VLLMValidationError

        engine = self.llm.llm_engine
        working: set[str] = set()
        try:
            while True:
                for number, (one, option) in ready("none" if working else "one"):
                    try:
                        engine.add_request(str(number), self._input(one), SamplingParams(**option))
                    except VLLMValidationError as error:
                        raise EngineError(f"vLLM refused request {number} ({len(one.ids)} ids): {error}") from error
                    working.add(str(number))
                if not working:
                    return
                for output in engine.step():
                    if output.finished:
                        working.discard(output.request_id)
                        yield int(output.request_id), _continuation(output.outputs[0])
        finally:
            engine.abort_request(list(working))  # else the next call would meet them

    def _input(self, one: Context) -> Any:
        """vLLM's already rendered input."""
        from vllm.inputs.engine import mm_input, tokens_input
        from vllm.multimodal.inputs import PlaceholderRange

        if not one.pixels:
            return tokens_input(list(one.ids))
        ranges = [PlaceholderRange(offset=first, length=n) for first, n in one.ranges]
        return mm_input(list(one.ids), images_to_vllm(one), {"image": list(one.names)}, {"image": ranges})


class Colocated(Engine):
    """The engine that TRL made beside its trainer; on a GPU it sleeps, its memory given back, while the model learns.

    Args:
        generation: TRL's ``trainer.vllm_generation``.
    """

    def __init__(self, generation: Any) -> None:
        super().__init__(generation.llm)
        self.generation = generation

    def wake(self) -> None:
        """Take the weights of now; TRL wakes what holds them."""
        self.generation.sync_weights()
        if self.generation.enable_sleep_mode:
            self.llm.wake_up(tags=["kv_cache"])

    def sleep(self) -> None:
        """Give the memory back, of weights too: the next are others."""
        if self.generation.enable_sleep_mode:
            self.llm.sleep(level=2)


def _continuation(output: Any) -> Continuation:
    """From vLLM's ``CompletionOutput``."""
    end = ended_by(output.finish_reason, output.stop_reason)
    ids = tuple(output.token_ids)
    logprobs = tuple(float(row[i].logprob) for row, i in zip(output.logprobs, ids, strict=True))
    return Continuation(ids, logprobs, end)
