"""Prove that published results are current: smoke runs at the commit that made them and here agree bit for bit.

``python -m kit results --prove [PAPER …]`` runs a paper's notebooks with the profile ``smoke`` twice in one
environment: as they stand at the results' commit (in a git worktree) and as they stand here. Results are current if

- every metric, stage, training curve and trained weight of the two runs is equal, and so is what cells of the same
  code print (rewards worked out by hand, counts, texts of episodes);
- the values of the profile ``laptop``, the notebooks' code, the base weights, and the record of runs and data scripts
  are the same. Of figures that are made of stored outcomes only what trained these counts: cells that draw and the
  claims notebook may change.

Otherwise it says what differs, and nothing is recorded. A proof is recorded in the results file with the digests of
today's code, so it isn't repeated until code changes again. ``results/renamed.toml`` holds what a change renamed,
``"old" = "new"``: names of metrics under the paper's name, paths of files and folders under ``moved``.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from kit.evaluate.provenance import commit
from kit.files import ROOT, write_json
from kit.train.metrics import TIMES, read_metrics
from kit.train.progress import duration
from papers.published import ResultsFile
from papers.registry import Paper
from workshop.jobs.notebooks import CALM, Source
from workshop.jobs.run import JobError, profile_values
from workshop.publishing.current import digest_of, outdated, results_of, source_of, training_digest, training_sources
from workshop.publishing.digest import code_digest, notebook_tree, project_packages, weights_digest

RUN = "proof"
"""Name of both smoke runs: it stands in what they print."""

MOST = 12
"""Differences that are shown."""

LOCK = "locks/cpu.txt"


def prove_all(papers: Sequence[Paper], again: bool = False, root: Path = ROOT) -> bool:
    """Prove every results file that isn't known to be current, and print what came out; true if all are current.

    Args:
        papers: whose results.
        again: also prove what is known to be current.
        root: the project's folder.
    """
    fine = True
    for paper in papers:
        some = [(figures, path, results) for figures, path, results in results_of(paper) if results is not None]
        if not again and not any(outdated(paper, figures, results) for figures, _, results in some):
            print(f"{paper.title}: its results are current: made or proved with this code", flush=True)
            continue
        for at in sorted({results["commit"] for _, _, results in some}):
            began = time.monotonic()
            print(f"{paper.title}: smoke runs at {at[:12]} and here, some minutes …", flush=True)
            mine = [(figures, "trained" in results) for figures, _, results in some if results["commit"] == at]
            inputs, differs, compared = _compare(paper, at, mine, root)
            took = duration(time.monotonic() - began)
            print(f"  {compared} values compared in {took}: {len(differs) or 'none'} of them differ", flush=True)
            for figures, path, results in some:
                if results["commit"] == at:
                    apart = differs
                    if "trained" in results:
                        # Made of stored outcomes, without the claims notebook: its words may change.
                        apart = [text for text in differs if not text.startswith(f"{figures.notebook}.ipynb ")]
                    fine &= _conclude(paper, figures, path, results, inputs[figures.name] + apart, compared)
    return fine


def _conclude(
    paper: Paper, figures: ResultsFile, path: Path, results: Mapping[str, Any], differs: Sequence[str], compared: int
) -> bool:
    """Print one file's verdict, and record a proof that succeeded."""
    if not differs:
        digests = {"digest": digest_of(paper, figures), "trains": training_digest(paper)}
        proved = {**digests, "commit": commit(), "compared": compared}
        write_json(path, {**results, "proved": proved})
        print(f"  results/{path.name} is current", flush=True)
        return True
    shown = [*differs[:MOST], *([f"and {len(differs) - MOST} more"] if len(differs) > MOST else [])]
    print(f"  results/{path.name} is stale: what follows differs. `python -m kit results {paper.name}` makes it anew.")
    print("\n".join(f"    {text}" for text in shown), flush=True)
    return False


def _compare(
    paper: Paper, at: str, some: Sequence[tuple[ResultsFile, bool]], root: Path
) -> tuple[dict[str, list[str]], list[str], int]:
    """Differences of what went in, by results file, those of the smoke runs, and how many values were compared."""
    with worktree(at, root) as before, tempfile.TemporaryDirectory(prefix="kit-proof-") as folder:
        apart = {one.name: _inputs_apart(paper, one, before, root, stored) for one, stored in some}
        # Cells that show published figures beside a run's own print what stands there, not what the code came to.
        shutil.rmtree(before / "results", ignore_errors=True)  # seeds that were published then, and aren't now
        shutil.copytree(root / "results", before / "results")
        if (before / LOCK).read_bytes() != (root / LOCK).read_bytes():
            print(f"  {LOCK} has changed since; both runs use what is installed here", flush=True)
        old, new = (observed(smoke(paper, place, Path(folder) / name)) for place, name in ((before, "a"), (root, "b")))
    return apart, differences(old, new, _renamed(root, paper.name)), len(old)


def _renamed(root: Path, table: str) -> dict[str, str]:
    """One of the tables of ``results/renamed.toml``: old name → new name."""
    file = root / "results" / "renamed.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")).get(table, {}) if file.exists() else {}


@contextmanager
def worktree(at: str, root: Path = ROOT) -> Iterator[Path]:
    """Check out a commit beside the project, for as long as the context lasts.

    Args:
        at: the commit's hash.
        root: the project's folder.

    Raises:
        JobError: the commit isn't in this repository.
    """

    def git(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=False)

    if at.endswith("+changes"):
        raise JobError(f"the results were made at {at}, with files that were never committed: only new ones can be had")
    if git("cat-file", "-e", f"{at}^{{commit}}").returncode:
        shallow = git("rev-parse", "--is-shallow-repository").stdout.strip() == "true"
        way = "fetch its history: git fetch --unshallow" if shallow else "prove them in a clone that has it"
        raise JobError(f"commit {at[:12]}, which made the results, isn't in this repository; {way}")
    with tempfile.TemporaryDirectory(prefix="kit-commit-") as folder:
        path = Path(folder) / "kit"
        done = git("worktree", "add", "--detach", str(path), at)
        if done.returncode:
            raise JobError(f"git worktree add {path} {at[:12]} failed: {done.stderr.strip()}")
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def smoke(paper: Paper, root: Path, runs: Path) -> Path:
    """Run a paper's notebooks with smoke values, by the code in ``root``; returns the run's folder.

    Args:
        paper: the paper.
        root: a checkout of the project.
        runs: the folder to put the run into.

    Raises:
        JobError: it failed; with the end of what it printed.
    """
    packages = os.pathsep.join(dict.fromkeys(map(str, [root, *project_packages(root).values()])))
    here = {**os.environ, **CALM, "PYTHONPATH": packages, "KIT_RUNS": str(runs), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "kit", "run", paper.name, "--profile", "smoke", "--name", RUN]
    done = subprocess.run(command, cwd=root, env=here, capture_output=True, text=True, check=False)
    if done.returncode:
        raise JobError(f"the smoke run of {paper.name} in {root} failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return runs / RUN


def observed(folder: Path) -> dict[str, str]:
    """Read all that a run came to, place by place: metrics, stages, curves, weights, and what its cells printed."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("results*.json")):
        results = json.loads(path.read_text(encoding="utf-8"))
        found |= _flat(results["metrics"], f"{path.name} ")
        found |= {f"{path.name} {name} verdict": claim["verdict"] for name, claim in results["claims"].items()}
    for path in sorted(folder.rglob("stages/*.json")):
        found |= _flat(json.loads(path.read_text(encoding="utf-8"))["metrics"], f"{path.relative_to(folder)} ")
    for path in sorted(folder.rglob("metrics.jsonl")):
        for row in read_metrics(path):
            here = f"{path.relative_to(folder)} step {row['step']} "
            found |= {here + name: repr(value) for name, value in row.items() if name not in TIMES}
    for path in sorted(folder.rglob("model/*.safetensors")):
        found[str(path.relative_to(folder))] = sha256(path.read_bytes()).hexdigest()[:12]
    for path in sorted(folder.glob("*.ipynb")):
        found |= _printed(path)
    return found


def _flat(metrics: Mapping[str, Any], before: str) -> dict[str, str]:
    return {f"{before}{name} {part}": repr(x) for name, record in metrics.items() for part, x in record.items()}


def _printed(path: Path) -> dict[str, str]:
    """Text that each cell of an executed notebook printed, by the cell's code."""
    found: dict[str, str] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = "".join(cell["source"])
        texts = ["".join(out.get("text", "")) for out in cell["outputs"] if out.get("name") == "stdout"]
        lines = code.splitlines() or [""]
        key = f"{path.name} {sha256(code.encode()).hexdigest()[:6]} “{lines[0][:50]}” prints"
        found[key] = found.get(key, "") + "".join(texts)
    return found


def differences(old: Mapping[str, str], new: Mapping[str, str], renamed: Mapping[str, str]) -> list[str]:
    """Describe every value of ``old`` that ``new`` lacks or has otherwise; what only ``new`` has is no difference.

    Args:
        old: place → value.
        new: the same, later.
        renamed: a name within a place → its name later.
    """
    found = []
    for place, value in old.items():
        later = " ".join(renamed.get(word, word) for word in place.split(" "))
        if later in new:
            if new[later] != value:
                found.append(f"{later}: {_apart(value, new[later])}")
        elif not place.endswith(" prints"):  # a cell whose code has changed is told by its notebook
            found.append(f"{later}: {value} → it is gone")
    return found


def _apart(old: str, new: str) -> str:
    """The first lines that differ."""
    if "\n" not in old + new:
        return f"{old} → {new}"
    a, b = old.splitlines(), new.splitlines()
    k = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return f"line {k + 1}: {(a[k:] or ['nothing'])[0]!r} → {(b[k:] or ['nothing'])[0]!r}"


def _inputs_apart(paper: Paper, figures: ResultsFile, before: Path, root: Path, stored: bool) -> list[str]:
    """Describe what went into figures, or the outcomes they are made of, besides the kit's code, and now differs."""
    found = []
    sources = [*training_sources(paper), *([] if stored else [source_of(paper, figures.notebook)])]
    for source in dict.fromkeys(sources):
        then = Source(before / source.path.relative_to(root))
        if not then.path.exists():
            found.append(f"{source.name}: there was no such notebook")
            continue
        old, new = profile_values(then, "laptop"), profile_values(source, "laptop")
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                found.append(f"{source.name}, laptop: {name}={old.get(name)!r} → {new.get(name)!r}")
        if code_digest(then, stored) != code_digest(source, stored):
            texts = [ast.unparse(notebook_tree(one, stored)) + "\n" for one in (then, source)]
            found.append(f"{source.name}: its code, first in {_apart(*texts)}")
    moved = _renamed(root, "moved")
    for folder in paper.published.weights if paper.published else ():
        if weights_digest(_then(before, folder, moved)) != weights_digest(root / folder):
            found.append(f"{folder}: the base weights")
    record = f"{paper.evaluation.partition(':')[0].replace('.', '/').rpartition('/')[0]}/paper.py"
    if _at_today_s_places(_record(_then(before, record, moved)), moved) != _record(root / record):
        found.append(f"{paper.name}: which runs, values and data scripts make the results (published=…)")
    return found


def _then(before: Path, place: str, moved: Mapping[str, str]) -> Path:
    """Where a file or folder that lies at ``place`` today lay in an older checkout."""
    older = [old + place[len(new) :] for old, new in moved.items() if f"{place}/".startswith(f"{new}/")]
    return next((path for path in (before / name for name in (place, *older)) if path.exists()), before / place)


def _at_today_s_places(text: str, moved: Mapping[str, str]) -> str:
    """Code of an older checkout with today's paths and modules in its texts."""
    for old, new in moved.items():
        for sign in "/.":
            text = re.sub(rf"(?<=['\"]){re.escape(old.replace('/', sign))}\b", new.replace("/", sign), text)
    return text


def _record(path: Path) -> str:
    """A paper's ``published=…`` as it is written in its ``paper.py``."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return next((ast.unparse(k.value) for call in calls for k in call.keywords if k.arg == "published"), "")
