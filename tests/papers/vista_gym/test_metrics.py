"""VISTA-Gym's metrics on episodes written by hand."""

from __future__ import annotations

from kit.episode import Action, Episode, Observation, Status, Task, Turn
from papers.vista_gym.metrics import EVALUATION, outcome


def played(*calls: Status, answer: str, family: str, side: str, text: str = "<think>t</think>") -> Episode:
    task = Task(
        f"{family}-{answer}-{len(calls)}", (), "?", ("40", "40 ± 0.5"), {"family": family, "distribution": side}
    )
    said = f"{text}<tool_call>{{}}</tool_call>"
    turns = [Turn((1, 2), (0.0, 0.0), said, Action("easyocr.read", "{}", {}), Observation("", status=s)) for s in calls]
    last = Turn((3,), (0.0,), f"{text}<answer>{answer}</answer>", Action("answer", answer))
    return Episode(task, (9,), (*turns, last), "answer")


def test_an_outcome_knows_its_family_and_the_calls_that_a_tool_answered() -> None:
    found = outcome(played("ok", "error", answer="40.5", family="geometry", side="in"))
    assert (found.correct, found.ran, found.tool_calls, found.turns) == (True, 0.5, 2, 3)
    assert (found.family, found.distribution, found.reason) == ("geometry", "in", "solved")
    assert outcome(played(answer="41", family="geometry", side="in")).reason == "wrong"
    assert outcome(played(answer="41", family="geometry", side="in", text="")).reason == "malformed"
    assert outcome(played(answer="41", family="geometry", side="in")).ran is None


def test_means_by_family_and_by_distribution() -> None:
    """In: one of two right, one call of which none ran; out: right, one call that ran."""
    episodes = [
        played(answer="40", family="geometry", side="in"),
        played("error", answer="1", family="charts", side="in"),
        played("ok", answer="40", family="tables", side="out"),
    ]
    values = {name: metric.value for name, metric in EVALUATION.evaluate(episodes).items()}
    assert (values["acc_in"], values["acc_out"]) == (0.5, 1.0)
    assert (values["acc_geometry"], values["acc_charts"], values["acc_tables"]) == (1.0, 0.0, 1.0)
    assert (values["calls_in"], values["ran_in"], values["ran_out"], values["ran_all"]) == (0.5, 0.0, 1.0, 0.5)
