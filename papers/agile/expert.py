"""A scripted jigsaw expert: an oracle that knows the answer and plays the way the paper's expert does.

The paper's cold start (section 3.2) is a large model's play: look, compare the pieces, crop and zoom
where a seam is in doubt, swap, answer. Without such a model this script writes the turns. It is
told the task's target, so it shows *how* to act, not how to see: each turn says where things stand and
should stand, what comes next and why, does one operation, and the last one answers. Its turns are run in the
real environment by :mod:`kit.rollout`, through :class:`~kit.policy.scripted.ScriptedPolicy`.

How many turns of code it takes is chosen beforehand (4–8, as in the paper); swaps are as few as the
shuffle allows, and the other turns are looks, crops and zooms. Once every piece is in its place it answers.

Departures
- [agile-guessing-expert] Paper: Only episodes whose answer is right are imitated (section 3.2). Here: On a laptop some
  six in ten of them guess at once, from thumbnails, and are mostly wrong. Why: Demonstrations that all look teach the
  tiny model to look, and reinforcement nothing; after undecided ones it has to find out that looking pays. May change:
  The cold start solves far fewer puzzles than it could, so that the gain of reinforcement is larger than over a cold
  start of right episodes alone.
- [agile-short-demonstrations] Paper: The expert's episodes take 4 to 8 steps, though the agent has 5 turns in all
  (section 3.2, Table 5). Here: Of thumbnails it plays 2 to 4 steps (a look, a swap at least), so that each of its
  episodes fits the agent's turns. Why: The tiny model plays what it was shown to the last turn, and would end out of
  turns. May change: The laptop's agent sees fewer crops and zooms than the paper's.
- [agile-scripted-expert] Paper: Gemini 2.5 Pro plays the cold start's episodes (section 3.2). Here: A script that was
  told the answer plays them, unless a served model is named in data_scripts/agile.py. Why: A laptop has no such
  model. May change: The demonstrations show how to act and not how to find out, and all of them sound alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kit.episode import Episode, Task
from kit.policy.scripted import Script, next_turn
from pictures.permutations import belonging, exchanged, places, swaps

STEPS = (4, 5, 6, 7, 8)
"""Turns of code in an expert's episode (section 3.2)."""

SHORT_STEPS = (1, 2, 3, 4)
"""Turns of code where thumbnails are shown: with the answer they fit the five turns of an agent (Table 5).

Nothing is played in 1: a look and the least swap take 2, so who draws 1 plays 2, or as many as the puzzle needs.
"""

Step = Literal["swap", "observe", "crop", "zoom"]

GUESS = "Pieces are small. Guess."
"""What a demonstration that doesn't look says of thumbnails."""
LOOK = "Pieces are small. Look."
"""What one that looks says of them."""


def _seam_box(m: int, place: int, other: int) -> list[float]:
    """The halves of two neighbouring places on either side of their seam, as shares of the image's sides.

    The thin gap between pieces is left out of account: round numbers are shorter to say.
    """
    x, y = place % m / m, place // m / m
    half = 0.5 / m
    below = other == place + m
    box = (x, y + half, x + 2 * half, y + 3 * half) if below else (x + half, y, x + 3 * half, y + 2 * half)
    return [round(share, 2) for share in box]


@dataclass
class _Writer:
    """Writes the turns, keeping track of the state and of the images made so far.

    Each kind of step begins with a word of its own. Were looking, cropping and zooming to begin alike ("I …"), a
    greedy model would at that word weigh a swap against all three together, and go on looking till its turns are up.
    """

    m: int
    target: tuple[str, ...]
    state: list[str]
    small: bool
    turns: list[str] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=lambda: {"observation": 0, "crop": 0, "zoom": 0})
    fresh_crop: bool = False

    def _name(self, kind: str, new: bool = False) -> str:
        self.made[kind] += new
        return f"{kind}_image_{self.made[kind]}"

    def _where(self) -> str:
        first = len(self.turns) == self.small  # thumbnails don't tell yet
        now = belonging(self.state, self.target, self.m) if first else f"Now {', '.join(self.state)}"
        return f"{now}; right order {', '.join(self.target)}."  # side by side, they show what to swap

    def _code(self, plan: str, code: str) -> None:
        self.turns.append(f"<think>{self._where()} {plan}</think><code>{code}</code>")

    def swap(self, place: int, other: int) -> None:
        plan = f"Place {place} needs {self.target[place]}, swap {place} and {other}."
        image = self._name("observation", new=True)
        swap = f"state[{place}], state[{other}] = state[{other}], state[{place}]"
        self._code(plan, f"{swap}\n{image} = observation(state)")
        self.state = exchanged(self.state, place, other)
        self.fresh_crop = False

    def observe(self) -> None:
        code = f"{self._name('observation', new=True)} = observation(state)"
        if self.small and not self.turns:
            self.turns.append(f"<think>{LOOK}</think><code>{code}</code>")
        else:
            self._code("Look at the jigsaw again." if self.made["observation"] > 1 else "Look at the jigsaw.", code)

    def crop(self, rng: np.random.Generator) -> None:
        m = self.m
        pairs = [(p, p + 1) for p in range(m * m) if p % m < m - 1] + [(p, p + m) for p in range(m * (m - 1))]
        place, other = pairs[int(rng.integers(len(pairs)))]
        names = places(m)
        plan = f"Crop the seam of {names[place]} and {names[other]}."
        seen = self._name("observation")
        self._code(plan, f"{self._name('crop', new=True)} = crop({seen}, {_seam_box(m, place, other)})")
        self.fresh_crop = True

    def zoom(self) -> None:
        image, factor = (self._name("crop"), 2.0) if self.fresh_crop else (self._name("observation"), 1.5)
        plan = "Zoom in on the seam." if self.fresh_crop else "Zoom in on the jigsaw."
        self._code(plan, f"{self._name('zoom', new=True)} = zoom({image}, {factor})")

    def answer(self) -> None:
        labels = ", ".join(f'"{label}"' for label in self.state)
        # Not "Now …": read off the right order, an answer is right at any time; read off the state, only at the end.
        right = f"Every place is right: right order {', '.join(self.target)}."
        self.turns.append(f"<think>{right}</think><answer>[{labels}]</answer>")


def _order(rng: np.random.Generator, n_swaps: int, n_steps: int, look: bool) -> list[Step]:
    """Which kind of step comes when: swaps and inspections mixed, nothing inspected before it was seen.

    Of thumbnails nothing can be told, so ``look`` comes first.

    The last step is a swap where one is needed: it shows every piece in its place, so the answer follows. Looking on
    after that would teach that answering has nothing to do with what is seen.
    """
    slots = ["swap"] * (n_swaps - 1) + ["inspect"] * (n_steps - n_swaps - look)
    order: list[Step] = ["observe"] if look else []
    for slot in [*rng.permutation(np.array(slots)), *["swap"] * (n_swaps > 0)]:
        if slot == "swap":
            order.append("swap")
        elif not order:
            order.append("observe")
        else:
            # The same thing twice in a row shows nothing new.
            kinds: list[Step] = [k for k in ("crop", "zoom", "observe") if k != order[-1]]
            if order[-1] == "swap":
                kinds.remove("observe")  # a swap's code has just shown the state
            order.append(kinds[int(rng.integers(len(kinds)))])
    return order


class ScriptedExpert:
    """The oracle's turns for one task.

    Args:
        task: a jigsaw; its target is read.
        rng: decides the order of operations and which seams are looked at.
        steps: turns of code before the answer; raised to the number needed if that is more.
        guess: answer thumbnails at once, with any order.

    Attributes:
        turns: the texts of all its turns, the answer last.
    """

    def __init__(self, task: Task, rng: np.random.Generator, steps: int, guess: bool = False) -> None:
        state = [image.name for image in task.images]
        target = tuple(task.target)
        if sorted(state) != sorted(target) or steps < 1:
            raise ValueError(
                f"ScriptedExpert: task {task.id} has pieces {state}, target {list(target)} and steps={steps}; "
                "it plays jigsaws, in at least 1 step"
            )
        plan = swaps(state, target)
        self.task, small = task, bool(task.originals)
        if guess:
            labels = ", ".join(f'"{label}"' for label in rng.permutation(state))
            self.turns: tuple[str, ...] = (f"<think>{GUESS}</think><answer>[{labels}]</answer>",)
            return
        writer = _Writer(int(task.meta["m"]), target, state, small)
        moves = iter(plan)
        for step in _order(rng, len(plan), max(steps, len(plan) + small), small):
            if step == "swap":
                writer.swap(*next(moves))
            elif step == "observe":
                writer.observe()
            elif step == "crop":
                writer.crop(rng)
            else:
                writer.zoom()
        writer.answer()
        self.turns = tuple(writer.turns)

    def __call__(self, episode: Episode) -> str:
        """The next turn's text.

        Raises:
            ValueError: the episode is of another task, or has gone on after the answer.
        """
        if episode.task.id != self.task.id:
            raise ValueError(f"ScriptedExpert for task {self.task.id}: asked about task {episode.task.id}")
        return next_turn(self.turns, episode)


def expert_script(seed: int, steps: Sequence[int] = STEPS, guesses: float = 0.0) -> Script:
    """A script that plays any jigsaw; a task's play depends on ``seed`` and the task's id alone.

    Use it as ``ScriptedPolicy(chat, expert_script(seed=0))``, with a budget of ``max(steps) + 1`` turns.

    Args:
        seed: of its choices.
        steps: turns of code that an episode may have, each number as likely as any other.
        guesses: share of the puzzles shown as thumbnails that it answers at once, with any order.
    """

    def script(episode: Episode) -> str:
        digest = hashlib.sha256(episode.task.id.encode()).digest()
        rng = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
        guess = bool(episode.task.originals) and bool(guesses) and rng.random() < guesses
        return ScriptedExpert(episode.task, rng, int(rng.choice(list(steps))), guess)(episode)

    return script
