"""What stands around a question: words that mean nothing, so that seeing doesn't depend on them.

A model that was only ever asked bare questions sees nothing once an instruction stands around them.
Measured: a base that placed the pieces of 94 % of puzzles placed those of 71 % behind a system text
of two words and of none behind AGILE's; supervised fine-tuning didn't bring it back. Taught amid such
words it places as many behind AGILE's as when asked barely: those of 67 of 72 puzzles, both times.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kit.chat import Chat
from kit.skills import WORDS, Sample


def vocabulary(chat: Chat) -> list[str]:
    """What each token says, control tokens and parts of letters left out, and many times the skills' words.

    An instruction's words are often those of the question, letters too.
    """
    special = set(chat.tokenizer.all_special_ids)
    texts = [chat.decode([i]) for i in range(len(chat.tokenizer)) if i not in special]
    return [text for text in texts if text and "\ufffd" not in text] + WORDS * 10


def amid(rng: np.random.Generator, sample: Sample, words: Sequence[str]) -> Sample:
    """The same questions amid words that mean nothing: a system text, a remark, an opening to say first.

    To say any opening it has to know every word, too.

    Args:
        words: what to draw from, all of a vocabulary.
    """

    def some(most: int) -> str:
        return "".join(words[int(k)] for k in rng.integers(len(words), size=int(rng.integers(1, most + 1))))

    (question, answer), *rest = sample.turns
    *parts, asked = question
    remark = f"{some(8)} " if rng.random() < 0.5 else ""
    opening = some(8).strip() if rng.random() < 0.5 else ""
    if opening:
        asked, answer = f"{asked} First say: {opening}", f"{opening}{answer}"
    system = some(80) if rng.random() < 0.7 else ""
    return Sample(sample.skill, (((*parts, f"{remark}{asked}"), answer), *rest), system)
