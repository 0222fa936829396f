"""Samples that teach looking a flag up: say it in words, then find it among lines about several like it.

Flags and places are invented. Each flag is described as an encyclopaedia does it, in more and other words than those by
which the model says what it sees; the others in the list differ from it in little: a colour, an order, a star.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kit.tools.search import shortened
from pictures.scenes import Pixels
from tiny.skills.flags import CLOTH, compose
from tiny.skills.lookup import FIELDS, asked_for, invented, listed, tail, value
from tiny.skills.text import Sample

COLOUR = "|".join(sorted(CLOTH, key=len, reverse=True))
NUMBERS = {2: "two", 3: "three"}
THIS = "the country with this flag"
"""What a question says of a country that its image tells."""


def _and(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)}{',' * (len(most) > 1)} and {last}" if most else last


def _layout(rng: np.random.Generator, part: str) -> str:
    """The first part of what a flag looks like, at length."""
    plain, edges = re.fullmatch(rf"(.*?)(?: ({COLOUR}) edges)?", part).groups()  # type: ignore[union-attr]
    kind, *names = re.findall(rf"^(?:horizontal|vertical) (?:bands|stripes)|{COLOUR}", plain)
    if kind.endswith("stripes"):
        return f"{rng.choice(['five', 'seven', 'nine', '11', '13'])} {kind} of {names[0]} alternating with {names[1]}"
    names[0] += " (top)" if kind.startswith("horizontal") else str(rng.choice([" (left side)", " (left)"]))
    equal = "equal " if rng.random() < 0.7 else ""
    return f"{NUMBERS[len(names)]} {equal}{kind} of {_and(names)}{f' edged in {edges}' if edges else ''}"


def _diagonal(parts: Sequence[str]) -> str:
    colours = re.findall(COLOUR, " ".join(parts[:2]))
    if parts[0].startswith("diagonal band"):
        band, upper, lower = colours[:3]
        by = f"by {_a(band)} band"
    else:
        (upper, lower), by = colours[:2], "from corner to corner"
    return f"divided diagonally {by}; the upper triangle is {upper} and the lower triangle is {lower}"


def _a(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _more(rng: np.random.Generator, part: str) -> str:
    """Another part, at length."""
    where = ("in the center", "centered", "on it")[int(rng.integers(3))]
    if part == "arms":
        return f"the {'national ' * (rng.random() < 0.5)}coat of arms {where}"
    if part == "UK flag corner":
        return "the UK flag in the upper-left quadrant"
    colour, _, thing = re.fullmatch(rf"((?:diagonal )?(?:{COLOUR}))( )(.+)", part).groups()  # type: ignore[union-attr]
    return {
        "triangle": f"{_a(colour)} isosceles triangle based on the left side",
        "left band": f"a vertical {colour} band on the left side",
        "corner": f"{_a(colour)} {rng.choice(['square', 'rectangle'])} in the upper-left corner",
        "edges": f"edged in {colour}",
        "cross": f"{_a(colour)} cross that extends to the edges of the flag",
        "star": f"a {'large ' * (rng.random() < 0.3)}five-pointed {colour} star {where}",
        "stars": f"{rng.choice(['two', 'three', 'four', 'five', 'several'])} {colour} stars {where}",
        "crescent": f"{_a(colour)} crescent moon {where}",
        "sun": f"{_a(colour)} sun with rays {where}",
        "disk": f"{_a('large ' * (rng.random() < 0.3) + colour)} disk {where}",
    }[thing]


def at_length(rng: np.random.Generator, said: str) -> str:
    """Describe a flag (:func:`tiny.skills.flags.compose`) as an encyclopaedia does."""
    first, *rest = said.split(", ")
    if first.startswith("diagonal"):
        text = _diagonal([first, *rest])
        rest = rest[1:] if first.startswith("diagonal band") else rest
    elif first.endswith("field"):
        text = first if rng.random() < 0.4 else first.removesuffix(" field")
    else:
        text = _layout(rng, first)
    if not rest:
        return text
    return f"{text}{rng.choice([' with ', '; ', ', with '])}{_and([_more(rng, part) for part in rest])}"


def alike(rng: np.random.Generator, said: str) -> str:
    """Another flag's looks, that differ from these in little: one colour is another, or two are exchanged."""
    found = list(re.finditer(COLOUR, said))
    colours = [match[0] for match in found]
    if len(set(colours)) > 1 and rng.random() < 0.5:
        one, two = (str(c) for c in rng.choice(sorted(set(colours)), size=2, replace=False))
        colours = [{one: two, two: one}.get(colour, colour) for colour in colours]
    elif colours:
        one = colours[int(rng.integers(len(colours)))]
        other = str(rng.choice([colour for colour in CLOTH if colour not in colours]))
        colours = [other if colour == one else colour for colour in colours]
    pieces = re.split(COLOUR, said)
    return "".join(f"{piece}{colour}" for piece, colour in zip(pieces, [*colours, ""], strict=True))


def _looked_up(rng: np.random.Generator, place: str) -> tuple[tuple[str, str], ...]:
    """A question about a flag's country: with its name, as a query, and answered from what is found."""
    field = str(rng.choice(FIELDS))
    right = value(rng, field)
    called, answer = asked_for(field, right)
    asked = f"What is the {called} of {THIS}?"
    lines = [f"{place}, {field}: {right}"]
    lines += [f"{invented(rng)}, {other}: {value(rng, other)}" for other in rng.choice(FIELDS, int(rng.integers(0, 3)))]
    return (
        (f"{asked} Put in whose it is.", f"What is the {called} of {place}?"),
        ("What to look up?", f"{place} {called}."),
        (listed(rng, lines), f"{answer}."),
    )


def whose(rng: np.random.Generator, pool: Sequence[Pixels]) -> Sample:
    """An invented flag: what it looks like, and whose it is, of a few alike; then something about its country."""
    del pool
    image, said = compose(rng)
    place = invented(rng)
    longest = int(rng.integers(70, 200))
    lines = {shortened(at_length(rng, said) + tail(rng), longest): place}
    for _ in range(int(rng.integers(1, 4))):
        other = compose(rng)[1] if rng.random() < 0.4 else alike(rng, said)
        if other != said:
            lines.setdefault(shortened(at_length(rng, other) + tail(rng), longest), invented(rng))
    found = listed(rng, [f"{name}, flag, description: {text}" for text, name in lines.items()])
    turns: list[tuple[tuple[str | Pixels, ...], str]] = [
        ((np.asarray(image), "What does the flag look like?"), f"{said}."),
        ((f"{found} Whose flag is it?",), f"{place}."),
    ]
    if rng.random() < 0.6:
        turns += [((asked,), answer) for asked, answer in _looked_up(rng, place)]
    return Sample("whose", tuple(turns))
