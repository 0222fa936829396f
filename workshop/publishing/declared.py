"""Read from the modules' docstrings where the kit departs from its papers.

A module that does something otherwise than a paper says so in the section "Departures" of its docstring, one bullet
for each departure, in four sentences::

    Departures
    - [counting-short-answers] Paper: Answers are words. Here: Answers are numbers. Why: The tiny model has few words.
      May change: Nothing is learnt about spelling.

A module in a paper's package declares departures of that paper, under names that begin with the paper's, say. The names
of all other modules' departures begin with ``shared-``: they belong to every paper whose items name them. Lines may be
wrapped anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

HEADING = re.compile(r"Departures?\b.*")
PARTS = ("Paper", "Here", "Why", "May change")
SHARED = "shared"
"""Owner of the departures of modules that several papers use."""

_BULLET = re.compile(r"\[([a-z0-9]+(?:-[a-z0-9]+)*)\] (.+)")
_PARTS = re.compile(r"\s*".join(rf"{part}: (\S.*?)" for part in PARTS))


def _capital(text: str) -> str:
    """A sentence with a capital at its start, unless its first word has one elsewhere (vLLM)."""
    return text[0].upper() + text[1:] if text.split()[0].islower() else text


class DepartureError(ValueError):
    """A departure that isn't declared in the form above."""


@dataclass(frozen=True)
class Departure:
    """One declared departure.

    Attributes:
        slug: its name.
        paper: what the paper says.
        here: what is done here.
        why: the reason.
        may_change: what it might change in the results.
        file: path of the module that declares it.
    """

    slug: str
    paper: str
    here: str
    why: str
    may_change: str
    file: Path

    @classmethod
    def of(cls, bullet: str, file: Path) -> Departure:
        """Read one bullet, without its dash.

        Raises:
            DepartureError: it has no name, or lacks a part.
        """
        found = _BULLET.fullmatch(bullet)
        parts = found and _PARTS.fullmatch(found[2])
        if not found or not parts:
            form = " ".join(f"{part}: ...." for part in PARTS)
            raise DepartureError(f"{file}: departure {bullet!r:.90}; write - [NAME] {form}")
        paper, here, why, may_change = (_capital(part) for part in parts.groups())
        return cls(found[1], paper, here, why, may_change, file)


def bullets(docstring: str, file: Path) -> list[str]:
    """The bullets of a docstring's section "Departures", each as one line.

    Args:
        docstring: of a module.
        file: its path, for the error.

    Raises:
        DepartureError: there is such a section, and something else than bullets stands in it.
    """
    found: list[str] = []
    heading = inside = after_blank = False
    for line in docstring.splitlines():
        if HEADING.match(line):
            heading = inside = True
            if not re.fullmatch(r"Departures( from the paper)?", line.strip()):
                raise DepartureError(f"{file}: {line.strip()!r:.60}; write Departures on a line, then bullets")
        elif inside and line.startswith("- "):
            found.append(line[2:].strip())
        elif inside and line.strip() and found and not after_blank:
            found[-1] += f" {line.strip()}"
        elif inside and line.strip() and not found:
            raise DepartureError(f"{file}: {line.strip()!r:.60} stands under Departures; write bullets only")
        elif line.strip():
            inside = False  # a paragraph after the section
        after_blank = not line.strip()
    if heading and not found:
        raise DepartureError(f"{file}: nothing stands under Departures; declare one, or leave the heading out")
    return found


def declared(files: Iterable[Path], owners: Mapping[str, Path]) -> dict[str, list[Departure]]:
    """All departures that modules declare: by paper, and under :data:`SHARED` those of the others.

    Args:
        files: the modules.
        owners: paper's name → folder of its package.

    Raises:
        DepartureError: a malformed one, one declared twice, or one whose name begins as another owner's.
    """
    found: dict[str, list[Departure]] = {name: [] for name in (*owners, SHARED)}
    known: dict[str, Path] = {}
    for file in sorted(files):
        owner = next((name for name, folder in owners.items() if file.is_relative_to(folder)), SHARED)
        for bullet in bullets(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "", file):
            one = Departure.of(bullet, file)
            if one.slug.startswith(f"{SHARED}-") != (owner == SHARED):
                said = "begin its name with" if owner == SHARED else "it is one paper's: don't begin its name with"
                raise DepartureError(f"{file}: departure {one.slug!r}; {said} {SHARED}-")
            if one.slug in known:
                raise DepartureError(f"{file}: departure {one.slug!r} is declared in {known[one.slug]} as well")
            known[one.slug] = file
            found[owner].append(one)
    return found
