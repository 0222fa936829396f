"""The house style, where a machine can judge it: import direction, sizes, docstrings, nothing left undone."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

import networkx as nx

from kit.files import ROOT
from papers.registry import PAPERS, papers
from workshop.publishing import house

KIT = (
    *("files", "seeding", "waiting", "images", "episode", "protocol", "models", "chat", "tools", "data", "policy"),
    *("environment", "rollout", "rewards", "evaluate", "train", "view"),
)
"""The files and folders at the top of the kit. Each may import those before it."""

WORKSHOP = ("command_line", "exercises", "planner", "script", "roadmap", "jobs", "publishing", "course", "command")
"""The same of the workshop."""

ROOMS = (
    *(f"kit.{name}" for name in KIT),
    "pictures",
    "tiny",
    "papers",
    "adapters",
    *(f"workshop.{name}" for name in WORKSHOP),
)
"""The house, from the ground up: the kit knows nothing of what stands on it."""

SHIM = "kit.__main__"
"""``python -m kit``: five lines that hand on to the workshop's command line."""

MOST_ROOMS = 30
TOP_FILES, TOP_LINES = 11, 2000
KIT_LINES = 16_000
LONGEST_FILE = 300
LONGEST_FUNCTION = 60

HOUSE = ("kit", "pictures", "tiny", "papers", "adapters", "workshop")
MODULES = [path for top in HOUSE for path in sorted((ROOT / top).rglob("*.py"))]
SCRIPTS = sorted((ROOT / "data_scripts").glob("*.py"))
PACKAGES = sorted((ROOT / "packages").glob("*/*/**/*.py"))
"""The packages' modules, and their tests."""

CODE = [*MODULES, *SCRIPTS, *(path for path in PACKAGES if "tests" not in path.parts)]


def offenders(paths: Iterable[Path], faults: Callable[[Path], object]) -> dict[str, object]:
    """Files that break a rule → how each breaks it."""
    return {str(path.relative_to(ROOT)): found for path in paths if (found := faults(path))}


def room(path: Path) -> str:
    """The room of a file: ``kit.policy`` for kit/policy/hf.py, ``papers`` for all of papers/."""
    parts = module(path).split(".")
    return ".".join(parts[:2]) if parts[0] in ("kit", "workshop") else parts[0]


def module(path: Path) -> str:
    """The name under which a file is imported."""
    return house.module(path, ROOT)


NAMES = {module(path): path for path in MODULES}
IMPORTS = house.imports(house.sources())


def imported(path: Path) -> set[str]:
    """Modules of the house that a file imports, wherever in the file, but for its types alone."""
    return IMPORTS[module(path)] & NAMES.keys()


def test_imports_are_written_in_full() -> None:
    def relative(path: Path) -> list[str]:
        nodes = ast.walk(ast.parse(path.read_text()))
        return [f"line {node.lineno}" for node in nodes if isinstance(node, ast.ImportFrom) and node.level]

    assert offenders([*MODULES, *PACKAGES], relative) == {}


def test_every_folder_of_modules_is_a_package() -> None:
    """A file that .gitignore hides would be missing from a clone, and from what ruff reads."""
    assert {path.parent for path in MODULES if not (path.parent / "__init__.py").is_file()} == set()


def test_every_room_has_its_place_and_no_place_names_a_ghost() -> None:
    assert {room(path) for path in MODULES} - {"kit", "workshop", SHIM} == set(ROOMS)
    assert len(ROOMS) == len(set(ROOMS)) <= MOST_ROOMS


def test_the_top_of_the_kit_is_short() -> None:
    top = sorted((ROOT / "kit").glob("*.py"))
    assert len(top) <= TOP_FILES and sum(len(path.read_text().splitlines()) for path in top) <= TOP_LINES


def test_the_kit_is_light() -> None:
    lines = sum(len(path.read_text().splitlines()) for path in MODULES if path.is_relative_to(ROOT / "kit"))
    assert lines <= KIT_LINES, f"kit/ has {lines} lines: what only papers/ or workshop/ use belongs there"


def test_no_import_runs_up() -> None:
    """A room imports those before it in :data:`ROOMS`; importing the package itself pulls nothing in."""

    def up(path: Path) -> set[str]:
        if room(path) in ("kit", "workshop"):
            return imported(path)
        mine = ROOMS.index(room(path))
        return {name for name in imported(path) if name != "kit" and ROOMS.index(room(NAMES[name])) > mine}

    assert offenders([path for path in MODULES if module(path) != SHIM], up) == {}


OF_PAPERS = re.compile(r"agile|visual.?arft|code.?dance|mags.?rl|vista.?(gym|r1)|\b(mags|vista)\b", re.IGNORECASE)
"""Names of the five papers."""


def test_every_registered_paper_has_a_name_that_is_looked_for() -> None:
    assert all(
        OF_PAPERS.search(name) and OF_PAPERS.search(paper.title) for name, paper in papers().items() if name in PAPERS
    )


def test_no_shared_module_names_a_paper() -> None:
    """What belongs to one paper lives in papers."""

    def named(path: Path) -> list[str]:
        lines = enumerate(path.read_text().splitlines(), 1)
        return [f"line {i}: {line}" for i, line in lines if OF_PAPERS.search(line)]

    assert offenders([path for path in MODULES if room(path) != "papers"], named) == {}


def test_papers_stand_alone() -> None:
    """A paper imports no other paper, and of the tiny base only what it was asked, never how it was made."""

    def others(path: Path) -> list[str]:
        mine = path.relative_to(ROOT / "papers").parts[0]
        kept_from = (
            "tiny.build",
            "tiny.pretrain",
            "tiny.probe",
            *(f"papers.{name}" for name in PAPERS if name != mine),
        )
        return [name for name in sorted(imported(path)) if f"{name}.".startswith(tuple(f"{k}." for k in kept_from))]

    assert offenders((ROOT / "papers").glob("*/**/*.py"), others) == {}


def test_packages_know_nothing_of_the_kit() -> None:
    """Neither do their tests: each is installed and tested without it."""

    def foreign(path: Path) -> list[str]:
        package = path.relative_to(ROOT).parts[1]
        known = {folder.parent.name for folder in ROOT.glob("*/__init__.py")} | {"kit", "tests"}
        known |= {folder.name for folder in (ROOT / "packages").iterdir()} - {package, *declared(package)}
        tops = {name.partition(".")[0] for node in ast.walk(ast.parse(path.read_text())) for name in names(node)}
        return sorted(tops & known)

    assert PACKAGES and offenders(PACKAGES, foreign) == {}


def declared(package: str) -> set[str]:
    """Modules of what a package's project file asks for."""
    project = tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())["project"]
    return {name.replace("-", "_") for name in project["dependencies"]}


def test_the_kit_knows_of_packages_only_the_sandbox_and_that_through_few_files() -> None:
    """To all else a tool is what its contract says, and an image what the kit's own modules hand on.

    The source of ``kit.tools.restoration`` runs in the sandbox, where there is no kit.
    """
    doors = ["kit.images", "kit.episode", "kit.tools.base", "kit.tools.code", "kit.train.experiment"]
    doors += ["kit.tools.restoration"]

    def foreign(path: Path) -> list[str]:
        made = {name.partition(".")[0] for node in ast.walk(ast.parse(path.read_text())) for name in names(node)}
        return sorted(made & {"turn_sandbox", "visual_tools"} - ({"turn_sandbox"} if module(path) in doors else set()))

    assert offenders([path for path in MODULES if path.is_relative_to(ROOT / "kit")], foreign) == {}


def names(node: ast.AST) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return [str(node.module)]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_no_file_imports_itself_through_others() -> None:
    graph = nx.DiGraph({name: sorted(others) for name, others in IMPORTS.items()})
    assert list(nx.simple_cycles(graph)) == []


def is_table(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function only returns one literal: rows to be read, not steps to be followed."""
    body = [n for n in node.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return bool(body) and isinstance(body[-1], ast.Return) and all(isinstance(n, ast.Assign) for n in body[:-1])


def test_files_and_functions_are_short() -> None:
    """Functions' docstrings apart: what explains arguments makes nothing harder."""

    def long(path: Path) -> list[str]:
        text = path.read_text()
        total, found = len(text.splitlines()), []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                told = len((ast.get_docstring(node) or "").splitlines())
                lines, total = (node.end_lineno or 0) - node.lineno + 1 - told, total - told
                if lines > LONGEST_FUNCTION and not is_table(node):
                    found.append(f"{node.name} has {lines} lines")
        return found + ([f"it has {total} lines"] if total > LONGEST_FILE else [])

    assert offenders(CODE, long) == {}


def public(body: list[ast.stmt]) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Definitions in ``body`` that others may use; a protocol's members (body ``...``) speak by their types."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = [node for node in body if isinstance(node, kinds) and not node.name.startswith("_")]
    return [node for node in found if ast.unparse(node.body[-1]) != "..."]


def documentable(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The public definitions of a module and the public members of its public classes."""
    nodes = public(tree.body)
    return nodes + [member for node in nodes if isinstance(node, ast.ClassDef) for member in public(node.body)]


def test_everything_public_says_what_it_is_for() -> None:
    def silent(path: Path) -> list[str]:
        tree = ast.parse(path.read_text())
        found = [] if ast.get_docstring(tree) else ["the module"]
        return found + [
            f"{node.name}, line {node.lineno}" for node in documentable(tree) if not ast.get_docstring(node)
        ]

    assert offenders(CODE, silent) == {}


def test_nothing_is_left_undone() -> None:
    undone = re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b")
    assert offenders(CODE, lambda path: undone.findall(path.read_text())) == {}


def test_every_equation_carries_a_worked_example() -> None:
    for path in CODE:
        doc = ast.get_docstring(ast.parse(path.read_text())) or ""
        if "$$" in doc:
            assert "Worked example" in doc, f"{path.name}: an equation nobody can check by hand"


MANY_PARAMETERS = 3


def documented(node: ast.FunctionDef | ast.AsyncFunctionDef, doc: str) -> list[str]:
    """Parameters that ``doc`` does not explain under ``Args``."""
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    names = [name for name in names if name not in ("self", "cls")]
    if len(names) < MANY_PARAMETERS:
        return []
    arguments = doc.partition("Args:")[2].partition("Returns:")[0].partition("Raises:")[0]
    return [name for name in names if not re.search(rf"^\s*(\w+, )*{name}(, \w+)*:", arguments, re.MULTILINE)]


def unexplained(path: Path) -> dict[str, list[str]]:
    """Functions of many parameters → those that their docstrings don't explain."""
    tree = ast.parse(path.read_text())
    functions: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]] = []
    for node in public(tree.body):
        if isinstance(node, ast.ClassDef):
            inner = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            overrides = bool(node.bases)  # what a base class explains isn't told again
            functions += [
                (n, ast.get_docstring(n if n.name != "__init__" else node) or "")
                for n in inner
                if n.name == "__init__" or (not n.name.startswith("_") and not overrides)
            ]
        else:
            functions.append((node, ast.get_docstring(node) or ""))
    return {f"{n.name}, line {n.lineno}": missing for n, doc in functions if (missing := documented(n, doc))}


def test_functions_of_many_parameters_explain_each() -> None:
    assert offenders(CODE, unexplained) == {}


HEADLESS = re.compile(
    r"(What|Whoever|Whether|Which|How|Where|When|So|That|Those|These|This|It|None if|All that|Whose|Who)\b"
)
"""A first line that leans on something the reader doesn't see."""


def test_first_lines_stand_on_their_own() -> None:
    def headless(path: Path) -> list[str]:
        tree = ast.parse(path.read_text())
        first = [(ast.get_docstring(node) or "").partition("\n")[0] for node in (tree, *documentable(tree))]
        return [line for line in first if HEADLESS.match(line)]

    assert offenders(CODE, headless) == {}
