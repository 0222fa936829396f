"""Outcomes of episodes that nobody played, and runs that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kit.evaluate.outcomes import Evaluation, Outcome
from kit.files import write_json

T = TypeVar("T", bound=Outcome)


def made(outcome: type[T], correct: bool, reason: str = "", **fields: Any) -> T:
    """An outcome that is right or wrong; what isn't given is that of a short episode."""
    ended = reason or ("solved" if correct else "wrong")
    rest = {"task": "t", "image": "p", "turns": 1, "tool_calls": 0, "tokens": 9}
    return outcome(**{**rest, **fields}, correct=correct, reason=ended)


def save_made(
    run: Path,
    evaluation: Evaluation[Any],
    stages: Mapping[str, Sequence[Outcome]],
    calls: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> Path:
    """Save outcomes as a run's stages, as if its episodes had been played; returns the run's folder.

    Args:
        run: the folder.
        evaluation: the paper's.
        stages: stage → outcomes.
        calls: stage → the tools that each of its episodes called; every call succeeded.
    """
    for stage, some in stages.items():
        called = (calls or {}).get(stage, [[]] * len(some))
        record = {"stage": stage, "paper": evaluation.paper, "outcomes": [asdict(o) for o in some]}
        write_json(
            run / "stages" / f"{stage}.json", record | {"calls": [[[t, "ok"] for t in tools] for tools in called]}
        )
    return run


def made_rows(noise: int, steps: int, names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a training that nobody ran: so many steps, each with these metrics, drawn by ``noise``."""
    draw = np.random.default_rng(noise).random((steps, len(names)))
    return [{"step": n + 1, **dict(zip(names, map(float, draw[n]), strict=True))} for n in range(steps)]


def save_curve(run: Path, training: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Save the rows of a training that nobody ran."""
    (run / training).mkdir(parents=True, exist_ok=True)
    (run / training / "metrics.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
