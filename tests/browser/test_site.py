"""The site in a browser: no error, nothing asked of other hosts, readable on a phone and in the dark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from lab_browser import script

from kit.files import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SITE = ROOT / "build" / "site"
PAGES = ("index.html", "notebooks/01_episode.html", "notebooks/13_agile_grpo.html", "docs/results.html")
FINDINGS = script("site_findings.js")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    if not (SITE / "index.html").is_file():
        pytest.skip("no build/site: make site builds it")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_can_be_read(browser: Browser, site: str, path: str, theme: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
    errors: list[str] = []
    asked: list[str] = []
    page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/{path}", wait_until="networkidle")
    scheme = "slate" if theme == "dark" else "default"
    page.wait_for_function(f"document.body.dataset.mdColorScheme === '{scheme}'")
    page.add_style_tag(content="* { transition: none !important }")  # else a colour on its way is measured
    found = page.evaluate(FINDINGS)
    page.close()
    assert errors == [] and [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []
    assert found["faint"] == [] and found["missing"] == []
    assert found["wide"] <= width and found["texts"] > 50
