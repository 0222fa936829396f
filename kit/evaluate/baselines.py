"""Single-turn baselines: the same model asked without tools, to compare an agent with.

==========  ====================================================================================
mode        what the model is given
==========  ====================================================================================
``direct``  images and question, and is asked for the answer alone
``cot``     the same, and is asked to reason first (chain of thought)
``rag``     before them, the snippets that a search for the question itself finds (plain retrieval)
==========  ====================================================================================

There is one turn. The text in answer tags is the answer; without tags, all of the text is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from kit.environment import ToolEnv
from kit.episode import Action, NamedImage, Observation, Task
from kit.protocol import FormatError, Protocol
from kit.rewards.text_match import f1, max_over_references
from kit.tools.search import SNIPPET_CHARS, TOP_K, Search, information

Mode = Literal["direct", "cot", "rag"]

SYSTEMS: dict[str, dict[str, str]] = {
    "brief": {"direct": "", "cot": "Use <think>, <answer>.", "rag": ""},
    "full": {
        "direct": "Answer in as few words as possible, inside <answer> and </answer>, and say nothing else.",
        "cot": "First reason inside <think> and </think>, then answer in as few words as possible inside <answer> and "
        "</answer>.",
        "rag": "What a search for the question found stands inside <information> and </information>; it may not help. "
        "Answer in as few words as possible, inside <answer> and </answer>, and say nothing else.",
    },
}


class SingleTurnEnv(ToolEnv):
    """One question, one turn.

    Args:
        mode: see the table above.
        search: where ``rag`` looks.
        prompt: ``brief`` for the tiny model, which was taught to answer barely; ``full`` for real ones.
        tasks: what :meth:`reset` draws from when it isn't given a task.
        k, snippet_chars: of the search.
    """

    def __init__(
        self,
        mode: Mode = "direct",
        search: Search | None = None,
        prompt: str = "brief",
        tasks: Sequence[Task] = (),
        k: int = TOP_K,
        snippet_chars: int = SNIPPET_CHARS,
    ) -> None:
        if prompt not in SYSTEMS or mode not in SYSTEMS[prompt]:
            raise ValueError(f"mode={mode!r}, prompt={prompt!r}: choose direct, cot or rag, and brief or full")
        if mode == "rag" and search is None:
            raise ValueError("mode='rag': retrieval needs a search engine; give search")
        super().__init__(Protocol(actions=()), tasks=tasks)
        self.mode, self.search, self.system = mode, search, SYSTEMS[prompt][mode]
        self.k, self.snippet_chars = k, snippet_chars

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: what was found, if anything was looked for, images, question."""
        parts: list[str | NamedImage] = []
        if self.mode == "rag":
            assert self.search is not None
            parts.append(information(self.search.search(task.question, self.k), self.snippet_chars) + " ")
        for image in task.images:
            parts += [f"{image.name}: ", image]
        return self.system, [*parts, task.question]

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Whatever was said is the answer."""
        parsed = self.protocol.parse(action)
        if isinstance(parsed, FormatError):
            _, _, after = action.rpartition("</think>")
            parsed = Action("answer", after.strip())
        return Observation(""), self.reward(parsed.text), True, False, {"action": parsed}

    def reward(self, answer: str) -> float:
        """The answer's token F1."""
        return max_over_references(f1, answer, self.task.target)

    def draw(self) -> Task:
        """A sum."""
        a, b = (int(v) for v in self.np_random.integers(1, 10, 2))
        return Task("sum", (), f"What is {a} + {b}?", (str(a + b),))
