"""AGILE's jigsaw (Zeng et al., section 3.1): put a shuffled picture back together by running code.

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
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from PIL import Image

from kit.envs.spaces import AnyText, Observations
from kit.episode import Action, Observation, Picture, Task
from kit.pictures import scene
from kit.protocol import FormatError, Protocol, parse_labels

if TYPE_CHECKING:
    from kit.sandbox import Sandbox

PROTOCOL = Protocol(actions=("code",))
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GAP = 0.02
"""White gap between pieces, as a share of the picture's side (the released code's value)."""

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
_SETUP = """
from PIL import Image as _Image

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

def crop(image, box):
    _operation()
    if not isinstance(image, _Image.Image):
        raise TypeError("crop: the first argument must be an image")
    x1, y1, x2, y2 = (float(v) for v in box)
    if not (0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1):
        raise ValueError("crop: need 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1")
    w, h = image.size
    cut = image.crop((round(x1 * w), round(y1 * h), round(x2 * w), round(y2 * h)))
    if min(cut.size) < 8:
        raise ValueError("crop: the box is too thin")
    return cut

def zoom(image, factor):
    _operation()
    if not isinstance(image, _Image.Image):
        raise TypeError("zoom: the first argument must be an image")
    factor = float(factor)
    if not 0.1 <= factor <= 8:
        raise ValueError("zoom: the factor must be from 0.1 to 8")
    w, h = (max(8, round(side * factor)) for side in image.size)
    if max(w, h) > 4096:
        raise ValueError("zoom: the result would be over 4096 pixels wide")
    return image.resize((w, h), _Image.Resampling.LANCZOS)
"""


def shuffle(n: int, n_fixed: int, rng: np.random.Generator) -> list[int]:
    """A uniformly random permutation of ``range(n)`` with exactly ``n_fixed`` fixed points.

    Raises:
        ValueError: no such permutation exists (``n_fixed`` = n−1, n or out of range).
    """
    if not 0 <= n_fixed <= n - 2:
        possible = f"0 … {n - 2}"
        raise ValueError(
            f"n_fixed={n_fixed}: no shuffle of {n} pieces leaves exactly {n_fixed} in place and is a puzzle; "
            f"possible: {possible}"
        )
    moving = rng.choice(n, size=n - n_fixed, replace=False)
    while True:  # a random permutation is a derangement with probability about 1/e
        image = rng.permutation(moving)
        if (image != moving).all():
            break
    order = list(range(n))
    for spot, piece in zip(moving, image, strict=True):
        order[int(spot)] = int(piece)
    return order


def make_task(
    image: Image.Image,
    m: int,
    n_fixed: int,
    rng: np.random.Generator,
    id: str,
    source: str = "",
    piece_px: int | None = None,
) -> Task:
    """Cut, shuffle and label a picture (eq. 1–3).

    Args:
        m: pieces a side.
        n_fixed: how many pieces start in place (the paper's level L0, L1, …).
        source: name of the picture, for splits and tables.
        piece_px: side of a square piece in pixels; None keeps the picture's own size, resized so
            that both sides divide by m.
    """
    if not 2 <= m <= 5:
        raise ValueError(f"m={m}: a puzzle has 2 to 5 pieces a side (they are labelled A to Y)")
    order = shuffle(m * m, n_fixed, rng)  # spot k shows the piece whose place is order[k]
    width, height = (piece_px, piece_px) if piece_px else (max(8, round(s / m)) for s in image.size)
    picture = image.convert("RGB")
    if picture.size != (width * m, height * m):
        picture = picture.resize((width * m, height * m), Image.Resampling.LANCZOS)
    pieces = []
    for spot, home in enumerate(order):
        x, y = home % m * width, home // m * height
        pieces.append(Picture(LABELS[spot], picture.crop((x, y, x + width, y + height))))
    target = [""] * (m * m)
    for spot, home in enumerate(order):
        target[home] = LABELS[spot]
    meta = {"m": m, "level": n_fixed, "source": source}
    return Task(id, tuple(pieces), "Please solve the jigsaw.", tuple(target), meta)


class JigsawEnv(gymnasium.Env[Observation, str]):
    """One jigsaw at a time.

    Args:
        box: the sandbox that runs the code; shared by any number of environments.
        turns: turn budget (5, Table 5).
        prompt: ``brief`` or ``full``, see :data:`PROMPTS`.
        tasks: what :meth:`reset` draws from when it isn't given a task; procedural puzzles if empty.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's own convention)

    def __init__(self, box: Sandbox, turns: int = 5, prompt: str = "brief", tasks: Sequence[Task] = ()) -> None:
        if prompt not in PROMPTS:
            raise ValueError(f"prompt={prompt!r}: choose one of {sorted(PROMPTS)}")
        self.action_space = AnyText()
        self.observation_space = Observations()
        self.box = box
        self.turns = turns
        self.system, self.question = PROMPTS[prompt], QUESTIONS[prompt]
        self.tasks = tuple(tasks)
        self._session: Any = None
        self._turn = 0

    def prompt(self, task: Task) -> tuple[str, list[str | Picture]]:
        """System text and user message: each piece after its label, then the question."""
        parts: list[str | Picture] = []
        for picture in task.images:
            parts += [f"Image {picture.name}: ", picture]
        state = "[" + ", ".join(f'"{p.name}"' for p in task.images) + "]"
        return self.system.format(m=task.meta["m"], state=state), [*parts, self.question.format(question=task.question)]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start ``options["task"]``, or a puzzle drawn with ``seed``."""
        super().reset(seed=seed)
        task = (options or {}).get("task")
        if task is None and self.tasks:
            task = self.tasks[int(self.np_random.integers(len(self.tasks)))]
        if task is None:
            image = Image.fromarray(scene(self.np_random, 112))
            task = make_task(image, 2, int(self.np_random.integers(3)), self.np_random, "procedural", piece_px=56)
        self.close()
        self._task, self._turn = task, 0
        return Observation(task.question, task.images), {"task": task.id}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Run one turn's text. Reward is 1 for the right answer at the end, 0 before (eq. 6 is in kit.rewards)."""
        self._turn += 1
        parsed = PROTOCOL.parse(action)
        over = self._turn >= self.turns
        if isinstance(parsed, FormatError):
            return Observation(f"Error: {parsed.message}", status="format"), 0.0, True, False, {"action": None}
        if parsed.kind == "answer":
            reward = float(parse_labels(parsed.text) == self._task.target)
            return Observation(""), reward, True, False, {"action": parsed}
        observation = self._run(parsed)
        lost = observation.status == "episode_lost"
        return observation, 0.0, lost, over and not lost, {"action": None if lost else parsed}

    def _run(self, action: Action) -> Observation:
        """Run code in this episode's session; whatever happens is an observation."""
        if self._session is None:
            self._session = self.box.episode(
                variables={
                    "state": [p.name for p in self._task.images],
                    "_m": self._task.meta["m"],
                    "_gap": GAP,
                },
                pictures={p.name: p.image for p in self._task.images},
                setup=_SETUP,
            )
        result = self._session.run(action.text, before="_begin()", after="_end()")
        if result.status != "ok":
            reason = result.error or result.status
            return Observation(f"Error: {reason[:200]}", status=result.status)
        text = f"Output: {result.stdout[:500]}\n" if result.stdout else ""
        return Observation(text, result.pictures[:1])

    def close(self) -> None:
        """End the session; the environment can be reset again."""
        if self._session is not None:
            self._session.close()
            self._session = None
