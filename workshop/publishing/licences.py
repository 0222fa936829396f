"""Fill the tables of ``docs/licences.md``: photographs and data sets, from the tables by which they are used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kit.data.questions import QuestionSet, question_sets
from kit.files import ROOT, write_text
from papers.tables import markdown
from pictures.photos import PHOTOS

PAGE = Path("docs") / "licences.md"
MARKS = re.compile(r"(<!-- (photographs|sets):begin -->\n).*?(<!-- \2:end -->)", re.DOTALL)


def photographs() -> str:
    """Tell name, package, side of the split and licence of every photograph that a package ships."""
    rows = ([photo.id, photo.package, photo.split, photo.licence] for photo in PHOTOS)
    return markdown(["photograph", "package", "side", "licence"], rows)


def sets(root: Path = ROOT) -> str:
    """Tell id and licence of every data set of the hub, and the papers that ask for it."""
    users: dict[tuple[str, str], set[str]] = {}
    for table in sorted((root / "papers").glob("*/evaluation_sets.toml")):
        found: Iterable[QuestionSet] = (one for some in question_sets(table).values() for one in some.values())
        for one in found:
            users.setdefault((one.id, one.licence), set()).add(table.parent.name)
    rows = ([name, ", ".join(sorted(papers)), licence] for (name, licence), papers in sorted(users.items()))
    return markdown(["data set", "asked for by", "licence"], rows)


def fill(root: Path = ROOT) -> bool:
    """Write the tables anew; returns whether that changed anything."""
    tables = {"photographs": photographs(), "sets": sets(root)}
    path = root / PAGE
    text = path.read_text(encoding="utf-8")
    new = MARKS.sub(lambda found: f"{found[1]}{tables[found[2]]}\n{found[3]}", text)
    if new != text:
        write_text(path, new)
    return new != text
