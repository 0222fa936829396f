"""Words around a question change neither what is asked nor what is right."""

import re

import numpy as np
import pytest
from tiny_context import TAGS, as_later_turn, in_distractors, in_tags, vocabulary, within

from kit.chat import Chat
from pictures.scenes import Pixels, scene
from tiny.skills import SKILLS
from tiny.skills.seeing import chart, place
from tiny.skills.text import code, sorting


@pytest.fixture(scope="module")
def pool() -> list[Pixels]:
    return [scene(np.random.default_rng(0))]


def test_vocabulary_has_every_word_once_and_the_skills_words_often(chat: Chat) -> None:
    words = vocabulary(chat)
    assert not {"", "<|im_end|>", "<|image_pad|>"} & set(words)
    assert words.count("bottom") >= 10 and words.count("<think>") <= 1


def test_amid_words_the_question_and_its_answer_stay(pool: list[Pixels]) -> None:
    words = ["#", "%", "&"]
    kinds = set()
    for seed in range(40):
        bare = place(np.random.default_rng(seed), pool)
        sample = in_distractors(np.random.default_rng(seed), bare, words)
        (question, answer), (bare_question, bare_answer) = sample.turns[0], bare.turns[0]
        *parts, asked = question
        *bare_parts, bare_asked = bare_question
        assert all(one is other for one, other in zip(parts, bare_parts, strict=True))
        assert isinstance(asked, str) and isinstance(bare_asked, str)
        remark, _, rest = asked.partition(bare_asked)
        opening = rest.removeprefix(" First say: ")
        assert answer == opening + bare_answer
        assert set(remark.strip() + opening + sample.system) <= set(words)
        kinds.add((bool(remark), bool(opening), bool(sample.system)))
    assert len(kinds) == 8


def test_tagged_answers_are_the_bare_ones_inside_the_tags_asked_for(pool: list[Pixels]) -> None:
    pairs = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        bare, after = place(rng, pool), code(rng, pool)
        (question, answer), asked = in_tags(rng, bare, after).turns[0], bare.turns[0][0][-1]
        first, second = re.fullmatch(
            rf"<(\w+)> {re.escape(str(asked))} <(\w+)> {re.escape(str(after.turns[0][0][0]))}", str(question[-1])
        ).groups()  # type: ignore[union-attr]
        line = after.turns[0][1].removesuffix(".")  # code ends where its tag does
        assert answer == f"<{first}>{bare.turns[0][1]}</{first}><{second}>{line}</{second}>"
        assert question[:-1] == bare.turns[0][0][:-1]
        pairs.append((first, second))
    assert {tag for pair in pairs for tag in pair} == set(TAGS) and all(a != b for a, b in pairs)


def test_later_questions_are_the_same_ones(pool: list[Pixels]) -> None:
    rng = np.random.default_rng(0)
    before, sample = chart(rng, pool), sorting(rng, pool)
    assert as_later_turn(before, sample).turns == (*before.turns, *sample.turns)
    assert as_later_turn(before, sample).skill == "sorting"


def test_within_is_of_all_kinds(pool: list[Pixels]) -> None:
    """Each context occurs, and what was asked is still the sample's last question or first."""
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(60):
        bare = SKILLS["place"](rng, pool)
        sample = within(rng, bare, ["#"], pool)
        question, answer = sample.turns[-1]
        assert "Where does each belong?" in str(question[-1]) and bare.turns[0][1] in answer
        kinds.add((len(sample.turns) > 1, "</" in answer))
    assert len(kinds) == 4
