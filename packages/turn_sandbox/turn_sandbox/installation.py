"""Keep from an agent what isn't its own: where on this machine Python lies, and what packages do unasked.

A library may leave a thread running, or start a program to count cores. That is told to nobody: only what the turn's
own code starts, by itself or through the standard library, is its doing (:func:`by_the_turn`). Libraries' warnings and
tracebacks name files by their paths on the host; what is told of a turn has none (:func:`without_paths`).
"""

from __future__ import annotations

import os
import sys
import sysconfig

from turn_sandbox.clean import HOME

_getframe = sys._getframe
_places = sysconfig.get_paths()
_STANDARD = (_places["stdlib"] + os.sep, _places["platstdlib"] + os.sep, "<frozen ")
_PACKAGES = tuple(
    path + os.sep for path in (_places["purelib"], _places["platlib"], os.path.join(HOME, "turn_sandbox"))
)

_ANYWHERE = frozenset(("/", "/usr", "/usr/local", ""))
"""Where a system's own Python lies and much else, too."""


def _folders() -> list[tuple[str, str]]:
    """Folders of this installation with the word for each, the longest first: one may lie in another."""
    names = dict.fromkeys((*_places.values(), sys.prefix, sys.base_prefix, sys.exec_prefix), "<python>")
    names |= {path: "<python>" for path in sys.path if os.path.isabs(path) and path != HOME}
    names.setdefault(HOME, "<sandbox>")
    names |= {os.path.realpath(path): word for path, word in names.items()}
    return sorted(((path, names[path]) for path in names.keys() - _ANYWHERE), key=lambda item: -len(item[0]))


_FOLDERS = _folders()


def without_paths(text: str) -> str:
    """Write ``<python>`` and ``<sandbox>`` for the folders of this installation.

    A file of a package reads ``<python>/numpy/__init__.py``.
    """
    for path, word in _FOLDERS:
        text = text.replace(path, word)
    return text


def by_the_turn() -> bool:
    """Check whether what calls the caller of this, which watches it, is the turn's own code.

    Frames of the standard library are passed over: ``ThreadPoolExecutor`` starts a thread for whoever asked.
    """
    frame = _getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGES):  # they may lie in the standard library's folder
            return False
        if not file.startswith(_STANDARD):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
