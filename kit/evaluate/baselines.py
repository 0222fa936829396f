"""Baselines without tools: the same model asked, to compare an agent with.

=================  =================================================================================
mode               what the model is given
=================  =================================================================================
``direct``         images and question, and is asked for the answer alone
``cot``            the same, and is asked to reason first (chain of thought)
``rag``            before them, the snippets that a search for the question itself finds (plain retrieval)
``rag-described``  the images, and is asked to describe them; then what a search for that description finds, and the
                   question (retrieval, where the question doesn't say what the image shows)
=================  =================================================================================

There is one turn, and one more to describe. The text in answer tags is the answer; without tags, all of the text is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from kit.environment import ToolEnv
from kit.episode import Action, NamedImage, Observation, Task
from kit.protocol import FormatError, Protocol
from kit.rewards.text_match import f1, max_over_references
from kit.tools.search import SNIPPET_CHARS, TOP_K, Search, information

Mode = Literal["direct", "cot", "rag", "rag-described"]
RETRIEVAL = ("rag", "rag-described")

_FOUND = (
    "What a search for the question found stands inside <information> and </information>; it may not help. "
    "Answer in as few words as possible, inside <answer> and </answer>, and say nothing else."
)

SYSTEMS: dict[str, dict[str, str]] = {
    "brief": {"direct": "", "cot": "Use <think>, <answer>.", "rag": "", "rag-described": ""},
    "full": {
        "direct": "Answer in as few words as possible, inside <answer> and </answer>, and say nothing else.",
        "cot": "First reason inside <think> and </think>, then answer in as few words as possible inside <answer> and "
        "</answer>.",
        "rag": _FOUND,
        "rag-described": "First describe, in a few telling words and nothing else. "
        + _FOUND.replace("the question found", "your description found"),
    },
}


def opened(task: Task) -> Task:
    """Show a task in full at once: its prompt has the originals. Asked so, a base sets the ceiling.

    A task whose prompt hides nothing is returned as it is.
    """
    return replace(task, images=task.tool_images, originals=())


class SingleTurnEnv(ToolEnv):
    """One question, one turn; with ``rag-described`` a first one, to describe the images.

    Args:
        mode: see the table above.
        search: where retrieval looks.
        prompt: ``brief`` for the tiny model, which was taught to answer barely; ``full`` for real ones.
        tasks: what :meth:`reset` draws from when it isn't given a task.
        k, snippet_chars: of the search.
        describe: with ``rag-described``, the words that ask for a description of the images; how it is told depends
            on what the images show and on what the model was taught.
        query: what is searched for then; the description stands in place of ``{}``.
    """

    def __init__(
        self,
        mode: Mode = "direct",
        search: Search | None = None,
        prompt: str = "brief",
        tasks: Sequence[Task] = (),
        k: int = TOP_K,
        snippet_chars: int = SNIPPET_CHARS,
        describe: str = "",
        query: str = "{}",
    ) -> None:
        if prompt not in SYSTEMS or mode not in SYSTEMS[prompt]:
            modes = ", ".join(SYSTEMS["brief"])
            raise ValueError(f"mode={mode!r}, prompt={prompt!r}: choose one of {modes}, and brief or full")
        if mode in RETRIEVAL and search is None:
            raise ValueError(f"mode={mode!r}: retrieval needs a search engine; give search")
        if (mode == "rag-described") != bool(describe):
            raise ValueError(
                f"mode={mode!r}, describe={describe!r}: rag-described needs words that ask, no other mode does"
            )
        super().__init__(Protocol(actions=()), tasks=tasks)
        self.mode, self.search, self.system = mode, search, SYSTEMS[prompt][mode]
        self.k, self.snippet_chars = k, snippet_chars
        self.describe, self.query, self.described = describe, query, False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start ``options["task"]``, or one drawn with ``seed``."""
        self.described = False
        return super().reset(seed=seed, options=options)

    def found(self, query: str) -> str:
        """Search for a query and format what was found as the model is shown it; for no word, nothing is found."""
        assert self.search is not None
        if not any(sign.isalnum() for sign in query):  # a model that saw nothing has nothing looked up
            return information(())
        return information(self.search.search(query, self.k), self.snippet_chars)

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: what was found, if anything was looked for, images, question.

        Raises:
            ValueError: a task without an image is to be described.
        """
        if self.describe and not task.images:
            raise ValueError(f"task {task.id} has no image to describe: play it with rag, whose query is the question")
        parts: list[str | NamedImage] = []
        if self.mode == "rag":
            parts.append(self.found(task.question) + " ")
        for image in task.images:
            parts += [f"{image.name}: ", image]
        return self.system, [*parts, self.describe or task.question]

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take whatever was said as the answer, or, in a first turn that describes, as the query."""
        self.check_running()
        parsed = self.protocol.parse(action)
        if isinstance(parsed, FormatError):
            parsed = Action("answer", self.read(action))
        if self.describe and not self.described:
            self.described = True
            query = self.query.replace("{}", parsed.text.removesuffix("."))
            shown = Observation(f"{self.found(query)} {self.task.question}")
            return shown, 0.0, False, False, {"action": Action("describe", query)}
        self.running = False
        return Observation(""), self.reward(parsed.text), True, False, {"action": parsed}

    def read(self, text: str) -> str:
        """The answer in a text without answer tags: what follows the reasoning."""
        return text.rpartition("</think>")[2].strip()

    def reward(self, answer: str) -> float:
        """The answer's token F1."""
        return max_over_references(f1, answer, self.task.target)

    def draw(self) -> Task:
        """A sum."""
        a, b = (int(v) for v in self.np_random.integers(1, 10, 2))
        return Task("sum", (), f"What is {a} + {b}?", (str(a + b),))
