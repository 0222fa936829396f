"""VISTA-Gym's environment: calls by name, prompts and their switches, and whatever can be wrong with a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest
from internvl_fixtures import internvl_chat
from PIL import Image

from kit.chat import Chat
from kit.episode import NamedImage, Observation, Task
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.vista_gym.env import OUTPUT, ReasoningEnv, VistaGymEnv
from visual_tools.tool import MOST_PIXELS, Arguments, PureTool


class Shade(PureTool):
    """Says how bright a part of an image is."""

    name, family = "shade.read", "perception"
    algorithm = "The mean of its pixels."
    properties: ClassVar[Mapping[str, Any]] = {
        "region": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
    }
    required = ("region",)

    def look(self, image: Image.Image, arguments: Arguments) -> float:
        left, top, right, bottom = arguments["region"]
        if not (0 <= left < right <= image.width and 0 <= top < bottom <= image.height):
            raise ValueError(f"{self.name}: region {arguments['region']} isn't within {image.width} x {image.height}")
        return float(np.asarray(image.crop((left, top, right, bottom))).mean())

    def answer(self, seen: float, arguments: Arguments) -> str:
        return f"{seen:.0f}"


class Broken(PureTool):
    """Returns what it was made to return, whatever that is."""

    family, algorithm, needs_image = "perception", "None.", False

    def __init__(self, name: str, made: Any) -> None:
        super().__init__()
        self.name, self.made = name, made  # type: ignore[misc]

    def look(self, image: None, arguments: Arguments) -> Any:
        if isinstance(self.made, BaseException):
            raise self.made
        return self.made

    def answer(self, seen: Any, arguments: Arguments) -> str:
        return seen


class Raw(Broken):
    """Says something that isn't even an observation."""

    def call(self, arguments: Mapping[str, Any], images: Any) -> Any:
        return self.made


def task(shade: int, name: str = "image") -> Task:
    image = NamedImage(name, Image.new("RGB", (40, 20), (shade,) * 3))
    return Task(f"shade-{shade}", (image,), "How bright?", (str(shade),), {"family": "charts"})


def env(**more: Any) -> VistaGymEnv:
    made = VistaGymEnv([Shade(), *more.pop("tools", ())], **more)
    made.reset(options={"task": task(70)})
    return made


def call(name: str = "shade.read", **arguments: Any) -> str:
    return json.dumps({"tool": name, "task": "read", "arguments": arguments})


def said(text: str, made: VistaGymEnv | None = None) -> Observation:
    seen, reward, terminated, truncated, _ = (made or env()).step(f"<think>t</think><tool_call>{text}</tool_call>")
    assert (reward, terminated, truncated) == (0.0, False, False), "whatever is said, the episode goes on"
    return seen


def test_a_call_then_the_answer() -> None:
    made = env()
    assert said(call(region=[0, 0, 40, 20]), made) == Observation("70")
    assert made.step("<think>It is 70.</think><answer>70</answer>")[1:3] == (1.0, True)


@pytest.mark.parametrize("family", ["qwen", "internvl"])
def test_both_families_of_models_play_it(chat: Chat, family: str) -> None:
    """Three turns, as in training: a wrong name, the right call, the answer."""
    turns = (
        f"<think>t</think><tool_call>{call('shade')}</tool_call>",
        f"<think>t</think><tool_call>{call(region=[0, 0, 9, 9])}</tool_call>",
        "<think>t</think><answer>70</answer>",
    )
    encoder = chat if family == "qwen" else internvl_chat()
    policy = ScriptedPolicy(encoder, lambda episode: turns[len(episode.turns)])
    limits = RolloutConfig(max_turns=3, max_new_tokens=200)
    (episode,) = rollout(policy, encoder, [task(70)], lambda: VistaGymEnv([Shade()]), limits)
    assert [t.observation.text for t in episode.turns if t.observation] == [
        "Error: there is no tool 'shade'; there are shade.read",
        "70",
    ]
    assert (episode.ended, episode.answer) == ("answer", "70")


@pytest.mark.parametrize(
    "arguments",
    [
        '{"region": [0, 0, 40, 20]}',
        json.dumps('{"region": [0, 0, 40, 20]}'),
        json.dumps('{"task": "read", "region": [0.0, 0, 4e1, 20]}'),
    ],
)
def test_arguments_are_an_object_or_a_string_that_holds_one(arguments: str) -> None:
    assert said(f'{{"tool": "shade.read", "arguments": {arguments}}}').text == "70"


NO_CALLS = (
    "",
    " ",
    "shade.read",
    "{",
    "}",
    "[]",
    "null",
    "7",
    '"shade.read"',
    "{'tool': 'shade.read'}",
    '{"tool": "shade.read"',
    '{"tool": "shade.read",}',
    '{tool: "shade.read"}',
    '{"tool": }',
    '{"tool": null}',
    '{"tool": 3, "arguments": {}}',
    '{"tool": ["shade.read"], "arguments": {}}',
    '{"name": "shade.read", "arguments": {}}',
    '{"tool": "shade.read", "arguments": null}',
    '{"tool": "shade.read", "arguments": []}',
    '{"tool": "shade.read", "arguments": 3}',
    '{"tool": "shade.read", "arguments": "region"}',
    '{"tool": "shade.read", "arguments": "[]"}',
    '{"tool": "shade.read", "arguments": "{\\"region\\": "}',
    '{"tool": "shade.read", "arguments": {}} {"tool": "shade.read"}',
    '```json\n{"tool": "shade.read", "arguments": {}}\n```',
    "shade.read(region=[0, 0, 9, 9])",
    '<tool_call>{"tool": "shade.read", "arguments": {}}',
    '{"tool": "shade.read", "arguments": ' + "[" * 100_000,
    '{"tool": "shade.read", "arguments": {"region": [' + "9" * 5000 + "]}}",
    "\x00\ud800\U0001f600 " + "x" * 100_000,
)
"""Texts that are no call, each wrong in its own way."""


@pytest.mark.parametrize("text", NO_CALLS, ids=range(len(NO_CALLS)))
def test_a_text_that_is_no_call_is_told(text: str) -> None:
    seen = said(text)
    assert seen.status == "format" and seen.text.startswith("Error: <tool_call> ") and len(seen.text) < 300


WRONG = (
    ({}, "'region' is a required property"),
    ({"region": "0, 0, 9, 9"}, "region: '0, 0, 9, 9' is not of type 'array'"),
    ({"region": ["0", 0, 9, 9]}, "region.0: '0' is not of type 'number'"),
    ({"region": [0, 0, 9]}, "region: [0, 0, 9] is too short"),
    ({"region": [0, 0, 9, 9], "box": 1}, "'box' was unexpected"),
    ({"region": [0, 0, 9, 9], "image": 3}, "image: 3 is not of type 'string'"),
    ({"region": [0, 0, 9, 9], "image": "other"}, "no image 'other'; there are image"),
    ({"region": [0, 0, 41, 20]}, "region [0, 0, 41, 20] isn't within 40 x 20"),
    ({"region": [9, 9, 0, 0]}, "isn't within 40 x 20"),
    ({"region": [float("nan"), 0, 9, 9]}, "region.0: nan is not of type 'number'"),
    ({"region": [0, 0, float("inf"), 9]}, "region.2: inf is not of type 'number'"),
    ({"region": [0, 0, 9, 9], "ключ\u202e": "値"}, "was unexpected"),
)


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_wrong_arguments_are_told(arguments: dict[str, Any], told: str) -> None:
    seen = said(call(**arguments))
    assert seen.status == "error" and told in seen.text


def test_an_unknown_tool_is_told_what_there_is() -> None:
    assert said(call("shade.Read")).text == "Error: there is no tool 'shade.Read'; there are shade.read"
    assert len(said(call("x" * 100_000)).text) < 200


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (None, "broken returned NoneType None, which isn't text"),
        (b"7", "which isn't text"),
        ({"a": 1}, "which isn't text"),
        (ValueError("no such row"), "Error: no such row"),
        (RecursionError("deep"), "Error: deep"),
        (MemoryError(), "Error: "),
    ],
)
def test_a_tool_that_fails_or_returns_garbage_is_told(made: Any, told: str) -> None:
    seen = said(call("broken"), env(tools=[Broken("broken", made)]))
    assert seen.status == "error" and told in seen.text


@pytest.mark.parametrize("made", [None, b"7", Observation(7), 7])  # type: ignore[arg-type]
def test_what_is_no_observation_is_told(made: Any) -> None:
    seen = said(call("raw"), env(tools=[Raw("raw", made)]))
    assert seen.status == "error" and "which is no observation with a text" in seen.text


def test_any_words_of_a_tool_are_only_words(chat: Chat) -> None:
    """Tags, control tokens and halves of characters in a reply neither end a turn nor become tokens of their own."""
    words = "</tool_call><answer>1</answer><|im_end|>\ud800\U0001f600"
    seen = said(call("broken"), env(tools=[Broken("broken", words)]))
    assert seen.text == words
    assert not set(chat.text(words)) & set(chat.suppressed_ids)


def test_a_long_reply_is_cut() -> None:
    seen = said(call("broken"), env(tools=[Broken("broken", "x" * 10_000)]))
    assert len(seen.text) == OUTPUT and seen.text.endswith("…")


def test_a_huge_image_is_refused_and_the_episode_goes_on() -> None:
    made = VistaGymEnv([Shade()])
    huge = Image.new("1", (10_000, MOST_PIXELS // 10_000 + 1))
    made.reset(options={"task": Task("huge", (NamedImage("image", huge),), "How bright?", ("0",))})
    assert "has 10000 x 5001 pixels; a tool opens 50,000,000 at most" in said(call(region=[0, 0, 9, 9]), made).text


def test_nothing_leaks_from_one_trajectory_to_another() -> None:
    """One set of tools, many episodes at once: each reads its own image, and can't name another's."""
    shared = [Shade()]

    def play(shade: int) -> list[str]:
        made = VistaGymEnv(shared)
        replies = []
        for again in range(2):
            made.reset(options={"task": task(shade + again, f"image_{shade + again}")})
            calls = [call(region=[0, 0, 40, 20]), call(region=[0, 0, 9, 9], image=f"image_{shade + again + 1}")]
            replies += [said(text, made).text for text in calls * 5]
        return replies

    with ThreadPoolExecutor(8) as pool:
        for shade, replies in zip(range(0, 200, 5), pool.map(play, range(0, 200, 5)), strict=True):
            first, other = replies[:10], replies[10:]
            assert set(first[::2]) == {str(shade)} and set(other[::2]) == {str(shade + 1)}
            assert all(f"there are image_{shade}" in reply for reply in first[1::2])
            assert all(f"there are image_{shade + 1}" in reply for reply in other[1::2])


def test_prompts_and_their_switches() -> None:
    system, user = env().prompt(task(70))
    assert system == "Answer, or call a tool first. Tools: shade.read. Use <think>, <tool_call>, <answer>."
    assert [part if isinstance(part, str) else part.name for part in user] == ["image: ", "image", "How bright?"]
    assert env(tool_first=True).prompt(task(70))[0].startswith("Call a tool, then answer. ")
    full, _ = env(prompt="full", tool_first=True).prompt(task(70))
    assert "always: never answer in the first turn" in full and '{"tool": NAME, "task": TASK, "arguments": {…}}' in full
    assert '- shade.read: Says how bright a part of an image is. {"task"' in full
    with pytest.raises(ValueError, match="prompt='long': choose one of"):
        VistaGymEnv([], "long")


def test_a_full_prompt_says_in_which_images_pixels_tools_speak() -> None:
    """What tools open may be larger than what is shown: a box read off the one is another part of the other."""
    small = (NamedImage("left", Image.new("RGB", (28, 14))), NamedImage("right", Image.new("RGB", (28, 28))))
    large = (NamedImage("left", Image.new("RGB", (400, 200))), NamedImage("right", Image.new("RGB", (90, 90))))
    shrunk = Task("t", small, "?", ("1",), originals=large)
    said = "In full size, as it is opened, left has 400 x 200 pixels, right 90 x 90."
    assert env(prompt="full").prompt(shrunk)[0].endswith(f"\n{said}")
    assert "In full size" not in env(prompt="full").prompt(Task("t", small, "?", ("1",)))[0]
    assert "In full size" not in env().prompt(shrunk)[0] + ReasoningEnv("full-alone").prompt(shrunk)[0]


def test_the_prior_names_the_tools_that_suit_a_family() -> None:
    named = Broken("easyocr.read", "7")
    told, _ = env(tools=[named], prior=True).prompt(task(70))
    assert "Suited to this question: easyocr.read. Use" in told
    assert "Suited" not in env(tools=[named]).prompt(task(70))[0]
    assert "Suited" not in env(prior=True).prompt(task(70))[0], "none of the tools that suit is there"


def test_an_agent_that_knows_its_tools_by_heart_is_told_how_many_there_are() -> None:
    task = Task("t", (), "How bright?", ("1",))
    listed, unlisted = (VistaGymEnv([Shade()], listed=told).prompt(task)[0] for told in (True, False))
    assert "Tools: shade.read." in listed
    assert "Tools: 26." in unlisted, "whichever of them are offered"
    assert "shade.read" not in unlisted
