"""No two pages tell one number differently: all that they print of a paper, metric and arm is what ``results/`` has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import by_stage
from kit.files import ROOT
from papers.registry import find_paper, published
from papers.verdicts import EQUALS, verdict_of
from workshop.publishing.came_out import ARMS
from workshop.publishing.claimed import judged

Fact = tuple[str, str, str]
"""Paper, ``ARM/METRIC``, and the number as it is printed."""
N = r"(-?\d+(?:\.\d+)?)"
TITLES = {find_paper(name).title: name for name in published()}
HEADLINES = {name: find_paper(name).load_evaluation().headlines for name in published()}
FIRST = {name: next(iter(shown)) for name, shown in HEADLINES.items()}

SENTENCES: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "agile": (
        (f"agent looks {N} times a puzzle", ("grpo/calls_of_observation",)),
        (f"pieces it solves {N} less", ("grpo/observation_gap_swapped_2x2",)),
        (rf"gets {N} of such tasks right \({N} with", ("direct/acc_2x2", "direct_originals/accuracy")),
        (f"minutes of training on 2 cores {N}, because", ("grpo/acc_2x2",)),
        (f"full images in front of it, the base reaches {N} ", ("direct_originals/accuracy",)),
        (f"Reinforcement did it.*?imitating one that does reaches {N} ", ("decided-sft/acc_2x2",)),
        (
            f"packaged eight the base solves {N}, the agent {N}",
            tuple(f"{s}/acc_2x2_photographs" for s in ("direct", "grpo")),
        ),
        (
            f"looks in {N} of its episodes and solves {N};",
            ("sft/guesses_60_sampled_looks", "sft/guesses_60_sampled_acc"),
        ),
    ),
    "visual_arft": (
        (f"a search gets {N} → {N} calls", ("sft/tools_search", "grpo/tools_search")),
        (f"F1 there goes {N} → {N}: ", ("sft/f1_search", "grpo/f1_search")),
        (rf"base asked directly \({N}, {N}\)", ("sft/f1_coding_hard", "direct/f1_coding_hard")),
        (f"the agent mends {N} → {N} of the images", ("sft/restored_coding", "grpo/restored_coding")),
        (
            f"added {N} on Simple sheets and {N} on Hard",
            ("grpo/gain_over_sft_coding_simple", "grpo/gain_over_sft_coding_hard"),
        ),
    ),
    "codedance": (
        (rf"makes {N} calls [^,]*, [^,]* on an easy question", ("sft/calls_easy",)),
        (f"{N} under R_BAT, {N} under a bonus", ("grpo/calls_easy", "bonus/calls_easy")),
        (f"for calls, {N} under the outcome alone", ("outcome/calls_easy",)),
        (rf"Of easy questions it answers {N} \[", ("grpo/gain_over_sft_easy",)),
        *((rf"codedance.json`, up to[^:]*:.*?\b{arm} {N}", (f"{arm}/calls_easy",)) for arm in ("sft", "grpo", "bonus")),
    ),
    "mags_rl": (
        (f"Of its boxes, [^,]*, {N} show .*? {N} after it", ("sft/right_all", "grpo/right_all")),
        (
            f"questions answered rightly by {N}. Played .*? it adds {N} to them",
            ("grpo/acc_gain_over_sft_hard", "grpo/acc_gain_over_sft_hard_sampled"),
        ),
        (
            f"answers rightly {N} of those [^,]*, {N} of those [^,]*, {N} of those that ask for a count",
            tuple(f"grpo/acc_{kind}_hard" for kind in ("attribute", "relation", "count")),
        ),
    ),
    "vista_gym": (
        (f"calls a tool in {N} of .*? in {N} after", ("sft/called", "grpo/called")),
        (f"not trained on it gets {N} right.*? directly, {N}: ", ("grpo/acc_out", "direct/acc_out")),
        (rf"\({N} on the \d+ of the paper's sets", ("grpo/acc_in",)),
        (
            f"Of the episodes that call, {N} ask for .*? {N} after it",
            ("sft/called_for_the_wrong_thing", "grpo/called_for_the_wrong_thing"),
        ),
    ),
}
"""Paper → how a sentence of its own tells numbers, and which ones."""

PAGES = {path: (ROOT / path).read_text() for path in ("README.md", "docs/results.md")}


def outputs(number: str) -> str:
    """What a notebook's stored outputs print, in text and Markdown."""
    (twin,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    found = [one for cell in json.loads(twin.read_text())["cells"] for one in cell.get("outputs", ())]
    texts = [one.get("text") or one.get("data", {}).get("text/markdown", ()) for one in found]
    return "\n".join("".join(text) for text in texts)


def facts(text: str, paper: str = "") -> Iterator[Fact]:
    """The numbers of papers that a page tells; one without titles is of ``paper``."""
    for name, sentences in SENTENCES.items():
        for sentence, places in sentences:
            for found in re.finditer(sentence, text, re.DOTALL):
                yield from zip([name] * len(places), places, found.groups(), strict=True)
    for title, name in TITLES.items():
        for row in re.findall(rf"^\| {title}: [^|]* \| (.*) \|$", text, re.MULTILINE):  # what came out
            told = zip(ARMS, row.split(" | "), strict=False)
            yield from ((name, f"{arm}/{FIRST[name]}", cell.split()[0]) for arm, cell in told if cell[:3] != "not")
        block = re.search(rf"^### {title}\n(.*?)(?=^### |\Z)", text, re.MULTILINE | re.DOTALL)
        for table in re.findall(r"(?:^\|.*\n)+", block[1], re.MULTILINE) if block else ():
            head, *rows = (line.strip("| ").split(" | ") for line in table.splitlines())
            metrics = {called: metric for metric, called in HEADLINES[name].items()}
            for cells in (cells for cells in rows if cells[0] in metrics):
                told, metric = zip(head, cells[1:], strict=True), metrics[cells[0]]
                yield from ((name, f"{arm}/{metric}", cell.split()[0]) for arm, cell in told if cell[:3] != "not")
    for metric, called in HEADLINES.get(paper, {}).items():  # a notebook's last table
        head = rf"^{re.escape(called)} +paper +this run +committed results\n"
        for table in re.findall(head + r"((?:\w.*\n)+)", text, re.MULTILINE):
            rows = re.findall(rf"^(\w+) .*  {N} \[[^]]*\]$", table, re.MULTILINE)
            yield from ((paper, f"{arm}/{metric}", value) for arm, value in rows)


def wrong(found: list[Fact], results: Mapping[str, Any]) -> list[str]:
    """Numbers that aren't those of the results files, to the digits that are printed."""
    said = []
    for paper, place, told in found:
        arm, _, metric = place.partition("/")
        value: Interval = by_stage(results[paper])[arm][metric]
        true = value.value
        if f"{true:.{len(told.partition('.')[2])}f}" not in (told, f"-{told}"):
            said.append(f"{paper}: {place} is {true}, told is {told}")
    return said


NOTEBOOKS = {"14": "agile", "34": "codedance"}
"""Notebooks that print what is published beside what they measured → their paper."""


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS])
def test_a_page_tells_what_the_results_files_have(page: str) -> None:
    """And a changed digit is seen, in any of its numbers."""
    found = [*facts(PAGES[page])] if page in PAGES else [*facts(outputs(page), NOTEBOOKS[page])]
    assert len(found) >= 3 and wrong(found, published()) == []
    assert {name for name, _, _ in found} == ({NOTEBOOKS[page]} if page in NOTEBOOKS else {*published()})
    for paper, place, told in found:
        other = str(int(told[-1]) ^ 1)
        assert len(wrong([(paper, place, told[:-1] + other)], published())) == 1, f"{place}: {told} → {other}"


def test_every_sentence_that_is_compared_stands_on_a_page() -> None:
    """One whose words have changed would be compared no more, in silence."""
    texts = [*PAGES.values(), *map(outputs, NOTEBOOKS)]
    sentences = [sentence for some in SENTENCES.values() for sentence, _ in some]
    assert [one for one in sentences if not any(re.search(one, text, re.DOTALL) for text in texts)] == []


def test_every_verdict_is_told_alike() -> None:
    claims = {(p, name): verdict_of(one) for p, some in published().items() for name, one in judged(p, some).items()}
    told = re.findall(r"^\| ([A-Z]\d) \| [^|]+ \| ([^|]+) \|", PAGES["docs/results.md"], re.MULTILINE)
    rows = [(name, verdict.partition(" within ")[0]) for name, verdict in told]
    assert sorted(rows) == sorted((name, verdict) for (_, name), verdict in claims.items())
    several = {"hold": "holds", "don't hold": "doesn't", "doesn't hold": "doesn't"}
    several |= dict.fromkeys(EQUALS["equal"], "equal")
    rows = re.findall(rf"^\| (?:{'|'.join(TITLES)}) \|.*\| ([^|]*) \|$", PAGES["README.md"], re.MULTILINE)
    for page, told in {
        "docs": re.findall(r"By these figures ([^.]*)\.", PAGES["docs/results.md"]),
        "README": rows,
    }.items():
        counts: Counter[str] = Counter()
        for n, words in re.findall(r"(?<!\()\b(\d+) ([^,;:(]+\b)", "; ".join(told)):
            counts[several.get(words, words)] += int(n)
        assert counts == Counter(claims.values()), page
