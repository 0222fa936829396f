"""Read a user's folder of images, all bad ones in one error, and split it into training, development and test images.

Images that look the same stand on one side (:mod:`kit.data.split`). A folder that is split already, as
``data_scripts/debian_photos.py`` writes it, is read by :func:`photographs`.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import cast

from kit.data.leak import look_alikes
from kit.data.source import ImageError, SourceImage, open_upright, size_of
from kit.data.split import Side, split_groups
from kit.episode import content_hash

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
SMALLEST = 64
"""Pixels on the shorter side below which an image is refused: its pieces would be a few pixels wide."""

SHOWN = 20
"""Bad images that one error names; the others are counted."""


def _hash_or_reason(path: Path, longest: int) -> tuple[str, str]:
    """The content hash of a usable image and "", or "" and the reason why it cannot be used."""
    try:
        image = open_upright(path, longest)
    except ImageError as error:
        return "", str(error).removeprefix(f"picture {path}: ")
    if min(image.size) < SMALLEST:
        width, height = size_of(path)
        shrunk = "" if (width, height) == image.size else f", {image.width}×{image.height} shrunk to {longest}"
        return "", f"{width}×{height} pixels{shrunk}; at least {SMALLEST} on the shorter side are needed"
    return content_hash(image), ""


def usable_images(root: Path, files: Sequence[Path], longest: int, skip_bad: bool) -> dict[str, Path]:
    """Decode every image of a folder in threads and list all bad ones in one error.

    Args:
        root: the folder, for the messages.
        files: the images in it.
        longest: images are read at this many pixels on the longer side at most.
        skip_bad: go on without the bad ones, with a warning that counts and names them.

    Returns:
        The first file of each content hash.

    Raises:
        ImageError: some images are missing, unreadable, truncated or too small, and ``skip_bad`` is off.
    """
    with ThreadPoolExecutor() as threads:
        results = list(threads.map(partial(_hash_or_reason, longest=longest), files))
    bad = [f"  {path.relative_to(root)}: {why}" for path, (_, why) in zip(files, results, strict=True) if why]
    if bad:
        rest = [f"  and {len(bad) - SHOWN} more"] if len(bad) > SHOWN else []
        listed = "\n".join([*bad[:SHOWN], *rest])
        found = f"--images {root}: {len(bad)} of {len(files)} images cannot be used"
        if not skip_bad:
            raise ImageError(
                f"{found}; replace or remove them, or go on without them (skip_bad, --skip-bad):\n{listed}"
            )
        warnings.warn(f"{found} and are left out:\n{listed}", stacklevel=3)
    by_hash: dict[str, Path] = {}
    for path, (digest, why) in zip(files, results, strict=True):
        if not why:
            by_hash.setdefault(digest, path)
    return by_hash


def folder_pictures(
    folder: str | os.PathLike[str],
    needed: int = 4,
    held_out: float = 0.25,
    longest: int = 1024,
    skip_bad: bool = False,
    development: float = 0.1,
) -> list[SourceImage]:
    """The user's own images on three sides, ``train``, ``development`` and ``test``, by what they show.

    The split depends on contents alone, so renaming or copying files changes nothing. Copies of one image, and
    images that look the same, always stand on one side.

    Args:
        folder: searched with its sub-folders; hidden files and other kinds of file are passed over.
        needed: how many different images there must be.
        held_out: share of the images on the test side, or from 1 on their number; at least one.
        longest: images are read at this many pixels on the longer side at most.
        skip_bad: leave out images that cannot be used, with a warning, instead of refusing the folder.
        development: share of the images on the development side, or their number; at least one.

    Raises:
        ImageError: no such folder; images that can't be read or are too small, all listed; too few images.
        kit.data.split.SplitError: too few that look different, or shares that leave nothing to train on.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ImageError(f"--images {root}: no such folder")
    if all((root / part).exists() for part in ("manifest.json", "train", "test")):  # another split would mix its sides
        raise ImageError(f"--images {root}: it is split already; give one side of it, as {root / 'train'}")
    if needed < 3 or held_out <= 0 or development <= 0:
        raise ValueError(
            f"needed={needed}, held_out={held_out}, development={development}: three sides need at least 3 pictures, "
            "and a share or a number above 0 for test and for development"
        )
    files = sorted(p for p in root.rglob("*") if not p.is_dir() and not p.name.startswith("."))
    by_hash = usable_images(root, [p for p in files if p.suffix.lower() in SUFFIXES], longest, skip_bad)
    if len(by_hash) < needed:
        others = sorted({p.suffix.lower() or p.name for p in files if p.suffix.lower() not in SUFFIXES})
        passed_over = f" (files of other kinds were passed over: {', '.join(others[:8])})" if others else ""
        raise ImageError(
            f"--images {root}: {len(by_hash)} different pictures there, {needed} needed{passed_over}; "
            f"add pictures ({', '.join(SUFFIXES)})"
        )
    hashes = sorted(by_hash)
    groups = look_alikes((h, open_upright(by_hash[h], longest)) for h in hashes)  # one image in memory at a time
    wanted = {"test": held_out, "development": development}
    sides = split_groups(groups, {side: n if n < 1 else n / len(hashes) for side, n in wanted.items()})
    return [
        SourceImage(
            str(by_hash[h].relative_to(root)),
            cast(Side, side),
            "user",
            "the user's own",
            partial(open_upright, by_hash[h], longest),
        )
        for h, side in zip(hashes, sides, strict=True)
    ]


def photographs(folder: str | os.PathLike[str], side: Side) -> list[SourceImage]:
    """The images of one side of a folder that is split already: ``folder/<side>/*.png`` and ``folder/manifest.json``.

    Args:
        folder: what ``data_scripts/debian_photos.py`` wrote.
        side: ``test`` to measure on, or ``development`` to make choices on.

    Raises:
        ImageError: there is no such folder, no manifest, no such side, or a file that its manifest doesn't list.
    """
    root = Path(folder)
    way_out = f"write it with: python data_scripts/debian_photos.py --out {root}"
    try:
        manifest = json.loads((root / "manifest.json").read_text(encoding="utf-8"))
        listed = {str(row["file"]): str(row["licence"]) for row in manifest["pictures"]}
    except FileNotFoundError:
        raise ImageError(f"photographs {root}: no such folder, or no manifest.json in it; {way_out}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ImageError(f"photographs {root}: manifest.json cannot be read ({error!r}); {way_out}") from error
    files = {path.relative_to(root).as_posix(): path for path in sorted((root / side).glob("*.png"))}
    expected = {name for name in listed if name.startswith(f"{side}/")}
    if not files or files.keys() != expected:
        raise ImageError(
            f"photographs {root}: {len(files)} pictures in {side}/, {len(expected)} in its manifest.json; {way_out}"
        )
    return [
        SourceImage(path.stem, side, "colour", listed[name], partial(open_upright, path))
        for name, path in files.items()
    ]
