"""Compare cold starts that saw other shares of guesses: how often each agent looks, and how often it is right.

A share is a run of notebooks 11 and 12 with its own ``guesses``; 12 stores how its agent plays the puzzles for making
choices, greedily and sampled. The figure there draws what this module measures over such runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.evaluate.intervals import Point, proportion_over_seeds
from kit.evaluate.outcomes import Metrics
from kit.files import find_run
from kit.papers.agile.claims import ACC
from kit.papers.agile.metrics import EVALUATION

PLAYED = {"greedy": "sft-greedy", "sampled": "sft-sampled"}
"""How the agent chose its words → the stage in which notebook 12 stores what it played."""


def by_share(runs: Mapping[int, Sequence[str]]) -> Metrics:
    """Measure ``guesses_60_greedy_acc``, ``guesses_60_greedy_looks`` and the two of ``sampled``, for each share.

    Args:
        runs: share of guesses in percent → names of its runs, which differ in their seed only; shares without runs
            are left out.

    Raises:
        FileNotFoundError: notebook 12 hasn't finished in one of the runs.
    """
    found: Metrics = {}
    for share, names in runs.items():
        for how, stage in PLAYED.items() if names else ():
            played = [pair for k, name in enumerate(names) for pair in EVALUATION.load_calls(find_run(name), stage, k)]
            looked = [Point(outcome.seed, outcome.image, float(bool(calls))) for outcome, calls in played]
            found[f"guesses_{share}_{how}_acc"] = ACC.interval([outcome for outcome, _ in played])
            found[f"guesses_{share}_{how}_looks"] = proportion_over_seeds(looked)
    return found
