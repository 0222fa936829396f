"""The shadow of a working directory: back to the last good state, whatever was done to it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turn_sandbox.files import MAX_ENTRIES, Shadow, TooMuch


def tree(work: Path) -> dict[str, object]:
    """What is there: text, link target or None for a folder, and the permissions."""
    found: dict[str, object] = {}
    for path in work.rglob("*"):
        content = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else None
        found[str(path.relative_to(work))] = content, path.lstat().st_mode
    return found


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "sub" / "deep").mkdir(parents=True)
    (work / "a").write_text("aaa")
    (work / "sub" / "b").write_text("bbb")
    (work / "link").symlink_to("a")
    return work


def deepen(work: Path) -> None:
    """Folders deeper than the longest path."""
    before = os.getcwd()
    os.chdir(work / "sub")
    for _ in range(200):
        os.mkdir("d" * 50)
        os.chdir("d" * 50)
    os.chdir(before)


def hide(work: Path) -> None:
    before = (work / "a").stat()
    (work / "a").write_text("xxx")
    os.utime(work / "a", ns=(before.st_atime_ns, before.st_mtime_ns))


def swap(work: Path) -> None:
    """A file becomes a folder, a folder a link out of the directory, a link a file."""
    (work / "a").unlink()
    (work / "a").mkdir()
    (work / "sub" / "b").unlink()
    (work / "sub" / "deep").rmdir()
    (work / "sub").rmdir()
    (work / "sub").symlink_to(work.parent / "outside")
    (work / "link").unlink()
    (work / "link").write_text("link")


@pytest.mark.parametrize(
    "damage",
    [
        hide,
        swap,
        lambda work: (work / "a").chmod(0),
        lambda work: (work / "a").unlink(),
        lambda work: (work / "a").rename(work / "sub" / "b"),
        lambda work: (work / "new").mkdir() or (work / "new" / "c").write_text("c"),
        lambda work: os.link(work / "a", work / "hard"),
        lambda work: os.mkfifo(work / "fifo"),
        deepen,
        shutil.rmtree,
        lambda work: (work / "link").unlink() or (work / "link").symlink_to("/"),
    ],
)
def test_damage_is_undone(tmp_path: Path, work: Path, damage: Callable[[Path], object]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b").write_text("not ours")
    shadow = Shadow(str(work), str(tmp_path / "store"), 1 << 20)
    good = tree(work)
    for _ in range(2):
        damage(work)
        assert damage in (hide, deepen) or tree(work) != good
        shadow.restore()
        assert tree(work) == good
    assert (outside / "b").read_text() == "not ours"


def test_an_open_file_sees_what_is_put_back(tmp_path: Path, work: Path) -> None:
    shadow = Shadow(str(work), str(tmp_path / "store"), 1 << 20)
    with (work / "a").open() as file:
        (work / "a").write_text("a longer text")
        shadow.restore()
        assert file.read() == "aaa"


def test_too_much_is_not_taken_over(tmp_path: Path, work: Path) -> None:
    shadow = Shadow(str(work), str(tmp_path / "store"), 1000)
    good = tree(work)
    (work / "big").write_bytes(bytes(2000))
    with pytest.raises(TooMuch, match=f"more than {MAX_ENTRIES} files"):
        shadow.commit()
    shadow.restore()
    assert tree(work) == good


STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.text("xy", max_size=3), st.booleans()), max_size=8)


@given(STEPS)
@settings(max_examples=25)
def test_commits_and_restores_follow_a_model(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("model")
    (folder / "work").mkdir()
    shadow = Shadow(str(folder / "work"), str(folder / "store"), 1 << 20)
    model: dict[str, str] = {}
    for name, text, good in steps:
        path = folder / "work" / name
        if text:
            path.write_text(text)
        else:
            path.unlink(missing_ok=True)
        if good:
            shadow.commit()
            model = {p.name: p.read_text() for p in (folder / "work").iterdir()}
        else:
            shadow.restore()
        assert {p.name: p.read_text() for p in (folder / "work").iterdir()} == model
