"""Compose scenes of real cut-outs on photographs: every thing's box is known, and so is every answer.

Cut-outs are PNG files with transparency, named by what they show: ``zebra.png``. Debian's ``tuxpaint-stamps-default``
has 785 of them. The prompt shows a scene shrunk, and crops are cut from the scene as it was composed.

==========  =======================================  ===============================================
skill       question                                 answer
==========  =======================================  ===============================================
count       How many times do you see the zebra?     1 to 3, among other things
relation    The zebra is left of the bee. Is that …?  Yes or No, as VSR's statements
attribute   What lies furthest to the right?         the thing's name
==========  =======================================  ===============================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np
from PIL import Image

from kit.data.split import Side
from kit.episode import NamedImage, Task
from kit.images import rgb
from papers.mags_rl.boards import Box
from papers.mags_rl.tasks import TRIES, Difficulty, difficulty_of
from pictures.keyed import MakingError, side_of

ORIGINAL, SHOWN = 1024, 336
"""Pixels of a scene's side as crops are cut from it, and as the prompt shows it."""
CELLS: dict[Difficulty, int] = {"easy": 2, "medium": 3, "hard": 8}
"""Cells on a side of the grid that things lie in: each as large as its cell allows, or a little smaller."""
SKILLS = ("count", "relation", "attribute")
ENDS = {"to the left": (0, 1), "to the right": (0, -1), "up": (1, 1), "down": (1, -1)}
"""Words for an end of a scene: which axis, and the sign of what is furthest there."""
STATED = "{} Is that true?"
"""How a statement is asked about, the hub's as well."""

_NAME = re.compile(r"[a-z]{3,}(?:[ _-][a-z]{3,})*")


@dataclass(frozen=True)
class Thing:
    """A cut-out in a scene, and its box."""

    name: str
    box: Box

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre, as shares of the scene's sides."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2


def cutouts(folder: Path, side: Side) -> dict[str, Path]:
    """The cut-outs of one side by name; which side a name lies on follows from the name alone.

    Raises:
        MakingError: there are fewer than four.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.png")):
        name = path.stem.lower()
        if _NAME.fullmatch(name) and side_of(name) == side and _is_cut_out(path):
            found.setdefault(re.sub("[_-]", " ", name), path)
    if len(found) < 4:
        raise MakingError(
            f"{folder}: {len(found)} cut-outs for {side}; a scene needs at least 4 PNGs with transparency"
        )
    return found


def _is_cut_out(path: Path) -> bool:
    with Image.open(path) as image:
        return image.has_transparency_data


def compose(
    counts: Mapping[str, int], seed: int, side: Side, named: Mapping[str, Path], photographs: Sequence[Image.Image]
) -> list[Task]:
    """``counts[kind]`` scenes with a question each; task k of a kind is the same whatever the counts are.

    Args:
        counts: ``skill/difficulty`` → number of tasks.
        seed: fixes everything that is random.
        side: whose scenes.
        named: that side's cut-outs (:func:`cutouts`).
        photographs: that side's backgrounds.
    """
    return [_scene(kind, seed, side, k, named, photographs) for kind, n in counts.items() for k in range(n)]


def _scene(
    kind: str, seed: int, side: Side, k: int, named: Mapping[str, Path], photographs: Sequence[Image.Image]
) -> Task:
    skill, _, difficulty = kind.partition("/")
    if skill not in SKILLS or difficulty not in CELLS:
        raise MakingError(f"scenes of {kind!r}: give one of {', '.join(SKILLS)}, and easy, medium or hard")
    rng = np.random.default_rng([seed, crc32(f"{side} {kind}".encode()), k])
    for _ in range(TRIES):
        background = photographs[int(rng.integers(len(photographs)))]
        again = int(rng.integers(3)) if skill == "count" else 0
        first, *others = (str(name) for name in rng.choice(list(named), 4 - again, replace=False))
        names = [first] * (1 + again) + others
        image, things = _laid(rng, background, [(name, named[name]) for name in names], CELLS[difficulty])
        asked, answer, decides = _question(rng, skill, things)
        share = min((right - left) * (bottom - top) for left, top, right, bottom in decides)
        if difficulty_of(share) == difficulty:
            break
    else:
        raise MakingError(f"{kind}, seed {seed}, {side}: none of {TRIES} scenes is {difficulty}; give squarer cut-outs")
    meta = {
        "skill": skill,
        "difficulty": difficulty,
        "source": f"scene-{sha256(image.tobytes()).hexdigest()[:16]}",
        "things": [[thing.name, list(thing.box)] for thing in things],
        "count": len(decides) if skill == "count" else None,
        "boxes": [list(box) for box in decides],
        "parts": [list(box) for box in decides],
        "share": share,
    }
    small = image.resize((SHOWN, SHOWN), Image.Resampling.LANCZOS)
    name = f"{side}-scene-{skill}-{difficulty}-s{seed}-{k:04d}"
    return Task(name, (NamedImage("image", small),), asked, (answer,), meta, (NamedImage("image", image),))


def _laid(
    rng: np.random.Generator, background: Image.Image, files: Sequence[tuple[str, Path]], cells: int
) -> tuple[Image.Image, list[Thing]]:
    """Lay cut-outs on a photograph, each in a cell of its own: no two of them touch."""
    image = rgb(background).resize((ORIGINAL, ORIGINAL), Image.Resampling.BICUBIC)
    cell, things = ORIGINAL // cells, []
    for (name, path), at in zip(files, rng.permutation(cells * cells), strict=False):
        with Image.open(path) as opened:
            rgba = opened.convert("RGBA")
        whole = rgba.crop(rgba.getchannel("A").getbbox())
        scale = cell * rng.uniform(0.8, 0.95) / max(whole.size)
        size = max(1, round(whole.width * scale)), max(1, round(whole.height * scale))
        x = int(at) % cells * cell + int(rng.integers(cell - size[0] + 1))
        y = int(at) // cells * cell + int(rng.integers(cell - size[1] + 1))
        part = whole.resize(size, Image.Resampling.LANCZOS)
        image.paste(part, (x, y), part)
        left, top, right, bottom = (v / ORIGINAL for v in (x, y, x + size[0], y + size[1]))
        things.append(Thing(name, (left, top, right, bottom)))
    return image, things


def _question(rng: np.random.Generator, skill: str, things: Sequence[Thing]) -> tuple[str, str, list[Box]]:
    """A question about a scene, its answer, and the boxes of what decides it."""
    first, other = things[0], things[-1]
    if skill == "count":
        boxes = [thing.box for thing in things if thing.name == first.name]
        return f"How many times do you see the {first.name}?", str(len(boxes)), boxes
    if skill == "relation":
        apart = [abs(first.middle[axis] - other.middle[axis]) for axis in (0, 1)]
        axis = apart.index(max(apart))
        if rng.random() < 0.5:
            first, other = other, first
        stated = f"The {first.name} is {('left of', 'above')[axis]} the {other.name}."
        return STATED.format(stated), ("No", "Yes")[first.middle[axis] < other.middle[axis]], [first.box, other.box]
    leads = {words: _furthest(things, *end) for words, end in ENDS.items()}
    words = max(leads, key=lambda words: leads[words][0])
    found = leads[words][1]
    return f"What lies furthest {words}?", found.name, [found.box]


def _furthest(things: Sequence[Thing], axis: int, sign: int) -> tuple[float, Thing]:
    """The thing that is furthest along an axis, after how far the next one is behind it."""
    first, second, *_ = sorted(things, key=lambda thing: sign * thing.middle[axis])
    return sign * (second.middle[axis] - first.middle[axis]), first
