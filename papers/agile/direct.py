"""Ask a model for the arrangement itself, in one turn and without tools: what it sees before it acts.

The tiny model is asked in the words of its pretraining (:mod:`tiny.skills.seeing`: "Where does each belong, in
which order?", no system text) and replies in words, "A top left, B bottom right, …; right order A, C, D, B."; a real
model (``full``) is asked for the list of labels. Either reply is read into an arrangement and judged as an agent's
answer is.

Departures
- [agile-base-own-words] Paper: In which prompt the base is measured isn't told. Here: As an agent, and asked for the
  arrangement in its own words as well, in one turn. Why: A base that doesn't know the tags scores 0 as an agent,
  whatever it sees. May change: Claim A1 is judged by this row, and the gain over the base is smaller where it is
  measured against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.policy.hf import HFPolicy
from kit.policy.vllm_evaluation import evaluator
from kit.rollout import rollout
from papers.agile.env import QUESTIONS
from papers.agile.experiment import Play
from papers.agile.labels import parse_labels
from pictures.permutations import places

ASKED = {
    "brief": QUESTIONS["brief"],
    "full": "The pieces of a picture that was cut into a {m} x {m} grid are shown above, shuffled. Which arrangement, "
    "row by row from the top left, restores the picture? Give the list of labels, for example [{example}].",
}
"""The question after the pieces."""

_ORDER = re.compile(r"right order ([A-Z](?:, [A-Z])*)")


def arrangement(reply: str, labels: Sequence[str], m: int) -> tuple[str, ...] | None:
    """Read an arrangement, row by row, from the words in which the tiny model says one.

    The order that is stated last counts ("right order B, A, D, C"); without one, where each piece is said to belong
    ("A top right, B top left, …"). Returns None if neither is there, or a place is said to hold no piece or two.

    >>> arrangement("A top right, B top left, C bottom left, D bottom right.", "ABCD", 2)
    ('B', 'A', 'C', 'D')

    Args:
        reply: the model's text.
        labels: the pieces' labels.
        m: pieces a side.
    """
    if stated := _ORDER.findall(reply):
        return parse_labels(stated[-1])
    said = re.findall(rf"\b({'|'.join(labels)}) ({'|'.join(places(m))})\b", reply)
    homes = {place: label for label, place in said}
    if len(said) != m * m or len(homes) != m * m:
        return None
    return tuple(homes[place] for place in places(m))


class DirectJigsawEnv(SingleTurnEnv):
    """One jigsaw, one turn: the pieces, and the question which arrangement is right.

    Args:
        prompt: ``brief`` or ``full``, see :data:`ASKED`.
        tasks: what :meth:`reset` draws from when it isn't given a task.
    """

    def __init__(self, prompt: str = "brief", tasks: Sequence[Task] = ()) -> None:
        super().__init__("direct", prompt=prompt, tasks=tasks)
        self.asked = ASKED[prompt]

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each piece after its label, then the question."""
        labels = [image.name for image in task.images]
        parts: list[str | NamedImage] = []
        for image in task.images:
            parts += [f"Image {image.name}: ", image]
        return self.system, [*parts, self.asked.format(m=task.meta["m"], example=", ".join(labels))]

    def read(self, text: str) -> str:
        """The arrangement that a reply without answer tags states, as a list of labels; else the reply itself."""
        found = arrangement(text, [image.name for image in self.task.images], int(self.task.meta["m"]))
        return ", ".join(found) if found else super().read(text)

    def reward(self, answer: str) -> float:
        """1 if every piece is in its place."""
        return float(parse_labels(answer) == tuple(self.task.target))


def ask(model: Any, chat: Chat, tasks: Sequence[Task], how: Play) -> list[Episode]:
    """Ask a model for each puzzle's arrangement, greedily.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        tasks: the puzzles.
        how: limits of a turn and the prompt's name.
    """
    once = replace(how, max_turns=1, temperature=0.0)
    return rollout(evaluator(HFPolicy(model, chat)), chat, tasks, lambda: DirectJigsawEnv(how.prompt), once)
