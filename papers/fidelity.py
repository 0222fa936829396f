"""Read what a paper says and what became of it here: the same, departed from, or not run.

A paper's package lists this in ``fidelity.toml``, a row a statement; :mod:`workshop.publishing.declared`
reads how it departs, and :mod:`workshop.publishing.departures` checks that the two agree and writes the page of both::

    intro = "Counting asks how many dots there are."
    rows = [
      { id = "dots", kind = "environment", source = "3.1", paper = "Dots are drawn.", where = "counting.env:draw" },
      { id = "G", kind = "hyper-parameter", source = "3", paper = "8.", where = "node:13.group_size", value = 8 },
      { id = "words", kind = "prompt", source = "B", paper = "Answers are words.", departs = ["counting-numbers"] },
      { id = "C3", kind = "claim", source = "4", paper = "It scales.", why = "No GPU was at hand." },
    ]
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

Kind = Literal["hyper-parameter", "prompt", "environment", "data", "reward", "training", "metric", "claim"]
Status = Literal["same", "departs", "not run"]

PLACE = re.compile(r"(node:\d\d(\.\w+)+|[\w.]+:[\w.]+)")
"""``node:13.group_size``, a parameter of a notebook in the profile ``node``; ``node:13.settings.warmup``, a value of
what the notebook makes of them; or ``module:attribute``."""


class FidelityError(ValueError):
    """A row that doesn't say what is asked for."""


@dataclass(frozen=True)
class Row:
    """One thing that a paper says.

    Attributes:
        id: its name among the paper's rows; a claim has the claim's.
        kind: the part of the paper that it belongs to.
        source: section, table, figure or equation.
        paper: the paper's statement, in other words than its own.
        where: :data:`PLACE` of the value or of the code that does it; of a departure only where a profile has a value.
        value: of the same, where it is one: what must stand there.
        departs: of a departure: the names under which modules declare it.
        why: of what isn't run: the reason.
    """

    id: str
    kind: Kind
    source: str
    paper: str
    where: str = ""
    value: Any = None
    departs: tuple[str, ...] = ()
    why: str = ""

    @property
    def status(self) -> Status:
        """Status of the statement: the same unless it says how it departs or why it is not run."""
        return "departs" if self.departs else "not run" if self.why else "same"

    def __post_init__(self) -> None:
        if self.kind not in (known := get_args(Kind)):
            raise FidelityError(f"row {self.id!r}: kind {self.kind!r}; choose one of {', '.join(known)}")
        if (self.departs and self.why) or not (self.where or self.departs or self.why) or (self.where and self.why):
            raise FidelityError(
                f"row {self.id!r}: say one thing: where it is the same, how it departs, or why it isn't run"
            )
        if self.where and not PLACE.fullmatch(self.where):
            raise FidelityError(f"row {self.id!r}: where={self.where!r}; write node:NN.PARAMETER or MODULE:ATTRIBUTE")
        if self.status == "same" and self.kind == "hyper-parameter" and self.value is None:
            raise FidelityError(f"row {self.id!r}: a hyper-parameter that is the same has a value to compare with")
        if not (self.source and self.paper.endswith(".")):
            raise FidelityError(f"row {self.id!r}: give its section or table, and the paper's statement as a sentence")


@dataclass(frozen=True)
class Fidelity:
    """A paper's statements and what became of each.

    Attributes:
        intro: what a reader should know before the tables, in plain words.
        rows: its statements, in the order of the paper's sections.
    """

    intro: str
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        ids = [row.id for row in self.rows]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise FidelityError(f"row {twice[0]!r} is listed twice; give each a name of its own")

    @classmethod
    def load(cls, path: Path) -> Fidelity:
        """Read a paper's file.

        Raises:
            FidelityError: a row isn't whole, or the file isn't of the form above; with the file.
        """
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
            rows = tuple(Row(**{**row, "departs": tuple(row.get("departs", ()))}) for row in found["rows"])
            return cls(found["intro"], rows)
        except (ValueError, TypeError, KeyError) as error:
            raise FidelityError(f"{path}: {error}") from error
