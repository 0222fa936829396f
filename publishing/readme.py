"""Fill the generated blocks of README.md and docs/results.md: figures come from ``results/``, never from a keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kit.evaluate.claims import as_stated
from kit.evaluate.finding import finding
from kit.evaluate.outcomes import by_stage
from kit.files import ROOT, write_text
from kit.papers.registry import find_paper, published

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"
MARKS = re.compile(r"(<!-- results:begin(?: (\w+))? -->).*?(<!-- results:end -->)", re.DOTALL)

Results = Mapping[str, Any] | None
"""The content of a paper's results file; None where nothing was measured yet."""


def fill(root: Path = ROOT) -> bool:
    """Write the block of every page in :data:`PAGES` anew; returns whether that changed anything.

    Raises:
        ValueError: a page lacks the two marks.
    """
    changed = False
    for page, block in PAGES.items():
        path = root / page
        text = path.read_text(encoding="utf-8")
        new = filled(text, published(root), block, page)
        if new != text:
            write_text(path, new)
            changed = True
    return changed


def filled(text: str, results: Mapping[str, Results], block: Callable[[str, Results], str], page: str) -> str:
    """Replace what stands between the marks of a page by papers' blocks.

    A mark may name a paper (``results:begin NAME``): the block is that paper's. One without a name takes all others.

    Args:
        text: the page.
        results: paper's name → its results.
        block: makes Markdown of one paper's name and results.
        page: the page's name, for the error.

    Raises:
        ValueError: the marks are missing or in the wrong order.
    """
    named = [name for _, name, _ in MARKS.findall(text)]
    if not named:
        raise ValueError(f"{page}: put {BEGIN} and {END} on lines of their own where the figures belong")

    def told(found: re.Match[str]) -> str:
        some = [found[2]] if found[2] else [name for name in results if name not in named]
        return f"{found[1]}\n" + "\n\n".join(block(name, results[name]) for name in some) + f"\n{found[3]}"

    return MARKS.sub(told, text)


def headline(paper: str, results: Results) -> str:
    """Format a paper's finding as one paragraph of Markdown."""
    title = f"**{find_paper(paper).title}**"
    if results is None:
        return f"{title}: not measured yet."
    name, called = next(iter(find_paper(paper).load_evaluation().headlines.items()))
    return f"{title}. {finding(by_stage(results), name, called)} {_trained(results)}"


def block(paper: str, results: Results) -> str:
    """Format a paper's figures as Markdown: a table of metrics by stage, claims, and where they come from."""
    head = f"### {find_paper(paper).title}"
    if results is None:
        return f"{head}\n\nNot measured yet: `results/{paper}.json` does not exist."
    parts = [head, *(text for text in (_metrics(paper, results), _claims(paper, results)) if text)]
    parts += [*_told_beside(results), _origin(results)]
    return "\n\n".join(parts)


def _metrics(paper: str, results: Mapping[str, Any]) -> str:
    """The paper's headlines only; the rest is in the results file."""
    evaluation, stages = find_paper(paper).load_evaluation(), by_stage(results)
    shown = [stage for stage in evaluation.reported if stage in stages]
    lines = [_row(["", *shown]), _row(["---"] * (len(shown) + 1))]
    for name, called in evaluation.headlines.items():
        cells = []
        for stage in shown:
            here, theirs = stages[stage].get(name), evaluation.reported[stage].get(name)
            cell = "not run" if here is None else str(here)
            cells.append(f"{cell} (paper {theirs:.3f})" if theirs is not None else cell)
        lines.append(_row([called, *cells]))
    return "\n".join(lines)


def _origin(results: Mapping[str, Any]) -> str:
    machine = results["hardware"]
    what = ", ".join(machine["gpus"]) or f"{machine['cores']} cores of {machine['cpu']}"
    sets = "; ".join(f"{n} of {name}" for name, n in (results.get("pictures") or {}).items())
    pictures = f"Pictures: {sets}. " if sets else ""
    return (
        f"Value and 95 % interval; the paper's model is a thousand times larger and saw other pictures. {pictures}"
        f"Measured by {results['notebook']}, profile {results['profile']}, seed {results['seed']}, "
        f"commit {results['commit'][:12]}, on {what}. {_trained(results)}"
    )


def _told_beside(results: Mapping[str, Any]) -> list[str]:
    """Paragraphs on how the figures were made, and on code that has changed since and was proved to leave them."""
    proved = results.get("proved")
    since = (
        f"The code has changed since. The smoke runs at the figures' commit and after the change agree bit for bit, "
        f"in {proved['compared']} values (`python -m kit results --prove`)."
        if proved
        else ""
    )
    return [text for text in (results.get("note", ""), since) if text]


def _trained(results: Mapping[str, Any]) -> str:
    minutes = results.get("training_minutes")
    if minutes is None:
        return "Training time was not recorded with these figures."
    seeds = results["seed"] if isinstance(results["seed"], list) else [results["seed"]]
    took = f"took {minutes / len(seeds):.0f} minutes."
    return f"Each of {len(seeds)} trainings {took}" if len(seeds) > 1 else f"It is of one training, which {took}"


def _claims(paper: str, results: Mapping[str, Any]) -> str:
    claims = as_stated(results.get("claims") or {}, find_paper(paper).load_claims())
    rows = [_row([name, str(claim["verdict"]), str(claim["evidence"])]) for name, claim in sorted(claims.items())]
    return "\n".join([_row(["claim", "verdict", "evidence"]), _row(["---"] * 3), *rows]) if rows else ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


PAGES: dict[str, Callable[[str, Results], str]] = {"README.md": headline, "docs/results.md": block}
"""The pages with a generated block, and what it is made of."""
