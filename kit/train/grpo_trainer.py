"""TRL's ``GRPOTrainer`` on our episodes: how a batch comes to be; everything after that is TRL's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import torch
from accelerate.utils import gather_object
from torch import Tensor
from trl import GRPOConfig, GRPOTrainer
from trl.models import unwrap_model_for_generation
from trl.trainer.utils import (
    shuffle_sequence_dict,
    split_pixel_values_by_grid,
    split_tensor_dict,
    unsplit_pixel_values_by_grid,
    use_adapter,
)

from kit.chat import Chat
from kit.episode import Episode, Score, Task
from kit.policy import Policy
from kit.policy.hf import HFPolicy
from kit.policy.suppress import suppress_tokens
from kit.policy.vllm import Colocated
from kit.rewards.base import GroupReward
from kit.seeding import child_seed
from kit.train import latest_rollout as latest
from kit.train.advantage import (
    AdvantageSettings,
    broadcast_to_tokens,
    group_advantages,
    sequence_plus_turn_advantages,
    turn_advantages,
)
from kit.train.checkpoint import SafeCheckpoints
from kit.train.dapo import Filled, fill, further_tasks
from kit.train.episode_stats import episode_stats, mean_by_name, means_of_subsets, no_subset
from kit.train.held_out import HeldOut
from kit.train.importance import importance
from kit.train.pack import Packed, by_length, pack, trimmed
from kit.train.progress_meter import MeteredPolicy, ProgressMeter
from kit.train.vllm_rollouts import vllm_policy

MAX_LOGPROB_MISMATCH = 0.1
"""Mean difference (nats) between the sampler's log-probabilities and the trainer's that is still rounding."""


class Rollout(Protocol):
    """Lets a policy play every task once, by the seed of its place; returns the episodes in the tasks' order.

    The same weights and seeds must give the same episodes.
    """

    def __call__(self, policy: Policy, tasks: Sequence[Task], *, seed: Sequence[int]) -> list[Episode]: ...


class EpisodeGRPOTrainer(SafeCheckpoints, GRPOTrainer):
    """TRL's trainer on our episodes. Make it inside :func:`kit.policy.suppress.suppress_tokens`.

    Args:
        chat: the model's chat encoder.
        tasks: tasks by the numbers in the data set's rows.
        rollout: lets a policy play tasks.
        reward: scores the episodes of a group.
        settings: kind of advantage.
        dynamic_sampling: rounds in which flat groups are replaced (:mod:`kit.train.dapo`); 0: none.
        meter: told of every turn played.
        held_out: played before each rollout, to see how the policy does on tasks it doesn't train on.
        subset: names the part of the tasks whose calls and accuracy are logged apart; empty: none.
    """

    args: GRPOConfig
    num_generations: int

    def __init__(
        self,
        *,
        chat: Chat,
        tasks: Sequence[Task],
        rollout: Rollout,
        reward: GroupReward,
        settings: AdvantageSettings | None = None,
        dynamic_sampling: int = 0,
        meter: ProgressMeter | None = None,
        held_out: HeldOut | None = None,
        subset: Callable[[Task], str] = no_subset,
        **kwargs: Any,
    ) -> None:
        super().__init__(reward_funcs=_no_reward, processing_class=chat.tokenizer, **kwargs)
        self.chat = chat
        self.tasks = tasks
        self.rollout = rollout
        self.reward = reward
        self.credit = settings or AdvantageSettings()
        self.dynamic_sampling = dynamic_sampling
        self.policy = vllm_policy(self, chat) if self.use_vllm else HFPolicy(self.model, chat)
        self.meter = meter
        self.held_out = held_out
        self.subset = subset
        self._logprobs_checked = False
        self._masks = ExitStack()
        if self.ref_model is not None:
            self._masks.enter_context(suppress_tokens(self.ref_model, chat.suppressed_ids))

    def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
        """Prepare a batch as TRL does, episodes of like length together, without columns that are padding in all rows.

        A step is the same sum whoever shares a forward pass; only with ``bnpo``, which weighs every micro-batch by its
        own tokens, chance decides that, as in TRL.
        """
        parts = self.args.steps_per_generation or 1
        kept: list[dict[str, Any]] | None = self._buffered_inputs
        fresh = kept is None or self._step % (parts * self.num_iterations) == 0
        if self.model is None or not self.model.training or not fresh:
            return dict(super()._prepare_inputs(generation_batch))
        batch: Any = split_pixel_values_by_grid(self._generate_and_score_completions(generation_batch))
        batch = shuffle_sequence_dict(batch)
        if self.loss_type != "bnpo":
            batch = by_length(batch)
        made: list[Any] = split_tensor_dict(batch, parts)
        self._buffered_inputs: Any = [trimmed(unsplit_pixel_values_by_grid(part)) for part in made]
        return dict(self._buffered_inputs[self._step % parts])

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Play, score, pack: the batch that TRL's ``_compute_loss`` reads."""
        episodes, scores = self._rollout([row["task"] for row in inputs])
        packed = pack(episodes, self.chat).to(self.accelerator.device)
        self._check_logprob_mismatch(episodes)
        advantages = self._advantages(episodes, scores, self._gather([score.total for score in scores]), packed)
        if self.accelerator.is_main_process:
            latest.save(Path(str(self.args.output_dir)).parent, self.state.global_step + 1, episodes, scores)
        batch: dict[str, Any] = {
            "prompt_ids": packed.prompt_ids,
            "prompt_mask": packed.prompt_mask,
            "completion_ids": packed.completion_ids,
            "completion_mask": packed.completion_mask,
            "tool_mask": packed.loss_mask,
            **packed.image_batch(),
            "advantages": advantages.to(self.accelerator.device),
            "num_items_in_batch": self.accelerator.gather(packed.loss_mask.sum()).sum(),
        }
        # Where rollouts and optimizer steps alternate one to one, π_old is π_θ and TRL takes it from the same pass.
        every = (self.args.steps_per_generation or 1) * self.num_iterations
        if self.use_vllm or self.args.gradient_accumulation_steps % every:
            batch["old_per_token_logps"] = self._logprobs(self.model, packed)
        if self.use_vllm:
            weights = importance(batch["old_per_token_logps"], packed.logprobs, packed.loss_mask)
            batch["importance_sampling_ratio"] = weights
            self._metrics["train"]["importance_weight"].append(float(weights[packed.loss_mask.bool()].mean()))
        if self.beta:
            batch["ref_per_token_logps"] = self._reference_logprobs(packed)
        return batch

    def _rollout(self, tasks: list[int]) -> tuple[list[Episode], list[Score]]:
        """Play this process's share of the batch, its tasks told by their numbers; write the step's row about it.

        The row tells of the batch as first played, so it can be compared with one without dynamic sampling.
        """
        metrics, mine = self._metrics["train"], self._mine(tasks)
        self._spent = dict.fromkeys(("rollout", "policy", "tokens"), 0.0)
        with ExitStack() as playing:
            if isinstance(
                self.policy, HFPolicy
            ):  # weights that ZeRO-3 has divided are put together; else nothing changes
                playing.enter_context(unwrap_model_for_generation(self.model_wrapped, self.accelerator))
            elif isinstance(self.policy.engine, Colocated):
                playing.callback(self.policy.engine.sleep)
            if self.held_out is not None:
                for name, value in self.held_out(self.policy).items():
                    metrics[name].append(value)
            first = self._play(tasks, range(mine.start, mine.stop))
            filled = self._fill(tasks, *first) if self.dynamic_sampling else None
        metrics["rollout_seconds"].append(seconds := self._spent["rollout"])
        metrics["tokens_per_second"].append(self._spent["tokens"] / seconds)
        metrics["generation_time_share"].append(self._spent["policy"] / seconds)
        self._record(*first)
        if filled is None:
            return first
        metrics["frac_zero_std_groups_left"].append(filled.flat)
        metrics["rounds_played"].append(filled.rounds)
        metrics["tasks_played"].append(filled.tasks)
        return filled.episodes, filled.scores

    def _play(self, tasks: Sequence[int], places: Sequence[int]) -> tuple[list[Episode], list[Score]]:
        """Play tasks, each by the seed of its place in the step, and score them."""
        policy: Policy = MeteredPolicy(self.policy, self.meter) if self.meter else self.policy
        if self.meter:
            self.meter.playing(len(tasks))
        began, inside = time.perf_counter(), self.policy.seconds
        seeds = [child_seed(self._step_seed(), place) for place in places]
        episodes = self.rollout(policy, [self.tasks[number] for number in tasks], seed=seeds)
        self._spent["rollout"] += time.perf_counter() - began
        self._spent["policy"] += self.policy.seconds - inside
        self._spent["tokens"] += sum(len(turn.ids) for episode in episodes for turn in episode.turns)
        if self.meter:
            self.meter.played()
        return episodes, self._score(episodes)

    def _fill(self, tasks: list[int], episodes: list[Episode], scores: list[Score]) -> Filled:
        """Replace groups that can't teach."""
        size, rounds = self.num_generations, self.dynamic_sampling
        batch = gather_object(tasks)
        further = further_tasks(len(self.tasks), batch, rounds * len(batch) // size, self._step_seed())
        return fill(episodes, scores, size, further, rounds, self._play, self._gather, self.accelerator.process_index)

    def _step_seed(self) -> int:
        """The seed of all that is drawn for the step, the same in all processes."""
        return child_seed(self.args.seed, self.state.global_step)

    def _gather(self, rewards: list[float]) -> Tensor:
        """The rewards of all processes' episodes, in their order: a group may be spread over processes."""
        mine = torch.tensor(rewards, dtype=torch.float64, device=self.accelerator.device)
        return self.accelerator.gather(mine)

    def _score(self, episodes: list[Episode]) -> list[Score]:
        """Score this process's episodes, each within its whole group, also where groups are spread over processes."""
        size, mine = self.num_generations, self._mine(episodes)
        if len(episodes) % size == 0:  # alike in all processes: their shares are equally large
            everyone, first = episodes, 0
        else:
            everyone, first = gather_object(episodes), mine.start - mine.start % size
        stop = len(everyone) if everyone is episodes else mine.stop
        groups = [everyone[at : at + size] for at in range(first, stop, size)]
        scored = [self.reward(group, group[0].task.target) for group in groups]
        for group, found in zip(groups, scored, strict=True):
            if len(found) != len(group):
                raise ValueError(f"reward: {len(found)} scores for the {len(group)} episodes of {group[0].task.id}")
        scores = [score for found in scored for score in found]
        at = 0 if everyone is episodes else mine.start - first
        return scores[at : at + len(episodes)]

    def _advantages(self, episodes: list[Episode], scores: list[Score], everyone: Tensor, packed: Packed) -> Tensor:
        """This process's advantages: ``(B,)``, or ``(B, C)`` where turns have their own.

        The settings decide which, never this process's scores: all processes must take part in the same collectives.
        """
        credit, size, mine = self.credit, self.num_generations, self._mine(episodes)
        if credit.advantage == "group_relative":
            return group_advantages(everyone.cpu(), size, credit.scale)[mine]
        pairs = [(e.task.id, len(e.turns), s.turns) for e, s in zip(episodes, scores, strict=True)]
        gathered = gather_object(pairs)
        for name, turns, rewards in gathered:
            if len(rewards) != turns:
                raise ValueError(
                    f"advantage={credit.advantage!r} needs a reward for every turn: episode {name} has {turns} turns, "
                    f"its Score.turns holds {len(rewards)}; let the reward fill it, or choose 'group_relative'"
                )
        rewards = [rewards for _, _, rewards in gathered]
        if credit.advantage == "per_turn":
            found = turn_advantages(rewards, size, credit.scale)
        else:
            found = sequence_plus_turn_advantages(
                everyone.cpu(), rewards, size, credit.scale, credit.discount, credit.weight, credit.baseline
            )
        rows = broadcast_to_tokens(found[mine], episodes)
        return torch.nn.functional.pad(rows, (0, packed.completion_ids.size(1) - rows.size(1)))

    def _mine(self, share: Sequence[Any]) -> slice:
        """Where this process's share of a batch lies in the whole."""
        at = self.accelerator.process_index * len(share)
        return slice(at, at + len(share))

    def _logprobs(self, model: Any, packed: Packed) -> Tensor:
        """Log-probabilities ``(B, C)`` of the completions' tokens, without gradient."""
        with torch.no_grad():
            logprobs, _, _ = self._get_per_token_logps_and_entropies(
                model,
                logits_to_keep=packed.completion_ids.size(1),
                batch_size=self.args.per_device_train_batch_size,
                **packed.model_inputs() | packed.image_batch(),
            )
        return logprobs

    def _reference_logprobs(self, packed: Packed) -> Tensor:
        """π_ref's log-probabilities: a frozen copy, or the model with its adapters off."""
        if self.ref_model is not None:
            return self._logprobs(self.ref_model, packed)
        with use_adapter(self.accelerator.unwrap_model(self.model), adapter_name=None):
            return self._logprobs(self.model, packed)

    def _check_logprob_mismatch(self, episodes: list[Episode]) -> None:
        """Once a run: does the sampler say what the trainer says of the same tokens?

        Raises:
            ValueError: it doesn't; the rollout samples at another temperature, from other weights, or
                over other tokens than are trained.
        """
        if self._logprobs_checked:
            return
        some = pack(episodes[: self.args.per_device_train_batch_size], self.chat).to(self.accelerator.device)
        sampled = some.loss_mask.bool()
        gap = float((self._logprobs(self.model, some) - some.logprobs)[sampled].abs().mean())
        if not gap <= MAX_LOGPROB_MISMATCH:
            raise ValueError(
                f"the rollout's log-probabilities differ from the trained model's by {gap:.2f} nats a token "
                f"(at most {MAX_LOGPROB_MISMATCH} is rounding): let it sample from this model, at "
                f"temperature={self.temperature}, with Chat.suppressed_ids masked"
            )
        self._logprobs_checked = True

    def _record(self, episodes: list[Episode], scores: list[Score]) -> None:
        """Means over all processes' episodes, into the step's row of metrics."""
        rewards = self._gather([score.total for score in scores])
        both = zip(episodes, scores, strict=True)
        mine = [(episode_stats(episode, score), self.subset(episode.task)) for episode, score in both]
        deviations = rewards.view(-1, self.num_generations).std(dim=1)
        metrics = self._metrics["train"]
        rows, subsets = zip(*gather_object(mine), strict=True)
        for name, mean in (mean_by_name(rows) | means_of_subsets(rows, subsets)).items():
            metrics[name].append(mean)
        metrics["reward_std"].append(float(deviations.mean()))
        metrics["frac_zero_std_groups"].append(float((deviations < 1e-9).double().mean()))


def _no_reward(**kwargs: Any) -> list[float | None]:
    """TRL insists on a reward function; episodes are scored where they are played."""
    raise RuntimeError("TRL's own scoring was called: EpisodeGRPOTrainer no longer overrides what it should")
