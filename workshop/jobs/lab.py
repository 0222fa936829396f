"""JupyterLab on copies of the executed notebooks: ``python -m kit lab``; ``python -m kit reset 13`` for a fresh copy.

::

    lab/notebooks/*.ipynb    the copies, for the reader to run and change; JupyterLab saves into them
    lab/.jupyter/            copies.json (how each copy began), JupyterLab's settings and signatures for this folder
    lab/docs                 a copy of the pages: JupyterLab shows no picture that lies behind a link
    lab/kit, lab/runs, …     links to the project's own files

``lab`` lies in the project's folder and git ignores it; with KIT_RUNS set it is ``$KIT_RUNS/_lab`` (no run can have
that name), for an installation that can't be written to. The copies stand among the links as the notebooks stand in the
project: links between notebooks and pages lead to copies, and JupyterLab doesn't reach the notebooks that git keeps.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kit.files import ROOT, UNWRITABLE, read_json, runs_folder, write_bytes, write_json, write_text
from workshop.jobs.notebooks import Source, find, sources

FIRST = "00_start.ipynb"
"""The notebook that JupyterLab opens."""

PAGES = "docs"
"""Folder of the project's pages."""

OWN = ("notebooks", "lab", "runs", "build", PAGES)
"""Entries of the project's folder that are not linked: the copies' own, and what the kit writes."""

RESET = "python -m kit reset"

STYLE = """\
/* JupyterLab shows the first line of a folded output, and in many cells that is the answer to guess. */
.jp-OutputPlaceholder .jp-PlaceholderText { font-size: 0; }
.jp-OutputPlaceholder .jp-PlaceholderText::after {
  content: "folded: click to open";
  font-size: var(--jp-ui-font-size1);
}
/* JupyterLab breaks long lines; in a table of results each row would become two, and its columns unreadable. */
.jp-Notebook .jp-OutputArea-output.jp-RenderedText pre { white-space: pre; overflow-x: auto; }
"""
"""Of the pages that the server of ``lab`` sends."""


@dataclass(frozen=True)
class Lab:
    """The folders of one reader's copies: ``folder`` holds them, ``root`` is the top of JupyterLab's file browser."""

    folder: Path
    root: Path

    @property
    def notebooks(self) -> Path:
        """Folder of the copies."""
        return self.folder / "notebooks"

    @property
    def private(self) -> Path:
        """Folder of settings, signatures and the list of copies; JupyterLab's file browser hides it."""
        return self.folder / ".jupyter"

    @property
    def record(self) -> Path:
        """File with the digest that each copy had when it was made."""
        return self.private / "copies.json"


def find_lab(root: Path = ROOT) -> Lab:
    """The copies' folder of the project in ``root`` (it need not exist yet).

    With KIT_RUNS set the file browser shows that folder, not ``_lab`` alone: a link from there back to the runs would
    be a circle for programs that follow links, TensorBoard for one.
    """
    if os.environ.get("KIT_RUNS"):
        return Lab(runs_folder() / "_lab", runs_folder())
    return Lab(root / "lab", root / "lab")


def digest(text: str) -> str:
    """Hash of a notebook's cells and outputs; its metadata, which JupyterLab completes on opening, don't count.

    Returns:
        64 hexadecimal digits; empty if ``text`` is not a notebook.
    """
    import nbformat

    try:
        cells = nbformat.reads(text, as_version=4).cells
        kept = [[c.cell_type, c.source, c.get("outputs", []), c.get("attachments", {})] for c in cells]
    except Exception:  # a reader's file may be broken in any way, and nbformat raises whatever it meets
        return ""
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def copy_notebooks(lab: Lab, known: Iterable[Source]) -> dict[str, str]:
    """Copy each executed notebook that has no copy, renew copies nobody changed, and sign both.

    Returns:
        state of each copy by its file name: new, renewed, current, changed (kept as the reader left it), or outdated
        (changed, and the kit's is newer).
    """
    began: dict[str, str] = read_json(lab.record) or {}
    states = {}
    for source in known:
        name, copy = source.twin.name, lab.notebooks / source.twin.name
        if not source.twin.exists():
            continue
        text = source.twin.read_text(encoding="utf-8")
        ours, theirs = digest(text), digest(copy.read_text(encoding="utf-8")) if copy.exists() else None
        if theirs not in (None, ours, began.get(name)):
            states[name] = "changed" if began.get(name) == ours else "outdated"
            continue
        states[name] = "current" if theirs == ours else "new" if theirs is None else "renewed"
        if theirs != ours:
            write_text(copy, text)
        began[name] = ours
        trust(lab, copy)
    write_json(lab.record, began)
    return states


def trust(lab: Lab, path: Path) -> None:
    """Sign a notebook for the server of ``lab``: else the style sheets in its outputs are dropped until it is run."""
    import nbformat
    from nbformat.sign import NotebookNotary

    lab.private.mkdir(parents=True, exist_ok=True)
    with NotebookNotary(data_dir=str(lab.private)) as notary:
        notary.sign(nbformat.read(path, as_version=4))


def reset(lab: Lab, source: Source, now: datetime) -> Path | None:
    """Put a fresh copy of one notebook in place of the reader's.

    Args:
        lab: the reader's copies.
        source: the notebook.
        now: time that names what the reader had.

    Returns:
        where the reader's version is now; None if there was none, or nothing in it had been changed.
    """
    copy = lab.notebooks / source.twin.name
    kept = copy.with_name(f"{copy.stem}.{now:%Y-%m-%d-%H%M%S}.ipynb")
    began = read_json(lab.record) or {}
    fresh = (began.get(copy.name), digest(source.twin.read_text(encoding="utf-8")))
    changed = copy.exists() and digest(copy.read_text(encoding="utf-8")) not in fresh
    if changed:
        os.replace(copy, kept)
    else:
        copy.unlink(missing_ok=True)
    copy_notebooks(lab, [source])
    return kept if changed else None


def link_project(lab: Lab, root: Path = ROOT) -> None:
    """Link the project's files and the runs beside the copies, and copy its pages; a reader's own files stay.

    Args:
        lab: the reader's copies.
        root: the project's folder.
    """
    hidden = re.compile(rf"[._]|{'$|'.join(OWN)}$|.*[.]egg-info$")
    targets = {path.name: path for path in root.iterdir() if not hidden.match(path.name)}
    if lab.root == lab.folder:
        runs_folder().mkdir(parents=True, exist_ok=True)
        targets["runs"] = runs_folder()
    lab.folder.mkdir(parents=True, exist_ok=True)
    for link in [path for path in lab.folder.iterdir() if path.is_symlink()]:
        if targets.get(link.name) != link.readlink():
            link.unlink()
    for name, target in targets.items():
        with suppress(FileExistsError):
            (lab.folder / name).symlink_to(target)
    for page in (path for path in (root / PAGES).rglob("*") if path.is_file()):
        write_bytes(lab.folder / page.relative_to(root), page.read_bytes())


def write_settings(lab: Lab, root: Path = ROOT) -> None:
    """Write the settings of the server of ``lab`` and of its pages; the reader's own in the home folder stay untouched.

    Args:
        lab: the reader's copies.
        root: the project's folder, where terminals start.
    """
    opened = (lab.notebooks / FIRST).relative_to(lab.root).as_posix()
    server = {
        "ServerApp": {
            "root_dir": str(lab.root),
            "terminado_settings": {"shell_command": shell(lab, root)},
            "tornado_settings": {"static_custom_path": [str(lab.private / "custom")]},
        },
        "LabApp": {
            "default_url": f"/lab/tree/{opened}",
            "workspaces_dir": str(lab.private / "workspaces"),
            "custom_css": True,
            "news_url": None,
            "check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
        },
        "NotebookNotary": {"data_dir": str(lab.private)},
    }
    page = {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        # A link from a notebook to a page of docs/ shows the page, not its source.
        "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},
    }
    write_json(lab.private / "jupyter_lab_config.json", server)
    write_text(lab.private / "custom" / "custom.css", STYLE)
    write_json(lab.private / "labconfig" / "default_setting_overrides.json", page)
    write_json(lab.private / "labconfig" / "page_config.json", {"buildCheck": False, "buildAvailable": False})


def shell(lab: Lab, root: Path) -> list[str]:
    """The command of JupyterLab's terminals: the reader's shell in the project's folder.

    bash reads the reader's own start-up file first and gets the environment's programs in front of PATH afterwards;
    other shells inherit PATH, which their start-up files may change.
    """
    program = os.environ.get("SHELL") or shutil.which("bash") or "/bin/sh"
    command = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(root), program]
    if Path(program).name != "bash":
        return command
    start = lab.private / "bashrc"
    write_text(start, f'[ -f ~/.bashrc ] && . ~/.bashrc\nPATH="{Path(sys.executable).parent}:$PATH"\n')
    return [*command, "--rcfile", str(start)]


def environment(lab: Lab, inherited: Mapping[str, str]) -> dict[str, str]:
    """The server's environment: settings from ``lab``, programs and kernels from the environment the kit runs in.

    Args:
        lab: the reader's copies.
        inherited: environment variables of this process.
    """
    found = dict(inherited)
    found["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), found.get("PATH", os.defpath)])
    if sys.prefix != sys.base_prefix:
        found["VIRTUAL_ENV"] = sys.prefix
    before = found.get("JUPYTER_CONFIG_PATH")
    found["JUPYTER_CONFIG_PATH"] = os.pathsep.join([str(lab.private), *([before] if before else [])])
    found["JUPYTER_PREFER_ENV_PATH"] = "1"  # else a kernel of the same name in the home folder is chosen
    return found


def arguments(options: Sequence[str], inherited: Mapping[str, str], is_root: bool) -> list[str]:
    """Complete the options of ``jupyter lab``; those given come last and win.

    Args:
        options: as the reader gave them.
        inherited: environment variables, of which some tell that there is a display to open a browser on.
        is_root: this process runs as root, and JupyterLab refuses that unless told. It is told so here, as in most
            containers there is no other user, but not if another address than this machine's own was asked for.
    """
    given = {option.partition("=")[0] for option in options}
    added = []
    if is_root and not given & {"--ip", "--ServerApp.ip", "--allow-root"}:
        added.append("--allow-root")
    if sys.platform != "darwin" and not {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & inherited.keys():
        added.append("--no-browser")
    return [*added, *options]


def prepare(lab: Lab, root: Path = ROOT) -> str:
    """Bring copies, links and settings up to date; returns a message on where the copies are and which were kept.

    Args:
        lab: the reader's copies.
        root: the project's folder.

    Raises:
        ValueError: the folder can't be written; says which one can be chosen instead.
    """
    try:
        link_project(lab, root)
        states = copy_notebooks(lab, sources(root))
        write_settings(lab, root)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise ValueError(f"{lab.folder} can't be written; set KIT_RUNS to a folder of your own") from error
    lines = [f"Your notebooks are copies, in {lab.notebooks}. {RESET} NUMBER gives a fresh one."]
    kept = [name[:2] for name, state in sorted(states.items()) if state == "outdated"]
    if kept:
        lines.append(f"You changed {', '.join(kept)}, and the kit has newer ones: {RESET} {' '.join(kept)} keeps both.")
    return "\n".join(lines)


def start(options: Sequence[str]) -> None:
    """Become JupyterLab, with ``options`` for it.

    Raises:
        ValueError: nothing can be written.
    """
    lab = find_lab()
    print(prepare(lab))
    words = arguments(options, os.environ, os.geteuid() == 0)
    if "--allow-root" in words and "--allow-root" not in options:
        print("You are root: whoever has the address below acts as root. Only this machine can reach it.")
    if "--no-browser" in words and "--no-browser" not in options:
        print("There is no display to open a browser on: open the address below.")
    sys.stdout.flush()
    command = [sys.executable, "-m", "jupyterlab", *words]
    os.execve(sys.executable, command, environment(lab, os.environ))


def reset_all(targets: Sequence[str], root: Path = ROOT) -> str:
    """Give fresh copies of the notebooks that ``targets`` name; returns a message on where the reader's own are now.

    Args:
        targets: numbers, names, papers, or ``all``.
        root: the project's folder.

    Raises:
        NotebookError: there is no such notebook.
    """
    lab, now = find_lab(root), datetime.now()
    chosen = sources(root) if "all" in targets else [source for target in targets for source in find(target, root)]
    lines = []
    for source in chosen:
        kept = reset(lab, source, now)
        lines.append(f"{source.name}: {f'yours is now {kept.name}' if kept else 'as it came'}")
    lines.append("In JupyterLab an open one changes with File, Reload Notebook from Disk.")
    return "\n".join(lines)
