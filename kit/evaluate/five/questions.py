"""The five questions in words, and the values of a results file that answer each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import by_stage

Kind = Literal["difference", "share", "number"]
"""A difference of shares, which 0 divides; a share, 0 to 1; or a number on a scale of its own."""


@dataclass(frozen=True)
class Answer:
    """One value that answers a question.

    Attributes:
        name: in results files.
        label: in tables and figures.
        kind: how it is drawn.
    """

    name: str
    label: str
    kind: Kind


QUESTIONS: Mapping[str, tuple[Answer, ...]] = {
    "1 Does reinforcement add?": (
        Answer("grpo/gain_over_sft", "after GRPO minus before", "difference"),
        Answer("sft/pass_at_1", "before GRPO: right in one try", "share"),
        Answer("sft/pass_at_8", "before GRPO: right in one of 8", "share"),
    ),
    "2 Does acting pay?": (
        Answer("grpo/gain_over_direct", "agent minus asked directly", "difference"),
        Answer("direct/accuracy", "asked directly: right", "share"),
    ),
    "3 Does what it is shown matter?": (
        Answer("grpo/observation_gap_swapped", "own minus another's observations", "difference"),
        Answer("grpo/observation_gap_blank", "own minus blank observations", "difference"),
    ),
    "4 Where do the calls go?": (
        Answer("grpo/calls_per_episode", "calls an episode", "number"),
        Answer("grpo/calls_that_succeed", "calls that succeed", "share"),
        Answer("grpo/accuracy_own", "right with its tools", "share"),
        Answer("grpo/accuracy_without_tools", "right with tools switched off", "share"),
        Answer("grpo/calls_at_first", "calls at the training's start", "number"),
        Answer("grpo/calls_at_last", "calls at its end", "number"),
    ),
    "5 Is the signal alive?": (
        Answer("grpo/zero_spread_groups", "groups whose rewards are equal", "share"),
        Answer("grpo/entropy_at_first", "entropy at the start, nats a token", "number"),
        Answer("grpo/entropy_at_last", "entropy at the end", "number"),
        Answer("grpo/weight_change", "change of the weights' norm", "number"),
    ),
}
"""Each question and the values that answer it, in order."""

TOOLS = "grpo/calls_of_"
"""Begins the name of one tool's calls an episode."""

Row = tuple[Answer, Interval]


def answered(results: Mapping[str, Any], subsets: Sequence[str] = ()) -> dict[str, list[Row]]:
    """The questions that a results file answers, each with its values; empty if it answers none.

    Args:
        results: the content of a ``results.json``, or stage → metrics.
        subsets: names of subsets to tell as well, such as ``hard``.
    """
    metrics = {f"{stage}/{name}": value for stage, some in by_stage(results).items() for name, value in some.items()}
    if "grpo/gain_over_sft" not in metrics:
        return {}
    found: dict[str, list[Row]] = {}
    for question, known in QUESTIONS.items():
        for answer in known:
            for subset in ("", *subsets):
                name = f"{answer.name}_{subset}" if subset else answer.name
                if name in metrics:
                    label = f"{answer.label}, {subset.replace('_', ' ')}" if subset else answer.label
                    span = 1.0 if answer.kind == "difference" else math.inf  # two shares are at most 1 apart
                    value = metrics[name].within(-span, span)
                    found.setdefault(question, []).append((Answer(name, label, answer.kind), value))
            if answer.name == "grpo/calls_per_episode":
                tools = [name for name in metrics if name.startswith(TOOLS)]
                found.setdefault(question, []).extend(
                    (Answer(name, f"   {name.removeprefix(TOOLS)}", "number"), metrics[name])
                    for name in (tools if len(tools) > 1 else ())
                )
    return found


def told(results: Mapping[str, Any], subsets: Sequence[str] = ()) -> str:
    """The five questions and their answers as text; empty if there are none.

    Args:
        results: the content of a ``results.json``, or stage → metrics.
        subsets: names of subsets to tell as well.
    """
    found = answered(results, subsets)
    wide = max((len(answer.label) for rows in found.values() for answer, _ in rows), default=0)
    lines = []
    for question, rows in found.items():
        lines.append(question)
        lines += [f"   {answer.label:{wide}s}  {value}, n = {value.n}" for answer, value in rows]
    return "\n".join(lines)
