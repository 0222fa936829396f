"""``python -m kit view A B``: runs side by side, stage by stage, with the differences and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kit.evaluate.intervals import Interval, clustered_mean
from kit.evaluate.outcomes import Evaluation
from kit.files import read_json
from papers.registry import find_paper
from workshop.jobs.listing import existing_run, table
from workshop.jobs.same_tasks import title


def compare(names: Sequence[str]) -> str:
    """Compare runs with the first of them, on the tasks that both played.

    Args:
        names: of runs of one paper, at least two.

    Raises:
        ValueError: no such run, runs of several papers, or runs without a measured stage in common.
    """
    folders = {name: existing_run(name) for name in names}
    stages = {name: {path.stem for path in folder.glob("stages/*.json")} for name, folder in folders.items()}
    shared = set.intersection(*stages.values())
    if not shared:
        had = "; ".join(f"{name}: {', '.join(sorted(found)) or 'none'}" for name, found in stages.items())
        raise ValueError(f"these runs have no measured stage in common ({had}): run the same notebooks in each first")
    evaluation = evaluation_of(list(folders.values()))
    if evaluation is None:
        raise ValueError("the stages of these runs are of no paper: only a paper's metrics can be compared")
    order = [stage for stage in evaluation.reported if stage in shared] or sorted(shared)
    tasks = {name: {stage: _tasks(folder, stage) for stage in order} for name, folder in folders.items()}
    first, *others = folders
    paired = [name for name in others if any(tasks[first][stage] & tasks[name][stage] for stage in order)]
    parts = [_settings(folders)]
    parts += [_stage(evaluation, folders, stage, paired) for stage in order]
    if alone := [name for name in others if name not in paired]:
        parts.append(
            f"no differences of {', '.join(alone)} to {first}: they played other tasks (as seeds do),\n"
            "so nothing can be paired; what each reached stands above, side by side"
        )
    if paired:
        parts.append(
            "difference: to the first run, over the tasks that both played; its interval is over other tasks,\n"
            "not over other seeds: a second seed of the same values shows how much chance alone makes;\n"
            "models that answer alike have an interval too: 3 of k images may still differ (the rule of three)"
        )
    return "\n\n".join(part for part in parts if part)


def _tasks(folder: Path, stage: str) -> set[str]:
    return {outcome["task"] for outcome in (read_json(folder / "stages" / f"{stage}.json") or {}).get("outcomes", ())}


def evaluation_of(folders: Sequence[Path]) -> Evaluation[Any] | None:
    """The evaluation of the paper that runs are of; None: they have no stage, or one of a notebook of no paper.

    Raises:
        ValueError: they are of several papers.
    """
    files = [path for folder in folders for path in sorted(folder.glob("stages/*.json"))]
    papers = {str((read_json(path) or {}).get("paper")) for path in files}
    if len(papers) > 1:
        several = ", ".join(sorted(papers))
        raise ValueError(
            f"runs of one paper can be compared, these are of {several}: python -m kit list names each run's notebooks"
        )
    name = papers.pop() if papers else ""
    return find_paper(name).load_evaluation() if name else None


def _settings(folders: dict[str, Path]) -> str:
    """The settings of the runs' trainings that differ, a row each."""
    found: dict[str, dict[str, Any]] = {}
    for name, folder in folders.items():
        for path in sorted(folder.glob("*/checkpoint/settings.json")):
            for key, value in read_json(path)["settings"].items():
                found.setdefault(f"{path.parents[1].name}: {key}", {})[name] = value
    rows = [
        [key, *(str(values.get(name, "not run")) for name in folders)]
        for key, values in found.items()
        if len({repr(values.get(name)) for name in folders}) > 1
    ]
    return table([["setting", *folders], *rows]) if rows else "the same settings in all of them"


def _stage(evaluation: Evaluation[Any], folders: dict[str, Path], stage: str, paired: Sequence[str]) -> str:
    outcomes = {name: evaluation.load_outcomes(folder, stage) for name, folder in folders.items()}
    metrics = {name: evaluation.evaluate_outcomes(found) for name, found in outcomes.items()}
    first = next(iter(folders))
    differences = {name: paired_differences(evaluation, outcomes[first], outcomes[name]) for name in paired}
    rows = []
    for metric, called in evaluation.headlines.items():
        if any(metric in found for found in metrics.values()):
            shown = [str(found.get(metric, "not run")) for found in metrics.values()]
            rows.append([called, *shown, *(_signed(differences[name].get(metric)) for name in paired)])
    return f"{title(stage)}:\n" + table([["metric", *folders, *(f"{name} − {first}" for name in paired)], *rows])


def _signed(found: Any) -> str:
    return "no shared tasks" if found is None else f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def paired_differences(evaluation: Evaluation[Any], before: Sequence[Any], after: Sequence[Any]) -> dict[str, Interval]:
    """Difference of each headline metric, ``after`` minus ``before``, over the tasks that both have.

    Tasks are paired, so what makes a task easy or hard for both drops out; tasks about one image count as related. The
    interval is over other tasks only: another training seed may differ by more.

    Args:
        evaluation: the paper's evaluation.
        before: outcomes of one policy.
        after: outcomes of the other.
    """
    found: dict[str, Interval] = {}
    theirs = dict(evaluation.slices(before))
    for ending, mine in evaluation.slices(after):
        earlier = {o.task: o for o in theirs.get(ending, [])}
        for metric in evaluation.metrics:
            if (name := f"{metric.name}_{ending}") not in evaluation.headlines:
                continue
            pairs = [
                (float(getattr(o, metric.field)) - float(getattr(earlier[o.task], metric.field)), o.image)
                for o in mine
                if o.task in earlier and None not in (getattr(o, metric.field), getattr(earlier[o.task], metric.field))
            ]
            if pairs:
                span = None if metric.kind == "count" else 1.0
                mean = clustered_mean([value for value, _ in pairs], [image for _, image in pairs], span)
                # Of two shares none is apart from the other by more than 1.
                found[name] = mean.within(-span, span) if span else mean
    return found
