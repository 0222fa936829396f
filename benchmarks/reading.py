"""Estimate the minutes that a notebook takes to read, from its words: ``python -m benchmarks reading``."""

from __future__ import annotations

from workshop.course.guide import WORDS_A_MINUTE, minutes_to_run, words
from workshop.jobs.notebooks import sources


def reading_table() -> dict[str, float]:
    """Print, for every notebook, words, minutes to read them and minutes to run; return the minutes to read."""
    found = {source: words(source) for source in sources()}
    print(f"{'notebook':26s} {'words':>6s} {'read':>6s}   run (laptop)")
    for source, n in found.items():
        print(f"{source.name:26s} {n:6d} {n / WORDS_A_MINUTE:6.1f}   {minutes_to_run(source)}")
    return {source.number: n / WORDS_A_MINUTE for source, n in found.items()}
