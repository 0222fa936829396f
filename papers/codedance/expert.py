"""A scripted expert for CodeDance: it answers at once what it sees, and writes code for what it doesn't.

It says what the image shows in the words that the base was taught to say it by (``red 2, green 6, blue 4``), and then
the question once more: a small model looks a value up in its own list only if the question follows the list. Then:

==============================  ==========================================================  ============
task                            code                                                        seen then
==============================  ==========================================================  ============
a computation                   ``print(2 + 6 + 4)``                                        ``12``
many things of a colour         ``print(count(image, "red"))``                              ``17``
a card too small to read        ``part = crop(image, [0.05, 0.05, 0.4, 0.4])``              the card
a turned or dark sheet          ``part = rotate(image, -90)``                               the sheet
a chart on a board              ``part = crop(…)``, then ``print(2 + 6 + 4)``               both
==============================  ==========================================================  ============

That is the code under the prompt ``brief``, which offers these functions. Under ``full``, whose session has plain
Python alone as in the paper, the same is written out with PIL, numpy and cv2, each piece a whole script with its
imports.

Demonstrations are *undecided* on when to call: half of the easy questions are answered at once, in the other half code
prints what was read already. Whether a call pays is left to reinforcement.

Departures
- [codedance-scripted-expert] Paper: 34K demonstrations are made of models' answers, cut into atomic turns and checked
  by Qwen2.5-VL-72B. Here: ``node`` takes the released ones (:mod:`.lessons`); on ``laptop`` and ``gpu`` a script that
  knows what each image says writes them. Why: a laptop has no such model. May change: such demonstrations sound alike,
  and none of them is wrong.
- [codedance-undecided] Paper: easy demonstrations answer at once, hard ones call. Here: half of the easy ones call for
  nothing. Why: a tiny model copies such a rule exactly, and no reward could show what it does to calling. May change:
  calls on easy questions before reinforcement, which is what R_BAT has to bring down.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from kit.episode import Task
from kit.policy.scripted import Script, next_turn
from papers.codedance.env import PROMPTS
from visual_tools.counting import HUES, LEAST, VIVID

CROP = """w, h = input_image.size
part = input_image.crop((round({0} * w), round({1} * h), round({2} * w), round({3} * h)))"""
BRIGHTEN = """import numpy as np
from PIL import Image
def brighter(image):
    pixels = np.asarray(image.convert("RGB"), dtype=float)
    pixels = pixels * 255 / np.percentile(pixels, 99)
    return Image.fromarray(pixels.clip(0, 255).round().astype(np.uint8))
part = brighter(input_image)"""
COUNT = """import cv2
import numpy as np
def things(image, hue):
    hsv = np.asarray(image.convert("HSV")).astype(float)
    away = np.abs(hsv[:, :, 0] * 360 / 255 - hue)
    mask = (np.minimum(away, 360 - away) < {width}) & (hsv[:, :, 1] >= {vivid})
    groups = cv2.connectedComponentsWithStats(mask.astype(np.uint8))[2]
    return int((groups[1:, cv2.CC_STAT_AREA] >= {least}).sum())
print(things(input_image, {hue}))"""
REPAIRS = {
    "rotate(image, -90)": "part = input_image.rotate(90, expand=True)",
    "rotate(image, 180)": "part = input_image.rotate(180, expand=True)",
    "brighten(image)": BRIGHTEN,
}
"""The call that mends an image under ``brief`` → the same in plain Python."""
NEAR = 12
"""Degrees of hue within which a pixel has a colour: half of the way between the two colours that are nearest."""


def plain_code_of(task: Task) -> tuple[str, ...]:
    """Write the code that a task takes in plain Python, one block a turn, as the prompt ``full`` asks for it."""
    meta = task.meta
    blocks = (
        CROP.format(*meta["boxes"][0]) if meta["boxes"] else "",
        REPAIRS[meta["repair"]] if meta["repair"] else "",
        f"print({meta['expression']})" if meta["expression"] else "",
        COUNT.format(hue=HUES[meta["colour"]], width=NEAR, vivid=VIVID, least=LEAST) if meta["colour"] else "",
    )
    return tuple(block for block in blocks if block)


def code_of(task: Task) -> tuple[str, ...]:
    """Write the code that a task takes with the functions of the prompt ``brief``; none: it is answered at sight."""
    meta = task.meta
    blocks = (
        f"part = crop(image, {meta['boxes'][0]})" if meta["boxes"] else "",
        f"part = {meta['repair']}" if meta["repair"] else "",
        f"print({meta['expression']})" if meta["expression"] else "",
        f'print(count(image, "{meta["colour"]}"))' if meta["colour"] else "",
    )
    return tuple(block for block in blocks if block)


def is_needless(task: Task, share: float) -> bool:
    """Decide, by a task's id alone, whether the expert prints what it has read already.

    Args:
        task: an easy task.
        share: of such tasks in which it does.
    """
    return crc32(task.id.encode()) < share * 2**32


def turns_of(task: Task, needless: float = 0.5, prompt: str = "brief") -> tuple[str, ...]:
    """All turns of the expert on one task of :mod:`.tasks`; those that a lesson holds (:mod:`.lessons`).

    Args:
        task: the task.
        needless: share of the easy tasks whose answer is printed first.
        prompt: ``brief``, whose functions code then calls, or ``full``: plain Python.

    Raises:
        ValueError: an unknown prompt.
    """
    if prompt not in PROMPTS:
        raise ValueError(f"prompt={prompt!r}: choose one of {', '.join(sorted(PROMPTS))}")
    if "turns" in task.meta:
        return tuple(task.meta["turns"])
    code = code_of(task) if prompt == "brief" else plain_code_of(task)
    return _written(task, code, needless)


def _written(task: Task, needs: Sequence[str], needless: float) -> tuple[str, ...]:
    """The turns around a task's code, with what is seen before each."""
    answer, code = task.target[0], tuple(needs)
    if not code and is_needless(task, needless):
        code = (f"print({answer if task.meta['answer_kind'] == 'number' else repr(answer)})",)
    seen, turns = [task.meta["seen"], task.meta["reading"]], []
    for block in code:
        mends = bool(task.meta["repair"]) and block == code[0]  # what is wrong tells how, whatever is asked
        asked = "" if mends else task.question
        known = "" if needs else answer  # such code tells nothing new
        turns.append(f"<think>{_said(seen.pop(0), asked, known)}</think><code>{block}</code>")
    printed = bool(code) and "print(" in code[-1]
    last = f"It is {answer}." if printed else _said(seen.pop(0), task.question, answer)
    return (*turns, f"<think>{last}</think><answer>{answer}</answer>")


def _said(seen: str, asked: str, answer: str = "") -> str:
    """Sentences: ``red 2, green 6. How high is the red bar? 2.``"""
    sentences = (f"{seen}." if seen else "", asked, f"{answer}." if answer else "")
    return " ".join(one for one in sentences if one)


def expert(needless: float = 0.5, prompt: str = "brief") -> Script:
    """A script that plays any drawn task, and any lesson.

    Args:
        needless: share of the easy tasks whose answer is printed first.
        prompt: ``brief`` or ``full``, as :func:`turns_of` takes it.
    """
    return lambda episode: next_turn(turns_of(episode.task, needless, prompt), episode)
