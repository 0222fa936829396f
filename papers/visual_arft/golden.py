"""A few tasks of both kinds that the scripted expert answers, for what every paper is tried by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kit.rewards.base import per_episode
from papers.registry import Golden
from papers.visual_arft.countries import Countries
from papers.visual_arft.experiment import Play, Tools, coding_demonstrations, search_engine
from papers.visual_arft.expert import expert
from papers.visual_arft.mat_coding import CATEGORIES
from papers.visual_arft.mat_search import make_tasks, text_questions
from papers.visual_arft.reward import make_reward
from turn_sandbox import Sandbox


@contextmanager
def golden() -> Iterator[Golden]:
    """A sheet of each category, four searches and two in words; spoiled is one whose queries find nothing."""
    search = search_engine()
    known = Countries()
    searches, others = make_tasks(known, search, 0, 4, 4)
    in_words = text_questions(known, search, 2, 0, others)
    spoiled = replace(searches[0], meta={**searches[0].meta, "queries": ["zzz", *searches[0].meta["queries"][1:]]})
    tasks = [*coding_demonstrations(len(CATEGORIES), 0), *searches, *in_words]
    with Sandbox(allow_unsafe=True) as box:
        yield Golden(tasks, Play(prompt="brief"), expert, per_episode(make_reward("f1")), Tools(box, search), spoiled)
