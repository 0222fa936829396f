"""The paper's sets in a run: what is there, and one table of Tables 1 to 3 whose every cell is filled or not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.data.store import save_tasks
from kit.episode import Action, Episode, NamedImage, Task, Turn
from papers.codedance.data_folder import DataFolderError, given_sets
from papers.codedance.evaluation_sets import BENCHMARKS
from papers.codedance.metrics import EVALUATION
from papers.codedance.tables import ABSENT, ROWS, SETS, measured, questions, table, told
from papers.codedance.tasks import make_tasks

IMAGE = make_tasks({"sheet/easy": 1}, 0)[0].images[0].image


def task(name: str, number: int = 0, **meta: str) -> Task:
    told = {"set": name, "kind": "count", "source": f"{name}-{number}", "level": "", **meta}
    return Task(f"{name}-{number}", (NamedImage("image_1", IMAGE),), "How many?", ("7",), told)


def played(name: str, *answers: str) -> list[Episode]:
    """An episode of a turn for each answer."""
    turns = [Turn((), (), "…", Action("answer", answer)) for answer in answers]
    return [Episode(task(name, k), (), (turn,), "answer") for k, turn in enumerate(turns)]


def test_the_tables_sets_are_those_that_can_be_read() -> None:
    assert set(SETS) == set(BENCHMARKS) and len(SETS) == 11


def test_questions_are_the_first_or_all_in_the_tables_order(tmp_path: Path) -> None:
    save_tasks(tmp_path / "eval-vstar.jsonl", [task("vstar", k) for k in range(3)])
    save_tasks(tmp_path / "eval-countbench.jsonl", [task("countbench")])
    assert told(questions(tmp_path)) == "countbench 1, vstar 3" and told({}) == ABSENT
    assert {name: len(some) for name, some in given_sets(str(tmp_path), n=2).items()} == {
        "eval-countbench": 1,
        "eval-vstar": 2,
    }
    assert len(given_sets(str(tmp_path), n=0)["eval-vstar"]) == 3
    with pytest.raises(DataFolderError, match="benchmark_questions=-1: give how many of each set, or 0 for all"):
        given_sets(str(tmp_path), n=-1)


def test_every_cell_is_filled_or_says_that_it_was_not_run(tmp_path: Path) -> None:
    """Two of four right is 50.0 beside the paper's 76.4; over two seeds three of eight, 37.5, beside its 84.8."""
    seeds = [tmp_path / "0", tmp_path / "1"]
    EVALUATION.save_stage(seeds[0], "direct-eval-vstar", played("vstar", "7", "7", "8", "9"))
    for folder, answers in zip(seeds, (("7", "7", "8", "9"), ("7", "8", "8", "8")), strict=True):
        EVALUATION.save_stage(folder, "grpo-eval-vstar", played("vstar", *answers))
    EVALUATION.save_stage(seeds[0], "grpo-eval-wemath", played("wemath", "7"))
    found = {"direct": measured(seeds[:1], "direct"), "grpo": measured(seeds, "grpo"), "outcome": measured([], "grpo")}
    assert sorted(found["grpo"]) == ["acc_vstar", "turns_vstar"], "one run has no wemath"
    head, *rows, note = table(found).splitlines()
    assert head.split("  ")[0] == "per cent right" and head.split()[3:] == list(SETS)
    cells = {row.split("  ")[0]: [c.strip() for c in row.split("  ")[1:] if c.strip()] for row in rows}
    assert list(cells) == list(ROWS.values()) and all(len(some) == 11 for some in cells.values())
    assert cells["base, asked"][SETS.index("vstar")] == "50.0 (76.4)"
    assert cells["SFT + R_BAT"][SETS.index("vstar")] == "37.5 (84.8)"
    assert cells["SFT + R_BAT"][SETS.index("wemath")] == "not run (39.6)"
    assert cells["SFT + bonus"][SETS.index("charxiv")] == "not run", "Table 3 has no CharXiv"
    assert cells["SFT + outcome"][SETS.index("mathvision")] == "not run (26.0)" and "the paper's" in note
    turns = table(found, "turns").splitlines()
    assert turns[0].startswith("turns an episode") and "not run (2.60)" in turns[5], "Table 3: 2.5960 on CountBench"
    assert "1.00" in turns[3] and "1.00 (" not in turns[3], "the paper has no turns of its own by set"


def test_a_folder_that_cannot_be_used_says_what_and_how_to_write_it(tmp_path: Path) -> None:
    assert given_sets("") == {}
    with pytest.raises(DataFolderError, match=r"benchmarks='maps': no such set; choose from countbench, pixmo_count"):
        given_sets("", ["maps"])
    with pytest.raises(DataFolderError, match=r"benchmarks=vstar, and data is empty: python data_scripts/codedance"):
        given_sets("", ["vstar"])
    with pytest.raises(DataFolderError, match=r"data='.*gone': no rl.jsonl, sft.jsonl, .*--hub --pin writes"):
        given_sets(str(tmp_path / "gone"))
    save_tasks(tmp_path / "eval-vstar.jsonl", [task("vstar")])
    assert list(given_sets(str(tmp_path))) == ["eval-vstar"]
    with pytest.raises(DataFolderError, match=r"data='.*': no eval-wemath.jsonl; .* or name other benchmarks"):
        given_sets(str(tmp_path), ["vstar", "wemath"])


def test_tasks_of_another_layout_are_named_by_file_and_line(tmp_path: Path) -> None:
    save_tasks(tmp_path / "eval-vstar.jsonl", [task("vstar"), task("chartqa")])
    with pytest.raises(DataFolderError, match=r"eval-vstar.jsonl:2, task chartqa-0: meta has no set='vstar', but 'ch"):
        given_sets(str(tmp_path))
    save_tasks(tmp_path / "eval-vstar.jsonl", [Task("own", (), "?", ("1",))])
    with pytest.raises(
        DataFolderError, match=r"eval-vstar.jsonl:1, task own: meta has no set, kind, source, level; it"
    ):
        given_sets(str(tmp_path))
