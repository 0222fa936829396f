"""What the vLLM lane needs on a CPU; on its path only (``make test-vllm``).

torchvision can be imported beside a torch without CUDA. The package index has its CUDA build alone, whose compiled half
can't be loaded there, and the import fails on two operators that half would have declared. They are declared here, just
before, in every process (vLLM starts some); nothing in the kit or in vLLM's Qwen2.5-VL calls them.

vLLM's weights stay where TRL can write the trained ones. For a CPU, vLLM lays its linear layers' weights out anew for
oneDNN or AMX and keeps none itself, so bringing it later ones fails; without these it multiplies by torch, as on a GPU.
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


class _KeepsWeights:
    """Finds no module; turns oneDNN and AMX off before vLLM's layers are made."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "vllm.model_executor.layers.utils":
            sys.meta_path.remove(self)
            import torch
            import vllm._custom_ops as ops

            ops._supports_onednn = False
            torch.cpu._is_amx_tile_supported = lambda: False  # type: ignore[assignment]


_KEPT: list[_Declares] = []


def _needed() -> bool:
    """Whether torch is a build for CPUs and torchvision is not."""
    try:
        return "+cpu" in version("torch") and "+cpu" not in version("torchvision")
    except PackageNotFoundError:
        return False


if _needed():
    sys.meta_path[:0] = [_Declares(), _KeepsWeights()]
