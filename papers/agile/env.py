"""AGILE's jigsaw (Zeng et al., section 3.1): put a shuffled image back together by running code.

The policy gets m×m labelled pieces and a persistent Python session in which ``state`` is the
current list of labels in row-major order. Each turn it may exchange two items and look, or crop,
or zoom: one image operation a turn. Whatever goes wrong comes back as an observation.

``Task.meta["level"]`` counts pieces in place at the start. A level of m²−1 is refused: if all pieces but one are in
place, so is the last.

Departures
- [agile-one-operation] Paper: A turn may exchange two pieces and hold one image operation, and what happens when it
  does more is not said (appendix B). Here: Such a turn fails, with the reason, and leaves no trace. Why: The rule can
  then be relied on, and an error is an observation like any other. May change: Turns that do too much cost a step
  where another environment might have let them pass.
- [agile-swap-must-look] Paper: Swap and Observe are actions of their own (section 3.1), though the prompt's only swap
  is followed by a look (appendix B, operation 3). Here: A turn must make one image, so a swap without a look fails.
  Why: The prompt's operation is taken at its word, so that each turn of code has something to show. May change: A
  model that swaps twice before it looks needs as many turns here, or loses one to the error.
- [agile-no-action-ends] Paper: A turn with neither code nor answer gets feedback and uses up a step, then the episode
  goes on (algorithm 1). Here: The profile node does so (`on_no_action="tell"`); the default, `"end"`, ends the
  episode there. Why: The released code ends it, and a small model that has no tags would otherwise fill its budget
  with such turns. May change: A model that forgets its tags once can recover on node alone.
- [agile-prompt-words] Paper: A system text of some 800 words (appendix B). Here: `full` has its rules, hints and
  operations in fewer words, the kit's own, with one line of code for each operation. Why: The paper's text isn't the
  kit's to print. May change: How often an untrained model keeps to the form, and how an expert reasons.
- [agile-brief-prompt] Paper: The same prompt serves collecting, SFT and RL (appendix B). Here: The profile laptop has
  `brief` instead, which names the tools and tags in three lines. Why: The tiny model knows no words but those it was
  taught. May change: Nothing on gpu and node, which use `full` throughout.
- [agile-user-prompt] Paper: The user's message names the labels, asks for the jigsaw to be completed and then shows
  the pieces (appendix B). Here: `full` does the same; with `brief` the question follows the pieces, in the words that
  the tiny model was pretrained on. Why: With the other words it placed the pieces of fewer puzzles. May change: Shown
  full pieces, the untrained agent already says where they belong, so training has only acting to teach.
- [agile-white-gap] Paper: How an arrangement is drawn is not said. Here: Pieces are pasted with a white gap of 2 % of
  the side between them. Why: The released code does so. May change: Seams are easier to find and harder to compare.
- [agile-tiles] Paper: `observation` shows the pieces pasted together. Here: Where the prompt showed thumbnails, it
  shows each piece at its full size, named by its label, in the order of the places, and asks the question of the
  prompt again; the picture that code keeps is the one pasted together. Why: It is the form in which the tiny model was
  taught to see, so that acting is all it has to learn. May change: The laptop's agent is spared reading an assembled
  picture, which the paper's has to learn.
- [agile-view-limits] Paper: Crop takes any box in the image and zoom any factor (appendix B). Here: A crop of less than
  8 pixels a side, a factor outside 0.1 to 8 and a result of more than 4,096 pixels a side fail, with the reason. Why:
  Slivers show nothing, and huge images fill the memory. May change: An odd call costs a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PIL import Image

from kit.environment import OnNoAction, ToolEnv
from kit.episode import NamedImage, Observation, Task
from kit.protocol import Protocol
from kit.tools.code import CodeTool, Show, module_source, told
from papers import crop_zoom as views
from papers.agile.labels import parse_labels
from papers.agile.puzzle import make_task
from pictures.scenes import scene
from turn_sandbox import Result, Sandbox

PROTOCOL = Protocol(actions=("code",))
GAP = 0.02
"""White gap between pieces, as a share of the image's side (the released code's value)."""

BRIEF = (
    "Jigsaw {m}x{m}. state = {state} in row-major order. Tools: swap two items of state, observation(state), "
    "crop(image, box), zoom(image, factor). One image operation a turn. Use <think>, <code>, <answer>."
)
FULL = """You are solving a jigsaw. A picture was cut into a {m} x {m} grid of pieces, which were shuffled and \
labelled in row-major order. Find the arrangement that restores the picture.

What shows where a piece belongs
- Writing: words and signs run on from one piece into the next, in one size and slant. Where a picture holds writing, \
trust it more than most clues.
- Shapes: find what the picture is built of, such as walls, streets or the outlines of things, and ask which pieces \
make them whole and sensible when joined.
- Edges: at a true seam, colours, textures and patterns go on: sky, grass, lines, shadows.
- Which way things point: faces, objects and writing must stand and face so that the whole picture makes sense.

How to keep track
- Python holds the current arrangement, row by row from the top left:
  state = {state}
  Item 0 is the top left place, item {m} begins the second row, item {last} is the bottom right place.
- Look at the pieces, decide what lies where, then exchange two pieces at a time until the picture is whole.
- If a seam is in doubt, or you aren't sure that all is done, cut out the parts in question one after the other and \
compare them: half a word at one edge and its other half at another may decide it. Choose parts that can settle the \
question, not any part. Enlarge a cut-out whose details are too small.

In each turn, first reason inside <think> and </think>: say what you see, what you will do and why. Then do exactly \
one of these:
- Write Python inside <code> and </code> and stop there; it is run, and the picture it makes is shown to you.
  Exchange two pieces and look: state[0], state[{m}] = state[{m}], state[0]
  observation_image_1 = observation(state)
  Cut out a part (x1, y1, x2, y2 as shares of the sides, 0 to 1): \
crop_image_1 = crop(observation_image_1, [0.25, 0.0, 0.75, 0.5])
  Enlarge a picture (2.0 is twice as large): zoom_image_1 = zoom(crop_image_1, 2.0)
  A turn may exchange two pieces once and may make one picture. Number the results of each operation from 1; earlier \
pictures keep their names, and only a picture that exists can be cut or enlarged.
- When you are sure that every piece is in its place, all edges meet and the picture is whole, give the final list \
inside <answer> and </answer>, for example <answer>{state}</answer>."""
PROMPTS = {"brief": BRIEF, "full": FULL}
"""System texts: ``brief`` for the tiny model, ``full`` (the paper's structure, appendix B) for real ones."""
QUESTIONS = {
    "brief": "Where does each belong, in which order?",
    "full": "The {n} images are labelled {labels}. {question}\n",
}
"""The user's words: the labels and the task's own question before the pieces, or (``brief``) after them those that the
tiny model was taught to see by. With the task's question before these it placed the pieces of 118 puzzles of 144
instead of 130."""

# Runs once in every episode's session; trusted. Names that start with an underscore are ours.
_SETUP = (
    f"{module_source(views)}\n_Image = Image\n"
    + """
_labels, _before, _made, _looked = sorted(state), list(state), 0, None
_pieces = {label: globals()[label] for label in _labels}

def _operation():
    global _made
    _made += 1
    if _made > 1:
        raise RuntimeError("one image operation a turn")

def _begin():
    global _made, _before, _looked
    _made, _before, _looked = 0, list(state), None

def _end():
    if not isinstance(state, list) or sorted(map(str, state)) != _labels:
        raise ValueError(f"state must hold each of {', '.join(_labels)} once")
    moved = sum(a != b for a, b in zip(state, _before))
    if moved > 2:
        raise RuntimeError("one swap a turn")
    if not _made:
        raise RuntimeError("no image operation: call observation, crop or zoom")

def observation(state):
    global _looked
    _operation()
    if not isinstance(state, list) or sorted(map(str, state)) != _labels:
        raise ValueError(f"state must hold each of {', '.join(_labels)} once")
    w, h = _pieces[state[0]].size
    gap = max(1, round(_gap * _m * max(w, h)))
    canvas = _Image.new("RGB", (_m * w + (_m - 1) * gap, _m * h + (_m - 1) * gap), "white")
    for place, label in enumerate(state):
        canvas.paste(_pieces[label], (place % _m * (w + gap), place // _m * (h + gap)))
    _looked = list(state)
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
        on_no_action: whether a turn with neither code nor answer ends the episode (``end``) or is told so and uses up
            a step (``tell``: algorithm 1).
    """

    def __init__(
        self, box: Sandbox, prompt: str = "brief", tasks: Sequence[Task] = (), on_no_action: OnNoAction = "end"
    ) -> None:
        if prompt not in PROMPTS:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted(PROMPTS)}")
        super().__init__(PROTOCOL, tasks, on_no_action=on_no_action)
        self.box, self.style = box, prompt

    def prompt(self, task: Task) -> tuple[str, list[str | NamedImage]]:
        """System text and user message: each piece after its label; the question before (``full``) or after them."""
        parts: list[str | NamedImage] = []
        for image in task.images:
            parts += [f"Image {image.name}: ", image]
        labels, m = [piece.name for piece in task.images], int(task.meta["m"])
        state = "[" + ", ".join(f'"{label}"' for label in labels) + "]"
        system = PROMPTS[self.style].format(m=m, last=m * m - 1, state=state)
        asked = self._asked(task)
        return system, [asked, *parts] if self.style == "full" else [*parts, asked]

    def _asked(self, task: Task) -> str:
        """The user's words."""
        labels = [piece.name for piece in task.images]
        return QUESTIONS[self.style].format(question=task.question, n=len(labels), labels=", ".join(labels))

    def draw(self) -> Task:
        """A procedural puzzle."""
        image = Image.fromarray(scene(self.np_random, 112))
        return make_task(image, 2, int(self.np_random.integers(3)), self.np_random, "procedural", piece_px=56)

    def tools(self, task: Task) -> tuple[CodeTool]:
        """Code, in a session that holds the pieces and ``state``; the one image that a turn makes is shown."""
        variables = {"state": [p.name for p in task.images], "_m": task.meta["m"], "_gap": GAP}
        pieces = {p.name: p.image for p in task.tool_images}
        tell = partial(self._tiles if task.originals else told, show=lambda made: made[:1])
        return (CodeTool(self.box, variables, pieces, _SETUP, "_begin()", "_end()", render=tell, want=("_looked",)),)

    def _tiles(self, result: Result, note: str, show: Show) -> Observation:
        """Tell of a turn; an arrangement that was looked at is shown as its pieces, in the order of the places."""
        seen = told(result, note, show)
        looked = result.values.get("_looked")
        if seen.status != "ok" or not isinstance(looked, list):
            return seen
        pieces = {piece.name: piece.image for piece in self.task.tool_images}
        tiles = tuple(NamedImage(f"Image {label}", pieces[str(label)]) for label in looked)
        return replace(seen, images=tiles, closing=self._asked(self.task))

    def reward(self, answer: str) -> float:
        """1 if every piece is in its place (eq. 6 is in kit.rewards)."""
        return float(parse_labels(answer) == self.task.target)
