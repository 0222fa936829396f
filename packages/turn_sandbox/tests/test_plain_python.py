"""A session does what plain Python does: the same turns in both print, fail and leave the same.

The snippets (``plain_python.txt``) are about what executors that walk the syntax tree, or patch the interpreter, tend
to get wrong. ``===`` begins one, ``---`` its next turn. Compared are what each turn prints, how it fails, and at the
end all public variables that JSON can hold.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from turn_sandbox import Sandbox
from turn_sandbox.clean import environment

PLAIN = '''
import json, os, sys, types

def play(turns, folder):
    """Run them one after the other in the namespace of __main__, as ``python -c`` would."""
    import linecache
    os.mkdir(folder); os.chdir(folder)
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=__builtins__, __loader__=__loader__, __annotations__={})
    sys.modules["__main__"], space, ended = module, module.__dict__, []
    for number, turn in enumerate(turns, 1):
        file = open("../out", "wb+"); os.dup2(file.fileno(), 1)
        linecache.cache[f"<turn {number}>"] = len(turn), None, turn.splitlines(True), f"<turn {number}>"
        error = ""
        try: exec(compile(turn, f"<turn {number}>", "exec", dont_inherit=True), space)
        except BaseException as raised: error = f"{type(raised).__name__}: {raised}"
        sys.stdout.flush()
        ended.append([open("../out", "rb").read().decode(), error])
    values = {}
    for name, value in space.items():
        if not name.startswith("_"):
            try: values[name] = json.loads(json.dumps(value))
            except (TypeError, ValueError): pass
    return ended, values

sys.argv[:], sys.orig_argv[:] = [""], [sys.executable]
snippets, home = json.load(sys.stdin), os.getcwd()
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
sys.stdin = open(0)
for number, turns in enumerate(snippets):
    if not (child := os.fork()):  # nothing of one is left to the next
        told = json.dumps(play(turns, f"{home}/{number}"))
        open(f"{home}/{number}.json", "w").write(told)
        os._exit(0)
    os.waitpid(child, 0)
'''

SNIPPETS = re.split(
    r"^=== (.+)\n", Path(__file__).with_name("plain_python.txt").read_text(encoding="utf-8"), flags=re.M
)
TURNS = {name: text.strip("\n").split("\n---\n") for name, text in zip(SNIPPETS[1::2], SNIPPETS[2::2], strict=True)}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("plain")
    env = {**environment(str(home)), "PYTHONPATH": ""}
    given = json.dumps(list(TURNS.values()))
    subprocess.run([sys.executable, "-c", PLAIN], input=given, text=True, cwd=home, env=env, check=True, timeout=120)
    return {name: json.loads(Path(home, f"{number}.json").read_text()) for number, name in enumerate(TURNS)}


@pytest.fixture(scope="module")
def box() -> Any:
    with Sandbox(allow_unsafe=True) as box:
        yield box


@pytest.mark.parametrize("name", TURNS)
def test_a_session_does_what_plain_python_does(plain: dict[str, Any], box: Sandbox, name: str) -> None:
    ended, values = plain[name]
    with box.episode() as episode:
        found = [episode.run(turn, want=list(values)) for turn in TURNS[name]]
        last = episode.run("pass", want=list(values))
    for result, (printed, error) in zip(found, ended, strict=True):
        assert result.stdout == printed, result.error
        assert result.error.rpartition(" (line ")[0] == error
        assert result.status == ("error" if error else "ok")
    assert last.values == values
