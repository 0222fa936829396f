"""OpenEnv: the same episodes through a server, 64 at once, a client that is killed, and what is refused."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import httpx
import psutil
import pytest
from adapted import Played, first, replies, seen

from adapters.opened import Opened, open_paper

pytestmark = pytest.mark.skipif(find_spec("openenv") is None, reason="needs OpenEnv: make test-adapters")
if find_spec("openenv") is not None:
    import uvicorn

    from adapters.openenv import PaperClient, app, main

LOOK = "<think>I look.</think><code>look = observation(state)</code>"
SLOW = "<think>I wait.</think><code>import time; time.sleep(5)</code>"
ANSWER = '<think>I know.</think><answer>["A", "B", "C", "D"]</answer>'


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def served(opened: Opened, episodes: int = 64) -> Iterator[str]:
    """A server in a thread of this process."""
    from threading import Thread

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app(opened, episodes), port=port, log_level="error"))
    thread = Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def until(happens: Any, seconds: float = 60) -> bool:
    """Wait for something that is to happen soon."""
    end = time.monotonic() + seconds
    while not (done := happens()) and time.monotonic() < end:
        time.sleep(0.1)
    return bool(done)


def test_every_episode_is_the_loops(played: Played) -> None:
    with played.open() as opened, served(opened) as url, PaperClient(url).sync() as env:
        for episode in played.episodes:
            told = env.reset(task=episode.task.id).observation
            assert (told.system, seen(told.message)) == first(opened, episode)
            for number, (turn, reply) in enumerate(zip(episode.turns, replies(episode), strict=True), 1):
                result = env.step(turn.text)
                told = result.observation
                assert seen(told.message) == reply and result.done == (number == len(episode.turns))
                assert told.status == (turn.observation and turn.observation.status)
            score = opened.alone([episode], episode.task.target)[0]
            assert (result.reward, told.parts, told.turns) == (score.total, score.parts, list(score.turns))
            assert told.ended == episode.ended and told.correct == score.correct
            assert env.state().step_count == len(episode.turns)


def test_64_at_once_all_end_and_nothing_is_left_behind() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}

    async def one(url: str, name: str) -> float:
        async with PaperClient(url, message_timeout_s=300) as env:
            await env.reset(task=name)
            await env.step(LOOK)
            return float((await env.step(ANSWER)).reward)

    async def all_of_them(url: str, names: Sequence[str]) -> list[float]:
        return await asyncio.gather(*(one(url, name) for name in names))

    with open_paper("agile", prompt="brief", allow_unsafe=True) as opened:
        names = [name for name, task in opened.tasks.items() if len(task.images) == 4]
        names = (names * 64)[:64]
        with served(opened) as url:
            found = asyncio.run(all_of_them(url, names))
            assert until(lambda: not opened.sessions)
        rights = [tuple(opened.tasks[name].target) == ("A", "B", "C", "D") for name in names]
        assert len(found) == 64 and all(
            value > 0 if right else value < 0 for value, right in zip(found, rights, strict=True)
        )
    assert until(lambda: {child.pid for child in psutil.Process().children(recursive=True)} <= before)


def test_a_client_that_is_killed_in_the_middle_leaves_nothing_and_others_go_on() -> None:
    client = (
        "import sys; from adapters.openenv import PaperClient\n"
        "with PaperClient(sys.argv[1]).sync() as env:\n"
        f"    env.reset(); env.step({LOOK!r}); print('now', flush=True); env.step({SLOW!r})"
    )
    with open_paper("agile", prompt="brief", allow_unsafe=True) as opened, served(opened) as url:
        with PaperClient(url).sync() as env:
            env.reset(task=next(iter(opened.tasks)))
            doomed = subprocess.Popen([sys.executable, "-c", client, url], stdout=subprocess.PIPE, text=True)
            assert doomed.stdout is not None and doomed.stdout.readline() == "now\n"
            assert len(opened.sessions) == 2
            os.kill(doomed.pid, signal.SIGKILL)
            doomed.wait()
            assert until(lambda: len(opened.sessions) == 1), "its session is closed, with its sandbox's"
            assert env.step(ANSWER).done
        assert until(lambda: not opened.sessions)


def test_one_command_serves_until_it_is_told_to_stop() -> None:
    port = free_port()
    command = [sys.executable, "-m", "adapters.openenv", "agile", "--port", str(port), "--episodes", "1"]
    command += ["--set", "prompt=brief", "--set", "allow_unsafe=true"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    url = f"http://127.0.0.1:{port}"
    try:

        def answers() -> bool:
            try:
                return httpx.get(f"{url}/health").is_success
            except httpx.HTTPError:
                return False

        assert until(answers, 120)
        with PaperClient(url).sync() as env:
            env.reset()
            env.step(LOOK)
            with PaperClient(url).sync() as another, pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
                another.reset()
            children = psutil.Process(server.pid).children(recursive=True)
            assert children
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0
        assert until(lambda: not any(child.is_running() for child in children))
        assert "Traceback" not in server.communicate()[1]
    finally:
        server.kill()


def test_what_is_refused_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with open_paper("your_own") as opened, served(opened) as url, PaperClient(url).sync() as env:
        with pytest.raises(RuntimeError, match="no episode is running; begin one"):
            env.step("hm")
        with pytest.raises(RuntimeError, match="no task 'gone' in this split of 8"):
            env.reset(task="gone")
        with pytest.raises(RuntimeError, match=r"reset\(tusk=…\) is unknown; there are task, an id"):
            env.reset(tusk="gone")
        begun = env.reset(seed=3).observation
        assert env.reset(seed=3).observation.task == begun.task, "a second reset gives the first episode up"
        assert len(opened.sessions) == 1
        told = httpx.post(f"{url}/step", json={"action": {"text": "hm"}})
        assert told.status_code == 500, "the limit: a plain request has no session, so no episode to step in"
    with (
        pytest.raises(ConnectionError, match="Failed to connect"),
        PaperClient(f"http://127.0.0.1:{free_port()}").sync(),
    ):
        pass
    for words, said in (
        (["nobody"], "no paper 'nobody' is registered: there are agile"),
        (["your_own", "--split", "tset"], "no split 'tset': data names no folder"),
        (["your_own", "--set", "promt=x"], "it has no value 'promt'"),
        (["your_own", "--set", "prompt"], "--set 'prompt': write NAME=VALUE"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert said in capsys.readouterr().err


def test_credit_of_turns_and_a_groups_reward_are_what_it_cant_pay() -> None:
    with open_paper("codedance", prompt="brief", allow_unsafe=True) as opened, served(opened) as url:
        assert opened.grouped
        with PaperClient(url).sync() as env:
            env.reset()
            assert env.step("<think>I try.</think><code>1 / 0</code>").reward == 0.0
            last = env.step("<think>I know.</think><answer>?</answer>")
            assert last.observation.turns == [-0.5, 0.0] and last.observation.parts["calls"] == 0.0
