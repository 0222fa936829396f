"""A rollout goes on while its tools' processes are killed: every episode comes back, and calls say what befell them."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections import Counter, defaultdict

import pytest
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.policy.scripted import ScriptedPolicy
from papers.vista_gym.experiment import Play, open_tools
from visual_tools.charts.golden import drinks
from visual_tools.serve.client import ToolService
from visual_tools.serve.command import running

CALLS = (
    {"tool": "groundingdino.detect", "arguments": {"caption": "red thing", "task": "count"}},
    {"tool": "chartdet.detect", "arguments": {"image": "chart", "of": "milk"}},
    {"tool": "multimath.solve", "arguments": {"question": "2x + 3 = 11. What is x?"}},
)
"""One tool of each pool: perception, charts, geometry."""

EPISODES, DEATHS = 256, 2


def task(k: int) -> Task:
    """Each with an image of its own, and one that all share."""
    image = Image.new("RGB", (90, 60), (255, 255, 254 - k // 3))
    for square in range(k % 3 + 1):
        image.paste("red", (5 + 25 * square, 10, 20 + 25 * square, 25))
    images = (NamedImage("image", image), NamedImage("chart", drinks()))
    return Task(str(k), images, "How many?", (str(k % 3 + 1),))


def turn(episode: Episode) -> str:
    """All three calls, then the answer; a third of the episodes begin with each, so that all pools are at work."""
    if len(episode.turns) == len(CALLS):
        return "<answer>1</answer>"
    call = CALLS[(int(episode.task.id) + len(episode.turns)) % len(CALLS)]
    return f"<think>t</think><tool_call>{json.dumps(call)}</tool_call>"


def kill_at_random(service: ToolService, over: threading.Event, killed: dict[str, set[int]]) -> None:
    """Kill any pool's worker at any time, each a few times, until the rollout is over."""
    rng = random.Random(0)
    while not over.wait(rng.uniform(0.1, 0.6)):
        name, pool = rng.choice(sorted(service.health()["pools"].items()))
        (worker,) = pool["workers"]
        if worker["state"] in ("ready", "busy") and len(killed[name] | {worker["pid"]}) <= DEATHS:
            os.kill(worker["pid"], signal.SIGKILL)
            killed[name].add(worker["pid"])


@pytest.mark.slow
@pytest.mark.processes
def test_256_episodes_while_each_tools_process_is_killed_at_random(chat: Chat) -> None:
    names = [str(call["tool"]) for call in CALLS]
    tasks, over, killed = [task(k) for k in range(EPISODES)], threading.Event(), defaultdict[str, set[int]](set)
    with running("--tools", *names) as service, open_tools(service.address, names) as tools:
        killer = threading.Thread(target=kill_at_random, args=(service, over, killed))
        killer.start()
        try:
            episodes = Play(max_turns=4, prompt="brief")(ScriptedPolicy(chat, turn), chat, tools, tasks)
        finally:
            over.set()
            killer.join()
        deaths = {name: len(pids) for name, pids in killed.items()}
        restarts = {name: pool["workers"][0]["restarts"] for name, pool in service.health()["pools"].items()}

    assert [episode.task.id for episode in episodes] == [task.id for task in tasks]
    assert {episode.ended for episode in episodes} == {"answer"}
    assert {len(episode.turns) for episode in episodes} == {len(CALLS) + 1}
    assert restarts == deaths and set(deaths) == {"perception", "charts", "geometry"}
    seen = [[turn.observation for turn in episode.turns if turn.observation] for episode in episodes]
    for k, observations in enumerate(seen):
        right = (str(k % 3 + 1), "milk (230, 140, 290, 260)", "4")
        for at, one in enumerate(observations, k):
            died = f"Error: {names[at % 3]} died during this call (signal 9); it is being started again"
            assert (one.status, one.text) in (("ok", right[at % 3]), ("died", died))
    ends = Counter(one.status for observations in seen for one in observations)
    print(f"{len(episodes)} episodes, {sum(ends.values())} calls: {dict(ends)}; killed: {deaths}")
    assert 1 <= ends["died"] <= sum(deaths.values())
