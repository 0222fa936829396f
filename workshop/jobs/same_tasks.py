"""Compare a run's stages on the same tasks: one may have been measured by other questions than the one before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from kit.evaluate.outcomes import Outcome
from kit.files import read_json
from workshop.jobs.finding import DIRECT, GRPO, ORIGINALS, SFT, TITLES, UNTRAINED

T = TypeVar("T", bound=Outcome)

COMPARED = (GRPO, SFT, UNTRAINED, DIRECT)
"""Stages that a finding compares; the first that a run has is what it is about."""


def told_first(stages: Collection[str]) -> list[str]:
    """Order stages as they are told: what a finding is about, then the others, and at the end what no training changes.

    Args:
        stages: names, as they follow each other in the paper's tables.
    """
    lead = next((stage for stage in COMPARED if stage in stages), "")
    return sorted(reversed(list(stages)), key=lambda stage: (stage != lead, stage == ORIGINALS))


def title(stage: str) -> str:
    """A stage in words, and its name; its name alone where it has none."""
    return f"{TITLES[stage]} ({stage})" if stage in TITLES else stage


def on_shared_tasks(stages: Mapping[str, Sequence[T]]) -> dict[str, list[T]]:
    """Narrow the stages that are compared to the tasks that all of them have; the others stay as they are.

    A stage that shares no task with those before it in :data:`COMPARED` can't be compared, and is left out.

    Args:
        stages: stage → outcomes.
    """
    shared, kept = _shared({name: {o.task for o in some} for name, some in stages.items()})
    left_out = {*COMPARED} - {*kept}
    return {
        name: [o for o in some if o.task in shared] if name in kept else list(some)
        for name, some in stages.items()
        if name not in left_out
    }


def told(folder: Path, has_results: bool) -> str:
    """Say where a run's stages were played on different tasks, and what that means; empty where they were not.

    Args:
        folder: of the run.
        has_results: its figures are those of a results file, which was written of all tasks of each stage.
    """
    stages = {name: read_json(folder / "stages" / f"{name}.json") for name in COMPARED}
    tasks = {name: {o["task"] for o in some["outcomes"]} for name, some in stages.items() if some}
    if len({frozenset(some) for some in tasks.values()}) <= 1:
        return ""
    counts = ", ".join(f"{name} {len(some)}" for name, some in tasks.items())
    if has_results:
        return f"The stages were not played on the same tasks ({counts}): differences may be the tasks'."
    shared, kept = _shared(tasks)
    missing = [name for name in tasks if name not in kept]
    what = f"; left out is what shares none: {', '.join(missing)}" if missing else ""
    return f"Stages were played on different tasks ({counts}): compared are the {len(shared)} that all have{what}."


def _shared(tasks: Mapping[str, set[str]]) -> tuple[set[str], list[str]]:
    """Tasks that all compared stages have, and these stages."""
    shared: set[str] = set()
    kept: list[str] = []
    for name in COMPARED:
        if some := tasks.get(name, set()) & shared if kept else tasks.get(name, set()):
            shared, kept = some, [*kept, name]
    return shared, kept
