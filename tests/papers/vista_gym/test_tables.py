"""Table 2: the paper's numbers add up, ours are means over benchmarks, and what is missing is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from kit.data.schema import RecordError
from kit.data.store import save_tasks
from kit.episode import Action, Episode, NamedImage, Task, Turn
from papers.vista_gym.metrics import EVALUATION, Outcome, outcome
from papers.vista_gym.reported import BACKBONE, COLUMNS, REPORTED, ROWS, TABLE_2
from papers.vista_gym.tables import (
    MEASURED,
    NOT_RUN,
    benchmark_tasks,
    deciding,
    keep_benchmarks,
    kept_benchmarks,
    lines,
    played,
    row,
    save_played,
    table_2,
)
from papers.vista_gym.tasks import IN, OUT
from workshop.jobs.notebooks import find
from workshop.jobs.run import profile_values

PICTURE = NamedImage("image", Image.new("RGB", (28, 28)))


def asked(name: str, k: int = 0) -> Task:
    where = "in" if name in IN else "out"
    return Task(f"{name}-{k}", (PICTURE,), "?", ("7",), {"set": name, "family": "charts", "distribution": where})


def answered(tasks: Sequence[Task], says: Callable[[int], str] = lambda k: "7") -> list[Episode]:
    texts = [f"<think>a</think><answer>{says(k)}</answer>" for k in range(len(tasks))]
    return [
        Episode(task, (), (Turn((), (), text, Action("answer", says(k))),), "answer")
        for k, (task, text) in enumerate(zip(tasks, texts, strict=True))
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in MEASURED:
        save_tasks(tmp_path / f"eval-{name}.jsonl", [asked(name, k) for k in range(2)])
    return tmp_path


@pytest.mark.parametrize("model", TABLE_2)
@pytest.mark.parametrize("stage", ROWS)
def test_the_papers_means_are_those_of_its_columns(model: str, stage: str) -> None:
    cells = TABLE_2[model][stage]
    for mean, names in {"in": IN, "out": OUT, "all": MEASURED}.items():
        assert cells[mean] == pytest.approx(sum(cells[name] for name in names) / len(names), abs=1.1e-4), mean


def test_beside_ours_stands_the_model_that_node_trains() -> None:
    assert BACKBONE in profile_values(find("53")[0], "node")["model"]
    assert profile_values(find("55")[0], "node")["backbone"] == BACKBONE
    found = {stage: REPORTED[stage].get("acc_all") for stage in REPORTED}
    assert found == {
        "direct": 0.5242, "untrained": None, "no_reasoning": 0.5565, "sft": None, "grpo": 0.6625, "no_tools": None,
        "no_tools_reasoning": 0.5758,
    }  # fmt: skip
    assert EVALUATION.reported == REPORTED


def test_a_row_is_a_mean_over_benchmarks_by_hand() -> None:
    """½ of ChartQA's two and all of PlotQA's three: ¾ of two benchmarks, where of five questions 4 are right."""
    tasks = [asked("chartqa", 0), asked("chartqa", 1), *(asked("plotqa", k) for k in range(3))]
    outcomes = [outcome(e) for e in answered(tasks, lambda k: "8" if k == 0 else "7")]
    found = row(outcomes)
    assert (found["chartqa"].value, found["plotqa"].value) == (0.5, 1.0) and set(found) == {"chartqa", "plotqa"}
    every = outcomes + [outcome(e) for e in answered([asked(name) for name in MEASURED if name not in found])]
    assert row(every)["all"].value == pytest.approx((0.5 + 10) / 11)
    assert row(every)["in"].value == pytest.approx((0.5 + 4) / 5)
    assert row(every)["out"].value == pytest.approx(1.0)


def test_every_cell_is_filled_or_not_run() -> None:
    def some(seed: int) -> list[Outcome]:
        return [outcome(e, seed) for e in answered([asked(name, k) for name in MEASURED for k in range(2)])]

    found = table_2({"grpo": [*some(0), *some(1)], "no_tools_reasoning": []}, BACKBONE)
    assert json.loads(json.dumps(found)) == found and list(found["rows"]) == [*ROWS, "sft"]
    for stage, cells in found["rows"].items():
        assert list(cells) == list(COLUMNS)
        assert all((cell["here"] == NOT_RUN) == (stage != "grpo") for cell in cells.values())
    assert found["rows"]["grpo"]["chartqa"]["paper"] == 0.9008 and found["rows"]["sft"]["all"]["paper"] == NOT_RUN
    told = lines(found).splitlines()
    assert len(told) == 1 + len(COLUMNS) + 1
    assert "100.00 (90.08)" in told[1] and "not run (76.40)" in told[1]
    with pytest.raises(ValueError, match="backbone='GPT-5': the rows of Table 2 that are here are of InternVL3-2B"):
        table_2({}, "GPT-5")


def test_a_run_keeps_its_questions_and_every_stage_plays_them(data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert kept_benchmarks(run) == []
    assert "data aren't here" in save_played(run, "grpo", [], answered) and played("grpo", [run]) == []
    keep_benchmarks(run, benchmark_tasks(str(data), 1))
    tasks = kept_benchmarks(run)
    assert [task.meta["set"] for task in tasks] == list(MEASURED)
    assert save_played(run, "grpo", tasks, answered) == "benchmarks, grpo: 1.000 of 11 questions right"
    assert [(o.benchmark, o.seed) for o in played("grpo", [run, run])] == [(n, k) for k in (0, 1) for n in MEASURED]
    assert played("grpo", [run, tmp_path]) == [] == played("grpo", [])
    assert len(benchmark_tasks(str(data))) == 22 and benchmark_tasks("") == []


def test_what_is_missing_or_of_another_layout_is_told(data: Path) -> None:
    with pytest.raises(ValueError, match="eval_tasks=-1: questions of each benchmark, 0 for all"):
        benchmark_tasks(str(data), -1)
    file = data / "eval-plotqa.jsonl"
    save_tasks(file, [asked("mapqa")])
    with pytest.raises(ValueError, match=r"eval-plotqa\.jsonl: its task mapqa-0 is of another set"):
        benchmark_tasks(str(data))
    file.write_text("")
    with pytest.raises(ValueError, match=r"eval-plotqa\.jsonl: it holds no question"):
        benchmark_tasks(str(data))
    file.write_text('{"question": "?", "answer": "7"}\n')
    with pytest.raises(RecordError, match=r"eval-plotqa\.jsonl:1: field schema: missing"):
        benchmark_tasks(str(data))
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"has no eval-plotqa\.jsonl, one of the eleven benchmarks \(chartqa, "):
        benchmark_tasks(str(data))


def test_outcomes_of_runs_that_told_no_benchmark_are_read() -> None:
    old = replace(outcome(answered([asked("chartqa")])[0]), benchmark="")
    assert row([old]) == {}


def test_a_claim_is_decided_on_the_benchmarks_where_all_its_stages_played_them() -> None:
    here, drawn = ([outcome(e) for e in answered([asked(name)])] for name in ("plotqa", "chartqa"))
    on = {"direct": here, "sft": here, "dapo": []}
    every = dict.fromkeys(("direct", "sft", "dapo", "patch"), drawn)
    assert deciding(on, every, "direct", "sft") == [here, here]
    assert deciding(on, every, "direct", "dapo") == [drawn, drawn], "one of them didn't play: none is compared on them"
    assert deciding(on, every, "patch", "sft") == [drawn, drawn]
