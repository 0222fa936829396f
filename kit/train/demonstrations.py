"""Collect demonstrations: let an expert policy play tasks, every finished chunk on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kit.chat import Chat
from kit.data.store import append_episodes, drop_torn_line, load_episodes
from kit.episode import Episode, Task
from kit.policy import Policy
from kit.rollout import Environment, RolloutConfig, rollout
from kit.seeding import seed_per_episode
from kit.waiting import counted


def answered(episode: Episode) -> bool:
    """True unless a turn holds no text at all: that isn't what a policy said, but an endpoint that sent nothing."""
    return all(turn.text.strip() for turn in episode.turns)


def collect(
    policy: Policy,
    chat: Chat,
    tasks: Sequence[Task],
    make_env: Callable[[], Environment],
    config: RolloutConfig,
    path: str | os.PathLike[str],
    chunk: int = 16,
    progress: Callable[[int, int], None] = lambda done, of: None,
    seed: int = 0,
    usable: Callable[[Episode], bool] = answered,
) -> list[Episode]:
    """Let ``policy`` play ``tasks``; every finished chunk is on disk before the next one starts.

    Called again with the same ``path`` it plays only the tasks that aren't there yet, so whatever
    stopped it (an endpoint that failed, a killed process) costs at most one chunk.

    Args:
        policy: the expert.
        chat: encodes prompts and observations.
        tasks: the tasks to play.
        make_env: makes one environment; there are as many as tasks of a chunk.
        config: limits of turns and tokens, and the temperature.
        path: JSONL file that episodes are appended to, all of them: the filter comes later.
        chunk: episodes played at once.
        progress: told how many of the tasks are done.
        seed: of all that is sampled; a task's own follows from its place, whatever was played before.
        usable: which episodes of the file count; the others are played again.

    Raises:
        ValueError: two tasks have one id; or ``path`` holds episodes written with another tokenizer, or of tasks
            that have since changed (the same id, but another question or other images).
        OSError, EndpointError: what stopped it; the file then holds everything before.
    """
    drop_torn_line(path)
    have = {e.task.id: e for e in (load_episodes(path) if Path(path).exists() else []) if usable(e)}
    asked = {task.id: task for task in tasks}
    if len(asked) < len(tasks):
        twice = next(name for name in asked if sum(task.id == name for task in tasks) > 1)
        raise ValueError(f"task {twice} stands among the tasks twice: episodes are told apart by it; name each once")
    for episode in have.values():
        task = asked.get(episode.task.id, episode.task)
        if (task.question, task.images, task.originals) != (
            episode.task.question,
            episode.task.images,
            episode.task.originals,
        ):
            raise ValueError(
                f"{path}: task {episode.task.id} was played with another question or other pictures; use another file"
            )
        if any(chat.decode(turn.ids) != turn.text for turn in episode.turns):
            raise ValueError(f"{path}: episode {episode.task.id} was written with another tokenizer; use another file")
    seeds = dict(zip([task.id for task in tasks], seed_per_episode(seed, len(tasks)), strict=True))
    todo = [task for task in tasks if task.id not in have]
    progress(len(tasks) - len(todo), len(tasks))

    def play(some: Sequence[Task]) -> None:
        played = rollout(policy, chat, some, make_env, config, seed=[seeds[task.id] for task in some])
        append_episodes(path, played)
        have.update((episode.task.id, episode) for episode in played)

    parts = [todo[at : at + chunk] for at in range(0, len(todo), chunk)]
    for _ in counted(play, parts, f"parts of {len(todo)} demonstrations"):
        progress(sum(task.id in have for task in tasks), len(tasks))
    # What is right, and all else that nobody was shown, may be known better since an episode was played.
    return [replace(have[task.id], task=task) for task in tasks]
