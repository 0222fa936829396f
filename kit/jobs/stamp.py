"""Stamp of the code that figures depend on: a hash for each file, by which a test sees that figures are stale.

A figure depends on

- the code of the notebooks that made it, and every module of the kit that they import, directly or not;
- the parameters that the profile ``laptop`` gives these notebooks;
- the weights that training starts from.

It doesn't depend on what only shows, grades, plans or starts (:data:`LEFT_OUT`). The hash of a module is that of its
syntax tree, so that comments, docstrings, type hints of functions and layout don't change it; of a notebook, calls that
only print or draw, and the cells of exercises, are left out as well.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from kit.jobs.notebooks import Source
from kit.jobs.run import profile_values

LEFT_OUT = (
    *("kit/view/*", "kit/exercises/*", "kit/jobs/*", "kit/train/planner/*"),  # they show, grade, run, plan
    *("kit/papers/*/plots.py", "kit/papers/*/reported.py"),  # drawings; the papers' own numbers
    *("kit/papers/registry.py", "kit/papers/published.py", "kit/evaluate/results.py", "kit/train/published_curves.py"),
    "kit/train/launch/*",  # starts processes; that they train alike is tested
    *(f"kit/train/{name}.py" for name in ("interrupt", "latest_rollout", "meter", "metrics_log", "progress")),
    *(f"kit/train/{name}.py" for name in ("timed_saves", "watchers")),
    *(f"kit/sandbox/{name}.py" for name in ("checks", "confine", "guarantees", "landlock", "linux", "namespaces")),
    *(f"kit/sandbox/{name}.py" for name in ("probes", "seccomp", "syscalls")),  # what code may not do
    *("kit/policy/vllm*.py", "kit/policy/endpoint.py", "kit/policy/engine_io.py"),  # not in the profile laptop
)
"""Patterns of the paths that no figure depends on."""

SHOWING = ("print", "display", "over_published", "check", "hint", "solution")
"""Functions whose calls in a notebook leave what it measures as it is."""

LENGTH = 12
"""Characters of a hash."""

Stamp = dict[str, str]
"""What a figure depends on (a path within the project, or ``PATH laptop NN`` for parameters) → its hash."""


def stamp(notebooks: Sequence[Source], homes: Mapping[str, Path], weights: Sequence[str] = ()) -> Stamp:
    """Hash everything that what these notebooks measure depends on.

    Args:
        notebooks: the notebooks.
        homes: package that belongs to the project, such as ``kit`` → the folder that it lies in.
        weights: folders of checkpoints, within the kit's project.
    """
    found: Stamp = {}
    imported = []
    for source in notebooks:
        tree = _notebook_tree(source)
        imported.append(tree)
        # Imports are followed; as statements they count for nothing: what a notebook uses stands in its other lines.
        used = ast.Module([node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)], [])
        found[f"notebooks/percent/{source.path.name}"] = _hash_tree(used)
        profile = f"notebooks/profiles/{source.family}.yaml laptop {source.number}"
        found[profile] = _hash(json.dumps(profile_values(source, "laptop"), sort_keys=True).encode())
    for path, tree in modules(imported, homes).items():
        found[path] = _hash_tree(tree)
    for folder in weights:
        for file in sorted((homes["kit"] / folder).iterdir()):
            if file.suffix in (".safetensors", ".json") and file.name != "skills.json":
                found[f"{folder}/{file.name}"] = _hash(file.read_bytes())
    return dict(sorted(found.items()))


def digest(stamp: Mapping[str, str]) -> str:
    """One short hash of a whole stamp, for a folder's name."""
    return _hash(json.dumps(dict(sorted(stamp.items()))).encode())[:6]


def modules(trees: Iterable[ast.AST], homes: Mapping[str, Path]) -> dict[str, ast.Module]:
    """Find the project's modules that some code imports, directly or not, but for :data:`LEFT_OUT`.

    Args:
        trees: of the code.
        homes: package that belongs to the project → the folder that it lies in.

    Returns:
        Path of each module from that folder → its syntax tree.
    """
    found: dict[str, ast.Module] = {}
    todo = [name for tree in trees for name in _imported(tree, "")]
    while todo:
        words = todo.pop().split(".")
        home = homes.get(words[0])
        for n in range(1, len(words) + 1 if home else 0):  # importing a.b.c runs a and a.b first
            place = home.joinpath(*words[:n])  # type: ignore[union-attr]
            for path, package in ((place / "__init__.py", words[:n]), (place.with_suffix(".py"), words[: n - 1])):
                name = path.relative_to(home).as_posix()  # type: ignore[arg-type]
                if name in found or not path.is_file() or any(fnmatch(name, pattern) for pattern in LEFT_OUT):
                    continue
                found[name] = _parsed(path, path.stat().st_mtime_ns)
                todo += _imported(found[name], ".".join(package))
    return found


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Names of all modules, and of what may be one, that are imported anywhere but for type checkers only.

    Args:
        tree: of a module.
        package: the package that the module is in, or is.
    """
    for node in _walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those below ``if TYPE_CHECKING:``."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            todo += ast.iter_child_nodes(node)


@cache
def _parsed(path: Path, changed: int) -> ast.Module:
    """Syntax tree of a file as it was last ``changed``: several stamps share most of their files."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _notebook_tree(source: Source) -> ast.Module:
    """A notebook's code without exercises and without what only shows."""
    cells = re.split(r"^# %%", source.text, flags=re.MULTILINE)[1:]
    code = ["#" + cell for cell in cells if '"exercise"' not in cell.partition("\n")[0]]
    tree = ast.parse("\n".join(code))
    tree.body = [node for node in tree.body if not _shows(node)]
    return tree


def _shows(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SHOWING


def _hash_tree(tree: ast.AST) -> str:
    return _hash(json.dumps(_plain(tree)).encode())


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:LENGTH]


def _plain(node: Any) -> Any:
    """A syntax tree as nested lists, alike in all versions of Python; without docstrings and functions' type hints."""
    if isinstance(node, list):
        return [_plain(one) for one in node if not _is_text(one)]
    if not isinstance(node, ast.AST):
        return repr(node)
    hidden = {"ctx", "kind", "type_comment", "type_params", "returns"}
    if isinstance(node, ast.arg):
        hidden |= {"annotation"}
    fields = [(name, value) for name, value in ast.iter_fields(node) if name not in hidden and value not in (None, [])]
    return [type(node).__name__, *([name, _plain(value)] for name, value in sorted(fields))]


def _is_text(node: Any) -> bool:
    """True for a docstring: a text that stands as a statement of its own."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
