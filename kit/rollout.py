"""The think–act–observe loop: the only one in the kit.

The policy is asked to continue every episode whose environment has answered, and gives each turn back as soon as
it has ended; that environment steps at once, beside the others and while the policy goes on with other episodes. What
the environment says is appended, and the episode is ready for its next turn. Whether turns are sampled in rounds or as
episodes get ready is the policy's choice (:meth:`kit.policy.Policy.stream`). Ids are concatenated and never encoded
twice, so what a trainer sees is what the policy saw.

An episode ends when the policy answers (``answer``), when a turn holds no action (``format``),
after ``Budget.turns`` turns (``turns``), when the next observation would not leave room for
another turn (``tokens``; the observation is then not appended, so a picture is never cut), or
when the sandbox lost its state (``lost``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Protocol

from kit.chat import Chat, Content
from kit.episode import Action, Ended, Episode, Observation, Task, Turn
from kit.policy import Completion, GenerationRequest, Policy, SamplingParams, Wait
from kit.protocol import Protocol as Tags
from kit.seeding import Seed, child_seed, seed_per_episode


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
    """What the loop asks of a ``gymnasium.Env``: its tags, two ways to speak, and the standard two methods."""

    @property
    def protocol(self) -> Tags: ...

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
    params: SamplingParams,
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
    seeds = seed_per_episode(seed, len(tasks))
    policy.reset()
    envs = [make_env() for _ in tasks]
    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(lambda pair: pair[0].reset(options={"task": pair[1]}), zip(envs, tasks, strict=True)))
            episodes = [
                Episode(task, tuple(chat.prompt(*env.prompt(task)))) for env, task in zip(envs, tasks, strict=True)
            ]
            played = _Played(chat, envs, episodes, seeds, params, budget, pool)
            try:
                for i, sample in policy.stream(played.ready, params):
                    played.said(i, sample)
            finally:
                played.settle()
        finally:
            list(pool.map(lambda env: env.close(), envs))
    return episodes


@dataclass
class _Played:
    """Episodes while they are played: each waits for its next turn to be asked for, for the policy or for its env.

    Attributes:
        episodes: replaced as they grow.
        waiting: those whose next turn can be asked for.
        stepping: how many environments step.
    """

    chat: Chat
    envs: Sequence[Environment]
    episodes: list[Episode]
    seeds: Sequence[int]
    params: SamplingParams
    budget: Budget
    pool: ThreadPoolExecutor

    def __post_init__(self) -> None:
        self.stepping = 0
        self.waiting: list[int] = []
        self._answers: SimpleQueue[tuple[int, Completion, str, Future[Any]]] = SimpleQueue()
        for i in range(len(self.episodes)):
            self._go_on(i)

    def _go_on(self, i: int) -> None:
        """The next turn of ``i``, unless it has ended, or a turn of full length would not fit any more."""
        if self.episodes[i].ended == "running":
            if len(self.episodes[i].ids) + self.params.max_new_tokens > self.budget.tokens:
                self.episodes[i] = self.episodes[i].end("tokens")
            else:
                self.waiting.append(i)

    def said(self, i: int, sample: Completion) -> None:
        """A turn has ended: its environment steps."""
        text = self.chat.decode(sample.ids)
        self.stepping += 1
        future = self.pool.submit(self.envs[i].step, text)
        future.add_done_callback(lambda done: self._answers.put((i, sample, text, done)))

    def ready(self, wait: Wait) -> list[tuple[int, GenerationRequest]]:
        """Requests for the next turns (:class:`kit.policy.RequestSource`)."""
        while self.stepping and (wait == "all" or (wait == "one" and not self.waiting) or not self._answers.empty()):
            i, sample, text, answer = self._answers.get()
            self.stepping -= 1
            self.episodes[i] = advance(
                self.chat, self.episodes[i], sample, text, answer.result(), self.budget, self.params
            )
            self._go_on(i)
        handed, self.waiting = sorted(self.waiting), []
        return [(i, self._request(i)) for i in handed]

    def _request(self, i: int) -> GenerationRequest:
        episode = self.episodes[i]
        return GenerationRequest(
            tuple(episode.ids), episode.images, episode, child_seed(self.seeds[i], len(episode.turns))
        )

    def settle(self) -> None:
        """After an error, too, no environment may be closed while it steps."""
        while self.stepping:
            self._answers.get()
            self.stepping -= 1


def advance(
    chat: Chat,
    episode: Episode,
    sample: Completion,
    text: str,
    step: tuple[Observation, float, bool, bool, dict],
    budget: Budget,
    params: SamplingParams,
) -> Episode:
    """The episode after one more turn: ended, or with the observation appended."""
    observation, _, terminated, truncated, info = step
    action: Action | None = info["action"]
    turn = Turn(sample.ids, sample.logprobs, text, action)
    ended: Ended
    if terminated:
        ended = "answer" if action else "lost" if observation.status == "episode_lost" else "format"
        return episode.add(turn).end(ended)
    if truncated or len(episode.turns) + 1 == budget.turns:
        return episode.add(replace(turn, observation=observation)).end("turns")
    reply = tuple(chat.reply(content(observation), closed=sample.ids[-1:] == (chat.end_id,)))
    if len(episode.ids) + len(sample.ids) + len(reply) + params.max_new_tokens > budget.tokens:
        return episode.add(replace(turn, observation=observation)).end("tokens")
    return episode.add(replace(turn, observation=observation, observation_ids=reply))


@dataclass(frozen=True)
class Pace:
    """How long episodes may be, and how many environments are stepped at once.

    Attributes:
        turns: turn budget, the answer included.
        max_new_tokens: of one turn.
        max_tokens: of an episode.
        workers: environments stepped at once.
    """

    turns: int = 5
    max_new_tokens: int = 2048
    max_tokens: int = 28192
    workers: int = 16

    def play(
        self,
        policy: Policy,
        chat: Chat,
        tasks: Sequence[Task],
        make_env: Callable[[], Environment],
        temperature: float,
        seed: Seed = 0,
    ) -> list[Episode]:
        """Play each task once, each in an environment of its own."""
        params = SamplingParams(make_env().protocol.stops, temperature, self.max_new_tokens)
        return rollout(policy, chat, tasks, make_env, params, Budget(self.turns, self.max_tokens), self.workers, seed)
