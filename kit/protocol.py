"""Parse a policy's text into an action, or into a named format error.

Actions and answers stand between tags, so one grammar serves every environment::

    turn   = <think> reasoning </think> ( action | call | answer )
    action = <code> … </code>            (or <search>, <zoom>, … : free text for the tool of that name)
    call   = <tool_call> {"tool": "crop", "task": …, "arguments": {…}} </tool_call>
    answer = <answer> … </answer>

Sampling stops at a closing action or answer tag, so a turn holds at most one; if a text holds
more (written by another back end), the first one counts. A tag that the reasoning opens and doesn't close is a word
there: in ``<think>Then <answer> it.</think><answer>5</answer>`` the answer is 5.

What an action's tags enclose is kept as it was written; of code, :func:`read_code` says what is to be run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kit.episode import Action


@dataclass(frozen=True)
class FormatError:
    """A reason why a text holds no action, in words a policy could learn from."""

    message: str


@dataclass(frozen=True)
class Protocol:
    """The tags of an environment.

    Attributes:
        actions: tags that ask the environment for something.
        reasoning: tag around the reasoning.
        final: tag around the answer.
        call: which of ``actions`` holds a tool call in JSON; empty: none does.
    """

    actions: tuple[str, ...]
    reasoning: str = "think"
    final: str = "answer"
    call: str = ""

    def __post_init__(self) -> None:
        if self.call and self.call not in self.actions:
            raise ValueError(f"Protocol.call={self.call!r}: must be one of the actions {', '.join(self.actions)}")

    @property
    def stops(self) -> tuple[str, ...]:
        """Strings at which a turn ends; they stay in the sampled ids."""
        return tuple(f"</{tag}>" for tag in (*self.actions, self.final))

    @cached_property
    def _opening(self) -> re.Pattern[str]:
        return re.compile(rf"<({'|'.join((*self.actions, self.final))})>")

    @cached_property
    def _tag(self) -> re.Pattern[str]:
        return re.compile(rf"</?(?:{'|'.join((self.reasoning, *self.actions, self.final))})>")

    def parse(self, text: str) -> Action | FormatError:
        """Parse the first action or answer in ``text``. Total: any text gives one or the other."""
        begin = text.find(f"<{self.reasoning}>")
        end = text.find(f"</{self.reasoning}>", begin) if begin >= 0 else -1
        # Linear in the text: whether a tag is closed at all is looked up once, not searched for from each opening.
        tags = (*self.actions, self.final)
        last = {tag: text.rfind(f"</{tag}>") for tag in tags}
        inside = {tag: text.rfind(f"</{tag}>", begin, end) for tag in tags} if end >= 0 else last
        for opening in self._opening.finditer(text):
            tag, start = opening[1], opening.end()
            if (inside if begin < start <= end else last)[tag] >= start:
                body = text[start : text.index(f"</{tag}>", start)].strip()
                return _call(tag, body, self.final) if tag == self.call else Action(tag, body)
        wanted = " nor ".join(f"<{tag}>…</{tag}>" for tag in tags)
        return FormatError(f"the turn holds neither {wanted}")

    def well_formed(self, text: str) -> bool:
        """Check that a turn is reasoning in its tags, then one action or answer in its tags, and nothing else."""
        tags = self._tag.findall(text)
        opened = f"<{self.reasoning}>", f"</{self.reasoning}>"
        if len(tags) != 4 or tuple(tags[:2]) != opened or tags[2].startswith("</"):
            return False
        if tags[3] != tags[2].replace("<", "</") or tags[2] == opened[0]:
            return False
        # Nothing but white space outside the two blocks, something inside each.
        blocks = self._tag.split(text)
        return not any(blocks[i].strip() for i in (0, 2, 4)) and all(blocks[i].strip() for i in (1, 3))


KEYS = ("tool", "task", "arguments")
"""What a tool call's object may hold."""


def named_once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object of its fields, for :func:`json.loads`, which takes the last of two of one name.

    Raises:
        ValueError: a name stands there twice.
    """
    found: dict[str, Any] = {}
    for name, value in fields:
        if name in found:
            raise ValueError(f"{name!r:.60} stands there twice")
        found[name] = value
    return found


def _call(tag: str, body: str, final: str) -> Action | FormatError:
    """Read a tool call; its arguments may be an object, or a string that holds one. ``task`` is an argument, too."""
    try:
        call = json.loads(body, object_pairs_hook=named_once)
        arguments = call.get("arguments", {}) if isinstance(call, dict) else None
        arguments = json.loads(arguments, object_pairs_hook=named_once) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError) as error:
        return FormatError(f"<{tag}> holds no JSON ({str(error)[:80]})")
    if not isinstance(arguments, dict) or not isinstance(call.get("tool"), str):
        return FormatError(f'<{tag}> must hold an object like {{"tool": "NAME", "arguments": {{…}}}}')
    if more := [key for key in call if key not in KEYS]:
        return FormatError(f"<{tag}> holds {more[0]!r:.60}; it takes {', '.join(KEYS)}")
    if call["tool"] == final:
        return FormatError(f"{final!r} is no tool: write <{final}>…</{final}>")
    task = {"task": call["task"]} if "task" in call else {}
    if "task" in arguments and task.get("task", arguments["task"]) != arguments["task"]:
        return FormatError(f"<{tag}> names two tasks: {call['task']!r:.60} and {arguments['task']!r:.60}")
    return Action(call["tool"], body, {**task, **arguments})


NOTE_CHARS = 60
"""Characters that a note repeats of what isn't run."""

# Strings and comments are matched whole, so that a fence inside one is none. What a backslash escapes is skipped, so
# that of each quote at most one in a line can be tried in vain: that keeps the search linear.
_PIECE = re.compile(
    r'''
    """(?:\\.|[^"\\]|"(?!""))*+(?:""")? | \'\'\'(?:\\.|[^'\\]|'(?!\'\'))*+(?:\'\'\')?
    | "(?:\\.|[^"\\\n])*+" | '(?:\\.|[^'\\\n])*+' | \#[^\n]*+ | \\.
    | (?P<fence>`{3,}+ | ~{3,}+)
    ''',
    re.DOTALL | re.VERBOSE,
)
_LANGUAGE = re.compile(
    r"""
    [ \t]*+ (?P<name>[A-Za-z][\w.+#-]*+)?+ [ \t]*+ (?:\{[^}\n]*+\})?+ [ \t]*+ (?:\r?\n|\Z)  # alone on its line
    | [ \t]*+ (?P<python>python|py)[\d.]*+ [ \t]++ (?=[\w"'(\[{@])                       # code beside it
    """,
    re.IGNORECASE | re.VERBOSE,
)
_INDENT = re.compile(r"(?:[ \t]*\r?\n)*+([ \t]*)")
_LINE_ENDS = re.compile(r"[ \t]*\r?$", re.MULTILINE)


def read_code(text: str) -> tuple[str, str]:
    """Read what to run of a code action, and a note for the agent on what isn't run (empty: all is).

    One Markdown fence is taken off: backticks or tildes, with or without a language, indented or not, on one line or
    several, closed or not. Text without a fence is returned as it is.

    >>> read_code("```python\\nprint(1)\\n```")
    ('print(1)', '')
    >>> read_code("```\\nprint(1)\\n```\\nIt prints.")
    ('print(1)', "Note: outside the code fence, so not run: 'It prints.'")
    """
    fences = [found for found in _PIECE.finditer(text) if found["fence"]]
    if not fences:
        return text, ""
    opening, kind = fences[0], fences[0]["fence"][0]
    before, language = text[: opening.start()], _LANGUAGE.match(text, opening.end())
    start = language.end() if language else opening.end()
    name = (language["name"] or language["python"] or "") if language else ""
    closing = next((one for one in fences[1:] if one.start() >= start and _closes(one, kind)), None)
    if kind == "~" and (before.strip() or not (closing or name.lower().startswith("py"))):
        return text, ""  # Python: three backticks never are, but tildes are operators
    if closing:
        code, outside = text[start : closing.start()], f"{before} {text[closing.end() :]}"
    elif before.strip() and not name:
        code, outside = before, text[opening.end() :]  # the fence that closes here was never opened
    else:
        code, outside = text[start:], before
    return _dedented(code).rstrip(), _note(outside)


def _closes(fence: re.Match[str], kind: str) -> bool:
    """Check that a fence is one of backticks, or of tildes at the end of a line, where they can't be operators."""
    return fence["fence"][0] == kind and (kind == "`" or _LINE_ENDS.match(fence.string, fence.end()) is not None)


def _dedented(code: str) -> str:
    """Take the first line's indentation off all lines that have it."""
    indent = _INDENT.match(code)
    return re.sub(f"^{indent[1]}", "", code, flags=re.MULTILINE) if indent and indent[1] else code


def _note(outside: str) -> str:
    """Tell the agent which words aren't run, if any."""
    words = " ".join(outside.split())
    if not words:
        return ""
    words = words if len(words) <= NOTE_CHARS else words[: NOTE_CHARS - 1] + "\u2026"
    return f"Note: outside the code fence, so not run: {words!r}"
