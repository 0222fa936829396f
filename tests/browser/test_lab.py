"""What a reader sees in JupyterLab: stored notebooks in both themes, notebooks run, nothing changed that git keeps."""

from __future__ import annotations

import hashlib
import itertools
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from lab_browser import NOTEBOOK, Lab
from PIL import ImageColor

from kit.files import ROOT
from kit.view.charts import COLOURS
from workshop.jobs.lab import digest

SHOWN = ("00", "01", "03", "13")
"""Looked at as they are stored."""

RUN = ("00", "01", "03")
"""Run as well; each takes a minute or two."""

READABLE = 4.5
"""Contrast of text that the Web Content Accessibility Guidelines ask for (level AA)."""


def kept_by_git() -> tuple[str, str]:
    """The list of changed files, and a hash of all executed notebooks."""
    status = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    twins = b"".join(path.read_bytes() for path in sorted((ROOT / "notebooks").glob("*.ipynb")))
    return status.stdout, hashlib.sha256(twins).hexdigest()


def share_a_row(a: dict[str, float], b: dict[str, float]) -> bool:
    return min(a["bottom"], b["bottom"]) > max(a["top"], b["top"])


def overlap(a: dict[str, float], b: dict[str, float]) -> bool:
    return share_a_row(a, b) and min(a["right"], b["right"]) > max(a["left"], b["left"])


def assert_cards_are_laid_out(viewers: list[dict[str, Any]]) -> None:
    for viewer in viewers:
        cards = viewer["cards"]
        assert all(card["right"] - card["left"] > 100 for card in cards), "a card without room"
        pairs = list(itertools.combinations(cards, 2))
        assert not any(overlap(a, b) for a, b in pairs)
        if sum(not card["wide"] for card in cards) >= 2:
            assert any(share_a_row(a, b) for a, b in pairs), "cards stand side by side"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", SHOWN)
def test_a_stored_notebook_looks_as_it_should(lab: Lab, name: str, theme: str) -> None:
    lab.open(name)
    lab.theme(theme)
    found = lab.findings()
    lab.screenshot(f"{name}-{theme}")
    assert found["dialogs"] == [] and found["tracebacks"] == [] and found["struck"] == []
    assert lab.errors() == []
    assert found["viewers"], "the notebook shows episodes"
    assert_cards_are_laid_out(found["viewers"])
    pale = [(round(ratio, 2), text) for v in found["viewers"] for ratio, text in v["contrasts"] if ratio < READABLE]
    assert pale == []
    assert found["images"]
    for image in found["images"]:
        assert image["loaded"] and 0 < image["width"] <= image["room"]


@pytest.mark.parametrize("name", RUN)
def test_a_notebook_runs_to_its_end_and_changes_nothing_that_git_keeps(lab: Lab, name: str) -> None:
    before = kept_by_git()
    lab.open(name)
    lab.command("notebook:clear-all-cell-outputs")
    assert lab.unexecuted() > 0, "what is looked at below was not stored"
    lab.run_all(minutes=8)
    found = lab.findings()
    assert lab.errors() == [] and lab.unexecuted() == 0 and found["dialogs"] == []
    assert_cards_are_laid_out(found["viewers"])
    lab.save()
    assert kept_by_git() == before


def test_rows_of_a_wide_table_stay_in_one_line_in_a_narrow_window(lab: Lab) -> None:
    lab.page.set_viewport_size({"width": 1280, "height": 800})
    lab.open("14")
    cell = lab.find_cell("print(EVALUATION.table(shown, ")
    table = lab.cell(cell).locator(".jp-OutputArea-output pre").first
    table.scroll_into_view_if_needed()
    lines, rows, wider = table.evaluate(
        "e => [e.textContent.trim().split('\\n').length, e.clientHeight / parseFloat(getComputedStyle(e).lineHeight),"
        " e.scrollWidth > e.clientWidth]"
    )
    assert wider, "this window is narrower than the table"
    assert rows < lines + 2, f"{lines} lines of text take the room of {rows}"


def test_a_folded_answer_cannot_be_read_before_it_is_opened(lab: Lab) -> None:
    lab.open("11")
    folded = lab.page.locator(".jp-OutputPlaceholder")
    folded.first.scroll_into_view_if_needed()
    folded.filter(has_text=re.compile(r"\S")).first.wait_for(state="attached")  # JupyterLab has its first line
    shown = folded.locator(".jp-PlaceholderText").evaluate_all(
        "all => all.map(e => [getComputedStyle(e).fontSize, getComputedStyle(e, '::after').content])"
    )
    assert set(map(tuple, shown)) == {("0px", '"folded: click to open"')}


def test_a_guess_stays_folded_when_it_is_run(lab: Lab) -> None:
    lab.open("03")
    tags = "w => w.model.type === 'code' && (w.model.getMetadata('tags') ?? []).includes('guess')"
    guess = int(lab.page.evaluate(f"{NOTEBOOK}.widgets.findIndex({tags})"))
    lab.page.evaluate(f"i => {{ {NOTEBOOK}.activeCellIndex = i; }}", guess)
    lab.start("notebook:run-all-above")
    lab.wait_run(minutes=3)
    lab.start_cell(guess)
    lab.wait_run(minutes=1)
    folded = lab.cell(guess).locator("details.kit-folded")
    folded.wait_for(state="attached")
    within = folded.locator("pre, img, div").first
    assert not within.is_visible() and folded.inner_text().strip() == "folded: click to open"
    folded.locator("summary").click()
    within.wait_for()
    assert lab.errors() == []


def test_an_exercise_is_answered_and_checked(lab: Lab) -> None:
    lab.open("00")
    imports, exercise = lab.find_cell("from workshop.exercises import"), lab.find_cell('check("00.2"')
    lab.start_cell(imports)
    lab.wait_run(minutes=2)
    head = lab.sources()[exercise].split("    ...")[0]

    def answer(line: str, told: str) -> str:
        lab.rewrite(exercise, f'{head}    {line}\n\n\ncheck("00.2", expected_reward)')
        lab.start_cell(exercise)
        lab.wait_run(minutes=1)
        return lab.wait_for_text(exercise, rf"(?s)^.*{told}.*$")

    assert "✗" in answer("return p * (1.0 - 0.05 * calls)", told="keeps to the tags")
    assert "✗" in answer("return p / 0", told="ZeroDivisionError")
    right = answer("return p * (1.0 - 0.05 * calls) + (1 - p) * (0.2 - 0.25)", told="✓")
    assert right.strip() == "00.2 ✓ right"
    assert lab.errors() == []


def test_the_colours_of_a_figure_are_those_of_the_palette(lab: Lab) -> None:
    """Policy and environment, in the band of tokens and in its legend, as the screen shows them; dark: on dark."""
    lab.open("01")
    for theme in ("light", "dark"):
        lab.theme(theme)
        cell = lab.find_cell("display(plots.masks(episode, chat))")
        lab.unfold(cell)
        shown = lab.pixels(lab.cell(cell).locator("img").first)
        [(most, _)] = shown.most_common(1)
        assert sum(most) > 600 if theme == "light" else sum(most) < 150, f"{theme}: the background is {most}"
        for colour in COLOURS[:2] if theme == "light" else ():
            rgb = ImageColor.getrgb(colour)
            assert shown[rgb] > 500, f"{theme}: {colour} is among {shown.most_common(5)}"


def test_the_first_screen_shows_where_it_leads(lab: Lab) -> None:
    lab.open("00")
    picture = lab.page.locator(".jp-MarkdownOutput img").first
    lab.page.wait_for_function("document.querySelector('.jp-MarkdownOutput img')?.naturalWidth > 0", timeout=60_000)
    box = picture.bounding_box()
    assert box is not None and box["y"] + box["height"] < 1000, "on screen before anything is scrolled"


def test_opening_and_saving_does_not_count_as_a_change(lab: Lab) -> None:
    """JupyterLab completes a notebook's metadata; the copy has to be renewed all the same when the kit's is newer."""
    [copy] = lab.copies.glob("14*.ipynb")
    before = copy.read_text()
    lab.open("14")
    lab.save()
    assert copy.read_text() != before
    assert digest(copy.read_text()) == digest(before)


def test_the_terminal_has_the_kit_and_its_programs(lab: Lab, folder: Path) -> None:
    lab.open("14")
    lab.command("terminal:create-new")
    lab.page.wait_for_selector(".jp-Terminal .xterm", timeout=60_000)
    lab.page.wait_for_timeout(2000)
    said = folder / "said"
    lab.page.locator(".jp-Terminal .xterm").click()
    lab.page.keyboard.type(
        f"(pwd; command -v tensorboard; python -m kit reset 14) > {said}.new && mv {said}.new {said}\n"
    )
    deadline = time.monotonic() + 60
    while not said.exists() and time.monotonic() < deadline:
        lab.page.wait_for_timeout(200)
    where, tensorboard, *rest = said.read_text().splitlines()
    assert (where, Path(tensorboard).name) == (str(ROOT), "tensorboard")
    assert rest[0].startswith("14_agile_claims: ")


def test_links_between_notebooks_and_pages_stay_within_the_copies(lab: Lab) -> None:
    lab.open("60")
    lab.page.locator(".jp-Notebook a[href*='adding.md']").first.click()
    lab.page.wait_for_selector(".jp-MarkdownViewer h1", timeout=60_000)
    lab.page.locator(".jp-MarkdownViewer a[href*='.ipynb']").first.click()
    lab.page.wait_for_function(
        "window.jupyterapp.shell.currentWidget.context.path.startsWith('_lab/notebooks/')", timeout=60_000
    )
