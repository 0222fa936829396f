"""A paper as slides for a lesson: ``python -m kit slides PAPER``, one file that asks no other host for anything.

Beside it the episode as a GIF, for slides that are made elsewhere.

The question, what the agent may do, an episode turn by turn, the curve, what came out, exercises to try. All of it is
there already: in the notebooks, in ``results/``, and in the tasks that the paper's script plays right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import Any

from matplotlib import rc_context

from kit.episode import Episode, NamedImage
from kit.evaluate.outcomes import by_stage
from kit.files import ROOT, write_text
from kit.policy.hf import load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import rollout
from kit.train.experiment import Rollouts
from kit.train.held_out import COLUMN
from kit.train.metrics import Row
from kit.view.charts import COLOURS, STYLE, Plot, bars
from kit.view.curves import GRAY
from kit.view.html import clean, figures, render
from papers.published_curves import published_curves
from papers.registry import Paper, find_paper, papers, published
from tiny import TINY
from workshop.command_line import meant
from workshop.course import moving
from workshop.course.handout import questions
from workshop.jobs.finding import finding, own_finding, three_bars
from workshop.jobs.notebooks import Source, find, load
from workshop.jobs.run_story import headline

TURNS = 6
"""Turns of the longest episode that is shown: each has a slide."""

SHARP = 120_000
"""Bytes of a slide's pictures."""

DRAWN = {COLUMN: "held-out tasks, right", "accuracy": "training tasks, right", "reward": "reward"}
"""Metrics of a training's curve; the first that all published runs have is drawn."""


def write(name: str, out: Path | None = None) -> tuple[Path, Path]:
    """Write a paper's slides, and their episode as a GIF; returns both files.

    Args:
        name: of the paper.
        out: the slides' file; None: ``NAME-slides.html`` in this folder. The GIF has its name and ``.gif``.

    Raises:
        ValueError: no such paper, or one without notebooks to take the question from.
    """
    if name not in papers():
        known = ", ".join(papers())
        raise ValueError(f"no paper {name!r}: {meant(name, papers(), f'python -m kit slides takes one of {known}')}")
    paper = find_paper(name)
    if not paper.notebooks:
        raise ValueError(f"paper {name!r} has no notebooks, and slides are made of these")
    sources = [find(notebook)[0] for notebook in paper.notebooks]
    results = published().get(name) if paper.notebooks_dir == ROOT / "notebooks" else None
    prompt, episode = played(paper)
    parts = [*_opening(paper, sources[0]), *_episode(prompt, episode), *_outcome(paper, results), *_exercises(sources)]
    slides = "\n".join(f"<section>{part}</section>" for part in parts)
    page = (Path(__file__).parent / "slides.html").read_text(encoding="utf-8")
    out = out or Path(f"{name}-slides.html")
    page = page.replace("TITLE", clean(paper.title)).replace("DRAWN", render("drawn.css"))
    write_text(out, page.replace("SLIDES", slides))
    moving.write(episode, out.with_suffix(".gif"))
    return out, out.with_suffix(".gif")


def played(paper: Paper) -> tuple[str, Episode]:
    """Play a paper by its script; returns what the agent is told, and of short episodes the one that shows most."""
    _, chat = load_model_and_chat(TINY)
    with paper.open_golden() as golden:
        play = replace(golden.play, temperature=0.0)

        def environment() -> Any:
            return play.environment(golden.tools) if isinstance(play, Rollouts) else paper.load_environment()()

        episodes = rollout(ScriptedPolicy(chat, golden.script), chat, golden.tasks, environment, play)
        best = max(episodes, key=_to_see)
        return environment().prompt(best.task)[0], best


def _to_see(episode: Episode) -> tuple[bool, int, int]:
    shown = sum(len(turn.observation.images) for turn in episode.turns if turn.observation)
    return len(episode.turns) <= TURNS, shown, len(episode.turns)


def _opening(paper: Paper, first: Source) -> Iterator[str]:
    text = "\n\n".join(cell.source for cell in load(first).cells if cell.cell_type == "markdown")
    asked = re.search(r"\*\*The question\.\*\* (.+?)(?:\n\n|\Z)", text, re.DOTALL)
    yield f"<h1>{clean(paper.title)}</h1><p>{clean(paper.summary)}</p>" + (f"<p>{told(asked[1])}</p>" if asked else "")


def _episode(prompt: str, episode: Episode) -> Iterator[str]:
    seen: Sequence[NamedImage] = episode.task.images
    yield (
        f'<h2>What it may do</h2><div class="two">{_seen(seen)}<div><p>It is told</p><pre>{clean(prompt)}</pre>'
        f"<p>and asked</p><pre>{clean(episode.task.question)}</pre></div></div>"
    )
    for number, turn in enumerate(episode.turns, 1):
        back, shown = turn.observation, ""
        if back is not None:
            seen = back.images or seen
            words = f"<pre>{clean(back.text)}</pre>" if back.text.strip() else ""
            shown = f"<p>It is shown what stands on the left.</p>{words}" if back.images else f"<p>It reads</p>{words}"
        yield (
            f'<h2>Turn {number} of {len(episode.turns)}</h2><div class="two">{_seen(seen)}'
            f"<div><p>It writes</p><pre>{clean(turn.text)}</pre>{shown}</div></div>"
        )


def _seen(images: Sequence[NamedImage]) -> str:
    shown = "".join(f'<img alt="{clean(one.name)}" src="{one.url}">' for one in figures(images, SHARP))
    return f'<div class="seen">{shown}</div>'


def _outcome(paper: Paper, results: Mapping[str, Any] | None) -> Iterator[str]:
    """The curve, then the bars and the finding; each only where it was published."""
    if runs := published_curves(paper.name, "grpo"):
        yield f"<h2>What it learnt, step by step</h2>{curve(runs).html()}"
    if results is None:
        yield "<h2>What came out</h2><p>Nothing is published yet.</p>"
        return
    evaluation, stages = paper.load_evaluation(), by_stage(results)
    metric, called = headline(evaluation, stages)
    known = {fill(label, 12): value for label, value in three_bars(stages, metric).items() if value}
    seeds = results["seed"] if isinstance(results["seed"], list) else [results["seed"]]
    yield f"<h2>What came out</h2>{bars({called: known}, label=called).html()}"
    sentences = own_finding(evaluation, stages), finding(stages, metric, called, len(seeds))
    yield "<h2>In words</h2>" + "".join(f"<p>{clean(text)}</p>" for text in sentences if text)


def curve(runs: Mapping[str, Sequence[Row]]) -> Plot:
    """Draw the published trainings, thin, and their mean over the steps that all have.

    Raises:
        ValueError: they share no metric that is drawn.
    """
    every = [rows for rows in runs.values() if rows]
    name = next((name for name in DRAWN if all(name in row for rows in every for row in rows)), None)
    if name is None:
        raise ValueError(f"the runs {', '.join(runs)} share none of {', '.join(DRAWN)}")
    mean = [fmean(float(row[name]) for row in step) for step in zip(*every, strict=False)]
    with rc_context(STYLE):
        figure = Plot(6.4, 3.2)
        axis = figure.subplots()
        for rows in every:
            axis.plot([row["step"] for row in rows], [float(row[name]) for row in rows], color=GRAY, linewidth=0.8)
        steps = [row["step"] for row in every[0][: len(mean)]]
        axis.plot(steps, mean, color=COLOURS[0], linewidth=2.5, label=f"mean of {len(every)} trainings")
        axis.set_xlabel("step of reinforcement learning")
        axis.set_ylabel(DRAWN[name])
        axis.legend()
    return figure


def _exercises(sources: Sequence[Source]) -> Iterator[str]:
    """The first exercise of each notebook that asks it without a formula."""
    found = []
    for source in sources:
        text = "\n\n".join(cell.source for cell in load(source).cells if cell.cell_type == "markdown")
        ids = (re.escape(one.exercise.id) for one in questions(source))
        asked = (re.search(rf"\*\*Exercise {id}\.\*\* .+?(?=\n\n|\Z)", text, re.DOTALL) for id in ids)
        found += [told(one[0]) for one in asked if one and "$" not in one[0]][:1]
    yield "<h2>Try it</h2>" + "".join(f"<p>{text}</p>" for text in found)


def told(text: str) -> str:
    """A paragraph of a notebook as HTML: links become their text, code and bold stay what they are."""
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", clean(" ".join(text.split())))
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", re.sub(r"(?<!\*)\*([^*]+)\*(?!\*)", r"<i>\1</i>", text))
