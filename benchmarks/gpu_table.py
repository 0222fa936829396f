"""Records of :mod:`benchmarks.on_gpu` as a table to paste into docs/scaling.md: a row a training, the card above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from kit.files import read_json
from kit.train.metrics import Row

HEADS = ("what", "sampled by", "s a step", "of it playing", "tokens/s", "tokens an episode", "GB")


def table(files: Sequence[Path]) -> str:
    """Draw records in Markdown; those of one machine and commit stand together, below their name.

    Args:
        files: what :func:`benchmarks.on_gpu.on_gpu` wrote.
    """
    groups: dict[str, list[str]] = {}
    for file in files:
        record = read_json(file)
        groups.setdefault(place(record), []).extend(_line(row) for row in rows_of(file.stem, record))
    head = [_line(HEADS), _line(["---"] * len(HEADS))]
    return "\n\n".join("\n".join([f"{where}:", "", *head, *lines]) for where, lines in groups.items())


def place(record: Mapping[str, Any]) -> str:
    """Say where a record was made, with what, and of which commit."""
    hardware, versions = record["hardware"], record["versions"]
    gpus = hardware["gpus"]
    cards = ", ".join(f"{gpus.count(name)} × {name}" for name in dict.fromkeys(gpus))
    head, plus, changed = record["commit"].partition("+")
    where = cards or f"{hardware['cpu']}, no GPU"
    used = ", ".join(
        f"{name} {versions[name]}" for name in ("torch", "transformers", "trl", "vllm") if name in versions
    )
    return f"{where}; {hardware['cores']} cores; {used}; commit {head[:12]}{plus}{changed}"


def rows_of(name: str, record: Mapping[str, Any]) -> list[list[str]]:
    """Cells of a record's trainings: one of a measurement, of a paper each that has taken a step."""
    memory = record.get("peak_memory_gb")
    if "measurement" in record:
        return [[name, *_cells(record["steps"], memory)]]
    late = "" if record.get("complete", True) else " (not to its end)"
    stages: Mapping[str, list[Row]] = record["steps"]
    return [[f"{name}, {stage}{late}", *_cells(rows, memory)] for stage, rows in stages.items() if rows]


def _cells(steps: Sequence[Row], memory: float | None) -> list[str]:
    """Cells behind the first: medians of the steps, without the first, which warms up, where there are more."""
    timed = steps[1:] or steps

    def middle(key: str, digits: int) -> str:
        found = [float(row[key]) for row in timed if key in row]
        return f"{median(found):,.{digits}f}" if found else "–"

    played = "rollout_seconds" in timed[0]
    sampler = ("vLLM" if "importance_weight" in timed[0] else "transformers") if played else "–"
    spent = (middle("seconds", 1), middle("rollout_seconds", 1), middle("tokens_per_second", 0), middle("tokens", 0))
    return [sampler, *spent, "–" if memory is None else f"{memory:.1f}"]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
