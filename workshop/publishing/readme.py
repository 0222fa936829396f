"""Fill the generated blocks of README.md and docs/results.md: figures come from ``results/``, never from a keyboard.

A block of figures stands between two marks, one paper's where the first names it, else those of all that aren't named.
More names stand for all papers: ``first`` (the first one in a sentence), ``papers`` (a table of notebooks and
verdicts), ``came_out`` (one of what each training brought) and ``claims`` (verdicts, what would decide the open ones).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.evaluate.outcomes import Evaluation, by_stage
from kit.files import ROOT, write_text
from papers.played import flat
from papers.registry import find_paper, published
from papers.starts import STARTS, TRAININGS
from papers.tables import markdown
from workshop.jobs.finding import ONE_TRAINING, in_short, in_words, own_finding
from workshop.publishing.came_out import came_out, minutes_a_seed, seeds_of
from workshop.publishing.claimed import Results, claims_table, counted, explained, folded, judged, plain, verdicts
from workshop.publishing.origin import current, origin, pictures_of, told_beside

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"
MARKS = re.compile(r"(<!-- results:begin(?: (\w+))? -->).*?(<!-- results:end -->)", re.DOTALL)

OTHER_STARTS = """From other cold starts, after imitation (`-sft`) and after reinforcement. *decided*: its expert always
does what is best."""
ONE_START = "Of one training: these intervals cover other tasks, not other seeds."
HALF_STARTS = "*half*: its expert does otherwise half as often as the published cold start's (*sft*)."


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

    A mark may name a paper (``results:begin NAME``): the block is that paper's; or one of :data:`TABLES`. One without a
    name takes all other papers.

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
        if found[2] in TABLES:
            return f"{found[1]}\n{TABLES[found[2]](results, (ROOT / page).parent)}\n{found[3]}"
        some = [found[2]] if found[2] else [name for name in results if name not in named]
        blocks = [block(name, results[name]) for name in some]
        between = "\n" if all(text.startswith("- ") for text in blocks) else "\n\n"
        return f"{found[1]}\n{between.join(blocks)}\n{found[3]}"

    return MARKS.sub(told, text)


def headline(paper: str, results: Results) -> str:
    """Format a paper's finding as one point of a list in Markdown, beside the table of :func:`_came_out`."""
    title = f"- **{find_paper(paper).title}**"
    if results is None:
        return f"{title}: not measured yet."
    called, found = _finding(paper, results)
    return f"{title} ({called}). {found}".strip()


def _finding(paper: str, results: Mapping[str, Any]) -> tuple[str, str]:
    """What the first headline is called; who moved it, and the paper's own finding, in sentences."""
    evaluation, stages = find_paper(paper).load_evaluation(), by_stage(results)
    metric, called = next(iter(evaluation.headlines.items()))
    one = ONE_TRAINING if seeds_of(results) == 1 else ""
    told = (in_words(stages, metric), own_finding(evaluation, stages), one)
    return called, " ".join(filter(None, told))


def block(paper: str, results: Results) -> str:
    """Format a paper's figures as Markdown: a table of metrics by stage, claims, and where they come from."""
    head = f"### {find_paper(paper).title}"
    if results is None:
        return f"{head}\n\nNot measured yet: `results/{paper}.json` does not exist."
    called, found = _finding(paper, results)
    found = f"What moved *{called}*, the table's first row? {found}".strip()
    told = (found, _metrics(paper, results), _starts(paper, results), claims_table(paper, results))
    made = [*told_beside(results), origin(paper, results), current(find_paper(paper), results)]
    return "\n\n".join((head, *filter(None, told), folded("How these figures were made", "\n\n".join(made))))


def _metrics(paper: str, results: Mapping[str, Any]) -> str:
    """The paper's headlines only, of all stages that were measured or that the paper has a number of."""
    evaluation, stages = find_paper(paper).load_evaluation(), by_stage(results)
    shown = [s for s, theirs in evaluation.reported.items() if s in stages or theirs.keys() & evaluation.headlines]
    more = {suffix: sum(some.values()) for suffix, some in pictures_of(results).items() if suffix}
    named = [
        (f"{name}{suffix}", f"{called}, {n} other {suffix.strip('_')}" if suffix else called)
        for name, called in evaluation.headlines.items()
        for suffix, n in {"": 0, **more}.items()
    ]
    rows = []
    for name, called in named:
        if name not in evaluation.headlines and not any(name in measured for measured in stages.values()):
            continue
        cells = []
        for stage in shown:
            here, theirs = stages.get(stage, {}).get(name), evaluation.reported[stage].get(name)
            cell = "not run" if here is None else str(here.within(0.0, math.inf if _counts(evaluation, name) else 1.0))
            cells.append(f"{cell} (paper {theirs:.3f})" if theirs is not None else cell)
        rows.append([called, *cells])
    table = markdown(["", *shown], rows)
    return "\n\n".join(filter(None, (table, _of(results, named), explained("Columns", paper, shown))))


def _of(results: Mapping[str, Any], named: Sequence[tuple[str, str]]) -> str:
    """Of how many trainings and tasks a table's figures are; empty: no agent was measured after reinforcement."""
    seeds, agent = seeds_of(results), by_stage(results).get("grpo", {})
    tasks = [f"{agent[name].n // seeds:,}" for name, _ in named if name in agent]
    trainings = "1 training" if seeds == 1 else f"{seeds} trainings"
    return f"*sft* and *grpo* are of {trainings}; tasks of each, row by row: {', '.join(tasks)}." if tasks else ""


def _starts(paper: str, results: Mapping[str, Any]) -> str:
    """The headlines from cold starts that leave less open than the published one, in a table; empty: none measured."""
    stages = by_stage(results)
    measured = [arm for arm in STARTS.values() if arm and flat(arm, "sft") in stages]  # another arm may be called half
    arms = (flat(arm, stage) for arm in measured for stage, *_ in TRAININGS.values())
    if not (shown := [name for name in arms if name in stages]):
        return ""
    rows = [
        [called, *(str(stages[arm][name]) if name in stages[arm] else "not run" for arm in shown)]
        for name, called in find_paper(paper).load_evaluation().headlines.items()
        if any(name in stages[arm] for arm in shown)
    ]
    told = [OTHER_STARTS, HALF_STARTS if "half" in measured else "", _trained(results, measured)]
    return f"{' '.join(filter(None, told))}\n\n{markdown(['', *shown], rows)}"


def _trained(results: Mapping[str, Any], arms: Sequence[str]) -> str:
    """Of how many trainings arms are, where that isn't as many as the paper's figures are of; empty: as many."""
    found = {results.get("trainings", {}).get(arm) for arm in arms}
    if found == {1}:
        return ONE_START
    several = len(found) == 1 and not found & {None, seeds_of(results)}
    return f"Of {found.pop()} trainings each; the table above is of {seeds_of(results)}." if several else ""


def _counts(evaluation: Evaluation[Any], name: str) -> bool:
    """Whether a metric, named with what it is over, is a count and no share."""
    return any(one.kind == "count" and name.partition("_")[0] == one.name for one in evaluation.metrics)


def _first(results: Mapping[str, Results], _: Path) -> str:
    """What came out of the first paper, in one sentence for whoever reads no other."""
    name, some = next(iter(results.items()))
    if some is None:
        return "Not measured yet."
    metric = next(iter(find_paper(name).load_evaluation().headlines))
    minutes = minutes_a_seed(some)
    how = "training" if minutes is None else f"{minutes:.0f} minutes of training"
    how += f" on {some['hardware']['cores']} cores" if some["profile"] == "laptop" else ""
    return in_short(by_stage(some), metric, how) or "Not measured yet."


def _papers(results: Mapping[str, Results], beside: Path) -> str:
    """A table of the papers: notebooks, and how the claims came out."""
    rows = []
    for name, some in results.items():
        paper = find_paper(name)
        first, last = paper.notebooks[0], paper.notebooks[-1]
        twin = Path(os.path.relpath(paper.notebooks_dir / f"{first}.ipynb", beside)).as_posix()
        cells = [paper.title, paper.summary, f"[{first[:2]}]({twin}) to {last[:2]}"]
        rows.append([*cells, "not measured yet" if some is None else counted([*judged(name, some).values()])])
    return markdown(["paper", "the agent", "notebooks", "claims"], rows)


def _came_out(results: Mapping[str, Results], _: Path) -> str:
    """A table of the papers: the first headline asked directly and after each training, and what looking is worth."""
    return plain(came_out(results))


PAGES: dict[str, Callable[[str, Results], str]] = {"README.md": headline, "docs/results.md": block}
"""The pages with a generated block, and what it is made of."""

TABLES: dict[str, Callable[[Mapping[str, Results], Path], str]] = {
    "first": _first,
    "papers": _papers,
    "came_out": _came_out,
    "claims": verdicts,
}
"""Names of marks that stand for all papers; made of their results, and of the folder that links are told from."""
