"""The nine general benchmarks, read from copies in the hub's own layout: every form of column, bad rows, leaks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kit.data.hub import HubError
from kit.data.leak import LeakError
from kit.episode import Task
from papers.agile.evaluation_sets import BENCHMARKS, LONGEST, benchmark_tasks, check_apart, training_questions
from papers.agile.puzzle import make_task
from papers.agile.questions import is_question, is_right_answer
from tests.helpers.agile_benchmark_copies import IMAGE, TEXT, cell, hr_bench, make_copies, mmvp, save
from tests.helpers.agile_hub_copies import picture

COPIES = make_copies


@pytest.fixture(scope="module")
def tasks(copies: Path) -> list[Task]:
    with pytest.warns(UserWarning):
        return benchmark_tasks(str(copies))


def told(tasks: Sequence[Task], name: str) -> list[tuple[str, tuple[str, ...], int]]:
    return [(t.question, t.target, len(t.images)) for t in tasks if t.meta["skill"] == name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mme_rw", [("Which colour?\n(A) red\n(B) blue\n(E) not there", ("B",), 1)]),
        ("rwqa", [("How many?\nAnswer with a number.", ("3",), 1), ("Which?\nA. left\nB. right", ("A",), 1)]),
        ("hrb4k", [("Where?\nA. l\nB. r\nC. top", ("C",), 1)]),
        ("hrb8k", [("Where?\nA. l\nB. r\nC. top", ("C",), 1)]),
        ("vstar", [("Colour?\n(A) red\n(B) green", ("A",), 1)]),
        ("mmvp", [("Open?\n(a) Open (b) Closed", ("A",), 1)]),
        ("blink", [("Which?\n(A) one\n(B) two", ("B",), 1), ("Which?\n(A) one\n(B) two", ("B",), 3)]),
        ("halbench", [("Is it red?", ("yes",), 1), ("Is it red?", ("no",), 1)]),
        (
            "mmmu",
            [
                ("<image 1>?\nA. 1\nB. it's", ("B",), 2),
                ("How much?", ("3.5", "7/2"), 1),
                ("\n".join(["Nine?", *(f"{'ABCDEFGHI'[k]}. {k + 1}" for k in range(9))]), ("I",), 1),
            ],
        ),
    ],
)
def test_a_benchmarks_rows_become_questions(
    tasks: list[Task], name: str, expected: list[tuple[str, tuple[str, ...], int]]
) -> None:
    assert told(tasks, name) == expected


def test_all_nine_are_read_and_their_own_answers_are_right(tasks: list[Task]) -> None:
    assert list(dict.fromkeys(t.meta["skill"] for t in tasks)) == list(BENCHMARKS)
    assert len({t.id for t in tasks}) == len(tasks) and all(is_question(t) for t in tasks)
    assert all(is_right_answer(gold, t.target) for t in tasks for gold in t.target)
    assert is_right_answer("(I)", ["I"]) and not is_right_answer("(A)", ["I"])


def test_images_are_the_rows_own_and_no_larger_than_allowed(tasks: list[Task]) -> None:
    shown = {t.id: t.images[0].image for t in tasks}
    for name, seed in (("mme_rw", 0), ("rwqa", 1), ("hrb4k", 3), ("hrb8k", 4), ("blink", 7), ("mmmu", 12)):
        assert np.array_equal(np.asarray(shown[f"{name}-00000"]), np.asarray(picture(seed))), name
    assert shown["vstar-00000"].size == (LONGEST, LONGEST * 3 // 4)
    assert shown["mmvp-00000"].size == picture(6).size
    same = {t.meta["source"] for t in tasks if t.meta["skill"] == "halbench"}
    assert len(same) == 1, "two questions about one image are related"


def test_rows_that_cannot_be_asked_are_counted(copies: Path) -> None:
    with pytest.warns(
        UserWarning, match=r"MMMU: no question .*\(row 3\); no image \(row 4\); no question .*\(row 5\); 3 of 6"
    ):
        benchmark_tasks(str(copies), names=["mmmu"])
    with pytest.warns(UserWarning, match=r"that has an answer and options \(row 1\); 1 of 2 rows are left out"):
        benchmark_tasks(str(copies), names=["mme_rw"])
    with pytest.warns(UserWarning, match="RealWorldQA: a picture cannot be read and is left out"):
        benchmark_tasks(str(copies), names=["rwqa"])


def test_the_first_questions_of_each_are_taken(copies: Path, tasks: list[Task]) -> None:
    few = benchmark_tasks(str(copies), 1)
    firsts = {t.meta["skill"]: t.id for t in reversed(tasks)}
    assert [t.id for t in few] == [firsts[name] for name in BENCHMARKS]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_missing_copy_is_named_with_the_way_out(name: str, tmp_path: Path) -> None:
    with pytest.raises(HubError, match=rf"{BENCHMARKS[name].id}: no such folder; copy the data set there .* 'hub'"):
        benchmark_tasks(str(tmp_path), names=[name])


def test_a_table_without_the_number_of_its_image_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS["mmvp"].id
    mmvp(folder)
    table = folder / "Questions.csv"
    table.write_text(table.read_text().replace("Index", "lndex"))
    with pytest.raises(HubError, match=r"MMVP/MMVP \(mmvp\): no column 'Index'; found: lndex, Question"):
        benchmark_tasks(str(tmp_path), names=["mmvp"])


def test_a_missing_image_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS["mmvp"].id
    mmvp(folder)
    (folder / "MMVP Images" / "1.jpg").unlink()
    with pytest.raises(HubError, match=r"MMVP/MMVP: FileNotFoundError.*1\.jpg"):
        benchmark_tasks(str(tmp_path), names=["mmvp"])


def test_a_copy_without_its_configuration_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / BENCHMARKS["hrb4k"].id
    hr_bench(folder)
    (folder / "README.md").unlink()
    with pytest.raises(HubError, match=r"HR-Bench: .*hrbench_version_split"):
        benchmark_tasks(str(tmp_path), names=["hrb4k"])


def test_an_answer_that_stands_for_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / BENCHMARKS["halbench"].id / "data" / "image-00000-of-00001.parquet"
    rows = [{"image": cell(0), "question": "Is it?", "gt_answer": "2"}]
    save(file, rows, image=IMAGE, question=TEXT, gt_answer=TEXT)
    with pytest.raises(HubError, match="answer '2' in column 'gt_answer'; expected one of 0, 1"):
        benchmark_tasks(str(tmp_path), names=["halbench"])


def test_an_unknown_benchmark_is_named(copies: Path) -> None:
    with pytest.raises(HubError, match="benchmark 'pope': there are mme_rw, rwqa"):
        benchmark_tasks(str(copies), names=["pope"])


def test_training_questions_come_evenly_from_both_and_too_few_are_named(copies: Path) -> None:
    some = training_questions(str(copies), 4, seed=0)
    assert sorted(t.meta["skill"] for t in some) == ["charts", "charts", "text", "text"]
    assert [t.id for t in some] == [t.id for t in training_questions(str(copies), 4, seed=0)]
    with pytest.raises(HubError, match=r"6 questions in .*textvqa.*ChartQA, 8 needed"):
        training_questions(str(copies), 8, seed=0)


def test_an_image_trained_on_is_not_measured_on(copies: Path, tasks: list[Task]) -> None:
    practice = training_questions(str(copies), 4, seed=0)
    puzzle = make_task(picture(40), 2, 0, np.random.default_rng(0), "own")
    check_apart([*practice, puzzle], tasks)
    asked = next(t for t in tasks if t.id == "rwqa-00000")
    smaller = make_task(asked.images[0].image.resize((100, 75)), 2, 0, np.random.default_rng(1), "copy")
    with pytest.raises(LeakError, match="copy ~ rwqa-00000"):
        check_apart([*practice, smaller], tasks)
    with pytest.raises(LeakError, match=r"~ rwqa-00000 \(0 of 64 bits\)"):
        check_apart([*practice, asked], tasks)
