"""Exercises of notebook 01: tokens of a picture, labels of a row, turns that fit a budget, rewards of six episodes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from kit.episode import Episode
from papers.agile.reward import is_right, is_well_formed
from workshop.exercises import Exercise, Mistake


def image_tokens(width: int, height: int) -> int:
    """Round both sides to multiples of 28 pixels and count the squares."""
    return round(width / 28) * round(height / 28)


def _floor(width: int, height: int) -> int:
    return (width // 28) * (height // 28)


def _ceil(width: int, height: int) -> int:
    return math.ceil(width / 28) * math.ceil(height / 28)


def _area(width: int, height: int) -> int:
    return round(width * height / 784)


def _exact(width: int, height: int) -> float:
    return width * height / 784


def _patches(width: int, height: int) -> int:
    return 4 * image_tokens(width, height)


def _fourteens(width: int, height: int) -> int:
    return round(width / 14) * round(height / 14)


def labels_of(ids: list[int], mask: list[int]) -> list[int]:
    """Keep an id where the mask is 1, put −100 elsewhere."""
    return [i if own else -100 for i, own in zip(ids, mask, strict=True)]


def _zeros(ids: list[int], mask: list[int]) -> list[int]:
    return [i * own for i, own in zip(ids, mask, strict=True)]


def _reversed(ids: list[int], mask: list[int]) -> list[int]:
    return [-100 if own else i for i, own in zip(ids, mask, strict=True)]


def _left_out(ids: list[int], mask: list[int]) -> list[int]:
    return [i for i, own in zip(ids, mask, strict=True) if own]


def _shifted(ids: list[int], mask: list[int]) -> list[int]:
    return [*labels_of(ids, mask)[1:], -100]


def turns_that_fit(prompt: int, sampled: int, observed: int, room: int, limit: int) -> int:
    """Begin turn after turn as long as a whole turn still has room."""
    used, turns = prompt, 0
    while used + room <= limit:
        turns += 1
        used += sampled + observed
    return turns


def _without_room(prompt: int, sampled: int, observed: int, room: int, limit: int) -> int:
    return (limit - prompt) // (sampled + observed)


def _one_less(prompt: int, sampled: int, observed: int, room: int, limit: int) -> int:
    return max(turns_that_fit(prompt, sampled, observed, room, limit) - 1, 0)


def _without_observations(prompt: int, sampled: int, observed: int, room: int, limit: int) -> int:
    return turns_that_fit(prompt, sampled, 0, room, limit)


def _full_turns(prompt: int, sampled: int, observed: int, room: int, limit: int) -> int:
    return turns_that_fit(prompt, room, observed, room, limit)


def _less_than(prompt: int, sampled: int, observed: int, room: int, limit: int) -> int:
    return turns_that_fit(prompt, sampled, observed, room, limit - 1)


def rewards_of(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    """Work out eq. 6 for each: a wrong episode pays for all five steps."""
    found = []
    for episode in episodes:
        right, form = is_right(episode, target), is_well_formed(episode)
        found.append(0.8 * right + 0.2 * form - 0.05 * (episode.calls if right else 5))
    return found


def _paid(
    episodes: Sequence[Episode],
    target: Sequence[str],
    form: Callable[[Episode], bool] = is_well_formed,
    steps: Callable[[Episode, bool], int] = lambda episode, right: episode.calls if right else 5,
    price: float = 0.05,
) -> list[float]:
    """Eq. 6 with another idea of the form, of the steps that are charged, or of their price."""
    pairs = [(episode, is_right(episode, target)) for episode in episodes]
    return [0.8 * right + 0.2 * form(episode) - price * steps(episode, right) for episode, right in pairs]


def _form_without_code(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, form=lambda e: is_well_formed(e) or (e.answer is not None and e.calls == 0))


def _form_without_answer(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, form=lambda e: is_well_formed(e) or e.ended in ("turns", "tokens"))


def _form_for_words(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, form=lambda e: is_well_formed(e) or e.ended == "format")


def _form_if_right(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, form=lambda e: is_well_formed(e) and is_right(e, target))


def _own_steps(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, steps=lambda episode, right: episode.calls)


def _all_steps(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, steps=lambda episode, right: 5)


def _with_the_answer(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, steps=lambda episode, right: len(episode.turns) if right else 5)


def _wrong_is_free(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, steps=lambda episode, right: episode.calls if right else 0)


def _steps_are_free(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, price=0.0)


def _steps_are_paid(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    return _paid(episodes, target, price=-0.05)


def _wrong_is_zero(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    pairs = zip(episodes, rewards_of(episodes, target), strict=True)
    return [reward if is_right(episode, target) else 0.0 for episode, reward in pairs]


def _zero_without_code(episodes: Sequence[Episode], target: Sequence[str]) -> list[float]:
    pairs = zip(episodes, rewards_of(episodes, target), strict=True)
    return [0.0 if episode.answer is not None and episode.calls == 0 else reward for episode, reward in pairs]


def _other_sizes(seed: int) -> list[dict[str, Any]]:
    """Sides a little above a multiple of 28 and a little below one; never half way, where rounding is a convention."""
    rng = random.Random(seed)
    rests = [(10, 13), (-12, -9), (10, -12), (0, 0), (0, 11)]
    return [{"width": 28 * rng.randint(6, 20) + a, "height": 28 * rng.randint(2, 20) + b} for a, b in rests]


def _other_rows(seed: int) -> list[dict[str, Any]]:
    """Each row has a token of the policy's with the id 0, which is an id like any other."""
    rng = random.Random(seed)
    found = []
    for length in (4, 7, 12):
        pairs = [(0, 1), (rng.randint(1, 999), 0), *((rng.randint(1, 999), rng.randint(0, 1)) for _ in range(length))]
        rng.shuffle(pairs)
        found.append({"ids": [id for id, _ in pairs], "mask": [own for _, own in pairs]})
    return found


def _other_budgets(seed: int) -> list[dict[str, Any]]:
    """The last turn fits exactly, with room to spare, or not by one id; a turn may need much more than it takes."""
    rng = random.Random(seed)
    found = []
    for turns, spare, wide in ((4, 0, False), (6, 3, True), (3, -1, True), (0, -1, False)):
        sampled, observed, prompt = rng.randint(8, 20), rng.randint(20, 40), rng.randint(50, 400)
        room = (2 * (sampled + observed) if wide else sampled) + rng.randint(1, 9)
        limit = prompt + room + max(turns - 1, 0) * (sampled + observed) + spare
        row = {"prompt": prompt, "sampled": sampled, "observed": observed, "room": room, "limit": limit}
        found.append(row)
    return found


EXERCISES = [
    Exercise(
        "01.1",
        image_tokens,
        "How many times does 28 go into each side, rounded to the nearest whole number? Then multiply.",
        cases=[
            {"width": 28, "height": 28},
            {"width": 56, "height": 56},
            {"width": 57, "height": 40},
            {"width": 100, "height": 60},
            {"width": 114, "height": 114},
            {"width": 140, "height": 95},
        ],
        hidden=_other_sizes,
        mistakes=[
            Mistake(_floor, "You rounded the sides down. The nearest multiple of 28 may be the one above."),
            Mistake(_ceil, "You rounded the sides up. The nearest multiple of 28 may be the one below."),
            Mistake(_area, "You rounded the area. Each side is rounded by itself, before they are multiplied."),
            Mistake(_exact, "A count is a whole number: round each side to a multiple of 28 first."),
            Mistake(_patches, "That counts patches. Four of them become one token."),
            Mistake(_fourteens, "That counts patches of 14 × 14 pixels. A token stands for 28 × 28."),
        ],
    ),
    Exercise(
        "01.2",
        labels_of,
        "Go through both lists side by side: the id where the mask is 1, −100 where it is 0.",
        cases=[
            {"ids": [11, 12, 13, 14, 15], "mask": [0, 0, 1, 1, 0]},
            {"ids": [7, 8, 9], "mask": [1, 0, 1]},
            {"ids": [5, 0], "mask": [0, 1]},
        ],
        hidden=_other_rows,
        mistakes=[
            Mistake(_zeros, "0 is the id of a token, so it would be trained on. The label to skip is −100."),
            Mistake(_reversed, "It is the other way round: mask 1 means that the token counts."),
            Mistake(_left_out, "Keep the length: a position that is skipped has the label −100."),
            Mistake(_shifted, "Here a label stands at the place of its id. The shift by one comes in the loss."),
        ],
    ),
    Exercise(
        "01.3",
        turns_that_fit,
        "Start with used = prompt. As long as used + room is at most limit, a turn is played and used grows. Count.",
        cases=[
            {"prompt": 138, "sampled": 18, "observed": 36, "room": 64, "limit": 300},
            {"prompt": 100, "sampled": 20, "observed": 30, "room": 50, "limit": 200},
            {"prompt": 100, "sampled": 20, "observed": 30, "room": 50, "limit": 149},
            {"prompt": 10, "sampled": 5, "observed": 5, "room": 40, "limit": 100},
        ],
        hidden=_other_budgets,
        mistakes=[
            Mistake(_without_room, "A turn may need up to `room` ids; it isn't begun if they might not fit."),
            Mistake(_one_less, "One too few: the turn that begins with just enough room is still played."),
            Mistake(_without_observations, "Observations take room in the row as well."),
            Mistake(_full_turns, "A turn reserves `room` ids but keeps only the `sampled` ones."),
            Mistake(_less_than, "A turn that fits exactly is played: used + room may equal limit."),
        ],
    ),
    Exercise(
        "01.4",
        rewards_of,
        "Right or wrong decides two things: the 0.8, and whether the turns with code or all five steps are charged.",
        mistakes=[
            Mistake(_form_without_code, "The third answers rightly but never ran code. Does it get the 0.2?"),
            Mistake(_zero_without_code, "The third never ran code, and its answer is right. A right answer is paid."),
            Mistake(_own_steps, "Look at the wrong ones: eq. 5 charges them step_max steps."),
            Mistake(_wrong_is_zero, "Not right doesn't mean 0: eq. 5 charges step_max steps; the form may pay still."),
            Mistake(
                _wrong_is_free,
                "The wrong ones aren't free: what does eq. 5 charge an episode that isn't right?",
            ),
            Mistake(_steps_are_free, "Where is R_step, with γ = 1? Each step that is charged costs 0.05."),
            Mistake(_steps_are_paid, "λ is −0.05: steps are taken off the reward, not added."),
            Mistake(_all_steps, "Only the wrong ones are charged step_max. A right one pays for the steps it took."),
            Mistake(_with_the_answer, "step_num counts the turns before the answer; the turn that answers is free."),
            Mistake(_form_if_right, "The second is wrong, but it keeps to the tags and ran code: what is its form?"),
            Mistake(
                _form_without_answer, "An episode that never answers doesn't get the 0.2, however tidy its turns are."
            ),
            Mistake(_form_for_words, "The fifth ends with a turn that has neither code nor answer: its form is 0."),
        ],
    ),
]
