"""What a session shows of itself, and what becomes of its streams from turn to turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from turn_sandbox import SandboxEpisode


@pytest.fixture
def episode(box: Any) -> Iterator[SandboxEpisode]:
    with box.episode() as episode:
        yield episode


def test_nothing_of_how_the_session_was_started_shows(episode: SandboxEpisode) -> None:
    code = (
        "import sys, os\nseen = [sys.argv, sys.orig_argv[1:], sys.path[0], __name__, globals().get('__file__')]\n"
        "here = [name for name, value in os.environ.items() if 'kit' in value]\n"
        "imported = [path for path in sys.path if path.endswith(('/sandbox', '/kit'))]"
    )
    found = episode.run(code, want=("seen", "here", "imported")).values
    assert found == {"seen": [[""], [], "", "__main__", None], "here": [], "imported": []}


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=3)\nprint(p.parse_args().n)",
            "3\n",
        ),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('n', nargs='?')\nprint(p.parse_args().n)",
            "None\n",
        ),
        ("import optparse\nprint(optparse.OptionParser().parse_args()[1])", "[]\n"),
        ("import getopt, sys\nprint(getopt.getopt(sys.argv[1:], 'n:'))", "([], [])\n"),
        ("import unittest\nclass T(unittest.TestCase):\n    def test_a(self): print('ran')\nunittest.main()", "ran\n"),
        (
            "import doctest\ndef f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\nprint(doctest.testmod()[1])",
            "1\n",
        ),
        ("import getpass\nprint(len(getpass.getuser()) > 0)", "True\n"),
    ],
)
def test_code_of_programs_runs(episode: SandboxEpisode, code: str, printed: str) -> None:
    result = episode.run(code)
    assert (result.status, result.stdout) == ("ok", printed), result.error


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')", "é\n"),
        ("sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='utf-8')", "é\n"),
        ("sys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)", "é\n"),
        ("sys.stdout = open(1, 'w', encoding='utf-8', closefd=False)", "é\n"),
        ("sys.stdout = os.fdopen(1, 'w', encoding='utf-8')", "é\n"),
        ("sys.stdout.reconfigure(encoding='utf-8', line_buffering=True)", "é\n"),
        ("sys.stdout.reconfigure(encoding='ascii', errors='backslashreplace')", "\\xe9\n"),
        ("sys.stdout = sys.__stdout__", "é\n"),
        ("sys.stdout = io.StringIO()", ""),
        ("sys.stdout = None", ""),
        ("os.close(1); sys.stdout = io.StringIO()", ""),
        ("os.closerange(0, 3); sys.stdout = io.StringIO()", ""),
    ],
)
def test_whatever_becomes_of_stdout_the_next_turn_has_one(episode: SandboxEpisode, code: str, printed: str) -> None:
    first = episode.run(f"import codecs, io, os, sys\n{code}\nprint('é')")
    assert (first.status, first.stdout) == ("ok", printed), first.error
    for _ in range(2):
        result = episode.run("print('on'); print('beside', file=sys.stderr)")
        assert (result.status, result.stdout, result.stderr) == ("ok", "on\n", "beside\n"), result.error


@pytest.mark.parametrize("code", ["del sys.stdout", "sys.stdout.close()", "sys.stdout.detach()", "sys.stdout = 5"])
def test_a_turn_may_do_without_stdout(episode: SandboxEpisode, code: str) -> None:
    assert episode.run(f"import sys\n{code}").status == "ok"
    assert episode.run("print('é☃')").stdout == "é☃\n"


def test_streams_that_were_kept_go_on(episode: SandboxEpisode) -> None:
    start = "import sys, logging\nkept = sys.stdout\nlogging.basicConfig(level=20)\n"
    first = episode.run(f"{start}logging.info('a')\nprint('a', file=kept)")
    second = episode.run("logging.info('b')\nprint('b', file=kept)")
    assert (first.stdout, second.stdout) == ("a\n", "b\n")
    assert (first.stderr, second.stderr) == ("INFO:root:a\n", "INFO:root:b\n")


def test_an_event_loop_lives_across_turns_and_a_failed_one_leaves_it(episode: SandboxEpisode) -> None:
    loop = "import asyncio\nloop = asyncio.new_event_loop()\nasync def f(x): return await asyncio.sleep(0, x)"
    assert episode.run(loop).status == "ok"
    assert episode.run("print(loop.run_until_complete(f(1)))").stdout == "1\n"
    assert episode.run("loop.run_until_complete(f(2)); 1 / 0").status == "error"
    waking = "from threading import Thread\nasync def g():\n    done = asyncio.Event()\n"
    waking += (
        "    Thread(target=loop.call_soon_threadsafe, args=(done.set,)).start()\n    await done.wait()\n    return 3\n"
    )
    assert episode.run(waking + "print(loop.run_until_complete(g()))\nloop.close()").stdout == "3\n"


def test_the_source_of_each_turn_is_kept(episode: SandboxEpisode) -> None:
    episode.run("def f(): return 1")
    episode.run("def g():\n    # two\n    return 1 / 0")
    assert episode.run("1 / 0\ndef f(): return 3").status == "error"
    shown = episode.run("import inspect\nprint(inspect.getsource(f), inspect.getsource(g), inspect.getsourcefile(g))")
    assert shown.stdout == "def f(): return 1 def g():\n    # two\n    return 1 / 0 <turn 2>\n"
    trace = episode.run("import traceback\ntry: g()\nexcept ZeroDivisionError: traceback.print_exc()").stderr
    assert 'File "<turn 2>", line 3, in g\n    return 1 / 0\n' in trace
