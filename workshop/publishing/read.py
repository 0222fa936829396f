"""Tell whether a run reads what a paper's rows are proved by: what only tests read proves nothing.

A run is what the paper's notebooks execute: their cells and every module that they import, directly or not. Two things
stand beside them: data are made by the paper's data script, and a service of tools that a notebook's client calls is
started by its command; rows of the kinds ``data`` and ``environment`` may be proved there.

A parameter is read where a cell uses it, or where what is made of all parameters (``SFTSettings.of(globals())``) takes
one of that name. Code or a constant is read where a function uses it, another module imports it or takes it by its
name, or its own module makes something of it that is read. The default of a setting isn't: a notebook may give another,
so a row names what the notebook makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from kit.files import ROOT
from kit.rollout import RolloutConfig
from kit.train.arguments import NotebookSettings
from kit.train.grpo import GRPOSettings
from kit.train.launch.topology import ProcessConfig
from kit.train.sft import SFTSettings
from papers.fidelity import Row
from papers.registry import Paper
from workshop.jobs.notebooks import Source, code_cells, load
from workshop.publishing.digest import modules, project_packages

HOMES = project_packages(ROOT)

OF_ALL: Mapping[type, Sequence[str]] = {
    SFTSettings: (*SFTSettings.PARAMETERS, *SFTSettings.OPTIONAL),
    GRPOSettings: (*GRPOSettings.PARAMETERS, *GRPOSettings.OPTIONAL),
    ProcessConfig: [field.name for field in fields(ProcessConfig)],
}
"""What a notebook makes of its ``globals()`` → the parameters that it takes."""

SETTINGS = (RolloutConfig, NotebookSettings)
"""Classes of which a notebook makes its own."""

SERVICES = {"visual_tools/serve/client.py": "packages/visual_tools/visual_tools/serve/command.py"}
"""Module that calls a service → the one that starts it."""


def unread(paper: Paper, rows: Sequence[Row]) -> Iterator[str]:
    """Rows that are called the same by what no run of the paper reads, each in a sentence.

    Args:
        paper: the paper.
        rows: what it says.
    """
    sources = {name[:2]: Source(paper.notebooks_dir / "percent" / f"{name}.py") for name in paper.notebooks}
    cells = {number: _cells(source) for number, source in sources.items()}
    ran = modules(cells.values(), HOMES)
    beside = {
        "data": _with_imports(f"data_scripts/{paper.name}.py"),
        "environment": {
            name: tree
            for client, command in SERVICES.items()
            if client in ran
            for name, tree in _with_imports(command).items()
        },
    }
    for row in rows:
        place, _, attribute = row.where.partition(":")
        if row.status != "same":
            continue
        if place == "node":
            number, name, *parts = attribute.split(".")
            if not parts and number in cells and not _reads(cells[number], name):
                yield f"{row.id}: no cell of notebook {number} reads its parameter {name}"
        elif why := _unread(row, {**beside.get(row.kind, {}), **ran}, cells):
            yield f"{row.id}: {row.where} proves nothing: {why}"


def _with_imports(file: str) -> dict[str, ast.Module]:
    """A file of the kit's project and every module that it imports; none if there is no such file."""
    if not (path := ROOT / file).is_file():
        return {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {**modules([tree], HOMES), file: tree}


def _cells(source: Source) -> ast.Module:
    """A notebook's code but for its parameters."""
    _, *cells = code_cells(load(source))
    return ast.parse("\n".join(cell.source for cell in cells))


def _reads(cells: ast.Module, name: str) -> bool:
    """True if cells use a parameter, by its name or among all."""
    read = {node.id for node in ast.walk(cells) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    taken = [names for made, names in OF_ALL.items() if made.__name__ in read and "globals" in read]
    return name in read or any(name in names for names in taken)


def _unread(row: Row, ran: Mapping[str, ast.Module], cells: Mapping[str, ast.Module]) -> str:
    """Why no run reads what stands at a row's place; empty: one does."""
    place, _, attribute = row.where.partition(":")
    parts = attribute.split(".")
    file = next((f for f in (f"{place.replace('.', '/')}{end}" for end in (".py", "/__init__.py")) if f in ran), "")
    if not file:
        return "no notebook imports its module"
    owner: Any = getattr(import_module(place), parts[0], None)
    defaults = {one.name for one in fields(owner)} if is_dataclass(owner) else ()
    if isinstance(owner, type) and issubclass(owner, SETTINGS) and parts[-1] in defaults:
        return f"it is a default; name what a notebook makes, such as node:NN.play.{parts[-1]}"
    others = [*(tree for name, tree in ran.items() if name != file), *cells.values()]
    if any(_uses(tree, name) for name in _made_of(parts[0], ran[file]) for tree in [*_functions(ran[file]), *others]):
        return ""
    return f"nothing that runs reads {parts[0]}"


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """The functions and classes of a module: what stands beside them is read when it is imported, by nobody."""
    yield from (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _made_of(name: str, tree: ast.Module) -> set[str]:
    """A name, and those of a module's constants that are made of it."""
    found, before = {name}, set[str]()
    while found != before:
        before = set(found)
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and any(_uses(node, one) for one in before):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


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
