"""List what a paper says and what became of it here: the same, departed from, or not run.

A paper's package lists these in ``items.py``; :mod:`kit.papers.departures` reads how it departs, and
:mod:`kit.jobs.departures` checks that the two agree and writes the page of both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal["hyper-parameter", "prompt", "environment", "data", "reward", "training", "metric", "claim"]
Status = Literal["same", "departs", "not run"]

PLACE = re.compile(r"(node:\d\d\.\w+|[\w.]+:[\w.]+)")
"""``node:13.group_size``, a parameter of a notebook in the profile ``node``; or ``module:attribute``."""


class ItemError(ValueError):
    """An item that doesn't say what its status asks for."""


@dataclass(frozen=True)
class Item:
    """One thing that a paper says. Made by :func:`same`, :func:`departs` and :func:`not_run`.

    Attributes:
        id: its name among the paper's items; a claim has the claim's.
        kind: the part of the paper that it belongs to.
        source: section, table, figure or equation.
        paper: the paper's statement, in other words than its own.
        status: what became of it.
        where: :data:`PLACE` of the value or of the code that does it; of a departure only where a profile has a value.
        value: of the same, where it is one: what must stand there.
        slugs: of a departure: those under which modules declare it.
        why: of what isn't run: the reason.
    """

    id: str
    kind: Kind
    source: str
    paper: str
    status: Status
    where: str = ""
    value: Any = None
    slugs: tuple[str, ...] = ()
    why: str = ""

    def __post_init__(self) -> None:
        if self.kind not in (known := get_args(Kind)):
            raise ItemError(f"item {self.id!r}: kind {self.kind!r}; choose one of {', '.join(known)}")
        needed = {"same": self.where if self.status == "same" else "", "departs": self.slugs, "not run": self.why}
        if self.status not in needed:
            raise ItemError(f"item {self.id!r}: status {self.status!r}; choose one of {', '.join(needed)}")
        if [bool(given) for given in needed.values()] != [status == self.status for status in needed]:
            raise ItemError(
                f"item {self.id!r} is {self.status!r}: where goes with 'same', slugs with 'departs', why with 'not run'"
            )
        if self.where and not PLACE.fullmatch(self.where):
            raise ItemError(f"item {self.id!r}: where={self.where!r}; write node:NN.PARAMETER or MODULE:ATTRIBUTE")
        if self.status == "same" and self.kind == "hyper-parameter" and self.value is None:
            raise ItemError(f"item {self.id!r}: a hyper-parameter that is the same has a value to compare with")
        if not (self.source and self.paper.endswith(".")):
            raise ItemError(f"item {self.id!r}: give its section or table, and the paper's statement as a sentence")


@dataclass(frozen=True)
class Items:
    """All items of a paper.

    Attributes:
        intro: what a reader should know before the tables, in plain words.
        rows: the items, in the order of the paper's sections.
    """

    intro: str
    rows: tuple[Item, ...]

    def __post_init__(self) -> None:
        ids = [item.id for item in self.rows]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ItemError(f"item {twice[0]!r} is listed twice; give each a name of its own")


def same(id: str, kind: Kind, source: str, paper: str, where: str, value: Any = None) -> Item:
    """An item that is done here as the paper says.

    Args:
        id: its name.
        kind: the part of the paper.
        source: section, table or equation.
        paper: the paper's statement.
        where: :data:`PLACE` of the value or of the code.
        value: what must stand there; None: only that there is such a place is checked.
    """
    return Item(id, kind, source, paper, "same", where=where, value=value)


def departs(id: str, kind: Kind, source: str, paper: str, *slugs: str, where: str = "") -> Item:
    """An item that is done otherwise here, as the declared departures ``slugs`` say.

    Args:
        id: its name.
        kind: the part of the paper.
        source: section, table or equation.
        paper: the paper's statement.
        slugs: names of the departures.
        where: the profile's parameter that says what is done instead, if there is one.
    """
    return Item(id, kind, source, paper, "departs", where=where, slugs=slugs)


def not_run(id: str, kind: Kind, source: str, paper: str, why: str) -> Item:
    """An item that the kit doesn't do at all.

    Args:
        id: its name.
        kind: the part of the paper.
        source: section, table or equation.
        paper: the paper's statement.
        why: the reason, in one sentence.
    """
    return Item(id, kind, source, paper, "not run", why=why)
