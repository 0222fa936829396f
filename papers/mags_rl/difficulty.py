"""Judge how much a question asks for zooming: a model behind an endpoint, the rule beside it, and their agreement.

The paper's judge (Qwen3-VL-4B-Instruct) gives each image and question a zoom score from 1 to 10, and the score says
which set a question belongs to; the sets have fixed sizes (Table 3)::

    1 … 3  Zoom-Easy        VSR  288, TallyQA 491, GQA 500
    4 … 7  Zoom-Medium      VSR 1000, TallyQA 500, GQA 999
    8 … 10 Zoom-Hard        VSR   46, TallyQA 139, GQA 365

Where a program laid the scene, the share of the pixels that decide is known (:func:`.tasks.difficulty_of`), and
:func:`agreement` tells how far a judge and that rule say the same.

Departures
- [mags-zoom-judge] Paper: the judge is asked with a prompt of its own, and unclear pairs are dropped. Here: the same
  scale in the kit's words; a reply that gives no score drops the pair, one that gives another than 1 to 10 is asked
  for again. Why: that text isn't the kit's to print. May change: which questions fall into which set.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kit.chat import Chat
from kit.data.store import files_of_script, load_tasks
from kit.episode import Episode, NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.policy import Policy
from kit.rollout import RolloutConfig
from kit.train.demonstrations import collect
from papers.asking import Readable, without_thoughts
from papers.mags_rl.tasks import Difficulty

ASKED = """You are shown an image and a question about it. How much does one have to zoom in to answer it? Look at \
three things: how small, beside the whole image, is what matters; how crowded is the scene; and are there fine print, \
fine texture or distant details that are hard to see?

Give a zoom score from 1 to 10. 1 to 3: what matters is large and clear, nothing has to be enlarged. 4 to 7: an \
ordinary scene of several things; zooming would help, but the gist is clear without. 8 to 10: what decides is tiny, \
and can't be told without zooming. If the question is unclear, give no score.

Reply in JSON alone: {"reasoning": "…", "zoom_score": …}"""
"""What the judge is told; its scale is that of appendix 0.A.2."""

MOST_SCORE: dict[Difficulty, float] = {"easy": 3, "medium": 7, "hard": 10}
"""The highest zoom score of each difficulty."""

ZOOM_SETS: dict[Difficulty, dict[str, int]] = {
    "easy": {"vsr": 288, "tallyqa": 491, "gqa": 500},
    "medium": {"vsr": 1000, "tallyqa": 500, "gqa": 999},
    "hard": {"vsr": 46, "tallyqa": 139, "gqa": 365},
}
"""Questions of each set by where they are from (Table 3)."""

VERDICT = RolloutConfig(max_turns=1, max_new_tokens=2048, max_episode_tokens=8192, temperature=0.0)
"""How the judge answers: greedily."""

_MAKE = "make all of them by data_scripts/mags_rl.py --hub --judge URL, or go on without any of them"

_SCORE = re.compile(r"""score["'*_`]*\s*[:=][\s"'*_`\[]*([^\s"'*_`\],;}]*)""", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+(?:[.,]\d)?)(?:/10)?")
_MORE = re.compile(r"[\s\"'*_`\]]*(?:,|-|–|/(?!\s*10\b)|\bto\b|\bor\b|out of(?!\s*10\b))\s*\d", re.IGNORECASE)
_NO_SCORE = ("", "null", "none", "nan", "n/a", "na", "unclear", "unknown")


class JudgeEnv(SingleTurnEnv):
    """The judge's one turn: the image and the question, and what a zoom score is."""

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message."""
        return ASKED, [*task.images, task.question]


def zoom_score(text: str) -> float | None:
    """The score in a judge's reply; None if there is none from 1 to 10: the question is unclear.

    >>> zoom_score('{"reasoning": "tiny signs", "zoom_score": 9}'), zoom_score("I can't tell.")
    (9.0, None)
    """
    said, more = _given(text)
    found = _NUMBER.fullmatch(said)
    if not found or _MORE.match(more):
        return None
    score = float(found[1].replace(",", "."))
    return score if 1 <= score <= 10 else None


def _given(text: str) -> tuple[str, str]:
    """What stands in the place of the last score, and what follows; empty: nothing."""
    spoken = without_thoughts(text)
    *_, last = (None, *_SCORE.finditer(spoken))
    return (last[1].rstrip(".").lower(), spoken[last.end() :]) if last else ("", "")


def is_judged(text: str) -> bool:
    """Check that a reply is whole, and gives a score from 1 to 10 or none."""
    spoken = without_thoughts(text)
    whole = bool(spoken) and spoken.count("{") <= spoken.count("}")
    return whole and (zoom_score(text) is not None or _given(text)[0] in _NO_SCORE)


def of_score(score: float) -> Difficulty:
    """The difficulty that a zoom score from 1 to 10 stands for."""
    return next(name for name, most in MOST_SCORE.items() if score <= most)


def judged(
    policy: Policy,
    chat: Chat,
    tasks: Sequence[Task],
    path: str | os.PathLike[str],
    config: RolloutConfig = VERDICT,
) -> dict[str, float]:
    """Ask the judge about each task: its id → its zoom score; those that it finds unclear are left out.

    A reply that is no judgement (:func:`is_judged`) is asked for again, also one that the file holds.

    Args:
        policy: the judge, such as a :class:`kit.policy.endpoint.ServedPolicy`.
        chat: encodes what it is asked.
        tasks: the tasks.
        path: JSONL file of its replies; a run that was interrupted goes on from it.
        config: limits of a reply.

    Raises:
        kit.policy.endpoint.EndpointError: it doesn't reply, or never with a judgement.
    """
    judge = Readable(policy, chat, is_judged, "a score from 1 to 10, or says that there is none")

    def usable(episode: Episode) -> bool:
        return bool(episode.turns) and is_judged(episode.turns[0].text)

    asked = collect(judge, chat, tasks, JudgeEnv, config, path, usable=usable)
    scores = {episode.task.id: zoom_score(episode.turns[0].text) for episode in asked}
    return {name: score for name, score in scores.items() if score is not None}


def zoom_sets(tasks: Sequence[Task], scores: Mapping[str, float]) -> dict[Difficulty, list[Task]]:
    """Sort questions of the hub into the paper's three sets, in their own order, until each has its size.

    Args:
        tasks: of any of the paper's data sets, by ``meta["set"]``.
        scores: their zoom scores (:func:`judged`); a task without one is dropped.
    """
    sets: dict[Difficulty, list[Task]] = {name: [] for name in ZOOM_SETS}
    taken: Counter[tuple[str, str]] = Counter()
    for task in tasks:
        if task.id not in scores:
            continue
        difficulty, source = of_score(scores[task.id]), str(task.meta["set"])
        if taken[difficulty, source] < ZOOM_SETS[difficulty].get(source, 0):
            taken[difficulty, source] += 1
            more = {"difficulty": difficulty, "zoom_score": scores[task.id]}
            sets[difficulty].append(replace(task, meta={**task.meta, **more}))
    return sets


def zoom_tests(folder: Path) -> list[Task]:
    """Load Zoom-Easy, -Medium and -Hard from a folder, in this order; nothing if none of them is there.

    Raises:
        ValueError: one or two of them are missing or empty, or hold another set's task.
    """
    files = {level: folder / f"zoom-{level}.jsonl" for level in ZOOM_SETS}
    if not any(file.is_file() for file in files.values()):
        return []
    sets = {level: load_tasks(file) if file.is_file() else [] for level, file in files.items()}
    if lacking := [files[level].name for level, tasks in sets.items() if not tasks]:
        raise ValueError(f"data={str(folder)!r}: {', '.join(lacking)} missing or empty; {_MAKE}")
    for level, tasks in sets.items():
        for number, task in enumerate(tasks, 1):
            difficulty, source = task.meta.get("difficulty"), task.meta.get("set")
            if difficulty != level or source not in ZOOM_SETS[level]:
                raise ValueError(
                    f"{files[level]}:{number}, task {task.id}: difficulty={difficulty!r}, set={source!r}; a question "
                    f"of this set has difficulty={level!r} and set one of {', '.join(ZOOM_SETS[level])}; {_MAKE}"
                )
    return [task for tasks in sets.values() for task in tasks]


def hub_sets(folder: str) -> dict[str, list[Task]]:
    """Load what ``data_scripts/mags_rl.py --hub`` wrote, by the names that a run has: both stages, the Zoom sets.

    Args:
        folder: its ``--out``, relative ones within the project; empty: nothing is loaded.

    Raises:
        FileNotFoundError: the folder has nothing of it.
        ValueError: it has only a part, or files of another layout (:func:`zoom_tests`).
    """
    files = files_of_script(folder, "hub-stage*.jsonl", "zoom-*.jsonl")
    lacking = {"hub-stage1", "hub-stage2", *(f"zoom-{level}" for level in ZOOM_SETS)} - {file.stem for file in files}
    if files and lacking:
        raise ValueError(f"data={folder!r}: {', '.join(f'{name}.jsonl' for name in sorted(lacking))} missing; {_MAKE}")
    if files:
        zoom_tests(files[0].parent)
    return {file.stem.removeprefix("hub-"): load_tasks(file) for file in files}


@dataclass(frozen=True)
class Agreement:
    """Agreement of a judge and the rule.

    Attributes:
        n: tasks that both judged.
        same: share of them in which both give one difficulty.
        kappa: the same beyond chance (Cohen's kappa): 0 as if by chance, 1 always; 0 if one of them never varies.
        pairs: (the rule's, the judge's) → number of tasks.
    """

    n: int
    same: float
    kappa: float
    pairs: Mapping[tuple[str, str], int]


def agreement(tasks: Sequence[Task], scores: Mapping[str, float]) -> Agreement:
    """Compare a judge's scores with the difficulties that tasks are known to have.

    By hand: of four tasks (easy, easy, hard, hard) judged easy, hard, hard, hard, three are the same; chance gives
    1/2 · 1/4 + 1/2 · 3/4 = 1/2, so kappa is (3/4 - 1/2) / (1 - 1/2) = 1/2.

    Raises:
        ValueError: no task was judged.
    """
    both = [(str(task.meta["difficulty"]), str(of_score(scores[task.id]))) for task in tasks if task.id in scores]
    if not both:
        raise ValueError(f"agreement of {len(tasks)} tasks: the judge has scored none of them")
    n, pairs = len(both), Counter(both)
    same = sum(rule == judge for rule, judge in both) / n
    rules, judges = Counter(rule for rule, _ in both), Counter(judge for _, judge in both)
    chance = sum(rules[name] * judges[name] for name in rules) / n**2
    return Agreement(n, same, (same - chance) / (1 - chance) if chance < 1 else 0.0, dict(pairs))
