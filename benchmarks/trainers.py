"""TRL's trainer on a paper's environments beside the kit's, from the same start: ``python -m benchmarks trainers 8``.

Both take steps of the same size on the same tasks. TRL's first batch is said once more in the kit's own loop: equal
texts have to earn equal rewards. Then the seconds of a step, and their ratio.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from adapters.opened import Opened, open_paper
from adapters.trl import environment_factory, reward_function, rows
from adapters.trl_tags import ChatProcessor, speak
from benchmarks.telling import tell
from kit.chat import Chat
from kit.episode import Episode
from kit.files import runs_folder
from kit.models import load_model
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import rollout
from kit.train.experiment import Rollouts
from kit.train.grpo import GRPOSettings
from kit.train.metrics import read_metrics
from papers.agile.experiment import Play, Training, trained

PAPER = "agile"
PLAY: dict[str, Any] = {"prompt": "brief", "max_turns": 5, "max_new_tokens": 80}
SETTINGS = GRPOSettings(prompts_per_batch=4, group_size=4, per_device_batch_size=16, learning_rate=2.5e-5)
TOKENS = 600
"""Of a completion, all turns and replies of tools: TRL has no limit of a turn."""


class Clock(TrainerCallback):
    """Seconds of every step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._began = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step begins, with its rollout."""
        self._began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """It has ended."""
        self.seconds.append(time.perf_counter() - self._began)


def trainer_of(
    opened: Opened, start: Path, folder: Path, steps: int, settings: GRPOSettings = SETTINGS
) -> tuple[GRPOTrainer, Clock, list[tuple[Episode, float]]]:
    """Make TRL's trainer, its clock, and the list that will hold its first batch's episodes with their rewards.

    Args:
        opened: the paper.
        start: checkpoint to start from.
        folder: what it writes.
        steps: of the training.
        settings: the kit's, which are told to TRL in its names.
    """
    chat, model = Chat.from_pretrained(start), load_model(start)
    group, clock = settings.group_size, Clock()
    first: list[tuple[Episode, float]] = []
    paid = reward_function(opened, group)

    def reward(environments: list[Any], **more: Any) -> list[float | None]:
        found = paid(environments=environments, **more)
        if not first:
            first.extend((one._session.finish(), value) for one, value in zip(environments, found, strict=True))
        return [*found]

    config = GRPOConfig(
        output_dir=str(folder),
        max_steps=steps,
        num_generations=group,
        per_device_train_batch_size=settings.prompts_per_batch * group,
        steps_per_generation=1,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        beta=settings.beta,
        loss_type=settings.loss_type,
        max_completion_length=TOKENS,
        max_tool_calling_iterations=opened.play.max_turns - 1,
        report_to="none",
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
        bf16=False,
        gradient_checkpointing=False,
    )
    factory: Any = environment_factory(opened, tagged=True)  # TRL's own type of it knows texts alone
    trainer = GRPOTrainer(
        model=model,
        args=config,
        train_dataset=rows(opened, tagged=True),
        processing_class=speak(ChatProcessor(chat), opened, model),
        environment_factory=factory,
        reward_funcs=[reward],
        callbacks=[clock],
    )
    return trainer, clock, first


def said_again(opened: Opened, start: Path, episodes: Sequence[Episode]) -> list[float]:
    """Rewards of the same texts in the kit's own loop."""
    assert isinstance(opened.play, Rollouts)
    chat, play = Chat.from_pretrained(start), opened.play
    found = []
    for episode in episodes:
        policy = ScriptedPolicy(chat, lambda now, said=episode: said.turns[len(now.turns)].text)  # type: ignore[misc]
        [again] = rollout(policy, chat, [episode.task], lambda: play.environment(opened.tools), play)
        found.append(opened.reward([again], episode.task.target)[0].total)
    return found


def trainers_bench(steps: int = 8) -> dict[str, float]:
    """Train by both from a run's cold start; prints and returns the seconds of a step, and the ratio.

    Args:
        steps: of each.

    Raises:
        FileNotFoundError: there is no run with a cold start: run the paper's notebooks up to it.
        RuntimeError: equal texts earned other rewards.
    """
    run = runs_folder() / PAPER
    start, tasks = trained(run, "sft"), run / "data"
    with tempfile.TemporaryDirectory() as folder:
        with open_paper(PAPER, "train", tasks, allow_unsafe=True, **PLAY) as opened:
            tell("TRL's trainer")
            trainer, clock, first = trainer_of(opened, start, Path(folder, "trl"), steps)
            trainer.train()
            earned = [value for _, value in first]
            if (again := said_again(opened, start, [episode for episode, _ in first])) != earned:
                raise RuntimeError(f"equal texts, other rewards: TRL's {earned}, the kit's {again}")
        tell("the kit's trainer")
        settings = GRPOSettings(**{**vars(SETTINGS), "steps": steps})
        play = Play(**PLAY)
        kits = Path(folder, "kit")
        Training(str(start), str(tasks / "train.jsonl"), str(kits), play, settings, allow_unsafe=True)()
        ours = [row["seconds"] for row in read_metrics(kits / "metrics.jsonl")]
    figures = {"kit": statistics.median(ours), "TRL": statistics.median(clock.seconds)}
    calls = sum(episode.calls for episode, _ in first) / len(first)
    print(f"TRL's first {len(first)} episodes, {calls:.2f} calls each, said again in the kit's loop: equal rewards,")
    print(f"mean {statistics.mean(earned):.3f}; seconds a step of {len(first)} episodes, median of {steps}")
    for name, value in figures.items():
        print(f"  {name:8s} {value:8.2f} {value / figures['kit']:8.2f}")
    return figures
