"""Estimate the minutes that a notebook takes to read, from its words: ``python -m benchmarks reading``."""

from __future__ import annotations

import re

from workshop.jobs.notebooks import Source, load, sources

WORDS_A_MINUTE = 150
"""Slow: the text is to be understood, and figures and outputs between the words are looked at."""


def words(source: Source) -> int:
    """Words of a notebook's text cells; code isn't counted, nor is a formula or the address of a link."""
    text = "\n".join(cell.source for cell in load(source).cells if cell.cell_type == "markdown")
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|```.*?```|<[^>]+>|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    return len(re.findall(r"[^\W_][\w'’.-]*", text))


def minutes_to_run(source: Source) -> str:
    """Minutes in the ``laptop`` row of a notebook's cost table; empty if it has none."""
    found = re.search(r"^# \| `laptop` \|[^|]*\|([^|]*)\|", source.text, re.MULTILINE)
    return found[1].strip() if found else ""


def reading_table() -> dict[str, float]:
    """Print, for every notebook, words, minutes to read them and minutes to run; return the minutes to read."""
    found = {source: words(source) for source in sources()}
    print(f"{'notebook':26s} {'words':>6s} {'read':>6s}   run (laptop)")
    for source, n in found.items():
        print(f"{source.name:26s} {n:6d} {n / WORDS_A_MINUTE:6.1f}   {minutes_to_run(source)}")
    return {source.number: n / WORDS_A_MINUTE for source, n in found.items()}
