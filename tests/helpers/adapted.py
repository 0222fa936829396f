"""Fifty tasks of each paper, played by its script in the kit's own loop: what every adapter has to play alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from adapters.opened import Opened, open_paper
from kit.episode import Episode, NamedImage, Task, Turn, content_hash
from kit.images import rgb
from kit.policy.scripted import Script
from kit.rollout import content
from papers.registry import Golden

N = 50
"""Tasks of a paper."""


def of_agile() -> Sequence[Task]:
    from papers.agile.tasks import evaluation_set, training_set

    return [*training_set(36, 0, levels=(0, 1, 2)), *evaluation_set(3, 1, 3)]


def of_visual_arft() -> Sequence[Task]:
    from papers.visual_arft.countries import Countries
    from papers.visual_arft.experiment import coding_demonstrations, search_engine
    from papers.visual_arft.mat_search import make_tasks, text_questions

    search, known = search_engine(), Countries()
    searches, others = make_tasks(known, search, 0, 12, 12)
    return [*coding_demonstrations(32, 0), *searches, *text_questions(known, search, 6, 0, others)]


def of_codedance() -> Sequence[Task]:
    from papers.codedance.tasks import MAKERS, make_tasks

    return make_tasks(dict.fromkeys(MAKERS, 4), 0)


def of_mags_rl() -> Sequence[Task]:
    from papers.mags_rl.questions import MAKERS
    from papers.mags_rl.tasks import make_tasks

    return make_tasks(dict.fromkeys(MAKERS, 6), 0)


def of_vista_gym() -> Sequence[Task]:
    from papers.vista_gym.golden import ASKED
    from papers.vista_gym.tasks import MAKERS, make_tasks

    sight = [kind for kind in MAKERS if kind.endswith("/sight")]
    return make_tasks(dict.fromkeys([*ASKED, *sight], 5), 0)


def of_your_own() -> Sequence[Task]:
    from examples.your_own.task import make_tasks

    return make_tasks(N, 0, "own")


MAKE: Mapping[str, Callable[[], Sequence[Task]]] = {
    name.removeprefix("of_"): make for name, make in list(globals().items()) if name.startswith("of_")
}
WRONG = ("no tag at all", "<think>I try.</think><code>1 / 0</code>", "<think>Here.</think><answer></answer>")
"""First turns of some tasks, in the place of the script's."""
GIVES_UP = "<think>I give up.</think><answer>none</answer>"


def now_and_then_wrong(script: Script) -> Script:
    """A script that begins every other task wrongly, in several ways, and goes on as it can."""

    def say(episode: Episode) -> str:
        chosen = sum(episode.task.id.encode()) % (2 * len(WRONG))
        if not episode.turns and chosen < len(WRONG):
            return WRONG[chosen]
        try:
            return script(episode)
        except (ValueError, IndexError):  # its own turns are over
            return GIVES_UP

    return say


@dataclass(frozen=True)
class Played:
    """A paper's tasks and how the kit's own loop plays them.

    Attributes:
        name: of the paper.
        data: folder whose ``train.jsonl`` has the tasks.
        values: by which an adapter opens it alike.
        golden: what it was played with.
        episodes: one a task, in order.
    """

    name: str
    data: Path
    values: Mapping[str, Any]
    golden: Golden
    episodes: Sequence[Episode]

    def open(self, **more: Any) -> Any:
        """Open it as an adapter does."""
        return open_paper(self.name, "train", self.data, **{**self.values, **more})


def seen(parts: Sequence[Any]) -> list[str]:
    """Texts of a message, and hashes of its images, whatever form those have."""
    found = []
    for one in parts:
        if isinstance(one, dict):
            one = one["text"] if one["type"] == "text" else one["image"]
        if isinstance(one, NamedImage):
            one = one.image
        if isinstance(one, np.ndarray):
            one = Image.fromarray(one)
        found.append(one if isinstance(one, str) else content_hash(rgb(one)))
    return found


def replies(episode: Episode) -> list[list[str]]:
    """What the kit's loop was told after each turn."""
    return [seen(content(turn.observation)) if turn.observation else [] for turn in episode.turns]


def first(opened: Opened, episode: Episode) -> tuple[str, list[str]]:
    """The prompt of an episode's task: its system text, and what the user says and shows."""
    system, user = opened.environment().prompt(episode.task)
    return system, seen(user)


def as_call(turn: Turn) -> tuple[str, dict[str, Any], str] | None:
    """A turn as a model would call it: name, arguments, thought; None for a turn that keeps no form.

    What stands inside the reasoning, as a box does, is an argument and no thought.
    """
    action = turn.action
    found = re.match(r"<(think|rethink)>(.*?)(<zoom>.*</zoom>)?</\1>", turn.text, re.DOTALL)
    if action is None or found is None or turn.text.count("<") != turn.text.count("</") * 2:
        return None
    thought = found[2].removesuffix(" ") if found[3] else found[2]
    if action.name == "tool_call" or turn.text.endswith("</tool_call>"):
        return action.name, dict(action.arguments or {}), thought
    argument = {"code": "code", "search": "query", "zoom": "boxes", "answer": "answer", "mark": "place"}[action.name]
    return action.name, {argument: action.text}, thought
