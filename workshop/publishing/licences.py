"""Fill the tables of ``docs/licences.md``: photographs and data sets, from the tables by which they are used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kit.data.questions import QuestionSet, question_sets
from kit.files import ROOT, write_text
from pictures.photos import PHOTOS

PAGE = Path("docs") / "licences.md"
MARKS = re.compile(r"(<!-- (photographs|sets):begin -->\n).*?(<!-- \2:end -->)", re.DOTALL)


def photographs() -> Iterator[Sequence[str]]:
    """Name, package, side of the split and licence of every photograph that a package ships."""
    yield "photograph", "package", "side", "licence"
    for photo in PHOTOS:
        yield photo.id, photo.package, photo.split, photo.licence


def sets(root: Path = ROOT) -> Iterator[Sequence[str]]:
    """Id and licence of every data set of the hub, and the papers that ask for it."""
    users: dict[tuple[str, str], set[str]] = {}
    for table in sorted((root / "papers").glob("*/evaluation_sets.toml")):
        found: Iterable[QuestionSet] = (one for some in question_sets(table).values() for one in some.values())
        for one in found:
            users.setdefault((one.id, one.licence), set()).add(table.parent.name)
    yield "data set", "asked for by", "licence"
    for (name, licence), papers in sorted(users.items()):
        yield name, ", ".join(sorted(papers)), licence


def fill(root: Path = ROOT) -> bool:
    """Write the tables anew; returns whether that changed anything."""
    tables = {"photographs": photographs(), "sets": sets(root)}
    path = root / PAGE
    text = path.read_text(encoding="utf-8")
    new = MARKS.sub(lambda found: f"{found[1]}{_table(list(tables[found[2]]))}\n{found[3]}", text)
    if new != text:
        write_text(path, new)
    return new != text


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *others))
