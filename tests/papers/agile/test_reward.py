"""Eq. 5 and 6 of AGILE. The golden numbers were worked out by hand from the paper's α, β, γ, λ."""

import pytest
from episodes import said
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn
from papers.agile.env import PROTOCOL
from papers.agile.experiment import Play
from papers.agile.reward import RewardConfig, is_well_formed, last_seen, score

TARGET = ("B", "A", "D", "C")
CODE = "<think>look</think><code>observation(state)</code>"
RIGHT = '<think>done</think><answer>["B", "A", "D", "C"]</answer>'
WRONG = '<think>done</think><answer>["A", "B", "C", "D"]</answer>'


def play(*texts: str) -> Episode:
    return Episode(Task("t", (), "", TARGET), (), tuple(said(PROTOCOL, text) for text in texts))


@pytest.mark.parametrize(
    ("texts", "golden"),
    [
        ((CODE, CODE, RIGHT), 0.90),  # .8·1 + .2·1 + 1·(−.05·2)
        ((CODE, WRONG), -0.05),  # .8·0 + .2·1 + 1·(−.05·5)
        ((CODE, CODE, "<code>x</code>", RIGHT), 0.65),  # .8·1 + .2·0 + 1·(−.05·3): one turn lacks its reasoning
        ((CODE, "I don't know"), -0.25),  # .8·0 + .2·0 + 1·(−.05·5)
        ((CODE, CODE, CODE, CODE, CODE), -0.25),  # out of turns: nothing answered
        ((RIGHT,), 0.80),  # right, but no code: .8·1 + .2·0 + 1·(−.05·0)
        ((CODE, RIGHT), 0.95),  # the best there is: .8 + .2 − .05
    ],
)
def test_golden_values(texts: tuple[str, ...], golden: float) -> None:
    result = score(play(*texts), TARGET)
    assert result.total == pytest.approx(golden, abs=1e-12)
    assert sum(result.parts.values()) == pytest.approx(result.total)


def test_failing_code_is_a_step_too() -> None:
    """The released code counts returned images; the paper counts steps."""
    assert score(play("<think>a</think><code>1/0</code>", RIGHT), TARGET).parts["step"] == pytest.approx(-0.05)


def test_a_turn_without_an_action_is_a_step_where_the_episode_goes_on() -> None:
    """Algorithm 1 counts it: .8·1 + .2·0 + 1·(−.05·2)."""
    assert score(play(CODE, "hm", RIGHT), TARGET).total == pytest.approx(0.7)


@pytest.mark.parametrize(("turns", "golden"), [(5, -0.05), (9, -0.25), (2, 0.1)])
def test_a_wrong_answer_costs_the_budget_it_was_played_with(turns: int, golden: float) -> None:
    """.2·1 + 1·(−.05·turns)."""
    assert Play(max_turns=turns).score(play(CODE, WRONG), TARGET).total == pytest.approx(golden)


def test_a_right_answer_costs_its_own_steps_whatever_the_budget() -> None:
    assert {Play(max_turns=n).score(play(CODE, CODE, RIGHT), TARGET).total for n in (3, 5, 9)} == {0.8 + 0.2 - 0.1}


@pytest.mark.parametrize("answer", ['["B", "A", "D", "C",]', "[“B”, “A”, “D”, “C”]", "[‘B’, ‘A’, ‘D’, ‘C’]"])
def test_lists_that_read_as_the_right_answer_are_right(answer: str) -> None:
    """A comma after the last label, as Python allows; quotes as the paper's prompt is printed with."""
    assert score(play(CODE, f"<think>so</think><answer>{answer}</answer>"), TARGET).total == pytest.approx(0.95)


@pytest.mark.parametrize("text", ["<answer>" * 100_000, "<think>" * 100_000 + "</think>" * 100_000, "[" * 100_000])
def test_a_hundred_thousand_tags_are_scored(text: str) -> None:
    """Quadratic reading would take minutes; as an answer's inside they are no list."""
    assert score(play(text), TARGET).total == pytest.approx(-0.25)
    assert score(play(CODE, f"<think>a</think><answer>{text}</answer>"), TARGET).parts["accuracy"] == 0


def test_an_answer_in_passing_is_not_an_end() -> None:
    """The answer must be the last turn's action."""
    assert score(play(RIGHT, CODE), TARGET).parts["accuracy"] == 0
    assert not is_well_formed(play(RIGHT, CODE))


def test_weights_are_the_settings_they_name() -> None:
    result = score(play(CODE, RIGHT), TARGET, RewardConfig(accuracy=2, format=3, step=10, step_penalty=-0.1))
    assert result.parts == pytest.approx({"accuracy": 2, "format": 3, "step": -1})


@given(st.lists(st.text() | st.sampled_from([CODE, RIGHT, WRONG, "<answer>"]), max_size=6))
def test_no_text_makes_it_raise_and_bounds_hold(texts: list[str]) -> None:
    assert -0.25 - 1e-9 <= score(play(*texts), TARGET).total <= 0.95 + 1e-9


def test_a_target_that_is_one_text_is_refused() -> None:
    """Else "BADC" would be read as its letters."""
    with pytest.raises(ValueError, match="target 'BADC': give a sequence of labels, not one text"):
        score(play(CODE, RIGHT), "BADC")


def looked(*arrangements: str, text: str = RIGHT) -> Episode:
    """An episode on thumbnails that looks at arrangements, one a turn, and then answers."""
    grey = tuple(NamedImage(label, Image.new("RGB", (8, 8))) for label in "ABCD")
    episode = Episode(Task("t", grey, "", TARGET, originals=grey), ())
    for arrangement in arrangements:
        tiles = tuple(NamedImage(f"Image {label}", grey[0].image) for label in arrangement)
        seen = Observation("", tiles if len(tiles) > 1 else (NamedImage("crop_image_1", grey[0].image),))
        episode = episode.add(Turn((), (), CODE, Action("code", "observation(state)"), seen))
    return episode.add(Turn((), (), text, Action("answer", text.partition("<answer>")[2].removesuffix("</answer>"))))


def test_what_was_seen_last_is_read_from_the_names_of_the_pieces() -> None:
    assert last_seen(looked("ABCD", "BACD")) == ("B", "A", "C", "D")
    assert last_seen(looked("ABCD", "x")) == ("A", "B", "C", "D")  # a crop shows no arrangement
    assert last_seen(looked("x")) is None


@pytest.mark.parametrize(
    ("episode", "golden"),
    [
        (looked("ABCD", "BACD", "BADC"), 0.85),  # right and done: .8 + .2 − .05·3
        (looked("ABCD"), -0.05),  # right, not done: .2 − .05·5
        (looked("BADC", "ABCD"), -0.05),  # done and undone: what was seen last counts
        (looked("BADC", text=WRONG), -0.05),  # done, but the answer is wrong
        (looked(), -0.25),  # a right guess: no code, nothing done: −.05·5
    ],
)
def test_the_deed_is_paid_where_it_is_asked_for(episode: Episode, golden: float) -> None:
    assert score(episode, TARGET, RewardConfig(deed=True)).total == pytest.approx(golden)
    assert Play(deed=True).score(episode, TARGET).total == pytest.approx(golden)


def test_paid_or_not_a_right_answer_is_right() -> None:
    assert score(looked("ABCD"), TARGET, RewardConfig(deed=True)).correct


def test_the_deed_needs_observations_that_name_the_pieces() -> None:
    with pytest.raises(ValueError, match="deed=True, task t: its observations don't name the pieces"):
        score(play(CODE, RIGHT), TARGET, RewardConfig(deed=True))
