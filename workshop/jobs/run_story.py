"""The first part of a run's page: its finding in words, three bars, the held-out curve, one task before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from kit.data.store import load_tasks
from kit.episode import Task
from kit.evaluate import shown
from kit.evaluate.outcomes import REASONS, Evaluation, Metrics
from kit.files import read_json
from kit.train.held_out import COLUMN
from kit.train.metrics import read_metrics
from kit.view import compare
from kit.view.charts import WIDEST, Plot, bars, lines
from kit.view.episodes import Judge
from kit.view.html import clean, figures, render
from workshop.jobs import same_tasks
from workshop.jobs.finding import GRPO, SFT, UNTRAINED, finding, own_finding, three_bars


def story(folder: Path, evaluation: Evaluation[Any] | None, stages: Mapping[str, Metrics]) -> Iterator[str]:
    """Tell a run from its results, as parts of a page; what was not measured is said.

    Args:
        folder: of the run.
        evaluation: of its paper; None: of a notebook that belongs to none.
        stages: stage → metrics, as far as they were measured.
    """
    metric, called = headline(evaluation, stages)
    yield f'<p style="font-size:16px">{clean(finding(stages, metric, called))}</p>'
    for text in (own_finding(evaluation, stages), same_tasks.told(folder, (folder / "results.json").is_file())):
        yield f'<p style="font-size:16px">{clean(text)}</p>' if text else ""
    three = three_bars(stages, metric)
    if known := {fill(label, 12): value for label, value in three.items() if value}:
        yield _wide(bars({called: known}, label=called, title=f"{called}: value and 95 % interval"))
        missing = ", ".join(label for label, value in three.items() if value is None)
        yield f"<p>Not measured: {clean(missing)}.</p>" if missing else ""
    played = read_metrics(folder / GRPO / "metrics.jsonl")
    if held := [row for row in played if COLUMN in row]:
        curve = {"greedy, held out": ([row["step"] for row in held], [row[COLUMN] for row in held])}
        yield _wide(lines(curve, "step", "share right", "held-out tasks, in the course of the training"))
    elif played:
        yield "<p>No held-out tasks were played during reinforcement learning.</p>"
    yield from _before_and_after(folder, evaluation.is_right if evaluation else None)


def _wide(drawn: Plot) -> str:
    """A figure as wide as the page."""
    drawn.set_size_inches(WIDEST, 2.6)
    return drawn.html()


def headline(evaluation: Evaluation[Any] | None, stages: Mapping[str, Metrics]) -> tuple[str, str]:
    """The metric that is told and its name for readers: the paper's first, else the first that the last stage has."""
    if evaluation and evaluation.headlines:
        return next(iter(evaluation.headlines.items()))
    last = stages.get(GRPO) or next(reversed(list(stages.values())), {})
    name = next(iter(last), "")
    return name, name


def _before_and_after(folder: Path, is_right: Judge | None) -> Iterator[str]:
    """A task that the agent failed before reinforcement learning and solved after it; else the first it played.

    Where its episodes were kept, all that it saw, asked for and got is shown; else the names of its calls.
    """
    before = next((name for name in (SFT, UNTRAINED) if (folder / "stages" / f"{name}.json").is_file()), SFT)
    played = {name: _played(folder, name) for name in (before, GRPO)}
    kept = {name: shown.load(folder, name) for name in (before, GRPO)}
    both = [id for id in played[before] if id in played[GRPO]]
    whole = [id for id in both if id in kept[before] and id in kept[GRPO]]
    if not both:
        return
    ended = {id: (played[before][id][0], played[GRPO][id][0]) for id in both}
    id = next((id for id in whole or both if ended[id][0] != "solved" and ended[id][1] == "solved"), (whole or both)[0])
    episodes = [kept[name][id] for name in (before, GRPO) if whole]
    task = episodes[0].task if episodes else _find_task(folder, id)
    yield render(
        "before_after.html",
        id=id,
        question=task.question if task else "",
        images=figures(task.images) if task and not episodes else [],
        rows=[] if episodes else [("before RL", *played[before][id]), ("after RL", *played[GRPO][id])],
        words=REASONS,
    )
    if episodes:
        yield compare(episodes, is_right=is_right, names=("before RL", "after RL")).body


def _played(folder: Path, stage: str) -> dict[str, tuple[str, list[list[str]]]]:
    """Task's id → how its episode ended, and its calls, each a tool and a status; none if the stage wasn't measured."""
    record = read_json(folder / "stages" / f"{stage}.json") or {}
    pairs = zip(record.get("outcomes", ()), record.get("calls", ()), strict=False)  # old files have no calls
    return {outcome["task"]: (outcome["reason"], some) for outcome, some in pairs if "task" in outcome}


def _find_task(folder: Path, id: str) -> Task | None:
    """A task among the run's data; None if they have been removed."""
    for path in sorted((folder / "data").glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            records = (json.loads(line) for line in file)
            if any(record.get("kind") == "task" and record.get("id") == id for record in records):
                return next(task for task in load_tasks(path) if task.id == id)
    return None
