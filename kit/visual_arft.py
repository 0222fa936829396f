"""Visual-ARFT's experiment in one place: which tasks, played how, with which tools, by which model.

The notebooks 21 to 24 share what is here; each piece it ties lives in its own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kit.chat import Chat
from kit.envs.visual_arft import VisualARFTEnv
from kit.episode import Episode, Task
from kit.play import Pace, load
from kit.policy import Policy
from kit.policy.hf import HFPolicy
from kit.sandbox import Sandbox
from kit.tools.search import SNIPPET_CHARS, TOP_K, Search

__all__ = ["Play", "Tools", "load", "play_greedily"]


@dataclass(frozen=True)
class Tools:
    """What an agent is given: a sandbox to run code in, a search engine, or both."""

    box: Sandbox | None = None
    search: Search | None = None


@dataclass(frozen=True)
class Play(Pace):
    """How tasks are played. Defaults are the paper's evaluation: 5 turns, 4 snippets, 2,048 tokens a turn.

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`kit.envs.visual_arft.PROMPTS`; ours: brief for the tiny model).
        k: snippets of one search.
        snippet_chars: characters of one snippet (ours).
    """

    prompt: str = "full"
    k: int = TOP_K
    snippet_chars: int = SNIPPET_CHARS

    def env(self, tools: Tools) -> VisualARFTEnv:
        """An environment with these tools."""
        return VisualARFTEnv(
            *(tools.box, tools.search, self.turns, self.prompt), k=self.k, snippet_chars=self.snippet_chars
        )

    def __call__(
        self, policy: Policy, chat: Chat, tools: Tools, tasks: Sequence[Task], temperature: float, seed: int = 0
    ) -> list[Episode]:
        """Play each task once."""
        return self.play(policy, chat, tasks, lambda: self.env(tools), temperature, seed)


def play_greedily(model: Any, chat: Chat, tools: Tools, tasks: Sequence[Task], how: Play) -> list[Episode]:
    """What a model does when it always says what it holds most likely: how results are measured."""
    return how(HFPolicy(model, chat), chat, tools, tasks, temperature=0.0)
