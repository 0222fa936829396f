"""A turn: what lives on, what rolls back, what is captured."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image

from turn_sandbox import Limits, Sandbox, SandboxEpisode, linux
from turn_sandbox.clean import environment
from turn_sandbox.limits import READABLE_FIGURES
from turn_sandbox.probes import BOMB, FORGERY, LOOP

QUICK = Limits(
    seconds=20.0, memory_mb=128, file_mb=8, disk_mb=32, stdout_chars=500, images=3, image_px=300, value_chars=200
)
RED = Image.new("RGB", (20, 10), "red")


@pytest.fixture(scope="module")
def tight() -> Iterator[Sandbox]:
    with Sandbox(QUICK, allow_unsafe=True) as box:
        yield box


@pytest.fixture
def episode(tight: Sandbox) -> Iterator[SandboxEpisode]:
    with tight.episode(variables={"state": ["B", "A"]}, images={"A": RED}, files={"in/a.txt": b"good"}) as episode:
        yield episode


def short(box: Sandbox) -> SandboxEpisode:
    return box.episode(variables={"state": ["B", "A"]}, files={"in/a.txt": b"good"}, limits=Limits(seconds=0.3))


def state(episode: SandboxEpisode) -> object:
    code = "import os\nnow = [state, sorted(os.listdir()), open('in/a.txt').read()]"
    return episode.run(code, want=("now",)).values["now"]


START = [["B", "A"], ["in"], "good"]
DAMAGE = "import os, sys\nstate.append('X')\nopen('new', 'w').write('x')\nopen('in/a.txt', 'w').write('bad')\n"


def test_everything_lives_on(tight: Sandbox, episode: SandboxEpisode) -> None:
    first = episode.run(
        "import math as m\nclass P:\n    n = 1\n    def up(self): self.n += 1\ndef f(x): return x + m.floor(P.n)\n"
        "p = P()\nopen('out.txt', 'w').write('kept')"
    )
    assert first.status == "ok", first.error
    assert (first.tier, first.error, first.warnings) == (tight.tier, "", ())
    second = episode.run("p.up()\nprint(f(1), p.n, m.pi > 3, open('out.txt').read(), P.__module__, A.size)")
    assert second.stdout == "2 2 True kept __main__ (20, 10)\n"
    third = episode.run("print(p.n, isinstance(p, P))", want=("state",))
    assert (third.stdout, third.values) == ("2 True\n", {"state": ["B", "A"]})


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("1 / 0", "error", "ZeroDivisionError: division by zero (line 5)"),
        ("def f(: pass", "error", "SyntaxError: invalid syntax (line 5)"),
        ("crash\n'''", "error", "SyntaxError: unterminated triple-quoted string literal (detected at line 6) (line 6)"),
        ("sys.exit(1)", "error", "SystemExit: 1 (line 5)"),
        ("raise KeyboardInterrupt", "error", "KeyboardInterrupt (line 5)"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "error", "E (line 7)"),
        ("import json\nclass S: pass\njson.dumps(S())", "error", "S is not JSON serializable (line 7)"),
        ("input()", "error", "EOFError: EOF when reading a line (line 5)"),
        ("huge = bytearray(50 << 30)", "error", "MemoryError (line 5)"),
        ("parts = []\nwhile True: parts.append(bytearray(8 << 20))", "error", "MemoryError (line 6)"),
        ("def deep(): deep()\ndeep()", "error", "RecursionError: maximum recursion depth exceeded"),
        ("os._exit(0)", "died", "died: the process left with exit code 0"),
        ("import ctypes\nctypes.string_at(0)", "died", "died: the process was ended by SIGSEGV"),
        ("os.abort()", "died", "died: the process was ended by SIG"),  # ABRT; SEGV where no signal can be sent
        ("os.closerange(3, 256)", "died", ""),
        ("import shutil\nshutil.rmtree(os.getcwd(), ignore_errors=True)\n1 / 0", "error", "ZeroDivisionError"),
        ("for _ in range(300): os.mkdir('d' * 50), os.chdir('d' * 50)", "limit", "a folder that can't be read"),
        ("print.__self__.__dict__.clear()", "died", ""),
        ("big = open('big', 'wb')\nbig.write(bytes(9 << 20))\nbig.flush()", "error", "OSError"),
        ("for i in range(9_998): os.mkdir(f'd{i}')", "limit", "more than 10000 files or 32 MB"),
        ("# nothing\n", "error", "EmptyCode: there is no statement in it"),
    ],
)
def test_a_failed_turn_changes_nothing(episode: SandboxEpisode, code: str, status: str, error: str) -> None:
    if status == "error" and "MemoryError" in error and not linux.LINUX:
        pytest.skip("only Linux limits a process's memory")
    assert state(episode) == START
    result = episode.run(code if code.startswith("#") else DAMAGE + code, want=("state",))
    assert result.status == status, result
    assert error in result.error
    assert (result.values, result.images) == ({}, ())
    assert state(episode) == START


@pytest.mark.parametrize(
    "code",
    [
        LOOP,
        "import time\ntime.sleep(60)",
        "import signal\nfor n in range(1, 32):\n    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\n" + LOOP,
        "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
        FORGERY,
        "while True: print('x' * 1000)",
    ],
    ids=["bare except", "sleep", "signals ignored", "regex", "forged report", "endless output"],
)
def test_a_turn_ends_at_its_limit(tight: Sandbox, code: str) -> None:
    with short(tight) as episode:
        result = episode.run(DAMAGE + code)
        assert result.status == "timeout", result
        assert result.wall_s >= 0.3
        assert len(result.stdout) <= 20000
        assert state(episode) == START


on_linux = pytest.mark.skipif(not linux.LINUX, reason="other systems don't tell which processes a turn started")


@on_linux
def test_too_many_processes_or_threads_end_a_turn(tight: Sandbox) -> None:
    with tight.episode(limits=Limits(processes=6)) as episode:
        for code in (
            BOMB,
            "import threading as t, time\nfor _ in range(9): t.Thread(target=time.sleep, args=(9,)).start()\n" + LOOP,
        ):
            result = episode.run("x = 2\n" + code)
            assert (result.status, "6 are allowed" in result.error) == ("limit", True), result
        assert episode.run("x").error.startswith("NameError")


@on_linux
def test_what_outlives_a_good_turn_is_stopped(episode: SandboxEpisode) -> None:
    first = episode.run("import os, time\npid = os.fork()\nif pid == 0: time.sleep(60)")
    assert (first.status, first.warnings) == ("ok", ("1 processes outlived the turn and were killed",))
    second = episode.run("import threading\nthreading.Thread(target=threading.Event().wait).start()")
    assert (second.status, second.warnings) == ("ok", ("1 threads outlived the turn and were ended",))
    assert episode.run("print(threading.active_count())").stdout == "1\n"


def test_sys_exit_0_is_a_good_turn(episode: SandboxEpisode) -> None:
    assert episode.run("import sys\nx = 1\nsys.exit(0)\nx = 2").status == "ok"
    assert episode.run("print(x)").stdout == "1\n"


def test_the_harness_survives_what_code_patches(episode: SandboxEpisode) -> None:
    code = (
        "import builtins, os, json, struct, sys, time\nfrom PIL import Image\n"
        "Image.Image.tobytes = Image.Image.convert = os.write = os._exit = os.fork = json.dumps = struct.pack = None\n"
        "time.perf_counter = sys.stdout = None\nB = A.rotate(90)\nbuiltins.__dict__.clear()\n"
    )
    result = episode.run(code)
    assert (result.status, [p.name for p in result.images]) == ("ok", ["B"])
    assert episode.run("x = 1", want=("x",)).values == {"x": 1}
    assert episode.run("print(1)").error == "NameError: name 'print' is not defined (line 1)"


def test_output_is_captured_capped_and_safe(episode: SandboxEpisode) -> None:
    result = episode.run("import os, sys\nprint('a')\nsys.stdout.flush()\nos.write(1, b'b\\n')\nos.write(2, b'c')")
    assert (result.stdout, result.stderr) == ("a\nb\n", "c")
    result = episode.run(r"print('\x1b[2J', '\x00', '\ud800', '\u00e9', flush=True); os.write(1, b'\xff\r\n')")
    assert result.stdout == "\\x1b[2J \\x00 \\ud800 é\n\ufffd\n"
    result = episode.run("print('y' * 100_000)")
    assert (result.status, result.stdout) == ("ok", "y" * 500)
    assert result.warnings == ("stdout cut to 500 characters of 100001 bytes",)


def test_a_buffered_write_is_written_once(episode: SandboxEpisode) -> None:
    episode.run("file = open('log', 'w')\nfile.write('one ')")
    assert episode.run("file.write('never ')\nfile.flush()\n1 / 0").status == "error"
    episode.run("file.write('two')\nfile.close()")
    assert episode.run("print(open('log').read())").stdout == "one two\n"


def test_a_failed_turn_does_not_move_in_open_files(episode: SandboxEpisode) -> None:
    episode.run("file = open('in/a.txt', 'rb', buffering=0)\nfile.read(1)")
    assert episode.run("file.read(2)\n1 / 0").status == "error"
    assert episode.run("print(file.read())").stdout == "b'ood'\n"


def test_pictures_are_what_was_bound_shown_or_plotted(episode: SandboxEpisode) -> None:
    result = episode.run("B = A.rotate(90, expand=True)\n_hidden = B.copy()\nsame = A\nnumber = 3")
    assert [(p.name, p.image.size, p.image.mode) for p in result.images] == [
        ("B", (10, 20), "RGB"),
        ("same", (20, 10), "RGB"),
    ]
    assert result.images[1].image.getpixel((0, 0)) == (255, 0, 0)
    assert episode.run("C = 1").images == ()
    assert [p.name for p in episode.run("B = B.rotate(1)").images] == ["B"]
    code = "show(A)\nA.putpixel((0, 0), (0, 0, 1))\nshow(A, 'later')\nD = A.convert('L')\nshow(D)"
    names = {p.name: p.image.getpixel((0, 0)) for p in episode.run(code).images}
    assert names == {"A": (255, 0, 0), "later": (0, 0, 1), "D": (0, 0, 0)}
    assert "show: needs a PIL image, not int" in episode.run("show(3)").error


def test_matplotlib_figures_are_pictures(tight: Sandbox) -> None:
    with tight.episode(limits=Limits()) as episode:
        code = "import matplotlib.pyplot as plt\nplt.figure(figsize=(1, 1), dpi=50)\nplt.plot([1, 2])"
        assert [(p.name, p.image.size) for p in episode.run(code).images] == [("figure_1", (50, 50))]
        assert episode.run("x = 1").images == ()


def test_shown_and_saved_pictures_come_back_sized_as_codedance_does(tight: Sandbox) -> None:
    """Its rules: 150 dots an inch, no side under 28, no aspect over 200, short sides under 56 enlarged to 112."""
    with tight.episode(limits=READABLE_FIGURES) as episode:

        def sizes(code: str) -> list[tuple[str, tuple[int, int]]]:
            result = episode.run("from PIL import Image\nimport io\n" + code)
            assert result.status == "ok", result
            return [(picture.name, picture.image.size) for picture in result.images]

        assert sizes("Image.new('RGB', (40, 80)).show()") == [("shown_1", (112, 224))]
        assert sizes("Image.new('RGB', (56, 99)).save('kept.png')") == [("kept.png", (56, 99))]
        assert sizes("Image.new('RGB', (27, 99)).show(); Image.new('RGB', (9, 9)).save(io.BytesIO(), 'PNG')") == []
        assert sizes("Image.new('RGB', (28, 4000)).show()") == [("shown_1", (29, 4096))]
        assert sizes("Image.new('RGB', (12, 2401)).show()") == []
        plot = "import matplotlib.pyplot as plt\nplt.figure(figsize=(2, 1), dpi=100)\nplt.plot([1, 2])\n"
        assert sizes(plot) == [("figure_1", (300, 150))]
        assert sizes(plot + "plt.savefig('once.png')\nplt.show()") == [("once.png", (200, 100))]


def test_pictures_are_capped(episode: SandboxEpisode) -> None:
    result = episode.run("for i in range(5000): globals()[f'p{i}'] = A.copy()")
    assert [p.name for p in result.images] == ["p0", "p1", "p2"]
    assert result.warnings == ("4997 pictures left out: a turn returns at most 3",)
    result = episode.run("from PIL import Image\nwide = Image.new('RGB', (301, 1))\nnone = Image.new('RGB', (0, 0))")
    assert (result.status, result.images, len(result.warnings)) == ("ok", (), 2)


def test_values_that_cannot_travel_are_left_out(episode: SandboxEpisode) -> None:
    code = "a = (1, 2.5, None)\nb = {1, 2}\nc = 'z' * 300\nloop = []\nloop.append(loop)\n"
    code += "deep = []\nfor _ in range(9000): deep = [deep]"
    result = episode.run(code, want=("a", "b", "c", "loop", "deep", "missing"))
    assert (result.status, result.values) == ("ok", {"a": [1, 2.5, None]})
    assert [warning.split()[1] for warning in result.warnings] == ["b", "c", "loop", "deep", "missing"]


def test_hooks_are_part_of_the_turn(tight: Sandbox) -> None:
    setup = "calls = []\ndef begin(): calls.append('begin')\n"
    setup += "def end():\n    calls.append('end')\n    assert len(calls) < 5, 'enough'"
    with tight.episode(setup=setup) as episode:
        result = episode.run("calls.append('code')", "begin()", "end()", ("calls",))
        assert result.values == {"calls": ["begin", "code", "end"]}
        result = episode.run("x = 1", "begin()", "end()")
        assert (result.status, result.error) == ("error", "AssertionError: enough")
        assert episode.run("print(len(calls), 'x' in globals())").stdout == "3 False\n"


def test_seeded_random_numbers_go_on(episode: SandboxEpisode) -> None:
    random.seed(7)
    episode.run("import random, numpy as np\nrandom.seed(7)\nnp.random.seed(7)\nx = random.random(), np.random.rand()")
    episode.run("random.random()\nnp.random.rand()\n1 / 0")
    result = episode.run("y, z = random.random(), np.random.rand()\nnp.random.seed(7)\nnp.random.rand()", want=("y",))
    random.random()
    assert result.values == {"y": random.random()}
    assert episode.run("print(np.random.rand() == z)").stdout == "True\n"


def test_a_fork_by_the_code_is_pythons(episode: SandboxEpisode) -> None:
    """The forks of turns skip what modules want done at a fork; it is done as soon as code forks or has threads."""
    forks = (
        "import os, random\nrandom.seed(7)\nhere = random.getstate()\npid = os.fork()\nif pid == 0:\n"
        "    open('child', 'w').write(str(random.getstate() == here))\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\nprint(open('child').read(), random.getstate() == here)"
    )
    assert episode.run(forks).stdout == "False True\n"
    episode.run("pass")
    random.seed(7)
    assert episode.run("print(random.random())").stdout == f"{random.random()}\n"
    threads = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    assert episode.run(threads + "print(threading.active_count())").stdout == "2\n"
    assert episode.run("print(threading.active_count())").stdout == "1\n"


@pytest.mark.skipif(not linux.LINUX, reason="memory is limited on Linux")
def test_given_pictures_take_no_memory_from_the_code(tight: Sandbox) -> None:
    large = Image.new("RGB", (6000, 6000), "red")  # 137 MB in memory
    with tight.episode(images={"A": large}, limits=replace(QUICK, memory_mb=32)) as episode:
        assert episode.run("x = bytearray(20 << 20)\nprint(A.size)").stdout == "(6000, 6000)\n"
        assert episode.run("y = bytearray(40 << 20)").error.startswith("MemoryError")


def test_two_episodes_do_not_share(tight: Sandbox) -> None:
    with tight.episode() as one, tight.episode() as two:
        one.run("import json, os, random\nsecret = json.mark = 1\nos.environ['K'] = 'v'\nopen('f', 'w').close()")
        code = "import json, os, random\n"
        code += "f = ['secret' in globals(), hasattr(json, 'mark'), 'K' in os.environ, os.listdir()]"
        assert two.run(code, want=("f",)).values == {"f": [False, False, False, []]}
        numbers = [episode.run("print(random.random())").stdout for episode in (one, two)]
        assert numbers[0] != numbers[1]


def test_code_finds_neither_torch_nor_the_hosts_environment(episode: SandboxEpisode) -> None:
    names = sorted(set(environment("")) - {"PYTHONPATH"})
    code = (
        "import os, sys\nloaded = [m for m in ('torch', 'transformers') if m in sys.modules]\n"
        "f = [loaded, sorted(os.environ) == names]"
    )
    assert episode.run(f"names = {names}\n{code}", want=("f",)).values == {"f": [[], True]}
    assert "PYTEST_CURRENT_TEST" in os.environ and "PYTEST_CURRENT_TEST" not in names
    assert "torch is not available in the sandbox" in episode.run("import torch").error
