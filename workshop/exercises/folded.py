"""Fold what a cell shows where the text above asks the reader to guess it, each time that JupyterLab runs the cell.

Such cells have the tag ``guess``. Stored outputs are folded by JupyterLab itself, which unfolds what it runs; so the
kernel puts what the cell shows into a ``<details>``. JupyterLab sends a cell's tags along; programs that execute whole
notebooks don't, and what they store is left as it is.
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Mapping
from html import escape
from typing import Any

GUESS = "guess"
"""Tag of a cell whose output answers a question asked above it."""

FOLDED = "folded: click to open"

KINDS = ("text/html", "image/png", "image/jpeg", "image/svg+xml", "text/plain")
"""Of an output that comes in several forms, the first of these is shown."""


def fold_guesses() -> None:
    """Fold from now on, in the kernel of a notebook; elsewhere, or if it is done already, do nothing."""
    if "ipykernel" not in sys.modules:
        return
    from IPython import get_ipython

    shell = get_ipython()
    if hasattr(shell, "get_parent") and not hasattr(shell, "kit_fold"):
        shell.kit_fold = fold = _Fold(shell)
        shell.events.register("pre_run_cell", fold.begin)
        shell.events.register("post_run_cell", fold.end)


class _Fold:
    """Keeps what a cell prints and displays, and shows it folded at its end; as it is if the cell failed."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._kept: list[str | Mapping[str, Any]] | None = None
        self._stdout: Any = None

    def begin(self, info: Any) -> None:
        """Keep what is shown from now on, if the cell is one to fold."""
        if GUESS not in self.shell.get_parent().get("metadata", {}).get("tags", ()):
            return
        self._kept = []
        self._stdout, sys.stdout = sys.stdout, _Printed(self._kept)
        for publisher in (self.shell.display_pub, self.shell.displayhook):
            publisher.register_hook(self._keep)

    def end(self, result: Any) -> None:
        """Show what was kept."""
        if self._kept is None:
            return
        kept, self._kept, sys.stdout = self._kept, None, self._stdout
        for publisher in (self.shell.display_pub, self.shell.displayhook):
            publisher.unregister_hook(self._keep)
        if result.success and kept:
            within = "".join(map(as_html, kept))
            folded = f'<details class="kit-folded"><summary>{FOLDED}</summary>{within}</details>'
            self.shell.display_pub.publish({"text/html": folded, "text/plain": f"({FOLDED})"})
            return
        for each in kept:
            if isinstance(each, str):
                print(each, end="")
            else:
                self.shell.display_pub.publish(each["data"], each["metadata"])

    def _keep(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Keep an output instead of sending it; what is drawn again later has a place of its own, and is sent."""
        content = message["content"]
        if message["msg_type"] == "update_display_data" or content.get("transient", {}).get("display_id"):
            return message
        assert self._kept is not None  # the hook is there only while outputs are kept
        self._kept.append(content)
        return None


class _Printed(io.TextIOBase):
    """Standard output that is kept in order with what is displayed."""

    encoding = "utf-8"

    def __init__(self, kept: list[Any]) -> None:
        self._kept = kept

    def write(self, text: str) -> int:
        """Keep it, after what was printed just before."""
        if self._kept and isinstance(self._kept[-1], str):
            self._kept[-1] += text
        else:
            self._kept.append(text)
        return len(text)


def as_html(output: str | Mapping[str, Any]) -> str:
    """An output as HTML.

    Args:
        output: printed text; or an output's ``data``, its forms by MIME type, and ``metadata``.
    """
    if isinstance(output, str):
        return f"<pre>{escape(output)}</pre>"
    data = output["data"]
    kind = next((kind for kind in KINDS if kind in data), None)
    if kind is None:
        return f"<pre>{escape(', '.join(data))}</pre>"
    if kind in ("image/png", "image/jpeg"):
        size = output["metadata"].get(kind, output["metadata"])
        given = "".join(f' {name}="{int(size[name])}"' for name in ("width", "height") if name in size)
        found = data[kind]  # bytes, as the object drew them: they become text only on the way to the browser
        code = base64.b64encode(found).decode() if isinstance(found, bytes) else found
        return f'<img{given} src="data:{kind};base64,{code}">'
    return f"<pre>{escape(data[kind])}</pre>" if kind == "text/plain" else str(data[kind])
