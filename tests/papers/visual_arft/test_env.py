"""Visual-ARFT's environment: code, search, both; every mistake is an observation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageChops

from kit.episode import NamedImage, Task
from kit.tools.search import SearchError, Snippet
from papers.kept_answers import CacheError
from papers.visual_arft.env import VisualARFTEnv
from papers.visual_arft.index import Document, Index
from pictures.distortion import distort, draw
from pictures.documents import receipt

WHOLE = receipt(np.random.default_rng(0), ()).image
TURNED = distort(WHOLE, [draw("rotate90", np.random.default_rng(0))])
TASK = Task("t", (NamedImage("image", TURNED),), "What is the total?", ("6",))


class Shelf:
    """A search engine with one book, that can be out of order."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.broken: Exception | None = None

    def search(self, query: str, k: int = 4) -> tuple[Snippet, ...]:
        self.asked.append((query, k))
        if self.broken:
            raise self.broken
        return (Snippet("Chad, capital, name", "N'Djamena, which was called Fort-Lamy", "b"),)


@pytest.fixture
def both(box: Any) -> Iterator[VisualARFTEnv]:
    env = VisualARFTEnv(box, Shelf(), k=2, snippet_chars=9)
    env.reset(options={"task": TASK})
    yield env
    env.close()


def code(text: str) -> str:
    return f"<think>so</think><code>{text}</code>"


def search(text: str) -> str:
    return f"<think>so</think><search>{text}</search>"


def answer(text: str) -> str:
    return f"<think>so</think><answer>{text}</answer>"


def same(first: Image.Image, second: Image.Image) -> bool:
    return ImageChops.difference(first.convert("RGB"), second.convert("RGB")).getbbox() is None


def test_code_and_search_in_one_episode(both: VisualARFTEnv) -> None:
    seen, reward, terminated, truncated, info = both.step(code("image_1 = rotate(image, -90)"))
    assert (seen.status, reward, terminated, truncated, info["action"].name) == ("ok", 0, False, False, "code")
    assert seen.images[0].name == "image_1" and same(seen.images[0].image, WHOLE)
    found = both.step(search("Chad capital"))[0]
    assert found.text == "<information>1. Chad, capital, name: N'Djamen…</information>"
    assert both.search.asked == [("Chad capital", 2)]  # type: ignore[union-attr]
    _, reward, terminated, _, _ = both.step(answer("total 6"))
    assert terminated and reward == pytest.approx(2 / 3)  # one token of two is right, and it is all: P 1/2, R 1


def test_of_several_pictures_the_last_is_shown_and_all_stay(both: VisualARFTEnv) -> None:
    seen = both.step(code("first = rotate(image, -90)\nsecond = zoom(crop(first, [0, 0, 0.5, 0.5]), 2.0)"))[0]
    assert [(p.name, p.image.size) for p in seen.images] == [("second", (140, 140))]
    assert both.step(code("print(first.size)"))[0].text == "Output: (140, 140)\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("display(image)", "image"),
        ("import numpy\nshow(numpy.asarray(image)[::-1], 'array')", "array"),
        ("import cv2, numpy\npart = cv2.flip(numpy.asarray(image), 0)\ncv2.imwrite('out.png', part)", "out.png"),
        ("image.paste('red', (0, 0, 9, 9))", "image"),
    ],
)
def test_what_code_means_to_show_is_shown(both: VisualARFTEnv, text: str, name: str) -> None:
    seen = both.step(code(text))[0]
    assert (seen.text, seen.status, [p.name for p in seen.images]) == ("", "ok", [name])
    assert seen.images[0].image.size == TURNED.size


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("rotate(image)", "error", "Error: TypeError"),
        ("crop(image, [0, 0, 2, 1])", "error", "crop: need 0 <= x1"),
        ("# nothing to do", "error", "there is no statement in it"),
        ("x = 3", "ok", "Nothing to show: assign a picture to a name, or print something."),
        ("1 +", "error", "SyntaxError"),
        (
            "strip = image.resize((500, 1))",
            "ok",
            "Note: picture strip left out: 500 x 1 pixels; a side may be 200 times",
        ),
        (
            "import numpy\npixels = numpy.asarray(image)",
            "ok",
            "Note: no image is shown: pixels is an array; show(pixels)",
        ),
    ],
)
def test_code_that_shows_nothing_is_told_why(both: VisualARFTEnv, text: str, status: str, message: str) -> None:
    seen, _, terminated, _, _ = both.step(code(text))
    assert seen.status == status and message in seen.text and not terminated


def test_a_query_that_cant_be_searched_for_is_told(tmp_path: Path) -> None:
    env = VisualARFTEnv(search=Index([Document("b", "Chad", "N'Djamena")], tmp_path))
    env.reset(options={"task": TASK})
    for query in ("", "?!", " \n"):
        seen, _, terminated, _, _ = env.step(search(query))
        assert seen.status == "error" and "say what to look for" in seen.text and not terminated
    assert "N'Djamena" in env.step(search("Chad"))[0].text


@pytest.mark.parametrize(
    "gone", [SearchError("search 'Chad': the network is gone"), CacheError("a.sqlite: disk is full"), OSError("gone")]
)
def test_a_search_engine_that_is_gone_ends_the_run_and_isnt_the_agents_doing(gone: Exception) -> None:
    broken = Shelf()
    broken.broken = gone
    env = VisualARFTEnv(search=broken)
    env.reset(options={"task": TASK})
    with pytest.raises(type(gone), match=str(gone)):
        env.step(search("Chad"))


def test_a_tool_that_is_not_there_has_no_tag(box: Any) -> None:
    only_code, only_search = VisualARFTEnv(box), VisualARFTEnv(search=Shelf())
    for env, text, tag in ((only_code, search("x"), "<code>"), (only_search, code("x = 1"), "<search>")):
        env.reset(options={"task": TASK})
        seen, _, terminated, _, _ = env.step(text)
        assert terminated and seen.status == "format" and tag in seen.text
        assert ("rotate(" in env.prompt(TASK)[0]) == (env is only_code)
        env.close()


def test_a_task_offers_the_tools_it_is_for(both: VisualARFTEnv) -> None:
    """One environment with both tools plays a coding task without search and a search task without code."""
    coding, searching = (Task(TASK.id, TASK.images, "?", ("6",), {"tools": [tool]}) for tool in ("code", "search"))
    both.reset(options={"task": coding})
    assert "<search>" not in both.prompt(coding)[0] and "wrong" in str(both.prompt(coding)[1])
    seen, _, terminated, _, _ = both.step(search("x"))
    assert terminated and seen.status == "format" and both.search.asked == []  # type: ignore[union-attr]
    both.reset(options={"task": searching})
    assert list(both.toolset) == ["search"] and "<code>" not in both.prompt(searching)[0]
    assert both.step(search("x"))[0].status == "ok"
    both.reset(options={"task": TASK})
    assert both.step(code("a = rotate(image, 90)"))[0].status == "ok" and both.step(search("x"))[0].status == "ok"
    with pytest.raises(ValueError, match=r"task t is for \['code'\], and here is only \['search'\]"):
        VisualARFTEnv(search=Shelf()).reset(options={"task": coding})


def test_the_prompt_holds_pictures_by_name_and_the_question(both: VisualARFTEnv) -> None:
    system, user = both.prompt(TASK)
    assert "rotate(image, degrees)" in system and "Search" in system and "<code>, <search>, <answer>" in system
    assert user[:2] == ["image: ", TASK.images[0]]
    assert user[2] == "What is the total? What is wrong with it? What does the flag look like?"
    assert both.prompt(Task("q", (), "Who?", ("x",)))[1] == ["Who?"]
    full = VisualARFTEnv(search=Shelf(), prompt="full")
    assert full.prompt(TASK)[1][-1] == "What is the total?" and "<information>" in full.prompt(TASK)[0]


def test_without_a_tool_it_is_refused() -> None:
    with pytest.raises(ValueError, match="neither box nor search"):
        VisualARFTEnv()
