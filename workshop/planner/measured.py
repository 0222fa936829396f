"""Take the planner's constants from what was measured on a card (``measured.toml``), each from one row.

A pass waits for the longer of two: the processor, which launches its operations one by one
(:mod:`workshop.planner.launches`), and the card's arithmetic. Micro-batches of one short episode wait for the
processor, however fast the card; larger ones for the arithmetic. Tokens are decoded by transformers as fast as they are
launched, by vLLM as fast as weights, keys and values are read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workshop.planner import launches
from workshop.planner.architecture import Architecture

FILE = Path(__file__).with_name("measured.toml")


@dataclass(frozen=True)
class Card:
    """A GPU by its data sheet: ``memory`` in bytes, ``flops`` and ``bandwidth`` in operations and bytes a second."""

    name: str
    memory: float
    flops: float
    bandwidth: float


@dataclass(frozen=True)
class Constants:
    """Constants that the planner takes from the rows.

    Attributes:
        launch: seconds of a launch in a trainer.
        launch_alone: seconds of a launch outside of one.
        arithmetic: share of a card's arithmetic that a pass reaches which doesn't wait for launches.
        bandwidth: share of its bandwidth that decoding reaches.
    """

    launch: float
    launch_alone: float
    arithmetic: float
    bandwidth: float


TOLD: Mapping[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))

RECORD: Mapping[str, Any] = TOLD["record"]

ROWS: Mapping[str, Mapping[str, Any]] = {row["name"]: row for row in TOLD["rows"]}

CARDS = {
    int(size): Card(told["name"], int(size) * 1e9, told["tflops"] * 1e12, told["bandwidth"] * 1e12)
    for size, told in TOLD["cards"].items()
}
"""Cards to plan for, by their gigabytes."""

ON = Card(RECORD["card"], RECORD["memory_gb"] * 1e9, RECORD["tflops"] * 1e12, RECORD["bandwidth"] * 1e12)
"""The card that was measured."""

MODEL = Architecture.of(RECORD["model"])

RANK: int = RECORD["lora_rank"]

CITED = f"one {RECORD['card']}, commit {RECORD['commit']} (workshop/planner/measured.toml)"
"""The record's name, for a message."""


def card_of(memory: float) -> Card:
    """Choose the smallest card that has so many bytes, or the largest there is."""
    found = sorted(CARDS.values(), key=lambda card: card.memory)
    return next((card for card in found if card.memory >= memory), found[-1])


def constants(rows: Mapping[str, Mapping[str, Any]] = ROWS) -> Constants:
    """Work the constants out, each from the row that names it under ``taken``."""
    total = MODEL.language + MODEL.vision + MODEL.adapters(RANK)
    sft, played = rows["sft"], rows["grpo-colocate"]
    slow, fast = rows["learning-1-recomputed"], rows["learning-4-kept"]
    of_pass = launches.training(MODEL, "adapters", recompute=True, sees=True)  # backwards, though it doesn't learn
    arithmetic = 4 * total * fast["episodes"] * fast["tokens"] / fast["seconds"] / ON.flops
    read = 2 * total * played["episodes"] * (played["tokens"] - played["sampled"]) / arithmetic / ON.flops
    bytes_read = 2 * total + played["episodes"] * played["tokens"] / 2 * MODEL.kv_bytes()
    return Constants(
        launch=sft["seconds"] / sft["episodes"] / of_pass,
        launch_alone=slow["seconds"] / slow["episodes"] / of_pass,
        arithmetic=arithmetic,
        bandwidth=played["sampled"] * bytes_read / (played["playing"] - read) / ON.bandwidth,
    )


TAKEN = constants()
