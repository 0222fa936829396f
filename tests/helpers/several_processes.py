"""A run of several processes that train together, started by ``torchrun``: ``several_processes.py FOLDER SETTINGS``.

What is sampled depends on the episode's place in the batch alone, not on the process that plays it or on what else it
plays: so any number of processes trains on the same episodes. ``SETTINGS`` (JSON) are those of GRPO; ``fault`` in it:
``kill``, ``raise`` or ``nan`` (its gradient) in the last process's third step; ``slow``: seconds that each step waits;
``reward``: ``even`` (of one episode), ``coarse`` (the same, often equal in a group), ``siblings`` (of its group),
``one_rank`` (turns are rewarded in the first process alone) or ``own_parts`` (each process names the reward's parts in
its own way); ``held_out``: a file of tasks that are looked at before each step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from training_fixtures import LIMITS, Looks, coarse_reward, even_reward, fresh_chat, fresh_model, sampling_rollout, task

from kit.episode import Episode, Score, Task
from kit.policy import Policy
from kit.rewards.base import GroupReward
from kit.train.grpo import GRPOSettings, train_grpo
from kit.train.held_out import held_out_accuracy
from kit.train.processes import rank, world_size
from kit.train.progress import Watcher

RUN = GRPOSettings(
    steps=5, prompts_per_batch=2, group_size=4, per_device_batch_size=4, learning_rate=1e-3, save_every=2, seed=3
)


def siblings(episodes: Sequence[Episode], target: Any) -> list[Score]:
    """An episode's own score, weighed by the group's mean square: it can't be worked out without the siblings."""
    scores = even_reward(episodes, target)
    mean = sum(score.total**2 for score in scores) / len(scores)
    return [Score(score.total**2 - mean * score.total, score.parts) for score in scores]


def one_rank(episodes: Sequence[Episode], target: Any) -> list[Score]:
    """Rewards of turns in the first process, none in the others."""
    scores = even_reward(episodes, target)
    if rank() > 0:
        return scores
    return [replace(s, turns=(s.total,) * len(e.turns)) for s, e in zip(scores, episodes, strict=True)]


def own_parts(episodes: Sequence[Episode], target: Any) -> list[Score]:
    """Part ``left`` = 1 in the first process; ``right`` = 3 and ``more`` = 5 in the others."""
    parts = {"left": 1.0} if rank() == 0 else {"right": 3.0, "more": 5.0}
    return [replace(score, parts=parts) for score in even_reward(episodes, target)]


REWARDS: dict[str, GroupReward] = {
    "even": even_reward,
    "coarse": coarse_reward,
    "siblings": siblings,
    "one_rank": one_rank,
    "own_parts": own_parts,
}


def train(folder: Path, settings: dict[str, Any], watcher: Watcher | None = None) -> Any:
    """The run; returns the model."""
    fault = settings.pop("fault", "")
    slow = settings.pop("slow", 0.0)
    reward = REWARDS[settings.pop("reward", "even")]
    files = (settings.pop("held_out"),) if "held_out" in settings else ()
    chat = fresh_chat()
    model = fresh_model(chat)
    sample = sampling_rollout(chat)
    calls = [0]

    def look(policy: Policy, tasks: Sequence[Task]) -> list[Episode]:
        return sample(policy, tasks, seed=[int(task.id.rpartition("-")[2]) for task in tasks])

    def before(policy: Policy) -> Mapping[str, float]:
        calls[0] += 1
        time.sleep(slow)
        if fault and calls[0] == 3 and rank() == world_size() - 1:
            if fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "nan":
                model.lm_head.weight.register_hook(lambda gradient: gradient * float("nan"))
                return {}
            raise ConnectionError("the sandbox of this process is gone")
        return watched(policy) if watched else {}

    made = replace(RUN, **settings)
    watched = held_out_accuracy(files, 9, look, even_reward)
    tasks = [task(i) for i in range(3)]
    train_grpo(model, chat, tasks, Looks, LIMITS, reward, made, folder, held_out=before, watcher=watcher)
    return model


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(Path(sys.argv[1]), json.loads(sys.argv[2]))
