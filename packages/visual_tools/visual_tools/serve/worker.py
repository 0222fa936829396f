"""A worker: a process that holds some tools and does one call after the other, for the pool that started it.

``python -m visual_tools.serve.worker cpu sam.segment=visual_tools.perception.segmentation:Segment`` reads frames of
calls from its input and writes frames of replies to its output. It is ready once each tool has answered its first
golden call, so what a tool imports and loads is loaded by then: a deadline is for work. When the pool's process ends,
however it does, so does this one.
"""

from __future__ import annotations

import io
import os
import queue
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from PIL import Image

from turn_sandbox.images import NamedImage, upright_rgb
from visual_tools.serve.wire import Recent, packed, read_frame
from visual_tools.tool import Pictures, PureTool, load_tool, run


class Calls:
    """Calls that have arrived, frame by frame; read by a thread of its own, which sees the end even during a call."""

    def __init__(self, source: BinaryIO) -> None:
        self._source, self._queue = source, queue.Queue[tuple[dict[str, Any], bytes]]()
        threading.Thread(target=self._read, daemon=True, name="calls").start()

    def _read(self) -> None:
        while (frame := read_frame(self._source)) is not None:
            self._queue.put(frame)
        os._exit(0)  # at once: a tool that hangs would keep the process for ever

    def next(self) -> tuple[dict[str, Any], bytes]:
        """Wait for the next call."""
        return self._queue.get()


def opened(header: Mapping[str, Any], blob: bytes, recent: Recent[Image.Image]) -> Pictures:
    """The images of a call by name: those whose bytes came with it, and those that came before.

    Args:
        header: of the call's frame.
        blob: its bytes.
        recent: images that came before.
    """
    images, at = {}, 0
    for name, key, size in header["images"]:
        if size:
            recent.put(key, upright_rgb(Image.open(io.BytesIO(blob[at : at + size]))))
            at += size
        image = recent.get(key)
        if image is None:
            raise LookupError(f"image {name!r:.60} was neither sent nor kept")
        images[name] = NamedImage(name, image)
    return images


def load(places: Sequence[str], device: str) -> dict[str, PureTool]:
    """Load tools and let each answer its first golden call.

    Args:
        places: ``NAME=module:Class``, or ``NAME=module:Class!`` for the model behind it.
        device: where models run.
    """
    import jsonschema  # noqa: F401 (a second to import, of which the first call's deadline needn't know)

    tools = {}
    for place in places:
        name, _, where = place.partition("=")
        tools[name] = load_tool(where.removesuffix("!"), where.endswith("!"), device)
    for tool in tools.values():
        for golden in tool.goldens[:1]:
            shown = {"image": NamedImage("image", golden.image())} if golden.image else {}
            run(tool, golden.arguments, shown)
    return tools


def schemas(tools: Mapping[str, PureTool]) -> dict[str, Any]:
    """Describe tools, as a service does: name → description, parameters, whether it needs an image."""
    return {
        name: {"description": tool.description, "parameters": dict(tool.parameters), "needs_image": tool.needs_image}
        for name, tool in tools.items()
    }


def answered(
    tools: Mapping[str, PureTool], header: Mapping[str, Any], blob: bytes, recent: Recent[Image.Image]
) -> dict[str, str]:
    """Do one call; the header of the reply's frame.

    Args:
        tools: by name.
        header: of the call's frame.
        blob: its bytes.
        recent: images that came before.
    """
    return run(tools[header["tool"]], header["arguments"], opened(header, blob, recent))._asdict()


def main(argv: Sequence[str]) -> int:
    """Load the tools and do what is asked until the other end is gone."""
    # Whatever a tool prints belongs on the service's stderr: this pipe is for replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    device, *places = argv
    calls, recent = Calls(sys.stdin.buffer), Recent[Image.Image]()
    try:
        tools = load(places, device)
    except Exception as error:
        _send(replies, {"failed": f"{type(error).__name__}: {str(error)[:300]}"})
        return 1
    _send(replies, {"ready": schemas(tools)})
    while True:
        _send(replies, answered(tools, *calls.next(), recent))


def _send(replies: BinaryIO, header: Mapping[str, Any]) -> None:
    replies.write(packed(header))
    replies.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
