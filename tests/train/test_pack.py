"""Packing: shapes, masks, labels, pictures, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from training_fixtures import batch, clone, logprobs_turn_by_turn, picture, written

from kit.chat import Chat
from kit.episode import Episode
from kit.policy.suppress import suppress_tokens
from kit.train.pack import IGNORED, by_length, pack, trimmed


def test_rows_hold_every_token_in_order_between_the_paddings(chat: Chat) -> None:
    episodes = batch(chat)
    packed = pack(episodes, chat)
    inputs = packed.model_inputs()
    for row, episode in enumerate(episodes):
        real = inputs["attention_mask"][row].bool()
        assert inputs["input_ids"][row][real].tolist() == episode.ids
        assert packed.prompt_ids[row][packed.prompt_mask[row].bool()].tolist() == list(episode.prompt_ids)
        # Padding only outside: prompt against the seam from the left, completion from the right.
        assert packed.prompt_mask[row].tolist() == sorted(packed.prompt_mask[row].tolist())
        assert packed.completion_mask[row].tolist() == sorted(packed.completion_mask[row].tolist(), reverse=True)


def test_loss_mask_labels_and_logprobs_stand_on_sampled_tokens_only(chat: Chat) -> None:
    episodes = batch(chat)
    packed = pack(episodes, chat)
    for row, episode in enumerate(episodes):
        sampled = [i for turn in episode.turns for i in turn.ids]
        labels = packed.labels[row]
        assert labels[labels != IGNORED].tolist() == sampled
        assert packed.completion_ids[row][packed.loss_mask[row].bool()].tolist() == sampled
        assert (packed.logprobs[row] != 0).tolist() == packed.loss_mask[row].bool().tolist()


@pytest.mark.parametrize("sizes", [[], [(28, 28)], [(84, 56), (28, 112)], [(56, 56)] * 6])
def test_image_tokens_are_image_features_whatever_the_pictures(chat: Chat, sizes: list[tuple[int, int]]) -> None:
    seen = [picture(f"p{i}", i, *size) for i, size in enumerate(sizes)]
    episode = written(chat, 1, seen)
    packed = pack([episode, written(chat, 2)], chat)
    images = packed.image_inputs
    assert packed.image_counts == {"num_images": [2 + len(sizes), 2]}
    assert int(images["mm_token_type_ids"].sum()) == int(images["image_grid_thw"].prod(1).sum()) // 4
    assert len(images["pixel_values"]) == int(images["image_grid_thw"].prod(1).sum())
    ids = packed.model_inputs()["input_ids"]
    assert torch.equal(images["mm_token_type_ids"].bool(), ids == chat.image_id)


def test_packed_logprobs_equal_turn_by_turn_ones(chat: Chat, model) -> None:
    model = clone(model)
    episodes = batch(chat)
    packed = pack(episodes, chat)
    alone = [torch.cat(logprobs_turn_by_turn(model, chat, episode)) for episode in episodes]
    with torch.no_grad(), suppress_tokens(model, chat.suppressed_ids):
        logits = model(**packed.model_inputs()).logits
    logp = torch.log_softmax(logits[:, :-1].float(), -1)
    for row, expected in enumerate(alone):
        labels = packed.labels[row, 1:]
        kept = labels != IGNORED
        together = logp[row][kept].gather(1, labels[kept][:, None])[:, 0]
        torch.testing.assert_close(together, expected, atol=1e-5, rtol=0)


def test_the_model_places_pictures_by_mm_token_type_ids(chat: Chat, model) -> None:
    inputs = pack(batch(chat), chat).model_inputs()
    without = {name: value for name, value in inputs.items() if name != "mm_token_type_ids"}
    with torch.no_grad():
        assert not torch.allclose(model(**inputs).logits, model(**without).logits, atol=1e-3)


def test_no_pictures_no_pixels(chat: Chat) -> None:
    plain = _without_pictures(chat)
    packed = pack([plain], chat)
    assert packed.image_counts == {"num_images": [0]} and "num_images" not in packed.image_batch()
    assert "pixel_values" not in packed.model_inputs()


def test_to_moves_and_keeps_everything(chat: Chat) -> None:
    packed = pack(batch(chat), chat)
    moved = packed.to("cpu")
    assert torch.equal(moved.completion_ids, packed.completion_ids) and moved.image_counts == packed.image_counts


def test_refuses_a_control_token_from_the_policy(chat: Chat) -> None:
    episode = written(chat, 1)
    turn = replace(episode.turns[1], ids=(chat.image_id, *episode.turns[1].ids[1:]))
    with pytest.raises(ValueError, match=r"episode task-1: turn 2 holds <\|image_pad\|>"):
        pack([replace(episode, turns=(episode.turns[0], turn))], chat)


@pytest.mark.parametrize("off", [-1, 1])
def test_refuses_image_tokens_that_are_not_image_features(chat: Chat, off: int) -> None:
    episode = written(chat, 3, [picture("x", 1)])
    ids = list(episode.turns[0].observation_ids)
    at = ids.index(chat.image_id)
    ids[at : at + 1] = [chat.image_id] * (1 + off)
    turn = replace(episode.turns[0], observation_ids=tuple(ids))
    features = 4  # 1 + 2 in the prompt's pictures, 1 in the observation's
    with pytest.raises(ValueError, match=f"episode task-3: {features + off} image tokens but {features} image feat"):
        pack([replace(episode, turns=(turn, episode.turns[1]))], chat)


def test_refuses_nothing_to_learn_from(chat: Chat) -> None:
    with pytest.raises(ValueError, match="no episodes"):
        pack([], chat)
    with pytest.raises(ValueError, match="none of the 1 episodes holds a sampled token"):
        pack([replace(written(chat, 1), turns=())], chat)


def test_an_episode_without_turns_is_an_empty_row(chat: Chat) -> None:
    packed = pack([replace(written(chat, 1), turns=()), written(chat, 2)], chat)
    assert packed.completion_mask[0].sum() == 0 and packed.loss_mask[0].sum() == 0


def _without_pictures(chat: Chat) -> Episode:
    episode = written(chat, 1)
    return replace(
        episode,
        task=replace(episode.task, images=()),
        prompt_ids=tuple(chat.prompt("", ["Hm?"])),
    )


def test_the_shortest_come_first_with_all_that_is_theirs() -> None:
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0]])
    prompts = torch.ones(3, 2, dtype=torch.long)
    made = by_length(
        {
            "prompt_mask": prompts,
            "completion_mask": mask,
            "advantages": torch.tensor([3.0, 1.0, 2.0]),
            "pixel_values": ["three", "one", "two"],
            "num_items_in_batch": torch.tensor(6),
            "ref_per_token_logps": None,
        }
    )
    assert made["completion_mask"].sum(1).tolist() == [1, 2, 3] and made["advantages"].tolist() == [1.0, 2.0, 3.0]
    assert made["pixel_values"] == ["one", "two", "three"]
    assert made["num_items_in_batch"] == 6 and made["ref_per_token_logps"] is None


def test_what_is_padding_in_all_rows_is_cut_and_nothing_else() -> None:
    made = trimmed(
        {
            "prompt_ids": torch.tensor([[0, 0, 7], [0, 8, 9]]),
            "prompt_mask": torch.tensor([[0, 0, 1], [0, 1, 1]]),
            "completion_ids": torch.tensor([[1, 2, 0, 0], [3, 0, 0, 0]]),
            "completion_mask": torch.tensor([[1, 1, 0, 0], [1, 0, 0, 0]]),
            "advantages": torch.tensor([[0.5, 0.5, 0.0, 0.0], [0.1, 0.0, 0.0, 0.0]]),
            "mm_token_type_ids": torch.tensor([[0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0, 0]]),
            "pixel_values": torch.ones(5, 4),
            "num_images": [1, 2],
        }
    )
    assert made["prompt_ids"].tolist() == [[0, 7], [8, 9]] and made["completion_ids"].tolist() == [[1, 2], [3, 0]]
    assert made["advantages"].tolist() == [[0.5, 0.5], [pytest.approx(0.1), 0.0]]
    assert made["mm_token_type_ids"].tolist() == [[0, 1, 0, 0], [1, 0, 0, 1]]
    assert made["pixel_values"].shape == (5, 4) and made["num_images"] == [1, 2]
