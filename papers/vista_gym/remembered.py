"""Tools that remember: the same call about the same image is worked out once, however many rollouts make it.

The rollouts of a group ask alike, and so do two evaluations of one test set, while reading a page takes most of a
second. What a tool says is the same with and without its memory, so this changes how long a training takes, not what
it learns. Only for tools that are functions (:mod:`visual_tools.tool`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any, Literal

from kit.episode import Observation
from kit.tools.base import Images, called
from visual_tools.tool import PureTool

MOST = 4096
"""Replies that one tool keeps; the oldest is forgotten first."""


class Remembered:
    """A tool that keeps its replies, the refusals among them; those who ask for what is being worked out wait for it.

    Args:
        tool: what is asked, once for each call and image.
        most: replies that are kept.

    Attributes:
        worked: how many calls the tool itself was asked.
    """

    def __init__(self, tool: PureTool, most: int = MOST) -> None:
        self.tool, self.most, self.worked = tool, most, 0
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], Future[Observation | str]] = {}  # a text is a refusal

    @property
    def name(self) -> str:
        """The tool's own."""
        return self.tool.name

    @property
    def description(self) -> str:
        """The tool's own."""
        return self.tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The tool's own."""
        return self.tool.parameters

    @property
    def on_error(self) -> Literal["tell", "raise"]:
        """The tool's own."""
        return self.tool.on_error

    @property
    def needs_image(self) -> bool:
        """The tool's own."""
        return self.tool.needs_image

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Give the reply to this call about this image, whatever the image's name is.

        Raises:
            ValueError: the tool's own, each time.
        """
        return self._call(None, arguments, images)

    def call_within(self, deadline: float, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Give the reply to a call that is ended at the deadline; that there was no answer isn't remembered.

        Args:
            deadline: seconds of work.
            arguments: fit the schema.
            images: the episode's images so far, by name.

        Raises:
            ValueError: the tool's own, each time.
        """
        return self._call(deadline, arguments, images)

    def _call(self, deadline: float | None, arguments: Mapping[str, Any], images: Images) -> Observation:
        asked = {name: value for name, value in arguments.items() if name != "image"}
        image = self.tool.pick(arguments.get("image"), images).sha256 if self.needs_image else ""
        key = json.dumps(asked, sort_keys=True), image
        with self._lock:
            reply = self._kept.get(key)
            if mine := reply is None:
                reply = self._kept[key] = Future()
                self.worked += 1
                if len(self._kept) > self.most:
                    del self._kept[next(iter(self._kept))]
        assert reply is not None
        if mine:
            try:
                seen = called(self.tool, arguments, images, deadline)
                if seen.status in ("timeout", "died"):  # by chance: another time there may be an answer
                    self._forget(key)
                reply.set_result(seen)
            except ValueError as error:  # its text alone: the error itself would keep all images of the call
                reply.set_result(str(error))
            except BaseException as error:  # an interrupt or a full memory is no reply
                self._forget(key)
                reply.set_exception(error)
        said = reply.result()
        if isinstance(said, str):
            raise ValueError(said)
        return said

    def _forget(self, key: tuple[str, str]) -> None:
        with self._lock:
            self._kept.pop(key, None)

    def close(self) -> None:
        """Close the tool; replies stay."""
        self.tool.close()


def remembered(tools: Iterable[PureTool]) -> list[Remembered]:
    """Let each of the tools remember."""
    return [Remembered(tool) for tool in tools]
