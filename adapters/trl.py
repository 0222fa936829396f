"""A paper as TRL's ``environment_factory``: the paper's tools are methods, replies carry images, the reward is its own.

::

    with open_paper("NAME", "train", "runs/laptop/data") as opened:
        GRPOTrainer(model, train_dataset=rows(opened), environment_factory=environment_factory(opened), …)

A model that calls tools in its own form reasons in the argument ``thought`` and answers by the tool ``answer``, since
TRL shows an environment its calls alone. With ``tagged``, a model that writes the paper's tags does so: each of its
turns is a call (:func:`adapters.trl_tags.speak`), and the reward is :func:`reward_function`, which sees the last turn,
too. So is a reward that needs a group.

What it can't do: TRL has one advantage an episode, so credit of single turns is lost; a group's reward sees the group
only where a process holds all of it; and an episode's turns are limited by TRL's ``max_tool_calling_iterations``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from adapters.opened import Opened
from adapters.session import OVER, Parts
from kit.images import rgb

if TYPE_CHECKING:
    from datasets import Dataset

CALLED = "\n\nHere tags are tools: call {} instead of writing the tag. What you think goes into the argument `thought`."
"""What the system text adds where tools are called in the model's own form."""
TYPES = {"string": str, "number": float, "integer": int, "boolean": bool, "object": dict}
TURN = {"type": "object", "properties": {"text": {"type": "string", "description": "All of the turn."}}}
ANSWER = {"type": "object", "properties": {"answer": {"type": "string", "description": "The answer."}}}


class _Environment:
    """Base of the classes that :func:`environment_factory` makes: to TRL, every public method more is a tool."""

    opened: Opened

    def __init__(self) -> None:
        self._session = self.opened.session()

    def reset(self, task: str = "", **row: Any) -> list[dict[str, Any]]:
        """Begin the row's task; returns its user message as blocks of content."""
        del row
        return _blocks(self._session.begin(self.opened.task(task))[1])

    def _answered(self, reply: Callable[[], Parts]) -> list[dict[str, Any]]:
        return _blocks(reply() if self._session.running else []) or _blocks([OVER])


def environment_factory(opened: Opened, tagged: bool = False) -> type[_Environment]:
    """Make the class that TRL makes its environments of; they are closed with the paper.

    Args:
        opened: the paper; an episode of its own has a reward by itself, else it is :func:`reward_function`'s.
        tagged: the model writes the paper's tags: each turn is a call of the one tool ``turn``.
    """
    found: dict[str, Any] = {"opened": opened, "__doc__": f"{opened.paper.title}: {opened.paper.summary}"}
    if tagged:
        say = lambda self, text="", **_: self._answered(lambda: self._session.say(str(text)))  # noqa: E731
        found["turn"] = _method("turn", "Says a turn in the paper's tags.", TURN, say)
    else:
        found |= {_identifier(name): _tool(name, *told) for name, told in _tools(opened).items()}
        if not opened.grouped:
            found["get_reward"] = lambda self: float(opened.score(self._session).total)
    return type(opened.paper.name, (_Environment,), found)


def reward_function(opened: Opened, num_generations: int) -> Callable[..., list[float]]:
    """Make one of TRL's ``reward_funcs``: the paper's reward, group by group.

    Args:
        opened: the paper.
        num_generations: episodes of a group, as TRL's settings have it.
    """

    def reward(completions: list[Any], environments: list[_Environment], **more: Any) -> list[float]:
        sessions = [environment._session for environment in environments]
        for completion, session in zip(completions, sessions, strict=True):
            last = completion[-1]
            if session.running and last["role"] == "assistant" and not last.get("tool_calls"):
                session.say(last["content"])
        if len(sessions) % num_generations:
            raise ValueError(
                f"{opened.paper.name}: {len(sessions)} episodes in this process, which are no whole groups of "
                f"num_generations={num_generations}: let per_device_train_batch_size be a multiple of it"
            )
        starts = range(0, len(sessions), num_generations)
        scores = [score for at in starts for score in opened.scores(sessions[at : at + num_generations])]
        if log := more.get("log_metric"):
            for part in {name: None for score in scores for name in score.parts}:
                log(f"{opened.paper.name}/{part}", sum(score.parts.get(part, 0.0) for score in scores) / len(scores))
        return [float(score.total) for score in scores]

    reward.__name__ = f"{opened.paper.name}_reward"
    return reward


def rows(opened: Opened, tagged: bool = False) -> Dataset:
    """Make TRL's data set of a paper's tasks: the system text, an open user message, the task's id.

    Args:
        opened: the paper.
        tagged: as for :func:`environment_factory`.
    """
    from datasets import Dataset

    env, called = opened.environment(), "" if tagged else CALLED.format(", ".join(map(_identifier, _tools(opened))))
    made = []
    for name, task in opened.tasks.items():
        system = f"{env.prompt(task)[0]}{called}".strip()
        said = [{"role": "system", "content": system}] if system else []
        made.append({"prompt": [*said, {"role": "user", "content": ""}], "task": name})
    return Dataset.from_list(made)


def _tools(opened: Opened) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Name of each tool that some task offers, and the answer → its description and schema."""
    env = opened.environment()
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for task in opened.tasks.values():
        env.reset(options={"task": task})
        found |= {name: (tool.description, tool.parameters) for name, tool in env.toolset.items()}
        env.close()
    return {**found, env.protocol.final: ("Gives the final answer, which ends the episode.", ANSWER)}


def _identifier(name: str) -> str:
    return name.replace(".", "_")


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> Callable[..., Any]:
    def call(self: Any, thought: str = "", **arguments: Any) -> list[dict[str, Any]]:
        given = {one: value for one, value in arguments.items() if value is not None}
        return self._answered(lambda: self._session.call(name, given, str(thought)))

    thinks = {"thought": {"type": "string", "description": "What you think before the call."}}
    required = ["thought", *schema.get("required", ["answer"])]
    told = {"properties": {**thinks, **schema["properties"]}, "required": required}
    return _method(_identifier(name), description, told, call)


def _method(name: str, description: str, schema: Mapping[str, Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the name, types and docstring by which TRL tells a model what to call."""
    properties, required = schema["properties"], schema.get("required", [*schema["properties"]])
    hints = {one: _hint(of) if one in required else _hint(of) | None for one, of in properties.items()}
    parameter, kind = inspect.Parameter, inspect.Parameter.KEYWORD_ONLY
    needed, absent = {"default": parameter.empty}, {"default": None}
    given = [parameter(one, kind, annotation=hints[one], **needed if one in required else absent) for one in hints]
    me = parameter("self", parameter.POSITIONAL_OR_KEYWORD)
    lines = [f"    {one}: {of.get('description', 'As said above.')}" for one, of in properties.items()]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n".join([description, "", "Args:", *lines])
    call.__annotations__ = hints
    call.__signature__ = inspect.Signature([me, *given])  # type: ignore[attr-defined]
    return call


def _hint(schema: Mapping[str, Any]) -> Any:
    """The Python type of a JSON schema."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if schema.get("type") == "array":
        return list[_hint(schema.get("items", {}))]  # type: ignore[misc]
    return TYPES.get(schema.get("type", ""), str)


def _blocks(parts: Parts) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": one} if isinstance(one, str) else {"type": "image", "image": rgb(one.image)}
        for one in parts
    ]
