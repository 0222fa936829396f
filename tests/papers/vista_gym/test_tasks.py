"""Drawn tasks: exact truth, sides that share nothing, calls that find the answer where the prompt hides it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kit.models import unreadable
from papers.vista_gym.answers import is_right
from papers.vista_gym.drawn import Drawn, call, near, options
from papers.vista_gym.env import PRIOR
from papers.vista_gym.families import charts, documents, geometry, maps, science, spatial
from papers.vista_gym.families.things import GAP, scatter, told
from papers.vista_gym.tasks import IN, MAKERS, OUT, SHOWN, SIGHT, MakingError, check_apart, draw, make_tasks
from papers.vista_gym.toolbox import TOOLS, toolbox
from papers.vista_gym.validate import validate
from visual_tools.charts.table import Table
from visual_tools.perception.shapes import things

RNG = np.random.default_rng


def test_a_set_is_fixed_by_its_seed_and_task_k_by_its_kind() -> None:
    one = make_tasks({"spatial/clevr": 3, "geometry/sight": 2}, 5)
    more = {task.id: task for task in make_tasks({"geometry/sight": 4, "spatial/clevr": 6}, 5)}
    assert one == make_tasks({"spatial/clevr": 3, "geometry/sight": 2}, 5)
    assert all(more[task.id] == task for task in one)


def test_sets_and_families_are_the_papers() -> None:
    sets = {kind.split("/")[1] for kind in MAKERS} - {SIGHT}
    assert {kind.split("/")[0] for kind in MAKERS} == set(PRIOR)
    assert len(sets) == 13 + len(OUT) and {*IN, *OUT} <= sets
    assert {family for family in PRIOR if f"{family}/{SIGHT}" in MAKERS} == set(PRIOR)


@pytest.mark.parametrize("kind", MAKERS)
def test_tasks_of_a_kind(kind: str) -> None:
    """Sides share no image; calls name tools that there are; every family of models reads what is shown."""
    train = make_tasks({kind: 2}, 0)
    check_apart(train, make_tasks({kind: 1}, 0, "development"), make_tasks({kind: 1}, 0, "test"))
    for task in train:
        assert f"{task.meta['family']}/{task.meta['set']}" == kind and is_right(task.target[0], task.target)
        assert unreadable(task.images[0].image.size) == ""
        calls = task.meta.get("calls", [])
        assert task.meta["direct"] == (not calls) == kind.endswith(SIGHT) and len(calls) <= 3
        assert {json.loads(one)["tool"] for one in [*calls, task.meta.get("wrong", call("sam.segment"))]} <= set(TOOLS)
        assert (max(task.images[0].image.size) == SHOWN) == bool(calls) == bool(task.originals)
    assert len({(task.question, task.target) for task in train}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("family", PRIOR)
def test_fifty_of_each_family_are_solved(family: str) -> None:
    """A tool is wrong now and then: nine of ten tasks at least have to be solved, and fifty of each family."""
    tools, kinds = list(toolbox().values()), [kind for kind in MAKERS if kind.startswith(f"{family}/")]
    tasks = make_tasks(dict.fromkeys(kinds, -(-56 // len(kinds))), 2, "development")
    faults = [f"{task.id}: {why}" for task in tasks if (why := validate(task, tools))]
    assert len(tasks) - len(faults) >= 50 and len(faults) <= len(tasks) / 10, faults


def test_options_hold_the_answer_once_anywhere_and_its_letter_is_right() -> None:
    drawn = Drawn(None, "How warm?", "39", "k", options=("22", "39", "84"))  # type: ignore[arg-type]
    assert drawn.asked == "How warm?\nA. 22\nB. 39\nC. 84" and drawn.right == ("39", "B")
    places = Counter(options(RNG(seed), "7", ["7", "1", "2", "3", "3"]).index("7") for seed in range(80))
    assert len(places) == 4 and all(len({*options(RNG(s), "7", ["7", "1", "2", "3", "3"])}) == 4 for s in range(9))
    assert "2.5" not in near(RNG(0), "2.5") and all(float(value) >= 0 for value in near(RNG(0), "2.5"))


def test_a_call_is_written_as_a_turn_writes_it() -> None:
    assert call("sam.segment", "area", point_prompts=[[9, 9]]) == (
        '{"tool": "sam.segment", "task": "area", "arguments": {"point_prompts": [[9, 9]]}}'
    )


def test_measures_of_a_chart_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tea 30, milk 60 and egg 12: highest milk, lowest egg, sum 102, average 34."""
    of = Table("bar", "fish in rome", "", "", ("tea", "milk", "egg"), ("",), ((30.0, 60.0, 12.0),))
    monkeypatch.setattr(charts, "table", lambda *_, **__: of)
    found = {json.loads(d.calls[0])["arguments"]["measure"]: d.answer for d in map(charts.measure, map(RNG, range(24)))}
    assert found == {"highest": "milk", "lowest": "egg", "sum": "102", "average": "34"}
    assert {d.answer for d in map(charts.difference, map(RNG, range(24)))} == {"30", "18", "48"}
    assert {d.answer for d in map(charts.figureqa, map(RNG, range(24)))} == {"milk", "egg"}


@pytest.mark.parametrize("kind", ["bar", "pie"])
def test_values_of_a_chart_can_be_told_apart(kind: str) -> None:
    for seed in range(30):
        row = np.sort(charts.table(RNG(seed), kind).values[0])  # type: ignore[arg-type]
        assert (np.diff(row) >= 0.04 * row[-1]).all() and row[0] > 3 and (kind != "pie" or row.sum() == 100)


def test_counts_are_of_what_is_drawn() -> None:
    """What a scene's key tells is what the drawer drew, and what a detector of one colour finds."""
    for seed in range(6):
        drawn = spatial.clevr_math(RNG(seed))
        first = drawn.question.split("are ")[1].split()[0] if "or" in drawn.question else drawn.question.split()[4]
        listed = sum(part.startswith((first, f"scene {first}")) for part in drawn.key.split("; "))
        assert listed == len(list(things(drawn.image, first)))


def test_what_is_taken_away_by_hand() -> None:
    taken = next(d for d in map(spatial.clevr_math, map(RNG, range(20))) if d.question.startswith("Take"))
    minuend, minus = json.loads(taken.calls[1])["arguments"]["question"].split(" - ")
    assert int(minuend) - int(minus) == int(taken.answer) and f"Take {minus} of" in taken.question


def test_nothing_touches_and_what_finds_no_room_is_left_out() -> None:
    image = science.paper(RNG(0), (160, 160))
    drawn = scatter(RNG(0), image, [("red", "circle")] * 40)
    assert 1 < len(drawn) < 40 and told(drawn).count("circle") == len(drawn)
    for k, one in enumerate(drawn):
        for other in drawn[:k]:
            assert max(one.box[0] - other.box[2], other.box[0] - one.box[2], one.box[1] - other.box[3],
                       other.box[1] - one.box[3]) >= GAP  # fmt: skip


def test_a_lakes_share_is_its_ellipse() -> None:
    """A lake of half axes a and b covers π a b of 640 × 480 pixels."""
    one = maps.drawn_map(RNG(4))
    blue = (np.asarray(one.image) == maps.WATER).all(axis=2)
    a, b = np.ptp(blue.nonzero()[1]) / 2, np.ptp(blue.nonzero()[0]) / 2
    assert one.share == pytest.approx(100 * np.pi * a * b / (640 * 480), rel=0.03)


def test_documents_and_work_by_hand() -> None:
    """Prices add up to the total; so many of a thing cost so much; work is force times way."""
    totals = [d for d in map(documents.invoice, map(RNG, range(40))) if d.question == "What is the total?"]
    for drawn in totals:
        prices = [int(value) for _, value in eval(drawn.key.removeprefix("invoice "))]
        assert sum(prices[:-1]) == prices[-1] == int(drawn.answer)
    drawn = science.work(RNG(0))
    force, way = drawn.key.split()[1:3]
    assert totals and int(drawn.answer) == int(force) * int(way) and f"{force} N" in drawn.question


def test_geometry_asks_for_the_goal() -> None:
    for seed in range(12):
        drawn = geometry.geometry3k(RNG(seed))
        tool = json.loads(drawn.calls[0])["tool"]
        assert drawn.rule in ("angle", "length") and tool in ("gllava.solve", "cdl.image")
        assert ("angle" in drawn.question.lower()) == (drawn.rule == "angle")


def test_unknown_kinds_and_sides_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MakingError, match=r"tasks of \['maps/moon'\]: known are charts/figureqa"):
        make_tasks({"maps/moon": 1}, 0)
    with pytest.raises(MakingError, match="side='exam'"):
        make_tasks({"spatial/clevr": 1}, 0, "exam")  # type: ignore[arg-type]
    one = draw("spatial/clevr", 0, "train", 0)
    monkeypatch.setitem(MAKERS, "spatial/clevr", lambda _: one)
    with pytest.raises(MakingError, match="none of 200 images lies on the side test"):
        make_tasks({"spatial/clevr": 1}, 0, "test")


def test_sides_that_share_an_image_are_refused() -> None:
    [task] = make_tasks({"other/sight": 1}, 0)
    with pytest.raises(MakingError, match="one has to go"):
        check_apart([task], [replace(task, id="a copy")])
