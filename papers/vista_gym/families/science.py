"""Science: ScienceQA, VizWiz and, outside of the distribution, AI2D, drawn with known labels and particles.

==========  =====================================================  ==========================================
set         asks                                                   by
==========  =====================================================  ==========================================
ScienceQA   how many particles are in a solution (of four)         groundingdino.detect, task count
            how warm something is, by a table                      easyocr.read: what stands right of a word
            work, from a force and a way in the text               multimath.solve
VizWiz      what a label says that somebody photographed askew     easyocr.read
AI2D        which stage follows another; how many there are        easyocr.read, groundingdino.detect
==========  =====================================================  ==========================================
"""

from __future__ import annotations

import numpy as np
from PIL import ImageDraw

from papers.vista_gym.drawn import Drawn, call, near, one_of, options, several
from papers.vista_gym.families.pages import label, page
from papers.vista_gym.families.things import AREA, DYES, arrows, paper, scatter, told
from pictures import documents
from pictures.documents import GOODS, TOWNS, font

FLASK = (120, 60, 520, 440)
"""Left, top, right and bottom of a flask, in pixels."""


def particles(rng: np.random.Generator) -> Drawn:
    """Ask how many particles of a colour a solution holds."""
    image, dyes = paper(rng), several(rng, DYES, 2)
    left, top, right, bottom = FLASK
    ImageDraw.Draw(image).line([(left, top), (left, bottom), (right, bottom), (right, top)], fill=(90, 90, 90), width=4)
    held = scatter(
        rng,
        image,
        [(one_of(rng, dyes), "circle") for _ in range(int(rng.integers(6, 15)))],
        (left + 12, top + 30, right - 12, bottom - 12),
        (29, 37),
    )
    colour = one_of(rng, held).colour
    answer = str(sum(one.colour == colour for one in held))
    question = one_of(rng, ("How many {0} particles are in the solution?", "Count the {0} particles.")).format(colour)
    asked = call("groundingdino.detect", "count", caption=f"{colour} circle")
    choices = options(rng, answer, near(rng, answer))
    return Drawn(image, question, answer, f"flask {told(held)}", (asked,), AREA, options=choices)


def warmth(rng: np.random.Generator) -> Drawn:
    """Ask how warm something is, by a table of a trial."""
    rows = [(name, str(rng.integers(11, 100))) for name in several(rng, GOODS, int(rng.integers(3, 6)))]
    name, answer = one_of(rng, rows)
    image = page(rng, [("probe", "degrees"), *rows], ruled=True, size=(520, 420))
    question = one_of(rng, ("How warm is the {0}?", "Which temperature has the {0}?")).format(name)
    wrong, choices = call("unichart.to_table", of=name), options(rng, answer, [value for _, value in rows])
    return Drawn(image, question, answer, f"trial {rows}", (call("easyocr.read", after=name),), wrong, options=choices)


def work(rng: np.random.Generator) -> Drawn:
    """Ask for the work of a force along a way that the question tells; the image shows only how they lie."""
    force, way = (int(v) for v in rng.integers(2, 40, 2))
    image, y = paper(rng), int(rng.integers(160, 360))
    ImageDraw.Draw(image).rectangle((120, y - 60, 220, y), fill=(150, 120, 90))
    arrows(image, [(220, y - 30), (220 + 6 * force, y - 30)])
    ImageDraw.Draw(image).line((40, y, 600, y), fill="black", width=3)
    question = f"A force of {force} N pushes the box {way} m along its own direction. What is its work, in joules?"
    right, wrong = call("multimath.solve", question=f"{force} * {way}"), call("cdl.goal", text=question)
    return Drawn(image, question, str(force * way), f"work {force} {way} {y}", (right,), wrong)


def scienceqa(rng: np.random.Generator) -> Drawn:
    """Any of these."""
    return one_of(rng, (particles, particles, warmth, work))(rng)


def vizwiz(rng: np.random.Generator) -> Drawn:
    """Ask what a label says, or for the number beside a word on it."""
    good, weight = one_of(rng, GOODS), str(rng.integers(2, 1000))
    wrong = call("unichart.to_table", of=good)
    if rng.random() < 0.5:
        question = one_of(rng, ("What does the label say?", "What is in this packet?", "What is this?"))
        image = label(rng, [good])
        return Drawn(
            image, question, good, f"label {good} {image.tobytes()[:64].hex()}", (call("easyocr.read"),), wrong
        )
    image = label(rng, [f"{good} {weight}"])
    question = one_of(rng, ("Which number stands beside {0}?", "How much {0} is in it?")).format(good)
    return Drawn(image, question, weight, f"label {good} {weight}", (call("easyocr.read", after=good),), wrong)


def ai2d(rng: np.random.Generator) -> Drawn:
    """Draw stages in a row, an arrow from each to the next: ask which follows, or how many there are."""
    names, image = several(rng, GOODS + TOWNS, int(rng.integers(3, 5))), paper(rng, (760, 320))
    pen, y, pitch = ImageDraw.Draw(image), int(rng.integers(110, 200)), 760 // 4
    dye = one_of(rng, DYES)
    spots = [(30 + k * pitch, y + 50, 30 + k * pitch + 30, y + 80) for k in range(len(names))]
    for k, name in enumerate(names):
        pen.text((20 + k * pitch, y), name, font=font("DejaVu Sans", 26), fill=(20, 20, 20))
        x, top, edge, bottom = spots[k]
        scatter(rng, image, [(dye, "circle")], (x, top - 4, edge + 10, bottom + 10), (28, 31))
        if k:
            arrows(image, [(x - pitch + 44, top + 16), (x - 8, top + 16)])
    key, at = f"stages {names} {dye} {y}", int(rng.integers(len(names) - 1))
    if rng.random() < 0.6:
        question = f"Which stage follows {names[at]}?"
        choices = options(rng, names[at + 1], names)
        right, wrong = call("easyocr.read", after=names[at]), call("groundingdino.detect", caption="text")
        return Drawn(image, question, names[at + 1], key, (right,), wrong, options=choices)
    right, wrong = (
        call("groundingdino.detect", "count", caption=f"{dye} circle"),
        AREA,
    )
    return Drawn(image, f"How many stages have a {dye} circle?", str(len(names)), key, (right,), wrong)


def at_sight(rng: np.random.Generator) -> Drawn:
    """Ask for the number on a meter: two or three digits in handwriting."""
    one = documents.number(rng, ())
    return Drawn(
        one.image, one.questions[0][0], one.questions[0][1], f"sheet number {one.text} {one.image.tobytes()[:99].hex()}"
    )
