"""Train one policy on questions and puzzles (section 4.3, Figure 4): claim A7's two arms at an equal budget.

Both arms start from one model, take as many tasks in as many steps with groups of one size, and differ in their tasks:

- ``qa``: questions, one turn each, rewarded with 1 for a right answer;
- ``half``: every other task a puzzle of the run's training set, with the paper's reward (eq. 6).

Departures
- [agile-arms-after-cold-start] Paper: Where the two arms of the comparison start isn't told. Here: Both start after
  the cold start. Why: Without it a tiny model earns nothing on a puzzle, and half of one arm would be idle. May
  change: Both arms have seen puzzles before.
- [agile-qa-data] Paper: Neither the questions of the comparison nor their reward are named. Here: The reward is exact
  match, and the laptop's questions are of the kinds it is evaluated on, about other images. Why: There is no other
  source offline. May change: Questions alone have the better chance, since they practise what is asked later.
- [agile-equal-tasks] Paper: Both arms have 20K samples. Here: Both have as many tasks and episodes; a puzzle's
  episode has up to five turns. Why: It is the paper's measure. May change: The arm with puzzles sees more tokens, and
  costs more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kit.environment import OnNoAction
from kit.episode import Episode, NamedImage, Observation, Score, Task
from kit.rollout import Environment
from papers.agile.env import PROTOCOL, JigsawEnv
from papers.agile.experiment import Play, Training
from papers.agile.questions import QuestionEnv, is_question, is_right
from turn_sandbox import Sandbox

ARMS = ("qa", "half")
"""The arms of claim A7."""


class MixedEnv:
    """A jigsaw or a question, as the task it is given; what the loop needs of an environment, and no more.

    Args:
        box: runs the puzzles' code.
        prompt: ``brief`` or ``full``, for both.
        on_no_action: what follows a puzzle's turn without code or answer (:data:`kit.environment.OnNoAction`).
    """

    # A turn's tags are the jigsaw's for both: stop strings are one for a batch, and no question's answer holds code.
    protocol = PROTOCOL

    def __init__(self, box: Sandbox, prompt: str, on_no_action: OnNoAction = "end") -> None:
        self._jigsaw = JigsawEnv(box, prompt=prompt, on_no_action=on_no_action)
        self._question = QuestionEnv(prompt=prompt)
        self._now: JigsawEnv | QuestionEnv = self._question

    def _of(self, task: Task) -> JigsawEnv | QuestionEnv:
        return self._question if is_question(task) else self._jigsaw

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message, as the task's own environment has them."""
        return self._of(task).prompt(task)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start ``options["task"]``.

        Raises:
            ValueError: there is no task; this environment has none of its own.
        """
        task = (options or {}).get("task")
        if task is None:
            raise ValueError('MixedEnv.reset: give options={"task": …}; it has no tasks of its own')
        self._now = self._of(task)
        return self._now.reset(seed=seed, options=options)

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do one turn's text."""
        return self._now.step(action)

    def close(self) -> None:
        """Close the puzzle's session."""
        self._now.close()


@dataclass(frozen=True)
class MixedPlay(Play):
    """Questions and puzzles in one batch, told and limited as puzzles are."""

    def environment(self, tools: Sandbox) -> Environment:
        """Make an environment for both kinds of tasks; the sandbox runs the puzzles' code."""
        return MixedEnv(tools, self.prompt, self.on_no_action)

    def score(self, episode: Episode, target: Any) -> Score:
        """Reward a question's episode (1 for a right answer, else 0) or a puzzle's (eq. 6)."""
        if not is_question(episode.task):
            return super().score(episode, target)
        correct = is_right(episode, target)
        # The parts of a puzzle's reward: the metrics of a batch have the same columns in every row.
        return Score(float(correct), {"accuracy": float(correct), "format": 0.0, "step": 0.0}, correct=correct)


def mixture(arm: str, questions: Sequence[Task], puzzles: Sequence[Task], n: int) -> list[Task]:
    """An arm's ``n`` tasks: questions, every second one of them replaced by a puzzle in ``half``.

    The questions that both arms have are the same.

    Args:
        arm: one of :data:`ARMS`.
        questions: at least ``n`` of them.
        puzzles: for ``half``, at least n // 2 of them.
        n: tasks in all.

    Raises:
        ValueError: another arm, or too few tasks: none is repeated, or the budget would not be equal.
    """
    if arm not in ARMS:
        raise ValueError(f"arm={arm!r}: choose one of {', '.join(ARMS)}")
    wanted = {"questions": n, "puzzles": n // 2 if arm == "half" else 0}
    for name, tasks in (("questions", questions), ("puzzles", puzzles)):
        if len(tasks) < wanted[name]:
            raise ValueError(f"arm {arm!r} of {n} tasks: {wanted[name]} {name} needed, there are {len(tasks)}")
    if arm == "qa":
        return list(questions[:n])
    return [puzzles[k // 2] if k % 2 else questions[k] for k in range(n)]


@dataclass(frozen=True)
class MixedTraining(Training):
    """GRPO on questions and puzzles (:func:`mixture`), told in plain values as AGILE's own training is."""

    play: MixedPlay
