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

Demonstrations are *undecided* on when to call: half of the easy questions are answered at once, in the other half code
prints what was read already. Whether a call pays is left to reinforcement.

Departures
- [codedance-scripted-expert] Paper: 34K demonstrations are made of models' answers, cut into atomic turns and checked
  by Qwen2.5-VL-72B. Here: a script that knows what each image says writes them. Why: a laptop has no such model. May
  change: demonstrations sound alike, and none of them is wrong.
- [codedance-undecided] Paper: easy demonstrations answer at once, hard ones call. Here: half of the easy ones call for
  nothing. Why: a tiny model copies such a rule exactly, and no reward could show what it does to calling. May change:
  calls on easy questions before reinforcement, which is what R_BAT has to bring down.
"""

from __future__ import annotations

from zlib import crc32

from kit.episode import Task
from kit.policy.scripted import Script, next_turn


def code_of(task: Task) -> tuple[str, ...]:
    """Write the code that a task takes, one block a turn; none: it is answered at sight."""
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


def turns_of(task: Task, needless: float = 0.5) -> tuple[str, ...]:
    """All turns of the expert on one task of :mod:`.tasks`.

    Args:
        task: the task.
        needless: share of the easy tasks whose answer is printed first.
    """
    answer = task.target[0]
    code = needs = code_of(task)
    if not code and is_needless(task, needless):
        code = (f"print({answer if task.meta['answer_kind'] == 'number' else repr(answer)})",)
    seen, turns = [task.meta["seen"], task.meta["reading"]], []
    for block in code:
        mends = bool(task.meta["repair"]) and block.startswith("part")  # what is wrong tells how, whatever is asked
        asked = "" if mends else task.question
        known = answer if needs == () else ""  # such code tells nothing new
        turns.append(f"<think>{_said(seen.pop(0), asked, known)}</think><code>{block}</code>")
    printed = bool(code) and code[-1].startswith("print")
    last = f"It is {answer}." if printed else _said(seen.pop(0), task.question, answer)
    return (*turns, f"<think>{last}</think><answer>{answer}</answer>")


def _said(seen: str, asked: str, answer: str = "") -> str:
    """Sentences: ``red 2, green 6. How high is the red bar? 2.``"""
    sentences = (f"{seen}." if seen else "", asked, f"{answer}." if answer else "")
    return " ".join(one for one in sentences if one)


def expert(needless: float = 0.5) -> Script:
    """A script that plays any drawn task.

    Args:
        needless: share of the easy tasks whose answer is printed first.
    """
    return lambda episode: next_turn(turns_of(episode.task, needless), episode)
