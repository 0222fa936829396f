"""The lengths that episodes of a training had: measured in runs here, else in the published ones; never assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kit.files import runs_folder
from kit.train.metrics import Row, read_metrics
from papers.published_curves import published_curves
from papers.registry import paper_of
from workshop.jobs.run import Job, progress_of

TRAINING = "grpo"
"""Folder of a run's reinforcement learning by a notebook that is called NN_PAPER_grpo; its metrics tell lengths."""

UNKNOWN = (
    "as long as expected: not measured by any run of this profile and model (--expected-tokens N plans for a mean)"
)


@dataclass(frozen=True)
class Length:
    """Mean tokens of an episode, those of them that the policy wrote, and where they were measured."""

    tokens: int
    sampled: int
    where: str


def measured_length(job: Job, notebook: str) -> Length | None:
    """Find how long the episodes of a notebook's training are on average, over all steps; None: nobody measured it.

    Args:
        job: tells profile and model: those of other profiles or models say nothing of its episodes.
        notebook: the one that trains.
    """
    paper = paper_of(notebook)
    if paper is None or not notebook.endswith(f"_{TRAINING}"):
        return None
    model = _model({planned.source.name: planned.values for planned in job.notebooks})
    found: dict[str, list[Row]] = {}
    for path in sorted(runs_folder().glob(f"*/{TRAINING}/metrics.jsonl")):
        done = progress_of(path.parents[1])
        if done.get(notebook, {}).get("profile") == job.profile and model == _model(
            {name: entry.get("parameters", {}) for name, entry in done.items()}
        ):
            found[path.parents[1].name] = read_metrics(path)
    if own := _mean(found, f"{len(found)} run(s) here"):
        return own
    published = published_curves(paper.name, TRAINING) if job.profile == "laptop" and not model else {}
    return _mean(published, f"{len(published)} published runs (results/curves)")


def _model(values: Mapping[str, Mapping[str, Any]]) -> str:
    """The model that a run's notebooks begin with; empty: the committed tiny one."""
    return next((str(mine["model"]) for mine in values.values() if mine.get("model")), "")


def _mean(runs: Mapping[str, list[Row]], where: str) -> Length | None:
    rows = [row for some in runs.values() for row in some if "tokens" in row and "response_tokens" in row]
    if not rows:
        return None
    whole, said = (sum(row[key] for row in rows) / len(rows) for key in ("tokens", "response_tokens"))
    return Length(round(whole), round(said), where)
