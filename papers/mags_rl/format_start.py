"""Make what the format start is taught: a script's episodes, and beside them what the base says already.

The script is :mod:`.expert`'s. Its crops are enlarged by several networks in equal shares, so that the policy prefers
none of them: which one helps is a question of the paper (claim M2).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from zlib import crc32

import numpy as np

from kit.chat import Chat
from kit.episode import Episode, Task
from kit.policy import Policy
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig
from kit.train.demonstrations import collect
from kit.train.experiment import in_parts
from kit.train.replay import own_words
from papers.mags_rl.env import MagsEnv
from papers.mags_rl.experiment import Play, magnifier
from papers.mags_rl.expert import READ, RIGHT_SHARE, described, expert
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.tasks import make_tasks
from papers.mags_rl.zoom import Magnifier

NETWORKS = ("bicubic", "span", "none")
"""What enlarges the crops that are shown (:data:`visual_tools.super_resolution.NAMES`)."""

TOLD = RolloutConfig(max_turns=2, max_new_tokens=160, max_episode_tokens=2048, temperature=0.0)
"""Limits of a script's episode."""

AT_ONCE = 64
"""Episodes that are played together."""

OFTEN = {"attribute/hard": 8, "attribute/medium": 4, "relation/medium": 4, "relation/hard": 4}
"""Kinds that are shown so many times as often as the others: those whose question says by a colour where to look, which
is what the tiny model learns slowest."""

REPEATED = 600
"""Boards at the most that the base describes for replay."""


def boards_of(episodes: int, seed: int) -> list[Task]:
    """Draw the boards of a format start, most of them with a question that names a card (:data:`OFTEN`).

    Args:
        episodes: how many.
        seed: of the boards.
    """
    parts = {kind: OFTEN.get(kind, 1) for kind in MAKERS}
    counts = {kind: -(-episodes * part // sum(parts.values())) for kind, part in parts.items()}
    return make_tasks(counts, seed)[:episodes]


def demonstrations(
    chat: Chat,
    tasks: Sequence[Task],
    path: str | os.PathLike[str],
    right_share: float = RIGHT_SHARE,
    networks: Sequence[str] = NETWORKS,
    scale: int = 2,
    prompt: str = "brief",
) -> list[Episode]:
    """Let the script play drawn tasks, an equal share of them with each network.

    Args:
        chat: of the model that is going to imitate them.
        tasks: the tasks.
        path: JSONL file of the episodes; one that was interrupted is gone on with.
        right_share: of the tasks in which the script looks where the answer is.
        networks: names of what enlarges.
        scale: the factor.
        prompt: ``brief`` or ``full``.
    """
    policy, played = ScriptedPolicy(chat, expert(right_share)), dict[str, Episode]()
    for number, name in enumerate(networks):
        some = [task for task in tasks if crc32(f"magnifier {task.id}".encode()) % len(networks) == number]
        make_env = partial(MagsEnv, magnifier(name, scale), 2, prompt)
        played |= {episode.task.id: episode for episode in collect(policy, chat, some, make_env, TOLD, path)}
    return [played[task.id] for task in tasks]


def rehearsal(policy: Policy, chat: Chat, glass: Magnifier, tasks: Sequence[Task], play: Play) -> list[Episode]:
    """Ask the base about boards and their cards in its own words, and keep what it says, in mixed order.

    Of the first :data:`REPEATED` boards. Where the cards lie it says behind ``<think>``, what one of them says behind
    ``<rethink>``: there the agent will.

    Args:
        policy: the base.
        chat: its encoder.
        glass: isn't looked through; the environment wants one.
        tasks: drawn tasks.
        play: limits of an episode, and how tasks are told.
    """
    once = replace(play, max_turns=1, temperature=0.0)
    said = in_parts(described(tasks[:REPEATED]), lambda some: once(policy, chat, glass, some), AT_ONCE)
    read = [episode for episode in said if episode.task.question == READ]
    seen = [episode for episode in said if episode.task.question != READ]
    every = [*own_words(seen, chat), *own_words(read, chat, "<rethink>")]
    return [every[int(i)] for i in np.random.default_rng(0).permutation(len(every))]
