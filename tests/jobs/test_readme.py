"""The README: figures from results files only, and a tree that is the real one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kit.files import ROOT
from kit.jobs.notebooks import sources
from kit.jobs.readme import BEGIN, END, block, fill, filled, published

RESULTS = {
    "notebook": "14_agile_claims",
    "profile": "laptop",
    "commit": "abc1234",
    "seed": 0,
    "hardware": {"cpu": "a processor", "cores": 2, "memory_gb": 8.0, "gpus": []},
    "versions": {},
    "minutes": 19.5,
    "metrics": {
        "sft/acc_2x2": {"value": 0.25, "low": 0.2, "high": 0.3, "n": 72},
        "grpo/acc_2x2": {"value": 0.875, "low": 0.8, "high": 0.93, "n": 72},
    },
    "claims": {"A2": {"verdict": "holds", "evidence": "grpo | sft"}},
}


def test_the_block_shows_metrics_claims_and_where_they_come_from() -> None:
    lines = block("agile", RESULTS).splitlines()
    assert lines[:2] == ["### AGILE", ""]
    assert lines[2] == "|  | sft | grpo |"
    assert lines[4] == "| 2×2 solved | 0.250 [0.200, 0.300] (paper 0.220) | 0.875 [0.800, 0.930] (paper 0.828) |"
    assert lines[7] == "| 3×3 pieces in place | not run (paper 0.110) | not run (paper 0.621) |"
    assert "| A2 | holds | grpo \\| sft |" in lines
    assert lines[-1].endswith(
        "Measured by 14_agile_claims, profile laptop, seed 0, commit abc1234, "
        "on 2 cores of a processor, in 19.5 minutes."
    )


def test_filling_replaces_the_block_and_nothing_else(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert fill(tmp_path)
    assert "Not measured yet" in readme.read_text() and "old" not in readme.read_text()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "agile.json").write_text(json.dumps(RESULTS))
    assert fill(tmp_path) and not fill(tmp_path)
    assert (
        readme.read_text()
        == f"before\n{BEGIN}\n{block('agile', RESULTS)}\n\n{block('visual_arft', None)}\n{END}\nafter\n"
    )


@pytest.mark.parametrize("text", ["nothing", f"{END}{BEGIN}"])
def test_missing_marks_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="results:begin"):
        filled(text, {"agile": None})


def test_the_committed_block_is_what_the_results_say() -> None:
    text = (ROOT / "README.md").read_text()
    assert filled(text, published()) == text


def test_the_tree_lists_every_part_of_the_kit_once() -> None:
    tree = (ROOT / "README.md").read_text().partition("\nkit/\n")[2].partition("```")[0]
    listed = [line.split()[0].rstrip("/") for line in tree.splitlines()]
    files = {path.name for path in (ROOT / "kit").glob("*.py")} - {"__init__.py"}
    folders = {path.name for path in (ROOT / "kit").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert sorted(listed) == sorted(files | folders)


def test_every_notebook_is_in_the_story() -> None:
    linked = re.findall(r"^\| \[[^\]]+\]\(notebooks/([^)]+)\.ipynb\)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert linked == [source.name for source in sources()]
