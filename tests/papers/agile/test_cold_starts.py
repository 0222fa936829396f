"""Cold starts compared, by runs worked out by hand."""

from __future__ import annotations

from kit.episode import Action, Episode, Observation, Task, Turn
from papers.agile.cold_starts import compare_outcomes
from papers.agile.metrics import outcomes

LOOK = Turn((1,), (0.0,), "", Action("code", "a = observation(state)"), Observation(""))


def played(task: Task, looks: bool, right: bool) -> Episode:
    labels = list(task.target if right else reversed(task.target))
    answer = Turn((2,), (0.0,), "", Action("answer", str(labels)))
    return Episode(task, (), (LOOK, answer) if looks else (answer,), "answer")


def test_looks_and_right_answers_are_counted_by_cold_start(tasks: list[Task]) -> None:
    """Greedy: of four one looks, and is right. Sampled: of four three look, and two of these are right."""
    some = tasks[:4]
    greedy = outcomes([played(task, k == 0, k == 0) for k, task in enumerate(some)])
    sampled = outcomes([played(task, k < 3, k < 2) for k, task in enumerate(some)])
    found = compare_outcomes({"guesses_30": {"greedy": greedy, "sampled": sampled}, "replay_4": {}})
    assert {name: (interval.value, interval.n) for name, interval in found.items()} == {
        "guesses_30_greedy_acc": (0.25, 4),
        "guesses_30_greedy_looks": (0.25, 4),
        "guesses_30_greedy_found": (1.0, 1),
        "guesses_30_sampled_acc": (0.5, 4),
        "guesses_30_sampled_looks": (0.75, 4),
        "guesses_30_sampled_found": (2 / 3, 3),
    }
    guessed = compare_outcomes({"guesses_0": {"greedy": outcomes([played(task, False, False) for task in some])}})
    assert set(guessed) == {"guesses_0_greedy_acc", "guesses_0_greedy_looks"}, "where none looked, none found it so"
