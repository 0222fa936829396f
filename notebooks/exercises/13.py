"""Exercises of notebook 13: flat groups, what form alone teaches, a run's metrics, a reward for the deed, the state."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from workshop.exercises import Exercise, Mistake


def flat_share(rewards: list[float], group_size: int) -> float:
    """Count the groups whose largest and smallest reward are the same."""
    groups = [rewards[at : at + group_size] for at in range(0, len(rewards), group_size)]
    return sum(max(group) - min(group) < 1e-6 for group in groups) / len(groups)


def _of_all_rewards(rewards: list[float], group_size: int) -> float:
    return float(max(rewards) - min(rewards) < 1e-6)


def _of_zeros(rewards: list[float], group_size: int) -> float:
    groups = np.array(rewards).reshape(-1, group_size)
    return float((np.abs(groups) < 1e-6).all(axis=1).mean())


def _number(rewards: list[float], group_size: int) -> float:
    return flat_share(rewards, group_size) * len(rewards) / group_size


def form_alone(rewards: list[float], right: list[bool], group_size: int) -> float:
    """Count the groups that have a difference and no right answer."""
    starts = range(0, len(rewards), group_size)
    groups = [(rewards[at : at + group_size], right[at : at + group_size]) for at in starts]
    return sum(not any(hits) and max(paid) - min(paid) >= 1e-6 for paid, hits in groups) / len(groups)


def _none_right(rewards: list[float], right: list[bool], group_size: int) -> float:
    starts = range(0, len(right), group_size)
    return sum(not any(right[at : at + group_size]) for at in starts) / len(starts)


def _not_flat(rewards: list[float], right: list[bool], group_size: int) -> float:
    return 1 - flat_share(rewards, group_size)


def _of_those_that_teach(rewards: list[float], right: list[bool], group_size: int) -> float:
    teach = _not_flat(rewards, right, group_size)
    return form_alone(rewards, right, group_size) / teach if teach else 0.0


def first_good_step(rows: list[dict[str, Any]]) -> int:
    """Look for the best accuracy first, then for the first step that comes near it."""
    known = [row for row in rows if "held_out_accuracy" in row]
    best = max(row["held_out_accuracy"] for row in known)
    return next(row["step"] for row in known if row["held_out_accuracy"] >= best - 0.05)


def _best_step(rows: list[dict[str, Any]]) -> int:
    known = [row for row in rows if "held_out_accuracy" in row]
    return max(known, key=lambda row: row["held_out_accuracy"])["step"]


def _place(rows: list[dict[str, Any]]) -> int:
    return next(at for at, row in enumerate(rows) if row["step"] == first_good_step(rows))


def deed_reward(right: bool, in_place: bool, form: bool, steps: int, max_steps: int) -> float:
    """Pay for the deed and the answer together; charge all steps if either is missing."""
    done = right and in_place
    return 0.8 * done + 0.2 * form - 0.05 * (steps if done else max_steps)


def _answer_only(right: bool, in_place: bool, form: bool, steps: int, max_steps: int) -> float:
    return 0.8 * right + 0.2 * form - 0.05 * (steps if right else max_steps)


def _either(right: bool, in_place: bool, form: bool, steps: int, max_steps: int) -> float:
    done = right or in_place
    return 0.8 * done + 0.2 * form - 0.05 * (steps if done else max_steps)


def _cheap_failure(right: bool, in_place: bool, form: bool, steps: int, max_steps: int) -> float:
    return 0.8 * (right and in_place) + 0.2 * form - 0.05 * steps


def last_seen(shown: list[list[str]], labels: list[str]) -> list[str] | None:
    """Go back from the last observation to the first that shows each piece once."""
    for names in reversed(shown):
        order = [name.removeprefix("Image ") for name in names]
        if sorted(order) == sorted(labels):
            return order
    return None


def _first_seen(shown: list[list[str]], labels: list[str]) -> list[str] | None:
    return last_seen(shown[::-1], labels)


def _very_last(shown: list[list[str]], labels: list[str]) -> list[str] | None:
    return [name.removeprefix("Image ") for name in shown[-1]] if shown else None


def _whole_names(shown: list[list[str]], labels: list[str]) -> list[str] | None:
    order = last_seen(shown, labels)
    return order and [f"Image {label}" for label in order]


def _any_full_row(shown: list[list[str]], labels: list[str]) -> list[str] | None:
    looks = [names for names in shown if len(names) == len(labels)]
    return [name.removeprefix("Image ") for name in looks[-1]] if looks else None


def _rows(*accuracies: float | None) -> list[dict[str, Any]]:
    """Rows of metrics; None: the step has no held-out accuracy."""
    found: list[dict[str, Any]] = [{"step": k, "reward": 0.5} for k in range(1, len(accuracies) + 1)]
    for row, accuracy in zip(found, accuracies, strict=True):
        if accuracy is not None:
            row["held_out_accuracy"] = accuracy
    return found


def _other_groups(seed: int) -> list[dict[str, Any]]:
    """Flat groups, of zeros and of others, among groups that differ by little or much."""
    rng = random.Random(seed)
    found = []
    for size in (2, 3, 5):
        groups = [[value] * size for value in (0.0, rng.uniform(0.1, 1))]
        groups += [[rng.uniform(0, 1) for _ in range(size)], [0.5] * (size - 1) + [0.5 + rng.uniform(1e-4, 1e-2)]]
        rng.shuffle(groups)
        found.append({"rewards": [reward for group in groups for reward in group], "group_size": size})
    return found


def _other_batches(seed: int) -> list[dict[str, Any]]:
    """Groups of all four kinds: with and without a right answer, flat and not."""
    rng = random.Random(seed)
    found = []
    for size in (2, 3, 5):
        kinds = [(top, low) for top in (-0.25, 0.9) for low in (top, -0.05) for _ in range(rng.randint(1, 3))]
        rng.shuffle(kinds)
        rewards = [paid for top, low in kinds for paid in [top] * (size - 1) + [low]]
        found.append({"rewards": rewards, "right": [paid > 0 for paid in rewards], "group_size": size})
    return found


def _other_rows(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    best = rng.uniform(0.6, 0.99)
    near, far = best - rng.uniform(0.01, 0.04), best - rng.uniform(0.06, 0.3)
    found = [_rows(None, far, near, best, far), _rows(far, None, near, None, best), _rows(None, best)]
    return [{"rows": rows} for rows in found]


def _other_deeds(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    most = rng.randint(6, 12)
    flags = [(right, in_place, form) for right in (True, False) for in_place in (True, False) for form in (True, False)]
    return [
        {"right": r, "in_place": p, "form": f, "steps": rng.randint(0, most - 1), "max_steps": most}
        for r, p, f in flags
    ]


def _look(order: str) -> list[str]:
    return [f"Image {label}" for label in order]


def _other_looks(seed: int) -> list[dict[str, Any]]:
    """Looks, crops, a look at a piece twice; of four and of nine pieces."""
    rng = random.Random(seed)
    found = []
    for labels in ("ABCD", "ABCDEFGHI"):
        one, two = (rng.sample(labels, len(labels)) for _ in range(2))
        crop, twice = ["crop_image_1"], _look(labels[0] * 2 + labels[2:])
        for shown in ([_look("".join(one)), _look("".join(two)), crop], [_look("".join(two)), twice], [crop]):
            found.append({"shown": shown, "labels": list(labels)})
    return found


EXERCISES = [
    Exercise(
        "13.1",
        flat_share,
        "Cut the list into groups of group_size, one after another, and count those without a difference.",
        cases=[
            {"rewards": [0.9, 0.9, 0.9, 0.85], "group_size": 2},
            {"rewards": [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.5], "group_size": 4},
            {"rewards": [0.65, 0.65, 0.65], "group_size": 3},
            {"rewards": [0.3 + 0.6, 0.9, 0.1, 0.2], "group_size": 2},
        ],
        hidden=_other_groups,
        mistakes=[
            Mistake(_of_all_rewards, "You compared all rewards with each other: compare within each group only."),
            Mistake(_of_zeros, "A group is flat when its rewards are equal, not only when they are zero."),
            Mistake(_number, "That is how many there are. Which share of all groups is it?"),
        ],
    ),
    Exercise(
        "13.2",
        form_alone,
        "Go through both lists group by group: `not any(right)` of the group, and a difference among its rewards.",
        cases=[
            {
                "rewards": [-0.25, -0.05, 0.95, -0.25, -0.25, -0.25, 0.9, 0.85],
                "right": [False, False, True, False, False, False, True, True],
                "group_size": 2,
            },
            {"rewards": [-0.25, -0.25, -0.05, 0.8, 0.8, 0.8], "right": [False] * 3 + [True] * 3, "group_size": 3},
            {"rewards": [-0.05, -0.05], "right": [False, False], "group_size": 2},
            {"rewards": [-0.05, -0.25], "right": [False, False], "group_size": 2},
        ],
        hidden=_other_batches,
        mistakes=[
            Mistake(_none_right, "A flat group without a right answer teaches nothing: leave it out."),
            Mistake(_not_flat, "Those are all groups that teach. In how many of them is no answer right?"),
            Mistake(_of_those_that_teach, "That is their share of the groups that teach. Divide by all groups."),
        ],
    ),
    Exercise(
        "13.3",
        first_good_step,
        "First find the best accuracy among the rows that have one, then the first row that is at most 0.05 below it.",
        cases=[
            {"rows": _rows(0.375, 0.96, 0.97, 0.95)},
            {"rows": _rows(None, 0.2, 0.5, 0.9, 0.87)},
            {"rows": _rows(0.3, None, 0.4, 0.8, 0.84)},
            {"rows": _rows(0.5)},
        ],
        hidden=_other_rows,
        mistakes=[
            Mistake(_best_step, "That is the best step itself. An earlier one may be almost as good."),
            Mistake(_place, "That is the place in the list, which counts from 0; take the row's own `step`."),
        ],
    ),
    Exercise(
        "13.4",
        deed_reward,
        "Begin with `done = right and in_place`: what is paid, and how many steps are charged, both depend on it.",
        cases=[
            {"right": True, "in_place": True, "form": True, "steps": 2, "max_steps": 5},
            {"right": True, "in_place": False, "form": True, "steps": 1, "max_steps": 5},
            {"right": False, "in_place": True, "form": True, "steps": 3, "max_steps": 5},
            {"right": False, "in_place": False, "form": False, "steps": 0, "max_steps": 5},
            {"right": True, "in_place": True, "form": False, "steps": 4, "max_steps": 5},
        ],
        hidden=_other_deeds,
        mistakes=[
            Mistake(_answer_only, "This still pays a right answer whose pieces were never moved."),
            Mistake(_either, "One of both is not enough: it must be right *and* done."),
            Mistake(_cheap_failure, "A failed episode would be cheap: charge it max_steps, or giving up early pays."),
        ],
    ),
    Exercise(
        "13.5",
        last_seen,
        "Go through `shown` from its end. Take `Image ` off each name, and compare the sorted labels.",
        cases=[
            {"shown": [_look("ABCD"), _look("BACD"), ["crop_image_1"]], "labels": list("ABCD")},
            {"shown": [_look("BDAC")], "labels": list("ABCD")},
            {"shown": [["crop_image_1"], ["zoom_image_1"]], "labels": list("ABCD")},
            {"shown": [], "labels": list("ABCD")},
            {"shown": [_look("CABD"), _look("AACD")], "labels": list("ABCD")},
        ],
        hidden=_other_looks,
        mistakes=[
            Mistake(_first_seen, "That is the first look. The pieces may have been moved since."),
            Mistake(_very_last, "The last observation may be a crop, which shows no order: go further back."),
            Mistake(_whole_names, "Those are the images' names. The answer is made of labels: take `Image ` off."),
            Mistake(_any_full_row, "As many images as labels aren't enough: each label must be there once."),
        ],
    ),
]
