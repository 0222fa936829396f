"""``python -m kit run … --seeds 0-2 --set rate=1e-4,3e-4``: one job for each seed and each choice of values, resumable.

Runs are called NAME-0, NAME-1, …; with lists NAME-rate_1e-4-0 and so on; with ``--tag`` they are branches of NAME-0,
NAME-1, …. Seed 0 of all values comes first: what is there when time runs out can be compared.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kit.files import ROOT, find_run, read_json, runs_folder
from kit.train.progress import duration
from papers.registry import paper_of
from workshop.jobs.checks import JobError
from workshop.jobs.console import near
from workshop.jobs.machine import GPU_PROFILES
from workshop.jobs.notebooks import settable
from workshop.jobs.parameters import Parameter, ParameterError, is_listed
from workshop.jobs.run import Job, execute, plan

MOST = 64
"""Runs of one command."""

SMOKE = 0.5
"""Minutes that a paper's notebook takes with the profile ``smoke``, about (docs/jobs.md)."""


@dataclass(frozen=True)
class Variant:
    """One run of several.

    Attributes:
        job: planned and checked.
        sets: as ``run`` takes them for this run alone.
        setting: the values by which it differs, its seed apart; empty: by none.
        seed: of its trainings.
    """

    job: Job
    sets: tuple[str, ...]
    setting: str = ""
    seed: int = 0


def planned(
    target: str, profile: str, sets: Sequence[str], seeds: str, name: str | None, tag: str, until: str
) -> tuple[str, list[Variant]]:
    """Plan what ``run`` was asked for: one run, or several; returns the name of all of them, and each.

    Args:
        target, profile, sets, name, tag, until: as :func:`workshop.jobs.run.plan` takes them.
        seeds: as :func:`variants` takes them.

    Raises:
        NotebookError, JobError, ValueError: as both of them.
    """
    several = seeds or any("," in text for text in sets)
    job = plan(target, profile, [] if several else sets, name, tag=tag, until=until)
    return job.name, variants(job, target, sets, seeds, until) if several else [Variant(job, tuple(sets))]


def variants(job: Job, target: str, sets: Sequence[str], seeds: str, until: str, root: Path = ROOT) -> list[Variant]:
    """Plan a job once for each seed and each choice of values; nothing is run or written.

    Args:
        job: the job without what was set; it has the profile, the name, the tag and the notebooks.
        target: as ``run`` takes it.
        sets: ``key=a,b`` stands for each of its values, unless the parameter is a list itself.
        seeds: ``0-2`` or ``0,3,5``; empty: as the values say.
        until: as ``run`` takes it.
        root: folder of the project.

    Raises:
        ParameterError: a bad range, an empty or repeated value, too many runs; or as :func:`workshop.jobs.run.plan`.
        ValueError: a name that can't be a folder's.
    """
    known = [parameter for planned in job.notebooks for parameter in settable(planned.source).items()]
    choices = [_values(text, dict(known)) for text in sets]
    ranges = _ranges(seeds)
    numbers = list(itertools.islice(itertools.chain(*ranges), MOST))
    if numbers and "seed" not in dict(known):
        raise ParameterError(f"--seeds {seeds}: {target} has no parameter seed")
    if again := next((text for text in sets if numbers and re.fullmatch(r"(\d+\.)?seed", _key(text))), ""):
        raise ParameterError(f"--seeds {seeds} and --set {again}: give one of them")
    of = job.branch_of or job.name
    count = math.prod((sum(map(len, ranges)) or 1, *map(len, choices)))
    found: list[Variant] = []
    for seed, *chosen in itertools.islice(itertools.product([f"seed={n}" for n in numbers] or [""], *choices), MOST):
        differs = [text for text, some in zip(chosen, choices, strict=True) if len(some) > 1]
        slug = "-".join(re.sub(r"[^A-Za-z0-9._-]+", "_", text.replace("=", "_")) for text in differs)
        number = seed.partition("=")[2]
        parts = (of, number) if job.tag else (of, slug, number)  # a branch keeps the stages of its seed's run
        tag = "-".join(filter(None, (job.tag, slug))) if job.tag else ""
        mine = tuple(filter(None, (*chosen, seed)))
        one = plan(target, job.profile, mine, "-".join(filter(None, parts)), root, tag, until)
        found.append(Variant(one, mine, ", ".join(differs), int(number or 0)))
    if count > MOST:
        told = f"{count} runs, {found[0].job.name} and so on, of at most {MOST} a command"
        raise ParameterError(
            f"{told}; {estimate(found[0].job, count)}: give fewer seeds or values, or several commands"
        )
    names = [one.job.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ParameterError(f"two of the runs would be called {twice!r}: give values that differ in letters or digits")
    return found


def _key(text: str) -> str:
    return text.partition("=")[0].strip()


def _values(text: str, known: Mapping[str, Parameter]) -> list[str]:
    """A ``--set`` as one of them for each value in its list; alone where there is none, or the parameter is a list."""
    key, _, value = text.partition("=")
    parameter = known.get(_key(text).rpartition(".")[2])
    if parameter is None or is_listed(parameter) or "," not in value:
        return [text]
    values = [one.strip() for one in value.split(",")]
    if not all(values) or len(set(values)) < len(values):
        raise ParameterError(f"--set {text}: a value is empty or stands there twice; write {key}=a,b")
    if key.strip() == "seed":
        raise ParameterError(f"--set {text}: give several seeds as --seeds {value}")
    return [f"{key.strip()}={one}" for one in values]


def _ranges(text: str) -> list[range]:
    """The seeds that ``0-2`` or ``0,3,5`` stands for, a range a part."""
    found: list[range] = []
    for part in text.split(",") if text else []:
        match = re.fullmatch(r"\s*(\d{1,10})(?:-(\d{1,10}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if last < first:
            raise ParameterError(f"--seeds {text}: {part!r} is no seed and no range; write 0-2 or 0,3,5")
        if any(first < other.stop and other.start <= last for other in found):
            raise ParameterError(f"--seeds {text}: {part!r} names a seed for the second time")
        found.append(range(first, last + 1))
    return found


def estimate(job: Job, runs: int) -> str:
    """Say how long so many runs like this one take, and by what: a card's plan, else what the same took before."""
    if job.profile in GPU_PROFILES:
        from workshop.jobs.plan import stages  # torch and trl: only where they are asked
        from workshop.planner.memory import hours

        each = sum(hours(stage) for _, stage in stages(job, None, None))
        by = f"trainings alone, by python -m kit plan {job.notebooks[0].source.family} --profile {job.profile}"
    else:
        minutes, by = _recorded(job)
        each = minutes / 60
    if not each:
        return "nothing says yet how long one takes"
    of_one = f"{duration(3600 * each)} each, " if runs > 1 else ""
    return f"about {duration(3600 * each * runs)} ({of_one}{by})"


def planned_for(some: Sequence[Variant], chosen: bool) -> str:
    """The first line of a plan: for which profile it is, how long several runs take, and one without a GPU.

    Args:
        some: the planned runs; of several, the first is told.
        chosen: the command named the profile.
    """
    job = some[0].job
    of = f"planned for the profile {job.profile}"
    of += "" if chosen else " (the default here; run takes laptop unless told: plan … --profile laptop)"
    if len(some) > 1:
        each = f"{of}; {len(some)} runs, {job.name} to {some[-1].job.name}, each as long as the first"
        where = "" if job.profile in GPU_PROFILES else " on a GPU"
        return f"{each}: {estimate(job, len(some))}.\nBelow is what {job.name} takes{where}"
    if job.profile in GPU_PROFILES:
        return of
    return f"{of}, which needs no GPU; its run, with measurements: {estimate(job, 1)}.\nBelow is what a GPU would take"


def _recorded(job: Job) -> tuple[float, str]:
    """Minutes of a run's notebooks, as a run here or the published ones took, or as smoke does; 0: nobody recorded."""
    mine = [planned.source.name for planned in job.notebooks]
    for path in sorted(runs_folder().glob("*/params.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        done = (read_json(path) or {}).get("notebooks", {})
        took = [done.get(name, {}) for name in mine]
        if all(one.get("status") == "done" and one["profile"] == job.profile for one in took):
            return sum(one["minutes"] for one in took), f"as the run {path.parent.name} took"
    paper = paper_of(mine[0])
    if paper and paper.published and job.profile == "laptop" and {*mine} >= {*paper.published.runs["runs"].notebooks}:
        path = paper.notebooks_dir.parent / "results" / f"{paper.published.files[0].name}.json"
        took = ((read_json(path) or {}).get("run_minutes") or {}).get("runs", 0.0)
        return took, "as the published runs took"
    if paper and job.profile == "smoke":
        return SMOKE * len(mine), "by half a minute a notebook on two cores"
    return 0.0, ""


def run_all(some: Sequence[Variant], page: Callable[[], Path], force: bool, verbose: bool) -> list[str]:
    """Execute runs one after another, writing its page and that of all after each; returns the names of those that
    failed.

    Args:
        some: the runs.
        page: writes the page of all of them.
        force: execute finished notebooks again too.
        verbose: show what the notebooks print, too.
    """
    from workshop.jobs.run_page import write  # it draws: imports that a refusal needn't wait for

    failed = []
    for number, one in enumerate(some, 1):
        print(f"\n== {number} of {len(some)}: {one.job.name}", flush=True)
        try:
            execute(one.job, force, verbose)
        except JobError as error:
            failed.append(one.job.name)
            print(f"python -m kit: {error}", file=sys.stderr)
        if find_run(one.job.name).is_dir():
            write(one.job.name)  # the page of all leads there
        print(f"page: {near(page())}", flush=True)
    return failed


def by_setting(some: Sequence[Variant]) -> dict[str, dict[str, int]]:
    """Setting → its runs, each with its seed."""
    found: dict[str, dict[str, int]] = {}
    for one in some:
        found.setdefault(one.setting, {})[one.job.name] = one.seed
    return found


def sweep(some: Sequence[Variant], name: str, force: bool, verbose: bool) -> int:
    """Execute several runs and tell them together; returns 1 if one of them failed, else 0.

    Args:
        some: the runs.
        name: of all of them, for the page.
        force: execute finished notebooks again too.
        verbose: show what the notebooks print, too.
    """
    from workshop.jobs import together  # it draws: imports that a refusal needn't wait for

    print(f"{len(some)} runs, {some[0].job.name} to {some[-1].job.name}: {estimate(some[0].job, len(some))}")
    groups, target = by_setting(some), runs_folder() / f"{name}.html"
    title = f"{len(some)} runs of {name}"
    failed = run_all(some, lambda: together.write(groups, target, title), force, verbose)
    print("", together.told(groups), "", "What to open next:", sep="\n")
    one = f"python -m kit view {some[0].job.name}"
    wide = max(len(near(target)), len(one))
    print(f"  {near(target):{wide}}  all of them: means, intervals, curves; a run's name leads to its own page")
    print(f"  {one:{wide}}  every figure of one")
    if failed:
        print(f"python -m kit: failed: {', '.join(failed)}; the same command again tries them again", file=sys.stderr)
    return 1 if failed else 0
