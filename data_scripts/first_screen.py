"""Draw docs/first_screen.png: an episode of AGILE's scripted expert, and the committed results of all papers.

    python data_scripts/first_screen.py

Everything comes with the kit: a held-out photograph, the environment in its sandbox, the files of results/. The picture
carries a hash of their metrics, by which a test sees that it is out of date.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from first_screen_figure import first_screen, metrics_hash, save_png

from kit.episode import Episode
from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Evaluation, by_stage
from kit.files import ROOT, print_anything
from kit.policy.hf import load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from papers.agile import experiment
from papers.agile.expert import SHORT_STEPS, expert_script
from papers.agile.puzzle import make_task, with_thumbnails
from papers.registry import find_paper, published
from pictures.photos import photos, random_crop
from tiny import TINY
from turn_sandbox import Sandbox
from workshop.jobs.finding import DECIDED, GAP, alongside

PICTURE = ROOT / "docs" / "first_screen.png"
STAGES = {
    "direct": "asked directly",
    DECIDED: "imitation of an expert at its best",
    "sft": "after imitation (the cold start)",
    "grpo": "after reinforcement",
}
"""Stages that are drawn, where any paper has them, and their display names."""
SWAPPED = "with another episode's observations"
"""Name of what is left of the last of them when it sees what others were shown."""
SEED = 1
"""Fixes crop, shuffle and the expert's turns: look, swap, answer."""


def play() -> Episode:
    """One puzzle of a held-out photograph, shown as thumbnails and solved by the scripted expert, which has to look."""
    _, chat = load_model_and_chat(TINY)
    photo = next(photo for photo in photos("held-out") if photo.id == "astronaut")
    crop = random_crop(np.random.default_rng(SEED), photo.image, 2)
    puzzle = make_task(crop, 2, 0, np.random.default_rng(SEED), "first-screen", photo.id, piece_px=112)
    task = with_thumbnails(puzzle, 4)
    expert = ScriptedPolicy(chat, expert_script(SEED, steps=SHORT_STEPS))
    with Sandbox(allow_unsafe=True) as box:  # runs the kit's own script only
        [episode] = experiment.Play(prompt="brief", max_turns=9)(expert, chat, box, [task], temperature=0.0)
    return episode


def shares(evaluation: Evaluation[Any], results: Mapping[str, Any]) -> dict[str, Interval]:
    """Find a paper's first headline by stage, and what is left of the last stage's with other observations."""
    measured, metric = by_stage(results), next(iter(evaluation.headlines))
    found = {name: measured[stage][metric] for stage, name in STAGES.items() if metric in measured.get(stage, {})}
    if gap := alongside(measured["grpo"], GAP, metric):
        own = measured["grpo"][metric].value
        found[SWAPPED] = Interval(own - gap.value, own - gap.high, own - gap.low, gap.n)
    return found


if __name__ == "__main__":
    print_anything()
    results = published()
    drawn = {}
    for name, found in results.items():
        paper = find_paper(name)
        evaluation = paper.load_evaluation()
        what = next(iter(evaluation.headlines.values())).partition(";")[0].replace(", right", "")
        drawn[f"{paper.title}\n{what}"] = shares(evaluation, found) if found else {}
    there = [name for name in STAGES.values() if any(name in shown for shown in drawn.values())]
    figure = first_screen(play(), drawn, [*there, SWAPPED])
    print(save_png(figure, PICTURE, results=metrics_hash(results)), f"{PICTURE.stat().st_size / 1000:.0f} KB")
