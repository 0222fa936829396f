"""The contract of tools: a name, a JSON schema of the arguments, and a call that returns an observation, or its text.

Whatever a policy asks for, the answer is an observation: arguments that don't fit the schema, a tool's own exceptions
and a missed deadline are told, not raised (:func:`run_tool`). A tool need not know the kit: text, or a pair of text and
status, is made an observation here, and a deadline is kept here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import Any, Literal, Protocol, get_args

from kit.episode import Action, NamedImage, Observation, Status
from kit.images import rgb
from turn_sandbox.deadline import Unable, call_within

Images = Mapping[str, NamedImage]
"""The images that an episode has shown so far, by name."""

Reply = Observation | str | tuple[str, str]
"""What a tool returns: an observation; its text, of a call that went well; or its text and status."""

LONGEST = 200
"""Characters of an error that an observation repeats."""


class Tool(Protocol):
    """Something that an agent may ask for.

    Two methods are optional. ``looks_at(arguments, images)`` gives the images that a call looks at, and says that the
    tool holds nothing between two calls; ``call_within(deadline, arguments, images)`` ends a call by its own means.

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

    def call(self, arguments: Mapping[str, Any], images: Images) -> Reply:
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
        deadline: seconds after which the call is ended, and the agent told that there was no answer: a copy of the
            tool does it in a process of its own (:mod:`turn_sandbox.deadline`), unless the tool has a ``call_within``,
            which ends the call itself. None: the tool has a limit of its own.

    Raises:
        Unable: the tool can't be called under a deadline.
        Exception: the tool's own, if its ``on_error`` says so.
    """
    arguments = _from_text(tool, action.text) if action.arguments is None else dict(action.arguments)
    wrong = next(iter(sorted(validator(tool.parameters).iter_errors(arguments), key=_depth)), None)
    if wrong is not None:
        where = ".".join(map(str, wrong.absolute_path)) or "arguments"
        return Observation(f"Error: {tool.name}: {where}: {wrong.message[:LONGEST]}", status="error")
    try:
        return called(tool, arguments, images, deadline)
    except Unable:
        raise
    except Exception as error:
        if tool.on_error == "raise":
            raise
        return Observation(f"Error: {str(error)[:LONGEST] or type(error).__name__}", status="error")


def called(tool: Tool, arguments: Mapping[str, Any], images: Images, deadline: float | None = None) -> Observation:
    """Have a tool do a call whose arguments fit, as :func:`run_tool` does.

    Args:
        tool: what is called.
        arguments: fit its schema.
        images: the episode's images so far, by name.
        deadline: seconds; None: there is none.

    Raises:
        Unable: the tool can't be called under a deadline.
        TypeError: it returned no observation, no text, and no pair of text and status.
        Exception: the tool's own.
    """
    match reply := _reply(tool, arguments, images, deadline):
        case Observation(text=str()):
            return reply
        case str():
            return Observation(reply)
        case (str(text), status) if status in get_args(Status):
            return Observation(text, status=status)
    raise TypeError(f"{tool.name} returned {reply!r:.60}, which is no observation with a text, and no text")


def _reply(tool: Tool, arguments: Mapping[str, Any], images: Images, deadline: float | None) -> Any:
    if deadline is None:
        return tool.call(arguments, images)
    if ends_itself := getattr(tool, "call_within", None):
        return ends_itself(deadline, arguments, images)
    if looks_at := getattr(tool, "looks_at", None):
        images = looks_at(arguments, images)
    # PIL sends a palette without its transparency: who sees such an image in another process sees it in RGB.
    sent = {name: NamedImage(name, rgb(one.image)) if one.image.mode == "P" else one for name, one in images.items()}
    return call_within(deadline, tool, arguments, sent)


def validator(schema: Mapping[str, Any]) -> Any:
    """Make what checks arguments by their JSON schema; NaN and infinity, which Python reads of JSON, are no numbers."""
    return _validators()(schema)


@cache
def _validators() -> Any:
    from jsonschema import (
        Draft202012Validator,
        validators,
    )  # a second to import: not before there is something to check

    checker = Draft202012Validator.TYPE_CHECKER
    finite = checker.redefine("number", lambda _, value: checker.is_type(value, "number") and _is_finite(value))
    return validators.extend(Draft202012Validator, type_checker=finite)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)  # an integer may be too large for a float, and is finite


def _depth(error: Any) -> tuple[int, str]:
    return len(error.absolute_path), str(error.message)


def _from_text(tool: Tool, text: str) -> dict[str, Any]:
    """Free text as the value of a tool's only required argument, if that is a string."""
    required = list(tool.parameters.get("required", ()))
    if len(required) == 1 and tool.parameters["properties"][required[0]].get("type") == "string":
        return {required[0]: text}
    return {}
