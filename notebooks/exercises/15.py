"""Exercises of notebook 15: a mean over benchmarks, form against sight, an equal budget in tokens."""

from __future__ import annotations

import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def general_accuracy(right: dict[str, list[bool]]) -> float:
    """Take each benchmark's accuracy first, then the mean of these."""
    return sum(sum(found) / len(found) for found in right.values()) / len(right)


def _over_questions(right: dict[str, list[bool]]) -> float:
    return sum(map(sum, right.values())) / sum(map(len, right.values()))


def _summed(right: dict[str, list[bool]]) -> float:
    return sum(sum(found) / len(found) for found in right.values())


def lost_to_form(replies: list[list[str]], answers: list[list[str]]) -> float:
    """Among the pairs that differ, count those whose first words agree."""
    wrong = [(reply, answer) for reply, answer in zip(replies, answers, strict=True) if reply != answer]
    return sum(reply[: len(answer)] == answer for reply, answer in wrong) / len(wrong) if wrong else 0.0


def _of_all_replies(replies: list[list[str]], answers: list[list[str]]) -> float:
    return lost_to_form(replies, answers) * sum(map(list.__ne__, replies, answers)) / len(replies)


def _right_counted(replies: list[list[str]], answers: list[list[str]]) -> float:
    pairs = list(zip(replies, answers, strict=True))
    return sum(reply[: len(answer)] == answer for reply, answer in pairs) / len(pairs)


def _anywhere(replies: list[list[str]], answers: list[list[str]]) -> float:
    wrong = [(reply, answer) for reply, answer in zip(replies, answers, strict=True) if reply != answer]
    return sum(set(answer) <= set(reply) for reply, answer in wrong) / len(wrong) if wrong else 0.0


def _first_word(replies: list[list[str]], answers: list[list[str]]) -> float:
    wrong = [(reply, answer) for reply, answer in zip(replies, answers, strict=True) if reply != answer]
    return sum(reply[:1] == answer[:1] for reply, answer in wrong) / len(wrong) if wrong else 0.0


def questions_for_the_same_tokens(n: int, question: int, puzzle: int) -> int:
    """Add up what `half` spends, then divide by a question's tokens and drop the rest."""
    return n // 2 * (question + puzzle) // question


def _for_puzzles_alone(n: int, question: int, puzzle: int) -> int:
    return n * puzzle // question


def _puzzles_half_only(n: int, question: int, puzzle: int) -> int:
    return n // 2 * puzzle // question


def _rounded_up(n: int, question: int, puzzle: int) -> int:
    return -(-(n // 2 * (question + puzzle)) // question)


def _rate_first(n: int, question: int, puzzle: int) -> int:
    return n // 2 * ((question + puzzle) // question)


def _other_results(seed: int) -> list[dict[str, Any]]:
    """Benchmarks of very different size and accuracy; one alone."""
    rng = random.Random(seed)
    large = [rng.random() < 0.9 for _ in range(30)]
    small = [True] + [False] * rng.randint(2, 4)
    middle = [k % 2 == 0 for k in range(rng.randint(5, 9))]
    return [
        {"right": {"a": large, "b": small}},
        {"right": {"a": small, "b": middle, "c": large}},
        {"right": {"a": middle, "b": large}},
    ]


def _other_replies(seed: int) -> list[dict[str, Any]]:
    """Right, longer, shorter, in another order, and wrong from the first word on."""
    rng = random.Random(seed)
    words = rng.sample(["red", "blue", "six", "nine", "top", "left", "tea", "oslo"], 6)
    a, b, c, d, e, f = words
    pairs = [
        *(([a, b], [a, b]), ([a, b, c], [a, b]), ([a], [a, b]), ([b, a, c], [a, b])),
        *(([c, d], [e, f]), ([e, f, a, b], [e, f]), ([e, a], [e, f]), ([d], [d])),
    ]
    rng.shuffle(pairs)
    some = {"replies": [reply for reply, _ in pairs], "answers": [answer for _, answer in pairs]}
    return [
        some,
        {"replies": [[a], [b, c]], "answers": [[a], [b, c]]},
        {"replies": [[d, e], [f, a], [b]], "answers": [[d], [f, c], [b]]},
    ]


def _other_budgets(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = []
    while len(found) < 4:
        case = {"n": 2 * rng.randint(3, 40), "question": rng.randint(40, 90), "puzzle": rng.randint(300, 900)}
        exact = case["n"] // 2 * (case["question"] + case["puzzle"]) / case["question"]
        if 0.2 < exact % 1 < 0.8 and case["puzzle"] % case["question"] > case["question"] // 4:
            found.append(case)
    return found


EXERCISES = [
    Exercise(
        "15.1",
        general_accuracy,
        "First the accuracy of each benchmark by itself; then the mean of these accuracies.",
        cases=[
            {"right": {"a": [True, True, True, True], "b": [False, True]}},
            {"right": {"a": [True], "b": [False, False, False]}},
            {"right": {"a": [True, False]}},
        ],
        hidden=_other_results,
        mistakes=[
            Mistake(_over_questions, "That is the mean over all questions: a large benchmark counts for more there."),
            Mistake(_summed, "That is the sum of the accuracies. Divide it by the number of benchmarks."),
        ],
    ),
    Exercise(
        "15.2",
        lost_to_form,
        "Keep the pairs that differ. Of these, compare `reply[:len(answer)]` with `answer`.",
        cases=[
            {
                "replies": [["red", "six", "blue"], ["red"], ["two"]],
                "answers": [["red", "six"], ["red", "six"], ["two"]],
            },
            {"replies": [["tea"], ["six"]], "answers": [["tea"], ["six"]]},
            {"replies": [["b", "a"], ["a", "b", "c"]], "answers": [["a", "b"], ["a", "b"]]},
            {"replies": [["a", "c"], ["left"]], "answers": [["a", "b"], ["right"]]},
        ],
        hidden=_other_replies,
        mistakes=[
            Mistake(_of_all_replies, "That is the share of all replies. Divide by the number of wrong ones."),
            Mistake(_right_counted, "Right replies begin with the answer, too. Leave them out, above and below."),
            Mistake(_anywhere, "The answer's words must come first, and in their order, not anywhere in the reply."),
            Mistake(_first_word, "One word is not enough: all words of the answer must stand at the beginning."),
        ],
    ),
    Exercise(
        "15.3",
        questions_for_the_same_tokens,
        "`half` spends n / 2 × (question + puzzle) tokens. How many times does `question` go into that?",
        cases=[
            {"n": 48, "question": 60, "puzzle": 500},
            {"n": 2, "question": 100, "puzzle": 250},
            {"n": 10, "question": 70, "puzzle": 330},
        ],
        hidden=_other_budgets,
        mistakes=[
            Mistake(_for_puzzles_alone, "Only half of the tasks are puzzles."),
            Mistake(_puzzles_half_only, "The questions that `half` has cost tokens as well."),
            Mistake(_rounded_up, "Only whole questions count: a part of one is none."),
            Mistake(_rate_first, "Divide once, at the end: rounding each pair of tasks down loses questions."),
        ],
    ),
]
