"""Notice which images code shows, saves and edits: PIL's own ways to do so are watched, files are looked for.

A turn may ``show(image)``, ``display(image)``, ``image.show()``, ``image.save(path)``, write an image file with any
other package (``cv2.imwrite``), or draw on an image it already had (``ImageDraw.Draw(image)``).
"""

from __future__ import annotations

import functools
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import islice
from typing import Any

from PIL import Image, ImageDraw

from turn_sandbox.convert import image_of, is_figure, looks_like_image
from turn_sandbox.figures import Figures
from turn_sandbox.limits import Limits

# Kept before any code of a turn runs: it may patch these names.
_Image, _copy, _tobytes = Image.Image, Image.Image.copy, Image.Image.tobytes
_save, _load = Image.Image.save, Image.Image.load
_scandir, _stat, _abspath, _crc32, _getframe = os.scandir, os.stat, os.path.abspath, zlib.crc32, sys._getframe

EDITS = (
    *("paste", "putpixel", "putdata", "putalpha", "putpalette", "alpha_composite", "thumbnail"),
    *("apply_transparency", "frombytes"),
)
"""Methods that change their image."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
"""Files taken for images."""

MOST_FILES = 1000
"""Entries of the working directory that are looked at, folders within it included."""

Stamp = tuple[int, int, int]


def public(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Names that don't start with an underscore, and their values."""
    return {name: value for name, value in list(namespace.items()) if isinstance(name, str) and name[:1] != "_"}


def images_of(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Public names bound to images."""
    return {name: value for name, value in public(namespace).items() if isinstance(value, _Image)}


class Shown:
    """Images that a turn shows or saves, as copies and in order, and those that it edits.

    Attributes:
        limits: the episode's, once there is one.
        folder: its working directory, likewise.
        had: public names bound to images when the turn began.
        others: identities of all values that public names were bound to.
        figures: matplotlib's.
    """

    limits: Limits
    folder: str = ""

    def __init__(self) -> None:
        self.figures = Figures(self)
        self.begin({})

    def begin(self, namespace: Mapping[str, Any]) -> None:
        """Forget what the last turn showed, and note what this one finds: names, images it may edit, files."""
        self.items: list[tuple[str | None, Any, Any]] = []
        self.extra = 0
        self.figures.begin()
        self.had = images_of(namespace)
        self.others = {name: id(value) for name, value in public(namespace).items()}
        self._had = {id(image) for image in self.had.values()}
        self._edits: dict[int, object] = {}
        self._files = _image_files(self.folder) if self.folder else {}

    def end(self) -> None:
        """Let go of the turn's images: the process stays for later turns."""
        self.items, self.had, self._edits = [], {}, {}
        self.figures.begin()

    def show(self, image: Any, name: str | None = None) -> None:
        """Return ``image`` (PIL's, an array, a figure) with this turn's result, as it is now.

        Raises:
            TypeError: it is no image.
            ValueError: an array with levels that are no image's.
        """
        try:
            found = image_of(image)
        except (TypeError, ValueError) as error:
            raise type(error)(f"show: {error}") from None
        if len(self.items) < self.limits.images:
            self.items.append((None if name is None else str(name), image, _copy(found)))
        else:
            self.extra += 1

    def display(self, *values: Any, **_: Any) -> None:
        """Show what is an image, print what isn't: as in a notebook."""
        for value in values:
            if isinstance(value, _Image) or is_figure(value) or looks_like_image(value):
                self.show(value)
            else:
                print(value)

    def watch(self) -> None:
        """Have PIL's own ways to show, save and edit an image remembered too, for good."""

        def show_image(image: Image.Image, title: str | None = None, **_: Any) -> None:
            self.show(image, title)

        def save_image(image: Image.Image, fp: Any, format: str | None = None, **params: Any) -> None:
            _save(image, fp, format, **params)
            if isinstance(fp, str | bytes | os.PathLike):
                path = _abspath(os.fsdecode(fp))
                self._files[path] = _stamp(_stat(path))
                self.show(image, os.path.basename(path))

        def load_image(image: Image.Image) -> Any:
            if id(image) in self._had:
                caller = _getframe(1)
                if caller.f_code.co_name == "load" and caller.f_back is not None:  # that of a file's class
                    caller = caller.f_back
                if caller.f_code.co_filename.startswith("<turn"):
                    self._editing(image)  # code takes hold of its pixels: load()[x, y] = ...
            return _load(image)

        for name in EDITS:
            setattr(_Image, name, self._watched(getattr(_Image, name)))
        ImageDraw.floodfill = self._watched(ImageDraw.floodfill)
        ImageDraw.ImageDraw.__init__ = self._watched(ImageDraw.ImageDraw.__init__, 1)  # type: ignore
        _Image.show, _Image.save, _Image.load = show_image, save_image, load_image  # type: ignore
        sys.meta_path.insert(0, OtherWays(self))

    def _watched(self, edit: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
        """A function that first notes what it edits, its argument in that place."""

        @functools.wraps(edit)
        def watched(*given: Any, **named: Any) -> Any:
            if len(given) > place and id(given[place]) in self._had:
                self._editing(given[place])
            return edit(*given, **named)

        return watched

    def _editing(self, image: Any) -> None:
        """Note how an image looks before it is edited for the first time."""
        if id(image) not in self._edits:
            self._edits[id(image)] = _looks(image)

    def edited(self, image: Any) -> bool:
        """Check whether this turn changed an image that it had."""
        return id(image) in self._edits and self._edits[id(image)] != _looks(image)

    def written(self) -> list[str]:
        """Paths of image files that are new, or not as they were found or as PIL's own ``save`` left them.

        One that only has another name now, as after ``os.replace``, isn't new.
        """
        found = _image_files(self.folder) if self.folder else {}
        return [path for path in found if found[path] not in self._files.values()]


class OtherWays(MetaPathFinder):
    """Has other packages' ways to show an image on a screen, which isn't there, call the sandbox's.

    IPython's ``display`` would print an image's address, OpenCV's windows raise, and pyplot's ``show`` do nothing.

    Args:
        shown: the sandbox's.
    """

    def __init__(self, shown: Shown) -> None:
        def imshow(title: str, array: Any) -> None:
            shown.show(array[..., ::-1] if getattr(array, "ndim", 0) == 3 and array.shape[2] == 3 else array, title)

        windows = ("namedWindow", "destroyWindow", "destroyAllWindows")
        opencv = {"imshow": imshow, "waitKey": lambda *_: -1, **dict.fromkeys(windows, lambda *_: None)}
        self._changes: dict[str, Callable[[Any], None]] = {
            "IPython.display": lambda module: vars(module).update(display=shown.display),
            "cv2": lambda module: vars(module).update(opencv),
            "matplotlib.figure": shown.figures.change_figure,
            "matplotlib.pyplot": shown.figures.change_pyplot,
        }
        for name in self._changes.keys() & sys.modules.keys():
            self._changes[name](sys.modules[name])

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Find one of these packages, to be changed once it is imported; None for all others."""
        spec = PathFinder.find_spec(fullname, path) if fullname in self._changes else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_change(module: Any) -> None:
            execute(module)
            self._changes[fullname](module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def _looks(image: Any) -> object:
    """Something that changes with what an image shows; an object of its own if that can't be had."""
    try:
        palette = image.palette and bytes(image.palette.palette or b"")
        return image.mode, image.size, palette, _crc32(_tobytes(image))
    except Exception:  # its file is gone, or there is no memory for it
        return object()


def _stamp(seen: os.stat_result) -> Stamp:
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _image_files(folder: str) -> dict[str, Stamp]:
    """Image files below a folder, in the order they were written, with what changes when one is written again."""
    found: dict[str, Stamp] = {}
    folders, left = [folder], MOST_FILES
    while folders and left > 0:
        try:
            with _scandir(folders.pop()) as entries:
                for entry in islice(entries, left):
                    left -= 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.lower().endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                        found[entry.path] = _stamp(entry.stat(follow_symlinks=False))
        except OSError:  # a folder that code made unreadable, or that is gone
            continue
    return dict(sorted(found.items(), key=lambda item: item[1][0]))
