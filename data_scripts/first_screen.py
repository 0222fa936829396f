"""Draw docs/first_screen.png: an episode of AGILE's scripted expert, and the committed results of training.

    python data_scripts/first_screen.py

Everything comes with the kit: a held-out photograph, the environment in its sandbox, results/agile.json. The picture
carries a hash of that file's metrics, by which a test sees that it is out of date.
"""

from __future__ import annotations

import numpy as np
from first_screen_figure import first_screen, metrics_hash, save_png

from kit.data.photos import photos, random_crop
from kit.episode import Episode
from kit.evaluate.outcomes import by_stage
from kit.files import ROOT, print_anything, read_json
from kit.papers.agile import experiment
from kit.papers.agile.expert import SHORT_STEPS, expert_script
from kit.papers.agile.puzzle import make_task, with_thumbnails
from kit.papers.agile.reported import REPORTED
from kit.policy.hf import load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.sandbox import Sandbox
from kit.tiny import TINY

RESULTS = ROOT / "results" / "agile.json"
PICTURE = ROOT / "docs" / "first_screen.png"
NAMES = {
    "acc_2x2": "2×2 puzzles solved",
    "score_2x2": "2×2 pieces in place",
}
STAGES = {
    "direct": "asked directly,\nsees thumbnails",
    "sft": "agent\nafter SFT",
    "grpo": "agent\nafter GRPO",
    "direct_originals": "asked directly,\nsees full pieces",
}
"""Stages that are drawn and their display names."""
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


if __name__ == "__main__":
    print_anything()
    results = read_json(RESULTS)
    measured = by_stage(results)
    figure = first_screen(
        play(),
        {name: measured[stage] for stage, name in STAGES.items() if stage in measured},
        NAMES,
        {name: REPORTED.get(stage, {}) for stage, name in STAGES.items()},
    )
    print(save_png(figure, PICTURE, results=metrics_hash(results)), f"{PICTURE.stat().st_size / 1000:.0f} KB")
