"""Read a list of labels from an answer, however it is written."""

from __future__ import annotations

import re

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_QUOTES = ("''", '""', "\u2018\u2019", "\u201c\u201d")
"""What may stand around a label; typographic quotes, too, which prompts printed in papers have."""


def parse_labels(text: str) -> tuple[str, ...] | None:
    """Parse a list of labels from an answer: ``["B", "C"]``, ``['B', 'C']``, ``[B, C]`` or ``B, C``.

    As in Python, a comma may follow the last one. Returns None for anything else. Total: no text makes it raise.
    """
    body = text.strip()
    if body.startswith("[") != body.endswith("]"):
        return None
    if body.startswith("["):
        body = body[1:-1].strip()
    labels = []
    for item in body.removesuffix(",").split(","):
        label = item.strip()
        if len(label) >= 2 and label[0] + label[-1] in _QUOTES:
            label = label[1:-1]
        if not _LABEL.fullmatch(label) or not label.isascii():
            return None
        labels.append(label)
    return tuple(labels)
