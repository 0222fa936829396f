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
from papers.agile.claims import ACC
from papers.agile.metrics import Outcome

PLAYED = {"greedy": "sft-greedy", "sampled": "sft-sampled"}
"""How the agent chose its words → the stage in which notebook 12 stores what it played."""


def compare_outcomes(starts: Mapping[str, Mapping[str, Sequence[Outcome]]]) -> Metrics:
    """Measure ``NAME_greedy_acc``, ``NAME_greedy_looks``, ``NAME_greedy_found`` and the three of ``sampled``, for each.

    ``found`` is the share of right answers among the episodes that looked; it is missing where none did.

    Args:
        starts: name of a cold start, such as ``guesses_30`` → a key of :data:`PLAYED` → outcomes of its runs, which
            differ in their seed only.
    """
    metrics: Metrics = {}
    for start, played in starts.items():
        for how, outcomes in played.items():
            found = [o for o in outcomes if o.tool_calls]
            looked = [Point(o.seed, o.image, float(bool(o.tool_calls))) for o in outcomes]
            metrics[f"{start}_{how}_acc"] = ACC.interval(outcomes)
            metrics[f"{start}_{how}_looks"] = proportion_over_seeds(looked)
            if found:
                metrics[f"{start}_{how}_found"] = ACC.interval(found)
    return metrics
