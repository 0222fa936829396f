"""What counts as right when a model's skills are measured."""

import numpy as np
import pytest
import tiny_card

from pictures.scenes import scene


@pytest.mark.parametrize("words", [(), ("#", "%")])
def test_who_says_what_is_right_has_every_skill(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    def oracle(model, chat, samples, question=0, max_new_tokens=60):
        return [sample.turns[question][1] for sample in samples]

    monkeypatch.setattr(tiny_card, "answer", oracle)
    pool = [scene(np.random.default_rng(0))]
    hits = tiny_card.examine(None, None, pool, n=30, words=words)  # type: ignore[arg-type]
    assert {name.partition(".")[0] for name in hits} == set(tiny_card.SKILLS)
    assert all(all(right) for right in hits.values())


def test_who_says_another_samples_answer_has_it_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(model, chat, samples, question=0, max_new_tokens=60):
        said = [sample.turns[question][1] for sample in samples]
        return said[1:] + said[:1]

    monkeypatch.setattr(tiny_card, "answer", shifted)
    pool = [scene(np.random.default_rng(0))]
    hits = tiny_card.examine(None, None, pool, n=30)  # type: ignore[arg-type]
    assert np.mean(hits["place"]) < 0.3 and np.mean(hits["code"]) < 0.1
