"""The contract of tools: a name, a JSON schema of the arguments, and a call that returns an observation.

Whatever a policy asks for, the answer is an observation: arguments that don't fit the schema, a tool's own exceptions
and a missed deadline are told, not raised (:func:`run_tool`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from kit.episode import Action, NamedImage, Observation

Images = Mapping[str, NamedImage]
"""The images that an episode has shown so far, by name."""

LONGEST = 200
"""Characters of an error that an observation repeats."""


class Tool(Protocol):
    """Something that an agent may ask for.

    Attributes:
        name: its name in calls; for a tool called by free text, its tag.
        description: what it does, for a prompt.
        parameters: JSON schema of the arguments, an object.
        on_error: ``tell`` the agent of the tool's exceptions, or ``raise`` them and end the run.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    @property
    def on_error(self) -> Literal["tell", "raise"]: ...

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Do it, with arguments that fit the schema."""
        ...

    def close(self) -> None:
        """Release what the tool holds for the episode."""
        ...


def run_tool(tool: Tool, action: Action, images: Images, deadline: float | None = None) -> Observation:
    """Call a tool by an action; everything that goes wrong is an observation that says what.

    Args:
        tool: the tool that the action names.
        action: its arguments count; where it has none, its text is the tool's only required string.
        images: the episode's images so far, by name.
        deadline: seconds after which the agent is told that there was no answer (the call goes on in its thread); None:
            the tool has a limit of its own.

    Raises:
        Exception: the tool's own, if its ``on_error`` says so.
    """
    from jsonschema import Draft202012Validator  # a second to import: not before there is something to check

    arguments = _from_text(tool, action.text) if action.arguments is None else dict(action.arguments)
    wrong = next(iter(sorted(Draft202012Validator(tool.parameters).iter_errors(arguments), key=_depth)), None)
    if wrong is not None:
        where = ".".join(map(str, wrong.absolute_path)) or "arguments"
        return Observation(f"Error: {tool.name}: {where}: {wrong.message[:LONGEST]}", status="error")
    try:
        seen = tool.call(arguments, images) if deadline is None else _within(deadline, tool, arguments, images)
        if not (isinstance(seen, Observation) and isinstance(seen.text, str)):
            raise TypeError(f"{tool.name} returned {seen!r:.60}, which is no observation with a text")
        return seen
    except Exception as error:
        if tool.on_error == "raise":
            raise
        return Observation(f"Error: {str(error)[:LONGEST]}", status="error")


def _depth(error: Any) -> tuple[int, str]:
    return len(error.absolute_path), str(error.message)


def _from_text(tool: Tool, text: str) -> dict[str, Any]:
    """Free text as the value of a tool's only required argument, if that is a string."""
    required = list(tool.parameters.get("required", ()))
    if len(required) == 1 and tool.parameters["properties"][required[0]].get("type") == "string":
        return {required[0]: text}
    return {}


def _within(deadline: float, tool: Tool, arguments: Mapping[str, Any], images: Images) -> Observation:
    outcome: list[Observation | BaseException] = []

    def work() -> None:
        try:
            outcome.append(tool.call(arguments, images))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True, name=f"tool {tool.name}")
    thread.start()
    thread.join(deadline)
    if not outcome:
        return Observation(f"Error: {tool.name} gave no answer within {deadline:g} s", status="timeout")
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
