"""Compare two policies on the tasks that both played: the difference of each metric with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kit.evaluate.intervals import Interval, clustered_mean
from kit.evaluate.outcomes import Evaluation


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
                found[name] = clustered_mean([value for value, _ in pairs], [image for _, image in pairs], span)
    return found
