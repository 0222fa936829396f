"""AGILE's Tables 1 to 3 beside ours: every number of the paper has a cell, and one that wasn't measured says so."""

from __future__ import annotations

import json

from made_outcomes import made

from kit.evaluate.intervals import Interval
from papers.agile.general import EVALUATION, GeneralOutcome
from papers.agile.reported import AGILE, GENERAL
from papers.agile.tables import general, jigsaw, told_general, told_jigsaw
from papers.tables import NOT_RUN


def test_every_level_of_tables_1_and_2_is_filled_or_not_run() -> None:
    cells = jigsaw({"grpo": {"acc_2x2_L0": Interval(0.5, 0.25, 0.75, 8)}})
    assert json.loads(json.dumps(cells)) == cells
    stages = ["random", "untrained", "sft", "grpo"]
    assert {title: list(table) for title, table in cells.items()} == {"Table 1": stages, "Table 2": stages}
    assert all(len(row) == 3 + 1 + 8 + 1 for table in cells.values() for row in table.values())
    chance = {title: {cell["here"]["value"] for cell in cells[title]["random"].values()} for title in cells}
    assert chance == {"Table 1": {1 / 24, 1 / 362880}, "Table 2": {1 / 4, 1 / 9}}
    filled = cells["Table 1"]["grpo"].pop("acc_2x2_L0")
    assert (filled["paper"], filled["here"]["value"]) == (0.787, 0.5)
    left = [c for table in cells.values() for stage in ("untrained", "sft", "grpo") for c in table[stage].values()]
    assert len(left) == 2 * 3 * 13 - 1 and {cell["here"] for cell in left} == {NOT_RUN}
    assert cells["Table 2"]["untrained"]["score_3x3_L7"]["paper"] == AGILE["base"]["score_3x3_L7"] == 0.609


def test_both_are_told_in_one_text() -> None:
    lines = told_jigsaw(jigsaw({"sft": {"score_3x3": Interval(0.125, 0, 1, 8)}})).splitlines()
    assert len(lines) == 1 + 4 + 9
    assert [head.strip() for head in lines[0].split("  ") if head][-3:] == [
        "Score untrained",
        "Score sft",
        "Score grpo",
    ]
    assert lines[4].split()[:3] == ["2x2", "4.2", "(4.1)"] and "not run (82.8)" in lines[4]
    assert lines[-1].startswith("3x3 ") and "12.5 (11.0)  not run (62.1)" in lines[-1]


def answered(right: dict[str, list[bool]]) -> list[GeneralOutcome]:
    return [
        made(GeneralOutcome, correct, task=f"{name}-{k}", image=f"{name}-{k}", skill=name, begins=correct, seed=0)
        for name, some in right.items()
        for k, correct in enumerate(some)
    ]


def test_table_3_has_the_mean_over_benchmarks_by_hand() -> None:
    """One benchmark has 4 questions, 1 of them right, the eight others one each, right: (¼ + 8) / 9, not 9 of 12."""
    names = [name.removeprefix("general_") for name in GENERAL["grpo"] if name != "general_all"]
    right = {name: [True] for name in names} | {"vstar": [True, False, False, False]}
    found = EVALUATION.evaluate_outcomes(answered(right))
    cells = general({"grpo": found})["Table 3"]
    assert list(cells) == ["untrained", "sft", "grpo"]
    assert abs(cells["grpo"]["general_all"]["here"]["value"] - 8.25 / 9) < 1e-12
    assert cells["grpo"]["general_vstar"] == {"paper": 0.806, "here": found["general_vstar"].record()}
    assert {cell["here"] for cell in cells["sft"].values()} == {NOT_RUN}
    assert "91.7 (65.2)" in told_general({"Table 3": cells}).splitlines()[-1]


def test_other_questions_fill_no_cell_and_a_part_of_the_nine_no_average() -> None:
    some = EVALUATION.evaluate_outcomes(answered({"colours": [True], "vstar": [True, False]}))
    row = general({"grpo": some})["Table 3"]["grpo"]
    assert {name for name, cell in row.items() if cell["here"] != NOT_RUN} == {"general_vstar"}
