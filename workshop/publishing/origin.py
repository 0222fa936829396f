"""Tell where published figures come from: pictures, commits, machines, minutes, and whether they are current."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from papers.registry import Paper, find_paper
from tiny import TINY
from workshop.planner.architecture import Architecture
from workshop.publishing.came_out import minutes_a_seed, seeds_of
from workshop.publishing.current import machine, outdated


def origin(paper: str, results: Mapping[str, Any]) -> str:
    """Say what a paper's figures were made by: pictures, model, commits, machines and minutes."""
    trained = results.get("trained")
    what = "; ".join(trained["machines"] if trained else [machine(results["hardware"])])
    at = _trained_at(trained) if trained else "Trained at a commit that nobody recorded."
    sets = "; ".join(
        (f"{sum(some.values())} other {suffix.strip('_')}: " if suffix else "")
        + ", ".join(f"{n} of {name}" for name, n in some.items())
        for suffix, some in pictures_of(results).items()
    )
    pictures = f"Pictures: {sets}. " if sets else ""
    changed = " and files that were not committed" if _changed(results) else ""
    return (
        f"Value and 95 % interval. {_larger(paper, results['profile'])}{pictures}"
        f"{at} "
        f"Measured by {results['notebook']}, profile {results['profile']}, seed {results['seed']}, "
        f"at commit {results['commit'].removesuffix('+changes')}{changed}, on {what}. {_trained(results)}"
    )


def _trained_at(trained: Mapping[str, Any]) -> str:
    """At which commit a paper was trained; of several it is said that their training code is one and the same."""
    first, *others = trained["commits"]
    if not others:
        return f"Trained at commit {first}."
    return (
        f"The kit's trainings began at {len(others) + 1} commits, all with the same training code "
        f"(digest {trained['digest']}): {', '.join((first, *others))}."
    )


def pictures_of(results: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Pictures that were played, by what metrics over them end in: suffix → set → how many; those without one first."""
    found: dict[str, dict[str, int]] = {}
    for name, n in (results.get("pictures") or {}).items():
        called, _, suffix = name.removesuffix(")").partition(" (_")
        found.setdefault(suffix and f"_{suffix}", {})[called] = n
    return found


def _changed(results: Mapping[str, Any]) -> bool:
    """Whether files that belong to no commit measured these results."""
    return "+" in str(results["commit"])


def _larger(paper: str, profile: str) -> str:
    """How many times larger than the laptop's base the model is that the paper's numbers are of, by its name."""
    found = re.search(r"[\w.-]+-(\d+)B\b", find_paper(paper).load_evaluation().note)  # Qwen2.5-VL-7B
    if profile != "laptop" or found is None:
        return "The paper's model saw other pictures. "
    base = Architecture.of(str(TINY))
    times = float(f"{int(found[1]) * 1e9 / (base.language + base.vision):.1e}")
    return f"The paper's model, {found[0]}, is {times:,.0f} times larger and saw other pictures. "


def current(paper: Paper, results: Mapping[str, Any]) -> str:
    """Say of each results file of a paper whether the code as it is made it."""
    parts = {part["notebook"]: part for part in (results, *results.get("parts", ()))}
    files = [figures for figures in (paper.published.files if paper.published else ()) if figures.notebook in parts]
    told = []
    for figures in files:
        found = parts[figures.notebook]
        why, lacking = outdated(paper, figures, found), found.get("lacking")
        fresh = "no change since that proof touches it" if found.get("proved") else "it is of the code as it is"
        told.append(f"`results/{figures.name}.json` {why or f'is current: {fresh}'}.")
        told += [f"Not there: {'. '.join(lacking)}."] if lacking else []
    return " ".join(told)


def told_beside(results: Mapping[str, Any]) -> list[str]:
    """Paragraphs on how the figures were made, and on code that has changed since and was proved to leave them."""
    proved = results.get("proved")
    since = (
        f"The code has changed since: smoke runs at the figures' commit and after the change agree bit for bit, in "
        f"{proved['compared']} values (`python -m kit results --prove`)."
        if proved
        else ""
    )
    return [text for text in (results.get("note", ""), since) if text]


def _trained(results: Mapping[str, Any]) -> str:
    if (minutes := minutes_a_seed(results)) is None:
        return "Training time was not recorded with these figures."
    seeds = seeds_of(results)
    whole = (results.get("run_minutes") or {}).get("runs")
    run = f"; with data, play and measuring its run took {whole:.0f}" if whole else ""
    who = f"Each of {seeds} seeds" if seeds > 1 else "It is of one seed, which"
    return f"{who} trained for {minutes:.0f} minutes{run}."
