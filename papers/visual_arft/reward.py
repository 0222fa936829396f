r"""Visual-ARFT's reward (section 3.2.1): tags, and what the step was for.

$$R_{total} = R_{format} + R_{acc}$$

==================  ===========================================================  ==================
symbol              meaning                                                      name here
==================  ===========================================================  ==================
$R_{format}$        1 if a turn is ``<think>`` and then one action or answer     ``format``
$R_{acc}$           of an answer: its token $F_1$ against the gold answer        ``answer``
$R_{acc}$           of a query: the similarity to the gold query; MiniLM's       ``search``
                    cosine, less than 0.5 counts 0 (released code)
$R_{acc}$           of code: 1 (the paper's), if it ran (ours)                   ``code``
==================  ===========================================================  ==================

Worked example: the answer "the red car" where "red cars" is right, in its tags: $F_1$ = ½ and $R$ = 1 + ½ = **1.5**.

The paper trains each step apart, on tool output that was stored beforehand: :func:`step_scores` is its reward of every
turn of an episode. :func:`score` is an episode's as a whole: its answer's, and whether all of its turns keep to the
tags; what a query or an image was worth shows in the answer.

Departures
- [arft-code-ran] Paper: any block of code earns 1, a comment too (0.9 in its release). Here: code that failed or has no
  statement earns nothing, unless ``any_code`` is set, as the profile ``node`` does. Why: else an agent is paid for
  code that does nothing. May change: how much code is written, and whether it helps.
- [arft-query-order] Paper: a query is compared with the step's one gold query. Here: with the gold queries that no
  earlier one of the episode was nearest to. Why: an episode may look things up in another order. May change: little.
- [arft-similarity] Paper: the similarity by a Sentence Transformer, not named. Here: MiniLM's cosine, and 0 below 0.5,
  as in its release. Why: the paper gives no model. May change: what a near miss earns.
- [arft-step-kind] Paper: a step is rewarded for what it is (equation 4); its release pays nothing for a kind that the
  stored step isn't of. Here: equation 4. Why: there are no stored steps. May change: when an agent stops searching.
- [arft-episode-reward] Paper: each step is rewarded. Here: profiles ``laptop`` and ``gpu`` reward the episode as a
  whole, ``node`` each step. Why: only the answer says whether a query or an image was of use. May change: what small
  models learn, and how fast.
- [arft-step-weight] Paper: in its release each step is a sample, with its own mean over tokens. Here: where steps are
  rewarded, the mean is over all tokens of an episode. Why: an episode is one sample. May change: a step of a long
  episode weighs less than one of a short one.
- [arft-f1-counts] Paper: F1 by token overlap; its release counts a word once, however often it comes. Here: as often as
  it comes in both. Why: that is F1 of SQuAD, which the paper's metrics follow. May change: answers that repeat words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kit.episode import Episode, Score, Turn
from kit.rewards.text_match import exact_match, f1, max_over_references
from kit.train.advantage import Advantage
from papers.visual_arft.env import PROTOCOL
from papers.visual_arft.metrics import is_right
from papers.visual_arft.similarity import MiniLM, Similarity

MEASURES: dict[str, Callable[[str, str], float]] = {"f1": f1, "em": exact_match}


@dataclass(frozen=True)
class RewardConfig:
    """Settings of the reward.

    Attributes:
        answer: measure of the answer, ``f1`` (the paper's) or ``em`` (its ablation).
        least: similarity below which a query earns nothing (released code).
        code: what a block of code earns (1 in the paper, 0.9 in its release).
        any_code: pay for code that failed or does nothing, as the paper does.
    """

    answer: Literal["f1", "em"] = "f1"
    least: float = 0.5
    code: float = 1.0
    any_code: bool = False

    def __post_init__(self) -> None:
        if self.answer not in MEASURES:
            raise ValueError(f"RewardConfig.answer={self.answer!r}: must be one of {', '.join(MEASURES)}")


def score(episode: Episode, target: Sequence[str], rule: RewardConfig | None = None) -> Score:
    """An episode's reward, 0 to 2: the tags of all its turns, and its answer.

    Args:
        episode: a finished episode.
        target: the gold answers; the one nearest to what was said counts.
        rule: which measures are rewarded; None: the paper's.

    Raises:
        ValueError: there is no gold answer.
    """
    rule = rule or RewardConfig()
    parts = {
        "format": float(episode.answer is not None and all(_well_formed(turn) for turn in episode.turns)),
        "answer": max_over_references(MEASURES[rule.answer], episode.answer, target),
    }
    return Score(sum(parts.values()), parts, correct=is_right(episode, target))


def step_scores(
    episode: Episode,
    target: Sequence[str],
    queries: Sequence[str],
    similarity: Similarity,
    rule: RewardConfig | None = None,
) -> tuple[Score, ...]:
    """The reward of every turn, 0 to 2 each: its tags, and what it was for.

    Args:
        episode: a finished episode.
        target: the gold answers.
        queries: the gold queries; empty where nothing is to be looked up.
        similarity: compares two queries, from 0 to 1.
        rule: which measures are rewarded; None: the paper's.

    Raises:
        ValueError: there is no gold answer.
    """
    rule = rule or RewardConfig()
    left = list(queries)
    scores = []
    for turn in episode.turns:
        parts = {"format": float(_well_formed(turn))}
        if turn.action is not None:
            kind, text = turn.action.name, turn.action.text
            if kind == "answer":
                parts[kind] = max_over_references(MEASURES[rule.answer], text, target)
            elif kind == "search":
                parts[kind] = _query(text, left, similarity, rule.least)
            else:
                parts[kind] = rule.code * (rule.any_code or _ran(turn))
        scores.append(Score(sum(parts.values()), parts))
    return tuple(scores)


PARTS = ("format", "answer", "search", "code")


def step_score(
    episode: Episode,
    target: Sequence[str],
    queries: Sequence[str],
    similarity: Similarity,
    rule: RewardConfig | None = None,
) -> Score:
    """:func:`step_scores` as one score of the episode: its mean turn, and each turn's reward in ``turns``.

    A trainer that finds ``turns`` compares turn with turn (:func:`kit.train.advantage.turn_advantages`).

    Args:
        episode: a finished episode.
        target: the gold answers.
        queries: the gold queries; empty where nothing is to be looked up.
        similarity: compares two queries, from 0 to 1.
        rule: which measures are rewarded; None: the paper's.
    """
    steps = step_scores(episode, target, queries, similarity, rule)
    n = max(1, len(steps))
    parts = {name: sum(step.parts.get(name, 0.0) for step in steps) / n for name in PARTS}
    return Score(sum(parts.values()), parts, tuple(step.total for step in steps), is_right(episode, target))


ADVANTAGES: dict[str, Advantage] = {
    "f1": "group_relative",
    "em": "group_relative",
    "steps": "per_turn",
    "steps_em": "per_turn",
}
"""The advantage that goes with each reward of :func:`make_reward`."""
CODE = {"ran": False, "any": True}
"""What code has to be to earn something → ``RewardConfig.any_code``."""


def make_reward(reward: str, code: str = "ran") -> Callable[[Episode, Any], Score]:
    """Make a reward by its name: of the answer alone, or of each step for itself (section 3.2.1).

    Args:
        reward: ``f1`` or ``em`` of the answer; ``steps``: each step for itself, the answer by F1; ``steps_em``: by EM.
        code: of steps: ``ran``: code that ran earns; ``any``: any block of code does, as in the paper.

    Raises:
        ValueError: another name.
    """
    if reward not in ADVANTAGES:
        raise ValueError(f"reward={reward!r}: choose one of {', '.join(ADVANTAGES)}")
    if code not in CODE:
        raise ValueError(f"code_reward={code!r}: choose one of {', '.join(CODE)}")
    if reward.startswith("steps"):
        alike, rule = MiniLM(), RewardConfig(answer="em" if reward == "steps_em" else "f1", any_code=CODE[code])
        return lambda episode, target: step_score(episode, target, episode.task.meta.get("queries", ()), alike, rule)
    paid = RewardConfig(answer="em" if reward == "em" else "f1")
    return lambda episode, target: score(episode, target, paid)


def _well_formed(turn: Turn) -> bool:
    return turn.action is not None and PROTOCOL.well_formed(turn.text)


def _ran(turn: Turn) -> bool:
    """Check that the turn's code ran; of a last turn, which nothing followed, it isn't known."""
    return turn.observation is not None and turn.observation.status == "ok"


def _query(text: str, left: list[str], similarity: Similarity, least: float) -> float:
    """The query's likeness to the nearest gold query that is left, which is then used up."""
    if not text or not left:
        return 0.0
    likeness, nearest = max((similarity(text, gold), k) for k, gold in enumerate(left))
    if likeness < least:
        return 0.0
    del left[nearest]
    return likeness
