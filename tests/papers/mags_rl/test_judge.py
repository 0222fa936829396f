"""The judge: asked once about each answer, never about one that is right, and read whatever it replies."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_openai import FakeOpenAI

from kit.chat import Chat
from kit.policy.endpoint import EndpointError, ServedPolicy
from papers.kept_answers import Cache, CacheError
from papers.mags_rl.judge import MOST_CHARS, ModelJudge, exact, judge_of, model_judge

ASKED = ("What lies on the sofa?", "a kitten", ("cat",))


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


def judge_at(server: FakeOpenAI, chat: Chat, file: Path) -> ModelJudge:
    """A judge that doesn't wait before it asks again."""
    asked = ServedPolicy(server.url, "small", chat, retries=1, sleep=lambda seconds: None)
    return ModelJudge(asked, chat, Cache(file), "small")


UNREADABLE = [
    "I can't say.",
    "Score: 7",
    "1. The answers differ.",
    "<think>1 seems fair",
    "0.5-0.75",
    "Score: null",
    "75",
]


@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_reply_without_a_verdict_is_asked_for_again_and_never_kept(chat: Chat, tmp_path: Path, reply: str) -> None:
    replies = [reply, reply, "<think>1 seems fair.</think>Score: 0.25"]
    with FakeOpenAI(lambda body: replies.pop(0)) as server:
        assert judge_at(server, chat, tmp_path / "verdicts.sqlite")(*ASKED) == 0.25
        assert len(server.bodies) == 3
    with FakeOpenAI(lambda body: reply) as server:
        judge = judge_at(server, chat, tmp_path / "others.sqlite")
        with pytest.raises(EndpointError, match=r"127\.0\.0\.1.*model small: in 3 tries no reply that is a number"):
            judge(*ASKED)
        server.reply = lambda body: "0.5"
        assert judge(*ASKED) == 0.5, "nothing was kept"


FAULTS = {
    "null": '{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}',
    "cut": '{"choices": [{"message": {"content": "0.75 as the"}, "finish_reason": "length"}]}',
    "only thoughts": '{"choices": [{"message": {"content": null, "reasoning": "1?"}, "finish_reason": "length"}]}',
    "filtered": '{"choices": [{"message": {"content": "0."}, "finish_reason": "content_filter"}]}',
    "refused": '{"choices": [{"message": {"content": "1", "refusal": "No."}, "finish_reason": "stop"}]}',
    "message null": '{"choices": [{"message": null}]}',
    "no choices": '{"choices": []}',
    "error": '{"error": {"message": "1 of 1 workers is busy"}}',
    "page": "<html>502</html>",
}


@pytest.mark.parametrize("body", FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_endpoint_is_no_verdict(chat: Chat, tmp_path: Path, body: str) -> None:
    with FakeOpenAI(lambda body: "0.75") as server:
        judge = judge_at(server, chat, tmp_path / "verdicts.sqlite")
        server.faults = [body]
        assert judge(*ASKED) == 0.75 and len(server.bodies) == 2, "it passed"
        server.faults = [body] * 9
        with pytest.raises(EndpointError, match="model small"):
            judge("What lies there?", *ASKED[1:])
        server.faults = []
        assert judge("What lies there?", *ASKED[1:]) == 0.75, "nothing was kept"


def test_a_verdict_in_parts_is_one(chat: Chat, tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "") as server:
        server.faults = ['{"choices": [{"message": {"content": [{"type": "text", "text": "0.75"}]}}]}']
        assert judge_at(server, chat, tmp_path / "verdicts.sqlite")(*ASKED) == 0.75


def test_what_was_kept_and_is_no_verdict_is_asked_anew(chat: Chat, tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "0.75") as server:
        judge = judge_at(server, chat, tmp_path / "verdicts.sqlite")
        judge(*ASKED)
        file = judge.cache._file
        for kept in ('""', '"1. They"', "null", "1, 2", "{}"):
            file.execute("UPDATE answers SET answer = ?", (kept,))
            file.commit()
            assert judge(*ASKED) == 0.75
        assert len(server.bodies) == 6


@pytest.mark.parametrize("half", ["\ud800", "a \udcff kitten", "\udfff\ud800"])
def test_half_a_surrogate_pair_can_be_judged(chat: Chat, tmp_path: Path, half: str) -> None:
    with FakeOpenAI(lambda body: "0.25") as server:
        judge = judge_at(server, chat, tmp_path / "verdicts.sqlite")
        assert [judge(half, half, ("cat", half + "a")), judge(half, half, ("cat", half + "a"))] == [0.25, 0.25]
        assert len(server.bodies) == 1


def test_a_damaged_file_is_named_with_the_way_out(chat: Chat, tmp_path: Path) -> None:
    with FakeOpenAI(lambda body: "0.25") as server:
        file = tmp_path / "verdicts.sqlite"
        judge = judge_at(server, chat, file)
        for number in range(200):
            judge(f"{number}?" * 50, *ASKED[1:])
        judge.cache.close()
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 3])
        with pytest.raises(CacheError, match=r"verdicts\.sqlite: .*damaged.*move it away"):
            judge = judge_at(server, chat, file)
            for number in range(200):
                judge(f"{number}?" * 50, *ASKED[1:])


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
