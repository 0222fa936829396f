"""Shared fixtures: a random tiny model (no committed weights needed), its chat, one sandbox."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("KIT_QUIET", "1")

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.envs.agile import make_task
from kit.episode import Task
from kit.pictures import scene
from kit.tiny import build_config, build_image_processor, build_tokenizer

torch.set_num_threads(1)

CORPUS = [
    "<think>A bottom right, B top left, C top right, D bottom left.</think>",
    "<code>state[0], state[1] = state[1], state[0]\nobservation_image_1 = observation(state)</code>",
    "<code>crop_image_1 = crop(observation_image_1, [0.0, 0.25, 0.5, 1.0])</code>",
    '<answer>["B", "C", "D", "A"]</answer>',
] * 20


@pytest.fixture(scope="session")
def chat() -> Chat:
    return Chat(build_tokenizer(CORPUS, 420), build_image_processor())


@pytest.fixture(scope="session")
def model(chat: Chat) -> Qwen2_5_VLForConditionalGeneration:
    torch.manual_seed(0)
    config = build_config(chat.tokenizer, hidden=64, layers=2, vision_hidden=64, vision_layers=2)
    model = Qwen2_5_VLForConditionalGeneration(config).eval()
    with torch.no_grad():  # larger weights: a fresh model is nearly uniform, which would hide mistakes
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.mul_(3.0)
    return model


@pytest.fixture(scope="session")
def tasks() -> list[Task]:
    rng = np.random.default_rng(0)
    return [
        make_task(Image.fromarray(scene(rng, 112)), 2, i % 3, rng, f"task-{i}", source=f"scene-{i}", piece_px=56)
        for i in range(8)
    ]


@pytest.fixture(scope="session")
def box() -> Iterator[object]:
    from kit.sandbox import Sandbox

    with Sandbox() as sandbox:
        yield sandbox
