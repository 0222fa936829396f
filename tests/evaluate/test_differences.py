"""Two stages compared: on the seeds that both have, prompted ones on every seed, unknown values left out."""

from __future__ import annotations

import pytest
from made_outcomes import made

from kit.evaluate.differences import difference, shared_seeds
from kit.evaluate.outcomes import Outcome


def stage(right: int, seeds: tuple[int, ...] = (0, 1), **more: object) -> list[Outcome]:
    """Ten questions a seed, of which so many are right."""
    return [made(Outcome, k < right, task=f"t{k}", image=f"p{k}", seed=s, **more) for s in seeds for k in range(10)]


def test_only_shared_seeds_count() -> None:
    uneven = [*stage(8), *stage(0, seeds=(2,))]
    check = difference("gain", {"before": stage(5), "after": uneven})
    assert check.interval.value == pytest.approx(0.3) and (check.limit, check.side) == (0.0, "above")
    with pytest.raises(ValueError, match="a, b: no seed in common"):
        shared_seeds({"a": stage(5, seeds=(0,)), "b": stage(5, seeds=(1,))})
    with pytest.raises(ValueError, match="a: no question among 0 outcomes"):
        shared_seeds({"a": [], "b": stage(5)})


def test_what_no_training_made_stands_for_every_seed() -> None:
    spread = shared_seeds({"direct": stage(5, seeds=(0,)), "grpo": stage(8)}, unseeded=("direct",))
    assert {o.seed for o in spread["direct"]} == {0, 1} and len(spread["direct"]) == 20


def test_another_field_can_be_compared() -> None:
    check = difference("calls", {"few": stage(5, tool_calls=1), "many": stage(5, tool_calls=3)}, "tool_calls")
    assert check.interval.value == pytest.approx(2.0)
