"""The finding in words: what may be said follows from the intervals, and what is missing is said."""

from __future__ import annotations

import math

import pytest

from kit.evaluate.intervals import Interval
from papers.differences import difference
from workshop.jobs.finding import GAP, ONE_TRAINING, alongside, finding, in_words, three_bars, who_did_it

Triple = tuple[float, float, float]

LOW, MIDDLE, HIGH, WIDE = (0.1, 0.0, 0.2), (0.5, 0.4, 0.6), (0.9, 0.8, 1.0), (0.5, 0.0, 1.0)


def told(gain: Triple | None = None, gap: Triple | None = None, **values: Triple) -> str:
    stages = {name: {"acc": Interval(*value, 24)} for name, value in values.items()}
    for name, value in (("gain_over_direct", gain), ("observation_gap_swapped", gap)):
        if value is not None:
            stages["grpo"][name] = Interval(*value, 24)
    return finding(stages, "acc", "solved", trainings=3)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (
            {"direct": MIDDLE, "untrained": LOW, "grpo": HIGH},
            "training taught it to do better than the base",
        ),
        ({"direct": HIGH, "untrained": LOW, "grpo": HIGH}, "is to act; that it answers better than the base"),
        ({"direct": HIGH, "untrained": LOW, "sft": HIGH, "grpo": HIGH}, "what training taught is to act"),
        ({"direct": HIGH, "untrained": LOW, "grpo": MIDDLE}, "acting doesn't pay yet"),
        ({"direct": LOW, "untrained": LOW, "grpo": WIDE}, "can't be told from chance"),
        ({"direct": HIGH, "untrained": LOW, "grpo": LOW}, "can't be told from chance"),
        ({"direct": HIGH, "grpo": HIGH}, "The agent's start was not measured"),
        ({"direct": HIGH, "untrained": LOW}, "No agent was measured after reinforcement learning."),
        ({"direct": HIGH}, "So what training taught can't be told yet."),
        (
            {"untrained": LOW, "grpo": HIGH},
            "was not measured. As an agent it reaches 0.10 [0.00, 0.20] untrained and 0.90 [0.80, 1.00] after",
        ),
        ({}, "Nothing has been measured in this run yet."),
    ],
)
def test_what_training_taught_follows_from_the_intervals(values: dict[str, Triple], says: str) -> None:
    assert says in told(**values)


def test_what_reinforcement_took_away_is_told() -> None:
    """0.1 - 0.5 = -0.4, and -0.4 + sqrt(0.1² + 0.1²) = -0.26 is below 0."""
    taken = "reinforcement took some of that away"
    assert taken in told(direct=LOW, untrained=LOW, sft=MIDDLE, grpo=LOW)
    assert taken not in told(direct=LOW, untrained=LOW, sft=MIDDLE, grpo=WIDE)
    assert "Reinforcement made it worse than where it began." in told(direct=LOW, untrained=MIDDLE, grpo=LOW)


CHANCE = "added nothing that can be told from chance"
CREDIT = {
    (1, 1): "Both trainings added to it: imitation, and reinforcement after it.",
    (1, 0): f"Imitation did it; reinforcement {CHANCE}.",
    (1, -1): "Imitation did it; reinforcement took some of that away: it was better after the cold start.",
    (1, None): "Imitation did it.",
    (0, 1): f"Reinforcement did it; imitation alone {CHANCE}.",
    (0, 0): "That either training added anything by itself can't be told from chance.",
    (0, -1): f"Imitation {CHANCE}; reinforcement made it worse than after the cold start.",
    (0, None): f"Imitation {CHANCE}.",
    (-1, 1): "Reinforcement did it; imitation alone had made it worse.",
    (-1, 0): f"Imitation made it worse; reinforcement {CHANCE}.",
    (-1, -1): "Imitation made it worse, and reinforcement worse still.",
    (-1, None): "Imitation made it worse.",
    (None, 1): "Reinforcement raised it from where it began.",
    (None, 0): f"Reinforcement {CHANCE}.",
    (None, -1): "Reinforcement made it worse than where it began.",
    (None, None): "",
}
LOOKING = {
    1: " It has learnt to look: it answers by what it is shown.",
    0: " That it answers by what it is shown can't be told from chance.",
    -1: " It does better with another episode's observations: it has not learnt to look.",
    None: "",
}


@pytest.mark.parametrize("looking", LOOKING)
@pytest.mark.parametrize(("imitation", "reinforcement"), CREDIT)
def test_who_did_it(imitation: int | None, reinforcement: int | None, looking: int | None) -> None:
    """What it looks at is told only of an agent that some training improved."""
    improved = imitation == 1 or reinforcement == 1
    expected = CREDIT[imitation, reinforcement] + (LOOKING[looking] if improved else "")
    assert who_did_it(imitation, reinforcement, looking) == expected


@pytest.mark.parametrize(
    ("over", "says"),
    [(0, "whether it then answers better or worse than the base asked directly can't be told."), (-1, "answers worse")],
)
def test_imitation_is_judged_against_the_base_asked_directly_as_well(over: int, says: str) -> None:
    """An untrained agent has no form; one that has it needn't answer more than the base does without."""
    for reinforcement, then in ((1, "added to it."), (0, f"{CHANCE}."), (-1, "took some of it away."), (None, "")):
        text = who_did_it(1, reinforcement, None, over)
        assert text.startswith("Imitation taught it the form of an agent; ") and says in text and text.endswith(then)
    assert who_did_it(1, 1, None, 1) == CREDIT[1, 1], "better than both"
    assert who_did_it(0, 1, None, -1) == CREDIT[0, 1], "there is nothing that it taught"


def test_the_base_asked_directly_is_what_imitation_has_to_beat() -> None:
    """0.5 after the cold start: above the untrained agent's 0.1, and no better than the 0.5 of the base."""
    text = told(gain=(0.4, 0.3, 0.5), direct=MIDDLE, untrained=LOW, sft=MIDDLE, grpo=HIGH)
    assert "asked directly can't be told. Reinforcement added to it." in text
    assert "Both trainings added to it" in told(direct=LOW, untrained=LOW, sft=MIDDLE, grpo=HIGH)


def test_a_share_near_zero_over_few_seeds_is_no_gain_of_imitation() -> None:
    """0.04 [0.003, 0.17] and 0 [0, 0.012] overlap, though by square and sum their difference begins above 0."""
    text = told(direct=LOW, untrained=(0.0, 0.0, 0.012), sft=(0.042, 0.003, 0.167), grpo=HIGH)
    assert text.endswith(CREDIT[0, 1])


def test_beside_a_table_no_figure_is_told_again_and_what_was_not_gained_is() -> None:
    stages = {name: {"acc": Interval(*value, 24)} for name, value in (("direct", LOW), ("sft", LOW), ("grpo", HIGH))}
    assert in_words(stages, "acc") == "Reinforcement raised it from where it began."
    stages["direct"] = stages["grpo"]
    told = "So what training taught is to act; that it answers better than the base does at once can't be told."
    assert in_words(stages, "acc") == f"{told} Reinforcement raised it from where it began."
    del stages["grpo"]
    assert in_words(stages, "acc") == "No agent was measured after reinforcement learning."


def test_an_agent_that_imitation_taught_isnt_credited_to_reinforcement() -> None:
    """0.9 after both: above the base, and no better than after the cold start; the gap is of the same tasks."""
    text = told(gap=(0.3, 0.2, 0.4), direct=LOW, untrained=LOW, sft=HIGH, grpo=HIGH)
    assert text.endswith(
        f"Imitation did it; reinforcement {CHANCE}. It has learnt to look: it answers by what it is shown."
    )


def test_numbers_come_first_and_the_nearest_start_is_named() -> None:
    assert told(direct=MIDDLE, untrained=(0.0, 0.0, 0.1), sft=LOW, grpo=HIGH) == (
        "Asked directly, the base reaches 0.50 [0.40, 0.60] (solved). As an agent it reaches 0.10 [0.00, 0.20] "
        "after the cold start and 0.90 [0.80, 1.00] after reinforcement learning. So training taught it to do better "
        "than the base does when it is asked directly. Reinforcement did it; imitation alone added nothing that can be "
        "told from chance."
    )


def test_observations_and_the_ceiling_are_told_where_they_were_measured() -> None:
    text = told(gap=(0.3, 0.2, 0.4), direct=LOW, direct_originals=HIGH, sft=LOW, grpo=MIDDLE)
    assert "(solved); shown the full images, it would reach 0.90 [0.80, 1.00]. As an agent" in text
    assert "learning, and 0.30 [0.20, 0.40] less with another episode's observations. So" in text
    text = told(gap=(-0.1, -0.3, 0.1), direct=LOW, sft=LOW, grpo=MIDDLE)
    assert "and 0.10 [-0.10, 0.30] more with another episode's observations" in text and "full images" not in text


def test_what_imitation_alone_reaches_is_told_where_it_was_measured() -> None:
    sure = (
        "The cold start's expert doesn't always do what is best, on purpose; imitating one that does reaches "
        "0.90 [0.80, 1.00] by itself."
    )
    alone = f"{sure} So training"
    assert alone in told(direct=LOW, sft=LOW, grpo=HIGH, **{"decided-sft": HIGH})
    assert "imitating one" not in told(direct=LOW, sft=LOW, grpo=HIGH)
    stages = {
        name: {"acc": Interval(*value, 24)} for name, value in (("decided-sft", HIGH), ("sft", LOW), ("grpo", HIGH))
    }
    alone = alone.removesuffix(" So training")
    assert in_words(stages, "acc") == f"Reinforcement raised it from where it began. {alone}"
    ceiling = "Asked directly with the full images in front of it, the base reaches 0.90 [0.80, 1.00]"
    stages["direct_originals"] = stages["decided-sft"]
    begun = f"Reinforcement raised it from where it began. {alone} {ceiling}"
    no_better = "the agent isn't above that, so nothing shows that it sees better than it did."
    assert in_words(stages, "acc") == f"{begun}; {no_better}"
    better = {"grpo": stages["grpo"], "direct_originals": stages["sft"]}
    assert in_words(stages | better, "acc").endswith("].")


@pytest.mark.parametrize(("direct", "says"), [(0.1, True), (0.2, False)])
def test_a_ceiling_told_as_accuracy_counts_where_accuracy_is_the_metric(direct: float, says: bool) -> None:
    accuracy = {"accuracy": Interval(0.1, 0.0, 0.2, 24)}
    stages = {"direct": {"acc": Interval(direct, 0.0, 0.2, 24), **accuracy}, "direct_originals": accuracy}
    assert ("shown the full images, it would reach 0.10" in finding(stages, "acc", "solved")) == says


def test_three_bars_are_the_base_and_the_agent_before_and_after() -> None:
    low, high = Interval(*LOW, 24), Interval(*HIGH, 24)
    bars = three_bars({"untrained": {"acc": low}, "sft": {"f1": low}, "grpo": {"acc": high}}, "acc")
    assert bars == {"base, asked directly": None, "agent before RL": low, "agent after RL": high}


def test_a_paired_difference_decides_before_two_intervals_do() -> None:
    """Both play the same tasks, so that the difference is known better than either."""
    assert "to do better than the base does" in told(gain=(0.1, 0.05, 0.15), direct=WIDE, untrained=LOW, grpo=WIDE)
    assert "acting doesn't pay yet" in told(gain=(-0.1, -0.15, -0.05), direct=HIGH, untrained=LOW, grpo=HIGH)


def test_intervals_that_overlap_a_little_may_differ_all_the_same() -> None:
    """0.57 - 0.27 = 0.30, and 0.30 - sqrt(0.20² + 0.18²) = 0.03 is above 0."""
    text = told(direct=(0.27, 0.14, 0.45), untrained=(0.0, 0.0, 0.1), grpo=(0.57, 0.37, 0.75))
    assert "So training taught it to do better than the base" in text
    found = difference(Interval(0.6, 0.5, 0.7, 9), Interval(0.2, 0.1, 0.5, 8))
    assert (found.value, found.low, found.high) == pytest.approx((0.4, 0.4 - 0.1**0.5, 0.4 + 0.02**0.5))
    assert found.n == 8


def test_without_intervals_nothing_is_claimed() -> None:
    one_seed = (0.5, -math.inf, math.inf)
    text = told(direct=(0.9, -math.inf, math.inf), untrained=(0.1, -math.inf, math.inf), grpo=one_seed)
    assert "reaches 0.90 (solved)" in text and "gained anything by training can't be told from chance" in text


def test_of_one_training_it_says_so() -> None:
    """The gain over seeds has no interval; over tasks, the two values have."""
    stages = {name: {"acc": Interval(*value, 24)} for name, value in (("direct", LOW), ("sft", LOW), ("grpo", HIGH))}
    assert finding(stages, "acc", "solved").endswith(f" {ONE_TRAINING}")
    assert ONE_TRAINING not in finding(stages, "acc", "solved", trainings=2)
    del stages["grpo"]
    assert ONE_TRAINING not in finding(stages, "acc", "solved"), "none was finished"


def test_the_gap_is_told_of_the_tasks_that_the_headline_is_about() -> None:
    """Of the hard ones 0.42 less, of all 0.23; where nothing is known of a subset, that of all counts."""
    whole, hard = Interval(0.23, 0.1, 0.3, 9), Interval(0.42, 0.3, 0.5, 9)
    measured = {"observation_gap_swapped": whole, "observation_gap_swapped_hard": hard}
    assert alongside(measured, GAP, "acc_hard") == hard and alongside(measured, GAP, "acc_all") == whole
    assert alongside({}, GAP, "acc_hard") is None
    stages = {"direct": {"acc_hard": whole}, "grpo": {"acc_hard": hard, **measured}}
    assert "0.42 [0.30, 0.50] less with another episode's observations" in finding(stages, "acc_hard", "hard ones")
