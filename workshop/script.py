"""Share what data scripts have in common: options of the hub, pinned commits, sides that look apart, errors in a line.

A paper's script is then what it makes of the questions and images that it is given::

    def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
        parser = script.parser(__doc__)
        parser.add_argument("--train", type=whole, default=100, help="tasks to train on")
        script.add_hub(parser, "images from the Hugging Face hub", "--hub-images", type=whole, help="of each set")
        return script.read(parser, argv)

    def make(args: argparse.Namespace) -> None: ...

    def main(argv: Sequence[str] | None = None) -> int:
        return script.run(lambda: make(options(argv)))
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from kit.data.folder import SMALLEST
from kit.data.hub import HubError, HubSource, Source, pin, pinned, read_lock, stream
from kit.data.leak import leaked_pairs
from kit.data.split import REST, split_by_content
from kit.episode import Task, content_hash
from kit.files import write_bytes
from workshop.command_line import while_read


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Make a parser with ``--out`` whose help is the script's docstring."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, required=True, help="folder to write to")
    return made


def add_hub(parser: argparse.ArgumentParser, what: str, amount: str, **how: Any) -> None:
    """Add the options of a script that can read the hub.

    Args:
        parser: the script's.
        what: is read there.
        amount: the script's own option of how much is.
        how: its other arguments, as ``add_argument`` takes them.
    """
    add = parser.add_argument
    add("--hub", action="store_true", help=what)
    add(amount, **how)
    add("--hub-root", type=Path, help="with --hub: a folder that holds copies of its data sets, read without a network")
    add("--pin", action="store_true", help="ask the hub for commits not known yet, write hub.lock.json")


def read(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, sources: Sequence[str] = ("hub", "images")
) -> argparse.Namespace:
    """Read the command line, and end the program if its options exclude each other.

    Args:
        parser: the script's.
        argv: the arguments; None: those of this process.
        sources: options that each say where images come from: one of them at most.
    """
    args = parser.parse_args(argv)
    if sum(bool(getattr(args, name)) for name in sources) > 1:
        *first, last = (f"--{name}" for name in sources)
        parser.error(f"{', '.join(first)} and {last}: choose one")
    if args.hub_root and not args.hub:
        parser.error("--hub-root says where --hub reads: give both")
    return args


def run(make: Callable[[], None], said: str = "error", errors: tuple[type[Exception], ...] = ()) -> int:
    """Run a script; its exit status: 0, or 1 after saying in one line what was wrong and what to do about it.

    Args:
        make: reads the command line and makes the data.
        said: before the message.
        errors: more of them than all scripts have, to be told so.
    """
    told: tuple[type[Exception], ...] = (HubError, OSError, ValueError, *errors)

    def made() -> int:
        try:
            make()
        except BrokenPipeError:
            raise
        except told as error:
            print(f"{said}: {error}", file=sys.stderr)
            return 1
        return 0

    return while_read(made)


def local_copies(sources: Sequence[Source], root: Path) -> list[Source]:
    """The data sets as they lie in ``root/OWNER/NAME``, copies of the hub's, read without a network.

    Raises:
        HubError: a data set isn't there.
    """
    for source in sources:
        if not (root / source.id).is_dir():
            raise HubError(f"--hub-root {root}: no folder {source.id}; put a copy of the data set there")
    return [replace(source, id=str(root / source.id)) for source in sources]


def hub_sources(args: argparse.Namespace, sources: Sequence[Source]) -> list[Source]:
    """The data sets as ``--hub`` and ``--hub-root`` read them, at their commits; prints each one's licence.

    Raises:
        HubError: a copy isn't there, or a commit isn't known, or can't be asked for.
    """
    for source in sources:
        print(f"{source.group:20s} {source.id:40s} {source.licence}", flush=True)
    found = local_copies(sources, args.hub_root) if args.hub_root else list(sources)
    lock_file = args.out / "hub.lock.json"
    lock = pin(found, lock_file) if args.pin else read_lock(lock_file)
    return [pinned(source, lock) for source in found]


def of_first_images(found: Iterable[Task], n: int) -> Iterator[Task]:
    """The questions about the first ``n`` different images."""
    seen = set()
    for task in found:
        seen.add(task.meta["source"])
        if len(seen) > n:
            return
        yield task


def split(found: Sequence[Task], shares: dict[str, float], seed: int) -> dict[str, list[Task]]:
    """Questions of each side: ``train`` and those of ``shares``, split by what their first images show.

    Args:
        found: questions with their images.
        shares: side → its share of the different images.
        seed: fixes which images go where.

    Raises:
        kit.data.split.SplitError: there are too few different images.
    """
    sides = split_by_content([task.tool_images[0].image for task in found], shares, seed)
    return {side: [task for task, its in zip(found, sides, strict=True) if its == side] for side in (REST, *shares)}


def unlike(found: Sequence[Task], others: Iterable[tuple[str, Image.Image]], whose: str) -> list[Task]:
    """Questions about images that don't look like one of the others; says how many images were left out.

    Args:
        found: questions with their images.
        others: names and images.
        whose: what the message calls the others.
    """
    images = _by_source(found)
    leaking = {pair.train for pair in leaked_pairs(images.items(), others)}
    print(f"left out {len(leaking)} of {len(images)} pictures that look like {whose}", flush=True)
    return [task for task in found if task.meta["source"] not in leaking]


def apart(sides: dict[str, list[Task]]) -> dict[str, list[Task]]:
    """Leave out of each side what looks like an image of a later one: nothing, if they were split by content."""
    left = dict(sides)
    for number, one in enumerate(left):
        for other in list(left)[number + 1 :]:
            left[one] = unlike(left[one], _by_source(left[other]).items(), f"one of {other}'s ({one})")
    return left


def _by_source(found: Sequence[Task]) -> dict[str, Image.Image]:
    return {task.meta["source"]: task.tool_images[0].image for task in found}


def download(
    sources: Sequence[HubSource],
    sizes: Mapping[str, int],
    folder: Path,
    longest: int = 1280,
    progress: Callable[[str, int, int], None] = lambda group, have, wanted: None,
) -> dict[str, int]:
    """Fill ``folder/<group>/`` with ``sizes[group]`` different images each, from ``sources`` in order.

    The folder is then like any folder of the user's own images (:func:`kit.data.folder.folder_pictures`). Images are
    named by content hash and those already there count, so an interrupted download goes on where it was. Stored as JPEG
    (quality 95) with at most ``longest`` pixels on the longer side.

    Args:
        sources: data sets, each with its group.
        sizes: group → number of images wanted.
        folder: folder to write.
        longest: pixels of the longer side, at most.
        progress: called with group, images there and images wanted.

    Returns:
        How many images each group has.

    Raises:
        HubError: a data set can't be used, or a group's data sets hold too few images.
    """
    have: dict[str, int] = {}
    for group, wanted in sizes.items():
        place = folder / group
        names = {path.stem for path in place.glob("*.jpg")}
        for source in (s for s in sources if s.group == group):
            if len(names) >= wanted:
                break
            for image in stream(source):
                if (name := content_hash(image)) in names:
                    continue
                image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
                if min(image.size) < SMALLEST:  # as it is read again: a long one has less than it had
                    continue
                buffer = io.BytesIO()
                image.save(buffer, "JPEG", quality=95)
                write_bytes(place / f"{name}.jpg", buffer.getvalue())
                names.add(name)
                progress(group, len(names), wanted)
                if len(names) >= wanted:
                    break
        if len(names) < wanted:
            raise HubError(
                f"group {group}: its data sets hold {len(names)} different pictures, {wanted} needed; ask for fewer "
                "(--hub-share) or add a data set to the table"
            )
        have[group] = len(names)
    return have
