"""SFT: the loss by hand, what it may and may not change, and resuming."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from datasets import Dataset
from training_fixtures import OnStep, batch, clone, picture, plain_logprobs, without_times, written

from kit.chat import Chat
from kit.episode import Episode
from kit.models import load_model
from kit.policy.suppress import suppress_tokens
from kit.train.metrics import read_metrics
from kit.train.pack import pack
from kit.train.sft import Collator, SFTSettings, train_sft
from kit.train.sft_trainer import EpisodeSFTTrainer

QUICK = {
    "epochs": 4.0,
    "batch_size": 4,
    "per_device_batch_size": 2,
    "learning_rate": 3e-3,
    "warmup": 0.0,
    "save_every": 2,
}


def episodes(chat: Chat, number: int = 6) -> list[Episode]:
    return [written(chat, i, [picture("x", i, 28 * (1 + i % 3))] if i % 2 else ()) for i in range(number)]


def test_golden_loss_of_two_tokens(chat: Chat, model, tmp_path: Path) -> None:
    # The worked example of kit.train.sft: probabilities 1/2 and 1/8 on sampled tokens, anything on an observation's.
    with suppress_tokens(model := clone(model), chat.suppressed_ids):
        trainer = EpisodeSFTTrainer(
            model=model,
            args=SFTSettings(**QUICK).trl_args(tmp_path, 1),
            data_collator=Collator(batch(chat), chat),
            train_dataset=Dataset.from_dict({"episode": [0]}),
            processing_class=chat.tokenizer,
        )
        logprobs = torch.tensor([[0.5, 1.0, 0.125]]).log()  # 1.0: the trainer's zero on what carries no label
        mask = torch.tensor([[True, False, True]])
        out = SimpleNamespace(log_probs=logprobs, label_mask=mask, entropy=torch.zeros(1, 3), is_top1=mask)
        loss = trainer.compute_loss(lambda **kwargs: out, {"attention_mask": torch.ones(1, 4), "labels": None})
    assert loss.item() == pytest.approx(1.3863, abs=1e-4)


@pytest.mark.parametrize("per_device_batch_size", [1, 2, 4])
def test_first_loss_and_gradient_equal_those_computed_by_hand(
    chat: Chat, model, tmp_path: Path, per_device_batch_size: int
) -> None:
    train = episodes(chat, 4)
    settings = SFTSettings(
        **{**QUICK, "epochs": 1.0, "freeze_vision": False, "per_device_batch_size": per_device_batch_size}
    )
    train_sft(clone(model), chat, train, settings, tmp_path)
    row = read_metrics(tmp_path / "metrics.jsonl")[0]

    by_hand = clone(model).train()
    packed = pack(train, chat)
    logprobs = plain_logprobs(by_hand, chat, packed, 1.0)
    loss = -logprobs[packed.loss_mask.bool()].sum() / sum(sum(e.mask) for e in train)
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in by_hand.parameters() if p.grad is not None]).norm()
    assert row["loss"] == pytest.approx(loss.item(), abs=2e-6)
    assert row["grad_norm"] == pytest.approx(norm.item(), rel=1e-4)


def test_observations_and_prompts_get_exactly_no_gradient(chat: Chat, model, tmp_path: Path) -> None:
    train = batch(chat)
    kept: list[torch.Tensor] = []

    def keep(module: Any, args: Any, output: Any) -> None:
        output.last_hidden_state.retain_grad()
        kept.append(output.last_hidden_state)

    with suppress_tokens(model := clone(model), chat.suppressed_ids):
        trainer = EpisodeSFTTrainer(
            model=model,
            args=SFTSettings(**QUICK).trl_args(tmp_path, 1),
            data_collator=Collator(train, chat),
            train_dataset=Dataset.from_dict({"episode": [0]}),
            processing_class=chat.tokenizer,
        )
        model.train().model.register_forward_hook(keep)
        rows = trainer.data_collator([{"episode": i} for i in range(4)])
        trainer.compute_loss(model, rows).backward()
    learns = torch.zeros_like(rows["labels"], dtype=torch.bool)
    learns[:, :-1] = rows["labels"][:, 1:] != -100
    assert kept[0].grad is not None
    gradient = kept[0].grad.abs().sum(-1)
    assert gradient[~learns].eq(0).all() and gradient[learns].gt(0).all()


def test_it_learns_its_episodes_and_leaves_the_eyes_alone(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    start = {name: value.clone() for name, value in model.named_parameters()}
    folder = train_sft(model, chat, episodes(chat), SFTSettings(**{**QUICK, "epochs": 10.0}), tmp_path)
    rows = read_metrics(tmp_path / "metrics.jsonl")
    assert len(rows) == 15 and rows[-1]["loss"] < 0.5 * rows[0]["loss"]
    for name, value in model.named_parameters():
        assert torch.equal(value, start[name]) == ("visual" in name), name
    assert all(p.requires_grad for p in model.parameters()) and model.lm_head.bias is None
    for (name, ours), saved in zip(model.named_parameters(), load_model(folder).parameters(), strict=True):
        assert torch.equal(ours, saved), name


def test_lora_changes_only_what_it_adapts(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    start = {name: value.clone() for name, value in model.named_parameters()}
    train_sft(model, chat, episodes(chat), SFTSettings(**{**QUICK, "lora_rank": 4, "learning_rate": 1e-2}), tmp_path)
    rows = read_metrics(tmp_path / "metrics.jsonl")
    assert rows[-1]["loss"] < rows[0]["loss"]
    changed = {name for name, value in model.named_parameters() if not torch.equal(value, start[name])}
    assert changed and all("language_model" in name and "_proj." in name for name in changed)


def test_interrupted_and_started_again_it_ends_the_same(chat: Chat, model, tmp_path: Path) -> None:
    train, settings = episodes(chat), SFTSettings(**QUICK)
    finished = clone(model)
    train_sft(finished, chat, train, settings, tmp_path / "whole")

    def stop(rows: Any) -> None:
        if len(rows) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_sft(clone(model), chat, train, settings, tmp_path / "again", watcher=OnStep(stop))
    resumed = clone(model)
    train_sft(resumed, chat, train, settings, tmp_path / "again")
    assert len(without_times(tmp_path / "again")) == 6
    assert without_times(tmp_path / "again") == without_times(tmp_path / "whole")
    for (name, one), other in zip(resumed.named_parameters(), finished.parameters(), strict=True):
        assert torch.equal(one, other), name
    seen: list[Any] = []
    train_sft(clone(model), chat, train, settings, tmp_path / "again", watcher=OnStep(seen.append))
    assert [len(rows) for rows in seen] == [6]  # done before: its curves all the same


def test_refused(chat: Chat, model, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no episodes given"):
        train_sft(model, chat, [], SFTSettings(), tmp_path)
    with pytest.raises(ValueError, match=r"episode task-0: \d+ tokens, above SFTSettings.max_tokens=10"):
        train_sft(model, chat, episodes(chat), SFTSettings(max_tokens=10), tmp_path)
    with pytest.raises(ValueError, match=r"SFTSettings\.batch_size=0: must be above 0"):
        SFTSettings(batch_size=0)
    with pytest.raises(ValueError, match=r"SFTSettings\.schedule='warm': no such schedule"):
        SFTSettings(schedule="warm")


@pytest.mark.parametrize("warmup", [-0.1, 1.0, 5.0])
def test_a_warm_up_that_is_no_share_is_refused(warmup: float) -> None:
    """transformers takes 1 and more for a number of steps."""
    with pytest.raises(ValueError, match=rf"SFTSettings\.warmup={warmup}: it is a share of the steps"):
        SFTSettings(warmup=warmup)
    assert SFTSettings().steps(1600) == 100
