"""Tell which published figures are stale: code they depend on is no longer that which made them.

``results/NAME.json`` holds the stamp of the code that made it (:mod:`kit.jobs.stamp`). Whoever changes such code either
makes the figures anew (``python -m kit results``) or says, file by file and with a reason, that they stay as they are::

    python -m kit results PAPER --unchanged "only renames: the tests of the reward pass as before"

That is written to ``results/unchanged.json`` with the hashes before and after, so that it covers this change and no
later one, and the results page shows it beside the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kit.files import ROOT, read_json, write_json
from kit.jobs.notebooks import Source
from kit.jobs.stamp import Stamp, stamp
from kit.papers.published import Figures
from kit.papers.registry import Paper, papers

FILE = "unchanged.json"
"""In ``results/``: what was declared to leave figures as they are."""

LEAST = 20
"""Characters of a reason; shorter ones say nothing."""


@dataclass(frozen=True)
class Unchanged:
    """A change of code that leaves figures as they are.

    Attributes:
        figures: name of their file, without ``.json``.
        file: what was changed, as stamps name it.
        before: its hash in the stamp, or after an earlier declaration; empty: it is new.
        after: its hash now; empty: it is gone.
        because: the reason.
        on: date of the declaration.
    """

    figures: str
    file: str
    before: str
    after: str
    because: str
    on: str


def results_folder(paper: Paper) -> Path:
    """The folder of a paper's published results: beside its notebooks."""
    return paper.notebooks_dir.parent / "results"


def training_sources(paper: Paper) -> list[Source]:
    """The notebooks that make a paper's published runs, each once."""
    made = paper.published
    names = dict.fromkeys(n for runs in (made.runs.values() if made else ()) for n in runs.notebooks)
    return [source_of(paper, name) for name in names]


def source_of(paper: Paper, notebook: str) -> Source:
    """A notebook of a paper, by its name."""
    return Source(paper.notebooks_dir / "percent" / f"{notebook}.py")


def stamp_of(paper: Paper, figures: Figures) -> Stamp:
    """Stamp what a results file depends on now: what trained, and what measured."""
    return _stamp(paper, [*training_sources(paper), source_of(paper, figures.notebook)])


def training_stamp(paper: Paper) -> Stamp:
    """Stamp what a paper's published runs depend on now."""
    return _stamp(paper, training_sources(paper))


def _stamp(paper: Paper, notebooks: Sequence[Source]) -> Stamp:
    homes, package = {"kit": ROOT}, paper.evaluation.partition(".")[0]
    if package not in homes and (spec := find_spec(package)) and spec.origin:
        homes[package] = Path(spec.origin).parents[1]
    return stamp(notebooks, homes, paper.published.weights if paper.published else ())


def declared(folder: Path) -> list[Unchanged]:
    """Read what was declared in a folder of results."""
    return [Unchanged(**one) for one in read_json(folder / FILE) or []]


def changed(recorded: Mapping[str, str], now: Mapping[str, str], known: Sequence[Unchanged] = ()) -> dict[str, str]:
    """Find what differs from a recorded stamp and wasn't declared: name → the hash that the last declaration left.

    Args:
        recorded: the stamp that the figures carry.
        now: today's.
        known: declarations for these figures, in order.
    """
    last = dict(recorded)
    for one in known:
        if last.get(one.file, "") == one.before:
            last[one.file] = one.after
    names = sorted({*last, *now})
    return {name: last.get(name, "") for name in names if last.get(name, "") != now.get(name, "")}


def published_figures() -> Iterator[tuple[Paper, Figures, dict[str, Any] | None]]:
    """All results files that a command makes, with what is in them; None: it isn't there."""
    for paper in papers().values():
        for figures in paper.published.figures if paper.published else ():
            yield paper, figures, read_json(results_folder(paper) / f"{figures.name}.json")


def stale(
    paper: Paper, figures: Figures, results: Mapping[str, Any], now: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Find what has changed since figures were made, but for what was declared: name → hash before.

    Args:
        paper: the paper.
        figures: which of its results files.
        results: the file's content.
        now: today's stamp; None: made here.

    Raises:
        ValueError: the results carry no stamp.
    """
    if "code" not in results:
        raise ValueError(_unstamped(paper, figures))
    known = [one for one in declared(results_folder(paper)) if one.figures == figures.name]
    return changed(results["code"]["files"], now or stamp_of(paper, figures), known)


def _unstamped(paper: Paper, figures: Figures) -> str:
    return f"results/{figures.name}.json carries no stamp of the code that made it: {command(paper)} makes it anew"


def command(paper: Paper) -> str:
    """The command that makes a paper's figures anew."""
    return f"python -m kit results {paper.name}"


def complain() -> list[str]:
    """Describe every stale results file: which, what has changed, what to do."""
    found = []
    for paper, figures, results in published_figures():
        if results is None:
            continue
        if "code" not in results:
            found.append(_unstamped(paper, figures))
        elif names := stale(paper, figures, results):
            found.append(
                f"results/{figures.name}.json is stale: changed since it was made: {', '.join(names)}. Make it anew "
                f"({command(paper)}; --plan says how long that takes), or, if you know that these figures stay as "
                f'they are: {command(paper)} --unchanged "REASON"'
            )
    return found


def declare(paper: Paper, because: str) -> list[Unchanged]:
    """Write down that what has changed leaves a paper's figures as they are; returns what was added.

    Args:
        paper: the paper.
        because: the reason, for readers of the results page.

    Raises:
        ValueError: the reason is too short to be one, or a results file carries no stamp.
    """
    if len(because.strip()) < LEAST:
        raise ValueError(f"--unchanged {because!r}: say in {LEAST} characters or more why the figures stay as they are")
    folder, on = results_folder(paper), datetime.now(UTC).date().isoformat()
    added = []
    for owner, figures, results in published_figures():
        if owner.name != paper.name or results is None:
            continue
        now = stamp_of(paper, figures)
        for name, before in stale(paper, figures, results, now).items():
            added.append(Unchanged(figures.name, name, before, now.get(name, ""), because.strip(), on))
    write_json(folder / FILE, [asdict(one) for one in [*declared(folder), *added]])
    return added


def forget(folder: Path, name: str) -> None:
    """Remove the declarations for a results file that was made anew."""
    if known := declared(folder):
        write_json(folder / FILE, [asdict(one) for one in known if one.figures != name])
