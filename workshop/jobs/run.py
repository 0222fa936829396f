"""Notebooks as jobs: checked parameters in, an executed notebook and its results out, resumable.

A run is a folder (:mod:`kit.files`). Its ``params.json`` says what was asked for and how far each
notebook came::

    {"name": "demo",
     "notebooks": {"13_paper_grpo": {"status": "done", "profile": "laptop", "parameters": {...},
                                "source": "<sha256>", "minutes": 0.4}}}

``status`` is running, done, failed (``why`` says why) or interrupted. Runs that are to be published have ``made_by``
besides: the code by which the notebook was begun.

The same command again goes on where it stopped: finished notebooks are skipped, an unfinished one
is executed again (training continues from its own checkpoints).
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kit.files import (
    ROOT,
    FolderInUse,
    exclusive,
    find_run,
    is_held,
    read_json,
    run_folder,
    write_bytes,
    write_json,
)
from kit.policy.limits import ENGINE
from kit.train.watchers import JOB
from papers.registry import paper_of
from workshop.jobs.checks import JobError, check_values_together
from workshop.jobs.console import LOG, near, short_title
from workshop.jobs.execution import execute_notebook
from workshop.jobs.notebooks import Source, environment, find, parameters, settable
from workshop.jobs.parameters import ParameterError, Value, check_range, check_values, parse, unknown

__all__ = ["Job", "JobError", "Planned", "execute", "plan", "profile_values", "run_folder"]


RESERVE, RESERVE_BYTES = ".reserve", 1 << 16
"""A file in a run's folder that gives way when a notebook ends: so even a full disk has room for how it ended."""


def progress_of(folder: Path) -> dict[str, Any]:
    """Read how far each notebook of a run came: its name → its entry in ``params.json``; empty for one without jobs.

    One that still counts as running though no process holds the run was killed: it is told as interrupted.

    Raises:
        ValueError: the file is something else.
    """
    record = read_json(folder / "params.json") or {"notebooks": {}}
    found = record.get("notebooks") if isinstance(record, dict) else None
    if not isinstance(found, dict) or not all(isinstance(one, dict) and "status" in one for one in found.values()):
        raise ValueError(f"{folder / 'params.json'} is no record of a run: repair or remove it")
    killed = [] if is_held(folder) else [name for name, mine in found.items() if mine["status"] == "running"]
    return found | {name: {**found[name], "status": "interrupted"} for name in killed}


def begun_with(name: str) -> dict[str, Mapping[str, Any]]:
    """Values of the notebooks that a run has begun, each notebook's under its name."""
    return {one: entry.get("parameters", {}) for one, entry in progress_of(find_run(name)).items()}


PROFILES = ("smoke", "laptop", "gpu", "node")


@dataclass(frozen=True)
class Planned:
    """One notebook of a job and the values it gets."""

    source: Source
    values: dict[str, Value]

    @property
    def all_values(self) -> dict[str, Value]:
        """The values it gets, and the notebook's own for all other parameters."""
        return {key: parameter.default for key, parameter in parameters(self.source).items()} | self.values


@dataclass(frozen=True)
class Job:
    """Everything that is going to run, checked.

    Attributes:
        name: of the run; of a branch, with its tag.
        profile: name of the profile.
        notebooks: in order.
        branch_of: the run that a branch keeps earlier stages of; empty: it is none.
        tag: of the branch.
    """

    name: str
    profile: str
    notebooks: tuple[Planned, ...]
    branch_of: str = ""
    tag: str = ""

    @property
    def needs(self) -> dict[str, int]:
        """Files and folders that must be there before the first notebook → number of the notebook that makes each."""
        mine = {int(planned.source.number) for planned in self.notebooks}
        found: dict[str, int] = {}
        for planned in self.notebooks:
            paper = paper_of(planned.source.name)
            found |= paper.needs.get(planned.source.name, {}) if paper else {}
        return {path: made for path, made in found.items() if made not in mine}


def profile_values(source: Source, profile: str) -> dict[str, Any]:
    """Read one notebook's values from ``notebooks/profiles/<family>.yaml``, as written there.

    Raises:
        JobError: no such file or profile, or it is not of the expected form.
    """
    import yaml

    path = source.twin.parent / "profiles" / f"{source.family}.yaml"
    if not path.exists():
        raise JobError(f"{path} is missing: it holds the profiles of {source.name}")
    profiles = yaml.safe_load(path.read_text(encoding="utf-8"))
    if profile not in profiles:
        raise JobError(f"{path.name} has no profile {profile!r}: choose one of {', '.join(profiles)}")
    # YAML reads an unquoted 13 as a number, but leaves 08 a text.
    values = {str(key).zfill(2): value for key, value in profiles[profile].items()}.get(source.number)
    if not isinstance(values, dict):
        raise JobError(f"{path.name}, profile {profile!r}: notebook {source.number} has no values; write `{{}}` if so")
    return values


def plan(
    target: str,
    profile: str,
    sets: Sequence[str],
    name: str | None,
    root: Path = ROOT,
    tag: str = "",
    until: str = "",
) -> Job:
    """Work out and check a job; nothing is run or written.

    Args:
        target: a notebook's number or name, or a family (``teaching``, a paper's name).
        profile: name of the profile, such as ``laptop``.
        sets: ``name=value`` for every notebook that has the parameter, ``13.name=value`` for one.
        name: of the run; by default the family's.
        root: folder of the project.
        tag: of a branch of the run, which keeps its data and earlier stages; empty: the run itself.
        until: number of the last notebook; empty: all that ``target`` means.

    Raises:
        NotebookError: no such notebook.
        JobError: no such profile.
        ParameterError: an unknown name, a value of the wrong type or one that its notebook will refuse.
        ValueError: an impossible run name.
    """
    chosen = find(target, root)
    if until:
        numbers = [source.number for source in chosen]
        if until not in numbers:
            raise ParameterError(f"--until {until}: {target} has the notebooks {', '.join(numbers)}")
        chosen = chosen[: numbers.index(until) + 1]
    of = chosen[0].family if name is None else name
    if not of.strip():
        raise ParameterError(
            f"--name {name!r}: give the run a name, or leave --name out and it is called {chosen[0].family}"
        )
    name = f"{of}-{tag}" if tag else of
    find_run(name)
    declared = {source.number: settable(source) for source in chosen}
    values: dict[str, dict[str, Value]] = {}
    for source in chosen:
        known = declared[source.number]
        where = f"{source.name}, profile {profile}"
        values[source.number] = check_values(known, profile_values(source, profile), where)
        # Two parameters say where a notebook writes and under which heading; a job knows both.
        given = {"run": name, "profile": profile, "tag": ""}
        values[source.number] |= {key: value for key, value in given.items() if key in known}
    for text in sets:
        for number, key, value in _assigned(text, declared):
            values[number][key] = value
    notebooks = tuple(Planned(source, values[source.number]) for source in chosen)
    for planned in notebooks:
        check_values_together(planned.source, planned.all_values)
        for key, value in planned.values.items():
            check_range(declared[planned.source.number][key], value, f"notebook {planned.source.number}")
    return Job(name, profile, notebooks, of if tag else "", tag)


def _assigned(text: str, declared: Mapping[str, Any]) -> Iterator[tuple[str, str, Value]]:
    """The (notebook, parameter, value) triples one ``--set`` stands for; at least one."""
    key, equals, value = text.partition("=")
    number, dot, rest = key.strip().partition(".")
    key = (rest if dot else number).strip()
    if not equals or not key:
        raise ParameterError(f"--set {text}: write name=value, or 13.name=value for one notebook")
    if key in ("run", "profile", "tag"):
        option = {"run": "--name", "profile": "--profile", "tag": "--tag"}[key]
        raise ParameterError(f"--set {text}: give it as {option}")
    if dot and number not in declared:
        raise ParameterError(f"--set {text}: notebook {number} is not part of this job ({', '.join(declared)})")
    chosen = {number: declared[number]} if dot else declared
    having = [n for n in chosen if key in chosen[n]]
    if not having:
        together = {k: v for known in chosen.values() for k, v in known.items()}
        raise unknown(key, together, f"--set {text}: notebook {', '.join(chosen)}")
    for n in having:
        yield n, key, parse(chosen[n][key], value, f"--set, notebook {n}")


def evaluations_engine(job: Job) -> str:
    """Say what samples a paper's evaluations: what the environment says, else what its trainings have, or had."""
    if told := os.environ.get(ENGINE):
        return told
    if not paper_of(job.notebooks[0].source.name):
        return "transformers"
    family = (profile_values(source, job.profile) for source in find(job.notebooks[0].source.family))
    for some in ((planned.values for planned in job.notebooks), begun_with(job.name).values(), family):
        if found := {str(engine) for values in some if (engine := values.get("rollout_engine"))}:
            return "colocate" if "colocate" in found else "transformers"
    return "transformers"


def execute(
    job: Job, force: bool = False, verbose: bool = False, made_by: Mapping[str, str] = MappingProxyType({})
) -> Path:
    """Run the job's notebooks in order in ``runs/NAME``; returns that folder.

    Args:
        job: planned and checked.
        force: execute finished notebooks again too.
        verbose: show what the notebooks print, too; the run's log file always has it.
        made_by: what the code is known by, recorded with each notebook before it begins; empty: nothing.

    Raises:
        JobError: a notebook failed, the run is in use, or was made with other values.
        OSError: naming folder and free bytes if the disk is full.
    """
    folder = run_folder(job.name)
    with _alone(folder), environment({JOB: "1", ENGINE: evaluations_engine(job)}):  # trainings print lines
        progress_of(folder)  # names a record that is damaged
        record = read_json(folder / "params.json") or {"name": job.name, "notebooks": {}}
        if not force:
            for planned in job.notebooks:
                _same(record["notebooks"].get(planned.source.name), planned, folder)
        paper = paper_of(job.notebooks[0].source.name)
        print(f"{paper.title}: {paper.summary}" if paper else job.notebooks[0].source.title)
        print(f"run {job.name}, profile {job.profile}; what its notebooks print: {near(folder / LOG)}\n", flush=True)
        for planned in job.notebooks:
            mine = record["notebooks"].setdefault(planned.source.name, {})
            if mine.get("status") == "done" and not force:
                other = "" if mine["source"] == planned.source.sha256 else " by another version of this notebook"
                print(f"{short_title(planned.source)}  done before{other}, skipped (--force runs it again)", flush=True)
                continue
            mine.pop("why", None)
            mine.update(status="running", profile=job.profile)
            mine.update(parameters=planned.values, source=planned.source.sha256)
            mine |= {"made_by": dict(made_by)} if made_by else {}
            _execute_one(planned, folder, record, verbose)
    return folder


def _same(before: Mapping[str, Any] | None, planned: Planned, folder: Path) -> None:
    """Refuse to take a finished notebook's results for those of other values."""
    if before is None or before["status"] != "done":
        return
    for name in sorted({*before["parameters"], *planned.values}):
        old, new = before["parameters"].get(name), planned.values.get(name)
        if old != new:
            raise JobError(
                f"{folder} holds {planned.source.name} with {name}={old!r}, now {name}={new!r}: "
                "choose another --name, or --force to run it again"
            )


def _execute_one(planned: Planned, folder: Path, record: dict[str, Any], verbose: bool) -> None:
    """Execute one notebook into ``folder``, keeping ``record`` (written to params.json) up to date."""
    source, mine = planned.source, record["notebooks"][planned.source.name]
    output = folder / source.twin.name
    write_bytes(folder / RESERVE, os.urandom(RESERVE_BYTES))  # no zeros: some file systems need no room for them
    write_json(folder / "params.json", record)
    began = time.monotonic()
    try:
        execute_notebook(source, planned.values, output, verbose)
    except BaseException as error:
        mine.update(status="interrupted", minutes=_minutes(began))
        if isinstance(error, Exception):
            why = re.sub(r"^\[Errno \d+\] ", "", str(error).partition("\n")[0]) or type(error).__name__
            mine.update(status="failed", why=why.removeprefix(f"{source.name} failed "))
        try:
            _write_end(folder, record)
        except OSError as full:
            print(f"{source.name}: that it has ended can't be written down: {full.strerror}", file=sys.stderr)
        raise
    mine.update(status="done", minutes=_minutes(began))
    _write_end(folder, record)


def _write_end(folder: Path, record: dict[str, Any]) -> None:
    """Write down how a notebook ended, on a full disk in the room that was kept for it."""
    (folder / RESERVE).unlink(missing_ok=True)
    write_json(folder / "params.json", record)


def _minutes(began: float) -> float:
    return round((time.monotonic() - began) / 60, 2)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the run, so that two processes don't write into it at once."""
    try:
        with exclusive(folder):
            yield
    except FolderInUse as error:
        raise JobError(str(error)) from None
