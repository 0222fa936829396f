"""Put the planner's numbers beside those that were measured, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workshop.planner import launches
from workshop.planner.measured import MODEL, ON, RANK, ROWS, TAKEN
from workshop.planner.memory import CONTEXT, GB, Stage, needed, of_pass, seconds

LOGIT = 16
"""Bytes of a logit where all are kept at once: 2, in float32 4, its log-probability 4, a gradient 4, in bfloat16 2."""


@dataclass(frozen=True)
class Compared:
    """One number that was measured.

    Attributes:
        what: was run.
        unit: ``s`` or ``GB``.
        measured: on the card.
        planned: by the planner.
        taken: the constant that was taken from it; empty: the planner's number is a prediction.
    """

    what: str
    unit: str
    measured: float
    planned: float
    taken: str

    @property
    def ratio(self) -> float:
        """The planned number over the measured one."""
        return self.planned / self.measured


def compared(rows: Mapping[str, Mapping[str, Any]] = ROWS) -> Iterator[Compared]:
    """All numbers of the rows, each beside the planner's."""
    for row in rows.values():
        taken = row["taken"]
        yield Compared(row["what"], "s", row["seconds"], _seconds(row), taken.get("seconds", ""))
        if "playing" in row:
            found = seconds(stage_of(row, row["tokens"]))
            played = found["playing"][0] + found["reading"][0]
            yield Compared(f"{row['what']}: its sampling", "s", row["playing"], played, taken.get("playing", ""))
        if "memory_gb" in row:
            yield Compared(
                row["what"], "GB", row["memory_gb"], (_counted(row) + SET_ASIDE) / GB, taken.get("memory_gb", "")
            )


def stage_of(row: Mapping[str, Any], tokens: int) -> Stage:
    """The training that a row is of, its episodes of so many tokens."""
    return Stage(
        model=MODEL,
        gpus=1,
        memory=ON.memory,
        strategy="ddp",
        rollout_engine=row.get("engine"),
        gpu_memory_utilization=row.get("share", 0.3),
        per_device_batch_size=row["per_device_batch_size"],
        batch=row["episodes"],
        tokens=tokens,
        picture_tokens=row["picture_tokens"],
        sampled=row.get("sampled", 0),
        lora_rank=RANK,
        freeze_vision=True,
        recompute=row["recompute"],
        looks_back=row["recompute"],
        flops=ON.flops,
        bandwidth=ON.bandwidth,
    )


def _seconds(row: Mapping[str, Any]) -> float:
    if row["kind"] == "decode":
        if row["weights"] == "trainer":
            return launches.token(MODEL, launches.LANGUAGE["adapters", False][0]) * TAKEN.launch
        alone = {"adapters": launches.ADAPTERS_ALONE, "bfloat16": launches.LANGUAGE["bfloat16", False][0]}
        return launches.token(MODEL, alone[row["weights"]]) * TAKEN.launch_alone
    stage = stage_of(row, row["tokens"])
    if row["kind"] == "learning":
        return of_pass(stage, TAKEN.launch_alone)[0] * row["episodes"] / row["per_device_batch_size"]
    return sum(value for value, _ in seconds(stage).values())


def _counted(row: Mapping[str, Any]) -> float:
    """Bytes in use that torch knows of, so without CUDA's own."""
    whole = LOGIT * row["per_device_batch_size"] * row["longest"] * MODEL.words if row["loss"] == "whole" else 0
    return needed(stage_of(row, row["longest"])) - CONTEXT + whole


SET_ASIDE = ROWS["sft"]["memory_gb"] * GB - _counted(ROWS["sft"])
"""Bytes that torch had reserved beside those counted, on a card with room to spare; what of them a smaller card needs
wasn't measured."""


def table() -> str:
    """A table of all of it, as Markdown."""
    lines = ["| what | measured | planned | ratio | |", "|---|---|---|---|---|"]
    for one in compared():
        kind = f"taken: {one.taken}" if one.taken else "predicted"
        measured, planned = (f"{value:.3g} {one.unit}" for value in (one.measured, one.planned))
        lines.append(f"| {one.what} | {measured} | {planned} | {one.ratio:.2f} | {kind} |")
    return "\n".join(lines)
