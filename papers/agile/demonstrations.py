"""Curate cold-start episodes: of an expert's play, what is sound, and of that a balanced part.

Section 3.2: an expert plays puzzles; episodes whose answer matches the truth are kept; the rest are
balanced over the number of steps (4–8) and the kinds of action (swap, observe, crop, zoom); here also over
the levels of difficulty, of which the paper trains on one. The
expert is any policy: the scripted oracle of :mod:`papers.agile.expert` or a served model
(:mod:`kit.policy.endpoint`).

Departures
- [agile-nobody-reads] Paper: The authors verified each step of the right episodes by hand (section 3.2). Here: An
  episode is kept if its answer is right, its form is kept and all its code ran; nobody reads it. Why: 1.6K episodes
  can't be read whenever someone collects them anew. May change: Steps that run and make no sense stay in.
- [agile-balanced-levels] Paper: Episodes are balanced over their number of steps and the kinds of action (section
  3.2). Here: They are balanced over levels of difficulty as well. Why: Laptop trains on three levels, and episodes of
  difficult puzzles, full of swaps, would else be rare. May change: On node, which trains on one level, nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kit.episode import Episode
from kit.protocol import read_code
from papers.agile.expert import STEPS
from papers.agile.reward import is_right, is_well_formed

KINDS = ("swap", "observe", "crop", "zoom")
"""Kinds of action that are balanced."""

_CALL = re.compile(r"\b(observation|crop|zoom)\s*\(")
_SWAP = re.compile(r"\bstate\s*(\[[^\]]*\]\s*,\s*state\s*\[[^\]]*\]\s*)?=[^=]")


def action_kind(code: str) -> str:
    """Classify a turn's code: one of :data:`KINDS`, or ``other``."""
    code, _ = read_code(code)
    call = _CALL.search(code)
    if _SWAP.search(code):
        return "swap"
    if call is None:
        return "other"
    return {"observation": "observe", "crop": "crop", "zoom": "zoom"}[call[1]]


def kinds(episode: Episode) -> Counter[str]:
    """Count the kinds of action in an episode."""
    return Counter(action_kind(t.action.text) for t in episode.turns if t.action and t.action.name == "code")


def is_sound(episode: Episode) -> bool:
    """The paper's filter: the answer is right, every turn is well-formed, and all code ran."""
    ran = all(turn.observation is None or turn.observation.status == "ok" for turn in episode.turns)
    return ran and is_right(episode, episode.task.target) and is_well_formed(episode)


@dataclass(frozen=True)
class Counts:
    """Counts of episodes by number of calls, and of actions by kind."""

    episodes: int
    steps: Mapping[int, int]
    kinds: Mapping[str, int]

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Counts:
        """Count ``episodes``."""
        steps = Counter(episode.calls for episode in episodes)
        total: Counter[str] = Counter()
        for episode in episodes:
            total += kinds(episode)
        return cls(len(episodes), dict(sorted(steps.items())), {k: total[k] for k in (*KINDS, "other") if total[k]})

    def __str__(self) -> str:
        steps = ", ".join(f"{n} steps {count}" for n, count in self.steps.items())
        actions = ", ".join(f"{kind} {count}" for kind, count in self.kinds.items())
        return f"{self.episodes} episodes ({steps or 'none'}; actions: {actions or 'none'})"


@dataclass(frozen=True)
class Report:
    """Counts before the filter, after it, and after balancing."""

    collected: Counts
    sound: Counts
    balanced: Counts

    def __str__(self) -> str:
        return f"collected {self.collected}\nsound     {self.sound}\nbalanced  {self.balanced}"


def balance(
    episodes: Sequence[Episode], n: int, rng: np.random.Generator, steps: Sequence[int] = STEPS
) -> list[Episode]:
    """At most ``n`` of ``episodes``, as even as they allow over steps 4–8, levels and kinds of action.

    Each number of steps gets an equal share of ``n``; what one of them can't fill, the others get.
    Episodes are then taken one at a time, in turn from each number of steps, always of a level that has been
    taken least so far, and of these the one that brings the shares of the four kinds of action closest to equal.
    Others than ``steps`` are not used. Fewer than ``n`` come back only if there aren't more.

    Args:
        episodes: finished episodes.
        n: episodes wanted, at most.
        rng: source of all randomness.
        steps: numbers of calls that are used.
    """
    order = [int(i) for i in rng.permutation(len(episodes))]
    pools = {s: [i for i in order if episodes[i].calls == s] for s in steps}
    counts = {i: np.array([kinds(episodes[i])[k] for k in KINDS], dtype=float) for pool in pools.values() for i in pool}
    level = {i: episodes[i].task.meta.get("level") for i in counts}
    taken = Counter[object]()
    total = np.zeros(len(KINDS))
    chosen: list[int] = []
    while len(chosen) < n and any(pools.values()):
        for pool in pools.values():
            if not pool or len(chosen) == n:
                continue
            # Without this, difficult puzzles would be rare: their episodes are full of swaps.
            fewest = min(taken[level[i]] for i in pool)
            rare = [i for i in pool if taken[level[i]] == fewest]
            after = total + np.stack([counts[i] for i in rare])
            shares = after / np.maximum(after.sum(axis=1, keepdims=True), 1)
            # Sum of squares of the shares: least when all are equal; the first of equals, in random order.
            best = rare[int(np.argmin((shares**2).sum(axis=1)))]
            pool.remove(best)
            taken[level[best]] += 1
            total += counts[best]
            chosen.append(best)
    return [episodes[i] for i in chosen]


def curate(
    episodes: Sequence[Episode],
    n: int,
    rng: np.random.Generator,
    steps: Sequence[int] = STEPS,
    guesses: float = 0.0,
) -> tuple[list[Episode], Report]:
    """Filter, then balance: the cold-start set, and what happened on the way.

    Args:
        episodes: finished episodes.
        n: episodes wanted, at most.
        rng: source of all randomness.
        steps: numbers of calls that are used.
        guesses: share of ``n`` that are episodes without a call, right or wrong; they are kept besides the sound ones,
            and mixed with them, so that the first of the set have about the same share.
    """
    sound = [episode for episode in episodes if is_sound(episode)]
    silent = [episode for episode in episodes if not episode.calls][: round(guesses * n)]
    kept = [*balance(sound, n - len(silent), rng, steps), *silent]
    if silent:
        kept = [kept[int(i)] for i in rng.permutation(len(kept))]
    return kept, Report(Counts.of(episodes), Counts.of(sound), Counts.of(kept))
