"""A run of several processes that train together, started by ``torchrun``: ``several_processes.py FOLDER SETTINGS``.

What is sampled depends on the episode alone, not on the process that plays it: so any number of processes trains on the
same episodes. ``SETTINGS`` (JSON) are those of GRPO; ``fault`` in it: ``kill`` or ``raise`` in the last process's third
rollout.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from training_fixtures import even_reward, fresh_chat, fresh_model, picture, prompt, task

from kit.chat import Chat
from kit.episode import Action, Episode, Observation, Task, Turn
from kit.grpo import GRPOSettings, train_grpo
from kit.policy import Params, Request
from kit.policy.hf import HFPolicy
from kit.training import process, world_size

RUN = GRPOSettings(steps=5, groups=2, group_size=4, micro_batch=4, learning_rate=1e-3, save_every=2, seed=3)


def two_turns(policy: HFPolicy, chat: Chat, started: Task, seed: int) -> Episode:
    """One episode: a turn, a picture, a turn."""
    episode = Episode(started, prompt(chat, started))
    for turn in range(2):
        request = Request(tuple(episode.ids), episode.images)
        (sample,) = policy.sample([request], Params((), 1.0, 5, seed + turn))
        made = Turn(sample.ids, sample.logprobs, chat.decode(sample.ids), Action("code", ""))
        if turn == 0:
            seen = Observation("See ", (picture("o", seed, 56),))
            reply = chat.reply([seen.text, *seen.images], closed=sample.ids[-1] == chat.end_id)
            made = replace(made, observation=seen, observation_ids=tuple(reply))
        episode = episode.add(made)
    return episode.end("turns")


def train(folder: Path, settings: dict[str, Any]) -> Any:
    """The run; returns the model."""
    fault = settings.pop("fault", "")
    chat = fresh_chat()
    model = fresh_model(chat)
    policy = HFPolicy(model, chat, cache_bytes=0)
    calls = [0]

    def rollout(tasks: Sequence[Task], *, seed: int) -> list[Episode]:
        calls[0] += 1
        if fault and calls[0] == 3 and process() == world_size() - 1:
            if fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ConnectionError("the sandbox of this process is gone")
        first = process() * len(tasks)  # of all processes' episodes
        places = range(first, first + len(tasks))
        return [two_turns(policy, chat, t, calls[0] * 1000 + k * 10) for k, t in zip(places, tasks, strict=True)]

    made = replace(RUN, **settings)
    train_grpo(model, chat, [task(i) for i in range(3)], rollout, even_reward, made, folder)
    return model


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(Path(sys.argv[1]), json.loads(sys.argv[2]))
