"""An executed notebook as a page: text, code, and what each cell showed; predictions and hints stay folded."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from workshop.exercises.check import find
from workshop.exercises.folded import GUESS
from workshop.publishing.site.markdown import folded, page

PICTURES = {"image/png": "png", "image/jpeg": "jpg"}
ASKED = re.compile(r"^check\(\"([\w.]+)\"", re.MULTILINE)
"""An exercise that a cell checks: on the page nobody can call ``hint``."""
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebook_page(notebook: NotebookNode, path: str, pages: Mapping[str, str], folder: Path, source: str = "") -> str:
    """Write a notebook's pictures, and return the page that shows it.

    Args:
        notebook: as it is stored, with outputs.
        path: of its file in the repository.
        pages, source: as for :func:`workshop.publishing.site.markdown.page`.
        folder: the pictures' own; the page lies beside it.
    """
    parts = []
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code":
            parts.append(page(cell.source, path, pages, source))
            continue
        code = f"```python\n{cell.source}\n```"
        if "parameters" in tags:
            code = f'??? note "The parameters"\n\n{_indented(code)}'
        shown = "".join(_shown(one, folder, f"{number}-{k}") for k, one in enumerate(cell.outputs))
        if shown and GUESS in tags:
            shown = folded("Your guess first. Then open what the cell shows.", shown)
        for id in ASKED.findall(cell.source):
            shown += folded(f"A hint for {id}", f"<p>{escape(find(id).hint)}</p>")
        parts.append(f"{code}\n\n<div class=shown>{shown}</div>" if shown else code)
    return "\n\n".join(parts) + "\n"


def _shown(output: Any, folder: Path, name: str) -> str:
    """One output as HTML without empty lines, which would end it in Markdown."""
    if output.output_type == "stream":
        return _pre(output.text)
    if output.output_type == "error":
        return _pre("\n".join(output.traceback))
    data, facts = output.data, output.metadata
    for kind, ending in PICTURES.items():
        if kind in data and "text/html" not in data:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.{ending}").write_bytes(base64.b64decode(data[kind]))
            width = facts.get(kind, {}).get("width")
            size = f" width={width}" if width else ""
            drawn = "" if kind == "image/jpeg" else " class=drawn"
            return f'<p><img src="{folder.name}/{name}.{ending}" alt="figure"{size}{drawn}></p>'
    if "text/html" in data:
        html = re.sub(r"\n\s*\n", "\n", data["text/html"])
        return f"<div>{html}</div>"
    if "text/markdown" in data:
        return f"<p>{escape(data['text/markdown'])}</p>"
    return _pre(data.get("text/plain", ""))


def _pre(text: str) -> str:
    kept = escape(ANSI.sub("", text).rstrip()).replace("\n\n", "\n&nbsp;\n")
    return f"<pre class=out>{kept}</pre>" if kept else ""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
