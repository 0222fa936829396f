"""Exercises of notebook 02: what failed turns leave behind, transactions by copying, a rule for one swap."""

from __future__ import annotations

import copy
import random
from typing import Any

from kit.exercises import Exercise, Mistake


def state() -> list[str]:
    """Leave out the two turns that fail, the second and the fourth."""
    found = ["A", "B"]
    found.append("C")
    found.reverse()
    return found


def transactions(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    """Run each turn on a deep copy, and keep the copy only if the turn ends well."""
    for code in codes:
        copied = copy.deepcopy(variables)
        try:
            exec(code, {}, copied)
        except Exception:
            continue
        variables = copied
    return variables


def _in_place(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    variables = copy.deepcopy(variables)  # mistakes leave their arguments as they are
    for code in codes:
        try:
            exec(code, {}, variables)
        except Exception:
            continue
    return variables


def _shallow(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    variables = copy.deepcopy(variables)
    for code in codes:
        copied = dict(variables)
        try:
            exec(code, {}, copied)
        except Exception:
            continue
        variables = copied
    return variables


def _stops(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    for code in codes:
        copied = copy.deepcopy(variables)
        try:
            exec(code, {}, copied)
        except Exception:
            break
        variables = copied
    return variables


def _all_or_nothing(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    copied = copy.deepcopy(variables)
    try:
        for code in codes:
            exec(code, {}, copied)
    except Exception:
        return variables
    return copied


def _never_kept(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    return variables


def follows_rule(before: list[str], after: list[str]) -> bool:
    """Ask for the same pieces, and for no or two places that differ."""
    if sorted(before) != sorted(after):
        return False
    return sum(a != b for a, b in zip(before, after, strict=True)) in (0, 2)


def _counts_places(before: list[str], after: list[str]) -> bool:
    return sum(a != b for a, b in zip(before, after, strict=False)) <= 2


def _same_pieces(before: list[str], after: list[str]) -> bool:
    return sorted(before) == sorted(after)


def _exactly_two(before: list[str], after: list[str]) -> bool:
    return follows_rule(before, after) and before != after


def _as_sets(before: list[str], after: list[str]) -> bool:
    return set(before) == set(after) and _counts_places(before, after)


def _other_turns(seed: int) -> list[dict[str, Any]]:
    """Turns that change names and lists, some of which fail after that."""
    rng = random.Random(seed)
    first, step, by = rng.randint(2, 50), rng.randint(1, 9), rng.randint(2, 5)
    pieces = rng.sample("ABCDEFGH", 4)
    return [
        {"variables": {"n": first}, "codes": [f"n += {step}", f"n = {by}; missing", f"n *= {by}"]},
        {"variables": {"state": pieces}, "codes": [f"state.append({by}); 1 / 0", f"state.insert(0, {step})"]},
        {"variables": {"n": first, "rows": [[step]]}, "codes": ["rows[0].append(n)", "rows[0].clear(); n.x", "n -= 1"]},
    ]


def _other_swaps(seed: int) -> list[dict[str, Any]]:
    """Nothing moved, one swap, two swaps, three pieces in a circle, a piece twice, a piece too many."""
    rng = random.Random(seed)
    before = rng.sample("ABCDEFGHI", 6)
    a, b, c, d = rng.sample(range(6), 4)

    def moved(*pairs: tuple[int, int]) -> list[str]:
        after = list(before)
        for one, other in pairs:
            after[one], after[other] = after[other], after[one]
        return after

    twice = list(before)
    twice[a] = before[b]
    swapped_of_two = [before[0], before[0], before[1]], [before[1], before[0], before[1]]
    cases = [moved(), moved((a, b)), moved((a, b), (c, d)), moved((a, b), (b, c)), twice, [*before, before[a]]]
    return [
        *({"before": before, "after": after} for after in cases),
        {"before": swapped_of_two[0], "after": swapped_of_two[1]},
    ]


EXERCISES = [
    Exercise(
        "02.1",
        state,
        "Which of the four turns raise an exception? Cross them out, whole, and do the others in order.",
        mistakes=[
            Mistake(lambda: ["D", "C", "B", "A"], "The second turn fails at `state[9]`, so its append is undone too."),
            Mistake(lambda: [], "The last turn fails after `clear()`, so `clear()` is undone."),
            Mistake(lambda: ["A", "B", "C"], "The third turn ends well: what it did stays."),
            Mistake(lambda: ["B", "A"], "The first turn ends well: what it did stays."),
            Mistake(lambda: ["A", "B"], "Only the turns that fail are undone, not those before and after them."),
        ],
    ),
    Exercise(
        "02.2",
        transactions,
        "For each code: copy the variables, run the code on the copy inside `try`, keep the copy if nothing is raised.",
        cases=[
            {"variables": {"n": 1}, "codes": ["n += 1", "n = 99; 1 / 0", "n += 1"]},
            {"variables": {"state": ["A", "B"]}, "codes": ["state.append('C'); state[9]", "state.reverse()"]},
            {"variables": {"n": 1}, "codes": []},
            {"variables": {"n": 1}, "codes": ["n += 1", "n *= 5"]},
            {"variables": {}, "codes": ["a = [1]", "a.append(2)", "a.append(3); b", "b = len(a)"]},
        ],
        hidden=_other_turns,
        mistakes=[
            Mistake(_in_place, "The code ran on the variables themselves: what it changed before it failed stays."),
            Mistake(_shallow, "The copy shares its lists with the original: `dict(…)` copies names only. Copy deeply."),
            Mistake(_stops, "A failed turn doesn't end the episode: go on with the next one."),
            Mistake(_all_or_nothing, "Each turn is a transaction of its own. You made one of all turns together."),
            Mistake(_never_kept, "Nothing was kept. If a turn ends well, its copy becomes the variables."),
        ],
    ),
    Exercise(
        "02.3",
        follows_rule,
        "Two conditions: the same pieces as before (compare them sorted), and how many places may differ?",
        cases=[
            {"before": ["C", "A", "B"], "after": ["A", "C", "B"]},
            {"before": ["C", "A", "B"], "after": ["A", "B", "C"]},
            {"before": ["C", "A", "B"], "after": ["B", "A", "B"]},
            {"before": ["C", "A", "B"], "after": ["C", "A", "B"]},
            {"before": ["C", "A", "B"], "after": ["C", "A", "B", "B"]},
            {"before": ["A", "B", "C", "D"], "after": ["B", "A", "D", "C"]},
        ],
        hidden=_other_swaps,
        mistakes=[
            Mistake(_counts_places, "A piece may vanish and another appear twice. Ask for the same pieces as well."),
            Mistake(
                _same_pieces, "The same pieces in any order: that allows many swaps. Count the places that differ."
            ),
            Mistake(_exactly_two, "A turn that only looks changes nothing, and that is allowed."),
            Mistake(_as_sets, "A set forgets how often a piece occurs. Compare sorted lists."),
        ],
    ),
]
