"""Put distractors around a question, so that neither seeing nor answering depends on being asked barely.

A model that was only ever asked bare questions sees nothing once an instruction stands around them.
Measured: a base that placed the pieces of 94 % of puzzles placed those of 71 % behind a system text
of two words and of none behind a paper's; supervised fine-tuning didn't bring it back. Taught amid words that mean
nothing it places as many behind that one as when asked barely: those of 67 of 72 puzzles, both times.

Fine-tuning of such a base still took a quarter of its seeing: within some thirty steps, while tags, code and later
turns, all unheard of, were learnt. So questions also come later in a conversation, and answers inside tags, with a
line of text or code after them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kit.chat import Chat
from pictures.scenes import Pixels
from tiny.skills import SKILLS
from tiny.skills.text import WORDS, Sample, code, copying, sorting

TAGS = ("think", "code", "answer", "search", "information", "zoom", "rethink", "interpreter", "tool_call")
"""The agents' tags."""


def vocabulary(chat: Chat) -> list[str]:
    """List the text of each token, control tokens and parts of letters left out, and many times the skills' words.

    An instruction's words are often those of the question, letters too.
    """
    special = set(chat.tokenizer.all_special_ids)
    texts = [chat.decode([i]) for i in range(len(chat.tokenizer)) if i not in special]
    return [text for text in texts if text and "\ufffd" not in text] + WORDS * 10


def in_distractors(rng: np.random.Generator, sample: Sample, words: Sequence[str]) -> Sample:
    """Put distractors around the questions: a system text, a remark, an opening to say first.

    To say any opening it has to know every word, too.

    Args:
        rng: source of all randomness.
        sample: the sample.
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


def in_tags(rng: np.random.Generator, sample: Sample, after: Sample) -> Sample:
    """The first question answered inside one tag, and ``after``'s, of text alone, inside another.

    Args:
        rng: source of all randomness.
        sample: the sample.
        after: a sample whose answer goes into the second tag.
    """
    (question, answer), *rest = sample.turns
    (((asked_after,), answer_after), *_) = after.turns
    *parts, asked = question
    first, second = (str(tag) for tag in rng.choice(TAGS, size=2, replace=False))
    if rng.random() < 0.5:
        first, second = "think", str(rng.choice(["code", "answer"]))
    if after.skill == "code":
        answer_after = answer_after.removesuffix(".")
    asked = f"<{first}> {asked} <{second}> {asked_after}"
    answer = f"<{first}>{answer}</{first}><{second}>{answer_after}</{second}>"
    return Sample(sample.skill, (((*parts, asked), answer), *rest), sample.system)


def as_later_turn(first: Sample, sample: Sample) -> Sample:
    """Ask the questions after another sample's."""
    return Sample(sample.skill, (*first.turns, *sample.turns), sample.system)


def within(rng: np.random.Generator, sample: Sample, words: Sequence[str], pool: Sequence[Pixels]) -> Sample:
    """Ask among distractors, four in ten in tags and three in ten later in a conversation.

    Args:
        rng: source of all randomness.
        sample: the sample.
        words: words to draw distractors from.
        pool: images to take views of, ``(height, width, 3)`` bytes each.
    """
    if rng.random() < 0.4:
        sample = in_tags(rng, sample, (copying, code, sorting)[int(rng.integers(3))](rng, pool))
    sample = in_distractors(rng, sample, words)
    if rng.random() < 0.3:
        sample = as_later_turn(list(SKILLS.values())[int(rng.integers(len(SKILLS)))](rng, pool), sample)
    return sample
