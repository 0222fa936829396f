"""CodeDance's agent: think, write Python where it helps, look at what it printed and drew, answer.

::

    <think>…</think><code>print(1 + 2 + 7)</code>
    <interpreter>10</interpreter>
    <think>…</think><answer>10</answer>

Code is the only tool, and no turn has to use it: an easy question is answered in the first turn. A session holds the
images, at full size where the prompt shows them smaller (``Task.originals``), and stays between turns; a turn that
fails leaves no trace (section 6.2). How many turns there may be stands in :class:`.experiment.Play`.

A call *succeeds* if the sandbox says so. Code that does nothing (blank, a comment, a docstring, ``...``, ``pass``) has
failed; a warning on stderr, or the word "Error" in what was printed, is no failure. As in a notebook, the value of an
expression at the end is shown, unless a semicolon follows it (:mod:`turn_sandbox.cell`).

Departures
- [codedance-success] Paper: whether a call succeeded isn't defined; its release looks for words such as "Error" in
  what came back. Here: the sandbox's status decides, and code that does nothing fails. Why: a sign may read "Error",
  and section 9 shows how a policy learns to write comments for the reward. May change: how many calls count.
- [codedance-full-size] Paper: its release hands code the image in the resized frame that the model sees, as JPEG. Here:
  code opens the original, and ``full`` says its size. Why: detail that resizing took away is what a crop is for. May
  change: visual search, upwards.
- [codedance-prompts] Paper: a prompt of its own (Table 10). Here: ``full``, which gpu and node use, says the same in
  the kit's words, and ``brief`` is for the tiny model. Why: the paper's text isn't the kit's to print. May change: how
  often an untrained model calls.
- [codedance-views] Paper: free Python only. Here: with ``brief``, the session also has a few functions
  (:mod:`papers.crop_zoom`, :mod:`kit.tools.restoration`, :mod:`visual_tools.counting`). Why: a model of three
  million parameters can say in one line what takes a large one five. May change: on the laptop code is shorter than
  the paper's; with ``full``, on gpu and node, nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.environment import ToolEnv, after_names, full_sizes
from kit.episode import NamedImage, Observation, Task
from kit.protocol import Protocol
from kit.tools import restoration
from kit.tools.base import LONGEST
from kit.tools.code import NOTES, CodeTool, module_source
from papers import crop_zoom
from papers.codedance.answers import is_right
from pictures.documents import chart
from turn_sandbox import Result, Sandbox
from visual_tools import counting

PROTOCOL = Protocol(actions=("code",))

BRIEF = (
    "Answer, or use Python first. Tools: print(value), crop(image, box), rotate(image, degrees), brighten(image), "
    "count(image, colour). Use <think>, <code>, <answer>."
)
FULL = """You answer a question about an image. Reason step by step inside <think> and </think>. Where it helps, \
write Python: to compute, to cut out and enlarge a part, to draw or to mark, to count. Don't where you can see the \
answer.

Each piece of code is a whole script with its imports, written inside <code> and </code>; stop after it. What it \
prints, what it draws with matplotlib and what images it makes come back inside <interpreter> and </interpreter>, and \
you go on from there. numpy, PIL, cv2 and matplotlib can be imported. The image is there as a PIL image called \
input_image and as the file input_image.jpg, in full size; what you define stays for later turns.

When you know the answer, give it inside <answer> and </answer>, in as few words as possible."""
PROMPTS = {"brief": BRIEF, "full": FULL}
"""System texts: ``brief`` for the tiny model, ``full`` (what Table 10 asks for) for real ones."""

OUTPUT = 2000
"""Characters that an observation repeats of stdout, of stderr and of an error each (ours)."""

# Trusted code that runs once in every session. Names that start with an underscore are never shown.
_BOTH = """
import sys as _sys
def _blocked(*_):
    raise RuntimeError("the session goes on: exit() is blocked")
exit = quit = _sys.exit = _blocked
"""
_VIEWS = "\n".join(map(module_source, (crop_zoom, restoration, counting)))
_PLOT = "import matplotlib.pyplot as plt\n"
# A PNG under the release's name: PIL and cv2 look at a file's content.
_INPUT = "input_image = {}\ninput_image.save('input_image.jpg', 'PNG')\n"


def render(result: Result, note: str) -> Observation:
    """Tell of a turn between ``<interpreter>`` tags: stdout, stderr, notes, the error, then the images.

    Args:
        result: of the turn.
        note: on what of the code wasn't run.
    """
    notes = [f"Note: {warning[:LONGEST]}" for warning in result.warnings[:NOTES]]
    said = [_cut(result.stdout), _cut(result.stderr), *notes, note]
    if result.status != "ok":
        said.append(f"Error: {_cut(result.error) or result.status}")
    text = "\n".join(line for line in said if line)
    images = result.images if result.status == "ok" else ()
    text = f"\n{text}" if text[:1].isspace() else text or ("" if images else "Nothing was printed or shown.")
    return Observation(f"<interpreter>{text}", images, result.status, "</interpreter>")


def _cut(text: str) -> str:
    text = text.rstrip().lstrip("\r\n")  # a table's first line may begin with spaces, which tell what its columns are
    return text if len(text) <= OUTPUT else f"{text[:OUTPUT]}… ({len(text) - OUTPUT} characters more)"


class CodeDanceEnv(ToolEnv):
    """One question at a time, answered at once or by way of code.

    Args:
        box: the sandbox that runs the code; shared by any number of environments.
        prompt: ``brief`` or ``full``, see :data:`PROMPTS`.
        tasks: what :meth:`reset` draws from when it isn't given a task; values of charts if empty.
    """

    def __init__(self, box: Sandbox, prompt: str = "brief", tasks: Sequence[Task] = ()) -> None:
        if prompt not in PROMPTS:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted(PROMPTS)}")
        super().__init__(PROTOCOL, tasks)
        self.box, self.style = box, prompt

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each image after its name, then the question."""
        sizes = full_sizes(task) if self.style == "full" else ""
        return PROMPTS[self.style] + sizes, [*after_names(task.images), task.question]

    def draw(self) -> Task:
        """A chart, and a question about one of its bars."""
        one = chart(self.np_random, ())
        question, answer = one.questions[int(self.np_random.integers(3))]
        return Task("procedural", (NamedImage("image", one.image),), question, (answer,))

    def tools(self, task: Task) -> tuple[CodeTool]:
        """Code, in a session that holds the images in full size."""
        images = {image.name: image.image for image in task.tool_images}
        own = _VIEWS if self.style == "brief" else _PLOT + "".join(map(_INPUT.format, list(images)[:1]))
        return (CodeTool(self.box, {}, images, _BOTH + own, render=render, cell=True),)

    def reward(self, answer: str) -> float:
        """1 for a right answer (all of the reward is in :mod:`.reward`)."""
        return float(is_right(answer, self.task.target))
