"""Read a user's folder of images: all bad ones in one error, the good ones split into training and held-out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from kit.data.photos import ImageError, SourceImage, open_upright
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
        return "", f"{image.width}×{image.height} pixels; at least {SMALLEST} on the shorter side are needed"
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
) -> list[SourceImage]:
    """The user's own images, split by image: those with the smallest content hashes are held out.

    The split depends on contents alone, so renaming or copying files changes nothing, and two
    copies of one image always stand on the same side.

    Args:
        folder: searched with its sub-folders; hidden files and other kinds of file are passed over.
        needed: how many different images there must be.
        held_out: share of the images held out, at least one.
        longest: images are read at this many pixels on the longer side at most.
        skip_bad: leave out images that cannot be used, with a warning, instead of refusing the folder.

    Raises:
        ImageError: no such folder; images that can't be read or are too small, all listed; too few images.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ImageError(f"--images {root}: no such folder")
    if needed < 2 or not 0 < held_out < 1:
        raise ValueError(f"needed={needed}, held_out={held_out}: need at least 2 pictures and a share between 0 and 1")
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
    cut = min(max(1, round(held_out * len(hashes))), len(hashes) - 1)
    return [
        SourceImage(
            str(by_hash[h].relative_to(root)),
            "held-out" if rank < cut else "train",
            "user",
            "the user's own",
            partial(open_upright, by_hash[h], longest),
        )
        for rank, h in enumerate(hashes)
    ]
