"""Images and texts out of a data set's cells, in whatever form it stores them; and the count of unusable rows.

==============================================  ==================================================================
a cell holds                                    how it is read
==============================================  ==================================================================
an image (PIL)                                  as it is
bytes                                           an image file
``{"bytes": …, "path": …}``                     its bytes; where there are none, the file at its path
a text with ``data:`` before it, or base64      an image file; URL-safe signs and line breaks are read as well
any other text, a path                          the file of that name
an array, or lists of numbers                   ``(H, W)``, ``(H, W, C)`` or ``(C, H, W)`` with 1, 3 or 4 channels
a list of all these                             several images; places that are null are none
==============================================  ==================================================================

Levels of an array are 0 to 255; deep ones (``uint16``, ``int32``, ``float32``) are read as :func:`kit.images.rgb` reads
them, and fractions from 0 to 1 as shares of 255.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from math import isinf, isnan
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
from PIL import Image

from kit.images import upright_rgb
from kit.models import unreadable

Fetch = Callable[[str], bytes]
"""From a path in a cell to what the file holds; a :class:`CellError` if there is none."""

CHANNELS = (1, 3, 4)
SHOWN = 5
"""Rows that one message names; the others are counted."""

LONGEST_NAME = 1024
"""Characters of a file's name in a cell, at most."""

UNREADABLE = "a picture cannot be read"

_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]+")


class CellError(ValueError):
    """A cell holds something else than an image that can be read; the message says what."""


def parts(cell: Any) -> list[Any]:
    """Split a cell into one part for each image; none for a null."""
    if cell is None or (isinstance(cell, Mapping) and cell and not any(v is not None for v in cell.values())):
        return []
    if (array := _array(cell)) is not None:
        if array.ndim == 1 and array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= 255:
            return [array.astype(np.uint8).tobytes()]  # a file's bytes, as JSON tells them
        several = array.ndim > 3 or (array.ndim == 3 and not _has_channels(array))
        return [part for item in array for part in parts(item)] if several else [array]
    if isinstance(cell, list | tuple | np.ndarray):
        return [part for item in cell for part in parts(item)]
    return [cell]


def image_of(part: Any, fetch: Fetch) -> Image.Image:
    """Read one image, upright and in RGB.

    Args:
        part: what :func:`parts` made of a cell.
        fetch: opens the file that it names, if it names one.

    Raises:
        CellError: it holds no image, or one that is broken or cut off.
    """
    if isinstance(part, Image.Image):
        return _loaded(lambda: part)
    if isinstance(part, Mapping):
        held, path = parts(part.get("bytes")), part.get("path")
        if path and (not held or (isinstance(held[0], bytes | str) and not held[0])):
            return image_of(path, fetch)
        if len(held) != 1:
            raise CellError(f"an object with {', '.join(map(repr, part)) or 'nothing'}, neither bytes nor path")
        return image_of(held[0], fetch)
    if isinstance(part, bytes | bytearray | memoryview):
        return _file(bytes(part))
    if isinstance(part, os.PathLike):
        return _file(fetch(os.fspath(part)))
    if isinstance(part, str):
        return _file(_bytes_of(part, fetch))
    if (array := _array(part)) is None or array.ndim not in (2, 3):
        raise CellError(f"{type(part).__name__} {part!r:.40}, which is no image")
    return _of_array(array)


def readable(image: Image.Image, given: tuple[int, int]) -> Image.Image:
    """Return an image as it is, if every family of the kit reads its size.

    Args:
        image: the image as it is going to be shown.
        given: the size in pixels that it had before it was shrunk, for the message.

    Raises:
        CellError: one of them can't.
    """
    if why := unreadable(image.size):
        shrunk = "" if image.size == given else f"shrunk from {given[0]} x {given[1]} pixels, "
        raise CellError(f"an image that a model can't be shown: {shrunk}{why}")
    return image


def _file(data: bytes) -> Image.Image:
    return _loaded(lambda: Image.open(io.BytesIO(data)))


def _loaded(open_it: Callable[[], Image.Image]) -> Image.Image:
    try:
        return upright_rgb(open_it())
    except Exception as error:  # PIL's readers raise whatever a broken file leads them to
        why = f"{type(error).__name__}: {str(error)[:120]}"
        raise CellError(f"{UNREADABLE} ({why})") from error


def _bytes_of(text: str, fetch: Fetch) -> bytes:
    """The image file that a text stands for: base64, or the file's name."""
    head, comma, rest = text.strip().partition(",")
    if head[:5].lower() == "data:" and comma:
        data = unquote_to_bytes(rest)
        return _decoded(data.decode("latin-1")) if head.lower().endswith(";base64") else data
    if not _BASE64.fullmatch(text):
        if len(text) > LONGEST_NAME:
            raise CellError(f"text that is neither base64 nor a file's name: {text!r:.40}")
        return fetch(text)
    if len(text) > LONGEST_NAME:
        return _decoded(text)
    try:
        return fetch(text)
    except CellError:
        return _decoded(text)


def _decoded(text: str) -> bytes:
    signs = re.sub(r"[\s=]", "", text).translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(signs + "=" * (-len(signs) % 4), validate=True)
    except ValueError as error:
        raise CellError(f"text that isn't base64 ({error}): {text!r:.40}") from None


def _array(value: Any) -> np.ndarray | None:
    """Numbers, or lists of them, as an array; None for anything else."""
    first = value
    while isinstance(first, list | tuple) and len(first):
        first = first[0]
    if not isinstance(first, bool | int | float | np.generic | np.ndarray) and not hasattr(first, "__dlpack__"):
        return None
    try:
        found = np.asarray(value)
    except (ValueError, TypeError):  # lists of different lengths
        return None
    return found if found.ndim and found.size and found.dtype.kind in "buif" else None


def _has_channels(array: np.ndarray) -> bool:
    return array.shape[-1] in CHANNELS or array.shape[0] in CHANNELS


def _of_array(array: np.ndarray) -> Image.Image:
    """An image of levels, ``(H, W)``, ``(H, W, C)`` or ``(C, H, W)``."""
    if array.ndim == 3:
        array = array if array.shape[-1] in CHANNELS else np.moveaxis(array, 0, -1)
        array = array[..., 0] if array.shape[-1] == 1 else array
    whole, least, most = array.dtype.kind != "f", array.min(), array.max()
    if array.dtype.kind == "b" or (not whole and least >= 0 and most <= 1):
        array = array * 255.0
    elif array.dtype == np.uint16 or (whole and least >= 0 and 255 < most <= 65535):
        array = array / 257.0
    elif not (least >= 0 and most <= 255):
        if array.ndim == 3 or not np.isfinite(array).any():
            raise CellError(f"an array with levels from {least} to {most}; give 0 to 255, or shares from 0 to 1")
        return _loaded(lambda: Image.fromarray(array.astype(np.float32)))
    return _loaded(lambda: Image.fromarray(np.floor(array + 0.5).astype(np.uint8)))


def text_of(cell: Any) -> str | None:
    """Read a cell as one text, a number as it is written; None for a null, a NaN and an empty text.

    A time at midnight is a date: ``datasets`` takes a column of texts such as ``2010-01-02`` for times.

    Raises:
        CellError: it holds an object, a list, bytes or an endless number.
    """
    value = cell.item() if isinstance(cell, np.generic) else cell
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if not isinstance(value, str | int | float | Decimal | date) or (isinstance(value, float) and isinf(value)):
        raise CellError(f"{type(value).__name__} {value!r:.60} where a text is expected")
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return str(value).strip() or None


def texts(cell: Any) -> tuple[str, ...]:
    """Read a cell as different, non-empty texts: one text is one, not its letters.

    Of an object with ``answer``, as VQAv2 has ten to a question, that is read; so is one that is told as JSON.

    Raises:
        CellError: it holds other objects, lists in a list, bytes or endless numbers.
    """
    found: list[str | None] = []
    for one in cell if isinstance(cell, list | tuple | np.ndarray) else [cell]:
        told = object_in(one)
        if told is not None and "answer" in told:
            found += texts(told["answer"])
        else:
            found.append(text_of(one if told is None else told))
    return tuple(dict.fromkeys(text for text in found if text is not None))


def object_in(cell: Any) -> Mapping[str, Any] | None:
    """Read an object that a cell is, or tells as JSON; else None."""
    if isinstance(cell, str) and cell.lstrip().startswith("{"):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    return cell if isinstance(cell, Mapping) else None


class LeftOut:
    """Counts a data set's rows, from 0 as the hub's viewer does, and names those that can't be used.

    Args:
        what: the data set, for messages.
    """

    def __init__(self, what: str) -> None:
        self.what, self.rows, self.used = what, 0, 0
        self.reasons: dict[int, str] = {}

    def row(self) -> int:
        """Begin the next row; its number."""
        self.rows += 1
        return self.rows - 1

    def add(self, why: object) -> None:
        """Leave out the newest row, or one of its images."""
        said = str(why).replace(UNREADABLE, f"{UNREADABLE} and is left out", 1)
        self.reasons.setdefault(self.rows - 1, said)

    def tell(self) -> None:
        """Warn, once, if any row was left out."""
        if self.reasons:
            warnings.warn(f"{self.what}: {self._named()}", stacklevel=3)

    def nothing(self) -> str:
        """Say that none of the rows could be used, and why."""
        return f"{self.what}: {self._named() or 'nothing to use'}; none of its {self.rows} rows can be used"

    def _named(self) -> str:
        some = [f"{why} (row {row})" for row, why in list(self.reasons.items())[:SHOWN]]
        count = [f"{len(self.reasons)} of {self.rows} rows are left out"] if self.reasons else []
        return "; ".join([*some, *count])
