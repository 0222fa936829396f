"""Visual-ARFT's metrics on episodes written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import Image

from kit.episode import Ended, Episode, NamedImage, Observation, Task, Turn
from kit.protocol import FormatError
from kit.tools import restoration
from papers.visual_arft.env import PROTOCOL
from papers.visual_arft.mat_coding import drawn, make_tasks
from papers.visual_arft.metrics import (
    evaluate,
    failures,
    kind,
    outcome,
    table,
)

DARK, TURNED = (make_tasks(drawn((), "d"), {kind: 1}, 0, "t")[0] for kind in ("dark", "rotate180"))
SEARCH = Task(
    "s", DARK.images, "?", ("red cars",), {"difficulty": "hard", "queries": ["a", "b", "c"], "source": "Chad"}
)


def said(text: str, *images: NamedImage) -> Turn:
    parsed = PROTOCOL.parse(text)
    action = None if isinstance(parsed, FormatError) else parsed
    seen = Observation("", images) if action is None or action.name != "answer" else None
    return Turn((1, 2), (0.0, 0.0), text, action, seen)


def played(task: Task, answer: str | None, *turns: Turn, ended: Ended = "answer") -> Episode:
    last = () if answer is None else (said(f"<think>x</think><answer>{answer}</answer>"),)
    return Episode(task, (9,), (*turns, *last), ended)


def restoring(task: Task, how) -> Turn:
    return said("<think>x</think><code>y</code>", NamedImage("image_1", how(task.images[0].image)))


def test_an_outcome_has_f1_em_and_restoration() -> None:
    right = outcome(played(DARK, DARK.target[0], restoring(DARK, restoration.brighten)))
    assert (right.f1, right.correct, right.restored, right.reason) == (1.0, True, True, "solved")
    assert (right.setting, right.label, right.category) == ("coding", "simple", "dark")
    assert (right.turns, right.tool_calls, right.tokens) == (2, 1, 4)
    wrong = outcome(played(DARK, "nothing of it", restoring(DARK, restoration.denoise)))
    assert (wrong.f1, wrong.correct, wrong.restored, wrong.reason) == (0.0, False, False, "wrong")


def test_nothing_can_be_restored_where_nothing_was_done() -> None:
    """Else an agent without tools would restore a seventh of the simple sheets by leaving them alone."""
    whole = make_tasks(drawn((), "w"), {"none": 1}, 0, "w")[0]
    assert outcome(played(whole, whole.target[0])).restored is None


def test_a_search_is_judged_by_its_answer_alone() -> None:
    found = outcome(played(SEARCH, "the red car"))
    assert (found.f1, found.correct, found.restored) == (0.5, False, None)
    assert (found.setting, found.label, found.category, found.image) == ("search", "hard", "3", "Chad")
    assert outcome(played(replace(SEARCH, images=()), "red cars")).setting == "text"


def test_an_episode_without_an_answer_scores_zero_but_keeps_its_restoration() -> None:
    silent = outcome(played(DARK, None, restoring(DARK, restoration.brighten), ended="turns"))
    assert (silent.f1, silent.correct, silent.restored, silent.reason) == (0.0, False, True, "turns")


def test_metrics_are_means_of_each_setting_and_label() -> None:
    """Coding: 1 and 0; search: one half. Two thirds of the turns' total over three episodes."""
    episodes = [
        played(DARK, DARK.target[0]),
        played(TURNED, "?", restoring(TURNED, lambda i: i)),
        played(SEARCH, "red car"),
    ]
    metrics = evaluate(episodes)
    assert metrics["f1_coding"].value == metrics["f1_coding_simple"].value == 0.5
    assert metrics["em_coding"].value == 0.5 and metrics["restored_coding"].value == 0.0
    assert metrics["f1_search_hard"].value == 0.5 and metrics["em_search"].value == 0
    assert metrics["turns_coding"].value == 1.5 and metrics["tools_coding"].value == 0.5
    assert "restored_search" not in metrics and "f1_text" not in metrics
    assert failures(episodes) == {"solved": pytest.approx(1 / 3), "wrong answer": pytest.approx(2 / 3)}


def test_the_table_sets_the_papers_numbers_beside_ours() -> None:
    text = table({"direct": evaluate([played(SEARCH, "?")]), "grpo": evaluate([played(SEARCH, "red cars")])})
    row = next(line for line in text.splitlines() if line.startswith("f1_search_hard"))
    assert "(0.396)" in row and "(0.558)" in row


def test_tasks_of_one_kind_are_those_whose_observations_look_alike() -> None:
    picture = NamedImage("image", Image.new("RGB", (28, 28)))
    kinds = [
        kind(Task("t", images, "?", ("a",), {"tools": tools}))
        for images, tools in (((picture,), ["code"]), ((picture,), ["search"]), ((), ["search"]))
    ]
    assert kinds == [("code", "image"), ("search", "image"), ("search", "text")]
