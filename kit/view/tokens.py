"""Tokens for display: each with its hover text, those of a block (reasoning, code, answer) together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kit.chat import Chat
from kit.episode import Turn
from kit.view.html import signed

_BLOCK = re.compile(r"<([a-z_]{1,20})>.*?</\1>", re.DOTALL)
_PROSE = ("think", "reason", "reasoning")

Piece = tuple[str, int, int]
"""Text of some ids, and where those begin and end."""


@dataclass(frozen=True)
class Tint:
    """Display of an advantage: a step makes these tokens likelier, less likely, or neither."""

    advantage: float

    @property
    def style(self) -> str:
        """CSS class: ``u`` up, ``d`` down, ``z`` zero."""
        return "z" if self.advantage == 0 else "u" if self.advantage > 0 else "d"

    @property
    def words(self) -> str:
        """The effect of a step in words."""
        return {"z": "unchanged", "u": "▲ made likelier", "d": "▼ made less likely"}[self.style]

    @property
    def colour(self) -> str:
        """CSS colour of the effect that is readable on a light and on a dark page."""
        return {"z": "gray", "u": "#0072b2", "d": "#d55e00"}[self.style]

    @property
    def percent(self) -> str:
        """Strength of the tint in percent: 0 at an advantage of 0, 45 from ±1.5 on."""
        return f"{45 * min(1.0, abs(self.advantage) / 1.5):.0f}"

    @property
    def background(self) -> str:
        """CSS colour of the tint on any page: the effect's, as opaque as :attr:`percent` says."""
        rgb = {"z": "#808080", "u": "#0072b2", "d": "#d55e00"}[self.style]
        return f"{rgb}{round(2.55 * float(self.percent)):02x}"


@dataclass(frozen=True)
class Token:
    """One element of a token view: a token, or neighbours that share a hover text.

    Attributes:
        text: its text.
        title: hover text.
        tint: the policy's tokens only, and only where advantages differ from token to token.
        control: whether it is a role or image token.
    """

    text: str
    title: str = ""
    tint: Tint | None = None
    control: bool = False


@dataclass(frozen=True)
class Block:
    """Tokens set in one face.

    Attributes:
        tag: ``pre`` for code, answers and anything else in tags; ``div`` for reasoning and untagged text.
        tokens: in order.
    """

    tag: str
    tokens: tuple[Token, ...]


def blocks(text: str) -> list[tuple[str, int, int]]:
    """``text`` cut where a tagged block begins or ends: (HTML tag as in :class:`Block`, from, to).

    White space between blocks goes with the block before.
    """
    cuts: list[tuple[str, int, int]] = []
    at = 0
    for found in [*_BLOCK.finditer(text), None]:
        start, end = (found.start(), found.end()) if found else (len(text), len(text))
        if cuts and not text[at:start].strip():
            cuts[-1] = (cuts[-1][0], cuts[-1][1], start)
        elif at < start:
            cuts.append(("div", at, start))
        if found:
            cuts.append(("div" if found[1] in _PROSE else "pre", start, end))
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


def _listed(ids: Sequence[int]) -> str:
    """Up to four ids, or the first and the last."""
    return ", ".join(map(str, ids)) if len(ids) <= 4 else f"{ids[0]} … {ids[-1]}"


def sampled(turn: Turn, chat: Chat, group: int, advantages: Sequence[float] | None) -> list[Block]:
    """The policy's tokens, block by block: ids, log-probabilities and advantages as hover text.

    Args:
        turn: the turn whose sampled ids are shown.
        chat: tokenizer of the ids.
        group: number of tokens that share an element.
        advantages: one for each sampled token, or None.
    """
    found = list(_grouped(list(pieces(turn.ids, chat)), group))
    parts = []
    for tag, a, b in blocks("".join(text for text, _, _ in found)):
        inside, offset = [], 0
        for text, start, end in found:
            # A token may reach over the end of a block ("><"): each block shows its part of it.
            part = text[max(0, a - offset) : max(0, b - offset)]
            inside += [_sampled((part, start, end), turn, advantages)] if part else []
            offset += len(text)
        parts.append(Block(tag, tuple(inside)))
    return parts


def _sampled(piece: Piece, turn: Turn, advantages: Sequence[float] | None) -> Token:
    text, start, end = piece
    mean = sum(turn.logprobs[start:end]) / (end - start)
    title = f"id {_listed(turn.ids[start:end])}: log p {mean:.2f}".replace("-", "−")
    if advantages is None:
        return Token(text, title)
    tint = Tint(sum(advantages[start:end]) / (end - start))
    return Token(text, f"{title}, A {signed(tint.advantage)}", tint)


def appended(ids: Sequence[int], chat: Chat, group: int) -> list[Token]:
    """Tokens that were not sampled: text, role tokens, and an image's tokens as one element.

    Args:
        ids: token ids of a prompt or an observation.
        chat: tokenizer of the ids.
        group: number of text tokens that share an element.
    """
    found = []
    special = {*chat.suppressed_ids, chat.end_id}
    for key, run in groupby(ids, key=lambda i: i if i in special else -1):
        some = list(run)
        if key == chat.image_id:
            found.append(Token(f"[image: {len(some)} tokens]", f"id {key}", control=True))
        elif key >= 0:
            text = str(chat.tokenizer.decode([key], skip_special_tokens=False))
            found += [Token(text, f"id {key}", control=True)] * len(some)
        else:
            grouped = _grouped(list(pieces(some, chat)), group)
            found += [Token(text, f"id {_listed(some[start:end])}") for text, start, end in grouped]
    return found
