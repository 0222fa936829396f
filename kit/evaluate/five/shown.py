"""Show a policy something else than its own observations: another episode's, blank ones, or no tools at all.

Each function here takes an environment and returns one in which the same policy can play. Only what the policy is shown
differs: its tools run on its own images, rewards and endings are those of its own actions.

==================  ====================================================================================
environment         what follows an action that isn't the answer
==================  ====================================================================================
:func:`as_it_is`    its own observation
:func:`blank`       no text, and for every image a grey one of the same size under the same name
:func:`swapped`     the observation that another episode got in the same turn (:func:`other_episodes`)
:func:`toolless`    nothing is run; the agent is told that there is no such tool
==================  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from PIL import Image

from kit.chat import Content
from kit.environment import ToolEnv
from kit.episode import Episode, NamedImage, Observation, Task
from kit.evaluate.outcomes import source_image
from kit.protocol import Protocol
from kit.rollout import Environment

Around = Callable[[Any], Environment]
"""From an environment to the one that is played in its place."""

Change = Callable[[Task, int, Observation], Observation]
"""From a task, the number of an observation in its episode (from 0) and the observation to the one that is shown."""

Shown = Mapping[str, tuple[Observation, ...]]
"""Task's id → the observations of another task's episode."""

GREY = (128, 128, 128)


class ShownEnv:
    """An environment whose policy is shown changed observations; all else is the environment's own.

    Args:
        env: the environment, one task at a time.
        change: makes what is shown of an observation. Its status stays.
    """

    def __init__(self, env: ToolEnv, change: Change) -> None:
        self.env, self.change, self.shown = env, change, 0

    @property
    def protocol(self) -> Protocol:
        """The environment's tags."""
        return self.env.protocol

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a task; its own images and question are never changed."""
        self.shown = 0
        return self.env.reset(seed=seed, options=options)

    def prompt(self, task: Task) -> tuple[str, Content]:
        """System text and user message, unchanged."""
        return self.env.prompt(task)

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do one turn's text, and change what comes back unless the episode is over."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not terminated:
            changed = self.change(self.env.task, self.shown, observation)
            observation = replace(changed, status=observation.status)
            self.shown += 1
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class _Toolless(ShownEnv):
    """An environment that has no tools while it is played."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        found = super().reset(seed=seed, options=options)
        self.env.close()  # closes the tools that the task was given, and forgets them
        self.env.running = True  # the episode goes on without them
        return found


def as_it_is(env: ToolEnv) -> Environment:
    """The environment itself."""
    return env


def toolless(env: ToolEnv) -> Environment:
    """The environment with its tools switched off: every call fails, and the agent is told so."""
    return _Toolless(env, lambda task, number, own: own)


def blank(env: ToolEnv) -> Environment:
    """The environment with observations that say and show nothing."""
    return ShownEnv(env, _blanked)


def _blanked(task: Task, number: int, own: Observation) -> Observation:
    grey = (NamedImage(image.name, Image.new("RGB", image.image.size, GREY)) for image in own.images)
    return replace(own, text="", images=tuple(grey), closing="")


def swapped(others: Shown) -> Around:
    """Make environments that show each task another episode's observations, turn by turn.

    Where the other episode has fewer turns, its last observation is shown again in every further turn. Images keep the
    names of the agent's own, as far as there are as many, so that its code finds them.

    Args:
        others: of every task that will be played.
    """

    def change(task: Task, number: int, own: Observation) -> Observation:
        theirs = others.get(task.id)
        if not theirs:
            raise ValueError(f"task {task.id}: no other episode's observations were given; play {', '.join(others)}")
        shown = theirs[min(number, len(theirs) - 1)]
        pairs = zip_longest(shown.images, own.images[: len(shown.images)])
        return replace(shown, images=tuple(NamedImage((mine or image).name, image.image) for image, mine in pairs))

    return lambda env: ShownEnv(env, change)


def observations(episode: Episode) -> tuple[Observation, ...]:
    """The observations that the policy read: those whose tokens were appended."""
    return tuple(turn.observation for turn in episode.turns if turn.observation and turn.observation_ids)


def one_kind(task: Task) -> Hashable:
    """Name every task's kind alike: any two may have their observations exchanged."""
    return ""


def other_episodes(episodes: Sequence[Episode], kind: Callable[[Task], Hashable] = one_kind) -> Shown:
    """Find for each episode the observations of another one: the next of its kind, about another image, that read any.

    "Next" is in the order given, from the last on to the first. An episode for which there is none is left out.

    Args:
        episodes: of one policy.
        kind: names what may be exchanged: a search's snippets in place of an image would be seen at once.
    """
    found: dict[str, tuple[Observation, ...]] = {}
    for at, episode in enumerate(episodes):
        for other in (*episodes[at + 1 :], *episodes[:at]):
            alike = kind(other.task) == kind(episode.task)
            if alike and source_image(other.task) != source_image(episode.task) and observations(other):
                found[episode.task.id] = observations(other)
                break
    return found
