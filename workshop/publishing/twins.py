"""Executed twins of notebooks: ``notebooks/NN_name.ipynb``, beside the edited ``notebooks/percent/NN_name.py``.

``python -m kit notebooks`` converts, executes in a fresh kernel and writes the twin in a normal form: cell ids from the
cells' text, one output a stream, no timings, no versions, and in the metadata a hash of the code that was executed, and
one of the published results that it showed. So a twin changes when its source or what it prints changes, and only then.
Where nothing has changed but texts between the cells, or the modules that the same names are imported from, stored
outputs are kept and nothing is executed.

A twin always has its source's cells: ``python -m kit notebooks --staged``, which git calls before each commit, carries
them over and executes nothing (:func:`carry`). Outputs of cells whose code is as it was are kept.
"""

from __future__ import annotations

import ast
import itertools
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kit.files import ROOT, runs_folder, write_text
from workshop.exercises.folded import GUESS
from workshop.jobs.execution import merged
from workshop.jobs.notebooks import (
    CALM,
    KERNEL,
    NotebookError,
    Source,
    code_cells,
    code_sha256,
    environment,
    load,
    local_kernel,
    sources,
)
from workshop.publishing.stored import problems, read, stamp

if TYPE_CHECKING:
    from nbformat import NotebookNode


def normal(notebook: NotebookNode, made_of: Mapping[str, str]) -> NotebookNode:
    """``notebook`` in normal form, stamped with what made its outputs. Changes it in place.

    Args:
        notebook: the notebook.
        made_of: :func:`stamp` when it was executed.
    """
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}, "kit": dict(made_of)}
    for cell in notebook.cells:
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != "papermill-error-cell-tag"]
        cell.metadata = {"tags": tags} if tags else {}
        if GUESS in tags:  # the text above asks the reader to predict it
            cell.metadata["jupyter"] = {"outputs_hidden": True}
        if cell.cell_type == "code":
            cell.outputs = merged(cell.outputs)
    return notebook


def dumps(notebook: NotebookNode) -> str:
    """The notebook's file: stable key order, one line at the end."""
    import nbformat

    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


Refreshed = Literal["up to date", "texts replaced", "executed"]
"""What :func:`refresh` had to do."""


def refresh(source: Source, force: bool = False) -> Refreshed:
    """Write the twin of ``source``: executed, or with its stored outputs where nothing but texts has changed.

    Args:
        source: the notebook.
        force: execute it in any case.

    Raises:
        NotebookError: a cell failed; the output so far is kept in ``runs/failed``.
    """
    if not force and not problems(source):
        return "up to date"
    if not force and carry(source) and not problems(source):
        return "texts replaced"
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook, made_of = load(source), stamp(source)
    with environment(CALM), local_kernel() as config:
        client = NotebookClient(
            notebook,
            timeout=None,
            startup_timeout=300,
            kernel_name=KERNEL["name"],
            resources={"metadata": {"path": str(source.twin.parent)}},
            record_timing=False,
            config=config,
        )
        try:
            client.execute()
        except CellExecutionError as error:
            kept = runs_folder() / "failed" / source.twin.name
            write_text(kept, dumps(normal(notebook, made_of)))
            raise NotebookError(
                f"{source.name} failed with {error.ename}: {error.evalue}\nits output: {kept}"
            ) from error
    write_text(source.twin, dumps(normal(notebook, made_of)))
    return "executed"


def carry(source: Source) -> bool:
    """Give the twin of ``source`` the source's cells, and keep its outputs of cells whose code is as it was.

    Nothing is executed: a cell of new code has no outputs until :func:`refresh`. Returns whether the twin changed.
    """
    if not source.twin.exists():
        return False
    before = source.twin.read_text(encoding="utf-8")
    after = dumps(with_stored_outputs(source))
    if after != before:
        write_text(source.twin, after)
    return after != before


def with_stored_outputs(source: Source) -> NotebookNode:
    """The notebook as its source is, with the twin's outputs of each cell whose code and tags are as they were.

    A notebook that imports the same names from other modules is as it was: those have moved, and with them, where
    imports are sorted, lines from cell to cell.
    """
    notebook, twin = load(source), read(source.twin)
    made_of = dict(twin.metadata.get("kit", {}))
    imports = [sorted(itertools.chain(*map(_imports, code_cells(one)))) for one in (notebook, twin)]
    moved = imports[0] == imports[1]
    now, then = ([_told(cell, not moved) for cell in code_cells(one)] for one in (notebook, twin))
    if now == then and made_of.get("executed") == code_sha256(twin):
        made_of["executed"] = source.code_sha256
    stored: dict[Any, list[NotebookNode]] = {}
    for told, cell in zip(then, code_cells(twin), strict=True):
        stored.setdefault(told, []).append(cell)
    for told, cell in zip(now, code_cells(notebook), strict=True):
        if same := stored.get(told):
            kept = same.pop(0)
            cell.outputs, cell.execution_count = kept.outputs, kept.execution_count
    return normal(notebook, made_of)


def _told(cell: NotebookNode, imports: bool) -> tuple[str, ...]:
    """A cell's tags and code, and the names that it imports, if they count."""
    lines = cell.source.splitlines()
    for node in _import_nodes(cell):
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    names = sorted(_imports(cell)) if imports else []
    return *cell.metadata.get("tags", []), *names, "\n".join(line for line in lines if line.strip())


def _imports(cell: NotebookNode) -> list[str]:
    """Names that a cell imports, without where they come from; of ``import a.b`` all, since code says a.b.c."""
    return [
        alias.asname or (f"import {alias.name}" if isinstance(node, ast.Import) else alias.name)
        for node in _import_nodes(cell)
        for alias in node.names
    ]


def _import_nodes(cell: NotebookNode) -> list[ast.Import | ast.ImportFrom]:
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic of IPython's
        return []
    return [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def carry_staged(root: Path = ROOT) -> list[str]:
    """Carry every staged source's cells into its twin and stage that; git's pre-commit hook. Returns what changed.

    Raises:
        NotebookError: a source is staged in part: its twin would show what isn't committed.
    """

    def git(*args: str) -> list[str]:
        done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=True)
        return done.stdout.split("\0")

    staged = set(git("diff", "--cached", "--name-only", "--diff-filter=d", "-z"))
    unstaged, changed = set(git("diff", "--name-only", "-z")), []
    for source in sources(root):
        name = source.path.relative_to(root).as_posix() if source.path.is_relative_to(root) else ""
        if name not in staged:
            continue
        if name in unstaged:
            raise NotebookError(f"{name} is staged in part; stage the rest too (git add {name}), or stash it")
        if carry(source):
            git("add", "--", str(source.twin))
            changed.append(source.twin.name)
    return changed


def update_staged(root: Path = ROOT) -> int:
    """Do what git's hook asks for, and print it; returns the exit code."""
    for name in carry_staged(root):
        print(f"{name} has its source's cells", flush=True)
    return 0


def check(chosen: Sequence[Source]) -> int:
    """Print what is wrong with these notebooks' twins; returns the exit code, 1 if anything is."""
    found = [problem for source in chosen for problem in problems(source)]
    print("\n".join(found) or f"{len(chosen)} notebooks are up to date")
    return 1 if found else 0


def update(chosen: Sequence[Source], force: bool = False) -> int:
    """Bring these notebooks' twins up to date, and print what that took; returns the exit code.

    Raises:
        NotebookError: a cell failed, or a twin is too large.
    """
    for source in chosen:
        print(f"{source.name}: ", end="", flush=True)
        print(refresh(source, force), flush=True)
        for problem in problems(source):
            raise NotebookError(problem)
    return 0
