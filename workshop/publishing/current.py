"""Tell whether published results are those of the code as it is.

A results file carries one digest (:mod:`workshop.publishing.digest`), and is current when today's digest is the one it
was made with, or the one under which :mod:`workshop.publishing.prove` last found the smoke runs before and after to
agree. One that was made of stored outcomes says by which code they were trained besides: if that is today's, nothing
has to be trained for its figures to be current.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kit.files import ROOT, read_json
from papers.published import ResultsFile
from papers.registry import Paper
from workshop.jobs.notebooks import Source
from workshop.publishing.digest import LENGTH, digest, project_packages

MADE = (":!results", ":!docs", ":!README.md", ":!notebooks/*.ipynb")
"""What publishing and executing notebooks writes, left out of what has to be committed before."""


def results_folder(paper: Paper) -> Path:
    """The folder of a paper's published results: beside its notebooks."""
    return paper.notebooks_dir.parent / "results"


def folder_of(paper: Paper) -> Path:
    """The folder of a paper's stored outcomes."""
    return results_folder(paper) / "outcomes"


def results_of(paper: Paper) -> Iterator[tuple[ResultsFile, Path, dict[str, Any] | None]]:
    """A paper's results files: record, path, content; None: it isn't there."""
    for figures in paper.published.files if paper.published else ():
        path = results_folder(paper) / f"{figures.name}.json"
        yield figures, path, read_json(path)


def training_sources(paper: Paper) -> list[Source]:
    """The notebooks that make a paper's published runs, each once."""
    made = paper.published
    names = dict.fromkeys(n for runs in (made.runs.values() if made else ()) for n in runs.notebooks)
    return [source_of(paper, name) for name in names]


def source_of(paper: Paper, notebook: str) -> Source:
    """A notebook of a paper, by its name."""
    return Source(paper.notebooks_dir / "percent" / f"{notebook}.py")


def digest_of(paper: Paper, figures: ResultsFile) -> str:
    """Digest of what a results file depends on now: what trained, and what measured."""
    return _digest(paper, [*training_sources(paper), source_of(paper, figures.notebook)])


def training_digest(paper: Paper) -> str:
    """Digest of what trains a paper's published runs and judges their episodes now."""
    return _digest(paper, training_sources(paper), trains=True)


def trained_as(paper: Paper) -> str:
    """Digest under which runs of today's code are named and stored: :func:`training_digest`, or that of the published
    outcomes that it was proved to train bit for bit alike, so that further seeds stand beside them.
    """
    now, files = training_digest(paper), [results for _, _, results in results_of(paper) if results is not None]
    if files and all(results.get("proved", {}).get("trains") == now and "trained" in results for results in files):
        return str(files[0]["trained"]["digest"])
    return now


def _digest(paper: Paper, notebooks: Sequence[Source], trains: bool = False) -> str:
    homes, package = project_packages(ROOT), paper.evaluation.partition(".")[0]
    if package not in homes and (spec := find_spec(package)) and spec.origin:
        homes[package] = Path(spec.origin).parents[1]
    return digest(notebooks, homes, paper.published.weights if paper.published else (), trains)


def uncommitted(root: Path = ROOT) -> list[str]:
    """Files of the project that no commit has, but for published results and pages, which are what is being made.

    Args:
        root: the project's folder; one that isn't under git has none.
    """
    if not (root / ".git").exists():
        return []
    asked = ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all", "--", ".", *MADE]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return [line[3:] for line in done.stdout.splitlines()]


def outdated(paper: Paper, figures: ResultsFile, results: Mapping[str, Any] | None) -> str:
    """Say why a results file isn't current; an empty string: it is.

    Args:
        paper: the paper.
        figures: which of its results files.
        results: its content; None: it isn't there.
    """
    if results is None:
        return "isn't there"
    known, trained = {results.get("digest"), results.get("proved", {}).get("digest")} - {None}, results.get("trained")
    if not (known and digest_of(paper, figures) in known):
        if trained and training_digest(paper) in (trained["digest"], results.get("proved", {}).get("trains")):
            return "has figures by other code; python -m kit results --figures makes them of its outcomes anew"
        return "was made by other code, and not proved current since"
    if trained and trained["outcomes"] != outcomes_hash(paper, figures):
        return "isn't of the outcomes that are stored; python -m kit results --figures makes it anew"
    return ""


def outcomes_hash(paper: Paper, figures: ResultsFile) -> str:
    """Hash of what is stored for a results file; empty: nothing is."""
    path = folder_of(paper) / f"{figures.name}.json"
    return sha256(path.read_bytes()).hexdigest()[:LENGTH] if path.is_file() else ""


def machine(told: Mapping[str, Any]) -> str:
    """Name a machine: its cards, or its cores."""
    return ", ".join(told["gpus"]) or f"{told['cores']} cores of {told['cpu']}"
