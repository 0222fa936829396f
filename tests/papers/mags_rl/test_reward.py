"""Mags-RL's reward: every term worked out by hand, at its boundaries, in both stages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Ended, Episode, Score, Task, Turn
from kit.rewards.base import per_episode
from papers.mags_rl.env import Stage
from papers.mags_rl.judge import Judge
from papers.mags_rl.reward import Words, block, form_of_zoom, make_reward, rethink, zoom

ATTRIBUTE = Task("a", (), "What is on the red card?", ("tea 35",), {"skill": "attribute"})
BOX = [0.0, 0.5, 0.5, 1.0]


def words(n: int, of: int | None = None) -> str:
    """A text of ``of`` words, ``n`` of them unique."""
    of = n if of is None else of
    return " ".join(f"w{k % n}" for k in range(of))


def counting(count: str) -> Task:
    return Task("c", (), "How many?", (count,), {"skill": "count"})


def played(
    task: Task = ATTRIBUTE,
    think: str = words(20),
    boxes: str = json.dumps([BOX]),
    asked: int = 1,
    valid: int = 1,
    again: str = words(25),
    answer: str = "tea 35",
) -> Episode:
    told = {"asked": asked, "boxes": [BOX] * valid}
    first = Turn((), (), f"<think>{think} <zoom>{boxes}</zoom></think>", Action("zoom", boxes, told))
    second = Turn((), (), f"<rethink>{again}</rethink><answer>{answer}</answer>", Action("answer", answer))
    return Episode(task, (), (first, second), "answer")


def score(episode: Episode, stage: Stage = 1, judge: Judge | None = None) -> Score:
    return make_reward(stage, judge)(episode, episode.task.target)


def test_golden_total() -> None:
    """20 unique words: .5 + .5, as ln 21 > ln 20; form .1 (1 + .5 + .5) + .5 = .7; 2 · 1; 1 · 1/1; .5 · .2 · √25."""
    found = score(played())
    assert found.parts == pytest.approx({"form": 0.7, "answer": 2.0, "zoom": 1.0, "rethink": 0.5})
    assert found.total == pytest.approx(4.2) and found.correct is True
    assert score(played(), 2).total == pytest.approx(4.2), "stage 2, not counting: S = .1 + .9"


def test_golden_of_a_poor_episode() -> None:
    """9 unique words: .5 + .5 · ln 10/ln 20 = .88431; form .2 + .44216; wrong; k/n = 1/2; 9 again: .5 · .2 · 3 = .3."""
    found = score(played(think=words(9), asked=2, again=words(9), answer="milk 8"))
    assert found.parts == pytest.approx({"form": 0.64216, "answer": 0.0, "zoom": 0.5, "rethink": 0.3}, abs=1e-5)
    assert found.total == pytest.approx(1.44216, abs=1e-5) and found.correct is False


def test_golden_of_more_boxes_than_there_are() -> None:
    """Appendix B, stage 2, counting three; 7 unique of 10 words, 4 of 5 boxes valid, 16 words of rethinking, right.

    Format: ln 8/ln 20 = 2.07944/2.99573 = 0.69413, so the zoom's is 0.5 + 0.5 · 0.69413 = 0.84707, and
    0.1 (1 + 0.5 + 0.5) + 0.5 · 0.84707 = 0.62353. Answer: 2 · 1. Zoom: S = 1 as 7/10 is above 0.4; min(1, 4/3) = 1 less
    0.05 · (5 - 4): 0.95. Rethinking: min(1, 0.2 · 4) = 0.8, half of it 0.4. Together 3.97353.
    """
    found = score(played(counting("3"), words(7, 10), asked=5, valid=4, again=words(16), answer="3"), 2)
    assert found.parts == pytest.approx({"form": 0.62353, "answer": 2.0, "zoom": 0.95, "rethink": 0.4}, abs=1e-5)
    assert found.total == pytest.approx(3.97353, abs=1e-5)


def test_golden_of_a_first_round_that_repeats_itself() -> None:
    """Appendix B, stage 1; 5 unique of 20 words, both boxes valid, a wrong answer that its judge gives 0.6, 6 words.

    Format: 5/20 is below 0.4, so the zoom's is 0.1, and 0.2 + 0.5 · 0.1 = 0.25. Answer: 0.6 is below 0.7, nothing.
    Zoom: T = 0.1, times 2/2. Rethinking: 0.2 · 2.44949 = 0.48990, half of it 0.24495. Together 0.59495.
    """
    poor = played(think=words(5, 20), asked=2, valid=2, again=words(6), answer="milk")
    found = score(poor, 1, judge=lambda question, answer, golds: 0.6)
    assert found.parts == pytest.approx({"form": 0.25, "answer": 0.0, "zoom": 0.1, "rethink": 0.24495}, abs=1e-5)
    assert found.total == pytest.approx(0.59495, abs=1e-5)


def test_golden_of_an_episode_without_an_answer() -> None:
    """Appendix B, stage 2, no counting; 15 words, all unique, 2 of 3 boxes valid, 36 words of rethinking, no answer.

    Format: ln 16/ln 20 = 2.77259/2.99573 = 0.92551, so the zoom's is 0.96276; without an answer's tags
    0.1 (0 + 0.5 + 0.5) + 0.5 · 0.96276 = 0.58138. Zoom: S · 2/3 = 0.66667. Rethinking: 0.2 · 6 is above 1, so 1, but
    half of it without an answer in its form: 0.5, and half of that 0.25. Together 1.49804.
    """
    first = played(think=words(15), asked=3, valid=2).turns[0]
    silent = Episode(ATTRIBUTE, (), (first, Turn((), (), f"<rethink>{words(36)}</rethink>")), "format")
    found = score(silent, 2)
    assert found.parts == pytest.approx({"form": 0.58138, "answer": 0.0, "zoom": 0.66667, "rethink": 0.25}, abs=1e-5)
    assert found.total == pytest.approx(1.49804, abs=1e-5) and found.correct is False


def test_golden_of_an_answer_that_a_judge_finds_alike() -> None:
    """Appendix B, stage 2, counting ten; 6 unique of 16 words, 3 of 4 boxes valid, the judge gives 1, 4 words.

    Format: 6/16 = 0.375 is below 0.4, so the zoom's is 0.1, and 0.2 + 0.05 = 0.25. Answer: 2 · 0.5 · 1 = 1. Zoom: what
    is counted is worth 3/10 - 0.05 · 1 = 0.25, but S = 0.1 as the text repeats itself: 0.025. Rethinking: four unique
    words are fewer than five, nothing. Together 1.275.
    """
    alike = played(counting("10"), words(6, 16), asked=4, valid=3, again=words(4), answer="ten of them")
    found = score(alike, 2, judge=lambda question, answer, golds: 1.0)
    assert found.parts == pytest.approx({"form": 0.25, "answer": 1.0, "zoom": 0.025, "rethink": 0.0})
    assert found.total == pytest.approx(1.275)


@pytest.mark.parametrize(
    ("text", "all_", "unique"),
    [
        ("The card on the left, 3 of them.", 8, 7),
        ("左边的红色卡片上写着什么字", 13, 13),
        ("左边的卡片，右边的卡片。", 10, 6),
        ("カードは赤い", 6, 6),
        ("บัตรสีแดง", 7, 7),
        ("ဘယ်ဘက် ကတ်", 6, 4),
        ("看 card 3 上的字", 6, 6),
        ("кошка и собака", 3, 3),
        ("고양이와 개", 2, 2),
    ],
)
def test_a_character_of_a_script_without_spaces_is_a_word(text: str, all_: int, unique: int) -> None:
    assert (Words.of(text).all, Words.of(text).unique) == (all_, unique)


def test_a_thought_in_such_a_script_earns_what_its_words_do() -> None:
    thought = "先看左上角那张红色的卡片，再看右边写了什么字。"
    first = make_reward(1)(played(think=thought, again=thought), ("tea 35",))
    assert first.parts["zoom"] == 1.0 and first.parts["rethink"] > 0.4 and first.parts["form"] > 0.6


@pytest.mark.parametrize(
    ("unique", "of", "points"),
    [
        (4, 4, 0.0),  # not enough words
        (5, 5, 0.5 + 0.5 * log(6) / log(20)),
        (19, 19, 1.0),  # ln 20 / ln 20
        (18, 18, 0.5 + 0.5 * log(19) / log(20)),
        (100, 100, 1.0),  # capped
        (6, 15, 0.5 + 0.5 * log(7) / log(20)),  # exactly .4: the higher branch
        (8, 20, 0.5 + 0.5 * log(9) / log(20)),
        (6, 16, 0.1),  # .375
        (4, 11, 0.0),
    ],
)
def test_the_form_of_boxes(unique: int, of: int, points: float) -> None:
    assert form_of_zoom(True, Words(of, unique)) == pytest.approx(points, abs=1e-12)
    assert form_of_zoom(False, Words(of, unique)) == 0.0
    text = Words.of(words(unique, of))
    assert (text.all, text.unique) == (of, unique)


@pytest.mark.parametrize(
    ("stage", "unique", "of", "asked", "valid", "golden"),
    [
        (1, 20, 20, 1, 1, 1.0),
        (1, 20, 20, 4, 3, 0.75),
        (1, 20, 20, 0, 0, 0.0),  # no box
        (1, 6, 15, 2, 2, 1.0),  # exactly .4
        (1, 6, 16, 2, 2, 0.1),  # repeats itself
        (1, 4, 4, 2, 2, 0.0),  # too few words
        (2, 20, 20, 4, 3, 0.75),
        (2, 6, 15, 2, 2, 1.0),
        (2, 6, 16, 2, 2, 0.1),
        (2, 4, 4, 2, 1, 0.05),  # in stage 2 a tenth is left: .1 · 1/2
        (2, 20, 20, 0, 0, 0.0),
    ],
)
def test_zoom_without_counting(stage: Stage, unique: int, of: int, asked: int, valid: int, golden: float) -> None:
    assert zoom(stage, True, Words(of, unique), asked, valid) == pytest.approx(golden)
    assert zoom(stage, False, Words(of, unique), asked, valid) == 0.0


@pytest.mark.parametrize(
    ("asked", "valid", "count", "golden"),
    [
        (3, 3, 3, 1.0),
        (4, 3, 3, 0.95),  # one invalid: −.05
        (5, 5, 3, 1.0),  # more than there are: capped
        (2, 2, 4, 0.5),
        (3, 1, 4, 0.15),  # 1/4 − .05 · 2
        (7, 1, 5, 0.0),  # 1/5 − .05 · 6 is below 0
        (500, 8, 8, 0.0),  # 1 − .05 · 492
        (0, 0, 3, 0.0),
        (0, 0, 0, 1.0),  # nothing to count, and no box
        (1, 1, 0, 0.0),
        (1, 0, 0, 0.0),
    ],
)
def test_zoom_that_counts(asked: int, valid: int, count: int, golden: float) -> None:
    enough = Words(20, 20)
    assert zoom(2, True, enough, asked, valid, count) == pytest.approx(golden)
    assert zoom(2, True, Words(3, 3), asked, valid, count) == pytest.approx(0.1 * golden)
    assert zoom(1, True, enough, asked, valid, count) == (valid / asked if asked else 0.0), "stage 1 doesn't count"


def test_the_true_count_is_read_from_the_gold_answer() -> None:
    assert score(played(counting("3"), asked=4, valid=3), 2).parts["zoom"] == pytest.approx(0.95)
    assert score(played(counting("three"), asked=4, valid=3), 2).parts["zoom"] == pytest.approx(0.75), "no whole number"
    assert score(played(counting("2.5"), asked=4, valid=3), 2).parts["zoom"] == pytest.approx(0.75)
    assert score(played(counting("0"), boxes="[]", asked=0, valid=0), 2).parts["zoom"] == 1.0
    number = Task("n", (), "Which number is on the red card?", ("3",), {"skill": "attribute"})
    assert score(played(number, asked=4, valid=3), 2).parts["zoom"] == pytest.approx(0.75), "a number, not a count"


@pytest.mark.parametrize(
    ("answers", "unique", "golden"),
    [(True, 25, 1.0), (True, 400, 1.0), (True, 4, 0.0), (True, 5, 0.2 * sqrt(5)), (True, 9, 0.6), (False, 25, 0.5)],
)
def test_rethinking(answers: bool, unique: int, golden: float) -> None:
    assert rethink(answers, Words(unique, unique)) == pytest.approx(golden)
    assert rethink(answers, Words(10 * unique, unique)) == pytest.approx(golden), "only unique words count"


@pytest.mark.parametrize(("verdict", "worth"), [(0.7, 1.0), (0.75, 1.0), (1.0, 1.0), (0.69, 0.0), (0.5, 0.0)])
def test_a_judge_pays_half_from_seven_tenths_on(verdict: float, worth: float) -> None:
    asked: list[tuple[str, str, Sequence[str]]] = []

    def judge(question: str, answer: str, golds: Sequence[str]) -> float:
        asked.append((question, answer, golds))
        return verdict

    found = score(played(answer="thirty-five"), judge=judge)
    assert found.parts["answer"] == worth and found.correct is False
    assert asked == [("What is on the red card?", "thirty-five", ("tea 35",))]
    assert score(played(), judge=judge).parts["answer"] == 2.0 and len(asked) == 1, "right is right, nobody is asked"
    assert score(Episode(ATTRIBUTE, (), (), "tokens"), judge=judge).parts["answer"] == 0.0 and len(asked) == 1


def test_an_answer_out_of_its_form_is_worth_nothing() -> None:
    """Two answer blocks: the first one is taken, but not in its form. Rethinking keeps half."""
    twice = played(answer="tea 35")
    text = twice.turns[1].text + "<answer>tea 35</answer>"
    episode = Episode(ATTRIBUTE, (), (twice.turns[0], Turn((), (), text, Action("answer", "tea 35"))), "answer")
    found = score(episode)
    assert found.parts == pytest.approx({"form": 0.6, "answer": 0.0, "zoom": 1.0, "rethink": 0.25})
    assert found.correct is True, "what is measured is the answer"


@pytest.mark.parametrize(
    ("boxes", "asked"), [('[["a", 1, 2, 3]]', 1), ("left", 0), ("[[0, 0, 0.4, 0.4], [1]]", 2), ("[[0, 0, NaN, 1]]", 1)]
)
def test_boxes_out_of_their_form_earn_nothing(boxes: str, asked: int) -> None:
    found = score(played(boxes=boxes, asked=asked, valid=0), 2)
    assert found.parts["zoom"] == 0.0 and found.parts["form"] == pytest.approx(0.2)


def test_a_first_round_without_boxes_earns_its_reasoning() -> None:
    first = Turn((), (), f"<think>{words(20)}</think>")
    found = score(Episode(ATTRIBUTE, (), (first, played().turns[1]), "answer"))
    assert found.parts == pytest.approx({"form": 0.2, "answer": 2.0, "zoom": 0.0, "rethink": 0.5})


def test_boxes_are_no_words_and_case_doesnt_count() -> None:
    one = score(
        played(think="The the THE", boxes=json.dumps([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]]), asked=2, valid=2)
    )
    assert one.parts["zoom"] == 0.0, "one word, whatever numbers the boxes have"
    assert Words.of("Tea, tea; TEA. Don't!") == Words(5, 3)


def test_an_invalid_box_costs_less_than_a_missing_one_in_counting() -> None:
    more, fewer = (score(played(counting("4"), asked=n, valid=k), 2).total for n, k in ((5, 4), (3, 3)))
    assert more > fewer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<think>a</think>", "a"),
        ("x<think></think>y", ""),
        ("<think>a", None),
        ("a</think>", None),
        ("</think>a<think>", None),
        ("<think>a<think>b</think>", None),
        ("<rethink>a</rethink>", None),
    ],
)
def test_blocks(text: str, found: str | None) -> None:
    assert block(text, "think") == found


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<zoom>",
        "</zoom>",
        "[[0,0,0.3,0.3]]",
        "<rethink>",
        "</rethink>",
        "<answer>",
        "</answer>",
        "a b c",
    ]
)
TURNS = st.lists(st.lists(PIECES | st.text(st.characters(exclude_categories=())), max_size=12).map("".join), max_size=3)


@given(
    TURNS,
    st.sampled_from((1, 2)),
    st.sampled_from(("3", "0", "tea", "")),
    st.sampled_from(("answer", "format", "turns")),
)
def test_no_text_makes_it_raise_and_parts_stay_in_their_bounds(
    texts: list[str], stage: Stage, gold: str, ended: Ended
) -> None:
    told: dict[str, Any] = {"asked": 3, "boxes": [BOX] * 2}
    turns = [Turn((), (), text, Action("zoom", text, told)) for text in texts]
    if ended == "answer":
        turns.append(Turn((), (), "".join(texts), Action("answer", gold)))
    found = score(Episode(counting(gold), (), tuple(turns), ended), stage)
    assert found.total == sum(found.parts.values())
    limits = {"form": 0.7, "answer": 2.0, "zoom": 1.0, "rethink": 0.5}
    assert all(0.0 <= found.parts[name] <= most + 1e-9 for name, most in limits.items())


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_another_valid_box_never_costs(asked: int, valid: int, count: int) -> None:
    """Of as many boxes, one more that is valid; where nothing is to be counted all boxes are alike."""
    asked = max(asked, valid + 1)
    for stage in (1, 2):
        worth = [zoom(stage, True, Words(9, 9), asked, k, count) for k in (valid, valid + 1)]
        assert worth[0] <= worth[1] <= 1.0


def test_it_is_lifted_to_groups() -> None:
    scores = per_episode(make_reward(1), workers=2)([played(), played(answer="milk")], ("tea 35",))
    assert [one.correct for one in scores] == [True, False]
