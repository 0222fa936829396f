"""The rows of a run on disk: torn lines and resuming."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from kit.train.metrics import keep_until, read_metrics, training_minutes
from kit.train.metrics_log import MetricsLog


def _log(log: MetricsLog, step: int, **row: float) -> None:
    state = SimpleNamespace(global_step=step, max_steps=9)
    log.on_step_begin(None, state, None)
    log.on_log(None, state, None, logs=dict(row))


def test_one_row_a_step_in_the_file_and_for_the_hook(tmp_path: Path) -> None:
    seen: list[int] = []
    log = MetricsLog(tmp_path, 0, lambda rows: seen.append(len(rows)))
    _log(log, 1, loss=1.0, reward=0.5, epoch=0.1)
    _log(log, 2, loss=0.5, reward=0.25)
    _log(log, 2, train_runtime=1.0)  # the summary at the end is no step
    log.close()
    rows = read_metrics(tmp_path / "metrics.jsonl")
    assert [(r["step"], r["loss"], r["reward"]) for r in rows] == [(1, 1.0, 0.5), (2, 0.5, 0.25)]
    assert "epoch" not in rows[0] and rows[0]["seconds"] >= 0
    assert seen == [1, 2]
    assert list((tmp_path / "tensorboard").glob("events*"))


def test_what_has_no_value_is_left_out_and_the_file_stays_json(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path, 0)
    _log(log, 1, loss=1.0, kl=float("nan"), clip=float("inf"), length=3.0)
    log.close()
    (line,) = (tmp_path / "metrics.jsonl").read_text().splitlines()
    row = json.loads(line, parse_constant=pytest.fail)
    assert row.keys() == {"step", "loss", "length", "seconds"} and log.rows == [row]


def test_a_resumed_run_drops_what_lies_beyond_its_checkpoint(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path, 0)
    for step in (1, 2, 3):
        _log(log, step, loss=float(step))
    log.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    again = MetricsLog(tmp_path, 2)
    _log(again, 3, loss=30.0)
    again.close()
    assert [r["loss"] for r in read_metrics(tmp_path / "metrics.jsonl")] == [1.0, 2.0, 30.0]


def test_only_a_torn_last_line_is_forgiven(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"st\n{"step": 3}\n')
    with pytest.raises(ValueError, match="line 2 is no row"):
        read_metrics(path)
    path.write_text('{"step": 1}\n{"st')
    assert keep_until(path, 5) == [{"step": 1}]
    assert path.read_text() == json.dumps({"step": 1}) + "\n"
    assert read_metrics(tmp_path / "none.jsonl") == []


TORN = {
    "cut": b'{"st',
    "cut in a sign": b'{"step":2,"x":"caf\xc3',
    "zeros of a power cut": bytes(9),
    "a block of something else": b"\xff\xfe\x01",
    "a number": b"12",
}
NO_ROWS = {
    **TORN,
    "a list": b"[]",
    "null": b"null",
    "no step": b'{"loss": 1}',
    "a text for a step": b'{"step": "1"}',
    "half a step": b'{"step": 1.5}',
    "two in one": b'{"step": 1}{"step": 2}',
    "a merge": b"<<<<<<< HEAD",
    "too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("line", TORN.values(), ids=TORN)
def test_a_torn_last_line_is_left_out_whatever_is_in_it(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1}\n' + line)
    assert read_metrics(path) == [{"step": 1}]


@pytest.mark.parametrize("line", NO_ROWS.values(), ids=NO_ROWS)
def test_what_is_no_row_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1}\n' + line + b'\n{"step": 3}\n')
    with pytest.raises(ValueError, match=r"metrics.jsonl, line 2 is no row .*; repair or remove the file"):
        read_metrics(path)


def test_a_last_row_without_a_newline_is_one(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\r\n\n{"step": 2}')
    assert [row["step"] for row in read_metrics(tmp_path / "metrics.jsonl")] == [1, 2]


def test_of_processes_that_train_together_one_writes(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path, 0, lambda rows: pytest.fail("only the first is asked for curves"), writes=False)
    _log(log, 1, loss=1.0)
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_training_minutes_are_those_of_the_steps_or_none(tmp_path: Path) -> None:
    def record(run: str, training: str, *seconds: float) -> Path:
        (tmp_path / run / training).mkdir(parents=True, exist_ok=True)
        rows = (json.dumps({"step": k, "seconds": s}) + "\n" for k, s in enumerate(seconds, start=1))
        (tmp_path / run / training / "metrics.jsonl").write_text("".join(rows))
        return tmp_path / run

    runs = [record("a", "sft", 30, 60), record("b", "grpo", 90)]
    assert training_minutes(runs) == 3.0
    record("a", "mixed", 600)
    assert training_minutes(runs) == 3.0, "another training's results stand elsewhere"
    assert training_minutes(runs, ["mixed"]) is None, "b has none"
    assert training_minutes([*runs, tmp_path / "c"]) is None, "not 0: nothing was recorded there"
    slept = record("d", "sft", 60, 60, 60, 9000)
    assert training_minutes([slept]) == 4.0, "a machine that slept trained no longer: the median step"
