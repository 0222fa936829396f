"""Contrasts of stages, with numbers worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from made_outcomes import made

from kit.evaluate.intervals import Point
from kit.evaluate.outcomes import Outcome
from papers.claims import Check
from papers.contrasts import apart, chosen, gained, in_words, on_every_seed, points, shared_seeds, slope


@dataclass(frozen=True)
class Seen:
    seed: int
    image: str
    right: bool


def test_a_stage_without_a_seed_stands_for_every_seed() -> None:
    once = [Seen(0, "cat", True), Seen(0, "dog", False)]
    trained = [Seen(seed, image, True) for seed in (1, 2) for image in ("cat", "dog")]
    found = on_every_seed({"direct": once, "grpo": trained}, ("direct",))
    assert found["grpo"] == trained
    assert found["direct"] == [Seen(seed, o.image, o.right) for seed in (1, 2) for o in once]
    assert on_every_seed({"direct": once}, ("direct",)) == {"direct": once}, "nothing to stand for"
    assert on_every_seed({"direct": trained, "grpo": trained}, ("direct",))["direct"] == trained, "it has seeds"
    assert on_every_seed({"sft": once, "grpo": trained}, ("direct",))["sft"] == once, "a trained stage never does"


def test_a_gain_is_the_mean_difference_over_seeds_and_images() -> None:
    before = points(
        [Seen(s, i, r) for s, i, r in ((0, "cat", 0), (0, "dog", 1), (1, "cat", 0), (1, "dog", 0))], "right"
    )
    after = points([Seen(s, i, r) for s, i, r in ((0, "cat", 1), (0, "dog", 1), (1, "cat", 1), (1, "dog", 0))], "right")
    check = Check("gain", gained(before, after))
    assert check.interval.value == pytest.approx(3 / 4 - 1 / 4) and (check.limit, check.side) == (0.0, "above")
    assert Check("gain", gained(before, after), untestable="too few").verdict == "not testable here"
    with pytest.raises(ValueError):
        gained(before, [Point(7, "cat", 1.0), Point(8, "cat", 1.0)])


def test_a_slope_is_by_rank() -> None:
    """Means 0.1, 0.4, 0.7 at places −1, 0, 1: (0.7 − 0.1) / 2 = 0.3."""
    cells = {n: [Point(s, "cat", mean) for s in (0, 1)] for n, mean in ((2, 0.1), (4, 0.4), (16, 0.7))}
    assert slope(cells).value == pytest.approx(0.3)
    with pytest.raises(ValueError, match=r"a slope over \[2\]: at least two are needed"):
        slope({2: cells[2]})


def test_a_claim_about_nothing_says_what_to_play() -> None:
    assert chosen("grpo", [1, 2, 3], "odd number", lambda n: n % 2 == 1) == [1, 3]
    with pytest.raises(ValueError, match="grpo: no odd number among 1 outcomes; play some, this claim is about them"):
        chosen("grpo", [2], "odd number", lambda n: n % 2 == 1)


def stage(right: int, seeds: tuple[int, ...] = (0, 1), **more: object) -> list[Outcome]:
    """Ten questions a seed, of which so many are right."""
    return [made(Outcome, k < right, task=f"t{k}", image=f"p{k}", seed=s, **more) for s in seeds for k in range(10)]


def test_only_shared_seeds_count() -> None:
    uneven = [*stage(8), *stage(0, seeds=(2,))]
    check = Check("gain", apart({"before": stage(5), "after": uneven}))
    assert check.interval.value == pytest.approx(0.3) and (check.limit, check.side) == (0.0, "above")
    with pytest.raises(ValueError, match="a, b: no seed in common"):
        shared_seeds({"a": stage(5, seeds=(0,)), "b": stage(5, seeds=(1,))})
    with pytest.raises(ValueError, match="a: no question among 0 outcomes"):
        shared_seeds({"a": [], "b": stage(5)})


def test_what_no_training_made_stands_for_every_seed() -> None:
    spread = shared_seeds({"direct": stage(5, seeds=(0,)), "grpo": stage(8)}, unseeded=("direct",))
    assert {o.seed for o in spread["direct"]} == {0, 1} and len(spread["direct"]) == 20


def test_another_field_can_be_compared() -> None:
    check = Check("calls", apart({"few": stage(5, tool_calls=1), "many": stage(5, tool_calls=3)}, "tool_calls"))
    assert check.interval.value == pytest.approx(2.0)


def test_a_difference_is_told_with_whether_it_can_be_told() -> None:
    before = [made(Outcome, k % 2 == 0, task=f"t{k}", image=f"p{k}") for k in range(40)]
    after = [made(Outcome, k % 2 == 0 or k % 4 == 1, task=f"t{k}", image=f"p{k}") for k in range(40)]
    assert in_words(before, after) == "higher by 0.25"
    assert in_words(after, before) == "lower by 0.25"
    assert in_words(before, before) == "the same"
    assert in_words(stage(5), stage(8)).startswith("higher by 0.30")
