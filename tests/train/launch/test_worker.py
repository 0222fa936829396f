"""What must be the same on all machines that train together: a changed line is seen, wherever it is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import turn_sandbox
from kit.files import ROOT
from kit.train.launch import worker
from kit.train.launch.worker import check_alike, installed


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another machine's copy of the kit's code, which :func:`installed` looks at."""

    def others(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if not (Path(folder) / name).is_dir() and not name.endswith(".py")}

    copy = tmp_path / "machine" / "kit"
    shutil.copytree(ROOT / "kit", copy, ignore=others)
    monkeypatch.setattr(worker, "__file__", str(copy / "train" / "launch" / "worker.py"))
    return copy


def change(path: Path, line: str = "CHANGED = True") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + f"\n{line}\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "the loop": lambda kit: change(kit / "rollout.py"),
    "a reward": lambda kit: change(kit / "papers" / "agile" / "reward.py"),
    "the trainer": lambda kit: change(kit / "train" / "grpo_trainer.py"),
    "a new file": lambda kit: change(kit / "tools" / "new.py"),
    "an empty new file": lambda kit: (kit / "tools" / "new.py").touch(),
    "a file that is gone": lambda kit: (kit / "seeding.py").unlink(),
    "another name": lambda kit: (kit / "seeding.py").rename(kit / "seeds.py"),
}


def test_the_same_code_at_another_place_is_the_same(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(kit / ".ipynb_checkpoints" / "rollout-checkpoint.py")  # an editor's copy, which nobody imports
    theirs = installed()
    monkeypatch.undo()
    check_alike([("a", installed()), ("b", theirs)])


@pytest.mark.parametrize("made", CHANGES.values(), ids=CHANGES)
def test_a_line_changed_anywhere_in_the_kit_is_refused(kit: Path, made: Callable[[Path], object]) -> None:
    before = installed()
    made(kit)
    with pytest.raises(ValueError, match=r"b has the kit's source .* install the same lock and the same commit"):
        check_alike([("a", before), ("b", installed())])


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper's package outside the kit, and a module beside it."""
    home = tmp_path / "foreign"
    change(home / "my_paper" / "__init__.py", "")
    change(home / "my_paper" / "training.py", "from kit.rollout import rollout")
    change(home / "my_paper" / "reward.py", "EARNED = 1.0")
    change(home / "my_helpers.py", "FEW = 3")
    change(home / "unrelated.py", "this is not Python")
    monkeypatch.syspath_prepend(str(home))
    return home


@pytest.mark.parametrize("name", ["my_paper/training.py", "my_paper/reward.py"])
@pytest.mark.parametrize("module", ["my_paper.training", "my_paper"])
def test_so_is_one_in_the_package_of_the_training(foreign: Path, module: str, name: str) -> None:
    before = installed(module)
    change(foreign / "unrelated.py")
    assert installed(module) == before
    change(foreign / name)
    with pytest.raises(ValueError, match=r"b has the source of my_paper .* the same commit"):
        check_alike([("a", before), ("b", installed(module))])


def test_so_is_one_in_the_sandbox(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kit imports it, and it lies beside the kit."""
    before = installed()
    shutil.copytree(Path(turn_sandbox.__file__).parent, foreign / "turn_sandbox")
    monkeypatch.delitem(sys.modules, "turn_sandbox")  # looked for anew, as another process does
    assert installed() == before, "the same code at another place"
    change(foreign / "turn_sandbox" / "turn.py")
    with pytest.raises(ValueError, match=r"b has the source of turn_sandbox .* the same commit"):
        check_alike([("a", before), ("b", installed())])


def test_a_training_of_a_single_module(foreign: Path) -> None:
    before = installed("my_helpers")
    change(foreign / "my_paper" / "reward.py")
    assert installed("my_helpers") == before
    change(foreign / "my_helpers.py")
    assert installed("my_helpers") != before


def test_a_machine_without_the_training_is_named(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = installed("my_paper.training")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="b has the source of my_paper none"):
        check_alike([("a", mine), ("b", installed("my_paper.training"))])
