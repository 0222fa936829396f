"""Samples that teach flags: the words that say what one looks like.

The flags are invented: bands, stripes, crosses and diagonals in any colours, with or without a triangle, a corner,
stars, a disk, a crescent, a sun, arms. The words are those that encyclopaedias describe real flags by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image, ImageDraw

from pictures.scenes import Pixels
from tiny.skills.text import Sample

WIDTH, HEIGHT = 168, 84
"""Six tokens by three."""

Colour = tuple[int, int, int]
Point = tuple[float, float]

CLOTH: dict[str, tuple[Colour, ...]] = {
    "red": ((206, 17, 38), (255, 0, 0), (218, 41, 28), (150, 40, 45), (255, 60, 50)),
    "white": ((255, 255, 255), (248, 248, 248)),
    "blue": ((0, 51, 160), (0, 0, 160), (0, 82, 165), (10, 30, 100), (65, 100, 220)),
    "light blue": ((117, 170, 219), (90, 180, 230), (0, 160, 222)),
    "green": ((0, 122, 61), (0, 150, 70), (50, 160, 45), (0, 85, 55), (20, 180, 60)),
    "yellow": ((255, 205, 0), (252, 209, 22), (255, 240, 20), (245, 190, 70)),
    "black": ((0, 0, 0), (20, 20, 20)),
    "orange": ((255, 130, 0), (255, 150, 55), (215, 110, 20)),
}
"""Cloth is dyed in many a red."""
OFTEN = (0.22, 0.2, 0.15, 0.06, 0.15, 0.12, 0.07, 0.03)


def _dye(rng: np.random.Generator, name: str) -> Colour:
    r, g, b = (
        int(np.clip(v + rng.integers(-12, 13), 0, 255)) for v in CLOTH[name][int(rng.integers(len(CLOTH[name])))]
    )
    return r, g, b


def _colours(rng: np.random.Generator, n: int, but: Sequence[str] = ()) -> list[str]:
    """``n`` colours, neighbours different; none of ``but``."""
    names: list[str] = []
    while len(names) < n:
        name = str(rng.choice(list(CLOTH), p=OFTEN))
        if name not in but and (not names or names[-1] != name):
            names.append(name)
    return names


class _Flag:
    """A flag while it is being composed: its cloth, what is said of it, the colours a charge should not have."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.image = Image.new("RGB", (WIDTH, HEIGHT))
        self.draw = ImageDraw.Draw(self.image)
        self.said: list[str] = []
        self.under: list[str] = []
        self.centre: Point = (WIDTH / 2, HEIGHT / 2)

    def dye(self, name: str) -> Colour:
        return _dye(self.rng, name)

    def fill(self, name: str) -> None:
        self.draw.rectangle((0, 0, WIDTH, HEIGHT), fill=self.dye(name))


def _bands(flag: _Flag) -> None:
    """Two or three, side by side or one above the other, equal or one of double width."""
    rng = flag.rng
    upright = rng.random() < 0.4
    n = 3 if rng.random() < 0.75 else 2
    names = _colours(rng, n)
    widths = np.ones(n)
    if rng.random() < 0.25:
        widths[1 if rng.random() < 0.7 else 0] = rng.uniform(1.3, 2.2)
    ends = np.concatenate([[0], np.cumsum(widths) / widths.sum()])
    for name, a, b in zip(names, ends[:-1], ends[1:], strict=True):
        box = (a * WIDTH, 0, b * WIDTH, HEIGHT) if upright else (0, a * HEIGHT, WIDTH, b * HEIGHT)
        flag.draw.rectangle(box, fill=flag.dye(name))
    if n == 3 and rng.random() < 0.12:  # narrow edges of the middle one
        (edge,) = _colours(rng, 1, but=names)
        for end in ends[1:-1]:
            at = end * (WIDTH if upright else HEIGHT)
            box = (at - 2, 0, at + 2, HEIGHT) if upright else (0, at - 2, WIDTH, at + 2)
            flag.draw.rectangle(box, fill=flag.dye(edge))
        names.append(f"{edge} edges")
    flag.said.append(f"{'vertical' if upright else 'horizontal'} bands {' '.join(names)}")
    flag.under = [names[1]] if n == 3 else names[:2]


def _stripes(flag: _Flag) -> None:
    """Five to thirteen, of two colours by turns."""
    rng = flag.rng
    first, second = _colours(rng, 2)
    n = int(rng.choice([5, 7, 9, 11, 13]))
    dyes = flag.dye(first), flag.dye(second)
    for k in range(n):
        flag.draw.rectangle((0, k * HEIGHT / n, WIDTH, (k + 1) * HEIGHT / n), fill=dyes[k % 2])
    flag.said.append(f"horizontal stripes {first} {second}")
    flag.under = [first, second]


def _field(flag: _Flag) -> None:
    """One colour."""
    (name,) = _colours(flag.rng, 1)
    flag.fill(name)
    flag.said.append(f"{name} field")
    flag.under = [name]


def _cross(flag: _Flag) -> None:
    """To the edges, upright or from corner to corner, with or without an outline."""
    rng = flag.rng
    ground, name = _colours(rng, 2)
    flag.fill(ground)
    thick = rng.uniform(7, 11)
    layers = [(name, thick)]
    outline = _colours(rng, 1, but=(ground, name))[0] if rng.random() < 0.4 else ""
    if outline:
        layers.insert(0, (outline, thick * 1.7))
    saltire = rng.random() < 0.25
    x = WIDTH * float(rng.choice([0.36, 0.5]))
    for colour, wide in layers:
        dye = flag.dye(colour)
        if saltire:
            for line in ((0, 0, WIDTH, HEIGHT), (0, HEIGHT, WIDTH, 0)):
                flag.draw.line(line, fill=dye, width=round(wide * 1.5))
        else:
            flag.draw.rectangle((x - wide, 0, x + wide, HEIGHT), fill=dye)
            flag.draw.rectangle((0, HEIGHT / 2 - wide, WIDTH, HEIGHT / 2 + wide), fill=dye)
    flag.said.append(f"{ground} field, {'diagonal ' if saltire else ''}{name} cross")
    if outline:
        flag.said.append(f"{outline} edges")
    flag.under, flag.centre = [name], ((WIDTH / 2 if saltire else x), HEIGHT / 2)


def _diagonal(flag: _Flag) -> None:
    """A band from corner to corner between two triangles, or the triangles alone."""
    rng = flag.rng
    upper, lower, band = _colours(rng, 3)
    rising = rng.random() < 0.6
    flag.fill(upper)
    ends = ((0, HEIGHT), (WIDTH, 0)) if rising else ((0, 0), (WIDTH, HEIGHT))
    flag.draw.polygon([*ends, (WIDTH, HEIGHT) if rising else (0, HEIGHT)], fill=flag.dye(lower))
    with_band = rng.random() < 0.75
    if with_band:
        edges = _colours(rng, 1, but=(upper, band, lower))[0] if rng.random() < 0.6 else ""
        if edges:
            flag.draw.line([*ends], fill=flag.dye(edges), width=34)
        flag.draw.line([*ends], fill=flag.dye(band), width=22)
        flag.said.append(f"diagonal band {band}, {upper} {lower}" + (f", {edges} edges" if edges else ""))
    else:
        flag.said.append(f"diagonal {upper} {lower}")
    flag.under = [band] if with_band else [upper, lower]


LAYOUTS: tuple[tuple[Callable[[_Flag], None], float], ...] = (
    (_bands, 0.52),
    (_field, 0.2),
    (_cross, 0.1),
    (_stripes, 0.08),
    (_diagonal, 0.1),
)


def _hoist(flag: _Flag) -> None:
    """Something at the left: a triangle, an upright band, a square in the upper corner."""
    rng = flag.rng
    kind = ("triangle", "band", "corner")[int(rng.choice(3, p=[0.5, 0.2, 0.3]))]
    (name,) = _colours(rng, 1, but=flag.under)
    dye = flag.dye(name)
    if kind == "triangle":
        tip = rng.uniform(0.28, 0.5) * WIDTH
        flag.draw.polygon([(0, 0), (tip, HEIGHT / 2), (0, HEIGHT)], fill=dye)
        flag.centre = (tip * 0.36, HEIGHT / 2)
    elif kind == "band":
        flag.draw.rectangle((0, 0, WIDTH * 0.3, HEIGHT), fill=dye)
        flag.centre = (WIDTH * 0.15, HEIGHT / 2)
    else:
        flag.draw.rectangle((0, 0, WIDTH * 0.4, HEIGHT * 0.52), fill=dye)
        flag.centre = (WIDTH * 0.2, HEIGHT * 0.26)
    flag.said.append(f"{name} {'left band' if kind == 'band' else kind}")
    flag.under = [name]


def _union(flag: _Flag) -> None:
    """The British flag in the upper left corner, as on those of a dozen countries."""
    draw, w, h = flag.draw, WIDTH * 0.5, HEIGHT * 0.5
    blue, white, red = flag.dye("blue"), flag.dye("white"), flag.dye("red")
    draw.rectangle((0, 0, w, h), fill=blue)
    for dye, wide in ((white, 6), (red, 2)):
        draw.line((0, 0, w, h), fill=dye, width=wide)
        draw.line((0, h, w, 0), fill=dye, width=wide)
    for dye, half in ((white, 5.5), (red, 3)):
        draw.rectangle((w / 2 - half, 0, w / 2 + half, h), fill=dye)
        draw.rectangle((0, h / 2 - half, w, h / 2 + half), fill=dye)
    flag.said.append("UK flag corner")
    flag.centre = (WIDTH * 0.76, HEIGHT / 2)


def star_points(cx: float, cy: float, radius: float, points: int = 5, inner: float = 0.4) -> list[Point]:
    """The corners of a star, its tip up.

    Args:
        cx: centre along the width, in pixels.
        cy: centre along the height.
        radius: distance of the tips in pixels.
        points: number of tips.
        inner: distance of the inner corners, as a share of ``radius``.
    """
    angle = np.arange(2 * points) * np.pi / points - np.pi / 2
    reach = np.where(np.arange(2 * points) % 2 == 0, radius, radius * inner)
    return [(float(cx + np.cos(a) * r), float(cy + np.sin(a) * r)) for a, r in zip(angle, reach, strict=True)]


def _crescent(flag: _Flag, dye: Colour, cx: float, cy: float, size: float) -> bool:
    """A crescent, and perhaps a star in its arms: is there one?"""
    draw, star = flag.draw, flag.rng.random() < 0.6
    under = flag.image.getpixel((int(np.clip(cx + size * 1.3, 0, WIDTH - 1)), int(cy)))
    draw.ellipse((cx - size, cy - size, cx + size, cy + size), fill=dye)
    draw.ellipse((cx - size * 0.45, cy - size * 0.8, cx + size * 1.15, cy + size * 0.8), fill=under)
    if star:
        draw.polygon(star_points(cx + size * 0.55, cy, size * 0.4), fill=dye)
    return star


def _arms(flag: _Flag, cx: float, cy: float, size: float) -> None:
    """Small, of many colours."""
    rng = flag.rng
    for _ in range(14):
        at = cx + rng.normal() * size * 0.35, cy + rng.normal() * size * 0.45
        part = size * rng.uniform(0.15, 0.4)
        box = (at[0] - part, at[1] - part, at[0] + part, at[1] + part)
        flag.draw.ellipse(box, fill=flag.dye(_colours(rng, 1)[0]))


def _charge(flag: _Flag, on_disk: bool = False) -> None:
    """One thing on the cloth: star, stars, disk (now and then with something on it), crescent, sun or arms."""
    rng, draw = flag.rng, flag.draw
    kind = str(rng.choice(["star", "stars", "disk", "crescent", "sun", "arms"], p=[0.25, 0.15, 0.15, 0.15, 0.1, 0.2]))
    if on_disk:
        kind = ("star", "crescent", "arms")[int(rng.integers(3))]
    (name,) = _colours(rng, 1, but=flag.under)
    dye, (cx, cy) = flag.dye(name), flag.centre
    size = rng.uniform(11, 19) if cy > HEIGHT / 3 else rng.uniform(8, 13)
    if kind == "star":
        draw.polygon(star_points(cx, cy, size), fill=dye)
    elif kind == "stars":
        for _ in range(int(rng.integers(2, 7))):
            at = cx + rng.uniform(-1.3, 1.3) * size, cy + rng.uniform(-1, 1) * size
            draw.polygon(star_points(*at, size * 0.32), fill=dye)
    elif kind == "disk":
        size *= rng.uniform(0.8, 1.4)
        draw.ellipse((cx - size, cy - size, cx + size, cy + size), fill=dye)
        flag.said.append(f"{name} disk")
        if size > 17 and rng.random() < 0.5:
            flag.under = [name]
            _charge(flag, on_disk=True)
        return
    elif kind == "crescent":
        if _crescent(flag, dye, cx, cy, size * (0.7 if on_disk else 1.0)):
            flag.said.append(f"{name} crescent, {name} star")
            return
    elif kind == "sun":
        draw.polygon(star_points(cx, cy, size * 1.2, 16, 0.65), fill=dye)
    else:
        _arms(flag, cx, cy, size)
        flag.said.append("arms")
        return
    flag.said.append(f"{name} {kind}")


def compose(rng: np.random.Generator) -> tuple[Image.Image, str]:
    """An invented flag, and what it looks like in words."""
    flag = _Flag(rng)
    layouts, shares = zip(*LAYOUTS, strict=True)
    layout = layouts[int(rng.choice(len(layouts), p=shares))]
    layout(flag)
    if layout in (_bands, _field, _stripes) and rng.random() < (0.6 if layout is _stripes else 0.35):
        (_union if layout is _field and rng.random() < 0.4 else _hoist)(flag)
    if rng.random() < (0.85 if layout is _field and len(flag.said) == 1 else 0.45):
        if layout is _field and len(flag.said) == 1 and rng.random() < 0.3:
            flag.centre = (WIDTH * 0.24, HEIGHT * 0.36)
        _charge(flag)
    return flag.image, ", ".join(flag.said)


def flags(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """An invented flag: what does it look like?"""
    del pool
    image, said = compose(rng)
    return Sample("flags", (((np.asarray(image), "What does the flag look like?"), f"{said}."),))
