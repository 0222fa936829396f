r"""Measure how far a training moved a model's weights: the norm of the change over the norm of the start.

$$\frac{\lVert \theta - \theta_0 \rVert}{\lVert \theta_0 \rVert}$$

Worked example: a start of (3, 4) with norm 5 and an end of (3, 4.5) differ by (0, 0.5): **0.1**.
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

from safetensors import safe_open


def weight_change(start: str | Path, trained: str | Path) -> float:
    """The relative change between two checkpoints, one tensor in memory at a time.

    Args:
        start: the checkpoint that the training began with: a folder, or the id of a model that the hub's cache holds.
        trained: the folder that it ended with.

    Raises:
        FileNotFoundError: one of them has no weights as safetensors here.
        ValueError: they hold other tensors, or the start has no weight but zeros.
    """
    before, after = _places(start), _places(trained)
    if odd := sorted(before.keys() ^ after.keys()):
        raise ValueError(f"{start} and {trained} are of different models: {odd[0]} is in one of them only")
    moved = size = 0.0
    for name, path in before.items():
        old, new = _read(path, name), _read(after[name], name)
        if new.shape != old.shape:
            raise ValueError(f"{name}: {tuple(old.shape)} in {start}, {tuple(new.shape)} in {trained}")
        moved += float((new - old).square().sum())
        size += float(old.square().sum())
    if not size:
        raise ValueError(
            f"{start}: all weights are 0, so no change is a share of them; give the checkpoint it began at"
        )
    return sqrt(moved / size)


def _places(checkpoint: str | Path) -> dict[str, Path]:
    """Name of each tensor → the file that holds it."""
    found: dict[str, Path] = {}
    for path in sorted(_folder(checkpoint).glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            found |= dict.fromkeys(file.keys(), path)
    if not found:
        raise FileNotFoundError(f"{checkpoint} holds no *.safetensors: give the folder of a trained model")
    return found


def _folder(checkpoint: str | Path) -> Path:
    """The folder of a checkpoint; of a hub id, the one in the cache: whoever trained from it has downloaded it."""
    if Path(checkpoint).is_dir():
        return Path(checkpoint)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(str(checkpoint), local_files_only=True, allow_patterns="*.safetensors"))


def _read(path: Path, name: str) -> Any:
    with safe_open(path, framework="pt") as file:
        return file.get_tensor(name).double()
