"""Visual-ARFT's own finding in a sentence: whether the agent searches and mends, and which training taught it."""

from __future__ import annotations

from collections.abc import Mapping

from kit.evaluate.outcomes import Metrics
from papers.differences import moved, of

ADDED = {
    1: "after reinforcement it does so more often than after the cold start",
    0: "whether reinforcement changed this can't be told from chance",
    -1: "after reinforcement it does so less often than after the cold start",
}
"""Sign of the change → what follows."""


def finding(stages: Mapping[str, Metrics]) -> str:
    """Tell how often it acts on questions to search for, and the share of distorted images that it mends."""
    places = [f"{stage}/{metric}" for metric in ("tools_search", "restored_coding") for stage in ("sft", "grpo")]
    if not (found := of(stages, *places)):
        return ""
    searched, searches, mended, mends = found
    return (
        f"Where it may search it acts {searches.value:.1f} times an episode ({searched.value:.1f} after the cold "
        f"start): {ADDED[moved(searched, searches)]}. Of images with one distortion it mends {mends.value:.2f} "
        f"({mended.value:.2f}): {ADDED[moved(mended, mends)]}."
    )
