"""Procedural perception: what the tiny VLM is taught before any agent is made of it.

Each skill is a function ``(rng, pool) -> Sample``: images and one or more question-answer
pairs. ``pool`` holds images to take views of: procedural scenes (:func:`pictures.scenes.scene`), photographs.
A skill teaches *seeing* or (:mod:`tiny.skills.text`) copying, and reading and writing a line of Python, as any base
model can. In none does an agent act: to decide what to do in a turn, to do it and to answer in the end is what
SFT and GRPO teach. Nearest to a task of a paper (a jigsaw) are ``order``, which says in words where each of four pieces
belongs, and ``sorting``, which says of two lists of words what to exchange.
"""

from __future__ import annotations

from tiny.skills import flag_lookup, flags, lookup, reading, seeing, text
from tiny.skills.text import Skill

SKILLS: dict[str, Skill] = {
    f.__name__: f
    for f in (
        *(seeing.place, seeing.order, seeing.neighbours, seeing.rearranged, seeing.adjacency, seeing.colours),
        *(seeing.shapes, seeing.digits, seeing.orientation, seeing.chart, text.copying, text.code, text.sorting),
        *(
            reading.reading,
            reading.grid,
            reading.cards,
            reading.distorted,
            flags.flags,
            lookup.facts,
            flag_lookup.whose,
        ),
    )
}
"""All skills by name."""
