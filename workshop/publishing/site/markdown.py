"""Pages as the site's generator reads them: mathematics as MathML, links to what the site has, details that open."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from html import escape

FENCE = re.compile(r"(^(?P<tick>```+|~~~+).*?^(?P=tick)[ \t]*$|(?P<one>`+)[^`].*?(?P=one))", re.MULTILINE | re.DOTALL)
"""Code, in which nothing is changed."""
SHOWN_MATH = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
MATH = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\d$])")
LINK = re.compile(
    rf"{FENCE.pattern}|(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^)\s]+)\)", FENCE.flags
)
"""Code, which is left as it is, or a link, whose text may be code."""


class SiteError(ValueError):
    """A page has what the site can't show; the message names the page and the thing."""


def page(text: str, path: str, pages: Mapping[str, str], source: str = "") -> str:
    """Rewrite a page for the site.

    Args:
        text: Markdown as the repository has it.
        path: of the file in the repository, such as ``docs/jobs.md``.
        pages: file of the repository → the page or picture of the site that it is.
        source: address of the repository's files; empty: a link to one that the site lacks becomes its text.

    Raises:
        SiteError: a formula can't be read.
    """
    return _links(outside_code(text, lambda part: _details(_mathematics(part, path))), path, pages, source)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change a Markdown text, but not the code in it."""
    found, at = [], 0
    for code in FENCE.finditer(text):
        found += [change(text[at : code.start()]), code.group(0)]
        at = code.end()
    return "".join([*found, change(text[at:])])


def _mathematics(text: str, path: str) -> str:
    def told(display: str) -> Callable[[re.Match[str]], str]:
        def formula(found: re.Match[str]) -> str:
            from latex2mathml.converter import convert  # the site's own

            try:
                made = convert(found.group(1), display=display)
            except Exception as error:
                raise SiteError(f"{path}: the formula {found.group(1)!r} can't be read: {error!r}") from error
            return f"\n\n<div class=math>{made}</div>\n\n" if display == "block" else made

        return formula

    return MATH.sub(told("inline"), SHOWN_MATH.sub(told("block"), text))


def _links(text: str, path: str, pages: Mapping[str, str], source: str) -> str:
    here = posixpath.dirname(pages[path])

    def told(found: re.Match[str]) -> str:
        if found["to"] is None:  # code
            return found.group(0)
        to, _, anchor = found["to"].partition("#")
        if re.match(r"[a-z]+:", found["to"]) or not to:
            return found.group(0)
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), to))
        place = pages.get(there) or pages.get(posixpath.join(there, "README.md"))
        if place is not None:
            target = posixpath.relpath(place, here or ".") + (f"#{anchor}" if anchor else "")
            shown = f"{found['image']}[{found['text']}]({target})"
            return f"[{shown}]({target})" if found["image"] else shown  # a narrow screen shows it too small to read
        return f"[{found['text']}]({source.rstrip('/')}/{there})" if source else found["text"]

    return LINK.sub(told, text)


def _details(text: str) -> str:
    """What is folded is Markdown, too."""
    return re.sub(r"<details>", "<details markdown=1>", text)


def folded(summary: str, shown: str) -> str:
    """Something that opens by a click; ``shown`` is HTML."""
    return f"<details class=guess><summary>{escape(summary)}</summary>{shown}</details>"
