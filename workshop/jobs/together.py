"""Several runs on one page: headline metrics of each, means over seeds for each setting, the curves of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Evaluation
from kit.files import find_run, read_json, runs_folder
from kit.train.metrics import Row, read_metrics
from kit.view.charts import DASHES, GRAY, bars, colour
from kit.view.curves import overlaid
from kit.view.html import Html, clean
from workshop.jobs.compare import compare, evaluation_of
from workshop.jobs.ending import WIDE
from workshop.jobs.finding import finding
from workshop.jobs.listing import existing_run, table
from workshop.jobs.notebooks import NotebookError, find, parameters
from workshop.jobs.run import progress_of
from workshop.jobs.run_page import PAGE, folded, legible
from workshop.jobs.run_story import headline
from workshop.jobs.same_tasks import on_shared_tasks, title, told_first

Groups = Mapping[str, Mapping[str, int]]
"""Setting (empty: the only one) → name of each of its runs → its seed."""

NO_SETTING = ("run", "profile", "tag", "seed")
"""Parameters that may differ between runs of one setting."""

SAID = "Value and 95 % interval: of a run over other tasks; of a mean over other tasks and other seeds."


def grouped(names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Put runs together that differ in their seed alone, by what they were made with.

    Raises:
        ValueError: no such run.
    """
    values = {name: _values(existing_run(name)) for name in dict.fromkeys(names)}
    shared = set.intersection(*(set(mine) for mine in values.values()))
    differ = [key for key in sorted(shared) if len({repr(mine[key]) for mine in values.values()}) > 1]
    found: dict[str, dict[str, int]] = {}
    for number, (name, mine) in enumerate(values.items()):
        told = dict.fromkeys(f"{key}={mine[of, key]}" for of, key in differ if key not in NO_SETTING)
        seed = _seed(mine)
        setting = ", ".join(told) if mine else name  # of one that tells no values, none are known to be the same
        found.setdefault(setting, {})[name] = number if seed is None else seed
    return found


def seed_of(folder: Path) -> int | None:
    """The one seed that all of a run was made with; None: nothing says so."""
    return _seed(_values(folder))


def _seed(values: Mapping[tuple[str, str], Any]) -> int | None:
    seeds = {int(value) for (_, key), value in values.items() if key == "seed"}
    return seeds.pop() if len(seeds) == 1 else None


def _values(folder: Path) -> dict[tuple[str, str], Any]:
    """(Notebook, parameter) → value; of a run made in notebooks (training, setting) → value."""
    found: dict[tuple[str, str], Any] = {}
    for name, entry in progress_of(folder).items():
        try:
            usual = {key: parameter.default for key, parameter in parameters(find(name)[0]).items()}
        except NotebookError:  # one of before, or of a package that is gone
            usual = {}
        found |= {(name, key): value for key, value in {**usual, **entry.get("parameters", {})}.items()}
    for path in folder.glob("*/checkpoint/settings.json") if not found else ():
        found |= {(path.parents[1].name, key): value for key, value in read_json(path)["settings"].items()}
    return found


def page_of(names: Sequence[str]) -> Path:
    """The place of these runs' page: in the runs' folder, called after them."""
    whole = "-beside-".join(names)
    return runs_folder() / f"{whole if len(whole) < 100 else f'{names[0]}-beside-{len(names) - 1}-others'}.html"


def rows(evaluation: Evaluation[Any], groups: Groups, stage: str) -> list[list[str]]:
    """Headline metrics of a stage as a table, its head first: each run, and the mean of each setting's runs.

    Args:
        evaluation: of the runs' paper.
        groups: the runs.
        stage: such as ``grpo``; a run that hasn't measured it says so.
    """
    measured = {name: outcomes for runs in groups.values() for name, outcomes in _outcomes(evaluation, runs, stage)}
    metrics = {name: evaluation.evaluate_outcomes(some) for name, some in measured.items()}
    shown = [name for name in evaluation.headlines if any(name in found for found in metrics.values())]
    found = [["setting", "run", *(evaluation.headlines[name] for name in shown)]]
    for setting, runs in groups.items():
        for name in runs:
            mine = metrics.get(name, {})
            found.append([setting, name, *(str(mine.get(metric, "not run")) for metric in shown)])
        if len(runs) > 1 and (together := mean_of(evaluation, runs, stage)):
            have = [name for name in runs if name in measured]
            seeds = len({runs[name] for name in have})
            called = f"mean of {len(have)} run{'s' * (len(have) > 1)}, {seeds} seed{'s' * (seeds > 1)}"
            found.append([setting, called, *(str(together.get(metric, "not run")) for metric in shown)])
    return found if any(groups) else [row[1:] for row in found]  # the only setting has no name


def _outcomes(evaluation: Evaluation[Any], runs: Mapping[str, int], stage: str) -> Iterator[tuple[str, list[Any]]]:
    """The outcomes of a stage in the runs that measured it, each with its run's seed."""
    for name, seed in runs.items():
        if (find_run(name) / "stages" / f"{stage}.json").is_file():
            yield name, evaluation.load_outcomes(find_run(name), stage, seed)


def mean_of(evaluation: Evaluation[Any], runs: Mapping[str, int], stage: str) -> dict[str, Interval]:
    """Every metric over all runs of a setting that measured a stage, with intervals over seeds; empty if none did.

    Args:
        evaluation: of the runs' paper.
        runs: name → seed.
        stage: such as ``grpo``.
    """
    some = [outcome for _, mine in _outcomes(evaluation, runs, stage) for outcome in mine]
    return evaluation.evaluate_outcomes(some) if some else {}


def stages_of(evaluation: Evaluation[Any] | None, groups: Groups) -> list[str]:
    """Stages that a run has measured: first what the runs are told by, at the end what no training changes."""
    folders = [find_run(name) for runs in groups.values() for name in runs]
    found = {path.stem for folder in folders for path in folder.glob("stages/*.json")}
    known = [stage for stage in evaluation.reported if stage in found] or sorted(found) if evaluation else []
    return told_first(known)


def told(groups: Groups) -> str:
    """The table of what the runs are told by, as text, and the finding of each setting.

    Raises:
        ValueError: the runs are of several papers.
    """
    evaluation = evaluation_of([find_run(name) for runs in groups.values() for name in runs])
    stages = stages_of(evaluation, groups)
    if not evaluation or not stages:
        return "nothing measured"
    parts = [f"{title(stages[0])}:\n{table(rows(evaluation, groups, stages[0]))}"]
    return "\n\n".join([*parts, *(fill(text, WIDE) for text in _findings(evaluation, groups, stages[0]))])


def _findings(evaluation: Evaluation[Any], groups: Groups, stage: str) -> Iterator[str]:
    """What came out in words, of each setting over all of its runs that measured a stage, on the tasks compared."""
    for setting, runs in groups.items():
        played: dict[str, list[Any]] = {}
        fewer = False
        whole = {name: seed for name, seed in runs.items() if (find_run(name) / "stages" / f"{stage}.json").is_file()}
        for name, seed in whole.items():
            there = [path.stem for path in sorted(find_run(name).glob("stages/*.json"))]
            known = {
                one: evaluation.load_outcomes(find_run(name), one, seed) for one in evaluation.reported if one in there
            }
            for one, some in on_shared_tasks(known).items():
                played.setdefault(one, []).extend(some)
                fewer |= len(some) < len(known[one])
        if played:
            stages = {one: evaluation.evaluate_outcomes(some) for one, some in played.items()}
            text = finding(stages, *headline(evaluation, stages), len({*whole.values()}))
            text += " (On the tasks that all stages of a run played: some had more.)" * fewer
            yield f"{setting}: {text}" if setting else text


def write(groups: Groups, target: Path, called: str) -> Path:
    """Write the page of several runs; returns where it is.

    Args:
        groups: the runs, by setting.
        target: file of the page.
        called: what stands above it.

    Raises:
        ValueError: the runs are of several papers.
    """
    names = [name for runs in groups.values() for name in runs]
    evaluation = evaluation_of([find_run(name) for name in names])
    body = [f'<h1 style="font-size:22px;margin:0">{clean(called)}</h1><p>{SAID}</p>']
    stages = stages_of(evaluation, groups)
    for stage in stages:
        assert evaluation is not None  # else there are no stages
        shown = _html(rows(evaluation, groups, stage), target.parent)
        if stage != stages[0]:
            body.append(folded(title(stage), shown))
            continue
        body += [f'<p style="font-size:16px">{clean(text)}</p>' for text in _findings(evaluation, groups, stage)]
        body += [
            f"<h2>{clean(title(stage))}</h2>{shown}",
            *(_drawn(evaluation, groups, stage) if len(groups) > 1 else ()),
        ]
    body += [] if stages else ["<p>No stage has been measured yet.</p>"]
    body += _curves(groups)
    try:
        compared = compare(names) if len(names) > 1 else ""
    except ValueError as error:
        compared = str(error)
    body.append(folded("differences to the first run", f'<div class="t k">{clean(compared)}</div>') if compared else "")
    return Html("".join(body), called).save(target)


def _drawn(evaluation: Evaluation[Any], groups: Groups, stage: str) -> Iterator[str]:
    """The first headline metric of each setting, as bars."""
    metric, called = next(iter(evaluation.headlines.items()))
    means = {setting: mean_of(evaluation, runs, stage).get(metric) for setting, runs in groups.items()}
    if known := {setting: value for setting, value in means.items() if value}:
        yield bars({called: known}, label=called, title=f"{called}: value and 95 % interval").html()


def _html(lines: Sequence[Sequence[str]], folder: Path) -> str:
    """A table with its head; names of runs lead to their pages, as far as these are there."""
    look = "text-align:left;padding:2px 10px;border-bottom:1px solid var(--l)"

    def shown(text: str) -> str:
        there = (folder / text / PAGE).is_file()
        return f'<a href="{clean(text)}/{PAGE}" style="color:inherit">{clean(text)}</a>' if there else clean(text)

    head, *others = lines
    made = ["".join(f'<th style="{look}">{clean(text)}</th>' for text in head)]
    place = head.index("run")
    for row in others:
        bold = ";font-weight:bold" * row[place].startswith("mean of ")
        cells = [shown(text) if k == place else clean(text) for k, text in enumerate(row)]
        made.append("".join(f'<td style="{look}{bold}">{text}</td>' for text in cells))
    return f'<table style="border-collapse:collapse">{"".join(f"<tr>{row}</tr>" for row in made)}</table>'


def _curves(groups: Groups) -> Iterator[str]:
    """The trainings of all runs, each training's in one figure: a setting has a colour, the only one's runs have.

    A setting of several runs has their mean as well, drawn thicker, over the steps that all of them took.
    """
    every = [(setting, find_run(name)) for setting, runs in groups.items() for name in runs]
    seeds = {name: seed for runs in groups.values() for name, seed in runs.items()}
    for training in sorted({path.parent.name for _, folder in every for path in folder.glob("*/metrics.jsonl")}):
        some = [(setting, folder, read_metrics(folder / training / "metrics.jsonl")) for setting, folder in every]
        known = [one for one in some if one[2]]
        head = clean(f"curves of the training {training}")
        labels = [
            setting if len(groups) > 1 else f"{folder.name}, seed {seeds[folder.name]}" for setting, folder, _ in known
        ]
        places = list(dict.fromkeys(labels))
        styles = []
        for number, label in enumerate(labels):
            k = places.index(label)
            style = {"color": colour(k), "linestyle": DASHES[k % 4], "linewidth": 1.0}
            styles.append(style | ({"label": label} if label not in labels[:number] else {}))
        lines = {folder.name: found for _, folder, found in known}
        for setting in groups:
            if len(mine := [found for of, _, found in known if of == setting]) > 1:
                called = f"{setting}: mean" if setting else "mean"
                style = (
                    {"color": colour(places.index(setting)), "linestyle": DASHES[places.index(setting) % 4]}
                    if setting
                    else {"color": GRAY}
                )
                lines[called] = mean_rows(mine)
                styles.append(style | {"linewidth": 2.5, "zorder": 1.5, "label": called})
        missing = ", ".join(folder.name for _, folder, found in some if not found)
        note = f"<p>{clean(f'Not run in {missing}.')}</p>" if missing else ""
        try:
            figure = overlaid(lines, styles)
        except ValueError as error:  # no metric that all of them have
            yield f"<h2>{head}</h2><p>{clean(str(error))}</p>{note}"
            continue
        yield f"<h2>{head}</h2>{note}{legible(figure)}"


def mean_rows(runs: Sequence[Sequence[Row]]) -> list[Row]:
    """The mean of several trainings' metrics, at each step that all took, of each metric that all have there."""
    found: list[Row] = []
    at = [{row["step"]: row for row in rows} for rows in runs]
    for step in sorted(set.intersection(*(set(rows) for rows in at))):
        here = [rows[step] for rows in at]
        names = [key for key in here[0] if all(isinstance(row.get(key), int | float) for row in here)]
        found.append({key: sum(row[key] for row in here) / len(here) for key in names})
    return found
