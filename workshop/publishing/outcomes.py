"""Store what a run came to as soon as it is measured, and make all figures of what is stored.

A run is stored with the digest of the code that trained it, which it recorded when it began. One of other code, one
that was begun with files that no commit has, one whose data mix what is trained on with what is tested by: each is
refused, by its name. Figures need no run and no model.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from statistics import fmean
from typing import Any

from kit.evaluate.five import OWN
from kit.evaluate.five.answers import own_numbers
from kit.evaluate.outcomes import Evaluation
from kit.evaluate.provenance import commit, hardware, versions
from kit.files import BRANCH, ROOT, find_run, read_json, write_json
from kit.train.metrics import training_minutes
from kit.train.weights import weight_change
from papers.published import MAIN, ResultsFile, Runs
from papers.published_outcomes import Made, Stored, load, save
from papers.registry import Paper
from papers.results import write_results
from workshop.jobs.run import JobError, progress_of
from workshop.publishing.current import (
    digest_of,
    folder_of,
    machine,
    outcomes_hash,
    results_folder,
    trained_as,
    training_digest,
    uncommitted,
)
from workshop.publishing.publish import curves_of, publish_curves, show_curves

TRAININGS = ("sft", "stage1", "grpo")
"""Folders of the trainings whose minutes are told."""


def stored_of(paper: Paper, figures: ResultsFile) -> Stored[Any]:
    """The outcomes that are stored for a results file.

    Raises:
        OutcomesError: they can't be read.
    """
    return load(folder_of(paper), figures.name, _evaluation(paper, figures).outcome_type)


def files_of(paper: Paper, arm: str) -> Sequence[ResultsFile]:
    """The results files in whose outcomes an arm's runs stand: a side experiment has the first runs alone."""
    made = paper.published
    return [figures for figures in made.files if arm == MAIN or not figures.stages] if made else []


def made_by(paper: Paper, digest: str) -> dict[str, str]:
    """Tell what a run records of the code that it is begun by.

    Args:
        paper: the paper.
        digest: of the code by which the run is named.

    Raises:
        JobError: files differ from the commit, or the code has changed since.
    """
    check_committed()
    if (now := trained_as(paper)) != digest:
        raise JobError(
            f"{paper.title}: the code that trains has changed ({digest} → {now}); the same command again makes new runs"
        )
    return {"digest": digest, "commit": commit().removesuffix("+changes")}


def check_committed() -> None:
    """Refuse to publish what no commit made.

    Raises:
        JobError: files differ from the commit, or nobody knows which it is.
    """
    if changed := uncommitted():
        raise JobError(
            f"{', '.join(changed[:5])}: changed or new, and in no commit. What is published is of a commit: commit "
            "first, or give the command in a clone"
        )
    if commit() == "unknown":
        raise JobError("of which commit this code is can't be told: give the command in a clone, or set KIT_COMMIT")


def store(paper: Paper, arm: str, seed: int, digest: str, values: Mapping[str, str]) -> None:
    """Add a run's outcomes and curves to what is published.

    Args:
        paper: the paper.
        arm: of the run.
        seed: of the run.
        digest: of the code as it is.
        values: that the run was to have.

    Raises:
        JobError: it was trained by other code, or a task that it trained on is one that it is tested by.
        OutcomesError: a stage of it is half there.
    """
    assert paper.published is not None
    runs = paper.published.arms[arm]
    run = find_run(runs.called(seed, digest[:6]))
    entries = _trained_by(run, digest)
    check_splits(run)
    trainings = [name for name in entries if name in runs.notebooks]
    for figures in files_of(paper, arm):
        evaluation, of = _evaluation(paper, figures), run / figures.stages
        kept = {Path(path).stem for path in runs.keeps if path.startswith("stages/")} if runs.tag else set()
        names = sorted({path.stem for path in (of / "stages").glob("*.json")} - kept)
        made = Made(
            run=run.name,
            digest=digest,
            trained_at=list(dict.fromkeys(entries[name]["made_by"]["commit"] for name in trainings)),
            measured_at=[*entries.values()][-1]["made_by"]["commit"],
            values=values,
            hardware=hardware(),
            versions=versions(),
            minutes=_minutes(entries, trainings),
            measuring_minutes=_minutes(entries, [name for name in entries if name == figures.notebook]),
            training_minutes=_rounded(training_minutes([of], TRAININGS)),
            date=time.strftime("%Y-%m-%d"),
            numbers=_numbers(paper, figures, run),
        )
        stages = {name: evaluation.load_outcomes(of, name, seed) for name in names}
        whole = stored_of(paper, figures).with_run(arm, seed, made, stages)
        save(folder_of(paper), figures.name, whole, evaluation.outcome_type)
    publish_curves(run, folder_of(paper) / "curves" / runs.called(seed))


def _trained_by(run: Path, digest: str) -> dict[str, Any]:
    """The notebooks that made a run, with what each recorded: all of this code.

    Raises:
        JobError: one is of other code, or recorded nothing.
    """
    entries = progress_of(run)
    base = read_json(run / BRANCH)
    for folder, found in {run: entries, **({find_run(base["of"]): None} if base else {})}.items():
        for notebook, entry in (progress_of(folder) if found is None else found).items():
            by = entry.get("made_by", {}).get("digest", "code that nobody recorded")
            if by != digest:
                raise JobError(
                    f"run {folder.name}: {notebook} was begun by {by}, and today's code is {digest}: a name makes no "
                    "run another one's; remove its folder, and python -m kit results trains it"
                )
    return entries


def check_splits(run: Path) -> None:
    """Refuse a run that has a task in two splits: of what it trains on, makes choices on, and is tested by.

    Raises:
        JobError: there is one; with its name and the two files.
    """
    found: dict[str, Path] = {}
    for path in sorted(path for name in ("data", "tasks") for path in (run / name).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            task = (record.get("task") or record)["id"]
            other = found.setdefault(task, path)
            if split(other.stem) != split(path.stem):
                raise JobError(
                    f"run {run.name}: task {task} stands in {other.name} and in {path.name}, so in two splits; what "
                    "was trained on tests nothing: draw them apart"
                )


def split(name: str) -> str:
    """The split that a file of tasks is of, by its name: test, development, or what is trained on."""
    words = name.split("-")
    tests = {"test", "eval", "mat", "benchmarks"} & {*words}
    return "test" if tests else "development" if "development" in words else "train"


def figures_of(paper: Paper, figures: ResultsFile) -> dict[str, Any]:
    """A results file, made of nothing but stored outcomes and curves.

    What it says of commits and machines is what was stored as well, so it is the same on every machine.

    Raises:
        OutcomesError: none are stored, or some were trained by other code than others.
        JobError: the paper says of no function how they are made.
    """
    stored = stored_of(paper, figures)
    digest, stages = stored.digest, stored.by_stage()
    metrics, claims = _measuring(paper, figures)(stages, curves_of(paper, stored.made), stored.numbers())
    tables = None if figures.stages else _measuring(paper, figures, "paper_tables")
    main = {seed: made for (arm, seed), made in sorted(stored.made.items()) if arm == MAIN}
    assert paper.published is not None
    trained = [made.training_minutes for made in main.values() if made.training_minutes is not None]
    with tempfile.TemporaryDirectory(prefix="kit-figures-") as folder:
        results = write_results(
            Path(folder) / "results.json",
            notebook=figures.notebook,
            profile="laptop",
            seed=list(main),
            minutes=sum(made.measuring_minutes for made in main.values()),
            training_minutes=sum(trained) if len(trained) == len(main) else None,
            stages=metrics,
            claims={claim.name: claim.record() for claim in claims},
            tables=tables(stages) if tables else None,
        )
    last = max(stored.made.values(), key=lambda made: made.date)
    told = {
        "commit": last.measured_at,
        "hardware": last.hardware,
        "versions": last.versions,
        "run_minutes": _run_minutes(paper, stored),
        "trained": {
            "digest": digest,
            "commits": list(dict.fromkeys(at for made in stored.made.values() for at in made.trained_at)),
            "machines": list(dict.fromkeys(machine(made.hardware) for made in stored.made.values())),
            "since": min(made.date for made in stored.made.values()),
            "outcomes": outcomes_hash(paper, figures),
        },
        "trainings": dict(Counter(arm for arm, _ in stored.made)),
        "lacking": stored.lacking(_arms(paper, figures)),
    }
    return {**results, **told, **({"digest": digest_of(paper, figures)} if digest == training_digest(paper) else {})}


def publish(paper: Paper, only_plan: bool = False) -> list[str]:
    """Make a paper's results files of its stored outcomes; returns what became of each, a line each.

    Args:
        paper: the paper.
        only_plan: say whether they equal what is published, and write nothing.

    Raises:
        OutcomesError: none are stored, or some were trained by other code than others.
        JobError: files differ from the commit.
    """
    told = []
    if not only_plan:
        check_committed()
    files = paper.published.files if paper.published else ()
    for figures in files:
        path = results_folder(paper) / f"{figures.name}.json"
        before, now = read_json(path), json.loads(json.dumps(figures_of(paper, figures)))
        if (before or {}).get("trained", {}).get("digest") == now["trained"]["digest"]:
            now |= _proved(paper, figures, (before or {}).get("proved", {}))
        apart = differing(before or {}, now)
        if before != now and not only_plan:
            write_json(path, now)
        equal = f"all {_count(now)} figures equal what was published, to the digit"
        other = f"{len(apart)} of {_count(now)} differ from what was published, first: {'; '.join(apart[:3])}"
        told.append(f"results/{path.name}: {'it is new' if before is None else other if apart else equal}")
        told += [f"  {text}" for text in now["lacking"]]
    if not only_plan:
        show_curves(paper, {key for figures in files for key in stored_of(paper, figures).made})
    return told


def _proved(paper: Paper, figures: ResultsFile, proved: Mapping[str, Any]) -> dict[str, Any]:
    """A proof that today's code trains as the outcomes' did holds of figures that are made of them anew."""
    if proved.get("trains") != training_digest(paper):
        return {}
    return {"proved": {**proved, "digest": digest_of(paper, figures)}}


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Metrics and claims that two results files don't have alike, by their names."""
    told = []
    for part in ("metrics", "claims"):
        old, new = before.get(part, {}), now.get(part, {})
        for name in sorted(name for name in {*old, *new} if old.get(name) != new.get(name)):
            values = [_value(found.get(name)) for found in (old, new)]
            told.append(f"{name} {' → '.join(values) if values[0] != values[1] else f'{values[0]} by other evidence'}")
    return told


def _value(found: Mapping[str, Any] | None) -> str:
    return "not there" if found is None else str(found.get("value", found.get("verdict")))


def _count(results: Mapping[str, Any]) -> int:
    return len(results["metrics"]) + len(results["claims"])


def _run_minutes(paper: Paper, stored: Stored[Any]) -> dict[str, float]:
    """Mean wall time of an arm's runs, by the parameter that takes their names."""
    assert paper.published is not None
    named = dict(zip(paper.published.arms, paper.published.runs, strict=True))
    by_arm = {
        arm: [one.minutes + one.measuring_minutes for (of, _), one in stored.made.items() if of == arm] for arm in named
    }
    return {named[arm]: round(fmean(some), 1) for arm, some in by_arm.items() if some}


def _arms(paper: Paper, figures: ResultsFile) -> dict[str, Runs]:
    """The arms whose runs belong into a results file's outcomes."""
    return {
        arm: runs
        for arm, runs in (paper.published.arms if paper.published else {}).items()
        if figures in files_of(paper, arm)
    }


def _evaluation(paper: Paper, figures: ResultsFile) -> Evaluation[Any]:
    found: Evaluation[Any] = resolve_name(figures.evaluation) if figures.evaluation else paper.load_evaluation()
    return found


def _measuring(paper: Paper, figures: ResultsFile, part: str = "") -> Any:
    """What makes figures of outcomes; or another ``part`` of its module, None where it has none.

    Raises:
        JobError: there is no such function.
    """
    package = paper.evaluation.partition(":")[0].rpartition(".")[0]
    place = figures.measured or f"{package}.measured:measured"
    try:
        return getattr(import_module(place.partition(":")[0]), part, None) if part else resolve_name(place)
    except (ImportError, AttributeError) as error:
        if part:
            return None
        raise JobError(f"{paper.title}: {place}, which makes figures of outcomes, can't be loaded: {error}") from error


def _numbers(paper: Paper, figures: ResultsFile, run: Path) -> dict[str, Any]:
    """What figures need of a run besides outcomes: what the five answers do, how many demonstrations it had, and what
    ``numbers`` says, if that stands beside what makes the figures.
    """
    found: dict[str, Any] = {}
    if figures.stages:
        return found
    assert paper.published is not None
    if (run / "stages" / f"{OWN}.json").is_file():
        starts = [run / "sft" / "model", *(ROOT / folder for folder in paper.published.weights)]
        ends = [*[folder for folder in starts if folder.is_dir()][:1], run / "grpo" / "model"]
        change = weight_change(*ends) if len(ends) == 2 and ends[1].is_dir() else None
        found |= own_numbers(_evaluation(paper, figures), run, change)
    if (shown := run / "sft" / "episodes.jsonl").is_file():
        found["demonstrations"] = len(shown.read_text(encoding="utf-8").splitlines())
    more = _measuring(paper, figures, "numbers")
    return found | (dict(more(run)) if more else {})


def _minutes(entries: Mapping[str, Any], notebooks: Sequence[str]) -> float:
    return round(sum(entries[name].get("minutes", 0.0) for name in notebooks), 2)


def _rounded(minutes: float | None) -> float | None:
    return None if minutes is None else round(minutes, 2)
