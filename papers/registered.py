"""Read what a paper's claims say: statement, checks, margins, seeds and tasks, and since when they say it.

A paper's package lists them in ``claims.toml``. Whether that was before the trainings that they are judged by, results
tell (:meth:`Registered.since`). What changes later is a line in ``changed`` with its day and reason::

    stated = 2026-11-28                 # the day on which the file was written

    [stages]                            # what is compared, by the names that outcomes have
    sft = "after the cold start"
    grpo = "after reinforcement"

    [C1]
    statement = "reinforcement helps"
    source = "Table 3, section 4.2"     # of the paper
    seeds = 5
    images = 300                        # different ones; tasks, where each has an image of its own
    tasks = "drawn questions of all kinds, made anew with test_seed 1"
    numbers = {last = 0.25}             # others that its rule needs
    changed = ["2026-11-28: the margin was 0.2, larger than the paper's own gain"]

    [C1.checks.gain]
    name = "accuracy after GRPO minus after SFT"
    kind = "more"                       # or no_less, equal
    arms = ["sft", "grpo"]              # the one that is compared with comes first
    margin = 0.1                        # more: smallest effect worth having; no_less, equal: what doesn't count
    spread = {seed = 0.05, image = 0.4, rest = 0.3, seen = "results/codedance.json of three seeds"}

A claim that can't be told here says why in ``untestable``. Verdicts: :mod:`papers.claims`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from kit.evaluate.intervals import Interval
from papers.claims import Check, Claim
from papers.verdicts import table

Kind = Literal["more", "no_less", "equal"]

FILE = "claims.toml"
"""Name of the file in a paper's package."""

DAY = re.compile(r"\d{4}-\d\d-\d\d")

T = TypeVar("T")


class RegisteredError(ValueError):
    """A registration that doesn't say what is asked for."""


@dataclass(frozen=True)
class Spread:
    """Standard deviations of a check's statistic that were seen before its arms were trained, for its power.

    A seed's value on one image is the effect plus three deviations: the seed's, the image's, and the rest.

    Attributes:
        seed: how much seeds differ, whatever the images.
        image: how much images differ, whatever the seed.
        rest: what is left of one seed on one image.
        seen: the figures from which they were taken.
    """

    seed: float
    image: float
    rest: float
    seen: str

    def __post_init__(self) -> None:
        for name in ("seed", "image", "rest"):
            _number(name, getattr(self, name), 0.0)
        _text("seen", self.seen)


@dataclass(frozen=True)
class StatedCheck:
    """One check of a claim, as it was registered.

    Attributes:
        name: of the statistic.
        kind: ``more`` (above the limit), ``no_less`` (by less than the margin) or ``equal`` (within the margin).
        arms: stages that the statistic is made of; of two, the one that is compared with comes first.
        margin: more: the smallest effect worth having; else the difference that doesn't count.
        spread: seen before; None: nothing like it was measured.
        limit: more: what the statistic has to exceed.
        images: different ones that this check alone rests on; 0: as many as the claim's.
        note: what is expected of it, and why.
    """

    name: str
    kind: Kind
    arms: tuple[str, ...]
    margin: float
    spread: Spread | None = None
    limit: float = 0.0
    images: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        _text("name", self.name)
        if self.kind not in (known := get_args(Kind)):
            raise RegisteredError(f"kind {self.kind!r}; choose one of {', '.join(known)}")
        if not (isinstance(self.arms, tuple) and self.arms and all(isinstance(arm, str) for arm in self.arms)):
            raise RegisteredError(f"arms {self.arms!r}; name at least one stage, in a list")
        _number("margin", self.margin, 0.0)
        if self.margin == 0:
            raise RegisteredError("margin 0: say which effect is worth having, or which difference doesn't count")
        if _number("limit", self.limit) and self.kind != "more":
            raise RegisteredError(f"limit {self.limit}: of kind {self.kind!r} the margin is the limit; leave it out")
        _number("images", self.images, 0, int)

    def check(self, interval: Interval, untestable: str = "") -> Check:
        """Put what was measured beside the limit that was stated.

        Args:
            interval: the statistic's value with its interval.
            untestable: why it can come out one way only here; empty: it can be told.
        """
        if self.kind == "more":
            return Check(self.name, interval, self.limit, "above", margin=self.margin, untestable=untestable)
        if self.kind == "no_less":
            return Check(self.name, interval, -self.margin, "above", untestable=untestable)
        return Check(self.name, interval, self.margin, "within", untestable=untestable)


@dataclass(frozen=True)
class Stated:
    """A claim as it was registered.

    Attributes:
        id: its short name, such as ``C1``.
        statement: what is tested, in one sentence.
        source: section, table or figure of the paper.
        seeds: of each arm; 1 where nothing is trained.
        images: different ones that each arm plays, or tasks where each has an image of its own.
        tasks: which these are and how they are drawn.
        checks: by the name that code gives them.
        numbers: others that its rule needs, by name.
        changed: what was registered otherwise before, and why; a line each, which begins with the day.
        untestable: why it can't be told here, whatever is trained; empty: it can.
        note: what is expected of it, and why.
        caution: what is to be read beside its verdict.
    """

    id: str
    statement: str
    source: str
    seeds: int
    images: int
    tasks: str
    checks: Mapping[str, StatedCheck]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    untestable: str = ""
    note: str = ""
    caution: str = ""

    def __post_init__(self) -> None:
        for name in ("statement", "source", "tasks"):
            _text(name, getattr(self, name))
        for name in ("seeds", "images"):
            _number(name, getattr(self, name), 1, int)
        if not (self.checks or self.untestable):
            raise RegisteredError("no checks; state at least one, or why it is untestable")

    def check(self, key: str, interval: Interval, untestable: str = "") -> Check:
        """Put what was measured for one of its checks beside the limit that was stated (:meth:`StatedCheck.check`).

        Args:
            key: the check's, in the file.
            interval: the statistic's value with its interval.
            untestable: why it can come out one way only here; empty: it can be told.

        Raises:
            RegisteredError: no check has this key.
        """
        if key not in self.checks:
            raise RegisteredError(
                f"{self.id}: check {key!r} wasn't stated; there are {', '.join(self.checks) or 'none'}"
            )
        return self.checks[key].check(interval, untestable)

    def claim(self, *checks: Check, note: str = "", untestable: str = "") -> Claim:
        """The claim with what was measured.

        Args:
            checks: of :meth:`check`.
            note: further numbers, or why nothing could be measured.
            untestable: why it can't be told by these outcomes; what was stated goes before.
        """
        return Claim(self.id, self.statement, checks, note, self.untestable or untestable)


@dataclass(frozen=True)
class Registered(Mapping[str, Stated]):
    """A paper's claims as they were registered: id → claim.

    Attributes:
        claims: the claims, in the file's order.
        stages: what is compared: the name that outcomes have → what it is.
        stated: the day on which they were written; None: it isn't told.
    """

    claims: Mapping[str, Stated]
    stages: Mapping[str, str]
    stated: date | None = None

    def __post_init__(self) -> None:
        for claim in self.claims.values():
            for key, check in claim.checks.items():
                if unknown := [arm for arm in check.arms if arm not in self.stages]:
                    raise RegisteredError(
                        f"{claim.id}, check {key}: no run makes arm {unknown[0]!r}; stages are {', '.join(self.stages)}"
                    )

    def __getitem__(self, name: str) -> Stated:
        return self.claims[name]

    def __iter__(self) -> Any:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    @property
    def statements(self) -> dict[str, str]:
        """Id of a claim → its statement, as a paper's ``CLAIMS``."""
        return {name: claim.statement for name, claim in self.claims.items()}

    def since(self, name: str) -> date | None:
        """The day since when a claim says what it says: of the last change of it, else of the file; None: not told."""
        days = [date.fromisoformat(day) for line in self[name].changed for day in DAY.findall(line)]
        return max([self.stated, *days]) if self.stated else None

    def table(self, measured: Mapping[str, Mapping[str, Any]]) -> str:
        """The claims in Markdown, a row each: statement, verdict, why, and what would decide it.

        Args:
            measured: claim → its record, as a results file has it; a verdict on another statement decides none.
        """
        return table(measured, self.statements)

    @classmethod
    def load(cls, path: Path) -> Registered:
        """Read a paper's file.

        Raises:
            RegisteredError: it isn't of the form above; with the file, the claim and the check.
        """
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
            stages, stated = found.pop("stages", {}), found.pop("stated", None)
            if not isinstance(stated, date | None):
                raise RegisteredError(f"stated {stated!r}; write a day, such as 2026-11-28")
            for name, told in stages.items():
                _text(f"stage {name}", told)
            return cls({name: _claim(name, claim) for name, claim in found.items()}, stages, stated)
        except (ValueError, OSError) as error:
            raise RegisteredError(f"{path}: {error}") from error


@cache
def registered(paper: str) -> Registered:
    """Read the claims of one of the kit's papers.

    Raises:
        RegisteredError: it has no such file, or one that isn't of the form above.
    """
    return Registered.load(Path(__file__).parent / paper / FILE)


def _claim(name: str, found: Any) -> Stated:
    def check(key: str, told: Any) -> StatedCheck:
        what = f"{name}, check {key}"
        spread = _table(what, told).get("spread")
        seen = None if spread is None else _made(f"{what}, spread", Spread, spread)
        return _made(what, StatedCheck, {**told, "spread": seen})

    checks = _table(f"{name}, checks", _table(name, found).get("checks", {}))
    return _made(name, Stated, {**found, "id": name, "checks": {key: check(key, told) for key, told in checks.items()}})


def _made(what: str, cls: type[T], found: Any) -> T:
    """An object of a table of the file; what is missing, unknown or wrong in it is refused."""
    known = {f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(cls)}  # type: ignore[arg-type]
    if unknown := sorted(_table(what, found).keys() - known):
        raise RegisteredError(f"{what}: {unknown[0]!r} is unknown; there are {', '.join(known)}")
    if missing := [name for name, needed in known.items() if needed and name not in found]:
        raise RegisteredError(f"{what}: {missing[0]!r} is missing")
    try:
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in found.items()})
    except RegisteredError as error:
        raise RegisteredError(f"{what}: {error}") from error


def _table(what: str, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise RegisteredError(f"{what}: {found!r} is no table")
    return found


def _text(name: str, value: Any) -> None:
    if not (isinstance(value, str) and value.strip()):
        raise RegisteredError(f"{name} {value!r}; write it in words")


def _number(name: str, value: Any, least: float = -math.inf, kind: type = float) -> float:
    of_kind = isinstance(value, int | kind) and not isinstance(value, bool)
    if not of_kind or not math.isfinite(value) or value < least:
        what = "a whole number" if kind is int else "a number"
        raise RegisteredError(
            f"{name} {value!r}; write {what}{'' if least == -math.inf else f' of at least {least:g}'}"
        )
    return float(value)
