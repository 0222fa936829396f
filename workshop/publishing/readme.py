"""Fill the generated blocks of README.md and docs/results.md: figures come from ``results/``, never from a keyboard.

A block of figures stands between two marks, one paper's where the first names it, else those of all that aren't named.
More names stand for all papers: ``first`` (the first one in a sentence), ``papers`` (a table of notebooks and
verdicts), ``came_out`` (one of what each training brought) and ``claims`` (verdicts, what would decide the open ones).
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from kit.evaluate.outcomes import Evaluation, by_stage
from kit.files import ROOT, write_text
from papers.claims import VERDICTS, as_stated
from papers.registered import FILE, registered
from papers.registry import Paper, find_paper, published
from papers.tables import markdown
from papers.verdicts import UNMEASURED, verdict_of, why, would_decide
from tiny import TINY
from workshop.jobs.finding import in_short, in_words, own_finding
from workshop.planner.architecture import Architecture
from workshop.publishing.came_out import came_out, minutes_a_seed, seeds_of
from workshop.publishing.current import machine, outdated

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"
MARKS = re.compile(r"(<!-- results:begin(?: (\w+))? -->).*?(<!-- results:end -->)", re.DOTALL)

WHY = 200
"""Characters of a claim's why, two lines of a page; all of its evidence is folded below the table."""

SHARE = re.compile(r"(share of [^;]*? \d\.\d+ \[)(-?[\d.]+), (-?[\d.]+)\]")
"""A share with its interval, in evidence."""

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
    evaluation, stages = find_paper(paper).load_evaluation(), by_stage(results)
    words = in_words(stages, next(iter(evaluation.headlines)))
    return " ".join(text for text in (f"{title}.", words, own_finding(evaluation, stages)) if text)


def block(paper: str, results: Results) -> str:
    """Format a paper's figures as Markdown: a table of metrics by stage, claims, and where they come from."""
    head = f"### {find_paper(paper).title}"
    if results is None:
        return f"{head}\n\nNot measured yet: `results/{paper}.json` does not exist."
    told = find_paper(paper).tell(by_stage(results)), _metrics(paper, results), _claims(paper, results)
    parts = [head, *(text for text in told if text)]
    parts += [*_told_beside(results), _origin(paper, results), _current(find_paper(paper), results)]
    return "\n\n".join(parts)


def _metrics(paper: str, results: Mapping[str, Any]) -> str:
    """The paper's headlines only, of all stages that were measured or that the paper has a number of."""
    evaluation, stages = find_paper(paper).load_evaluation(), by_stage(results)
    shown = [s for s, theirs in evaluation.reported.items() if s in stages or theirs.keys() & evaluation.headlines]
    rows = []
    for name, called in evaluation.headlines.items():
        cells = []
        for stage in shown:
            here, theirs = stages.get(stage, {}).get(name), evaluation.reported[stage].get(name)
            cell = "not run" if here is None else str(here.within(0.0, math.inf if _counts(evaluation, name) else 1.0))
            cells.append(f"{cell} (paper {theirs:.3f})" if theirs is not None else cell)
        rows.append([called, *cells])
    return markdown(["", *shown], rows)


def _counts(evaluation: Evaluation[Any], name: str) -> bool:
    """Whether a metric, named with what it is over, is a count and no share."""
    return any(one.kind == "count" and name.partition("_")[0] == one.name for one in evaluation.metrics)


def _origin(paper: str, results: Mapping[str, Any]) -> str:
    trained = results.get("trained")
    what = "; ".join(trained["machines"] if trained else [machine(results["hardware"])])
    at = f"commit {' and '.join(trained['commits'])}" if trained else "a commit that nobody recorded"
    sets = "; ".join(f"{n} of {name}" for name, n in (results.get("pictures") or {}).items())
    pictures = f"Pictures: {sets}. " if sets else ""
    changed = " and files that were not committed" if _changed(results) else ""
    return (
        f"Value and 95 % interval. {_larger(paper, results['profile'])}{pictures}"
        f"Trained at {at}. "
        f"Measured by {results['notebook']}, profile {results['profile']}, seed {results['seed']}, "
        f"at commit {results['commit'].removesuffix('+changes')}{changed}, on {what}. {_trained(results)}"
    )


def _changed(results: Mapping[str, Any]) -> bool:
    """Whether files that belong to no commit measured these results."""
    return "+" in str(results["commit"])


def _larger(paper: str, profile: str) -> str:
    """How many times larger than the laptop's base the model is that the paper's numbers are of, by its name."""
    found = re.search(r"[\w.-]+-(\d+)B\b", find_paper(paper).load_evaluation().note)  # Qwen2.5-VL-7B
    if profile != "laptop" or found is None:
        return "The paper's model saw other pictures. "
    base = Architecture.of(str(TINY))
    times = float(f"{int(found[1]) * 1e9 / (base.language + base.vision):.1e}")
    return f"The paper's model, {found[0]}, is {times:,.0f} times larger and saw other pictures. "


def _current(paper: Paper, results: Mapping[str, Any]) -> str:
    """Whether the code as it is made each results file of a paper."""
    parts = {part["notebook"]: part for part in (results, *results.get("parts", ()))}
    files = [figures for figures in (paper.published.files if paper.published else ()) if figures.notebook in parts]
    told = []
    for figures in files:
        found = parts[figures.notebook]
        why, lacking = outdated(paper, figures, found), found.get("lacking")
        told.append(f"`results/{figures.name}.json` {why or 'is current: it is of the code as it is'}.")
        told += [f"Not there: {'. '.join(lacking)}."] if lacking else []
    return " ".join(told)


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
    if (minutes := minutes_a_seed(results)) is None:
        return "Training time was not recorded with these figures."
    seeds = seeds_of(results)
    whole = (results.get("run_minutes") or {}).get("runs")
    run = f"; with data, play and measuring its run took {whole:.0f}" if whole else ""
    who = f"Each of {seeds} seeds" if seeds > 1 else "It is of one seed, which"
    return f"{who} trained for {minutes:.0f} minutes{run}."


def judged(paper: str, results: Results) -> Mapping[str, Mapping[str, Any]]:
    """A paper's claims as they are stated today, with what became of each."""
    return as_stated((results or {}).get("claims") or {}, find_paper(paper).load_claims())


def _claims(paper: str, results: Mapping[str, Any]) -> str:
    claims = judged(paper, results)
    if not claims:
        return ""
    told = {name: _plain(str(claim.get("evidence", ""))) for name, claim in sorted(claims.items())}
    evidence = "\n".join(f"- {name}: {text}" for name, text in told.items())
    rows = ([name, *_reasoned(claims[name])] for name in told)
    table = markdown(["claim", "verdict", "why", "what would decide it"], rows)
    since = _since(paper, results)
    return f"{table}\n\n{since}<details><summary>All checks, with intervals</summary>\n\n{evidence}\n\n</details>"


def _since(paper: str, results: Mapping[str, Any]) -> str:
    """Since when the claims say what they say, beside the trainings that they are judged by; empty: it isn't told."""
    stated = registered(paper) if (ROOT / "papers" / paper / FILE).is_file() else None
    days = {name: stated.since(name) for name in stated} if stated else {}
    first = min(part.get("trained", {}).get("since", "") for part in (results, *results.get("parts", ())))
    found = defaultdict(list)
    for name, day in sorted((name, str(day)) for name, day in days.items() if day):
        how = "before" if day < first else "after" if first < day else "on the day of the first of"
        found[f"on {day}, {how} the trainings"].append(name)
    told = [f"{when} that these figures are of ({', '.join(some)})" for when, some in found.items()]
    return f"What the claims say, margins included, was written {'; '.join(told)}.\n\n" if told else ""


def _reasoned(claim: Mapping[str, Any]) -> list[str]:
    """A claim's verdict, why in a line or two, and what would decide it."""
    return [verdict_of(claim), shorten(_plain(why(claim)), WHY, placeholder=" …"), would_decide(claim)]


def _plain(text: str) -> str:
    """Evidence as it is read: no minus before a zero, and no share above 1 or below 0."""
    text = re.sub(r"-(0\.0+)\b", r"\1", text)
    return SHARE.sub(lambda f: f"{f[1]}{max(0.0, float(f[2])):.3f}, {min(1.0, float(f[3])):.3f}]", text)


def _first(results: Mapping[str, Results], _: Path) -> str:
    """What came out of the first paper, in one sentence for whoever reads no other."""
    name, some = next(iter(results.items()))
    if some is None:
        return "Not measured yet."
    metric = next(iter(find_paper(name).load_evaluation().headlines))
    minutes = minutes_a_seed(some)
    how = "training" if minutes is None else f"{minutes:.0f} minutes of training"
    how += " on a laptop" if some["profile"] == "laptop" else ""
    return in_short(by_stage(some), metric, how) or "Not measured yet."


def _verdicts(results: Mapping[str, Results], _: Path) -> str:
    """Count the verdicts of all papers' claims, in a sentence, and what the open ones lack in another."""
    claims = [claim for name, some in results.items() for claim in judged(name, some).values()]
    count = f"The kit tests {len(claims)} claims of the papers. By these figures {_counted(claims)}."
    found: dict[str, dict[str, list[str]]] = {}
    for paper, some in results.items():
        for name, claim in sorted(judged(paper, some).items()):
            if claim["verdict"] in ("undecided", "not testable here"):
                found.setdefault(would_decide(claim), {}).setdefault(find_paper(paper).title, []).append(name)
    told = [f"*{takes}* ({_listed(some)})" for takes, some in found.items()]
    return f"{count} What would decide the open ones: {'; '.join(told)}." if told else count


def _listed(names: Mapping[str, list[str]]) -> str:
    """Claims by their papers: ``PAPER A1, A5; OTHER M2``."""
    return "; ".join(f"{title} {', '.join(some)}" for title, some in names.items())


def _counted(claims: list[Mapping[str, Any]]) -> str:
    """Count claims by their verdicts: ``1 holds, 3 don't, 2 not testable here, 5 undecided``."""
    found, several = Counter(map(verdict_of, claims)), {"holds": "hold", "doesn't": "don't"}
    told = {verdict: found[verdict] for verdict in (*VERDICTS, UNMEASURED) if found[verdict]}
    counts = [f"{n} {verdict if n == 1 else several.get(verdict, verdict)}" for verdict, n in told.items()]
    return ", ".join(counts) or "none was tested"


def _papers(results: Mapping[str, Results], beside: Path) -> str:
    """A table of the papers: notebooks, and how the claims came out."""
    rows = []
    for name, some in results.items():
        paper = find_paper(name)
        first, last = paper.notebooks[0], paper.notebooks[-1]
        twin = Path(os.path.relpath(paper.notebooks_dir / f"{first}.ipynb", beside)).as_posix()
        cells = [paper.title, paper.summary, f"[{first[:2]}]({twin}) to {last[:2]}"]
        rows.append([*cells, "not measured yet" if some is None else _counted([*judged(name, some).values()])])
    return markdown(["paper", "the agent", "notebooks", "claims"], rows)


def _came_out(results: Mapping[str, Results], _: Path) -> str:
    """A table of the papers: the first headline asked directly and after each training, and what looking is worth."""
    return _plain(came_out(results))


PAGES: dict[str, Callable[[str, Results], str]] = {"README.md": headline, "docs/results.md": block}
"""The pages with a generated block, and what it is made of."""

TABLES: dict[str, Callable[[Mapping[str, Results], Path], str]] = {
    "first": _first,
    "papers": _papers,
    "came_out": _came_out,
    "claims": _verdicts,
}
"""Names of marks that stand for all papers; made of their results, and of the folder that links are told from."""
