"""SMFANet (Zheng et al., ECCV 2024): a small super-resolution network, loaded from its authors' published weights.

The files are in the authors' repository, Zheng-MJ/SMFANet, folder ``pretrain``, and on the hub under Meloo/SMFANet
(Apache-2.0): ``SMFANet_DF2K_100w_x4SR.pth`` is 0.8 MB. Width, depth and factor are read off the weights, so the larger
SMFANet+ loads as well. Names of layers are those of the files.

A block mixes two views of its features, one from far and one from near, each beside what came in::

    far    the largest of every 8 x 8 features, and the variance of all, weigh each feature
    near   a small convolution around each feature
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CELL = 8
"""Side of the cells whose largest feature is the far view; an image has at least one."""

PUBLISHED = "get SMFANet_DF2K_100w_x4SR.pth (or x2, x3) of Zheng-MJ/SMFANet, and give its path"


class _Near(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        spread = nn.Conv2d(width, 2 * width, 3, padding=1, groups=width)
        self.conv_0 = nn.Sequential(spread, nn.Conv2d(2 * width, 2 * width, 1))
        self.conv_1 = nn.Conv2d(2 * width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv_1(F.gelu(self.conv_0(x)))


class _FarAndNear(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear_0 = nn.Conv2d(width, 2 * width, 1)
        self.linear_1 = nn.Conv2d(width, width, 1)
        self.linear_2 = nn.Conv2d(width, width, 1)
        self.lde = _Near(width)
        self.dw_conv = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.alpha = nn.Parameter(torch.ones(1, width, 1, 1))
        self.belt = nn.Parameter(torch.zeros(1, width, 1, 1))

    def forward(self, features: Tensor) -> Tensor:
        near, far = self.linear_0(features).chunk(2, dim=1)
        size = far.shape[-2:]
        largest = self.dw_conv(F.adaptive_max_pool2d(far, [side // CELL for side in size]))
        spread = far.var(dim=(-2, -1), keepdim=True)
        weights = F.gelu(self.linear_1(largest * self.alpha + spread * self.belt))
        return self.linear_2(far * F.interpolate(weights, size=size, mode="nearest") + self.lde(near))


class _Partial(nn.Module):
    """A feed-forward layer that convolves a quarter of its features."""

    def __init__(self, width: int, growth: int) -> None:
        super().__init__()
        self.part = width * growth // 4
        self.conv_0 = nn.Conv2d(width, width * growth, 1)
        self.conv_1 = nn.Conv2d(self.part, self.part, 3, padding=1)
        self.conv_2 = nn.Conv2d(width * growth, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.gelu(self.conv_0(x))
        return self.conv_2(torch.cat([F.gelu(self.conv_1(x[:, : self.part])), x[:, self.part :]], dim=1))


class _Block(nn.Module):
    def __init__(self, width: int, growth: int) -> None:
        super().__init__()
        self.smfa, self.pcfn = _FarAndNear(width), _Partial(width, growth)

    def forward(self, x: Tensor) -> Tensor:
        x = self.smfa(F.normalize(x)) + x
        return self.pcfn(F.normalize(x)) + x


class SMFANet(nn.Module):
    """The network.

    Args:
        width: features a pixel.
        blocks: number of blocks.
        growth: of the feed-forward layers.
        scale: the factor.
    """

    def __init__(self, width: int = 36, blocks: int = 8, growth: int = 2, scale: int = 4) -> None:
        super().__init__()
        self.scale = scale
        self.to_feat = nn.Conv2d(3, width, 3, padding=1)
        self.feats = nn.Sequential(*[_Block(width, growth) for _ in range(blocks)])
        self.to_img = nn.Sequential(nn.Conv2d(width, 3 * scale**2, 3, padding=1), nn.PixelShuffle(scale))

    def forward(self, x: Tensor) -> Tensor:
        """Enlarge images ``(B, 3, H, W)``, values 0 to 1; a side below 8 pixels is continued by its last ones."""
        height, width = x.shape[-2:]
        x = F.pad(x, (0, max(0, CELL - width), 0, max(0, CELL - height)), mode="replicate")
        x = self.to_feat(x)
        return self.to_img(self.feats(x) + x)[..., : height * self.scale, : width * self.scale]


def load_smfanet(path: Path) -> SMFANet:
    """Load a file of published weights.

    Raises:
        ValueError: there is no such file, it is damaged, or it is of another network.
    """
    if not path.is_file():
        raise ValueError(f"SMFANet: no file {str(path)!r} with weights; {PUBLISHED}")
    try:
        found: Any = torch.load(path, map_location="cpu", weights_only=True)
        weights: Mapping[str, Tensor] = found.get("params_ema", found.get("params", found))
        width, outputs = len(weights["to_feat.weight"]), len(weights["to_img.0.weight"])
        blocks = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("feats."))
        growth = len(weights["feats.0.pcfn.conv_0.weight"]) // width
        net = SMFANet(width, blocks, growth, round((outputs / 3) ** 0.5))
        net.load_state_dict(weights)
        if not all(torch.isfinite(value).all() for value in weights.values()):
            raise ValueError("some of its numbers are none")
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise ValueError(f"{path}: these aren't SMFANet's weights ({str(error)[:100]}); {PUBLISHED}") from error
    return net.eval()
