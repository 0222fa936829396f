"""The episode viewer: an episode as a strip of turns, in plain HTML.

Each turn shows its tokens, tinted by who wrote them, the pictures that came back, and what it was
worth. Colour never speaks alone: the policy's tokens are underlined, the environment's slanted.
Everything a model or tool wrote is escaped. Colours follow JupyterLab's theme where there is one.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, Picture, Score, Turn

SIDE = 200
"""Pictures are shown at most so wide (pixels)."""

_STYLE = """<style>
.kv{font:13px/1.45 system-ui,sans-serif;color:var(--jp-ui-font-color1,CanvasText);max-width:900px}
.kv .t{border:1px solid var(--jp-border-color2,#8888);border-radius:6px;padding:6px 10px;margin:6px 0}
.kv .h{font-weight:600;display:flex;gap:12px;flex-wrap:wrap}
.kv .h span{font-weight:400;opacity:.75}
.kv code{font:12px/1.5 ui-monospace,monospace;white-space:pre-wrap;word-break:break-word;background:none;color:inherit}
.kv .p{text-decoration:underline;text-decoration-color:#0072B2;text-decoration-thickness:2px;background:#0072B226}
.kv .e{font-style:italic;background:#E69F0033}
.kv .up{background:#009E7344}.kv .down{background:#D55E0044}
.kv figure{display:inline-block;margin:4px 8px 0 0;text-align:center;font-size:11px}
.kv img{display:block;border:1px solid #8886}
.kv .g{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:10px}
</style>"""


class Html:
    """HTML that shows itself in a notebook and can be saved as a page."""

    def __init__(self, body: str) -> None:
        self.body = body

    def _repr_html_(self) -> str:
        return f'{_STYLE}<div class="kv">{self.body}</div>'

    def save(self, path: str | Path) -> Path:
        """Write a page that stands alone; it follows the reader's light or dark setting."""
        page = f'<!doctype html><meta charset="utf-8"><title>episode</title>{self._repr_html_()}'
        Path(path).write_text(page, encoding="utf-8")
        return Path(path)


def _picture(picture: Picture) -> str:
    image = picture.image.convert("RGB")
    if max(image.size) > SIDE:
        image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    data = base64.b64encode(buffer.getvalue()).decode()
    name = html.escape(picture.name, quote=True)
    width, height = picture.image.size
    return (
        f'<figure><img alt="{name}" src="data:image/jpeg;base64,{data}" width="{image.width}">'
        f"{name} {width}×{height}</figure>"
    )


def _tokens(turn: Turn, chat: Chat, advantage: float | Sequence[float] | None) -> str:
    """The sampled tokens one by one; hovering tells id, log-probability and advantage."""
    spans = []
    for k, (token, logprob) in enumerate(zip(turn.ids, turn.logprobs, strict=True)):
        worth = advantage if isinstance(advantage, int | float) or advantage is None else advantage[k]
        tint = "" if not worth else " up" if worth > 0 else " down"
        title = f"id {token}, log p {logprob:.3f}" + (f", advantage {worth:+.2f}" if worth is not None else "")
        spans.append(f'<span class="p{tint}" title="{title}">{html.escape(chat.tokenizer.decode([token]))}</span>')
    return "".join(spans)


def _turn(turn: Turn, number: int, chat: Chat | None, advantage: float | Sequence[float] | None) -> str:
    tint = "" if not isinstance(advantage, int | float) or not advantage else " up" if advantage > 0 else " down"
    said = _tokens(turn, chat, advantage) if chat else f'<span class="p{tint}">{html.escape(turn.text)}</span>'
    kind = turn.action.kind if turn.action else "no action"
    head = f'<div class="h">Turn {number} <span>{kind}</span><span>{len(turn.ids)} tokens</span></div>'
    seen = ""
    if turn.observation is not None:
        note = "" if turn.observation_ids else " (never shown to the policy: the episode ended here)"
        text = html.escape(turn.observation.text) or "↩"
        seen = f'<div><code class="e">{text}</code> <span>{turn.observation.status}{note}</span></div>'
        seen += "".join(map(_picture, turn.observation.images))
    return f'<div class="t">{head}<code>{said}</code>{seen}</div>'


def _score(score: Score | None, advantage: float | Sequence[float] | None) -> str:
    parts = []
    if score is not None:
        listed = ", ".join(f"{name} {value:+.2f}" for name, value in score.parts.items())
        parts.append(f"reward <b>{score.total:+.2f}</b> <span>= {html.escape(listed)}</span>")
    if isinstance(advantage, int | float):
        parts.append(f"advantage <b>{advantage:+.2f}</b>")
    return f'<div class="h">{" ".join(parts)}</div>' if parts else ""


def _strip(
    episode: Episode,
    score: Score | None,
    advantage: float | Sequence[Sequence[float]] | None,
    chat: Chat | None,
    task: bool,
) -> str:
    rows = []
    if task:
        pieces = "".join(map(_picture, episode.task.images))
        question = html.escape(episode.task.question)
        head = f'<div class="h">Prompt <span>{len(episode.prompt_ids)} tokens</span></div>'
        rows.append(f'<div class="t">{head}{pieces}<div><code class="e">{question}</code></div></div>')
    for number, turn in enumerate(episode.turns, start=1):
        worth = advantage if isinstance(advantage, int | float) or advantage is None else advantage[number - 1]
        rows.append(_turn(turn, number, chat, worth))
    whole = advantage if isinstance(advantage, int | float) else None
    return "".join(rows) + f"<div>ended: <b>{episode.ended}</b></div>" + _score(score, whole)


_LEGEND = (
    '<div><span class="p">the policy\'s tokens (mask 1)</span> · '
    '<span class="e">the environment\'s (mask 0)</span>{more}</div>'
)
_WORTH = ' · <span class="p up">made likelier</span> · <span class="p down">made less likely</span>'


def show(
    episode: Episode,
    score: Score | None = None,
    advantage: float | Sequence[Sequence[float]] | None = None,
    chat: Chat | None = None,
) -> Html:
    """One episode as a strip of turns.

    Args:
        score: its reward, by parts.
        advantage: of the whole episode, or for each turn one a token.
        chat: with it tokens are shown one by one, ids and log-probabilities on hovering.
    """
    legend = _LEGEND.format(more=_WORTH if advantage is not None else "")
    return Html(legend + _strip(episode, score, advantage, chat, task=True))


def compare(
    episodes: Sequence[Episode],
    scores: Sequence[Score] | None = None,
    advantages: Sequence[float] | None = None,
    chat: Chat | None = None,
) -> Html:
    """Rollouts of one task side by side, with their rewards and advantages."""
    cells = []
    for k, episode in enumerate(episodes):
        score, worth = scores[k] if scores else None, advantages[k] if advantages else None
        cells.append(f"<div>{_strip(episode, score, worth, chat, task=False)}</div>")
    legend = _LEGEND.format(more=_WORTH if advantages else "")
    return Html(f'{legend}<div class="g">{"".join(cells)}</div>')
