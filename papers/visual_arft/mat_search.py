"""MAT-Search (Visual-ARFT, section 4 and appendix B): an image, and a question that several searches answer.

A question starts from a real flag (flagpy: 195 of them) and goes over facts of the CIA World Factbook::

    flag -> the country it is described under -> a fact about it                                      Simple
    flag -> the country ... -> the country it exports to (or imports from) most -> a fact about that    Hard

Each task holds its gold answer, a gold query for every step and the document that the query has to find. Nothing in a
question names a country: the image has to be put into words and looked up, as the factbook describes every flag.
What else is in the index (:mod:`papers.visual_arft.corpora`, 85,000 documents) distracts.

Every task passes a check without a model: each gold query finds its document among the first snippets, and the answer,
or the next step's country, stands in it. Training and test share no country, not on the way either.

Departures
- [arft-flags] Paper: people wrote questions about photographs. Here: questions are made from flags and a table of
  facts, one or two facts each. Why: a program can check that each can be answered. May change: all search results; they
  compare with the paper's in direction alone.
- [arft-hard-two-facts] Paper: Hard questions take more hops, lead over indirect links and come with references that
  distract. Here: Hard means exactly two facts about two countries; what distracts is the rest of the index, for Simple
  ones as well. Why: a chain of two can be checked by a program, and is what the tiny model can follow. May change: Hard
  is easier than the paper's, and nearer to Simple.
- [arft-offline-search] Paper: the Serper API, Google's results. Here: ``laptop`` and ``gpu`` search the kit's documents
  offline, ``node`` Serper. Why: no key, no cost, the same results every time. May change: search results, as the right
  document is always there.
- [arft-gold-queries] Paper: its 20 training examples come with chains of thought. Here: training tasks come with gold
  queries and documents. Why: chains can't be checked by a program. May change: nothing where the answer is rewarded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from kit.episode import NamedImage, Task
from kit.rewards.text_match import tokens
from kit.tools.search import TOP_K, Search
from papers.visual_arft.countries import FACTS, PARTNERS, Countries, Step
from papers.visual_arft.mat_coding import MakingError
from tiny.skills.flag_lookup import THIS

TRAIN, TEST = 20, 150
"""The paper's numbers of tasks; half of them are Hard, as its averages show (Table 1)."""


@dataclass(frozen=True)
class Chain:
    """Steps that lead from a flag (or a country's name) to an answer, and the countries on the way."""

    country: str
    asked: str
    steps: tuple[Step, ...]
    through: frozenset[str]

    @property
    def hard(self) -> bool:
        """True if there is another country on the way."""
        return len(self.through) > 1


def chains(known: Countries) -> Iterator[Chain]:
    """Every question that can be asked about the countries whose flags there are."""
    for country in sorted(known.flags):
        look = known.look(country)
        if look is None:
            continue
        for fact in FACTS:
            if step := known.fact(country, fact):
                yield Chain(country, fact.called, (look, step), frozenset({country}))
        for heading, called in PARTNERS.items():
            trade = known.partner(country, heading)
            if trade is None or trade.says == country:
                continue
            for fact in FACTS:
                if step := known.fact(trade.says, fact):
                    through = frozenset({country, trade.says})
                    yield Chain(country, f"{fact.called} of {called}", (look, trade, step), through)


def passes(chain: Chain, search: Search, texts: Mapping[str, str], k: int = TOP_K) -> bool:
    """Check that each gold query finds its document, which holds the next step's country or the answer.

    Args:
        chain: the question's steps.
        search: the search to try.
        texts: id of a document → its text.
        k: documents that a search returns.
    """
    for number, step in enumerate(chain.steps):
        if step.document not in [snippet.source for snippet in search.search(step.query, k)]:
            return False
        # A flag's description doesn't name its country; its title does.
        if number and not _within(step.says, texts[step.document]):
            return False
    return True


def _within(part: str, whole: str) -> bool:
    small, large = tokens(part), tokens(whole)
    return bool(small) and any(large[i : i + len(small)] == small for i in range(len(large)))


def task(chain: Chain, image: Image.Image | None, id: str) -> Task:
    """A chain as a task: with its flag, or (text alone) with its country's name.

    Args:
        chain: the question's steps.
        image: the flag; None: text alone.
        id: id of the task.
    """
    shown = Task(
        id,
        (NamedImage("flag", image),) if image is not None else (),
        f"What is {chain.asked} of {THIS}?",
        (chain.steps[-1].says,),
        {
            "tools": ["search"],
            "difficulty": "hard" if chain.hard else "simple",
            "queries": [step.query for step in chain.steps],
            "documents": [step.document for step in chain.steps],
            "says": [step.says for step in chain.steps],
            "source": chain.country,
            "countries": sorted(chain.through),
            "kind": "flag",
        },
    )
    return shown if image is not None else in_words(shown)


def in_words(task: Task) -> Task:
    """Ask with the country's name instead of its flag: the first step is gone."""
    meta = {name: task.meta[name][1:] for name in ("queries", "documents", "says")}
    question = task.question.replace(THIS, task.meta["source"])
    return replace(task, images=(), question=question, meta={**task.meta, **meta, "kind": "text"})


def make_tasks(
    known: Countries, search: Search, seed: int, train: int = TRAIN, test: int = TEST, k: int = TOP_K
) -> tuple[list[Task], list[Task]]:
    """Training and test tasks, half of each Simple and half Hard, no country in both; fixed by ``seed``.

    Args:
        known: countries and their facts.
        search: the search that must find the documents.
        seed: fixes everything that is random.
        train: number of training tasks.
        test: number of test tasks.
        k: documents that a search returns.

    Raises:
        MakingError: there are not that many questions whose gold queries find their documents.
    """
    good = [chain for chain in chains(known) if passes(chain, search, known.texts, k)]
    rng = np.random.default_rng(seed)
    good = [good[int(i)] for i in rng.permutation(len(good))]
    # Countries that many export to would, once in training, keep all of those out of the test: rare ones first.
    often = {name: sum(name in chain.through for chain in good) for chain in good for name in chain.through}
    rare = sorted(good, key=lambda chain: max(often[name] for name in chain.through))
    first = _different(rare, train)
    taken = frozenset().union(*(chain.through for chain in first))
    second = _different([chain for chain in good if not chain.through & taken], test)
    images = known.flags
    made = []
    for name, some, wanted in (("train", first, train), ("test", second, test)):
        if len(some) < wanted:
            raise MakingError(
                f"mat-search {name}: {len(some)} questions of {wanted}; {len(good)} could be made of these documents "
                "in all. Ask for fewer, or let gold queries look at more snippets (k)"
            )
        made.append([task(c, images[c.country], f"mat-search-{name}-s{seed}-{n:03d}") for n, c in enumerate(some)])
    return made[0], made[1]


def _different(some: Sequence[Chain], n: int) -> list[Chain]:
    """``n`` chains, Simple and Hard by turns; a country, flag or partner, comes again only when all others have."""
    left = {hard: [chain for chain in some if chain.hard == hard] for hard in (False, True)}
    used: dict[str, int] = {}
    picked: list[Chain] = []
    while len(picked) < n:
        pile = left[len(picked) % 2 == 1] or left[len(picked) % 2 == 0]
        if not pile:
            break
        fewest = min(pile, key=lambda chain: sorted((used.get(name, 0) for name in chain.through), reverse=True))
        pile.remove(fewest)
        used.update({name: used.get(name, 0) + 1 for name in fewest.through})
        picked.append(fewest)
    return picked


def text_questions(known: Countries, search: Search, n: int, seed: int, test: Sequence[Task]) -> list[Task]:
    """``n`` questions over two facts that name a country instead of showing its flag; of ``test``'s countries only.

    Fewer come back if there aren't as many whose gold queries find their documents.

    Args:
        known: countries and their facts.
        search: the search that must find the documents.
        n: number of questions.
        seed: fixes everything that is random.
        test: tasks whose countries may be asked about.
    """
    ours = {name for one in test for name in one.meta["countries"]}
    hard = [c for c in chains(known) if c.hard and c.through <= ours and passes(c, search, known.texts)]
    order = np.random.default_rng(seed).permutation(len(hard))
    return [task(hard[int(i)], None, f"text-s{seed}-{k:03d}") for k, i in enumerate(order[:n])]
