"""Drawn tasks: exact truth, difficulties by the share of pixels that decide, sides that share nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from papers.mags_rl import tasks
from papers.mags_rl.boards import PLACES, TOLD_APART, part, without_frame
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.tasks import crop_of, difficulty_of, draw, legible, make_tasks, unfit
from pictures.documents import CORNERS
from pictures.keyed import MakingError, check_apart, side_of

RNG = np.random.default_rng


def test_a_set_is_fixed_by_its_seed_and_task_k_by_its_kind() -> None:
    one = make_tasks({"attribute/hard": 1, "count/easy": 1}, 5)
    more = {task.id: task for task in make_tasks({"count/easy": 2, "attribute/hard": 2}, 5)}
    assert all(more[task.id] == task for task in one)
    assert make_tasks({"count/easy": 2}, 6) != [task for task in more.values() if task.meta["skill"] == "count"]


def test_sides_share_no_board() -> None:
    sides = {side: make_tasks({"relation/easy": 3}, 0, side) for side in ("train", "development", "test")}
    check_apart(*sides.values())
    for side, made in sides.items():
        assert {side_of(task.meta["source"]) for task in made} == {side}


@pytest.mark.parametrize("kind", MAKERS)
def test_truth_difficulty_and_boxes_of_every_kind(kind: str) -> None:
    for task in make_tasks({kind: 2}, 2):
        meta = task.meta
        assert kind == f"{meta['skill']}/{meta['difficulty']}" and difficulty_of(meta["share"]) == meta["difficulty"]
        assert all(tuple(box) in PLACES for box in meta["boxes"]), "a quarter is less than 40 % of the image"
        assert all(any(inside(small, box) for box in PLACES) for small in meta["parts"])
        assert (meta["count"] is not None) == (meta["skill"] == "count")
        if meta["count"] is not None:
            assert task.target == (str(meta["count"]),) and meta["told"].count("1") == meta["count"] >= 1
        assert task.images[0].image.size == (140, 140) and task.originals == ()


def inside(small: list[float], box: tuple[float, ...]) -> bool:
    return all(box[k] <= small[k] and small[k + 2] <= box[k + 2] for k in (0, 1))


def test_relations_by_hand() -> None:
    """On a board of a, b above c, d: right of a is b, below a is c, left of d is c, above d is b."""
    right = {(0, "right of"): 1, (0, "below"): 2, (3, "left of"): 2, (3, "above"): 1}
    found = {}
    for seed in range(40):
        drawn = MAKERS["relation/easy"](RNG(seed), "train", 70)
        name, words = drawn.question.split(" ")[-2], drawn.question.removeprefix("Which card is ").split(" the ")[0]
        found[drawn.colours.index(name), words] = drawn.colours.index(drawn.answer)
    assert {asked: found[asked] for asked in right} == right and len(found) == 8


def test_counts_of_colours_and_words_by_hand() -> None:
    counted = set()
    for seed in range(20):
        drawn = MAKERS["count/easy"](RNG(seed), "train", 70)
        named = [name for name in TOLD_APART if f" {name}" in drawn.question]
        assert len(named) == 3 and drawn.count == len(set(named) & set(drawn.colours))
        counted.add(drawn.count)
    assert counted == {1, 2, 3}
    for seed in range(3):
        drawn = MAKERS["count/hard"](RNG(seed), "train", 70)
        word = drawn.question.removesuffix("?").split(" ")[-1]
        assert drawn.answer == str(sum(word in dict(one.rows) for one in drawn.sheets)) and drawn.looks == (0, 1, 2, 3)


def test_a_crop_returns_a_card_as_it_was_drawn_and_small_cards_are_a_harsher_source() -> None:
    drawn = draw("attribute/hard", 0, "train", 0)
    assert drawn.image.tobytes() == drawn.original.tobytes(), "70 pixels a card: the prompt has all there is"
    place = drawn.looks[0]
    assert legible(drawn, place, crop_of(drawn, place)) and not legible(drawn, place, drawn.image)
    [harsh] = make_tasks({"attribute/hard": 1}, 0, card=47)
    assert harsh.originals[0].image.size == (94, 94) and harsh.images[0].image.size == (140, 140)
    [fine] = make_tasks({"attribute/hard": 1}, 0, card=140)
    assert fine.originals[0].image.size == (280, 280) and fine.images[0].image.size == (140, 140)


def test_where_a_writing_stands_by_hand() -> None:
    """Frames of 4 of 140 pixels leave 62 for a sheet of 140: digits of 42 at (10, 20) begin at 4 + 10 · 62/140."""
    assert without_frame(3, 70) == pytest.approx((74 / 140, 74 / 140, 136 / 140, 136 / 140))
    digits = replace(MAKERS["count/medium"](RNG(0), "train", 70).sheets[0].prints[0], text="42", font="handwritten")
    box = part(0, replace(digits, size=42, xy=(10, 20)), 70)
    scale = 62 / 140
    assert box == pytest.approx(tuple((4 + v * scale) / 140 for v in (10, 20, 94, 62)))


def test_what_isnt_of_its_difficulty_says_why() -> None:
    drawn = draw("attribute/hard", 0, "train", 0)
    assert "that is hard, not easy" in unfit(drawn, "attribute/easy")
    other = replace(drawn, told=tuple("team pisa" for _ in CORNERS))
    assert unfit(other, "attribute/hard") == f"a crop of card {drawn.looks[0]} can't be read"


def test_unknown_kinds_and_hopeless_boards_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MakingError, match=r"tasks of \['maps/easy'\]: known are count/easy"):
        make_tasks({"maps/easy": 1}, 0)
    with pytest.raises(MakingError, match="side='exam'"):
        make_tasks({"count/easy": 1}, 0, "exam")  # type: ignore[arg-type]
    monkeypatch.setitem(MAKERS, "count/hard", MAKERS["attribute/easy"])
    monkeypatch.setattr(tasks, "TRIES", 4)
    with pytest.raises(MakingError, match=r"count/hard, seed 0, train, 70 pixels a card: none of 4 .* not hard"):
        make_tasks({"count/hard": 1}, 0)
