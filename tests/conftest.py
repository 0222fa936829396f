"""Shared fixtures: a random tiny model (no committed weights needed), its chat, one sandbox."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("KIT_QUIET", "1")

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
import torch
from corpus import CORPUS
from hypothesis import settings
from PIL import Image
from transformers import Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.episode import Task
from papers.agile.puzzle import make_task
from pictures.scenes import scene
from tiny.build import build_config, build_image_processor, build_tokenizer

torch.set_num_threads(1)
settings.register_profile("kit", deadline=None)  # an example takes as long as the machine is busy
settings.load_profile("kit")

MARKED = {
    "sandbox": (
        "adapters/",
        "sandbox/",
        "benchmarks/",
        "papers/*/test_env.py",
        "papers/*/test_validate.py",
    ),
    "processes": (
        "train/launch/",
        "train/test_grpo_vllm.py",
        "policy/test_vllm.py",
        "policy/test_vllm_server.py",
    ),
    "cores": (
        "train/launch/",
        "papers/test_registry.py",
        "workshop/jobs/test_any_model.py",
        "workshop/jobs/test_notebooks.py",
    ),
    "browser": ("browser/",),
    "release": ("data_scripts/test_*_chain.py",),
    "notebooks": (
        "workshop/jobs/test_notebooks.py",
        "workshop/jobs/test_any_model.py",
        "workshop/jobs/test_run.py",
        "papers/test_registry.py",
    ),
    "slow": (
        "adapters/",
        "tiny/",
        "models/test_family.py",
        "train/test_grpo.py",
        "train/test_sft.py",
        "train/test_checkpoint.py",
        "workshop/jobs/test_doctor.py",
        "data_scripts/",
        "workshop/publishing/",
        "test_setup.py",
    ),
}
"""Marker → how names of files of tests begin that ``make test-fast`` leaves out by it (``make test``: ``browser`` and
``release``); ``cores`` leaves none out: it hides GPUs from them.
"""


FIRST = ("test_a_paper_runs_from_end_to_end", "test_a_paper_s_notebooks_end_whatever")
"""How the names of the longest tests begin: minutes each, so that no worker is left alone with one in the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the file or folder they are in; the longest begin."""
    here = Path(__file__).parent
    for item in items:
        name = item.path.relative_to(here).as_posix() if item.path.is_relative_to(here) else ""
        for marker, places in MARKED.items():
            if any(fnmatch(name, f"{place}*") for place in places):
                item.add_marker(marker)
    items.sort(key=lambda item: not item.name.startswith(FIRST))


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
    from turn_sandbox import Sandbox

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def as_marked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide GPUs from a test marked ``cores``, and from the processes that it starts."""
    if request.node.get_closest_marker("cores"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture(scope="session")
def sampler_gap() -> float:
    """How far vLLM's log-probabilities may be from transformers' in float32: on a processor below a thousandth, on an
    H200, whose products are TF32, they were 0.002 to 0.003 apart.
    """
    return 5e-3 if torch.cuda.is_available() else 1e-3


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> int:
    """Four GPUs that torch tells of, and that nobody may compute on; returns their number."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("something computes on a GPU")

    for name, told in (("is_available", True), ("device_count", 4), ("is_bf16_supported", True)):
        monkeypatch.setattr(torch.cuda, name, lambda *args, told=told, **kwargs: told)
    for name in ("_lazy_init", "set_device", "mem_get_info", "current_device"):
        monkeypatch.setattr(torch.cuda, name, refuse)
    # transformers keeps the state of every generator there is in a checkpoint.
    monkeypatch.setattr(torch.cuda.random, "get_rng_state", lambda *args: torch.get_rng_state())
    return 4
