"""The README and the pages under docs/: links that lead somewhere, commands that exist, a tree that is the real one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from benchmarks.reading import WORDS_A_MINUTE, minutes_to_run, words
from kit.__main__ import parser
from kit.files import ROOT
from kit.jobs.notebooks import find, parameters, sources

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def anchors(page: Path) -> set[str]:
    """The anchors that a hosting site gives a page's headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pages
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


@pages
def test_every_command_is_one_the_kit_takes(page: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`(python -m kit [^`]+)`", page.read_text())
    for line in (shlex.split(line) for line in lines if line.startswith("python -m kit ")):
        args = parser().parse_args(line[3:])
        if args.command in ("run", "plan"):
            known = {name for source in find(args.target) for name in parameters(source)}
            assert {text.partition("=")[0] for text in args.set} - {"NAME", "model"} <= known, line


GLOSSARY = ROOT / "docs" / "glossary.md"
TEXTS = [*PAGES, *(source.path for source in sources())]


def entries() -> dict[str, str]:
    """The glossary's terms and what it says about each."""
    found = re.split(r"^## (.+)\n", GLOSSARY.read_text(), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.name))
def test_every_term_that_is_linked_is_in_the_glossary(text: Path) -> None:
    linked = re.findall(r"glossary\.md#([^)\s]*)", text.read_text())
    assert set(linked) - anchors(GLOSSARY) == set()


def test_the_glossary_is_in_order_and_lists_its_terms_first() -> None:
    terms = list(entries())
    assert terms == sorted(terms, key=str.lower) and len(terms) == len({term.lower() for term in terms})
    head = " ".join(GLOSSARY.read_text().partition("\n## ")[0].split())
    assert re.findall(r"\[([^]]+)\]\(#", head) == terms


@pytest.mark.parametrize("term", entries())
def test_a_term_is_explained_in_a_few_sentences_and_found_in_the_code(term: str) -> None:
    """The notebooks that it names are checked with all other links."""
    text, _, where = entries()[term].strip().rpartition("\n\n")
    sentences = len(re.findall(r"[.:;](?=\s|$)", text))
    assert 1 <= sentences <= 8 and len(text.split()) <= 90, text
    places = re.findall(r"`([^`]+)`", where)
    assert places and all((ROOT / place).exists() for place in places), where


def test_the_tree_lists_every_part_of_the_kit_once() -> None:
    tree = (ROOT / "docs" / "layout.md").read_text().partition("\nkit/\n")[2].partition("```")[0]
    listed = [line.split()[0].rstrip("/") for line in tree.splitlines() if re.match(r"  \S", line)]
    files = {path.name for path in (ROOT / "kit").glob("*.py")} - {"__init__.py"}
    folders = {path.name for path in (ROOT / "kit").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert sorted(listed) == sorted(files | folders)


def test_every_notebook_is_listed() -> None:
    text = (ROOT / "docs" / "notebooks.md").read_text()
    linked = re.findall(r"^\| \[[^\]]+\]\(\.\./notebooks/([^)]+)\.ipynb\)", text, re.MULTILINE)
    assert linked == [source.name for source in sources()]


def test_the_minutes_that_teachers_are_told_are_about_those_of_the_notebooks() -> None:
    """Words change with every edit: a quarter more or less, or three minutes, is still true enough for a plan."""
    text = (ROOT / "docs" / "teaching.md").read_text()
    told = {found[0]: found[1:] for found in re.findall(r"\| (\d\d) [^|]*\| ([^|]*) \| (\d+) (?=\|)", text)}
    assert list(sorted(told)) == [source.number for source in sources()]
    for source in sources():
        run, read = told[source.number]
        estimate = words(source) / WORDS_A_MINUTE
        assert abs(int(read) - estimate) <= max(3, estimate / 4), f"{source.name}: {estimate:.1f} minutes to read"
        assert run == minutes_to_run(source), source.name


def test_the_readme_is_a_first_screen() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 100, "long tables and details belong into docs/"
    assert text.count("![") == 1, "one picture"
    for page in PAGES[1:]:
        assert f"docs/{page.name}" in text, f"{page.name} can't be found from the README"
