"""Compare cold starts: how often each agent looks, how often it is right, and how often where it looked.

Each is a run of notebooks 11 and 12 with one value of its own (``guesses``, ``thumbnail``, ``sft_episodes`` or
``replay``).
Notebook 12 stores how its agent plays the puzzles for making choices, greedily and sampled; the figure and the table
there show what this module measures over such runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.evaluate.intervals import Point, proportion_over_seeds
from kit.evaluate.outcomes import Metrics
from kit.files import find_run
from papers.agile.claims import ACC
from papers.agile.metrics import EVALUATION

PLAYED = {"greedy": "sft-greedy", "sampled": "sft-sampled"}
"""How the agent chose its words → the stage in which notebook 12 stores what it played."""


def compare(runs: Mapping[str, Sequence[str]]) -> Metrics:
    """Measure ``NAME_greedy_acc``, ``NAME_greedy_looks``, ``NAME_greedy_found`` and the three of ``sampled``, for each.

    ``found`` is the share of right answers among the episodes that looked; it is missing where none did.

    Args:
        runs: name of a cold start, such as ``guesses_30`` → its runs, which differ in their seed only; those without
            runs are left out.

    Raises:
        FileNotFoundError: notebook 12 hasn't finished in one of the runs.
    """
    metrics: Metrics = {}
    for start, names in runs.items():
        for how, stage in PLAYED.items() if names else ():
            played = [pair for k, name in enumerate(names) for pair in EVALUATION.load_calls(find_run(name), stage, k)]
            looked = [Point(outcome.seed, outcome.image, float(bool(calls))) for outcome, calls in played]
            found = [outcome for outcome, calls in played if calls]
            metrics[f"{start}_{how}_acc"] = ACC.interval([outcome for outcome, _ in played])
            metrics[f"{start}_{how}_looks"] = proportion_over_seeds(looked)
            if found:
                metrics[f"{start}_{how}_found"] = ACC.interval(found)
    return metrics
