"""Tools: schemas, exceptions and deadlines are told; and, as an example, an environment whose tools take JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from math import inf, nan
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pytest
from PIL import Image, ImageDraw

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import Action, NamedImage, Observation, Task
from kit.policy.scripted import ScriptedPolicy
from kit.protocol import Protocol
from kit.rollout import RolloutConfig, rollout
from kit.tools.base import Images, run_tool
from visual_tools.geometry.tools import SolveText
from visual_tools.perception.detection import Detect
from visual_tools.perception.text import ReadText
from visual_tools.tool import PureTool, run


class Pair(NamedTuple):
    text: str
    status: str


COLOURS = {"red": (255, 0, 0), "green": (0, 160, 0), "blue": (0, 0, 255)}


def chart(heights: Mapping[str, int]) -> Image.Image:
    """Bars of ten pixels' width, one colour each, four pixels a unit."""
    image = Image.new("RGB", (16 * len(heights), 44), "white")
    for k, (name, height) in enumerate(heights.items()):
        ImageDraw.Draw(image).rectangle((16 * k + 3, 43 - 4 * height, 16 * k + 12, 43), fill=COLOURS[name])
    return image


class ChartTool:
    """Reads a bar chart's table off its pixels: a real chart-to-table for these charts."""

    name = "chart.to_table"
    description = "Reads the bars of a chart."
    on_error: Literal["tell", "raise"] = "tell"
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "image": {"type": "string"},
            "task": {"enum": ["to_table", "describe"]},
            "region": {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 4},
        },
        "required": ["image", "task"],
        "additionalProperties": False,
    }

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        image = images[arguments["image"]].image.crop(tuple(arguments.get("region", (0, 0, 48, 44))))
        pixels = [tuple(p) for p in np.asarray(image.convert("RGB")).reshape(-1, 3).tolist()]
        rows = {
            name: max(pixels[x :: image.width].count(colour) for x in range(image.width)) // 4
            for name, colour in COLOURS.items()
        }
        return Observation(json.dumps({name: height for name, height in rows.items() if height}))

    def close(self) -> None: ...


class SlowTool:
    """Answers when it is let to."""

    name, description = "slow", "Waits."
    on_error: Literal["tell", "raise"] = "tell"
    parameters: Mapping[str, Any] = {"type": "object", "properties": {}}
    let = threading.Event()

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        self.let.wait(20)
        return Observation("late")

    def close(self) -> None:
        self.let.set()


class ChartEnv(ToolEnv):
    """Questions about charts, with tools that are called with JSON."""

    def __init__(self) -> None:
        super().__init__(Protocol(actions=("tool_call",), call="tool_call"), deadline=0.2)

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        return "Use the tools.", [*task.images, task.question]

    def tools(self, task: Task) -> list[Any]:
        return [ChartTool(), SlowTool()]

    def reward(self, answer: str) -> float:
        return float(answer == self.task.target)

    def draw(self) -> Task:
        return TASK


TASK = Task("bars", (NamedImage("chart", chart({"red": 3, "green": 9, "blue": 5})),), "Which is highest?", "green")


def call(tool: str, **arguments: Any) -> str:
    return f"<think>t</think><tool_call>{json.dumps({'tool': tool, 'arguments': arguments})}</tool_call>"


def test_an_agent_plays_with_tools_that_take_json(chat: Chat) -> None:
    """A wrong argument, an unknown tool, a missed deadline, then the table: each is told, and the episode goes on."""
    turns = (
        call("chart.to_table", image="chart", task="read"),
        call("chart.zoom"),
        call("slow"),
        call("chart.to_table", image="chart", task="to_table"),
        "<think>t</think><answer>green</answer>",
    )
    policy = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
    (episode,) = rollout(policy, chat, [TASK], ChartEnv, RolloutConfig(max_turns=5, max_new_tokens=200))
    told = [(t.observation.status, t.observation.text) for t in episode.turns if t.observation]
    assert told == [
        ("error", "Error: chart.to_table: task: 'read' is not one of ['to_table', 'describe']"),
        ("error", "Error: there is no tool 'chart.zoom'; there are chart.to_table, slow"),
        ("timeout", "Error: slow gave no answer within 0.2 s"),
        ("ok", '{"red": 3, "green": 9, "blue": 5}'),
    ]
    assert (episode.ended, episode.answer, episode.calls) == ("answer", "green", 4)
    first = episode.turns[0].action
    assert first is not None and (first.name, first.arguments) == ("chart.to_table", {"image": "chart", "task": "read"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"image": "chart"}, "'task' is a required property"),
        ({"image": 3, "task": "to_table"}, "image: 3 is not of type 'string'"),
        ({"image": "chart", "task": "to_table", "region": [1, 2, 3, "4"]}, "region.3: '4' is not of type 'integer'"),
        ({"image": "chart", "task": "to_table", "colour": 1}, r"'colour' was unexpected"),
    ],
)
def test_an_argument_that_does_not_fit_is_named_with_its_value(arguments: dict[str, Any], said: str) -> None:
    seen = run_tool(ChartTool(), Action("chart.to_table", "", arguments), {})
    assert seen.status == "error" and said in seen.text


def test_a_tools_exception_is_told_or_raised_as_it_says() -> None:
    action = Action("chart.to_table", "", {"image": "none", "task": "to_table"})
    assert run_tool(ChartTool(), action, {}, deadline=5) == Observation("Error: 'none'", status="error")
    strict = ChartTool()
    strict.on_error = "raise"
    for deadline in (None, 5):
        with pytest.raises(KeyError):
            run_tool(strict, action, {}, deadline)


@pytest.mark.parametrize(
    ("reply", "seen"),
    [
        (Observation("a", status="limit"), Observation("a", status="limit")),
        ("a", Observation("a")),
        (("a", "timeout"), Observation("a", status="timeout")),
        (Pair("a", "error"), Observation("a", status="error")),
        (Observation(7), None),  # type: ignore[arg-type]
        (("a", "splendid"), None),
        ((7, "ok"), None),
        (("a", ["ok"]), None),
        (("a", "ok", "more"), None),
        (b"a", None),
        (None, None),
    ],
)
def test_a_tool_need_not_know_of_observations(reply: Any, seen: Observation | None) -> None:
    class Says(ChartTool):
        parameters: ClassVar[Mapping[str, Any]] = {"type": "object"}

        def call(self, arguments: Mapping[str, Any], images: Images) -> Any:
            return reply

    wrong = Observation(
        f"Error: chart.to_table returned {reply!r:.60}, which is no observation with a text, and no text"
    )
    assert run_tool(Says(), Action("chart.to_table", "", {}), {}) == (seen or replace(wrong, status="error"))


def test_a_copy_of_a_tool_is_sent_the_images_that_the_call_looks_at_and_palettes_in_rgb() -> None:
    class Sees(ChartTool):
        parameters: ClassVar[Mapping[str, Any]] = {"type": "object"}

        def call(self, arguments: Mapping[str, Any], images: Images) -> str:  # type: ignore[override]
            return " ".join(
                f"{name} {one.image.mode} {one.image.convert('RGB').getpixel((0, 0))}" for name, one in images.items()
            )

    class SeesOne(Sees):
        def looks_at(self, arguments: Mapping[str, Any], images: Images) -> Images:
            return {"b": images["b"]}

    clear = Image.new("P", (2, 2))
    clear.info["transparency"] = 0
    shown = {name: NamedImage(name, image) for name, image in {"a": Image.new("L", (2, 2), 9), "b": clear}.items()}
    seen = [run_tool(tool, Action("chart.to_table", "", {}), shown, 20).text for tool in (Sees(), SeesOne())]
    assert seen == ["a L (9, 9, 9) b RGB (255, 255, 255)", "b RGB (255, 255, 255)"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (Detect(), {}),
        (Detect(), {"caption": 7}),
        (Detect(), {"caption": "cat", "colour": 1}),
        (Detect(), {"caption": "cat", "box_threshold": nan}),
        (Detect(), {"caption": "cat", "box_threshold": True}),
        (Detect(), {"caption": "cat", "box_threshold": 10**400}),
        (Detect(), {"caption": "cat", "image": "none"}),
        (Detect(), {"caption": "red thing", "task": "count"}),
        (ReadText(), {"region": [0, 0, 9, "9"]}),
        (ReadText(), {"region": [0, 0, 9, inf]}),
        (SolveText(), {"question": "x" * 300}),
        (SolveText(), {"question": "2x = 6"}),
    ],
)
def test_a_tool_that_knows_no_kit_says_in_it_what_it_says_by_itself(tool: PureTool, arguments: dict[str, Any]) -> None:
    images = {"image": NamedImage("image", chart({"red": 3}))}
    seen = run_tool(tool, Action(tool.name, "", arguments), images)
    assert (seen.text, seen.status) == run(tool, arguments, images)


def test_free_text_is_the_value_of_a_single_string_argument() -> None:
    class Echo(ChartTool):
        parameters = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}  # noqa: RUF012

        def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
            return Observation(arguments["words"])

    assert run_tool(Echo(), Action("echo", "as it stands"), {}).text == "as it stands"
    assert "'words' is a required property" in run_tool(Echo(), Action("echo", "{}", {}), {}).text
    assert "required property" in run_tool(ChartTool(), Action("chart.to_table", "free"), {}).text


def test_what_an_episode_has_shown_can_be_named_in_later_calls() -> None:
    env = ChartEnv()
    env.reset(options={"task": TASK})
    assert set(env.images) == {"chart"}
    env.images["again"] = NamedImage("again", chart({"blue": 2}))
    seen, *_ = env.step(call("chart.to_table", image="again", task="to_table"))
    assert seen.text == '{"blue": 2}'
    env.close()
