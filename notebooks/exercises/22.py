"""Exercises of notebook 22: token F1, groups that teach nothing, and rewards that can be exploited."""

from __future__ import annotations

import random
from typing import Any

from kit.rewards.text_match import exact_match, f1
from workshop.exercises import Exercise, Mistake


def f1_of_the_order() -> float:
    """F1 of "a tea and two coffees" where "two coffees" is right."""
    precision, recall = 2 / 4, 2 / 2  # "a" is an article
    return 2 * precision * recall / (precision + recall)


def teaches(answers: list[str], gold: str) -> tuple[bool, bool]:
    """Whether the rewards of a group differ, with F1 and with EM."""
    with_f1 = {f1(answer, gold) for answer in answers}
    with_em = {exact_match(answer, gold) for answer in answers}
    return len(with_f1) > 1, len(with_em) > 1


def query_rewards(likeness: list[list[float]]) -> list[float]:
    """Reward each query by the nearest gold query that is still free."""
    taken: set[int] = set()
    rewards = []
    for row in likeness:
        free = [j for j in range(len(row)) if j not in taken]
        best = max(free, key=lambda j: row[j], default=None)
        if best is None or row[best] < 0.5:
            rewards.append(0.0)
        else:
            rewards.append(row[best])
            taken.add(best)
    return rewards


def enough_useless_turns() -> int:
    """Smallest n with (2n + 1) / (n + 1) > 1.5: n turns of 2, one of 1."""
    n = 0
    while (2 * n + 1) / (n + 1) <= 1.5:
        n += 1
    return n


def differences(rewards: list[list[float]]) -> list[list[float]]:
    """Each turn's reward minus the mean over the episodes that have this turn."""
    longest = max((len(turns) for turns in rewards), default=0)
    means = []
    for k in range(longest):
        column = [turns[k] for turns in rewards if len(turns) > k]
        means.append(sum(column) / len(column))
    return [[turns[k] - means[k] for k in range(len(turns))] for turns in rewards]


def _most_similar(likeness: list[list[float]]) -> list[float]:
    return [max(row, default=0.0) if max(row, default=0.0) >= 0.5 else 0.0 for row in likeness]


def _in_step(likeness: list[list[float]]) -> list[float]:
    return [row[i] if i < len(row) and row[i] >= 0.5 else 0.0 for i, row in enumerate(likeness)]


def _always_takes(likeness: list[list[float]]) -> list[float]:
    taken: set[int] = set()
    rewards = []
    for row in likeness:
        free = [j for j in range(len(row)) if j not in taken]
        best = max(free, key=lambda j: row[j], default=None)
        rewards.append(row[best] if best is not None and row[best] >= 0.5 else 0.0)
        if best is not None:
            taken.add(best)
    return rewards


def _best_or_nothing(likeness: list[list[float]]) -> list[float]:
    taken: set[int] = set()
    rewards = []
    for row in likeness:
        best = max(range(len(row)), key=lambda j: row[j], default=None)
        earns = best is not None and best not in taken and row[best] >= 0.5
        rewards.append(row[best] if best is not None and earns else 0.0)
        if best is not None and earns:
            taken.add(best)
    return rewards


def _no_threshold(likeness: list[list[float]]) -> list[float]:
    taken: set[int] = set()
    rewards = []
    for row in likeness:
        free = [j for j in range(len(row)) if j not in taken]
        best = max(free, key=lambda j: row[j], default=None)
        rewards.append(0.0 if best is None else row[best])
        if best is not None:
            taken.add(best)
    return rewards


def _own_mean(rewards: list[list[float]]) -> list[list[float]]:
    return [[reward - sum(turns) / len(turns) for reward in turns] for turns in rewards]


def _mean_of_all(rewards: list[list[float]]) -> list[list[float]]:
    flat = [reward for turns in rewards for reward in turns]
    return [[reward - sum(flat) / len(flat) for reward in turns] for turns in rewards]


def _missing_is_zero(rewards: list[list[float]]) -> list[list[float]]:
    longest = max(len(turns) for turns in rewards)
    means = [sum(turns[k] for turns in rewards if len(turns) > k) / len(rewards) for k in range(longest)]
    return [[turns[k] - means[k] for k in range(len(turns))] for turns in rewards]


def _shortest(rewards: list[list[float]]) -> list[list[float]]:
    shortest = min(len(turns) for turns in rewards)
    return [turns[:shortest] for turns in differences(rewards)]


def _other_groups(seed: int) -> list[dict[str, Any]]:
    """Where two F1 are equal, as many words were said and shared: another formula then rounds both alike."""
    rng = random.Random(seed)
    word, wrong = rng.sample(["length", "width", "price", "number", "weight", "height"], 2)
    n, m = (str(number) for number in rng.sample(range(100, 1000), 2))
    groups = [
        [n, m, f"{wrong} {m}", f"{word} {m}"],  # some are partly right, none is right
        [m, wrong, f"{wrong} {m}", f"{m} {m}"],  # all are wrong, each in its own way
        [n, word, n, word],  # all are right by half
        [f"{word} {n}", f"The {word} {n}", f"{word.upper()} {n}.", f"a {word}, {n}!"],  # all are right
        [f"{n} {word}", f"{word} {n}", f"{n} {word}"],  # in another order F1 is 1, EM 0
        [f"{word} {n}", n, m, m],
    ]
    for group in groups:
        rng.shuffle(group)
    return [{"answers": group, "gold": f"{word} {n}"} for group in groups]


def _other_queries(seed: int) -> list[dict[str, Any]]:
    """All cosines of a case differ, and none lies near 0.5 unless it is exactly that."""
    rng = random.Random(seed)
    drawn = rng.uniform
    best, second = drawn(0.9, 0.99), drawn(0.55, 0.65)
    twice = [[best, second], [best - 0.05, second + 0.1], [drawn(0.7, 0.8), drawn(0.6, 0.7)]]
    late = [[drawn(0.1, 0.2), drawn(0.3, 0.48)], [drawn(0.2, 0.4), drawn(0.8, 0.9)], [drawn(0.52, 0.7), drawn(0, 0.2)]]
    other = [[drawn(0, 0.2), drawn(0.2, 0.4), drawn(0.6, 0.9)], [drawn(0.7, 0.9), 0.5, drawn(0.91, 0.99)]]
    mixed = [[rng.choice([drawn(0.52, 1), drawn(0, 0.48)]) for _ in range(3)] for _ in range(5)]
    edge = [[drawn(0.1, 0.4), 0.5], [drawn(0.2, 0.45), drawn(0.8, 0.95)]]
    without_gold: list[list[float]] = [[] for _ in range(rng.randint(3, 6))]
    return [{"likeness": some} for some in (twice, late, other, mixed, edge, without_gold)]


def _other_turns(seed: int) -> list[dict[str, Any]]:
    """Episodes of several lengths, one of which is longer than all others; one alone; and some of the same length."""
    rng = random.Random(seed)
    found = []
    for lengths in ((1, 3, 2, 5), (2, 4, 2), (3, 3, 3), (3,)):
        found.append({"rewards": [[round(rng.uniform(0, 3), 2) for _ in range(length)] for length in lengths]})
    return found


EXERCISES = [
    Exercise(
        "22.1",
        f1_of_the_order,
        "Drop the article, count the tokens of both texts, then those that they share: P = shared / answer's, "
        "R = shared / gold's.",
        mistakes=[
            Mistake(lambda: 4 / 7, "Did you count five tokens in the answer? Articles are dropped first: a, an, the."),
            Mistake(lambda: 1 / 2, "That is the precision. F1 takes the recall into account as well."),
            Mistake(lambda: 1.0, "That is the recall: all that is right was said. Something else was said, too."),
            Mistake(lambda: 0.75, "That is the plain mean of precision and recall. F1 is 2PR / (P + R)."),
            Mistake(lambda: 0.0, "That is exact match. F1 counts the tokens that both texts share."),
        ],
    ),
    Exercise(
        "22.2",
        teaches,
        "Compute the rewards of all answers with one measure. Nothing is learnt if they are all equal, whether all are "
        "0, all are 1, or all are something between.",
        cases=[
            {"answers": ["43", "total 34", "34", "total"], "gold": "total 43"},
            {"answers": ["12", "34", "56", "78"], "gold": "total 43"},
            {"answers": ["43", "43", "total", "43"], "gold": "total 43"},
            {"answers": ["total 43", "Total 43.", "the total 43", "TOTAL 43"], "gold": "total 43"},
            {"answers": ["total 43", "43", "34", "34"], "gold": "total 43"},
        ],
        hidden=_other_groups,
        mistakes=[
            Mistake(
                lambda answers, gold: (
                    any(f1(a, gold) > 0 for a in answers),
                    any(exact_match(a, gold) for a in answers),
                ),
                "You ask whether any answer earns something. If all earn the same, no answer is better than the group.",
            ),
            Mistake(
                lambda answers, gold: (len(set(answers)) > 1, len(set(answers)) > 1),
                "You compare the answers with each other. Different answers can earn the same; compare their rewards.",
            ),
            Mistake(
                lambda answers, gold: (not teaches(answers, gold)[0], not teaches(answers, gold)[1]),
                "That is the opposite: True where all rewards are equal. From those groups nothing is learnt.",
            ),
            Mistake(
                lambda answers, gold: teaches(answers, gold)[::-1],
                "The order is F1 first, EM second.",
            ),
        ],
    ),
    Exercise(
        "22.3",
        query_rewards,
        "Keep a set of the gold queries that are taken. For each query look at the free ones only, find the largest "
        "cosine among them, and decide: 0.5 or more earns it and takes that gold query.",
        cases=[
            {"likeness": [[0.9, 0.1], [0.2, 0.8]]},
            {"likeness": [[0.2, 0.8], [0.7, 0.3]]},
            {"likeness": [[0.9, 0.1], [0.9, 0.1]]},
            {"likeness": [[0.9, 0.6], [0.8, 0.7]]},
            {"likeness": [[0.4, 0.2], [0.9, 0.1]]},
            {"likeness": [[0.9], [0.5], [0.95]]},
            {"likeness": [[0.5, 0.3]]},
            {"likeness": [[], []]},
            {"likeness": []},
        ],
        hidden=_other_queries,
        mistakes=[
            Mistake(_most_similar, "A query that is sent twice earns twice. Which gold queries are still free?"),
            Mistake(_in_step, "You compare query i with gold query i. The agent may ask in another order."),
            Mistake(_always_takes, "A query below 0.5 earns nothing, and it must not take a gold query either."),
            Mistake(
                _best_or_nothing,
                "If the most similar gold query is taken, look for the most similar among those that are free.",
            ),
            Mistake(_no_threshold, "A cosine below 0.5 earns 0."),
        ],
    ),
    Exercise(
        "22.4",
        enough_useless_turns,
        "Each useless turn earns 2, the wrong answer 1: the mean is (2n + 1) / (n + 1). Compare it with 1.5.",
        mistakes=[
            Mistake(lambda: 1, "With one useless turn the mean is (2 + 1) / 2: equal, but not higher."),
            Mistake(lambda: 0, "Without a useless turn the wrong answer alone has 1, for its format."),
            Mistake(lambda: 3, "The mean is higher by then. Is it already higher with fewer?"),
        ],
    ),
    Exercise(
        "22.5",
        differences,
        "For each k collect the k-th rewards of the episodes that are long enough, and take their mean. Then subtract.",
        cases=[
            {"rewards": [[1.0, 2.0], [0.0, 1.0], [2.0]]},
            {"rewards": [[2.0, 2.0], [2.0], [2.0, 1.0], [2.0, 2.0, 2.0]]},
            {"rewards": [[1.0], [2.0]]},
            {"rewards": [[0.0, 2.0, 1.0], [1.0]]},
        ],
        hidden=_other_turns,
        mistakes=[
            Mistake(
                _own_mean,
                "You compare a turn with the other turns of its episode. Compare it with the others' k-th turns.",
            ),
            Mistake(
                _mean_of_all,
                "You compare with the mean of all turns. Compare each turn with turns of its own position.",
            ),
            Mistake(
                _missing_is_zero,
                "Divide by the number of episodes that have a turn k; a missing turn is not a reward of 0.",
            ),
            Mistake(_shortest, "You stop at the shortest episode. Return a number for every turn of every episode."),
        ],
    ),
]
