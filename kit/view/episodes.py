"""The episode viewer: an episode as a strip of turns, and a group of rollouts side by side.

==================  =========================  ==========================================
tokens              look                       loss mask
==================  =========================  ==========================================
policy              solid underline, tinted    1
environment         dotted underline           0
prompt              the same, in its own card  0
==================  =========================  ==========================================

With an advantage, the policy's tokens show what a step would do to them: a thick line and blue ▲ made
likelier, a wavy line and orange ▼ made less likely. With ``chat`` tokens are told apart, and hovering shows
id and log-probability. Whatever a model, a tool or a file name says is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Score, Turn
from kit.view.html import IMAGE_BYTES, Figure, Html, figures, render
from kit.view.tokens import Block, Tint, Token, appended, blocks, sampled

__all__ = ["Html", "compare", "show"]

TOKENS = 600
"""Tokens with a hover text of their own; in longer views neighbours share one (the legend says how many)."""

ENDED = {
    "answer": "answered",
    "format": "a turn without an action",
    "turns": "out of turns",
    "tokens": "out of tokens",
    "lost": "sandbox lost",
    "running": "still running",
}

TurnAdvantage = float | Sequence[float] | None
"""A turn's advantage: one for all its tokens, or one for each token."""

Judge = Callable[[Episode, Any], bool]
"""A paper's judgement: an answered episode and its task's target → whether the answer is right."""


@dataclass(frozen=True)
class _View:
    """Settings and encoded images of one view.

    Attributes:
        chat: tells tokens apart; None: text only.
        group: number of tokens that share a hover text; 0 without ``chat``.
        figures: the view's images in reading order, each taken once.
    """

    chat: Chat | None
    group: int
    figures: Iterator[Figure]

    def take(self, images: Sequence[NamedImage]) -> list[Figure]:
        """The next images, encoded."""
        return [next(self.figures) for _ in images]


def show(
    episode: Episode,
    score: Score | None = None,
    advantage: Any = None,
    chat: Chat | None = None,
    is_right: Judge | None = None,
) -> Html:
    """One episode as a strip of turns, with its images, reward and tokens.

    Args:
        episode: finished or still running.
        score: its reward, by parts.
        advantage: one for the whole episode; or one for each token after the prompt (a row of
            :func:`kit.train.advantage.broadcast_to_tokens`); or one sequence for each turn, a value for each sampled
            token. Only the policy's tokens are tinted by it.
        chat: the checkpoint's chat; with it tokens are shown one by one.
        is_right: the paper's judgement of an answered episode, shown as ✓ or ✗ before the target.

    Raises:
        ValueError: the advantages are not one for each token.
    """
    advantages = _by_turn(episode, advantage)
    view = _view([episode], chat, [*episode.task.images, *episode.task.originals, *_observed(episode)], IMAGE_BYTES)
    body = render(
        "show.html",
        head=_head(episode.task.id, episode, score, advantage, is_right),
        episode=episode,
        images=view.take(episode.task.images),
        originals=view.take(episode.task.originals),
        prompt=appended(episode.prompt_ids, chat, view.group) if chat else [],
        turns=[_turn(turn, k + 1, advantages[k], view) for k, turn in enumerate(episode.turns)],
        group=view.group,
        advantages=advantage is not None,
    )
    n = len(episode.turns)
    return Html(body, f"episode {episode.task.id}: {n} turn{'s' * (n != 1)}, {ENDED[episode.ended]}")


def compare(
    episodes: Sequence[Episode],
    scores: Sequence[Score] | None = None,
    advantages: Sequence[Any] | None = None,
    chat: Chat | None = None,
    is_right: Judge | None = None,
    names: Sequence[str] | None = None,
) -> Html:
    """Rollouts side by side, each with its reward and advantage; the task they share is shown once.

    Args:
        episodes: the rollouts, usually of one task.
        scores: one for each episode.
        advantages: one for each episode, each as in :func:`show`.
        chat: the checkpoint's chat; with it tokens are shown one by one.
        is_right: the paper's judgement of an answered episode, shown as ✓ or ✗ before the target.
        names: one for each episode; None: they are numbered.

    Raises:
        ValueError: not one score, advantage or name for each episode, or advantages that are not one for each token.
    """
    for name, values in (("scores", scores), ("advantages", advantages), ("names", names)):
        if values is not None and len(values) != len(episodes):
            raise ValueError(f"compare: {len(episodes)} episodes but {len(values)} {name}; one each")
    tasks = {episode.task.id: episode.task for episode in episodes}
    common = next(iter(tasks.values())) if len(tasks) == 1 else None
    given, opened = (common.images, common.originals) if common else ((), ())
    images = [*given, *opened, *(image for episode in episodes for image in _observed(episode))]
    view = _view(episodes, chat, images, IMAGE_BYTES * max(1, len(episodes) // 2))
    shared, originals = view.take(given), view.take(opened)
    columns = []
    for k, episode in enumerate(episodes):
        advantage = advantages[k] if advantages is not None else None
        by_turn = _by_turn(episode, advantage)
        name = names[k] if names is not None else f"Rollout {k + 1}"
        head = _head(name, episode, scores[k] if scores is not None else None, advantage, is_right)
        turns = [_turn(turn, n + 1, by_turn[n], view) for n, turn in enumerate(episode.turns)]
        columns.append({"head": head, "episode": episode, "turns": turns})
    body = render(
        "compare.html",
        images=shared,
        originals=originals,
        columns=columns,
        group=view.group,
        advantages=advantages is not None,
    )
    return Html(body, f"{len(episodes)} rollouts of {', '.join(tasks)}")


def _view(episodes: Sequence[Episode], chat: Chat | None, images: Sequence[NamedImage], budget: int) -> _View:
    # An image's tokens are drawn as one element, however many they are.
    tokens = sum(sum(i != chat.image_id for i in e.ids) for e in episodes) if chat else 0
    group = max(1, -(-tokens // (TOKENS * len(episodes)))) if chat else 0
    return _View(chat, group, iter(figures(images, budget)))


def _observed(episode: Episode) -> list[NamedImage]:
    """Every image an environment sent, also those that ended the episode before they were appended."""
    return [image for turn in episode.turns if turn.observation is not None for image in turn.observation.images]


def _by_turn(episode: Episode, advantage: Any) -> list[TurnAdvantage]:
    """``advantage``, of whatever kind, for each turn."""
    values = advantage.tolist() if hasattr(advantage, "tolist") else advantage
    if values is None or isinstance(values, int | float):
        return [values] * len(episode.turns)
    lengths = [len(turn.ids) for turn in episode.turns]
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in values]
    if rows and isinstance(rows[0], int | float):
        after_prompt = [len(turn.ids) + len(turn.observation_ids) for turn in episode.turns]
        # Rows of a batch are padded with zeros to the longest.
        if len(rows) < sum(after_prompt) or any(rows[sum(after_prompt) :]):
            raise ValueError(
                f"episode {episode.task.id}: {len(rows)} advantages for {sum(after_prompt)} tokens after the prompt"
            )
        starts = accumulate(after_prompt, initial=0)
        rows = [rows[start : start + length] for start, length in zip(starts, lengths, strict=False)]
    if [len(row) for row in rows] != lengths:
        given = [len(row) for row in rows]
        raise ValueError(f"episode {episode.task.id}: turns of {lengths} tokens but advantages for {given}; one each")
    return list(rows)


def _head(name: str, episode: Episode, score: Score | None, advantage: Any, is_right: Judge | None) -> dict[str, Any]:
    """Name, how it ended, reward by parts, advantage, target, and whether the answer is right."""
    target, mark, shown = episode.task.target, "", None
    if isinstance(target, tuple | list) and target and all(isinstance(label, str) for label in target):
        shown = " ".join(target)
        if is_right is not None and episode.answer is not None:
            mark = "✓ right, " if is_right(episode, target) else "✗ wrong, "
    return {
        "name": name,
        "ended": f"{ENDED[episode.ended]}, {(n := len(episode.turns))} turn{'s' * (n != 1)}",
        "target": shown,
        "mark": mark,
        "score": score,
        "tint": Tint(advantage) if isinstance(advantage, int | float) else None,
    }


def _turn(turn: Turn, number: int, advantage: TurnAdvantage, view: _View) -> dict[str, Any]:
    """One turn: the policy's text and the environment's answer."""
    tint, each = (Tint(advantage), None) if isinstance(advantage, int | float) else (None, advantage)
    if view.chat is None:
        said = [Block(tag, (Token(turn.text[a:b]),)) for tag, a, b in blocks(turn.text)]
    else:
        said = sampled(turn, view.chat, view.group, each)
    seen = turn.observation
    note = f"{len(turn.observation_ids)} tokens" if turn.observation_ids else "not appended: the episode had ended"
    if view.chat is not None and turn.observation_ids:
        answer = appended(turn.observation_ids, view.chat, view.group)
    else:
        answer = [Token(text) for text in (seen.text, seen.closing) if text] if seen is not None else []
    return {
        "number": number,
        "action": turn.action.name if turn.action else "no action",
        "status": "" if seen is None else seen.status,
        "count": len(turn.ids),
        "tint": tint,
        "blocks": said,
        "note": note,
        "appended": answer,
        "images": [] if seen is None else view.take(seen.images),
    }
