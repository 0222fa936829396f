"""Make the site: ``python -m workshop.publishing.site.build [--out build/site] [--source ADDRESS]``.

Every executed notebook, every page of ``docs/`` and the packages' and folders' READMEs become static pages with links
between them, both themes, mathematics as MathML. Nothing is asked of another host, and a folder will do; the search
alone is there over http only: ``python -m http.server -d build/site``. Material for MkDocs makes the pages; what it is
given is written here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import nbformat
import yaml

from kit.files import ROOT, print_anything, write_text
from papers.registry import papers
from workshop.jobs.notebooks import TEACHING, Source, sources
from workshop.publishing.site.markdown import SiteError, page
from workshop.publishing.site.notebook import notebook_page

FOLDERS = ("docs", "kit", "packages/turn_sandbox", "packages/visual_tools", "tiny/weights")
"""Of pages besides the notebooks: their ``README.md``, of ``docs`` every page and picture."""

HERE = Path(__file__).parent
FOREIGN = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//([^\"'>\s/]+)")
"""A request to another host, made by a page when it is opened."""


def executed(root: Path) -> list[Source]:
    """The notebooks that have been executed."""
    return [source for source in sources(root) if source.twin.is_file()]


def paths(root: Path) -> dict[str, str]:
    """File of the repository → the site's page or picture that it becomes."""
    found = {"README.md": "about.md"}
    for source in executed(root):
        found[source.twin.relative_to(root).as_posix()] = f"notebooks/{source.name}.md"
    for folder in FOLDERS:
        every = sorted((root / folder).glob("*" if folder == "docs" else "README.md"))
        shown = (file for file in every if file.suffix in (".md", ".png", ".gif"))
        for file in shown:
            name = file.relative_to(root).as_posix()
            found[name] = name if folder == "docs" else f"{folder}/index.md"
    return found


def write_pages(root: Path, folder: Path, source: str = "") -> dict[str, str]:
    """Write everything that the generator reads; returns what :func:`paths` found.

    Args:
        root: of the project.
        folder: gets the pages.
        source: as for :func:`workshop.publishing.site.markdown.page`.

    Raises:
        SiteError: a page has what can't be shown.
    """
    found = paths(root)
    for name, place in found.items():
        file, made = root / name, folder / place
        made.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".ipynb":
            pictures = made.with_suffix("")
            write_text(made, notebook_page(nbformat.read(file, 4), name, found, pictures, source))
        elif file.suffix == ".md":
            write_text(made, page(file.read_text(encoding="utf-8"), name, found, source))
        else:
            shutil.copy(file, made)
    for name in ("site.css", "site.js"):
        shutil.copy(HERE / name, folder / name)
    write_text(folder / "index.md", first_page(root, found))
    return found


def first_page(root: Path, pages: Mapping[str, str]) -> str:
    """Write what a visitor sees first: the picture with the caption that 00 gives it, what came out, the way in."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## What came out\n")[2].partition("\n## ")[0].rpartition("<!-- results:end -->")[0]
    start = nbformat.read(root / "notebooks" / "00_start.ipynb", 4).cells[0].source
    caption = start.partition("first_screen.png)\n\n")[2].partition("\n\n")[0]
    text = (HERE / "index.md").read_text(encoding="utf-8").replace("CAPTION", caption)
    text = text.replace("FINDINGS", re.sub(r"<!-- .+? -->\n", "", section).strip())
    return page(text, "README.md", {**pages, "README.md": "index.md"})


def settings(root: Path, folder: Path, out: Path) -> str:
    """Write the generator's settings, as YAML.

    Args:
        root: of the project.
        folder: of the pages.
        out: of the site.
    """
    # Without a first one that has no scheme the theme of the first visit stays, whatever the system's becomes.
    themes: tuple[tuple[str, dict[str, str], str, str], ...] = (
        ("", {}, "brightness-auto", "the light theme"),
        (": light", {"scheme": "default"}, "brightness-4", "the dark theme"),
        (": dark", {"scheme": "slate"}, "brightness-7", "the system's theme"),
    )
    palette = [
        {
            "media": f"(prefers-color-scheme{system})",
            **scheme,
            "primary": "blue grey",
            "toggle": {"icon": f"material/{icon}", "name": leads_to},
        }
        for system, scheme, icon, leads_to in themes
    ]
    extensions = ["admonition", "attr_list", "md_in_html", "tables", "pymdownx.details", "pymdownx.superfences"]
    told = {
        "site_name": "Visual Agents Kit",
        "docs_dir": str(folder),
        "site_dir": str(out),
        "use_directory_urls": False,
        "nav": navigation(root),
        "theme": {
            "name": "material",
            "custom_dir": str(HERE / "theme"),
            "font": False,
            "features": ["navigation.tabs", "navigation.footer", "navigation.top", "search.highlight"],
            "palette": palette,
        },
        "plugins": ["search"],
        "extra_css": ["site.css"],
        "validation": {"links": {"anchors": "warn"}},
    }
    toc = (
        "{ permalink: true, toc_depth: 3, slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}} }"
    )
    listed = "".join(f"  - {one}\n" for one in (*extensions, f"toc: {toc}"))
    return f"{yaml.safe_dump(told, sort_keys=False, allow_unicode=True)}markdown_extensions:\n{listed}"


def navigation(root: Path) -> list[Any]:
    """Tabs: the lessons, paper by paper, the pages, the parts."""
    families: dict[str, list[Any]] = {}
    for source in executed(root):
        families.setdefault(source.family, []).append({source.title: f"notebooks/{source.name}.md"})
    named = {TEACHING: "First lessons", **{name: paper.title for name, paper in papers().items()}}
    lessons = [{named.get(family, family.replace("_", " ").capitalize()): some} for family, some in families.items()]
    pages = sorted((root / "docs").glob("*.md"))
    titled = [{_title(file): f"docs/{file.name}"} for file in pages if file.stem != "results"]
    parts = [{_title(root / folder / "README.md"): f"{folder}/index.md"} for folder in FOLDERS[1:]]
    return [
        {"Look": "index.md"},
        {"Notebooks": lessons},
        {"Results": ["docs/results.md"]},
        {"Pages": [{"About": "about.md"}, *titled]},
        {"Parts": parts},
    ]


def _title(file: Path) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").strip("` ")


def foreign(out: Path) -> dict[str, list[str]]:
    """Pages that ask another host for something when they are opened → those hosts."""
    found = {page: FOREIGN.findall(page.read_text(encoding="utf-8")) for page in sorted(out.rglob("*.html"))}
    return {page.relative_to(out).as_posix(): hosts for page, hosts in found.items() if hosts}


def build(root: Path, out: Path, source: str = "") -> None:
    """Make the site.

    Args:
        root: of the project.
        out: folder of the site; what it held is replaced.
        source: as for :func:`workshop.publishing.site.markdown.page`.

    Raises:
        SiteError: a link leads nowhere, a formula can't be read, or a page asks another host for something.
    """
    folder = out.with_name(f"{out.name}-pages")
    shutil.rmtree(folder, ignore_errors=True)
    write_pages(root, folder, source)
    config = folder.with_suffix(".yml")
    write_text(config, settings(root, folder, out))
    told = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config)]
    made = subprocess.run(told, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SiteError(made.stdout + made.stderr)
    (out / "404.html").unlink(missing_ok=True)  # its links begin at the host's root, and a site may lie in a folder
    if hosts := foreign(out):
        raise SiteError("\n".join(f"{page} asks {', '.join(sorted({*some}))}" for page, some in hosts.items()))


def main(argv: Sequence[str] | None = None) -> int:
    """Make the site and say how large it is."""
    parser = argparse.ArgumentParser(prog="python -m workshop.publishing.site.build", description="Make the site.")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "site", help="its folder; what it held is replaced"
    )
    parser.add_argument("--source", default="", metavar="ADDRESS", help="of the repository's files, to link to them")
    args = parser.parse_args(argv)
    began, out = time.monotonic(), args.out.resolve()
    try:
        build(ROOT, out, args.source)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    files = [file for file in out.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    pages = sum(file.suffix == ".html" for file in files)
    print(f"{out / 'index.html'}: {pages} pages, {size:.1f} MB, in {time.monotonic() - began:.0f} s")
    print(f"opened so it has no search; with one, at http://localhost:8000: python -m http.server -d {relpath(out)}")
    return 0


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
