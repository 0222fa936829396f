"""Drawn tasks: exact truth, levels that hold, sides that share nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from papers.codedance import boards, charts, geometry, sheets
from papers.codedance.tasks import (
    MAKERS,
    MakingError,
    check_apart,
    draw,
    make_tasks,
    side_of,
    source_of,
    unfit,
)
from pictures.documents import Sheet, chart

RNG = np.random.default_rng


def test_a_set_is_fixed_by_its_seed_and_task_k_by_its_kind() -> None:
    one = make_tasks({"chart_compute/hard": 3, "sheet/easy": 2}, 5)
    more = {task.id: task for task in make_tasks({"sheet/easy": 4, "chart_compute/hard": 6}, 5)}
    assert one == make_tasks({"chart_compute/hard": 3, "sheet/easy": 2}, 5)
    assert all(more[task.id] == task for task in one)
    assert make_tasks({"sheet/easy": 4}, 6) != [task for task in more.values() if task.meta["kind"] == "sheet"]


@pytest.mark.parametrize("kind", MAKERS)
def test_sides_share_no_image_whatever_their_seeds(kind: str) -> None:
    train, development, test = (make_tasks({kind: 12}, 0, side) for side in ("train", "development", "test"))
    check_apart(train, development, test)
    for side, tasks in (("train", train), ("development", development), ("test", test)):
        assert {side_of(task.meta["source"]) for task in tasks} == {side}
    with pytest.raises(MakingError, match="show the same"):
        check_apart(train, test, [replace(train[0], id="a copy")])


def a_chart(*heights: int) -> Sheet:
    """A chart's rows; what it looks like doesn't matter."""
    rows = tuple(zip(("red", "green", "blue"), map(str, heights), strict=True))
    return replace(chart(RNG(0), ()), rows=rows)


def test_computations_over_bars_by_hand() -> None:
    """Bars of 2, 6 and 4: sum 12, product 48, difference 4, average 4."""
    worked = {charts.question(RNG(seed), a_chart(2, 6, 4)) for seed in range(40)}
    assert worked == {
        (charts.ASKED["sum"], "2 + 6 + 4", "12"),
        (charts.ASKED["product"], "2 * 6 * 4", "48"),
        (charts.ASKED["difference"], "6 - 2", "4"),
        (charts.ASKED["average"], "(2 + 6 + 4) // 3", "4"),
    }


def test_an_average_is_asked_only_if_it_is_whole() -> None:
    asked = {charts.question(RNG(seed), a_chart(2, 6, 5))[0] for seed in range(40)}
    assert asked == set(charts.ASKED.values()) - {charts.ASKED["average"]}


def test_figures_by_hand() -> None:
    """A square of side 7: around it 28, its area 49; a triangle of side 7: 21; with two angles of 7 degrees: 166."""
    worked = {"square": {4 * 7, 7 * 7}, "triangle": {3 * 7, 180 - 14}}
    found: dict[str, set[int]] = {"square": set(), "triangle": set()}
    for seed in range(4000):
        drawn = geometry.compute(RNG(seed))
        if drawn.facts == {"number": "7"}:
            found[drawn.key.split()[0]].add(int(drawn.answer))
    assert found == worked


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind.endswith("/hard")])
def test_no_hard_answer_is_a_value_that_is_seen(kind: str) -> None:
    for k in range(6):
        drawn = draw(kind, 1, "train", k)
        seen = drawn.facts.values() if drawn.expression else ()
        assert drawn.answer not in seen and unfit(drawn, kind) == ""
        assert not drawn.readable(drawn.image) or drawn.expression or drawn.colour


def test_a_board_hides_its_cards_and_a_crop_returns_them_to_the_pixel() -> None:
    rng = RNG(3)
    drawn = boards.card(rng)
    assert drawn.original is not None and drawn.original.size == (400, 400) and drawn.image.size == (140, 140)
    left, top, right, bottom = (round(share * 400) for share in drawn.boxes[0])
    cut = drawn.original.crop((left, top, right, bottom))
    assert cut.size == (140, 140) and drawn.readable(cut) and not drawn.readable(drawn.image)
    assert drawn.detail <= 27 * 40 / 400  # the largest letters of a sheet


def test_what_isnt_of_its_level_says_why() -> None:
    easy, turned = draw("sheet/easy", 0, "train", 0), draw("board/hard", 0, "train", 0)
    assert unfit(easy, "sheet/hard") == "nothing about it is hard"
    assert unfit(turned, "board/easy") == "it can't be read at sight"
    assert unfit(replace(turned, detail=8.0), "board/hard") == "the first image shows what it should hide"
    seen = replace(easy, expression="1 + 1")
    assert "is one of its values" in unfit(seen, "sheet/hard")


def test_dark_sheets_pass_only_once_they_are_mended() -> None:
    mended = [sheets.hard(RNG(seed)) for seed in range(40)]
    dark = [drawn for drawn in mended if drawn.repair == "brighten(image)"]
    assert dark and not any(drawn.readable(drawn.image) for drawn in dark)


def test_a_source_names_all_that_an_image_says() -> None:
    drawn = draw("chart_value/easy", 0, "train", 0)
    assert source_of(drawn) == source_of(replace(drawn, question="Which bar is highest?"))
    assert source_of(drawn) != source_of(replace(drawn, key="chart red 1, green 2, blue 3"))


def test_unknown_kinds_and_hopeless_scenes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MakingError, match=r"tasks of \['maps/easy'\]: known are chart_value/easy"):
        make_tasks({"maps/easy": 1}, 0)
    with pytest.raises(MakingError, match="side='exam'"):
        make_tasks({"sheet/easy": 1}, 0, "exam")  # type: ignore[arg-type]
    monkeypatch.setitem(MAKERS, "board/hard", boards.corner)
    with pytest.raises(MakingError, match="board/hard, seed 0, train: none of 200 scenes will do; the last: nothing"):
        make_tasks({"board/hard": 1}, 0)
