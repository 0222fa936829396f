"""The think–act–observe loop: the only one in the kit.

Every turn: sample one turn for all live episodes at once, step their environments at the same
time, append what they say. Ids are concatenated and never encoded twice, so what a trainer sees
is what the policy saw.

An episode ends when the policy answers (``answer``), when a turn holds no action (``format``),
after ``Budget.turns`` turns (``turns``), when the next observation would not leave room for
another turn (``tokens``; the observation is then not appended, so a picture is never cut), or
when the sandbox lost its state (``lost``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kit.chat import Chat, Content
from kit.episode import Action, Ended, Episode, Observation, Task, Turn
from kit.policy import Params, Policy, Request, Sample
from kit.seeds import Seed, child, each


@dataclass(frozen=True)
class Budget:
    """How long an episode may get.

    Attributes:
        turns: turns of the policy, the answer included (AGILE: 5, Table 5).
        tokens: of the whole episode (AGILE: 8,192 of prompt and 20,000 of response).
    """

    turns: int = 5
    tokens: int = 28192

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise ValueError(f"Budget.turns={self.turns}: an episode needs at least 1 turn")


class Environment(Protocol):
    """What the loop asks of a ``gymnasium.Env``: two ways to speak, and the standard two methods."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]: ...

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]: ...

    def prompt(self, task: Task) -> tuple[str, Content]: ...

    def close(self) -> None: ...


def content(observation: Observation) -> list[Any]:
    """An observation in reading order: its text, then each picture after its name."""
    parts: list[Any] = [observation.text] if observation.text else []
    for picture in observation.images:
        parts += [f"{picture.name}: ", picture]
    return parts


def rollout(
    policy: Policy,
    chat: Chat,
    tasks: Sequence[Task],
    make_env: Callable[[], Environment],
    params: Params,
    budget: Budget | None = None,
    workers: int = 16,
    seed: Seed = 0,
) -> list[Episode]:
    """Play every task once; episodes come back in the tasks' order.

    Args:
        make_env: makes one environment; there are as many as tasks.
        workers: environments stepped at once (threads: the work is in the sandbox's processes).
        seed: of all that is sampled; or one an episode. What an episode samples depends on its own alone.

    Raises:
        ValueError: seeds for another number of episodes.
    """
    budget = budget or Budget()
    seeds = each(seed, len(tasks))
    policy.reset()
    envs = [make_env() for _ in tasks]
    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(lambda pair: pair[0].reset(options={"task": pair[1]}), zip(envs, tasks, strict=True)))
            episodes = [
                Episode(task, tuple(chat.prompt(*env.prompt(task)))) for env, task in zip(envs, tasks, strict=True)
            ]
            for turn in range(budget.turns):
                live = [i for i, episode in enumerate(episodes) if episode.ended == "running"]
                live = [i for i in live if not _out_of_tokens(episodes, i, params, budget)]
                if not live:
                    break
                requests = [
                    Request(tuple(episodes[i].ids), episodes[i].images, episodes[i], child(seeds[i], turn))
                    for i in live
                ]
                samples = policy.sample(requests, params)
                texts = [chat.decode(sample.ids) for sample in samples]
                steps = list(pool.map(lambda pair: envs[pair[0]].step(pair[1]), zip(live, texts, strict=True)))
                last = turn + 1 == budget.turns
                for i, sample, text, step in zip(live, samples, texts, steps, strict=True):
                    episodes[i] = _advance(chat, episodes[i], sample, text, step, budget, params, last)
        finally:
            list(pool.map(lambda env: env.close(), envs))
    return episodes


def _out_of_tokens(episodes: list[Episode], i: int, params: Params, budget: Budget) -> bool:
    """End episode ``i`` if a turn of full length would not fit any more."""
    if len(episodes[i].ids) + params.max_new_tokens <= budget.tokens:
        return False
    episodes[i] = episodes[i].end("tokens")
    return True


def _advance(
    chat: Chat,
    episode: Episode,
    sample: Sample,
    text: str,
    step: tuple[Observation, float, bool, bool, dict],
    budget: Budget,
    params: Params,
    last: bool,
) -> Episode:
    """The episode after one more turn: ended, or with the observation appended."""
    observation, _, terminated, truncated, info = step
    action: Action | None = info["action"]
    turn = Turn(sample.ids, sample.logprobs, text, action)
    ended: Ended
    if terminated:
        ended = "answer" if action else "lost" if observation.status == "episode_lost" else "format"
        return episode.add(turn).end(ended)
    if last or truncated:
        return episode.add(replace(turn, observation=observation)).end("turns")
    reply = tuple(chat.reply(content(observation), closed=sample.ids[-1:] == (chat.end_id,)))
    if len(episode.ids) + len(sample.ids) + len(reply) + params.max_new_tokens > budget.tokens:
        return episode.add(replace(turn, observation=observation)).end("tokens")
    return episode.add(replace(turn, observation=observation, observation_ids=reply))
