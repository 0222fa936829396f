"""Results files: complete, and written as a whole or not at all."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from kit.evaluate.intervals import Interval
from papers.results import read_results, write_results

GIVEN = {"notebook": "13_agile_grpo", "profile": "laptop", "seed": 3, "minutes": 1.234}


def test_file_has_what_the_design_says(tmp_path: Path) -> None:
    path = tmp_path / "a" / "results.json"
    claims = {"A1": {"verdict": "holds", "evidence": "because"}}
    stages = {"grpo": {"acc_2x2": Interval(0.5, 0.25, 0.75, 8), "one_seed": Interval(1.0, -math.inf, math.inf, 1)}}
    results = write_results(path, stages=stages, claims=claims, **GIVEN)
    assert json.loads(path.read_text()) == results
    assert set(results) == {
        "notebook", "profile", "commit", "seed", "hardware", "versions", "minutes", "metrics", "claims"
    }  # fmt: skip
    assert results["metrics"] == {
        "grpo/acc_2x2": {"value": 0.5, "low": 0.25, "high": 0.75, "n": 8},
        "grpo/one_seed": {"value": 1.0, "low": None, "high": None, "n": 1},
    }
    assert (results["seed"], results["minutes"], results["claims"]) == (3, 1.23, claims)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_none_is_refused_and_the_old_file_stays(tmp_path: Path, value: float) -> None:
    path = tmp_path / "results.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="grpo/acc"):
        write_results(path, stages={"grpo": {"acc": Interval(value, 0, 1, 1)}}, **GIVEN)
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"] and path.read_text() == "{}"


def test_a_fourth_verdict_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"claim A1: verdict 'maybe'"):
        write_results(tmp_path / "r.json", stages={}, claims={"A1": {"verdict": "maybe"}}, **GIVEN)


def test_files_beside_it_are_read_as_one_and_none_may_say_the_same_twice(tmp_path: Path) -> None:
    one, two = tmp_path / "results.json", tmp_path / "results-more.json"
    verdict = {"verdict": "holds", "evidence": ""}
    assert read_results(one) is None
    write_results(one, stages={"a": {"x": Interval(0.5, 0, 1, 1)}}, claims={"A1": verdict}, **GIVEN)
    write_results(two, stages={"a": {"y": Interval(0.5, 0, 1, 1)}}, claims={"A8": verdict}, **GIVEN)
    read = read_results(one)
    assert read is not None and set(read["metrics"]) == {"a/x", "a/y"} and set(read["claims"]) == {"A1", "A8"}
    write_results(two, stages={"a": {"x": Interval(0.5, 0, 1, 1)}}, **GIVEN)
    with pytest.raises(ValueError, match=r"a/x stand in results\.json as well"):
        read_results(one)
