"""Checkpoints: whole or absent, claimed by one run, and in an order that does not depend on resuming."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from places import HELPERS
from training_fixtures import clone

from kit.chat import Chat
from kit.episode import NamedImage, Task, fingerprint
from kit.files import commit_dir, delete_dir
from kit.models import load_model
from kit.train.checkpoint import (
    checkpoints_in,
    checkpoints_to_delete,
    export,
    is_done,
    newest_checkpoint,
    open_run,
    restore,
    schedule,
    step_of,
)


@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 3))
def test_schedule_is_whole_passes_and_prefix_stable(items: int, length: int, seed: int) -> None:
    order = schedule(items, length, seed)
    assert len(order) == length
    assert schedule(items, length + 7, seed)[:length] == order
    for start in range(0, length - items + 1, items):
        assert Counter(order[start : start + items]) == Counter(range(items))


def test_schedule_depends_on_the_seed() -> None:
    assert schedule(20, 20, 0) != schedule(20, 20, 1)
    with pytest.raises(ValueError, match="nothing to train on"):
        schedule(0, 5, 0)


def _started(run_dir: Path, step: int, **settings: object) -> Path:
    open_run(run_dir, settings, ["a", "b"])
    (run_dir / "checkpoint" / f"checkpoint-{step}").mkdir()
    return run_dir


def test_the_newest_whole_checkpoint_is_resumed_and_half_ones_are_swept_away(tmp_path: Path) -> None:
    assert open_run(tmp_path, {"lr": 1.0}, ["a", "b"]) is None
    folder = tmp_path / "checkpoint"
    for step in (2, 10, 9):
        (folder / f"checkpoint-{step}").mkdir()
    half = folder / ".partial" / "checkpoint-11"
    half.mkdir(parents=True)
    (half / "model.safetensors").write_bytes(b"half")
    resume = open_run(tmp_path, {"lr": 1.0}, ["a", "b"])
    assert resume == folder / "checkpoint-10" and step_of(resume) == 10
    assert not (folder / ".partial").exists()
    assert newest_checkpoint(tmp_path / "nowhere") is None and step_of(None) == 0


OWN = ("40.bak", "40 (copy)", "40-old", "best", "", "040", "-40", "40.partial", "4_0", "٤٠", "1e3", "40 ", "0")


@pytest.mark.parametrize("name", OWN)
def test_what_somebody_keeps_beside_checkpoints_is_left_alone(name: str, tmp_path: Path) -> None:
    folder = _started(tmp_path, 10, lr=1.0) / "checkpoint"
    (folder / f"checkpoint-{name}").mkdir()
    (folder / "checkpoint-99").write_text("a file")
    assert checkpoints_in(folder) == [folder / "checkpoint-10"]
    assert open_run(tmp_path, {"lr": 1.0}, ["a", "b"]) == folder / "checkpoint-10"
    assert (folder / f"checkpoint-{name}").is_dir()


UNSAID = {"null": b"null", "a list": b"[]", "no data": b'{"settings": {}}', "no settings": b'{"data": []}'}
DAMAGED = {"empty": b"", "cut": b'{"sett', "zeros": bytes(9), "no UTF-8": b"\xff\xfe", "too deep": b"[" * 100_000}


@pytest.mark.parametrize("kept", ["checkpoint/checkpoint-2", "model"])
@pytest.mark.parametrize("data", [None, *UNSAID.values(), *DAMAGED.values()], ids=["missing", *UNSAID, *DAMAGED])
def test_settings_that_can_t_be_read_are_named(data: bytes | None, kept: str, tmp_path: Path) -> None:
    (tmp_path / kept).mkdir(parents=True)
    (tmp_path / "checkpoint").mkdir(exist_ok=True)
    if data is not None:
        (tmp_path / "checkpoint" / "settings.json").write_bytes(data)
    with pytest.raises(ValueError, match=r"checkpoint/settings.json is (missing, or holds something else|not JSON)"):
        open_run(tmp_path, {"lr": 1.0}, ["a"])


@pytest.mark.parametrize("left", [0, 1_000, -1])
def test_damaged_weights_are_named(model: Any, left: int, tmp_path: Path) -> None:
    clone(model).save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    os.truncate(file, left % file.stat().st_size)
    with pytest.raises(ValueError, match=rf"checkpoint {tmp_path}: its weights are damaged"):
        restore(model, tmp_path)


@pytest.mark.parametrize("config", ["", "null", "[]", "{", "3"])
def test_a_damaged_config_is_named(config: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(ValueError, match=rf"^checkpoint {tmp_path}: "):
        load_model(tmp_path)


def test_a_folder_belongs_to_one_run(tmp_path: Path) -> None:
    _started(tmp_path, 2, lr=1.0, steps=10)
    with pytest.raises(ValueError, match=r"lr=1.0, now lr=2.0"):
        open_run(tmp_path, {"lr": 2.0, "steps": 10}, ["a", "b"])
    with pytest.raises(ValueError, match="other data"):
        open_run(tmp_path, {"lr": 1.0, "steps": 10}, ["a", "c"])
    assert step_of(open_run(tmp_path, {"lr": 1.0, "steps": 99}, ["a", "b"])) == 2


def test_a_run_that_never_saved_may_start_again_with_other_settings(tmp_path: Path) -> None:
    open_run(tmp_path, {"lr": 1.0}, ["a"])
    assert open_run(tmp_path, {"lr": 2.0}, ["b"]) is None


def test_a_run_without_its_checkpoints_is_done_or_refused_and_never_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(ValueError, match="nothing says how"):
        open_run(tmp_path, {"lr": 1}, ["a"])
    assert not (tmp_path / "checkpoint" / "settings.json").exists(), "what is missing isn't made up"
    (tmp_path / "checkpoint" / "settings.json").write_text('{"settings": {"lr": 1}, "data": ["a"]}')
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"step": 2}\n')
    with pytest.raises(ValueError, match="lr=1, now lr=2"):
        open_run(tmp_path, {"lr": 2}, ["a"])
    assert open_run(tmp_path, {"lr": 1}, ["a"]) is None
    assert is_done(tmp_path, None, 2)
    with pytest.raises(ValueError, match="trained for 2 steps and its checkpoints are gone"):
        is_done(tmp_path, None, 3)


def test_export_is_an_ordinary_checkpoint_and_replaces_an_older_one(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    folder = export(model, chat, tmp_path / "model")
    with torch.no_grad():
        model.lm_head.weight.add_(1.0)
    assert export(model, chat, tmp_path / "model") == folder
    loaded, its_chat = load_model(folder), Chat.from_pretrained(folder)
    for (name, ours), theirs in zip(model.named_parameters(), loaded.parameters(), strict=True):
        assert torch.equal(ours, theirs), name
    assert its_chat.text("<think>") == chat.text("<think>")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_full_disk_is_named_and_leaves_the_old_checkpoint(
    chat: Chat, model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = export(model, chat, tmp_path / "model")
    before = (folder / "config.json").read_bytes()

    def full(*args: object, **kwargs: object) -> None:
        raise RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(chat.tokenizer, "save_pretrained", full)
    with pytest.raises(OSError, match=r"the disk is full: .* and model could not be written"):
        export(model, chat, folder)
    assert (folder / "config.json").read_bytes() == before


class Killed(BaseException): ...


def test_a_folder_that_goes_loses_its_name_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while its files are being removed: what is left isn't taken for a checkpoint, and is swept away."""
    folder = tmp_path / "checkpoint"
    old, new = folder / "checkpoint-1", folder / ".partial" / "checkpoint-1"
    for made in (old, new):
        made.mkdir(parents=True)
        (made / "weights").write_text(str(made))
        (made / "optimizer").touch()

    def killed(path: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            (path / "weights").unlink()
            raise Killed

    for remove in (lambda: commit_dir(new, old), lambda: delete_dir(old)):
        with monkeypatch.context() as patched:
            patched.setattr("kit.files.shutil.rmtree", killed)
            with pytest.raises(Killed):
                remove()
        assert not old.exists()
        assert open_run(tmp_path, {}, []) is None
        assert sorted(path.name for path in folder.iterdir()) == ["settings.json"]
        old.mkdir()
        (old / "weights").touch()


def test_killed_at_any_moment_a_run_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """A few moments here; ``python tests/soak_training.py FOLDER 50 1`` for as many as one likes."""
    script = HELPERS / "soak_training.py"
    done = subprocess.run([sys.executable, str(script), str(tmp_path), "4", "0"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "4 resumes" in done.stdout


def test_a_run_of_an_older_kit_goes_on_where_what_is_new_is_off(tmp_path: Path) -> None:
    """Its settings lack a name that the kit has learnt since: that was off."""
    open_run(tmp_path, {"beta": 0.0}, [])
    (tmp_path / "checkpoint" / "checkpoint-1").mkdir()
    with pytest.raises(ValueError, match="holds a run with dynamic_sampling=None, now dynamic_sampling=2"):
        open_run(tmp_path, {"beta": 0.0, "dynamic_sampling": 2}, [])
    off = {"beta": 0.0, "dynamic_sampling": 0, "epsilon_high": None}
    assert open_run(tmp_path, off, []) == tmp_path / "checkpoint" / "checkpoint-1"
    with pytest.raises(ValueError, match="holds a run with dynamic_sampling=0, now dynamic_sampling=2"):
        open_run(tmp_path, {**off, "dynamic_sampling": 2}, [])


@pytest.mark.parametrize(
    ("name", "then", "now"),
    [
        ("gpu_memory_utilization", 0.3, None),
        ("gpu_memory_utilization", None, 0.45),
        ("gradient_checkpointing", None, False),
        ("gradient_checkpointing", True, None),
        ("per_device_batch_size", 1, 4),
    ],
)
def test_a_run_goes_on_with_another_share_of_memory(name: str, then: object, now: object, tmp_path: Path) -> None:
    """On another card, or after the kit's own default has changed: a batch's sum is the same however it is held."""
    open_run(tmp_path, {"beta": 0.0, name: then}, [])
    (tmp_path / "checkpoint" / "checkpoint-1").mkdir()
    assert open_run(tmp_path, {"beta": 0.0, name: now}, []) == tmp_path / "checkpoint" / "checkpoint-1"
    with pytest.raises(ValueError, match=r"holds a run with beta=0\.0, now beta=0\.1"):
        open_run(tmp_path, {"beta": 0.1, name: now}, [])


def test_the_last_stay_and_the_best(tmp_path: Path) -> None:
    """Means of two steps before 2, 4, 6, 8 and 10: .3, .5, .45, .2 and .4; the single best step, 5, made none."""
    rewards = [0.2, 0.4, 0.4, 0.6, 0.9, 0.0, 0.2, 0.2, 0.4, 0.4]
    rows = [{"step": step, "reward": reward} for step, reward in enumerate(rewards, start=1)]
    there = [tmp_path / f"checkpoint-{step}" for step in (10, 2, 8, 6, 4)]
    assert [step_of(one) for one in checkpoints_to_delete(there, 2, rows, every=2)] == [2, 6]
    assert [step_of(one) for one in checkpoints_to_delete(there, 3, rows, every=2)] == [2]
    assert [step_of(one) for one in checkpoints_to_delete(there, 4, rows, every=2)] == [2]
    assert [step_of(one) for one in checkpoints_to_delete(there, 1, [{"step": 4, "loss": 1.0}], every=2)] == [
        2,
        4,
        6,
        8,
    ]
    assert checkpoints_to_delete([], 2, rows, every=2) == checkpoints_to_delete(there[:1], 2, [], every=2) == []


def test_tasks_of_the_same_names_but_other_content_are_other_data() -> None:
    one = Task("t", (NamedImage("A", Image.new("RGB", (4, 4))),), "How many?", "2", {})
    same = replace(one, images=(NamedImage("A", Image.new("RGB", (4, 4))),))
    assert fingerprint(one) == fingerprint(same) and fingerprint(one).startswith("t:")
    red = NamedImage("A", Image.new("RGB", (4, 4), "red"))
    changed = [replace(one, images=(red,)), replace(one, question="Which?"), replace(one, target="3")]
    assert len({fingerprint(task) for task in (one, *changed)}) == 4
    assert fingerprint(one, [1, 2]) != fingerprint(one, [1, 3])
