"""Make a notebook's settings objects of a profile's values by its own statements, and run nothing else.

``made(source, "node")["settings"].warmup`` is the warm-up that notebook 32 would train with. Of a notebook's top-level
statements those are executed that import, or that build plain values and dataclasses of parameters:
``settings = SFTSettings.of(globals())``, ``play = Play(max_turns=max_turns)``, ``two = replace(one, steps=steps_2)``.
Whatever else a statement needs, such as a folder or a model, stands there as :data:`UNKNOWN`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from functools import cache
from importlib import import_module
from types import BuiltinMethodType, MethodType
from typing import Any
from unittest.mock import patch

from kit.train import experiment
from kit.train.dapo import objective_settings
from papers.registry import paper_of
from workshop.jobs.notebooks import Source, code_cells, load, parameters
from workshop.jobs.run import profile_values

PLAIN = (replace, dict, list, tuple, str, int, float, bool, max, min, len, range, zip, globals, objective_settings)
"""Functions that make values of values."""


class Unknown:
    """Stands for what isn't made here: a folder, a model, what an earlier notebook wrote.

    Paths and names can be made of it; nothing can be decided by it.
    """

    __iter__ = None

    def __truediv__(self, other: object) -> Unknown:
        return self

    def __getattr__(self, name: str) -> Unknown:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __bool__(self) -> bool:
        raise TypeError("unknown")

    def __eq__(self, other: object) -> bool:
        raise TypeError("unknown")

    __hash__ = object.__hash__


UNKNOWN = Unknown()

KEPT = "(kept)"
"""Name of what an earlier notebook kept: none that a notebook could give."""


def values_of(source: Source, profile: str) -> dict[str, Any]:
    """All parameters of a notebook with their values in a profile."""
    return {name: given.default for name, given in parameters(source).items()} | profile_values(source, profile)


@cache
def made(source: Source, profile: str) -> Mapping[str, Any]:
    """Execute what builds settings in a notebook.

    Args:
        source: the notebook.
        profile: whose values its parameters have.

    Returns:
        Parameters and all that was made of them, by the notebook's own names.
    """
    known = values_of(source, profile)
    _, *cells = code_cells(load(source))  # the first one declares the parameters
    with patch.object(experiment, "read_json", lambda file: _kept(source, profile)):
        for cell in cells:
            for node in ast.parse(cell.source).body:
                _execute(node, known)
    return known


def _execute(node: ast.stmt, known: dict[str, Any]) -> None:
    """Execute a statement if it imports or builds; what another assigns is unknown from then on."""
    code = compile(ast.Module([node], []), "<notebook>", "exec")
    if isinstance(node, ast.Import | ast.ImportFrom):
        exec(code, known)
        return
    if (keeper := _keeper(node)) and all(_builds(c.func, known) for c in ast.walk(keeper) if isinstance(c, ast.Call)):
        known[KEPT] = eval(compile(ast.Expression(keeper), "<notebook>", "eval"), known)
        return
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return
    stored = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    needed = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} - stored
    for name in needed - known.keys() - vars(builtins).keys():
        known[name] = UNKNOWN
    try:
        if all(_builds(call.func, known) for call in ast.walk(node) if isinstance(call, ast.Call)):
            exec(code, known)
            return
    except Exception:  # of something unknown nothing can be made; a row that names it is told so
        pass
    known.update(dict.fromkeys(stored, UNKNOWN))


def _builds(function: ast.expr, known: dict[str, Any]) -> bool:
    """True for dataclasses, their class methods, plain values' methods and what is :data:`PLAIN`: they run nothing."""
    if not isinstance(function, ast.Name | ast.Attribute):
        return False
    called = eval(compile(ast.Expression(function), "<notebook>", "eval"), known)
    if isinstance(called, BuiltinMethodType):
        return isinstance(called.__self__, str | dict | list | tuple) or called in PLAIN
    owner = called.__self__ if isinstance(called, MethodType) else called
    return any(called is one for one in PLAIN) or (isinstance(owner, type) and is_dataclass(owner))


def _keeper(node: ast.stmt) -> ast.expr | None:
    """The ``play`` of ``play.keep(folder)``, which writes down how later notebooks play; None: another statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "keep":
        return call.func.value
    return None


def _kept(source: Source, profile: str) -> dict[str, Any]:
    """What an earlier notebook of the paper writes down of how it plays (:func:`kit.train.experiment.keep_values`)."""
    paper = paper_of(source.name)
    for name in paper.notebooks if paper else ():
        if name < source.name and (play := made(Source(source.path.with_stem(name)), profile).get(KEPT)):
            return {name: getattr(play, name) for name in import_module(type(play).__module__).KEPT}
    raise KeyError(f"{source.name}: no notebook before it keeps how it plays")
