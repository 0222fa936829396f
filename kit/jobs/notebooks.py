"""Notebooks as files: the edited ``notebooks/percent/NN_name.py`` and its executed twin ``notebooks/NN_name.ipynb``.

``python -m kit notebooks`` converts, executes in a fresh kernel and writes the twin in a normal form:
cell ids from the cells' text, one output a stream, no timings, no versions, and the source's sha256
in the metadata. So a twin changes when its source or what it prints changes, and only then. Where nothing but texts
between the cells has changed, stored outputs are kept and nothing is executed.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kit.exercises.folded import GUESS
from kit.files import ROOT, runs_folder, write_text
from kit.jobs.parameters import Parameter, read_parameters
from kit.papers.registry import paper_of, papers

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from traitlets.config import Config

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LARGEST = 300_000
"""Bytes a committed notebook may have."""

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
    if not found:
        families = sorted({s.family for s in known})
        near = get_close_matches(target, [*families, *(s.name for s in known)], n=1)
        meant = f"did you mean {near[0]}? Else " if near else ""
        raise NotebookError(
            f"no notebook {target!r}: {meant}give a number ({_listed(known)}) or one of {', '.join(families)}"
        )
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


def normal(notebook: NotebookNode, stamp: str) -> NotebookNode:
    """``notebook`` in normal form, stamped with its source's hash. Changes it in place and returns it."""
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}, "kit": {"source": stamp}}
    for cell in notebook.cells:
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != "papermill-error-cell-tag"]
        cell.metadata = {"tags": tags} if tags else {}
        if GUESS in tags:  # the text above asks the reader to predict it
            cell.metadata["jupyter"] = {"outputs_hidden": True}
        if cell.cell_type == "code":
            cell.outputs = _merged(cell.outputs)
    return notebook


def _merged(outputs: Sequence[Any]) -> list[Any]:
    """Outputs with each stream in one piece between two displays (how it is cut depends on timing).

    Lines that were rewritten (a progress line) are kept as last seen.
    """
    joined: list[Any] = []
    for is_stream, group in itertools.groupby(outputs, key=lambda output: output.output_type == "stream"):
        if not is_stream:
            joined += group
            continue
        pieces = list(group)
        for name in ("stdout", "stderr"):
            same = [piece for piece in pieces if piece.name == name]
            text = re.sub(r"[^\n]*\r(?!\n)", "", "".join(piece.text for piece in same).replace("\r\n", "\n"))
            if text:
                same[0].text = text
                joined.append(same[0])
    for output in joined:
        output.pop("transient", None)
    return joined


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
    if not force and (retold := _with_stored_outputs(source)) is not None:
        write_text(source.twin, dumps(retold))
        return "texts replaced"
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = load(source)
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
            write_text(kept, dumps(normal(notebook, source.sha256)))
            raise NotebookError(
                f"{source.name} failed with {error.ename}: {error.evalue}\nits output: {kept}"
            ) from error
    write_text(source.twin, dumps(normal(notebook, source.sha256)))
    return "executed"


def _with_stored_outputs(source: Source) -> NotebookNode | None:
    """The notebook with its twin's outputs; None if any code differs, or the twin is missing or wasn't executed."""
    import nbformat

    if not source.twin.exists():
        return None

    def code(notebook: NotebookNode) -> list[NotebookNode]:
        return [cell for cell in notebook.cells if cell.cell_type == "code"]

    def told(cell: NotebookNode) -> tuple[str, list[str]]:
        return cell.source, cell.metadata.get("tags", [])

    notebook, stored = load(source), code(nbformat.read(source.twin, as_version=4))
    if [told(cell) for cell in code(notebook)] != [told(cell) for cell in stored]:
        return None
    if any(cell.execution_count is None or any(o.output_type == "error" for o in cell.outputs) for cell in stored):
        return None
    for cell, kept in zip(code(notebook), stored, strict=True):
        cell.outputs, cell.execution_count = kept.outputs, kept.execution_count
    return normal(notebook, source.sha256)


@contextmanager
def local_kernel() -> Iterator[Config]:
    """Configuration of a kernel reached through local sockets: ports would be open to all users of the machine."""
    from traitlets.config import Config

    with tempfile.TemporaryDirectory(prefix="kit-kernel-") as folder:
        yield Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/k"}})


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


def problems(source: Source) -> list[str]:
    """List what is wrong with the twin of ``source``; empty if it is fresh, executed and small enough."""
    import nbformat

    twin = source.twin
    if not twin.exists():
        return [f"{twin.name} is missing"]
    notebook = nbformat.read(twin, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    stored = [(cell.cell_type, cell.source) for cell in notebook.cells]
    checks = {
        f"{twin.name} was made from another {source.path.name}": notebook.metadata.get("kit", {}).get("source")
        != source.sha256,
        f"{twin.name} has other cells than {source.path.name}": stored
        != [(cell.cell_type, cell.source) for cell in load(source).cells],
        f"{twin.name} has cells that were not executed": any(cell.execution_count is None for cell in code),
        f"{twin.name} holds an error": any(o.output_type == "error" for cell in code for o in cell.outputs),
        f"{twin.name} has {twin.stat().st_size:,} bytes, above {LARGEST:,}": twin.stat().st_size > LARGEST,
    }
    return [problem for problem, present in checks.items() if present]
