"""Look at held-out tasks while a policy trains: their accuracy, a column of the metrics. Nothing is chosen by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kit.data.store import load_tasks
from kit.episode import Episode, Task
from kit.policy import Policy
from kit.rewards.base import GroupReward
from kit.train.processes import rank, world_size

COLUMN = "held_out_accuracy"

HeldOut = Callable[[Policy], Mapping[str, float]]
"""Lets a policy play held-out tasks; returns columns for the row of metrics. The same in all processes."""


def held_out_accuracy(
    files: Sequence[str], tasks: int, play: Callable[[Policy, Sequence[Task]], list[Episode]], reward: GroupReward
) -> HeldOut | None:
    """Make the function that :func:`kit.train.grpo.train_grpo` calls before each rollout.

    Args:
        files: of held-out tasks.
        tasks: number of tasks of each file, evenly spaced; 0: none. Processes that train together share them.
        play: plays tasks greedily.
        reward: says which answers are right (:attr:`kit.episode.Score.correct`).

    Returns:
        A function from a policy to ``{"held_out_accuracy": share of right answers}``; None for no tasks.
    """
    sets: dict[str, list[Task | None]] = {}
    for path in files if tasks else ():
        every = load_tasks(path)
        chosen = {id(task) for task in evenly_spaced(every, tasks)}
        sets[path] = [task if id(task) in chosen else None for task in every]
    return HeldOutAccuracy(sets, play, reward) if any(map(any, sets.values())) else None


@dataclass(frozen=True)
class HeldOutAccuracy:
    """The share of held-out tasks that a policy answers rightly; see :func:`held_out_accuracy`.

    Attributes:
        files: file → its tasks, line by line; None for those that aren't played.
        play: plays tasks greedily.
        reward: says which answers are right.
    """

    files: Mapping[str, Sequence[Task | None]]
    play: Callable[[Policy, Sequence[Task]], list[Episode]]
    reward: GroupReward

    def __call__(self, policy: Policy) -> Mapping[str, float]:
        """Play this process's share of the tasks; the accuracy over all of them.

        Raises:
            ValueError: the reward doesn't say whether an answer is right.
        """
        tasks = [task for some in self.files.values() for task in some if task is not None]
        mine = tasks[rank() :: world_size()]
        correct = [self.is_correct(episode) for episode in (self.play(policy, mine) if mine else ())]
        if world_size() > 1:
            from accelerate.utils import gather_object

            correct = gather_object(correct)
        return {COLUMN: sum(correct) / len(correct)}

    def is_correct(self, episode: Episode) -> bool:
        """Check an answer by the reward."""
        correct = self.reward([episode], episode.task.target)[0].correct
        if correct is None:
            raise ValueError(
                f"held-out task {episode.task.id}: the reward leaves open if it is right; set Score.correct"
            )
        return correct


def evenly_spaced(tasks: Sequence[Task], n: int) -> list[Task]:
    """``n`` of the tasks, from all over the list; all of them if there are fewer."""
    n = min(n, len(tasks))
    return [tasks[k * len(tasks) // n] for k in range(n)]
