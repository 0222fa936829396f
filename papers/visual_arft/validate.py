"""Check a task of either kind without a model: code mends its image, or its queries find what answers it.

====================  =================================================================================================
task                  what is checked, besides that the gold answer earns the full reward
====================  =================================================================================================
distorted image       it doesn't pass for the restored one as it is shown; on the kit's own sheets, the operations that
                      know no strength restore it
part of an image      the part is less than half of the image; code cuts it out
search                each gold query finds its document; the question names no answer, nor the country of its flag
of the hub's own      there are neither distortions nor gold queries to check: the answer alone
====================  =================================================================================================
"""

from __future__ import annotations

import re

from kit.episode import Task
from kit.tools.search import TOP_K
from kit.train.playable import UnsolvedTask, solve
from papers.complete import of_complete
from papers.visual_arft.env import VisualARFTEnv
from papers.visual_arft.experiment import Tools
from papers.visual_arft.expert import turns_of
from papers.visual_arft.mat_coding import distortions, restored


@of_complete
def validate(task: Task, tools: Tools) -> str:
    """Tell why a task teaches nothing; empty: it does.

    Args:
        task: of :mod:`papers.visual_arft.mat_coding`, :mod:`papers.visual_arft.mat_search` or the hub.
        tools: runs the expert's code and searches where the task's documents are.
    """
    turns: tuple[str, ...] = (f"<think>It is known.</think><answer>{task.target[0]}</answer>",)
    if made := bool(task.meta.get("queries")) or "distortions" in task.meta:
        looks = "search" not in task.meta["tools"]
        if looks and not task.images:
            return "it has no image, which code could mend"
        turns = turns_of(task)
        if why := _shown(task) if looks else _searched(task, tools):
            return why
    try:
        seen = solve(VisualARFTEnv(tools.box, tools.search), task, turns)
    except UnsolvedTask as error:
        return str(error)
    drawn = made and task.meta.get("reading") and not task.meta["box"]
    if drawn and not restored(task, [image.image for observation in seen for image in observation.images]):
        return f"the operations against {task.meta['category']} don't restore the image"
    return ""


def _shown(task: Task) -> str:
    """Why the prompt shows what code should be needed for."""
    if distortions(task) and restored(task, ()):
        return f"the image passes for the restored one as it is shown ({task.meta['category']})"
    left, top, right, bottom = task.meta.get("box") or (0, 0, 0, 0)
    share = (right - left) * (bottom - top)
    return f"the part that is asked about is {share:.0%} of the image: nothing to cut out" if share > 0.5 else ""


def _searched(task: Task, tools: Tools) -> str:
    """Why a search can't find the answer, or isn't needed to."""
    hidden = [*task.target, *(task.meta["countries"] if task.images else ())]
    if told := [text for text in hidden if _names(task.question, text)]:
        return f"the question names {told[0]!r}"
    for query, document in zip(task.meta["queries"], task.meta["documents"], strict=True):
        if tools.search is None or document not in [found.source for found in tools.search.search(query, TOP_K)]:
            return f"query {query!r} doesn't find {document!r} among {TOP_K} snippets"
    return ""


def _names(question: str, text: str) -> bool:
    """Whether a question holds a text, in whole words and with its signs: "is" isn't ".is"."""
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question, re.IGNORECASE) is not None
