"""Requests to an inference engine and its replies: ids, image patches, and where in the ids they belong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

from kit.chat import Chat, Pixels
from kit.policy import GenerationRequest, Wait

SAVES_TIME = ("mm_device_do_normalize", "skip_mm_profiling")
"""vLLM's options that change how fast it samples, never what."""


class EngineError(RuntimeError):
    """An engine can't be used as a policy, or returned what it must not; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Context:
    """A request as an engine takes it.

    Attributes:
        ids: all of them, every image's placeholders included.
        pixels: of each image, as the engine wants them.
        names: what each image is known by: what was computed of one serves all of that name.
        ranges: each image's placeholders: the first one's index, and how many.
    """

    ids: tuple[int, ...]
    pixels: tuple[Pixels, ...]
    names: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Continuation:
    """An engine's reply: sampled ids, and what ended them: a stop string, an id, or (None) the limit."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    ended_by: str | int | None


Asked = tuple[Context, dict[str, Any]]
"""What an engine is asked: a context, and options of vLLM's ``SamplingParams``."""

ContextSource = Callable[[Wait], list[tuple[int, Asked]]]
"""Where an engine gets it: :class:`kit.policy.RequestSource` in an engine's words."""


def placeholders(ids: Sequence[int], image_id: int) -> tuple[tuple[int, int], ...]:
    """Every run of ``image_id``: the index of its first, and how many."""
    found, at = [], 0
    for is_image, run in groupby(ids, key=lambda i: i == image_id):
        n = len(list(run))
        if is_image:
            found.append((at, n))
        at += n
    return tuple(found)


def context(chat: Chat, request: GenerationRequest, levels: bool) -> Context:
    """A request with its images' patches (as ``levels`` or normalised), and where they belong.

    Args:
        chat: the model's chat encoder.
        request: ids and images of one turn.
        levels: whether the engine wants bytes instead of normalised numbers.

    Raises:
        ValueError: images and placeholders don't match, in number or in length.
    """
    ranges = placeholders(request.ids, chat.image_id)
    there, wanted = [n for _, n in ranges], [chat.image_tokens(image) for image in request.images]
    if there != wanted:
        raise ValueError(
            f"this request's pictures are {wanted} tokens long, the runs of placeholders in its ids {there}: "
            "its ids were not written by kit.chat for these pictures"
        )
    pixels = tuple(chat.levels(image) if levels else chat.pixels(image) for image in request.images)
    return Context(request.ids, pixels, tuple(image.sha256 for image in request.images), ranges)


def ended_by(finish_reason: str | None, stop_reason: str | int | None) -> str | int | None:
    """Derive what ended a continuation from vLLM's two reasons.

    Raises:
        EngineError: it was broken off.
    """
    if finish_reason not in ("stop", "length"):
        raise EngineError(f"vLLM ended a request with {finish_reason!r}; its log says why")
    return stop_reason if finish_reason == "stop" else None


def known_options(options: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Leave out options that this version of vLLM doesn't know and that only save time; others are vLLM's to refuse."""
    return {name: value for name, value in options.items() if name in known or name not in SAVES_TIME}


def images_to_vllm(one: Context) -> Any:
    """A context's images as vLLM's processor for Qwen2.5-VL would have made them of images."""
    from vllm.multimodal.inputs import MultiModalFieldConfig, MultiModalKwargsItems

    grids = torch.tensor([pixels.grid for pixels in one.pixels])
    fields = {
        "pixel_values": MultiModalFieldConfig.flat_from_sizes("image", grids.prod(-1)),
        "image_grid_thw": MultiModalFieldConfig.batched("image", keep_on_cpu=True),
    }
    patches = torch.cat([pixels.patches for pixels in one.pixels])
    return MultiModalKwargsItems.from_hf_inputs({"pixel_values": patches, "image_grid_thw": grids}, fields)
