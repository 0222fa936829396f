"""Episodes to tensors with masks, the same for SFT, GRPO and evaluation.

A row is ``[padding | prompt | completion | padding]``: the prompt is padded on its left, the
completion (every turn and observation after it) on its right, as TRL's GRPO expects; a forward
pass over the whole row serves SFT as well. Episodes are never cut: what doesn't fit is refused.

==================  =====================  ===============================================
field               shape                  meaning
==================  =====================  ===============================================
prompt_ids          (B, P)                 prompts, left-padded
prompt_mask         (B, P)                 1 on tokens, 0 on padding
completion_ids      (B, C)                 turns and observations, right-padded
completion_mask     (B, C)                 1 on tokens, 0 on padding
loss_mask           (B, C)                 the loss mask: 1 on sampled tokens, 0 elsewhere
logprobs            (B, C)                 the sampler's log-probabilities, 0 elsewhere
image_inputs        by name                what the model reads of all rows' images, in order
image_counts        by name, B numbers     images (and tiles) of each row
==================  =====================  ===============================================

``image_inputs`` are the family's (:meth:`kit.models.family.ModelFamily.image_inputs`): for Qwen2.5-VL
``mm_token_type_ids`` ``(B, P + C)``, 1 on image tokens, ``pixel_values`` ``(patches, features)`` and
``image_grid_thw`` ``(images, 3)``; for InternVL3 ``pixel_values`` ``(tiles, 3, side, side)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from kit.chat import Chat
from kit.episode import Episode

IGNORED = -100
"""The label of a position without loss (PyTorch's convention)."""

PICTURES = ("pixel_values", "image_grid_thw")
"""Fields with a row for each patch or image, not for each episode."""


@dataclass(frozen=True, eq=False)
class Packed:
    """A batch of episodes; the module's table has the shapes."""

    prompt_ids: Tensor
    prompt_mask: Tensor
    completion_ids: Tensor
    completion_mask: Tensor
    loss_mask: Tensor
    logprobs: Tensor
    image_inputs: dict[str, Tensor]
    image_counts: dict[str, list[int]]

    @property
    def labels(self) -> Tensor:
        """Next-token labels ``(B, P + C)``: the id where the policy sampled it, else :data:`IGNORED`."""
        completion = self.completion_ids.masked_fill(self.loss_mask == 0, IGNORED)
        return torch.cat([torch.full_like(self.prompt_ids, IGNORED), completion], dim=1)

    def model_inputs(self) -> dict[str, Tensor]:
        """Inputs of the model's forward pass over whole rows, prompt and completion."""
        return {
            "input_ids": torch.cat([self.prompt_ids, self.completion_ids], dim=1),
            "attention_mask": torch.cat([self.prompt_mask, self.completion_mask], dim=1),
            **self.image_inputs,
        }

    def image_batch(self) -> dict[str, Any]:
        """Images as TRL's GRPO reads them: the model's inputs, and counts by which it divides them among rows."""
        return {**self.image_inputs, **(self.image_counts if "pixel_values" in self.image_inputs else {})}

    def to(self, device: torch.device | str) -> Packed:
        """Move the batch to ``device``."""
        moved: dict[str, Any] = {
            f.name: value.to(device) for f in fields(self) if isinstance(value := getattr(self, f.name), Tensor)
        }
        images = {name: value.to(device) for name, value in self.image_inputs.items()}
        return replace(self, **moved, image_inputs=images)


def pack(episodes: Sequence[Episode], chat: Chat) -> Packed:
    """Pack episodes into one batch.

    Raises:
        ValueError: no episodes; none holds a sampled token; a turn holds a token that policies may
            not say; or an episode's image tokens are not as many as its images' features.
    """
    if not episodes:
        raise ValueError("pack: no episodes given; a batch needs at least one")
    for episode in episodes:
        _check(episode, chat)
    prompts = [list(e.prompt_ids) for e in episodes]
    completions = [e.ids[len(e.prompt_ids) :] for e in episodes]
    masks = [e.mask[len(e.prompt_ids) :] for e in episodes]
    if not any(1 in mask for mask in masks):
        raise ValueError(f"pack: none of the {len(episodes)} episodes holds a sampled token; nothing to learn from")
    prompt_ids = _pad(prompts, chat.pad_id, left=True)
    completion_ids = _pad(completions, chat.pad_id)
    rows = [[chat.pixels(image) for image in episode.images] for episode in episodes]
    is_image = torch.cat([prompt_ids, completion_ids], dim=1) == chat.image_id
    return Packed(
        prompt_ids=prompt_ids,
        prompt_mask=_pad([[1] * len(ids) for ids in prompts], 0, left=True),
        completion_ids=completion_ids,
        completion_mask=_pad([[1] * len(ids) for ids in completions], 0),
        loss_mask=_pad(masks, 0),
        logprobs=_pad([_logprobs(e) for e in episodes], 0.0),
        image_inputs=chat.family.image_inputs([pixels for row in rows for pixels in row], is_image),
        image_counts=chat.family.image_counts(rows),
    )


def by_length(batch: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of a batch, the shortest first; every value has one entry a row, or is a number."""
    order = (batch["prompt_mask"].sum(1) + batch["completion_mask"].sum(1)).argsort(stable=True)

    def ordered(value: Any) -> Any:
        if value is None or (isinstance(value, Tensor) and value.ndim == 0):
            return value
        return value[order] if isinstance(value, Tensor) else [value[int(i)] for i in order]

    return {name: ordered(value) for name, value in batch.items()}


def trimmed(batch: Mapping[str, Any]) -> dict[str, Any]:
    """A batch without the columns that are padding in every row: on the prompts' left and the completions' right."""
    prompts, completions = batch["prompt_mask"], batch["completion_mask"]
    width = prompts.size(1)
    left = width - int(prompts.sum(1).max())
    right = max(1, int(completions.sum(1).max()))
    kept: dict[str, Any] = {}
    for name, value in batch.items():
        kept[name] = value
        if isinstance(value, Tensor) and value.ndim == 2:
            if name in ("prompt_ids", "prompt_mask"):
                kept[name] = value[:, left:]
            elif name == "mm_token_type_ids":
                kept[name] = value[:, left : width + right]
            elif name not in PICTURES:
                kept[name] = value[:, :right]
    return kept


def _check(episode: Episode, chat: Chat) -> None:
    """Refuse what would train on a lie: control tokens from a policy, or images that don't match their tokens."""
    forbidden = set(chat.suppressed_ids)
    for number, turn in enumerate(episode.turns, start=1):
        bad = next((i for i in turn.ids if i in forbidden), None)
        if bad is not None:
            token = chat.tokenizer.convert_ids_to_tokens(bad)
            raise ValueError(
                f"episode {episode.task.id}: turn {number} holds {token} (id {bad}), which a policy may not say; "
                "mask Chat.suppressed_ids when sampling (kit.policy.suppress)"
            )
    tokens = episode.ids.count(chat.image_id)
    features = sum(chat.image_tokens(image) for image in episode.images)
    if tokens != features:
        raise ValueError(
            f"episode {episode.task.id}: {tokens} image tokens but {features} image features in its "
            f"{len(episode.images)} pictures; append a picture and its tokens together, and never cut them"
        )


def _logprobs(episode: Episode) -> list[float]:
    row: list[float] = []
    for turn in episode.turns:
        row += [*turn.logprobs, *[0.0] * len(turn.observation_ids)]
    return row


def _pad(rows: Sequence[Sequence[Any]], value: float, left: bool = False) -> Tensor:
    """Rows of different length as one tensor, filled up with ``value``."""
    longest = max(map(len, rows))
    fill = [[value] * (longest - len(row)) for row in rows]
    return torch.tensor([[*f, *row] if left else [*row, *f] for row, f in zip(rows, fill, strict=True)])
