"""The table of a GPU's records: a row a training, told apart by card and commit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu_table import HEADS, table
from kit.files import write_json

PLAYED = {"rollout_seconds": 4.0, "tokens_per_second": 3060.4, "tokens": 1966.0}


def machine(gpus: list[str], head: str = "82bcef2" * 5) -> dict[str, Any]:
    hardware = {"cpu": "a processor", "cores": 16, "memory_gb": 135.0, "gpus": gpus}
    return {"hardware": hardware, "versions": {"torch": "2.13.0", "numpy": "2"}, "commit": head}


def measured(*steps: dict[str, float], **more: Any) -> dict[str, Any]:
    return {"measurement": {}, "peak_memory_gb": 54.69, "steps": list(steps), **machine(["H200"]), **more}


@pytest.mark.parametrize(
    ("steps", "row"),
    [
        ([{"seconds": 99.0}, {"seconds": 13.0}, {"seconds": 14.0}], "| a | – | 13.5 | – | – | – | 54.7 |"),
        ([{"seconds": 7.0}], "| a | – | 7.0 | – | – | – | 54.7 |"),
        ([{"seconds": 168.0, **PLAYED}], "| a | transformers | 168.0 | 4.0 | 3,060 | 1,966 | 54.7 |"),
        ([{"seconds": 20.6, "importance_weight": 1.0, **PLAYED}], "| a | vLLM | 20.6 | 4.0 | 3,060 | 1,966 | 54.7 |"),
    ],
)
def test_a_measurement_is_a_row(steps: list[dict[str, float]], row: str, tmp_path: Path) -> None:
    """Medians without the step that warms up, where there are more; who sampled, by what the step says."""
    write_json(tmp_path / "a.json", measured(*steps))
    lines = table([tmp_path / "a.json"]).splitlines()
    assert lines[0] == "1 × H200; 16 cores; torch 2.13.0; commit 82bcef282bce:"
    assert lines[2].count("|") == lines[3].count("|") == row.count("|") == len(HEADS) + 1
    assert lines[4:] == [row]


def test_a_paper_is_a_row_a_training_and_says_if_it_is_not_to_its_end(tmp_path: Path) -> None:
    steps = {"sft": [{"seconds": 2.0}], "grpo": [{"seconds": 9.0, **PLAYED}], "empty": []}
    paper = {**machine(["H200"]), "complete": False, "peak_memory_gb": None, "minutes": {}, "steps": steps}
    write_json(tmp_path / "agile.json", paper)
    assert table([tmp_path / "agile.json"]).splitlines()[4:] == [
        "| agile, sft (not to its end) | – | 2.0 | – | – | – | – |",
        "| agile, grpo (not to its end) | transformers | 9.0 | 4.0 | 3,060 | 1,966 | – |",
    ]


def test_cards_and_commits_are_told_apart(tmp_path: Path) -> None:
    others = [machine(["L4", "L4"]), machine([]), machine(["H200"], "unknown"), machine(["H200"], "0a1b2c3+changes")]
    for number, other in enumerate([machine(["H200"]), *others]):
        write_json(tmp_path / f"{number}.json", measured({"seconds": 1.0}, **other))
    heads = [line for line in table(sorted(tmp_path.glob("*.json"))).splitlines() if line.endswith(":")]
    assert len(heads) == 5
    assert heads[1].startswith("2 × L4;") and heads[2].startswith("a processor, no GPU;")
    assert heads[3].endswith("commit unknown:") and heads[4].endswith("commit 0a1b2c3+changes:")
