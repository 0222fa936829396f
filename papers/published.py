"""Say how a paper's published results are made: which runs, which notebooks measure them, where figures are written.

``python -m kit results`` makes them from this record (:mod:`workshop.publishing.results`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MAIN = "main"
"""The arm of a paper's first runs, whose stages are called by their own names."""


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
        data: parameter → script of the project that writes the folder it wants (``SCRIPT --out FOLDER``).
        measured: place of the function that makes metrics and claims of outcomes, ``module:attribute``; empty:
            ``measured`` in the module of that name in the paper's package. Beside it may stand ``numbers``, what it
            needs of a run's folder besides outcomes and curves, and ``paper_tables``, tables of stages.
        evaluation: place of the evaluation by which its stages are stored; empty: the paper's.
        stages: folder within a run whose stages it is of, such as ``general``, which the first runs alone have; empty:
            the run's own.
    """

    notebook: str
    name: str
    data: Mapping[str, str] = field(default_factory=dict)
    measured: str = ""
    evaluation: str = ""
    stages: str = ""


@dataclass(frozen=True)
class Published:
    """A paper's published results.

    Attributes:
        runs: parameter by which a measuring notebook takes the names of runs → the runs. The first ones are measured
            by these notebooks, each run by itself; of the others is published what their own notebooks played.
        files: with results, in the order in which they are measured.
        weights: folders of the checkpoints that training starts from, within the project.
    """

    runs: Mapping[str, Runs]
    files: tuple[ResultsFile, ...]
    weights: tuple[str, ...] = ("tiny/weights",)

    @property
    def arms(self) -> dict[str, Runs]:
        """The runs by the names of their arms: ``main`` the first ones, and ``bonus`` those of ``bonus_runs``."""
        main, *others = self.runs.items()
        return {MAIN: main[1]} | {parameter.removesuffix("_runs"): runs for parameter, runs in others}
