"""Find what went wrong in an episode, by the paper's six kinds of errors (Table 1, appendix G.1).

====  =========================================  =======================================================================
kind  the paper's name                           how it is found here
====  =========================================  =======================================================================
E1    invocation schema violation                a turn without a call that can be read, a tool that there isn't, or an
                                                 argument that is missing
E2    invalid argument name                      a name that isn't in the tool's schema (what it stands for isn't
                                                 missing then)
E3    invalid argument value (format)            a value that isn't what the schema asks for, ``"of": 7``
E4    incorrect argument value (content)         a call that fits its schema, isn't one of the task's own, and whose
                                                 reply doesn't hold the gold answer
E5    invalid output of a tool                   no answer in time; or the task's own call, whose last reply should hold
                                                 the gold answer, and doesn't
E6    incorrect reasoning after the tool         a reply held the gold answer, and the episode didn't answer so
====  =========================================  =======================================================================

E1 to E3 are decided by the schema, E4 to E6 by what is known of a drawn task: ``meta["calls"]``, the calls that find
its gold answer. Worked example: a task's call is ``unichart.to_table`` with ``{"of": "red"}``, and the gold answer 7.
An episode that asks for ``"blue"``, reads 4 and answers 4 has **E4**; one that asks for ``"red"``, reads 7 and answers
4 has **E6**; one that answers 4 at once has none, since nothing went wrong with a tool.

Departures
- [vista-errors-by-rule] Paper: people sort 500 failures, of which one may have several errors. Here: a rule does, on
  tasks whose truth is known; of a task that isn't drawn, E4 isn't told, nor E5 unless the tool gives no answer. Why:
  whole stages are compared, and no judge is at hand. May change: E4 counts a wrong tool as well as a wrong argument.
- [vista-silent-turns] Paper: E1 is an invalid call. Here: a turn that neither calls nor answers counts as well. Why: a
  small untrained model doesn't get as far as a wrong call. May change: E1 before training, upwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from kit.episode import Action, Episode, Observation, Task, Turn
from kit.protocol import FormatError
from kit.tools.base import validator
from papers.vista_gym.answers import is_right
from papers.vista_gym.env import PROTOCOL
from papers.vista_gym.toolbox import toolbox
from papers.vista_gym.validate import holds

ERRORS = {
    "E1": "no call that can be read",
    "E2": "no such argument",
    "E3": "a value of the wrong form",
    "E4": "asked for the wrong thing",
    "E5": "the tool fails",
    "E6": "read it, and answered otherwise",
}
"""Kind → what happened, in a few words."""

REPORTED: Mapping[str, Mapping[str, float]] = {
    "GPT-5": {"E1": 0.128, "E2": 0.0, "E3": 0.182, "E4": 0.396, "E5": 0.256, "E6": 0.281},
    "InternVL3-8B": {"E1": 0.038, "E2": 0.448, "E3": 0.18, "E4": 0.574, "E5": 0.0, "E6": 0.648},
}
"""Table 1: shares of 500 failures of two untrained models with tools."""

Schemas = Mapping[str, Mapping[str, Any]]
"""Tool's name → JSON schema of its arguments."""


@cache
def schemas() -> Schemas:
    """The schemas of the paper's tools."""
    return {name: tool.parameters for name, tool in toolbox().items()}


def errors(episode: Episode, known: Schemas | None = None) -> tuple[str, ...]:
    """Kinds of errors in an episode, each once, in their order; a right answer may come after some.

    Args:
        episode: a finished episode.
        known: schemas of the tools that it could call; None: the paper's tools.
    """
    known = schemas() if known is None else known
    task, seen = episode.task, [turn.observation for turn in episode.turns if turn.observation is not None]
    found = {kind for turn in episode.turns for kind in _of_turn(turn, task, known)}
    if not is_right(episode.answer, task.target) and any(one.status == "ok" and holds(one.text, task) for one in seen):
        found.add("E6")
    return tuple(sorted(found))


def _of_turn(turn: Turn, task: Task, known: Schemas) -> set[str]:
    if turn.action is not None and turn.action.name == PROTOCOL.final:
        return set()
    if turn.action is None or turn.action.name not in known:
        return {"E1"}
    return _by_schema(turn.action, known[turn.action.name]) or _by_truth(turn.action, turn.observation, task)


def _by_schema(action: Action, schema: Mapping[str, Any]) -> set[str]:
    """E1 to E3 of a call whose tool there is; none: it fits its schema."""
    wrong = validator(schema).iter_errors(dict(action.arguments or {}))
    found = {{"required": "E1", "additionalProperties": "E2"}.get(str(one.validator), "E3") for one in wrong}
    return found - {"E1"} if "E2" in found else found  # it was given, under another name


def _by_truth(action: Action, seen: Observation | None, task: Task) -> set[str]:
    """E4 or E5 of a call that fits its schema, if it is one."""
    if seen is None or seen.status == "unserved":  # over before its reply could be read; or nobody took the call up
        return set()
    if seen.status not in ("ok", "error"):
        return {"E5"}
    own = [_asked(call) for call in task.meta.get("calls", ())]
    if not own or (seen.status == "ok" and holds(seen.text, task)):
        return set()
    asked = (action.name, dict(action.arguments or {}))
    if asked not in own:
        return {"E4"}
    return {"E5"} if seen.status == "error" or asked == own[-1] else set()


def _asked(call: str) -> tuple[str, dict[str, Any]]:
    """Tool and arguments of a call as a turn writes it.

    Raises:
        ValueError: it isn't one.
    """
    action = PROTOCOL.parse(f"<tool_call>{call}</tool_call>")
    if isinstance(action, FormatError):
        raise ValueError(f"meta['calls'] holds {call!r:.80}, which is no call: {action.message}")
    return action.name, dict(action.arguments or {})
