"""One JupyterLab and one Chromium for all tests here; without them the tests are skipped, and say why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab_browser import MINUTE, Lab, chromium, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: make test-browser has it")
    program = chromium()
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Chromium's own sandbox can't be set up by root in a container; the pages are the kit's.
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the server's runs, copies and settings."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def server(browser: Browser, folder: Path) -> Iterator[str]:
    with serve(folder) as address:
        yield address


@pytest.fixture
def lab(browser: Browser, server: str, folder: Path) -> Iterator[Lab]:
    page = browser.new_page(viewport={"width": 1500, "height": 1000})
    page.set_default_timeout(3 * MINUTE)  # a busy machine draws a tall page slowly
    opened = Lab(page, server, folder / "runs" / "_lab" / "notebooks")
    yield opened
    opened.close()
    page.close()
