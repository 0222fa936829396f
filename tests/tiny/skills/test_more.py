"""Reading, flags, facts: each answer is worked out here from the pixels or the lines shown, not from the code."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from pictures.distortion import Kind, distort, draw
from pictures.documents import SIDE, WORDS, receipt
from pictures.scenes import Pixels, scene
from tiny.skills.flag_lookup import whose
from tiny.skills.flags import CLOTH, flags
from tiny.skills.lookup import FIELDS, facts
from tiny.skills.reading import cards, distorted, grid, mishap, named, reading

POOL: list[Pixels] = [scene(np.random.default_rng(i), 168) for i in range(2)]


def colour_of(pixel: np.ndarray) -> set[str]:
    """The names whose dyes are about as near as the nearest one's."""
    off = {name: min(float(np.abs(pixel - np.array(dye)).sum()) for dye in dyes) for name, dyes in CLOTH.items()}
    return {name for name, distance in off.items() if distance <= min(off.values()) + 40}


def first(sample) -> tuple[list, str, str]:
    *parts, question = sample.turns[0][0]
    return parts, question, sample.turns[0][1].removesuffix(".")


@pytest.mark.parametrize("way", ["horizontal", "vertical"])
def test_bands_are_said_in_the_order_they_are_sewn(way: str) -> None:
    checked = 0
    for seed in range(400):
        (picture,), _, said = first(flags(np.random.default_rng(seed), POOL))
        layout, *more = said.split(", ")
        if not layout.startswith(f"{way} bands") or more or "edges" in layout:
            continue
        names = re.findall(r"light blue|\w+", layout.removeprefix(f"{way} bands "))
        line = picture[:, 160] if way == "horizontal" else picture[80]
        seen = [line[k] for k in range(0, len(line), 2)]
        at = 0
        for pixel in seen:  # walks along the line: each pixel is of this band or of the next
            while names[at] not in colour_of(pixel):
                at += 1
        assert at == len(names) - 1
        checked += 1
    assert checked > 10


def test_a_charge_or_triangle_has_the_colour_that_is_said() -> None:
    checked = 0
    for seed in range(600):
        (picture,), _, said = first(flags(np.random.default_rng(seed), POOL))
        found = re.fullmatch(r"(light blue|\w+) field, (light blue|\w+) (disk|triangle)", said)
        if not found:
            continue
        # A disk lies in the middle or in the upper left corner.
        spots = [(42, 84), (30, 40)] if found[3] == "disk" else [(42, 3)]
        assert any(found[2] in colour_of(picture[spot]) for spot in spots) and found[1] in colour_of(picture[2, 165])
        checked += 1
    assert checked > 5


THINGS = {"left band": "band on the left side", "corner": "upper-left", "arms": "coat of arms", "edges": "edged in"}


def hues(text: str) -> list[str]:
    return re.findall(r"\b(?:light blue|red|white|blue|green|yellow|black|orange)\b", text)


def fits(said: str, line: str) -> bool:
    """Whether the line has the colours in the order in which they are said, and everything that is on the flag."""
    things = [re.sub("|".join(sorted(set(hues(said)))), "", part).strip() for part in said.split(", ")[1:]]
    things += re.findall("^(?:horizontal|vertical) (?:bands|stripes)", said)
    return hues(line)[: len(hues(said))] == hues(said) and all(THINGS.get(thing, thing) in line for thing in things)


def test_a_flag_is_that_of_the_line_that_fits_and_of_no_other() -> None:
    alone = alike = 0
    for seed in range(800):
        (_, said), ((lines,), name), *_ = whose(np.random.default_rng(seed), POOL).turns
        if "…" in lines or re.search("diagonal|UK", said):  # cut, or told in another order
            continue
        rows = re.findall(r"\d\. (.+), flag, description: (.*?)(?:\n|</information>)", lines)
        alike += len(rows) > 1
        same = [place for place, text in rows if fits(said.removesuffix("."), text)]
        assert name.removesuffix(".") in same, said
        alone += len(rows) > 1 and len(same) == 1
    assert alike > 100 and alone > 0.95 * alike


def test_what_is_asked_about_a_flags_country_is_put_looked_up_and_found() -> None:
    checked = 0
    for seed in range(200):
        _, (_, place), *rest = whose(np.random.default_rng(seed), POOL).turns
        if not rest:
            continue
        (((asked,), put), (_, query), ((found,), answer)) = rest
        place = place.removesuffix(".")
        assert put == asked.removesuffix(" Put in whose it is.").replace("the country with this flag", place)
        assert query == f"{place} {put.removeprefix('What is the ').removesuffix(f' of {place}?')}."
        (line,) = [line for line in found.split("\n") if f". {place}, " in line]
        assert line.removesuffix("</information>").partition(": ")[2].startswith(answer.removesuffix("."))
        checked += 1
    assert checked > 50


def test_facts_are_found_where_their_line_says() -> None:
    kinds = set()
    for seed in range(300):
        for (text,), answer in facts(np.random.default_rng(seed), POOL).turns:
            shown, _, question = text.partition("</information> ")
            rows = [row.split(". ", 1)[1] for row in shown.removeprefix("<information>").split("\n")]
            lines = dict(row.split(": ", 1) for row in rows)
            if asked := re.fullmatch(r"What is the main (\w+) partner of (.*)\?", question):
                value = lines[f"{asked[2]}, {asked[1]}s - partners"]
                assert re.match(re.escape(answer.removesuffix(".")) + r" \d+%, ", value)
                kinds.add("partner")
            elif asked := re.fullmatch(r"What is line (\d) about\?", question):
                title = rows[int(asked[1]) - 1].split(": ")[0]
                assert title.replace(", ", " ", 1) == answer.removesuffix(".")
                kinds.add("line")
            elif asked := re.fullmatch(r"Whose flag is it: (.*)\?", question):
                whose = lines[f"{answer.removesuffix('.')}, flag, description"]
                for word in set(re.findall(r"\w+", asked[1])) - {"bands"}:
                    assert word in whose
                kinds.add("flag")
            else:
                asked = re.fullmatch(r"What is the (.*) of (.*)\?", question)
                assert asked
                (heading,) = [field for field in FIELDS if field.partition(",")[0] == asked[1]]
                assert lines[f"{asked[2]}, {heading}"] == answer.removesuffix(".")
                kinds.add("value")
    assert kinds == {"partner", "line", "flag", "value"}


def test_reading_asks_for_everything_and_for_one_thing() -> None:
    for seed in range(60):
        sample = reading(np.random.default_rng(seed), POOL)
        asked = {question[-1]: answer.removesuffix(".") for question, answer in sample.turns}
        everything = asked.pop("What does it say?")
        (answer,) = asked.values()
        assert set(answer.replace(",", "").split()) <= set(everything.replace(",", "").split())
        assert sample.turns[0][0][0].shape == (SIDE, SIDE, 3)


def test_a_card_has_the_frame_that_is_said() -> None:
    from pictures.scenes import COLOURS

    for seed in range(30):
        (where, answer), (box_of, box) = cards(np.random.default_rng(seed), POOL).turns
        picture = where[0]
        corners = {"top left": (0, 0), "top right": (0, 139), "bottom left": (139, 0), "bottom right": (139, 139)}
        for part in answer.removesuffix(".").split(", "):
            colour, _, corner = part.partition(" ")
            assert tuple(picture[corners[corner]]) == COLOURS[colour]
            if colour in box_of[0]:
                x1, y1, x2, y2 = (float(v) for v in box.removesuffix(".").strip("[]").split(", "))
                y, x = (v / 139 for v in corners[corner])
                assert x1 <= x <= x2 and y1 <= y <= y2 and (x2 - x1, y2 - y1) == (0.5, 0.5)


def test_what_is_wrong_is_named_in_the_order_of_undoing() -> None:
    said = {first(distorted(np.random.default_rng(seed), POOL))[2] for seed in range(300)}
    assert {"nothing", "dark", "turned 90", "blurred", "overexposed, turned 180, noisy"} <= said
    assert len(said) == 27  # nothing or one of two, three times over


@pytest.mark.parametrize("kind", ["dark", "overexposed", "rotate180"])
def test_what_is_wrong_is_to_be_seen(kind: Kind) -> None:
    """Light and rotation by the picture's mean and by its turned self."""
    whole = receipt(np.random.default_rng(0), ()).image
    bad = distort(whole, [draw(kind, np.random.default_rng(0))])
    a, b = (np.asarray(image, dtype=float) for image in (whole, bad))
    if kind == "rotate180":
        assert (a == np.asarray(bad.transpose(Image.Transpose.ROTATE_180), dtype=float)).all()
    else:
        assert (b.mean() < 0.5 * a.mean()) == (kind == "dark") and (b.std() < 0.5 * a.std())


def test_mishaps_are_none_to_three_one_of_each_group() -> None:
    for seed in range(100):
        done = mishap(np.random.default_rng(seed))
        groups = [
            ("detail", "turn", "light")[
                0 if one.kind in ("blur", "noise") else 2 if one.kind in ("dark", "overexposed") else 1
            ]
            for one in done
        ]
        assert groups == [g for g in ("detail", "turn", "light") if g in groups]
        assert len(named(done).split(", ")) == max(1, len(done))


def test_a_grid_is_read_as_it_is_drawn() -> None:
    """n×n digits or n words: there is ink in every cell that something is said to stand in."""
    digits = words = 0
    for seed in range(60):
        (picture,), question, said = first(grid(np.random.default_rng(seed), POOL))
        rows = said.split(", ")
        assert picture.shape == (SIDE, SIDE, 3) and question == "Read it row by row." and 2 <= len(rows) <= 5
        paper = np.median(picture.reshape(-1, 3), axis=0)
        inked = np.abs(picture - paper).sum(axis=2) > 30
        if rows[0].split()[0].isdigit():
            digits += 1
            n = len(rows)
            assert all(len(row.split()) == n for row in rows)
            wide = SIDE / n
            ends = [int(k * wide) for k in range(n + 1)]
            cells = [inked[a:b, c:d] for a, b in pairwise(ends) for c, d in pairwise(ends)]
            assert all(cell.sum() > 10 for cell in cells)
        else:
            words += 1
            assert all(word in WORDS for word in rows)
            high = SIDE / len(rows)
            assert all(inked[int(k * high) : int((k + 1) * high)].sum() > 20 for k in range(len(rows)))
    assert digits > 20 and words > 10
