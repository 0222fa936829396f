"""Draw the house: which room imports which, computed from the sources, as a figure for ``docs/layout.md``.

A room is a file or folder at the top of ``kit/``, or a whole package beside it. An arrow that a longer way already
says is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import networkx as nx

from kit.files import ROOT, write_text
from workshop.publishing.digest import imports_in, project_packages

PAGE = Path("docs") / "layout.md"
BEGIN, END = "<!-- house:begin -->", "<!-- house:end -->"
LEFT_OUT = ("benchmarks", "examples")
"""Packages that stand on the house and hold nothing up."""


def module(path: Path, home: Path) -> str:
    """The name under which a file is imported from its home."""
    return ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")


def sources(root: Path = ROOT) -> dict[str, Path]:
    """Find the modules of the project's packages, by the names under which they are imported."""
    homes = {top: home for top, home in project_packages(root).items() if top not in LEFT_OUT}
    return {module(path, home): path for top, home in homes.items() for path in sorted((home / top).rglob("*.py"))}


def imports(known: Mapping[str, Path]) -> dict[str, set[str]]:
    """List each module's imports of other known modules, wherever in the file, but for its types alone."""
    return {name: _imported(name, path, known) for name, path in known.items()}


def _imported(name: str, path: Path, known: Mapping[str, Path]) -> set[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for module, names in imports_in(ast.parse(path.read_text(encoding="utf-8")), package):
        full = [f"{module}.{one}" for one in names] or [module]
        found |= {one if one in known else module for one in full}
    return found & known.keys() - {name}


def room(name: str) -> str:
    """The room of a module: ``kit.policy`` for kit.policy.hf, ``papers`` for all of papers."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "kit" else parts[0]


def arrows(root: Path = ROOT) -> nx.DiGraph:
    """A graph of the rooms, with an edge from each to those that it imports."""
    graph = nx.DiGraph()
    for name, others in imports(sources(root)).items():
        if name not in ("kit", "kit.__main__"):
            graph.add_node(room(name))
            graph.add_edges_from(
                (room(name), room(other)) for other in others if room(other) not in (room(name), "kit")
            )
    return graph


def figure(root: Path = ROOT) -> str:
    """Write the rooms and arrows as a Mermaid flow chart, from what stands on top to what everything stands on."""
    lean = nx.transitive_reduction(arrows(root))
    inside = sorted(name for name in lean if name.startswith("kit."))
    lines = ["```mermaid", "flowchart TD", "  subgraph kit"]
    lines += [f"    {name}[{name.removeprefix('kit.')}]" for name in inside] + ["  end"]
    lines += [f"  {one} --> {other}" for one, other in sorted(lean.edges)]
    return "\n".join([*lines, "```"])


def fill(root: Path = ROOT) -> bool:
    """Draw the figure of the page anew; returns whether that changed it."""
    path = root / PAGE
    before, _, rest = (text := path.read_text(encoding="utf-8")).partition(BEGIN)
    new = f"{before}{BEGIN}\n{figure(root)}\n{END}{rest.partition(END)[2]}"
    write_text(path, new)
    return new != text
