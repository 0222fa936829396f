"""SMFANet: layers named as in the published files, and what is no such file is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from visual_tools.smfanet import SMFANet, load_smfanet
from visual_tools.super_resolution import SuperResolutionError, super_resolution

BLOCK = {
    "smfa.alpha": (1, 12, 1, 1),
    "smfa.belt": (1, 12, 1, 1),
    "smfa.linear_0.weight": (24, 12, 1, 1),
    "smfa.linear_1.weight": (12, 12, 1, 1),
    "smfa.linear_2.weight": (12, 12, 1, 1),
    "smfa.lde.conv_0.0.weight": (24, 1, 3, 3),
    "smfa.lde.conv_0.1.weight": (24, 24, 1, 1),
    "smfa.lde.conv_1.weight": (12, 24, 1, 1),
    "smfa.dw_conv.weight": (12, 1, 3, 3),
    "pcfn.conv_0.weight": (24, 12, 1, 1),
    "pcfn.conv_1.weight": (6, 6, 3, 3),
    "pcfn.conv_2.weight": (12, 24, 1, 1),
}
"""Layers of one block of the published files, here of width 12."""


@pytest.fixture
def net() -> SMFANet:
    torch.manual_seed(0)
    return SMFANet(width=12, blocks=2, scale=2).eval()


def test_layers_are_those_of_the_published_files(net: SMFANet) -> None:
    shapes = {name: tuple(value.shape) for name, value in net.state_dict().items() if not name.endswith("bias")}
    outer = {"to_feat.weight": (12, 3, 3, 3), "to_img.0.weight": (12, 12, 3, 3)}
    assert shapes == outer | {f"feats.{k}.{name}": shape for k in range(2) for name, shape in BLOCK.items()}
    assert sum(value.numel() for value in SMFANet(scale=4).parameters()) == 197_328, "its paper: 197K"


@pytest.mark.parametrize("key", ["", "params", "params_ema"])
def test_width_depth_and_factor_are_read_off_the_weights(net: SMFANet, tmp_path: Path, key: str) -> None:
    path = tmp_path / "weights.pth"
    torch.save({key: net.state_dict()} if key else net.state_dict(), path)
    images = torch.rand(2, 3, 16, 24)
    with torch.inference_mode():
        assert torch.equal(load_smfanet(path)(images), net(images))
    assert super_resolution("smfanet", 2, str(path)).scale == 2
    with pytest.raises(SuperResolutionError, match="enlarges 2 times, not 4"):
        super_resolution("smfanet", 4, str(path))


def test_any_size_and_a_batch_is_as_each_alone(net: SMFANet, tmp_path: Path) -> None:
    """Within one level: how torch adds up depends on the batch."""
    torch.save(net.state_dict(), tmp_path / "weights.pth")
    rng = np.random.default_rng(0)
    sizes = [(1, 1), (20, 9), (3, 30), (20, 9)]
    images = [Image.fromarray(rng.integers(0, 256, (h, w, 3)).astype(np.uint8)) for w, h in sizes]
    together = super_resolution("smfanet", 2, str(tmp_path / "weights.pth")).enlarge(images)
    assert [image.size for image in together] == [(2 * w, 2 * h) for w, h in sizes]
    for image, with_others in zip(images, together, strict=True):
        (alone,) = super_resolution("smfanet", 2, str(tmp_path / "weights.pth")).enlarge([image])
        assert np.abs(np.asarray(alone, dtype=int) - np.asarray(with_others, dtype=int)).max() <= 1


def test_only_the_far_view_sees_beyond_its_neighbours(net: SMFANet) -> None:
    """With the far view's weights at 0 a pixel far away changes nothing; with them it does."""
    images = torch.rand(1, 3, 64, 64)
    other = images.clone()
    other[..., 60:, 60:] = 1 - other[..., 60:, 60:]
    with torch.inference_mode():
        for block in net.feats:
            block.smfa.belt.fill_(5.0)
        assert not torch.equal(net(images)[..., :8, :8], net(other)[..., :8, :8])
        for block in net.feats:
            block.smfa.belt.zero_()
        assert torch.allclose(net(images)[..., :8, :8], net(other)[..., :8, :8], atol=1e-6)


@pytest.mark.parametrize(
    "content", [b"", b"<html>404</html>", b"PK\x03\x04" + b"x" * 500, {"a": torch.zeros(1)}, [1], {}]
)
def test_what_is_no_such_file_is_named(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(content) if isinstance(content, bytes) else torch.save(content, path)
    with pytest.raises(ValueError, match=r"weights\.pth: these aren't SMFANet's weights"):
        load_smfanet(path)


def test_a_file_cut_short_or_of_other_shapes_is_named(net: SMFANet, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.save(net.state_dict(), path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match="these aren't SMFANet's weights"):
        load_smfanet(path)
    torch.save({**net.state_dict(), "to_feat.bias": torch.zeros(5)}, path)
    with pytest.raises(ValueError, match="these aren't SMFANet's weights"):
        load_smfanet(path)
    with pytest.raises(SuperResolutionError, match=r"no file .*get SMFANet_DF2K_100w_x4SR\.pth"):
        super_resolution("smfanet", 4, str(tmp_path / "nowhere.pth"))
    with pytest.raises(SuperResolutionError, match=r"no file '\.' with weights"):
        super_resolution("smfanet", 4)
