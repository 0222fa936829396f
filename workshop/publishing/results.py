"""Make all published results anew: ``python -m kit results`` (``make results``), resumable.

For each paper, from its record (:mod:`papers.published`): data that have to be fetched, the trainings of all seeds,
the notebooks that measure over them, then ``results/``, the curves, and the pages and the picture that show them. Each
step that is done already is passed over, so the same command again goes on where it stopped; a paper whose results were
made by the code as it is now has no steps.

Names of runs end in a hash of the code that trains (``NAME-0.3f2a91``): a run of other code is never taken for one of
this, and none is overwritten.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from kit.evaluate.results import commit
from kit.files import ROOT, find_run, read_json, runs_folder, start_run, write_json
from kit.train.progress import duration
from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper, find_paper, papers
from workshop.jobs.notebooks import parameters
from workshop.jobs.run import Job, JobError, Planned, execute, plan, progress_of
from workshop.publishing.current import digest_of, outdated, results_folder, results_of, source_of, training_digest
from workshop.publishing.prove import prove_all
from workshop.publishing.publish import publish, redraw, twins

PROFILE = "laptop"


@dataclass(frozen=True)
class Step:
    """One step on the way to published results.

    Attributes:
        what: the run or the file that it makes.
        done: whether that is there already.
        minutes: wall time that it took when it was recorded; None: it was never recorded.
        act: does it.
    """

    what: str
    done: bool
    minutes: float | None
    act: Callable[[], Any]


def chosen(names: Sequence[str]) -> list[Paper]:
    """The papers named, or all that have published results.

    Raises:
        PaperError: there is no such paper.
        ValueError: it has none.
    """
    found = [find_paper(name) for name in names] or [paper for paper in papers().values() if paper.published]
    for paper in found:
        if paper.published is None:
            raise ValueError(f"paper {paper.name!r}: its record says of no results how they are made (published=…)")
    return found


def command(names: Sequence[str], only_plan: bool, again: bool, prove: bool) -> int:
    """Do what ``python -m kit results`` was asked for, and print it; returns the exit code, 2 if the request was wrong.

    Args:
        names: of the papers; none: all.
        only_plan: say what remains and how long it takes, and do nothing.
        again: also publish anew, or prove, what is current.
        prove: find out whether results are current, and make nothing.
    """
    try:
        some = chosen(names)
    except ValueError as error:
        print(f"python -m kit: {error}", file=sys.stderr)
        return 2
    if prove:
        return 0 if prove_all(some, again) else 1
    print(make(names, only_plan, again))
    return 0


def make(names: Sequence[str], only_plan: bool = False, again: bool = False) -> str:
    """Make the published results of papers; returns what was done, or what remains.

    Args:
        names: of the papers; none: all.
        only_plan: say what remains and how long it takes, and do nothing.
        again: also publish anew what was made by the code as it is now.

    Raises:
        JobError: a notebook or a script failed; the same command again goes on there.
    """
    work = [(paper, steps(paper)) for paper in chosen(names) if again or not is_current(paper)]
    if not work:
        return "all published results were made by this code, or were proved to be as it makes them"
    text = "\n\n".join([*(told(paper, some) for paper, some in work), total([s for _, some in work for s in some])])
    if commit().endswith("+changes"):
        text += "\nfiles differ from the commit that is checked out: the results will say so (+changes)"
    if only_plan:
        return text
    print(text, flush=True)
    for paper, some in work:
        for step in some:
            if not step.done:
                print(f"\n== {paper.name}: {step.what}", flush=True)
                step.act()
    redraw()
    return f"\ndone. Notebooks whose stored outputs show these figures: python -m kit notebooks --force {twins(work)}"


def is_current(paper: Paper) -> bool:
    """True if all results files of a paper are there and current."""
    return not any(outdated(paper, figures, results) for figures, _, results in results_of(paper))


def steps(paper: Paper) -> list[Step]:
    """All steps that make a paper's results, in order, done or not."""
    made = paper.published
    assert made is not None
    code = training_digest(paper)[:6]
    recorded = _recorded(paper)
    found = [
        _train(paper, runs, seed, code, recorded.get(parameter))
        for parameter, runs in made.runs.items()
        for seed in range(runs.seeds)
    ]
    for figures in made.files:
        for parameter, script in figures.data.items():
            found.append(_fetch(parameter, script))
        found.append(_measure(paper, figures, code))
    found.append(Step("results/, docs/, README.md", False, None, partial(publish, paper, names_of(made, code))))
    return found


def names_of(made: Published, code: str) -> dict[str, list[str]]:
    """Names of the runs: parameter of the measuring notebooks → one name a seed."""
    return {parameter: [runs.called(seed, code) for seed in range(runs.seeds)] for parameter, runs in made.runs.items()}


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


def _train(paper: Paper, runs: Runs, seed: int, code: str, minutes: float | None) -> Step:
    """The step that trains one run, notebook after notebook."""
    name = runs.called(seed, code)
    values = {"seed": str(seed), **runs.values}
    job = Job(name, PROFILE, tuple(_planned(paper, notebook, values, name) for notebook in runs.notebooks))

    def act() -> None:
        if runs.tag:
            start_run(replace(runs, tag="").called(seed, code), runs.tag, runs.keeps)
        execute(job)

    return Step(name, all(_is_done(job, planned) for planned in job.notebooks), minutes, act)


def _planned(paper: Paper, notebook: str, values: dict[str, str], name: str) -> Planned:
    """One notebook and its values, checked as ``kit run`` does; values that it has no parameter for are left out."""
    known = parameters(source_of(paper, notebook))
    sets = [f"{key}={value}" for key, value in values.items() if key in known]
    return plan(notebook, PROFILE, sets, name).notebooks[0]


def _is_done(job: Job, planned: Planned) -> bool:
    mine = progress_of(find_run(job.name)).get(planned.source.name, {})
    return mine.get("status") == "done" and mine["parameters"] == planned.values


def _fetch(parameter: str, script: str) -> Step:
    """The step that lets a script of the project write a folder of data."""
    folder = _data(parameter)

    def act() -> None:
        done = subprocess.run([sys.executable, str(ROOT / script), "--out", str(folder)], check=False)
        if done.returncode:
            raise JobError(f"{script} --out {folder} ended with code {done.returncode}; its message stands above")

    return Step(f"{parameter} by {script}", (folder / "manifest.json").exists(), None, act)


def _data(parameter: str) -> Path:
    return runs_folder() / parameter


def _measure(paper: Paper, figures: ResultsFile, code: str) -> Step:
    """The step that measures over all runs, with the code as it is now."""
    made = paper.published
    assert made is not None
    names = names_of(made, code)
    first = next(iter(names.values()))[0]
    values = {parameter: ",".join(some) for parameter, some in names.items()}
    values |= {parameter: str(_data(parameter)) for parameter in figures.data}
    planned = _planned(paper, figures.notebook, values, first)
    now, mark = digest_of(paper, figures), find_run(first) / f"measured-{figures.name}.json"

    def act() -> None:
        execute(Job(first, PROFILE, (planned,)), force=True)
        write_json(mark, {"digest": now})

    done = read_json(mark) == {"digest": now} and _is_done(Job(first, PROFILE, ()), planned)
    recorded = read_json(results_folder(paper) / f"{figures.name}.json") or {}
    return Step(f"results/{figures.name}.json by {figures.notebook}", done, recorded.get("minutes"), act)


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
