"""Say what is wrong with a twin: its cells, outputs of other code or results, logs and paths among its outputs.

:mod:`workshop.publishing.twins` writes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from workshop.jobs.notebooks import Source, code_cells, load

if TYPE_CHECKING:
    from nbformat import NotebookNode

LARGEST = 300_000
"""Bytes a committed notebook may have."""

LONGEST = 25
"""Lines that a stored stream may have."""

MACHINE = re.compile(r"(?<![\w./~-])/(?:root|home|Users|tmp|work|mnt|private)/[^\s'\"<>)]+")
"""A path of the machine on which a notebook was executed."""

READS_RESULTS = re.compile(r"\bpublished(_\w+)?\(|\"results\"")
"""How code reads what is published: a function ``published…()``, or the folder ``results`` by its name."""

SHOWN = ("seed", "metrics", "claims", "tables")
"""What notebooks show of a results file; by whom, when and of which code it was made changes none of their outputs."""


def results_shown(source: Source) -> str:
    """Hash of the published results that a notebook may show (:data:`SHOWN`, and curves); empty: its code reads none.

    A paper's notebook reads those of its paper, another those of all papers.
    """
    if not any(READS_RESULTS.search(cell.source) for cell in code_cells(load(source))):
        return ""
    of = "*" if source.family == "teaching" else f"{source.family}*"
    folder = source.path.parents[2] / "results"
    found = sorted({*folder.glob(f"{of}.json"), *folder.glob(f"curves/{of}/*.jsonl")})
    named = (part for path in found for part in (path.relative_to(folder).as_posix().encode(), _shown(path)))
    return hashlib.sha256(b"\0".join(named)).hexdigest()


def _shown(path: Path) -> bytes:
    """What may be shown of a file of results or curves."""
    if path.suffix == ".jsonl":
        return path.read_bytes()
    results = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps({part: results.get(part) for part in SHOWN}, sort_keys=True).encode()


def stamp(source: Source) -> dict[str, str]:
    """Tell what outputs of a notebook that is executed now are made of: its code and, if it reads any, results."""
    shown = results_shown(source)
    return {"executed": source.code_sha256} | ({"shown": shown} if shown else {})


def problems(source: Source) -> list[str]:
    """List what is wrong with the twin of ``source``: :func:`faults`, stale outputs, and logs and paths among them."""
    found = faults(source)
    if source.twin.exists():
        found += [f"{source.twin.name} has cells that were not executed"] if unexecuted(source) else []
        made_of, now = read(source.twin).metadata.get("kit", {}), stamp(source)
        if made_of.get("executed") != now["executed"]:
            found.append(f"{source.twin.name} has outputs that other code than {source.path.name}'s made")
        if made_of.get("shown") != now.get("shown"):
            found.append(f"{source.twin.name} shows other published results than those in results/")
        found += [f"{source.twin.name} stores {told}; at most {LONGEST}" for told in long_streams(source)]
        found += [f"{source.twin.name} shows a path of this machine: {path}" for path in machine_paths(source)]
    return found


def unexecuted(source: Source) -> list[str]:
    """List the cells of a twin that were never executed, by their first lines."""
    cells = code_cells(read(source.twin))
    return [cell.source.partition("\n")[0] for cell in cells if cell.execution_count is None]


def long_streams(source: Source) -> list[str]:
    """List the cells of a twin that store more than :data:`LONGEST` lines of text, by their first lines."""
    streams = [
        (cell.source.partition("\n")[0], len(output.text.splitlines()))
        for cell in code_cells(read(source.twin))
        for output in cell.outputs
        if output.output_type == "stream"
    ]
    return [f"{lines} lines: {first}" for first, lines in streams if lines > LONGEST]


def machine_paths(source: Source) -> list[str]:
    """Paths of a machine that stored outputs of a twin show, in texts and pages."""
    outputs = [output for cell in code_cells(read(source.twin)) for output in cell.outputs]
    texts = [output.get("text", "") for output in outputs]
    texts += [text for output in outputs for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return [path for text in texts for path in MACHINE.findall(text)]


def faults(source: Source) -> list[str]:
    """List what may never be wrong with the twin of ``source``, whether or not its outputs are of today's code."""
    twin = source.twin
    if not twin.exists():
        return [f"{twin.name} is missing"]
    notebook = read(twin)
    stored = [(cell.cell_type, cell.source) for cell in notebook.cells]
    checks = {
        f"{twin.name} has other cells than {source.path.name}; python -m kit notebooks {source.number} carries them "
        "over": stored != [(cell.cell_type, cell.source) for cell in load(source).cells],
        f"{twin.name} holds an error": any(o.output_type == "error" for c in code_cells(notebook) for o in c.outputs),
        f"{twin.name} has {twin.stat().st_size:,} bytes, above {LARGEST:,}": twin.stat().st_size > LARGEST,
    }
    return [problem for problem, present in checks.items() if present]


def read(path: Path) -> NotebookNode:
    """Read a twin."""
    import nbformat

    return nbformat.read(path, as_version=4)
