"""The generated blocks of the README and docs/results.md: figures from results files only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from publishing.readme import BEGIN, END, PAGES, block, fill, filled, headline

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
        "on 2 cores of a processor. Training time was not recorded with these figures."
    )


def test_the_headline_is_the_finding_and_says_how_long_training_took() -> None:
    assert headline("agile", RESULTS) == (
        "**AGILE**. What the base does when it is asked directly was not measured. As an agent it reaches 0.25 "
        "[0.20, 0.30] after the cold start and 0.88 [0.80, 0.93] after reinforcement learning (2×2 solved). So what "
        "training taught can't be told yet. Training time was not recorded with these figures."
    )
    timed = {**RESULTS, "seed": [0, 1], "training_minutes": 21.0}
    assert headline("agile", timed).endswith("Each of 2 trainings took 10 minutes.")
    assert headline("agile", None) == "**AGILE**: not measured yet."


def test_a_mark_with_a_name_takes_that_paper_and_the_other_all_that_are_left() -> None:
    text = f"{BEGIN}\n{END}\n<!-- results:begin two -->old{END}\n"
    found = filled(text, {"one": None, "two": None, "three": None}, lambda name, _: name, "page")
    assert found == f"{BEGIN}\none\n\nthree\n{END}\n<!-- results:begin two -->\ntwo\n{END}\n"


def test_filling_replaces_the_blocks_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for page in PAGES:
        (tmp_path / page).write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert fill(tmp_path)
    assert "not measured yet" in (tmp_path / "README.md").read_text()
    assert "Not measured yet" in (tmp_path / "docs" / "results.md").read_text()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "agile.json").write_text(json.dumps(RESULTS))
    assert fill(tmp_path) and not fill(tmp_path)
    unmeasured = (block(name, None) for name in ("visual_arft", "codedance", "mags_rl", "vista_gym"))
    expected = "\n\n".join((block("agile", RESULTS), *unmeasured))
    assert (tmp_path / "docs" / "results.md").read_text() == f"before\n{BEGIN}\n{expected}\n{END}\nafter\n"


def test_a_proof_that_changed_code_left_the_figures_is_told_beside_them() -> None:
    proved = {**RESULTS, "note": "Made long ago.", "proved": {"digest": "abc", "commit": "def", "compared": 3808}}
    text = block("agile", proved)
    assert "\n\nMade long ago.\n\n" in text and "agree bit for bit, in 3808 values" in text
    assert "bit for bit" not in block("agile", RESULTS)


@pytest.mark.parametrize("text", ["nothing", f"{END}{BEGIN}"])
def test_missing_marks_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"docs/results\.md: put .*results:begin"):
        filled(text, {"agile": None}, block, "docs/results.md")
