"""Check a puzzle without a model: swaps and looks solve it, and it isn't solved as it is shown."""

from __future__ import annotations

import numpy as np

from kit.episode import Task
from kit.train.playable import UnsolvedTask, solve
from papers.agile.env import JigsawEnv
from papers.agile.expert import ScriptedExpert
from papers.complete import of_complete
from turn_sandbox import Sandbox


@of_complete
def validate(task: Task, tools: Sandbox) -> str:
    """Tell why a puzzle teaches nothing; empty: it does.

    As many pieces as its level says are in place, and not all: what is shown isn't the answer. Where the tools open
    originals, the prompt shows less of each. With as few swaps as there have to be, the scripted expert puts the image
    together in the sandbox and is rewarded for it.

    Args:
        task: a puzzle.
        tools: runs the expert's code.
    """
    shown = [piece.name for piece in task.images]
    if len(shown) != len(task.target):
        return f"it shows {len(shown)} pieces, and its right order names {len(task.target)}"
    in_place = sum(piece == label for piece, label in zip(shown, task.target, strict=True))
    if in_place != task.meta["level"] or in_place == len(shown):
        return f"{in_place} of {len(shown)} pieces are in place at the start, and its level is {task.meta['level']}"
    pairs = zip(task.images, task.originals, strict=False)  # none where the tools open what is shown
    if whole := [small.name for small, piece in pairs if small.sha256 == piece.sha256]:
        return f"piece {whole[0]} is shown as its original is: its tools have nothing more to show"
    try:
        solve(JigsawEnv(tools), task, ScriptedExpert(task, np.random.default_rng(0), 1).turns)
    except UnsolvedTask as error:
        return str(error)
    return ""
