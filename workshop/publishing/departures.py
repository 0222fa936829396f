"""Write docs/departures.md: what each paper says, and whether it is done here the same, otherwise, or not at all.

The page comes from the papers' ``fidelity.toml`` and from the "Departures" of the modules' docstrings
(:mod:`workshop.publishing.declared`); :func:`problems` says where the two, the profiles and the code disagree.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from kit.files import ROOT, write_text
from papers.fidelity import Row
from papers.registry import Paper, papers
from workshop.jobs.notebooks import Source, sources
from workshop.jobs.run import profile_values
from workshop.publishing.declared import SHARED, Departure, declared
from workshop.publishing.made import Unknown, made
from workshop.publishing.read import unread

PAGE = "docs/departures.md"

PROFILE = "node"
"""The profile that asks for the papers' own values."""

MACHINE = frozenset(
    (
        "allow_unsafe",
        "threads",
        "by_hand",
        "num_processes",
        "strategy",
        "rollout_engine",
        "held_out_tasks",
    )
)
"""Parameters that say where and beside what a training runs: its result depends on none of them."""

HEAD = """# Where the kit departs from its papers

Whoever repeats a paper makes choices that the paper made otherwise, or left open. This page lists them all: what the
paper says, what is done here, why, and what that might change in the results. After them comes what isn't run, then
what is the same. An *item* is one statement of a paper, a row of the first table one departure; a departure may concern
several items, and an item have several departures, so that the two counts differ. "Same" speaks of the profile
`node`, which asks for the paper's own values; `gpu` and `laptop` are mostly smaller and differ otherwise, too (learning
rates, cold starts); their values stand in the [profiles](../notebooks/profiles) and in each notebook's parameters.
Nobody has run `node` as a whole yet: what has run on a GPU, [scaling](scaling.md#on-a-gpu) says.

Those that weigh most on the published figures: a tiny base, on drawn or packaged images; cold starts left undecided on
purpose ([what reinforcement adds](results.md#where-the-start-leaves-less-open)); images in prompts so small that a tool
has to open them; and rewards of whole episodes where a paper pays for steps.

The page is generated: departures from the docstrings of the modules that depart, the rest from each paper's
`fidelity.toml`. A test fails while either is incomplete. `python -m kit readme` writes it anew; [how a paper
declares](adding.md#what-departs-from-the-paper).
"""


def _folder(paper: Paper) -> Path:
    """The package that says what a paper says."""
    return Path(str(files(paper.fidelity.partition(":")[0])))


def listed() -> dict[str, Paper]:
    """The registered papers that list what they say, by name."""
    return {name: paper for name, paper in papers().items() if paper.fidelity}


def departures(root: Path = ROOT) -> dict[str, list[Departure]]:
    """All declared departures by paper, and those of shared modules.

    Raises:
        DepartureError: one is malformed.
    """
    owners = {name: _folder(paper) for name, paper in listed().items()}
    modules = {file for folder in (root / "kit", root / "tiny", *owners.values()) for file in folder.rglob("*.py")}
    return declared(modules, owners)


def write(root: Path = ROOT) -> bool:
    """Write the page anew; returns whether that changed it.

    Raises:
        DepartureError: a departure is malformed.
        KeyError: a row names a departure that no module declares.
    """
    path, text = root / PAGE, page()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    write_text(path, text)
    return True


def page() -> str:
    """Make the page's text.

    Raises:
        DepartureError: a departure is malformed.
        KeyError: a row names a departure that no module declares.
    """
    known = {one.slug: one for found in departures().values() for one in found}
    return "\n".join([HEAD, *(_section(paper, known) for paper in listed().values())])


def _section(paper: Paper, known: Mapping[str, Departure]) -> str:
    """A paper's part of the page."""
    items = paper.load_fidelity()
    by = {status: [item for item in items.rows if item.status == status] for status in ("departs", "not run", "same")}
    used: dict[str, list[str]] = {}
    for item in by["departs"]:
        for slug in item.departs:
            used.setdefault(slug, []).append(_origin(item))
    same, departs = (len(by[status]) for status in ("same", "departs"))
    counts = f"{len(items.rows)} items: {same} the same, {departs} that depart ({len(used)} rows below)"
    lines = [f"## {paper.title}", "", items.intro, "", f"{counts}, {len(by['not run'])} not run.", ""]
    lines += [
        f"### {paper.title}: departs",
        "",
        _row("in the paper", "paper", "here", "why", "may change", "declared in"),
    ]
    lines.append(_row(*["---"] * 6))
    for slug, origins in used.items():
        one = known[slug]
        lines.append(_row(_joined(origins), one.paper, one.here, one.why, one.may_change, _link(one.file)))
    for status, last in (("not run", "why"), ("same", "where")):
        lines += ["", f"### {paper.title}: {status}", "", _row("in the paper", "paper", last), _row(*["---"] * 3)]
        lines += [_row(item.source, item.paper, item.why or _place(item)) for item in by[status]]
    return "\n".join(lines) + "\n"


def _place(item: Row) -> str:
    """Where an item is the same, with the value that stands there."""
    return f"`{item.where}`" if item.value is None else f"`{item.where}` = `{value_at(item.where)}`"


def _origin(item: Row) -> str:
    """The place of an item in the paper; a claim is told as well."""
    return f"{item.id}: {item.paper.rstrip('.')} ({item.source})" if item.kind == "claim" else item.source


def _joined(origins: list[str]) -> str:
    return "; ".join(dict.fromkeys(origins))


def _link(file: Path) -> str:
    place = Path(os.path.relpath(file, ROOT)).as_posix()
    return f"[`{place.removeprefix('kit/')}`](../{place})" if not place.startswith("..") else f"`{file.name}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """Text of a docstring as Markdown in a table: roles and double backticks become code, tags stay visible."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts).replace("|", "\\|")


def problems(paper: Paper, found: Mapping[str, list[Departure]]) -> list[str]:
    """Say what is incomplete or untrue in a paper's items, each in a sentence.

    Args:
        paper: a paper that lists items.
        found: all declared departures (:func:`departures`).
    """
    rows = paper.load_fidelity().rows
    own = {one.slug for one in found[paper.name]}
    known = own | {one.slug for one in found[SHARED]}
    named = {slug for item in rows for slug in item.departs}
    missing = [f"{slug}: no module declares this departure" for slug in sorted(named - known)]
    missing += [f"{slug}: declared, and no item of {paper.name} names it" for slug in sorted(own - named)]
    claims = {item.id for item in rows if item.kind == "claim"}
    missing += [f"claim {name}: no item has this id" for name in paper.load_claims() if name not in claims]
    missing += [text for item in rows if (text := _untrue(item))]
    return [*missing, *unread(paper, rows), *_unlisted(paper, rows)]


def unused(found: Mapping[str, list[Departure]]) -> list[str]:
    """Departures of shared modules that no paper's items name."""
    named = {slug for paper in listed().values() for item in paper.load_fidelity().rows for slug in item.departs}
    return sorted(one.slug for one in found[SHARED] if one.slug not in named)


def _untrue(item: Row) -> str:
    """Why an item isn't the same as it says; empty if it is."""
    if not item.where:
        return ""
    try:
        value = value_at(item.where)
    except (ImportError, AttributeError, KeyError) as error:
        return f"{item.id}: nothing is at {item.where}: {error}"
    if item.value is not None and json.loads(json.dumps(value)) != item.value:  # TOML knows no tuples
        return f"{item.id}: the paper has {item.value!r}, {item.where} is {value!r}"
    return ""


def value_at(where: str) -> Any:
    """The value at a place (:data:`papers.fidelity.PLACE`).

    Raises:
        AttributeError: what is there has no such attribute.
        ImportError: no such module.
        KeyError: no such notebook or parameter, or nothing that is made of the profile's values.
    """
    place, _, attribute = where.partition(":")
    if place == PROFILE:
        number, name, *parts = attribute.split(".")
        value = made(_notebook(number), PROFILE)[name]
    else:
        value, parts = import_module(place), attribute.split(".")
    for part in parts:
        value = getattr(value, part)
    if isinstance(value, Unknown):
        raise KeyError(f"notebook {number} makes it of more than the profile's values")
    return value


def _notebook(number: str) -> Source:
    for source in sources():
        if source.number == number:
            return source
    raise KeyError(f"no notebook {number}")


def _unlisted(paper: Paper, rows: tuple[Row, ...]) -> Iterator[str]:
    """Values of the profile that no item has and no comment calls ours."""
    covered = {item.where for item in rows} | {re.sub(r"(\.\w+)+(?=\.\w)", "", item.where) for item in rows}
    ours = set(_ours(paper.notebooks_dir / "profiles" / f"{paper.name}.yaml"))
    for source in sources():
        if source.name in paper.notebooks:
            for name in profile_values(source, PROFILE).keys() - MACHINE:
                place = f"{PROFILE}:{source.number}.{name}"
                if place not in covered and place not in ours:
                    yield f"{place}: give it an item, or say `# ours` beside it in the profile"


def _ours(path: Path) -> Iterator[str]:
    """The places of the profile beside which a comment says "ours"."""
    profile = number = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        indent = len(line) - len(line.lstrip())
        key, _, rest = line.strip().partition(":")
        if indent == 0:
            profile = key
        elif indent == 2:
            number = key.strip("'\"")
        elif profile == PROFILE and re.search(r"#.*\bours\b", rest):
            yield f"{PROFILE}:{number}.{key}"
