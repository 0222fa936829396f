"""Judge an answer by a model behind an endpoint, every verdict kept; offline the exact rule stands in its place.

The paper pays half for an answer that a judge calls alike, and measures judge accuracy, both by gpt-4o-mini. A verdict
is 0, 0.25, 0.5, 0.75 or 1. It is asked for once: what was judged is in a file, so a run that is repeated pays for
nothing twice and reads the same. A reply without a verdict (:mod:`.verdict`), cut off or empty, is asked for again and
then an error: it is neither counted nor kept.

Departures
- [mags-judge-prompt] Paper: the reward's judge is asked with GRIT's prompt, the evaluation's with a rubric Here:
  both are asked for the rubric, in the kit's words. Why: those texts aren't the kit's to print. May change: where an
  answer in other words falls on the scale.
- [mags-judged-offline] Paper: gpt-4o-mini judges. Here: whatever model ``judge=MODEL@URL`` names does, and without an
  endpoint the exact rule, 1 or 0; no profile names one, as nobody's endpoint is the kit's to choose. Why: a laptop has
  no such model, and gold answers of drawn tasks are words and numbers. May change: nothing on drawn tasks; on the
  hub's, answers in other words count as wrong, in the reward and in judge accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kit.chat import Chat
from kit.episode import Task
from kit.policy import Policy
from papers.asking import ask
from papers.kept_answers import Cache
from papers.mags_rl.answers import is_right
from papers.mags_rl.verdict import verdict

Judge = Callable[[str, str, Sequence[str]], float]
"""From question, answer and gold answers to how far the answer says what one of them says, 0 to 1."""

ASKED = """Question: {question}
Right answer: {gold}
Given answer: {answer}

How far does the given answer say what the right answer says? 1: the same. 0.75: the same but for a detail. 0.5: half \
of it. 0.25: little. 0: something else, or nothing. Reply with one of these numbers alone."""

MOST_CHARS = 1000
"""Characters of an answer that a judge is shown."""


def exact(question: str, answer: str, golds: Sequence[str]) -> float:
    """Judge by the exact rule: 1 or 0.

    Args:
        question: isn't looked at.
        answer: what was answered.
        golds: the gold answers.
    """
    del question
    return float(is_right(answer, golds))


@dataclass(frozen=True)
class ModelJudge:
    """A model that is asked; any number of threads may do so.

    Attributes:
        policy: the model, such as a :class:`kit.policy.endpoint.ServedPolicy`.
        chat: encodes what it is asked.
        cache: replies by what was asked.
        name: of the model: another one's verdicts are others.
    """

    policy: Policy
    chat: Chat
    cache: Cache
    name: str

    def __call__(self, question: str, answer: str, golds: Sequence[str]) -> float:
        """The verdict; an answer that is right by the exact rule isn't asked about.

        Raises:
            kit.policy.endpoint.EndpointError: it doesn't reply, or without a verdict whenever it is asked.
        """
        if is_right(answer, golds) or not answer.strip():
            return float(bool(answer.strip()))
        asked = ASKED.format(question=question, gold=" or ".join(golds), answer=answer[:MOST_CHARS])
        kept = verdict(str(self.cache.get(f"{self.name}\n{asked}") or ""))
        if kept is not None:
            return kept
        task = Task("judge", (), asked, tuple(golds))
        reply = ask(
            self.policy, self.chat, [asked], task, lambda text: verdict(text) is not None, "a number from 0 to 1"
        )
        self.cache.put(f"{self.name}\n{asked}", reply)
        said = verdict(reply)
        assert said is not None
        return said


def judge_of(named: str, chat: Chat, cache: Path) -> Judge:
    """Make the judge that a parameter names.

    Args:
        named: ``MODEL@URL``, a served model (the paper: gpt-4o-mini); empty: the exact rule.
        chat: any, to encode what a model is asked.
        cache: file that keeps a model's replies.

    Raises:
        ValueError: it is neither.
    """
    if not named:
        return exact
    model, _, url = named.partition("@")
    if not model or not url.startswith(("http://", "https://")):
        raise ValueError(f"judge={named!r}: write MODEL@URL, such as gpt-4o-mini@http://host:port/v1, or nothing")
    return model_judge(url, model, chat, cache)


def model_judge(url: str, model: str, chat: Chat, cache: Path) -> ModelJudge:
    """Make a judge of a served model.

    Args:
        url: of the endpoint, ``http://host:port/v1``.
        model: its name there.
        chat: any, to encode what is asked.
        cache: file that keeps the replies.
    """
    from kit.policy.endpoint import ServedPolicy

    return ModelJudge(ServedPolicy(url, model, chat), chat, Cache(cache), model)
