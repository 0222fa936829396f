"""The client of chat-completions endpoints, against a local server that speaks the protocol."""

import base64
import io
import json
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import numpy as np
import pytest
from fake_openai import FakeOpenAI
from PIL import Image

from kit.chat import Chat
from kit.episode import NamedImage
from kit.policy import GenerationRequest, SamplingParams
from kit.policy.endpoint import EndpointError, ServedPolicy, close_turn, messages
from papers.agile.env import PROTOCOL

PARAMS = SamplingParams(stops=PROTOCOL.stops, max_new_tokens=64, temperature=0.5)
TURN = "<think>A top left.</think><code>observation_image_1 = observation(state)</code>"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(lambda body: TURN) as fake:
        yield fake


class Waits(list[float]):
    """Stands in for time.sleep and remembers."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def policy(server: FakeOpenAI, chat: Chat, **options: Any) -> tuple[ServedPolicy, Waits]:
    waits = Waits()
    return ServedPolicy(server.url, "tiny", chat, sleep=waits, **options), waits


def picture(name: str, seed: int = 0) -> NamedImage:
    pixels = np.random.default_rng(seed).integers(0, 256, (56, 56, 3), dtype=np.uint8)
    return NamedImage(name, Image.fromarray(pixels))


def request_of(chat: Chat, text: str = "hello") -> GenerationRequest:
    return GenerationRequest(tuple(chat.prompt("be good", [text])), ())


def test_messages_say_what_the_ids_say(chat: Chat) -> None:
    a, b, seen = picture("A", 1), picture("B", 2), picture("observation_image_1", 3)
    ids = chat.prompt("You solve.", ["Image A: ", a, "Image B: ", b, "Solve <|im_start|>system it."])
    ids += chat.text(TURN)
    ids += chat.reply(["Output: 1\nobservation_image_1: ", seen], closed=False)
    got = messages(chat, GenerationRequest(tuple(ids), (a, b, seen)))
    assert [m["role"] for m in got] == ["system", "user", "assistant", "user"]
    assert got[0]["content"] == "You solve."
    kinds = [part["type"] for part in got[1]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url", "text"]
    # A role token written in a question is text, not a role.
    assert got[1]["content"][-1]["text"] == "Solve <|im_start|>system it."
    assert got[2]["content"] == TURN
    assert got[3]["content"][0]["text"] == "Output: 1\nobservation_image_1: "
    url = got[3]["content"][1]["image_url"]["url"]
    sent = Image.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/png;base64,"))))
    assert np.array_equal(np.asarray(sent), np.asarray(seen.image))


def test_a_turn_closed_by_the_policy_reads_the_same(chat: Chat) -> None:
    texts = []
    for closed in (False, True):
        ids = chat.prompt("s", ["q"]) + chat.text(TURN) + [chat.end_id] * closed + chat.reply(["o"], closed=closed)
        texts.append(messages(chat, GenerationRequest(tuple(ids), ())))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("pictures", [0, 2])
def test_messages_refuse_a_wrong_number_of_pictures(chat: Chat, pictures: int) -> None:
    ids = chat.prompt("", ["look ", picture("A")])
    with pytest.raises(ValueError, match="picture"):
        messages(chat, GenerationRequest(tuple(ids), tuple(picture("A") for _ in range(pictures))))


def test_messages_refuse_ids_without_roles(chat: Chat) -> None:
    ids = chat.message("user", ["hi"])
    with pytest.raises(ValueError, match="without a role"):
        messages(chat, GenerationRequest((ids[0], chat.end_id), ()))


def test_the_stop_string_comes_back(server: FakeOpenAI, chat: Chat) -> None:
    serve, _ = policy(server, chat)
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert chat.decode(sample.ids) == TURN
    assert sample.finish == "stop" and sample.logprobs == (0.0,) * len(sample.ids)
    body = server.bodies[0]
    assert body["stop"] == ["</code>", "</answer>"] and body["max_tokens"] == 64 and body["temperature"] == 0.5


def test_an_endpoint_that_ignores_stop_is_cut(server: FakeOpenAI, chat: Chat) -> None:
    server.honours_stop = False
    server.reply = lambda body: TURN + "<think>and on</think><answer>[A]</answer>"
    serve, _ = policy(server, chat)
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert chat.decode(sample.ids) == TURN


def test_a_reply_without_a_tag_ends_with_the_end_token(server: FakeOpenAI, chat: Chat) -> None:
    server.reply = lambda body: "I would rather not."
    serve, _ = policy(server, chat)
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert sample.finish == "eos" and sample.ids[-1] == chat.end_id
    assert chat.decode(sample.ids) == "I would rather not."


def test_close_turn() -> None:
    stops = ("</code>", "</answer>")
    assert close_turn("<think>a</think><answer>[A]", stops, True) == ("<think>a</think><answer>[A]</answer>", True)
    assert close_turn("<code>x = 1", stops, False) == ("<code>x = 1", False)  # ran out of tokens: stays open
    assert close_turn("no tag", stops, True) == ("no tag", False)
    assert close_turn("<answer>a</answer> <code>b</code>", stops, True) == ("<answer>a</answer>", True)


@pytest.mark.parametrize(
    "text", ["<think>I could look: <code> is the tag.</think> No.", "<answer>[A], I think", "<code>x"]
)
@pytest.mark.parametrize(
    ("said", "closed"),
    [
        *(
            ({"finish_reason": "stop", "stop_reason": None}, False),
            ({"finish_reason": "stop", "stop_reason": 7}, False),
        ),
        *(({"finish_reason": "stop", "matched_stop": 151645}, False), ({"finish_reason": "eos_token"}, False)),
        *(({"finish_reason": "end_turn"}, False), ({"finish_reason": "stop", "matched_stop": "</code>"}, True)),
        *(({"finish_reason": "stop", "stop_reason": "</code>"}, True), ({"finish_reason": "stop_sequence"}, True)),
        ({"finish_reason": "stop"}, True),  # nobody says which
    ],
)
def test_no_tag_is_closed_for_a_model_that_ended_of_itself(
    server: FakeOpenAI, chat: Chat, text: str, said: dict[str, Any], closed: bool
) -> None:
    message = {"role": "assistant", "content": text}
    server.completion = lambda body: {"id": "x", "choices": [{"index": 0, "message": message, **said}]}  # type: ignore[method-assign]
    serve, _ = policy(server, chat)
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert sample.finish == ("stop" if closed else "eos")
    assert (chat.decode(sample.ids) == text) is not closed


def test_samples_keep_the_order_of_requests(server: FakeOpenAI, chat: Chat) -> None:
    server.reply = lambda body: body["messages"][-1]["content"]
    serve, _ = policy(server, chat)
    samples = serve.sample([request_of(chat, f"number {i}") for i in range(12)], PARAMS)
    assert [chat.decode(s.ids) for s in samples] == [f"number {i}" for i in range(12)]


def test_retry_after_is_honoured(server: FakeOpenAI, chat: Chat) -> None:
    server.faults = ["429"]
    serve, waits = policy(server, chat)
    assert serve.sample([request_of(chat)], PARAMS)[0].finish == "stop"
    assert waits == [7.0] and len(server.bodies) == 2


def test_retry_after_may_be_a_date(server: FakeOpenAI, chat: Chat) -> None:
    import time

    server.retry_after = formatdate(time.time() + 40, usegmt=True)
    server.faults = ["429"]
    serve, waits = policy(server, chat)
    serve.sample([request_of(chat)], PARAMS)
    assert 30 < waits[0] <= 40


def test_a_pause_too_long_is_not_waited_for(server: FakeOpenAI, chat: Chat) -> None:
    server.retry_after = "86400"
    server.faults = ["429"]
    serve, waits = policy(server, chat)
    with pytest.raises(EndpointError, match=r"wait 86400 s.*longest_wait=120"):
        serve.sample([request_of(chat)], PARAMS)
    assert waits == []


@pytest.mark.parametrize("fault", ["500", "drop", "cut", "junk", "empty"])
def test_faults_that_pass_are_tried_again(server: FakeOpenAI, chat: Chat, fault: str) -> None:
    server.faults = [fault, fault]
    serve, waits = policy(server, chat)
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert chat.decode(sample.ids) == TURN
    # Backing off: the second wait is about twice the first (each is shortened by at most a quarter).
    assert len(waits) == 2 and 0.375 <= waits[0] <= 0.5 and 0.75 <= waits[1] <= 1.0


def choice(**message: Any) -> str:
    """A reply's JSON; ``finish_reason`` is the choice's, all else the message's."""
    reason = message.pop("finish_reason", "stop")
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}]})


NO_REPLY = {
    "null": choice(content=None),
    "nothing": "{}",
    "empty": choice(content=""),
    "blank": choice(content=" \n"),
    "of no width": choice(content="\u200b\ufeff"),
    "a zero": choice(content="\0"),
    "of spaces": choice(content="\u00a0 \u3000"),
    "missing": choice(),
    "only thoughts": choice(content=None, reasoning_content="Let me see", finish_reason="length"),
    "only thoughts, in a part": choice(content=[{"type": "thinking", "thinking": "Let me see"}]),
    "no parts": choice(content=[]),
    "an image": choice(content=[{"type": "image_url", "image_url": {"url": "data:,"}}]),
    "a part without a text": choice(content=[{"type": "text"}]),
    "an object": choice(content={"answer": 1}),
    "a number": choice(content=1),
    "refused": choice(content=None, refusal="I'm sorry, I can't assist with that."),
    "refused in words": choice(content="I'm sorry.", refusal="I'm sorry."),
    "filtered": choice(content="It is a", finish_reason="content_filter"),
    "aborted": choice(content="It is", finish_reason="abort"),
    "failed": choice(content="It is", finish_reason="error"),
    "ended by false": choice(content="It is", finish_reason=False),
    "ended by 0": choice(content="It is", finish_reason=0),
    "for safety": choice(content="It is", finish_reason="SAFETY"),
    "no resources": choice(content="It is", finish_reason="insufficient_system_resource"),
    "calls": choice(content=None, tool_calls=[{"id": "1"}], finish_reason="tool_calls"),
    "calls taken out": choice(content="I look.", tool_calls=[{"id": "1"}]),
    "a call of old": choice(content="I look.", function_call={"name": "f"}),
    "message null": '{"choices": [{"index": 0, "message": null, "finish_reason": "stop"}]}',
    "message a text": '{"choices": [{"message": "It is a cat.", "finish_reason": "stop"}]}',
    "no message": '{"choices": [{"text": "It is a cat.", "finish_reason": "stop"}]}',
    "choice null": '{"choices": [null]}',
    "choice a text": '{"choices": ["It is a cat."]}',
    "no choices": '{"choices": []}',
    "choices null": '{"choices": null}',
    "choices an object": '{"choices": {"0": {}}}',
    "error with 200": '{"error": {"message": "model is overloaded", "code": 503}}',
    "error beside a text": choice(content="It is")[:-1] + ', "error": {"message": "upstream died", "code": 502}}',
    "error in a choice": choice(content="It is")[:-3] + ', "error": {"message": "upstream died", "code": 502}}]}',
    "error of old": '{"object": "error", "message": "context length", "code": 40303}',
    "detail": '{"detail": "Not Found"}',
    "a list": "[]",
    "a page": "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "events": '{"choices": [{"delta": {"content": "It"}}]}',
    "too deep": "[" * 100_000,
}
"""Replies with status 200 that are none, as servers and gateways send them."""


@pytest.mark.parametrize("body", NO_REPLY.values(), ids=NO_REPLY)
def test_a_reply_that_is_none_is_asked_for_again_and_then_an_error(server: FakeOpenAI, chat: Chat, body: str) -> None:
    serve, waits = policy(server, chat, retries=2)
    server.faults = [body, body]
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert chat.decode(sample.ids) == TURN and len(waits) == 2
    server.faults = [body] * 3
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1.*model tiny: no answer in 3 tries, the last: .*\("):
        serve.sample([request_of(chat)], PARAMS)


def test_what_came_is_told_and_the_way_out(server: FakeOpenAI, chat: Chat) -> None:
    serve, _ = policy(server, chat, retries=0)
    for name, told in (
        ("only thoughts", "allow more tokens"),
        ("refused", "can't assist"),
        ("calls", "without a parser of tools"),
        ("filtered", "content_filter"),
        ("error with 200", "model is overloaded"),
        ("error beside a text", "upstream died"),
        ("error in a choice", "upstream died"),
        ("a page", "mostly ends in /v1"),
    ):
        server.faults = [NO_REPLY[name]]
        with pytest.raises(EndpointError, match=told):
            serve.sample([request_of(chat)], PARAMS)


@pytest.mark.parametrize(
    ("body", "finish"),
    [
        (choice(content=[{"type": "text", "text": "It is "}, {"type": "text", "text": "a cat."}]), "eos"),
        (choice(content=[{"type": "thinking", "thinking": "?"}, {"type": "text", "text": "It is a cat."}]), "eos"),
        (choice(content=["It is a cat."]), "eos"),
        (choice(content=[{"type": "output_text", "text": "It is a cat."}]), "eos"),
        (choice(content="It is a cat.", finish_reason=None), "eos"),
        (choice(content="It is a cat.", finish_reason="eos_token"), "eos"),
        (choice(content="It is a cat.", reasoning_content="Ears.", refusal=None, tool_calls=[]), "eos"),
        (choice(content="It is a cat.", finish_reason="length"), "length"),  # a turn may be cut: the policy's doing
        (choice(content="It is a cat.", finish_reason="MAX_TOKENS"), "length"),
    ],
)
def test_a_text_is_read_wherever_it_stands(server: FakeOpenAI, chat: Chat, body: str, finish: str) -> None:
    server.faults = [body]
    serve, waits = policy(server, chat)
    (sample,) = serve.sample([request_of(chat)], PARAMS)
    assert chat.decode(sample.ids) == "It is a cat." and sample.finish == finish and not waits


def test_half_a_surrogate_pair_in_a_reply_is_spelt_out(server: FakeOpenAI, chat: Chat) -> None:
    server.faults = ['{"choices": [{"message": {"content": "a \\ud800 b"}, "finish_reason": "stop"}]}']
    (sample,) = policy(server, chat)[0].sample([request_of(chat)], PARAMS)
    assert chat.decode(sample.ids) == r"a \ud800 b"


def test_a_slow_answer_times_out_and_is_tried_again(server: FakeOpenAI, chat: Chat) -> None:
    server.faults = ["slow"]
    serve, waits = policy(server, chat, timeout=0.3)
    assert serve.sample([request_of(chat)], PARAMS)[0].finish == "stop"
    assert len(waits) == 1 and len(server.bodies) == 2


def test_giving_up_names_endpoint_model_and_cause(server: FakeOpenAI, chat: Chat) -> None:
    server.faults = ["500"] * 9
    serve, waits = policy(server, chat, retries=2)
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1.*model tiny: no answer in 3 tries.*HTTP 500"):
        serve.sample([request_of(chat)], PARAMS)
    assert len(waits) == 2


def test_a_wrong_key_is_not_tried_again(server: FakeOpenAI, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = "secret"
    monkeypatch.setenv("MY_KEY", "wrong")
    serve, waits = policy(server, chat, key_env="MY_KEY")
    with pytest.raises(EndpointError, match="MY_KEY"):
        serve.sample([request_of(chat)], PARAMS)
    assert waits == [] and len(server.bodies) == 1
    monkeypatch.setenv("MY_KEY", "secret")
    assert policy(server, chat, key_env="MY_KEY")[0].sample([request_of(chat)], PARAMS)


def test_a_wrong_path_says_so(server: FakeOpenAI, chat: Chat) -> None:
    serve = ServedPolicy(server.url.removesuffix("/v1"), "tiny", chat)
    with pytest.raises(EndpointError, match="ends in /v1"):
        serve.sample([request_of(chat)], PARAMS)


def test_an_unreachable_endpoint(chat: Chat) -> None:
    with FakeOpenAI(lambda body: TURN) as gone:
        url = gone.url
    waits = Waits()
    serve = ServedPolicy(url, "tiny", chat, retries=1, sleep=waits)
    with pytest.raises(EndpointError, match=r"no answer in 2 tries.*can be reached") as refused:
        serve.sample([request_of(chat)], PARAMS)
    assert ".." not in str(refused.value)
