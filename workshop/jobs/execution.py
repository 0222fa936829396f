"""Execute one notebook of a job with papermill, into its run: the executed copy, and everything it printed in a log."""

from __future__ import annotations

import itertools
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from logging import ERROR, getLogger
from pathlib import Path
from typing import Any

from kit.files import explain_full_disk, write_text
from workshop.jobs.checks import JobError
from workshop.jobs.console import LOG, StageLine, Tee, near
from workshop.jobs.notebooks import KERNEL, Source, code_cells, load, local_kernel
from workshop.jobs.parameters import Value


def execute_notebook(source: Source, values: Mapping[str, Value], output: Path, verbose: bool) -> None:
    """Execute a notebook; after every cell and every half a minute ``output`` holds what was executed so far.

    Args:
        source: the notebook.
        values: of its parameters.
        output: its executed copy, in the run's folder.
        verbose: show what it prints, too, instead of a bar.

    Raises:
        JobError: a cell failed, or the kernel died.
        OSError: naming folder and free bytes if the disk is full.
    """
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError
    from papermill.iorw import papermill_io

    with (
        explain_full_disk(output),
        (output.parent / LOG).open("a", encoding="utf-8", errors="backslashreplace") as log,
        local_kernel() as config,
        StageLine(source, output.parent, bar=not verbose) as line,
    ):
        print(f"== {source.name}, {time.strftime('%Y-%m-%d %H:%M:%S')}", file=log)
        printed = Tee(log, sys.stdout) if verbose else log
        config.NotebookClient.extra_arguments = ["--log-level=CRITICAL"]  # that it is shut down is nobody's concern
        getLogger("papermill").setLevel(ERROR)  # values were checked; it warns of those that no cell declares
        papermill_io.register(str(output), _WholeFiles(line))
        try:
            papermill.execute_notebook(
                load(source),
                output,
                parameters=dict(values),
                kernel_name=KERNEL["name"],
                cwd=source.twin.parent,
                progress_bar=False,
                start_timeout=300,
                autosave_cell_every=30,
                stdout_file=printed,
                stderr_file=printed,
                config=config,
            )
        except PapermillExecutionError as error:
            print(re.sub(r"\x1b\[[\d;]*m", "", str(error)), file=log)
            raise JobError(
                _explain(f"in cell [{error.exec_count}] with {error.ename}: {error.evalue}", source, output)
            ) from error
        except DeadKernelError as error:
            raise JobError(_explain("because its kernel died, most likely out of memory", source, output)) from error


class _WholeFiles:
    """Writes papermill's notebooks as a whole, since papermill empties the file first, and then may be killed.

    What a training prints is in few lines there: all of them are in the run's log.
    """

    def __init__(self, line: StageLine) -> None:
        self._line = line

    def write(self, text: str, path: str) -> None:
        import nbformat

        notebook = nbformat.reads(text, as_version=4)
        for cell in code_cells(notebook):
            cell.outputs = merged(cell.outputs)
        write_text(Path(path), nbformat.writes(notebook))
        self._line.saved(json.loads(text))

    def pretty_path(self, path: str) -> str:
        return path


def merged(outputs: Sequence[Any]) -> list[Any]:
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
            lines = "".join(piece.text for piece in same).replace("\r\n", "\n").split("\n")
            text = "\n".join(line.rpartition("\r")[2] for line in lines)
            if text:
                same[0].text = text
                joined.append(same[0])
    for output in joined:
        output.pop("transient", None)
    return joined


def _explain(why: str, source: Source, output: Path) -> str:
    return (
        f"{source.name} failed {why}\n"
        f"Its output up to there, and the traceback: {near(output)}; what it printed: {near(output.parent / LOG)}\n"
        "The same command again starts with this notebook; training continues from its last checkpoint."
    )
