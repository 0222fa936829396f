"""Python as a tool: an episode's session in the sandbox, begun when the first code comes.

Departures
- [shared-confined-code] Paper: Code is executed by the environment; what it may do besides isn't told. Here: It runs
  without network, files and programs, within a time limit, and a turn that fails leaves no trace. Why: It is a
  model's code on the reader's machine. May change: Nothing for code that keeps to the prompt; half-done turns can't
  be used.
- [shared-fenced-code] Paper: The released prompt asks for a Markdown fence around the code, inside the tags. Here: The
  prompts ask for none; one is taken off before the code is run (:func:`kit.protocol.read_code`), and words outside of
  it are named as not run. Why: It costs tokens and says nothing, but a model that was taught to write it means the
  same. May change: Nothing that is learnt from: what was sampled keeps its fence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal

from PIL import Image

from kit.episode import NamedImage, Observation
from kit.protocol import read_code
from kit.tools.base import LONGEST, Images
from kit.tools.search import shortened
from turn_sandbox import Result, Sandbox

STDOUT = 500
"""Characters of standard output that an observation repeats; an ellipsis says that there were more."""

NOTES = 3
"""Warnings of a turn that an observation repeats: why an image was left out, how to show an array."""


def module_source(module: ModuleType) -> str:
    """Read a module's text, for a session's ``setup``: what agents call is code that is tested like any other."""
    return Path(str(module.__file__)).read_text(encoding="utf-8")


def _with(note: str, text: str) -> str:
    """An observation's text, with the note on a line of its own if there is one."""
    return f"{text.rstrip()}\n{note}\n".lstrip() if note else text


Read = Callable[[str], tuple[str, str]]
"""Reads an action's text: the code to run, and a note for the agent on what isn't run (empty: all is)."""

Show = Callable[[Sequence[NamedImage]], Sequence[NamedImage]]
"""Picks, of the images that a turn made, those to show."""

Render = Callable[[Result, str], Observation]
"""Tells the agent of a turn: how it ended, what it printed and made, and the note of :data:`Read`."""


def told(result: Result, note: str, show: Show = tuple, nothing: str = "") -> Observation:
    """Tell of a turn in plain words: its output, its images, why others can't be shown; or its error.

    Args:
        result: of the turn.
        note: on what of the code wasn't run.
        show: picks, of the images that the turn made, those to show.
        nothing: text if it printed nothing and there is nothing to show.
    """
    if result.status != "ok":
        reason = result.error or result.status
        return Observation(_with(note, f"Error: {reason[:LONGEST]}"), status=result.status)
    shown = tuple(show(result.images))
    said = shortened(result.stdout.rstrip().lstrip("\r\n"), STDOUT)
    between = "\n" if said[:1].isspace() else " "  # a table's first line may begin with spaces
    text = f"Output:{between}{said}\n" if result.stdout else ""
    notes = "".join(f"Note: {warning[:LONGEST]}\n" for warning in result.warnings[:NOTES])
    return Observation(_with(note, text + notes + ("" if text or shown else nothing)), shown)


class CodeTool:
    """Runs a turn's Python in the episode's session.

    Args:
        box: the sandbox, shared by any number of sessions.
        variables: values that the session's Python holds by name.
        images: PIL images that it holds by name.
        setup: trusted code that runs once, before the agent's.
        before: trusted code before each turn's; if it raises, the turn fails and leaves no trace.
        after: trusted code after each turn's, likewise.
        read: what of an action's text is run; a Markdown fence around it is taken off, unless a paper says otherwise.
        render: what the agent is told of a turn.
        want: names of variables whose values ``render`` finds in the result.
        cell: run each turn as a cell of a notebook, which shows the value that it ends with.
    """

    name = "code"
    description = "Runs Python. Variables and images stay for later turns; a turn that fails leaves no trace."
    parameters: Mapping[str, Any] = MappingProxyType(
        {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    )
    on_error: Literal["tell", "raise"] = "raise"  # the sandbox tells of the code's errors; its own end the run

    def __init__(
        self,
        box: Sandbox,
        variables: Mapping[str, Any],
        images: Mapping[str, Image.Image],
        setup: str = "",
        before: str = "",
        after: str = "",
        read: Read = read_code,
        render: Render = told,
        want: Sequence[str] = (),
        cell: bool = False,
    ) -> None:
        self._open = lambda: box.episode(variables=dict(variables), images=dict(images), setup=setup, cell=cell)
        self._around: dict[str, Any] = {"before": before, "after": after, "want": tuple(want)}
        self._read, self._render = read, render
        self._session: Any = None

    def call(self, arguments: Mapping[str, Any], images: Images) -> Observation:
        """Run ``code`` and tell what came of it."""
        del images  # the session has its own
        if self._session is None:
            self._session = self._open()
        code, note = self._read(arguments["code"])
        return self._render(self._session.run(code, **self._around), note)

    def close(self) -> None:
        """End the session, if it was begun."""
        if self._session is not None:
            self._session.close()
