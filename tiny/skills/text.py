"""Samples that teach text: copying, putting lists in order, a line of Python.

A pretrained language model brings all this; agents are made of what a model can already say. Words, names and numbers
are drawn at random, so that nothing but the form can be learnt by heart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pictures.permutations import exchanged, swaps
from pictures.scenes import Pixels


@dataclass(frozen=True)
class Sample:
    """One training conversation: ``turns`` of (question parts, answer); images stand among the parts.

    ``system`` is a text ahead of it, if any.
    """

    skill: str
    turns: tuple[tuple[tuple[str | Pixels, ...], str], ...]
    system: str = ""


Skill = Callable[[np.random.Generator, Sequence[Pixels]], Sample]
"""Draws a sample, given images to take views of."""


# fmt: off
WORDS = [
    "red", "green", "blue", "circle", "square", "star", "paris", "rome", "oslo", "lima", "cat", "dog",
    "fox", "owl", "tea", "milk", "north", "south", "seven", "nine", "river", "stone", "A", "B",
    "C", "D", "E", "F", "G", "H", "I", "top", "left", "right", "bottom",
]
# fmt: on


def copying(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Text only: repeat a list, look a word up, exchange two items."""
    del pool
    words = [str(w) for w in rng.choice(WORDS, size=int(rng.integers(3, 6)), replace=False)]
    kind = int(rng.integers(3))
    if kind == 0:
        return Sample("copying", (((f"Repeat: {', '.join(words)}",), f"{', '.join(words)}."),))
    if kind == 1:
        values = [str(w) for w in rng.choice([w for w in WORDS if w not in words], size=len(words), replace=False)]
        pairs = ", ".join(f"{k} {v}" for k, v in zip(words, values, strict=True))
        one, two = int(rng.integers(len(words))), int(rng.integers(len(words)))
        return Sample(
            "copying",
            (
                ((f"{pairs}. What follows {words[one]}?",), f"{values[one]}."),
                ((f"What comes before {values[two]}?",), f"{words[two]}."),
            ),
        )
    i, j = (int(v) for v in rng.choice(len(words), size=2, replace=False))
    answer = f"{', '.join(exchanged(words, i, j))}."
    return Sample("copying", (((f"{', '.join(words)}. Swap {i} and {j}.",), answer),))


LISTS = ("names", "items", "cards", "things", "state", "words")
CALLS = ("draw", "show", "paint", "plot", "observation", "crop", "zoom", "rotate", "blur")
"""Names in lines of Python: the agents' own and others, all used alike."""


def _name(rng: np.random.Generator, call: str, number: int) -> str:
    return f"{call}_image_{number}" if rng.random() < 0.7 else f"{call}_{number}"


def _call(rng: np.random.Generator, call: str, more: str) -> tuple[str, str]:
    """A call on an earlier image, described and written."""
    given = _name(rng, str(rng.choice(CALLS)), int(rng.integers(1, 4)))
    made = _name(rng, call, int(rng.integers(1, 4)))
    return f"{call} {given}, {more} as {made}.", f"{made} = {call}({given}, {more})."


def code(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Text only: read and write a line of Python: exchange items, call something, write a list."""
    del pool
    row, call = str(rng.choice(LISTS)), str(rng.choice(CALLS))
    words = [str(w) for w in rng.choice(WORDS, size=4, replace=False)]
    i, j = (int(v) for v in rng.choice(4, size=2, replace=False))
    swap = f"{row}[{i}], {row}[{j}] = {row}[{j}], {row}[{i}]"
    kind = int(rng.integers(5))
    if kind == 0:
        asked, answer = f"{row} = {', '.join(words)}. {swap}. Now {row}?", f"{', '.join(exchanged(words, i, j))}."
    elif kind == 1:
        made = _name(rng, call, int(rng.integers(1, 6)))
        asked = f"Swap {i} and {j} of {row}, then {call} {row} as {made}."
        answer = f"{swap}\n{made} = {call}({row})."
    elif kind == 2:
        box = ", ".join(str(round(float(v), 2)) for v in rng.choice(np.arange(0, 1.01, 0.05), size=4))
        asked, answer = _call(rng, call, f"[{box}]")
    elif kind == 3:
        asked, answer = _call(rng, call, str(round(float(rng.choice(np.arange(1, 4.01, 0.5))), 1)))
    else:
        quoted = ", ".join(f'"{word}"' for word in words)
        asked, answer = f"{row} = {', '.join(words)} as a list.", f"[{quoted}]."
    return Sample("code", (((asked,), answer),))


def sorting(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """Text only: of a list and the order it should have, say what to exchange first; then how it reads."""
    del pool
    known = list("ABCDEFGHI") if rng.random() < 0.5 else WORDS
    size = 4 if rng.random() < 0.7 else int(rng.integers(3, 8))
    right = [str(w) for w in rng.choice(known, size=size, replace=False)]
    now = list(right)
    for _ in range(int(rng.integers(0, 4))):
        i, j = (int(v) for v in rng.choice(size, size=2, replace=False))
        now = exchanged(now, i, j)
    goal = f"right order {', '.join(right)}."
    asked = f"Now {', '.join(now)}; {goal} What next?"
    if now == right:
        return Sample("sorting", (((asked,), "Every place is right."),))
    i, j = swaps(now, right)[0]
    now = exchanged(now, i, j)
    answer = f"Place {i} needs {right[i]}, swap {i} and {j}."
    return Sample("sorting", (((asked,), answer), (("And now?",), f"Now {', '.join(now)}; {goal}")))
