"""Tokens as HTML: each in its own element, those of a block (reasoning, code, answer) together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from kit.chat import Chat
from kit.episode import Turn
from kit.view.html import clean

_BLOCK = re.compile(r"<([a-z_]{1,20})>.*?</\1>", re.DOTALL)
_PROSE = ("think", "reason", "reasoning")

Piece = tuple[str, int, int]
"""Text of some ids, and where those begin and end."""


def sense(advantage: float) -> tuple[str, str]:
    """The style of an advantage, and what it does in words."""
    if advantage == 0:
        return "z", "unchanged"
    return ("u", "▲ made likelier") if advantage > 0 else ("d", "▼ made less likely")


def strength(advantage: float) -> str:
    """How strong the tint is, as a style: none at 0, full at ±1.5."""
    return f"--a:{45 * min(1.0, abs(advantage) / 1.5):.0f}%"


def blocks(text: str) -> list[tuple[str, int, int]]:
    """``text`` cut where a tagged block begins or ends: the opening ``<div>``, from, to.

    Code, answers and anything else in tags is set in a fixed-width face; reasoning and what has no
    tags in the text face. White space between blocks goes with the block before.
    """
    cuts: list[tuple[str, int, int]] = []
    at = 0
    for found in [*_BLOCK.finditer(text), None]:
        start, end = (found.start(), found.end()) if found else (len(text), len(text))
        if cuts and not text[at:start].strip():
            cuts[-1] = (cuts[-1][0], cuts[-1][1], start)
        elif at < start:
            cuts.append(("<div>", at, start))
        if found:
            cuts.append(("<div>" if found[1] in _PROSE else '<div class="k">', start, end))
        at = end
    return cuts


def pieces(ids: Sequence[int], chat: Chat) -> Iterator[Piece]:
    """Each token's text; tokens that are parts of one character come together."""
    start = 0
    for end in range(1, len(ids) + 1):
        text = str(chat.tokenizer.decode(list(ids[start:end]), skip_special_tokens=False))
        # A character has at most four bytes; what is still broken then was sampled broken.
        if text.endswith("\ufffd") and end - start < 4 and end < len(ids):
            continue
        yield text, start, end
        start = end


def _grouped(found: Sequence[Piece], group: int) -> Iterator[Piece]:
    """Neighbouring pieces together, at least ``group`` tokens each (but the last)."""
    text, start = "", 0
    for k, (more, begin, end) in enumerate(found):
        start = start if text else begin
        text += more
        if end - start >= group or k + 1 == len(found):
            yield text, start, end
            text = ""


def sampled(turn: Turn, chat: Chat, group: int, advantages: Sequence[float] | None) -> str:
    """The policy's tokens, block by block: ids, log-probabilities and advantages on hovering.

    Args:
        group: how many tokens share an element.
        advantages: one a token, or None.
    """
    found = list(_grouped(list(pieces(turn.ids, chat)), group))
    parts = []
    for opening, a, b in blocks("".join(text for text, _, _ in found)):
        inside, offset = "", 0
        for text, start, end in found:
            # A token may reach over the end of a block ("><"): each block shows its part of it.
            part = text[max(0, a - offset) : max(0, b - offset)]
            inside += _sampled((part, start, end), turn, advantages) if part else ""
            offset += len(text)
        parts.append(f"{opening}{inside}</div>")
    return "".join(parts)


def _sampled(piece: Piece, turn: Turn, advantages: Sequence[float] | None) -> str:
    text, start, end = piece
    ids = (
        ", ".join(str(i) for i in turn.ids[start:end])
        if end - start <= 4
        else f"{turn.ids[start]} … {turn.ids[end - 1]}"
    )
    mean = sum(turn.logprobs[start:end]) / (end - start)
    title, style = f"id {ids}: log p {mean:.2f}", ""
    if advantages is not None:
        worth = sum(advantages[start:end]) / (end - start)
        title += f", A {worth:+.2f}"
        style = f' class="{sense(worth)[0]}" style="{strength(worth)}"'
    return f'<u{style} title="{title.replace("-", "−")}">{clean(text)}</u>'


def appended(ids: Sequence[int], chat: Chat, group: int) -> str:
    """Tokens nobody sampled: text, role tokens, and a picture's tokens as one chip."""
    parts = []
    special = {*chat.suppressed_ids, chat.end_id}
    for key, run in groupby(ids, key=lambda i: i if i in special else -1):
        some = list(run)
        if key == chat.image_id:
            parts.append(f'<i title="id {key}"><s>[picture: {len(some)} tokens]</s></i>')
        elif key >= 0:
            text = clean(str(chat.tokenizer.decode([key], skip_special_tokens=False)))
            parts += [f'<i title="id {key}"><s>{text}</s></i>'] * len(some)
        else:
            for text, start, end in _grouped(list(pieces(some, chat)), group):
                title = ", ".join(map(str, some[start:end])) if end - start <= 4 else f"{some[start]} … {some[end - 1]}"
                parts.append(f'<i title="id {title}">{clean(text)}</i>')
    return "".join(parts)
