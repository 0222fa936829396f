"""The README and the pages under docs/: links that lead somewhere, commands that exist, a tree that is the real one."""

from __future__ import annotations

import argparse
import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest

from kit.files import ROOT
from visual_tools.command import options
from workshop.command import parser
from workshop.jobs.notebooks import find, settable, sources

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The anchors that a hosting site gives a page's headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def leads_nowhere(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    there = (page.parent / name).resolve() if name else page
    return not there.exists() or (bool(anchor) and anchor not in anchors(there))


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text())]
    broken = [(page.name, to) for page, to in links if not to.startswith("https://") and leads_nowhere(page, to)]
    assert broken == []


def test_every_command_is_one_the_kit_takes() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    lines = [
        line.split("  #")[0].strip()
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    ]
    lines += re.findall(r"`(python -m kit [^`\n]+)`", text)
    for line in (shlex.split(line) for line in lines if line.startswith("python -m kit ")):
        args = parser().parse_args(line[3:])
        if args.command == "tools":
            options(argparse.ArgumentParser()).parse_args([args.action, *args.options])
        if args.command in ("run", "plan"):
            known = {name for source in find(args.target) for name in settable(source)}
            named = {text.partition("=")[0].rpartition(".")[2] for text in args.set}  # 13.steps: of that notebook
            assert named - {"NAME", "model"} <= known, line


GLOSSARY = ROOT / "docs" / "glossary.md"
TEXTS = [*PAGES, *(source.path for source in sources())]


def entries() -> dict[str, str]:
    """The glossary's terms and what it says about each."""
    found = re.split(r"^## (.+)\n", GLOSSARY.read_text(), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_every_term_that_is_linked_is_in_the_glossary() -> None:
    known = anchors(GLOSSARY)
    linked = [(text.name, term) for text in TEXTS for term in re.findall(r"glossary\.md#([^)\s]*)", text.read_text())]
    assert [found for found in linked if found[1] not in known] == []


def test_the_glossary_is_in_order_and_lists_its_terms_first() -> None:
    terms = list(entries())
    assert terms == sorted(terms, key=str.lower) and len(terms) == len({term.lower() for term in terms})
    head = " ".join(GLOSSARY.read_text().partition("\n## ")[0].split())
    assert re.findall(r"\[([^]]+)\]\(#", head) == terms


def test_a_term_is_found_in_the_code() -> None:
    """The notebooks that it names are checked with all other links."""
    places = {term: re.findall(r"`([^`]+)`", text.strip().rpartition("\n\n")[2]) for term, text in entries().items()}
    assert {term: found for term, found in places.items() if not all((ROOT / place).exists() for place in found)} == {}
    assert all(places.values())


@pytest.mark.parametrize("top", ["kit", "workshop"])
def test_the_tree_lists_every_part_once(top: str) -> None:
    tree = (ROOT / "docs" / "layout.md").read_text().partition(f"\n{top}/ ")[2]
    rows = tree.partition("\n")[2].splitlines()
    listed = [
        line.split()[0].rstrip("/") for line in takewhile(lambda row: row.startswith("  "), rows) if line[2] != " "
    ]
    files = {path.name for path in (ROOT / top).glob("*.py")} - {"__init__.py"}
    folders = {path.name for path in (ROOT / top).iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert sorted(listed) == sorted(files | folders)


def test_the_kit_s_readme_lists_every_file_once() -> None:
    """In the order in which to read them; a package's empty first file needn't be read."""
    listed = re.findall(r"^\| \[[^]]+\]\(([^)]+\.py)\) \|", (ROOT / "kit" / "README.md").read_text(), re.MULTILINE)
    files = {path.relative_to(ROOT / "kit").as_posix(): path for path in (ROOT / "kit").rglob("*.py")}
    bare = {name for name, path in files.items() if path.name == "__init__.py" and name not in listed}
    assert sorted(listed) == sorted(files.keys() - bare)
    assert all("def " not in files[name].read_text() for name in bare)


def test_every_notebook_is_listed() -> None:
    text = (ROOT / "docs" / "notebooks.md").read_text()
    linked = re.findall(r"^\| \[[^\]]+\]\(\.\./notebooks/([^)]+)\.ipynb\)", text, re.MULTILINE)
    assert linked == [source.name for source in sources()]


def test_the_readme_is_a_first_screen() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 110, "long tables and details belong into docs/"
    assert text.count("![") == 2, "an episode that moves, and what came out"
    for page in PAGES[1:]:
        assert f"docs/{page.name}" in text, f"{page.name} can't be found from the README"
