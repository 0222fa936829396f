"""A turn run as a cell of a notebook: what it ends with is shown, and whatever quotes it quotes the agent's lines."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from turn_sandbox import PLOTTING, Sandbox, SandboxEpisode


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(preload=PLOTTING) as made:
        yield made


@pytest.fixture
def cell(box: Sandbox) -> Iterator[SandboxEpisode]:
    with box.episode(cell=True) as episode:
        yield episode


SHOWN = {
    "a name": "x = 1\nx",
    "a tuple without brackets": "x = 1\ny = 2\nx, y",
    "one with a comma": "1 + 0,",
    "a starred one": "*range(3), 4",
    "brackets": "x = [1,\n 2]\n(x\n + [3])  # all",
    "a tuple over lines": "x = 3\n(x,\n # of two\n x + 1,\n)",
    "Windows newlines": "x = 3\r\ny = 4\r\nx * y\r\n",
    "an old Mac's newlines": "x = 3\rx + 1\r",
    "mixed newlines": "x = 3\r\ny = 4\nx\r\n",
    "two on a line": "x = 3; x",
    "three on a line": "x = 1; y = 2; x, y",
    "expressions on a line": "1 + 1; 2 + 2",
    "a line after a block": "for i in range(3): pass\ni",
    "a block on one line, then an expression": "if True: x = 5\nx",
    "a semicolon hides it": "x = 3\nx;",
    "a semicolon and a comment": "x = 3\nx;  # not shown",
    "a semicolon after blanks": "x = 3\n(x\n)  ;",
    "a semicolon on the next line": "x = 3\nx \\\n;",
    "a semicolon in a comment": "x = 3\nx  # y; z;",
    "a semicolon in a string": "x = 'a;'\n(x, ';')",
    "a semicolon after signs of several bytes": "x = 'Ärger — 中文 🙂'\n(x, len(x), '🙂');",
    "signs of several bytes": "größe = 'Ärger — 中文 🙂'\n(größe, len(größe), '🙂')  # ü; ö",
    "a comment after it": "x = 3\nx # the value",
    "comments below it": "x = 3\nx\n# done\n\n# really",
    "blank lines below it": "x = 3\nx\n\n   \n",
    "blank lines above": "\n\n\nx = 3\nx + 1",
    "a string of several lines": 'x = """a\nb; c\n"""\n[x]',
    "a string of several lines at the end": "x = 2\n['''a\n  b;''', x]",
    "a string that ends like code": "x = '''\ny, z'''\n[x]",
    "a formatted string in a list": "x = 2\n[f'{x!r:>4}', f'{x + 1}']",
    "nested quotes": "x = {'a': 1}\n[f\"{x['a']}\", 'it\\'s']",
    "backslash at a line's end": "x = 1 + \\\n 2\nx \\\n + 1",
    "a walrus": "(n := 10) + 1",
    "a bare walrus": "(n := 10)",
    "a lambda's value": "(lambda a, b=2: (a, b))(1)",
    "a lambda with a comma": "f = lambda a, b: a + b\nf(1, 2), f(3, 4)",
    "a condition": "x = 3\n'big' if x > 5 else 0",
    "a comparison": "x = 3\n1 < x < 5",
    "not": "not []",
    "a comprehension": "[i * i for i in range(4) if i % 2]",
    "a dictionary": "{'a': 1, **{'b': 2}}",
    "a set": "{1, 2} | {3}",
    "a slice": "list(range(9))[1:7:2]",
    "a generator's sum": "sum(i for i in range(4))",
    "a call over lines": "max(\n    1,\n    7,  # the largest\n    3,\n)",
    "a call with stars": "max(*[1, 5], **{})",
    "a decorated function": "def twice(f):\n    return lambda *a: 2 * f(*a)\n@twice\ndef g(x):\n    return x\ng(4)",
    "a class": "class A:\n    def __repr__(self): return 'an A'\nA()",
    "None": "x = None\nx",
    "a call that prints": "print('a', 'b', sep='-')",
    "a call that prints, hidden": "print('once');",
    "Ellipsis": "x = 1\n...",
    "True": "x = 1\nTrue",
    "a number at the end": "x = 1\n2.50",
    "bytes": "x = b'a\\x00'\nx",
    "a complex number": "-1j ** 2",
    "an assignment": "x = 3",
    "one with an annotation": "x: int = 3",
    "an augmented one": "x = 3\nx += 1",
    "del": "x = 3\ndel x",
    "import": "import math",
    "a function only": "def f():\n    1, 2",
    "an expression in a block": "if True:\n    1, 2",
    "assert": "assert 1, 2",
    "a future": "from __future__ import annotations\ndef f(x: not_there): return x\nf(2), 3",
    "a docstring above": "'''What it does.'''\nx = 2\nx, 3",
    "tabs": "if True:\n\tx = 3\nx,\t4",
    "a form feed": "x = 3\n\x0cx, 4",
    "a long sum": " + ".join(["1"] * 400),
    "a name that starts with an underscore": "_shown = 1\n_shown, 2",
    "numpy's array": "import numpy as np\nnp.arange(3), np.eye(2).sum() > 1",
    "fractions": "from fractions import Fraction as F\nF(1, 3), F(2, 3)",
}


@pytest.fixture(scope="module")
def notebook() -> InteractiveShell:
    shell = InteractiveShell()
    shell.history_manager.enabled = False  # type: ignore[union-attr]
    return shell


def in_a_notebook(shell: InteractiveShell, code: str) -> str:
    """What IPython shows of a cell, without the ``Out[1]:`` before a value."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        shell.reset(new_session=False)
        result = shell.run_cell(code, store_history=True)
    assert result.success, code
    return re.sub(r"Out\[\d+\]: ?\n?", "", re.sub(r"\x1b\[[\d;]*m", "", told.getvalue())).strip()


@pytest.mark.parametrize("code", SHOWN.values(), ids=SHOWN)
def test_a_cell_shows_what_a_notebook_shows(cell: SandboxEpisode, notebook: InteractiveShell, code: str) -> None:
    result = cell.run(code)
    assert (result.status, result.stdout.strip()) == ("ok", in_a_notebook(notebook, code)), result
    assert not result.stderr and not result.warnings


def test_text_is_shown_as_it_reads_and_images_as_images(cell: SandboxEpisode) -> None:
    assert cell.run("x = 'two words'\nx").stdout == "two words\n"
    drawn = cell.run("from PIL import Image\nImage.new('RGB', (40, 30))")
    assert [image.image.size for image in drawn.images] == [(40, 30)] and not drawn.stdout


IDLE = ["", "# nothing", "...", "pass", "'''Count.'''\npass", "3", "'a'; 4", "\n\n# a\n...\r\n", "True\nNone"]


@pytest.mark.parametrize("code", IDLE)
def test_what_does_nothing_is_no_code(cell: SandboxEpisode, code: str) -> None:
    assert cell.run(code).error == "EmptyCode: there is no statement in it"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\nwarnings.warn('old'), 1", "<turn 2>:2: UserWarning: old\n  warnings.warn('old'), 1\n"),
        ("x = 1\r\nwarnings.warn('old'),\r\n", "<turn 2>:2: UserWarning: old\n  warnings.warn('old'),\n"),
        ("x = '\x0c \x1c \x85 \u2028'\nwarnings.warn('old'), 1", ":2: UserWarning: old\n  warnings.warn('old'), 1\n"),
        ("x = 1; warnings.warn('old')", ":1: UserWarning: old\n  x = 1; warnings.warn('old')\n"),
        ("x = 1\nx is 1", '<turn 2>:2: SyntaxWarning: "is" with a literal. Did you mean "=="?\n  x is 1\n'),
        ("x = 1 is 2\nx", '<turn 2>:1: SyntaxWarning: "is" with a literal. Did you mean "=="?\n  x = 1 is 2\n'),
        (
            "def f(): 1 / 0\ntry: f()\nexcept ValueError: pass\nexcept Exception: traceback.print_exc(), 1",
            'File "<turn 2>", line 2, in <module>\n    try: f()\n         ^^^\n  File "<turn 2>", line 1, in f\n',
        ),
        ("inspect.getsource(f) == f.__doc__, f.__name__", ""),
    ],
)
def test_what_quotes_the_code_quotes_the_agents_lines(cell: SandboxEpisode, code: str, told: str) -> None:
    cell.run("import warnings, traceback, inspect\ndef f(): 'a'")
    result = cell.run(code)
    assert result.status == "ok" and told in result.stderr
    assert "_shown" not in result.stderr and "displayhook" not in result.stderr


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\ny = 2\nx, z", "NameError: name 'z' is not defined (line 3)"),
        ("x = 1\n(x,\n 1 / 0,\n 2)", "ZeroDivisionError: division by zero (line 3)"),
        ("x = 1\r\n\r\nx / 0\r\n", "ZeroDivisionError: division by zero (line 3)"),
        ("x = 1; x / 0", "ZeroDivisionError: division by zero (line 1)"),
        ("class A:\n    def __str__(self):\n        return 1 / 0\nA()", "ZeroDivisionError: division by zero (line 3)"),
    ],
)
def test_errors_name_the_agents_line_and_undo_all(cell: SandboxEpisode, code: str, error: str) -> None:
    assert cell.run(code).error == error
    assert cell.run("print(x)").error.startswith("NameError")


WRONG = [
    *("print(1 +", "x = 1\n1, 2 3", "x = 1\nawait f()", "x = 1\nreturn x", "yield 1", "  x = 1\n  x", "x = 1\n x"),
    *("x = 1\n!ls", "%matplotlib inline\n1", "f(a for a in b, 1)", "x = 1\n*y", "x = '''a", "print 1", "x = 1\n1 = x"),
    *(
        "x = 1\nx;;",
        "x = 1\n(x := 1, y = 2)",
        "x = 1\n[*a for a in b]",
        "lambda: (yield)\nbreak",
        "x = 1\n)",
        "x =\n\x00",
    ),
    *("x?", "x = 5 if True", "x = 1\nif x: pass else: y", "x = 0777\nx", "async with a: pass", "x = 1\nf(**a, *b)"),
]


@pytest.mark.parametrize("code", WRONG)
def test_errors_of_syntax_are_pythons_own(cell: SandboxEpisode, code: str) -> None:
    with pytest.raises((SyntaxError, ValueError)) as raised:
        compile(code, "<turn 1>", "exec")
    expected: Any = raised.value
    said = expected.msg if isinstance(expected, SyntaxError) else str(expected)
    line = f" (line {expected.lineno})" if getattr(expected, "lineno", None) else ""
    assert cell.run(code).error == f"{type(expected).__name__}: {said}{line}"


def test_both_parts_are_compiled_before_either_runs(cell: SandboxEpisode) -> None:
    result = cell.run("print('begun')\n[i := 0 for i in range(3)]")
    assert result.error.startswith("SyntaxError: assignment expression cannot rebind") and not result.stdout


def test_a_turn_of_another_session_shows_nothing(box: Sandbox) -> None:
    with box.episode() as episode:
        assert episode.run("1, 2").stdout == ""
