"""A paper's profile ``node``, shrunk to a laptop: how its notebooks are run, and what is asked of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from papers.tables import NOT_RUN
from workshop.command import main


def sets(values: str) -> list[str]:
    """``name=value`` words as options of ``python -m kit run``."""
    return [word for value in values.split() for word in ("--set", value)]


def kit_run(what: str, values: str, *options: str) -> None:
    """Run a paper or one of its notebooks as ``node`` does, but with some values; it must not fail.

    The run is ``hub``, unless the options name another.
    """
    assert main(["run", what, "--profile", "node", "--name", "hub", *options, *sets(values)]) == 0


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file that has one a line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def printed(notebook: Path) -> str:
    """All that a notebook's cells printed."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "".join("".join(out.get("text", ())) for cell in cells for out in cell.get("outputs", ()))


def filled(row: Mapping[str, Mapping[str, Any]], paper: Mapping[str, float | str]) -> set[str]:
    """Which cells of a row are filled; every other says that it wasn't run, and beside each is the paper's number."""
    assert {name: cell["paper"] for name, cell in row.items()} == dict(paper)
    found = {name for name, cell in row.items() if cell["here"] != NOT_RUN}
    assert all(0 <= row[name]["here"]["value"] <= 1 for name in found)
    return found
