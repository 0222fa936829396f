"""Photographs from a Debian package: those that GCompris, a learning game, shows in its activities.

    python data_scripts/debian_photos.py --out runs/photographs                   # fetches the package (apt)
    python data_scripts/debian_photos.py --out runs/photographs --package gcompris-qt-data_3.1-2_all.deb

The package's resource files hold pictures of monuments, animals, tools and mills, each under a free
licence that GCompris names beside it. Nothing is installed. Drawings, cut-outs and plain backgrounds
are passed over.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from kit.data.photos import FLAT, flatness
from kit.episode import content_hash

PACKAGE = "gcompris-qt-data"
ACTIVITIES = (
    "categorization",
    "erase",
    "explore_farm_animals",
    "explore_monuments",
    "explore_world_animals",
    "explore_world_music",
)
"""Activities whose pictures are photographs."""


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
                yield picture.convert("RGB")
        start = resource.find(b"RIFF", start + 4)


def extract(package: Path, out: Path) -> int:
    """Write the photographs in ``package`` to ``out`` as PNG files, each once; their number.

    Raises:
        subprocess.CalledProcessError: dpkg-deb can't unpack ``package``.
        SystemExit: it isn't GCompris's data.
    """
    out.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as unpacked:
        subprocess.run(["dpkg-deb", "--extract", package, unpacked], check=True)
        for activity in ACTIVITIES:
            resource = next(Path(unpacked).rglob(f"{activity}.rcc"), None)
            if resource is None:
                raise SystemExit(f"{package}: it holds no {activity}.rcc; give the package {PACKAGE}")
            for number, picture in enumerate(webp_pictures(resource.read_bytes())):
                name = content_hash(picture)
                if min(picture.size) < 200 or flatness(picture, 2) < FLAT or name in seen:
                    continue
                seen.add(name)
                picture.save(out / f"{activity}-{number:03d}.png")
    return len(seen)


def main() -> None:
    """Fetch the package unless given, and extract."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/photographs"), help="folder for the pictures")
    parser.add_argument("--package", type=Path, help=f"{PACKAGE}'s .deb file; fetched by apt-get if not given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        package = args.package
        if package is None:
            subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, check=True)
            (package,) = Path(folder).glob("*.deb")
        print(f"{extract(package, args.out)} photographs in {args.out}")


if __name__ == "__main__":
    main()
