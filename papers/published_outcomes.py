"""The published runs' outcomes, of which every figure is made: ``results/outcomes/NAME.csv.gz``, and ``NAME.json``.

The table has a row for each arm, seed, stage and task: what the stage's policy came to there. The other file says of
each run what it was trained by, and holds a hash of its rows::

    arm,seed,stage,task,image,correct,reason,turns,tool_calls,tokens,…
    bonus,0,grpo,test-count-hard-s1-0003,…,1,solved,3,2,88,…

A run is added as soon as it is measured, so that what is published is there when the run's folder is gone
(:mod:`workshop.publishing.outcomes`).
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from kit.evaluate.five import SWAPPED
from kit.evaluate.outcomes import Outcome
from kit.files import read_json, write_bytes, write_json
from papers.played import flat
from papers.published import MAIN, Runs

T = TypeVar("T", bound=Outcome)

Key = tuple[str, int]
"""Arm and seed of a run."""

HEAD = ("arm", "seed", "stage")
"""The first columns; the outcome's own fields follow."""


class OutcomesError(ValueError):
    """Outcomes that figures can't be made of."""


@dataclass(frozen=True)
class Made:
    """The code, machine and time that made one run's outcomes.

    Attributes:
        run: the run's name when it was trained.
        digest: of the code that trained it and judged its episodes.
        trained_at: commits at which its trainings were begun.
        measured_at: the commit at which its last notebook ran.
        values: parameters that this arm's runs have of their own, with the seed.
        hardware: of the machine, as results files have it.
        versions: of the packages that can change a number.
        minutes: wall time of the notebooks that trained it.
        measuring_minutes: of those that measured it.
        training_minutes: of its trainings' steps; None: it has none of its own.
        date: when it was stored, ``YYYY-MM-DD``.
        numbers: what figures need of it that no outcome has.
    """

    run: str
    digest: str
    trained_at: Sequence[str]
    measured_at: str
    values: Mapping[str, str]
    hardware: Mapping[str, Any]
    versions: Mapping[str, str]
    minutes: float
    measuring_minutes: float
    training_minutes: float | None
    date: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stored(Generic[T]):
    """The outcomes of a paper's runs.

    Attributes:
        made: arm and seed of a run → what made it.
        stages: the same → its stages' outcomes.
    """

    made: Mapping[Key, Made] = field(default_factory=dict)
    stages: Mapping[Key, Mapping[str, Sequence[T]]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Digest of the code that trained all of them.

        Raises:
            OutcomesError: some were trained by other code than others, or there are none.
        """
        found = {made.digest: f"{made.run} by {made.digest}" for made in self.made.values()}
        if len(found) != 1:
            raise OutcomesError(
                f"runs of {len(found)} states of the code ({', '.join(found.values()) or 'none is stored'}): figures "
                "are of one; python -m kit results PAPER trains what is lacking"
            )
        return next(iter(found))

    def has(self, arm: str, seed: int, digest: str, values: Mapping[str, str]) -> bool:
        """Say whether the run is there, trained by this code with these values."""
        made = self.made.get((arm, seed))
        return made is not None and made.digest == digest and dict(made.values) == dict(values)

    def with_run(self, arm: str, seed: int, made: Made, stages: Mapping[str, Sequence[T]]) -> Stored[T]:
        """Add a run, in place of what was there under its arm and seed; runs of other code are left out.

        Raises:
            OutcomesError: a stage has fewer tasks than in another run of the arm: it was interrupted.
        """
        stays = [key for key, one in self.made.items() if one.digest == made.digest and key != (arm, seed)]
        for stage, some in stages.items():
            if not some:
                raise OutcomesError(f"{made.run}: stage {stage} holds no task; give the same command again")
            for key in (key for key in stays if key[0] == arm and stage != SWAPPED):
                there = self.stages[key].get(stage, some)
                if len(there) != len(some):
                    raise OutcomesError(
                        f"{made.run}: stage {stage} has {len(some)} tasks, in {self.made[key].run} {len(there)}: it is "
                        "half there, or was played on others; remove the run's folder and give the same command again"
                    )
        return Stored(
            {key: self.made[key] for key in stays} | {(arm, seed): made},
            {key: self.stages[key] for key in stays} | {(arm, seed): stages},
        )

    def by_stage(self) -> dict[str, list[T]]:
        """All outcomes, by the flat names of their stages (:func:`papers.played.flat`), seed after seed."""
        found: dict[str, list[T]] = {}
        for arm, seed in sorted(self.stages, key=lambda key: (key[0] != MAIN, key)):
            for stage, some in self.stages[arm, seed].items():
                found.setdefault(named(arm, stage), []).extend(some)
        return found

    def numbers(self) -> dict[str, dict[int, Mapping[str, Any]]]:
        """Find what figures need besides outcomes: arm, by the name of its last stage → seed → numbers."""
        found: dict[str, dict[int, Mapping[str, Any]]] = {}
        for (arm, seed), made in sorted(self.made.items()):
            found.setdefault(named(arm, "grpo"), {})[seed] = made.numbers
        return found

    def lacking(self, arms: Mapping[str, Runs]) -> list[str]:
        """Tell which of the runs that a paper's record names aren't there, and what one seed can't tell."""
        told, to_be, alone = [], [], []
        for arm, runs in arms.items():
            there = [seed for seed in range(runs.seeds) if (arm, seed) in self.made]
            absent = [str(seed) for seed in range(runs.seeds) if seed not in there]
            if not there:
                to_be.append(f"{arm} ({runs.seeds} seed{'s' if runs.seeds > 1 else ''})")
            elif absent:
                missing = f"seed {absent[0]} is" if len(absent) == 1 else f"seeds {', '.join(absent)} are"
                told.append(f"{arm}: {len(there)} of {runs.seeds} seeds so far; {missing} missing")
            alone += [arm] if len(there) == 1 else []
            counted = Counter(stage for seed in there for stage in self.stages[arm, seed])
            told += [
                f"{arm}: stage {stage} was played in {n} of {len(there)} runs"
                for stage, n in sorted(counted.items())
                if n < len(there)
            ]
        told += [f"not trained yet: {', '.join(to_be)}"] if to_be else []
        told += [f"of one seed, so that nothing is known of other trainings: {', '.join(alone)}"] if alone else []
        return told


def named(arm: str, stage: str) -> str:
    """The flat name of an arm's stage, or training (:func:`papers.played.flat`)."""
    return flat("" if arm == MAIN else arm, stage)


def load(folder: Path, name: str, kind: type[T]) -> Stored[T]:
    """Read what is stored under a name; nothing where there is no such file.

    Args:
        folder: with the files, ``results/outcomes``.
        name: of the files.
        kind: class of the outcomes.

    Raises:
        OutcomesError: the table has other columns than such outcomes have, or a run's rows aren't those that were
            stored.
    """
    record, table = read_json(folder / f"{name}.json"), folder / f"{name}.csv.gz"
    if record is None:
        return Stored()
    try:
        head, *rows = csv.reader(io.StringIO(gzip.decompress(table.read_bytes()).decode()))
    except (OSError, EOFError, ValueError) as error:
        raise OutcomesError(f"{table} can't be read ({error}): get it from the repository again") from error
    if tuple(head) != _columns(kind):
        raise OutcomesError(f"{table} has the columns {', '.join(head)}; by this code {', '.join(_columns(kind))}")
    of: dict[Key, list[list[str]]] = {}
    for row in rows:
        of.setdefault((row[0], int(row[1])), []).append(row)
    made, stages, reads = {}, {}, _reader(kind)
    for entry in record["runs"]:
        key, hashed = (str(entry.pop("arm")), int(entry.pop("seed"))), entry.pop("rows")
        if _hash(of.get(key, [])) != hashed:
            raise OutcomesError(
                f"{table}: the rows of arm {key[0]}, seed {key[1]} aren't those that {name}.json tells of; get both "
                "files from the repository again, or remove the run's entry there, and it is stored anew"
            )
        if {*entry} != {field.name for field in fields(Made)}:
            raise OutcomesError(f"{name}.json, arm {key[0]}, seed {key[1]}: {', '.join(entry)}: written by other code")
        made[key] = Made(**entry)
        mine: dict[str, list[T]] = {}
        for row in of.get(key, []):
            mine.setdefault(row[2], []).append(reads(row))
        stages[key] = mine
    return Stored(made, stages)


def save(folder: Path, name: str, stored: Stored[T], kind: type[T]) -> None:
    """Write outcomes, and then what made them: the same bytes whenever the same is stored.

    Args:
        folder: with the files, ``results/outcomes``.
        name: of the files.
        stored: what to write.
        kind: class of the outcomes.
    """
    rows = {
        key: sorted(_told(key, stage, one, kind) for stage, some in stages.items() for one in some)
        for key, stages in sorted(stored.stages.items())
    }
    text, packed = io.StringIO(), io.BytesIO()
    csv.writer(text, lineterminator="\n").writerows([_columns(kind), *(row for some in rows.values() for row in some)])
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as file:
        file.write(text.getvalue().encode())
    write_bytes(folder / f"{name}.csv.gz", packed.getvalue())
    runs = [
        {"arm": key[0], "seed": key[1], **asdict(made), "rows": _hash(rows[key])}
        for key, made in sorted(stored.made.items())
    ]
    write_json(folder / f"{name}.json", {"runs": runs})


def _hash(rows: Sequence[Sequence[str]]) -> str:
    return sha256("\n".join("\t".join(row) for row in rows).encode()).hexdigest()[:12] if rows else ""


def _columns(kind: type[Any]) -> tuple[str, ...]:
    return (*HEAD, *_own(kind))


def _own(kind: type[Any]) -> Iterator[str]:
    """The fields of an outcome, but for the seed, which is the run's."""
    return (field.name for field in fields(kind) if field.name != "seed")


def _told(key: Key, stage: str, one: Outcome, kind: type[Any]) -> list[str]:
    """An outcome as a row: numbers as Python writes them, yes and no as 1 and 0, nothing where nobody knows."""
    values = (getattr(one, name) for name in _own(kind))
    cells = ("" if v is None else str(int(v)) if isinstance(v, bool) else str(v) for v in values)
    return [key[0], str(key[1]), stage, *cells]


def _reader(kind: type[T]) -> Callable[[Sequence[str]], T]:
    """A function that makes an outcome of a row."""
    hints = get_type_hints(kind)
    makes = {name: _from_text(hints[name]) for name in _own(kind)}

    def read(row: Sequence[str]) -> T:
        cells = zip(makes.items(), row[len(HEAD) :], strict=True)
        return kind(**{name: make(cell) for (name, make), cell in cells}, seed=int(row[1]))

    return read


def _from_text(hint: Any) -> Callable[[str], Any]:
    """A function that reads a cell of this type.

    Raises:
        OutcomesError: cells of such a type can't be told apart.
    """
    of = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = [one for one in of if one is not NoneType]
    makes: Mapping[Any, Callable[[str], Any]] = {bool: lambda c: bool(int(c)), int: int, float: float, str: str}
    if len(kinds) != 1 or kinds[0] not in makes or (kinds[0] is str and NoneType in of):
        raise OutcomesError(
            f"outcomes with a field of type {hint} can't be stored: bool, int, float, str or one | None"
        )
    make = makes[kinds[0]]
    return (lambda cell: make(cell) if cell else None) if NoneType in of else make
