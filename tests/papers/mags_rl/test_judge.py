"""The judge: asked once about each answer, never about one that is right, and read whatever it replies."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_openai import FakeOpenAI
from hypothesis import given
from hypothesis import strategies as st

from kit.chat import Chat
from kit.papers.mags_rl.judge import MOST_CHARS, ModelJudge, exact, judge_of, model_judge, verdict
from kit.policy.endpoint import EndpointError

ASKED = ("What lies on the sofa?", "a kitten", ("cat",))


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("1", 1.0),
        ("0.75", 0.75),
        (" .5\n", 0.5),
        ("Score: 0.25.", 0.25),
        ("0", 0.0),
        ("1.0", 1.0),
        ("75", 0.0),  # no number from 0 to 1
        ("10", 0.0),
        ("Much alike.", 0.0),
        ("", 0.0),
    ],
)
def test_a_verdict_is_the_first_number_from_0_to_1(reply: str, found: float) -> None:
    assert verdict(reply) == found


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    assert 0.0 <= verdict(reply) <= 1.0


def test_each_answer_is_judged_once_and_the_file_remembers(chat: Chat, tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "0.75") as server:
        judge = model_judge(server.url, "small", chat, tmp_path / "verdicts.sqlite")
        assert [judge(*ASKED), judge(*ASKED)] == [0.75, 0.75] and len(server.bodies) == 1
        told = str(server.bodies[0]["messages"])
        assert all(part in told for part in ("What lies on the sofa?", "a kitten", "cat", "Reply with one of these"))
        assert server.bodies[0]["temperature"] == 0.0
        assert judge("What lies on the sofa?", "The cat.", ("cat",)) == 1.0, "right by the exact rule: nobody is asked"
        assert judge("What lies on the sofa?", " ", ("cat",)) == 0.0
        judge.cache.close()
        again = model_judge(server.url, "small", chat, tmp_path / "verdicts.sqlite")
        assert again(*ASKED) == 0.75 and len(server.bodies) == 1, "another run"
        other = model_judge(server.url, "large", chat, tmp_path / "verdicts.sqlite")
        assert other(*ASKED) == 0.75 and len(server.bodies) == 2, "another model may judge otherwise"
        again("?", "x" * 100_000, ("cat",))
        assert len(str(server.bodies[-1]["messages"])) < MOST_CHARS + 1000


def test_an_endpoint_that_is_gone_is_named_and_nothing_is_made_up(chat: Chat, tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "1", key="secret") as server:
        judge = model_judge(server.url, "small", chat, tmp_path / "verdicts.sqlite")
        for _ in range(2):
            with pytest.raises(EndpointError, match="OPENAI_API_KEY"):
                judge(*ASKED)


def test_offline_the_exact_rule_judges() -> None:
    assert (exact(*ASKED), exact("?", "Cat.", ("cat",))) == (0.0, 1.0)


def test_a_parameter_names_the_judge(chat: Chat, tmp_path: Path) -> None:
    assert judge_of("", chat, tmp_path / "verdicts.sqlite") is exact
    named = judge_of("gpt-4o-mini@http://host:1/v1", chat, tmp_path / "verdicts.sqlite")
    assert isinstance(named, ModelJudge) and named.name == "gpt-4o-mini"
    named.cache.close()
    for wrong in ("gpt-4o-mini", "http://host:1/v1", "@http://host:1/v1", "gpt-4o-mini@host"):
        with pytest.raises(ValueError, match="write MODEL@URL"):
            judge_of(wrong, chat, tmp_path / "verdicts.sqlite")
