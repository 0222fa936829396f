"""The viewer shows every token, turns no text of a model into markup, and stays small."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from kit import view
from kit.chat import Chat
from kit.episode import Action, Episode, NamedImage, Observation, Score, Task, Turn
from kit.train.advantage import broadcast_to_tokens
from kit.view.tokens import Token, appended, blocks, pieces
from pictures.scenes import scene

HOSTILE = '</div><script>alert(1)</script>" onload="x<img src=x onerror=y>'
SAID = "<think>B goes first.</think>\n<code>state[0] = 'B'</code>"
TAGS = {
    "div",
    "br",
    "hr",
    "wbr",
    "ins",
    "table",
    "tr",
    "td",
    "b",
    "span",
    "small",
    "p",
    "u",
    "i",
    "pre",
    "code",
    "img",
    "details",
    "summary",
}


class Page(HTMLParser):
    """Tags with their attributes, and text, as a browser parses them."""

    def __init__(self, page: view.Html | str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page if isinstance(page, str) else page.body)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("br", "hr", "img", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def played(chat: Chat, said: str = SAID, out: str = "done", name: str = "A", turns: int = 2) -> Episode:
    """Turns that say ``said``; each but the last is answered by ``out`` and a picture."""
    rng = np.random.default_rng(0)
    image = Image.fromarray(scene(rng, 112))
    task = Task("t-1", (NamedImage(name, image.crop((0, 0, 56, 56))),), "Solve it.", ("B", "A"))
    episode = Episode(task, tuple(chat.prompt("", [*task.images, task.question])))
    for k in range(turns):
        ids = tuple(chat.text(said))
        seen = Observation(out, (NamedImage(name, image),)) if k < turns - 1 else None
        reply = tuple(chat.reply([out, *seen.images], closed=False)) if seen else ()
        episode = episode.add(Turn(ids, (-0.5,) * len(ids), said, Action("code", "x"), seen, reply))
    return episode.end("turns")


@pytest.mark.parametrize("with_chat", [True, False])
def test_hostile_text_is_only_text(chat: Chat, with_chat: bool) -> None:
    episode = played(chat, HOSTILE, HOSTILE, HOSTILE)
    score = Score(0.1, {HOSTILE: 0.1})
    for page in (
        view.show(episode, score, 0.5, chat if with_chat else None),
        view.compare([episode] * 2, [score] * 2, [0.5, -0.5], chat if with_chat else None),
    ):
        shown = Page(page)
        assert {tag for tag, _ in shown.found} <= TAGS
        assert not any(key.startswith("on") for _, attrs in shown.found for key in attrs)
        assert all(str(a["src"]).startswith("data:image/") for tag, a in shown.found if tag == "img")
        assert "<script>alert(1)</script>" in shown.text  # it is there, to be read


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.text(st.characters(), max_size=60))
def test_any_text_gives_a_page_that_can_be_saved(chat: Chat, said: str) -> None:
    shown = Page(view.show(played(chat, said.encode("utf-8", "replace").decode(), "x")))
    assert {tag for tag, _ in shown.found} <= TAGS
    odd = Turn((1,), (0.0,), said + "\ud800\x00", None, Observation("\udfff"), ())
    view.show(played(chat, turns=0).add(odd))._repr_html_().encode()


def test_every_token_of_the_policy_is_there_with_id_and_logprob(chat: Chat) -> None:
    episode = played(chat, "<think>eins</think><code>zwei</code>", turns=1)
    shown = Page(view.show(episode, chat=chat))
    titles = [str(a["title"]) for tag, a in shown.found if tag == "u" and str(a.get("title")).startswith("id")]
    # A token that reaches over the end of a block is shown in two parts with one title.
    once = [title for k, title in enumerate(titles) if k == 0 or title != titles[k - 1]]
    ids = [str(i) for i in episode.turns[0].ids]
    assert [re.findall(r"\d+", title)[0] for title in once] == [
        i for k, i in enumerate(ids) if k == 0 or ids[k - 1] != i
    ]
    assert all(title.endswith(": log p −0.50") for title in titles)
    assert "<think>eins</think><code>zwei</code>" in shown.text


def test_environment_tokens_differ_from_the_policys_and_an_image_is_one_element(chat: Chat) -> None:
    episode = played(chat)
    shown = Page(view.show(episode, chat=chat))
    assert shown.text.count("[image: 4 tokens]") == 1 and shown.text.count("[image: 16 tokens]") == 1
    assert shown.text.count("<|im_start|>assistant") == 2  # in the prompt, and where the environment hands back
    assert sum(tag == "img" for tag, _ in shown.found) == len(episode.images) == 2


def test_bar_is_the_mask_in_proportion(chat: Chat) -> None:
    episode = played(chat)
    stretches = [
        (tag, int(re.findall(r"flex:(\d+)", str(a["style"]))[0]))
        for tag, a in Page(view.show(episode)).found
        if str(a.get("style")).startswith("flex:")
    ]
    assert [1 if tag == "u" else 0 for tag, count in stretches for _ in range(count)] == episode.mask


def test_advantage_is_told_by_sign_line_and_words(chat: Chat) -> None:
    episode = played(chat)
    up, down = (view.show(episode, advantage=a).body for a in (1.5, -0.75))
    assert (
        'class="t p u" style="--a:45%;' in up and "background-color:#0072b273" in up and "+1.50 ▲ made likelier" in up
    )
    assert (
        'class="t p d" style="--a:22%;' in down
        and "background-color:#d55e0038" in down
        and "−0.75 ▼ made less likely" in down
    )
    assert "made" not in view.show(episode).body  # and none without


@pytest.mark.parametrize("kind", [list, torch.tensor, np.array])
def test_advantage_of_each_token(chat: Chat, kind: Callable[[list[float]], object]) -> None:
    """By turns, or as a (padded) row of :func:`kit.train.advantage.broadcast_to_tokens`: the same page."""
    episode = played(chat)
    lengths = [len(turn.ids) for turn in episode.turns]
    row = broadcast_to_tokens([[0.5, -1.0]], [episode])[0].tolist()
    by_row = view.show(episode, advantage=kind([*row, 0.0, 0.0]), chat=chat).body
    by_turn = view.show(episode, advantage=[kind([0.5] * lengths[0]), kind([-1.0] * lengths[1])], chat=chat).body
    assert by_row == by_turn
    assert 'class="u" style="background:#0072b226"' in by_row and ", A −1.00" in by_row


def test_advantages_that_are_not_one_a_token_are_refused(chat: Chat) -> None:
    episode = played(chat)
    with pytest.raises(ValueError, match="episode t-1: 3 advantages for"):
        view.show(episode, advantage=[0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="advantages for \\[1, 1\\]"):
        view.show(episode, advantage=[[0.1], [0.2]])
    with pytest.raises(ValueError, match="2 episodes but 1 scores"):
        view.compare([episode] * 2, [Score(0, {})])


def answered(target: tuple[str, ...], answer: str) -> Episode:
    turn = Turn((1,), (0.0,), f"<answer>{answer}</answer>", Action("answer", answer))
    return Episode(Task("t", (), "", target), (1,), (turn,), "answer")


@pytest.mark.parametrize("papers_verdict", [True, False])
def test_head_shows_the_papers_verdict_and_does_not_guess_one(papers_verdict: bool) -> None:
    mark = "✓ right, target B A" if papers_verdict else "✗ wrong, target B A"
    for answer in ("[B, A]", "[A, B]"):
        episode = answered(("B", "A"), answer)
        for page in (
            view.show(episode, is_right=lambda *_: papers_verdict),
            view.compare([episode] * 2, is_right=lambda *_: papers_verdict),
        ):
            assert mark in page.body
        assert "✓" not in (plain := view.show(episode).body) and "✗" not in plain and "target B A" in plain


def test_head_marks_no_unanswered_episode(chat: Chat) -> None:
    page = view.show(played(chat), is_right=lambda *_: True).body
    assert "out of turns, 2 turns" in page and "right" not in page


def test_head_shows_reward_by_parts() -> None:
    page = view.show(answered(("B",), "B"), Score(0.9, {"accuracy": 0.8, "step": -0.1}))
    assert "reward <b>+0.90</b> <small>= accuracy +0.80, step −0.10" in page.body


def test_an_observation_that_ended_the_episode_is_shown_as_such(chat: Chat) -> None:
    seen = Observation("too late", (NamedImage("late", Image.new("RGB", (56, 56))),))
    page = Page(view.show(played(chat, turns=0).add(Turn((1,), (0.0,), "x", None, seen)), chat=chat))
    assert "not appended: the episode had ended" in page.text and "too late" in page.text
    assert sum(tag == "img" for tag, _ in page.found) == 2


def test_rollouts_stand_side_by_side_under_one_task(chat: Chat) -> None:
    episode = played(chat)
    page = Page(view.compare([episode] * 3, [Score(k, {}) for k in (0.1, 0.2, 0.3)], [1.0, 0.0, -1.0]))
    assert [f"Rollout {k}" in page.text for k in (1, 2, 3, 4)] == [True, True, True, False]
    assert page.text.count("Task") == 1
    assert [word in page.text for word in ("+1.00 ▲", "+0.00 unchanged", "−1.00 ▼")] == [True] * 3
    assert sum(tag == "img" for tag, _ in page.found) == 1 + 3


def test_an_episode_takes_at_most_60_kb(chat: Chat) -> None:
    """Five turns, each with a grainy picture larger than a screen, and seven hundred tokens."""
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (900, 1400, 3), dtype=np.uint8))
    episode = played(chat, turns=0)
    for _ in range(5):
        ids = tuple(chat.text("state[0], state[1] = state[1], state[0]\n" * 40))[:140]
        turn = Turn(ids, (-1.0,) * 140, "", Action("code", ""), Observation("", (NamedImage("o", noise),)), (1,))
        episode = episode.add(turn)
    page = view.show(episode, Score(1, {}), 0.3, chat)
    assert len(page._repr_html_().encode()) <= 60_000
    assert "900" in page.body and "hover over 2 neighbouring tokens" in page.body


def test_page_stands_alone_and_follows_the_theme(chat: Chat, tmp_path: Path) -> None:
    page = view.show(played(chat), chat=chat)
    text = page.save(tmp_path / "episode.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "<title>episode t-1: 2 turns, out of turns</title>" in text
    assert not re.search(r"https?:|<link|<script|url\(", text)
    for theme in ("prefers-color-scheme:dark", "data-jp-theme-light=false", "var(--jp-layout-color0,#fff)"):
        assert theme in text
    assert repr(page) == "<episode t-1: 2 turns, out of turns>"
    assert page._repr_html_() == view.show(played(chat), chat=chat)._repr_html_()


def test_blocks_cover_the_text_once() -> None:
    text = "well <think>a</think>\n<code>b</code> <answer>c"
    found = blocks(text)
    assert [text[a:b] for _, a, b in found] == ["well ", "<think>a</think>\n", "<code>b</code>", " <answer>c"]
    assert [tag for tag, _, _ in found] == ["div", "div", "pre", "div"]


@given(st.text(st.sampled_from("<>/ \nabthinkcode"), max_size=80))
def test_blocks_of_any_text_cover_it_once(text: str) -> None:
    assert "".join(text[a:b] for _, a, b in blocks(text)) == text


def test_tokens_of_one_character_come_together(chat: Chat) -> None:
    text = "ja ✓ 漢字"
    found = list(pieces(chat.text(text), chat))
    assert "".join(piece for piece, _, _ in found) == text
    assert [(a, b) for _, a, b in found][-1][1] == len(chat.text(text))
    assert "\ufffd" in "".join(piece for piece, _, _ in pieces(chat.text("漢")[:2], chat))  # half a character


def test_appended_ids_are_named(chat: Chat) -> None:
    found = appended(chat.reply(["out"], closed=False), chat, 1)
    assert found[0] == Token("<|im_end|>", f"id {chat.end_id}", control=True)
    assert (
        "".join(token.text for token in found) == "<|im_end|>\n<|im_start|>user\nout<|im_end|>\n<|im_start|>assistant\n"
    )
