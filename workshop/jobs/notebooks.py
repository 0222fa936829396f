"""Notebooks as files: what people edit, ``notebooks/percent/NN_name.py``, and where its parameters stand.

Its executed form, ``notebooks/NN_name.ipynb``, is :mod:`workshop.publishing.twins`'s.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kit.files import ROOT
from papers.registry import paper_of, papers
from workshop.command_line import meant
from workshop.jobs.parameters import Parameter, read_parameters

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from traitlets.config import Config

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
TEACHING = "teaching"


class NotebookError(Exception):
    """A notebook that can't be found, read or executed."""


@dataclass(frozen=True)
class Source:
    """One notebook: ``path`` is what people edit, ``twin`` its executed form."""

    path: Path

    @property
    def name(self) -> str:
        """``13_paper_grpo``."""
        return self.path.stem

    @property
    def number(self) -> str:
        """``13``."""
        return self.name[:2]

    @property
    def family(self) -> str:
        """The paper it belongs to (``paper``), or ``teaching``: numbers below 10 belong to none."""
        if self.number < "10":
            return TEACHING
        if paper := paper_of(self.name):
            return paper.name
        # Of no registered paper: named NN_<family>, or NN_<family>_<stage> with one of these stages.
        return re.sub(r"_(sft|rewards|grpo|claims)$", "", self.name[3:])

    @property
    def twin(self) -> Path:
        """The executed notebook."""
        return self.path.parents[1] / f"{self.name}.ipynb"

    @property
    def title(self) -> str:
        """Its first heading."""
        found = re.search(r"^# # (.+)$", self.text, re.MULTILINE)
        return found.group(1).strip() if found else "(no heading)"

    @property
    def text(self) -> str:
        """The source as it is edited."""
        return self.path.read_text(encoding="utf-8")

    @property
    def sha256(self) -> str:
        """Hash of the source."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @property
    def code_sha256(self) -> str:
        """Hash of what is executed: its code cells, in order."""
        return code_sha256(load(self))


def sources(root: Path = ROOT) -> list[Source]:
    """All notebooks of the project in ``root``, and of the papers of other packages if it is the kit's, by number.

    Raises:
        PaperError: an entry of the registry is broken.
    """
    folders = {root / "notebooks"}
    if root == ROOT:
        folders |= {paper.notebooks_dir for paper in papers().values()}
    found = [path for folder in folders for path in (folder / "percent").glob("[0-9][0-9]_*.py")]
    return [Source(path) for path in sorted(found, key=lambda path: path.name)]


def find(target: str, root: Path = ROOT) -> list[Source]:
    """The notebooks that ``target`` means: a number, a name, or a family in order.

    Raises:
        NotebookError: there is none.
    """
    known = sources(root)
    found = [s for s in known if target in (s.number, s.name, s.twin.name, s.path.name)]
    if len(found) > 1:
        raise NotebookError(f"notebook {target!r} is ambiguous: {', '.join(str(s.path) for s in found)}; give its name")
    found = found or [s for s in known if s.family == target]
    if not found and target.zfill(2) in {s.number for s in known}:
        raise NotebookError(f"no notebook {target!r}: did you mean {target.zfill(2)}?")
    if not found:
        families = sorted({s.family for s in known})
        way_out = f"give a number ({_listed(known)}) or one of {', '.join(families)}"
        names = [*families, *(s.name for s in known)]
        raise NotebookError(f"no notebook {target!r}: {meant(target, names, way_out)}")
    return found


def _listed(known: Iterable[Source]) -> str:
    return ", ".join(s.number for s in known) or f"none found in {ROOT / 'notebooks' / 'percent'}"


def load(source: Source) -> NotebookNode:
    """The source as a notebook without outputs, the same whenever it is read."""
    import jupytext

    notebook = jupytext.reads(source.text, fmt="py:percent")
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    return notebook


def parameters(source: Source) -> dict[str, Parameter]:
    """Read what the cell tagged ``parameters`` declares; none if there is no such cell.

    Raises:
        ParameterError: it declares something in a form that can't be checked.
    """
    # Read without jupytext, whose import takes a second: commands ask for parameters before anything else.
    cells = re.findall(r'^# %%[^\n]*"parameters"[^\n]*\n(.*?)(?=^# %%|\Z)', source.text, re.MULTILINE | re.DOTALL)
    return read_parameters("\n".join(cells), source.name)


UNDECLARED = {
    "gradient_checkpointing": Parameter(
        "gradient_checkpointing", "bool", True, "recompute activations to save memory; unset: on a GPU"
    )
}
"""What the settings of a training read beside a notebook's parameters: it concerns memory, and no cell names it."""


def settable(source: Source) -> dict[str, Parameter]:
    """Name all that a profile or ``--set`` may set: parameters and, where a notebook trains, :data:`UNDECLARED`."""
    declared = parameters(source)
    return UNDECLARED | declared if "per_device_batch_size" in declared else declared


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells of code, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code_sha256(notebook: NotebookNode) -> str:
    """Hash of a notebook's code cells, in order."""
    return hashlib.sha256("\0".join(cell.source for cell in code_cells(notebook)).encode()).hexdigest()


@contextmanager
def local_kernel() -> Iterator[Config]:
    """Configuration of a kernel reached through local sockets: ports would be open to all users of the machine.

    Raises:
        NotebookError: no folder for temporary files has a path short enough for a socket's.
    """
    from traitlets.config import Config

    with tempfile.TemporaryDirectory(prefix="kit-kernel-", dir=_short_folder()) as folder:
        yield Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/k"}})


SHORT = 70
"""Bytes that the path of a folder may have for sockets two levels below it: the system allows a socket 103."""


def _short_folder() -> str:
    """A folder for temporary files with a short path: the usual one, or another of the system's."""
    usual = tempfile.gettempdir()
    for folder in (usual, os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp"):
        if folder and len(os.fsencode(folder)) <= SHORT and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise NotebookError(
        f"a kernel needs a folder for its sockets, and the path of {usual} has {len(os.fsencode(usual))} bytes: "
        f"set TMPDIR to a folder that you can write to, with a path of at most {SHORT} bytes"
    )


CALM = {"KIT_QUIET": "1", "PYTHONHASHSEED": "0"}
"""Environment of kernels whose outputs are stored: no progress bars, sets print in the same order each time."""


@contextmanager
def environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for kernels started within."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
