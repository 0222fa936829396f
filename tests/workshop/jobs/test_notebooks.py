"""The notebooks: complete, executed, fresh, in house style, and still printing what they show."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
import papermill
import pytest
from nbformat import NotebookNode
from places import HELPERS

from kit.files import ROOT
from papers.registry import papers
from workshop.jobs.notebooks import NotebookError, Source, code_cells, find, load, parameters, sources
from workshop.jobs.parameters import check_values
from workshop.jobs.run import PROFILES, profile_values
from workshop.publishing.stored import (
    LONGEST,
    faults,
    long_streams,
    machine_paths,
    problems,
    results_shown,
    stamp,
    unexecuted,
)
from workshop.publishing.twins import carry, carry_staged, dumps, normal, refresh, with_stored_outputs

SOURCES = {source.name: source for source in sources()}

CHAINS = {name: paper.notebooks for name, paper in papers().items() if paper.notebooks}
"""A paper's notebooks, run after one another with smoke values: each reads what the one before wrote."""

TEACHING = [name for name in SOURCES if not any(name in chain for chain in CHAINS.values())]

ALONE = [name for name in TEACHING if profile_values(SOURCES[name], "smoke")]
"""Run alone with smoke values."""

STRICT = [name for name in TEACHING if name not in ALONE] + [
    chain[0] for name, chain in CHAINS.items() if chain[0] not in papers()[name].settings
]
"""Every printed value is compared with the committed one: a few minutes' work, and no training among it."""

FORBIDDEN = {
    r"^\s*[!%]\s*(pip|conda)\b": "installs packages: the kit is installed before",
    r"\bsys\.path\b": "bends the import path: the kit is installed",
    r"\bprofile\s*(==|!=|in\b)": "branches on the profile: a profile changes values only",
    r"\b(login|getpass|notebook_login)\(": "asks for a login",
    r"\b(urlretrieve|urlopen|requests\.get|hf_hub_download|snapshot_download)\b": "downloads: that is for data_scripts",
}

OPENING = {
    "the question": r"\*\*The question",
    "the paper, or the task": r"\*\*The (paper|task)",
    "what the reader will be able to do": r"you (can|will be able to)",
    "the cost on a laptop": r"^\|[^\n]*laptop",
    "the cost on a GPU": r"^\|[^\n]*gpu",
    "the cost on a node": r"^\|[^\n]*node",
    "the cost table's columns": r"^\|[^\n]*hardware[^\n]*minutes[^\n]*(memory|GB)",
}


def test_every_source_has_its_twin_and_every_listed_notebook_its_source() -> None:
    twins = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert twins == sorted(SOURCES) == sorted([*TEACHING, *(name for chain in CHAINS.values() for name in chain)])
    assert STRICT and ALONE


def test_every_twin_has_its_source_s_cells() -> None:
    """Git's hook sees to it (``make`` installs it), or ``python -m kit notebooks NN``."""
    assert [fault for each in SOURCES.values() for fault in faults(each)] == []


def offenders(broken: Callable[[Source], object]) -> dict[str, object]:
    """Notebooks that break a rule → how each breaks it."""
    return {name: found for name, each in SOURCES.items() if (found := broken(each))}


def test_what_is_compared_cell_by_cell_was_executed() -> None:
    """nbval takes a cell that was never executed for one without output. The others: ``make release``."""
    assert [fault for name in STRICT for fault in problems(SOURCES[name])] == []


def test_every_stored_cell_was_executed() -> None:
    assert offenders(unexecuted) == {}


def test_no_stored_stream_is_a_log() -> None:
    """What a training tells while it runs is in its run's log; a reader of the notebook scrolls past it."""
    assert offenders(long_streams) == {}


def test_no_stored_output_shows_a_path_of_the_machine_it_was_made_on() -> None:
    assert offenders(machine_paths) == {}


NOT_QUOTED = re.compile(r"(?s)\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`|\]\([^)]*\)|\barXiv:[\d.]+")
"""Of a lesson's prose: equations, code and links, whose numbers are of no run."""


def printed(cell: NotebookNode) -> str:
    """What a cell's outputs say in text, without the tags of a figure, which have its coordinates."""
    texts = [one.get("text") or "".join(map(str, one.get("data", {}).values())) for one in cell.outputs]
    return re.sub(r"<[^>]*>", "", "".join(texts))


def unshown(each: Source) -> list[str]:
    """Numbers of two decimals that the prose has and neither an output nor the code; not those of the paper."""
    twin = nbformat.read(each.twin, as_version=4)
    shown = "".join(cell.source + printed(cell) for cell in code_cells(twin))
    prose = [part for cell in twin.cells if cell.cell_type == "markdown" for part in cell.source.split("\n\n")]
    of_the_run = "\n".join(NOT_QUOTED.sub("", part) for part in prose if not re.search(r"\bpaper\b|\bTables? \d", part))
    return [number for number in re.findall(r"(?<![\w.])\d+\.\d\d+(?![\w]|\.\d)", of_the_run) if number not in shown]


def test_a_number_that_the_prose_quotes_stands_in_an_output() -> None:
    """Executed on a run that ends elsewhere, a notebook would go on telling the figures of the one before."""
    later = {name for chain in CHAINS.values() for name in chain[1:]}
    assert {name: found for name, found in offenders(unshown).items() if name in later} == {}


def test_code_cells_are_short() -> None:
    def long(each: Source) -> list[str]:
        found = []
        for cell in code_cells(load(each)):
            lines = cell.source.splitlines()
            # A list of parameters or of imports is looked up, not followed.
            listing = "parameters" in cell.metadata.get("tags", []) or all(
                isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(cell.source).body
            )
            # What fills sentences is read as its output.
            tells = "Markdown(" in cell.source
            if len(lines) > (32 if listing else 26 if tells else 20):
                found.append(f"{len(lines)} lines: {lines[0]}")
            found += [line for line in lines if len(line) > (114 if tells else 88)]
        return found

    assert offenders(long) == {}


@pytest.mark.parametrize("name", [name for paper in papers().values() for name in paper.settings])
def test_the_first_cells_of_a_training_notebook_need_no_trainer(name: str) -> None:
    """TRL and transformers take seconds to import: a reader waits for them where they are used."""
    imports = next(cell.source for cell in code_cells(load(SOURCES[name])) if "from kit" in cell.source)
    code = f"{imports}\nimport sys; print(sorted({{'transformers', 'trl', 'peft', 'sklearn'}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_nothing_forbidden_is_in_them() -> None:
    def found(each: Source) -> list[str]:
        code = "\n".join(cell.source for cell in code_cells(load(each)))
        return [why for pattern, why in FORBIDDEN.items() if re.search(pattern, code, re.MULTILINE)]

    assert offenders(found) == {}


def test_they_open_as_all_do() -> None:
    def missing(each: Source) -> list[str]:
        cells = load(each).cells
        at = next(i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
        opening = "\n".join(cell.source for cell in cells[:at])
        found = [part for part, has in OPENING.items() if not re.search(has, opening, re.MULTILINE | re.IGNORECASE)]
        if not all(cell.cell_type == "markdown" for cell in cells[:at]):
            found.append("only text before the parameters")
        return found if opening.startswith(f"# {each.name[:2]}") else [*found, "a heading that begins with its number"]

    assert offenders(missing) == {}


def test_a_papers_notebook_closes_with_the_comparison() -> None:
    def silent(each: Source) -> bool:
        text = "\n".join(cell.source for cell in load(each).cells if cell.cell_type == "markdown")
        asked = any(each.name in chain for chain in CHAINS.values() if len(chain) > 1)
        return asked and not re.search(r"^## Paper / here / why different", text, re.MULTILINE)

    assert offenders(silent) == {}


def test_parameters_and_profiles_agree() -> None:
    def differing(each: Source) -> list[str]:
        declared, found = parameters(each), []
        for profile in PROFILES:
            values = check_values(declared, profile_values(each, profile), f"profile {profile}")
            if profile == "laptop":  # the notebook's own defaults
                found = [key for key in values if values[key] != declared[key].default]
        return found if declared else ["no cell tagged parameters"]

    assert offenders(differing) == {}


def test_what_a_notebook_needs_comes_from_its_papers_record_alone() -> None:
    """A second list, in a cell, may lack what the notebook reads: a job would find it, and JupyterLab wouldn't."""

    def astray(each: Source) -> list[str]:
        paper = next((paper for paper in papers().values() if each.name in paper.notebooks), None)
        read = set(paper.needs.get(each.name, {})) if paper else set()
        nodes = list(ast.walk(ast.parse("\n".join(cell.source for cell in code_cells(load(each))))))
        made = [node for node in nodes if isinstance(node, ast.Call)]
        asked = [ast.unparse(node.args[0]) for node in made if ast.unparse(node.func) == "needs"]
        found = [f"asks for {one}" for one in asked if one != repr(each.name)]
        for node in (node for node in nodes if isinstance(node, ast.Dict)):
            items = {ast.unparse(key): value for key, value in zip(node.keys, node.values, strict=True) if key}
            numbers = [value.value for value in items.values() if isinstance(value, ast.Constant)]
            if {f"{name!r}" for name in read} & set(items) and all(isinstance(one, int) for one in numbers) and numbers:
                found.append(f"lists {ast.unparse(node)}")
        starts = any(ast.unparse(node.func) == "start_run" for node in made)
        return found + (["doesn't ask for its own"] if starts and read and not asked else [])

    assert offenders(astray) == {}


def nbval(files: list[Path], mode: str, runs: Path) -> None:
    """Run nbval on ``files`` in one process; every code cell has to pass."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment = {
        **keep,
        "KIT_RUNS": str(runs),
        "KIT_QUIET": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(HELPERS),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "--tb=short",
        "-p",
        "nbval_settings",
        "-p",
        "no:cacheprovider",
    ]
    command += ["-o", "addopts=", f"--rootdir={files[0].parent}", "--nbval-current-env", mode, *map(str, files)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    cells = sum(cell.cell_type == "code" for file in files for cell in _read(file).cells)
    assert re.search(rf"^{cells} passed(, \d+ warnings?)? in", done.stdout, re.MULTILINE), output


def _read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def prepare(names: Sequence[str], folder: Path) -> list[Path]:
    """Copies of the executed notebooks in ``folder``, outputs kept, with the smoke values in them."""
    copies = []
    for name in names:
        declared, values = parameters(SOURCES[name]), profile_values(SOURCES[name], "smoke")
        values |= {key: "smoke" for key in ("run", "profile") if key in declared}
        copies.append(folder / f"{name}.ipynb")
        written = folder / f"stored-{name}.ipynb"
        written.write_text(dumps(with_stored_outputs(SOURCES[name])), encoding="utf-8")
        papermill.execute_notebook(
            written, copies[-1], parameters=check_values(declared, values, name), prepare_only=True
        )
    return copies


def test_what_a_figure_measures_may_change_and_what_stands_beside_it_may_not(tmp_path: Path) -> None:
    shown = 'from IPython.display import HTML\nHTML(\'<b>{0}</b><img class="kit-drawn" alt="{1} s" src="data:,{1}">\')'
    for beside in ("a", "b"):
        file = tmp_path / f"{beside}.ipynb"
        cell = nbformat.v4.new_code_cell(shown.format("a", 2), execution_count=1)
        html = f'<b>{beside}</b><img class="kit-drawn" alt="1 s" src="data:,1">'
        data = {"text/html": html, "text/plain": "<IPython.core.display.HTML object>"}
        cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), file)
    nbval([tmp_path / "a.ipynb"], "--nbval", tmp_path / "runs")
    with pytest.raises(AssertionError, match="mismatch 'text/html'"):
        nbval([tmp_path / "b.ipynb"], "--nbval", tmp_path / "runs")


@pytest.mark.parametrize("name", STRICT)
def test_a_teaching_notebook_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    nbval([SOURCES[name].twin], "--nbval", tmp_path / "runs")


@pytest.mark.parametrize("name", ALONE)
def test_it_runs_with_smoke_values(name: str, tmp_path: Path) -> None:
    nbval(prepare((name,), tmp_path), "--nbval-lax", tmp_path / "runs")


@pytest.mark.parametrize("paper", CHAINS)
def test_a_paper_runs_from_end_to_end_with_smoke_values(paper: str, tmp_path: Path) -> None:
    nbval(prepare(CHAINS[paper], tmp_path), "--nbval-lax", tmp_path / "runs")


# The command that writes the twins, on a notebook of its own.

SMALL = """# %% [markdown]
# # 00 · Small

# %% tags=["parameters"]
n: int = 2  # how many

# %%
import sys
for i in range(n):
    print("working", i, end="\\r")
    print("line", i, flush=True)
    print("noise", file=sys.stderr, flush=True)
{"a", "b", "c"}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    (tmp_path / "notebooks" / "percent").mkdir(parents=True)
    (tmp_path / "notebooks" / "percent" / "00_small.py").write_text(SMALL)
    return tmp_path


def test_refresh_writes_the_same_bytes_twice(project: Path) -> None:
    (small,) = sources(project)
    assert problems(small) == ["00_small.ipynb is missing"]
    assert refresh(small) == "executed"
    first = small.twin.read_bytes()
    assert problems(small) == []
    assert refresh(small) == "up to date", "nothing changed, nothing to do"
    assert refresh(small, force=True) == "executed"
    assert small.twin.read_bytes() == first
    text = first.decode()
    printed = [o.text for o in _read(small.twin).cells[-1].outputs if o.get("name") == "stdout"]
    assert printed == ["line 0\nline 1\n"], "one output a stream, rewritten lines as last seen"
    assert small.code_sha256 in text
    assert not re.search(r"papermill|iopub|start_time|\"version\"", text)


def test_a_changed_source_makes_the_twin_stale(project: Path) -> None:
    (small,) = sources(project)
    refresh(small)
    small.path.write_text(SMALL.replace("n: int = 2", "n: int = 3"))
    cells = "00_small.ipynb has other cells than 00_small.py; python -m kit notebooks 00 carries them over"
    outputs = "00_small.ipynb has outputs that other code than 00_small.py's made"
    assert faults(small) == [cells] and problems(small) == [cells, outputs]
    assert carry(small) and not carry(small)
    assert faults(small) == [] and problems(small) == ["00_small.ipynb has cells that were not executed", outputs]
    kept = code_cells(_read(small.twin))
    assert [cell.execution_count for cell in kept] == [None, 2] and kept[1].outputs, "outputs of the same code are kept"
    assert refresh(small) == "executed"
    assert problems(small) == []


def test_new_texts_keep_the_stored_outputs(project: Path) -> None:
    (small,) = sources(project)
    refresh(small)
    before = [cell.outputs for cell in _read(small.twin).cells if cell.cell_type == "code"]
    small.path.write_text(SMALL + "\n# %% [markdown]\n# One sentence more.\n")
    assert refresh(small) == "texts replaced"
    assert problems(small) == []
    told = _read(small.twin).cells
    assert told[-1].source == "One sentence more."
    assert [cell.outputs for cell in told if cell.cell_type == "code"] == before
    small.twin.write_text(re.sub(r'"execution_count": 2,', '"execution_count": null,', small.twin.read_text()))
    small.path.write_text(SMALL + "\n# %% [markdown]\n# Another one.\n")
    assert refresh(small) == "executed", "outputs of a cell that was never executed are no outputs"


def test_modules_that_moved_keep_the_stored_outputs(project: Path) -> None:
    """The same names from another place: texts only. Another name, or another line beside it, is executed."""
    (small,) = sources(project)
    imports = "from os.path import (\n    basename,\n    join,\n)\nimport os as system\nprint(join('a', 'b'))"
    small.path.write_text(SMALL + f"\n# %%\n{imports}\n")
    assert refresh(small) == "executed"
    before = [cell.outputs for cell in code_cells(_read(small.twin))]
    moved = imports.replace("from os.path", "from posixpath").replace("import os as", "import posix as")
    small.path.write_text(SMALL + f"\n# %%\n{moved}\n")
    assert refresh(small) == "texts replaced" and problems(small) == []
    assert [cell.outputs for cell in code_cells(_read(small.twin))] == before
    line = "import posix as system\n"
    sorted_anew = SMALL.replace("# %%\n", f"# %%\n{line}", 1) + f"\n# %%\n{moved.replace(line, '')}\n"
    small.path.write_text(sorted_anew)
    assert sorted_anew.count(line) == 1 and refresh(small) == "texts replaced" and problems(small) == []
    assert [cell.outputs for cell in code_cells(_read(small.twin))] == before
    small.path.write_text(SMALL + f"\n# %%\n{moved.replace('basename', 'dirname')}\n")
    assert refresh(small) == "executed"
    small.path.write_text(SMALL + f"\n# %%\n{moved.replace('a', 'c')}\n")
    small.twin.write_text(small.twin.read_text().replace('"a/b\\n"', '"told/by/hand\\n"'))
    assert carry(small) and problems(small), "what was not executed isn't stamped as executed"


@pytest.mark.parametrize("reads", ["published()", 'ROOT / "results" / "small.json"', "published_curves(x)"])
def test_changed_results_make_a_twin_that_shows_them_stale(project: Path, reads: str) -> None:
    (small,) = sources(project)
    figures, curve = project / "results" / "paper.json", project / "results" / "curves" / "paper-0" / "grpo.jsonl"
    curve.parent.mkdir(parents=True)
    figures.write_text("{}")
    curve.write_text("{}")
    assert refresh(small) == "executed" and results_shown(small) == ""
    figures.write_text('{"seed": 1}')
    assert problems(small) == [], "it reads none of them"
    small.path.write_text(SMALL + f"\n# %%\ndef shows():\n    return {reads}\n")
    assert refresh(small) == "executed" and problems(small) == []
    stale = ["00_small.ipynb shows other published results than those in results/"]
    for changed in (figures, curve):
        changed.write_text('{"seed": 2}')
        assert problems(small) == stale
        small.path.write_text(small.text + "\n# %% [markdown]\n# One sentence more.\n")
        assert carry(small) and problems(small) == stale, "other texts make no outputs"
        assert refresh(small) == "executed" and problems(small) == []
    figures.write_text('{"seed": 2, "proved": {"digest": "abc"}, "training_minutes": 3.5}')
    assert problems(small) == [], "who made them, and when, is shown by none"
    curve.unlink()
    assert problems(small) == stale


def test_cells_without_outputs_logs_and_paths_are_named(project: Path) -> None:
    (small,) = sources(project)
    refresh(small)
    assert unexecuted(small) == long_streams(small) == machine_paths(small) == []
    lines = f"for i in range({LONGEST + 1}):\n    print(i)"
    path = 'from pathlib import Path\nprint(Path("/tmp/somebody/runs/a"), "https://a.example/tmp/b", "kit/tmp/c")'
    small.path.write_text(SMALL + f"\n# %%\n{lines}\n\n# %%\n{path}\n")
    carry(small)
    assert unexecuted(small) == ["for i in range(26):", "from pathlib import Path"]
    refresh(small)
    assert long_streams(small) == ["26 lines: for i in range(26):"]
    assert machine_paths(small) == ["/tmp/somebody/runs/a"] and unexecuted(small) == []


def test_a_failed_notebook_keeps_its_output_and_not_its_place(project: Path) -> None:
    (small,) = sources(project)
    small.path.write_text(SMALL + "\n# %%\nprint('before')\nraise ValueError('broken on purpose')\n")
    with pytest.raises(
        NotebookError, match=r"00_small failed with ValueError: broken on purpose\nits output: .*failed"
    ):
        refresh(small)
    assert not small.twin.exists()
    kept = (project / "runs" / "failed" / "00_small.ipynb").read_text()
    assert "before" in kept and "broken on purpose" in kept


def test_what_a_reader_is_asked_to_guess_is_stored_folded(project: Path) -> None:
    (small,) = sources(project)
    small.path.write_text(SMALL + '\n# %% tags=["guess"]\nprint("the answer")\n')
    folded = [cell.metadata.get("jupyter") for cell in normal(load(small), stamp(small)).cells]
    assert folded[-1] == {"outputs_hidden": True} and set(folded[:-1]) == {None}


def test_every_fault_of_a_twin_is_seen(project: Path) -> None:
    (small,) = sources(project)
    notebook = load(small)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("error", ename="E", evalue="x" * 400_000, traceback=[])]
    nbformat.write(normal(notebook, stamp(small)), small.twin)
    found = "\n".join(problems(small))
    assert "not executed" in found and "holds an error" in found and "above 300,000" in found


def test_a_source_reads_the_same_each_time(project: Path) -> None:
    (small,) = sources(project)
    assert load(small) == load(small)
    listed = {name: Source(Path(f"{name}.py")).family for name in SOURCES}
    papers_own = {n: paper for paper, chain in CHAINS.items() for n in chain}
    # Taught beside the papers: they make no run.
    alone = {"52_tool_services": "tool_services", "61_in_your_own_trainer": "in_your_own_trainer"}
    assert listed == dict.fromkeys(TEACHING, "teaching") | papers_own | alone


def test_an_unknown_notebook_names_the_known_ones(project: Path) -> None:
    with pytest.raises(NotebookError, match=r"no notebook '77': give a number \(00\) or one of teaching"):
        find("77", project)


def git(folder: Path, *args: str) -> str:
    here = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run([*here, *args], capture_output=True, text=True, check=True).stdout


def test_the_hook_carries_texts_into_the_twin_in_the_same_commit(project: Path) -> None:
    (small,) = sources(project)
    refresh(small)
    outputs = [cell.outputs for cell in code_cells(_read(small.twin))]
    git(project, "init", "-q")
    git(project, "add", "notebooks")
    git(project, "commit", "-qm", "first")
    assert carry_staged(project) == []
    small.path.write_text(SMALL + "\n# %% [markdown]\n# One sentence more.\n")
    assert carry_staged(project) == [], "it isn't staged"
    git(project, "add", "notebooks/percent")
    assert carry_staged(project) == ["00_small.ipynb"]
    git(project, "commit", "-qm", "second")
    assert git(project, "status", "--porcelain", "notebooks") == "" and problems(small) == []
    assert "One sentence more." in git(project, "show", "HEAD:notebooks/00_small.ipynb")
    assert [cell.outputs for cell in code_cells(_read(small.twin))] == outputs
    small.path.write_text(SMALL + "\n# %% [markdown]\n# Staged.\n")
    git(project, "add", "notebooks/percent")
    small.path.write_text(SMALL + "\n# %% [markdown]\n# Not staged.\n")
    with pytest.raises(NotebookError, match=r"00_small.py is staged in part; stage the rest too \(git add notebooks/"):
        carry_staged(project)
