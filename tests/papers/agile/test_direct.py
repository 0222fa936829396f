"""Asking for the arrangement itself: replies in words are read, and judged as an agent's answers are."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from kit.chat import Chat
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.agile.direct import DirectJigsawEnv, arrangement
from papers.agile.metrics import outcome
from papers.agile.puzzle import make_task
from pictures.permutations import belonging
from tiny.skills.seeing import order

NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (112, 112, 3), dtype=np.uint8))
TASK = make_task(NOISE, 2, 0, np.random.default_rng(1), "t", "noise", piece_px=56)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("A top right, B top left, C bottom left, D bottom right; right order B, A, C, D.", ("B", "A", "C", "D")),
        ("A top right, B top left, C bottom left, D bottom right.", ("B", "A", "C", "D")),
        ("right order A, B, C, D. No: right order D, C, B, A.", ("D", "C", "B", "A")),  # the last that is stated
        ("right order A, A, B, C.", ("A", "A", "B", "C")),  # as said; the metric calls it malformed
        ("A top right, B top right, C bottom left, D bottom right.", None),  # nothing at the top left
        ("A top right, B top left, C bottom left.", None),
        ("A top right, B top left, C bottom left, D bottom right, A bottom left.", None),
        ("I can't tell.", None),
        ("", None),
    ],
)
def test_an_order_is_read_as_it_is_said(reply: str, found: tuple[str, ...] | None) -> None:
    assert arrangement(reply, "ABCD", 2) == found


def test_it_is_asked_in_the_words_of_pretraining() -> None:
    """The question and the form of the reply are the skill's that the tiny model was taught."""
    pool = [np.asarray(NOISE)]
    ((question, reply),) = order(np.random.default_rng(0), pool).turns
    system, parts = DirectJigsawEnv().prompt(TASK)
    texts = [part for part in parts if isinstance(part, str)]
    assert (system, texts) == ("", [part for part in question if isinstance(part, str)])
    stated = arrangement(reply, "ABCD", 2)
    assert stated is not None and reply.startswith(belonging("ABCD", stated))


@pytest.mark.parametrize("way", ["words", "order", "tags", "wrong", "nothing"])
def test_replies_become_outcomes(way: str, chat: Chat) -> None:
    target = list(TASK.target)
    other = [target[1], target[0], *target[2:]]
    said = {
        "words": f"{belonging('ABCD', target)}.",
        "order": f"right order {', '.join(target)}.",
        "tags": f"<answer>[{', '.join(target)}]</answer>",
        "wrong": f"right order {', '.join(other)}.",
        "nothing": "Four pieces.",
    }[way]
    config = RolloutConfig(max_turns=1, max_new_tokens=80)
    (played,) = rollout(ScriptedPolicy(chat, lambda episode: said), chat, [TASK], DirectJigsawEnv, config)
    found = outcome(played)
    expected = {"wrong": (False, 0.5, "wrong"), "nothing": (False, 0.0, "malformed")}.get(way, (True, 1.0, "solved"))
    assert (found.correct, found.score, found.reason) == expected


def test_a_real_model_is_asked_for_the_list() -> None:
    _, parts = DirectJigsawEnv("full").prompt(TASK)
    assert isinstance(parts[-1], str) and "2 x 2" in parts[-1] and "[A, B, C, D]" in parts[-1]
