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
from kit.view.html import PICTURE_BYTES, Html, clean, figures
from kit.view.tokens import appended, blocks, sampled, sense, strength

__all__ = ["Html", "compare", "show"]

SPANS = 600
"""Tokens with a hover text of their own; in longer views neighbours share one (the legend says how many)."""

ENDED = {
    "answer": "answered",
    "format": "a turn without an action",
    "turns": "out of turns",
    "tokens": "out of tokens",
    "lost": "sandbox lost",
    "running": "still running",
}

Worth = float | Sequence[float] | None
"""A turn's advantage: one for all its tokens, or one a token."""


Judge = Callable[[Episode, Any], bool]
"""A paper's judgement: an answered episode and its task's target → whether the answer is right."""


@dataclass(frozen=True)
class _Look:
    """What the parts of one view share.

    Attributes:
        chat: tells tokens apart; None: text only.
        group: how many tokens share a hover text.
        figures: the view's pictures in reading order, each taken once.
    """

    chat: Chat | None
    group: int
    figures: Iterator[str]

    def take(self, pictures: Sequence[NamedImage]) -> str:
        """The next pictures as HTML."""
        return "".join(next(self.figures) for _ in pictures)


def show(
    episode: Episode,
    score: Score | None = None,
    advantage: Any = None,
    chat: Chat | None = None,
    is_right: Judge | None = None,
) -> Html:
    """One episode as a strip of turns, with its pictures, reward and tokens.

    Args:
        score: its reward, by parts.
        advantage: one for the whole episode; or one for each token after the prompt (a row of
            :func:`kit.train.advantage.broadcast_to_tokens`); or one sequence for each turn, a value for each sampled
            token. Only the policy's tokens are tinted by it.
        chat: the checkpoint's chat; with it tokens are shown one by one.
        is_right: the paper's judgement of an answered episode, shown as ✓ or ✗ before the target.

    Raises:
        ValueError: the advantages are not one a token.
    """
    worth = _by_turn(episode, advantage)
    look = _look([episode], chat, [*episode.task.images, *_seen(episode)], PICTURE_BYTES)
    strip = [f'<section class="w">{_prompt(episode, look)}</section>']
    for k, turn in enumerate(episode.turns):
        strip.append(f"<section>{_turn(turn, k + 1, worth[k], look)}</section>")
    body = [
        _head(clean(episode.task.id), episode, score, advantage, is_right),
        _bar(episode),
        f'<div class="g">{"".join(strip)}</div>',
        _legend(look, advantage is not None),
    ]
    return Html("".join(body), f"episode {episode.task.id}: {len(episode.turns)} turns, {ENDED[episode.ended]}")


def compare(
    episodes: Sequence[Episode],
    scores: Sequence[Score] | None = None,
    advantages: Sequence[Any] | None = None,
    chat: Chat | None = None,
    is_right: Judge | None = None,
) -> Html:
    """Rollouts side by side, each with its reward and advantage; the task they share is shown once.

    Args:
        episodes: the rollouts, usually of one task.
        scores: one for each episode.
        advantages: one for each episode, each as in :func:`show`.
        chat: the checkpoint's chat; with it tokens are shown one by one.
        is_right: the paper's judgement of an answered episode, shown as ✓ or ✗ before the target.

    Raises:
        ValueError: not one score or advantage for each episode, or advantages that are not one a token.
    """
    for name, values in (("scores", scores), ("advantages", advantages)):
        if values is not None and len(values) != len(episodes):
            raise ValueError(f"compare: {len(episodes)} episodes but {len(values)} {name}; one each")
    tasks = {episode.task.id: episode.task for episode in episodes}
    common = next(iter(tasks.values())).images if len(tasks) == 1 else ()
    pictures = [*common, *(picture for episode in episodes for picture in _seen(episode))]
    look = _look(episodes, chat, pictures, PICTURE_BYTES * max(1, len(episodes) // 2))
    top = f'<section class="w"><header><b>Task</b></header>{look.take(common)}</section>' if common else ""
    columns = []
    for k, episode in enumerate(episodes):
        advantage = advantages[k] if advantages is not None else None
        worth = _by_turn(episode, advantage)
        head = _head(f"Rollout {k + 1}", episode, scores[k] if scores is not None else None, advantage, is_right)
        turns = "".join(f'<div class="x">{_turn(t, n + 1, worth[n], look)}</div>' for n, t in enumerate(episode.turns))
        columns.append(f"<section>{head}{_bar(episode)}{turns}</section>")
    body = f'<div class="g">{top}{"".join(columns)}</div>{_legend(look, advantages is not None)}'
    return Html(body, f"{len(episodes)} rollouts of {', '.join(tasks)}")


def _look(episodes: Sequence[Episode], chat: Chat | None, pictures: Sequence[NamedImage], budget: int) -> _Look:
    # Picture tokens are drawn as one chip, however many they are.
    spans = sum(sum(i != chat.image_id for i in e.ids) for e in episodes) if chat else 0
    return _Look(chat, max(1, -(-spans // (SPANS * len(episodes)))), iter(figures(pictures, budget)))


def _seen(episode: Episode) -> list[NamedImage]:
    """Every picture an environment sent, also those that ended the episode before they were appended."""
    return [p for turn in episode.turns if turn.observation is not None for p in turn.observation.images]


def _by_turn(episode: Episode, advantage: Any) -> list[Worth]:
    """``advantage``, of whatever kind, for each turn."""
    values = advantage.tolist() if hasattr(advantage, "tolist") else advantage
    if values is None or isinstance(values, int | float):
        return [values] * len(episode.turns)
    lengths = [len(turn.ids) for turn in episode.turns]
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in values]
    if rows and isinstance(rows[0], int | float):
        spans = [len(turn.ids) + len(turn.observation_ids) for turn in episode.turns]
        # Rows of a batch are padded with zeros to the longest.
        if len(rows) < sum(spans) or any(rows[sum(spans) :]):
            raise ValueError(
                f"episode {episode.task.id}: {len(rows)} advantages for {sum(spans)} tokens after the prompt"
            )
        starts = accumulate(spans, initial=0)
        rows = [rows[start : start + length] for start, length in zip(starts, lengths, strict=False)]
    if [len(row) for row in rows] != lengths:
        given = [len(row) for row in rows]
        raise ValueError(f"episode {episode.task.id}: turns of {lengths} tokens but advantages for {given}; one each")
    return list(rows)


def _number(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _head(
    name: str,
    episode: Episode,
    score: Score | None,
    advantage: Any,
    is_right: Judge | None,
) -> str:
    """Name, how it ended, reward by parts, advantage, and whether the answer is right."""
    parts = [f"<b>{name}</b>", f"<span>{ENDED[episode.ended]}, {len(episode.turns)} turns</span>"]
    target = episode.task.target
    if isinstance(target, tuple | list) and target and all(isinstance(label, str) for label in target):
        mark = ""
        if is_right is not None and episode.answer is not None:
            mark = "✓ right, " if is_right(episode, target) else "✗ wrong, "
        parts.append(f"<span>{mark}target {clean(' '.join(target))}</span>")
    if score is not None:
        listed = ", ".join(f"{clean(name)} {_number(value)}" for name, value in score.parts.items())
        parts.append(f"<span>reward <b>{_number(score.total)}</b> <small>= {listed}</small></span>")
    if advantage is not None and isinstance(advantage, int | float):
        parts.append(f"<span>advantage <b>{_number(advantage)}</b> <small>{sense(advantage)[1]}</small></span>")
    return f"<header>{''.join(parts)}</header>"


def _bar(episode: Episode) -> str:
    """The whole token row in proportion: prompt, then policy and environment in turns."""
    stretches = [("i", len(episode.prompt_ids), "prompt")]
    for number, turn in enumerate(episode.turns, start=1):
        stretches.append(("u", len(turn.ids), f"turn {number}, policy"))
        stretches.append(("i", len(turn.observation_ids), f"turn {number}, environment"))
    inside = "".join(
        f'<{tag} style="flex:{count}" title="{name}: {count} tokens"></{tag}>'
        for tag, count, name in stretches
        if count
    )
    learnt, count = sum(episode.mask), len(episode.ids)
    note = f"<small>{count} tokens, {learnt} of them the policy's (mask 1)</small>"
    return f'{note}<div class="m">{inside}</div>'


def _prompt(episode: Episode, look: _Look) -> str:
    """The task's pictures and question; with ``chat`` the whole prompt behind a fold."""
    head = f"<header><b>Prompt</b><small>{len(episode.prompt_ids)} tokens, mask 0</small></header>"
    pictures = look.take(episode.task.images)
    question = f'<div class="t e">{clean(episode.task.question)}</div>' if episode.task.question else ""
    if look.chat is None:
        return head + pictures + question
    tokens = appended(episode.prompt_ids, look.chat, look.group)
    fold = f'<details><summary>every token of the prompt</summary><div class="t e">{tokens}</div></details>'
    return head + pictures + question + fold


def _turn(turn: Turn, number: int, worth: Worth, look: _Look) -> str:
    """One turn: what the policy said, and what came back."""
    did = turn.action.kind if turn.action else "no action"
    status = "" if turn.observation is None else turn.observation.status
    mark = "" if not status else f" → {'✓' if status == 'ok' else '⚠'} {status}"
    tint, note = "", ""
    if isinstance(worth, int | float):
        style, words = sense(worth)
        tint, note = f' {style}" style="{strength(worth)}', f" · {_number(worth)} {words}"
    if look.chat is None:
        said = "".join(f"{opening}<u>{clean(turn.text[a:b])}</u></div>" for opening, a, b in blocks(turn.text))
    else:
        said = sampled(turn, look.chat, look.group, None if isinstance(worth, int | float) else worth)
    head = f"<header><b>Turn {number}</b><small>{clean(did)}{mark}</small></header>"
    policy = f'<div class="t p{tint}"><small>policy · {len(turn.ids)} tokens{note}</small>{said}</div>'
    return head + policy + _observation(turn, look)


def _observation(turn: Turn, look: _Look) -> str:
    """What the environment said: its tokens, or its text if they are not known; then its pictures."""
    seen = turn.observation
    if seen is None:
        return ""
    if not turn.observation_ids:
        said, note = clean(seen.text), "not appended: the episode had ended"
    elif look.chat is not None:
        said, note = appended(turn.observation_ids, look.chat, look.group), f"{len(turn.observation_ids)} tokens"
    else:
        said, note = f"<i>{clean(seen.text)}</i>" if seen.text else "", f"{len(turn.observation_ids)} tokens"
    box = f'<div class="t e"><small>environment · {note}</small><div class="k">{said}</div></div>'
    return box + look.take(seen.images)


def _legend(look: _Look, advantages: bool) -> str:
    """What the looks mean, and what hovering shows."""
    parts = ["<u>the policy's tokens</u> mask 1, trained on", "<i>the environment's and the prompt's</i> mask 0"]
    if advantages:
        parts.append('<u class="u">▲ made likelier</u>')
        parts.append('<u class="d">▼ made less likely</u>')
    if look.chat is not None:
        what = "a token" if look.group == 1 else f"{look.group} neighbouring tokens"
        parts.append(f"hover over {what} for id and log-probability")
    return f"<p><small>{' · '.join(parts)}</small></p>"
