"""Super-resolution beside plain resizing: ``python -m benchmarks super_resolution``, some seconds; nothing is asserted.

Images of ours, drawn boards and packaged photographs, are made small and enlarged again: decibels (PSNR, how near the
image comes to what it was) over bicubic, crops a second on one thread, and what remembering saves where a group of
rollouts asks for the same crops. SMFANet is measured where ``KIT_SMFANET_X2`` or ``KIT_SMFANET_X4`` names its weights.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image

from benchmarks.telling import tell
from kit.data.documents import board
from kit.data.photos import photos
from kit.tools.super_resolution import SuperResolution, super_resolution

SIDE, GROUP, EACH = 140, 8, 24
"""Pixels of a crop's side once it is enlarged; rollouts of a group; crops of each kind."""


def crops() -> dict[str, list[Image.Image]]:
    """What the enlarged crops should look like: cards of drawn boards, and parts of photographs."""
    rng = np.random.default_rng(0)
    pool = [np.asarray(photo.image) for photo in photos("train")[:1]]
    cards = [card.sheet.image for _ in range(EACH // 4) for card in board(rng, pool)[1]]
    parts = []
    for photo in photos("held-out"):
        for x, y in rng.random((EACH // 8, 2)):
            left, top = int(x * (photo.image.width - SIDE)), int(y * (photo.image.height - SIDE))
            parts.append(photo.image.crop((left, top, left + SIDE, top + SIDE)))
    return {"cards": [card.resize((SIDE, SIDE)) for card in cards], "photographs": parts}


def decibels(made: Sequence[Image.Image], wanted: Sequence[Image.Image]) -> float:
    """Mean peak signal-to-noise ratio of pairs of images."""
    pairs = [(np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for a, b in zip(made, wanted, strict=True)]
    return float(np.mean([10 * np.log10(255**2 / max(1e-9, np.mean((a - b) ** 2))) for a, b in pairs]))


def super_resolution_bench() -> dict[str, float]:
    """Measure, print and return decibels over bicubic and crops a second of each network."""
    figures: dict[str, float] = {}
    made = crops()
    print(f"super-resolution bench: crops that come out {SIDE} pixels wide, one thread")
    for scale in (2, 4):
        smfanet = os.environ.get(f"KIT_SMFANET_X{scale}", "")
        for name, weights in (("bicubic", ""), ("span", ""), *([("smfanet", smfanet)] if smfanet else [])):
            tell(f"{name} x{scale}")
            figures |= _measure(super_resolution(name, scale, weights), made, figures)
    for what, value in figures.items():
        print(f"  {what:46s} {value:9.2f}")
    return figures


def _measure(
    network: SuperResolution, made: Mapping[str, list[Image.Image]], before: Mapping[str, float]
) -> dict[str, float]:
    scale, name, found = network.scale, f"{network.name} x{network.scale}", {}
    for kind, wanted in made.items():
        small = [image.resize((SIDE // scale, SIDE // scale), Image.Resampling.BICUBIC) for image in wanted]
        network.enlarge(small[:1])
        began = time.perf_counter()
        large = network.enlarge(small)
        seconds = time.perf_counter() - began
        found[f"{name}: {kind}, dB"] = decibels(large, wanted)
        if network.name != "bicubic":
            found[f"{name}: {kind}, dB over bicubic"] = (
                found[f"{name}: {kind}, dB"] - before[f"bicubic x{scale}: {kind}, dB"]
            )
        found[f"{name}: {kind}, crops a second"] = len(small) / seconds
        began = time.perf_counter()
        for _ in range(GROUP - 1):
            network.enlarge(small)
        again = time.perf_counter() - began
        found[f"{name}: {kind}, a group of {GROUP}, crops a second"] = GROUP * len(small) / (seconds + again)
    return found
