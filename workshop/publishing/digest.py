"""One digest of all that a results file depends on, by which runs are named and unproved results are found.

It covers

- the code of the notebooks that trained and measured, and every module of the kit that they import, directly or not;
- the parameters that the profile ``laptop`` gives these notebooks;
- the weights that training starts from.

Of code it covers the syntax tree: comments, docstrings, type hints of functions and layout don't change it; of a
notebook, calls that only print or draw, and the cells of exercises, are left out as well.

The digest of what trains is narrower: it leaves out what only computes and tells figures (:data:`TELLING`, and a
notebook's cells that have the tag ``figure``), so that statistics, claims, tables and drawings may change while
trainings stand. What says right or wrong of an episode is in it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from workshop.jobs.notebooks import Source
from workshop.jobs.run import profile_values

SHOWING_ROOMS = ("kit/view/", "workshop/")
"""Folders of code that only shows, grades or starts what others compute."""

TELLING = re.compile(
    r"kit/evaluate/(?!(__init__|outcomes|calls|baselines|five/(__init__|play|shown))\.py)"
    r"|papers/(claims|contrasts|differences|fidelity|played|published\w*|registered|registry|results)\.py"
    r"|papers/(samples|starts|tables|verdicts)\.py"
    r"|papers/\w+/(claims|figures|finding|measured|paper|reported|tables)\.py"
)
"""Modules that compute figures of what was trained and played, or tell of them, and play nothing themselves."""

JUDGING = {"kit/evaluate/outcomes.py": ("REASONS", "Outcome", "source_image")}
"""Of these modules only some names say how an episode came out; the others count what did."""

SHOWING = ("print", "display", "over_published", "check", "hint", "solution")
"""Functions whose calls in a notebook leave what it measures as it is."""

LENGTH = 12
"""Characters of a digest."""


def digest(
    notebooks: Sequence[Source], homes: Mapping[str, Path], weights: Sequence[str] = (), trains: bool = False
) -> str:
    """Hash everything that what these notebooks measure depends on.

    Args:
        notebooks: the notebooks.
        homes: package that belongs to the project, such as ``kit`` → the folder that it lies in
            (:func:`project_packages`).
        weights: folders of checkpoints, within the kit's project.
        trains: leave out what only computes and tells figures (:data:`TELLING`).
    """
    trees = [notebook_tree(source, trains) for source in notebooks]
    imported = modules(trees, homes, trains)
    parts = [
        *(_plain(_without_imports(tree)) for tree in trees),
        *(profile_values(source, "laptop") for source in notebooks),
        *([name, _plain(tree)] for name, tree in sorted(imported.items())),
        *(weights_digest(homes["kit"] / folder) for folder in weights),
    ]
    return _hash(json.dumps(parts, sort_keys=True).encode())


def project_packages(root: Path) -> dict[str, Path]:
    """Find the packages of a project, and of the projects in its ``packages/`` → the folder that each lies in.

    Args:
        root: the project's folder.
    """
    homes = [root, *sorted((root / "packages").glob("*/"))]
    return {init.parent.name: home for home in homes for init in sorted(home.glob("*/__init__.py"))}


def code_digest(source: Source, trains: bool = False) -> str:
    """Hash a notebook's own code, or what of it trains, without imports: what is used of them stands in other lines."""
    return _hash(json.dumps(_plain(_without_imports(notebook_tree(source, trains)))).encode())


def weights_digest(folder: Path) -> str:
    """Hash a checkpoint's weights and settings; not its card, its log and how well it does."""
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".safetensors", ".json")]
    told = [(file.name, _hash(file.read_bytes())) for file in files if file.name != "skills.json"]
    return _hash(json.dumps(told).encode())


def modules(trees: Iterable[ast.AST], homes: Mapping[str, Path], trains: bool = False) -> dict[str, ast.Module]:
    """Find the project's modules that some code imports, directly or not, but for :data:`SHOWING_ROOMS`.

    Args:
        trees: of the code.
        homes: package that belongs to the project → the folder that it lies in.
        trains: but for :data:`TELLING` too; and of :data:`JUDGING` only these names.

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
                if name in found or not path.is_file() or name.startswith(SHOWING_ROOMS):
                    continue
                if trains and TELLING.match(name):
                    continue
                tree = _parsed(path, path.stat().st_mtime_ns)
                found[name] = _only(tree, JUDGING[name]) if trains and name in JUDGING else tree
                todo += _imported(found[name], ".".join(package))
    return found


def _only(tree: ast.Module, names: Sequence[str]) -> ast.Module:
    """The functions, classes and constants of a module that have one of these names."""

    def called(node: ast.stmt) -> Any:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        return target.id if isinstance(target, ast.Name) else getattr(node, "name", "")

    found = [node for node in tree.body if called(node) in names]
    if lacking := {*names} - {called(node) for node in found}:
        raise ValueError(f"no {', '.join(sorted(lacking))} among what judges an episode: see JUDGING in {__name__}")
    return ast.Module(found, [])


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Names of all modules, and of what may be one, that :func:`imports_in` finds."""
    for module, names in imports_in(tree, package):
        yield module
        yield from (f"{module}.{name}" for name in names)


def imports_in(tree: ast.AST, package: str) -> Iterator[tuple[str, list[str]]]:
    """Modules that are imported anywhere but for type checkers only, each with the names that are taken of it.

    Args:
        tree: of a module.
        package: the package that the module is in, or is.
    """
    for node in _walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module, [alias.name for alias in node.names]


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
    """Syntax tree of a file as it was last ``changed``: several digests share most of their files."""
    return ast.parse(path.read_text(encoding="utf-8"))


def notebook_tree(source: Source, trains: bool = False) -> ast.Module:
    """Parse a notebook's code without exercises and without what only shows.

    Args:
        trains: without the cells that have the tag ``figure`` either.
    """
    cells = re.split(r"^# %%", source.text, flags=re.MULTILINE)[1:]
    left_out = ("exercise", "figure") if trains else ("exercise",)
    code = ["#" + cell for cell in cells if not any(f'"{tag}"' in cell.partition("\n")[0] for tag in left_out)]
    tree = ast.parse("\n".join(code))
    tree.body = [node for node in tree.body if not _shows(node)]
    return tree


def _shows(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SHOWING


def _without_imports(tree: ast.Module) -> ast.Module:
    return ast.Module([node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)], [])


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
