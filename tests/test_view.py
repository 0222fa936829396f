"""The viewer: everything is shown, nothing a model wrote becomes markup, a page stays small."""

import re
from pathlib import Path

from PIL import Image

from kit import view
from kit.chat import Chat
from kit.episode import Action, Episode, Observation, Picture, Score, Task, Turn

HOSTILE = '<script>alert(1)</script>" onload="x'


def episode(chat: Chat, text: str = "<think>a</think><code>b</code>") -> Episode:
    task = Task("t", (Picture("A", Image.new("RGB", (600, 300), "red")),), "Solve.", ("A",))
    ids = tuple(chat.text(text))
    seen = Observation(f"out {HOSTILE}", (Picture(HOSTILE, Image.new("RGB", (56, 56))),), "ok")
    first = Turn(ids, (-0.5,) * len(ids), text, Action("code", "b"), seen, (1, 2))
    return Episode(task, (1,), (first,), "turns")


def test_hostile_text_is_only_text(chat: Chat) -> None:
    page = view.show(episode(chat, HOSTILE), Score(0.1, {HOSTILE: 0.1}), 0.5, chat)._repr_html_()
    assert "<script" not in page and 'onload="x' not in page
    assert "&lt;script&gt;" in page


def test_every_token_says_what_it_is(chat: Chat) -> None:
    shown = episode(chat)
    page = view.show(shown, advantage=-0.75, chat=chat)._repr_html_()
    for token in shown.turns[0].ids:
        assert f'title="id {token}, log p -0.500, advantage -0.75"' in page
    assert page.count('class="p down"') == len(shown.turns[0].ids) + 1  # and the legend's


def test_large_pictures_are_shown_small_with_their_real_size(chat: Chat) -> None:
    page = view.show(episode(chat))._repr_html_()
    assert 'width="200"' in page and "600×300" in page
    assert len(page) < 60_000


def test_reward_and_its_parts_are_there(chat: Chat) -> None:
    page = view.show(episode(chat), Score(0.9, {"accuracy": 0.8, "step": 0.1}))._repr_html_()
    assert "+0.90" in page and "accuracy +0.80" in page and "ended: <b>turns</b>" in page


def test_siblings_stand_side_by_side(chat: Chat) -> None:
    pair = [episode(chat), episode(chat)]
    page = view.compare(pair, [Score(1, {}), Score(0, {})], [1.0, -1.0])._repr_html_()
    assert page.count("Turn 1") == 2
    assert re.search(r"advantage <b>\+1.00", page) and re.search(r"advantage <b>-1.00", page)


def test_a_saved_page_stands_alone(chat: Chat, tmp_path: Path) -> None:
    text = view.show(episode(chat)).save(tmp_path / "e.html").read_text()
    assert text.startswith("<!doctype html>") and 'src="http' not in text and "<link" not in text
