"""Photographs from Debian packages on three sides: to train on, to make choices on, and a test set kept closed.

    python data_scripts/debian_photos.py --out runs/photographs                   # fetches the packages (apt-get)
    python data_scripts/debian_photos.py --out runs/photographs --packages DIR    # .deb files that are there already

Written to --out: train/*.png (monuments, animals, tools and mills that GCompris, a learning game, shows; the committed
tiny model was pretrained on views of them, so they measure nothing), development/*.png (photographs among Plasma's
wallpapers), test/*.png (wallpapers of MATE and Lomiri, Palapeli's puzzles, photographs among OpenCV's examples: keep
them closed, measure on them once), licences/ (each package's copyright file) and manifest.json. Longer sides have 1,024
pixels at most. Of pictures that look the same one is written, and none that looks like a packaged photograph
(pictures.photos).

Nothing is installed. Test photographs are chosen by the folder they lie in, OpenCV's by their names, not by eye;
cut-outs and plain pictures are passed over. Read them with kit.data.folder.photographs(folder, side).
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from PIL import Image

from kit.data.leak import look_alikes
from kit.data.split import Side
from kit.files import print_anything, write_bytes
from kit.images import rgb, upright_rgb
from pictures.photos import FLAT, flatness, photos

ACTIVITIES = (
    "categorization",
    "erase",
    "explore_farm_animals",
    "explore_monuments",
    "explore_world_animals",
    "explore_world_music",
)
"""GCompris's activities whose pictures are photographs."""
LONGEST = 1024
"""Pixels of a picture's longer side, at most."""
SHORTEST = 200
"""Pixels on the shorter side below which a picture is passed over."""


@dataclass(frozen=True)
class Package:
    """One Debian package with photographs.

    Attributes:
        name: its name.
        side: the side that its pictures stand on.
        patterns: where they lie, as :meth:`pathlib.Path.glob` patterns.
    """

    name: str
    side: Side
    patterns: tuple[str, ...]


PLASMA = (
    *("BytheWater", "ColdRipple", "ColorfulCups", "DarkestHour", "EveningGlow", "FallenLeaf", "Grey", "Kite"),
    *("OneStandsOut", "Path", "summer_1am"),
)
"""Plasma's wallpapers that are photographs; the others are drawn."""

OPENCV = (
    *("aero1", "aloeL", "apple", "baboon", "basketball1", "board", "building", "butterfly", "ela_original", "fruits"),
    *("graf1", "HappyFish", "home", "leuvenA", "messi5", "orange", "rubberwhale1", "smarties", "squirrel_cls", "stuff"),
)
"""OpenCV's example pictures that are photographs, one of each scene; the others are drawn, patterns or masks."""

PACKAGES = (
    Package("gcompris-qt-data", "train", tuple(f"usr/share/gcompris-qt/rcc/{activity}.rcc" for activity in ACTIVITIES)),
    Package("mate-backgrounds", "test", ("usr/share/backgrounds/mate/nature/*.jpg",)),
    Package("lomiri-wallpapers-16.04", "test", ("usr/share/backgrounds/*.jpg",)),
    Package("lomiri-wallpapers-20.04", "test", ("usr/share/backgrounds/*.jpg",)),
    Package("palapeli-data", "test", ("usr/share/palapeli/collection/*.jpg",)),
    Package("opencv-doc", "test", tuple(f"usr/share/doc/opencv-doc/examples/data/{name}.[jp][pn]g" for name in OPENCV)),
    Package(
        "plasma-workspace-wallpapers",
        "development",
        tuple(f"usr/share/wallpapers/{name}/contents/images/*" for name in PLASMA),
    ),
)
"""Of pictures that look the same the first in this order stays: what was trained on can be on no other side."""


@dataclass(frozen=True)
class Found:
    """A photograph of a package, no larger than it will be stored."""

    name: str
    package: Package
    image: Image.Image


class PackageError(RuntimeError):
    """A package can't be fetched, or doesn't hold what its row says; the message tells the way out."""


def webp_pictures(resource: bytes) -> Iterator[Image.Image]:
    """The opaque WebP pictures in a Qt resource file, which keeps them as they are.

    WebP is a RIFF container: ``RIFF``, the length of what follows (4 bytes, little-endian), ``WEBP``.
    """
    start = resource.find(b"RIFF")
    while start >= 0:
        length = 8 + int.from_bytes(resource[start + 4 : start + 8], "little")
        if resource[start + 8 : start + 12] == b"WEBP":
            picture = Image.open(io.BytesIO(resource[start : start + length]))
            if picture.mode != "RGBA" or picture.getextrema()[3][0] > 250:
                yield rgb(picture)
        start = resource.find(b"RIFF", start + 4)


def pictures_of(package: Package, root: Path) -> Iterator[Found]:
    """The photographs of an unpacked package, large enough and not plain.

    Raises:
        PackageError: a pattern of the package's row finds nothing.
    """
    for pattern in package.patterns:
        files = sorted(root.glob(pattern))
        if not files:
            raise PackageError(f"package {package.name}: it holds no {pattern}; correct its row in PACKAGES")
        for file in files:
            if file.suffix == ".rcc":
                images = list(webp_pictures(file.read_bytes()))
                named = [(f"{file.stem}-{number:03d}", image) for number, image in enumerate(images)]
            else:
                with Image.open(file) as image:
                    named = [(file.parents[2].name if file.parent.name == "images" else file.stem, upright_rgb(image))]
            for name, image in named:
                image.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
                if min(image.size) >= SHORTEST and flatness(image, 2) >= FLAT:
                    yield Found(f"{package.name}-{name}", package, image)


def fetch(package: Package, folder: Path) -> Path:
    """The package's .deb file in ``folder``, downloaded there if it isn't.

    Raises:
        PackageError: apt-get can't fetch it.
    """
    if not (there := sorted(folder.glob(f"{package.name}_*.deb"))):
        try:
            done = subprocess.run(["apt-get", "download", package.name], cwd=folder, capture_output=True, text=True)
        except FileNotFoundError:
            raise PackageError("apt-get is not on this machine; give a folder of .deb files with --packages") from None
        if done.returncode:
            raise PackageError(
                f"package {package.name}: apt-get download failed ({done.stderr.strip()[-300:]}); run apt-get update, "
                "or give a folder of .deb files with --packages"
            )
        there = sorted(folder.glob(f"{package.name}_*.deb"))
    return there[-1]


def different(found: list[Found]) -> list[Found]:
    """The first of all pictures that look the same, and none that looks like a packaged photograph."""
    packaged = [*photos("held-out"), *photos("train")]
    groups = look_alikes([*((p.id, p.image) for p in packaged), *((f.name, f.image) for f in found)])
    seen = set(groups[: len(packaged)])
    kept = []
    for picture, group in zip(found, groups[len(packaged) :], strict=True):
        if group not in seen:
            seen.add(group)
            kept.append(picture)
    return kept


def make(out: Path, folder: Path) -> dict[str, int]:
    """Fetch, unpack, choose and write; how many pictures each side has.

    Raises:
        PackageError: a package can't be fetched, unpacked, or has changed.
    """
    rows, found = [], []
    for package in PACKAGES:
        file = fetch(package, folder)
        with tempfile.TemporaryDirectory() as unpacked:
            root = Path(unpacked)
            try:
                subprocess.run(["dpkg-deb", "--extract", file, root], check=True, capture_output=True)
                version = subprocess.check_output(["dpkg-deb", "--field", file, "Version"], text=True).strip()
            except (subprocess.CalledProcessError, FileNotFoundError) as error:
                raise PackageError(f"{file}: dpkg-deb cannot unpack it ({error}); remove it and run again") from error
            its = list(pictures_of(package, root))
            terms = f"licences/{package.name}"
            write_bytes(out / terms, (root / f"usr/share/doc/{package.name}/copyright").read_bytes())
        found += its
        rows.append({"package": package.name, "version": version, "side": package.side, "licences": terms})
        print(f"{package.name} {version}: {len(its)} photographs", flush=True)
    kept = different(found)
    counts = Counter(f.package.name for f in kept)
    for row in rows:
        row["pictures"] = counts[row["package"]]
    for side in get_args(Side):
        shutil.rmtree(out / side, ignore_errors=True)  # pictures of an earlier version would be in no manifest
        (out / side).mkdir(parents=True)
    listed = []
    for f in kept:
        name = f"{f.package.side}/{f.name}.png"
        f.image.save(out / name)
        listed.append({"file": name, "licence": f"see licences/{f.package.name}", "package": f.package.name})
    sides = dict(Counter(f.package.side for f in kept))
    manifest = {"packages": rows, "sides": sides, "looked_the_same": len(found) - len(kept), "pictures": listed}
    write_bytes(out / "manifest.json", (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())
    return sides


def main(argv: list[str] | None = None) -> int:
    """Fetch the packages unless given, and write their photographs; or say in one line why not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/photographs"), help="folder for the pictures")
    parser.add_argument("--packages", type=Path, help="folder of .deb files; what is missing is fetched into it")
    args = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as folder:
            sides = make(args.out, args.packages or Path(folder))
    except (PackageError, OSError) as error:
        print(f"debian_photos.py: {error}", file=sys.stderr)
        return 1
    print(f"{args.out}: " + ", ".join(f"{n} {side} pictures" for side, n in sides.items()))
    return 0


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
