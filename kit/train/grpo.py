r"""Multi-turn GRPO: TRL's ``GRPOTrainer`` fed by our rollouts.

$$J(\theta) = \mathbb{E}\left[\frac{1}{G}\sum_{i=1}^{G}\frac{1}{\sum_t I(y_{i,t})}\sum_{t: I(y_{i,t})=1}
\min\left(\rho_{i,t}\hat{A}_i,\ \operatorname{clip}(\rho_{i,t}, 1-\epsilon, 1+\epsilon)\hat{A}_i\right)\right]
- \beta D_{KL}(\pi_\theta \| \pi_{ref}) \tag{1}$$

==================  ==========================================================  =========================
symbol              meaning                                                     name here
==================  ==========================================================  =========================
$G$                 rollouts of one task                                        ``group_size``
$I(y_{i,t})$        1 if the policy sampled token $t$, 0 if the environment     ``loss_mask``
                    wrote it
$\rho_{i,t}$        $\pi_\theta(y_{i,t}) / \pi_{old}(y_{i,t})$                  in TRL's ``_compute_loss``
$\hat{A}_i$         :mod:`kit.train.advantage`                                        ``advantages``
$\epsilon, \beta$   clipping range, weight of the KL term                       ``epsilon``, ``beta``
==================  ==========================================================  =========================

Worked example, G = 2: advantages +1 and −1; the first episode sampled two tokens with ρ = 1.5 and
0.9, the second one with ρ = 0.5; ε = 0.2. min(1.5, 1.2) = 1.2 and 0.9 average 1.05; min(−0.5, −0.8) is
−0.8; J = (1.05 − 0.8) / 2 = **0.125**, and the loss is −0.125.

One optimizer step uses each rollout once by default (mini-batch = batch): then π_old = π_θ, ρ = 1, and no second
forward pass is needed for it.

Departures
- [shared-own-rollouts] Paper: The trainer's framework samples the episodes. Here: Tasks are played by
  :mod:`kit.rollout`, scored, packed and given advantages; losses, optimizer, PEFT and distribution stay TRL's. Why:
  Here ids are never rendered anew, each episode has a seed of its own, environments step while others decode, and
  limits end an episode before what wouldn't fit. May change: Nothing, if the framework's own masks are right.
- [shared-suppressed-ids] Paper: Nothing is said of tokens for images and roles. Here: These ids carry no probability,
  in sampler and trainer alike. Why: A sampled image token makes the next forward pass fail. May change: Probabilities
  are shared out among a few ids less, which matters only early in training.
- [shared-kl-per-token] Paper: The KL term is subtracted outside the mean over tokens, and its estimator isn't given.
  Here: TRL's estimator (Schulman's k3) is added to each token inside that mean. Why: It is TRL's loss. May change:
  Nothing at weight 0; else long and short episodes weigh alike in the KL term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from kit.chat import Chat
from kit.episode import Episode, Task, fingerprint
from kit.models.device import Device
from kit.policy import Policy
from kit.rewards.base import GroupReward
from kit.rewards.overlong import with_overlong
from kit.rollout import Environment, RolloutConfig, rollout
from kit.train.advantage import Advantage, AdvantageSettings, Baseline, Scale, check_group_size
from kit.train.arguments import NotebookSettings, check_schedule, check_warmup, device_of, gpus_of, shared_args
from kit.train.checkpoint import schedule
from kit.train.dapo import check_dapo, check_fits
from kit.train.episode_stats import no_subset
from kit.train.held_out import HeldOut, HeldOutAccuracy
from kit.train.launch.topology import ProcessConfig, RolloutEngine
from kit.train.lora import lora_config
from kit.train.playable import check_playable
from kit.train.progress import Watcher
from kit.train.vllm_rollouts import vllm_args

# TRL takes seconds to import: the functions that need it do so, and a notebook's first cell doesn't wait for it.
if TYPE_CHECKING:
    from trl import GRPOConfig

    from kit.train.grpo_trainer import EpisodeGRPOTrainer
    from kit.train.progress_meter import ProgressMeter


DEFAULTS = RolloutConfig()

LossType = Literal["grpo", "dr_grpo", "bnpo", "dapo"]
"""TRL's names of objectives that are taken."""


@dataclass(frozen=True)
class GRPOSettings(NotebookSettings):
    """Settings of a GRPO run; a paper's own values are in its profile ``node``.

    Attributes:
        steps: rollout batches.
        prompts_per_batch: tasks a rollout batch.
        group_size: rollouts of one task.
        per_device_batch_size: episodes a forward pass and device.
        iterations: optimizer steps on each rollout batch.
        learning_rate: at its peak.
        schedule: of the learning rate, by transformers' name.
        warmup: share of the steps before the peak.
        beta: weight of the KL term; 0 needs no reference policy.
        epsilon: clipping range of the ratio.
        epsilon_high: its upper part, where that is wider (clip-higher, :mod:`kit.train.dapo`); None: ``epsilon``.
        loss_type: TRL's name of the objective; "grpo" is eq. 1.
        dynamic_sampling: rounds in which groups of equal rewards give their places to further tasks; 0: none.
        overlong_buffer: tokens before the longest response, in which the reward falls by up to 1; 0: none.
        advantage: ``group_relative`` (eq. 1), ``per_turn`` or ``sequence_plus_turn`` (:mod:`kit.train.advantage`).
        scale: divide advantages by the group's standard deviation (GRPO) or not (Dr. GRPO).
        turn_discount: γ of the turns' returns, for ``sequence_plus_turn``.
        turn_weight: weight of the turn's part, for ``sequence_plus_turn``.
        turn_baseline: turns over which returns are normalised, for ``sequence_plus_turn``.
        max_completion_length: tokens by which "dr_grpo" divides; others ignore it.
        max_grad_norm: gradients are scaled down to this norm.
        freeze_vision: leave vision tower and projector as they are.
        lora_rank: rank of low-rank adapters; 0 trains all weights.
        gradient_checkpointing: recompute activations to save memory; None: on a GPU.
        save_every: steps between checkpoints.
        save_total_limit: checkpoints kept, the last ones; and the best.
        seed: of the order of tasks, of sampling, of adapters' first values.
        rollout_engine: samples the episodes: transformers, or vLLM ``colocate``d with the model or at a ``server``.
        vllm_server_url: that server's address, ``http://host:port``.
        gpu_memory_utilization: of a GPU's memory, for a colocated engine; None: what it needs and the trainer leaves.
        device: where it computes: ``cpu``, ``cuda``, or ``auto``, by the model's size (:mod:`kit.models.device`).
    """

    steps: int = 100
    prompts_per_batch: int = 8
    group_size: int = 8
    per_device_batch_size: int = 8
    iterations: int = 1
    learning_rate: float = 1e-6
    schedule: str = "constant"
    warmup: float = 0.0
    beta: float = 0.0
    epsilon: float = 0.2
    epsilon_high: float | None = None
    loss_type: LossType = "grpo"
    dynamic_sampling: int = 0
    overlong_buffer: int = 0
    advantage: Advantage = "group_relative"
    scale: Scale = "group"
    turn_discount: float = 0.2
    turn_weight: float = 0.2
    turn_baseline: Baseline = "all_turns"
    max_completion_length: int = 16384
    max_grad_norm: float = 1.0
    freeze_vision: bool = False
    lora_rank: int = 0
    gradient_checkpointing: bool | None = None
    save_every: int = 10
    save_total_limit: int = 2
    seed: int = 0
    rollout_engine: RolloutEngine = "transformers"
    vllm_server_url: str = ""
    gpu_memory_utilization: float | None = None
    device: Device = "auto"

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("steps", "prompts_per_batch", "group_size", "per_device_batch_size", "learning_rate", "schedule"),
        *("beta", "freeze_vision", "lora_rank", "seed"),
    )
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        *("warmup", "iterations", "epsilon", "epsilon_high", "loss_type", "turn_weight", "turn_discount"),
        *("dynamic_sampling", "overlong_buffer", "rollout_engine", "vllm_server_url", "gpu_memory_utilization"),
        *("gradient_checkpointing", "device"),
    )

    def __post_init__(self) -> None:
        check_group_size("GRPOSettings.group_size", self.group_size)
        try:
            self.credit()
            ProcessConfig(rollout_engine=self.rollout_engine, vllm_server_url=self.vllm_server_url)
        except ValueError as error:
            raise ValueError(f"GRPOSettings.{error}") from None
        above_0 = ("steps", "prompts_per_batch", "per_device_batch_size", "iterations", "learning_rate", "save_every")
        for name in (*above_0, "beta", "lora_rank", "seed"):
            if (value := getattr(self, name)) < 0 or (name in above_0 and not value):
                raise ValueError(f"GRPOSettings.{name}={value}: must be {'above' if name in above_0 else 'at least'} 0")
        check_schedule("GRPOSettings.schedule", self.schedule)
        gpus_of(self, None)
        check_warmup("GRPOSettings.warmup", self.warmup)
        if self.loss_type not in (known := get_args(LossType)):
            raise ValueError(f"GRPOSettings.loss_type={self.loss_type!r}: choose one of {', '.join(known)}")
        check_dapo(self)
        if self.save_total_limit < 1:
            raise ValueError(f"GRPOSettings.save_total_limit={self.save_total_limit}: a run resumes from at least 1")
        if self.save_every % self.iterations:
            raise ValueError(
                f"GRPOSettings.save_every={self.save_every}: must be a multiple of iterations={self.iterations}; "
                "rollouts are not saved, so a run can only resume where the next ones begin"
            )

    def credit(self) -> AdvantageSettings:
        """The settings of :mod:`kit.train.advantage`."""
        return AdvantageSettings(self.advantage, self.scale, self.turn_discount, self.turn_weight, self.turn_baseline)

    def batch_of(self) -> tuple[int, int]:
        """Count the episodes of a step, and those that stay in one process: a group."""
        return self.prompts_per_batch * self.group_size, self.group_size

    def trl_args(self, run_dir: Path, config: RolloutConfig = DEFAULTS, model: Any = None) -> GRPOConfig:
        """Convert to TRL's configuration, for a model of this one's size (None: a small one).

        Temperature and longest episode are those of the rollout's ``config``; a colocated engine's share of the GPU,
        unless told, is worked out for the ``model``, which isn't there yet.
        """
        from trl import GRPOConfig

        shared = shared_args(self, run_dir, self.steps, self.prompts_per_batch * self.group_size, model)
        return GRPOConfig(
            **shared,
            num_generations=self.group_size,
            steps_per_generation=shared["gradient_accumulation_steps"],
            num_iterations=self.iterations,
            temperature=config.temperature,
            beta=self.beta,
            epsilon=self.epsilon,
            epsilon_high=self.epsilon_high,
            loss_type=self.loss_type,
            max_completion_length=self.max_completion_length,
            max_grad_norm=self.max_grad_norm,
            disable_dropout=True,
            shuffle_dataset=False,
            **vllm_args(self, config, model),
        )


def _check(model: Any, settings: GRPOSettings, config: RolloutConfig) -> None:
    """Refuse a reference policy that can't be loaded, episodes that are all the same, and what doesn't fit them."""
    if settings.beta and not settings.lora_rank and not model.config._name_or_path:
        raise ValueError(
            f"GRPOSettings.beta={settings.beta}: the reference policy is a second copy of the model, and this one "
            "was not loaded from anywhere it could be loaded from again; save and load it first, or train with LoRA"
        )
    if not config.temperature:
        raise ValueError("RolloutConfig.temperature=0.0: greedy episodes of one task are all the same; train above 0")
    check_fits(settings, config)


def train_grpo(
    model: Any,
    chat: Chat,
    tasks: Sequence[Task],
    make_env: Callable[[], Environment],
    config: RolloutConfig,
    reward: GroupReward,
    settings: GRPOSettings,
    run_dir: str | Path,
    *,
    exports: Sequence[int] = (),
    held_out: HeldOut | None = None,
    subset: Callable[[Task], str] = no_subset,
    watcher: Watcher | None = None,
) -> Path:
    """Train ``model`` on ``tasks``; the same call again resumes, and ends with the same metrics.

    Args:
        model: a model of a known family; it holds the trained weights afterwards.
        chat: the model's chat encoder.
        tasks: tasks to train on, drawn in shuffled passes.
        make_env: makes one environment; there are as many as episodes of a batch.
        config: limits of an episode, and the temperature, above 0.
        reward: scores the episodes of a group (:func:`kit.rewards.base.per_episode` lifts a reward of one episode).
        settings: how to train.
        run_dir: gets ``checkpoint/``, ``metrics.jsonl``, ``tensorboard/`` and ``model/``.
        exports: steps after which the model so far is kept too, as ``run_dir/model-STEP``.
        held_out: called before each rollout; returns what to add to the row of metrics, such as held-out accuracy.
        subset: names the part of the tasks, such as ``hard``, whose accuracy and calls are logged apart.
        watcher: shown the progress and the rows of metrics; None: one that suits the place.

    Returns:
        The folder of the trained model.

    Raises:
        kit.train.playable.UnplayableTasks: before step 1, if some tasks can't be begun or scored.
        ValueError: an episode can't be packed, sampler and trainer disagree, or ``run_dir`` holds another run.
    """
    from datasets import Dataset

    from kit.train.grpo_trainer import EpisodeGRPOTrainer
    from kit.train.training_run import run

    run_dir = Path(run_dir)
    _check(model, settings, config)
    held_out_files = held_out.files if isinstance(held_out, HeldOutAccuracy) else {}
    check_playable({str(getattr(tasks, "path", "tasks")): tasks, **held_out_files}, chat, make_env, config)

    def play(policy: Policy, tasks: Sequence[Task], *, seed: Sequence[int]) -> list[Episode]:
        return rollout(policy, chat, tasks, make_env, config, seed)

    def make_trainer(meter: ProgressMeter) -> EpisodeGRPOTrainer:
        rollouts = -(-settings.steps // settings.iterations)
        order = schedule(len(tasks), rollouts * settings.prompts_per_batch, settings.seed)
        return EpisodeGRPOTrainer(
            model=model,
            args=settings.trl_args(run_dir, config, model),
            train_dataset=Dataset.from_dict({"prompt": [tasks[i].id for i in order], "task": order}),
            peft_config=lora_config(settings.lora_rank, chat.family),
            chat=chat,
            tasks=tasks,
            rollout=play,
            reward=with_overlong(reward, config.most_tokens, settings.overlong_buffer),
            settings=settings.credit(),
            dynamic_sampling=settings.dynamic_sampling,
            meter=meter,
            held_out=held_out,
            subset=subset,
        )

    return run(
        make_trainer,
        model,
        chat,
        run_dir,
        steps=settings.steps,
        freeze_vision=settings.freeze_vision,
        settings=asdict(settings) | {"temperature": config.temperature, "device": device_of(settings, model)},
        data=[fingerprint(task) for task in tasks],
        exports=exports,
        watcher=watcher,
    )
