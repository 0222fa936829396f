"""Rehearsal: a model's own answers, put where the agent speaks."""

from pathlib import Path

import pytest
from training_fixtures import batch, clone

from kit.chat import Chat
from kit.episode import Episode, Task, Turn
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.replay import own_words
from kit.train.sft import SFTSettings, order, train_sft


def asked(chat: Chat, answer: str) -> Episode:
    ids = (*chat.text(answer), chat.end_id)
    task = Task("asked", (), "Where?", None)
    return Episode(task, tuple(chat.prompt("system", ["Where?"])), (Turn(ids, (0.0,) * len(ids), answer),), "format")


def test_own_words_are_the_first_turn_behind_the_opening(chat: Chat) -> None:
    empty = asked(chat, "")
    [again] = own_words([asked(chat, "A top left, B top right."), empty], chat, opening="<think>")
    assert again.turns[0].text == "<think>A top left, B top right"
    assert chat.decode(again.turns[0].ids) == again.turns[0].text and chat.end_id not in again.turns[0].ids
    assert again.prompt_ids == empty.prompt_ids
    labels = pack([again], chat).labels
    assert int((labels != -100).sum()) == len(again.turns[0].ids)


def test_each_batch_is_followed_by_its_rehearsal() -> None:
    settings = SFTSettings(epochs=2.0, batch_size=2, replay=3, seed=1)
    numbers = order([7, 3, 5, 9], 5, settings)
    assert len(numbers) == 4 * 5
    rows = [numbers[i : i + 5] for i in range(0, 20, 5)]
    assert all(max(row[:2]) < 4 <= min(row[2:]) for row in rows)
    assert sorted(i for row in rows for i in row[:2]) == sorted([0, 1, 2, 3] * 2)
    assert {i for row in rows for i in row[2:]} == {4, 5, 6, 7, 8}
    assert all([7, 3, 5, 9][row[0]] < [7, 3, 5, 9][row[1]] for row in rows)  # the shorter one first
    assert order([7, 3, 5, 9], 0, SFTSettings(epochs=2.0, batch_size=2, seed=1)) == [i for row in rows for i in row[:2]]


def test_what_is_rehearsed_is_learnt_beside_the_rest(chat: Chat, model, tmp_path: Path) -> None:
    again = own_words([asked(chat, "A top left, B top right.")], chat)
    settings = SFTSettings(
        epochs=8.0, batch_size=2, replay=2, per_device_batch_size=2, learning_rate=3e-3, save_every=100
    )
    train_sft(tuned := clone(model), chat, batch(chat)[:2], settings, tmp_path, replay=again)
    assert len(read_metrics(tmp_path / "metrics.jsonl")) == 8

    def likelihood(m) -> float:
        packed = pack(again, chat)
        return -m(**packed.model_inputs(), labels=packed.labels).loss.item()

    assert likelihood(tuned) > likelihood(model) + 1


def test_both_or_neither(chat: Chat, model, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"SFTSettings\.replay=2 beside each batch, but 0 episodes to replay"):
        train_sft(model, chat, batch(chat), SFTSettings(replay=2), tmp_path)
    with pytest.raises(ValueError, match=r"SFTSettings\.replay=-1: must be at least 0"):
        SFTSettings(replay=-1)
