"""Play what the five questions need, and save it as stages of the run: again only where something has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from kit.chat import Chat
from kit.episode import Episode, Task, fingerprint
from kit.evaluate.five import BLANK, OWN, SAMPLES, SWAPPED, TOOLLESS, TRIES
from kit.evaluate.five.shown import Around, as_it_is, blank, observations, one_kind, other_episodes, swapped, toolless
from kit.evaluate.outcomes import Evaluation
from kit.policy import Policy
from kit.policy.vllm_evaluation import load_evaluator


class Playing(Protocol):
    """A paper's way to let a policy play tasks once each, in environments that are changed by ``around``."""

    def __call__(
        self, policy: Policy, chat: Chat, tasks: Sequence[Task], *, temperature: float, around: Around
    ) -> list[Episode]: ...


@dataclass
class Player:
    """A checkpoint that plays; it is loaded when it is first asked to.

    Attributes:
        checkpoint: a folder or hub id.
        playing: the paper's way to play.
    """

    checkpoint: str | Path
    playing: Playing

    @cached_property
    def _loaded(self) -> tuple[Policy, Chat]:
        return load_evaluator(self.checkpoint)

    def __call__(self, tasks: Sequence[Task], around: Around = as_it_is, temperature: float = 0.0) -> list[Episode]:
        """Play each task once.

        Args:
            tasks: the tasks; one may stand there several times.
            around: makes the environment that is played.
            temperature: of sampling; 0 is greedy.
        """
        policy, chat = self._loaded
        return self.playing(policy, chat, tasks, temperature=temperature, around=around)

    @property
    def fingerprint(self) -> str:
        """A hash of the checkpoint's weights; of a hub id, the id."""
        digest, files = hashlib.sha256(), sorted(Path(self.checkpoint).glob("*.safetensors"))
        for path in files:
            with path.open("rb") as file:
                while block := file.read(1 << 24):
                    digest.update(block)
        return digest.hexdigest() if files else str(self.checkpoint)


def _told(tasks: Sequence[Task]) -> list[Any]:
    """All that is asked and shown in tasks, and what their environments know besides, as JSON."""
    return [[fingerprint(task), dict(task.meta)] for task in tasks]


def play_all(
    evaluation: Evaluation[Any],
    run: str | Path,
    grpo: Player,
    sft: Player,
    tasks: Sequence[Task],
    settings: Mapping[str, Any],
    *,
    sampled: Sequence[Task] | None = None,
    kind: Callable[[Task], Hashable] = one_kind,
    tries: int = TRIES,
) -> list[str]:
    """Play the stages that this run lacks, or has of other weights, tasks or settings; each is saved once it is played.

    Args:
        evaluation: the paper's.
        run: the run's folder.
        grpo: the policy after reinforcement.
        sft: the policy before it.
        tasks: held-out tasks.
        settings: whatever else the episodes depend on, such as the most turns, as JSON.
        sampled: the tasks that ``sft`` tries several times; None: all.
        kind: names the tasks whose observations may be exchanged for one another's.
        tries: how often ``sft`` tries each.

    Returns:
        The names of the stages that were played now.
    """
    some = list(tasks if sampled is None else sampled)
    greedy = {"policy": grpo.fingerprint, "tasks": _told(tasks), **settings}
    drawn = {"policy": sft.fingerprint, "tasks": _told(some), "tries": tries, **settings}
    own: list[Episode] = []
    ways: dict[str, tuple[Mapping[str, Any], Callable[[], list[Episode]]]] = {
        OWN: (greedy, lambda: grpo(tasks)),
        SWAPPED: (greedy, lambda: with_others(grpo, own or grpo(tasks), kind)),
        BLANK: (greedy, lambda: grpo(tasks, blank)),
        TOOLLESS: (greedy, lambda: grpo(tasks, toolless)),
        SAMPLES: (drawn, lambda: sft([task for task in some for _ in range(tries)], temperature=1.0)),
    }
    lacking = [name for name, (made_of, _) in ways.items() if not evaluation.has_stage(run, name, made_of)]
    for name in lacking:
        made_of, play = ways[name]
        episodes = play()
        if name == OWN:
            own = episodes
        evaluation.save_stage(run, name, episodes, made_of)
    return lacking


def with_others(
    player: Callable[[Sequence[Task], Around], list[Episode]],
    own: Sequence[Episode],
    kind: Callable[[Task], Hashable] = one_kind,
) -> list[Episode]:
    """Play tasks again with other episodes' observations.

    A task stays as it was played if it was shown nothing: there was nothing to exchange. One that was shown something
    is left out if no other episode of its kind, about another image, was.

    Args:
        player: plays tasks greedily in the environments it is given.
        own: the same policy's episodes with their own observations.
        kind: names the tasks whose observations may be exchanged.

    Raises:
        ValueError: every task would be left out.
    """
    others = other_episodes(own, kind)
    again = [e.task for e in own if observations(e) and e.task.id in others]
    played = {e.task.id: e for e in player(again, swapped(others))} if again else {}
    played |= {e.task.id: e for e in own if not observations(e)}
    if not played:
        raise ValueError(
            f"none of {len(own)} episodes can be shown another one's observations: no other of its kind, about another "
            "image, was shown anything; play more tasks"
        )
    return [played[e.task.id] for e in own if e.task.id in played]
