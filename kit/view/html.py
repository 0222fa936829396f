"""HTML for notebooks: escaped templates, one stylesheet for light and dark themes, images within a byte budget.

Output stands alone (no script, no network) and is read in three ways: whole; without its stylesheet, but with inline
styles (JupyterLab, in a notebook that is not trusted); and as bare tags (GitHub's preview). Tokens are ``<u>``
(policy, in an ``<ins>``, which GitHub keeps) and ``<i>`` (environment, prompt): they always differ by more than colour.
The templates are in ``kit/view/templates``; every value they print is escaped (:func:`clean`).
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from PIL import Image

from kit.episode import NamedImage
from kit.files import write_text
from kit.images import rgb

SIDE = 200
"""Longest side of a displayed image, in pixels."""

IMAGE_BYTES = 26_000
"""Byte budget of one view's encoded images; beyond it they get smaller, then coarser."""

_LADDER = ((SIDE, 85), (SIDE, 70), (160, 70), (128, 65), (96, 60), (64, 50))
"""(Longest side, JPEG quality), tried in this order until all images of a view fit."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _printable(value: Any) -> Any:
    """Control characters and lone surrogates of a string made visible; anything else unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    text = value.encode("utf-8", "replace").decode()
    return _CONTROL.sub(lambda found: "␡" if found[0] == "\x7f" else chr(0x2400 + ord(found[0])), text)


def clean(text: str) -> str:
    """``text`` as harmless HTML: markup escaped, control characters and lone surrogates made visible."""
    return str(escape(_printable(text)))


def signed(value: float) -> str:
    """A number with its sign and two decimals, as in ``−0.50``."""
    return f"{value:+.2f}".replace("-", "−")


def lines(text: str) -> Markup:
    """``text`` escaped, its line breaks as ``<br>``: they last where a sanitizer drops ``white-space``."""
    return Markup(clean(text).replace("\n", "<br>"))


@cache
def _templates() -> Environment:
    folder = FileSystemLoader(Path(__file__).parent / "templates")
    found = Environment(
        loader=folder,
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["signed"] = signed
    found.filters["lines"] = lines
    return found


def render(template: str, **values: Any) -> str:
    """Fill a template of ``kit/view/templates``; every value is escaped.

    Args:
        template: file name.
        values: the template's variables, all of them.

    Raises:
        jinja2.UndefinedError: a variable of the template is missing.
    """
    return _templates().get_template(template).render(**values)


class Html:
    """HTML that shows itself in a notebook and can be saved as a page."""

    def __init__(self, body: str, title: str) -> None:
        self.body = body
        self.title = title

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def _repr_html_(self) -> str:
        return f'<style>{render("style.css")}</style><div class="kv">{self.body}</div>'

    def save(self, path: str | Path, refresh: int = 0) -> Path:
        """Write a page that stands alone and follows the reader's light or dark setting.

        Args:
            path: of the page.
            refresh: seconds after which a browser reads it again; 0: never.

        Raises:
            OSError: the page can't be written.
        """
        content = Markup(self._repr_html_())
        write_text(Path(path), render("page.html", title=self.title, refresh=refresh, content=content) + "\n")
        return Path(path)


@dataclass(frozen=True)
class Figure:
    """An image ready for a template.

    Attributes:
        name: the image's name.
        url: data URL of the image, scaled down to fit.
        width: displayed width in pixels.
        height: displayed height in pixels.
        size: true size as text.
    """

    name: str
    url: str
    width: int
    height: int
    size: str


def _encode(image: Image.Image, side: int, quality: int) -> str:
    """A data URL of ``image`` no larger than ``side``: PNG or JPEG, whichever is shorter."""
    small = rgb(image)
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    found = {}
    for kind, options in (("png", {}), ("jpeg", {"quality": quality})):
        buffer = io.BytesIO()
        small.save(buffer, kind, optimize=True, **options)
        found[kind] = buffer.getvalue()
    best = min(found, key=lambda kind: len(found[kind]))
    return f"data:image/{best};base64,{base64.b64encode(found[best]).decode()}"


def figures(images: Sequence[NamedImage], budget: int = IMAGE_BYTES) -> list[Figure]:
    """Encode images, all of them together within ``budget`` bytes if the smallest size allows it."""
    encoded: list[str] = []
    for side, quality in _LADDER:
        encoded = [_encode(each.image, side, quality) for each in images]
        if sum(map(len, encoded)) <= budget:
            break
    found = []
    for each, url in zip(images, encoded, strict=True):
        width, height = each.image.size
        # As large as it is, up to SIDE; images of toy tasks, which have 56 pixels, a little larger.
        scale = min(max(1.0, 72 / width), SIDE / width, SIDE / height)
        found.append(Figure(each.name, url, round(width * scale), round(height * scale), f"{width} × {height}"))
    return found
