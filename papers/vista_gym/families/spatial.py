"""Spatial: CLEVR and, outside of the distribution, CLEVR-Math, on scenes of coloured things.

===========  =================================================  ==============================================
set          asks                                               by
===========  =================================================  ==============================================
CLEVR        how many of a colour, a shape, both                groundingdino.detect, task count
CLEVR-Math   how many of two colours together; how many are     groundingdino.detect, and multimath.solve where
             left if some are taken away                        something is taken away
===========  =================================================  ==============================================
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from PIL import Image

from papers.vista_gym.drawn import Drawn, call, one_of, several
from papers.vista_gym.families.things import AREA, DYES, SHAPES, Thing, paper, scatter, told

DETECT = "groundingdino.detect"


def scene(rng: np.random.Generator) -> tuple[Image.Image, list[Thing]]:
    """Eight to 16 things of three or four colours, at least one of each."""
    image, dyes = paper(rng), several(rng, DYES, int(rng.integers(3, 5)))
    more = [one_of(rng, dyes) for _ in range(int(rng.integers(8, 17)) - len(dyes))]
    return image, scatter(rng, image, [(dye, one_of(rng, SHAPES)) for dye in (*dyes, *more)])


def clevr(rng: np.random.Generator) -> Drawn:
    """Ask how many things of a colour, of a shape, or of both there are."""
    image, things = scene(rng)
    one, by = one_of(rng, things), one_of(rng, ("colour", "shape", "both"))
    caption = {"colour": f"{one.colour} thing", "shape": one.shape, "both": f"{one.colour} {one.shape}"}[by]
    alike = [
        t for t in things if (by == "shape" or t.colour == one.colour) and (by == "colour" or t.shape == one.shape)
    ]
    asked = ("How many {0}s are there?", "How many {0}s do you see?", "What is the number of {0}s?")
    question = one_of(rng, asked).format(caption)
    right = call(DETECT, "count", caption=caption)
    return Drawn(image, question, str(len(alike)), f"scene {told(things)}", (right,), AREA)


def clevr_math(rng: np.random.Generator) -> Drawn:
    """Ask how many things of two colours there are together, or how many are left."""
    image, things = scene(rng)
    numbers = Counter(t.colour for t in things)
    one, two = several(rng, sorted(numbers), 2)
    if rng.random() < 0.5:
        question = f"How many things are {one} or {two}?"
        right: tuple[str, ...] = (call(DETECT, "count", caption=f"{one} thing. {two} thing"),)
        answer = numbers[one] + numbers[two]
    else:
        taken = int(rng.integers(1, numbers[one] + 1))
        question = f"Take {taken} of the {one} things away. How many {one} things are left?"
        right = (
            call(DETECT, "count", caption=f"{one} thing"),
            call("multimath.solve", question=f"{numbers[one]} - {taken}"),
        )
        answer = numbers[one] - taken
    return Drawn(image, question, str(answer), f"scene {told(things)}", right, AREA)


SIDE = 112
"""Pixels of a scene that is counted at sight."""


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask how many large shapes there are: one to four, one in each of some quarters."""
    image, n = paper(rng, (SIDE, SIDE)).point(lambda level: level // 2), int(rng.integers(1, 5))
    things: list[Thing] = []
    half = SIDE // 2
    for quarter, dye in zip(several(rng, range(4), n), several(rng, DYES, n), strict=True):
        left, top = quarter % 2 * half, quarter // 2 * half
        things += scatter(rng, image, [(dye, one_of(rng, SHAPES[:3]))], (left, top, left + half, top + half), (28, 47))
    return Drawn(image, "How many shapes?", str(len(things)), f"shapes {told(things)}")
