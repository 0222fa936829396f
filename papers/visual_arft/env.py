"""Visual-ARFT's two agents, and one that is both: mend images with code, look things up.

Coding (MAT-Coding): an image was distorted, or only part of it matters; code mends it or cuts the part out, and the
result is shown. Searching (MAT-Search): an image raises a question that no image answers; queries bring snippets.
Both are multi-turn and executed, in any order and mixture, and whatever goes wrong comes back as an observation.

Departures
- [arft-executed] Paper: its release trains single steps on stored tool outputs, never runs code, and in evaluation puts
  the gold box in place of the model's own. Here: whatever an agent says is done, in training as well, and nothing else.
  Why: section 3.2 describes an environment that runs what the model submits. May change: what reinforcement teaches,
  and coding results on crops, which the gold box makes easier.
- [arft-operations] Paper: the model writes OpenCV code. Here: the session also has a few functions
  (:mod:`kit.tools.restoration`, :mod:`papers.crop_zoom`). Why: a model of three million parameters can say in one
  line what takes a large one ten. May change: coding results, upwards.
- [arft-prompts] Paper: prompts of Figures 5 and 6. Here: the kit's own, ``brief`` or ``full``. Why: they name the kit's
  functions. May change: how often an untrained model acts at all.
- [arft-problem-step] Paper: code acts at once; its release first asks for a turn that names the distortion. Here: code
  at once. Why: the paper's text has no such step. May change: how well code fits the distortion.
- [arft-all-images] Paper: in its release a processed image takes the place of the one before. Here: every image stays
  in the episode. Why: an agent may go back to an earlier one. May change: the length of coding episodes.
- [arft-joint-training] Paper: its release trains one model for code and one for search. Here: one model learns both,
  from batches of both kinds (``search_share``). Why: one agent can have both tools, and it is trained once. May change:
  either setting, if the tasks disturb each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kit.environment import ToolEnv, after_names
from kit.episode import NamedImage, Task
from kit.protocol import Protocol
from kit.rewards.text_match import f1, max_over_references
from kit.tools import restoration
from kit.tools.base import Tool
from kit.tools.code import CodeTool, module_source, told
from kit.tools.search import SNIPPET_CHARS, TOP_K, Search, SearchTool
from papers import crop_zoom as views
from pictures.documents import sheet
from turn_sandbox import Sandbox

PROTOCOL = Protocol(actions=("code", "search"))

OPERATIONS = (
    "rotate(image, degrees), brighten(image), darken(image), sharpen(image), denoise(image), crop(image, box), "
    "zoom(image, factor)"
)
BRIEF = {
    "code": f"A picture may be distorted, or only part of it matters. Python holds it as image. Tools: {OPERATIONS}.",
    "search": "Search for what a picture can't tell.",
}
FULL = {
    "code": f"""A picture may be turned, too dark, overexposed, blurred or noisy, or only a part of it may matter. \
If so, mend it before you answer. Python holds it as a PIL image called image; numpy, PIL and cv2 can be imported. \
These functions return a new picture: {OPERATIONS}. Degrees are clockwise; a box holds left, top, right and bottom as \
shares of the picture's sides. Write code inside <code> and </code> and stop: you will be shown what it prints and the \
last picture that it assigns to a name, which stays there for later turns.""",
    "search": """A question may ask for what no picture shows. First say to yourself what the picture shows and what \
has to be known in turn, then look it up step by step. Write one query, in a few telling words, inside <search> and \
</search> and stop: what was found comes inside <information> and </information>.""",
}
ENDS = {
    "brief": "Use <think>, {tags}, <answer>.",
    "full": """In each turn, first reason inside <think> and </think>; then do exactly one thing. When you know the \
answer, give it inside <answer> and </answer>, in as few words as possible.""",
}
PROMPTS = {"brief": BRIEF, "full": FULL}
"""System texts: ``brief`` for the tiny model, ``full`` for real ones; one paragraph a tool."""
ASKED = {"code": " What is wrong with it?", "search": " What does the flag look like?"}
"""What ``brief`` adds to a question that comes with an image: the words by which the tiny model was taught to see."""

NOTHING = "Nothing to show: assign a picture to a name, or print something."
TELL = partial(told, show=lambda made: made[-1:], nothing=NOTHING)
"""The last image is the one that the code was for: those before it are steps on the way."""

SETUP = f"{module_source(views)}\n{module_source(restoration)}"


class VisualARFTEnv(ToolEnv):
    """One task at a time, with code, search or both, as it is given a sandbox, a search engine or both.

    A task whose ``meta["tools"]`` names fewer offers only those, so that one policy can learn from both kinds.

    Args:
        box: runs the code; shared by any number of environments.
        search: looks things up; shared too.
        prompt: ``brief`` or ``full``, see :data:`PROMPTS`.
        tasks: what :meth:`reset` draws from when it isn't given a task; sheets to read if empty.
        k: snippets of one search.
        snippet_chars: characters of one snippet.
    """

    def __init__(
        self,
        box: Sandbox | None = None,
        search: Search | None = None,
        prompt: str = "brief",
        tasks: Sequence[Task] = (),
        k: int = TOP_K,
        snippet_chars: int = SNIPPET_CHARS,
    ) -> None:
        tools = tuple(name for name, given in (("code", box), ("search", search)) if given is not None)
        if not tools:
            raise ValueError("VisualARFTEnv: neither box nor search: give a sandbox, a search engine or both")
        if prompt not in PROMPTS:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted(PROMPTS)}")
        super().__init__(Protocol(actions=tools), tasks)
        self.box, self.search, self.offers, self.style = box, search, tools, prompt
        self.k, self.snippet_chars = k, snippet_chars

    def offered(self, task: Task) -> tuple[str, ...]:
        """The tools of one task.

        Raises:
            ValueError: none of those that the task is for is there.
        """
        wanted = task.meta.get("tools", self.offers)
        if offered := tuple(tool for tool in self.offers if tool in wanted):
            return offered
        raise ValueError(f"task {task.id} is for {list(wanted)}, and here is only {list(self.offers)}: give both")

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each image after its name, then the question."""
        tools = self.offered(task)
        end = ENDS[self.style].format(tags=", ".join(f"<{tool}>" for tool in tools))
        asked = "".join(ASKED[tool] for tool in tools) if task.images and self.style == "brief" else ""
        return " ".join([*(PROMPTS[self.style][tool] for tool in tools), end]), [
            *after_names(task.images),
            task.question + asked,
        ]

    def draw(self) -> Task:
        """A sheet to read, as it is."""
        one = sheet(self.np_random, ())
        question, answer = one.questions[int(self.np_random.integers(len(one.questions)))]
        return Task("procedural", (NamedImage("image", one.image),), question, (answer,))

    def tools(self, task: Task) -> list[Tool]:
        """Make those tools that the task is for; of the images that code makes, the last is shown."""
        self.protocol = Protocol(actions=self.offered(task))
        made: list[Tool] = []
        if self.box is not None and "code" in self.protocol.actions:
            images = {image.name: image.image for image in task.tool_images}
            made.append(CodeTool(self.box, {}, images, SETUP, render=TELL))
        if self.search is not None and "search" in self.protocol.actions:
            made.append(SearchTool(self.search, self.k, self.snippet_chars))
        return made

    def reward(self, answer: str) -> float:
        """The answer's token F1 (all of the reward is in kit.rewards)."""
        return max_over_references(f1, answer, self.task.target)
