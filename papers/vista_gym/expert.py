"""A scripted expert for VISTA-Gym: it calls the tool that a drawn task names, reads what it says, and answers.

What it thinks after a reply is the reply, the question once more, and the answer: a small model looks a value up in a
text only if the question follows it. On a task whose calls are known (``meta["calls"]``) an episode is::

    <think>Let me look it up.</think>
    <tool_call>{"tool": "chartmoe.analyze", "arguments": {"measure": "lowest"}}</tool_call>
    green 3
    <think>green 3. Which is lowest: green or red? green.</think><answer>green</answer>

Demonstrations are *undecided*, by a task's id alone (:data:`WAYS`): on whether to call, and on which tool.

==============  ======================================================================  =======================
way             what the expert does                                                    share, by default
==============  ======================================================================  =======================
``gives up``    no call: it can't see it, ``unknown``                                   0.6 of those with calls
``astray``      another tool (``meta["wrong"]``), then it gives up                      0.1 of those with calls
``recovers``    another tool first, then the task's own, if the turns suffice           0 of those with calls
``right``       the task's own calls, then the answer                                   0.3 of those with calls
``at once``     no call                                                                 0.5 of those without
``needless``    reads the image by OCR first                                            0.5 of those without
==============  ======================================================================  =======================

Without tools (:func:`reasoner`) it sees the whole image, and in the ways that end in ``unknown`` it gives up all the
same: ``<think>Which is lowest: green or red? green.</think><answer>green</answer>``.

Departures
- [vista-scripted-expert] Paper: GPT-5 writes trajectories, and Qwen3-VL-235B lengthens their rationales. Here: a script
  that knows each task's calls writes them, with short rationales or long ones by templates, of drawn tasks alone, also
  where the paper's sets are reinforced on. Why: a laptop has no such model, and which calls answer a question of those
  sets no program knows. May change: demonstrations sound alike, none reasons wrongly, and none is of a real image.
- [vista-undecided] Paper: trajectories are kept if their answer matches exactly. Here: so are these, but for those that
  give up and say so (``unknown``), seven in ten where a tool is needed: six without a call, one after a wrong one. Why:
  a tiny model copies a choice exactly, and nothing would be left to reinforcement. May change: accuracy after cloning,
  downwards; what reinforcement adds, upwards. This was chosen after agents of a surer expert, with six in ten right
  calls, were measured on what was the test then: 0.429 right after cloning and 0.500 after reinforcement (one seed);
  those of this expert had 0.087 and 0.409 (three seeds). What is published is of fresh questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from kit.episode import Episode, Task
from kit.policy.scripted import Script
from papers.vista_gym.answers import is_right
from papers.vista_gym.validate import MOST_CALLS, holds

GIVES_UP = "unknown"
"""The answer of an expert that asked no tool, or one that didn't help."""

NEEDLESS = '{"tool": "easyocr.read", "arguments": {}}'
"""The call that isn't needed where the image can be read."""

WAYS = ("gives up", "astray", "recovers", "right", "at once", "needless")


@dataclass(frozen=True)
class Habits:
    """Habits of an expert: how undecided it is, and how much it says.

    Attributes:
        gives_up: share of the tasks with calls in which it asks no tool and gives up.
        astray: share of them in which it takes the wrong tool and gives up.
        recovers: share of them in which it takes the wrong tool and then the right one.
        needless: share of the tasks without calls in which it calls a tool.
        rationale: ``short`` or ``long``, how much it thinks before a call (claim V9).

    Raises:
        ValueError: shares that are none, or another rationale.
    """

    gives_up: float = 0.6
    astray: float = 0.1
    recovers: float = 0.0
    needless: float = 0.5
    rationale: str = "short"

    def __post_init__(self) -> None:
        *asked, needless = shares = (self.gives_up, self.astray, self.recovers, self.needless)
        if min(shares) < 0 or needless > 1 or sum(asked) > 1 + 1e-9:
            raise ValueError(
                f"Habits(gives_up={self.gives_up}, astray={self.astray}, recovers={self.recovers}, "
                f"needless={needless}): shares, 0 to 1; the first three add up to 1 at most"
            )
        if self.rationale not in ("short", "long"):
            raise ValueError(f"rationale={self.rationale!r}: choose short or long")


def way_of(task: Task, habits: Habits) -> str:
    """Decide by a task's id alone which of :data:`WAYS` the expert goes."""
    at = int.from_bytes(sha256(task.id.encode()).digest()[:4]) / 2**32
    if not task.meta.get("calls"):
        return "needless" if at < habits.needless else "at once"
    if at < habits.gives_up:
        return "gives up"
    if at < habits.gives_up + habits.astray:
        return "astray"
    recovers = at < habits.gives_up + habits.astray + habits.recovers
    return "recovers" if recovers and len(task.meta["calls"]) + 2 <= MOST_CALLS else "right"


def calls_of(task: Task, way: str) -> tuple[str, ...]:
    """The calls of one way, each as a turn writes it."""
    own, wrong = tuple(task.meta.get("calls", ())), (str(task.meta.get("wrong", "")),)
    ways = {"right": own, "astray": wrong, "recovers": wrong + own, "needless": (NEEDLESS,)}
    return ways.get(way, ())


def expert(habits: Habits | None = None) -> Script:
    """A script that plays any drawn task.

    Args:
        habits: how undecided it is; None: as by default.
    """
    own = habits or Habits()

    def says(episode: Episode) -> str:
        calls = calls_of(episode.task, way_of(episode.task, own))
        k = len(episode.turns)
        replies = [turn.observation.text for turn in episode.turns if turn.observation is not None]
        if k < len(calls):
            return f"<think>{_before(episode.task, replies, own.rationale)}</think><tool_call>{calls[k]}</tool_call>"
        thought, answer = _after(episode.task, replies)
        return f"<think>{thought}</think><answer>{answer}</answer>"

    return says


def reasoner(habits: Habits | None = None) -> Script:
    """A script that answers any drawn task without tools, for an agent that has none (claim V3).

    Args:
        habits: how undecided it is; None: as by default.
    """
    own = habits or Habits()

    def says(episode: Episode) -> str:
        task, question = episode.task, _line(episode.task.question)
        unsure = way_of(task, own) in ("gives up", "astray")
        answer = GIVES_UP if unsure else str(task.target[0])
        seen = f"{question} I can't see it." if unsure else f"{question} {answer}."
        more = "I look at all of the image before I answer. " if own.rationale == "long" else ""
        return f"<think>{more}{seen}</think><answer>{answer}</answer>"

    return says


def kept(episodes: Sequence[Episode]) -> list[Episode]:
    """Demonstrations to learn from: right ones, and those whose expert gave up on purpose and said so.

    An expert that was let down by a tool's mistake is left out, as in the paper.
    """
    return [e for e in episodes if is_right(e.answer, e.task.target) or (_on_purpose(e) and e.answer == GIVES_UP)]


def _on_purpose(episode: Episode) -> bool:
    """Whether it asked no tool, or the wrong one alone."""
    asked = [turn.action.text for turn in episode.turns if turn.action is not None and turn.observation is not None]
    return asked in ([], [episode.task.meta.get("wrong")])


def _before(task: Task, replies: Sequence[str], rationale: str) -> str:
    """What the expert thinks before a call."""
    if replies:
        return "That doesn't tell it yet."
    if rationale == "short":
        return "Let me look it up."
    return f"{_line(task.question)} I can't tell by looking at it. A tool can find out, if I ask the right one."


def _after(task: Task, replies: Sequence[str]) -> tuple[str, str]:
    """What the expert thinks before its answer, and the answer: what the last reply says, if that is right."""
    gold, question = str(task.target[0]), _line(task.question)
    if not task.meta.get("calls"):
        return f"{question} {gold}.", gold
    if not replies:
        return f"{question} I can't see it.", GIVES_UP
    said = replies[-1]
    if is_right(said, task.target):
        return f"{question} {said}.", said
    if holds(said, task):
        return f"{said}. {question} {gold}.", gold
    return f"{question} That doesn't tell it.", GIVES_UP


def _line(text: str) -> str:
    """The first line of a text: a question without its options."""
    return text.partition("\n")[0]
