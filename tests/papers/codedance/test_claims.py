"""CodeDance's claims on made-up outcomes whose truth is known: each verdict is reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_outcomes import made

from papers.codedance.claims import c1, c2, c3, c4, c5, c6, calls_over_training
from papers.codedance.metrics import Outcome


def stage(
    share: float, calls: int = 1, seeds: int = 3, kind: str = "sheet", turns: int = 2, noise: int = 0, n: int = 40
) -> list[Outcome]:
    """``n`` questions a seed, of which the given share is right, each after so many calls."""
    order = np.random.default_rng(noise).permutation(n)
    return [
        made(
            Outcome,
            bool(order[k] < n * share),
            **{"task": f"t{k}", "image": f"p{k}", "seed": s, "tool_calls": calls, "turns": turns},
            kind=kind,
            level="easy",
            ran=None,
        )
        for s in range(seeds)
        for k in range(n)
    ]


def curve(entropy: float, steps: int = 8, **columns: Any) -> list[dict[str, Any]]:
    return [{"step": n + 1, "entropy": entropy, **{name: f(n) for name, f in columns.items()}} for n in range(steps)]


def test_c1_needs_the_most_accuracy_and_fewer_calls_than_the_bonus() -> None:
    assert c1(stage(0.9, 1), stage(0.5, 1), stage(0.5, 2)).verdict == "holds"
    assert c1(stage(0.9, 2), stage(0.5, 1), stage(0.5, 1)).verdict == "doesn't", "as many calls as the bonus"
    assert c1(stage(0.5, 1), stage(0.9, 1), stage(0.5, 2)).verdict == "doesn't", "the outcome alone is more accurate"
    assert c1(stage(0.9, 1, seeds=1), stage(0.5, 1, seeds=1), stage(0.5, 2, seeds=1)).verdict == "undecided"


def test_rewards_are_compared_on_the_seeds_that_both_have() -> None:
    """Three seeds beside two: the third is left out, so the difference is that of the first two."""
    better = [*stage(0.75, seeds=2), *[o for o in stage(0.25, seeds=3) if o.seed == 2]]
    claim = c1(better, stage(0.5, seeds=2), stage(0.5, 2, seeds=2))
    assert claim.checks[0].interval.value == pytest.approx(0.25)
    with pytest.raises(ValueError, match="no seed in common"):
        c1(stage(0.5, seeds=1), [o for o in stage(0.5, seeds=2) if o.seed == 1], stage(0.5))
    with pytest.raises(ValueError, match="no question among 0 outcomes"):
        c1([], stage(0.5), stage(0.5))


def test_c2_asks_for_entropy_at_the_end_and_for_accuracy() -> None:
    high, low = ({seed: curve(value) for seed in range(3)} for value in (0.5, 0.2))
    claim = c2(stage(0.9), stage(0.5), high, low)
    assert claim.verdict == "holds" and claim.checks[0].interval.value == pytest.approx(0.3)
    assert c2(stage(0.9), stage(0.5), low, high).verdict == "doesn't"
    fades = {0: [{"step": n, "entropy": 1.0 - n / 10} for n in range(8)]}  # the last quarter: 0.4 and 0.3
    steady = {0: curve(0.25)}
    assert c2(stage(0.9), stage(0.5), fades, steady).checks[0].interval.value == pytest.approx(0.1)
    with pytest.raises(ValueError, match="no seed was trained both"):
        c2(stage(0.9), stage(0.5), high, {7: curve(0.2)})


def test_c3_wants_more_calls_that_buy_nothing() -> None:
    assert c3(stage(0.5, 1, n=80), stage(0.5, 2, n=80)).verdict == "holds"
    assert c3(stage(0.5, 1), stage(0.5, 2)).verdict == "undecided", "a tie on 40 leaves 3/40 open, more than 0.05"
    assert c3(stage(0.5, 1), stage(0.9, 2)).verdict == "doesn't", "these calls buy accuracy"
    assert c3(stage(0.5, 2), stage(0.5, 1)).verdict == "doesn't", "fewer calls"


def test_c4_is_the_slope_over_sizes() -> None:
    claim = c4({300: stage(0.2), 900: stage(0.5), 2400: stage(0.8)})
    assert claim.verdict == "holds" and claim.checks[0].interval.value == pytest.approx(0.3)
    assert "300: 0.200, 900: 0.500, 2400: 0.800" in claim.note
    assert c4({2400: stage(0.8)}).verdict == "undecided"


def test_c5_is_not_testable_where_nobody_uses_the_turns() -> None:
    claim = c5({4: stage(0.5), 10: stage(0.5)}, 4)
    assert claim.verdict == "not testable here" and "0 of 120 episodes used more than 4 turns" in claim.reason
    assert c5({4: stage(0.5), 10: stage(0.9, turns=6)}, 4).verdict == "holds"
    with pytest.raises(ValueError, match=r"budgets \[2, 4\]: needs 4, as in training, and a larger one"):
        c5({2: stage(0.5), 4: stage(0.5)}, 4)


def test_c6_is_about_composed_questions_alone() -> None:
    direct, sft = stage(0.0, seeds=1, kind="composed"), stage(0.1, kind="composed")
    assert c6(direct, sft, stage(0.6, kind="composed")).verdict == "holds"
    assert c6(direct, stage(0.6, kind="composed"), sft).verdict == "doesn't"
    with pytest.raises(ValueError, match="no composed question"):
        c6(direct, sft, stage(0.6))


def test_calls_over_training_are_last_quarter_minus_first() -> None:
    falls = curve(0.1, calls_easy=lambda n: 1.0 - n / 10)  # 1.0, 0.9 at first; 0.4, 0.3 at last
    assert calls_over_training([falls, falls], "easy").value == pytest.approx(-0.6)
    with pytest.raises(ValueError, match="no calls_hard"):
        calls_over_training([falls], "hard")
