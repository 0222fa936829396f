"""The notebooks: complete, executed, fresh, in house style, and still printing what they show."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest
from nbformat import NotebookNode
from places import HELPERS

from kit.files import ROOT
from kit.jobs.notebooks import NotebookError, Source, code_cells, find, load, parameters, sources
from kit.jobs.parameters import check_values
from kit.jobs.run import PROFILES, profile_values
from kit.jobs.twins import carry, carry_staged, dumps, faults, normal, problems, refresh, with_stored_outputs

STRICT = ("00_start", "01_episode", "02_sandbox", "03_grpo_by_hand", "11_agile", "21_visual_arft")
"""Every printed value is compared with the committed one."""

CHAIN = ("11_agile", "12_agile_sft", "13_agile_grpo", "14_agile_claims", "15_agile_general")
"""Run after one another with smoke values: each reads what the one before wrote."""

ALONE = ("04_tiny_vlm", "05_laptop_to_node", "06_is_it_learning", "60_your_own")
"""Run alone with smoke values."""

VISUAL_ARFT = ("21_visual_arft", "22_visual_arft_rewards", "23_visual_arft_grpo", "24_visual_arft_claims")
"""Run after one another with smoke values, like :data:`CHAIN`."""

EXPECTED = tuple(sorted({*STRICT, *CHAIN, *ALONE, *VISUAL_ARFT}))

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

every = pytest.mark.parametrize("name", EXPECTED)


def source(name: str) -> Source:
    return find(name)[0]


def test_the_set_is_complete() -> None:
    assert [s.name for s in sources()] == list(EXPECTED)
    assert sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb")) == list(EXPECTED)


def test_every_twin_has_its_source_s_cells() -> None:
    """Git's hook sees to it (``make`` installs it), or ``python -m kit notebooks NN``."""
    assert [fault for name in EXPECTED for fault in faults(source(name))] == []


@pytest.mark.parametrize("name", STRICT)
def test_what_is_compared_cell_by_cell_was_executed(name: str) -> None:
    """nbval takes a cell that was never executed for one without output. The others: ``make release``."""
    assert problems(source(name)) == []


@every
def test_code_cells_are_short(name: str) -> None:
    for cell in load(source(name)).cells:
        if cell.cell_type == "code":
            lines = cell.source.splitlines()
            # A list of parameters or of imports is looked up, not followed.
            listing = "parameters" in cell.metadata.get("tags", []) or all(
                isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(cell.source).body
            )
            assert len(lines) <= (28 if listing else 20), f"{len(lines)} lines: {lines[0]}"
            assert all(len(line) <= 88 for line in lines), max(lines, key=len)


@pytest.mark.parametrize("number", ["12", "13", "23"])
def test_the_first_cells_of_a_training_notebook_need_no_trainer(number: str) -> None:
    """TRL and transformers take seconds to import: a reader waits for them where they are used."""
    cells = [cell.source for cell in load(find(number)[0]).cells if cell.cell_type == "code"]
    imports = next(text for text in cells if "from kit" in text)
    code = f"{imports}\nimport sys; print(sorted({{'transformers', 'trl', 'peft', 'sklearn'}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


@every
def test_nothing_forbidden_is_in_it(name: str) -> None:
    code = "\n".join(cell.source for cell in load(source(name)).cells if cell.cell_type == "code")
    found = [why for pattern, why in FORBIDDEN.items() if re.search(pattern, code, re.MULTILINE)]
    assert found == []


@every
def test_it_opens_as_all_do(name: str) -> None:
    cells = load(source(name)).cells
    at = next(i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
    opening = "\n".join(cell.source for cell in cells[:at])
    assert all(cell.cell_type == "markdown" for cell in cells[:at]), "only text stands before the parameters"
    assert opening.startswith(f"# {name[:2]}"), "the heading begins with the number"
    missing = [part for part, has in OPENING.items() if not re.search(has, opening, re.MULTILINE | re.IGNORECASE)]
    assert missing == []


@pytest.mark.parametrize("name", sorted({*CHAIN, *VISUAL_ARFT}))
def test_a_papers_notebook_closes_with_the_comparison(name: str) -> None:
    text = "\n".join(cell.source for cell in load(source(name)).cells if cell.cell_type == "markdown")
    assert re.search(r"^## Paper / here / why different", text, re.MULTILINE)


@every
def test_parameters_and_profiles_agree(name: str) -> None:
    declared = parameters(source(name))
    assert declared, "a notebook has a cell tagged parameters"
    for profile in PROFILES:
        values = check_values(declared, profile_values(source(name), profile), f"profile {profile}")
        if profile == "laptop":
            assert values == {key: declared[key].default for key in values}, "laptop is the notebook's own default"


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


def prepare(names: tuple[str, ...], folder: Path) -> list[Path]:
    """Copies of the executed notebooks in ``folder``, outputs kept, with the smoke values in them."""
    copies = []
    for name in names:
        declared, values = parameters(source(name)), profile_values(source(name), "smoke")
        values |= {key: "smoke" for key in ("run", "profile") if key in declared}
        copies.append(folder / f"{name}.ipynb")
        written = folder / f"stored-{name}.ipynb"
        written.write_text(dumps(with_stored_outputs(source(name))), encoding="utf-8")
        papermill.execute_notebook(
            written, copies[-1], parameters=check_values(declared, values, name), prepare_only=True
        )
    return copies


@pytest.mark.parametrize("name", STRICT)
def test_a_teaching_notebook_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    nbval([source(name).twin], "--nbval", tmp_path / "runs")


@pytest.mark.parametrize("name", ALONE)
def test_it_runs_with_smoke_values(name: str, tmp_path: Path) -> None:
    nbval(prepare((name,), tmp_path), "--nbval-lax", tmp_path / "runs")


@pytest.mark.parametrize("chain", [CHAIN, VISUAL_ARFT], ids=lambda chain: chain[0])
def test_a_paper_runs_from_end_to_end_with_smoke_values(chain: tuple[str, ...], tmp_path: Path) -> None:
    nbval(prepare(chain, tmp_path), "--nbval-lax", tmp_path / "runs")


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
    folded = [cell.metadata.get("jupyter") for cell in normal(load(small), small.code_sha256).cells]
    assert folded[-1] == {"outputs_hidden": True} and set(folded[:-1]) == {None}


def test_every_fault_of_a_twin_is_seen(project: Path) -> None:
    (small,) = sources(project)
    notebook = load(small)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("error", ename="E", evalue="x" * 400_000, traceback=[])]
    nbformat.write(normal(notebook, small.code_sha256), small.twin)
    found = "\n".join(problems(small))
    assert "not executed" in found and "holds an error" in found and "above 300,000" in found


def test_a_source_reads_the_same_each_time(project: Path) -> None:
    (small,) = sources(project)
    assert load(small) == load(small)
    assert [
        s.family for s in map(Source, [Path("00_start.py"), Path("14_agile_claims.py"), Path("21_visual_arft.py")])
    ] == [
        "teaching",
        "agile",
        "visual_arft",
    ]


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
