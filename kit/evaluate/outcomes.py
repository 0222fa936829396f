"""What a stage of a run (untrained, sft, grpo, …) reached: kept, read again, set side by side. Shared by all papers.

A paper's module in :mod:`kit.evaluate` says what an outcome of an episode is and which metrics it has. An outcome
is a frozen dataclass with at least ``task``, ``picture``, ``reason``, ``turns``, ``tokens`` and ``seed``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from kit.episode import Episode
from kit.evaluate.intervals import Interval, Point, bootstrap_mean, contrast, proportion
from kit.evaluate.results import provenance
from kit.files import read_json, write_json

Metrics = dict[str, Interval]
"""From a metric's name to its interval."""

REASONS = {
    "solved": "solved",
    "wrong": "wrong answer",
    "malformed": "malformed answer",
    "format": "a turn without an action",
    "turns": "out of turns",
    "tokens": "out of tokens",
    "lost": "sandbox lost",
}
"""How an episode can end, in the order of the tables, and what to call it."""


class Played(Protocol):
    """What every paper's outcome has."""

    @property
    def picture(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def seed(self) -> int: ...


T = TypeVar("T", bound=Played)


def interval(
    name: str, values: Sequence[float], played: Sequence[Played], share: bool, right: bool = False
) -> Interval:
    """A mean over outcomes with its 95 % interval: over other pictures, and over other seeds where there are several.

    Args:
        values: one for each of ``played``.
        share: it can't leave 0 to 1.
        right: every value is 0 or 1, whether something was right (then Wilson's interval).
    """
    pictures = [o.picture for o in played]
    if len({o.seed for o in played}) > 1:
        points = [Point(o.seed, o.picture, value) for o, value in zip(played, values, strict=True)]
        found = contrast({name: points}, {name: 1.0})
    elif right:
        found = proportion([bool(value) for value in values], pictures)
    else:
        found = bootstrap_mean(list(values), pictures, span=1.0 if share else None)
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high)) if share else found


def reasons(played: Sequence[Played]) -> dict[str, float]:
    """Share of each way the episodes ended; every episode is counted once, so the shares add up to 1."""
    counts = Counter(o.reason for o in played)
    return {text: counts[key] / len(played) for key, text in REASONS.items() if counts[key]}


def summary(metrics: Mapping[str, Interval], name: str) -> str:
    """One metric as a line of text: value, interval, number of episodes."""
    if name not in metrics:
        raise ValueError(f"summary of {name!r}: these episodes have {', '.join(metrics)}")
    return f"{metrics[name]}, n = {metrics[name].n}"


def by_stage(results: Mapping[str, Any]) -> dict[str, Metrics]:
    """Stage → metrics, from the content of a ``results.json`` or from a mapping of that form already."""
    if "metrics" not in results:
        return {stage: dict(metrics) for stage, metrics in results.items()}
    stages: dict[str, Metrics] = {}
    for name, record in results["metrics"].items():
        stage, slash, metric = name.partition("/")
        if slash:
            stages.setdefault(stage, {})[metric] = Interval.of(record)
    return stages


def table(
    results: Mapping[str, Any],
    paper: Mapping[str, Mapping[str, float]],
    metrics: Sequence[str],
    note: str,
    beside: tuple[str, Callable[[str], str]] | None = None,
) -> str:
    """Stages side by side with intervals, and beside each the paper's number (in brackets), as text.

    Args:
        results: the content of a ``results.json``, or ``{"untrained": metrics, "sft": …, "grpo": …}``.
        paper: the stages that come first, in this order, and what the paper reports of each, by metric.
        metrics: which, by what their names begin with; empty: all.
        note: stands below.
        beside: the head of one more column, and what stands there for a metric.
    """
    found = by_stage(results)
    order = [s for s in paper if s in found] + [s for s in found if s not in paper]
    wanted = [n for n in dict.fromkeys(n for s in order for n in found[s]) if not metrics or n.split("_")[0] in metrics]
    rows = [["metric", *([beside[0]] if beside else []), *order]]
    for name in wanted:
        row = [name, *([beside[1](name)] if beside else [])]
        for stage in order:
            theirs = paper.get(stage, {}).get(name)
            cell = str(found[stage].get(name, "not run"))
            row.append(f"{cell} ({theirs:.3f})" if theirs is not None else cell)
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:], note])


def _file(run: str | Path, stage: str) -> Path:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", stage):
        raise ValueError(f"stage {stage!r}: use small letters, digits, dashes and underscores")
    return Path(run) / "stages" / f"{stage}.json"


def save_outcomes(run: str | Path, stage: str, paper: str, played: Sequence[Any], metrics: Metrics) -> Metrics:
    """Keep a stage's outcomes, of a run of ``paper``, in ``RUN/stages/STAGE.json``; returns the metrics."""
    record = {
        "stage": stage,
        "paper": paper,
        **provenance(),
        "metrics": {name: found.record() for name, found in metrics.items()},
        "failures": reasons(played),
        "outcomes": [asdict(o) for o in played],
    }
    write_json(_file(run, stage), record)
    return metrics


def load_outcomes(run: str | Path, stage: str, outcome: type[T], seed: int = 0) -> list[T]:
    """The outcomes that :func:`save_outcomes` kept, marked with the ``seed`` the run was trained with.

    Raises:
        FileNotFoundError: the stage was not evaluated in this run.
    """
    path = _file(run, stage)
    record = read_json(path)
    if record is None:
        raise FileNotFoundError(f"{path}: stage {stage!r} was not evaluated in this run; run its notebook first")
    return [outcome(**(o | {"seed": seed})) for o in record["outcomes"]]


@dataclass(frozen=True)
class Evaluation(Generic[T]):
    """What every paper's module does with its own outcomes and metrics.

    Attributes:
        paper: our name of it.
        kind: its outcome's class.
        outcome: of one finished episode, and the seed of the run that trained the policy.
        metrics: of outcomes, at least one.
    """

    paper: str
    kind: type[T]
    outcome: Callable[[Episode, int], T]
    metrics: Callable[[Sequence[T]], Metrics]

    def outcomes(self, episodes: Sequence[Episode], seed: int = 0) -> list[T]:
        """The outcome of each episode."""
        return [self.outcome(episode, seed) for episode in episodes]

    def evaluate(self, episodes: Sequence[Episode], seed: int = 0) -> Metrics:
        """Every metric of one policy's episodes."""
        return self.metrics(self.outcomes(episodes, seed))

    def failures(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """Share of each way the episodes ended; every episode is counted once, so the shares add up to 1."""
        return reasons(self.outcomes(episodes))

    def write_stage(self, run: str | Path, stage: str, episodes: Sequence[Episode]) -> Metrics:
        """Keep what a stage of a run reached in ``RUN/stages/STAGE.json``; returns its metrics."""
        played = self.outcomes(episodes)
        return save_outcomes(run, stage, self.paper, played, self.metrics(played))

    def read_outcomes(self, run: str | Path, stage: str, seed: int = 0) -> list[T]:
        """The outcomes that :meth:`write_stage` kept, marked with the ``seed`` the run was trained with.

        Raises:
            FileNotFoundError: the stage was not evaluated in this run.
        """
        return load_outcomes(run, stage, self.kind, seed)

    def read_stage(self, run: str | Path, stage: str) -> Metrics:
        """The metrics of a stage that was evaluated in this run.

        Raises:
            FileNotFoundError: it was not.
        """
        return self.metrics(self.read_outcomes(run, stage))
