"""GRPO: the loss by hand, gradients where they belong, and runs that survive being killed."""

from __future__ import annotations

import copy
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from places import HELPERS
from torch import Tensor
from training_fixtures import (
    LIMITS,
    Looks,
    OnStep,
    batch,
    clone,
    even_reward,
    even_score,
    fresh_model,
    grpo_run,
    logprobs_turn_by_turn,
    plain_logprobs,
    task,
    without_times,
    written,
)

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Score, Task, Turn
from kit.models import load_model
from kit.policy.suppress import suppress_tokens
from kit.rewards.base import per_episode
from kit.rollout import RolloutConfig
from kit.train.advantage import AdvantageSettings, group_advantages, turn_advantages
from kit.train.checkpoint import export
from kit.train.episode_stats import episode_stats, mean_by_name, means_of_subsets
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.grpo_trainer import EpisodeGRPOTrainer
from kit.train.metrics import read_metrics
from kit.train.pack import pack

QUICK = {
    "steps": 2,
    "prompts_per_batch": 2,
    "group_size": 2,
    "per_device_batch_size": 2,
    "learning_rate": 1e-3,
    "save_every": 2,
}


def rescored(model: Any, chat: Chat, episodes: list[Episode], temperature: float = 1.0) -> list[Episode]:
    """The same episodes with the log-probabilities that ``model`` gives their tokens."""
    result = []
    for episode in episodes:
        with torch.no_grad():
            rows = logprobs_turn_by_turn(model, chat, episode, temperature)
        turns = [
            Turn(t.ids, tuple(row.tolist()), t.text, t.action, t.observation, t.observation_ids)
            for t, row in zip(episode.turns, rows, strict=True)
        ]
        result.append(Episode(episode.task, episode.prompt_ids, tuple(turns), episode.ended))
    return result


@contextmanager
def trainer_for(
    model: Any, chat: Chat, tmp_path: Path, rewards: list[float], temperature: float = 1.0, **settings: Any
) -> Iterator[tuple[EpisodeGRPOTrainer, list[Episode]]]:
    """A trainer whose rollout always plays the same four hand-written episodes: two groups of two."""
    s = GRPOSettings(**{**QUICK, "per_device_batch_size": 4, **settings})
    episodes = rescored(model, chat, [written(chat, 0), *batch(chat)[2:], written(chat, 1)], temperature)
    score = dict(zip([id(e) for e in episodes], rewards, strict=True))
    with suppress_tokens(model, chat.suppressed_ids):
        trainer = EpisodeGRPOTrainer(
            model=model,
            args=s.trl_args(tmp_path, RolloutConfig(temperature=temperature)),
            train_dataset=Dataset.from_dict({"prompt": [e.task.id for e in episodes], "task": list(range(4))}),
            chat=chat,
            tasks=[e.task for e in episodes],
            rollout=lambda policy, tasks, *, seed: episodes,
            reward=per_episode(lambda episode, target: Score(score[id(episode)], {"accuracy": score[id(episode)]})),
            settings=s.credit(),
        )
        trainer.current_gradient_accumulation_steps = 1
        trainer.model.train()
        yield trainer, episodes


def inputs() -> list[dict[str, int]]:
    return [{"task": i} for i in range(4)]


@pytest.mark.parametrize(
    ("settings", "objective"),
    [
        ({}, 0.125),  # the worked example of kit.train.grpo: ratios 1.5 and .9 at advantage +1, .5 at −1
        ({"epsilon_high": 0.28}, 0.145),  # that of kit.train.dapo: 1.28 in the place of 1.2
        ({"loss_type": "dapo"}, 1.3 / 3),  # (1.2 + .9 − .8) / 3
        ({"loss_type": "dapo", "epsilon_high": 0.28}, 0.46),
    ],
)
def test_golden_objective_of_two_episodes(
    chat: Chat, model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], objective: float
) -> None:
    ratios = torch.tensor([[1.5, 0.9], [0.5, 7.0]])
    entropies = torch.zeros(2, 2)
    ones = torch.ones(2, 2, dtype=torch.long)
    with trainer_for(clone(model), chat, tmp_path, [1.0, 0.0, 0.0, 1.0], **settings) as (trainer, _):
        monkeypatch.setattr(
            trainer, "_get_per_token_logps_and_entropies", lambda *args, **kwargs: (ratios.log(), entropies, None)
        )
        names = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")
        loss = trainer._compute_loss(
            trainer.model,
            {
                **dict.fromkeys(names, ones),
                "tool_mask": torch.tensor([[1, 1], [1, 0]]),
                "advantages": torch.tensor([1.0, -1.0]),
                "old_per_token_logps": torch.zeros(2, 2),
                "num_items_in_batch": torch.tensor(3),
            },
        )
    assert loss.item() == pytest.approx(-objective, abs=1e-6)


def test_what_another_engine_sampled_weighs_as_much_as_the_trainer_holds_it_likelier(
    chat: Chat, model, tmp_path: Path
) -> None:
    """One episode's tokens come from an engine that held each .5 nats less likely: they weigh e^.5 in the loss."""
    with trainer_for(clone(model), chat, tmp_path, [1.0, 0.0, 0.0, 1.0]) as (trainer, played):
        plain = trainer._compute_loss(trainer.model, trainer._generate_and_score_completions(inputs())).item()
        other = [replace(turn, logprobs=tuple(p - 0.5 for p in turn.logprobs)) for turn in played[0].turns]
        mixed = [replace(played[0], turns=tuple(other)), *played[1:]]
        trainer.rollout = lambda policy, tasks, *, seed: mixed
        trainer.reward = per_episode(lambda episode, target: Score(float(episode in (mixed[0], mixed[3])), {}))
        trainer.use_vllm = True
        data = trainer._generate_and_score_completions(inputs())
        loss = trainer._compute_loss(trainer.model, data).item()
    weights = data["importance_sampling_ratio"]
    mask = data["tool_mask"].bool()
    assert weights[0][mask[0]].tolist() == pytest.approx([math.exp(0.5)] * int(mask[0].sum()), abs=1e-4)
    assert weights[1:][mask[1:]].tolist() == pytest.approx([1.0] * int(mask[1:].sum()), abs=1e-4)
    # On-policy every ratio is 1, so an episode's part of the loss is −A / 4, and the first one's A is √½.
    assert loss - plain == pytest.approx(-(math.exp(0.5) - 1) * 0.5**0.5 / 4, abs=1e-4)


def test_turns_rewarded_for_themselves_teach_their_own_tokens(chat: Chat, model, tmp_path: Path) -> None:
    """Turn k of an episode gets the advantage of turn k, every token of it; what the environment wrote gets none."""
    with trainer_for(clone(model), chat, tmp_path, [0.0] * 4) as (trainer, played):
        rewards = [tuple(float(i + k * k) for k in range(len(e.turns))) for i, e in enumerate(played)]
        by_id = {id(e): turns for e, turns in zip(played, rewards, strict=True)}
        trainer.reward = per_episode(lambda episode, target: Score(0.0, {}, by_id[id(episode)]))
        trainer.credit = AdvantageSettings("per_turn")
        data = trainer._generate_and_score_completions(inputs())
        loss = trainer._compute_loss(trainer.model, data)
    assert data["advantages"].shape == data["completion_ids"].shape
    expected = turn_advantages(rewards, 2)
    assert any(a != 0 for turns in expected for a in turns) and any(len(e.turns) > 1 for e in played)
    for row, mask, episode, turns in zip(data["advantages"], data["tool_mask"], played, expected, strict=True):
        sampled = [a for turn, a in zip(episode.turns, turns, strict=True) for _ in turn.ids]
        assert row[mask.bool()].tolist() == pytest.approx(sampled)
        assert not row[~mask.bool()].any()
    assert loss.isfinite()


def test_turns_all_alike_and_episodes_all_alike_teach_the_same(chat: Chat, model, tmp_path: Path) -> None:
    """Each turn rewarded as its whole episode is, in groups of equally many turns: the same loss."""
    values = [0.9, -0.05, 0.65, -0.25]
    losses = []
    for turned in (False, True):
        with trainer_for(clone(model), chat, tmp_path, values) as (trainer, played):
            totals = {id(e): value for e, value in zip(played, values, strict=True)}

            def reward(episode: Episode, target: Any, totals=totals, turned=turned) -> Score:
                total = totals[id(episode)]
                return Score(total, {}, (total,) * len(episode.turns) if turned else ())

            trainer.reward = per_episode(reward)
            trainer.credit = AdvantageSettings("per_turn" if turned else "group_relative")
            losses.append(
                trainer._compute_loss(trainer.model, trainer._generate_and_score_completions(inputs())).item()
            )
            alike = len({len(e.turns) for e in played[:2]}) == 1 == len({len(e.turns) for e in played[2:]})
    assert alike and losses[0] == pytest.approx(losses[1], abs=1e-6)


@pytest.mark.parametrize(("temperature", "scale"), [(1.0, "group"), (0.7, "none")])
def test_loss_and_gradients_equal_those_computed_by_hand(
    chat: Chat, model, tmp_path: Path, temperature: float, scale: Any
) -> None:
    rewards = [0.9, -0.05, 0.65, -0.25]
    with trainer_for(clone(model), chat, tmp_path, rewards, temperature=temperature, scale=scale) as (trainer, played):
        data = trainer._generate_and_score_completions(inputs())
        packed = pack(played, chat)
        # An old policy some way off, so that ratios differ from 1 and some are clipped, on either side.
        noise = 0.5 * torch.randn(packed.logprobs.shape, generator=torch.Generator().manual_seed(0))
        old = (packed.logprobs + noise) * packed.loss_mask
        loss = trainer._compute_loss(trainer.model, {**data, "old_per_token_logps": old})
        loss.backward()
        ours = {n: p.grad.clone() for n, p in trainer.model.named_parameters() if p.grad is not None}

    by_hand = clone(model).train()
    new = plain_logprobs(by_hand, chat, packed, temperature)
    advantages = group_advantages(torch.tensor(rewards), 2, scale)
    total = torch.zeros(())
    clipped = 0
    for i, episode in enumerate(played):
        terms = []
        for t, sampled in enumerate(packed.loss_mask[i].tolist()):
            if sampled:
                ratio = torch.exp(new[i, t] - old[i, t])
                bounded = ratio.clamp(0.8, 1.2)
                clipped += int(bounded.item() != ratio.item())
                terms.append(torch.minimum(ratio * advantages[i], bounded * advantages[i]))
        assert len(terms) == sum(episode.mask)
        total = total + torch.stack(terms).mean()
    expected = -total / len(played)
    expected.backward()
    assert clipped > 5 and abs(expected.item()) > 1e-3
    assert abs(loss.item() - expected.item()) < 1e-6
    theirs = {n: p.grad for n, p in by_hand.named_parameters() if p.grad is not None}
    assert ours.keys() == theirs.keys()
    for name in theirs:
        torch.testing.assert_close(ours[name], theirs[name], atol=1e-6, rtol=1e-4, msg=name)


def test_micro_batches_change_nothing(chat: Chat, model, tmp_path: Path) -> None:
    norms = []
    for per_device_batch_size in (1, 2, 4):
        settings = GRPOSettings(**{**QUICK, "steps": 1, "per_device_batch_size": per_device_batch_size})
        trained = clone(model)
        folder = tmp_path / str(per_device_batch_size)
        train_grpo(trained, chat, [task(0), task(1)], Looks, LIMITS, even_reward, settings, folder)
        norms.append(read_metrics(folder / "metrics.jsonl")[0]["grad_norm"])
    assert norms == pytest.approx([norms[0]] * 3, rel=1e-4)


def test_on_policy_no_old_logprobs_are_computed_and_the_ratio_is_one(chat: Chat, model, tmp_path: Path) -> None:
    with trainer_for(clone(model), chat, tmp_path, [1.0, 0.0, 0.0, 1.0]) as (trainer, _):
        data = trainer._generate_and_score_completions(inputs())
        assert "old_per_token_logps" not in data
        assert trainer._compute_loss(trainer.model, data).item() == pytest.approx(0.0, abs=1e-7)
    with trainer_for(clone(model), chat, tmp_path, [1.0, 0.0, 0.0, 1.0], iterations=2) as (trainer, played):
        data = trainer._generate_and_score_completions(inputs())
        packed = pack(played, chat)
        sampled = packed.loss_mask.bool()
        torch.testing.assert_close(data["old_per_token_logps"][sampled], packed.logprobs[sampled], atol=1e-5, rtol=0)


def final_states_gradient(trainer: EpisodeGRPOTrainer, data: dict[str, Any]) -> Tensor:
    """Gradient of the loss with respect to the last hidden states (B, P + C, H), which only the logits read."""
    kept: list[Tensor] = []

    def keep(module: Any, args: Any, output: Any) -> None:
        output.last_hidden_state.retain_grad()
        kept.append(output.last_hidden_state)

    hook = trainer.model.model.register_forward_hook(keep)
    trainer._compute_loss(trainer.model, data).backward()
    hook.remove()
    assert kept[0].grad is not None
    return kept[0].grad


def test_observations_prompts_and_padding_get_exactly_no_gradient(chat: Chat, model, tmp_path: Path) -> None:
    with trainer_for(clone(model), chat, tmp_path, [1.0, 0.0, 0.0, 1.0]) as (trainer, _):
        data = trainer._generate_and_score_completions(inputs())
        gradient = final_states_gradient(trainer, data).abs().sum(-1)
        start = data["prompt_ids"].size(1)
        learns = torch.zeros_like(gradient, dtype=torch.bool)
        # The state before a sampled token is the one that predicts it.
        learns[:, start - 1 : -1] = data["tool_mask"].bool()
        assert gradient[~learns].eq(0).all()
        assert gradient[learns].gt(0).all()

        # The mask is what does it: let one observation token count, and exactly its state learns too.
        row, column = (data["completion_mask"].bool() & ~data["tool_mask"].bool()).nonzero()[0].tolist()
        wider = data["tool_mask"].clone()
        wider[row, column] = 1
        changed = final_states_gradient(trainer, {**data, "tool_mask": wider}).abs().sum(-1)
        assert changed[row, start - 1 + column] > 0


def test_a_group_without_differences_teaches_exactly_nothing(chat: Chat, model, tmp_path: Path) -> None:
    with trainer_for(clone(model), chat, tmp_path, [0.65, 0.65, -0.05, -0.05]) as (trainer, _):
        data = trainer._generate_and_score_completions(inputs())
        trainer._compute_loss(trainer.model, data).backward()
        assert all(p.grad is None or p.grad.eq(0).all() for p in trainer.model.parameters())


def test_trainer_logprobs_equal_turn_by_turn_ones_in_any_chunks(chat: Chat, model, tmp_path: Path) -> None:
    for per_device_batch_size in (1, 2, 4):
        with trainer_for(
            clone(model),
            chat,
            tmp_path,
            [1.0, 0.0, 0.0, 1.0],
            per_device_batch_size=per_device_batch_size,
            temperature=0.7,
        ) as (trainer, played):
            packed = pack(played, chat)
            ours = trainer._logprobs(trainer.model, packed)
            sampled = packed.loss_mask.bool()
            torch.testing.assert_close(ours[sampled], packed.logprobs[sampled], atol=1e-5, rtol=0)


def test_a_sampler_that_says_otherwise_than_the_trainer_is_refused(chat: Chat, model, tmp_path: Path) -> None:
    with trainer_for(clone(model), chat, tmp_path, [1.0, 0.0, 0.0, 1.0], temperature=0.3) as (trainer, played):
        at_1 = rescored(trainer.model, chat, played)
        with pytest.raises(ValueError, match=r"differ from the trained model's by .* temperature=0.3"):
            trainer._check_logprob_mismatch(at_1)


def test_a_greedy_rollout_is_refused(chat: Chat, model, tmp_path: Path) -> None:
    greedy = replace(LIMITS, temperature=0.0)
    with pytest.raises(ValueError, match=r"RolloutConfig.temperature=0.0: greedy episodes"):
        train_grpo(model, chat, [task(0)], Looks, greedy, even_reward, GRPOSettings(**QUICK), tmp_path)


def test_rewards_that_ask_a_judge_are_asked_together(chat: Chat, model, tmp_path: Path) -> None:
    """Each of a group's two waits for the other; alone, it would break the barrier."""
    met = threading.Barrier(2, timeout=20)

    def judged(episode: Episode, target: Any) -> Score:
        met.wait()
        return even_score(episode, target)

    settings = GRPOSettings(steps=1, prompts_per_batch=2, group_size=2, per_device_batch_size=4)
    sets = [task(0), task(1)]
    train_grpo(copy.deepcopy(model), chat, sets, Looks, LIMITS, even_reward, settings, tmp_path / "a")
    train_grpo(model, chat, sets, Looks, LIMITS, per_episode(judged, 2), settings, tmp_path / "b")
    assert without_times(tmp_path / "a") == without_times(tmp_path / "b")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("group_size", 1, "GRPOSettings.group_size=1: a group needs at least 2 rollouts to have an advantage"),
        ("steps", 0, "GRPOSettings.steps=0: must be above 0"),
        ("save_total_limit", 0, "GRPOSettings.save_total_limit=0"),
        ("loss_type", "gpro", "GRPOSettings.loss_type='gpro': choose one of grpo, dr_grpo, bnpo, dapo"),
        ("schedule", "cosin", "GRPOSettings.schedule='cosin': no such schedule of the learning rate; choose one of"),
        ("warmup", 1.0, "GRPOSettings.warmup=1.0: it is a share of the steps"),
        ("epsilon_high", 0.1, "GRPOSettings.epsilon_high=0.1: .* at least as wide as the lower one, epsilon=0.2"),
        ("dynamic_sampling", -1, "GRPOSettings.dynamic_sampling=-1: must be above 0, or 0 for none"),
        ("overlong_buffer", -1, "GRPOSettings.overlong_buffer=-1: must be above 0, or 0 for none"),
        ("iterations", 3, "GRPOSettings.save_every=10: must be a multiple of iterations=3"),
    ],
)
def test_settings_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GRPOSettings(**{name: value})


def test_micro_batches_must_add_up(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="per_device_batch_size=3 on 1 processes does not divide the batch of 4 episodes"
    ):
        GRPOSettings(**{**QUICK, "per_device_batch_size": 3}).trl_args(tmp_path, LIMITS)


def test_a_reference_policy_needs_a_folder_to_come_from(chat: Chat, model, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"GRPOSettings.beta=0.1: the reference policy"):
        settings = GRPOSettings(**QUICK, beta=0.1)
        train_grpo(model, chat, [task(0)], Looks, LIMITS, even_reward, settings, tmp_path)


def test_a_full_reference_policy_starts_where_the_model_starts(chat: Chat, model, tmp_path: Path) -> None:
    start = load_model(export(clone(model), chat, tmp_path / "start"))
    settings = GRPOSettings(**{**QUICK, "beta": 0.05, "learning_rate": 1e-2})
    train_grpo(start, chat, [task(0), task(1)], Looks, LIMITS, even_reward, settings, tmp_path / "run")
    rows = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert rows[0]["kl"] == pytest.approx(0.0, abs=1e-6) and rows[1]["kl"] > 0


class Says(Looks):
    """As :class:`Looks`, but nothing is shown."""

    def seen(self, action: str) -> tuple[NamedImage, ...]:
        return ()


def test_micro_batches_without_pictures_train_beside_those_with(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    tasks = [task(0), Task("plain", (), "Hm?", ["A"])]
    settings = GRPOSettings(**{**QUICK, "per_device_batch_size": 1})
    train_grpo(model, chat, tasks, Says, LIMITS, even_reward, settings, tmp_path)
    assert [row["step"] for row in read_metrics(tmp_path / "metrics.jsonl")] == [1, 2]


def test_killed_and_started_again_it_ends_as_if_it_had_never_been_killed(tmp_path: Path) -> None:
    script = HELPERS / "training_fixtures.py"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "KIT_QUIET": "1"}
    killed = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "a"), "4"], env=environment, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # Step 3 was done and written, the last checkpoint is of step 2: step 3 will be done again.
    assert [row["step"] for row in read_metrics(tmp_path / "a" / "metrics.jsonl")] == [1, 2, 3]
    assert not (tmp_path / "a" / "model").exists()
    resumed = grpo_run(tmp_path / "a")
    whole = grpo_run(tmp_path / "b")
    assert [row["step"] for row in without_times(tmp_path / "a")] == [1, 2, 3, 4, 5]
    assert without_times(tmp_path / "a") == without_times(tmp_path / "b")
    for (name, one), other in zip(resumed.named_parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other), name
    kept = sorted(path.name for path in (tmp_path / "a" / "checkpoint").glob("checkpoint-*"))
    assert kept == ["checkpoint-4", "checkpoint-5"]


@pytest.mark.parametrize("changed", [{"lora_rank": 4, "beta": 0.05}, {"iterations": 2, "steps": 6}])
def test_adapters_and_repeated_updates_resume_the_same(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(ConnectionError):
        grpo_run(tmp_path / "a", fail_at=3 if "iterations" in changed else 4, **changed)
    resumed, whole = grpo_run(tmp_path / "a", **changed), grpo_run(tmp_path / "b", **changed)
    assert len(without_times(tmp_path / "a")) == changed.get("steps", 5)
    assert without_times(tmp_path / "a") == without_times(tmp_path / "b")
    for (name, one), other in zip(resumed.named_parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other), name


def test_a_finished_run_is_not_run_again_and_gives_its_model(chat: Chat, tmp_path: Path) -> None:
    trained = grpo_run(tmp_path)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    again = grpo_run(tmp_path, kill_at=1)  # it would be killed if it played anything
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    for (name, one), other in zip(trained.named_parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other), name
    assert not torch.equal(trained.lm_head.weight, fresh_model(chat).lm_head.weight)


def test_rows_hook_and_what_is_left_of_the_model(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    seen: list[list[int]] = []
    folder = train_grpo(
        model,
        chat,
        [task(0), task(1), task(2)],
        Looks,
        LIMITS,
        even_reward,
        GRPOSettings(**QUICK, freeze_vision=True),
        tmp_path,
        watcher=OnStep(lambda rows: seen.append([row["step"] for row in rows])),
    )
    assert seen == [[1], [1, 2]]
    row = read_metrics(tmp_path / "metrics.jsonl")[0]
    for name in ("reward", "accuracy", "turns", "response_tokens", "entropy", "loss", "seconds", "tokens_per_second",
                 "generation_time_share", "rollout_seconds", "reward/accuracy", "grad_norm",
                 "learning_rate"):  # fmt: skip
        assert isinstance(row[name], float), name
    assert row["response_tokens"] <= 10 and row["turns"] == 2.0
    assert model.lm_head.bias is None and "forward" not in model.__dict__
    for (name, ours), saved in zip(model.named_parameters(), load_model(folder).parameters(), strict=True):
        assert torch.equal(ours, saved), name


def test_lora_trains_adapters_only_and_leaves_them_merged(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    start = {name: value.clone() for name, value in model.named_parameters()}
    learning: set[str] = set()

    def before(policy: Any) -> dict[str, float]:
        learning.update(name for name, p in model.named_parameters() if p.requires_grad)
        return {}

    settings = GRPOSettings(**{**QUICK, "lora_rank": 4, "beta": 0.05, "learning_rate": 1e-2})
    folder = train_grpo(
        model, chat, [task(0), task(1)], Looks, LIMITS, even_reward, settings, tmp_path, held_out=before
    )
    assert learning and all("lora_" in name and "language_model" in name for name in learning)
    rows = read_metrics(tmp_path / "metrics.jsonl")
    assert rows[0]["kl"] == pytest.approx(0.0, abs=1e-6) and rows[1]["kl"] > 0
    after = dict(model.named_parameters())
    assert after.keys() == start.keys()
    changed = {name for name in start if not torch.equal(start[name], after[name])}
    targets = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    assert changed and all("language_model" in n and n.split(".")[-2] in targets for n in changed)
    for (name, ours), saved in zip(after.items(), load_model(folder).parameters(), strict=True):
        assert torch.equal(ours, saved), name


@pytest.mark.parametrize("rank", [0, 4])
def test_the_model_on_the_way_is_that_of_a_shorter_run(chat: Chat, tmp_path: Path, rank: int) -> None:
    """Kept after step 1 of 2, adapters merged; keeping it changes nothing of what follows."""
    settings = GRPOSettings(**{**QUICK, "schedule": "constant", "lora_rank": rank, "learning_rate": 1e-2})
    made = {}
    for name, steps, exports in (("short", 1, ()), ("long", 2, (1,)), ("plain", 2, ())):
        model = fresh_model(chat)
        run = replace(settings, steps=steps)
        tasks = [task(0), task(1)]
        folder = tmp_path / name
        train_grpo(model, chat, tasks, Looks, LIMITS, even_reward, run, folder, exports=exports)
        made[name] = model.state_dict()
    halfway = load_model(tmp_path / "long" / "model-1").state_dict()
    for name, value in halfway.items():
        assert torch.allclose(value, made["short"][name], atol=1e-6), name
    assert not torch.equal(halfway["lm_head.weight"], made["long"]["lm_head.weight"]) or rank
    assert without_times(tmp_path / "long") == without_times(tmp_path / "plain")
    assert all(torch.equal(made["long"][name], made["plain"][name]) for name in made["plain"])


def test_an_error_in_the_rollout_leaves_no_adapters_behind(chat: Chat, model, tmp_path: Path) -> None:
    model = clone(model)
    names = [name for name, _ in model.named_parameters()]

    class Gone(Looks):
        def step(self, action: str) -> Any:
            raise RuntimeError("the sandbox is gone")

    with pytest.raises(RuntimeError, match="the sandbox is gone"):
        train_grpo(model, chat, [task(0)], Gone, LIMITS, even_reward, GRPOSettings(**QUICK, lora_rank=4), tmp_path)
    assert [name for name, _ in model.named_parameters()] == names
    assert all(p.requires_grad for p in model.parameters()) and model.lm_head.bias is None


def test_parts_of_a_reward_are_averaged_by_name(chat: Chat, model, tmp_path: Path) -> None:
    """Averaged by place, {a: 1} and {b: 5} would give a = 3, and {a, accuracy} would stand in front of reward."""
    parts: list[dict[str, float]] = [{"a": 1.0}, {"b": 5.0}, {"a": 2.0, "accuracy": 1.0}, {}]
    with trainer_for(clone(model), chat, tmp_path, [0.0, 1.0, 0.0, 1.0]) as (trainer, episodes):
        scores = [Score(total, some) for total, some in zip([1.0, 5.0, 3.0, 0.0], parts, strict=True)]
        trainer._record(episodes, scores)
        row = {name: values[-1] for name, values in trainer._metrics["train"].items()}
    assert (row["reward/a"], row["reward/b"]) == (0.75, 1.25)  # (1 + 2) / 4 and 5 / 4
    assert (row["reward/accuracy"], row["accuracy"]) == (0.25, 0.25)
    assert (row["reward"], row["turns"], row["answered"]) == (2.25, 2.0, 1.0)


def test_means_by_name_are_exact() -> None:
    assert mean_by_name([{"a": 1.0}, {"b": 5.0}]) == {"a": 0.5, "b": 2.5}
    assert mean_by_name([{"a": 1.0, "b": 2.0}, {"b": 5.0, "a": 0.0}]) == {"a": 0.5, "b": 3.5}


def test_episode_stats_by_hand(chat: Chat) -> None:
    episode = written(chat, 2)
    stats = episode_stats(episode, Score(0.75, {"accuracy": 0.8, "format": 0.0, "step": -0.05}))
    assert stats["reward"] == 0.75 and stats["accuracy"] == 1.0 and stats["format"] == 0.0
    assert stats["reward/step"] == -0.05 and stats["turns"] == 2 and stats["calls"] == 1 and stats["answered"] == 1.0
    assert stats["response_tokens"] == sum(len(turn.ids) for turn in episode.turns)


def test_calls_and_accuracy_of_each_subset_are_logged_apart() -> None:
    rows = [{"accuracy": 1.0, "calls": 0.0}, {"accuracy": 0.0, "calls": 3.0}, {"accuracy": 1.0, "calls": 1.0}]
    assert means_of_subsets(rows, ["easy", "hard", "hard"]) == {
        "accuracy_easy": 1.0,
        "calls_easy": 0.0,
        "accuracy_hard": 0.5,
        "calls_hard": 2.0,
    }
    assert means_of_subsets(rows, ["", "", ""]) == {}, "tasks without a subset are in none"
