"""The doctor: versions against the lock, disk, and an exit code that means something."""

from __future__ import annotations

import re
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
import torch

import workshop.jobs.doctor
from workshop.jobs.doctor import bug_report, differences, doctor, installed_lock, not_the_locks, read_lock


def test_a_lock_is_read_and_a_loose_line_named(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text("a==1.0\nb==2.0\n")
    assert read_lock(lock) == {"a": "1.0", "b": "2.0"}
    lock.write_text("a==1.0\nb>=2.0\n")
    with pytest.raises(ValueError, match=r"lock.txt, line 2: 'b>=2.0'; write name==version"):
        read_lock(lock)


def test_packages_that_differ_are_named_and_local_suffixes_are_not() -> None:
    public = torch.__version__.partition("+")[0]
    assert differences({"torch": public}) == []
    assert differences({"torch": "0.1", "no-such-package": "1"}) == [
        ("torch", "0.1", torch.__version__),
        ("no-such-package", "1", "missing"),
    ]


def test_the_report_names_what_matters_and_finds_nothing_wrong_here() -> None:
    report, well = doctor()
    assert well, report
    for part in ("python", "torch", "threads", "packages", "disk", "as in locks/"):
        assert part in report


def test_a_wrong_version_or_a_full_disk_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**8))
        report, well = doctor()
        assert not well and "0.1 GB free, below the" in report
    monkeypatch.setattr(workshop.jobs.doctor, "read_lock", lambda _: {"torch": "0.1"})
    report, well = doctor()
    assert not well and "1 differ" in report and torch.__version__ in report


def test_other_versions_than_the_locks_are_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not_the_locks() == "", "the tests run by the lock"
    here, pins = workshop.jobs.doctor.installed, read_lock(installed_lock())
    for other, told in (
        ({"torch": "2.11.0+cu128"}, f"torch 2.11.0+cu128 (lock {pins['torch']})"),
        ({"trl": "1.0", "peft": "0.1"}, f"trl 1.0 (lock {pins['trl']}), peft 0.1 (lock {pins['peft']})"),
        ({"numpy": "1.0"}, ""),  # it neither samples nor trains
    ):
        monkeypatch.setattr(workshop.jobs.doctor, "installed", lambda name, other=other: other.get(name) or here(name))
        assert not_the_locks() == (f"not the lock's: {told}; the kit was tried with the lock's" if told else "")
        assert not told or told in doctor()[0]


def test_a_bug_report_names_versions_and_the_newest_run_but_not_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert "newest run\n----------\nnone" in bug_report()[0]
    (tmp_path / "runs" / "toy").mkdir(parents=True)
    done = '{"notebooks": {"13_x": {"profile": "smoke", "status": "failed"}}}'
    (tmp_path / "runs" / "toy" / "params.json").write_text(done)
    text, well = bug_report()
    assert well and text.startswith("```text\n") and text.endswith("\n```")
    assert re.search(r"^toy +smoke +13 failed$", text, re.MULTILINE)
    assert re.search(rf"^torch +{re.escape(torch.__version__)}$", text, re.MULTILINE)
    assert "~/runs" in text and str(tmp_path) not in text and "hf_secret" not in text
