"""The kit's own notebooks, handed out: each can be opened in a folder where nothing else of the project is."""

from __future__ import annotations

import base64
import re

import pytest

from kit.files import ROOT
from workshop.course.handout import handout
from workshop.jobs.notebooks import Source, sources


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_every_image_of_a_text_is_within_the_notebook(source: Source) -> None:
    for cell in handout(source).cells:
        if cell.cell_type == "markdown":
            shown = re.findall(r"!\[[^\]]*\]\(([^)\s]+)|<img\b[^>]*src=[\"']([^\"']+)", cell.source)
            places = [markdown or html for markdown, html in shown]
            assert all(place.startswith("attachment:") for place in places), places
            assert {place.removeprefix("attachment:") for place in places} == cell.get("attachments", {}).keys()


def test_the_first_image_is_the_one_of_the_docs() -> None:
    (source,) = [source for source in sources() if source.number == "00"]
    (content,) = [cell.attachments for cell in handout(source).cells if cell.get("attachments")]
    stored = base64.b64decode(content["docs_first_screen.png"]["image/png"])
    assert stored == (ROOT / "docs" / "first_screen.png").read_bytes()
