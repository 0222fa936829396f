"""Visual-ARFT's reward: the paper's worked number, what earns nothing, and that no text makes it raise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Episode, Observation, Status, Task, Turn
from kit.protocol import FormatError
from papers.visual_arft.reward import PROTOCOL, RewardConfig, score, step_score, step_scores
from papers.visual_arft.similarity import MiniLM

TASK = Task("t", (), "Which cars?", ("red cars",))
OK = Observation("seen")


def said(text: str, observation: Observation | None = OK) -> Turn:
    parsed = PROTOCOL.parse(text)
    action = None if isinstance(parsed, FormatError) else parsed
    return Turn((), (), text, action, None if action is None or action.name == "answer" else observation)


def episode(*turns: Turn) -> Episode:
    return Episode(TASK, (), turns, "answer")


def words_in_common(first: str, second: str) -> float:
    """A similarity one can work out by hand: shared words over all words."""
    a, b = set(first.split()), set(second.split())
    return len(a & b) / len(a | b)


ANSWER = said("<think>I see.</think><answer>the red car</answer>")
GOLDS = ("flag blue white", "France capital")


def test_the_papers_numbers() -> None:
    """{red, car} against {red, cars}: P = R = 1/2, F1 = 1/2, EM 0; with the tags 1.5 and 1."""
    assert score(episode(ANSWER), TASK.target).total == 1.5
    assert score(episode(ANSWER), TASK.target).parts == {"format": 1.0, "answer": 0.5}
    assert score(episode(ANSWER), TASK.target, RewardConfig(answer="em")).total == 1.0
    assert score(episode(ANSWER), ("blue", "the red car!")).total == 2.0  # of several golds the nearest


def test_one_turn_that_breaks_the_tags_costs_the_episodes_format() -> None:
    search = said("<think>Hm.</think><search>cars</search>")
    loose = said("Hm. <search>cars</search>")
    assert score(episode(search, ANSWER), TASK.target).parts["format"] == 1
    assert score(episode(loose, ANSWER), TASK.target).parts == {"format": 0.0, "answer": 0.5}


def test_an_episode_without_an_answer_earns_nothing() -> None:
    search = said("<think>Hm.</think><search>red cars</search>")
    assert score(Episode(TASK, (), (search,), "turns"), TASK.target).total == 0
    assert score(Episode(TASK, (), (), "tokens"), TASK.target).total == 0


def test_every_step_is_paid_for_what_it_was() -> None:
    """Queries: {flag, blue, red} and {flag, blue, white} share 2 of 4 words: .5; "capital" shares 1 of 2: .5."""
    turns = (
        said("<think>Look.</think><search>flag blue red</search>"),
        said("<think>So.</think><search>capital</search>"),
        said("<think>Turn it.</think><code>rotate(image, 90)</code>"),
        said("no tags <search>something else</search>"),
        ANSWER,
    )
    totals = [s.total for s in step_scores(episode(*turns), TASK.target, GOLDS, words_in_common)]
    assert totals == [1.5, 1.5, 2.0, 0.0, 1.5]


def test_the_steps_as_one_score_is_their_mean_with_each_turn_kept() -> None:
    """Of 1.5 (a query half right) and 1.5 (an answer half right): 1.5; 1 for the tags, .25 for each of the others."""
    turns = (said("<think>Look.</think><search>flag blue red</search>"), ANSWER)
    whole = step_score(episode(*turns), TASK.target, GOLDS, words_in_common)
    assert (whole.total, whole.turns) == (1.5, (1.5, 1.5))
    assert whole.parts == {"format": 1.0, "answer": 0.25, "search": 0.25, "code": 0.0}
    assert step_score(episode(), TASK.target, GOLDS, words_in_common).total == 0


def test_a_gold_query_is_paid_for_once() -> None:
    again = said("<think>Look.</think><search>France capital</search>")
    first, second = step_scores(episode(again, again), TASK.target, GOLDS[1:], words_in_common)
    assert (first.parts["search"], second.parts["search"]) == (1.0, 0.0)


def test_a_query_less_than_half_alike_earns_nothing() -> None:
    """{France, capital, of, what} and {France, capital} share 2 of 4 words, with one more 2 of 5."""
    for query, worth in (("France capital of what", 0.5), ("France capital of what now", 0.0)):
        turn = said(f"<think>?</think><search>{query}</search>")
        assert step_scores(episode(turn), TASK.target, GOLDS, words_in_common)[0].parts["search"] == worth


@pytest.mark.parametrize(
    ("status", "ours", "papers"), [("ok", 1.0, 1.0), ("error", 0.0, 1.0), ("timeout", 0.0, 1.0), ("limit", 0.0, 1.0)]
)
def test_only_code_that_ran_earns_unless_the_papers_rule_is_asked_for(
    status: Status, ours: float, papers: float
) -> None:
    """A comment alone is an error in the sandbox: there is no statement in it."""
    code = said("<think>.</think><code># look</code>", Observation("", status=status))

    def worth(rule: RewardConfig) -> float:
        return step_scores(episode(code), TASK.target, (), words_in_common, rule)[0].parts["code"]

    assert worth(RewardConfig()) == ours
    assert worth(RewardConfig(any_code=True)) == papers
    assert worth(RewardConfig(any_code=True, code=0.9)) == 0.9 * papers


def test_a_question_without_gold_and_an_unknown_measure_are_refused() -> None:
    with pytest.raises(ValueError, match="no gold answer"):
        score(episode(ANSWER), ())
    with pytest.raises(ValueError, match=r"RewardConfig.answer='bleu': must be one of f1, em"):
        RewardConfig(answer="bleu")  # type: ignore[arg-type]


def test_an_answer_in_another_script() -> None:
    """Chinese by character: 北京市 against 北京 is 3 and 2 tokens, 2 in common: F1 = 4/5."""
    answer = said("<think>中</think><answer>北京市</answer>")
    assert score(episode(answer), ("北京",)).parts["answer"] == pytest.approx(0.8)


@given(st.lists(st.tuples(st.sampled_from(["code", "search", "answer", ""]), st.text(max_size=30)), max_size=4))
def test_no_text_makes_it_raise_and_a_turn_earns_0_to_2(turns: list[tuple[str, str]]) -> None:
    written = [
        Turn((), (), f"<think>x</think><{kind}>{text}</{kind}>", Action(kind, text) if kind else None)
        for kind, text in turns
    ]
    assert 0 <= score(episode(*written), TASK.target).total <= 2
    for one in step_scores(episode(*written), TASK.target, GOLDS, words_in_common):
        assert 0 <= one.total <= 2 and one.total == sum(one.parts.values())


def test_a_lone_surrogate_neither_raises_nor_earns() -> None:
    """By MiniLM itself, whose tokenizer refuses one: it counts as a question mark."""
    turns = (said("<think>?</think><search>\ud800 \udfff</search>"), said("<think>?</think><answer>\ud800</answer>"))
    first, second = step_scores(episode(*turns), TASK.target, GOLDS, MiniLM())
    assert (first.parts, second.parts) == ({"format": 1.0, "search": 0.0}, {"format": 1.0, "answer": 0.0})


@pytest.mark.parametrize("reward", [score, lambda e, target: step_scores(e, target, (), words_in_common)])
def test_a_target_that_is_one_text_is_refused(reward: Any) -> None:
    """Read letter by letter, the answer "r" would be right."""
    with pytest.raises(ValueError, match="gold answers 'red cars': give a list of texts, not one text"):
        reward(episode(ANSWER), "red cars")


@pytest.mark.parametrize("tag", ["code", "search", "answer", "think"])
def test_a_hundred_thousand_nested_tags_take_milliseconds(tag: str) -> None:
    """Quadratic, this would take minutes: parsing and scoring go through the text a few times."""
    text = f"<{tag}>" * 100_000 + f"</{tag}>" * 100_000
    turn = said(text)
    assert (turn.action is None) == (tag == "think")
    (only,) = step_scores(episode(turn), TASK.target, GOLDS, words_in_common, RewardConfig(any_code=True))
    assert only.parts["format"] == 0.0
