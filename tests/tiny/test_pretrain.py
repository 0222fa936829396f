"""Pretraining's pieces: patches as the processor makes them, loss on answers only, exact resume."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_curriculum import LAST, MIXTURE, mixture_at

from kit.chat import Chat
from kit.episode import NamedImage
from kit.policy import NotFinite
from pictures.scenes import Pixels, scene
from tiny.pretrain import batches, collate, encode, learning_rate, loss_of, patchify, train
from tiny.skills import SKILLS
from tiny.skills.seeing import place, shapes


@pytest.fixture(scope="module")
def pool() -> list[Pixels]:
    return [scene(np.random.default_rng(i)) for i in range(3)]


@pytest.mark.parametrize("size", [(56, 56), (112, 112), (56, 140)])
def test_patchify_equals_the_processor(chat: Chat, size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, size=(*size, 3)).astype(np.uint8)
    patches, grid = patchify(pixels)
    expected = chat.pixels(NamedImage("p", Image.fromarray(pixels)))
    assert grid == expected.grid
    assert torch.allclose(patches, expected.patches, atol=1e-6)


def test_loss_is_on_answers_only(chat: Chat, pool: list[Pixels]) -> None:
    sample = shapes(np.random.default_rng(0), pool)
    ids, mask, _ = encode(chat, sample)
    spoken = chat.decode([i for i, m in zip(ids, mask, strict=True) if m])
    assert spoken == "".join(answer for _, answer in sample.turns)


def test_a_system_text_comes_first_and_teaches_nothing(chat: Chat, pool: list[Pixels]) -> None:
    sample = SKILLS["place"](np.random.default_rng(0), pool)
    ids, mask, pictures = encode(chat, sample)
    more_ids, more_mask, more_pictures = encode(chat, replace(sample, system="Be brief."))
    system = chat.message("system", ["Be brief."])
    assert more_ids == system + ids
    assert more_mask == [0] * len(system) + mask
    assert len(more_pictures) == len(pictures) == 4


def test_mixture_names_every_skill_and_adds_up() -> None:
    assert set(MIXTURE) == set(SKILLS)
    assert sum(MIXTURE.values()) == pytest.approx(1)
    assert set(LAST) == set(SKILLS)
    assert sum(LAST.values()) == pytest.approx(1)
    assert sum(mixture_at(0, 26, 90).values()) == pytest.approx(1, abs=1e-3)
    assert mixture_at(25, 26, 90) != mixture_at(26, 26, 90) == MIXTURE == mixture_at(59, 26, 90)
    assert mixture_at(60, 26, 90) == LAST == mixture_at(89, 26, 90)


def test_a_batch_holds_the_mixture(chat: Chat, pool: list[Pixels]) -> None:
    (batch,) = next(batches(chat, pool, np.random.default_rng(0), 10, lambda step: {"place": 0.7, "copying": 0.3}))
    with_pictures = (batch.ids == chat.image_id).any(dim=1).sum().item()
    assert with_pictures == 7


def test_padding_does_not_change_the_loss(chat: Chat, pool: list[Pixels], model: Any) -> None:
    rng = np.random.default_rng(1)
    samples = [place(rng, pool), shapes(rng, pool)]
    together = collate(chat, samples)
    alone = [collate(chat, [s]) for s in samples]
    weights = [b.loss_mask[:, 1:].sum() for b in alone]
    with torch.no_grad():
        mean = sum(loss_of(model, b) * w for b, w in zip(alone, weights, strict=True)) / sum(weights)
        assert torch.allclose(loss_of(model, together), mean, atol=1e-5)


def test_the_rate_warms_up_and_decays_to_nothing() -> None:
    rates = [learning_rate(s, 100, 1.0, 10) for s in range(101)]
    assert rates[0] == pytest.approx(0.1) and max(rates) == pytest.approx(1.0) and rates[100] == pytest.approx(0)
    assert rates[55] == pytest.approx(0.5)  # half-way along the cosine


def test_training_lowers_the_loss_and_keeps_a_log(chat: Chat, pool: list[Pixels], tmp_path: Path) -> None:
    from transformers import Qwen2_5_VLForConditionalGeneration

    from tiny.build import build_config

    torch.manual_seed(0)
    config = build_config(chat.tokenizer, hidden=64, layers=1, vision_hidden=32, vision_layers=1)
    model = Qwen2_5_VLForConditionalGeneration(config)
    stream = batches(chat, pool, np.random.default_rng(0), 8, lambda step: {"copying": 1.0})
    log = train(model, stream, 50, peak=3e-3, warmup=5, folder=tmp_path, every=50)
    assert log[-1]["loss"] < log[0]["loss"]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == len(log) == 2
    assert torch.load(tmp_path / "state.pt")["step"] == 50


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_step_that_is_none_is_not_taken(
    chat: Chat, pool: list[Pixels], model: Any, tmp_path: Path, value: float
) -> None:
    model = copy.deepcopy(model)
    model.lm_head.weight.register_hook(lambda gradient: gradient * value)
    before = copy.deepcopy(model.state_dict())
    stream = batches(chat, pool, np.random.default_rng(0), 2, lambda step: {"copying": 1.0})
    with pytest.raises(NotFinite, match=r"pretrain: step 1: .* lower peak=0\.003"):
        train(model, stream, 2, peak=3e-3, folder=tmp_path)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not list(tmp_path.iterdir())


def test_a_step_in_parts_equals_a_step_at_once(chat: Chat, pool: list[Pixels], model: Any) -> None:
    learnt = []
    for parts in (1, 3):
        student = copy.deepcopy(model)
        stream = batches(
            chat, pool, np.random.default_rng(0), 8, lambda step: {"copying": 0.5, "place": 0.5}, parts=parts
        )
        (row,) = train(student, stream, 1, warmup=1)
        learnt.append((row["loss"], torch.cat([p.grad.flatten() for p in student.parameters() if p.grad is not None])))
    assert learnt[0][0] == pytest.approx(learnt[1][0], rel=1e-5)
    assert torch.allclose(learnt[0][1], learnt[1][1], atol=1e-6)
