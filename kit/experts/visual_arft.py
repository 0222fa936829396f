"""Scripted experts for Visual-ARFT: oracles that show how the tools are used, where a large model would know.

The paper has no cold start: its base follows a protocol that it is told. A model of three million parameters that has
never acted can't, so it is shown a few episodes. Each turn says what is seen, in the words that the base describes such
a thing by, and does one thing about it.

Coding: what is wrong with the picture, and the code against the first of it; in the end all that can be read, the
question once more, and the answer. Searching: what the flag looks like, then the question with
whatever was found in its place, and the next query; in the end the answer.

That the question is said again is what makes such a small model remember it. Measured on the same 637 episodes: with
"It is Chad, next the capital" and a reading alone, F1 was .136 on Hard sheets and .338 on questions in words; with the
question repeated .415 and .700.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.data.mat_coding import distortions
from kit.data.mat_search import THIS
from kit.distortion import NAMES, Kind
from kit.episode import Episode, Task
from kit.policy.scripted import Script
from kit.tools.search import Search, SearchError

FLAG = "flag description"
"""How a query for a flag begins: the factbook's heading."""

CODE: dict[Kind, str] = {
    "rotate90": "rotate({}, -90)",
    "rotate180": "rotate({}, 180)",
    "dark": "brighten({})",
    "overexposed": "darken({})",
    "blur": "sharpen({})",
    "noise": "denoise({})",
}
"""A line against each distortion: :data:`kit.data.mat_coding.REMEDIES` as an agent writes them."""


def _turn(thought: str, tag: str, action: str) -> str:
    return f"<think>{thought}.</think><{tag}>{action}</{tag}>"


def coding_turns(task: Task) -> tuple[str, ...]:
    """All turns of the coding expert on one task of :mod:`kit.data.mat_coding`.

    It does one thing a turn and looks again: what is dark hides whether it is noisy, too.
    """
    wrong = [one.kind for one in reversed(distortions(task))]
    name, turns = task.images[0].name, []
    for number, kind in enumerate(wrong, 1):
        left = ", ".join(NAMES[one] for one in wrong[number - 1 :])
        turns.append(_turn(left, "code", f"image_{number} = {CODE[kind].format(name)}"))
        name = f"image_{number}"
    if task.meta["part"]:
        box = ", ".join(f"{share:.1f}" for share in task.meta["box"])
        turns.append(_turn(task.meta["part"], "code", f"image_1 = zoom(crop({name}, [{box}]), 2.0)"))
    read = task.meta["reading"] or task.target[0]
    seen = f"{read}. {task.question}"
    return (*turns, f"<think>{seen if turns else f'nothing; {seen}'}</think><answer>{task.target[0]}</answer>")


def search_turns(task: Task, looks: str = "") -> tuple[str, ...]:
    """All turns of the searching expert on one task of :mod:`kit.data.mat_search`.

    Whatever a search has found takes its place in the question, which so becomes shorter from turn to turn.

    Args:
        looks: what the flag looks like, in other words than the gold query's.
    """
    queries, says = list(task.meta["queries"]), task.meta["says"]
    if looks:
        queries[0] = f"{FLAG} {looks}"
    question, sought, turns = task.question, THIS, []
    for number, query in enumerate(queries):
        known = says[number - 1] if number else task.meta["source"]
        if query.startswith(FLAG):
            thought = f"{query.removeprefix(f'{FLAG} ')}."
        else:
            question = question.replace(sought, known)
            sought = f"the {query.removeprefix(f'{known} ')} of {known}"
            thought = f"It is {known}. {question}" if number else question
        turns.append(f"<think>{thought}</think><search>{query}</search>")
    return (*turns, _turn(f"It is {says[-1]}", "answer", task.target[0]))


def turns_of(task: Task, looks: str = "") -> tuple[str, ...]:
    """The expert's turns for a task of either kind."""
    return search_turns(task, looks) if "queries" in task.meta else coding_turns(task)


def expert(words: Mapping[str, str] | None = None) -> Script:
    """A script that plays any task of Visual-ARFT.

    Args:
        words: for tasks by id, what their flag looks like in the pupil's own words (:func:`own_looks`): to be shown
            how a thing is looked up need not mean to be told to see it otherwise.

    Raises:
        ValueError: (the script) an episode goes on after the answer.
    """
    own = words or {}

    def script(episode: Episode) -> str:
        turns = turns_of(episode.task, own.get(episode.task.id, ""))
        if len(episode.turns) >= len(turns):
            raise ValueError(f"expert on task {episode.task.id}: its answer was turn {len(turns)}, the last")
        return turns[len(episode.turns)]

    return script


def own_looks(asked: Sequence[Episode], search: Search, k: int) -> dict[str, str]:
    """What a model says its flags look like, of those episodes whose first search by these words finds the flag.

    Args:
        asked: episodes of one turn, in which the model answers what the flag looks like.
        k: snippets of a search.
    """
    found = {}
    for episode in asked:
        looks = episode.turns[0].text.strip().removesuffix(".")
        try:
            sources = [snippet.source for snippet in search.search(f"{FLAG} {looks}", k)]
        except SearchError:  # no word in it
            continue
        if looks and episode.task.meta["documents"][0] in sources:
            found[episode.task.id] = looks
    return found
