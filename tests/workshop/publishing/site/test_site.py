"""The site: what is rewritten for it, what is refused, and the whole of it where its generator is installed."""

from __future__ import annotations

import base64
import subprocess
import sys
from html import escape
from importlib.util import find_spec
from pathlib import Path

import nbformat.v4 as nb
import pytest

from kit.files import ROOT
from workshop.exercises.check import exercises
from workshop.publishing.site.build import executed, first_page, foreign, navigation, paths
from workshop.publishing.site.markdown import SiteError, outside_code, page
from workshop.publishing.site.notebook import notebook_page

PAGES = {
    "README.md": "about.md",
    "docs/jobs.md": "docs/jobs.md",
    "docs/a.png": "docs/a.png",
    "notebooks/13_x.ipynb": "notebooks/13_x.md",
    "kit/README.md": "kit/index.md",
}
needs_mathematics = pytest.mark.skipif(find_spec("latex2mathml") is None, reason="needs latex2mathml: make site")


@pytest.mark.parametrize(
    ("path", "written", "shown"),
    [
        ("docs/jobs.md", "[13](../notebooks/13_x.ipynb#a-group)", "[13](../notebooks/13_x.md#a-group)"),
        ("notebooks/13_x.ipynb", "[jobs](../docs/jobs.md)", "[jobs](../docs/jobs.md)"),
        ("README.md", "![picture](docs/a.png)", "[![picture](docs/a.png)](docs/a.png)"),
        ("docs/jobs.md", "[the kit](../kit) and [its page](../kit/README.md)", None),
        ("docs/jobs.md", "[code](../kit/rollout.py)", "code"),
        ("docs/jobs.md", "[out](https://arxiv.org/abs/2510.01304) and [here](#x)", None),
        ("docs/jobs.md", "`[code](../kit/rollout.py)`", "`[code](../kit/rollout.py)`"),
        ("docs/jobs.md", "<details><summary>x</summary>", "<details markdown=1><summary>x</summary>"),
    ],
)
def test_links_lead_to_what_the_site_has(path: str, written: str, shown: str | None) -> None:
    found = page(written, path, PAGES)
    if shown is not None:
        assert found == shown
    elif "kit" in written:
        assert found == "[the kit](../kit/index.md) and [its page](../kit/index.md)"
    else:
        assert found == written


def test_a_link_whose_text_is_code_leads_on_and_code_that_looks_like_one_stays() -> None:
    text = "[`loop`](../notebooks/13_x.ipynb) and `[x](../notebooks/13_x.ipynb)`"
    found = page(text, "docs/jobs.md", PAGES)
    assert found.startswith("[`loop`](") and "13_x.ipynb)" not in found.partition(" and ")[0]
    assert found.endswith(" and `[x](../notebooks/13_x.ipynb)`")


def test_what_the_site_lacks_is_linked_where_the_repository_has_an_address() -> None:
    found = page("[code](../kit/rollout.py)", "docs/jobs.md", PAGES, "https://example.org/blob/main/")
    assert found == "[code](https://example.org/blob/main/kit/rollout.py)"


@needs_mathematics
def test_formulas_are_mathml_and_prices_are_not() -> None:
    assert "<math" in page("a share $\\mu$ of", "README.md", PAGES)
    assert "<div class=math><math" in page("$$\\frac{a}{b}$$", "README.md", PAGES)
    assert page("from $5 to $6, and `$x$`", "README.md", PAGES) == "from $5 to $6, and `$x$`"
    with pytest.raises(SiteError, match=r"README.md: the formula"):
        page("$\\frac{a}{$", "README.md", PAGES)


def test_code_stays_as_it_is() -> None:
    text = "a\n```sh\na\n```\n`a` a"
    assert outside_code(text, str.upper) == "A\n```sh\na\n```\n`a` A"


def test_a_notebooks_outputs_are_shown_and_predictions_are_folded(tmp_path: Path) -> None:
    png = base64.b64encode(b"picture").decode()
    drawn = nb.new_output("display_data", {"image/png": png}, metadata={"image/png": {"width": 400}})
    guess = nb.new_code_cell(
        "print(6)", outputs=[nb.new_output("stream", text="6 <b>\n")], metadata={"tags": ["guess"]}
    )
    cells = [nb.new_markdown_cell("# A\n[13](13_x.ipynb)"), nb.new_code_cell("draw()", outputs=[drawn]), guess]
    found = notebook_page(nb.new_notebook(cells=cells), "notebooks/13_x.ipynb", PAGES, tmp_path / "13_x")
    assert (tmp_path / "13_x" / "1-0.png").read_bytes() == b"picture"
    assert '<img src="13_x/1-0.png"' in found and "width=400" in found and "[13](13_x.md)" in found
    assert found.index("<details class=guess>") < found.index("6 &lt;b&gt;") < found.index("</details>")
    assert "print(6)\n```" in found.partition("<details")[0]


def test_an_exercise_has_its_hint_folded_below_it(tmp_path: Path) -> None:
    cell = nb.new_code_cell('answer = ...\ncheck("03.1", answer)', metadata={"tags": ["exercise"]})
    found = notebook_page(nb.new_notebook(cells=[cell]), "notebooks/13_x.ipynb", PAGES, tmp_path / "13_x")
    _, summary, hint = found.partition("<summary>A hint for 03.1</summary>")
    assert summary and hint.startswith(f"<p>{escape(exercises('03')['03.1'].hint)}</p></details>")


def test_the_first_page_says_the_words_of_its_picture_and_its_table() -> None:
    found = first_page(ROOT, paths(ROOT))
    assert "[![" in found.partition("*Above: an episode")[0] and "a dash: not measured" in found
    words, _, table = found.partition("| asked directly |")
    assert all(f"*{word}" in words for word in ("untrained", "SFT", "gap", "2×2", "R_BAT"))
    assert "[F1](docs/glossary.md#f1)" in words and "- **VISTA-Gym**" in table and "<!--" not in found


def test_every_executed_notebook_and_page_has_its_place() -> None:
    found, tabs = paths(ROOT), str(navigation(ROOT))
    assert {source.twin.name for source in executed(ROOT)} <= {Path(name).name for name in found}
    assert all(f"'{place}'" in tabs for place in found.values() if place.endswith(".md"))


@pytest.mark.parametrize(
    "tag", ['<script src="https://a.b/c.js">', "<img src=//a.b/c.png>", '<link href="http://a.b/c">']
)
def test_a_request_to_another_host_is_found(tmp_path: Path, tag: str) -> None:
    (tmp_path / "x.html").write_text(f'<a href="https://arxiv.org">{tag}')
    assert foreign(tmp_path) == {"x.html": ["a.b"]}


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="needs Material for MkDocs: make site")
def test_the_whole_site(tmp_path: Path) -> None:
    """Strictly: every link leads somewhere, every formula can be read, nobody else is asked for anything."""
    told = [sys.executable, "-m", "workshop.publishing.site.build", "--out", str(tmp_path / "site")]
    made = subprocess.run(told, capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == 0, made.stderr
    assert "<math" in (tmp_path / "site/notebooks/13_agile_grpo.html").read_text()
    first = (tmp_path / "site/index.html").read_text()
    assert "<title>Visual Agents Kit</title>" in first
    assert first.index("site.js") < first.index("bundle."), "else the search begins before site.js can take it away"
