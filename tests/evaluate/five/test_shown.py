"""What a policy is shown: another episode's observations, blank ones, none; and nothing else is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import Episode, NamedImage, Observation, Task
from kit.evaluate.accuracy import accuracy_evaluation
from kit.evaluate.five import answers, play, shown
from kit.policy.scripted import ScriptedPolicy
from kit.protocol import Protocol
from kit.rollout import RolloutConfig, rollout
from kit.tools.base import Images

GREYS = {"dark": 20, "dim": 90, "pale": 170, "light": 240}


def image(name: str, shade: int, side: int = 28) -> NamedImage:
    return NamedImage(name, Image.fromarray(np.full((side, side, 3), shade, dtype=np.uint8)))


def task(name: str, shade: str, source: str = "") -> Task:
    return Task(name, (image("closed", 128),), "Which?", shade, {"source": source or name})


TASKS = [task(name, shade) for name, shade in zip("abcd", GREYS, strict=True)]


class Look:
    """Shows the task's shade, larger each time, and says how often it has looked."""

    name, description = "look", "Looks."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"how": {"type": "string"}},
        "required": ["how"],
    }
    on_error: Literal["tell", "raise"] = "tell"

    def __init__(self, task: Task) -> None:
        self.task, self.looks = task, 0

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        if arguments["how"] == "away":
            raise ValueError("nothing there")
        self.looks += 1
        view = image(f"view_{self.task.id}", GREYS[self.task.target], 28 * self.looks)
        return Observation(f"look {self.looks} of {self.task.id}", (view,))

    def close(self) -> None:
        pass


class Shade(ToolEnv):
    """Which shade is it? Only a look tells."""

    def __init__(self) -> None:
        super().__init__(Protocol(actions=("look",)))

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        return "Look.", [*task.images, task.question]

    def tools(self, task: Task) -> list[Look]:
        return [Look(task)]

    def reward(self, answer: str) -> float:
        return float(answer == self.task.target)

    def draw(self) -> Task:
        return TASKS[0]


def seen(episode: Episode) -> str:
    """The shade of the last image shown; dark before there is any."""
    shades = {value: name for name, value in GREYS.items()}
    views = [view for turn in episode.turns if turn.observation for view in turn.observation.images]
    return shades.get(views[-1].image.getpixel((0, 0))[0], "unknown") if views else "dark"


def reader(episode: Episode) -> str:
    """Looks once, then answers what it was shown."""
    return f"<answer>{seen(episode)}</answer>" if episode.turns else "<look>on</look>"


def ignorer(episode: Episode) -> str:
    """Looks once, then answers by the task, whatever it was shown."""
    guess = {"a": "dark", "b": "dim", "c": "dark", "d": "dark"}[episode.task.id]
    return f"<answer>{guess}</answer>" if episode.turns else "<look>on</look>"


def by_looks(looks: Mapping[str, int]) -> Callable[[Episode], str]:
    """Looks as often as told for a task, then answers."""
    return lambda e: "<look>on</look>" if len(e.turns) < looks[e.task.id] else f"<answer>{seen(e)}</answer>"


def played(
    chat: Chat,
    script: Callable[[Episode], str],
    around: shown.Around = shown.as_it_is,
    tasks: list[Task] = TASKS,
) -> list[Episode]:
    config = RolloutConfig(max_turns=5, max_new_tokens=60)
    return rollout(ScriptedPolicy(chat, script), chat, tasks, lambda: around(Shade()), config)


def is_right(episode: Episode, target: Any) -> bool:
    return episode.answer == target


SHADES = accuracy_evaluation("shades", is_right)


def gap(chat: Chat, script: Callable[[Episode], str], around: str) -> float:
    own = played(chat, script)
    if around == "swapped":
        other = play.with_others(lambda tasks, how: played(chat, script, how, list(tasks)), own)
    else:
        other = played(chat, script, shown.blank)
    found = answers.difference(SHADES.outcomes(own), SHADES.outcomes(other), "correct")
    assert found is not None and found.n == 4
    return found.value


@pytest.mark.parametrize("around", ["swapped", "blank"])
def test_a_policy_that_reads_what_it_is_shown_has_a_gap_and_one_that_does_not_has_none(chat: Chat, around: str) -> None:
    assert gap(chat, reader, around) == 1.0, "all four right with its own, none with other shades"
    assert gap(chat, ignorer, around) == 0.0, "two of four right, whatever is shown"


def test_a_gap_by_hand(chat: Chat) -> None:
    """Two look and are right; one looks, and knows without; one never looks, says dark and is wrong.

    With another's: the first two are wrong, the third is right again. 3/4 − 1/4.
    """

    def script(episode: Episode) -> str:
        name = episode.task.id
        if name == "c":
            return "<answer>pale</answer>" if episode.turns else "<look>on</look>"
        return "<answer>dark</answer>" if name == "d" else reader(episode)

    assert gap(chat, script, "swapped") == pytest.approx(3 / 4 - 1 / 4)


def test_another_episodes_observation_takes_the_place_of_its_own_and_keeps_its_name(chat: Chat) -> None:
    own = played(chat, reader)
    others = shown.other_episodes(own)
    (first, *_), (theirs, *_) = played(chat, reader, shown.swapped(others)), own[1:]
    mine, other = first.turns[0].observation, theirs.turns[0].observation
    assert mine is not None and other is not None
    assert mine.text == other.text == "look 1 of b"
    assert mine.images[0].name == "view_a", "its code finds its own images by their names"
    assert mine.images[0].sha256 == other.images[0].sha256
    assert first.task.images == TASKS[0].images, "the task's own images are never exchanged"


def test_where_the_other_episode_is_shorter_its_last_observation_stays(chat: Chat) -> None:
    own = played(chat, by_looks({"a": 4, "b": 2, "c": 1, "d": 3}))
    changed = played(chat, by_looks({"a": 4, "b": 2, "c": 1, "d": 3}), shown.swapped(shown.other_episodes(own)))
    texts = [[turn.observation.text for turn in episode.turns if turn.observation] for episode in changed]
    assert texts == [
        ["look 1 of b", "look 2 of b", "look 2 of b", "look 2 of b"],
        ["look 1 of c", "look 1 of c"],
        ["look 1 of d"],
        ["look 1 of a", "look 2 of a", "look 3 of a"],
    ]


def test_blank_is_grey_of_the_same_size_without_a_word(chat: Chat) -> None:
    (episode, *_) = played(chat, by_looks({"a": 2, "b": 1, "c": 1, "d": 1}), shown.blank)
    first, second = (turn.observation for turn in episode.turns if turn.observation)
    assert (first.text, second.text) == ("", "")
    assert [view.images[0].image.size for view in (first, second)] == [(28, 28), (56, 56)]
    assert {view.images[0].image.getcolors()[0] for view in (first, second)} == {(784, (128,) * 3), (3136, (128,) * 3)}


def test_what_is_shown_changes_neither_status_nor_reward_nor_the_tools(chat: Chat) -> None:
    def script(episode: Episode) -> str:
        return ("<look>away</look>", "<look>on</look>", "<answer>dark</answer>")[len(episode.turns)]

    own, blind = played(chat, script), played(chat, script, shown.blank)
    for mine, theirs in zip(own, blind, strict=True):
        states = [[turn.observation.status for turn in e.turns if turn.observation] for e in (mine, theirs)]
        assert states == [["error", "ok"]] * 2
        assert is_right(mine, mine.task.target) == is_right(theirs, theirs.task.target)
    env = shown.blank(Shade())
    env.reset(options={"task": TASKS[1]})
    env.step("<look>on</look>")
    assert env.step("<look>on</look>")[0].images[0].image.size == (56, 56), "the tool went on from its own first look"
    assert env.step("<answer>dim</answer>")[1] == 1.0
    env.close()


def test_without_tools_every_call_fails_and_says_so(chat: Chat) -> None:
    (episode, *_) = played(chat, reader, shown.toolless)
    observation = episode.turns[0].observation
    assert observation is not None and observation.status == "error"
    assert "no tool 'look'" in observation.text and not observation.images
    assert episode.answer == "dark"


def test_only_another_kind_or_the_same_image_leaves_an_episode_out(chat: Chat) -> None:
    same = [task("a", "dark", "s"), task("b", "dim", "s"), task("c", "pale", "t")]
    own = played(chat, lambda e: reader(e) if e.task.id != "c" else "<answer>dark</answer>", tasks=same)
    assert shown.other_episodes(own) == {"c": shown.observations(own[0])}, "a and b are about one image"
    again = play.with_others(lambda tasks, how: pytest.fail("there is nothing to play"), own)
    assert [e.task.id for e in again] == ["c"], "shown nothing: it stays as it was played"
    with pytest.raises(ValueError, match="none of 2 episodes can be shown another one's"):
        play.with_others(lambda tasks, how: [], own[:2])
    kinds = shown.other_episodes(played(chat, reader), kind=lambda t: t.id in "ab")
    assert {name: others[0].text[-1] for name, others in kinds.items()} == {"a": "b", "b": "a", "c": "d", "d": "c"}


def test_a_task_without_another_episode_is_named(chat: Chat) -> None:
    with pytest.raises(ValueError, match="task a: no other episode's observations were given"):
        played(chat, reader, shown.swapped({"b": ()}), TASKS[:1])


def test_the_status_of_another_episode_is_not_taken_over() -> None:
    env = shown.ShownEnv(Shade(), lambda task, number, own: replace(own, text="x", status="timeout"))
    env.reset(options={"task": TASKS[0]})
    found = env.step("<look>on</look>")[0]
    assert (found.text, found.status) == ("x", "ok")
