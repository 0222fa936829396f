"""JupyterLab as a reader has it: ``python -m kit lab`` in a folder of its own, driven through Chromium."""

from __future__ import annotations

import io
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image

from kit.files import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SCREENSHOTS = ROOT / "build" / "screenshots"
"""For people to look at; git ignores it."""

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

MINUTE = 60_000
"""Milliseconds, as the browser counts them."""

NOTEBOOK = "window.jupyterapp.shell.currentWidget.content"

TALLEST = 16_000
"""Pixels of a screenshot that Chromium can draw at once."""


def script(name: str) -> str:
    """A script of this folder that looks at a page, as a function to evaluate."""
    parts = [(Path(__file__).parent / file).read_text() for file in ("contrast.js", name)]
    return "() => {\n" + "".join(parts) + "}"


FINDINGS = script("lab_findings.js")
"""A script that looks at all outputs of the page."""


def chromium() -> str | None:
    """The path of an installed Chromium or Chrome."""
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def isolated(folder: Path) -> dict[str, str]:
    """An environment in which runs, settings, IPython's history and the copies lie in ``folder``."""
    places = {"KIT_RUNS": "runs", "HOME": "home", "JUPYTER_CONFIG_DIR": "jupyter", "JUPYTER_DATA_DIR": "data"}
    found = {name: str(folder / place) for name, place in places.items()}
    (folder / "home").mkdir(parents=True, exist_ok=True)
    # A reader's environment: what tells the kit to be quiet in tests and in CI is left out.
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "KIT_QUIET")}
    return {**inherited, **found, "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "SHELL": "/bin/bash"}


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Start ``python -m kit lab`` in the environment :func:`isolated`; yields an address with a token in it.

    Raises:
        RuntimeError: it ended, or didn't answer within two minutes; with what it printed.
    """
    port, token, log = free_port(), secrets.token_hex(8), folder / "server.log"
    options = ["--port", str(port), f"--IdentityProvider.token={token}", "--expose-app-in-browser", "--no-browser"]
    environment = isolated(folder)
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "kit", "lab", *options], stdout=out, stderr=out, env=environment, cwd=ROOT
        )
    try:
        for _ in range(240):
            try:
                with urlopen(f"http://127.0.0.1:{port}/api?token={token}", timeout=5):
                    break
            except (URLError, TimeoutError):
                if process.poll() is not None:
                    break
                time.sleep(0.5)
        else:
            process.kill()
        if process.poll() is not None:
            raise RuntimeError(f"kit lab ended with code {process.returncode}:\n{log.read_text()}")
        yield f"http://127.0.0.1:{port}/lab/tree/NOTEBOOK?token={token}&reset"
    finally:
        process.terminate()
        process.wait(30)


class Lab:
    """A browser's page with one notebook.

    Args:
        page: the page.
        address: from :func:`serve`.
        copies: folder of the notebooks that the server shows.
    """

    def __init__(self, page: Page, address: str, copies: Path) -> None:
        self.page, self.address, self.copies = page, address, copies

    def open(self, name: str) -> None:
        """Open the notebook that begins with ``name`` and wait until its kernel is idle."""
        [path] = self.copies.glob(f"{name}*.ipynb")
        inside = path.relative_to(self.copies.parents[1]).as_posix()
        self.page.goto(self.address.replace("NOTEBOOK", inside))
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=2 * MINUTE)
        # The panel is there before its document is.
        loaded = f"{NOTEBOOK}.widgets?.some(w => w.model.sharedModel.getSource())"
        self.page.wait_for_function(loaded, timeout=2 * MINUTE)
        self.wait_idle()

    def close(self) -> None:
        """End all kernels and forget what was open."""
        self.page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")

    def command(self, name: str, **args: Any) -> None:
        """Execute a command of JupyterLab and wait until it is done."""
        self.page.evaluate("([name, args]) => window.jupyterapp.commands.execute(name, args)", [name, args])

    def wait_idle(self, minutes: float = 2) -> None:
        """Wait until the kernel is connected and has nothing to do; the page says idle before there is one."""
        kernel = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
        self.page.wait_for_function(
            f"{kernel}?.connectionStatus === 'connected' && {kernel}?.status === 'idle'", timeout=minutes * MINUTE
        )

    def theme(self, name: str) -> None:
        """Choose the ``light`` or the ``dark`` theme."""
        self.command("apputils:change-theme", theme=THEMES[name])
        light = "true" if name == "light" else "false"
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")
        self.page.wait_for_timeout(500)  # style sheets of the theme are still coming in

    def sources(self) -> list[str]:
        """The text of each cell."""
        return list(self.page.evaluate(f"{NOTEBOOK}.widgets.map(w => w.model.sharedModel.getSource())"))

    def find_cell(self, text: str) -> int:
        """Index of the only cell whose text has ``text`` in it."""
        [found] = [i for i, source in enumerate(self.sources()) if text in source]
        return found

    def start(self, command: str) -> None:
        """Begin a command that runs cells, without waiting for its end."""
        self.page.evaluate(
            """name => {
                window.kitRan = false;
                window.jupyterapp.commands.execute(name).finally(() => { window.kitRan = true; });
            }""",
            command,
        )

    def wait_run(self, minutes: float) -> None:
        """Wait until the cells begun by :meth:`start` have run or one of them failed."""
        self.page.wait_for_function("window.kitRan === true", timeout=minutes * MINUTE)
        self.wait_idle()

    def run_all(self, minutes: float) -> None:
        """Run all cells to the end, or to the first error."""
        self.start("notebook:run-all-cells")
        self.wait_run(minutes)

    def start_cell(self, index: int) -> None:
        """Begin to run one cell."""
        self.page.evaluate(f"i => {{ {NOTEBOOK}.activeCellIndex = i; }}", index)
        self.start("notebook:run-cell")

    def rewrite(self, index: int, text: str) -> None:
        """Replace a cell's text by the keyboard, as a reader does."""
        editor = self.cell(index).locator(".cm-content")
        editor.scroll_into_view_if_needed()
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def unfold(self, index: int) -> None:
        """Open a cell's output if it is folded, by JupyterLab as it is stored or by the kernel when it was run."""
        folded = self.cell(index).locator(".jp-OutputPlaceholder, details.kit-folded:not([open]) > summary")
        if folded.count():
            folded.first.click()

    def interrupt(self) -> None:
        """Press the stop button."""
        self.command("notebook:interrupt-kernel")

    def save(self) -> None:
        """Write the notebook, as autosave does."""
        self.command("docmanager:save")

    def cell(self, index: int) -> Locator:
        """The cell's element."""
        return self.page.locator(".jp-NotebookPanel .jp-Notebook .jp-Cell").nth(index)

    def outputs(self, index: int) -> str:
        """What a reader can read below a cell, once it is on screen: JupyterLab leaves out what isn't."""
        self.cell(index).scroll_into_view_if_needed()
        self.cell(index).locator(".jp-OutputArea-output").first.wait_for(state="attached")
        return "\n".join(self.cell(index).locator(".jp-OutputArea-output").all_inner_texts())

    def wait_for_text(self, index: int, pattern: str, minutes: float = 1) -> str:
        """Wait until what a reader sees below a cell has ``pattern``, a regular expression, in it; returns what fits.

        Asked again and again: while JupyterLab draws an output anew, a single look may find nothing there.
        """
        deadline = time.monotonic() + minutes * MINUTE / 1000
        while not (found := re.search(pattern, seen := self.outputs(index))):
            assert time.monotonic() < deadline, f"{pattern!r} isn't below cell {index}, but: {seen}"
            self.page.wait_for_timeout(100)
        return found[0]

    def boxes(self, index: int, minutes: float = 1, **selectors: str) -> dict[str, dict[str, float]]:
        """Where the first element of each selector below a cell stands, as ``x``, ``y``, ``width`` and ``height``.

        All in one look: an output that JupyterLab draws anew is gone for a moment, and two looks may see two pages.
        """
        found = self.page.wait_for_function(
            """([index, selectors]) => {
                const cell = document.querySelectorAll(".jp-NotebookPanel .jp-Notebook .jp-Cell")[index];
                const boxes = Object.entries(selectors).map(([name, selector]) => {
                    const box = cell?.querySelector(`.jp-OutputArea-output ${selector}`)?.getBoundingClientRect();
                    return [name, box?.height && box.toJSON()];
                });
                return boxes.every(([, box]) => box) && Object.fromEntries(boxes);
            }""",
            arg=[index, selectors],
            timeout=minutes * MINUTE,
        )
        return dict(found.json_value())

    def errors(self) -> list[str]:
        """Names and messages of the errors among the outputs."""
        found = self.page.evaluate(
            f"""{NOTEBOOK}.widgets.filter(w => w.model.type === "code").flatMap(w => w.model.outputs.toJSON())
                .filter(output => output.output_type === "error").map(output => output.ename + ": " + output.evalue)"""
        )
        return list(found)

    def unexecuted(self) -> int:
        """How many code cells have no execution count."""
        return int(
            self.page.evaluate(
                f"""{NOTEBOOK}.widgets.filter(w => w.model.type === "code" && w.model.sharedModel.getSource()
                    && w.model.executionCount === null).length"""
            )
        )

    def findings(self) -> dict[str, Any]:
        """Look at all outputs once they have been on screen: cards, images, contrast, struck text, dialogs."""
        for index in range(self.page.locator(".jp-NotebookPanel .jp-Notebook .jp-Cell").count()):
            self.cell(index).scroll_into_view_if_needed()
        return dict(self.page.evaluate(FINDINGS))

    def pixels(self, image: Locator) -> Counter[tuple[int, int, int]]:
        """The colours of an element as shown, each with its number of pixels."""
        image.scroll_into_view_if_needed()
        shown = Image.open(io.BytesIO(image.screenshot())).convert("RGB")
        return Counter(zip(*(channel.tobytes() for channel in shown.split()), strict=True))

    def screenshot(self, name: str) -> Path:
        """Draw the whole notebook into a file of :data:`SCREENSHOTS`, in a window as high as it needs."""
        before = self.page.viewport_size
        assert before is not None
        outer = "document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-outer')"
        height = self.page.evaluate(f"{outer}.scrollHeight")
        self.page.set_viewport_size({"width": before["width"], "height": min(TALLEST, int(height) + 150)})
        self.page.wait_for_timeout(500)
        self.page.evaluate(f"{outer}.scrollTop = 0")
        self.page.wait_for_timeout(1500)
        path = SCREENSHOTS / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path)
        self.page.set_viewport_size(before)
        return path


def set_parameters(path: Path, **values: object) -> None:
    """Change values in the cell tagged ``parameters`` of a notebook's file, as a reader does by hand."""
    notebook = json.loads(path.read_text())
    [cell] = [cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", [])]
    lines = "".join(cell["source"]).splitlines()
    for name, value in values.items():
        [at] = [i for i, line in enumerate(lines) if line.startswith(f"{name}:")]
        declared, _, comment = lines[at].partition("  #")
        lines[at] = f"{declared.partition(' = ')[0]} = {value!r}  #{comment}"
    cell["source"] = "\n".join(lines)
    path.write_text(json.dumps(notebook))
