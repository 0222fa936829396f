"""The hostile suite: every case as root and as an ordinary user, with all layers and without namespaces."""

from __future__ import annotations

import os
import platform
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hostile import CASES, FORKS, QUICK, SHORT, Case
from sandboxes import DAMAGE, KINDS, START, USER, episode, start, state

from turn_sandbox import Sandbox
from turn_sandbox.clean import environment
from turn_sandbox.linux import LINUX

pytestmark = pytest.mark.skipif(not LINUX, reason="only Linux confines")


@pytest.fixture(scope="module", params=KINDS, ids=["-".join(kind) for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture(scope="module")
def box(kind: tuple[str, str]) -> Iterator[Sandbox]:
    with start(*kind, QUICK) as box:
        assert box.tier == kind[1], box.missing
        yield box


@pytest.fixture
def outside(kind: tuple[str, str]) -> Iterator[Path]:
    """A file that belongs to whoever the code runs as, where the code has no business."""
    with tempfile.NamedTemporaryFile(prefix="kit-outside-") as file:
        file.write(b"secret")
        file.flush()
        if kind[0] == "user" and os.geteuid() == 0:
            os.chown(file.name, USER, USER)
        yield Path(file.name)
        assert Path(file.name).read_bytes() == b"secret"


def test_the_suite_is_whole() -> None:
    """Every number from 1 to 53 has a test of its own here, in the table, or in the files beside this one."""
    text = "".join(Path(__file__).with_name(f"test_{name}.py").read_text() for name in ("hostile", "server", "soak"))
    have = {case.number for case in CASES} | {n for n in range(1, 54) if f"def test_case_{n:02d}_" in text}
    assert have == set(range(1, 54))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number:02d} {case.name}")
def test_case(kind: tuple[str, str], box: Sandbox, outside: Path, case: Case) -> None:
    if case.number == 40 and platform.machine() != "x86_64":
        pytest.skip("only x86-64 has a second set of numbers")
    tier, guarantee = case.unmet
    if tier == kind[1]:
        assert guarantee in box.guarantees.missing
        return
    with episode(box, case.limits) as one:
        assert state(one) == START
        names = sorted(set(os.environ) - set(environment("")))
        given = {"_outside": str(outside), "_home": str(Path.home()), "_names": names}
        one.run("\n".join(f"{name} = {value!r}" for name, value in given.items()))
        # What is leaky must leave state as it is told; the others damage it first.
        result = one.run(case.code if case.leaks or case.then[0] else DAMAGE + case.code)
        assert result.status in case.status, result
        assert case.error in result.error
        assert case.warning in " ".join(result.warnings)
        assert case.out in (None, result.stdout)
        assert result.tier == kind[1]
        if case.then[0]:
            following = one.run(case.then[0])
            assert (following.status, following.stdout) == ("ok", case.then[1]), following
        else:
            assert state(one) == START


def test_case_16_a_late_verdict_never_counts_for_the_next_turn(box: Sandbox) -> None:
    """A process of the first turn waits until the second runs, then reports success on all it inherited."""
    late = "import os, time\nif os.fork() == 0:\n    time.sleep(0.3)\n    " + SEND.replace("\n", "\n    ")
    with episode(box, SHORT) as one:
        one.run(SEND_SETUP + late)
        result = one.run("state.append('X')\nimport time\ntime.sleep(30)")
        assert result.status == "timeout"
        assert state(one) == START


SEND_SETUP = """
import json, os, struct
head = {"status": "ok", "error": "", "warnings": [], "images": [], "cpu_s": 0.0, "started": False, "threads": 0}
head["blobs"] = [2]
head = json.dumps(head).encode()
"""
SEND = """
for fd in range(3, 64):
    try: os.write(fd, struct.pack("!II", len(head), 2) + head + b"{}")
    except OSError: pass
"""


def test_case_41_seeded_random_numbers_go_on(box: Sandbox) -> None:
    draw = "a, b = random.random(), np.random.rand()\nprint(a, b)"
    with episode(box) as whole, episode(box) as parts:
        seed = "import random, numpy as np\nrandom.seed(7)\nnp.random.seed(7)\n"
        expected = whole.run(seed + draw + "\n" + draw).stdout
        first = parts.run(seed + draw).stdout
        assert parts.run(draw + "\n1 / 0").status == "error"
        assert first + parts.run(draw).stdout == expected


def test_case_42_file_offsets_are_restored(box: Sandbox) -> None:
    with episode(box) as one:
        one.run("file = open('in/a.txt', 'rb', buffering=0)\nfile.read(1)")
        assert one.run("file.read(2)\nfile.seek(0)\n1 / 0").status == "error"
        assert one.run("print(file.read())").stdout == "b'ood'\n"


@pytest.mark.parametrize(
    "damage",
    [
        "open('in/a.txt', 'w').write('evil')",
        "file.seek(0)\nfile.write('evil')\nfile.flush()",
        "import shutil\nshutil.rmtree('in')",
        "os.rename('in', 'out')\nos.mkdir('in')\nopen('in/a.txt', 'w').write('evil')",
        "os.unlink('in/a.txt')\nos.symlink('/etc/passwd', 'in/a.txt')",
        "os.link('in/a.txt', 'twin')\nopen('twin', 'w').write('evil')",
        "os.ftruncate(file.fileno(), 0)",
    ],
)
def test_case_43_file_contents_are_restored(box: Sandbox, damage: str) -> None:
    with episode(box) as one:
        one.run("file = open('in/a.txt', 'r+')")
        assert one.run(f"import os\n{damage}\nos._exit(1)").status == "died"
        assert state(one) == START


def test_case_45_a_sleeping_fork_hook_loses_the_episode() -> None:
    """Fork in the head hangs on it: that is no turn's time limit. In all kinds at once, for it takes seconds."""

    def hung(kind: tuple[str, str]) -> str:
        with start(*kind, QUICK) as box, episode(box) as one:
            assert one.run("import os, time\nos.register_at_fork(before=lambda: time.sleep(99))").status == "ok"
            return one.run("x = 1").status

    kinds = [kind for kind in KINDS if kind[0] == "user" or os.geteuid() == 0]
    with ThreadPoolExecutor(len(kinds)) as pool:
        assert list(pool.map(hung, kinds)) == ["episode_lost"] * len(kinds)


def test_case_48_two_episodes_do_not_see_each_other(box: Sandbox) -> None:
    with episode(box) as one, episode(box) as two:
        one.run("import json, os, random\nsecret = json.mark = 1\nos.environ['K'] = 'v'\nopen('f', 'w').write('x')")
        where = one.run("print(os.getcwd(), os.getpid())").stdout.split()
        code = f"""
import json, os, random
def reads(path):
    try: return open(path).read()
    except OSError: return None
found = ['secret' in globals(), hasattr(json, 'mark'), 'K' in os.environ, os.listdir('.'), reads('f')]
mine = os.getcwd() == {where[0]!r}
found.append(None if mine else reads({where[0]!r} + '/f'))
"""
        assert two.run(code, want=("found",)).values == {"found": [False, False, False, ["in"], None, None]}
        numbers = [one.run("print(random.random())").stdout for one in (one, two)]
        assert numbers[0] != numbers[1]


def test_a_fork_bomb_leaves_its_neighbour_alone(box: Sandbox) -> None:
    done: list[str] = []

    def bomb() -> None:
        with episode(box, SHORT) as one:
            done.append(one.run(FORKS).status)

    attacker = threading.Thread(target=bomb)
    attacker.start()
    with episode(box) as neighbour:
        turns = [neighbour.run("state.reverse()", want=("state",)).status for _ in range(4)]
    attacker.join()
    assert turns == ["ok"] * 4
    assert done[0] in ("limit", "timeout")
