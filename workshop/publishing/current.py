"""Tell whether published results are those of the code as it is.

A results file carries one digest (:mod:`workshop.publishing.digest`), and is current when today's digest is the one it
was made with, or the one under which :mod:`workshop.publishing.prove` last found the smoke runs before and after to
agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kit.files import ROOT, read_json
from papers.published import ResultsFile
from papers.registry import Paper
from workshop.jobs.notebooks import Source
from workshop.publishing.digest import digest, project_packages


def results_folder(paper: Paper) -> Path:
    """The folder of a paper's published results: beside its notebooks."""
    return paper.notebooks_dir.parent / "results"


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
    """Digest of what a paper's published runs depend on now."""
    return _digest(paper, training_sources(paper))


def _digest(paper: Paper, notebooks: Sequence[Source]) -> str:
    homes, package = project_packages(ROOT), paper.evaluation.partition(".")[0]
    if package not in homes and (spec := find_spec(package)) and spec.origin:
        homes[package] = Path(spec.origin).parents[1]
    return digest(notebooks, homes, paper.published.weights if paper.published else ())


def outdated(paper: Paper, figures: ResultsFile, results: Mapping[str, Any] | None) -> str:
    """Say why a results file isn't current; an empty string: it is.

    Args:
        paper: the paper.
        figures: which of its results files.
        results: its content; None: it isn't there.
    """
    if results is None:
        return "isn't there"
    known = {results.get("digest"), results.get("proved", {}).get("digest")} - {None}
    return (
        "" if known and digest_of(paper, figures) in known else "was made by other code, and not proved current since"
    )
