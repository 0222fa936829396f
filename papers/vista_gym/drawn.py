"""Describe a drawn question: what the tools open, its answer, and the calls that find it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from PIL import Image

T = TypeVar("T")


@dataclass(frozen=True)
class Drawn:
    """One drawn image and a question about it whose answer is known.

    Attributes:
        image: what the tools open; of a question that is answered at sight, what the prompt shows as well.
        question: what is asked, without options.
        answer: the gold answer.
        key: all that the image says; images of one key lie on one side of the split.
        calls: calls that find the answer, each as a turn writes it; none: it is answered at sight.
        wrong: a call that somebody might make as well, and that doesn't find the answer.
        rule: by which an answer is right (:data:`.answers.OFF`).
        options: to choose from, the answer among them; none: the question is open.
    """

    image: Image.Image
    question: str
    answer: str
    key: str
    calls: tuple[str, ...] = ()
    wrong: str = ""
    rule: str = "exact"
    options: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The question, with a line for each option."""
        return "\n".join(
            [self.question, *(f"{letter}. {text}" for letter, text in zip("ABCDE", self.options, strict=False))]
        )

    @property
    def right(self) -> tuple[str, ...]:
        """The gold answer, and its letter if there are options."""
        return (self.answer, *(["ABCDE"[self.options.index(self.answer)]] if self.options else []))


Maker = Callable[[np.random.Generator], Drawn]
"""Draws one of a set."""


def call(tool: str, task: str = "", **arguments: Any) -> str:
    """Write a call as a turn does.

    >>> call("easyocr.read", after="tea")
    '{"tool": "easyocr.read", "arguments": {"after": "tea"}}'
    """
    named = {"task": task} if task else {}
    return json.dumps({"tool": tool, **named, "arguments": arguments}, ensure_ascii=False)


def one_of(rng: np.random.Generator, some: Sequence[T]) -> T:
    """Choose any of these."""
    return some[int(rng.integers(len(some)))]


def several(rng: np.random.Generator, some: Sequence[T], n: int) -> list[T]:
    """Choose some of these, in any order.

    Args:
        rng: source of all randomness.
        some: to choose from.
        n: how many.
    """
    return [some[int(i)] for i in rng.permutation(len(some))[:n]]


def options(rng: np.random.Generator, answer: str, others: Sequence[str], n: int = 4) -> tuple[str, ...]:
    """The answer among others that differ from it, shuffled.

    Args:
        rng: source of all randomness.
        answer: the right one.
        others: wrong ones, perhaps the answer and doubles among them.
        n: how many options there are, the answer included.
    """
    rest = several(rng, [other for other in dict.fromkeys(others) if other != answer], n - 1)
    return tuple(several(rng, [answer, *rest], n))


def near(rng: np.random.Generator, answer: str) -> list[str]:
    """Numbers that somebody might take for the answer: a few more or fewer, but none below 0."""
    whole, _, part = answer.partition(".")
    offs = several(rng, [off for off in range(-9, 10) if off and int(whole) + off >= 0], 6)
    return [f"{int(whole) + off}{'.' if part else ''}{part}" for off in offs]
