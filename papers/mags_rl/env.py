"""Mags-RL's agent: say where to look, have it magnified, look again and answer.

::

    <think>The red card is bottom left. <zoom>[[0.0, 0.5, 0.5, 1.0]]</zoom></think>
    zoom_1: (the crop, super-resolved) What is in line 1 of the red card?
    <rethink>tea 35, milk 8.</rethink><answer>tea 35</answer>

There are two rounds, and the first ends at ``</think>``, wherever in it the boxes stand. Stage 1 of the training asks
for one box, stage 2 for several (section 3.4). Crops are cut from the image as it was given (``Task.originals``), which
the prompt may show smaller. A first round that asks for nothing is told so; a second one that doesn't answer ends it.

Departures
- [mags-frame] Paper: the unit of boxes isn't told. Here: ``frame`` names it, and the prompt says it: shares of the
  sides by default, or pixels of the image as Qwen2.5-VL reads it (``resized``). Why: a box without its unit can be
  read three ways. May change: how often an untrained model's first boxes are right.
- [mags-box-checks] Paper: a box must be smaller than 40 % of the image's area; what else it must be isn't told. Here:
  :mod:`.zoom` lists the rest: sides of 8 pixels, at most 8 boxes, none twice. Why: a crop of a pixel shows nothing, and
  the same crop eight times would be paid for eight times. May change: the share of boxes that count as valid.
- [mags-prompts] Paper: prompts of its own. Here: ``full`` says the same in the kit's words, ``brief`` is for the tiny
  model. Why: the paper's text isn't the kit's to print. May change: how often an untrained model keeps to the form.
- [mags-network] Paper: SMFANet, its factor isn't told. Here: SPAN by a factor of 2 on the laptop, since it installs
  with a package; SMFANet's published weights by 4 on ``node``. Why: no hub is needed. May change: little; on our
  images the two are within 0.2 dB (``python -m benchmarks super_resolution``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from PIL import Image

from kit.environment import ToolEnv
from kit.episode import NamedImage, Observation, Task
from kit.protocol import Protocol
from kit.tools.boxes import Frame
from papers.mags_rl.answers import is_right
from papers.mags_rl.zoom import Magnifier, ZoomTool

Stage = Literal[1, 2]
"""Of the training: asked for one box, or for several."""


@dataclass(frozen=True)
class FirstRound(Protocol):
    """The first round's tags: boxes stand inside the reasoning, and the round ends with it."""

    @property
    def stops(self) -> tuple[str, ...]:
        """Strings at which a turn ends, in the second round as well."""
        return f"</{self.reasoning}>", f"</{self.final}>"

    def well_formed(self, text: str) -> bool:
        """Check that a turn is reasoning in its tags, with one list of boxes in it, and nothing else."""
        tags = [f"<{self.reasoning}>", "<zoom>", "</zoom>", f"</{self.reasoning}>"]
        places = [text.find(tag) for tag in tags]
        once = all(text.count(tag) == 1 for tag in tags) and places == sorted(places)
        return once and not text[: places[0]].strip() and not text[places[3] + len(tags[3]) :].strip()


FIRST = FirstRound(actions=("zoom",))
SECOND = Protocol(actions=(), reasoning="rethink")

FRAMES: dict[Frame, str] = {
    "shares": "each number a share of the image's width or height, from 0 to 1",
    "thousandths": "each number from 0 to 1000, where 1000 is the image's whole width or height",
    "pixels": "in pixels",
    "resized": "in pixels",
}
"""How ``full`` tells the unit of boxes."""

BRIEF = "Use <think>, <zoom>[[x1, y1, x2, y2]]</zoom>, </think>. {count} Then <rethink>, <answer>."
FULL = """You answer a question about an image, in two rounds.

First reason inside <think> and </think>. Where a detail is too small to be sure of it, name the part of the image \
that shows it, inside your reasoning: <zoom>[[x1, y1, x2, y2], …]</zoom>, {frame}. x1 is below x2 and y1 below y2, \
and a part is smaller than 40 % of the image. {count} Stop after </think>.

You are then shown these parts, magnified, or told what is wrong with them. Look again: reason inside <rethink> and \
</rethink>, and give the answer inside <answer> and </answer>, in as few words as possible."""
COUNT: dict[str, dict[int, str]] = {
    "brief": {1: "Name one part.", 2: "Name all parts that matter."},
    "full": {
        1: "If a detail is unclear, name one part, the one that decides.",
        2: "Name every part that has to be looked at to verify or to count, a box each.",
    },
}
"""What each stage's prompt asks for."""
PROMPTS = {"brief": BRIEF, "full": FULL}
"""System texts: ``brief`` for the tiny model, ``full`` (the paper's structure) for real ones."""

AGAIN = {"brief": "", "full": "\nLook again: <rethink> … </rethink><answer> … </answer>"}
"""What follows the question after the crops, which opens the second round."""

MORE = "Error: only the first <zoom> is looked at: name all parts in one list\n"
NOTHING = "No part was asked for: there is no <zoom> … </zoom> in the reasoning.\n"


class MagsEnv(ToolEnv):
    """One question at a time, in two rounds.

    Args:
        magnifier: enlarges crops; shared by any number of environments.
        stage: of the training, 1 or 2; evaluation has stage 2's prompt.
        prompt: ``brief`` or ``full``, see :data:`PROMPTS`.
        frame: the unit of boxes.
        tasks: what :meth:`reset` draws from when it isn't given a task; a plain square if empty.

    Raises:
        ValueError: an unknown stage, prompt or frame; or boxes in the model's own pixels, and nobody knows them.
    """

    def __init__(
        self,
        magnifier: Magnifier,
        stage: Stage = 2,
        prompt: str = "brief",
        frame: Frame = "shares",
        tasks: Sequence[Task] = (),
    ) -> None:
        if prompt not in PROMPTS or stage not in get_args(Stage) or frame not in FRAMES:
            raise ValueError(
                f"prompt={prompt!r}, stage={stage!r}, frame={frame!r}: choose one of {', '.join(PROMPTS)}; 1 or 2; one "
                f"of {', '.join(FRAMES)}"
            )
        if frame == "resized" and magnifier.resized is None:
            raise ValueError("frame='resized': give Magnifier(resized=chat.resized), which knows what the model sees")
        super().__init__(FIRST, tasks, on_no_action="tell")
        self.magnifier, self.stage, self.style, self.frame = magnifier, stage, prompt, frame

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each image after its name, then the question."""
        parts: list[str | NamedImage] = []
        for image in task.images:
            parts += [f"{image.name}: ", image]
        count = COUNT[self.style][self.stage]
        return PROMPTS[self.style].format(frame=FRAMES[self.frame], count=count), [*parts, task.question]

    def draw(self) -> Task:
        """A square of one colour on white, and which it is."""
        colour = ("red", "green", "blue")[int(self.np_random.integers(3))]
        canvas = Image.new("RGB", (140, 140), "white")
        canvas.paste(colour, (42, 56, 70, 84))
        return Task("square", (NamedImage("image", canvas),), "Which colour is the square?", (colour,))

    def tools(self, task: Task) -> tuple[ZoomTool]:
        """The magnifying glass."""
        return (ZoomTool(task, self.magnifier, self.frame, self._again(task)),)

    def _again(self, task: Task) -> str:
        return task.question + AGAIN[self.style]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start ``options["task"]``, or one drawn with ``seed``, with the first round."""
        self.protocol, self.on_no_action = FIRST, "tell"
        return super().reset(seed=seed, options=options)

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do one round's text. The action of the first carries its valid boxes in shares, and how many it asked for."""
        first = self.protocol is FIRST
        observation, reward, terminated, truncated, info = super().step(action)
        self.protocol, self.on_no_action = SECOND, "end"
        found, tool = info["action"], self.toolset.get("zoom")
        if first and found is None:
            observation = Observation(NOTHING, status="format", closing=self._again(self.task))
        elif isinstance(tool, ZoomTool) and found is not None and found.name == "zoom":
            boxes = [list(box.corners) for box in tool.checked.boxes.values()]
            info = {"action": replace(found, arguments={"asked": tool.checked.asked, "boxes": boxes})}
            if action.count("</zoom>") > 1:
                observation = replace(observation, text=observation.text + MORE)
        return observation, reward, terminated, truncated, info

    def reward(self, answer: str) -> float:
        """1 for a right answer (all of the reward is in :mod:`.reward`)."""
        return float(is_right(answer, self.task.target))
