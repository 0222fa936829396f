"""Exercises of notebook 21: what distortions destroy, how tasks are checked, and a search played by hand."""

from __future__ import annotations

import random
from typing import Any

from kit.episode import Task
from workshop.exercises import Exercise, Mistake


def levels_left() -> int:
    """Count the levels that stay different when 0 to 255 are multiplied by 0.12 and rounded."""
    return len({round(level * 0.12) for level in range(256)})


def lookalikes(number: str) -> list[str]:
    """All numbers that differ from ``number`` in exactly one digit, in rising order."""
    found = []
    for k, digit in enumerate(number):
        found += [number[:k] + other + number[k + 1 :] for other in "0123456789" if other != digit]
    return sorted(found)


def noise_left(noise: float, factor: float, noise_came_first: bool) -> float:
    """Standard deviation of the noise after brightening; before the dark it is darkened and brightened along."""
    return noise if noise_came_first else noise / factor


def without_overlap(train: list[list[str]], test: list[list[str]]) -> list[list[str]]:
    """The test tasks that share no country with any training task."""
    taken = {country for task in train for country in task}
    return [task for task in test if not taken & set(task)]


def looked_up(task: Task) -> str:
    """The gold answer of the reader's own search task."""
    return str(task.target[0])


def _other_numbers(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    twice = rng.choice("23456789")
    found = [
        rng.choice("12345689"),
        twice + twice,
        f"{rng.randint(5, 6)}{rng.randint(7, 9)}",
        f"{rng.randint(4, 9)}0{rng.randint(0, 8)}",
    ]
    return [{"number": number} for number in (*found, str(rng.randint(1000, 9999)))]


def _other_sheets(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = [(rng.uniform(3, 50), first) for first in (True, True, False, False)]
    found.append((0.0, True))
    return [{"noise": noise, "factor": rng.uniform(0.05, 0.7), "noise_came_first": first} for noise, first in found]


def _other_splits(seed: int) -> list[dict[str, Any]]:
    """Test tasks that share no country, the flag's, one on the way, or all; and splits of which one side is empty."""
    rng = random.Random(seed)
    names = ["Norway", "Germany", "Peru", "Chile", "Mali", "Kenya", "Chad", "Japan", "Laos", "Cuba", "Fiji", "Nepal"]
    rng.shuffle(names)
    a, b, c, d, e, f, g, h, i, j, k, m = names
    train = [[a, b], [c], [d, e, f]]
    test = [[g, h], [i], [a, g], [h, b], [i, j, e], [c, a], [d, e, f], [b], [k, m]]
    rng.shuffle(test)
    apart = {"train": [[a], [b, c]], "test": [[d, e], [f], [g, h, i]]}
    return [
        {"train": train, "test": test},
        apart,
        {"train": [], "test": [[a, b], [c]]},
        {"train": [[a, b]], "test": []},
    ]


EXERCISES = [
    Exercise(
        "21.1",
        levels_left,
        "The darkest level, 0, stays 0. Which level does 255 become? Count from the one to the other.",
        mistakes=[
            Mistake(
                lambda: 31, "255 becomes 31, and every level below it occurs as well. Is 0 among those you counted?"
            ),
            Mistake(lambda: 30, "255 × 0.12 is 30.6. It is rounded, not cut off; and 0 is a level, too."),
            Mistake(lambda: 30.72, "Levels are whole numbers. To which one is 255 × 0.12 rounded?"),
            Mistake(lambda: 224, "That is how many were lost. How many are left?"),
        ],
    ),
    Exercise(
        "21.2",
        lookalikes,
        "For each place, put each of the ten digits there, unless it is the one that stands there already.",
        cases=[{"number": "7"}, {"number": "47"}, {"number": "11"}, {"number": "309"}],
        hidden=_other_numbers,
        mistakes=[
            Mistake(
                lambda number: sorted({*lookalikes(number), number}),
                "The right number is among yours. A number that is compared with itself can never look better.",
            ),
            Mistake(
                lambda number: [
                    str(n).zfill(len(number)) for n in range(10 ** len(number)) if f"{n:0{len(number)}}" != number
                ],
                "Those differ in any number of digits. Keep all digits but one.",
            ),
            Mistake(
                lambda number: sorted(other for other in lookalikes(number) if other[:-1] == number[:-1]),
                "You change the last digit only. The first may be misread just as well.",
            ),
            Mistake(
                lambda number: sorted(other for other in lookalikes(number) if other[0] != "0"),
                "None of yours begins with 0. Here a number may: 47 could be misread as 07.",
            ),
            Mistake(
                lambda number: sorted(lookalikes(number), reverse=True),
                "The numbers are right, their order isn't: smallest first.",
            ),
        ],
    ),
    Exercise(
        "21.3",
        noise_left,
        "Write down one pixel: its level, then what is added to it and what it is multiplied by, in the order in which "
        "it happens. What multiplies the noise in the end?",
        cases=[
            {"noise": 30.0, "factor": 0.2, "noise_came_first": True},
            {"noise": 30.0, "factor": 0.2, "noise_came_first": False},
            {"noise": 20.0, "factor": 0.125, "noise_came_first": False},
            {"noise": 0.0, "factor": 0.3, "noise_came_first": False},
        ],
        hidden=_other_sheets,
        mistakes=[
            Mistake(
                lambda noise, factor, noise_came_first: noise * factor if noise_came_first else noise,
                "That is the noise on the dark sheet. The sheet is brightened after that: everything on it is divided "
                "by the factor, noise as well.",
            ),
            Mistake(
                lambda noise, factor, noise_came_first: noise * factor if noise_came_first else noise / factor,
                "Noise that came first is multiplied by the factor when it gets dark. What does brightening do to it?",
            ),
            Mistake(
                lambda noise, factor, noise_came_first: noise / factor if noise_came_first else noise,
                "It is the other way round: which noise was made dark together with the sheet, and which was not?",
            ),
            Mistake(
                lambda noise, factor, noise_came_first: noise,
                "Noise that was added to the dark sheet was never multiplied by the factor, but it is divided by it.",
            ),
            Mistake(
                lambda noise, factor, noise_came_first: noise / factor,
                "Noise that came first was multiplied by the factor before it was divided by it.",
            ),
        ],
    ),
    Exercise(
        "21.4",
        without_overlap,
        "Collect all countries of all training tasks. Then keep a test task if none of its countries is among them.",
        cases=[
            {"train": [["Norway", "Germany"]], "test": [["Peru", "Chile"], ["Germany"], ["Norway", "Peru"]]},
            {"train": [["Norway", "Germany"], ["Mali"]], "test": [["Kenya", "Germany"], ["Chad", "Mali"], ["Peru"]]},
            {"train": [["Chad"], ["Peru"]], "test": [["Chad", "Peru"], ["Mali", "Chad"], ["Kenya", "Mali"]]},
            {"train": [], "test": [["Chad"]]},
            {"train": [["Chad"]], "test": []},
        ],
        hidden=_other_splits,
        mistakes=[
            Mistake(
                lambda train, test: [task for task in test if task[0] not in {other[0] for other in train}],
                "You compare the flags' countries alone. A country on the way can be known from training as well.",
            ),
            Mistake(
                lambda train, test: [task for task in test if task not in train],
                "Two tasks can share a country without being the same task. Compare their countries.",
            ),
            Mistake(
                lambda train, test: [task for task in test if task[0] not in {c for other in train for c in other}],
                "You look at the first country of a test task only. Look at all of them.",
            ),
            Mistake(
                lambda train, test: [task for task in test if not set(task) <= {c for other in train for c in other}],
                "You drop a test task only if all of its countries are known from training. One is enough.",
            ),
            Mistake(
                lambda train, test: [task for task in test if set(task) & {c for other in train for c in other}],
                "Those are the tasks that do share a country. Keep the others.",
            ),
        ],
    ),
    Exercise(
        "21.5",
        looked_up,
        "Three searches: `flag description` and what you see; the country that you found and the words of the question "
        "for its partner; the partner and the words for what is asked about it.",
        mistakes=[
            Mistake(
                lambda task: task.meta["says"][0],
                "That is the country of the flag. The question asks about its partner.",
            ),
            Mistake(
                lambda task: task.meta["says"][1],
                "That is the right partner. One more search: the question asks for something about it.",
            ),
        ],
    ),
]
