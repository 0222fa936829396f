"""Tools from the command line, and the documentation's tool of one's own: listed, called, played in an episode."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image
from toy_tools import HERE, OPTIONS

from kit.chat import Chat
from kit.episode import NamedImage, Task
from kit.files import ROOT
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.vista_gym.env import VistaGymEnv
from visual_tools.command import ToolError, call, card
from visual_tools.tool import PureTool, load_tool
from workshop.command import main
from workshop.jobs.tools import find_tool, places, running

PAGES = [(ROOT / name).read_text() for name in ("packages/visual_tools/README.md", "docs/tools.md")]
(EXAMPLE,), (OFFERED,) = (
    re.findall(r"```python\n((?:(?!```).)*CommonColour.*?)```", page, re.DOTALL) for page in PAGES
)


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> type[PureTool]:
    """The page's class, as a module that can be imported."""
    import sys

    module = ModuleType("your_module")
    exec(EXAMPLE, vars(module))
    monkeypatch.setitem(sys.modules, "your_module", module)
    found: type[PureTool] = module.CommonColour
    return found


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.splitlines()) <= 40


def test_a_27th_tool_is_called_in_an_episode(mine: type[PureTool], chat: Chat) -> None:
    image = Image.new("RGB", (8, 4), "red")
    image.paste("blue", (4, 0, 8, 4))
    task = Task("t", (NamedImage("image", image),), "Which colour is on the right?", ("#0000ff",))
    turns = (
        '<think>t</think><tool_call>{"tool": "colour.commonest", "arguments": {"half": "top"}}</tool_call>',
        '<think>t</think><tool_call>{"tool": "colour.commonest", "arguments": {"half": "right"}}</tool_call>',
        "<think>t</think><answer>#0000ff</answer>",
    )
    policy = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
    limits = RolloutConfig(max_turns=3, max_new_tokens=200)
    (episode,) = rollout(policy, chat, [task], lambda: VistaGymEnv([mine()]), limits)
    told = [turn.observation.text for turn in episode.turns if turn.observation]
    assert told == ["Error: colour.commonest: half: 'top' is not one of ['left', 'right']", "#0000ff"]
    assert episode.ended == "answer" and episode.answer == "#0000ff"
    assert all(golden.says in card(mine()) for golden in mine.goldens)


def test_it_is_offered_beside_the_others(mine: type[PureTool]) -> None:
    space: dict[str, Any] = {}
    exec(OFFERED, space)
    assert "colour.commonest" in space["env"].prompt(Task("t", (), "?", ("1",)))[0]


def test_a_tool_is_called_by_its_name_or_its_place(mine: type[PureTool], tmp_path: Path) -> None:
    file = tmp_path / "red.png"
    Image.new("RGB", (8, 4), "red").save(file)
    assert call(find_tool("your_module:CommonColour"), "", file) == "#ff0000"
    assert call(find_tool("your_module:CommonColour"), '{"half": "left"}', file) == "#ff0000"
    asked = '{"caption": "red thing", "task": "count"}'
    assert call(find_tool("groundingdino.detect"), asked, file) == "0", "what covers all of an image is its ground"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sam.segmen", "no tool 'sam.segmen': there are groundingdino.detect"),
        ("nowhere:Tool", "tool 'nowhere:Tool': no such class"),
        ("visual_tools.tool:Golden", "is no class of tools"),
    ],
)
def test_a_tool_that_is_not_there_is_told(name: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        find_tool(name)


def test_a_tool_without_a_model_says_so() -> None:
    with pytest.raises(ToolError, match=r"tool easyocr\.read: no model is served under this name"):
        find_tool("easyocr.read", served=True)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["sam.segment", "--arguments", "{"], "not JSON"),
        (["sam.segment", "--arguments", "[]"], "give an object like"),
        (["sam.segment", "--image", "gone.png"], "gone.png"),
        (["sam.segmen"], "no tool 'sam.segmen'"),
    ],
)
def test_what_is_wrong_with_a_call_ends_with_code_2(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "call", *argv]) == 2
    assert message in capsys.readouterr().err


def test_all_tools_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed and load_tool(place).description in listed for name, place in places().items())


def test_a_service_of_the_kit_reads_turns_as_policies_write_them() -> None:
    """Many trajectories at once; images may come with a turn."""
    file = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(file, "PNG")
    uri = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    turns = [f'<think>t</think><tool_call>{{"tool": "toy.echo", "arguments": {{"text": "{k}"}}}}' for k in range(50)]
    actions = [
        *(f"{turn}</tool_call>" for turn in turns),
        '<tool_call>{"tool": "toy.size", "arguments": {}}</tool_call>',
        '<tool_call>{"tool": "toy.ech"}</tool_call>',
        '<tool_call>{"tool": "toy.echo", "arguments": {"text": }}</tool_call>',
        "<answer>7</answer>",
        "hm",
    ]
    extra: list[dict[str, Any]] = [{} for _ in actions]
    extra[50] = {"images": {"image": uri}}
    body = {"trajectory_ids": [str(k) for k in range(55)], "actions": actions, "extra_fields": extra}
    with running(*OPTIONS, folder=HERE) as service:
        told = service.post("/get_observation", body)
    assert told["observations"][:51] == [*(str(k) for k in range(50)), "3 x 2 (255, 0, 0)"]
    assert "there is no tool 'toy.ech'" in told["observations"][51]
    assert told["observations"][53] == "" and all(told["observations"][k].startswith("Error: ") for k in (52, 54))
    assert told["dones"] == [False] * 53 + [True, False]
    assert told["valids"] == [True] * 51 + [False, False, True, False]
