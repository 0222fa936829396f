"""Demonstrations as tasks that hold their turns: those of the hub, and those that other models play.

A lesson is a :class:`~kit.episode.Task` whose ``meta["turns"]`` are the turns of the demonstration, as their model
wrote them. The scripted expert says them again (:mod:`.expert`) in the agent's own environment, so what comes back of
its code is what that code gives here, and any model's tokenizer can encode it.

Departures
- [codedance-played-again] Paper: its demonstrations hold what their code gave when they were made. Here: their code
  runs again in the kit's sandbox, and what it gives there is learnt from; one whose code fails there, or that doesn't
  end with an answer, is left out and counted. Why: an agent should learn from what its own environment says. May
  change: how many of the 34K are learnt from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kit.data.cells import CellError, parts, text_of
from kit.episode import Episode, Task
from kit.protocol import FormatError
from papers.codedance.answers import is_right
from papers.codedance.env import PROTOCOL
from papers.codedance.reward import failed

_SHOWN = re.compile(r"<interpreter>.*?</interpreter>", re.DOTALL)
_TOLD = re.compile(r"Think step[- ]by[- ]step within", re.IGNORECASE)
"""Where, after a question, the released prompt (Table 10) begins to explain the form."""
_BEFORE = re.compile(r"^\s*(?:Question:)?\s*", re.IGNORECASE)
IMAGE = "<image>"


def of_talk(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read a demonstration: its question, the images that it shows, its turns and its answer.

    A row has ``messages``, each with a role and a content, and ``images``: those of the question first, one for each
    ``<image>`` in it, then those that code made. What the interpreter said is left out, in whichever message it stands.

    Raises:
        CellError: no question, no turn, or a last turn that doesn't answer.
    """
    talk = row["messages"] or []
    if not isinstance(talk, list) or not all(
        isinstance(one, Mapping) and {"role", "content"} <= one.keys() for one in talk
    ):
        raise CellError(f"messages {talk!r:.60}: a list of objects with role and content is expected")
    asked = next((text_of(one["content"]) or "" for one in talk if one["role"] == "user"), "")
    question = _BEFORE.sub("", _TOLD.split(asked)[0].replace(IMAGE, "")).strip()
    turns = turns_in("".join(text_of(one["content"]) or "" for one in talk if one["role"] == "assistant"))
    last = PROTOCOL.parse(turns[-1]) if turns else FormatError("no turn")
    if not question or isinstance(last, FormatError) or last.name != PROTOCOL.final:
        raise CellError("a demonstration without a question, or whose last turn doesn't answer")
    shown = parts(row["images"])[: max(1, asked.count(IMAGE))]
    return {"images": shown, "question": question, "answer": last.text, "turns": turns, "level": level_of(turns)}


def turns_in(text: str) -> list[str]:
    """Split what a model wrote into turns: each ends with its code, the last one with the answer.

    >>> turns_in("<think>a</think><code>x = 1</code><interpreter>…</interpreter><think>b</think><answer>1</answer>")
    ['<think>a</think><code>x = 1</code>', '<think>b</think><answer>1</answer>']
    """
    said = _SHOWN.sub("", text)
    ends = [match.end() for match in re.finditer("</code>", said)]
    cuts = zip([0, *ends], [*ends, len(said)], strict=True)
    return [turn for start, end in cuts if (turn := said[start:end].strip())]


def level_of(turns: list[str]) -> str:
    """Name a demonstration's level as the paper has it: easy ones are answered directly (section 3.2)."""
    return "easy" if len(turns) == 1 else "hard"


def lesson(episode: Episode) -> Task:
    """Make a lesson of an episode that some policy played well."""
    turns, task = [turn.text for turn in episode.turns], episode.task
    meta = {**task.meta, "turns": turns, "level": level_of(turns)}
    return Task(task.id, task.images, task.question, task.target, meta, task.originals)


def plays_out(episode: Episode) -> bool:
    """Check that a lesson, played again, ends with its answer and that none of its code failed."""
    return is_right(episode.answer, episode.task.target) and not any(failed(turn) for turn in episode.turns)
