"""Visual-ARFT's Tables 1 to 4 beside ours: the paper's own tasks fill them, and what wasn't measured says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from made_outcomes import made

from papers.tables import NOT_RUN
from papers.visual_arft.evaluation_sets import TEXTS
from papers.visual_arft.metrics import Outcome, evaluate_outcomes
from papers.visual_arft.reported import MULTI_HOP, REPORTED
from papers.visual_arft.tables import paper_tables, told


def some(setting: str, category: str, *right: bool, label: str = "hard") -> list[Outcome]:
    return [
        made(
            Outcome, correct, task=f"{category}-{k}", image=f"{category}-{k}", setting=setting, label=label, seed=0,
            category=category, f1=0.5 + correct / 2, restored=None,
        )
        for k, correct in enumerate(right)
    ]  # fmt: skip


def filled(row: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    return {name: cell["here"]["value"] for name, cell in row.items() if cell["here"] != NOT_RUN}


def test_every_cell_of_the_papers_tables_is_there() -> None:
    cells = paper_tables({})
    sizes = {title: {stage: len(row) for stage, row in table.items()} for title, table in cells.items()}
    assert sizes == {
        "Table 1": {"direct": 12, "grpo": 12},
        "Table 2": {"direct": 10, "rag": 10, "grpo": 10},
        "Table 3": {"em-reward": 12, "grpo": 12},
        "Table 4": {"direct": 6, "cot": 6, "rag": 6, "grpo": 6},
    }
    assert not any(filled(row) for table in cells.values() for row in table.values())
    assert cells["Table 2"]["grpo"]["em_text_musique"]["paper"] == 0.1407
    assert len(told(cells).splitlines()) == 1 + 12 + 10


def test_only_the_papers_own_tasks_fill_a_cell() -> None:
    own = [*some("coding", "mat:rotation90", True, False), *some("search", "mat", False)]
    ours = [*some("coding", "dark+rotate90", True), *some("search", "3", True), *some("text", "2", True)]
    cells = paper_tables({"grpo": [*own, *ours], "direct": ours})
    assert json.loads(json.dumps(cells)) == cells
    assert filled(cells["Table 1"]["grpo"]) == {
        "f1_coding_hard": 0.75, "em_coding_hard": 0.5, "f1_coding": 0.75, "em_coding": 0.5,
        "f1_search_hard": 0.5, "em_search_hard": 0, "f1_search": 0.5, "em_search": 0,
    }  # fmt: skip
    assert cells["Table 3"]["grpo"] == cells["Table 1"]["grpo"]
    assert not filled(cells["Table 1"]["direct"]) and not filled(cells["Table 2"]["grpo"])
    assert "75.00 (45.60)" in told(cells) and "not run (19.67)" in told(cells)


def test_table_2_averages_its_four_sets_by_hand() -> None:
    """Right are 1 of 2, 0 of 1, 1 of 1 and 1 of 1: the mean of the sets is (½ + 0 + 1 + 1) / 4, that of questions ⅗."""
    right = dict(zip(MULTI_HOP, [(True, False), (False,), (True,), (True,)], strict=True))
    played = [outcome for name, them in right.items() for outcome in some("text", name, *them)]
    row = filled(paper_tables({"rag": played})["Table 2"]["rag"])
    assert [row[f"em_text_{name}"] for name in MULTI_HOP] == [0.5, 0, 1, 1]
    assert row["em_text"] == pytest.approx(2.5 / 4) and row["f1_text"] == pytest.approx((0.75 + 0.5 + 1 + 1) / 4)
    assert evaluate_outcomes(played)["em_text"].value == row["em_text"], "the results' metric is the table's"


def test_the_papers_averages_are_means_of_its_sets_but_one() -> None:
    assert sorted(MULTI_HOP) == sorted(source.name for source in TEXTS)
    for stage, apart in (("direct", 1e-4), ("grpo", 1e-4), ("rag", 0.08)):
        for metric in ("f1", "em"):
            mean = sum(REPORTED[stage][f"{metric}_text_{name}"] for name in MULTI_HOP) / 4
            assert REPORTED[stage][f"{metric}_text"] == pytest.approx(mean, abs=apart), (stage, metric)
    assert sum(REPORTED["rag"][f"f1_text_{name}"] for name in MULTI_HOP) / 4 == pytest.approx(0.2772, abs=1e-4)
    assert REPORTED["rag"]["f1_text"] == 0.1982, "as it is printed"
