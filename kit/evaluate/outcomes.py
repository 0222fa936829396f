"""Save, load and compare the evaluation results of a run's stages (untrained, sft, grpo).

A paper describes its evaluation once, as an :class:`Evaluation`: the outcome of an episode, the metrics over outcomes,
and the numbers the paper reports. Where its tables need more of an episode than :class:`Outcome` has, it adds fields::

    @dataclass(frozen=True, kw_only=True)
    class Sheet(Outcome):
        hard: bool

    def outcome(episode: Episode, seed: int = 0) -> Sheet:
        return Sheet.of(episode, is_right(episode, episode.task.target), seed, hard=episode.task.meta["hard"])

    slices = slices_by(lambda sheet: "hard" if sheet.hard else "easy", everything="all")  # acc_all, acc_easy, acc_hard
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar

from kit.episode import Episode, Task
from kit.evaluate import shown
from kit.evaluate.calls import Call, calls
from kit.evaluate.intervals import Interval, Point, clustered_mean, contrast, proportion_over_seeds
from kit.evaluate.provenance import provenance
from kit.files import read_json, write_json

Metrics = dict[str, Interval]
"""Metric's name → its value with a 95 % interval."""

REASONS = {
    "solved": "solved",
    "wrong": "wrong answer",
    "malformed": "malformed answer",
    "format": "a turn without an action",
    "turns": "out of turns",
    "tokens": "out of tokens",
    "lost": "sandbox lost",
}
"""The ways an episode can end and their display names, in the order of the tables."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one finished episode.

    Attributes:
        task: id of the task.
        image: :func:`source_image` of the task: tasks about one image are related.
        correct: whether it ended with the right answer.
        reason: how it ended, a key of :data:`REASONS`.
        turns: turns played, the answer included.
        tool_calls: actions other than the answer.
        tokens: tokens the policy sampled.
        seed: seed of the training run that made the policy.
    """

    task: str
    image: str
    correct: bool
    reason: str
    turns: int
    tool_calls: int
    tokens: int
    seed: int = 0

    @classmethod
    def of(cls, episode: Episode, correct: bool, seed: int = 0, *, well_formed: bool = True, **own: Any) -> Self:
        """Read the outcome from a finished episode.

        Args:
            episode: the episode.
            correct: whether its answer is right.
            seed: seed of the training run that made the policy.
            well_formed: whether an answer that isn't right is one at all; else it is ``malformed``, not ``wrong``.
            own: the fields that a paper's outcome adds.

        Raises:
            ValueError: the episode is still running.
        """
        if episode.ended == "running":
            raise ValueError(f"episode {episode.task.id} is still running: only ended episodes have an outcome")
        answered = "solved" if correct else "wrong" if well_formed else "malformed"
        return cls(
            task=episode.task.id,
            image=source_image(episode.task),
            correct=correct,
            reason=answered if episode.ended == "answer" else episode.ended,
            turns=len(episode.turns),
            tool_calls=episode.calls,
            tokens=sum(len(turn.ids) for turn in episode.turns),
            seed=seed,
            **own,
        )


T = TypeVar("T", bound=Outcome)

Slices = Callable[[Sequence[T]], Iterable[tuple[str, list[T]]]]
"""From outcomes to the slices that metrics are taken of: the ending of the metrics' names, and the outcomes."""


def slices_by(*parts: Callable[[T], str], everything: str = "", order: Sequence[str] = ()) -> Slices[T]:
    """Slice outcomes by their first part, and each of these slices by the next.

    ``slices_by(lambda o: o.setting, lambda o: o.label)`` makes slices such as ``search``, ``search_hard``,
    ``search_simple``.

    Args:
        parts: each names the part of an outcome by which it is sliced.
        everything: name of the slice of all outcomes, which comes first; empty: there is none.
        order: names that come first, in this order; others follow by the alphabet.
    """

    def cut(outcomes: Sequence[T], before: str, parts: Sequence[Callable[[T], str]]) -> Iterator[tuple[str, list[T]]]:
        names = {parts[0](o) for o in outcomes} if parts else set()
        for name in sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name)):
            some = [o for o in outcomes if parts[0](o) == name]
            yield before + name, some
            yield from cut(some, f"{before}{name}_", parts[1:])

    def slices(outcomes: Sequence[T]) -> Iterator[tuple[str, list[T]]]:
        if everything:
            yield everything, list(outcomes)
        yield from cut(outcomes, "", parts)

    return slices


@dataclass(frozen=True)
class Metric:
    """A mean over outcomes.

    Attributes:
        name: first part of its name in results files: ``acc`` of ``acc_2x2``.
        field: the outcome's attribute that is averaged; outcomes that have None there are left out.
        kind: ``binary`` (each value is 0 or 1), ``share`` (0 to 1) or ``count`` (unbounded).
    """

    name: str
    field: str
    kind: Literal["binary", "share", "count"]

    def interval(self, outcomes: Sequence[Outcome]) -> Interval:
        """Mean with its 95 % interval over other images and, where the outcomes have several seeds, other seeds.

        Args:
            outcomes: at least one, none with None in :attr:`field`.
        """
        points = [Point(o.seed, o.image, float(getattr(o, self.field))) for o in outcomes]
        if self.kind != "count":
            return proportion_over_seeds(points)
        if len({point.seed for point in points}) > 1:
            return contrast({self.name: points}, {self.name: 1.0})
        return clustered_mean([point.value for point in points], [point.image for point in points])


def source_image(task: Task) -> str:
    """Name the image that a task was made of (``meta["source"]``, else its id): tasks about one image are related."""
    return str(task.meta.get("source") or task.id)


def failures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Share of each way the episodes ended; every episode is counted once, so the shares add up to 1."""
    counts = Counter(o.reason for o in outcomes)
    return {text: counts[key] / len(outcomes) for key, text in REASONS.items() if counts[key]}


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
    reported: Mapping[str, Mapping[str, float]] | None = None,
    metrics: Sequence[str] = (),
    note: str = "value [95 % interval]",
    baseline: tuple[str, Callable[[str], str]] | None = None,
) -> str:
    """Stages side by side with intervals, and beside each the paper's number (in brackets), as text.

    Args:
        results: the content of a ``results.json``, or ``{"untrained": metrics, "sft": …, "grpo": …}``.
        reported: stage → metric → the paper's number; its stages come first, in its order.
        metrics: first parts of the metrics' names to show; empty: all.
        note: last line of the table.
        baseline: one more column: its head, and the function that gives its cell for a metric's name.
    """
    found, reported = by_stage(results), reported or {}
    order = [s for s in reported if s in found] + [s for s in found if s not in reported]
    wanted = [n for n in dict.fromkeys(n for s in order for n in found[s]) if not metrics or n.split("_")[0] in metrics]
    rows = [["metric", *([baseline[0]] if baseline else []), *order]]
    for name in wanted:
        row = [name, *([baseline[1](name)] if baseline else [])]
        for stage in order:
            theirs = reported.get(stage, {}).get(name)
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


@dataclass(frozen=True)
class Evaluation(Generic[T]):
    """A paper's evaluation: outcomes of episodes, metrics over outcomes, and the numbers the paper reports.

    Attributes:
        paper: the paper's name in :mod:`papers.registry`.
        outcome_type: class of its outcomes.
        outcome: one finished episode and the seed of the run that trained the policy → its outcome.
        is_right: an answered episode and its task's target → whether the answer is right.
        slices: outcomes → (ending of the metrics' names, the outcomes it covers), for every row group of the tables.
        metrics: the metrics computed for each slice.
        reported: stage → metric → the paper's number; the stages in the order of the tables.
        headlines: metrics shown in the README → their display names; the first is the default of :meth:`summary`.
        tabled: first parts of the metrics' names that :meth:`table` shows.
        note: last line of :meth:`table`.
        baseline: one more column of :meth:`table`: its head, and the function from a metric's name to its cell.
    """

    paper: str
    outcome_type: type[T]
    outcome: Callable[[Episode, int], T]
    is_right: Callable[[Episode, Any], bool]
    slices: Slices[T]
    metrics: tuple[Metric, ...]
    reported: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    headlines: Mapping[str, str] = field(default_factory=dict)
    tabled: tuple[str, ...] = ()
    note: str = "value [95 % interval]"
    baseline: tuple[str, Callable[[str], str]] | None = None

    def outcomes(self, episodes: Sequence[Episode], seed: int = 0) -> list[T]:
        """The outcome of each episode, marked with the ``seed`` of the training run.

        Raises:
            ValueError: an episode is still running.
        """
        return [self.outcome(episode, seed) for episode in episodes]

    def evaluate(self, episodes: Sequence[Episode], seed: int = 0) -> Metrics:
        """Every metric of one policy's episodes, with intervals over other images.

        Raises:
            ValueError: no episodes, or one is still running.
        """
        return self.evaluate_outcomes(self.outcomes(episodes, seed))

    def evaluate_outcomes(self, outcomes: Sequence[T]) -> Metrics:
        """Every metric of outcomes; of several seeds: with intervals over other images and other seeds.

        Raises:
            ValueError: no outcomes.
        """
        if not outcomes:
            raise ValueError("nothing to evaluate: 0 episodes; play at least one task")
        metrics: Metrics = {}
        for ending, some in self.slices(outcomes):
            for metric in self.metrics:
                if known := [o for o in some if getattr(o, metric.field) is not None]:
                    metrics[f"{metric.name}_{ending}"] = metric.interval(known)
        return metrics

    def failures(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """Share of each way the episodes ended; every episode is counted once, so the shares add up to 1."""
        return failures(self.outcomes(episodes))

    def save_stage(
        self, run: str | Path, stage: str, episodes: Sequence[Episode], made_of: Mapping[str, Any] | None = None
    ) -> Metrics:
        """Evaluate a stage's episodes and save outcomes, calls and metrics in ``RUN/stages/STAGE.json``.

        A few episodes are kept whole, for :mod:`kit.evaluate.shown`.

        Args:
            run: the run's folder.
            stage: the stage's name, such as ``sft``.
            episodes: finished episodes of the stage's policy, at least one.
            made_of: what the episodes depend on, as JSON, for :meth:`has_stage`; None: not told.

        Returns:
            The stage's metrics.

        Raises:
            ValueError: no episodes, one is still running, or the stage's name can't be a file's.
        """
        outcomes = self.outcomes(episodes)
        metrics = self.evaluate_outcomes(outcomes)
        record = {
            "stage": stage,
            "paper": self.paper,
            **provenance(),
            "metrics": {name: found.record() for name, found in metrics.items()},
            "failures": failures(outcomes),
            "outcomes": [asdict(o) for o in outcomes],
            "calls": [[[call.tool, call.status] for call in calls(episode)] for episode in episodes],
            **({} if made_of is None else {"made_of": dict(made_of)}),
        }
        shown.keep(run, stage, episodes)
        write_json(_file(run, stage), record)
        return metrics

    def has_stage(self, run: str | Path, stage: str, made_of: Mapping[str, Any]) -> bool:
        """Check whether a stage was saved in this run with just this ``made_of``.

        Args:
            run: the run's folder.
            stage: the stage's name.
            made_of: what its episodes depend on now.
        """
        return (read_json(_file(run, stage)) or {}).get("made_of") == json.loads(json.dumps(made_of))

    def load_calls(self, run: str | Path, stage: str, seed: int = 0) -> list[tuple[T, list[Call]]]:
        """The outcomes that :meth:`save_stage` wrote, each with its episode's calls.

        Args:
            run: the run's folder.
            stage: the stage's name.
            seed: seed of the training run, written into each outcome.

        Raises:
            FileNotFoundError: the stage was not evaluated in this run.
            ValueError: the file was written by a version that kept no calls.
        """
        outcomes, path = self.load_outcomes(run, stage, seed), _file(run, stage)
        kept = read_json(path).get("calls")
        if kept is None:
            raise ValueError(f"{path}: written by a version of the kit that kept no calls; evaluate the stage again")
        return [(o, [Call(*call) for call in some]) for o, some in zip(outcomes, kept, strict=True)]

    def load_outcomes(self, run: str | Path, stage: str, seed: int = 0) -> list[T]:
        """The outcomes that :meth:`save_stage` wrote.

        Args:
            run: the run's folder.
            stage: the stage's name.
            seed: seed of the training run, written into each outcome.

        Raises:
            FileNotFoundError: the stage was not evaluated in this run.
            ValueError: the file's outcomes have other fields than this version's.
        """
        path = _file(run, stage)
        record = read_json(path)
        if record is None:
            raise FileNotFoundError(f"{path}: stage {stage!r} was not evaluated in this run; run its notebook first")
        try:
            return [self.outcome_type(**(o | {"seed": seed})) for o in record["outcomes"]]
        except TypeError as error:
            raise ValueError(
                f"{path}: written by another version of the kit ({error}); evaluate the stage again"
            ) from None

    def load_stage(self, run: str | Path, stage: str) -> Metrics:
        """The metrics of a stage that was evaluated in this run.

        Raises:
            FileNotFoundError: the stage was not evaluated in this run.
        """
        return self.evaluate_outcomes(self.load_outcomes(run, stage))

    def summary(self, metrics: Mapping[str, Interval], name: str = "") -> str:
        """One metric as a line of text: value, interval, number of episodes.

        Args:
            metrics: result of :meth:`evaluate`.
            name: the metric; empty: the first headline.

        Raises:
            ValueError: ``metrics`` has no such metric.
        """
        name = name or next(iter(self.headlines))
        if name not in metrics:
            raise ValueError(f"summary of {name!r}: these episodes have {', '.join(metrics)}")
        return f"{metrics[name]}, n = {metrics[name].n}"

    def table(self, results: Mapping[str, Any], metrics: Sequence[str] | None = None) -> str:
        """Stages side by side with intervals, and beside each the paper's number (in brackets), as text.

        Args:
            results: the content of a ``results.json``, or ``{"untrained": evaluate(…), "sft": …, "grpo": …}``.
            metrics: first parts of the metrics' names to show; None: :attr:`tabled`.
        """
        return table(results, self.reported, self.tabled if metrics is None else metrics, self.note, self.baseline)
