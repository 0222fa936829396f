r"""Mags-RL's reward: form, answer, zoom and rethinking (section 3.3, appendix B), by the stage of the training.

$$r = \lambda_1 r_{fmt} + \lambda_2 r_{ans} + \lambda_3 r_{zoom} + \lambda_4 r_{revo}$$

$$r_{fmt} = 0.1\,(f_{ans} + f_{think} + f_{rethink}) + 0.5\,f_{zoom} \qquad
f_{zoom} = I_z\,I[N_u \ge 5]\begin{cases} 0.1 & f_d < 0.4 \\ 0.5 + 0.5\min(1, \ln(N_u + 1)/\ln 20) \end{cases}$$

$$r_{ans} = I_a \max(I[a = a^*],\ 0.5\,I[judge \ge 0.7]) \qquad
r_{revo} = (0.5 + 0.5\,I_a)\,I[N_u' \ge 5]\min(1, 0.2\sqrt{N_u'})$$

$$r_{zoom} = \begin{cases} T\,k/n & \text{stage 1} \\
S \max(0, \min(1, k/|a^*|) - 0.05\,(n - k)) & \text{stage 2, counting} \\ S\,k/n & \text{stage 2, else} \end{cases}$$

$$T = I_z\,I[N_u \ge 5]\,(0.1 \text{ if } f_d < 0.4 \text{ else } 1) \qquad
S = I_z\,(0.1 + 0.9\,I[N_u \ge 5]\,I[f_d \ge 0.4])$$

===================  =================================================================  ========================
symbol               meaning                                                            name here
===================  =================================================================  ========================
$\lambda_{1…4}$      weights: 1, 2, 1, 0.5                                              ``RewardConfig``
$f_{think}$, …       0.5 for a block of reasoning in its tags, 1 for the answer's       ``_blocks``
$I_z, I_a$           1 if the boxes, or the answer, are in their form                   ``asks``, ``answers``
$N_u, f_d$           unique words of the first round's reasoning, and of all its words  ``Words``
$N_u'$               unique words of the second round's                                 ``Words``
$n, k$               boxes that were asked for, and those of them that were valid       ``asked``, ``valid``
$|a^*|$              the true count                                                     ``count``
===================  =================================================================  ========================

No term looks at where the boxes should be: a valid box is paid for wherever it lies, and what leads it to the right
place is the answer.

Worked example, stage 1: 20 words, all unique, one valid box, the right answer, 25 unique words of rethinking.
f_zoom = 0.5 + 0.5 · min(1, ln 21/ln 20) = 1, so r_fmt = 0.1 · (1 + 0.5 + 0.5) + 0.5 = 0.7; r_ans = 1; T = 1 and
r_zoom = 1/1; r_revo = min(1, 0.2 · 5) = 1. r = 0.7 + 2 · 1 + 1 + 0.5 · 1 = **4.2**.

Departures
- [mags-exact] Paper: an answer earns 1 where it exactly matches the true one. Here: where the two are alike without
  case, articles, punctuation of prose and the way a number is written (:func:`kit.rewards.answers.alike`). Why: "The
  cup." says what "cup" says, and without a judge nothing else would pay for it. May change: such answers earn 1; by the
  paper's words they would earn what its judge says, 0.5 at most.
- [mags-words] Paper: N_u and f_d stand over the zoom text in the formula, and are the length of the reasoning in the
  words. Here: the first round's reasoning without its boxes; a word is a run of letters and digits, in small letters,
  and a character of a script without spaces. Why: over boxes alone only numbers could make five words. May change: how
  much a policy talks before it looks.
- [mags-boundary] Paper: at a share of 0.4 two of its cases hold. Here: the higher one, once. Why: one has to. May
  change: nothing but at exactly 0.4.
- [mags-no-boxes] Paper: nothing is said of no box (n = 0), of a true count of 0, or of a counting answer that is no
  whole number. Here: no box earns 0; where there is nothing to count, no box earns all and any box nothing; else the
  rule that isn't counting's. Why: each would divide by 0, or by nothing. May change: questions whose answer is 0.
- [mags-form-points] Paper: thinking and rethinking earn at most 0.5 each; for what isn't told. Here: 0.5 for one
  block in its tags with something in it, else 0. Why: the simplest rule that reaches the limit. May change: at most a
  tenth of r.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

from kit.episode import Episode, Score, Task, Turn
from kit.rewards.base import Reward
from kit.rewards.text_match import split
from papers.mags_rl.answers import is_right, whole
from papers.mags_rl.env import FIRST, Stage
from papers.mags_rl.judge import Judge
from papers.mags_rl.zoom import read


@dataclass(frozen=True)
class RewardConfig:
    """Constants of the reward; the paper's values.

    Attributes:
        form: λ1.
        answer: λ2.
        zoom: λ3.
        rethink: λ4.
        form_zoom: weight of the boxes' form in r_fmt.
        form_other: of each of the other three.
        words: unique words from which a text counts.
        repeated: share of unique words below which a text repeats itself.
        alike: a judge's verdict from which an answer is half right.
        invalid: what an invalid box costs in counting.
    """

    form: float = 1.0
    answer: float = 2.0
    zoom: float = 1.0
    rethink: float = 0.5
    form_zoom: float = 0.5
    form_other: float = 0.1
    words: int = 5
    repeated: float = 0.4
    alike: float = 0.7
    invalid: float = 0.05


RULE = RewardConfig()

_RUN = re.compile(r"\w+")
_BOXES = re.compile(r"<zoom>.*?</zoom>", re.DOTALL)


@dataclass(frozen=True)
class Words:
    """Words of a text, and how many are unique."""

    all: int
    unique: int

    @classmethod
    def of(cls, text: str) -> Words:
        """Count a text's words."""
        words = [word for run in _RUN.findall(text.lower()) for word in split(run)]
        return cls(len(words), len(set(words)))

    @property
    def enough(self) -> bool:
        """Check that there are five different ones."""
        return self.unique >= RULE.words

    @property
    def repeats(self) -> bool:
        """Check that the text mostly says again what it has said."""
        return self.unique / max(1, self.all) < RULE.repeated


def block(text: str, tag: str) -> str | None:
    """Find what a tag's one opening and one closing enclose; None: there isn't exactly one of each, in order.

    >>> block("<think>a</think>", "think"), block("<think>a", "think")
    ('a', None)
    """
    opening, closing = f"<{tag}>", f"</{tag}>"
    if text.count(opening) != 1 or text.count(closing) != 1:
        return None
    start, end = text.index(opening) + len(opening), text.index(closing)
    return text[start:end] if start <= end else None


def form_of_zoom(asks: bool, words: Words) -> float:
    """f_zoom: the points of a first round.

    Args:
        asks: I_z.
        words: of its reasoning.
    """
    if not (asks and words.enough):
        return 0.0
    return 0.1 if words.repeats else 0.5 + 0.5 * min(1.0, log(words.unique + 1) / log(20))


def zoom(stage: Stage, asks: bool, words: Words, asked: int, valid: int, count: int | None = None) -> float:
    """r_zoom: the worth of a first round's boxes.

    Args:
        stage: of the training.
        asks: I_z.
        words: of the round's reasoning.
        asked: n.
        valid: k.
        count: |a*|; None: the question doesn't count.
    """
    share = valid / asked if asked else 0.0
    if stage == 1:
        return asks * words.enough * (0.1 if words.repeats else 1.0) * share
    if count == 0:
        share = float(not asked)
    elif count is not None:
        share = max(0.0, min(1.0, valid / count) - RULE.invalid * (asked - valid))
    return asks * (0.1 + 0.9 * (words.enough and not words.repeats)) * share


def rethink(answers: bool, words: Words) -> float:
    """r_revo: how much a second round thinks again.

    Args:
        answers: I_a.
        words: of its reasoning.
    """
    return (0.5 + 0.5 * answers) * words.enough * min(1.0, 0.2 * sqrt(words.unique))


def count_of(task: Task, golds: Sequence[str]) -> int | None:
    """The true count |a*| of a question that counts; None: it doesn't, or its answer is no whole number."""
    return whole(golds[0]) if task.meta.get("skill") == "count" else None


def zoomed(turn: Turn) -> tuple[int, int]:
    """Count the boxes that a round asked for, and those of them that were valid."""
    told = turn.action.arguments if turn.action is not None and turn.action.name == "zoom" else None
    return (int(told["asked"]), len(told["boxes"])) if told else (0, 0)


def make_reward(stage: Stage = 2, judge: Judge | None = None) -> Reward:
    """Make the reward of an episode.

    Args:
        stage: of the training.
        judge: of answers that the exact rule calls wrong; None: they earn nothing.
    """

    def score(episode: Episode, target: Any) -> Score:
        first, last = (episode.turns[at].text if episode.turns else "" for at in (0, -1))
        right = is_right(episode.answer, target)
        answers = episode.answer is not None and bool((block(last, "answer") or "").strip())
        thinks, again = block(first, "think"), block(last, "rethink")
        entries = read(block(first, "zoom") or "")
        asks = FIRST.well_formed(first) and entries is not None and None not in entries
        words, words_again = Words.of(_BOXES.sub(" ", thinks or "")), Words.of(again or "")
        asked, valid = zoomed(episode.turns[0]) if episode.turns else (0, 0)
        worth = float(right)
        if not right and answers and judge is not None:
            worth = 0.5 * (judge(episode.task.question, episode.answer or "", target) >= RULE.alike)
        points = RULE.form_zoom * form_of_zoom(asks, words) + RULE.form_other * (
            answers + 0.5 * bool((thinks or "").strip()) + 0.5 * bool((again or "").strip())
        )
        parts = {
            "form": RULE.form * points,
            "answer": RULE.answer * answers * worth,
            "zoom": RULE.zoom * zoom(stage, asks, words, asked, valid, count_of(episode.task, target)),
            "rethink": RULE.rethink * rethink(answers, words_again),
        }
        return Score(sum(parts.values()), parts, correct=right)

    return score
