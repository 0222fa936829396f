"""``python -m kit doctor``: is this machine set up as the lock says, and what can be relied on here."""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata
from pathlib import Path

from kit.files import ROOT, runs_folder
from papers.registry import papers
from workshop.jobs.listing import run_folders, run_row, table

NEEDED_GB = 2
"""Free disk that a laptop run of a paper's notebooks needs."""


MAIN_PACKAGES = ("torch", "transformers", "trl", "accelerate", "peft", "numpy", "pillow", "papermill")
"""Packages whose versions a bug report names."""


def read_lock(path: Path) -> dict[str, str]:
    """``{package: version}`` of a lock file of ``name==version`` lines.

    Raises:
        ValueError: a line of another form.
    """
    pins: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, equals, version = line.strip().partition("==")
        if not equals or not version:
            raise ValueError(f"{path}, line {number}: {line!r}; write name==version")
        pins[name] = version
    return pins


def installed(name: str) -> str:
    """The version of an installed package, or ``missing``."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def differences(pins: dict[str, str]) -> list[tuple[str, str, str]]:
    """(package, locked, installed) of every package that is not installed as locked; local suffixes don't count."""
    found = []
    for name, wanted in pins.items():
        have = installed(name)
        if have.partition("+")[0] != wanted:
            found.append((name, wanted, have))
    return found


DECIDE = ("torch", "transformers", "trl", "peft", "vllm")
"""Packages that sample and train."""


def not_the_locks() -> str:
    """Say in one line which packages that sample and train are of other versions than the lock's; empty: none."""
    pins = read_lock(installed_lock())
    wrong = differences({name: pins[name] for name in DECIDE if name in pins})
    if not wrong:
        return ""
    told = ", ".join(f"{name} {have} (lock {locked})" for name, locked, have in wrong)
    return f"not the lock's: {told}; the kit was tried with the lock's"


NO_DEPS = ROOT / "locks" / "no-deps.txt"
"""Packages that are installed without what they ask for, beside every lock."""


def installed_lock() -> Path:
    """The lock this environment was made from: the GPU's where vllm is installed, else the CPU's."""
    try:
        metadata.version("vllm")
    except metadata.PackageNotFoundError:
        return ROOT / "locks" / "cpu.txt"
    return ROOT / "locks" / "gpu.txt"


def doctor() -> tuple[str, bool]:
    """A report, and whether a job can be expected to run here."""
    import torch

    from turn_sandbox import report

    lock = installed_lock()
    wrong = differences(read_lock(lock) | read_lock(NO_DEPS))
    nearest = next(p for p in [runs_folder(), *runs_folder().parents] if p.is_dir())
    free = shutil.disk_usage(nearest).free / 1e9
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    threads = os.environ.get("OMP_NUM_THREADS", "not set: 1 is fastest on small, busy machines")
    rows = [
        ["system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"],
        ["python", platform.python_version()],
        ["torch", f"{torch.__version__}, GPUs: {', '.join(gpus) or 'none'}"],
        ["threads", f"torch {torch.get_num_threads()}, OMP_NUM_THREADS {threads}"],
        ["packages", f"{len(wrong)} differ from locks/{lock.name}" if wrong else f"as in locks/{lock.name}"],
        ["papers", ", ".join(paper.title for paper in papers().values())],
        ["runs", str(runs_folder())],
        ["disk", f"{free:.1f} GB free" + ("" if free >= NEEDED_GB else f", below the {NEEDED_GB} GB a run needs")],
    ]
    parts = [table([["", "here"], *rows]), *filter(None, [not_the_locks()])]
    if wrong:
        parts.append(table([["package", "lock", "installed"], *wrong]) + "\n\nmake -B .venv/ready-cpu puts that right")
    parts.append(report())
    return "\n\n".join(parts), not wrong and free >= NEEDED_GB


def bug_report() -> tuple[str, bool]:
    """The doctor's report, versions and the newest run as a block to paste, the home folder written ``~``."""
    text, well = doctor()
    versions = [[name, installed(name)] for name in MAIN_PACKAGES]
    runs = sorted(run_folders(), key=lambda path: path.stat().st_mtime)
    rows = [["newest run", "profile", "what it has"], run_row(runs[-1])] if runs else [["newest run"], ["none"]]
    parts = [f"python -m kit {installed('visual-agents-kit')}", text]
    parts += [table([["package", "version"], *versions]), table(rows)]
    return "```text\n" + "\n\n".join(parts).replace(str(Path.home()), "~") + "\n```", well
