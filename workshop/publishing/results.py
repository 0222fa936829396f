"""Make all published results anew: ``python -m kit results`` (``make results``), resumable run by run.

For each paper, from its record (:mod:`papers.published`): data that have to be fetched; seed after seed the trainings
of each arm, each run measured by itself and its outcomes stored at once (:mod:`workshop.publishing.outcomes`); then all
figures from these outcomes, and the pages and the picture that show them. Each step that is done already is passed
over, so the same command again goes on where it stopped. A run whose outcomes are stored with the digest of today's
training code is done, even where its folder is gone; a paper whose results were made by the code as it is now has no
steps.

Names of runs end in a hash of the code that trains (``NAME-0.3f2a91``): a run of other code is never taken for one of
this, and none is overwritten.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from kit.files import ROOT, find_run, read_json, runs_folder, start_run
from kit.train.progress import duration
from papers.published import MAIN, Runs
from papers.published_outcomes import Stored
from papers.registry import Paper, find_paper, papers
from workshop.command_line import meant
from workshop.jobs.notebooks import parameters
from workshop.jobs.run import Job, JobError, Planned, execute, plan
from workshop.publishing.current import (
    outdated,
    results_folder,
    results_of,
    source_of,
    trained_as,
    uncommitted,
)
from workshop.publishing.outcomes import files_of, made_by, publish, store, stored_of
from workshop.publishing.prove import prove_all
from workshop.publishing.publish import redraw, twins

PROFILE = "laptop"


@dataclass(frozen=True)
class Step:
    """One step on the way to published results.

    Attributes:
        what: the run or the file that it makes.
        done: whether that is there already.
        minutes: wall time that it took when it was recorded; None: it was never recorded.
        act: does it.
        last: it needs all the others.
        first: all the others need it, so that none is begun before it is done.
    """

    what: str
    done: bool
    minutes: float | None
    act: Callable[[], Any]
    last: bool = False
    first: bool = False


def chosen(names: Sequence[str]) -> list[Paper]:
    """The papers named, or all that have published results.

    Raises:
        ValueError: there is no such paper, or it has none.
    """
    if unknown := next((name for name in names if name not in papers()), ""):
        way_out = f"one of {', '.join(papers())}"
        raise ValueError(f"no paper {unknown!r}: {meant(unknown, papers(), way_out)}")
    found = [find_paper(name) for name in names] or [paper for paper in papers().values() if paper.published]
    for paper in found:
        if paper.published is None:
            raise ValueError(f"paper {paper.name!r}: its record says of no results how they are made (published=…)")
    return found


def command(
    names: Sequence[str], only_plan: bool, again: bool, prove: bool, figures: bool = False, runs: str = ""
) -> int:
    """Do what ``python -m kit results`` was asked for, and print it; returns the exit code, 2 if the request was wrong.

    Args:
        names: of the papers; none: all.
        only_plan: say what remains and how long it takes, and do nothing.
        again: also publish anew, or prove, what is current.
        prove: find out whether results are current, and make nothing.
        figures: make all figures of the outcomes that are stored, and train nothing.
        runs: names of runs, with ``*`` and ``?``: make these, and publish nothing.
    """
    try:
        some = chosen(names)
        if not prove and not figures:
            print(make(names, only_plan, again, runs))
            return 0
    except ValueError as error:
        print(f"python -m kit: {error}", file=sys.stderr)
        return 2
    if prove:
        return 0 if prove_all(some, again) else 1
    if figures:
        print(figures_anew(some, only_plan))
    return 0


def make(names: Sequence[str], only_plan: bool = False, again: bool = False, runs: str = "") -> str:
    """Make the published results of papers; returns what was done, or what remains.

    Args:
        names: of the papers; none: all.
        only_plan: say what remains and how long it takes, and do nothing.
        again: also publish anew what was made by the code as it is now.
        runs: names of runs, with ``*`` and ``?``: make these, and publish nothing.

    Raises:
        ValueError: no run has such a name.
        JobError: a notebook or a script failed; the same command again goes on there.
    """
    work = [(paper, steps(paper)) for paper in chosen(names) if again or runs or not is_current(paper)]
    if runs:
        asked = [(paper, [s for s in some if s.first or fnmatchcase(s.what, runs)]) for paper, some in work]
        if not (work := [(paper, some) for paper, some in asked if not all(step.first for step in some)]):
            raise ValueError(f"no run to make is called {runs!r}; python -m kit results --plan names them")
    if not work:
        current = "all published results were made by this code, or were proved to be as it makes them"
        return "\n".join([current, *(text for paper in chosen(names) for text in so_far(paper))])
    text = "\n\n".join([*(told(paper, some) for paper, some in work), total([s for _, some in work for s in some])])
    if changed := uncommitted():
        text += f"\nin no commit yet: {', '.join(changed[:5])}; no run is begun before they are committed"
    if only_plan:
        return text
    print(text, flush=True)
    failed = [f"{paper.name}: {why}" for paper, some in work for why in _do(paper, some)]
    if failed:
        raise JobError("\n".join(["what follows was not made; the same command again goes on there", *failed]))
    if runs:
        return "\ndone. The figures are made of them when all runs are stored: python -m kit results"
    redraw()
    return f"\ndone. Notebooks whose stored outputs show these figures: python -m kit notebooks --force {twins(work)}"


def _do(paper: Paper, some: Sequence[Step]) -> list[str]:
    """Do a paper's steps that aren't done; returns what failed.

    A run that fails leaves the next ones to be tried. Data that don't come leave none: no hour is spent in vain.
    """
    failed: list[str] = []
    for step in some:
        if step.done or (failed and step.last):
            continue
        print(f"\n== {paper.name}: {step.what}", flush=True)
        try:
            step.act()
        except (JobError, OSError, ValueError) as error:
            print(error, file=sys.stderr, flush=True)
            failed.append(f"{step.what}: {str(error).partition(chr(10))[0]}")
            if step.first:
                break
    return failed


def figures_anew(some: Sequence[Paper], only_plan: bool) -> str:
    """Make the figures of papers of their stored outcomes, and say whether they equal what was published.

    Args:
        some: the papers; one of which nothing is stored keeps its figures.
        only_plan: write nothing.
    """
    told = []
    for paper in some:
        there = paper.published is not None and any(stored_of(paper, one).made for one in paper.published.files)
        told += [paper.title, *(publish(paper, only_plan) if there else ["no outcomes are stored: its figures stay"])]
    if not only_plan:
        redraw()
    return "\n".join(told)


def so_far(paper: Paper) -> list[str]:
    """Tell what a paper's published results lack of the runs in its record, and how it is trained."""
    lacking = [text for _, _, results in results_of(paper) for text in (results or {}).get("lacking", ())]
    way = f"python -m kit results {paper.name} --again trains what is missing"
    return [f"{paper.title}: {'. '.join(dict.fromkeys(lacking))}. {way}"] if lacking else []


def is_current(paper: Paper) -> bool:
    """True if all results files of a paper are there and current."""
    return not any(outdated(paper, figures, results) for figures, _, results in results_of(paper))


def steps(paper: Paper) -> list[Step]:
    """All steps that make a paper's results, in order, done or not: of each seed all arms, so that they grow alike."""
    made = paper.published
    assert made is not None
    digest, recorded = trained_as(paper), _recorded(paper)
    minutes = dict(zip(made.arms, map(recorded.get, made.runs), strict=True))
    stored = {figures.name: stored_of(paper, figures) for figures in made.files}
    trained = [
        _train(paper, arm, seed, digest, minutes[arm], stored)
        for seed in range(max(runs.seeds for runs in made.runs.values()))
        for arm, runs in made.arms.items()
        if seed < runs.seeds
    ]
    whole = all(step.done for step in trained)
    fetched = [_fetch(parameter, script, whole) for figures in made.files for parameter, script in figures.data.items()]
    names = ", ".join(f"results/{figures.name}.json" for figures in made.files)
    figures = Step(f"{names} from results/outcomes", False, None, partial(publish, paper), True)
    return [*fetched, *trained, figures]


def _recorded(paper: Paper) -> dict[str, float]:
    """Minutes of a run, by the parameter it is measured under; for trainings alone where no more was recorded."""
    made = paper.published
    assert made is not None
    results = read_json(results_folder(paper) / f"{made.files[0].name}.json") or {}
    if "run_minutes" in results:
        return dict(results["run_minutes"])
    if "training_minutes" in results:
        return dict.fromkeys(made.runs, results["training_minutes"] / len(results["seed"]))
    return {}


def _train(
    paper: Paper, arm: str, seed: int, digest: str, minutes: float | None, stored: Mapping[str, Stored[Any]]
) -> Step:
    """The step that trains one run, notebook after notebook, measures it and stores its outcomes.

    Args:
        paper: the paper.
        arm: of the run.
        seed: of the run.
        digest: of the code as it is.
        minutes: that such a run took when it was recorded.
        stored: name of a results file → the outcomes that are stored for it.
    """
    assert paper.published is not None
    runs, code, files = paper.published.arms[arm], digest[:6], files_of(paper, arm)
    name, values = runs.called(seed, code), {"seed": str(seed), **runs.values}
    data = {parameter: str(_data(parameter)) for figures in files for parameter in figures.data}
    measuring = [figures.notebook for figures in files] if arm == MAIN else []
    planned = [_planned(paper, notebook, values | data, name) for notebook in (*runs.notebooks, *measuring)]

    def act() -> None:
        if runs.tag:
            base = replace(runs, tag="").called(seed, code)
            if not all((find_run(base) / kept).exists() for kept in runs.keeps):  # stored, and its folder is gone
                for one in _kept(paper, runs, seed, data, base):
                    execute(Job(base, PROFILE, (one,)), made_by=made_by(paper, digest))
            start_run(base, runs.tag, runs.keeps)
        for one in planned:  # before each it is asked anew whether the code is still the same
            execute(Job(name, PROFILE, (one,)), made_by=made_by(paper, digest))
        store(paper, arm, seed, digest, values)

    done = all(stored[figures.name].has(arm, seed, digest, values) for figures in files)
    return Step(name, done, minutes, act)


def _kept(paper: Paper, branch: Runs, seed: int, data: Mapping[str, str], base: str) -> list[Planned]:
    """The notebooks of a run that make what its branch keeps."""
    assert paper.published is not None
    runs = next(one for one in paper.published.runs.values() if one.name == branch.name and not one.tag)
    values = {"seed": str(seed), **runs.values, **data}
    made = {str(number) for number in branch.keeps.values()}
    return [_planned(paper, one, values, base) for one in runs.notebooks if one.partition("_")[0] in made]


def _planned(paper: Paper, notebook: str, values: dict[str, str], name: str) -> Planned:
    """One notebook and its values, checked as ``kit run`` does; values that it has no parameter for are left out."""
    known = parameters(source_of(paper, notebook))
    sets = [f"{key}={value}" for key, value in values.items() if key in known]
    return plan(notebook, PROFILE, sets, name).notebooks[0]


def _fetch(parameter: str, script: str, needless: bool) -> Step:
    """The step that lets a script of the project write a folder of data."""
    folder = _data(parameter)

    def act() -> None:
        done = subprocess.run([sys.executable, str(ROOT / script), "--out", str(folder)], check=False)
        if done.returncode:
            raise JobError(f"{script} --out {folder} ended with code {done.returncode}; its message stands above")

    return Step(f"{parameter} by {script}", needless or (folder / "manifest.json").exists(), None, act, first=True)


def _data(parameter: str) -> Path:
    return runs_folder() / parameter


def told(paper: Paper, some: Sequence[Step]) -> str:
    """A paper's title, why its results have to be made, and its steps, a line each."""
    found = [(path, outdated(paper, figures, results)) for figures, path, results in results_of(paper)]
    why = [f"  results/{path.name} {text}" for path, text in found if text]
    return "\n".join([paper.title, *why, *(f"  {_state(step):24s} {step.what}" for step in some)])


def _state(step: Step) -> str:
    if step.done:
        return "done"
    return "to do" if step.minutes is None else f"to do, about {duration(60 * step.minutes)}"


def total(some: Sequence[Step]) -> str:
    """Count the steps that remain, and the minutes that they took the last time."""
    left = [step for step in some if not step.done]
    known = sum(step.minutes or 0.0 for step in left)
    return (
        f"{len(left)} of {len(some)} steps remain, about {duration(60 * known)} by the minutes recorded when they were "
        f"last made; runs lie in {runs_folder()}"
    )
