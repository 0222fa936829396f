"""Exercises of notebook 02: what failed turns leave behind, transactions by copying, a rule for one swap."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from workshop.exercises import Exercise, Mistake


def kept_state() -> list[str]:
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


def _kept(variables: dict[str, Any], codes: list[str], copied: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Transactions on copies of another kind than deep ones."""
    variables = copy.deepcopy(variables)  # the arguments stay as they are
    for code in codes:
        tried = copied(variables)
        try:
            exec(code, {}, tried)
        except Exception:
            continue
        variables = tried
    return variables


def _in_place(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    return _kept(variables, codes, lambda same: same)


def _shallow(variables: dict[str, Any], codes: list[str]) -> dict[str, Any]:
    return _kept(variables, codes, dict)


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
    """Turns that fail in several ways, before and after others, with values that lie in one another."""
    rng = random.Random(seed)
    a, b, c, d = (rng.randint(2, 90) for _ in range(4))
    state = rng.sample("CDEFGHIJ", rng.randint(3, 6))
    on_state = ["state.clear(); {}['key']", "state.reverse()", f"state.append('{a}')"]
    return [
        {"variables": {"x": a}, "codes": [f"x += {b}", f"x = {c}; [][0]", f"x *= {d}"]},
        {"variables": {"state": state}, "codes": on_state},
        {"variables": {"rows": [[a], [b]]}, "codes": ["rows[1].append(0); int('no')", f"rows[0].append({c})"]},
        {"variables": {"x": a, "y": b}, "codes": [f"z = {c}; unknown", "x, y = y, x", "x = = 1", f"z = x + {d}"]},
        {"variables": {}, "codes": [f"seen = [{a}]", f"seen += [{b}, {c}]", "number = len(seen)"]},
        {"variables": {"x": d, "state": state}, "codes": ["x = 0; state.pop(); 1 / x"]},
    ]


def _other_swaps(seed: int) -> list[dict[str, Any]]:
    """Nothing, one swap, two swaps, three pieces in a circle; then pieces that are doubled or added."""
    rng = random.Random(seed)
    before = rng.sample("ABCDEFGHI", rng.randint(5, 9))
    i, j, k, m = rng.sample(range(len(before)), 4)

    def moved(*pairs: tuple[int, int]) -> list[str]:
        after = list(before)
        for place, origin in pairs:
            after[place] = before[origin]
        return after

    afters = [moved(), moved((i, j), (j, i)), moved((i, j), (j, i), (k, m), (m, k)), moved((i, j), (j, k), (k, i))]
    afters += [moved((i, j)), moved((i, j), (k, m)), [*before, before[i]]]
    return [{"before": before, "after": after} for after in afters]


EXERCISES = [
    Exercise(
        "02.1",
        kept_state,
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
