"""Say how a paper's published results are made: which runs, which notebooks measure them, where figures are written.

``python -m kit results`` makes them from this record (:mod:`workshop.publishing.results`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Runs:
    """Trainings that differ in their seed only, at the profile ``laptop``.

    Attributes:
        name: first part of the runs' names.
        seeds: how many; they count from 0.
        notebooks: names of the notebooks that make a run, in order.
        values: parameter → value, as ``--set`` takes them, for the notebooks that have the parameter.
        tag: makes each of them a branch of the run with the same name and seed; empty: runs of their own.
        keeps: file or folder that a branch keeps → number of the notebook that made it.
    """

    name: str
    seeds: int
    notebooks: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    keeps: Mapping[str, int] = field(default_factory=dict)

    def called(self, seed: int, code: str = "") -> str:
        """Name the run of a seed: ``NAME-SEED``, or ``NAME-SEED.CODE`` with a hash of the code that trains it.

        The tag of a branch comes last.
        """
        return f"{self.name}-{seed}" + (f".{code}" if code else "") + (f"-{self.tag}" if self.tag else "")


@dataclass(frozen=True)
class ResultsFile:
    """A results file that one notebook measures over the runs.

    Attributes:
        notebook: name of the notebook that measures.
        name: the published file, ``results/NAME.json``.
        file: the file that the notebook writes into the folder of the first run.
        data: parameter → script of the project that writes the folder it wants (``SCRIPT --out FOLDER``).
    """

    notebook: str
    name: str
    file: str = "results.json"
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """A paper's published results.

    Attributes:
        runs: parameter by which a measuring notebook takes the names of runs → the runs.
        files: with results, in the order in which they are measured.
        weights: folders of the checkpoints that training starts from, within the project.
    """

    runs: Mapping[str, Runs]
    files: tuple[ResultsFile, ...]
    weights: tuple[str, ...] = ("tiny/weights",)
