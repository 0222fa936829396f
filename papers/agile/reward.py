r"""AGILE's reward (section 3.3, eq. 5 and 6).

$$R = \alpha R_{acc} + \beta R_{format} + \gamma R_{step} \tag{6}$$
$$R_{step} = \lambda \left(\mathbb{1}[R_{acc}=1]\, step_{num} + \mathbb{1}[R_{acc}=0]\, step_{max}\right) \tag{5}$$

==================  ===========================================================  ==================
symbol              meaning                                                      name here
==================  ===========================================================  ==================
$R_{acc}$           1 if every piece is in its place, else 0                     ``right``
$R_{format}$        1 if reasoning, code and answer are each in their tags       ``well_formed``
$step_{num}$        turns before the answer                                      ``_steps``
$step_{max}$        the turn budget (:meth:`.experiment.Play.score`)             ``step_max``
$\lambda$           −0.05, the price of a step                                   ``step_penalty``
==================  ===========================================================  ==================

Worked example: right, well-formed, two code turns: 0.8·1 + 0.2·1 + 1·(−0.05·2) = **0.90**. Wrong but
well-formed: 0.2 − 0.05·5 = **−0.05**.

Departures
- [agile-steps] Paper: A step is one pass of algorithm 1's loop, and eq. 5 counts those used. Here: Every turn before
  the answer counts, whether its code ran or not. Why: The released code counts returned images instead, which makes
  failing code free. May change: Against the released code, episodes with errors earn less.
- [agile-strict-format] Paper: Reasoning, code and answer must be enclosed in their tags (section 3.3), without saying
  how strictly. Here: Every turn is one `think` block, then one `code` or `answer` block, nothing outside; the last
  turn answers and at least one turn holds code. Why: "Code" among the three is read as asking for some, and text
  outside the tags as not enclosed. May change: An answer without any interaction earns 0.8 instead of 1.0.
- [agile-answer-parsing] Paper: The final list is printed with typographic quotes, and how it is read isn't said.
  Here: What Python reads as a list of labels counts, as do missing brackets or quotes and paired typographic quotes;
  anything else is wrong. Why: A right arrangement shouldn't fail for its quotes, and code must never be run to read
  an answer. May change: Next to nothing; a stricter reader would score some answers of large models lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kit.episode import Episode, Score
from papers.agile.env import PROTOCOL
from papers.agile.labels import parse_labels


@dataclass(frozen=True)
class RewardConfig:
    """α, β, γ, λ and step_max of eq. 5 and 6, with the paper's values (section 3.3, Table 5).

    ``step_max`` is the budget of turns; whoever plays with another one says so
    (:meth:`papers.agile.experiment.Play.score`). With ``deed`` (ours) a right answer is paid only if the pieces lay
    so when the agent last looked at them.
    """

    accuracy: float = 0.8
    format: float = 0.2
    step: float = 1.0
    step_penalty: float = -0.05
    step_max: int = 5
    deed: bool = False


def is_right(episode: Episode, target: Sequence[str]) -> bool:
    """Check that the final answer names every piece in its place.

    Raises:
        ValueError: the target is one text instead of a label for each piece.
    """
    if isinstance(target, str):  # it would be read letter by letter
        raise ValueError(f"target {target!r:.80}: give a sequence of labels, not one text")
    return episode.answer is not None and parse_labels(episode.answer) == tuple(target)


def is_well_formed(episode: Episode) -> bool:
    """Check that every turn keeps to the tags, code was used, and the episode ended with an answer."""
    turns = episode.turns
    return (
        episode.answer is not None
        and episode.calls > 0
        and all(turn.action is not None and PROTOCOL.well_formed(turn.text) for turn in turns)
    )


def last_seen(episode: Episode) -> tuple[str, ...] | None:
    """Labels in the order of the places, as the last look at all pieces showed them; None if there was no such look.

    Only where the prompt has thumbnails do observations name the pieces (:class:`papers.agile.env.JigsawEnv`).
    What counts is what was looked at: ``observation`` of another list than ``state`` would count as well.
    """
    for turn in reversed(episode.turns):
        shown = turn.observation.images if turn.observation else ()
        labels = tuple(image.name.removeprefix("Image ") for image in shown)
        if sorted(labels) == sorted(episode.task.target):
            return labels
    return None


def _steps(episode: Episode) -> int:
    """Turns before the answer: also those without code, which a budget may allow (algorithm 1 counts them)."""
    return len(episode.turns) - 1


def score(episode: Episode, target: Sequence[str], weights: RewardConfig | None = None) -> Score:
    """Eq. 6 for one finished episode; parts are weighted and add up to the total.

    Args:
        episode: a finished episode.
        target: labels in the right order, row by row.
        weights: weights of the parts; None: the paper's.

    Raises:
        ValueError: the deed is to be paid where observations don't tell it.
    """
    w = weights or RewardConfig()
    correct = is_right(episode, target)
    if w.deed and not episode.task.originals:
        raise ValueError(
            f"deed=True, task {episode.task.id}: its observations don't name the pieces; make puzzles with thumbnails "
            "(notebook 11: thumbnail=4), or leave deed False"
        )
    earned = correct and (not w.deed or last_seen(episode) == tuple(target))
    parts = {
        "accuracy": w.accuracy * earned,
        "format": w.format * is_well_formed(episode),
        "step": w.step * w.step_penalty * (_steps(episode) if earned else w.step_max),
    }
    return Score(sum(parts.values()), parts, correct=correct)
