"""Tools by hand: ``python -m kit tools list``, ``python -m kit tools call NAME``, ``python -m kit tools serve``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from kit.episode import Action, NamedImage
from kit.images import upright_rgb
from kit.protocol import FormatError, Protocol
from kit.tools.base import run_tool
from kit.tools.pure import PureTool, load_tool
from papers.registry import papers
from workshop.jobs.listing import table

if TYPE_CHECKING:
    from kit.tools.serve.pool import Limits


class ToolError(ValueError):
    """A call that can't be made; the message says what is missing."""


PROTOCOL = Protocol(actions=("tool_call",), call="tool_call")


def read_turn(text: str) -> tuple[str, Mapping[str, Any]] | None:
    """Read a policy's turn for a service: the tool that it calls, and its arguments; None: it answers.

    Raises:
        ValueError: it is neither; the message is for the policy.
    """
    parsed = PROTOCOL.parse(text)
    if isinstance(parsed, FormatError):
        raise ValueError(parsed.message)
    return None if parsed.name == PROTOCOL.final else (parsed.name, parsed.arguments or {})


def places() -> dict[str, str]:
    """Every tool of every registered paper: name → place of its class."""
    return {name: place for paper in papers().values() for name, place in paper.load_tools().items()}


def find_tool(name: str, served: bool = False, device: str = "cpu") -> PureTool:
    """Make a tool by its name, or by the place of its class, ``module:Class``.

    Args:
        name: of the tool, or the place.
        served: with the model behind it.
        device: where the model runs.

    Raises:
        ToolError: there is no such tool, or no model behind it.
    """
    known = places()
    if name not in known and ":" not in name:
        raise ToolError(f"no tool {name!r}: there are {', '.join(known)}; one of your own is named module:Class")
    try:
        return load_tool(known.get(name, name), served, device)
    except ValueError as error:
        raise ToolError(str(error)) from error


def listing() -> str:
    """All tools: name, family, what each does, and the model that can be served in its algorithm's place."""
    rows = [["tool", "family", "what it does", "served model"]]
    for name in places():
        tool = find_tool(name)
        rows.append([name, tool.family, tool.description, tool.served.id if tool.served else ""])
    return table(rows)


def serve(
    names: Sequence[str],
    host: str,
    port: int,
    workers: int,
    limits: Limits,
    served: bool,
    device: str,
    engine: str = "processes",
    gpus: float = 0.0,
) -> None:
    """Serve tools until told to stop.

    Args:
        names: of the tools, or places of one's own; all tools of all papers if there are none.
        host: to listen at.
        port: to listen at; 0: any that is free.
        workers: processes of each pool.
        limits: of time and of waiting calls.
        served: with the models behind them, where there are any.
        device: where models run.
        engine: what runs the workers, ``processes`` of this machine's or ``ray``.
        gpus: share of a GPU for each worker with a model, which Ray sees to.

    Raises:
        ToolError: there is no such tool, or no worker.
        ValueError: the port is taken, or Ray isn't there.
    """
    from kit.tools.serve.command import serve as start

    if workers < 1:
        raise ToolError(f"--workers {workers}: a pool needs at least 1")
    known = places()
    found = {find_tool(name).name: known.get(name, name) for name in names} or known
    models = [name for name, place in found.items() if served and load_tool(place).served]
    if engine == "processes":
        if gpus:
            raise ToolError(f"--gpus {gpus:g}: processes choose by --device; --engine ray divides GPUs")
        return start(found, host, port, workers, limits, models, device, read=read_turn)
    from kit.tools.serve.on_ray import RayPool, ray_started

    with ray_started():
        start(found, host, port, workers, limits, models, device, pool=partial(RayPool, gpus=gpus), read=read_turn)


def card(tool: PureTool) -> str:
    """A tool's card: what it does and by what, its arguments, and its golden calls with what it says to them now."""
    lines = [f"{tool.name}: {tool.description}", f"By: {tool.algorithm}"]
    if tool.served:
        lines.append(f"Served: {tool.served.id} ({tool.served.licence})")
    lines += [f"  {name}: {json.dumps(schema)}" for name, schema in tool.parameters["properties"].items()]
    for golden in tool.goldens:
        image = golden.image() if golden.image else None
        lines.append(
            f"{json.dumps(dict(golden.arguments), ensure_ascii=False)} -> {_reply(tool, golden.arguments, image)}"
        )
    return "\n".join(lines)


def call(tool: PureTool, arguments: str = "", image: Path | None = None) -> str:
    """A tool's reply, as an agent would read it; without arguments and image its card.

    Args:
        tool: the tool.
        arguments: a JSON object.
        image: file that it looks at.

    Raises:
        ToolError: the arguments aren't a JSON object, or the image can't be read.
    """
    if not arguments and image is None:
        return card(tool)
    try:
        asked = json.loads(arguments or "{}")
    except ValueError as error:
        raise ToolError(f"--arguments {arguments!r:.80}: not JSON ({error})") from error
    if not isinstance(asked, dict):
        raise ToolError(f'--arguments {arguments!r:.80}: give an object like {{"caption": "red circle"}}')
    try:
        opened = upright_rgb(Image.open(image)) if image is not None else None
    except OSError as error:
        raise ToolError(f"--image {image}: {error}") from error
    return _reply(tool, asked, opened)


def _reply(tool: PureTool, arguments: Any, image: Image.Image | None) -> str:
    images = {"image": NamedImage("image", image)} if image is not None else {}
    return run_tool(tool, Action(tool.name, "", arguments), images).text
