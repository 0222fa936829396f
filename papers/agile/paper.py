"""AGILE's record in the registry.

Declared here is what no single module does: choices of the profiles, and how results are read.

Departures
- [agile-tiny-model] Paper: The base is Qwen2.5-VL-7B, trained on 8 GPUs. Here: The profile laptop has a base of three
  million weights that was pretrained on puzzles among other skills, gpu the 3B model with adapters, and only node the
  paper's; figures in this repository are laptop's. Why: Every notebook has to run on a laptop in minutes. May change:
  Every figure; the tiny base reads right orders off full pieces before any training, so that RL teaches it to look at
  them, and hardly where they belong.
- [agile-unstated-values] Paper: Clipping range, sampling temperature and schedule of RL aren't given. Here: They are
  0.2, 1.0 and constant. Why: They are verl's defaults, which the paper's trainer starts from. May change: Speed and
  stability of RL.
- [agile-trl] Paper: SFT runs in LLaMA-Factory, RL in verl. Here: Both run in TRL. Why: One packing, one loss mask and
  one set of checkpoints serve both. May change: Rounding, order of episodes and optimizer details.
- [agile-gpu-memory-share] Paper: vLLM gets 0.7 of a GPU's memory (Table 5), in a framework that takes it back before
  it learns. Here: It gets what its trainer leaves, by the planner 0.71 of 80 GB, and sleeps while the model learns.
  Why: One setting suits GPUs of any size. May change: Nothing that is learnt; how many episodes play at once.
- [agile-own-evaluation] Paper: VLMEvalKit runs inference; turns, tokens and sampling aren't told. Here: The kit's own
  loop plays each puzzle once, greedily, within the limits of RL (Table 5). Why: Training and evaluation see the same
  environment, token for token. May change: Sampled evaluation would lie a little lower; with more turns 3 × 3 puzzles
  might lie higher.
- [agile-intervals] Paper: Tables have single values of one run. Here: Each value has a 95 % interval over images and
  training seeds. Why: Puzzles of one image go together, and seeds differ. May change: No value; differences that lie
  within the intervals aren't called results.
- [agile-budgets-of-one-run] Paper: Figure 3 has a training for each amount of data. Here: Budgets are checkpoints of
  one run. Why: It costs one training instead of five. May change: A checkpoint's learning rate hasn't decayed, so
  small budgets may look worse.
- [agile-curves-of-seeds] Paper: Figure 11 shows curves of one run. Here: Curves of several seeds are averaged over
  eight stretches of steps. Why: The highest point of one noisy curve always lies above its ends. May change: A short
  rise may be averaged away.
"""

from __future__ import annotations

from collections.abc import Mapping

from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper

COLD_START = {"data": 11, "sft": 12, "stages/untrained.json": 12, "stages/sft.json": 12}
"""What reinforcement needs of notebooks 11 and 12, and what a training under another reward keeps of them."""

TRAINED = ("11_agile", "12_agile_sft", "13_agile_grpo")

FEW = {"steps": "8", "prompts_per_batch": "6", "per_device_batch_size": "24"}
"""Puzzles so few that something is left to learn: 6, 12, 24 and 48 of them (claim A5)."""

STARTS = {
    "decided": Runs("agile-decided", 3, TRAINED, {"guesses": "0.0"}),
    "half": Runs("agile-half", 3, TRAINED, {"guesses": "0.3"}),
}
"""Starts that are more decided than the published runs': the expert looks always, or guesses half as often."""

COLD_STARTS = {
    "guesses_90": {"guesses": "0.9"},
    **{f"thumbnail_{colours}": {"thumbnail": str(colours)} for colours in (2, 8)},
    "episodes_80": {"sft_episodes": "80"},
    "replay_4": {"replay": "4"},
}
"""Cold starts that differ from the published runs' in one value, for notebook 12."""


def _cold_start(name: str, values: Mapping[str, str]) -> Runs:
    return Runs(name, 1, TRAINED[:2], values)


def _other(tag: str, seeds: int, **values: str) -> Runs:
    """The same cold starts, trained otherwise."""
    return Runs("agile", seeds, TRAINED[2:], values, tag=tag, keeps=COLD_START)


PAPER = Paper(
    name="agile",
    title="AGILE",
    summary="Solve jigsaw puzzles by code that swaps, crops and zooms pieces of the image.",
    environment="papers.agile.env:JigsawEnv",
    golden="papers.agile.golden:golden",
    limits="papers.agile.experiment:Play",
    validate="papers.agile.validate:validate",
    evaluation="papers.agile.metrics:EVALUATION",
    notebooks=("11_agile", "12_agile_sft", "13_agile_grpo", "14_agile_claims", "15_agile_general"),
    settings={
        "12_agile_sft": "kit.train.sft:SFTSettings",
        "13_agile_grpo": "kit.train.grpo:GRPOSettings",
        "15_agile_general": "kit.train.grpo:GRPOSettings",
    },
    needs={
        "12_agile_sft": {"data": 11},
        "13_agile_grpo": COLD_START,
        "14_agile_claims": {
            **{"data": 11, "stages/untrained.json": 12, "stages/sft.json": 12},
            **{"stages/grpo.json": 13, "grpo/metrics.jsonl": 13},
        },
        "15_agile_general": {"data": 11, "sft": 12, "grpo/model": 13},
    },
    judges={"general": "papers.agile.judge:is_right"},
    claims="papers.agile.claims:CLAIMS",
    finding="papers.agile.finding:finding",
    fidelity="papers.agile:fidelity.toml",
    published=Published(
        runs={
            "runs": Runs("agile", 6, TRAINED),
            "few_runs": _other("few", 5, **FEW),
            "deed_runs": _other("deed", 5, deed="true"),
            **{f"{name}_runs": runs for name, runs in STARTS.items()},
            # Notebook 12 shows seed 0 of these starts, under the names of their values.
            "guesses_0": _cold_start("agile-decided", STARTS["decided"].values),
            "guesses_30": _cold_start("agile-half", STARTS["half"].values),
            **{name: _cold_start(f"agile-{name}", values) for name, values in COLD_STARTS.items()},
        },
        files=(
            ResultsFile("14_agile_claims", "agile", data={"photographs": "data_scripts/debian_photos.py"}),
            ResultsFile(
                "15_agile_general",
                "agile-general",
                measured="papers.agile.measured:measured_general",
                evaluation="papers.agile.general:EVALUATION",
                stages="general",
            ),
        ),
    ),
)
