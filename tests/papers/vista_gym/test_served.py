"""Where tools run changes nothing of an episode."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.policy.scripted import ScriptedPolicy
from papers.vista_gym.experiment import Play, open_tools
from visual_tools.serve.command import running

NAMES = ("groundingdino.detect", "multimath.solve")
CALLS = (
    {"tool": "groundingdino.detect", "arguments": {"caption": "red thing", "task": "count"}},
    {"tool": "groundingdino.detect", "arguments": {"caption": "a unicorn"}},
    {"tool": "groundingdino.detect", "arguments": {"caption": 7}},
    {"tool": "multimath.solve", "arguments": {"question": "2x + 3 = 11. What is x?"}},
    {"tool": "sam.segment", "arguments": {}},
)


def played(where: str, chat: Chat) -> list[Episode]:
    """Four episodes of different images, side by side, each with all of the calls."""
    turns = [f"<think>t</think><tool_call>{json.dumps(call)}</tool_call>" for call in CALLS]
    policy = ScriptedPolicy(chat, lambda episode: [*turns, "<answer>1</answer>"][len(episode.turns)])
    tasks = []
    for k in range(4):
        image = Image.new("RGB", (90, 60), "white")
        image.paste("red", (10, 10, 30 + k, 30))
        tasks.append(Task(str(k), (NamedImage("image", image),), "How many?", ("1",)))
    with open_tools(where, NAMES) as tools:
        return Play(max_turns=6, prompt="brief")(policy, chat, tools, tasks)


def test_a_served_episode_is_the_same_as_one_in_this_process(chat: Chat) -> None:
    with running("--tools", *NAMES) as service:
        served = played(service.address, chat)
    assert served == played("inprocess", chat)
    assert [turn.observation.text for turn in served[0].turns if turn.observation][:1] == ["1"]


def test_there_is_no_third_place(chat: Chat) -> None:
    with pytest.raises(ValueError, match="tool service 'somewhere': give its address"):
        played("somewhere", chat)
