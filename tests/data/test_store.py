"""Storage: what is written comes back, damage is named, a failed write leaves what was there."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from kit.data.schema import RecordError
from kit.data.store import (
    append_episodes,
    drop_torn_line,
    load_episodes,
    load_tasks,
    save_episodes,
    save_tasks,
)
from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn, content_hash, fingerprint
from kit.files import write_bytes


def picture(name: str, seed: int) -> NamedImage:
    return NamedImage(name, Image.fromarray(np.random.default_rng(seed).integers(0, 256, (9, 7, 3), dtype=np.uint8)))


def plain(value: Any) -> Any:
    """A noun as comparable values: pictures by name and content."""
    if isinstance(value, NamedImage):
        return value.name, content_hash(value.image)
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, Task | Episode | Turn | Observation | Action):
        return type(value).__name__, tuple((k, plain(v)) for k, v in vars(value).items())
    return value


@pytest.fixture
def episode() -> Episode:
    task = Task("t/1", (picture("A", 0), picture("B", 1)), "Solve “it”.", ("B", "A"), {"m": 2, "boxes": [[0.1, 1]]})
    seen = Observation("Output: é\u2028\n", (picture("observation_image_1", 2),), closing="Which?")
    look = Turn((5, 6), (-0.1, -2.5e-7), "<code>\x00 \r\n</code>", Action("code", "x"), seen, (7, 8, 9))
    failed = Turn((), (), "", None, Observation("Error: no", status="format"))
    return Episode(task, (1, 2, 3), (look, failed), "format")


def test_originals_come_back_and_leave_tasks_without_any_as_they_were(tmp_path: Path, episode: Episode) -> None:
    full = replace(episode.task, originals=(picture("A", 3), picture("B", 4)))
    save_tasks(tmp_path / "tasks.jsonl", [full, episode.task])
    first, second = load_tasks(tmp_path / "tasks.jsonl")
    assert plain(first) == plain(full) and first.tool_images == full.originals
    assert plain(second) == plain(episode.task) and second.tool_images == second.images
    assert "originals" not in (tmp_path / "tasks.jsonl").read_text().splitlines()[1]
    assert fingerprint(first) != fingerprint(second)
    save_episodes(tmp_path / "e.jsonl", [replace(episode, task=full)])
    assert load_episodes(tmp_path / "e.jsonl")[0].task == first


def test_originals_of_other_images_are_refused(tmp_path: Path, episode: Episode) -> None:
    with pytest.raises(ValueError, match=r"task t/1: originals \['B', 'A'\] of images \['A', 'B'\]; give one of each"):
        replace(episode.task, originals=(picture("B", 3), picture("A", 4)))
    save_tasks(tmp_path / "tasks.jsonl", [replace(episode.task, originals=(picture("A", 3), picture("B", 4)))])
    record = json.loads((tmp_path / "tasks.jsonl").read_text())
    record["originals"].pop()
    (tmp_path / "tasks.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(RecordError, match=r"tasks.jsonl:1: field originals: task t/1: originals \['A'\] of images"):
        load_tasks(tmp_path / "tasks.jsonl")


def test_tasks_and_episodes_come_back_equal(tmp_path: Path, episode: Episode) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [episode.task])
    save_episodes(tmp_path / "e.jsonl", [episode, replace(episode, turns=(), ended="running")])
    assert plain(load_tasks(tmp_path / "tasks.jsonl")[0]) == plain(episode.task)
    one, two = load_episodes(tmp_path / "e.jsonl")
    assert plain(one) == plain(episode) and two.turns == ()
    assert one.ids == episode.ids and one.mask == episode.mask
    # Each picture is one file, however often it is used, and one object when read.
    assert len(list((tmp_path / "pictures").iterdir())) == 3
    assert one.task.images[0] is two.task.images[0]


@settings(max_examples=60)
@given(text=st.text(), ids=st.lists(st.integers(0, 2**31)), logprob=st.floats(-1e30, 0))
def test_any_text_and_numbers_come_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, ids: list[int], logprob: float
) -> None:
    path = tmp_path_factory.mktemp("store") / "e.jsonl"
    turn = Turn(tuple(ids), (logprob,) * len(ids), text, Action("code", text), Observation(text), tuple(ids))
    episode = Episode(Task(text, (), text, text, {text: [text]}), tuple(ids), (turn,), "turns")
    save_episodes(path, [episode, episode])
    assert [plain(e) for e in load_episodes(path)] == [plain(episode)] * 2


@pytest.mark.parametrize("bad", [{"a": (1, 2)}, {"a": float("nan")}, {1: "a"}, {"a": {1, 2}}])
def test_what_json_would_change_is_refused(tmp_path: Path, bad: dict[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"task t: meta=.*does not survive JSON"):
        save_tasks(tmp_path / "t.jsonl", [Task("t", (), "", "", bad)])
    assert not (tmp_path / "t.jsonl").exists()


def change(path: Path, line: int, edit: Any) -> None:
    lines = path.read_text().splitlines()
    record = json.loads(lines[line - 1])
    edit(record)
    lines[line - 1] = json.dumps(record)
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda r: r.pop("prompt_ids"), "e.jsonl:2: field prompt_ids: missing"),
        (lambda r: r["turns"][0].pop("text"), r"e.jsonl:2: field turns\[0\].text: missing"),
        (lambda r: r["task"].update(id=7), "e.jsonl:2: field task.id: 7; input should be a valid string"),
        (
            lambda r: r["turns"][0]["ids"].__setitem__(1, -4),
            r"field turns\[0\].ids\[1\]: -4; input should be greater than or equal to 0",
        ),
        (lambda r: r["turns"][0]["ids"].__setitem__(1, True), r"field turns\[0\].ids\[1\]: True"),
        (lambda r: r["turns"][0]["logprobs"].pop(), r"field turns\[0\].logprobs: 1 for 2 ids"),
        (
            lambda r: r["turns"][0]["logprobs"].__setitem__(0, "x"),
            r"logprobs\[0\]: 'x'; input should be a valid number",
        ),
        (
            lambda r: r["turns"][0]["observation"].update(status="fine"),
            r"observation.status: 'fine'; input should be 'ok', 'error'",
        ),
        (lambda r: r.update(ended="over"), "field ended: 'over'; input should be 'running', 'answer'"),
        (lambda r: r.update(schema=99), "field schema: 99; this version of the kit reads 2"),
        (lambda r: r.update(kind="task"), "field kind: 'task'; expected 'episode'"),
        (lambda r: r["task"].update(images=["a"]), r"field task.images\[0\]: 'a'; input should be a valid dictionary"),
        (lambda r: r["task"]["images"][0].update(sha256="0" * 64), r"task.images\[0\].sha256: picture .* is missing"),
    ],
)
def test_a_wrong_record_is_named_by_file_line_and_field(
    tmp_path: Path, episode: Episode, edit: Any, message: str
) -> None:
    path = tmp_path / "e.jsonl"
    save_episodes(path, [episode, episode])
    change(path, 2, edit)
    with pytest.raises(RecordError, match=message):
        load_episodes(path)


@pytest.mark.parametrize("line", ["[1]\n", "{\n", '{"schema": NaN}\n', "\n"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, episode: Episode, line: str) -> None:
    path = tmp_path / "e.jsonl"
    save_episodes(path, [episode])
    path.write_text(path.read_text() + line)
    with pytest.raises(RecordError, match=r"e\.jsonl:2: "):
        load_episodes(path)


def test_a_changed_picture_is_noticed(tmp_path: Path, episode: Episode) -> None:
    path = tmp_path / "tasks.jsonl"
    save_tasks(path, [episode.task])
    file = tmp_path / "pictures" / f"{content_hash(episode.task.images[1].image)}.png"
    Image.new("RGB", (7, 9)).save(file)
    with pytest.raises(RecordError, match=r"tasks.jsonl:1: field images\[1\].sha256: .* is not what was stored"):
        load_tasks(path)
    file.write_bytes(b"oops")
    with pytest.raises(RecordError, match="cannot be read"):
        load_tasks(path)


@pytest.mark.parametrize("write", [save_episodes, append_episodes])
def test_pictures_are_on_the_disk_before_a_line_names_them(
    tmp_path: Path, episode: Episode, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]
) -> None:
    """One wait for all of them, not one for each."""
    seen: list[tuple[int, bool]] = []
    file = tmp_path / "e.jsonl"
    monkeypatch.setattr(os, "sync", lambda: seen.append((len([*tmp_path.glob("pictures/*.png")]), file.exists())))
    write(file, [episode, episode])
    assert seen == [(3, False)]


def test_a_picture_that_a_power_cut_left_empty_is_written_again(tmp_path: Path, episode: Episode) -> None:
    save_tasks(tmp_path / "t.jsonl", [episode.task])
    for path in tmp_path.glob("pictures/*.png"):
        path.write_bytes(b"")
    save_tasks(tmp_path / "t.jsonl", [episode.task])
    assert plain(load_tasks(tmp_path / "t.jsonl")[0]) == plain(episode.task)


def test_appending_survives_a_cut_line(tmp_path: Path, episode: Episode) -> None:
    path = tmp_path / "e.jsonl"
    append_episodes(path, [episode])
    append_episodes(path, [episode])
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])  # killed while the second line was written
    with pytest.raises(RecordError, match=r"e\.jsonl:2: not JSON .*cut off"):
        load_episodes(path)
    assert drop_torn_line(path) == len(whole) // 2 - 20
    assert len(load_episodes(path)) == 1
    append_episodes(path, [episode])
    assert path.read_bytes() == whole and drop_torn_line(path) == 0


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="file size limits are POSIX")
    path = tmp_path / "set.jsonl"
    write_bytes(path, b"before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))  # the system refuses to write more
    try:
        with pytest.raises(OSError, match=r"cannot write .*set\.jsonl: .* is untouched"):
            write_bytes(path, b"x" * (2 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"before" and [p.name for p in tmp_path.iterdir()] == ["set.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full (Linux)")
def test_a_full_disk_is_named_when_appending(tmp_path: Path, episode: Episode) -> None:
    (tmp_path / "e.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"the disk is full: .* and e\.jsonl could not be written"):
        append_episodes(tmp_path / "e.jsonl", [episode])
