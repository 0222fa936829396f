"""Make demonstrations as the paper does: a weak policy sorts by difficulty, a strong one plays, a judge checks.

Section 3.2 in three steps; how the weak one sorts isn't told, and a pass rate is ours::

    rates = pass_rates(weak, chat, tasks, ask, config, "weak.jsonl", tries=8)   # Qwen2.5-VL-7B, asked directly
    easy, hard = by_difficulty(tasks, rates)
    played = collect(strong, chat, [*easy, *hard], play, config, "strong.jsonl")
    lessons = [lesson(e) for e in played if as_it_should(e) and judge(e)]       # easy at once, hard by one kind of code

:func:`make_lessons` does all of it, for ``data_scripts/codedance.py --weak-to-strong``.

Both policies may be any :class:`~kit.policy.Policy`: one served elsewhere (:mod:`kit.policy.endpoint`), or the scripted
expert. What was played is on disk after every few episodes, so an interrupted run goes on where it was. A judge is a
function of an episode: :func:`by_scene` where the answer is known for certain, :class:`ModelJudge` where a model
has to look at each step.

Departures
- [codedance-atomic] Paper: hard cases are decomposed by a model into turns of one of three kinds of operation. Here: of
  a strong policy's play those episodes are kept that use one kind alone, by the functions that their code calls. Why: a
  program can decide it, and the code that is kept has really run. May change: fewer cases yield an episode.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.policy import Policy, SamplingParams
from kit.rollout import Environment, RolloutConfig
from kit.train.demonstrations import collect
from papers.asking import VERDICT, ask, without_thoughts
from papers.codedance.answers import is_right
from papers.codedance.experiment import Play
from papers.codedance.lessons import lesson
from papers.codedance.reward import failed, is_well_formed
from turn_sandbox import Sandbox

EASY = 0.75
"""Pass rate of the weak policy from which a question is easy (ours; the paper names none)."""

Kind = Literal["transform", "computation", "drawing"]
"""Of an operation (section 3.2)."""

TRANSFORMS = frozenset(("crop", "resize", "zoom", "rotate", "brighten", "darken", "sharpen", "denoise", "transpose"))
DRAWINGS = frozenset(("line", "rectangle", "ellipse", "text", "point", "polygon", "plot", "scatter", "bar", "imshow"))


def pass_rates(
    policy: Policy,
    chat: Chat,
    tasks: Sequence[Task],
    make_env: Callable[[], Environment],
    config: RolloutConfig,
    path: str | os.PathLike[str],
    tries: int = 8,
) -> dict[str, float]:
    """Let a weak policy try each task several times: its id → the share of tries that are right.

    Args:
        policy: the weak policy; it has to be sampled, or all tries are alike.
        chat: encodes prompts.
        tasks: the tasks.
        make_env: makes an environment, such as :class:`kit.evaluate.baselines.SingleTurnEnv`, which asks directly.
        config: limits of an episode, and the temperature.
        path: JSONL file of all tries; a run that was interrupted goes on from it.
        tries: how often each is tried.

    Raises:
        ValueError: no try.
    """
    if tries < 1:
        raise ValueError(f"pass_rates(tries={tries}): a rate needs at least one try")
    asked = [replace(task, id=f"{task.id}#{k}") for task in tasks for k in range(tries)]
    right: Counter[str] = Counter()
    for episode in collect(policy, chat, asked, make_env, config, path):
        right[episode.task.id.rpartition("#")[0]] += is_right(episode.answer, episode.task.target)
    return {task.id: right[task.id] / tries for task in tasks}


def by_difficulty(
    tasks: Sequence[Task], rates: Mapping[str, float], easy: float = EASY
) -> tuple[list[Task], list[Task]]:
    """Sort tasks into easy and hard ones, each with its level and the rate it comes from in ``meta``.

    Args:
        tasks: the tasks.
        rates: their pass rates (:func:`pass_rates`).
        easy: the rate from which a task is easy.
    """
    found: dict[str, list[Task]] = {"easy": [], "hard": []}
    for task in tasks:
        rate = rates[task.id]
        level = "easy" if rate >= easy else "hard"
        found[level].append(replace(task, meta={**task.meta, "level": level, "rate": rate}))
    return found["easy"], found["hard"]


def kind_of(code: str) -> Kind | None:
    """Classify an operation by the functions that its code calls; None: it can't be parsed.

    >>> kind_of("part = crop(image, [0.0, 0.0, 0.5, 0.5])"), kind_of("print(2 + 6)")
    ('transform', 'computation')
    """
    try:
        calls = {_name(node.func) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return "drawing" if calls & DRAWINGS else "transform" if calls & TRANSFORMS else "computation"


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def as_it_should(episode: Episode) -> bool:
    """Check that an easy question is answered directly, and a hard one by operations of one kind (section 3.2)."""
    return is_atomic(episode) if episode.task.meta["level"] == "hard" else not episode.calls


def is_atomic(episode: Episode) -> bool:
    """Check that an episode calls, and that all its code is of one kind: composing is left to reinforcement."""
    kinds = {kind_of(turn.action.text) for turn in episode.turns if turn.action and turn.action.name == "code"}
    return len(kinds) == 1 and None not in kinds


Judge = Callable[[Episode], bool]
"""Decides whether an episode may be shown."""


def by_scene(episode: Episode) -> bool:
    """Judge an episode by what is known of its scene: a right answer, the protocol's form, and no call that failed."""
    right = is_right(episode.answer, episode.task.target)
    return right and is_well_formed(episode) and not any(failed(turn) for turn in episode.turns)


ASKED = """Above is a question about an image, and how somebody worked it out. The right answer is: {answer}. Does \
every step follow from the image and from what its code gave, and is the answer the same? Say Yes or No."""


@dataclass(frozen=True)
class ModelJudge:
    """A stronger model that looks at each step (the paper: Qwen2.5-VL-72B).

    Attributes:
        policy: the model, such as a :class:`kit.policy.endpoint.ServedPolicy`.
        chat: encodes what it is asked.
        params: of its answer.
    """

    policy: Policy
    chat: Chat
    params: SamplingParams = VERDICT

    def __call__(self, episode: Episode) -> bool:
        """True if the scene has nothing against the episode, and the model says Yes.

        Raises:
            kit.policy.endpoint.EndpointError: it says neither Yes nor No, whenever it is asked.
        """
        if not by_scene(episode):
            return False
        parts: list[str | NamedImage] = [*episode.task.images, episode.task.question]
        for turn in episode.turns:
            parts += ["\n", turn.text]
            parts += [turn.observation.text, *turn.observation.images] if turn.observation else []
        parts += ["\n", ASKED.format(answer=episode.task.target[0])]
        said = ask(self.policy, self.chat, parts, episode.task, lambda text: agrees(text) is not None,
                   "Yes or No", self.params)  # fmt: skip
        return bool(agrees(said))


_NO_OF_A_NOUN = re.compile(r"\bno(?=[^\S\n]+(?!because\b|since\b|as\b|it\b|they\b|this\b|that\b|but\b)\w)")


def agrees(reply: str) -> bool | None:
    """Read a Yes or a No: the reply's first word or its last, or the only one of the two in it; None: neither is plain.

    >>> agrees("Yes."), agrees("No, it guesses."), agrees("Hm."), agrees("Not every step follows, so: no")
    (True, False, None, False)
    >>> agrees("I see no error."), agrees("No step is wrong.")
    (None, None)
    """
    said = _NO_OF_A_NOUN.sub("none", without_thoughts(reply).lower())
    words = re.findall(r"[^\W_]+(?:['’]\w+)?", said)
    ends = {word for word in (*words[:1], *words[-1:]) if word in ("yes", "no")}
    found = ends or {word for word in words if word in ("yes", "no")}
    return "yes" in found if len(found) == 1 else None


def make_lessons(
    policies: tuple[Policy, Policy],
    judge: Judge,
    chat: Chat,
    tasks: Sequence[Task],
    play: Play,
    box: Sandbox,
    folder: Path,
    tries: int = 8,
) -> list[Task]:
    """Make demonstrations from questions, from end to end; interrupted, it goes on from the files in ``folder``.

    Args:
        policies: the weak one, which is asked directly and sorts, and the strong one, which plays.
        judge: decides which of its episodes may be shown.
        chat: encodes for both.
        tasks: the questions, with their answers.
        play: limits of an episode, and how questions are told.
        box: runs the strong policy's code.
        folder: gets ``weak.jsonl`` and ``strong.jsonl``, all that was played.
        tries: how often the weak policy tries each question.

    Returns:
        Lessons (:mod:`.lessons`), in the order easy, hard.

    Raises:
        ValueError: no try.
    """
    weak, strong = policies
    asked, once = partial(SingleTurnEnv, "direct", prompt=play.prompt), replace(play, max_turns=1, temperature=1.0)
    rates = pass_rates(weak, chat, tasks, asked, once, folder / "weak.jsonl", tries)
    easy, hard = by_difficulty(tasks, rates)
    greedy = replace(play, temperature=0.0)
    played = collect(strong, chat, [*easy, *hard], partial(play.environment, box), greedy, folder / "strong.jsonl")
    return [lesson(episode) for episode in played if as_it_should(episode) and judge(episode)]
