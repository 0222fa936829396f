"""VISTA-Gym's agent: think, call a tool by name with JSON, read what it says, answer.

::

    <think>…</think><tool_call>{"tool": "unichart.to_table", "task": "to_table", "arguments": {"of": "red"}}</tool_call>
    7
    <think>…</think><answer>7</answer>

Tools see the images of their own episode alone, the first one where a call names none. They hold nothing
(:class:`visual_tools.tool.PureTool`), so one set of them serves any number of episodes. Whatever is wrong with a turn,
its JSON, the tool's name, an argument or what the tool itself makes of it, is told, and the episode goes on; how many
turns there may be stands in :class:`.experiment.Play`.

Departures
- [vista-arguments] Paper: its template (Fig. 9) has ``tool`` and ``task`` alone; a case study passes arguments as a
  string. Here: ``arguments`` is an object; a string that holds one is read as well, and ``task`` is one more of them.
  Why: tools need to be told what to look for. May change: errors of argument format (E3), downwards.
- [vista-tool-first] Paper: the system prompt orders a tool call first, always; the text speaks of deciding if and when.
  Here: a switch, ``tool_first``; by default the agent decides. Why: claims V1 and V3 depend on it. May change: calls an
  episode, and how an untrained model fares with tools.
- [vista-prompts] Paper: a prompt of its own (Fig. 9). Here: ``full`` says the same in the kit's words and how large
  the images are that tools open, and ``brief`` is for the tiny model. Why: the paper's text isn't the kit's to print.
  May change: how often an untrained model calls.
- [vista-unlisted] Paper: the prompt describes every tool. Here: a switch, ``listed``; the laptop's agent is told how
  many there are, and learns their names from demonstrations. Why: 26 names are most of its prompt. May change:
  it can't call a tool that it wasn't shown.
- [vista-no-action] Paper: doesn't say what follows a turn that neither calls nor answers. Here: the agent is told, and
  the turn counts. Why: a wrong call is told as well. May change: nothing for turns that conform.
- [vista-prior] Paper: its untrained model is given prior knowledge of which tools to select; it doesn't print it. Here:
  a sentence names the tools that suit the question's family (:data:`PRIOR`). Why: something has to be said. May change:
  accuracy of the untrained model with tools, and so V3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kit.environment import ToolEnv, after_names, full_sizes
from kit.episode import Action, NamedImage, Observation, Task
from kit.protocol import Protocol
from kit.tools.base import Tool
from kit.tools.search import shortened
from papers.vista_gym.answers import is_right
from papers.vista_gym.toolbox import TOOLS
from pictures.documents import chart

PROTOCOL = Protocol(actions=("tool_call",), call="tool_call")
ANSWER_ALONE = Protocol(actions=())
"""The tags without tools: a thought, and the answer."""

BRIEF = "{first} Tools: {tools}. {prior}Use <think>, <tool_call>, <answer>."
FULL = """You answer a question about an image. In each turn, first reason inside <think> and </think>, then do exactly\
 one thing: call a tool, or answer.

A call is one JSON object inside <tool_call> and </tool_call>: {{"tool": NAME, "task": TASK, "arguments": {{…}}}}.\
 Stop after it: what the tool says, or what was wrong with the call, comes next, and you go on from there. {first}

When you know the answer, give it inside <answer> and </answer>, in as few words as possible.

{prior}The tools, each with its arguments as a JSON schema:
{tools}"""
PROMPTS = {"brief": BRIEF, "full": FULL}
"""System texts: ``brief`` for the tiny model, ``full`` (the paper's structure, Fig. 9) for real ones."""
ALONE = {
    "brief-alone": "Answer. Use <think>, <answer>.",
    "full-alone": "You answer a question about an image. First reason inside <think> and </think>. Then give the "
    "answer inside <answer> and </answer>, in as few words as possible, and say nothing more.",
}
"""The same for an agent without tools, which reasons and answers in one turn (Table 2, *w/o Tools*)."""
FIRST = {
    ("brief", False): "Answer, or call a tool first.",
    ("brief", True): "Call a tool, then answer.",
    ("full", False): "Call a tool where it helps, and none where you can see the answer.",
    ("full", True): "Begin with a tool call, always: never answer in the first turn.",
}
"""What a prompt says of calling, by its style and by ``tool_first``."""

PRIOR: Mapping[str, tuple[str, ...]] = {
    "charts": ("unichart.to_table", "deplot.to_table", "chartmoe.to_table", "chartmoe.answer", "easyocr.read"),
    "geometry": ("diagramformalizer.parse", "intergps.parse", "cdl.text", "intergps.solve", "gllava.solve"),
    "maps": ("easyocr.read", "groundingdino.detect", "sam.segment"),
    "science": ("easyocr.read", "groundingdino.detect", "multimath.solve"),
    "documents": ("easyocr.read",),
    "spatial": ("groundingdino.detect", "sam.segment"),
    "other": ("groundingdino.detect", "easyocr.read", "multimath.solve"),
}
"""Family of tasks → tools that suit it (ours; the paper groups tools by what they are about)."""

OUTPUT = 2000
"""Characters of a tool's reply that an agent is told (ours)."""
DEADLINE = 60.0
"""Seconds that a tool may take (ours: the release has no limit)."""


class VistaGymEnv(ToolEnv):
    """One question at a time, answered at once or by way of tools.

    Args:
        tools: what may be called; shared by any number of environments (:func:`.toolbox.toolbox`).
        prompt: ``brief`` or ``full``, see :data:`PROMPTS`.
        tool_first: order a call before the answer, as the paper's prompt does.
        prior: say which of the tools suit the task's family (:data:`PRIOR`).
        tasks: what :meth:`reset` draws from when it isn't given a task; values of charts if empty.
        listed: name the tools in the prompt; else say only how many the paper has, to one that learns them by heart.
        deadline: seconds that one call may take; None: tools have limits of their own.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        prompt: str = "brief",
        tool_first: bool = False,
        prior: bool = False,
        tasks: Sequence[Task] = (),
        listed: bool = True,
        deadline: float | None = DEADLINE,
    ) -> None:
        if prompt not in PROMPTS:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted((*PROMPTS, *ALONE))}")
        super().__init__(PROTOCOL, tasks, deadline, on_no_action="tell")
        self.shared, self.style, self.tool_first, self.prior = tuple(tools), prompt, tool_first, prior
        self.listed = listed

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each image after its name, then the question."""
        names = ", ".join(tool.name for tool in self.shared)
        told = names if self.style == "brief" else self._schemas()
        told = told if self.listed else f"{len(TOOLS)}"
        first = FIRST[self.style, self.tool_first]
        system = PROMPTS[self.style].format(first=first, prior=self._prior(task), tools=told)
        system += full_sizes(task) if self.style == "full" else ""
        return system, [*after_names(task.images), task.question]

    def _schemas(self) -> str:
        return "\n".join(
            f"- {tool.name}: {tool.description} {json.dumps(tool.parameters['properties'], ensure_ascii=False)}"
            for tool in self.shared
        )

    def _prior(self, task: Task) -> str:
        """Name the tools that suit the task's family, if that is wanted and there are any."""
        suiting = PRIOR.get(task.meta.get("family", ""), ()) if self.prior else ()
        named = ", ".join(tool.name for tool in self.shared if tool.name in suiting)
        return f"Suited to this question: {named}. " if named else ""

    def draw(self) -> Task:
        """A chart, and a question about one of its bars."""
        one = chart(self.np_random, ())
        question, answer = one.questions[int(self.np_random.integers(3))]
        return Task("procedural", (NamedImage("image", one.image),), question, (answer,), {"family": "charts"})

    def tools(self, task: Task) -> Sequence[Tool]:
        """All tools: they are functions, so no episode needs its own."""
        del task
        return self.shared

    def act(self, action: Action) -> Observation:
        """Call the tool that an action names; a long reply is cut."""
        seen = super().act(action)
        return replace(seen, text=shortened(seen.text, OUTPUT))

    def reward(self, answer: str) -> float:
        """1 for a right answer."""
        return float(is_right(answer, self.task.target))


class ReasoningEnv(VistaGymEnv):
    """The same questions without tools: one turn, a thought and the answer; any other turn ends the episode, too.

    Args:
        prompt: ``brief-alone`` or ``full-alone``, see :data:`ALONE`.
        tasks: as for :class:`VistaGymEnv`.
    """

    def __init__(self, prompt: str = "brief-alone", tasks: Sequence[Task] = ()) -> None:
        if prompt not in ALONE:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted((*PROMPTS, *ALONE))}")
        super().__init__((), prompt.removesuffix("-alone"), tasks=tasks)
        self.protocol, self.on_no_action, self.system = ANSWER_ALONE, "end", ALONE[prompt]

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each image after its name, then the question."""
        return self.system, [*after_names(task.images), task.question]
