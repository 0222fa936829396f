"""Check a sandbox's input before anything starts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from turn_sandbox.limits import Limits

NAME_BYTES, PATH_BYTES = 255, 4096
"""NAME_MAX and PATH_MAX of linux/limits.h."""


def known(argument: str, noun: str, names: Iterable[str], all_names: Collection[str]) -> frozenset[str]:
    """The names as a set; a lone string is one name.

    Args:
        argument: the argument's name, for the error.
        noun: what a name stands for, for the error.
        names: the names that were given.
        all_names: the names there are.

    Raises:
        ValueError: one that isn't among ``all_names``.
    """
    found = frozenset([names] if isinstance(names, str) else names)
    if unknown := found - set(all_names):
        raise ValueError(f"{argument}: {min(unknown)!r} is no {noun}; known are {', '.join(all_names)}")
    return found


def check_code(code: object, limits: Limits) -> str:
    """Describe what is wrong with a turn's code that a model could have written: it is too long.

    Raises:
        TypeError: it is no text, which is the caller's mistake.
    """
    if not isinstance(code, str):
        raise TypeError(f"code: needs text (str), not {type(code).__name__}")
    if len(code) > limits.code_chars:
        return f"limit: {len(code)} characters of code; at most {limits.code_chars} are run"
    return ""


def check_files(files: Mapping[str, bytes], limits: Limits) -> None:
    """Raise unless every path lies inside the working directory and everything fits in it."""
    for path, content in files.items():
        parts = PurePosixPath(path).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
            raise ValueError(f"files: {path!r} is no path inside the working directory; use e.g. 'images/a.png'")
        try:
            sizes = [len(part.encode()) for part in parts]
        except UnicodeEncodeError:
            raise ValueError(f"files: {path!r} can't be encoded as UTF-8") from None
        if max(sizes) > NAME_BYTES or sum(sizes) + len(sizes) > PATH_BYTES // 2:
            raise ValueError(f"files: {path[:40]!r}… has {sum(sizes)} bytes; a name may have {NAME_BYTES}")
        if not isinstance(content, bytes | bytearray | memoryview):
            raise TypeError(f"files: {path!r} needs bytes, not {type(content).__name__}")
    names = {str(PurePosixPath(path)) for path in files}
    for path in files:
        for above in PurePosixPath(path).parents:
            if str(above) in names:
                raise ValueError(f"files: {str(above)!r} can't be a file and the folder of {path!r}")
    size = sum(map(len, files.values()))
    if size > limits.disk_mb << 20 or any(len(content) > limits.file_mb << 20 for content in files.values()):
        allowed = f"limits.disk_mb={limits.disk_mb} for all, limits.file_mb={limits.file_mb} for one"
        raise ValueError(f"files: {size} bytes in all, over {allowed}")


def check_variables(*groups: Mapping[str, object]) -> None:
    """Raise unless every name can be that of a variable."""
    for group in groups:
        for name in group:
            if not name.isidentifier():
                raise ValueError(f"variables, images: {name!r} can't be the name of a variable")
