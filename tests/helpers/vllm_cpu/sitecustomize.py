"""Lets torchvision be imported beside a torch without CUDA; on the path of the vLLM lane only (``make test-vllm``).

The package index has torchvision's CUDA build alone. Its compiled half can't be loaded there, and the import fails on
two operators that half would have declared. They are declared here, just before, in every process (vLLM starts some);
nothing in the kit or in vLLM's Qwen2.5-VL calls them.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version


class _Declares:
    """Finds no module; declares the operators when torchvision is looked for."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            self.kept = torch.library.Library("torchvision", "DEF")  # operators live as long as their library
            _KEPT.append(self)
            for operator in ("nms", "qnms"):
                self.kept.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


_KEPT: list[_Declares] = []


def _needed() -> bool:
    """Whether torch is a build for CPUs and torchvision is not."""
    try:
        return "+cpu" in version("torch") and "+cpu" not in version("torchvision")
    except PackageNotFoundError:
        return False


if _needed():
    sys.meta_path.insert(0, _Declares())
