"""Words around a question change neither what is asked nor what is right."""

import numpy as np
import pytest

from kit.chat import Chat
from kit.context import amid, vocabulary
from kit.pictures import Pixels, scene
from kit.skills import place


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
        sample = amid(np.random.default_rng(seed), bare, words)
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
