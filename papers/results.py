"""Write ``results.json``: a notebook's metrics and claims, with commit, seed, hardware and versions.

::

    {"notebook": "…_claims", "profile": "laptop", "commit": "…", "seed": [0, 1, 2],
     "hardware": {"cpu", "cores", "memory_gb", "gpus"}, "versions": {"python", "torch", …}, "minutes": 12.5,
     "training_minutes": 40.2,
     "metrics": {"grpo/acc": {"value", "low", "high", "n"}, …},
     "claims": {"C1": {"verdict", "evidence", …}, …}}

Commit, hardware and versions are :func:`kit.evaluate.provenance.provenance`'s, never typed in.

A second notebook that measures something else on the same runs writes its own file beside it, ``results-NAME.json``
(published: ``PAPER-NAME.json``), so that either can run again without touching the other's; :func:`read_results` reads
them as one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.evaluate.intervals import Interval
from kit.evaluate.provenance import provenance
from kit.files import read_json, write_json
from papers.claims import VERDICTS


def write_results(
    path: Path,
    *,
    notebook: str,
    profile: str,
    seed: int | Sequence[int],
    minutes: float,
    stages: Mapping[str, Mapping[str, Interval]],
    claims: Mapping[str, Mapping[str, Any]] | None = None,
    training_minutes: float | None = None,
    pictures: Mapping[str, int] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a results file, completely or not at all; returns what was written.

    Args:
        path: the file to write.
        notebook: name of the notebook that measured.
        profile: name of the profile whose values it ran with.
        seed: the seed, or all seeds, the metrics rest on.
        minutes: wall time of the measuring notebook itself.
        stages: stage → metric → interval; becomes ``stage/metric``.
        claims: claim → its record (:meth:`papers.claims.Claim.record`).
        training_minutes: wall time of the trainings it measured, all seeds together; None where nothing was trained.
        pictures: set of images → how many different ones the metrics rest on; None: not told.
        tables: the paper's tables, cell by cell, as JSON: its number, and ours or "not run"; None: it has none.

    Raises:
        ValueError: a value is not a finite number, or a verdict is none of :data:`papers.claims.VERDICTS`.
    """
    metrics = {f"{stage}/{name}": i.record() for stage, found in stages.items() for name, i in found.items()}
    for name, record in metrics.items():
        if not math.isfinite(record["value"]):
            raise ValueError(f"metric {name}={record['value']}: a result must be a finite number")
    for name, claim in (claims or {}).items():
        if claim.get("verdict") not in VERDICTS:
            raise ValueError(f"claim {name}: verdict {claim.get('verdict')!r} is none of {', '.join(VERDICTS)}")
    results = {
        "notebook": notebook,
        "profile": profile,
        **provenance(),
        "seed": seed if isinstance(seed, int) else list(seed),
        "minutes": round(minutes, 2),
        **({} if training_minutes is None else {"training_minutes": round(training_minutes, 2)}),
        **({} if pictures is None else {"pictures": dict(pictures)}),
        "metrics": metrics,
        "claims": {name: dict(claim) for name, claim in (claims or {}).items()},
        **({} if tables is None else {"tables": dict(tables)}),
    }
    write_json(path, results)
    return results


def read_results(path: Path) -> dict[str, Any] | None:
    """Read a results file together with those beside it, ``STEM-*.json``: metrics and claims of all of them.

    Everything else is the first file's own; where each of the others comes from stands under ``parts``.

    Args:
        path: the first file; it may be missing where others are there.

    Returns:
        The content, or None if there is no such file.

    Raises:
        ValueError: two files hold a metric or a claim of one name.
    """
    files = [path, *sorted(path.parent.glob(f"{path.stem}-*.json"))]
    found = [(file, read) for file in files if (read := read_json(file)) is not None]
    if not found:
        return None
    (_, first), *others = found
    if not others:
        return dict(first)
    merged = {**first, "metrics": dict(first["metrics"]), "claims": dict(first.get("claims") or {}), "parts": []}
    for file, other in others:
        for kind in ("metrics", "claims"):
            if twice := sorted(merged[kind].keys() & (other.get(kind) or {}).keys()):
                raise ValueError(
                    f"{file}: {kind} {', '.join(twice)} stand in {path.name} as well; remove the stale file"
                )
            merged[kind] |= other.get(kind) or {}
        merged["parts"].append({key: value for key, value in other.items() if key not in ("metrics", "claims")})
    return merged
