"""The think–act–observe loop: the only one in the kit.

The policy is asked to continue every episode whose environment has answered, and gives each turn back as soon as
it has ended; that environment steps at once, beside the others and while the policy goes on with other episodes. What
the environment says is appended, and the episode is ready for its next turn. Whether turns are sampled in rounds or as
episodes get ready is the policy's choice (:meth:`kit.policy.Policy.stream`). Ids are concatenated and never encoded
twice, so what a trainer sees is what the policy saw.

An episode ends when the policy answers (``answer``), when a turn without an action is its end (``format``),
after ``RolloutConfig.max_turns`` turns (``turns``), when the next observation would not leave room for
another turn (``tokens``; the observation is then not appended, so an image is never cut), or
when the sandbox lost its state (``lost``).

An image that an agent makes and the model can't read ends nothing: the agent is told why (:func:`readable`). A task
whose own image can't be read is refused before anything is sampled.

Departures
- [shared-ends-before-limit] Paper: A response has a maximum length; the frameworks cut what is longer. Here: The
  episode ends before an observation that would not leave room for another turn. Why: A cut image has no meaning. May
  change: Over-long episodes are shorter by one observation; they count as unanswered either way.
- [shared-turn-ends-at-tag] Paper: Code is looked for in a whole response, and only without it an answer. Here: A turn
  ends at the first closing tag of an action or answer, and that one counts. Why: A policy that goes on would invent
  the observation itself. May change: A turn that answers and then writes code ends the episode.
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
from kit.waiting import counting


@dataclass(frozen=True)
class RolloutConfig:
    """Limits of a rollout: the one place for turns, tokens and temperature, from a notebook's parameter to the trainer.

    Attributes:
        max_turns: turns of the policy, the answer included.
        max_new_tokens: tokens of one turn.
        max_episode_tokens: tokens of the whole episode, prompt and observations included.
        max_response_tokens: of them, tokens after the prompt, observations included; 0: no limit of their own.
        env_workers: environments stepped at once, in threads (the work is in the sandbox's processes).
        stops: strings that end a turn; None: those of the environment's protocol.
        temperature: of sampling; 0 is greedy: ``replace(config, temperature=0.0)``.
    """

    max_turns: int = 8
    max_new_tokens: int = 512
    max_episode_tokens: int = 16384
    max_response_tokens: int = 0
    env_workers: int = 16
    stops: tuple[str, ...] | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        for name in ("max_turns", "max_new_tokens", "max_episode_tokens", "env_workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"RolloutConfig.{name}={getattr(self, name)}: must be at least 1")
        if self.max_response_tokens and self.max_response_tokens < self.max_new_tokens:
            raise ValueError(
                f"RolloutConfig.max_response_tokens={self.max_response_tokens}: a turn may have {self.max_new_tokens} "
                "(max_new_tokens), so it must be at least that; or 0, for no limit of its own"
            )
        if self.temperature < 0:
            raise ValueError(f"RolloutConfig.temperature={self.temperature}: must be 0 (greedy) or more")

    @property
    def picture_tokens(self) -> int:
        """Image tokens to plan for: all that the limits leave for a prompt; 0: they leave it no share of its own."""
        return max(0, self.max_episode_tokens - self.max_response_tokens) if self.max_response_tokens else 0

    def most_tokens(self, prompt: int) -> int:
        """Tokens that an episode may have whose prompt has so many."""
        response = self.max_response_tokens or self.max_episode_tokens
        return min(self.max_episode_tokens, prompt + response)


class Environment(Protocol):
    """The part of a ``gymnasium.Env`` that the loop uses: its tags, its prompt, and the standard two methods."""

    @property
    def protocol(self) -> Tags: ...

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]: ...

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]: ...

    def prompt(self, task: Task) -> tuple[str, Content]: ...

    def close(self) -> None: ...


def begin(chat: Chat, env: Environment, task: Task) -> Episode:
    """Make an episode that holds its prompt alone.

    Args:
        chat: encodes the prompt.
        env: tells it.
        task: the task.

    Raises:
        ValueError: the model can't read one of the task's images; or the prompt doesn't show exactly these, in order:
            the policy would see others.
    """
    for image in task.images:
        if why := chat.unreadable(image):
            raise ValueError(
                f"task {task.id}: {chat.family.title} can't read image {image.name}: {why}; change it or leave the "
                "task out"
            )
    system, user = env.prompt(task)
    shown = [part for part in user if not isinstance(part, str)]
    if len(shown) != len(task.images) or any(a is not b and a != b for a, b in zip(shown, task.images, strict=True)):
        raise ValueError(
            f"task {task.id}: the prompt shows {[image.name for image in shown]}, the task has "
            f"{[image.name for image in task.images]}: show all of task.images, in order and unchanged, and no other"
        )
    return Episode(task, tuple(chat.prompt(system, user)))


def content(observation: Observation) -> list[Any]:
    """An observation in reading order: its text, each image after its name, its closing text."""
    parts: list[Any] = [observation.text] if observation.text else []
    for image in observation.images:
        parts += [f"{image.name}: ", image]
    return [*parts, observation.closing] if observation.closing else parts


def readable(chat: Chat, observation: Observation) -> Observation:
    """An observation as the model can read it: in the place of each image that it can't, a line that says why.

    ``strip = image.crop((0, 0, 500, 1))`` makes an image that Qwen2.5-VL refuses. The agent is told so and goes on; if
    there is no other image to see, the action's status is ``error``.
    """
    why = [chat.unreadable(image) for image in observation.images]
    if not any(why):
        return observation
    named = list(zip(observation.images, why, strict=True))
    lines = [f"Error: image {image.name} can't be shown: {reason}" for image, reason in named if reason]
    kept = tuple(image for image, reason in named if not reason)
    status = "error" if observation.status == "ok" and not kept else observation.status
    return replace(observation, text="\n".join([*lines, observation.text]), images=kept, status=status)


def rollout(
    policy: Policy,
    chat: Chat,
    tasks: Sequence[Task],
    make_env: Callable[[], Environment],
    config: RolloutConfig,
    seed: Seed = 0,
) -> list[Episode]:
    """Play every task once; episodes come back in the tasks' order.

    Args:
        policy: samples the turns.
        chat: encodes prompts and observations.
        tasks: the tasks to play.
        make_env: makes one environment; there are as many as tasks.
        config: limits of turns and tokens, and the temperature.
        seed: of all that is sampled; or one an episode. What an episode samples depends on its own alone.

    Raises:
        ValueError: seeds for another number of episodes.
    """
    seeds = seed_per_episode(seed, len(tasks))
    policy.reset()
    envs = [make_env() for _ in tasks]
    stops = config.stops if config.stops is not None else envs[0].protocol.stops if envs else ()
    params = SamplingParams(stops, config.temperature, config.max_new_tokens)
    with ThreadPoolExecutor(config.env_workers) as pool, counting(len(tasks), "episodes") as done:
        try:
            list(pool.map(lambda pair: pair[0].reset(options={"task": pair[1]}), zip(envs, tasks, strict=True)))
            episodes = [begin(chat, env, task) for env, task in zip(envs, tasks, strict=True)]
            played = _Played(chat, envs, episodes, seeds, params, config, pool)
            try:
                for i, sample in policy.stream(played.next_requests, params):
                    played.submit_step(i, sample)
                    done(sum(episode.ended != "running" for episode in played.episodes))
            finally:
                played.drain()
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
    config: RolloutConfig
    pool: ThreadPoolExecutor

    def __post_init__(self) -> None:
        self.stepping = 0
        self.waiting: list[int] = []
        self._answers: SimpleQueue[tuple[int, Completion, str, Future[Any]]] = SimpleQueue()
        for i in range(len(self.episodes)):
            self.enqueue(i)

    def enqueue(self, i: int) -> None:
        """The next turn of ``i``, unless it has ended, or a turn of full length would not fit any more."""
        if self.episodes[i].ended == "running":
            episode = self.episodes[i]
            most = self.config.most_tokens(len(episode.prompt_ids))
            if len(episode.ids) + self.params.max_new_tokens > most:
                self.episodes[i] = episode.end("tokens")
            else:
                self.waiting.append(i)

    def submit_step(self, i: int, sample: Completion) -> None:
        """A turn has ended: its environment steps."""
        text = self.chat.decode(sample.ids)
        self.stepping += 1
        future = self.pool.submit(self.envs[i].step, text)
        future.add_done_callback(lambda done: self._answers.put((i, sample, text, done)))

    def next_requests(self, wait: Wait) -> list[tuple[int, GenerationRequest]]:
        """Requests for the next turns (:class:`kit.policy.RequestSource`)."""
        while self.stepping and (wait == "all" or (wait == "one" and not self.waiting) or not self._answers.empty()):
            i, sample, text, answer = self._answers.get()
            self.stepping -= 1
            self.episodes[i] = advance(
                self.chat, self.episodes[i], sample, text, answer.result(), self.config, self.params
            )
            self.enqueue(i)
        handed, self.waiting = sorted(self.waiting), []
        return [(i, self._request(i)) for i in handed]

    def _request(self, i: int) -> GenerationRequest:
        episode = self.episodes[i]
        return GenerationRequest(
            tuple(episode.ids), episode.images, episode, child_seed(self.seeds[i], len(episode.turns))
        )

    def drain(self) -> None:
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
    config: RolloutConfig,
    params: SamplingParams,
) -> Episode:
    """The episode after one more turn: ended, or with the observation appended.

    Args:
        chat: the model's chat encoder.
        episode: the episode before the turn.
        sample: the turn as sampled.
        text: its text.
        step: what the environment's ``step`` returned.
        config: limits of the episode.
        params: temperature, stop strings, tokens of a turn.
    """
    observation, _, terminated, truncated, info = step
    action: Action | None = info["action"]
    turn = Turn(sample.ids, sample.logprobs, text, action)
    ended: Ended
    if terminated:
        ended = "answer" if action else "lost" if observation.status == "episode_lost" else "format"
        return episode.add(turn).end(ended)
    observation = readable(chat, observation)
    if truncated or len(episode.turns) + 1 == config.max_turns:
        return episode.add(replace(turn, observation=observation)).end("turns")
    reply = tuple(chat.reply(content(observation), closed=sample.ids[-1:] == (chat.end_id,)))
    most = config.most_tokens(len(episode.prompt_ids))
    if len(episode.ids) + len(sample.ids) + len(reply) + params.max_new_tokens > most:
        return episode.add(replace(turn, observation=observation)).end("tokens")
    return episode.add(replace(turn, observation=observation, observation_ids=reply))
