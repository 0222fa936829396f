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
from papers.played import flat
from papers.registered import FILE, Registered, registered
from papers.registry import find_paper, published
from papers.starts import STARTS, TRAININGS
from papers.tables import markdown
from papers.verdicts import EQUALS, RUNS, UNMEASURED, counted_as, verdict_of, verdict_told, why, would_decide
from workshop.jobs.finding import ONE_TRAINING, in_short, in_words, own_finding
from workshop.publishing.came_out import came_out, minutes_a_seed, seeds_of
from workshop.publishing.origin import current, origin, pictures_of, told_beside

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"
MARKS = re.compile(r"(<!-- results:begin(?: (\w+))? -->).*?(<!-- results:end -->)", re.DOTALL)

WHY = 200
"""Characters of a claim's why, two lines of a page; all of its evidence is folded below the table."""

NOT_RUN = re.compile(r"^not run: .*_runs$")
ARM = re.compile(r"(\w+)_runs")
"""What isn't run, in evidence, by a notebook's parameters, which may follow the commands that run it."""

UNTRAINED = "not trained yet"
"""What is told of a claim whose trainings aren't made."""

WORDS = {"holds": ("holds", "hold"), "doesn't": ("doesn't hold", "don't hold")}
"""Verdict → how it is told of one claim, and of several."""

SHARE = re.compile(r"(share of [^;]*? \d\.\d+ \[)(-?[\d.]+), (-?[\d.]+)\]")
"""A share with its interval, in evidence."""

OTHER_STARTS = """From other cold starts, after imitation (`-sft`) and after reinforcement. *decided*: its expert always
does what is best. *half*: it does otherwise half as often as the one above."""

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
    called = next(iter(find_paper(paper).load_evaluation().headlines.values()))
    return f"{title} ({called}). {_finding(paper, results)}".strip()


def _finding(paper: str, results: Mapping[str, Any]) -> str:
    """Who did it, and the paper's own finding, in sentences."""
    evaluation, stages = find_paper(paper).load_evaluation(), by_stage(results)
    words = in_words(stages, next(iter(evaluation.headlines)))
    one = ONE_TRAINING if seeds_of(results) == 1 else ""
    return " ".join(text for text in (words, own_finding(evaluation, stages), one) if text)


def block(paper: str, results: Results) -> str:
    """Format a paper's figures as Markdown: a table of metrics by stage, claims, and where they come from."""
    head = f"### {find_paper(paper).title}"
    if results is None:
        return f"{head}\n\nNot measured yet: `results/{paper}.json` does not exist."
    told = (_finding(paper, results), _metrics(paper, results), _starts(paper, results), _claims(paper, results))
    made = [*told_beside(results), origin(paper, results), current(find_paper(paper), results)]
    return "\n\n".join((head, *filter(None, told), _folded("How these figures were made", "\n\n".join(made))))


def _folded(title: str, text: str) -> str:
    """A part of a page that is seen when its title is clicked."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


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
    stated = _registered(paper)
    words = [f"*{stage}*: {what}" for stage, what in (stated.stages.items() if stated else ()) if stage in shown]
    return "\n\n".join((markdown(["", *shown], rows), *([f"Columns. {'; '.join(words)}."] if words else [])))


def _registered(paper: str) -> Registered | None:
    """What a paper's claims say; None: it has no such file."""
    return registered(paper) if (ROOT / "papers" / paper / FILE).is_file() else None


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
    return f"{OTHER_STARTS}\n\n{markdown(['', *shown], rows)}"


def _counts(evaluation: Evaluation[Any], name: str) -> bool:
    """Whether a metric, named with what it is over, is a count and no share."""
    return any(one.kind == "count" and name.partition("_")[0] == one.name for one in evaluation.metrics)


def judged(paper: str, results: Results) -> Mapping[str, Mapping[str, Any]]:
    """A paper's claims as they are stated today, with what became of each."""
    return as_stated((results or {}).get("claims") or {}, find_paper(paper).load_claims())


def _claims(paper: str, results: Mapping[str, Any]) -> str:
    claims = judged(paper, results)
    if not claims:
        return ""
    told = {name: _plain(_evidence(claim)) for name, claim in sorted(claims.items())}
    evidence = "\n".join(f"- {name}: {text}" for name, text in told.items())
    stated = _registered(paper)
    cautions = {name: one.caution for name, one in stated.items() if name in claims} if stated else {}
    beside = "\n".join(f"- {name}: {caution}." for name, caution in cautions.items() if caution)
    rows = ([name, *_reasoned(claims[name])] for name in told)
    table = markdown(["", "claim", "verdict", "why", "what would decide it"], rows)
    parts = (table, beside, _since(paper, results), _folded("All checks, with intervals", evidence))
    return "\n\n".join(filter(None, parts))


def _since(paper: str, results: Mapping[str, Any]) -> str:
    """Since when the claims say what they say, beside the trainings that they are judged by; empty: it isn't told."""
    stated = _registered(paper)
    days = {name: stated.since(name) for name in stated} if stated else {}
    first = min(part.get("trained", {}).get("since", "") for part in (results, *results.get("parts", ())))
    found = defaultdict(list)
    for name, day in sorted((name, str(day)) for name, day in days.items() if day):
        how = "before" if day < first else "after" if first < day else "on the day of the first of"
        found[f"on {day}, {how} the trainings"].append(name)
    told = [f"{when} that these figures are of ({', '.join(some)})" for when, some in found.items()]
    if not told or stated is None:
        return ""
    text = f"What the claims say, margins included, was written {'; '.join(told)}."
    changes = "\n".join(f"- {name}: {'; '.join(one.changed)}" for name, one in stated.items() if one.changed)
    text += " Earlier trainings had been measured by then: their spreads stand in `claims.toml`."
    changed = ", ".join(name for name, one in stated.items() if one.changed)
    return f"{text}\n\n{_folded(f'Changed since they were first written: {changed}', changes)}" if changes else text


def _evidence(claim: Mapping[str, Any]) -> str:
    """All that was found; what a claim can't be told by is a part of it where another check decides."""
    text, untestable = str(claim.get("evidence", "")), "not testable here"
    return text if verdict_of(claim) == untestable else text.replace(f"{untestable}: ", f"{untestable} in part: ", 1)


def _reasoned(claim: Mapping[str, Any]) -> list[str]:
    """What a claim says, its verdict, why in a line or two, and what would decide it."""
    verdict = verdict_of(claim)
    if verdict == "equal":  # says opposite things of a claim of equality and of a gain
        verdict = f"{verdict_told(claim)}, {counted_as(claim).removeprefix('equal ')}"
    reason = shorten(_plain(why(claim)), WHY, placeholder=" …")
    return [claim.get("statement", ""), verdict, reason, would_decide(claim)]


def _plain(text: str) -> str:
    """Evidence as it is read: arms by their names, no minus before a zero, and no share above 1 or below 0."""
    text = NOT_RUN.sub(lambda f: f"{UNTRAINED}: {', '.join(ARM.findall(f[0]))}", text)
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
    how += f" on {some['hardware']['cores']} cores" if some["profile"] == "laptop" else ""
    return in_short(by_stage(some), metric, how) or "Not measured yet."


def _verdicts(results: Mapping[str, Results], _: Path) -> str:
    """Count the verdicts of all papers' claims in a sentence, name them in a list, and tell what the open ones lack."""
    claims = [claim for name, some in results.items() for claim in judged(name, some).values()]
    count = f"The kit tests {len(claims)} claims of the papers. By these figures {_counted(claims)}."
    found: dict[str, dict[str, list[str]]] = {}
    named: dict[str, dict[str, list[str]]] = {}
    for paper, some in results.items():
        for name, claim in sorted(judged(paper, some).items()):
            verdict = f"undecided: {UNTRAINED}" if would_decide(claim) == RUNS else counted_as(claim)
            named.setdefault(verdict, {}).setdefault(find_paper(paper).title, []).append(name)
            if claim["verdict"] in ("undecided", "not testable here"):
                found.setdefault(would_decide(claim), {}).setdefault(find_paper(paper).title, []).append(name)
    told = [f"*{takes}* ({_listed(some)})" for takes, some in found.items()]
    order = [*_verdicts_told(), f"undecided: {UNTRAINED}"]
    which = "\n".join(f"- *{WORDS.get(v, (v,))[0]}*: {_listed(named[v])}" for v in order if v in named)
    open_ = [_folded("What would decide the open ones", f"{'; '.join(told)}.")] if told else []
    return "\n\n".join((count, which, *open_))


def _listed(names: Mapping[str, list[str]]) -> str:
    """Claims by their papers: ``PAPER A1, A5; OTHER M2``."""
    return "; ".join(f"{title} {', '.join(some)}" for title, some in names.items())


def _verdicts_told() -> list[str]:
    """The verdicts in their order, as claims are counted by them."""
    return [name for verdict in (*VERDICTS, UNMEASURED) for name in EQUALS.get(verdict, (verdict,))]


def _counted(claims: list[Mapping[str, Any]]) -> str:
    """Count claims by their verdicts: ``1 holds, 3 don't hold, 5 undecided (2 of them not trained yet)``."""
    found = Counter(map(counted_as, claims))
    waiting = sum(would_decide(claim) == RUNS for claim in claims)
    open_ = (f"undecided: {UNTRAINED}", f"undecided ({waiting} of them {UNTRAINED})")
    words = WORDS | ({"undecided": open_} if waiting else {})
    told = {verdict: found[verdict] for verdict in _verdicts_told() if found[verdict]}
    counts = [f"{n} {words.get(verdict, (verdict, verdict))[n > 1]}" for verdict, n in told.items()]
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
