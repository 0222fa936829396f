"""Every family plays, packs and trains by the same code: its tokens, images and positions are the model's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from internvl_fixtures import TOKENS, internvl_chat, internvl_model
from PIL import Image
from training_fixtures import (
    LIMITS,
    Looks,
    batch,
    clone,
    even_reward,
    fresh_chat,
    fresh_model,
    logprobs_turn_by_turn,
    picture,
    plain_logprobs,
    sampling_rollout,
    task,
)
from transformers import TrainerCallback

from kit.chat import Chat
from kit.images import rgb
from kit.models import FAMILIES, family_of, load_model
from kit.models.family import ModelFamily
from kit.models.internvl import InternVL3
from kit.models.qwen2_5_vl import Qwen25VL
from kit.policy.hf import HFPolicy
from kit.policy.suppress import suppress_tokens
from kit.train.checkpoint import export
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.lora import lora_config, restore_after
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.sft import Collator, SFTSettings, train_sft
from kit.train.sft_trainer import EpisodeSFTTrainer

Pair = tuple[Any, Chat]

MAKERS = {Qwen25VL: (fresh_model, fresh_chat), InternVL3: (internvl_model, internvl_chat)}


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.title)
def pair(request: pytest.FixtureRequest) -> Pair:
    make_model, make_chat = MAKERS[request.param]
    chat = make_chat()
    return make_model(chat), chat


def test_a_checkpoint_tells_its_family(pair: Pair, tmp_path: Path) -> None:
    model, chat = pair
    folder = export(model, chat, tmp_path / "model")
    assert family_of(folder) == chat.family
    loaded, again = load_model(folder), Chat.from_pretrained(folder)
    assert type(loaded) is type(model) and again.suppressed_ids == chat.suppressed_ids
    seen = picture("p", 1, 84, 56)
    assert torch.equal(again.pixels(seen).patches, chat.pixels(seen).patches)


def test_only_chat_writes_the_familys_control_tokens(pair: Pair) -> None:
    _, chat = pair
    for token in chat.family.control_tokens:
        ids = chat.text(f"a picture called {token}.png")
        assert not set(ids) & set(chat.suppressed_ids) and chat.decode(ids) == f"a picture called {token}.png"


@pytest.mark.parametrize("size", [(28, 28), (84, 56), (30, 200), (300, 100)])
def test_an_images_tokens_are_its_features(pair: Pair, size: tuple[int, int]) -> None:
    model, chat = pair
    seen = picture("p", 2, *size)
    ids = torch.tensor([chat.prompt("", ["What is ", seen])])
    assert int((ids == chat.image_id).sum()) == chat.image_tokens(seen)
    with torch.no_grad():  # transformers refuses a number of features that isn't the number of tokens
        model(input_ids=ids, **chat.family.image_inputs([chat.pixels(seen)], ids == chat.image_id))


def released(chat: Chat) -> Any:
    """The image processor of the family's released checkpoints: the tiny one's class with their sizes."""
    if isinstance(chat.family, InternVL3):
        return type(chat.image_processor)(
            size={"height": 448, "width": 448}, min_patches=1, max_patches=12, crop_to_patches=False
        )
    return type(chat.image_processor)(size={"shortest_edge": 3136, "longest_edge": 12845056})


EDGES = [(1, 1), (2, 1), (1, 3), (3, 3), (27, 28), (200, 1), (201, 1), (1, 200), (1, 201), (400, 2), (401, 2)]
LONG = [(25, 5000), (24, 5000), (500, 1), (1000, 4), (1000, 5), (13200, 64), (1, 5000), (4096, 4096)]


@pytest.mark.parametrize("size", [*EDGES, *LONG])
def test_a_family_says_what_its_processors_refuse(pair: Pair, size: tuple[int, int]) -> None:
    _, chat = pair
    for processor in (chat.image_processor, released(chat)):
        try:
            read = chat.family.image_tokens(processor, chat.family.pixels(processor, rgb(Image.new("L", size)))) > 0
        except ValueError:
            read = False
        assert (chat.family.unreadable(size) == "") == read


def test_an_image_without_pixels_is_refused(pair: Pair) -> None:
    for size in ((0, 9), (9, 0), (0, 0)):
        assert f"it has {size[0]} x {size[1]} pixels" in pair[1].family.unreadable(size)


def test_levels_undo_the_processors_scaling(pair: Pair) -> None:
    _, chat = pair
    seen = picture("p", 3, 56, 56)
    levels = chat.levels(seen).patches
    assert levels.dtype == torch.uint8 and levels.shape == chat.pixels(seen).patches.shape
    values = levels.reshape(-1)[:: 2 if isinstance(chat.family, Qwen25VL) else 1]  # a still image fills two frames
    assert abs(float(values.float().mean()) - 127.5) < 10


def test_positions_in_a_padded_batch_are_the_models_own(pair: Pair) -> None:
    model, chat = pair
    seen = [[picture("a", 1, 84, 56)], [picture("b", 2), picture("c", 3, 28, 56)]]
    rows = [chat.prompt("Look.", [*images, "What now?"]) for images in seen]
    wide = max(map(len, rows))
    ids = torch.tensor([[chat.pad_id] * (wide - len(row)) + row for row in rows])
    attention = torch.tensor([[0] * (wide - len(row)) + [1] * len(row) for row in rows])
    pixels = [chat.pixels(image) for images in seen for image in images]
    is_image = ids == chat.image_id
    positions, following = chat.family.positions(model, attention, is_image, pixels)
    images = chat.family.image_inputs(pixels, is_image)
    with torch.no_grad():
        together = model(input_ids=ids, attention_mask=attention, position_ids=positions, **images).logits[:, -1]
    for row, (alone, own) in enumerate(zip(rows, seen, strict=True)):
        one = torch.tensor([alone])
        inputs = chat.family.image_inputs([chat.pixels(image) for image in own], one == chat.image_id)
        with torch.no_grad():
            torch.testing.assert_close(together[row], model(input_ids=one, **inputs).logits[0, -1], atol=1e-4, rtol=0)
    assert (positions[..., -1] + 1).reshape(-1, len(rows)).eq(following).all()
    assert chat.family.next_positions(following).shape == (*positions.shape[:-1], 1)


def play(pair: Pair, seeds: Sequence[int] = (0, 0, 1)) -> Any:
    model, chat = pair
    return sampling_rollout(chat)(HFPolicy(model, chat), [task(i) for i in range(len(seeds))], seed=list(seeds))


def test_what_is_played_is_what_is_packed(pair: Pair) -> None:
    model, chat = pair
    episodes = play(pair)
    packed = pack(episodes, chat)
    with torch.no_grad():
        together = plain_logprobs(model, chat, packed, 1.0)
        for row, episode in enumerate(episodes):
            alone = torch.cat(logprobs_turn_by_turn(model, chat, episode))
            sampled = packed.loss_mask[row].bool()
            torch.testing.assert_close(packed.logprobs[row][sampled], alone, atol=1e-4, rtol=0)
            torch.testing.assert_close(together[row][sampled], alone, atol=1e-4, rtol=0)


@pytest.mark.parametrize("lora_rank", [0, 2])
def test_grpo_takes_a_step_and_leaves_the_vision_tower(pair: Pair, tmp_path: Path, lora_rank: int) -> None:
    chat = pair[1]
    model = load_model(export(pair[0], chat, tmp_path / "start"))  # from where the reference policy is loaded, too
    before = {name: p.clone() for name, p in model.named_parameters()}
    settings = GRPOSettings(
        steps=2,
        prompts_per_batch=2,
        group_size=2,
        per_device_batch_size=2,
        learning_rate=1e-3,
        schedule="linear",
        beta=0.1,
        lora_rank=lora_rank,
        freeze_vision=True,
    )
    folder = train_grpo(model, chat, [task(i) for i in range(2)], Looks, LIMITS, even_reward, settings, tmp_path)
    rows = read_metrics(tmp_path / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2] and any(row["grad_norm"] > 0 for row in rows)
    learnt = dict(load_model(folder).named_parameters())
    moved = {name for name, p in before.items() if not torch.equal(p, learnt[name])}
    assert moved and all("language_model" in name or "lm_head" in name for name in moved)


def test_sft_learns_from_episodes(pair: Pair, tmp_path: Path) -> None:
    model, chat = clone(pair[0]), pair[1]
    settings = SFTSettings(epochs=10, batch_size=4, per_device_batch_size=2, learning_rate=1e-3, freeze_vision=False)
    train_sft(model, chat, batch(chat), settings, tmp_path)
    losses = [row["loss"] for row in read_metrics(tmp_path / "metrics.jsonl")]
    assert losses[-1] < 0.7 * losses[0]


class Seen(TrainerCallback):
    """What a step computed in the vision tower, and the gradients that it left."""

    def __init__(self, model: Any, family: ModelFamily) -> None:
        self.gradients: dict[str, torch.Tensor] = {}
        self.backwards: list[bool] = []
        self.passes = 0
        for tower in (getattr(model.model, name) for name in family.vision_modules):
            tower.register_forward_hook(self._kept)
            tower.register_forward_hook(self._counted)
            for module in tower.modules():
                if isinstance(module, torch.nn.Linear):
                    module.register_forward_hook(self._counted)

    def _kept(self, module: Any, args: Any, output: Any) -> None:
        outputs = output.values() if isinstance(output, Mapping) else [output]
        self.backwards += [one.requires_grad for one in outputs if isinstance(one, torch.Tensor)]

    def _counted(self, module: Any, args: Any, output: Any) -> None:
        self.passes += 1

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.gradients = {n: p.grad.clone() for n, p in kwargs["model"].named_parameters() if p.grad is not None}


@pytest.mark.parametrize("looks", ["frozen", "beside adapters", "learning"])
def test_a_tower_that_stays_as_it_is_has_no_backward_pass(pair: Pair, tmp_path: Path, looks: str) -> None:
    """By the trainer alone, activations kept; then as a run has it, kept and computed again: gradients are the same."""
    _, chat = pair
    found = []
    for way, vision, again in (("plain", (), False), ("kept", chat.family.vision_modules, False),
                               ("again", chat.family.vision_modules, True)):  # fmt: skip
        model = clone(pair[0])
        seen = Seen(model, chat.family)
        settings = SFTSettings(
            epochs=1, batch_size=4, per_device_batch_size=2, gradient_checkpointing=again,
            lora_rank=4 * (looks == "beside adapters"),
        )  # fmt: skip
        with restore_after(model, vision, looks == "frozen"), suppress_tokens(model, chat.suppressed_ids):
            for name in chat.family.vision_modules:
                getattr(model.model, name).requires_grad_(looks == "learning")
            trainer = EpisodeSFTTrainer(
                model=model,
                args=settings.trl_args(tmp_path / way, 1),
                data_collator=Collator(batch(chat), chat),
                train_dataset=Dataset.from_dict({"episode": [0, 1, 2, 3]}),
                processing_class=chat.tokenizer,
                peft_config=lora_config(settings.lora_rank, chat.family),
            )
            trainer.add_callback(seen)
            trainer.train()
        found.append(seen)
        assert seen.backwards and all(kept is (looks == "learning") for kept in seen.backwards)
        towers = {name for name in chat.family.vision_modules for one in seen.gradients if f".{name}." in one}
        assert seen.gradients and bool(towers) == (looks == "learning")
    plain, kept, anew = found
    assert kept.passes == plain.passes
    assert (anew.passes > plain.passes) == (looks == "learning"), "nothing that stays is computed again"
    for other in (kept, anew):
        assert other.gradients.keys() == plain.gradients.keys()
        for name, gradient in plain.gradients.items():
            torch.testing.assert_close(other.gradients[name], gradient, atol=1e-6, rtol=1e-5, msg=name)


def test_internvl_tiles_by_shape_and_adds_a_thumbnail() -> None:
    chat = internvl_chat()
    for size, tiles in [((56, 56), 1), ((112, 56), 3), ((40, 160), 5), ((100, 100), 5)]:
        assert chat.pixels(picture("p", 1, *size)).grid == (tiles, 4, 4)
        assert chat.image_tokens(picture("p", 1, *size)) == tiles * TOKENS


def test_internvl_is_refused_by_vllm_with_the_way_out(tmp_path: Path) -> None:
    from kit.policy.engine_io import EngineError
    from kit.policy.vllm import Engine

    chat = internvl_chat()
    folder = export(internvl_model(chat), chat, tmp_path / "model")
    with pytest.raises(EngineError, match="InternVL3 can't be sampled through vLLM here; use HFPolicy"):
        Engine.load(folder)


def test_another_family_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ValueError, match=r"model_type='llama'; the kit knows 'qwen2_5_vl'"):
        family_of(tmp_path)


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such folder"):
        family_of(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"no config\.json"):
        family_of(tmp_path)
