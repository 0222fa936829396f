"""Checkpoints of the tiny architecture that never become agents: one writes noise, others do the same for ever.

They are made by hand, not trained, so that what they do can be told from how they are made. The layers of the language
model add nothing, so a token's embedding alone tells what follows. A whole turn is one token. It lies in the direction
of the line break that opens an assistant's turn, only further out, so it is the likeliest one there; and in a second
direction, in which the end of the turn lies still further out.
"""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.models import without_progress
from kit.train.checkpoint import export
from tiny import TINY
from tiny.build import build_config

SCALE, LENGTH = 50.0, 3.0
"""How much larger the embeddings are than usual, so that little of what layers learn in some steps is seen beside them;
and how many times as far out as the line break a turn's lies: its logit is some hundreds above all others."""


def noise(folder: Path) -> Path:
    """Make a checkpoint that writes random tokens of the vocabulary; returns ``folder``."""
    chat = Chat.from_pretrained(TINY)
    return _saved(_random(chat), chat, folder)


def says(turn: str, folder: Path) -> Path:
    """Make a checkpoint that says one turn, whatever it is shown or told; returns ``folder``.

    Args:
        turn: the text, which ends with a closing tag of the protocol; empty: it says nothing and ends its turn.
        folder: to write.
    """
    chat = Chat.from_pretrained(TINY)
    chat.tokenizer.add_tokens([turn] if turn else [])
    (word,) = chat.text(turn) or [chat.end_id]
    model = _random(chat)
    language = model.model.language_model
    with torch.no_grad():
        for layer in language.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        embedding = language.embed_tokens.weight.mul_(SCALE)
        opening = embedding[chat.open_assistant()[-1]]
        across = torch.randn_like(opening)
        across -= opening * (across @ opening) / (opening @ opening)
        across *= opening.norm() / across.norm()
        if turn:
            embedding[word] = LENGTH * (opening + across)
            embedding[chat.end_id] = 4 * LENGTH * across
        else:
            embedding[word] = LENGTH * opening
    return _saved(model, chat, folder)


def _random(chat: Chat) -> Qwen2_5_VLForConditionalGeneration:
    torch.manual_seed(0)
    return Qwen2_5_VLForConditionalGeneration(build_config(chat.tokenizer)).eval()


def _saved(model: Qwen2_5_VLForConditionalGeneration, chat: Chat, folder: Path) -> Path:
    with without_progress():
        return export(model, chat, folder)
