r"""Supervised fine-tuning (cold start): TRL's ``SFTTrainer`` on packed episodes.

$$L(\theta) = -\frac{1}{\sum_i \sum_t I(y_{i,t})} \sum_i \sum_t I(y_{i,t}) \log \pi_\theta(y_{i,t} \mid x_i, y_{i,<t})$$

==================  =======================================================  ==========================
symbol              meaning                                                  name here
==================  =======================================================  ==========================
$x_i$               prompt of episode $i$: text and images                 ``Packed.prompt_ids``
$y_{i,t}$           token $t$ after the prompt                               ``Packed.completion_ids``
$I(y_{i,t})$        1 if the policy wrote it, 0 if the environment did       ``Packed.loss_mask``
==================  =======================================================  ==========================

Worked example: two sampled tokens of probability 1/2 and 1/8 beside any number of observation
tokens: L = (ln 2 + ln 8) / 2 = **1.3863**.

Departures
- [shared-sft-suppressed-ids] Paper: The loss of supervised fine-tuning isn't written down. Here: It is the mean over
  the tokens that the policy wrote, and ids that a policy may not say are left out of the softmax. Why: They are left
  out when it is sampled. May change: The loss is lower by what such ids would have got; gradients hardly.
- [shared-never-cut] Paper: Episodes longer than the cutoff are cut. Here: They are refused, with their length. Why: A
  cut image has no meaning. May change: Nothing where all episodes fit.
- [shared-replay] Paper: Supervised fine-tuning sees demonstrations only. Here: Beside each batch there can be
  episodes of replay (:mod:`kit.train.replay`), whose tokens count like others; the laptop has some, larger profiles
  none. Why: A tiny model unlearns to see while it learns to act. May change: The cold start harms less than without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from kit.chat import Chat
from kit.data.store import load_episodes
from kit.episode import Episode, fingerprint
from kit.models.device import Device
from kit.train.arguments import NotebookSettings, check_schedule, check_warmup, device_of, gpus_of, shared_args
from kit.train.checkpoint import load_for_training, schedule
from kit.train.lora import lora_config
from kit.train.pack import pack
from kit.train.progress import Watcher

# TRL takes seconds to import: the functions that need it do so, and a notebook's first cell doesn't wait for it.
if TYPE_CHECKING:
    from trl import SFTConfig

    from kit.train.progress_meter import ProgressMeter
    from kit.train.sft_trainer import EpisodeSFTTrainer


@dataclass(frozen=True)
class SFTSettings(NotebookSettings):
    """Settings of supervised fine-tuning; a paper's own values are in its profile ``node``.

    Attributes:
        epochs: passes over the episodes.
        batch_size: episodes an optimizer step.
        per_device_batch_size: episodes a forward pass and device.
        learning_rate: at its peak.
        schedule: of the learning rate, by transformers' name.
        warmup: share of the steps before the peak.
        max_tokens: longest episode accepted.
        freeze_vision: leave vision tower and projector as they are.
        replay: episodes of replay beside each batch.
        lora_rank: rank of low-rank adapters; 0 trains all weights.
        gradient_checkpointing: recompute activations to save memory; None: on a GPU.
        save_every: steps between checkpoints.
        save_total_limit: checkpoints kept.
        seed: of the order and of adapters' first values.
        device: where it computes: ``cpu``, ``cuda``, or ``auto``, by the model's size (:mod:`kit.models.device`).
    """

    epochs: float = 2.0
    batch_size: int = 32
    per_device_batch_size: int = 8
    learning_rate: float = 1e-5
    schedule: str = "cosine"
    warmup: float = 0.1
    max_tokens: int = 16384
    freeze_vision: bool = True
    replay: int = 0
    lora_rank: int = 0
    gradient_checkpointing: bool | None = None
    save_every: int = 20
    save_total_limit: int = 2
    seed: int = 0
    device: Device = "auto"

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("epochs", "batch_size", "replay", "per_device_batch_size", "learning_rate"),
        *("freeze_vision", "lora_rank", "seed"),
    )
    OPTIONAL: ClassVar[tuple[str, ...]] = ("warmup", "max_tokens", "gradient_checkpointing", "device")

    def __post_init__(self) -> None:
        above_0 = (
            *("epochs", "batch_size", "per_device_batch_size", "learning_rate", "max_tokens"),
            *("save_every", "save_total_limit"),
        )
        for name in (*above_0, "replay", "lora_rank", "seed"):
            if (value := getattr(self, name)) < 0 or (name in above_0 and not value):
                raise ValueError(f"SFTSettings.{name}={value}: must be {'above' if name in above_0 else 'at least'} 0")
        check_warmup("SFTSettings.warmup", self.warmup)
        check_schedule("SFTSettings.schedule", self.schedule)
        gpus_of(self, None)

    def steps(self, episodes: int) -> int:
        """Optimizer steps that ``epochs`` passes over so many episodes make."""
        return max(1, round(self.epochs * episodes / self.batch_size))

    def batch_of(self) -> tuple[int, int]:
        """Count the episodes of a step, replay included, and those that stay in one process: each by itself."""
        return self.batch_size + self.replay, 1

    def trl_args(self, run_dir: Path, steps: int, model: Any = None) -> SFTConfig:
        """Convert to TRL's configuration, for a model of this one's size (None: a small one)."""
        from trl import SFTConfig

        return SFTConfig(
            **shared_args(self, run_dir, steps, self.batch_size + self.replay, model),
            loss_type="nll",
            max_length=None,
            train_sampling_strategy="sequential",
            dataset_kwargs={"skip_prepare_dataset": True},
        )


class Collator:
    """Rows that name episodes to a batch with labels."""

    def __init__(self, episodes: Sequence[Episode], chat: Chat) -> None:
        self.episodes = episodes
        self.chat = chat

    def __call__(self, rows: Sequence[dict[str, int]]) -> dict[str, Any]:
        """Model inputs and ``labels`` (B, T): the token where it was sampled, −100 elsewhere."""
        packed = pack([self.episodes[row["episode"]] for row in rows], self.chat)
        return {**packed.model_inputs(), "labels": packed.labels}


def order(lengths: Sequence[int], replay: int, settings: SFTSettings) -> list[int]:
    """Order the episodes of a run; those of replay are numbered after the others.

    A batch begins with its shortest episodes and is followed by its replay, so that a micro-batch is padded to the
    length of its like only. A step is the same sum in whatever order.

    Args:
        lengths: of the episodes, in tokens.
        replay: how many there are to replay.
        settings: batch sizes, epochs and seed.
    """
    steps = settings.steps(len(lengths))
    a, b = settings.batch_size, settings.replay
    taught = schedule(len(lengths), steps * a, settings.seed)
    again = [len(lengths) + i for i in schedule(replay, steps * b, settings.seed)] if b else []
    batches = [sorted(taught[s * a : (s + 1) * a], key=lambda i: lengths[i]) for s in range(steps)]
    return [i for s, batch in enumerate(batches) for i in (*batch, *again[s * b : (s + 1) * b])]


def check(chat: Chat, episodes: Sequence[Episode], replay: Sequence[Episode], settings: SFTSettings) -> None:
    """Refuse what can't be trained on now, not hours into the run.

    Args:
        chat: the model's chat encoder.
        episodes: episodes to learn from.
        replay: episodes to replay.
        settings: how to train.

    Raises:
        ValueError: no episodes, replay asked for but not given or the reverse, or an episode that is too long
            or can't be packed.
    """
    if not episodes:
        raise ValueError("train_sft: no episodes given; nothing to train on")
    if bool(settings.replay) != bool(replay):
        raise ValueError(
            f"SFTSettings.replay={settings.replay} beside each batch, but {len(replay)} episodes to replay "
            "were given; give both or neither"
        )
    for episode in (*episodes, *replay):
        if len(episode.ids) > settings.max_tokens:
            raise ValueError(
                f"episode {episode.task.id}: {len(episode.ids)} tokens, above "
                f"SFTSettings.max_tokens={settings.max_tokens}; leave it out or raise the limit"
            )
        pack([episode], chat)


@dataclass(frozen=True)
class SFTTraining:
    """A cold start told in plain values: this process can do it, or others (:func:`kit.train.launch.launcher.launch`).

    Attributes:
        start: the checkpoint to start from.
        episodes: file of the episodes to learn from.
        replay: file of those to replay; empty: none.
        run_dir: gets what :func:`train_sft` writes.
        settings: of SFT.
        threads: of each process.
        exports: steps after which the model so far is kept as well, as ``model-STEP``.
    """

    start: str
    episodes: str
    run_dir: str
    settings: SFTSettings
    replay: str = ""
    threads: int = 1
    exports: tuple[int, ...] = ()

    def __call__(self, watcher: Watcher | None = None) -> Path:
        """Train; returns the folder of the trained model."""
        torch.set_num_threads(self.threads)
        vlm, chat = load_for_training(self.start, self.settings)
        taught = load_episodes(self.episodes)
        again = load_episodes(self.replay) if self.replay else []
        return train_sft(
            vlm, chat, taught, self.settings, self.run_dir, replay=again, exports=self.exports, watcher=watcher
        )


def train_sft(
    model: Any,
    chat: Chat,
    episodes: Sequence[Episode],
    settings: SFTSettings,
    run_dir: str | Path,
    *,
    replay: Sequence[Episode] = (),
    exports: Sequence[int] = (),
    watcher: Watcher | None = None,
) -> Path:
    """Fine-tune ``model`` on ``episodes``; the same call again resumes.

    Args:
        model: a model of a known family; it holds the trained weights afterwards.
        chat: the model's chat encoder.
        episodes: episodes to learn from.
        settings: how to train.
        run_dir: gets ``checkpoint/``, ``metrics.jsonl`` (columns loss, entropy, mean_token_accuracy, …),
            ``tensorboard/`` and ``model/``.
        replay: to draw ``settings.replay`` from beside each batch.
        exports: steps after which the model so far is kept too, as ``run_dir/model-STEP``.
        watcher: shown the progress and the rows of metrics; None: one that suits the place.

    Returns:
        The folder of the trained model.

    Raises:
        ValueError: an episode can't be packed or is too long, or ``run_dir`` holds another run.
    """
    from datasets import Dataset

    from kit.train.sft_trainer import EpisodeSFTTrainer
    from kit.train.training_run import run

    run_dir = Path(run_dir)
    check(chat, episodes, replay, settings)
    every = [*episodes, *replay]
    steps = settings.steps(len(episodes))
    numbers = order([len(episode.ids) for episode in episodes], len(replay), settings)

    def make_trainer(meter: ProgressMeter) -> EpisodeSFTTrainer:
        return EpisodeSFTTrainer(
            model=model,
            args=settings.trl_args(run_dir, steps, model),
            data_collator=Collator(every, chat),
            train_dataset=Dataset.from_dict({"episode": numbers}),
            processing_class=chat.tokenizer,
            peft_config=lora_config(settings.lora_rank, chat.family),
        )

    return run(
        make_trainer,
        model,
        chat,
        run_dir,
        steps=steps,
        freeze_vision=settings.freeze_vision,
        settings=asdict(settings) | {"device": device_of(settings, model)},
        data=[fingerprint(episode.task, episode.ids) for episode in every],
        exports=exports,
        watcher=watcher,
    )
