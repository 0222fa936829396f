"""The viewer reads well where a sanitizer strips it: JupyterLab in a notebook that isn't trusted, GitHub's preview.

JupyterLab 4.6 (``@jupyterlab/apputils``, sanitizer.ts) drops the stylesheet, empty attributes and unknown properties;
GitHub's published list (html-pipeline, sanitization_filter.rb) also drops ``style``, ``class`` and ``hidden``.
"""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

import pytest

from kit import view
from kit.chat import Chat
from kit.episode import Score
from tests.view.test_episodes import played


def words(text: str) -> set[str]:
    return set(text.split())


GITHUB_TAGS = words(
    """h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p ol ul table thead tbody tfoot
    blockquote dl dt dd kbd q samp var hr li tr td th s strike summary details caption figure figcaption abbr span
    small wbr"""
)
GITHUB_ATTRIBUTES = {"align", "alt", "border", "colspan", "height", "src", "title", "valign", "width"}
JUPYTER_TAGS = GITHUB_TAGS | {"u", "section", "header"}
JUPYTER_ATTRIBUTES = GITHUB_ATTRIBUTES | {"class", "hidden", "style"}
PROPERTIES = words(
    """align-items background background-color border border-collapse border-left border-radius border-spacing display
    flex gap grid-column grid-template-columns height margin margin-top min-width overflow overflow-x padding
    table-layout text-align text-decoration vertical-align width word-break"""
)
BLOCKS = {"div", "p", "pre", "table", "tr", "td", "hr", "br", "details", "summary"}
SAID = "<think>First B.\nThen A.</think>\n<code>a = 1\nb = 2</code>"


class Sanitizer(HTMLParser):
    """What is left of a page, as HTML and as lines of text.

    Args:
        page: HTML.
        tags: those that are kept; the text of others is.
        attributes: those that are kept, if they have a value; of ``style`` the properties in ``PROPERTIES`` are.
    """

    def __init__(self, page: str, tags: set[str], attributes: set[str]) -> None:
        super().__init__()
        self.tags, self.attributes = tags, attributes
        self.html = self.shown = ""
        self.pre = self.skipped = 0
        self.styles: list[str] = []
        self.feed(page)
        self.lines = [re.sub(r"[ \t\f]+", " ", line).strip() for line in self.shown.split("\n")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag == "style"
        if tag not in self.tags:
            return
        kept = {name: value for name, value in attrs if name in self.attributes and value}
        if "style" in kept:
            parts = [part.split(":", 1) for part in str(kept["style"]).split(";")]
            kept["style"] = ";".join(f"{name}:{value}" for name, value in parts if name in PROPERTIES)
            self.styles.append(str(kept["style"]))
        given = "".join(f' {name}="{escape(str(value))}"' for name, value in kept.items())
        self.html += f"<{tag}{given}>"
        self.shown += "\n" if tag in BLOCKS else ""
        self.pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag == "style"
        if tag in self.tags:
            self.pre -= tag == "pre"
            self.html += f"</{tag}>"
            self.shown += "\n" if tag in BLOCKS else ""

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.html += escape(data)
            self.shown += data if self.pre else re.sub(r"\s+", " ", data)


def stripped(page: view.Html, kind: str) -> Sanitizer:
    """``page`` as JupyterLab or GitHub leaves it."""
    lists = {"github": (GITHUB_TAGS, GITHUB_ATTRIBUTES), "jupyter": (JUPYTER_TAGS, JUPYTER_ATTRIBUTES)}
    return Sanitizer(page._repr_html_(), *lists[kind])


@pytest.mark.parametrize("kind", ["github", "jupyter"])
def test_fields_stay_apart_and_text_keeps_its_lines(chat: Chat, kind: str) -> None:
    page = stripped(view.show(played(chat, SAID, "seen:\n  x"), Score(0.5, {"step": 0.5}), 0.5, chat), kind)
    head = "t-1 · out of turns, 2 turns · target B A · reward +0.50 = step +0.50 · advantage +0.50 ▲ made likelier"
    assert head in page.lines
    assert "Turn 1 code → ✓ ok" in page.lines and "Turn 2 code" in page.lines
    for line in ("<think>First B.", "Then A.</think>", "<code>a = 1", "b = 2</code>", "seen:"):
        assert line in page.lines
    assert "\n  x" in page.shown  # a tool's indentation, too
    assert "A 112 × 112" in page.lines


@pytest.mark.parametrize("kind", ["github", "jupyter"])
def test_nothing_is_struck_out_and_policy_and_environment_stay_apart(chat: Chat, kind: str) -> None:
    page = stripped(view.show(played(chat, "<think>eins</think>"), chat=chat), kind)
    assert not re.search(r"<(s|strike|del)\b|line-through", page.html)
    # Underlined: an <ins> around the turn on GitHub, each token's <u> in JupyterLab.
    underlined = r"<ins[^>]*>.*?[^<]+.*?</ins>" if kind == "github" else r"<u[^>]*>[^<]+</u>"
    assert len(re.findall(underlined, page.html, re.DOTALL)) > 2
    assert re.search(r"<i[^>]*><code>&lt;\|im_end\|&gt;</code><wbr></i>", page.html)
    assert re.search(r"<i>the environment&#x27;s", page.html)


def test_turns_and_rollouts_are_set_apart_without_styles(chat: Chat) -> None:
    episode = played(chat)
    assert stripped(view.show(episode), "github").html.count("<hr>") == len(episode.turns)
    assert stripped(view.show(episode), "jupyter").html.count('<hr hidden="hidden">') == len(episode.turns)  # cards do
    pair = stripped(view.compare([episode] * 2), "github").html
    assert pair.count('<td valign="top" width="50%">') == 2


def test_images_stand_in_a_row(chat: Chat) -> None:
    """Nothing between two images starts a line."""
    assert not re.search(r"<img[^>]*>[^<]*<(?:div|p|br|figure)", stripped(view.show(played(chat)), "github").html)


def test_jupyterlab_keeps_cards_columns_and_tints(chat: Chat) -> None:
    page = stripped(view.show(played(chat), advantage=1.5, chat=chat), "jupyter")
    kept = " ".join(page.styles)
    for style in ("display:grid", "border:1px solid", "display:flex;height:14px", "background-color:#0072b273"):
        assert style in kept
    assert "--" not in kept


def test_four_siblings_share_the_width_and_more_scroll(chat: Chat) -> None:
    body = view.compare([played(chat)] * 4).body
    [least] = re.findall(r"table-layout:fixed;width:100%;min-width:(\d+)px", body)
    assert int(least) <= 1000 and body.count('width="25%"') == 4 and "overflow-x:auto" in body
    assert "repeat(auto-fill" not in body  # which wraps
