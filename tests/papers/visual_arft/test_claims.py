"""Visual-ARFT's claims on made-up outcomes whose truth is known: each verdict is reached."""

from __future__ import annotations

import numpy as np
import pytest

from kit.papers.visual_arft.claims import r1, r2, r3, r4, r5
from kit.papers.visual_arft.metrics import Outcome


def stage(
    f1: float, setting: str = "coding", label: str = "hard", seeds: int = 3, em: float | None = None
) -> list[Outcome]:
    """Twenty tasks a seed about twenty pictures, with the given mean F1 and a little noise."""
    rng = np.random.default_rng(0)
    return [
        Outcome(
            f"t{k}",
            f"p{k}",
            setting,
            label,
            "x",
            f1 + 0.02 * rng.normal(),
            k < 20 * (em or 0),
            None,
            "wrong",
            2,
            1,
            9,
            s,
        )
        for s in range(seeds)
        for k in range(20)
    ]


def both(simple: float, hard: float, seeds: int = 3) -> list[Outcome]:
    return stage(simple, label="simple", seeds=seeds) + stage(hard, label="hard", seeds=seeds)


def test_r1_needs_a_gain_and_most_of_it_on_hard() -> None:
    direct, untrained = both(0.3, 0.1, seeds=1), both(0.2, 0.2, seeds=1)
    assert r1(direct, untrained, both(0.4, 0.5)).verdict == "holds"
    assert r1(direct, untrained, both(0.7, 0.2)).verdict == "doesn't"  # a gain, but most of it on Simple
    assert r1(direct, both(0.8, 1.0, seeds=1), both(0.4, 0.5)).verdict == "doesn't"  # the tools alone did better
    assert r1(direct, untrained, both(0.3, 0.1)).verdict in ("undecided", "doesn't")
    gain = r1(direct, untrained, both(0.4, 0.5)).checks
    assert gain[0].interval.value == pytest.approx(0.25, abs=0.02)  # the mean of .1 and .4
    assert gain[1].interval.value == pytest.approx(0.25, abs=0.02)  # the mean of .2 and .3
    assert gain[2].interval.value == pytest.approx(0.3, abs=0.02)  # .4 minus .1


@pytest.mark.parametrize(("claim", "setting"), [(r2, "search"), (r5, "text")])
def test_r2_and_r5_need_a_gain(claim, setting: str) -> None:
    low, high = stage(0.1, setting, seeds=1), stage(0.9, setting, seeds=1)
    assert claim(low, low, stage(0.5, setting)).verdict == "holds"
    assert claim(high, low, stage(0.5, setting)).verdict == "doesn't"
    assert claim(low, high, stage(0.5, setting)).verdict == "doesn't"
    with pytest.raises(ValueError, match="untrained: no any"):
        claim(low, stage(0.1, "coding", seeds=1), stage(0.5, setting))


def test_r3_needs_both_measures() -> None:
    assert r3(stage(0.4, em=0.2), stage(0.6, em=0.4)).verdict == "holds"
    assert r3(stage(0.4, em=0.4), stage(0.6, em=0.2)).verdict == "doesn't"


def test_r4_needs_to_beat_both() -> None:
    cot, rag, agent = (stage(f, "search", seeds=n) for f, n in ((0.1, 1), (0.3, 1), (0.5, 3)))
    assert r4(cot, rag, agent).verdict == "holds"
    assert r4(cot, stage(0.8, "search", seeds=1), agent).verdict == "doesn't"
