"""Greedy answers of a VLM to samples of its skills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kit.chat import Chat
from tiny.pretrain import encode, patchify
from tiny.skills.text import Sample


@torch.no_grad()
def answer(model: Any, chat: Chat, samples: Sequence[Sample], question: int = 0, max_new_tokens: int = 60) -> list[str]:
    """Greedy answers to one question of each sample, the ones before it answered rightly.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        samples: questions with their answers.
        question: number of the question.
        max_new_tokens: tokens of an answer, at most.
    """
    rows = [encode(chat, sample, asked=question) for sample in samples]
    longest = max(len(ids) for ids, _, _ in rows)
    ids = torch.tensor([[chat.pad_id] * (longest - len(row)) + row for row, _, _ in rows])
    pixels = [patchify(p) for _, _, images in rows for p in images]
    inputs = {"mm_token_type_ids": (ids == chat.image_id).long()}
    if pixels:
        inputs["pixel_values"] = torch.cat([p for p, _ in pixels])
        inputs["image_grid_thw"] = torch.tensor([g for _, g in pixels])
    inputs |= {"input_ids": ids, "attention_mask": (ids != chat.pad_id).long()}
    out = model.generate(
        **{name: value.to(model.device) for name, value in inputs.items()},
        max_new_tokens=max_new_tokens,
        do_sample=False,
        eos_token_id=chat.end_id,
        pad_token_id=chat.pad_id,
    )
    return [chat.decode([i for i in row if i != chat.pad_id]) for row in out[:, longest:].tolist()]
