"""A paper's own finding: the sentence follows from the intervals, and says nothing of what was not measured."""

from __future__ import annotations

import pytest

from kit.evaluate.intervals import Interval
from papers.differences import difference, of, sign
from papers.registry import PAPERS, find_paper

Value = tuple[float, float, float]

NONE, SOME, MOST, WIDE = (0.0, 0.0, 0.1), (0.3, 0.2, 0.4), (0.9, 0.8, 1.0), (0.5, 0.0, 1.0)


def told(paper: str, **values: Value) -> str:
    """The sentence of values that are named ``STAGE__METRIC``."""
    stages: dict[str, dict[str, Interval]] = {}
    for name, value in values.items():
        stage, _, metric = name.partition("__")
        stages.setdefault(stage, {})[metric] = Interval(*value, 24)
    return find_paper(paper).tell(stages)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_was_not_measured_isnt_told(paper: str) -> None:
    assert told(paper) == told(paper, grpo__acc=MOST) == ""


@pytest.mark.parametrize(
    ("start", "bonus", "says"),
    [
        (
            SOME,
            MOST,
            "without a call under R_BAT, and with one under the bonus; R_BAT calls less than the cold",
        ),
        (SOME, SOME, "R_BAT calls less; R_BAT calls less than the cold start."),
        (
            WIDE,
            WIDE,
            "Which calls less can't be told from chance; whether R_BAT calls less than the cold start can't",
        ),
        (NONE, MOST, "under the bonus; whether R_BAT calls less than the cold start can't be told from chance."),
    ],
)
def test_codedance_tells_needless_calls(start: Value, bonus: Value, says: str) -> None:
    """0.0 ends at 0.1 above: below half, and below 0.3 - hypot(0.1, 0.1), not below 0.5 - hypot(0.5, 0.1)."""
    assert says in told("codedance", sft__calls_easy=start, grpo__calls_easy=NONE, bonus__calls_easy=bonus)


@pytest.mark.parametrize(
    ("alone", "says"),
    [
        (SOME, ", and less than under the outcome alone."),
        (WIDE, "; R_BAT and the outcome alone can't be told apart."),
        (NONE, "; R_BAT and the outcome alone can't be told apart."),
    ],
)
def test_codedance_tells_whether_the_outcome_alone_does_the_same(alone: Value, says: str) -> None:
    calls = {"sft__calls_easy": SOME, "grpo__calls_easy": NONE, "bonus__calls_easy": MOST}
    text = told("codedance", **calls, outcome__calls_easy=alone)
    assert f"a bonus for calls, {alone[0]:.2f} under the outcome alone. " in text
    assert text.endswith(f"R_BAT calls less than the cold start{says}")


def test_codedance_says_that_other_rewards_have_fewer_trainings() -> None:
    stages = {"sft": {"calls_easy": Interval(*SOME, 72)}, "grpo": {"calls_easy": Interval(*NONE, 72)}}
    stages["bonus"] = {"calls_easy": Interval(*MOST, 24)}
    assert find_paper("codedance").tell(stages).endswith("R_BAT calls less than the cold start.")
    stages["direct"] = {"calls_easy": Interval(*NONE, 24)}
    assert find_paper("codedance").tell(stages).endswith("start. The other rewards are of one training each.")


def test_codedance_tells_easy_answers_that_reinforcement_took() -> None:
    calls = {"sft__calls_easy": SOME, "grpo__calls_easy": NONE}
    told_of_loss = told("codedance", **calls, grpo__gain_over_sft_easy=(-0.045, -0.07, -0.02))
    assert told_of_loss.startswith("Of easy questions it answers 0.04 [0.02, 0.07] fewer rightly than before")
    assert told("codedance", **calls, grpo__gain_over_sft_easy=(-0.01, -0.03, 0.01)) == told("codedance", **calls)


@pytest.mark.parametrize(("after", "costs"), [(NONE, True), (MOST, False)])
def test_agile_tells_what_training_costs_where_it_does(after: Value, costs: bool) -> None:
    puzzles = {"grpo__calls_of_observation": MOST, "grpo__observation_gap_swapped_2x2": MOST}
    right = {"untrained__general_all": SOME, "sft__general_all": NONE, "grpo__general_all": after}
    text = told("agile", **puzzles, **right, untrained__begins_all=MOST, grpo__begins_all=SOME)
    assert ("It costs other abilities" in text) == costs
    assert ("the base gets 0.30 right, the cold start 0.00, the agent 0.00; that a reply begins with" in text) == costs
    assert text.endswith("falls less, 0.90 → 0.30.") == costs


def test_codedance_of_a_run_names_no_reward_that_it_may_not_have_had() -> None:
    text = told("codedance", sft__calls_easy=SOME, grpo__calls_easy=NONE)
    assert text == (
        "Played greedily, it makes 0.30 calls [0.20, 0.40] on an easy question, which needs none, after the cold "
        "start, 0.00 after reinforcement: it calls less than the cold start."
    )


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (MOST, "with a card named at random)."),
        (WIDE, "can't be told from chance."),
        (NONE, "less often than before."),
    ],
)
def test_mags_rl_tells_where_the_boxes_lie(after: Value, says: str) -> None:
    assert told("mags_rl", sft__right_all=SOME, grpo__right_all=after).endswith(says)


@pytest.mark.parametrize(
    ("gap", "says"),
    [
        (MOST, "solves 0.90 less: so what it sees is worth that much."),
        (WIDE, "solves 0.50 less: so what its looking is worth can't be told from chance."),
        ((-0.3, -0.4, -0.2), "solves 0.30 more: so its looking does it no good."),
    ],
)
def test_agile_tells_what_looking_is_worth(gap: Value, says: str) -> None:
    text = told("agile", grpo__calls_of_observation=(2.1, 2.0, 2.2), grpo__observation_gap_swapped_2x2=gap)
    assert text.startswith("The agent looks 2.1 times a puzzle") and text.endswith(says)


def test_agile_tells_what_imitation_reaches_where_nobody_guessed() -> None:
    looks = {"grpo__calls_of_observation": (2.1, 2.0, 2.2), "grpo__observation_gap_swapped_2x2": MOST}
    text = told("agile", **looks, sft__guesses_0_greedy_acc=(0.83, 0.7, 0.9))
    assert "imitation of looks alone solves 0.83 of the puzzles kept for making choices." in text
    known = told("agile", **looks, sft__guesses_0_greedy_acc=MOST, **{"decided-sft__acc_2x2": MOST})
    assert known.endswith("has something to find out."), "the same start on the test is told beside who did it"
    sampled = {"sft__guesses_60_sampled_looks": SOME, "sft__guesses_60_sampled_acc": NONE}
    assert "Sampled on the puzzles kept for making choices, the cold start itself looks in 0.30" in told(
        "agile", **looks, **sampled, sft__guesses_0_greedy_acc=MOST
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (MOST, "before reinforcement, 0.90 after it: where it calls, it asks for the wrong thing more"),
        (WIDE, "before reinforcement, 0.50 after it: whether it asks better or worse where it"),
        (
            (0.02, 0.0, 0.05),
            "before reinforcement, 0.02 after it: where it calls, it asks for the wrong thing less",
        ),
    ],
)
def test_vista_gym_tells_that_it_calls_and_of_those_that_call_for_what(wrong: Value, says: str) -> None:
    before = {"sft__called": (0.4, 0.3, 0.5), "sft__called_for_the_wrong_thing": (0.15, 0.1, 0.2)}
    text = told("vista_gym", **before, grpo__called=(1.0, 0.9, 1.0), grpo__called_for_the_wrong_thing=wrong)
    assert "in 0.40 of the episodes before reinforcement and in 1.00 after it: it has learnt that it should" in text
    assert says in text


@pytest.mark.parametrize(("agent", "says"), [(MOST, "that is more."), (WIDE, "apart."), (NONE, "that is less.")])
def test_vista_gym_tells_what_becomes_of_sets_that_were_not_trained_on(agent: Value, says: str) -> None:
    called = {"sft__called": SOME, "grpo__called": MOST}
    text = told("vista_gym", **called, direct__acc_out=SOME, grpo__acc_out=agent)
    assert f"{agent[0]:.3f} right, and the base, asked directly, 0.300: " in text
    assert text.endswith(says) and "not trained on" not in told("vista_gym", **called)


def test_vista_gym_tells_sets_that_it_was_trained_on_apart() -> None:
    """By hand: 0.5 of 40 questions are 20; of 10 that nobody trained on none; so 20 of the other 30."""
    called, asked = {"called": Interval(*SOME, 24)}, {"acc_out": Interval(*NONE, 24)}
    after = {"called": Interval(*MOST, 24), "acc_out": Interval(0, 0, 0.3, 10), "acc_all": Interval(0.5, 0.4, 0.6, 40)}
    text = find_paper("vista_gym").tell({"sft": called, "direct": asked, "grpo": after})
    assert "Of the 10 questions from sets that it was not trained on it gets 0.000 right" in text
    assert "On the other 30, of kinds and sets that it was trained on, it gets 0.67: so the share of all" in text
    after |= {"acc_in": Interval(0.4, 0.3, 0.5, 5)}
    text = find_paper("vista_gym").tell({"sft": called, "direct": asked, "grpo": after})
    assert "it gets 0.67 (0.40 on the 5 of the paper's sets): so the share of all" in text


@pytest.mark.parametrize(("sampled", "says"), [(SOME, "."), (NONE, ", which can't be told from chance.")])
def test_mags_rl_tells_what_sampled_play_adds_beside_greedy_play(sampled: Value, says: str) -> None:
    gains = {"grpo__acc_gain_over_sft_hard": SOME, "grpo__acc_gain_over_sft_hard_sampled": sampled}
    text = told("mags_rl", sft__right_all=SOME, grpo__right_all=MOST, **gains)
    assert text.endswith(
        f"answered rightly by 0.30. Played by sampling and not greedily, it adds {sampled[0]:.2f} to them{says}"
    )


def test_mags_rl_tells_which_kinds_are_answered_without_what_is_shown() -> None:
    kinds = ("attribute", "relation", "count")
    right = {f"grpo__acc_{kind}_hard": MOST for kind in kinds}
    gaps = {f"grpo__observation_gap_swapped_{kind}_hard": SOME for kind in kinds[:2]}
    gains = {f"grpo__acc_gain_over_sft_hard{how}": SOME for how in ("", "_sampled")}
    measured = {"sft__right_all": SOME, "grpo__right_all": MOST, **gains, **right, **gaps}
    text = told("mags_rl", **measured, grpo__observation_gap_swapped_count_hard=WIDE)
    assert "crops it answers those" not in text, "it may lose by it"
    text = told("mags_rl", **measured, grpo__observation_gap_swapped_count_hard=(-0.06, -0.11, 0.0))
    blind = "With another question's crops it answers those that ask for a count no less often rightly: nothing shows "
    assert text.endswith(f"0.90 of those that ask for a count. {blind}that it uses its crops there.")


def test_vista_gym_tells_nothing_of_calls_that_were_not_counted() -> None:
    """Older figures have who fails without a call, and what calls for the wrong thing among all questions."""
    failed = {
        "sft__errors_no_call": MOST,
        "sft__errors_E4": SOME,
        "grpo__errors_no_call": NONE,
        "grpo__errors_E4": SOME,
    }
    assert told("vista_gym", **failed) == ""
    mute = told("vista_gym", **failed, sft__called=NONE, grpo__called=MOST, grpo__called_for_the_wrong_thing=SOME)
    assert mute.endswith("and in 0.90 after it: it has learnt that it should call."), "nobody called before"


def test_visual_arft_tells_search_and_mending_apart() -> None:
    searched = {"sft__tools_search": (2.5, 2.4, 2.6), "grpo__tools_search": (0.3, 0.2, 0.4)}
    f1 = {"sft__f1_search": (0.13, 0.07, 0.22), "grpo__f1_search": (0.02, 0.0, 0.21)}
    measured = {**searched, **f1, "sft__restored_coding": SOME, "grpo__restored_coding": MOST}
    mended, search = told("visual_arft", **measured).split(". A question that")
    assert mended.endswith("the agent mends 0.30 → 0.90 of the images with one distortion")
    assert search.endswith("and F1 there goes 0.13 → 0.02: what is found can't be told apart.")
    assert "2.5 → 0.3 calls [0.2, 0.4] in the mean of its trainings," in search
    gains = {f"grpo__gain_over_sft_coding_{n}": value for n, value in (("simple", MOST), ("hard", SOME))}
    added = told("visual_arft", **measured, **gains)
    assert added.endswith("reinforcement added 0.90 on Simple sheets and 0.30 on Hard ones.")
    hard = {"direct__f1_coding_hard": NONE, "sft__f1_coding_hard": MOST}
    beats = told("visual_arft", **measured, **gains, **hard)
    assert beats.endswith("On Hard ones even the cold start beats the base asked directly (0.90, 0.00).")
    assert told("visual_arft", **measured, **gains, **hard | {"sft__f1_coding_hard": NONE}) == added
    lost = told("visual_arft", **measured, grpo__gain_over_sft_search=(-0.11, -0.17, -0.05))
    assert lost.endswith("F1 there goes 0.13 → 0.02: less is found."), "the same tasks are compared where they are"


def test_differences_and_places_by_hand() -> None:
    found = difference(Interval(0.6, 0.5, 0.7, 9), Interval(0.2, 0.1, 0.5, 8))
    assert (found.low, found.high) == pytest.approx((0.4 - 0.1**0.5, 0.4 + 0.02**0.5)) and sign(found) == 1
    stages = {"sft": {"acc": found}}
    assert of(stages, "sft/acc") == [found] and of(stages, "sft/acc", "grpo/acc") is None
