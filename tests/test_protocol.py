"""The tag grammar and the answer parser are total and strict."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action
from kit.protocol import FormatError, Protocol, read_code

PROTOCOL = Protocol(actions=("code",))
SNIPPETS = st.sampled_from(
    ["<think>", "</think>", "<code>", "</code>", "<answer>", "</answer>", "a", " ", "\n", "[A, B]", "\x00", "é"]
)
TAGGED = st.lists(SNIPPETS, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("<think>t</think><code>x = 1</code>", Action("code", "x = 1")),
        ("<answer> [A] </answer>", Action("answer", "[A]")),
        ("<code>a</code><answer>b</answer>", Action("code", "a")),
        ("<code>a<code>b</code>", Action("code", "a<code>b")),
        ("<think>Then <answer> it.</think><answer>5</answer>", Action("answer", "5")),
        ("<think>I need <code>, later <answer>.</think>\n<code>x</code>", Action("code", "x")),
        ("<think>First <code></think><code>x</code>", Action("code", "x")),
        ("<think>In <code> no, say <answer>.</think><answer>5</answer>", Action("answer", "5")),
        ("<think>a <code> b <code> c</think><code>s = '<code>'</code>", Action("code", "s = '<code>'")),
        ("<think>a</think><code>print('</think>')</code>", Action("code", "print('</think>')")),
        ("<code>print('<think>', '</think>')</code>", Action("code", "print('<think>', '</think>')")),
        ("<think>so <code>x</code></think><answer>5</answer>", Action("code", "x")),
        ("<think>so <code>x</code>", Action("code", "x")),
        ("I say <answer> for </think><answer>5</answer>", Action("answer", "for </think><answer>5")),
    ],
)
def test_parse_finds_the_first_action(text: str, action: Action) -> None:
    assert PROTOCOL.parse(text) == action


@pytest.mark.parametrize(
    "text",
    ["", "hello", "<code>x", "</code>", "<think>only</think>", "<code>x</answer>", "<think><code>x</think></code>"],
)
def test_parse_names_what_is_missing(text: str) -> None:
    error = PROTOCOL.parse(text)
    assert isinstance(error, FormatError) and "<code>" in error.message and "<answer>" in error.message


@given(st.text() | TAGGED)
def test_no_text_makes_the_grammar_raise(text: str) -> None:
    assert isinstance(PROTOCOL.parse(text), Action | FormatError)
    if PROTOCOL.well_formed(text):
        assert isinstance(PROTOCOL.parse(text), Action)


@pytest.mark.parametrize("text", ["<think>t</think><code>c</code>", " <think>t</think>\n<answer>a</answer>\n"])
def test_well_formed(text: str) -> None:
    assert PROTOCOL.well_formed(text)


@pytest.mark.parametrize(
    "text",
    [
        "<code>c</code>",
        "<think>t</think>",
        "<think></think><code>c</code>",
        "<think>t</think><code> </code>",
        "<think>t</think> so <code>c</code>",
        "<think>t</think><code>c</code><answer>a</answer>",
        "<think>t<code></think>c</code>",
        "<code>c</code><think>t</think>",
        "<think>t</think><code>c</code> done",
        "<think>t</think><think>c</think>",
    ],
)
def test_not_well_formed(text: str) -> None:
    assert not PROTOCOL.well_formed(text)


@pytest.mark.parametrize("text", ["<code>" * 100_000, "<code>" * 100_000 + "</answer>" * 100_000, "<think>" * 100_000])
def test_a_hundred_thousand_tags_are_read_in_one_pass(text: str) -> None:
    """Quadratic, this would take minutes."""
    assert isinstance(PROTOCOL.parse(text), FormatError)
    assert not PROTOCOL.well_formed(text)


CALLS = Protocol(actions=("code", "tool_call"), call="tool_call")


@pytest.mark.parametrize(
    ("body", "name", "arguments"),
    [
        ('{"tool": "ocr", "task": "read", "arguments": {"region": [0, 0, 9, 9]}}', "ocr",
         {"task": "read", "region": [0, 0, 9, 9]}),
        ('{"tool": "ocr"}', "ocr", {}),
        ('{"tool": "ocr", "arguments": "{\\"region\\": [1]}"}', "ocr", {"region": [1]}),
        ('{"tool": "ocr", "task": "read", "arguments": {"task": "read"}}', "ocr", {"task": "read"}),
        ('{"tool": "ocr", "arguments": {"a": {"x": 1}, "b": {"x": 2}}}', "ocr", {"a": {"x": 1}, "b": {"x": 2}}),
    ],
)  # fmt: skip
def test_a_tool_call_is_read_with_its_arguments(body: str, name: str, arguments: dict[str, Any]) -> None:
    action = CALLS.parse(f"<think>look</think><tool_call>{body}</tool_call>")
    assert action == Action(name, body, arguments)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("ocr(1)", "holds no JSON"),
        ("[1]", "must hold an object like"),
        ('{"tool": 3}', "must hold an object like"),
        ('{"arguments": {}}', "must hold an object like"),
        ('{"tool": "ocr", "arguments": [1]}', "must hold an object like"),
        ('{"tool": "ocr", "arguments": "{"}', "holds no JSON"),
        ("[" * 100_000, "holds no JSON"),
        ('{"tool": "ocr", "tool": "crop"}', "'tool' stands there twice"),
        ('{"tool": "crop", "arguments": {"box": [1], "box": [2]}}', "'box' stands there twice"),
        (r'{"tool": "crop", "arguments": "{\"box\": 1, \"box\": 2}"}', "'box' stands there twice"),
        ('{"tool": "solve", "task": "a", "arguments": {"task": "b"}}', "names two tasks: 'a' and 'b'"),
        ('{"tool": "ocr", "args": {"region": [1]}}', "holds 'args'; it takes tool, task, arguments"),
        ('{"tool": "answer", "arguments": {}}', "'answer' is no tool: write <answer>"),
    ],
)
def test_a_broken_tool_call_is_a_format_error_that_says_why(body: str, said: str) -> None:
    error = CALLS.parse(f"<tool_call>{body}</tool_call>")
    assert isinstance(error, FormatError) and said in error.message


def test_a_tag_for_calls_must_be_one_of_the_actions() -> None:
    with pytest.raises(ValueError, match=r"Protocol\.call='tool_call': must be one of the actions code"):
        Protocol(actions=("code",), call="tool_call")


@given(st.lists(st.sampled_from(["<code>", "</code>", "<answer>", "</answer>", "<think>", "x", "\n"]), max_size=12))
def test_parsing_finds_what_the_first_closed_pair_encloses(parts: list[str]) -> None:
    """As a regular expression would, which takes a time that grows with the square of the open tags."""
    text = "".join(parts)
    found = re.search(r"<(code|answer)>(.*?)</\1>", text, re.DOTALL)
    parsed = Protocol(actions=("code",)).parse(text)
    assert (
        (isinstance(parsed, Action) and (parsed.name, parsed.text) == (found[1], found[2].strip()))
        if found
        else (isinstance(parsed, FormatError))
    )


def test_many_open_tags_are_looked_at_once_each() -> None:
    """Counted, not timed: one look for each closing tag, however many are opened."""

    class Counted(str):
        searched = 0

        def index(self, *args: Any) -> int:
            Counted.searched += 1
            return super().index(*args)

        def rfind(self, *args: Any) -> int:
            Counted.searched += 1
            return super().rfind(*args)

    for n in (500, 20_000):
        Counted.searched = 0
        assert isinstance(Protocol(actions=("code",)).parse(Counted("<code>" * n)), FormatError)
        assert Counted.searched == 2


FENCED = """\
```python
x = 1
print(x)
```"""
STRING = 's = """\n```python\nx\n```\n"""'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (FENCED, "x = 1\nprint(x)"),
        *((FENCED.replace("python", word), "x = 1\nprint(x)") for word in ("Python", "PYTHON", "py", "python3", "")),
        *((FENCED.replace("python", f" {word}"), "x = 1\nprint(x)") for word in ("python3.11", "{python}", "c++")),
        (FENCED.replace("```", "~~~"), "x = 1\nprint(x)"),
        (FENCED.replace("```", "`````"), "x = 1\nprint(x)"),
        (FENCED.replace("\n", "\r\n"), "x = 1\r\nprint(x)"),
        (f"\n \n{FENCED}\n\n  ", "x = 1\nprint(x)"),
        ("  ```python\n  if x:\n\n      y = 1\n  ```", "if x:\n\n    y = 1"),
        ("```python\n\n\tx = 1\n\ty = 2\n\t```", "\nx = 1\ny = 2"),
        ("```x=1```", "x=1"),
        ("~~~x=1~~~", "x=1"),
        ("``` x = 1 ```", "x = 1"),
        ("```python x = 1```", "x = 1"),
        ("```py = 1```", "py = 1"),  # a variable, not the language
        ("```python x = 1\ny = 2\n```", "x = 1\ny = 2"),
        ("```python\nx = 1```", "x = 1"),
        ("```python\nx = 1", "x = 1"),  # never closed
        ("~~~python\nx = 1", "x = 1"),
        ("x = 1\n```", "x = 1"),  # never opened
        (f"```python\n{STRING}\n```", STRING),
        (f"~~~\n{STRING}\n~~~", STRING),
        ("```\nx = 'a```b'  # ```\ny = '\\\\'\n```", "x = 'a```b'  # ```\ny = '\\\\'"),
        ("~~~\nx = ~~~5\n~~~x\n~~~", "x = ~~~5\n~~~x"),
        ("```python\n```", ""),
        ("```", ""),
    ],
)
def test_one_fence_is_taken_off_code(text: str, code: str) -> None:
    assert read_code(text) == (code, "")


@pytest.mark.parametrize(
    ("text", "code", "outside"),
    [
        (f"{FENCED}\nThis prints 1.", "x = 1\nprint(x)", "This prints 1."),
        (f"Here's how:\n{FENCED}", "x = 1\nprint(x)", "Here's how:"),
        (f"Here's how: {FENCED}\nGood?", "x = 1\nprint(x)", "Here's how: Good?"),
        ("```x=1``` sets x", "x=1", "sets x"),
        ("x = 1\n```\nThis sets x.", "x = 1", "This sets x."),
        ("```\nx = 1\n```\nthen\n```\ny = 2\n```", "x = 1", "then ``` y = 2 ```"),
        (f"{FENCED}\n{'word ' * 40}", "x = 1\nprint(x)", ("word " * 12)[:59] + "\u2026"),
    ],
)
def test_words_outside_the_fence_are_told(text: str, code: str, outside: str) -> None:
    assert read_code(text) == (code, f"Note: outside the code fence, so not run: {outside!r}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " x = 1\n",
        "x = 1\r\ny = 2",
        STRING,
        f"  {STRING}\n ",
        "# ```\nx = 1",
        "x = '```'",
        "x = ~~~5",
        "~~~x",
        "`x`",
    ],
)
def test_code_without_a_fence_is_left_as_it_is(text: str) -> None:
    assert read_code(text) == (text, "")


PIECES = st.lists(st.sampled_from(["```", "~~~", "python", "\n", " ", "x", "'", '"', '"""', "\\", "#"]), max_size=20)


@given(st.text() | PIECES.map("".join))
def test_no_text_makes_the_reading_of_code_raise_or_invent(text: str) -> None:
    code, note = read_code(text)
    assert all(line.strip() in text for line in code.splitlines())
    assert (code, note) == (text, "") or "```" in text or "~~~" in text


@pytest.mark.parametrize("part", ["`", '"', "'\"", "\\'", "~~~\n", "```\n", "``` ", "#", "{", "\n \t", "'''"])
def test_long_code_is_read_in_linear_time(part: str) -> None:
    """Trying each quote or fence against all that follows would take minutes."""
    read_code("```" + part * (200_000 // len(part)))
