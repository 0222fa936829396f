"""The environment: a tool that crosses a dot out, the reward, an expert to imitate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from kit.environment import ToolEnv
from kit.episode import Episode, NamedImage, Observation, Score, Task
from kit.evaluate.accuracy import accuracy_evaluation
from kit.protocol import Protocol
from kit.tools.base import Images
from PIL import ImageDraw

from examples.your_own.task import PLACES, QUARTER, make_task


class Mark:
    """Cross out the dot in a quarter, if there is one, and show the image."""

    name, description = "mark", f"Crosses out the dot at a place: {', '.join(PLACES)}."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"place": {"type": "string", "enum": [*PLACES]}},
        "required": ["place"],
    }
    on_error: Literal["tell", "raise"] = "tell"  # an unknown place is told to the agent

    def __init__(self, task: Task) -> None:
        self.left, self.image = list(task.meta["places"]), task.images[0].image.copy()

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Cross out ``arguments["place"]``."""
        place = arguments["place"]
        if place not in self.left:
            return Observation("No dot there.", status="error")
        self.left.remove(place)
        x, y = QUARTER * (PLACES.index(place) % 2), QUARTER * (PLACES.index(place) // 2)
        end = QUARTER - 1
        for line in ((x, y, x + end, y + end), (x, y + end, x + end, y)):
            ImageDraw.Draw(self.image).line(line, fill="red", width=5)
        return Observation("A dot.", (NamedImage("image", self.image.copy()),))

    def close(self) -> None:
        """Nothing is held."""


class Env(ToolEnv):
    """Count dots by crossing them out."""

    def __init__(self) -> None:
        super().__init__(Protocol(actions=("mark",)))

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message."""
        system = "Mark each dot, then count. Use <think>, <mark>, <answer>."
        return system, [*task.images, task.question]

    def tools(self, task: Task) -> list[Mark]:
        """One tool, with a copy of the task's image to draw on."""
        return [Mark(task)]

    def reward(self, answer: str) -> float:
        """1 for the right number."""
        return float(answer == self.task.target)

    def draw(self) -> Task:
        """A task for whoever resets without one."""
        return make_task(self.np_random, "drawn")


def is_right(episode: Episode, target: str) -> bool:
    """Check that the answer is the number of dots, with a full stop or without."""
    return (episode.answer or "").rstrip(".") == target


EVALUATION = accuracy_evaluation("your_own", is_right)


def score(episode: Episode, target: str) -> Score:
    """1 for the right number, 0.5 times the share of dots met, −0.1 a mark in vain."""
    met = [
        turn.observation.status == "ok" for turn in episode.turns if turn.observation
    ]
    correct = is_right(episode, target)
    parts = {
        "accuracy": float(correct),
        "found": 0.5 * sum(met) / int(target),
        "missed": -0.1 * (len(met) - sum(met)),
    }
    return Score(sum(parts.values()), parts, correct=correct)


def expert(episode: Episode) -> str:
    """Say the next turn of one who knows where the dots are."""
    places, done = episode.task.meta["places"], len(episode.turns)
    if done < len(places):
        return f"<think>A dot {places[done]}.</think><mark>{places[done]}</mark>"
    return f"<think>No other dot.</think><answer>{done}</answer>"
