"""MAT-Search: real flags, gold queries that find their documents, and no country on both sides."""

from __future__ import annotations

import io
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kit.episode import Task
from kit.rewards.text_match import f1, max_over_references
from kit.tools.search import TOP_K
from papers.visual_arft.corpora import documents
from papers.visual_arft.countries import FACTS, Countries, _Pixels, flags
from papers.visual_arft.index import Document, Index
from papers.visual_arft.mat_coding import MakingError
from papers.visual_arft.mat_search import TEST, TRAIN, chains, make_tasks, passes, task


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index(documents(), tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def known() -> Countries:
    return Countries()


@pytest.fixture(scope="module")
def made(known: Countries, index: Index) -> tuple[list[Task], list[Task]]:
    return make_tasks(known, index, seed=0)


def test_the_flags_are_real_ones() -> None:
    """France's is blue, white and red from the left; of Japan's the middle alone is red."""
    found = flags()
    assert len(found) == 195
    assert all(image.size == (180, 90) and image.mode == "RGB" for image in found.values())
    r, g, b = zip(*(found["France"].getpixel((x, 45)) for x in (30, 90, 150)), strict=True)
    assert b[0] > 100 > r[0] and min(r[1], g[1], b[1]) > 240 and r[2] > 200 > b[2]
    assert found["Japan"].getpixel((5, 5)) == (255, 255, 255) != found["Japan"].getpixel((90, 45))


def test_reading_them_calls_no_function_but_numpys() -> None:
    evil = pickle.dumps(print)
    with pytest.raises(pickle.UnpicklingError, match=r"builtins.print: not part of an array"):
        _Pixels(io.BytesIO(evil)).load()


def test_nearly_every_flag_has_its_country(known: Countries) -> None:
    assert len(known.flags) >= 190
    for name in ("Burma", "Cabo Verde", "DRC", "Congo", "Holy See", "The Dominican", "Côte d'Ivoire"):
        assert name in known.flags, name


def test_the_counts_are_the_papers_half_of_them_hard(made: tuple[list[Task], list[Task]]) -> None:
    for tasks, n in zip(made, (TRAIN, TEST), strict=True):
        assert len(tasks) == n == len({t.id for t in tasks})
        assert Counter(t.meta["difficulty"] for t in tasks) == {"simple": n // 2, "hard": n // 2}
    assert len({t.meta["source"] for t in made[1]}) > 90


def test_training_and_test_share_no_country_on_the_way(made: tuple[list[Task], list[Task]]) -> None:
    train, test = ({name for t in tasks for name in t.meta["countries"]} for tasks in made)
    assert train and test and not train & test
    assert not {t.images[0].sha256 for t in made[0]} & {t.images[0].sha256 for t in made[1]}


def test_every_gold_query_finds_what_the_next_step_needs(made: tuple[list[Task], list[Task]], index: Index) -> None:
    """Played through: look for the flag, then on with what was found; the answer stands in the last document."""
    for one in [t for tasks in made for t in tasks]:
        assert len(one.meta["queries"]) == (2 if one.meta["difficulty"] == "simple" else 3)
        for query, document, says in zip(one.meta["queries"], one.meta["documents"], one.meta["says"], strict=True):
            (found,) = [s for s in index.search(query, TOP_K) if s.source == document]
            assert says.lower() in f"{found.title} {found.text}".lower()
        assert one.target == (one.meta["says"][-1],)


def test_no_question_names_a_country(made: tuple[list[Task], list[Task]]) -> None:
    for one in [t for tasks in made for t in tasks]:
        assert not any(name.lower() in one.question.lower() for name in one.meta["countries"])
        assert one.question.endswith("of the country with this flag?")


def test_the_question_alone_finds_nothing(made: tuple[list[Task], list[Task]], index: Index) -> None:
    """Plain retrieval: of the snippets for the question itself hardly any holds the answer."""
    hits = [any(max_over_references(f1, s.text, t.target) > 0.5 for s in index.search(t.question)) for t in made[1]]
    assert sum(hits) < 0.1 * len(hits)


def test_the_same_questions_of_text_alone(known: Countries, index: Index) -> None:
    hard = next(chain for chain in chains(known) if chain.hard and passes(chain, index, known.texts))
    one = task(hard, None, "text")
    assert one.images == () and one.question.endswith(f"partner of {hard.country}?")
    assert len(one.meta["queries"]) == 2 and hard.country in one.meta["queries"][0]


def test_a_broken_chain_does_not_pass(known: Countries, index: Index) -> None:
    chain = next(chain for chain in chains(known) if chain.hard and passes(chain, index, known.texts))
    texts = known.texts | {chain.steps[-1].document: "nothing of the kind"}
    assert not passes(chain, index, texts)
    wrong = replace(chain, steps=(replace(chain.steps[0], query="flag description pink unicorn"), *chain.steps[1:]))
    assert not passes(wrong, index, known.texts)


def test_an_answer_is_one_and_plain(known: Countries) -> None:
    """Capitals in the plural, unnamed peaks and currencies without a code are nobody's question."""
    values = {f.heading: {s.says for c in known.flags if (s := known.fact(c, f))} for f in FACTS}
    assert all(len(found) > 40 for found in values.values())
    assert all(not set(";(") & set(says) for found in values.values() for says in found)
    assert "Paris" in values["capital, name"] and ".td" in values["internet country code"]
    assert not any(says.startswith("unnamed") for says in values["elevation, highest point"])


def test_too_few_documents_are_said_to_be_too_few(known: Countries, tmp_path: Path) -> None:
    some = [Document("factbook/a/0", "France, flag, description", "three equal vertical bands of blue, white, and red")]
    with pytest.raises(MakingError, match="mat-search train: 0 questions of 20; 0 could be made"):
        make_tasks(Countries(some), Index(some, tmp_path), seed=0)
