"""How far a training moved the weights, against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from kit.train.weights import weight_change


def checkpoint(folder: Path, **tensors: list[float]) -> Path:
    """A checkpoint of one file for each tensor."""
    folder.mkdir()
    for name, values in tensors.items():
        save_file({name: torch.tensor(values)}, folder / f"{name}.safetensors")
    return folder


def test_by_hand(tmp_path: Path) -> None:
    start = checkpoint(tmp_path / "start", a=[3.0], b=[4.0])
    assert weight_change(start, checkpoint(tmp_path / "end", a=[3.0], b=[4.5])) == pytest.approx(0.1)
    assert weight_change(start, start) == 0.0


def test_half_precision_starts_count_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    save_file({"a": torch.tensor([1.0, 0.0], dtype=torch.float16)}, tmp_path / "half" / "model.safetensors")
    assert weight_change(tmp_path / "half", checkpoint(tmp_path / "end", a=[1.0, 0.25])) == 0.25


def test_checkpoints_that_have_nothing_to_compare_are_refused(tmp_path: Path) -> None:
    start, other = checkpoint(tmp_path / "start", a=[1.0]), checkpoint(tmp_path / "other", a=[1.0], b=[1.0])
    with pytest.raises(ValueError, match="different models: b is in one of them only"):
        weight_change(start, other)
    with pytest.raises(ValueError, match=r"a: \(1,\) in .*, \(2,\) in"):
        weight_change(start, checkpoint(tmp_path / "wide", a=[1.0, 2.0]))
    with pytest.raises(FileNotFoundError, match=r"holds no \*\.safetensors"):
        weight_change(start, checkpoint(tmp_path / "empty"))
    with pytest.raises(ValueError, match="all weights are 0"):
        weight_change(checkpoint(tmp_path / "zero", a=[0.0]), start)
