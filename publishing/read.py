"""Tell whether a run reads the values by which a paper's rows are proved: one that only tests read proves nothing.

A run is what the paper's notebooks execute: their cells and every module that they import, directly or not. A
parameter is read where a cell uses it, or where what is made of all parameters (``SFTSettings.of(globals())``) takes
one of that name. A constant is read where a function uses it, or another module imports it or takes it by its name.
The default of a setting isn't: a notebook may give another, so a row names what the notebook makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any

from kit.files import ROOT
from kit.jobs.notebooks import Source, code_cells, load
from kit.papers.fidelity import Row
from kit.papers.registry import Paper
from kit.rollout import RolloutConfig
from kit.train.arguments import NotebookSettings
from kit.train.grpo import GRPOSettings
from kit.train.launch.topology import ProcessConfig
from kit.train.sft import SFTSettings
from publishing.digest import modules

OF_ALL: Mapping[type, Sequence[str]] = {
    SFTSettings: (*SFTSettings.PARAMETERS, *SFTSettings.OPTIONAL),
    GRPOSettings: (*GRPOSettings.PARAMETERS, *GRPOSettings.OPTIONAL),
    ProcessConfig: [field.name for field in fields(ProcessConfig)],
}
"""What a notebook makes of its ``globals()`` → the parameters that it takes."""

SETTINGS = (RolloutConfig, NotebookSettings)
"""Classes of which a notebook makes its own."""


def unread(paper: Paper, rows: Sequence[Row]) -> Iterator[str]:
    """Hyper-parameters that are called the same by a value that no run of the paper reads, each in a sentence.

    Args:
        paper: the paper.
        rows: what it says.
    """
    sources = {name[:2]: Source(paper.notebooks_dir / "percent" / f"{name}.py") for name in paper.notebooks}
    cells = {number: _cells(source) for number, source in sources.items()}
    ran = modules(cells.values(), {"kit": ROOT})
    for row in rows:
        place, _, attribute = row.where.partition(":")
        if row.status != "same" or row.kind != "hyper-parameter":
            continue
        if place == "node":
            number, name, *parts = attribute.split(".")
            if not parts and number in cells and not _reads(cells[number], name):
                yield f"{row.id}: no cell of notebook {number} reads its parameter {name}"
        elif why := _unread(place, attribute.split("."), ran, cells):
            yield f"{row.id}: {row.where} proves nothing: {why}"


def _cells(source: Source) -> ast.Module:
    """A notebook's code but for its parameters."""
    _, *cells = code_cells(load(source))
    return ast.parse("\n".join(cell.source for cell in cells))


def _reads(cells: ast.Module, name: str) -> bool:
    """True if cells use a parameter, by its name or among all."""
    read = {node.id for node in ast.walk(cells) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    taken = [names for made, names in OF_ALL.items() if made.__name__ in read and "globals" in read]
    return name in read or any(name in names for names in taken)


def _unread(place: str, parts: Sequence[str], ran: Mapping[str, ast.Module], cells: Mapping[str, ast.Module]) -> str:
    """Why no run reads what stands at a place; empty: one does."""
    file = next((f for f in (f"{place.replace('.', '/')}{end}" for end in (".py", "/__init__.py")) if f in ran), "")
    if not file:
        return "no notebook imports its module"
    owner: Any = getattr(import_module(place), parts[0], None)
    if isinstance(owner, type) and issubclass(owner, SETTINGS):
        return f"it is a default; name what a notebook makes, such as node:NN.play.{parts[-1]}"
    others = [tree for name, tree in ran.items() if name != file]
    if any(_uses(tree, parts[0]) for tree in [*_functions(ran[file]), *others, *cells.values()]):
        return ""
    return f"nothing that runs reads {parts[0]}"


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """The functions and classes of a module: what stands beside them is read when it is imported, by nobody."""
    yield from (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _uses(tree: ast.AST, name: str) -> bool:
    """True if code loads a name, imports it, or takes it from something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return True
        if isinstance(node, ast.Attribute) and node.attr == name:
            return True
    return False
