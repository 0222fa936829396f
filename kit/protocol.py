"""Tag grammar: a policy's text to an action, or to a named format error.

All five papers write their actions between tags, so one grammar serves them::

    turn   = <think> reasoning </think> ( action | answer )
    action = <code> … </code>            (or <search>, <zoom>, … : the paper's tag)
    answer = <answer> … </answer>

Sampling stops at a closing action or answer tag, so a turn holds at most one; if a text holds
more (written by another back end), the first one counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from kit.episode import Action


@dataclass(frozen=True)
class FormatError:
    """Why a text holds no action, in words a policy could learn from."""

    message: str


@dataclass(frozen=True)
class Protocol:
    """The tags of one paper.

    Attributes:
        actions: tags that ask the environment for something.
        reasoning: tag around the reasoning.
        final: tag around the answer.
    """

    actions: tuple[str, ...]
    reasoning: str = "think"
    final: str = "answer"

    @property
    def stops(self) -> tuple[str, ...]:
        """Strings at which a turn ends; they stay in the sampled ids."""
        return tuple(f"</{tag}>" for tag in (*self.actions, self.final))

    @cached_property
    def _action(self) -> re.Pattern[str]:
        return re.compile(rf"<({'|'.join((*self.actions, self.final))})>(.*?)</\1>", re.DOTALL)

    @cached_property
    def _tag(self) -> re.Pattern[str]:
        return re.compile(rf"</?(?:{'|'.join((self.reasoning, *self.actions, self.final))})>")

    def parse(self, text: str) -> Action | FormatError:
        """The first action or answer in ``text``. Total: any text gives one or the other."""
        found = self._action.search(text)
        if found:
            return Action(found[1], found[2].strip())
        wanted = " nor ".join(f"<{tag}>…</{tag}>" for tag in (*self.actions, self.final))
        return FormatError(f"the turn holds neither {wanted}")

    def well_formed(self, text: str) -> bool:
        """Whether a turn is reasoning in its tags, then one action or answer in its tags, and nothing else."""
        tags = self._tag.findall(text)
        opened = f"<{self.reasoning}>", f"</{self.reasoning}>"
        if len(tags) != 4 or tuple(tags[:2]) != opened or tags[2].startswith("</"):
            return False
        if tags[3] != tags[2].replace("<", "</") or tags[2] == opened[0]:
            return False
        # Nothing but white space outside the two blocks, something inside each.
        blocks = self._tag.split(text)
        return not any(blocks[i].strip() for i in (0, 2, 4)) and all(blocks[i].strip() for i in (1, 3))


_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def parse_labels(text: str) -> tuple[str, ...] | None:
    """A list of labels from an answer: ``["B", "C"]``, ``['B', 'C']``, ``[B, C]`` or ``B, C``.

    Returns None for anything else. Total: no text makes it raise.
    """
    body = text.strip()
    if body.startswith("[") != body.endswith("]"):
        return None
    if body.startswith("["):
        body = body[1:-1]
    labels = []
    for item in body.split(","):
        label = item.strip()
        if len(label) >= 2 and label[0] == label[-1] and label[0] in "\"'":
            label = label[1:-1]
        if not _LABEL.fullmatch(label) or not label.isascii():
            return None
        labels.append(label)
    return tuple(labels)
