"""Super-resolution beside plain resizing: ``python -m benchmarks super_resolution``, some seconds; nothing is asserted.

Images of ours, drawn boards and packaged photographs, are made small and enlarged again: decibels (PSNR, how near the
image comes to what it was) over bicubic, crops a second on one thread, what remembering saves where a group of
rollouts asks for the same crops, and what share of a GRPO step's time the network takes (the tiny model, a script says
its words). SMFANet is measured where ``KIT_SMFANET_X2`` or ``KIT_SMFANET_X4`` names its weights.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from PIL import Image

from benchmarks.telling import tell
from kit.chat import Chat
from kit.models import load_model
from kit.policy.hf import ForcedPolicy
from kit.train.one_step import grpo_gradient
from papers.mags_rl.experiment import Play
from papers.mags_rl.expert import expert
from papers.mags_rl.tasks import make_tasks
from papers.mags_rl.zoom import Magnifier
from pictures.documents import board
from pictures.photos import photos
from tiny import TINY
from visual_tools.super_resolution import Span, SuperResolution, super_resolution

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
    tell("a step of GRPO")
    figures |= share_of_a_step()
    for what, value in figures.items():
        print(f"  {what:46s} {value:9.2f}")
    return figures


class Clocked(Span):
    """SPAN that adds up the seconds it works."""

    seconds = 0.0

    def _enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        began = time.perf_counter()
        made = super()._enlarge(images)
        self.seconds += time.perf_counter() - began
        return made


def share_of_a_step(questions: int = 10, right_share: float = 0.4) -> dict[str, float]:
    """Play the rollouts of one GRPO step and learn from them; returns seconds, and the network's share of them.

    The script says what an agent says that looks right in four of ten rollouts, so a group asks for several cards.

    Args:
        questions: of the step, :data:`GROUP` rollouts each.
        right_share: of the rollouts that look at the right card.
    """
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    drawn = make_tasks({"attribute/hard": questions}, 0)
    tasks = [replace(task, id=f"{task.id}-{k}") for task in drawn for k in range(GROUP)]
    network, policy = Clocked(2), ForcedPolicy(model, chat, expert(right_share))
    network.seconds = 0.0  # the probe of the file isn't a step's
    began = time.perf_counter()
    played = Play(prompt="brief", max_new_tokens=160)(policy, chat, Magnifier(network), tasks)
    rollouts = time.perf_counter() - began
    credit = torch.linspace(-1.0, 1.0, len(played))
    grpo_gradient(model, chat, played, credit, 40, 1.0)
    step = time.perf_counter() - began
    return {
        f"a step of {len(played)} rollouts, seconds": step,
        "of them rollouts, seconds": rollouts,
        f"of them span x2 on {network.enlarged - 1} crops, seconds": network.seconds,
        "share of a step that is span's, %": 100 * network.seconds / step,
    }


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
