"""Visual-ARFT's Tables 1 to 4 once more, its rows of Qwen2.5-VL-7B: its number, ours beside it or "not run".

They are about MAT and four multi-hop sets; only their own tasks fill a cell, never drawn sheets, flags or invented
questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from papers import tables
from papers.tables import Table, beside
from papers.visual_arft.metrics import Outcome, evaluate_outcomes
from papers.visual_arft.reported import REPORTED

ROWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Table 1": (("direct", "grpo"), ("coding", "search")),
    "Table 2": (("direct", "rag", "grpo"), ("text",)),
    "Table 3": (("em-reward", "grpo"), ("coding", "search")),
    "Table 4": (("direct", "cot", "rag", "grpo"), ("search",)),
}
"""Table → its stages, and the settings of its columns."""


def paper_tables(played: Mapping[str, Sequence[Outcome]]) -> dict[str, Table]:
    """All four tables.

    Args:
        played: stage → its outcomes, of one seed or several; a stage that wasn't played is missing, or has none.
    """
    own = {stage: [o for o in some if o.of_paper] for stage, some in played.items()}
    here = {stage: evaluate_outcomes(some) for stage, some in own.items() if some}
    return {
        title: beside(
            {
                stage: {name: theirs for name, theirs in REPORTED[stage].items() if name.split("_")[1] in settings}
                for stage in stages
            },
            here,
        )
        for title, (stages, settings) in ROWS.items()
    }


def told(cells: Mapping[str, Table]) -> str:
    """All four as one text, in percent: a column for each stage, the paper's number in brackets."""
    stages = dict.fromkeys(stage for table in cells.values() for stage in table)
    order = [stage for stage in REPORTED if stage in stages]
    return tables.told({s: {k: v for t in cells.values() for k, v in t.get(s, {}).items()} for s in order}, "%")
