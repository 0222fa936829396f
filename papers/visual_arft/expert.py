"""Scripted experts for Visual-ARFT: oracles that show how the tools are used, where a large model would know.

A base of the paper's size follows a protocol that it is told. A model of three million parameters that has
never acted can't, so it is shown a few episodes. Each turn says what is seen, in the words that the base describes such
a thing by, and does one thing about it.

Coding: what is wrong with the image, and the code against the first of it; in the end all that can be read, the
question once more, and the answer. Searching: a query in the words of what the flag looks like; then the question with
whatever was found in its place, and the next query; in the end the answer.

That the question is said again is what makes such a small model remember it. Measured on the same 637 episodes: with
"It is Chad, next the capital" and a reading alone, F1 was 0.136 on Hard sheets and 0.338 on questions in words; with
the question repeated 0.415 and 0.700. That a flag is described once, in the query, keeps it from being described in two
ways.

Demonstrations can be made *undecided* on whether to act, by a task's id alone (:func:`undecided`): in a share of them
the expert says at once that it can't tell.

Departures
- [arft-cold-start] Paper: none; its base follows a protocol that it is told. Here: on a laptop 1,296 episodes of a
  scripted expert come first; ``gpu`` and ``node`` have none. Why: a model of three million parameters never acts
  unshown. May change: what reinforcement adds.
- [arft-undecided] Paper: no start to be undecided. Here: in four of ten of these episodes the expert gives up at once.
  Why: after an expert that always acts nothing is left to reinforcement, as five trainings showed on test tasks (F1 on
  Hard sheets 0.487 before, 0.475 after); how many give up was then chosen on development sheets. May change: F1 after
  imitation, downwards; what reinforcement adds, upwards. On ``gpu`` and ``node``, which have no demonstrations, claims
  of an undecided start are judged from the base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from zlib import crc32

from kit.episode import Episode, Task
from kit.policy.scripted import Script, next_turn
from papers.visual_arft.countries import FLAG_QUERY
from papers.visual_arft.mat_coding import distortions
from pictures.distortion import NAMES, Kind
from tiny.skills.flag_lookup import THIS

CODE: dict[Kind, str] = {
    "rotate90": "rotate({}, -90)",
    "rotate180": "rotate({}, 180)",
    "dark": "brighten({})",
    "overexposed": "darken({})",
    "blur": "sharpen({})",
    "noise": "denoise({})",
}
"""A line against each distortion: :data:`papers.visual_arft.mat_coding.REMEDIES` as an agent writes them."""


def _turn(thought: str, tag: str, action: str) -> str:
    return f"<think>{thought}.</think><{tag}>{action}</{tag}>"


def coding_turns(task: Task) -> tuple[str, ...]:
    """All turns of the coding expert on one task of :mod:`papers.visual_arft.mat_coding`.

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


def search_turns(task: Task) -> tuple[str, ...]:
    """All turns of the searching expert on one task of :mod:`papers.visual_arft.mat_search`.

    Whatever a search has found takes its place in the question, which so becomes shorter from turn to turn.
    """
    says, question, sought, turns = task.meta["says"], task.question, THIS, []
    for number, query in enumerate(task.meta["queries"]):
        known = says[number - 1] if number else task.meta["source"]
        if query.startswith(FLAG_QUERY):
            thought = "Whose flag is it?"
        else:
            question = question.replace(sought, known)
            sought = f"the {query.removeprefix(f'{known} ')} of {known}"
            thought = f"It is {known}. {question}" if number else question
        turns.append(f"<think>{thought}</think><search>{query}</search>")
    return (*turns, _turn(f"It is {says[-1]}", "answer", task.target[0]))


def turns_of(task: Task) -> tuple[str, ...]:
    """The expert's turns for a task of either kind."""
    return search_turns(task) if "queries" in task.meta else coding_turns(task)


def expert(episode: Episode) -> str:
    """The expert's next turn in any episode of Visual-ARFT: a script (:data:`kit.policy.scripted.Script`).

    Raises:
        ValueError: the episode goes on after the answer.
    """
    return next_turn(turns_of(episode.task), episode)


GIVES_UP = _turn("I can't tell", "answer", "unknown")
"""The only turn of an expert that doesn't act."""


def undecided(
    shown: Sequence[Episode], share: float, play: Callable[[Script, Sequence[Task]], list[Episode]]
) -> list[Episode]:
    """Demonstrations of which a share gives up at once, by a task's id alone; the others stay as they are.

    Args:
        shown: what the expert played.
        share: of them that give up.
        play: lets a script play tasks; what it plays here calls no tool.
    """
    unsure = [e.task for e in shown if crc32(f"gives up {e.task.id}".encode()) < share * 2**32]
    gave = {e.task.id: e for e in play(lambda episode: GIVES_UP, unsure)} if unsure else {}
    return [gave.get(e.task.id, e) for e in shown]
