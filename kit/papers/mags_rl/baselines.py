"""The paper's baselines (section 4): the same model prompted, without being trained to look.

===============  =========================================================================================
name             what the model is given
===============  =========================================================================================
``direct``       image and question, asked for the answer alone (:class:`kit.evaluate.baselines.SingleTurnEnv`)
``cot``          the same, asked to reason first
``one_shot``     before them another image with its question and answer (:class:`OneShotEnv`)
``zoom_refine``  asked for one part, which comes back plainly resized, then for the answer (:func:`one_part`)
``grit``         boxes within the reasoning, and nothing is cropped (:func:`no_crops`)
===============  =========================================================================================

The first three are asked of the base in its own words. The other two need the form of a first round, so they are asked
of the policy that reinforcement starts from: what it can do by its form alone.

Departures
- [mags-baselines] Paper: Zoom-Refine and GRIT by their own prompts, GRIT by its own trained weights as well. Here: each
  is the agent's own environment with one thing changed: one part, plainly resized; or no crop at all. Why: what differs
  is then what is compared, and a tiny model follows no long prompt. May change: how far these two lie below the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kit.environment import ToolEnv
from kit.episode import NamedImage, Observation, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.evaluate.five.shown import ShownEnv


class OneShotEnv(SingleTurnEnv):
    """Ask for an answer after one example of another image.

    Args:
        examples: one of them is shown, of the task's own skill where there is one, and never about its image.
        prompt: ``brief`` or ``full`` (:data:`kit.evaluate.baselines.SYSTEMS`).

    Raises:
        ValueError: no examples.
    """

    def __init__(self, examples: Sequence[Task], prompt: str = "brief") -> None:
        if not examples:
            raise ValueError("OneShotEnv(examples=[]): one shot needs an example; give some training tasks")
        super().__init__("direct", prompt=prompt)
        self.examples = examples

    def example_for(self, task: Task) -> Task:
        """The first example of the same skill, else the first one."""
        others = [one for one in self.examples if one.meta.get("source") != task.meta.get("source")] or self.examples
        return next((one for one in others if one.meta.get("skill") == task.meta.get("skill")), others[0])

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: the example's image, question and answer, then the task's own."""
        system, own = super().prompt(task)
        example = self.example_for(task)
        shown = [NamedImage("example", image.image) for image in example.images[:1]]
        parts: list[str | NamedImage] = ["example: ", *shown, f"{example.question} {example.target[0]}\n"]
        return system, [*parts, *own]


def one_part(env: ToolEnv) -> ShownEnv:
    """Show the first part alone, whatever else was asked for."""
    return ShownEnv(env, lambda task, number, own: replace(own, images=own.images[:1]))


def no_crops(env: ToolEnv) -> ShownEnv:
    """Show no part at all: the boxes stand in the reasoning, and the question is put again."""
    return ShownEnv(env, _without_images)


def _without_images(task: Task, number: int, own: Observation) -> Observation:
    return replace(own, images=())
