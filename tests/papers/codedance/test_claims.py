"""CodeDance's claims on made-up outcomes whose truth is known: each verdict is reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_outcomes import made

from papers.codedance.claims import STATED, c1, c2, c3, c4, c5, c6, calls_over_training
from papers.codedance.expert import turns_of
from papers.codedance.metrics import Outcome
from papers.codedance.tasks import MAKERS, make_tasks


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


def test_c1_needs_fewer_calls_than_the_bonus_and_no_less_accuracy() -> None:
    assert c1(stage(0.9, 1), stage(0.5, 1), stage(0.5, 2)).verdict == "holds"
    assert c1(stage(0.5, 1, n=80), stage(0.5, 1, n=80), stage(0.5, 2, n=80)).verdict == "holds", "as accurate is enough"
    assert c1(stage(0.5, 1), stage(0.5, 1), stage(0.5, 2)).verdict == "undecided", "a tie on 40 leaves 3/40 open"
    assert c1(stage(0.9, 2), stage(0.5, 1), stage(0.5, 1)).verdict == "doesn't", "more calls than the bonus"
    assert c1(stage(0.5, 1), stage(0.9, 1), stage(0.5, 2)).verdict == "doesn't", "the outcome alone is more accurate"
    assert c1(stage(0.5, 1), stage(0.5, 1), stage(0.9, 2)).verdict == "doesn't", "so is the bonus"
    assert c1(stage(0.9, 1, seeds=1), stage(0.5, 1, seeds=1), stage(0.5, 2, seeds=1)).verdict == "undecided"


def test_c1_is_equal_where_the_bonus_makes_no_more_calls() -> None:
    """One call in 200 episodes more or less: less than the smallest difference worth having."""
    alike = stage(0.5, 1, n=200)
    once = [replace(o, tool_calls=2) if o.task == f"t{o.seed}" else o for o in alike]
    assert c1(alike, alike, once).verdict == "equal"


def test_rewards_are_compared_on_the_seeds_that_both_have() -> None:
    """Three seeds beside two: the third is left out, so the difference is that of the first two."""
    better = [*stage(0.75, seeds=2), *[o for o in stage(0.25, seeds=3) if o.seed == 2]]
    claim = c1(better, stage(0.5, seeds=2), stage(0.5, 2, seeds=2))
    assert [check.interval.value for check in claim.checks] == pytest.approx([1.0, 0.25, 0.25])
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


def test_c3_wants_more_calls_and_accuracy_that_is_equal_either_way() -> None:
    assert c3(stage(0.5, 1, n=80), stage(0.5, 2, n=80)).verdict == "holds"
    assert c3(stage(0.5, 1), stage(0.5, 2)).verdict == "undecided", "a tie on 40 leaves 3/40 open, more than 0.05"
    assert c3(stage(0.5, 1), stage(0.9, 2)).verdict == "doesn't", "these calls buy accuracy"
    assert c3(stage(0.9, 1), stage(0.5, 2)).verdict == "doesn't", "these cost it"
    assert c3(stage(0.5, 2), stage(0.5, 1)).verdict == "doesn't", "fewer calls"


def test_c4_is_the_slope_over_sizes() -> None:
    claim = c4({"300": stage(0.2), "900": stage(0.5), "2400": stage(0.8)})
    assert claim.verdict == "holds" and claim.checks[0].interval.value == pytest.approx(0.3)
    assert "300: 0.200, 900: 0.500, 2400: 0.800" in claim.note
    assert c4({"300": stage(0.8), "900": stage(0.2)}).verdict == "doesn't"
    alone = c4({"2400": stage(0.8)})
    assert alone.verdict == "undecided" and alone.note == "not run: other sizes of demonstrations than 2400"


def test_c5_is_not_testable_where_training_had_turns_enough() -> None:
    """A question needs two calls, so three turns: who was trained with as many, or with more, lacks none."""
    enough = c5({4: stage(0.5), 10: stage(0.9, turns=6)}, 4)
    assert enough.verdict == "not testable here"
    assert enough.reason == "questions need 2 calls at most, so 3 turns are enough, and training had 4"
    claim = c5({2: stage(0.5), 10: stage(0.5)}, 2)
    assert claim.verdict == "not testable here" and "0 of 120 episodes used more than 2 turns" in claim.reason
    assert c5({2: stage(0.5), 10: stage(0.9, turns=6)}, 2).verdict == "holds"
    assert c5({2: stage(0.9), 10: stage(0.5, turns=6)}, 2).verdict == "doesn't"
    with pytest.raises(ValueError, match=r"budgets \[2, 4\]: needs 4, as in training, and a larger one"):
        c5({2: stage(0.5), 4: stage(0.5)}, 4)


def test_c5s_ties_leave_the_rule_of_three_open() -> None:
    """All questions answered alike with more turns: 3 of 40 images, not an interval of no width."""
    found = c5({4: stage(0.5), 10: stage(0.5)}, 4).checks[0].interval
    assert (found.low, found.high) == pytest.approx((-3 / 40, 3 / 40))


def test_no_question_needs_more_calls_than_is_stated() -> None:
    kinds = make_tasks(dict.fromkeys(MAKERS, 4), 3)
    assert (
        max(len(turns_of(task)) - 1 for task in kinds if task.meta["level"] == "hard")
        == (STATED["C5"].numbers["calls"])
    )


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
