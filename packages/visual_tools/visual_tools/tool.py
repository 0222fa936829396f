"""Tools that are functions: of one image and a few arguments, in words; nothing is held between two calls.

A tool has two halves. :meth:`PureTool.look` is the algorithm: of an image it makes something to ask about, such as a
table, boxes or lines of text. :meth:`PureTool.answer` picks from that what the arguments ask for, and says it in few
words. A served model takes the place of the first half alone, so that what an agent calls and reads is the same with
and without it::

    class LongerSide(PureTool):
        '''Says which side of an image is longer.'''

        name, family = "sides.longer", "perception"
        algorithm = "Width and height compared."
        goldens = (Golden({}, "width", lambda: Image.new("RGB", (8, 4))),)

        def look(self, image, arguments):
            return image.size

        def answer(self, seen, arguments):
            return "width" if seen[0] > seen[1] else "height"

Since nothing is held, one tool may serve any number of episodes at once, and none can see another's image.
:func:`run` calls one as a service does: whatever is wrong is told.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from PIL import Image

from turn_sandbox.images import rgb
from visual_tools.arguments import LONGEST, wrong

Family = Literal["perception", "charts", "diagrams", "solvers"]
"""What a tool is about."""

Arguments = Mapping[str, Any]
"""A call's arguments, which fit the schema; ``image`` is left out."""

Look = Callable[[Any, Arguments], Any]
"""Makes of an RGB image something to ask about (of None, for a tool that needs none): an algorithm, or a model."""

MOST_PIXELS = 50_000_000
"""Pixels of the largest image that a tool opens; a page scanned at 600 dots an inch has 35 million."""

NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Golden:
    """A call whose reply was worked out by hand.

    Attributes:
        arguments: of the call.
        says: the reply, word for word.
        image: draws the image; None: the tool needs none.
    """

    arguments: Arguments
    says: str
    image: Callable[[], Image.Image] | None = None


@dataclass(frozen=True)
class Served:
    """A model that can look in an algorithm's place.

    Attributes:
        id: ``owner/name`` on the hub.
        licence: of its weights, as its card states it.
        loader: place of what loads it, ``module:function``, a function of id, revision and device.
        revision: a commit or a branch.
    """

    id: str
    licence: str
    loader: str
    revision: str = "main"

    def load(self, device: str = "cpu") -> Look:
        """Load the model; its weights are downloaded if they aren't there.

        Raises:
            OSError: they can't be had.
        """
        module, _, function = self.loader.partition(":")
        look: Look = getattr(import_module(module), function)(self.id, self.revision, device)
        return look


class Reply(NamedTuple):
    """A tool's words, and how the call ended: ``ok``, ``error``; of a service, ``timeout``, ``died``, ``unserved``."""

    text: str
    status: str = "ok"


class Picture(Protocol):
    """An image under a name, such as :class:`turn_sandbox.images.NamedImage`."""

    @property
    def name(self) -> str: ...

    @property
    def image(self) -> Image.Image: ...

    @property
    def sha256(self) -> str: ...


Pictures = Mapping[str, Picture]
"""Images that a call may look at, by name."""


class PureTool(ABC):
    """A tool that is a function; its docstring's first line says in a prompt what it does.

    Args:
        look: what looks in the place of the tool's own algorithm, such as a served model.

    Attributes:
        name: in calls.
        family: what it is about.
        algorithm: one sentence on what really answers, and which other tools share it.
        properties: JSON schemas of its arguments by name; ``image`` and ``task`` are added.
        required: names of those that a call must have.
        needs_image: whether it looks at an image; one that reads text alone is called without.
        goldens: calls worked out by hand.
        served: the model that the paper has under this name, if one can be had.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    algorithm: ClassVar[str]
    properties: ClassVar[Mapping[str, Any]] = NONE
    required: ClassVar[tuple[str, ...]] = ()
    needs_image: ClassVar[bool] = True
    goldens: ClassVar[tuple[Golden, ...]] = ()
    served: ClassVar[Served | None] = None
    on_error: Literal["tell", "raise"] = "tell"

    def __init__(self, look: Look | None = None) -> None:
        self._look: Look = look or self.look

    @classmethod
    def of_model(cls, device: str = "cpu") -> PureTool:
        """Make the tool with its served model.

        Raises:
            ValueError: it has none.
            OSError: the weights can't be had.
        """
        if cls.served is None:
            raise ValueError(f"tool {cls.name}: no model is served under this name; make it without")
        return cls(cls.served.load(device))

    @abstractmethod
    def look(self, image: Any, arguments: Arguments) -> Any:
        """Make of an RGB image something to ask about; of the arguments alone, if the tool needs no image.

        Raises:
            ValueError: nothing can be made of it; the message names what, and the way out.
        """

    @abstractmethod
    def answer(self, seen: Any, arguments: Arguments) -> str:
        """Say in few words what the arguments ask for.

        Raises:
            ValueError: there is no such thing in what was seen; the message names what there is.
        """

    @property
    def description(self) -> str:
        """The docstring's first line."""
        return (inspect.getdoc(type(self)) or "").partition("\n")[0]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of the arguments; whatever isn't in it is refused by name."""
        image = {"image": {"type": "string"}} if self.needs_image else {}
        return {
            "type": "object",
            "properties": {"task": {"type": "string"}, **image, **self.properties},
            "required": list(self.required),
            "additionalProperties": False,
        }

    def call(self, arguments: Arguments, images: Pictures) -> Reply:
        """Look at the image of that name, or at the episode's first, and answer."""
        asked = {name: value for name, value in arguments.items() if name != "image"}
        image = rgb(self.pick(arguments.get("image"), images).image) if self.needs_image else None
        said = self.answer(self._look(image, asked), asked)
        if not isinstance(said, str):
            raise TypeError(f"{self.name} returned {type(said).__name__} {said!r:.60}, which isn't text")
        return Reply(said)

    def looks_at(self, arguments: Arguments, images: Pictures) -> Pictures:
        """Pick the image that a call looks at, the only one that a copy of the tool need be sent.

        Args:
            arguments: of the call.
            images: those that there are, by name.

        Raises:
            ValueError: there is no such image, or it is larger than a tool opens.
        """
        one = self.pick(arguments.get("image"), images) if self.needs_image else None
        return {one.name: one} if one else {}

    def close(self) -> None:  # noqa: B027 (nothing to override)
        """Nothing is held."""

    def pick(self, name: str | None, images: Pictures) -> Picture:
        """The image of a name; of none, the first.

        Raises:
            ValueError: there is no such image, or it is larger than a tool opens.
        """
        if name is None:
            name = next(iter(images), "")
        if name not in images:
            there = f"there are {', '.join(images)}" if images else "there is none"
            raise ValueError(f"{self.name}: no image {name!r:.60}; {there}")
        image = images[name].image
        if image.width * image.height > MOST_PIXELS:
            raise ValueError(
                f"{self.name}: image {name!r:.60} has {image.width} x {image.height} pixels; "
                f"a tool opens {MOST_PIXELS:,} at most"
            )
        return images[name]


def run(tool: PureTool, arguments: Arguments, images: Pictures) -> Reply:
    """Call a tool; arguments that don't fit its schema, and its own exceptions, are told.

    Args:
        tool: what is called.
        arguments: of the call.
        images: those that there are, by name.

    Raises:
        Exception: the tool's own, if its ``on_error`` says so.
    """
    if why := wrong(tool.parameters, arguments):
        return Reply(f"Error: {tool.name}: {why}", "error")
    try:
        return tool.call(arguments, images)
    except Exception as error:
        if tool.on_error == "raise":
            raise
        return Reply(f"Error: {str(error)[:LONGEST] or type(error).__name__}", "error")


def load_tool(place: str, served: bool = False, device: str = "cpu") -> PureTool:
    """Make the tool whose class stands at ``module:Class``.

    Args:
        place: of the class.
        served: with the model behind it, instead of the tool's own algorithm.
        device: where the model runs.

    Raises:
        ValueError: there is no such tool, or no model behind it.
    """
    module, _, name = place.partition(":")
    try:
        made = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"tool {place!r}: no such class ({error}); name it module:Class") from error
    if not (isinstance(made, type) and issubclass(made, PureTool)):
        raise ValueError(f"tool {place!r}: {made!r} is no class of tools; derive it from visual_tools.tool.PureTool")
    return made.of_model(device) if served else made()
