"""AGILE's jigsaw (Zeng et al., section 3.1): put a shuffled image back together by running code.

The policy gets m×m labelled pieces and a persistent Python session in which ``state`` is the
current list of labels in row-major order. Each turn it may exchange two items and look, or crop,
or zoom: one image operation a turn. Whatever goes wrong comes back as an observation.

Departures from the paper
- The paper says what may be done in a turn; it doesn't say what happens when more is done. Here
  the turn fails, with the reason, and leaves no trace: it ran in a transaction.
- ``Task.meta["level"]`` counts pieces in place at the start. A level of m²−1 is refused: if all
  pieces but one are in place, so is the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from kit.data.scenes import scene
from kit.environment import ToolEnv
from kit.episode import NamedImage, Task
from kit.papers.agile.puzzle import make_task
from kit.protocol import Protocol, parse_labels
from kit.sandbox import Sandbox
from kit.tools import crop_zoom as views
from kit.tools.code import CodeTool, module_source

PROTOCOL = Protocol(actions=("code",))
GAP = 0.02
"""White gap between pieces, as a share of the image's side (the released code's value)."""

BRIEF = (
    "Jigsaw {m}x{m}. state = {state} in row-major order. Tools: swap two items of state, observation(state), "
    "crop(image, box), zoom(image, factor). One image operation a turn. Use <think>, <code>, <answer>."
)
FULL = """You are solving a jigsaw. A picture was cut into a {m} x {m} grid of pieces, which were shuffled and \
labelled in row-major order. Python holds the current arrangement, row by row from the top left:
state = {state}
Find the arrangement that restores the picture. Look for lines, colours, text and textures that run on from one \
piece into the next, and for objects that should stand upright.

In each turn, first reason inside <think> and </think>. Then do exactly one of these:
- Write Python inside <code> and </code> and stop; you will be shown the result. Number results from 1.
  Exchange two pieces and look: state[0], state[1] = state[1], state[0]
  observation_image_1 = observation(state)
  Look closer at part of a picture (x1, y1, x2, y2 as shares of its sides): \
crop_image_1 = crop(observation_image_1, [0.25, 0.0, 0.75, 0.5])
  Enlarge a picture: zoom_image_1 = zoom(crop_image_1, 2.0)
  A turn may exchange two pieces once and may make one picture. Earlier pictures keep their names.
- When every piece is in its place, give the final list inside <answer> and </answer>, for example \
<answer>{state}</answer>."""
PROMPTS = {"brief": BRIEF, "full": FULL}
"""System texts: ``brief`` for the tiny model, ``full`` (the paper's structure, appendix B) for real ones."""
QUESTIONS = {"brief": "Where does each belong, in which order?", "full": "{question}"}
"""The user's words after the pieces: the task's own question, or (``brief``) those that the tiny model was taught to
see by. With the task's question before them it placed the pieces of 118 puzzles of 144 instead of 130."""

# Runs once in every episode's session; trusted. Names that start with an underscore are ours.
_SETUP = (
    f"{module_source(views)}\n_Image = Image\n"
    + """
_labels, _before, _made = sorted(state), list(state), 0
_pieces = {label: globals()[label] for label in _labels}

def _operation():
    global _made
    _made += 1
    if _made > 1:
        raise RuntimeError("one image operation a turn")

def _begin():
    global _made, _before
    _made, _before = 0, list(state)

def _end():
    if not isinstance(state, list) or sorted(map(str, state)) != _labels:
        raise ValueError(f"state must hold each of {', '.join(_labels)} once")
    moved = sum(a != b for a, b in zip(state, _before))
    if moved > 2:
        raise RuntimeError("one swap a turn")
    if not _made:
        raise RuntimeError("no image operation: call observation, crop or zoom")

def observation(state):
    _operation()
    if not isinstance(state, list) or sorted(map(str, state)) != _labels:
        raise ValueError(f"state must hold each of {', '.join(_labels)} once")
    w, h = _pieces[state[0]].size
    gap = max(1, round(_gap * _m * max(w, h)))
    canvas = _Image.new("RGB", (_m * w + (_m - 1) * gap, _m * h + (_m - 1) * gap), "white")
    for place, label in enumerate(state):
        canvas.paste(_pieces[label], (place % _m * (w + gap), place // _m * (h + gap)))
    return canvas

_crop, _zoom = crop, zoom

def crop(image, box):
    _operation()
    return _crop(image, box)

def zoom(image, factor):
    _operation()
    return _zoom(image, factor)
"""
)


class JigsawEnv(ToolEnv):
    """One jigsaw at a time.

    Args:
        box: the sandbox that runs the code; shared by any number of environments.
        prompt: ``brief`` or ``full``, see :data:`PROMPTS`.
        tasks: what :meth:`reset` draws from when it isn't given a task; procedural puzzles if empty.
    """

    def __init__(self, box: Sandbox, prompt: str = "brief", tasks: Sequence[Task] = ()) -> None:
        if prompt not in PROMPTS:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted(PROMPTS)}")
        super().__init__(PROTOCOL, tasks)
        self.box = box
        self.system, self.question = PROMPTS[prompt], QUESTIONS[prompt]

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each piece after its label, then the question."""
        parts: list[str | NamedImage] = []
        for image in task.images:
            parts += [f"Image {image.name}: ", image]
        state = "[" + ", ".join(f'"{p.name}"' for p in task.images) + "]"
        return self.system.format(m=task.meta["m"], state=state), [*parts, self.question.format(question=task.question)]

    def draw(self) -> Task:
        """A procedural puzzle."""
        image = Image.fromarray(scene(self.np_random, 112))
        return make_task(image, 2, int(self.np_random.integers(3)), self.np_random, "procedural", piece_px=56)

    def tools(self, task: Task) -> tuple[CodeTool]:
        """Code, in a session that holds the pieces and ``state``; the one image that a turn makes is shown."""
        variables = {"state": [p.name for p in task.images], "_m": task.meta["m"], "_gap": GAP}
        pieces = {p.name: p.image for p in task.images}
        return (CodeTool(self.box, variables, pieces, _SETUP, "_begin()", "_end()", show=lambda made: made[:1]),)

    def reward(self, answer: str) -> float:
        """1 if every piece is in its place (eq. 6 is in kit.rewards)."""
        return float(parse_labels(answer) == self.task.target)
