"""Tools by hand: ``python -m visual_tools list``, ``… call NAME``, ``… serve``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from turn_sandbox.images import NamedImage, upright_rgb
from visual_tools.registry import TOOLS
from visual_tools.tool import PureTool, load_tool, run

if TYPE_CHECKING:
    from visual_tools.serve.app import Read


class ToolError(ValueError):
    """A call that can't be made; the message says what is missing."""


def find_tool(name: str, served: bool = False, device: str = "cpu", places: Mapping[str, str] = TOOLS) -> PureTool:
    """Make a tool by its name, or by the place of its class, ``module:Class``.

    Args:
        name: of the tool, or the place.
        served: with the model behind it.
        device: where the model runs.
        places: name → place of the tools that are known.

    Raises:
        ToolError: there is no such tool, or no model behind it.
    """
    if name not in places and ":" not in name:
        raise ToolError(f"no tool {name!r}: there are {', '.join(places)}; one of your own is named module:Class")
    try:
        return load_tool(places.get(name, name), served, device)
    except ValueError as error:
        raise ToolError(str(error)) from error


def listing(places: Mapping[str, str] = TOOLS) -> str:
    """All tools: name, family, what each does, and the model that can be served in its algorithm's place."""
    rows = [("tool", "family", "what it does", "served model")]
    for name in places:
        tool = find_tool(name, places=places)
        rows.append((name, tool.family, tool.description, tool.served.id if tool.served else ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def serve(args: argparse.Namespace, places: Mapping[str, str] = TOOLS, read: Read | None = None) -> None:
    """Serve tools until told to stop.

    Args:
        args: as :func:`options` reads them.
        places: name → place of the tools that are known.
        read: how policies' turns are to be read, if they are.

    Raises:
        ToolError: there is no such tool.
        ValueError: the port is taken, or Ray isn't there.
    """
    from visual_tools.serve.command import end_with_stdin
    from visual_tools.serve.command import serve as start
    from visual_tools.serve.pool import Limits

    if args.until_eof:
        end_with_stdin()
    found = {find_tool(name, places=places).name: places.get(name, name) for name in args.tools} or dict(places)
    models = [name for name, place in found.items() if args.served and load_tool(place).served]
    limits = Limits(args.deadline, args.waiting)
    begin = partial(start, found, args.host, args.port, args.workers, limits, models, args.device, read=read)
    if args.engine == "processes":
        if args.gpus:
            raise ToolError(f"--gpus {args.gpus:g}: processes choose by --device; --engine ray divides GPUs")
        return begin()
    from visual_tools.serve.on_ray import RayPool, ray_started

    with ray_started():
        begin(pool=partial(RayPool, gpus=args.gpus))


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
    return run(tool, arguments, {} if image is None else {"image": NamedImage("image", image)}).text


def _number(kind: type[int] | type[float], allowed: str, holds: Callable[[float], bool]) -> Callable[[str], float]:
    """Read an option's number, or say what is allowed."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if holds(value := kind(text)):
                return value
        raise argparse.ArgumentTypeError(f"{text!r}: must be {allowed}")

    return read


def options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add what :func:`main` takes."""
    port = _number(int, "a whole number from 0 to 65535", lambda n: 0 <= n <= 65535)
    count = _number(int, "a whole number, at least 1", lambda n: n >= 1)
    whole = _number(int, "a whole number, at least 0", lambda n: n >= 0)
    seconds = _number(float, "a number above 0", lambda n: 0 < n < float("inf"))
    share = _number(float, "a number, at least 0", lambda n: 0 <= n < float("inf"))
    parser.add_argument("action", choices=["list", "call", "serve"])
    parser.add_argument("name", nargs="?", default="", help="of the tool, or module:Class of your own")
    parser.add_argument("--image", type=Path, help="file that it looks at (without image and arguments: its card)")
    parser.add_argument("--arguments", default="", metavar="JSON", help='an object, such as {"caption": "red circle"}')
    parser.add_argument("--served", action="store_true", help="with the model behind it, which is downloaded")
    parser.add_argument("--device", default="cpu", help="of the model (cpu)")
    serve = parser.add_argument_group("serve")
    serve.add_argument("--tools", nargs="+", default=[], metavar="NAME", help="those to serve (default: all)")
    serve.add_argument("--host", default="127.0.0.1", help="to listen at: who reaches it may call (127.0.0.1)")
    serve.add_argument("--port", type=port, default=8765, help="to listen at; 0: any that is free (8765)")
    serve.add_argument("--workers", type=count, default=1, help="processes of each pool of tools (1)")
    serve.add_argument("--deadline", type=seconds, default=30.0, help="seconds of a call, then it is cut (30)")
    serve.add_argument("--waiting", type=whole, default=512, help="calls that may wait for a pool (512)")
    serve.add_argument("--engine", choices=["processes", "ray"], default="processes", help="of the workers (processes)")
    serve.add_argument("--gpus", type=share, default=0.0, help="with ray: share of a GPU for each model's worker (0)")
    serve.add_argument("--until-eof", action="store_true", help="end with standard input, so with whoever holds it")
    return parser


def main(
    argv: Sequence[str],
    places: Mapping[str, str] = TOOLS,
    read: Read | None = None,
    program: str = "python -m visual_tools",
) -> int:
    """Do what the command line says; returns the exit code: 0 done, 2 refused, 130 interrupted.

    Args:
        argv: the command line.
        places: name → place of the tools that are known.
        read: how policies' turns are to be read by a service, if they are.
        program: what the command is called.
    """
    args = options(argparse.ArgumentParser(prog=program)).parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what a scheduler sends: end as Ctrl-C does
    try:
        if args.action == "serve":
            serve(args, places, read)
        elif args.action == "list":
            print(listing(places))
        else:
            print(call(find_tool(args.name, args.served, args.device, places), args.arguments, args.image))
    except ValueError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
