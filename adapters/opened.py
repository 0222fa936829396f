"""A paper opened for another trainer: its tasks, environments and reward, by its record alone.

Tools and reward are those of its training (:class:`kit.train.experiment.GRPOTraining`), which stands beside its limits;
of a paper that has none there, those that its golden tasks are played with.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from adapters.session import Parts, Session
from kit.data.store import load_tasks
from kit.environment import ToolEnv
from kit.episode import Episode, Score, Task
from kit.files import ROOT
from kit.rewards.base import GroupReward
from kit.rollout import RolloutConfig
from kit.train.experiment import GRPOTraining, Rollouts
from kit.train.grpo import GRPOSettings
from papers.registry import Paper, find_paper
from tiny import TINY

GOLDEN = "golden"
"""The split that needs no files: a few tasks that the paper's record makes on the spot."""
OTHERS = ("tasks", "run_dir", "play", "settings", "held_out", "held_out_tasks", "exports", "threads")
"""Fields of a training that are another trainer's business, or told apart."""


@dataclass(frozen=True)
class Opened:
    """A paper that is ready to be played, until :func:`open_paper` closes it.

    Attributes:
        paper: its record.
        tasks: of the split, by id.
        play: limits of an episode.
        tools: what its environments share.
        reward: of a group of episodes of one task: what its training pays.
        alone: of one episode: the same, or where that needs a group, what its held-out tasks are judged by.
        sessions: those made so far.
    """

    paper: Paper
    tasks: Mapping[str, Task]
    play: RolloutConfig
    tools: Any
    reward: GroupReward
    alone: GroupReward
    sessions: list[Session] = field(default_factory=list)

    @property
    def grouped(self) -> bool:
        """Say whether the reward needs a group."""
        return self.reward is not self.alone

    def environment(self) -> ToolEnv:
        """Make one of the paper's environments."""
        own = self.play.environment(self.tools) if isinstance(self.play, Rollouts) else None
        return cast(ToolEnv, own) if own is not None else self.paper.load_environment()()

    def session(self) -> Session:
        """Make what plays one episode after the other; it is closed with the paper at the latest."""
        self.sessions.append(made := Session(self.environment(), self.play))
        return made

    @contextmanager
    def playing(self, name: str) -> Iterator[tuple[Session, str, Parts]]:
        """Begin a task in a session of its own, closed and forgotten at the end; with system text and user message.

        Raises:
            KeyError: the split has no such task.
        """
        task, session = self.task(name), self.session()
        try:
            yield session, *session.begin(task)
        finally:
            self.forget(session)

    def forget(self, session: Session) -> None:
        """Close a session that is needed no more."""
        session.close()
        if session in self.sessions:
            self.sessions.remove(session)

    def task(self, name: str) -> Task:
        """Find a task of the split by its id.

        Raises:
            KeyError: it has none of that name.
        """
        if name not in self.tasks:
            some = ", ".join(list(self.tasks)[:3])
            raise KeyError(f"{self.paper.name}: no task {name!r:.60} in this split of {len(self.tasks)}: {some}, …")
        return self.tasks[name]

    def score(self, session: Session) -> Score:
        """Score a session's episode by itself; one that still runs is over.

        Raises:
            SessionError: there is none; Exception: what made it fail, if that wasn't the agent's doing.
        """
        episode = session.finish()
        return self.alone([episode], episode.task.target)[0]

    def scores(self, sessions: Sequence[Session]) -> list[Score]:
        """Score the episodes of a group, all of one task.

        Raises:
            ValueError: they are of several tasks; or too few, for a reward that needs a group.
            SessionError: as for :meth:`score`.
        """
        episodes: list[Episode] = [session.finish() for session in sessions]
        if len(found := {episode.task.id for episode in episodes}) != 1:
            raise ValueError(f"{self.paper.name}: a group is of one task, and these are of {sorted(found)}")
        return self.reward(episodes, episodes[0].task.target)


def tasks_of(paper: Paper, split: str = GOLDEN, data: str | Path = "") -> Sequence[Task]:
    """Load or make the tasks of a split.

    Args:
        paper: its record.
        split: as for :func:`open_paper`.
        data: as there.

    Raises:
        ValueError: no such split, or one without tasks.
    """
    if split == GOLDEN:
        with paper.open_golden() as golden:
            return golden.tasks
    files = {file.stem: file for file in sorted((ROOT / data).glob("*.jsonl"))} if str(data) else {}
    if split not in files:
        there = f"{data} has {', '.join(files) or 'no file of tasks'}" if str(data) else "data names no folder"
        raise ValueError(f"{paper.name}: no split {split!r}: {there}; {GOLDEN!r}, a few tasks, needs no files")
    if not (tasks := load_tasks(files[split])):
        raise ValueError(f"{paper.name}: split {split!r}: {files[split]} holds no tasks")
    return tasks


@contextmanager
def open_paper(name: str, split: str = GOLDEN, data: str | Path = "", **values: Any) -> Iterator[Opened]:
    """Open a paper by its name; leaving closes every session and what they share.

    Args:
        name: as it is registered.
        split: name of a file of tasks in ``data``, without its ending; or ``golden``, which needs none.
        data: a folder of tasks: a run's ``data``, or what a data script wrote.
        values: of the episodes' limits (``prompt="brief"``), of the training's reward and tools (``reward="outcome"``,
            ``allow_unsafe=True``), and ``start``, the checkpoint that some tools ask for its image sizes; what isn't
            given is the paper's.

    Raises:
        papers.registry.PaperError: no such paper.
        ValueError: an unknown split, a value of an unknown name, or one that the paper refuses.
    """
    paper = find_paper(name)
    limits, training = paper.load_limits(), _training(paper)
    of_play = {one.name for one in fields(limits)}
    of_training = {one.name for one in fields(training)} - {*OTHERS} if training else set()
    if unknown := sorted({*values} - of_play - of_training):
        known = ", ".join(sorted(of_play | of_training))
        raise ValueError(f"{name}: it has no value {unknown[0]!r}; there are {known}")
    play = limits(**{one: value for one, value in values.items() if one in of_play})
    tasks = tasks_of(paper, split, data)
    with ExitStack() as stack:
        if training is None:
            golden = stack.enter_context(paper.open_golden())
            tools, reward, alone = golden.tools, golden.reward, golden.reward
        else:
            own = {one: value for one, value in values.items() if one in of_training}
            told: dict[str, Any] = {"start": str(TINY), "tasks": "", "run_dir": "", "settings": GRPOSettings()}
            one = training(**told | {"play": play} | own)
            tools, reward, alone = stack.enter_context(one.tools()), one.group_reward(), one.held_out_reward()
        needs_group = _needs_a_group(reward, tasks[0])
        opened = Opened(paper, {t.id: t for t in tasks}, play, tools, reward, alone if needs_group else reward)
        try:
            yield opened
        finally:
            for session in opened.sessions:
                session.close()


def _training(paper: Paper) -> type[GRPOTraining] | None:
    """The training that is written where the paper's limits are; None: there is none."""
    home = paper.load_limits().__module__
    made = vars(sys.modules[home]).values()
    kinds = (one for one in made if isinstance(one, type) and one.__module__ == home)
    return next((one for one in kinds if issubclass(one, GRPOTraining) and one is not GRPOTraining), None)


def _needs_a_group(reward: GroupReward, task: Task) -> bool:
    """Whether a reward refuses an episode by itself, as its contract says that it then does."""
    try:
        reward([Episode(task, (), (), "format")], task.target)
    except ValueError:
        return True
    return False
