"""The paper's tools: which suit which family."""

from __future__ import annotations

from papers.vista_gym.env import PRIOR


def test_the_prior_names_families_and_no_tool_twice() -> None:
    assert len(PRIOR) == 7 and all(len(set(names)) == len(names) for names in PRIOR.values())
