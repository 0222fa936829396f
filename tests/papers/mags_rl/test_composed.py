"""Scenes of cut-outs: boxes and answers are known, difficulties hold, sides share no cut-out."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from papers.mags_rl.composed import CELLS, ORIGINAL, SHOWN, SKILLS, compose, cutouts
from papers.mags_rl.tasks import difficulty_of
from papers.mags_rl.validate import validate
from pictures.keyed import MakingError, side_of
from tests.helpers.mags_hub_copies import make_cutouts

BEHIND = [Image.new("RGB", (64, 64), (90, 120, 90))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Discs of different colours on nothing, and files that are no cut-outs."""
    folder = tmp_path_factory.mktemp("stamps")
    assert make_cutouts(folder) == 80
    Image.new("RGB", (60, 60)).save(folder / "opaque.png")
    Image.new("RGBA", (60, 60)).save(folder / "25cent.png")
    return folder


def test_sides_share_no_cut_out(folder: Path) -> None:
    sides = {side: set(cutouts(folder, side)) for side in ("train", "development", "test")}
    assert sum(map(len, sides.values())) == 80 == len(set().union(*sides.values()))
    assert all(side_of(name.replace(" ", "_")) == side for side, names in sides.items() for name in names)
    with pytest.raises(MakingError, match="a scene needs at least 4 PNGs with transparency"):
        cutouts(folder / "nowhere", "train")


@pytest.mark.parametrize("difficulty", CELLS)
def test_truth_and_difficulty_of_every_kind(folder: Path, difficulty: str) -> None:
    named = cutouts(folder, "train")
    for skill in SKILLS:
        for task in compose({f"{skill}/{difficulty}": 3}, 0, "train", named, BEHIND):
            things = [(name, box) for name, box in task.meta["things"]]
            assert validate(task) == "" and difficulty_of(task.meta["share"]) == difficulty
            assert task.images[0].image.size == (SHOWN,) * 2 and task.tool_images[0].image.size == (ORIGINAL,) * 2
            if skill == "count":
                name = task.question.removeprefix("How many times do you see the ").removesuffix("?")
                assert task.target == (str(sum(one == name for one, _ in things)),)
            if skill == "attribute":
                assert task.target[0] in dict(things)


def test_what_stands_in_a_box_is_the_thing(folder: Path) -> None:
    """The middle of a disc's box has its colour."""
    named = cutouts(folder, "train")
    [task] = compose({"relation/hard": 1}, 3, "train", named, BEHIND)
    for name, (left, top, right, bottom) in task.meta["things"]:
        middle = round((left + right) / 2 * ORIGINAL), round((top + bottom) / 2 * ORIGINAL)
        with Image.open(named[name]) as image:
            assert task.tool_images[0].image.getpixel(middle) == image.getpixel((30, 30))[:3]  # type: ignore[index]


def test_statements_are_as_true_as_their_boxes(folder: Path) -> None:
    said = set()
    for task in compose({"relation/medium": 8}, 1, "train", cutouts(folder, "train"), BEHIND):
        boxes = {name: box for name, box in task.meta["things"]}
        stated = task.question.removeprefix("The ").removesuffix(". Is that true?")
        words, axis = ("left of", 0) if " is left of the " in stated else ("above", 1)
        first, second = (boxes[name] for name in stated.split(f" is {words} the "))
        holds = first[axis] + first[axis + 2] < second[axis] + second[axis + 2]
        assert task.target == (("No", "Yes")[holds],)
        said.add(task.target[0])
    assert said == {"Yes", "No"}


def test_scenes_of_no_kind_are_named(folder: Path) -> None:
    with pytest.raises(MakingError, match="scenes of 'count/huge': give one of count, relation, attribute, and easy"):
        compose({"count/huge": 1}, 0, "train", cutouts(folder, "train"), BEHIND)
