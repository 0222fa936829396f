"""verifiers: the same episodes against an endpoint, its own commands on an installed package, and what is refused."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from adapted import Played, first, replies, seen
from fake_openai import FakeOpenAI
from PIL import Image

from kit.episode import Episode
from papers.registry import PaperError

pytestmark = pytest.mark.skipif(find_spec("verifiers") is None, reason="needs verifiers: make test-adapters")
if find_spec("verifiers") is not None:
    import verifiers.v1 as vf
    from verifiers.v1.types import SamplingConfig

    from adapters.verifiers import load_environment, write_package

KEY = "KIT_TEST_KEY"
CODE = {"prompt": "brief", "allow_unsafe": True}
LOOK = "<think>I look.</think><code>look = observation(state)</code>"
FAIL = "<think>I try.</think><code>1 / 0</code>"
ANSWER = "<think>I know.</think><answer>{}</answer>"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "none")


def play(env: Any, url: str, tasks: Sequence[Any], then: Callable[[Any], None], **sampling: Any) -> None:
    """Play tasks one after the other, each given over to ``then``."""

    async def all_of_them() -> None:
        client = vf.EvalClientConfig(base_url=url, api_key_var=KEY)
        context = vf.ModelContext(client=client, model="m", sampling=SamplingConfig(**sampling))
        async with env.serving():
            for task in tasks:
                then(await env.run_episode(task, context))
            assert not env.opened.sessions, "each is given back at an episode's end"

    asyncio.run(all_of_them())


def says(*turns: str) -> Callable[[dict[str, Any]], str]:
    """A policy whose turns are written."""
    return lambda body: turns[sum(message["role"] == "assistant" for message in body["messages"])]


def parts(content: Any) -> list[str]:
    """A message's texts, and hashes of its images."""
    if isinstance(content, str):
        return [content] if content else []
    found: list[Any] = []
    for one in content:
        text = getattr(one, "text", None)
        data = None if text is not None else one.image_url.url.partition("base64,")[2]
        found.append(text if data is None else Image.open(io.BytesIO(base64.b64decode(data))))
    return seen(found)


def test_every_episode_is_the_loops(played: Played) -> None:
    """What the policy is shown, turn by turn, and the rewards with their names."""
    now: list[Episode] = []

    def reply(body: dict[str, Any]) -> str:
        return now[0].turns[sum(message["role"] == "assistant" for message in body["messages"])].text

    env = load_environment(played.name, "train", str(played.data), **played.values)
    by_name = {episode.task.id: episode for episode in played.episodes}
    tasks = list(env.taskset)
    assert [task.data.name for task in tasks] == [*by_name]
    left = list(played.episodes)

    def compare(found: Any) -> None:
        [trace], episode = found.traces, now.pop()
        assert found.ok and not trace.errors
        messages = [node.message for node in trace.nodes]
        told = [message.content for message in messages if message.role == "user"]
        system, user = first(env.opened, episode)
        assert (messages[0].content if messages[0].role == "system" else "") == system
        assert parts(told[0]) == user
        for shown, reply in zip(told[1:], replies(episode), strict=False):
            assert parts(shown) == reply
        assert len(told) == len(episode.turns)
        score = env.opened.alone([episode], episode.task.target)[0]
        assert {name: one.score for name, one in trace.rewards.items()} == score.parts
        assert trace.reward == pytest.approx(score.total)
        assert trace.metrics == {"correct": float(bool(score.correct)), "calls": episode.calls}
        now.extend(left[:1])
        left[:1] = []

    now.append(left.pop(0))
    with FakeOpenAI(reply) as server:
        play(env, server.url, tasks, compare)
    assert not now and not left


def test_an_endpoint_that_stops_at_tags_is_understood_and_a_turn_goes_back_as_it_said_it() -> None:
    """The limit: the next request has the turn without its closing tag, so its ids are other ones than were sampled."""
    env = load_environment("agile", **CODE)
    with FakeOpenAI(says(LOOK, ANSWER.format("A"))) as server:
        asked: list[dict[str, Any]] = []
        reply = server.reply
        server.reply = lambda body: asked.append(body) or reply(body)  # type: ignore[func-returns-value]

        def ends(found: Any) -> None:
            [trace] = found.traces
            assert found.ok and trace.metrics["calls"] == 1 and trace.rewards["format"].score == pytest.approx(0.2)

        play(env, server.url, list(env.taskset)[:1], ends, stop=["</code>", "</answer>"])
    again = [message["content"] for message in asked[1]["messages"] if message["role"] == "assistant"]
    assert again == [LOOK.removesuffix("</code>")] != [LOOK]


def test_credit_of_turns_and_a_groups_reward_are_what_it_cant_pay() -> None:
    env = load_environment("codedance", **CODE)

    def alone(found: Any) -> None:
        [trace] = found.traces
        assert env.opened.grouped and set(trace.rewards) == {"accuracy", "format_error", "calls"}
        assert trace.rewards["calls"].score == 0.0 and found.ok

    with FakeOpenAI(says(FAIL, ANSWER.format("?"))) as server:
        play(env, server.url, list(env.taskset)[:1], alone)


def test_an_endpoint_that_isnt_there_is_named_and_nothing_is_left_behind() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    env = load_environment("your_own")

    def failed(found: Any) -> None:
        [trace] = found.traces
        assert not found.ok and trace.errors[-1].type == "ProviderError" and "onnect" in trace.errors[-1].message

    play(env, "http://127.0.0.1:9/v1", list(env.taskset)[:1], failed)
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_unknown_papers_splits_and_values_are_named() -> None:
    with pytest.raises(PaperError, match="no paper 'nobody' is registered"):
        load_environment("nobody")
    with pytest.raises(ValueError, match="no split 'tset': data names no folder"):
        list(load_environment("your_own", split="tset").taskset)
    with pytest.raises(ValueError, match="it has no value 'promt'"):
        play(load_environment("your_own", promt="brief"), "http://127.0.0.1:9/v1", [], print)


@contextmanager
def installed(paper: str, folder: Path) -> Iterator[dict[str, str]]:
    """An environment of variables in which the written package is installed."""
    home = write_package(paper, folder / "environments")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(folder / "site"), str(home)], check=True)
    paths = [str(folder / "site"), os.environ.get("PYTHONPATH", "")]
    yield {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def test_its_own_commands_evaluate_and_check_an_installed_package(tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    common = ["papers-your-own", "--no-rich", "-o", str(tmp_path / "out"), "--run.dir"]
    with installed("your_own", tmp_path) as environ, FakeOpenAI(says(ANSWER.format(1))) as server:
        client = ["--model", "m", "--client.base-url", server.url, "--client.api-key-var", KEY, "--no-push"]
        evaluate = [scripts / "vf-eval", *common, "eval", *client, "-n", "3", "-r", "2"]
        subprocess.run(evaluate, env=environ, check=True, capture_output=True, cwd=tmp_path)
    lines = (tmp_path / "out" / "eval" / "traces.jsonl").read_text().splitlines()
    episodes = [json.loads(line) for line in lines]
    assert len(episodes) == 6 and all(episode["ok"] for episode in episodes)
    assert all(set(trace["rewards"]) == {"accuracy", "found", "missed"} for one in episodes for trace in one["traces"])


def test_its_own_check_calls_tasks_solvable_that_are(tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    with installed("agile", tmp_path) as environ:
        check = [
            scripts / "vf-validate",
            "papers-agile",
            "--no-rich",
            "-o",
            str(tmp_path / "out"),
            "--run.dir",
            "check",
        ]
        values = ["--run.dir", "check", "--runtime.type", "subprocess", "-n", "3", "--taskset.values", json.dumps(CODE)]
        subprocess.run([*check, *values], env=environ, check=True, capture_output=True, cwd=tmp_path)
    gold = json.loads((tmp_path / "out" / "check" / "summary.json").read_text())["checks"]["gold"]
    assert gold["valid"] == 3 and gold["invalid"] == gold["error"] == 0
