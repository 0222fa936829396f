"""The invented world: of the factbook's forms, of no real country, the same for a seed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from papers.visual_arft.corpora import iso_documents
from papers.visual_arft.countries import FACTS, PARTNERS, Countries
from papers.visual_arft.index import Index
from papers.visual_arft.invented import HEADINGS, names_of, world
from papers.visual_arft.mat_search import chains, passes


def test_all_that_is_asked_of_real_countries_can_be_asked_of_invented_ones() -> None:
    known, documents = world(8, np.random.default_rng(3))
    assert len([d for d in documents if d.id.startswith("factbook/invented/")]) == 8 * (len(HEADINGS) + 3)
    kinds = Counter((chain.country, chain.asked) for chain in chains(known))
    assert len(kinds) == 8 * (len(FACTS) + len(PARTNERS) * len(FACTS)) and set(kinds.values()) == {1}


def test_a_flag_is_looked_up_in_the_words_by_which_it_was_sewn() -> None:
    known, documents = world(30, np.random.default_rng(0))
    told = {d.title: d.text for d in documents}
    for country, image in known.flags.items():
        words = known.look(country).query.removeprefix("flag description ")
        first = re.search("light blue|red|white|blue|green|yellow|black|orange|UK", words)[0]
        assert image.size == (168, 84) and first in told[f"{country}, flag, description"]


def test_most_of_its_questions_pass_the_check_of_real_ones(tmp_path: Path) -> None:
    known, documents = world(60, np.random.default_rng(1))
    index = Index(documents, tmp_path)
    every = list(chains(known))
    some = [every[k] for k in np.random.default_rng(0).permutation(len(every))[:80]]
    assert np.mean([passes(chain, index, known.texts) for chain in some]) > 0.5


def test_no_country_of_it_is_real_and_a_seed_fixes_it() -> None:
    known, documents = world(50, np.random.default_rng(5))
    assert not set(known.names) & set(Countries().names)
    again, same = world(50, np.random.default_rng(5))
    assert same == documents
    assert all(np.array_equal(np.asarray(known.flags[n]), np.asarray(again.flags[n])) for n in known.flags)
    assert world(50, np.random.default_rng(6))[1] != documents


def test_too_small_a_world_has_no_trade() -> None:
    with pytest.raises(ValueError, match=r"world of 5 countries.*ask for 6 to"):
        world(5, np.random.default_rng(0))


def test_names_are_plain_and_of_their_list() -> None:
    names = names_of(iso_documents(), frozenset({"Maine"}))
    assert {"3166-2", "639-3", "4217"} <= set(names)
    assert "Bavaria" not in names["3166-2"] and "Bayern" in names["3166-2"] and "Maine" not in names["3166-2"]
    assert "Ghotuo" in names["639-3"] and "Swiss Franc" in names["4217"]
    assert all(len(set(some)) == len(some) and not re.search(r"[\d(,]", " ".join(some)) for some in names.values())
