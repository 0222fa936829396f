"""Prove a task without a model: its truth is as it was drawn, of its difficulty, and its crops tell the answer.

====================  ==================================================================================
drawn boards          drawn again and compared; the share of deciding pixels is that of the difficulty; the script
                      plays it in the agent's environment, and what its crops show can be read, pixel by pixel
                      (:mod:`pictures.readable`)
composed scenes       the boxes that decide lie in the scene, a count is their number, the share is that of the
                      difficulty
any other             the gold answer is right by its own rule
====================  ==================================================================================
"""

from __future__ import annotations

from kit.episode import Task, content_hash
from kit.train.playable import UnsolvedTask, solve
from papers.complete import of_complete
from papers.mags_rl.answers import is_right
from papers.mags_rl.boards import PLACES, Drawn
from papers.mags_rl.env import MagsEnv
from papers.mags_rl.expert import answer_of, turns_of
from papers.mags_rl.tasks import difficulty_of, draw, legible, unfit
from papers.mags_rl.zoom import Magnifier
from pictures.documents import SIDE
from pictures.keyed import source_of
from visual_tools.super_resolution import Bicubic


@of_complete
def validate(task: Task, tools: Magnifier | None = None) -> str:
    """Tell why a task isn't what it claims to be; empty: it is.

    Args:
        task: the task.
        tools: isn't used: what a crop tells is proven with plain resizing, whichever network looks in training.
    """
    del tools
    if not is_right(str(task.target[0]), task.target):
        return f"the gold answer {task.target!r} isn't right by its own rule"
    if "drawn" in task.meta:
        kind, seed, side, k, card = task.meta["drawn"]
        drawn = draw(kind, seed, side, k, card)
        return _changed(task, drawn) or unfit(drawn, kind) or _unsolved(task, drawn, kind)
    return _misplaced(task) if "things" in task.meta else ""


def _changed(task: Task, drawn: Drawn) -> str:
    """Name what of a task isn't as it was drawn."""
    same = {
        "image": [image.sha256 for image in task.images] == [content_hash(drawn.image)],
        "original": [image.sha256 for image in task.tool_images] == [content_hash(drawn.original)],
        "question": task.question == drawn.question,
        "target": tuple(task.target) == (drawn.answer,),
        "source": task.meta["source"] == source_of(drawn.key),
        "count": task.meta["count"] == drawn.count,
        "boxes": task.meta["boxes"] == [list(PLACES[place]) for place in drawn.looks],
    }
    changed = [name for name, holds in same.items() if not holds]
    return f"not as it was drawn: {', '.join(changed)}" if changed else ""


def _unsolved(task: Task, drawn: Drawn, kind: str) -> str:
    """Let a script that never errs play, and say what of its answer can't be found out."""
    scale = max(1, round(SIDE / drawn.card))
    try:
        [seen] = solve(MagsEnv(Magnifier(Bicubic(scale))), task, turns_of(task, right_share=1.0))
    except UnsolvedTask as error:
        return str(error)
    crops = [image.image for image in seen.images]
    seen_at = zip(drawn.looks, crops, strict=True)
    unread = [place for place, crop in seen_at if not kind.endswith("/easy") and not legible(drawn, place, crop)]
    if unread:
        return f"what card {unread[0]} says can't be read from its crop"
    found = answer_of(task, task.meta["looks"])
    return "" if is_right(found, task.target) else f"a script finds {found!r}, the gold answer is {task.target[0]!r}"


def _misplaced(task: Task) -> str:
    """Say what of a composed scene isn't as its boxes tell."""
    boxes, count = task.meta["boxes"], task.meta["count"]
    if any(not (0 <= left < right <= 1 and 0 <= top < bottom <= 1) for left, top, right, bottom in boxes):
        return f"a box lies outside the scene: {boxes}"
    if count is not None and not count == len(boxes) == int(task.target[0]):
        return f"{len(boxes)} things are there, the count is {count}, the gold answer {task.target[0]!r}"
    share = min((right - left) * (bottom - top) for left, top, right, bottom in boxes)
    level = difficulty_of(share)
    return "" if level == task.meta["difficulty"] else f"{share:.4f} of the pixels decide: that is {level}"
