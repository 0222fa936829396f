"""Tools that a service may be given in tests: quick, slow, deadly, talkative ones."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image

from visual_tools.tool import Arguments, Golden, PureTool


class Toy(PureTool):
    """Needs no image and says what it is told."""

    name, family, algorithm, needs_image = "toy.echo", "perception", "None.", False
    properties: ClassVar[Mapping[str, Any]] = {"text": {"type": "string"}, "seconds": {"type": "number"}}
    goldens = (Golden({"text": "a"}, "a"),)

    def look(self, image: None, arguments: Arguments) -> Any:
        return None

    def answer(self, seen: Any, arguments: Arguments) -> str:
        return str(arguments.get("text", ""))


class Rest(Toy):
    """Sleeps so many seconds."""

    name = "toy.rest"

    def look(self, image: None, arguments: Arguments) -> Any:
        time.sleep(arguments.get("seconds", 0.0))


class Die(Toy):
    """Kills its own process."""

    name, goldens = "toy.die", ()

    def look(self, image: None, arguments: Arguments) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Talk(Toy):
    """Prints, past Python as well."""

    name = "toy.talk"

    def look(self, image: None, arguments: Arguments) -> Any:
        print("junk on the way out", flush=True)
        os.write(1, b"\x00\x00\x00\x04more")


class Size(PureTool):
    """Says how large an image is, and its first pixel."""

    name, family, algorithm = "toy.size", "perception", "None."
    goldens = (Golden({}, "8 x 4 (255, 0, 0)", lambda: Image.new("RGB", (8, 4), "red")),)

    def look(self, image: Image.Image, arguments: Arguments) -> Any:
        return image

    def answer(self, seen: Image.Image, arguments: Arguments) -> str:
        return f"{seen.width} x {seen.height} {seen.getpixel((0, 0))}"


TOYS = (Toy, Rest, Die, Talk, Size)
OPTIONS = ("--tools", *(f"toy_tools:{toy.__name__}" for toy in TOYS))
"""Of ``python -m visual_tools serve``."""

HERE = Path(__file__).parent
"""Where a service finds them."""
