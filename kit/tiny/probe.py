"""Probe a VLM's skills: greedy answers to samples, and the share of them that is right."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from kit.chat import Chat
from kit.data.scenes import Pixels
from kit.tiny.pretrain import encode, patchify
from kit.tiny.skills import SKILLS
from kit.tiny.skills.context import in_distractors
from kit.tiny.skills.text import Sample


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


def box_iou(first: str, second: str) -> float:
    """Intersection over union of two boxes written ``[x1, y1, x2, y2].``; 0 if either is malformed."""
    try:
        a, b = (json.loads(text.rstrip(".")) for text in (first, second))
        w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
        h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
        union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h
        return w * h / union if union > 0 else 0.0
    except (ValueError, TypeError, IndexError, KeyError):
        return 0.0


def examine(
    model: Any,
    chat: Chat,
    pool: Sequence[Pixels],
    n: int,
    seed: int = 1,
    skills: Sequence[str] = tuple(SKILLS),
    words: Sequence[str] = (),
) -> dict[str, list[bool]]:
    """Ask ``n`` fresh samples a skill; returns which were answered rightly (boxes: IoU of at least 0.5).

    Second questions are asked with the first answered rightly, and counted apart (``shapes.2``);
    not every sample has one. Given ``words``, they stand around the questions
    (:func:`kit.tiny.skills.context.in_distractors`).

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        pool: images to take views of, ``(height, width, 3)`` bytes each.
        n: samples a skill.
        seed: fixes everything that is random.
        skills: names of the skills.
        words: words to put around the questions; none: ask barely.
    """
    rng = np.random.default_rng(seed)
    hits: dict[str, list[bool]] = defaultdict(list)
    for skill in skills:
        samples = [SKILLS[skill](rng, pool) for _ in range(n)]
        samples = [in_distractors(rng, sample, words) for sample in samples] if words else samples
        for k in range(max(len(s.turns) for s in samples)):
            asked = [s for s in samples if len(s.turns) > k]
            name = skill if k == 0 else f"{skill}.{k + 1}"
            for sample, text in zip(asked, answer(model, chat, asked, k), strict=True):
                right = sample.turns[k][1]
                boxed = box_iou(right, right) > 0  # a list of words is no box
                hits[name].append(box_iou(text, right) >= 0.5 if boxed else text.strip() == right)
    return dict(hits)
