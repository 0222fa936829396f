"""What a session can't do is said in plain words: what it is, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from turn_sandbox import Limits, Sandbox
from turn_sandbox.advice import FOLDER, INPUT, LOCKS, MEMORY, NETWORK, OTHER, PROGRAMS, SHARING, SIGNALS

CASES = [
    ("import subprocess\nsubprocess.run(['ls'])", PROGRAMS),
    ("import subprocess\nsubprocess.check_output('ls', shell=True)", PROGRAMS),
    ("import os\nos.popen('ls')", PROGRAMS),
    ("import os\nos.execv('/bin/ls', ['ls'])", PROGRAMS),
    ("import os\nos.posix_spawn('/bin/ls', ['ls'], {})", PROGRAMS),
    ("import asyncio\nasyncio.run(asyncio.create_subprocess_shell('ls'))", PROGRAMS),
    ("import socket\nsocket.socket()", NETWORK),
    ("import socket\nsocket.create_connection(('example.com', 80))", NETWORK),
    ("import socket\nsocket.gethostbyname('example.com')", NETWORK),
    ("import urllib.request as r\nr.urlopen('http://example.com')", NETWORK),
    ("import urllib.request as r\nr.urlretrieve('https://example.com/a.png', 'a.png')", NETWORK),
    ("import http.client as h\nh.HTTPSConnection('example.com').request('GET', '/')", NETWORK),
    ("import requests\nrequests.get('http://example.com')", NETWORK),
    ("import asyncio\nasyncio.run(asyncio.open_connection('example.com', 80))", NETWORK),
    ("try: import socket; socket.socket()\nexcept OSError as error: raise ValueError('no') from error", NETWORK),
    ("from multiprocessing import Pool\nPool(2).map(abs, [1])", SHARING),
    ("from multiprocessing.pool import ThreadPool\nThreadPool(2)", SHARING),
    ("import multiprocessing as m\nm.Queue()", SHARING),
    ("import multiprocessing as m\nm.Value('i', 1)", SHARING),
    ("import multiprocessing as m\nm.Manager()", SHARING),
    ("from multiprocessing import shared_memory", SHARING),
    ("from concurrent.futures import ProcessPoolExecutor as E\nwith E(2) as e: e.submit(abs, 1)", SHARING),
    ("try: import multiprocessing as m; m.Lock()\nexcept Exception as error: raise error", SHARING),
    ("import torch", "torch is not available in the sandbox: its threads would hang every later turn"),
    ("n = int(input('n? '))", INPUT),
    ("breakpoint()", INPUT),
    ("import os\nos.kill(os.getpid(), 15)", SIGNALS),
    ("import mmap\nmmap.mmap(-1, 9)", MEMORY),
    ("open('/tmp/x.png', 'wb')", FOLDER),
    ("import pathlib\npathlib.Path('/mnt/data/x.txt').read_text()", FOLDER),
    ("from PIL import Image\nImage.new('RGB', (9, 9)).save('/mnt/data/a.png')", FOLDER),
    ("import os\nos.listdir('/')", FOLDER),
    ("import os\nos.nice(1)", OTHER),
    ("import socket\nsocket.socketpair()", OTHER),
]


@pytest.fixture(scope="module", params=[(), ("namespaces",)], ids=["full", "partial"])
def confined(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=20), without=request.param, allow_unsafe=True) as box:
        if box.tier == "none":
            pytest.skip("code isn't confined on this machine")
        yield box


@pytest.mark.parametrize(("code", "advice"), CASES)
def test_what_is_denied_is_explained(confined: Sandbox, code: str, advice: str) -> None:
    """The first 200 characters are what an agent sees of an error."""
    with confined.episode() as episode:
        result = episode.run(code)
        assert (result.status, advice in result.error[:200]) == ("error", True), result.error
        assert result.error.count(advice) == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("open('none.txt')", "FileNotFoundError: [Errno 2] No such file or directory: 'none.txt' (line 1)"),
        ("import os\nopen(os.path.abspath('none.txt'))", "none.txt' (line 2)"),
        ("import pickle, io\npickle.load(io.BytesIO())", "EOFError: Ran out of input (line 2)"),
        ("import nothing", "ModuleNotFoundError: No module named 'nothing' (line 1)"),
        ("try: input()\nexcept EOFError: 1 / 0", f"ZeroDivisionError: division by zero (line 2); {INPUT}"),
        ("raise PermissionError('mine')", "PermissionError: mine (line 1)"),
        (
            "class E(OSError):\n    @property\n    def errno(self): raise KeyError\nraise E('mine')",
            "E: mine (line 4)",
        ),
        ("e = OSError('loop')\ne.__context__ = e2 = KeyError()\ne2.__context__ = e\nraise e", "OSError: loop (line 4)"),
    ],
)
def test_other_errors_are_told_as_they_are(confined: Sandbox, code: str, error: str) -> None:
    with confined.episode() as episode:
        assert episode.run(code).error.endswith(error)


def test_a_program_that_only_returns_a_number_is_warned_of(confined: Sandbox) -> None:
    with confined.episode() as episode:
        result = episode.run("import os\nleft = os.system('ls')\nprint(left != 0)")
        assert (result.status, result.stdout, result.warnings) == ("ok", "True\n", (f"os.system: {PROGRAMS}",))
        assert episode.run("print(left > 0)").warnings == ()


def test_what_processes_and_threads_can_do(confined: Sandbox) -> None:
    code = (
        "from multiprocessing import Process, Pipe\nhere, there = Pipe(duplex=False)\n"
        "p = Process(target=lambda: there.send(5))\np.start()\nprint(here.recv())\np.join()\n"
        "from concurrent.futures import ThreadPoolExecutor as E\nwith E(4) as e: print(list(e.map(abs, [-1, 2])))"
    )
    with confined.episode() as episode:
        assert episode.run(code).stdout == "5\n[1, 2]\n"


def test_where_nothing_confines_code_the_system_is_not_spoken_for() -> None:
    with Sandbox(without=("namespaces", "landlock", "seccomp"), allow_unsafe=True) as box, box.episode() as episode:
        assert episode.run("import subprocess\nsubprocess.run(['no-such-program'])").error == (
            "FileNotFoundError: [Errno 2] No such file or directory: 'no-such-program' (line 2)"
        )
        assert episode.run("import os\nleft = os.system('exit 3')\nprint(left)").stdout == "768\n"
        assert SHARING in episode.run("import multiprocessing as m\nm.Lock()").error


def test_a_transaction_that_a_turn_left_open_is_explained(confined: Sandbox) -> None:
    begun = "import sqlite3\nc = sqlite3.connect({!r}, timeout=0.1)\nc.execute('create table t(x)')\n"
    with confined.episode() as episode:
        assert episode.run(begun.format("d.db") + "c.execute('insert into t values (1)')").status == "ok"
        assert LOCKS in episode.run("c.commit()").error
        assert episode.run(begun.format(":memory:") + "c.execute('insert into t values (1)')").status == "ok"
        assert episode.run("c.commit()").status == "ok"
